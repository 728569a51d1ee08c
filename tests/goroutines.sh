#!/usr/bin/env bash
# The goroutines of a live process and of a core file from gcore, stripped, against what GOTRACEBACK=all has the
# same process print of itself afterwards.
. "$(dirname "$0")/lib.sh"
session_home

patience=300 gdb_options=(-iex 'set print frame-arguments presence')

# reads: a thread of the process $pid is in read(0, ...), as the kernel tells.
reads() {
	cat /proc/"$pid"/task/*/syscall 2>/dev/null | grep -q '^0 0x0 '
}

# start PROGRAM [MORE]: runs the sample until all its goroutines are blocked; $pid, and descriptor 7, which ends it.
start() {
	rm -f "$work/input"
	mkfifo "$work/input"
	# Another may have been ready before.
	: >"$work/output"
	GOTRACEBACK=all "$1" wait "${@:2}" <"$work/input" >"$work/output" 2>"$work/traceback" &
	pid=$!
	exec 7>"$work/input"
	# Main reads last.
	for ((i = 0; i < 600; i++)); do
		grep -q ready "$work/output" && reads && break
		sleep 0.1
	done
}

# quit: has it print its goroutines, and ends it.
quit() {
	kill -QUIT "$pid"
	wait "$pid" 2>"$work/ended"
	exec 7>&-
}

# arguments: a traceback on standard input with the arguments that can be compared: (...) for all up to Go 1.17, as
# goheap has it; without the question marks up to Go 1.20, where the runtime looks at another place in a function
# that has inlined calls.
arguments() {
	if [ "${release#1.}" -lt 18 ]; then
		sed -E '/^(goroutine |created by |\t|$)/!s/\([^()]*\)$/(...)/'
	elif [ "${release#1.}" -lt 21 ]; then
		sed -E '/^(goroutine |created by |\t|$)/!s/\?([,})])/\1/g'
	else
		cat
	fi
}

# timeless: a traceback on standard input without the minutes of waiting, which go on from one traceback to the next.
timeless() {
	sed -E '/^([0-9]+ )?goroutines? /s/, [0-9]+ minutes//'
}

# normal: a traceback on standard input as one line for each of the user's goroutines, sorted. Inlined calls of the
# runtime's own, which older releases print, are left out.
normal() {
	timeless | sed -E -e '/^(rax|eax|trap|r0|R0) /,$d' -e '/^\[Inferior /d' -e 's/ fp=0x.*//' \
		-e 's/^(goroutine [0-9]+) gp=.* \[/\1 [/' -e 's/, on selected thread\]:$/]:/' -e 's/^goroutine /\n&/' | arguments |
		sed -E -e '/^runtime\.[a-z].*\(\.\.\.\)$/ { N; /\n.* \+0x/!d }' |
		awk 'BEGIN { RS = ""; FS = "\n"; OFS = "|" } { $1 = $1; print }' | grep -f "$work/ids" | sort
}

# rows: such lines as rows: goroutine, function, file, line. Inlined calls are left out, as the debug file need not
# have them: they have no offset.
rows() {
	awk -F'|' -v OFS='\t' '{
		split($1, words, " ")
		for (i = 2; i < NF && $i !~ /^created by /; i += 2) {
			name = $i
			sub(/\([^()]*\)$/, "", name)
			if (name == "panic")
				name = "runtime.gopanic"
			if ($(i + 1) !~ / \+0x/)
				continue
			place = $(i + 1)
			gsub(/^\t| .*/, "", place)
			line = place
			sub(/.*:/, "", line)
			sub(/:[0-9]+$/, "", place)
			print words[2], name, place, line
		}
	}' | sort
}

# shown: the backtraces of a session as such rows; "goroutine ID" comes before each.
shown() {
	sed -nE -e 's/^goroutine ([0-9]+) \[.*\], from frame 1 on$/goroutine \1/p' \
		-e 's/^#[1-9][0-9]* +(0x[0-9a-f]+ in )?(.*) \((\.\.\.)?\) at (.*):([0-9]+)$/\2\t\4\t\5/p' |
		awk -F'\t' -v OFS='\t' '
			/^goroutine / { id = substr($0, 11); next }
			{ sub(/\[.*\]/, "[...]", $1); print id, $0 }' | sort
}

