#!/usr/bin/env bash
# Several Go libraries in one process: the goroutines and the heap of each, live, in a core file and in GDB, against what its
# own runtime prints; and a program whose runtime is in a library, against its own traceback and heap dump.
. "$(dirname "$0")/lib.sh"
session_home
child=''
trap 'kill $child 2>/dev/null; rm -rf "$work"' EXIT

# start COMMAND...: in the background, until each of the two libraries has told its stacks.
start() {
	rm -f "$work"/stacks.*
	STACKS=$work/stacks LOOP=1 "$@" >"$work/output" 2>&1 &
	child=$!
	wait_until [ -e "$work/stacks.21" ] && wait_until [ -e "$work/stacks.22" ]
}

stop() {
	end "$child"
	child=
}

# waiting: those of a traceback's goroutines that wait for a channel, as rows.
waiting() {
	awk 'BEGIN { RS = ""; ORS = "\n\n" } /\[chan receive[],]/' | printed
}

# of LIBRARY: its part of what is on standard input.
of() {
	awk -v name="$1" '/^Go library / { on = $0 ~ "/" name ":$"; next } on'
}

# each NAME: the goroutines in the session are those that each runtime has printed.
each() {
	equal "$1: both are listed" "one.so two.so " "$(sed -nE 's/^Go library .*\/(.*):$/\1/p' "$work/session" | sort -u | tr '\n' ' ')"
	for library in one:21 two:22; do
		waiting <"$work/stacks.${library#*:}" >"$work/expected"
		of "${library%:*}.so" <"$work/session" | waiting >"$work/found"
		same "$1: the goroutines of ${library%:*}.so, as its runtime has them ($(wc -l <"$work/expected") frames)" \
			"$work/expected" "$work/found"
	done
}

# chosen NAME COMMAND...: one of them is chosen where they cannot be told apart, or are asked for.
chosen() {
	local name=$1
	shift
	"$@" --module two.so >"$work/session" 2>"$work/why"
	waiting <"$work/session" >"$work/found"
	same "$name: one is chosen" "$work/expected" "$work/found"
	lacks "$name: that alone" "$(cat "$work/session")" '^Go library'
	"$@" --json >"$work/session" 2>"$work/why"
	has "$name: records of which library is to be said" "$(cat "$work/why")" \
		'^goheap: the process has several Go libraries, .*: name one: --module .*\.so or --module .*\.so$'
	equal "$name: there are none" "" "$(cat "$work/session")"
	"$@" --module three.so >"$work/session" 2>"$work/why"
	has "$name: another name" "$(cat "$work/why")" '^goheap: no Go library that is loaded is three\.so: --module '
}

# heaps NAME ARGUMENT...: what each has in its heap.
heaps() {
	local name=$1 library
	shift
	for library in one:21 two:22; do
		equal "$name: objects of ${library%:*}.so" "${library#*:} main.node" \
			"$("$GOHEAP" histogram --bytes -n 0 --module "${library%:*}.so" "$@" 2>/dev/null | awk '$NF == "main.node" { print $1, $NF }')"
	done
}

# test_command NAME: outside of GDB: a process, and its core file.
test_command() {
	"$GOHEAP" goroutines -p "$child" >"$work/session" 2>"$work/why"
	each "$1: process"
	chosen "$1: process" "$GOHEAP" goroutines -p "$child"
	heaps "$1: process" -p "$child"
	"$GOHEAP" goroutines "$work/core" >"$work/session" 2>"$work/why"
	each "$1: core file"
	chosen "$1: core file" "$GOHEAP" goroutines "$work/core"
	heaps "$1: core file" "$work/core"
	"$GOHEAP" goroutines -e "$work/two.so" "$work/core" >"$work/session"
	waiting <"$work/session" >"$work/found"
	same "$1: core file: a library named by its path" "$work/expected" "$work/found"
}

