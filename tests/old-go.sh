#!/usr/bin/env bash
# Programs and heap dumps of Go 1.2 to 1.7, built from those releases' sources, against what they printed of themselves,
# that release's own addr2line, and a reader of dumps that shares no code with goheap. No registry has those toolchains,
# so the programs are in tests/data/old-go, compressed.
. "$(dirname "$0")/lib.sh"
session_home

"$CC" -std=gnu11 -O2 "$tests/oracle/twintypes.c" -ldwarf -lelf -lz -o "$work/twintypes" || exit 1
patience=300 gdb_options=(-iex 'set print frame-arguments presence')
data=$tests/data/old-go
if reader=$("$tests/build-sample" 1.19 hprof 2>"$work/why"); then
	reader=$reader/hprof
else
	skip "exports" "$(cat "$work/why")"
fi

# unpack NAME: that file of the inputs, in $work.
unpack() {
	xz -dc "$data/$1.xz" >"$work/$1"
}

# lines: every pc that the release's addr2line was asked for. It has no file where that is the last in the file table,
# no line in 1.2 either, and gives padding to the function before it.
lines() {
	cut -f1 "$work/$1.lines" | "$GOHEAP" addr2line -f -e "$work/$1.stripped" | paste - - >"$work/ours"
	paste "$work/ours" <(cut -f2,3 "$work/$1.lines") |
		awk -F'\t' '$4 == "?:0" || $4 == ":-1" || $4 == "??:0" { next }
			$4 ~ /^(\?\?|\?)?:[0-9]+$/ { sub(/.*:/, "", $4); line = $2; sub(/.*:/, "", line)
				if ($1 != $3 || line != $4 || $2 ~ /\?\?/) print; else last++; next }
			$1 != $3 || $2 != $4 { print; next }
			{ rows++ }
			END { print((rows > 10000 ? "enough rows" : rows " rows"), (last > 0 ? "the last file" : "")) }' >"$work/found"
	expected="enough rows the last file"
	case $1 in go1.2-*) expected="enough rows " ;; esac
	equal "$1: function and line of each pc are those of its own addr2line" "$expected" "$(head -n 20 "$work/found")"
}

# comparable: a traceback on standard input, a goroutine a line, without arguments; sorted. Without the goroutine that
# printed it, which stood elsewhere afterwards, and what goheap tells besides.
comparable() {
	sed -E -e '/^(go1\.|&\{)/d' -e 's/, on selected thread\]:$/]:/' -e '/^(created |goroutine |\t|$)/!s/\([^()]*\)$//' -e 's/, [0-9]+ minutes\]$/]/' \
		-e '/^(deferred|panicking) in /d' -e '/^\[Inferior/d' -e 's/^goroutine /\n&/' |
		awk 'BEGIN { RS = ""; FS = "\n"; OFS = "|" }
			/^goroutine / && !/^goroutine 1 / && !/\[(running|dumping heap)\]|^goroutine 16 \[select/ { $1 = $1; print }' | sort
}

# shown: the frames in GDB's backtraces of goroutines, as "printed" has them.
shown() {
	awk -v OFS='\t' '
		/^Thread .*\(LWP / { id = $0; sub(/.*\(LWP /, "", id); sub(/[ )].*/, "", id); next }
		/^#[0-9]+ / {
			sub(/^#[0-9]+ +(0x[0-9a-f]+ in )?/, "")
			name = $0; sub(/ \((\.\.\.)?\).*/, "", name)
			place = $0; sub(/.* at /, "", place)
			line = place; sub(/.*:/, "", line); sub(/:[0-9]+$/, "", place)
			sub(/^runtime\.panic$/, "runtime.gopanic", name)
			print id, name, place, line
		}' | sort
}

# stacks: in GDB's backtraces of the dump's goroutines are all frames that were printed, to runtime.goexit. Go 1.3 gave
# the line after its call for the top frame, of a system call.
stacks() {
	printed <"$work/stacks" | sed -E 's/\truntime\.panic\t/\truntime.gopanic\t/' | grep -v -e $'\t0$' -e $'\tsyscall\.Syscall\t.*/src/pkg/' |
		cut -f 1-4 | sort >"$work/expected"
	cp "$work/expected" "$work/printed"
	"$GOHEAP" itabs "$work/$1.heapdump" | grep -m 1 -F '*main.Node' >"$work/itab" ||
		nm "$work/$1" | sed -n 's/ D go\.itab\.\*main\.Node,main\.Areaer$//p' | sed 's/^/0x/' >"$work/itab"
	"$GOHEAP" types "$2" | grep -m 1 -P '\tmain\.Leaf$' >"$work/leaf"
	goheap "$2" "goheap load $work/$1.heapdump" "info symbol $(cut -f 1 "$work/itab")" \
		"info symbol $(cut -f 1 "$work/leaf")" "thread apply all backtrace" >"$work/session"
	case $1 in
	go1.3-*) itab="Argument required" ;; # no itab's type is told
	go1.7-*) itab="go\.itab\.\*main\.Node,main\.Areaer in section " ;;
	*) itab="itab:\*main\.Node in section " ;;
	esac
	has "$1: GDB names an itab, if its type is known" "$(cat "$work/session")" "^$itab"
	has "$1: and a type" "$(cat "$work/session")" '^type\.main\.Leaf in section '
	shown <"$work/session" >"$work/shown"
	same "$1: every frame that it printed ($(wc -l <"$work/expected")) is in GDB's backtraces" /dev/null \
		<(comm -23 "$work/expected" "$work/shown")
	ended "$1"
}

