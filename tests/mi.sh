#!/usr/bin/env bash
# The interfaces by which editors drive GDB: MI, and DAP where GDB has it (14 and later). A breakpoint is set on a function
# of a stripped program before anything else; places and stacks are those of the unstripped twin in plain GDB, and
# stepping stays in its goroutine, which only the source tells the lines of.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/dap-lib.sh"
session_home

needs "everything" gdb || finish
source=$tests/samples/steps/main.go
with_goheap=("${gdb_defaults[@]}" -iex 'set confirm off' -iex "jit-reader-load $GOHEAP_SO")

# start ARGUMENT...: GDB, which is asked on descriptor 7 and answers on 8.
start() {
	rm -f "$work/in" "$work/out"
	mkfifo "$work/in" "$work/out"
	timeout -k 5 100 gdb "$@" <"$work/in" >"$work/out" 2>"$work/errors" &
	gdb=$!
	exec 7>"$work/in" 8<"$work/out"
	: >"$work/talk"
	number=0
}

stop() {
	exec 7>&- 8<&-
	wait "$gdb"
}

# wait_for PATTERN: reads lines up to the one that matches the extended regular expression; it is in $line. False if GDB
# says no more.
wait_for() {
	while IFS= read -r -t 60 line <&8; do
		printf '%s\n' "$line" >>"$work/talk"
		[[ $line =~ $1 ]] && return
	done
	line=
	return 1
}

# mi COMMAND: its answer is in $line.
mi() {
	number=$((number + 1))
	ask "$number$1"$'\n'
	wait_for "^$number\\^"
}

# mi_stop COMMAND: where the program stops after it is in $line.
mi_stop() {
	mi "$1" && wait_for '^\*stopped,'
}

# functions: the frames of the answer on standard input: function and line of each. GDB has the twin's stacks end in a
# frame without a line.
functions() {
	grep -oE 'level="[0-9]+"[^}]*' | sed -nE 's/.*func="([^"]*)".*line="([0-9]+)".*/\1 \2/p'
}

# place: function and line of the answer on standard input, which has one.
place() {
	sed -E 's/.*func="([^"]*)".*[{,]line="([0-9]+)".*/\1 \2/'
}

# mi_session PROGRAM ARGUMENT...: to the first stop at main.record; where the breakpoint is, where it stops, and its
# callers, are in $breakpoint, $stopped and $stack.
mi_session() {
	local program=$1
	shift
	start -i=mi "$@"
	mi "-file-exec-and-symbols $program"
	mi "-exec-arguments $work/counts"
	mi "-break-insert main.record"
	breakpoint=$(place <<<"$line")
	mi_stop "-exec-run"
	stopped=$(place <<<"$line")
	mi "-stack-list-frames"
	stack=$(functions <<<"$line")
}

# expected_lines: the lines that follow the call of record in its caller.
expected_lines() {
	grep -nE 'mutex\.Lock|total \+=|mutex\.Unlock|sum \+= deep|sums <- sum' "$source" | cut -d : -f 1
}

# first_lines: of the lines on standard input those that are compared. The call's own may be there, once it has returned.
first_lines() {
	sed "/^$(grep -nF 'record(file, id, i)' "$source" | cut -d : -f 1)\$/d" | head -n 5
}

