#!/usr/bin/env bash
# What the goroutines of a stripped process, of its core file, and of its own heap dump wait for, there and in GDB, against what each of them
# printed before it waited.
. "$(dirname "$0")/lib.sh"
session_home

# sorted: lines of a goroutine each, with the cases of a select in a certain order.
sorted() {
	awk -F'\t' -v OFS='\t' '{
		n = split($3, cases, ", ")
		if (n == 2 && cases[1] > cases[2])
			$3 = cases[2] ", " cases[1]
		print
	}' | sort
}

# told FILE: the same of what `goheap waits --json' printed.
told() {
	sed -E -e 's/\{"operation":"([a-z]+)","address":"(0x[0-9a-f]+)","type":"([^"]*)","length":([0-9]+),"capacity":([0-9]+),[^}]*\}/\1 chan \3 \2 \4 \5/g' \
		-e 's/^\{"goroutine":([0-9]+),"wait":"([^"]+)"/\1\t\2\t/' -e 's/,"reason":"[^"]*","waited":[0-9]+//' \
		-e 's/,"object":"([^"]*)"/\1/' -e 's/,"counter":([0-9]+)/ \1/' -e 's/,"(readers|when|waiting_writer|(perhaps_)?holder)":[0-9]+//g' -e 's/,"left_locked":"[a-z]*"//' \
		-e '/"wait":"syscall"|\t(syscall)\t/s/,"descriptor":[0-9]+//' -e 's/,"(system_call|arguments)":"[^"]*"//g; s/,"asleep":[0-9]+//' -e 's/,"target":"[^"]*"//' -e 's/,"(locked|never)":true//' \
		-e 's/,"descriptor":([0-9]+)/\1/' -e 's/,"channels":\[(.*)\],"function".*/\1/' \
		-e 's/chan ([^,]*),/chan \1, /g' "$1" | sorted
}

# Programs of modules of older releases have timers as they were.
export GODEBUG=asynctimerchan=0

# expect: what the sample said of itself.
expect() {
	sed '/^ready/d' "$work/output" | sorted >"$work/expected"
	# When it wrote its dump, the first goroutine did nothing else.
	grep -v '^1	' "$work/expected" >"$work/expected.dump"
	[ "$(wc -l <"$work/expected")" = 24 ] || fail "the sample has 24 goroutines" "$(cat "$work/output")"
}

# start COMMAND...: runs the sample until all of it waits; $pid, and descriptor 7, which ends it.
start() {
	rm -f "$work/own"
	run_until_ready "$@" "$work/own"
	expect
}

# told_in_gdb FILE: the same of what `goheap goroutine' printed in GDB, of each goroutine.
told_in_gdb() {
	sed -nE -e '/^goroutine ([0-9]+) \[.*, from frame 1 on$/ { s//\1/; N; s/\n/\t/p; }' "$1" |
		sed -E -e 's/(send on|receive from) chan ([^(]*) (0x[0-9a-f]+) \(len ([0-9]+), cap ([0-9]+)[^)]*\)/\1 chan \2 \3 \4 \5/g' \
			-e 's/send on chan/send chan/g; s/receive from chan/receive chan/g; s/waits to (send|receive) (on|from) a nil channel/\1\t/' \
			-e 's/waits to (send|receive) chan/\1\t\1 chan/; s/waits in select \(no cases\)/select\t/; s/waits in select: /select\t/' \
			-e 's/waits to lock sync\.Mutex (0x[0-9a-f]+) .*/mutex\t\1/; s/waits to (read|write)-lock sync\.RWMutex (0x[0-9a-f]+) .*/rwmutex \1\t\2/' \
			-e 's/waits for sync\.WaitGroup (0x[0-9a-f]+) \(counter ([0-9]+)\)/waitgroup\t\1 \2/; s/waits for sync\.Cond /cond\t/; s/waits for sleep.*/sleep\t/' \
			-e 's/waits for file descriptor ([0-9]+).*/descriptor\t\1/; s/is in a system call.*/syscall\t/' | sorted
}