# session NAME COMMAND...: in GDB.
session() {
	local name=$1 id
	shift
	id=$(waiting <"$work/stacks.22" | awk '{ print $1; exit }')
	goheap "$@" "goheap goroutines" "echo number\\n" "goheap goroutine $id" "goheap goroutine $id --module two.so" bt \
		"goheap histogram --bytes -n 0 --module two.so" "goheap hang" >"$work/session"
	each "$name"
	equal "$name: what may be asked next is asked of the library" "one.so two.so " \
		"$(sed -nE 's/^see goheap goroutines --group --module [^ ]*\/([^ ]*) .*/\1/p' "$work/session" | sort | tr '\n' ' ')"
	has "$name: a goroutine's number alone" "$(sed '1,/^number$/d' "$work/session")" \
		'^goheap: the process has several Go libraries, .* numbers of goroutines: name one: '
	has "$name: a goroutine of one" "$(cat "$work/session")" '^#[0-9]+ +0x[0-9a-f]+ in main\.park .*main\.go:'
	has "$name: the heap of one" "$(cat "$work/session")" '^ +22 .* main\.node$'
}

# test_replaced: of a library that was replaced while it was loaded nothing is told that would be wrong.
test_replaced() {
	cp "$work/two.so" "$work/kept.so"
	cp "$directory/parked.sw" "$work/new.so"
	mv "$work/new.so" "$work/two.so"
	"$GOHEAP" goroutines --module two.so "$work/core" >"$work/session" 2>"$work/why"
	has "a library that was replaced" "$(cat "$work/why")" \
		"^goheap: $work/two\\.so: expected the file of a library that the process has loaded, found another: it was replaced since\$"
	equal "a library that was replaced: nothing is told of it" "" "$(cat "$work/session")"
	goheap "$work/host" "core-file $work/core" >"$work/session"
	# GDB 16 says it by itself.
	has "a library that was replaced: in GDB" "$(cat "$work/session")" \
		"^goheap: $work/two\\.so was replaced since it was loaded: |^warning: Build-id of $work/two\\.so does not match core file"
	goheap "" "attach $child" detach >"$work/session"
	lacks "a library that was replaced: attached, it is no program" "$(cat "$work/session")" '^goheap: .* program'
	has "a library that was replaced: attached" "$(cat "$work/session")" "^goheap: $work/two\\.so was replaced since it was loaded: "
	mv "$work/kept.so" "$work/two.so"
}

# test_release RELEASE: a library of that release, and another, of Go 1.27 if that is at hand.
test_release() {
	sample "$1" "$1" parked -buildmode=c-shared || return
	cp "$directory/parked.stripped" "$work/one.so"
	cp "$directory/parked.stripped" "$work/two.so"
	sample "two releases" 1.27 parked -buildmode=c-shared && cp "$directory/parked.stripped" "$work/two.so"
	start "$work/host" "$work/one.so" "$work/two.so"
	session "$1: attached" "" "attach $child" "generate-core-file $work/core"
	test_command "$1"
	test_replaced
	stop
	session "$1: a core file in GDB" "$work/host" "core-file $work/core"
	"$GOHEAP" goroutines -e "$work/host" "$work/core" >"$work/session" 2>"$work/why"
	each "$1: a core file, and the program that loaded the libraries"
	# Two copies of one.
	cp "$work/one.so" "$work/two.so"
	start "$work/host" "$work/one.so" "$work/two.so"
	"$GOHEAP" goroutines -p "$child" >"$work/session" 2>"$work/why"
	each "$1: two copies of one library"
	stop
	python3 -c 'import ctypes' 2>/dev/null || {
		skip "$1: Python" "no python3"
		return
	}
	start python3 -c 'import ctypes, sys, time
for i, path in enumerate(sys.argv[1:]): ctypes.CDLL(path).Work(21 + i)
time.sleep(600)' "$work/one.so" "$work/two.so"
	"$GOHEAP" goroutines -p "$child" >"$work/session" 2>"$work/why"
	each "$1: Python"
	stop
}