# listing NAME: the goroutines in the file expected are those of the session in the file users. Where a signal's
# handler printed them, or some of them, with the runtime's own calls, they are as in the session in the file all.
listing() {
	normal <"$work/users" >"$work/found"
	same "$1: which goroutines ($(wc -l <"$work/expected"))" <(sed 's/:|.*//' "$work/expected") <(sed 's/:|.*//' "$work/found")
	normal <"$work/all" | sort - "$work/found" >"$work/either"
	comm -23 "$work/expected" "$work/either" >"$work/left"
	same "$1: their stacks" /dev/null "$work/left"
}

# backtraces NAME: so are the frames of those in the file each, of which GDB shows more: the runtime's.
backtraces() {
	rows <"$work/expected" | awk -F'\t' 'NR == FNR { each[$1] = 1; next } $1 in each' "$work/each" - >"$work/rows"
	shown <"$work/session" >"$work/shown"
	comm -23 "$work/rows" "$work/shown" >"$work/left"
	same "$1: frames of each in a backtrace ($(wc -l <"$work/rows"))" /dev/null "$work/left"
	lacks "$1: no backtrace fails" "$(cat "$work/session")" '\?\?|[Cc]annot access|corrupt|not saved|^goheap: there'
}

# state: has GDB run this to print what there is of the process: its threads' registers and a checksum of all its
# writable memory, but for the kernel's own clock page and the terabytes of -asan's shadow.
cat >"$work/state" <<-"END"
	#!/bin/bash
	while read -r range access _ _ _ name; do
		[[ $access == rw* && $name != \[v* ]] || continue
		start=$((16#${range%-*})) end=$((16#${range#*-}))
		((end - start < 1 << 40)) || continue
		dd if="/proc/$1/mem" bs=4096 skip=$((start / 4096)) count=$(((end - start) / 4096)) 2>/dev/null | sha256sum
	done <"/proc/$1/maps"
END
chmod +x "$work/state"

# matching RE GROUPS: the GROUPS of the lines on standard input that match RE, sorted.
matching() {
	sed -nE "s/$1/$2/p" | sort
}

# check_process NAME PROGRAM
check_process() {
	local ids commands=() id function offset gcore=("generate-core-file $work/core")
	[[ $1 != *-asan* ]] || gcore=()
	start "$2"
	goheap "$2" "attach $pid" "goheap goroutines" "echo all\\n" "goheap goroutines --all" >"$work/both"
	sed '/^all$/,$d' "$work/both" >"$work/users"
	sed '1,/^all$/d' "$work/both" >"$work/all"
	ids=$(sed -nE 's/^goroutine ([0-9]+) .*/\1/p' "$work/users")
	# shellcheck disable=SC2086 # a line for each
	printf '^goroutine %s \n' $ids >"$work/ids"
	# One in six where another program has seen all: GDB takes its time for each.
	sed -n "1~$([[ $2 == *.stripped && $1 != *pie* ]] && is_newest "$release" && echo 1 || echo 6)p" <<<"$ids" >"$work/each"
	while read -r id; do
		commands+=("goheap goroutine $id" "backtrace")
	done <"$work/each"
	goheap "$2" "attach $pid" "thread apply all -q info registers" "shell $work/state $pid" "echo then\\n" \
		"goheap goroutines" "${commands[@]}" "thread 2" "echo again\\n" "backtrace" "echo below\\n" \
		"${commands[@]}" "goheap goroutine 0" "echo own\\n" "backtrace" "echo now\\n" "thread 1" "echo registers\\n" \
		"thread apply all -q info registers" "shell $work/state $pid" "${gcore[@]}" >"$work/live-frames"
	# GDB would write all of the 20 TB that are reserved.
	[ "${#gcore[@]}" -gt 0 ] || "$GOHEAP" core --force "$pid" -o "$work/core" 2>"$work/told" || fail "$1: a core file"
	quit
	normal <"$work/traceback" >"$work/expected"
	if [ ! -s "$work/expected" ]; then
		fail "$1: the process printed its goroutines" "$(head -n 20 "$work/traceback" "$work/users")"
		return
	fi
	has "$1: the process tells of a goroutine locked to its thread" "$(cat "$work/expected")" ', locked to thread\]'
	[ "${release#1.}" -lt 21 ] ||
		has "$1: and of where goroutines were created" "$(cat "$work/expected")" 'created by main\..* in goroutine 1\|'
	listing "$1, live"
	sed '/^again$/,$d' "$work/live-frames" >"$work/session"
	backtraces "$1, live"
	sed -e '1,/^below$/d' -e '/^own$/,$d' "$work/live-frames" >"$work/session"
	backtraces "$1, live, below another thread's frame"
	cp "$work/live-frames" "$work/session"
	has "$1, live: the thread has a stack" "$(sed -e '1,/^again$/d' -e '/^below$/,$d' "$work/session")" '^#0 '
	equal "$1, live: the thread's own stack is shown again" \
		"$(sed -e '1,/^again$/d' -e '/^below$/,$d' "$work/session")" \
		"$(sed -e '1,/^own$/d' -e '/^now$/,$d' "$work/session")"
	sed -n '/^[a-z0-9]* *0x\|^[0-9a-f]\{64\}/p' <(sed '/^then$/,$d' "$work/session") >"$work/before"
	sed -n '/^[a-z0-9]* *0x\|^[0-9a-f]\{64\}/p' <(sed '1,/^registers$/d' "$work/session") >"$work/after"
	same "$1, live: registers and memory stay as they are ($(wc -l <"$work/before"))" "$work/before" "$work/after"
	goheap "$2" "core-file $work/core" "goheap goroutines" "echo all\\n" "goheap goroutines --all" "echo each\\n" \
		"${commands[@]}" >"$work/both"
	sed '/^all$/,$d' "$work/both" >"$work/users"
	sed -e '1,/^all$/d' -e '/^each$/,$d' "$work/both" >"$work/all"
	listing "$1, core file"
	sed '1,/^each$/d' "$work/both" >"$work/session"
	backtraces "$1, core file"
	"$GOHEAP" goroutines "$work/core" -e "$2" >"$work/users" 2>&1
	"$GOHEAP" goroutines --all "$work/core" -e "$2" >"$work/all" 2>&1
	listing "$1, core file, in the shell"
	"$GOHEAP" goroutines -s select "$work/core" -e "$2" 2>&1 | normal >"$work/selects"
	"$GOHEAP" goroutines --json "$work/core" -e "$2" >"$work/json" 2>&1
	same "$1, core file: locked ones in JSON" <(matching '^goroutine ([0-9]+) .*, locked to thread\].*' '\1' <"$work/expected") \
		<(matching '^.*"id":([0-9]+),.*"locked_to_thread":true,.*' '\1' <"$work/json")
	same "$1, core file: where they were created in JSON" \
		<(matching '^goroutine ([0-9]+) .*\|created by .* in goroutine ([0-9]+)\|.*' '\1 \2' <"$work/expected") \
		<(matching '^.*"id":([0-9]+),.*"created_in":([0-9]+),.*' '\1 \2' <"$work/json")
	# Of the one that had the signal Go tells the runtime's own calls, too.
	sed -E -e '/\|created by runtime\./d' -e 's/ in goroutine [0-9]+\|/|/' "$work/expected" |
		matching '^goroutine ([0-9]+) .*\|created by ([^|]*)\|\t([^|]*):([0-9]+) \+(0x[0-9a-f]+)\|?' '\1 \2 \3 \4 \5' >"$work/creators"
	same "$1, core file: what they were created by in JSON" <(cut -d ' ' -f -4 "$work/creators") \
		<(matching '^.*"id":([0-9]+),.*"created_by":\{"function":"([^"]*)","file":"([^"]*)","line":([0-9]+)\},.*' '\1 \2 \3 \4' <"$work/json")
	# Position-independent programs are elsewhere.
	if [[ $1 != *pie* ]]; then
		nm "${2%.stripped}" >"$work/symbols"
		same "$1, core file: the address of the go statement in JSON" \
			<(while read -r id function _ _ offset; do
				printf '%s 0x%x\n' "$id" $((0x$(awk -v name="$function" '$3 == name { print $1; exit }' "$work/symbols") + offset))
			done <"$work/creators") <(matching '^.*"id":([0-9]+),.*"creator_pc":"(0x[0-9a-f]+)","created_by":\{.*' '\1 \2' <"$work/json")
	fi
	"$GOHEAP" goroutines --group "$work/core" -e "$2" >"$work/groups" 2>&1
	has "$1, core file: a group of locked ones" "$(cat "$work/groups")" '^[0-9]+ goroutines? \[.*, locked to thread\]:'
	check_groups "$1, core file" "$2"
	same "$1, core file: every kind of select" <(grep -F ' [select' "$work/expected" | sed 's/:|.*//') \
		<(sed 's/:|.*//' "$work/selects")
	rm "$work/core"
}

# check_groups NAME PROGRAM: panicparse makes the same groups of what is in $work/users and has them in the same order; the
# goroutine that panics, which Go prints first, comes first there. Groups are compared by how many they are, state and lines.
check_groups() {
	local panicparse id
	if ! panicparse=$("$tests/debian-program" panicparse usr/bin/panicparse 2>"$work/why"); then
		skip "$1: groups" "$(tail -n 1 "$work/why")"
		return
	fi
	id=$("$GOHEAP" crash "$work/core" -e "$2" | sed -nE '1,/^$/d; s/^goroutine ([0-9]+) .*/\1/p')
	awk -v first="goroutine $id " 'BEGIN { RS = ""; ORS = "\n\n" }
		/^(deferred|panicking) / { next }
		{ gsub(/ in goroutine [0-9]+\n/, "\n") }
		index($0, first) == 1 { print; next }
		{ rest = rest $0 ORS }
		END { printf "%s", rest }' <(timeless <"$work/users") >"$work/traceback"
	"$panicparse" -aggressive -no-color <"$work/traceback" | awk '
		/^[0-9]+: / {
			if (row) print row
			sub(/ \[Created by.*/, "")
			sub(/ \[locked\]/, ", locked to thread")
			row = $0
			next
		}
		/^    / && row { match($0, /[^ ]*:[0-9]+ /); row = row " " substr($0, RSTART, RLENGTH - 1) }
		END { print row }' >"$work/expected-groups"
	awk 'BEGIN { RS = ""; FS = "\n" }
		/^[0-9]+ goroutines? \[/ {
			row = $1
			sub(/ goroutines? \[/, ": ", row)
			sub(/\]:$/, "", row)
			for (i = 3; i <= NF && $(i - 1) !~ /^created by /; i += 2) {
				sub(/ \+0x.*/, "", $i)
				sub(/.*[\t\/]|<autogenerated>/, "", $i)
				row = row " " $i
			}
			print row
		}' <(timeless <"$work/groups") >"$work/found-groups"
	same "$1: groups in panicparse's order ($(wc -l <"$work/expected-groups"))" "$work/expected-groups" "$work/found-groups"
}

# check_main NAME PROGRAM: below main.main in a program that is not stripped, whose stacks GDB ends there by itself.
check_main() {
	goheap "$2" "break main.main" run "goheap goroutine 2" backtrace >"$work/session"
	has "$1: a goroutine below main.main" "$(cat "$work/session")" '^#[1-9][0-9]* .* runtime\.goexit '
	lacks "$1: a goroutine below main.main: no errors" "$(cat "$work/session")" '^No frame|Error'
}

# check_selected NAME PROGRAM: the goroutine of the selected thread is marked, by its number as the thread's register has it,
# and no other; also in a system call, and in its core file.
check_selected() {
	local id
	# One processor runs main.receive before those that panic, whose group would come first, and reads of the poller's own, in
	# no goroutine, after those of goroutines.
	local one="set environment GOMAXPROCS 1"
	goheap "$2" "$one" "break main.receive" "run wait" 'printf "is %d\n", goid' "goheap goroutines" "echo json\n" \
		"goheap goroutines --json" "generate-core-file $work/core" "kill" "core-file $work/core" "echo core\n" \
		"goheap goroutines" "echo groups\n" "goheap goroutines --group" >"$work/session"
	has "$1: a thread in a goroutine" "$(cat "$work/session")" '^is [0-9]+$'
	id=$(sed -n 's/^is //p' "$work/session")
	equal "$1: the goroutine of the selected thread is marked" "$id" "$(sed '/^json$/,$d' "$work/session" | marked)"
	equal "$1: and in JSON" "$id" "$(sed -e '1,/^json$/d' -e '/^core$/,$d' "$work/session" |
		matching '^.*"id":([0-9]+),.*"on_selected_thread":true,.*' '\1')"
	equal "$1: and in a core file" "$id" "$(sed '1,/^core$/d' "$work/session" | marked)"
	has "$1: its group comes first" "$(sed '1,/^groups$/d' "$work/session" | grep -m 1 '^goroutines ')" " $id\b"
	rm -f "$work/core"
	# A goroutine that is preempted at a breakpoint stops there again, in another thread.
	goheap "$2" "$one" "tbreak main.main" "run wait" "catch syscall read" "continue" 'printf "is %d\n", goid' \
		"goheap goroutines" >"$work/session"
	has "$1: a thread in a system call" "$(cat "$work/session")" '^is [1-9][0-9]*$'
	equal "$1: its goroutine is marked" "$(sed -n 's/^is //p' "$work/session")" "$(marked <"$work/session")"
	# Each goroutine's read is inlined into what calls it; one may meet a nil pointer before, as it is to.
	goheap "$2" "handle SIGSEGV nostop noprint pass" "tbreak main.main" "run wait" "tbreak internal/poll.ignoringEINTRIO" "continue" "backtrace 1" \
		'printf "is %d\n", goid' "goheap goroutines" >"$work/session"
	has "$1: a thread in an inlined call" "$(cat "$work/session")" '^#0  internal/poll.ignoringEINTRIO '
	equal "$1: and its goroutine is marked" "$(sed -n 's/^is //p' "$work/session")" "$(marked <"$work/session")"
	# The go statement's work is done on the thread's own stack.
	goheap "$2" "break main.start" "run wait" "tbreak runtime.newproc1" "continue" 'printf "is %d\n", goid' \
		"goheap goroutines" >"$work/session"
	has "$1: a thread on its own stack" "$(cat "$work/session")" '^is 1$'
	equal "$1: the goroutine that it runs is marked: main's" 1 "$(marked <"$work/session")"
	equal "$1: none in a core file that GDB has not opened" "" "$(sed '/on selected/!d' "$work/users")"
}

# check_selected_in_c NAME PROGRAM: so is the one that called C, on the thread's own stack.
check_selected_in_c() {
	goheap "$2" "break main.main" "run wait" "tbreak read" "continue" 'printf "is %d\n", goid' "goheap goroutines" \
		>"$work/session"
	has "$1: a thread in C" "$(cat "$work/session")" '^is [1-9][0-9]*$'
	equal "$1: the goroutine that called C is marked" "$(sed -n 's/^is //p' "$work/session")" "$(marked <"$work/session")"
}

# marked: the numbers of the goroutines marked in a session on standard input.
marked() {
	sed -nE 's/^goroutine ([0-9]+) \[.*, on selected thread\]:$/\1/p'
}

# check_errors NAME PROGRAM: one line says what is wrong.
check_errors() {
	local other
	other=$(readlink -f "$(command -v sleep)")
	has "a program that is not Go" "$(goheap "$other" starti "goheap goroutines")" \
		"^goheap: $other is no Go program, and no Go library is loaded\$"
	start "$2"
	goheap "$2" "attach $pid" "goheap info" "continue &" "goheap goroutines" "goheap goroutine 1" >"$work/session"
	quit
	equal "$1: a process that is running" 2 "$(grep -cx 'The process is running: interrupt it first\.' "$work/session")"
	lacks "$1: a process that is running: nothing else" "$(cat "$work/session")" 'Error|Selected thread'
}

# numbers: those of the goroutines listed on standard input.
numbers() {
	sed -nE 's/^goroutine ([0-9]+) .*/\1/p' | sort
}

# without ENTRIES: the numbers of the goroutines listed on standard input, but for those that are at ENTRIES of
# runtime.allgs, counted from 1: they are listed in its order, which is not always that of their numbers.
without() {
	sed -nE 's/^goroutine ([0-9]+) .*/\1/p' | sed "$1d" | sort
}

# check_damaged NAME DIRECTORY: an entry of runtime.allgs is repeated or damaged, in the process and in a core file of
# it: the others are listed, and one line says how many are not.
check_damaged() {
	local list bad gone='1 goroutines left out: their memory is missing or damaged'
	list="*(long *)0x$(nm "$2/dump" | awk '$3 == "runtime.allgs" { print $1 }')"
	for bad in 0 0x10; do
		start "$2/dump.stripped"
		goheap "$2/dump.stripped" "attach $pid" "set language c" "echo whole\\n" "goheap goroutines --all" \
			"set \$second = {long}($list + 8)" "set \$third = {long}($list + 16)" \
			"set {long}($list + 24) = \$second" "echo repeated\\n" "goheap goroutines --all" \
			"set {long}($list + 16) = $bad" "echo damaged\\n" "goheap goroutines --all" \
			"generate-core-file $work/core" "set {long}($list + 16) = \$third" >"$work/session"
		exec 7>&-
		wait "$pid"
		sed -n '/^whole$/,/^repeated$/p' "$work/session" >"$work/whole"
		sed -n '/^repeated$/,/^damaged$/p' "$work/session" >"$work/repeated"
		sed -n '/^damaged$/,$p' "$work/session" >"$work/damaged"
		equal "$1: a repeated entry is listed once" "$(without 4 <"$work/whole")" "$(numbers <"$work/repeated")"
		lacks "$1: and nothing is missing" "$(cat "$work/repeated")" 'left out'
		equal "$1: an entry $bad: the others are listed" "$(without 3,4 <"$work/whole")" \
			"$(numbers <"$work/damaged")"
		equal "$1: an entry $bad: one line says so" 1 "$(grep -c "^goheap: .*: $gone\$" "$work/damaged")"
		"$GOHEAP" goroutines --all "$work/core" -e "$2/dump.stripped" >"$work/found" 2>"$work/errors"
		same "$1: an entry $bad in a core file" <(numbers <"$work/damaged") <(numbers <"$work/found")
		equal "$1: an entry $bad in a core file: one line" "goheap: $work/core: $gone" "$(cat "$work/errors")"
	done
}

# offset_of ADDRESS: where it is in the core file.
offset_of() {
	readelf -lW "$work/core" | while read -r kind offset address _ size _; do
		if [ "$kind" = LOAD ] && (($1 >= address && $1 <= address + size)); then
			echo $((offset + $1 - address))
		fi
	done
}

# check_cut NAME DIRECTORY: a core file that was cut short after the array of pointers to the goroutines: those that are
# in it are listed, and a line says how many are not. And one that lacks the array, too: those before it are listed.
check_cut() {
	local total found lost start count before
	list="0x$(nm "$2/dump" | awk '$3 == "runtime.allgs" { print $1 }')"
	start "$2/dump.stripped" 2000
	goheap "$2/dump.stripped" "attach $pid" "set language c" "generate-core-file $work/core" \
		"printf \"array %ld %ld\n\", *(long *)$list, *(long *)($list + 8)" \
		"eval \"x/%ldgd %ld\", *(long *)($list + 8), *(long *)$list" >"$work/session"
	exec 7>&-
	wait "$pid"
	read -r start count < <(sed -n 's/^array //p' "$work/session")
	"$GOHEAP" goroutines --all "$work/core" -e "$2/dump.stripped" 2>"$work/errors" | numbers >"$work/whole"
	total=$(wc -l <"$work/whole")
	equal "$1: the whole core file: no errors" "" "$(cat "$work/errors")"
	head -c "$(offset_of $((start + 8 * count)))" "$work/core" >"$work/cut"
	"$GOHEAP" goroutines --all "$work/cut" -e "$2/dump.stripped" >"$work/found" 2>"$work/errors"
	found=$(numbers <"$work/found" | comm -12 - "$work/whole" | wc -l)
	lost=$(sed -nE 's/.*: ([0-9]+) goroutines left out: .*/\1/p' "$work/errors")
	if [ "$found" -gt 0 ] && [ "$found" -lt "$total" ] && [ $((found + ${lost:-0})) -ge "$total" ]; then
		ok "$1: $found of $total goroutines of a core file that was cut short, $lost are said to be left out"
	else
		fail "$1: $found of $total goroutines of a core file that was cut short" "$(cat "$work/errors")"
	fi
	has "$1: a line says that it was cut short" "$(cat "$work/errors")" \
		'^goheap: .*/cut: [0-9]+ bytes missing at its end: the core file was cut short$'
	head -c "$(offset_of "$start")" "$work/core" >"$work/cut"
	"$GOHEAP" goroutines --all "$work/cut" -e "$2/dump.stripped" 2>"$work/errors" | numbers >"$work/found"
	same "$1: without the array: none that there is not" /dev/null <(comm -23 "$work/found" "$work/whole")
	# Some of them have ended, or are not yet used.
	before=$(sed -nE 's/^0x[0-9a-f]+( <[^>]*>)?:\t//p' "$work/session" | tr '\t' '\n' | awk -v start="$start" '$1 + 0 < start + 0' | wc -l)
	found=$(wc -l <"$work/found")
	if [ "$before" -gt 10 ] && [ "$found" -ge $((before - (count - total))) ]; then
		ok "$1: without the array: $found of the $before goroutines before it"
	else
		fail "$1: without the array: $found of the $before goroutines before it" "$(cat "$work/errors")"
	fi
	head -c "$(readelf -lW "$work/core" | awk '$1 == "LOAD" { print $2; exit }' | xargs printf %d)" "$work/core" >"$work/cut"
	has "$1: without memory: why" "$("$GOHEAP" crash "$work/cut" -e "$2/dump.stripped" 2>&1)" \
		'expected a process with goroutines, found none in its variables: .* or see coredump_filter in core\(5\)'
}

# check_many NAME PROGRAM: 100,000 goroutines, and groups of them.
check_many() {
	start "$2" 100000
	goheap "$2" "attach $pid" "goheap goroutines" "shell echo groups" "goheap goroutines --group" >"$work/both"
	sed '/^groups$/,$d' "$work/both" >"$work/session"
	sed '1,/^groups$/d' "$work/both" >"$work/groups"
	exec 7>&-
	wait "$pid"
	found=$(grep -cE '^goroutine [0-9]+ \[(chan receive|chan send|select)' "$work/session")
	if [ "$found" -ge 100000 ]; then
		ok "$1: 100,000 goroutines"
	else
		fail "$1: 100,000 goroutines" "$found; $(head -n 20 "$work/session")"
	fi
	has "$1: a large group names ten" "$(grep '^goroutines ' "$work/groups")" '^goroutines( [0-9]+){10} and [0-9]+ more$'
	lacks "$1: and no more than ten" "$(grep '^goroutines ' "$work/groups")" '^goroutines( [0-9]+){11}'
	equal "$1: groups count all of them" "$(grep -c '^goroutine [0-9]' "$work/session")" \
		"$(awk '/^goroutines / { sum += $(NF - 2) == "and" ? NF - 4 + $(NF - 1) : NF - 1 } END { print sum }' \
			"$work/groups")"
}

for release in $(formats "$("$tests/toolchain" list)"); do
	for spec in "dump" "dump -race" "dump -N" "dump -asan" "dump -musl" "dump -buildmode=pie"; do
		[ "$spec" = dump ] || { is_newest "$release" && in_full "Go $release $spec"; } || continue
		sample_as "Go $release $spec" "$release" "$spec" || continue
		check_process "Go $release $spec" "$directory/dump.stripped"
		[[ $spec =~ -(race|N|asan|musl) ]] || ! is_newest "$release" || ! in_full "Go $release $spec, twin" || check_process "Go $release $spec, twin" "$directory/dump"
	done
done
[ -n "${directory:-}" ] && check_main "Go $release" "$directory/dump"
[ -n "${directory:-}" ] && check_selected "Go $release" "$directory/dump.stripped"
[ -n "${directory:-}" ] && in_full "Go $release, twin" && check_selected "Go $release, twin" "$directory/dump"
[ -n "${directory:-}" ] && check_errors "Go $release" "$directory/dump.stripped"
[ -n "${directory:-}" ] && check_many "Go $release" "$directory/dump.stripped"
if sample "Go $release: damaged goroutines" "$release" dump; then
	check_damaged "Go $release" "$directory"
	check_cut "Go $release" "$directory"
fi
if sample "Go $release: a goroutine in C" "$release" cgo; then
	check_selected_in_c "Go $release" "$directory/cgo.stripped"
	in_full "Go $release, twin: a goroutine in C" && check_selected_in_c "Go $release, twin" "$directory/cgo"
fi
finish