check_mi() {
	local place_before stack_before lines
	mi_session "$directory/steps" "${gdb_defaults[@]}"
	stop
	place_before="$breakpoint, $stopped" stack_before=$stack
	mi_session "$directory/steps.stripped" "${with_goheap[@]}"
	equal "$1, MI: the breakpoint and the stop" "$place_before" "$breakpoint, $stopped"
	has "$1, MI: the twin's stack" "$stack_before" '^main\.worker '
	equal "$1, MI: the stack" "$stack_before" "$stack"
	mi "-break-delete 1"
	mi_stop "-exec-finish"
	lines=$(sed -E 's/.*[{,]line="([0-9]+)".*/\1/' <<<"$line")$'\n'
	mi "-data-evaluate-expression goid"
	local goid=$line
	for _ in 1 2 3 4 5; do
		mi_stop "-exec-next"
		lines+=$(sed -E 's/.*[{,]line="([0-9]+)".*/\1/' <<<"$line")$'\n'
	done
	equal "$1, MI: lines of -exec-next" "$(expected_lines)" "$(first_lines <<<"$lines")"
	mi "-data-evaluate-expression goid"
	equal "$1, MI: the goroutine" "${goid#*^}" "${line#*^}"
	: >"$work/talk"
	mi '-interpreter-exec console "goheap goroutines"'
	equal "$1, MI: the source's twenty goroutines" 20 "$(grep -c '^main\.worker(' "$work/talk")"
	check_chosen_mi "$1"
	mi "-gdb-exit"
	stop
}

# check_chosen_mi NAME: the stack that goheap goroutine shows is the selected thread's to MI: its frames, their variables, and
# where finish leads; the program has stopped in main.worker.
check_chosen_mi() {
	local callee caller
	: >"$work/talk"
	mi '-interpreter-exec console "goheap goroutine 1"'
	mi "-stack-list-frames"
	stack=$(functions <<<"$line")
	has "$1, MI: the goroutine chosen" "$stack" '^main\.main '
	mi "-stack-select-frame 2"
	mi "-stack-info-frame"
	equal "$1, MI: its frame 2" "$(sed -n 3p <<<"$stack")" "$(place <<<"$line")"
	mi "-stack-list-variables --all-values"
	has "$1, MI: its variables" "$line" '\^done,variables=\['
	mi_stop "-exec-finish"
	callee=$(sed -n '3s/ .*//p' <<<"$stack") caller=$(sed -n '4s/ .*//p' <<<"$stack")
	has "$1, MI: out of $callee" "$(place <<<"$line") " "^($callee|$caller|main\.try) "
	lacks "$1, MI: no frame is invalid" "$(cat "$work/talk")" 'invalid|\^error'
}

# named INTERPRETER: GDB, in which goheap.so is loaded from ~/.gdbinit, and which opens the program that its command line names
# without a word.
named() {
	mkdir -p "$work/home"
	printf '%s\n' 'set debuginfod enabled off' "jit-reader-load $GOHEAP_SO" >"$work/home/.gdbinit"
	HOME=$work/home start -q -i="$1" "$directory/steps.stripped"
}

# check_mi_named NAME: the first command finds its function, and the program stops there.
check_mi_named() {
	named mi
	mi "-break-insert main.record"
	has "$1, MI, the program named: the first breakpoint" "$line" '\^done.*func="main.record".*line="[0-9]+"'
	mi "-exec-arguments $work/counts"
	mi_stop "-exec-run"
	has "$1, MI, the program named: is met" "$(place <<<"$line")" '^main\.record [0-9]+$'
	mi "-gdb-exit"
	stop
}

dap_session() {
	local program=$1
	shift
	start -i=dap "$@"
	answer initialize '{"adapterID":"test","linesStartAt1":true}'
	dap launch "{\"program\":\"$program\",\"args\":[\"$work/counts\"]}"
	answer setFunctionBreakpoints '{"breakpoints":[{"name":"main.record"}]}'
	dap_stop configurationDone '{}'
}

# check_chosen_dap NAME: the same to DAP. What GDB has cached of the thread's frames it may show again.
check_chosen_dap() {
	local frame
	: >"$work/talk"
	answer evaluate '{"expression":"goheap goroutine 1","context":"repl"}'
	answer stackTrace "{\"threadId\":$thread}"
	has "$1, DAP: the goroutine chosen" "$line" '"name": "main\.main"'
	frame=$(grep -oE '"id": [0-9]+' <<<"$line" | sed -n '3s/"id": //p')
	answer scopes "{\"frameId\":${frame:-0}}"
	has "$1, DAP: its variables" "$line" '"success": true'
	lacks "$1, DAP: no frame is invalid" "$(cat "$work/talk")" 'invalid|"success": false'
}