# shown NAME FILE: the goroutines in FILE are those that the program has printed.
shown() {
	waiting <"$2" >"$work/found"
	same "$1, as the program has them ($(wc -l <"$work/expected") frames)" "$work/expected" "$work/found"
}

# heap NAME DUMP: what is in the dump is what the program's own has. When it was written the program went on: it has closed
# the file, and printed.
heap() {
	"$dumpfile" compare "$work/own" "$2" >"$work/compared" 2>"$work/why" || fail "$1: both can be read" "$(cat "$work/why")"
	lacks "$1: the heap is the program's own ($(awk -F'\t' '$1 == "objects" || $1 == "pointers" { printf "%s %s, ", $2, $1 }' "$work/compared")roots)" \
		"$(grep '^different' "$work/compared" | sed -E '/^different (counters|threads|objects: more)/d' | awk '!/^different finalizers: / || ++closed > 1')" .
	has "$1: there are objects" "$(cat "$work/compared")" '^objects	2[0-9][0-9]$'
}

# test_linkshared RELEASE: a program that was linked with -linkshared.
test_linkshared() {
	local name="$1: -linkshared" program line stack
	sample "$name" "$1" crowd -linkshared || return
	program=$directory/crowd.stripped
	gdb_options=(-iex 'set breakpoint pending on')
	goheap "$program" "set environment LD_LIBRARY_PATH $directory/lib.stripped" "set args 9 $work/own -" \
		"break main.descend" "break runtime.Stack" run delete\ 1 continue bt "run" bt detach >"$work/session"
	gdb_options=()
	line=$(grep -n 'runtime\.Stack(' "$tests/samples/crowd/main.go" | cut -d: -f1)
	stack="runtime.Stack main.main:$line runtime.main runtime.goexit "
	has "$name: stops in the program" "$(cat "$work/session")" 'hit Breakpoint 1, main\.descend '
	equal "$name: stacks from the library into the program, again when it is run again" \
		"$stack$stack" \
		"$(sed -nE -e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(main\.[^ ]+) .*(:[0-9]+)$/\2\3/p' -e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([^ ]+) .* at .*/\2/p' "$work/session" | uniq | tr '\n' ' ')"
	export LD_LIBRARY_PATH=$directory/lib.stripped
	run_until_ready "$program" 40 "$work/own" -
	waiting <"$work/output" >"$work/expected"
	goheap "" "attach $pid" "generate-core-file $work/core" "goheap goroutines" "goheap dump -f -o $work/gdb.dump" detach >"$work/session"
	shown "$name: goroutines in GDB" "$work/session"
	goheap "$program" "core-file $work/core" "goheap goroutines" >"$work/session"
	shown "$name: goroutines of a core file in GDB" "$work/session"
	"$GOHEAP" goroutines -p "$pid" >"$work/session" 2>"$work/why"
	shown "$name: goroutines" "$work/session"
	"$GOHEAP" dump -f "$pid" -o "$work/live.dump" 2>"$work/why"
	exec 7>&-
	wait "$pid" 2>"$work/why"
	unset LD_LIBRARY_PATH
	"$GOHEAP" goroutines "$work/core" >"$work/session"
	shown "$name: goroutines in a core file" "$work/session"
	"$GOHEAP" goroutines -e "$program" "$work/core" >"$work/session"
	shown "$name: goroutines in a core file of a program" "$work/session"
	"$GOHEAP" dump -f "$work/core" -o "$work/core.dump"
	"$GOHEAP" goroutines -e "$program" "$work/own" >"$work/session" 2>&1
	has "$name: which file its heap dump takes" "$(cat "$work/session")" ': expected the program that wrote the dump, found one whose runtime is in a library \(-linkshared\): '
	"$GOHEAP" goroutines -e "$(ldd "$program" | awk -v lib="$directory/lib.stripped/" '$1 ~ /runtime/ { print lib $1 }')" "$work/own" >"$work/session" 2>&1
	has "$name: that library" "$(cat "$work/session")" '^	.*/src/runtime/debug/|^	.*/src/runtime/heapdump\.go:[0-9]+ \+0x'
	heap "$name, GDB" "$work/gdb.dump"
	heap "$name, process" "$work/live.dump"
	heap "$name, core file" "$work/core.dump"
}