# ended NAME: each backtrace in the session has runtime.goexit last, and none went wrong.
ended() {
	equal "$1: each of them ends at runtime.goexit" "$(grep -c '^Thread ' "$work/session")" \
		"$(awk '/^#/ { last = $0 } (/^Thread / || /^$/) && last { print last; last = "" } END { print last }' "$work/session" |
			grep -cE '^#[1-9][0-9]* .* in runtime\.goexit ')"
	lacks "$1: and no frame is unknown" "$(cat "$work/session")" '\?\?|[Cc]annot access|corrupt|not saved'
}

# twin: the same with the program before it was stripped, whose own description of frames GDB would go by: it does not
# say that runtime.goexit is the last, nor, to Go 1.3, that it is that function which is returned to at its very start.
twin() {
	goheap "$work/$1" "goheap load $work/$1.heapdump" "thread apply all backtrace" >"$work/session"
	same "$1, twin: every frame that it printed ($(wc -l <"$work/printed")) is in GDB's backtraces" /dev/null \
		<(comm -23 "$work/printed" <(shown <"$work/session"))
	ended "$1, twin"
}

dumps() {
	awk '/^goroutine / { on = 1 } on' "$work/$1.stdout" >"$work/stacks"
	"$GOHEAP" goroutines -e "$work/$1.stripped" "$work/$1.heapdump" | comparable >"$work/found"
	comparable <"$work/stacks" >"$work/expected"
	same "$1: its goroutines ($(wc -l <"$work/expected")), as it printed them" "$work/expected" "$work/found"
	python3 "$tests/oracle/olddump.py" "$GOHEAP" "$work/$1.heapdump" "$work/$1.stripped" >"$work/rows" 2>&1
	same "$1: its dump's records ($(wc -l <"$work/rows") rows)" /dev/null <(awk -F'\t' '$2 != $3' "$work/rows")
	has "$1: its dump's records are read" "$(cat "$work/rows")" '^memstats	'
	equal "$1: nothing in its dump is damaged" "" \
		"$("$GOHEAP" histogram --bytes "$work/$1.heapdump" 2>&1 >/dev/null | grep -v ': its program is ')"
	equal "$1: the release that built it" "$(sed -n 's/^VERSION\t//p' "$work/$1.stdout")" \
		"$("$GOHEAP" info --json "$work/$1.stripped" | sed -E 's/.*"go_version":"([^"]*)".*/\1/')"
	"$GOHEAP" goroutines -e "$work/$1" "$work/$1.heapdump" | comparable >"$work/found"
	same "$1: the same with the twin" <(comparable <"$work/stacks") "$work/found"
	stacks "$1" "$work/$1.stripped"
}

# own OPTION...: how many objects there are of each of the program's own types.
own() {
	"$GOHEAP" histogram -n 0 --json "$@" | sed -nE 's/.*"type":"(main\.[A-Z][a-z]*)".*/& \1/p' |
		sed -E 's/.*"objects":([0-9]+).* /\1 /' | sort -k 2 | paste -sd ' '
}

# objects RELEASE-MACHINE: the types of the objects in the dump. The source keeps 50 Grids in sink, Global, and its copy in
# an interface; 100 Leafs in GlobalM, those in root.Any, GlobalE and sink, two in full and the one that waits for it; and
# nine Nodes. The four of main.deep are on the stack from Go 1.5 on. Without the twin's variables, what interfaces
# and frames of the runtime lead to is known; Go 1.3 says of each object what it is.
objects() {
	local nodes=9 dump=$work/$1.heapdump
	case $1 in go1.[34]-*) nodes=13 ;; esac
	equal "$1: objects of its own types" "52 main.Grid 106 main.Leaf $nodes main.Node" \
		"$(own -e "$work/$1.stripped" --names "$work/$1" "$dump")"
	case $1 in
	go1.3-*) equal "$1: the same without the twin" "52 main.Grid 106 main.Leaf 13 main.Node" \
		"$(own -e "$work/$1.stripped" "$dump")" ;;
	*) equal "$1: those that interfaces lead to, without the twin" "51 main.Grid 3 main.Leaf 9 main.Node" \
		"$(own -e "$work/$1.stripped" "$dump")" ;;
	esac
	sed -n 's/^OBJ\t[^\t]*\t//p' "$work/$1.stdout" | sed -E -e 's/\t\*\[5\]/\t[]/' -e 's/\t\*/\t/' >"$work/expected"
	# shellcheck disable=SC2046 # addresses
	"$GOHEAP" objects --json -e "$work/$1.stripped" --names "$work/$1" "$dump" $(cut -f 1 "$work/expected") |
		sed -E 's/^\{"object":"([^"]*)",.*"offset":0,"type":"([^"]*)","pointers".*/\1\t\2/' >"$work/found"
	same "$1: the types of the objects that it printed ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
}

