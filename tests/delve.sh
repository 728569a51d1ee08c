#!/usr/bin/env bash
# shellcheck disable=SC2317 # some functions are called by name
# Stripped programs that `goheap unstrip' has made whole, in Delve: a session of every kind is the same as on the unstripped
# twin, but for the names of variables. Each release of Delve reads the DWARF of some releases of Go: Debian's own that of
# Go 1.19, the newest that of 1.26 and 1.27.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/dap-lib.sh"
session_home

children=
trap 'kill $children 2>/dev/null; rm -rf "$work"' EXIT

# plain: what Delve prints, but for addresses, threads, times and the names of variables. What a function will return has no
# value while it runs, and no place that is known but to the twin. A sample may have been built before its source files were
# checked out, of which Delve warns.
plain() {
	sed -E -e 's/\x1b\[[0-9;]*m//g' -e 's/PC: (0x)?[0-9a-f]+/PC: /' -e 's/0x[0-9a-f]+/0x/g' -e 's/^[a-z][a-z0-9]* = /= /' \
		-e 's/thread [0-9]+/thread/' -e 's/ [0-9]+\]$/]/' -e 's/ours:([0-9]+: )/theirs:\1/' |
		grep -v -e 'unreadable empty OP stack' -e '^Warning: listing may not match stale executable$'
}

# session COMMANDS ARGUMENT...: Delve with these arguments does what is in the file COMMANDS.
session() {
	timeout -k 5 120 "$delve" "${@:2}" --allow-non-terminal-interactive=true --init "$1" </dev/null 2>&1 | plain
}

# exec_session COMMANDS PROGRAM [ARGUMENT...]: of the program, started with the arguments.
exec_session() {
	timeout -k 5 120 "$delve" exec "$2" -r stdout:/dev/null --allow-non-terminal-interactive=true --init "$1" -- "${@:3}" \
		</dev/null 2>&1 | plain
}

# args_ours: the commands on standard input with the names that a stripped program's arguments have. Theirs end in the
# number.
args_ours() {
	sed -E 's/\b[a-z]+@([0-9])/arg\1/'
}

# check_values NAME: breakpoints, stacks, arguments, values and types.
check_values() {
	cat >"$work/commands" <<-'EOF'
		break main.point.pointers
		continue
		args
		print p@0
		print *a@1
		print b@2
		whatis c@3
		whatis f@6
		stack 10
		stepout
		next
		next
		clear 1
		break main.point.interfaces
		continue
		args
		print d@4
		clear 2
		break main.(*user).with
		continue
		args
		print *r@0
		print r@0.next
		print r@0.tags
		print list@4[0]
		whatis v@3
		up
		list
		down
		goroutine 1 bt
		funcs ^main\.point
		types ^main\.(user|wide|small)
		list main.round
		break main.go:441
		continue
		stack 3
		break main.nothing
		print nothing
		print runtime.buildVersion
		exit
	EOF
	sed -E 's/@[0-9]//' "$work/commands" >"$work/theirs"
	args_ours <"$work/commands" >"$work/ours"
	exec_session "$work/theirs" "$directory/told" >"$work/expected"
	exec_session "$work/ours" "$work/whole" >"$work/found"
	has "$1: the twin stops" "$(cat "$work/expected")" '^> .*main\.\(\*user\)\.with\(\)'
	has "$1: the twin's arguments" "$(cat "$work/expected")" '^= \[\]float64 len: 1'
	has "$1: a string of the twin's" "$(cat "$work/expected")" 'Name: "'
	has "$1: the twin's version" "$(cat "$work/expected")" '^"go1\.'
	same "$1: a session" "$work/expected" "$work/found"
	symbols "$directory/told.stripped"
	XDG_CONFIG_HOME=$work/config exec_session "$work/ours" "$directory/told.stripped" >"$work/found"
	same "$1: a session of the stripped program with its debug file" "$work/expected" "$work/found"
}

# symbols PROGRAM: puts its debug file where Delve looks for it: by its build id, or, if it has none, by its name.
symbols() {
	rm -rf "$work/symbols"
	mkdir -p "$work/symbols" "$work/config/dlv"
	echo "debug-info-directories: [$work/symbols]" >"$work/config/dlv/config.yml"
	"$GOHEAP" debug "$1" --install "$work/symbols" 2>"$work/why" || "$GOHEAP" debug "$1" -o "$work/symbols/${1##*/}.debug"
}