# is_foreign NAME EXPECTED COMMAND...: the command says EXPECTED, and that it failed.
is_foreign() {
	"$GOHEAP" "${@:3}" >"$work/found" 2>&1
	equal "$1: exit status" 1 $?
	has "$1" "$(cat "$work/found")" "$2"
}

# test_foreign: a process that has no Go code, but has started one that has.
test_foreign() {
	local shell own
	sample "no Go" 1.19 crowd || return
	shell=$(readlink -f "$BASH")
	: >"$work/output" # another may have been ready before
	bash -c '"$@"; true' - "$directory/crowd.stripped" 9 "$work/own" - < <(sleep 60) >"$work/output" &
	child=$!
	wait_until grep -qs "^ready" "$work/output"
	own="$shell, which is no Go program, and has loaded no Go library; Go programs that it has started: $(pgrep -P "$child" crowd)"
	is_foreign "no Go: a process" "^goheap: process $child runs $own\$" hang -p "$child"
	is_foreign "no Go: a process and its program" "^goheap: process $child runs $own\$" histogram -e "$shell" -p "$child"
	is_foreign "no Go: a dump" "^goheap: process $child runs $own\$" dump "$child" -o "$work/none"
	goheap "" "attach $child" "generate-core-file $work/core" "goheap goroutines" detach >"$work/session"
	has "no Go: attached" "$(cat "$work/session")" "^goheap: $shell is no Go program; Go libraries are named as it loads them\$"
	has "no Go: a command of GDB's" "$(cat "$work/session")" "^goheap: $shell is no Go program, and no Go library is loaded\$"
	own="of a process that ran $shell, which is no Go program, and had loaded no Go library that is here"
	is_foreign "no Go: a core file" "^goheap: $work/core is $own\$" crash "$work/core"
	is_foreign "no Go: a core file and its program" "^goheap: $work/core is $own\$" hang -e "$shell" "$work/core"
	pkill -P "$child"
	wait "$child"
}

# test_compiler COMPILER TEXT: a program that COMPILER made of Go, as TEXT in it tells, which its runtime brings.
test_compiler() {
	local own="$work/other, which $1 built: it has none of the tables that goheap reads; GDB by itself shows its functions and lines if it has its DWARF"
	echo "#include <unistd.h>
		const char text[] = \"$2\";
		int main(void) { return (int)sleep(60); }" |
		"$CC" -O0 -x c -o "$work/other" - || return
	"$work/other" &
	child=$!
	wait_until [ "/proc/$child/exe" -ef "$work/other" ]
	is_foreign "$1: a program" "^goheap: $work/other: expected a program of Go's own compiler, found one that $1 built: it has none" info "$work/other"
	is_foreign "$1: a process" "^goheap: process $child runs $own\$" hang -p "$child"
	goheap "$work/other" "attach $child" "generate-core-file $work/core" "goheap goroutines" detach >"$work/session"
	own="$1 built ${own/, which $1 built/}"
	equal "$1: in GDB: once as it is opened, and for a command" 2 "$(grep -cxF "goheap: $own" "$work/session")"
	is_foreign "$1: a core file" "^goheap: $work/core is of a process that ran $work/other, which $1 built: it has none" crash "$work/core"
	kill "$child"
	wait "$child" 2>"$work/why"
}

"$CC" -g -o "$work/host" "$tests/oracle/library_host.c" -ldl || exit
build_dumpfile
for release in $(releases 1.19); do
	test_release "$release"
	test_linkshared "$release"
done
test_foreign
test_compiler gccgo 'libgo assertion failure'
test_compiler TinyGo 'panic: runtime error at '

finish