# hprof RELEASE-MACHINE: its dump as Java's, with types and variables, and the stacks in it.
hprof() {
	"$GOHEAP" hprof -e "$work/$1.stripped" --names "$work/$1" -o "$work/hprof" "$work/$1.heapdump" 2>"$work/errors"
	same "$1: nothing is left out of the Java dump" /dev/null "$work/errors"
	"$reader" graph "$work/hprof" little 2>"$work/errors" >"$work/graph"
	"$reader" stacks "$work/hprof" 2>>"$work/errors" >"$work/rows"
	same "$1: a strict reader has no objection" /dev/null "$work/errors"
	equal "$1: all objects are in it" "$("$GOHEAP" info --json "$work/$1.heapdump" | sed -E 's/.*"objects":([0-9]+).*/\1/')" \
		"$(grep -c '^object' "$work/graph")"
	# A function in C has no package, which a Java method needs.
	cut -f 1,3- "$work/rows" | sed -E -e 's/\t\?\./\t/' -e 's/\truntime\.panic\t/\truntime.gopanic\t/' | sort >"$work/found"
	same "$1: every frame that it printed is in it" /dev/null <(comm -23 "$work/printed" "$work/found")
}

# live RELEASE PROGRAM: the goroutines of a process of the stripped program or its twin that waits, live and in a core file of GDB's, as it printed them.
live() {
	# Another may have been ready before.
	: >"$work/output"
	"$work/$2" "$work/dump" wait >"$work/output" 2>&1 </dev/null &
	local pid=$!
	wait_until grep -q '^VERSION' "$work/output"
	sleep 0.5
	# Those that wait, each with its frames in GDB.
	local commands=() id
	sed -nE 's/^goroutine ([0-9]+) \[(chan|select|sleep|semacquire).*/\1/p' "$work/output" >"$work/ids"
	while read -r id; do
		commands+=("echo \\nThread 1 (LWP $id)\\n" "goheap goroutine $id" "backtrace")
	done <"$work/ids"
	goheap "$work/$2" "attach $pid" "goheap goroutines" "thread apply all backtrace" \
		"gcore $work/core" "${commands[@]}" >"$work/session"
	end "$pid"
	comparable <"$work/output" >"$work/expected"
	# It still runs in main.spin, anywhere.
	awk '/^Thread / { exit } /^goroutine / { on = 1 } on' "$work/session" >"$work/listing"
	grep -v main.spin "$work/expected" >"$work/parked"
	comparable <"$work/listing" | grep -v main.spin >"$work/found"
	same "$2: the goroutines of the process ($(wc -l <"$work/parked"))" "$work/parked" "$work/found"
	"$GOHEAP" goroutines -e "$work/$2" "$work/core" | comparable | grep -v main.spin >"$work/found"
	same "$2: and of its core file" "$work/parked" "$work/found"
	awk '/^goroutine / { on = 1 } on' "$work/output" | printed | sed -E 's/\truntime\.panic\t/\truntime.gopanic\t/' |
		grep -v $'\t0$' | cut -f 1-4 | grep -E "^($(paste -sd '|' "$work/ids"))"$'\t' | sort >"$work/expected"
	sed -n '/^Thread 1 (LWP [0-9]*)$/, $p' "$work/session" >"$work/backtraces"
	same "$2: every frame of those that wait ($(wc -l <"$work/expected")) is in GDB's backtraces" /dev/null \
		<(comm -23 "$work/expected" <(shown <"$work/backtraces"))
	equal "$2: each of them ends at runtime.goexit" "$(wc -l <"$work/ids")" \
		"$(grep -cE '^#[1-9][0-9]* .* in runtime\.goexit ' "$work/backtraces")"
}