# check_steps NAME
check_steps() {
	printf '%s\n' 'break main.kept' continue next step step step 'stack 3' stepout next next step stepout stepout \
		'clear 1' 'break args/main.go:57' 'condition 2 runtime.curg.goid == 1' continue step step exit >"$work/commands"
	exec_session "$work/commands" "$directory/args" >"$work/expected"
	exec_session "$work/commands" "$work/whole" >"$work/found"
	has "$1: the twin steps into a function" "$(cat "$work/expected")" '^> main\.call\(\)'
	has "$1: the twin stops at a line, on a condition" "$(cat "$work/expected")" '^> .*main\.countdown\(\) .*:57 '
	same "$1: steps" "$work/expected" "$work/found"
}

# fields NAME...: those fields of the objects in $line, in order. What a function will return is left out, as in plain; a
# value that is cut short ends before the name of a field, as the addresses in it may be longer or shorter.
fields() {
	local names=$*
	printf '%s\n' "${line//\},\{/$'},\n{'}" | grep -v 'unreadable empty OP stack' |
		grep -oE "\"(${names// /|})\":(\"([^\"\\]|\\\\.)*\"|[0-9a-z]+)" | sed -E 's/0x[0-9a-f]+/0x/g; s/Thread [0-9]+/Thread/; s/[^,]*\.\.\."$/..."/'
}

# at_stop: what an editor shows where the thread $thread has stopped.
at_stop() {
	local frame scope
	answer stackTrace "{\"threadId\":$thread}"
	fields name line path
	frame=$(grep -oE '"id":[0-9]+' <<<"$line" | sed -n '1s/"id"://p')
	answer scopes "{\"frameId\":$frame}"
	scope=$(grep -oE '"variablesReference":[0-9]+' <<<"$line" | sed -n '1s/.*://p')
	answer variables "{\"variablesReference\":$scope}"
	fields value type
	answer evaluate "{\"frameId\":$frame,\"context\":\"watch\",\"expression\":\"$1.next.tags\"}"
	fields result type success
}

# dap_session PROGRAM RECEIVER: what Delve tells an editor: where breakpoints are, where the program stops, with its stack
# and arguments, the receiver's name being RECEIVER, and where steps end.
dap_session() {
	connect
	answer initialize '{"adapterID":"go","linesStartAt1":true,"pathFormat":"path"}'
	dap launch "{\"mode\":\"exec\",\"program\":\"$1\"}"
	message '"event":"initialized"'
	answer setFunctionBreakpoints '{"breakpoints":[{"name":"main.(*user).with"}]}'
	fields verified line
	answer setBreakpoints "{\"source\":{\"path\":\"$tests/samples/told/main.go\"},\"breakpoints\":[{\"line\":464},{\"line\":2}]}"
	fields verified line message
	dap_stop configurationDone '{}'
	at_stop "$2"
	dap_stop stepOut "{\"threadId\":$thread}"
	fields name line
	dap_stop next "{\"threadId\":$thread}"
	fields name line
	dap_stop continue "{\"threadId\":$thread}"
	fields name line
	answer threads '{}'
	fields name | head -n 1
	answer disconnect '{"terminateDebuggee":true}'
	exec 7>&- 8<&-
}

# check_dap NAME
check_dap() {
	dap_session "$directory/told" r >"$work/expected"
	dap_session "$work/whole" arg0 >"$work/found"
	has "$1, DAP: the twin stops" "$(cat "$work/expected")" '^"name":"main\.\(\*user\)\.with"'
	has "$1, DAP: values of the twin's" "$(cat "$work/expected")" '^"result":"\[\]string len: 2'
	same "$1, DAP: a session" "$work/expected" "$work/found"
}