# check_gdb NAME PROGRAM ATTACH...: `goheap goroutine' of each, in GDB.
check_gdb() {
	local commands=() id
	while IFS=$'\t' read -r id _; do
		commands+=("goheap goroutine $id")
	done <"$work/expected"
	# The thread that is selected does not run one of those that are asked about.
	goheap "$2" "${@:3}" "${commands[@]}" >"$work/session"
	same "$1" <(grep -v '^1	' "$work/expected") <(told_in_gdb "$work/session" | grep -v '^1	')
	has "$1: as goheap print has it" "$(cat "$work/session")" '^chan \*main\.job 2/2 \[\*\{name: "first", next: nil\}, ?\*\{name: "second", next: nil\}\], sending: goroutine [0-9]+, [0-9]+$'
}

# ask_process: what the process waits for, as JSON and as text.
ask_process() {
	"$GOHEAP" waits --json -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits -p "$pid" >"$work/lines" 2>"$work/why" || cat "$work/why"
}

# check NAME PROGRAM: live, in a core file, and in the dump that it wrote.
check() {
	start "$2"
	ask_process
	"$GOHEAP" waits --group -p "$pid" >"$work/groups" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/ever" 2>"$work/why" || cat "$work/why"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	check_gdb "$1: in GDB" "$2" "attach $pid"
	kill -QUIT "$pid"
	wait "$pid" 2>"$work/why"
	exec 7>&-
	check_places "$1"
	[[ ! $1 =~ \ 1\.(15|19|27)(,|$) ]] || check_gdb "$1: in GDB, in a core file" "$2" "core-file $work/core.$pid"
	same "$1: live" "$work/expected" <(told "$work/live")
	"$GOHEAP" waits --json -e "$2" "$work/core.$pid" >"$work/found" 2>"$work/why" || cat "$work/why"
	same "$1: in a core file" "$work/expected" <(told "$work/found")
	"$GOHEAP" waits --json -e "$2" "$work/own" >"$work/found" 2>"$work/why" || cat "$work/why"
	same "$1: in its own heap dump" "$work/expected.dump" <(told "$work/found" | grep -v '^1	')
	check_channels "$1"
	check_fields "$1"
	check_text "$1"
	rm -f "$work/core.$pid"
}

# check_places NAME: the function, file and line of each goroutine are of a frame in its own traceback.
check_places() {
	sed -nE 's/^\{"goroutine":([0-9]+),.*,"function":"([^"]+)","file":"([^"]+)","line":([0-9]+)\}$/\1\t\2\t\3\t\4/p' "$work/live" |
		sort >"$work/places"
	equal "$1: each has a place" 24 "$(wc -l <"$work/places")"
	same "$1: places are those of its own traceback" /dev/null <(comm -23 "$work/places" <(printed <"$work/trace" | cut -f -4 | sort))
}

source=$tests/samples/waits/main.go

# check_code NAME PROGRAM: where no allocation is sampled, what makes a channel is known by the code, if one place makes all of
# their type.
check_code() {
	start env UNSAMPLED=1 "$2"
	ask_process
	kill -QUIT "$pid"
	wait "$pid" 2>"$work/why"
	exec 7>&-
	check_channels "$1, by the code"
	has "$1, by the code: where a channel was made" "$(cat "$work/lines")" ': send on chan \*main\.job 0x[0-9a-f]+ \(len 2, cap 2\) made in main\.channels at [^ ]*/main\.go:'"$(line_of 'full := make')"', in '
	has "$1, by the code: a channel of a type that several places make" "$(cat "$work/lines")" 'receive from chan int 0x[0-9a-f]+ \(len 0, cap 0\), in '
}

# check_channels NAME: how many send and receive on each channel, as they said, and where the sample makes the channels that it
# makes in one place.
check_channels() {
	local kind line
	cut -f 1,3 "$work/expected" | grep chan | sed 's/^[^\t]*\t//; s/, /\n/' |
		awk '{ count[$4, $1]++; seen[$4] } END { for (at in seen) print at, count[at, "send"] + 0, count[at, "receive"] + 0 }' | sort >"$work/rows"
	sed 's/{"operation"/\n&/g' "$work/live" | sed -nE 's/^\{"operation":.*"address":"(0x[0-9a-f]+)",.*"senders":([0-9]+),"receivers":([0-9]+)[,}].*/\1 \2 \3/p' | sort -u >"$work/found"
	same "$1: how many send and receive on a channel, as JSON" "$work/rows" "$work/found"
	for kind in '\*main.job:full' '\[3\]string:results'; do
		line=$(line_of "${kind#*:} := make")
		has "$1: where a chan ${kind%:*} was made, as JSON" "$(cat "$work/live")" \
			'"type":"'"${kind%:*}"'",[^}]*"made_function":"main\.channels","made_file":"[^"]*/samples/waits/main\.go","made_line":'"$line"'\}'
	done
}