# stopped RELEASE PROGRAM: Go 1.2's program does not wait: stopped where it writes its result, it has the goroutines that it prints
# later, but for its own.
stopped() {
	goheap "$work/$2" "break os.(*File).Write" "run >$work/output" "goheap goroutines" \
		"thread apply all backtrace" "gcore $work/core" >"$work/session"
	awk '/^goroutine / { on = 1 } on' "$work/$1.stdout" | comparable >"$work/expected"
	awk '/^goroutine /, /^Thread /' "$work/session" | comparable >"$work/found"
	same "$2: the goroutines of the process ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	"$GOHEAP" goroutines -e "$work/$2" "$work/core" | comparable >"$work/found"
	same "$2: and of its core file" "$work/expected" "$work/found"
	has "$2: the stack ends" "$(cat "$work/session")" '^#[0-9]+ .* in runtime\.goexit \(\) at '
	lacks "$2: and no frame is unknown" "$(cat "$work/session")" '\?\?|[Cc]annot access|corrupt|not saved'
}

# structs FILE: those in FILE's DWARF, but for what the linker makes up itself: maps and channels. It named embedded
# fields by their types as spelled, and the runtime in C had other integers.
structs() {
	"$work/twintypes" -a "$1" >"$work/all" || return
	cut -f 2- "$work/all" | grep -vE '^((bucket|hash|hchan|sudog|waitq)<|map\.)' | sed -E \
		-e 's/\t\*?([0-9]+) \*?([a-zA-Z_/0-9]+\.)?([^ \t.]+) (\*?([a-zA-Z_/0-9]+\.)?\3)/\t\1 \3 \4/g' \
		-e 's/\t\*([0-9])/\t\1/g' -e 's/ (len|cap) u?int(32|64)?/ \1 int/g' | sort -u
}