check_dap() {
	local stack_before lines
	dap_session "$directory/steps" "${gdb_defaults[@]}"
	stop
	stack_before=$stack
	dap_session "$directory/steps.stripped" "${with_goheap[@]}"
	has "$1, DAP: the twin's stack" "$stack_before" '^main\.worker '
	equal "$1, DAP: the stack" "$stack_before" "$stack"
	answer setFunctionBreakpoints '{"breakpoints":[]}'
	dap_stop stepOut "{\"threadId\":$thread}"
	lines=$(head -n 1 <<<"$stack" | cut -d ' ' -f 2)$'\n'
	for _ in 1 2 3 4 5; do
		dap_stop next "{\"threadId\":$thread}"
		lines+=$(head -n 1 <<<"$stack" | cut -d ' ' -f 2)$'\n'
	done
	equal "$1, DAP: lines of next" "$(expected_lines)" "$(first_lines <<<"$lines")"
	answer evaluate '{"expression":"goid"}'
	has "$1, DAP: the goroutine" "$line" '"result": "[1-9][0-9]*"'
	check_chosen_dap "$1"
	answer disconnect '{"terminateDebuggee":true}'
	stop
}

# check_dap_named NAME: the same of DAP, before it is told of a program.
check_dap_named() {
	named dap
	answer initialize '{"adapterID":"test","linesStartAt1":true}'
	answer setFunctionBreakpoints '{"breakpoints":[{"name":"main.record"}]}'
	has "$1, DAP, the program named: the first breakpoint" "$line" '"verified": true'
	dap launch "{\"args\":[\"$work/counts\"]}"
	dap_stop configurationDone '{}'
	has "$1, DAP, the program named: is met" "$stack" '^main\.record [0-9]+$'
	answer disconnect '{"terminateDebuggee":true}'
	stop
}

# goes_on NAME: the process that GDB was attached to, and has let go, runs again; it is ended.
goes_on() {
	lacks "$1: the process goes on" "$(ps -o stat= -p "$pid")" '^[tT]'
	end "$pid"
}

# check_mi_attach NAME
check_mi_attach() {
	"$directory/steps.stripped" "$work/counts" >"$work/output" 2>&1 &
	pid=$!
	start -i=mi "${with_goheap[@]}"
	mi_stop "-target-attach $pid"
	mi "-thread-info"
	has "$1, MI, attached: a function" "$line" 'func="(runtime|main|internal/runtime/syscall(/linux)?|syscall)\.'
	mi "-target-detach"
	mi "-gdb-exit"
	stop
	goes_on "$1, MI, attached"
}

# check_dap_attach NAME
check_dap_attach() {
	"$directory/steps.stripped" "$work/counts" >"$work/output" 2>&1 &
	pid=$!
	start -i=dap "${with_goheap[@]}"
	answer initialize '{"adapterID":"test","linesStartAt1":true}'
	dap attach "{\"pid\":$pid}"
	dap_stop configurationDone '{}'
	has "$1, DAP, attached: a function" "$stack" '^(runtime|main|internal/runtime/syscall(/linux)?|syscall)\.'
	answer disconnect '{"terminateDebuggee":false}'
	stop
	goes_on "$1, DAP, attached"
}

for release in $(releases 1.19); do
	sample "Go $release" "$release" steps || continue
	check_mi "Go $release"
	check_mi_named "Go $release"
	check_mi_attach "Go $release"
	# GDB says which interpreters it has where it has not the one asked for.
	if gdb -nx -q -i=dap -batch </dev/null 2>&1 | grep -q 'unrecognized'; then
		skip "Go $release, DAP" "this GDB has none"
	else
		check_dap "Go $release"
		check_dap_named "Go $release"
		check_dap_attach "Go $release"
	fi
done
finish