# check_fields NAME: only a timer's channel has what is of timers, and a member that nothing is known for is left out.
check_fields() {
	local timers='1 timer when'
	# Before Go 1.23 nothing leads from a channel to its timer.
	[[ ! $1 =~ \ 1\.(15|19|2[12])(,|$) ]] || timers=1
	same "$1: what is of timers, as JSON" <(printf '0\n%s\n' "$timers") <(python3 -c '
import json, sys
kinds = set()
for row in map(json.loads, sys.stdin):
    assert None not in [value for key, value in row.items() if key not in ("file", "line")], row
    for channel in row["channels"]:
        assert None not in channel.values(), channel
        kinds.add(" ".join(["%d" % (channel["type"] == "time.Time")] + [key for key in ("timer", "when") if key in channel]))
print("\n".join(sorted(kinds)))
' <"$work/live" 2>&1)
}

# check_text NAME: what is not in what the sample prints.
check_text() {
	local writer
	equal "$1: a line for each" 24 "$(grep -c '^goroutine ' "$work/lines")"
	has "$1: the state of a mutex" "$(cat "$work/lines")" '^goroutine [0-9]+: lock sync\.Mutex 0x[0-9a-f]+ \(locked\), in main\.mutexes\.func1 at .*/main\.go:[0-9]+$'
	has "$1: that of an RWMutex" "$(cat "$work/lines")" '^goroutine [0-9]+: write-lock sync\.RWMutex 0x[0-9a-f]+ \(1 reader has it\), in main\.mutexes\.func3 '
	writer=$(sed -nE 's/^goroutine ([0-9]+): write-lock .* in main\.mutexes\.func3 .*/\1/p' "$work/lines")
	has "$1: and the writer behind whom readers wait" "$(cat "$work/lines")" '^goroutine [0-9]+: read-lock sync\.RWMutex 0x[0-9a-f]+ \(1 reader has it; goroutine '"$writer"' \(main\.mutexes\.func3 at [^ ]*\) waits to write-lock it: new readers wait behind it\), in main\.mutexes\.func4 '
	equal "$1: as JSON" "$writer" "$(sed -nE 's/.*"waiting_writer":([0-9]+),.*/\1/p' "$work/live")"
	has "$1: when it wakes" "$(cat "$work/lines")" '^goroutine [0-9]+: sleep, 3(59[0-9]|[5][0-9][0-9])\.[0-9] s more, in main\.others\.func'
	has "$1: the system call" "$(cat "$work/lines")" '^goroutine 1: system call, syscall\.read, in read\(0, .*/input\)( for at least [^,]*)?, in main\.main at '
	same "$1: sockets, and the descriptor of a system call" <(grep '^in ' "$work/trace" | sort) \
		<(sed -nE -e '/, connecting/d' -e 's/.*: file descriptor [0-9]+ \((tcp [^)]*)\), (in [^ ]*) .*/\2: \1/p' \
			-e 's/.*, in read\(([0-9]+), pipe:[^)]*\)( for at least [^,]*)?, (in [^ ]*) .*/\3: \1/p' "$work/lines" | sort)
	# Before Go 1.23 nothing leads from a channel to its timer.
	[[ $1 =~ \ 1\.(15|19|2[12])(,|$) ]] || has "$1: when a timer fires" "$(cat "$work/lines")" '^goroutine [0-9]+: receive from chan time\.Time 0x[0-9a-f]+ \(len 0, cap 1, a timer.s that fires in 71[0-9][0-9]\.[0-9] s\) made in time\.NewTimer at [^ ]*, in main\.others\.func'
	has "$1: a group" "$(cat "$work/groups")" '^2 goroutines: sync\.Cond 0x[0-9a-f]+, in main\.others\.func2 at '
	has "$1: what a group connects to" "$(cat "$work/groups")" '^2 goroutines: file descriptor, in main\.dials\.func1 at .*; all tcp to '"$(sed -n 's/^dialled: //p' "$work/trace")"', connecting$'
	has "$1: the other side" "$(cat "$work/groups")" '^1 goroutine: send on chan \*main\.job 0x[0-9a-f]+ \(len 2, cap 2\) made in main\.channels at [^ ]*/main\.go:'"$(line_of 'full := make')"', in main\.channels\.func1 at .*; nobody waits to receive from it$'
	has "$1: where a sampled channel was made" "$(cat "$work/lines")" 'receive from chan int 0x[0-9a-f]+ \(len 0, cap 0\) made in main\.channels at [^ ]*/main\.go:'"$(line_of 'unbuffered := make')"', in '
	same "$1: what nothing ever ends" <(awk -F'\t' '($2 == "send" || $2 == "receive" || $2 == "select") && $3 == "" { print $1 }' "$work/expected" | sort) \
		<(sed -nE 's/^goroutine ([0-9]+) .* waits (to (send|receive) (on|from) a nil channel|in select \(no cases\)): nothing ever ends that$/\1/p' "$work/ever" | sort)
	equal "$1: all are in groups" 24 "$(awk '{ n += $1 } END { print n }' "$work/groups")"
}

# check_emulated RELEASE: on arm64, in the core file that QEMU writes.
check_emulated() {
	GOARCH=arm64 sample "Go $1, arm64" "$1" waits || return
	if ! emulate aarch64 "$directory/waits.stripped" "$work/own"; then
		skip "Go $1, arm64" 'no qemu-aarch64-static'
		return
	fi
	expect
	"$GOHEAP" waits --json -e "$directory/waits.stripped" "$core" >"$work/found" 2>"$work/why" || cat "$work/why"
	same "Go $1, arm64: in a core file" "$work/expected.dump" <(told "$work/found" | grep -v '^1	')
}

# check_foreign RELEASE PACKAGE: a program of a release that no toolchain is to be had of, whose logger waits for messages:
# the channel is the last but one argument in the traceback.
check_foreign() {
	local name="Go $1, other people's" program pid
	if ! program=$("$tests/npm-program" "$2" bin/esbuild 2>"$work/why"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	has "$name: its release" "$("$GOHEAP" info "$program")" "^go version: +go$1(\\.|\$)"
	rm -f "$work/input.js"
	mkfifo "$work/input.js"
	exec 8<>"$work/input.js"
	"$program" --bundle "$work/input.js" --outfile="$work/output.js" >"$work/output" 2>"$work/trace" &
	pid=$!
	for _ in {1..100}; do
		"$GOHEAP" waits -p "$pid" >"$work/lines" 2>"$work/why"
		! grep -q 'file descriptor [0-9]* (.*/input\.js)' "$work/lines" || break
		sleep 0.1
	done
	kill -QUIT "$pid"
	wait "$pid" 2>"$work/why"
	exec 8>&-
	equal "$name: the channel that is waited for" \
		"receive from chan logging.Msg $(sed -nE 's/.*\.NewStderrLog\.func1\(.*, (0x[0-9a-f]+), 0x[0-9a-f]+\)$/\1/p' "$work/trace")" \
		"$(sed -nE 's/^goroutine [0-9]+: (receive from chan [^ ]+ 0x[0-9a-f]+) .*\.NewStderrLog\.func1 at .*/\1/p' "$work/lines")"
}

export CGO_ENABLED=0
for release in $(releases "$("$tests/toolchain" list)"); do
	sample "Go $release" "$release" waits && check "Go $release" "$directory/waits.stripped" &&
		is_newest_or_debian "$release" && check_code "Go $release" "$directory/waits.stripped"
done
for release in $(picked 1.15 1.27); do
	in_full "Go $release, 386" && needs_386 "Go $release, 386" && GOARCH=386 sample "Go $release, 386" "$release" waits && check "Go $release, 386" "$directory/waits.stripped"
done
for release in $(first 1.27 1.19); do
	check_emulated "$release"
done
in_full "Go 1.14" && check_foreign 1.14 esbuild-linux-64@0.5.0
finish