# goroutine_stacks: the goroutines in a session, a line each, without the runtime's own, which do as they like, and without
# numbers. The function of a signal's frame, runtime.sigpanic, is without its inlined calls, for GDB's sake.
goroutine_stacks() {
	awk '
		function flush() { if (stack != "") print stack; stack = "" }
		/ Goroutine [0-9]+ - / { flush(); shown = !/ runtime\.[a-z(]/; sub(/^\*/, " "); sub(/Goroutine [0-9]+/, "Goroutine") }
		/^\[/ { shown = 0 }
		/ in runtime\.panicmem$/ { getline; next }
		shown { sub(/^\t *[0-9]+ +/, ""); sub(/^\t +/, ""); stack = stack $0 " " }
		END { flush() }' | sort
}

# same_goroutines NAME: of the two sessions.
same_goroutines() {
	goroutine_stacks <"$work/expected" >"$work/theirs"
	goroutine_stacks <"$work/found" >"$work/ours"
	has "$1: the twin's" "$(grep -c Goroutine "$work/theirs")" '^2[0-9]$'
	same "$1: $(wc -l <"$work/theirs")" "$work/theirs" "$work/ours"
}

# waiting PROGRAM: runs it until all its goroutines wait. Its process is $pid.
waiting() {
	run_until_ready "$1" wait
	children="$children $pid"
}

done_waiting() {
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# check_goroutines NAME: the goroutines of a program that has had all of them wait: of one that Delve has started, of the
# stripped program's own process, of its core file, and of one made of its heap dump. Delve opens the process's file for
# itself, and takes the symbols from the debug file.
check_goroutines() {
	printf '%s\n' 'break runtime/debug.WriteHeapDump' continue 'goroutines -t' exit >"$work/commands"
	exec_session "$work/commands" "$directory/dump" "$work/dump" "$work/stacks" >"$work/expected"
	exec_session "$work/commands" "$work/whole" "$work/dump" "$work/stacks" >"$work/found"
	same_goroutines "$1: goroutines"

	printf '%s\n' 'goroutines -t' exit >"$work/commands"
	waiting "$directory/dump"
	session "$work/commands" attach "$pid" >"$work/expected"
	done_waiting
	symbols "$directory/dump.stripped"
	waiting "$directory/dump.stripped"
	XDG_CONFIG_HOME=$work/config session "$work/commands" attach "$pid" >"$work/found"
	same_goroutines "$1: attached"
	done_waiting

	waiting "$directory/dump.stripped"
	gcore -o "$work/core" "$pid" >"$work/why" 2>&1
	done_waiting
	session "$work/commands" core "$directory/dump" "$work/core.$pid" >"$work/expected"
	session "$work/commands" core "$work/whole" "$work/core.$pid" >"$work/found"
	same_goroutines "$1: of a core file"

	"$directory/dump.stripped" "$work/dump" "$work/stacks" >"$work/why"
	"$GOHEAP" core -f -e "$directory/dump.stripped" "$work/dump" -o "$work/made"
	session "$work/commands" core "$directory/dump" "$work/made" >"$work/expected"
	session "$work/commands" core "$work/whole" "$work/made" >"$work/found"
	same_goroutines "$1: of a heap dump's core file"
	has "$1: as many as the heap dump has" "$(cat "$work/found")" \
		"^\[$("$GOHEAP" goroutines -a "$work/dump" | grep -c '^goroutine ') goroutines]$"
}

# check_release RELEASE [FLAG]
check_release() {
	local name check
	name="Delve $("$delve" version | sed -n 's/^Version: //p'), Go $1${2:+, $2}"
	for check in told:values told:dap args:steps dump:goroutines; do
		sample "$name" "$1" "${check%:*}" ${2+"$2"} || continue
		delve_reads "$name: ${check#*:}" "$directory/${check%:*}" || continue
		"$GOHEAP" unstrip "$directory/${check%:*}.stripped" -o "$work/whole" || fail "$name: goheap unstrip"
		"check_${check#*:}" "$name"
	done
}

if delve=$(command -v dlv); then
	check_release 1.19
else
	skip "Delve" "no dlv"
fi
if delve=$("$tests/debian-program" delve usr/bin/dlv sid 2>"$work/why"); then
	check_release 1.27
	in_full "Go 1.26, and PIE" && check_release 1.26 && check_release 1.27 -buildmode=pie
else
	skip "the newest Delve" "$(tail -n 1 "$work/why")"
fi
finish