# types RELEASE-MACHINE: what the linker lists for package reflect is listed, and the structs are those of the twin's
# DWARF, field by field. Those of the runtime were C's before Go 1.4.
types() {
	"$GOHEAP" types "$work/$1.stripped" | cut -f 1 | sort >"$work/ours"
	if [ "${1%-*}" != go1.7 ]; then
		size=8
		[ "${1#*-}" = amd64 ] || size=4
		objcopy -O binary -j .typelink "$work/$1" "$work/typelink"
		od -An -v -tx$size -w$size "$work/typelink" | sed -E 's/ 0*/0x/' | sort >"$work/links"
		same "$1: the types that the linker lists ($(wc -l <"$work/links")) are found" /dev/null \
			<(comm -23 "$work/links" "$work/ours")
	fi
	"$GOHEAP" debug -o "$work/debug" "$work/$1.stripped"
	if [ "${1%-*}" = go1.7 ]; then
		nm -S "$work/$1" | sed -n 's/ [a-zA-Z] go\.itab\./ /p' | sort >"$work/theirs"
		nm -S "$work/debug" | sed -n 's/ [a-zA-Z] go\.itab\./ /p' | sort >"$work/ours"
		same "$1: the itabs in the program ($(wc -l <"$work/theirs"))" "$work/theirs" "$work/ours"
	fi
	structs "$work/debug" >"$work/ours"
	structs "$work/$1" >"$work/theirs"
	awk -F'\t' 'NR == FNR { known[$1] = 1; next } $1 in known' "$work/ours" "$work/theirs" >"$work/both"
	case $1 in go1.[23]-*) sed -i '/^runtime\./d' "$work/both" ;; esac
	same "$1: the structs that the twin's DWARF has, too ($(wc -l <"$work/both")), are the same" /dev/null \
		<(comm -23 "$work/both" "$work/ours")
	own="main.Grid main.Leaf main.Node"
	[[ $1 != go1.2-* ]] || own=main.Node
	equal "$1: the program's own are among them" "$own" \
		"$(grep -oE '^main\.(Grid|Leaf|Node)\>' "$work/both" | paste -sd ' ')"
}

# beta RELEASE-MACHINE: a dump of before a release, which has the release's first line: its records and goroutines, whose
# functions it names itself.
beta() {
	unpack "$1.heapdump" && unpack "$1.stdout" || exit
	python3 "$tests/oracle/olddump.py" "$GOHEAP" "$work/$1.heapdump" >"$work/rows" 2>&1
	same "$1: its dump's records ($(wc -l <"$work/rows") rows)" /dev/null <(awk -F'\t' '$2 != $3' "$work/rows")
	has "$1: its dump's records are read" "$(cat "$work/rows")" '^memstats	'
	equal "$1: nothing in its dump is damaged" "" \
		"$("$GOHEAP" histogram --bytes "$work/$1.heapdump" 2>&1 >/dev/null | grep -v ': its program is ')"
	awk '/^goroutine / { on = 1 } on' "$work/$1.stdout" | printed | grep -v $'\t0$' | cut -f 1,2 | sort >"$work/expected"
	"$GOHEAP" frames --json "$work/$1.heapdump" |
		sed -nE 's/.*"goroutine":([0-9]+),.*"function":"([^"]*)".*/\1\t\2/p' | sort >"$work/found"
	same "$1: every frame that it printed ($(wc -l <"$work/expected"))" /dev/null \
		<(comm -23 "$work/expected" "$work/found")
}

beta go1.3beta2-amd64
for release in 1.2 $(is_full && echo 1.3 1.4 1.5 1.6) 1.7; do
	for machine in $(first amd64 386); do
		name=go$release-$machine
		for file in "$name" "$name.lines" "$name.stdout"; do
			unpack "$file" || exit
		done
		chmod +x "$work/$name"
		strip -o "$work/$name.stripped" "$work/$name"
		lines "$name"
		types "$name"
		if [ "$release" != 1.2 ]; then
			unpack "$name.heapdump" || exit
			dumps "$name"
			objects "$name"
			if [ -n "$reader" ]; then hprof "$name"; fi
			twin "$name"
		fi
	done
	case $(uname -m)-$release in
	x86_64-1.2)
		stopped "go$release-amd64" "go$release-amd64.stripped"
		stopped "go$release-amd64" "go$release-amd64"
		;;
	x86_64-*)
		live "go$release-amd64" "go$release-amd64.stripped"
		# Their DWARF is all of one kind.
		[ "$release" != 1.7 ] || live "go$release-amd64" "go$release-amd64"
		;;
	*) skip "Go $release: a process" "not on amd64" ;;
	esac
done
finish
