#!/usr/bin/env bash
# The heap of a running process and of a core file, stripped, against the heap dump that the same process writes of
# itself a moment later, by a reader that shares no code with goheap.
set -u
export LC_ALL=C
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
session_home

# start PROGRAM: runs the sample until its heap is full; $pid, and descriptor 7, by which it goes on.
start() {
	rm -f "$work/input" "$work/own"
	mkfifo "$work/input"
	"$1" "$work/own" <"$work/input" >"$work/output" &
	pid=$!
	exec 7>"$work/input"
	for _ in {1..200}; do
		grep -q waiting "$work/output" && break
		sleep 0.05
	done
	# It has printed that before it reads.
	sleep 0.1
}

# go_on: it writes its own dump, and ends.
go_on() {
	echo >&7
	wait "$pid"
	exec 7>&-
}

# in_common NAME: the dumps own and other, which is goheap's, are of one heap.
in_common() {
	if ! "$dumpfile" compare "$work/own" "$work/other" >"$work/compared" 2>"$work/why"; then
		fail "$1: both dumps can be read" "$(cat "$work/why")"
		return
	fi
	grep '^different' "$work/compared" | grep -vE "${2-^$}" | cut -c1-300 >"$work/different"
	same "$1: $(awk -F'\t' '$1 == "objects" || $1 == "pointers" { printf "%s %s, ", $2, $1 }' "$work/compared")roots, finalizers, frames, profile" \
		/dev/null "$work/different"
	# The runtime's own structures, a buffer, and what is counted are not as they were.
	has "$1: few objects were rewritten" "$(grep '^rewritten	' "$work/compared")" '	(1?[0-9])$'
	for kind in objects pointers variables 'queued finalizers' finalizers itabs frames goroutines 'profile records' samples; do
		grep -q "^$kind	[1-9]" "$work/compared" || fail "$1: there are $kind" "$(cat "$work/compared")"
	done
}

# published FILE: the profile's records but those that have nothing yet, as has what the process allocated to print it.
published() {
	records "$1" | grep -v '^0: 0 \[0: 0\]'
}

# calls FILE: the profile's records without the innermost lines: those in the process's own dump are of where the calls
# return to.
calls() {
	records "$1" | sed -E 's/^([^|]*\| [^|]*):[0-9]+( \||$)/\1\2/' | sort
}

# check_live NAME PROGRAM: while it runs.
check_live() {
	start "$2"
	"$GOHEAP" dump "$pid" -o "$work/other" 2>"$work/told" || fail "$1: goheap dump" "$(cat "$work/told")"
	"$GOHEAP" histogram -n 0 --by size -p "$pid" >"$work/asked" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" goroutines -p "$pid" >"$work/goroutines" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" profile -p "$pid" >"$work/profile" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" pprof -p "$pid" -o "$work/pprof.asked" 2>"$work/why" || cat "$work/why"
	go_on
	has "$1: the pause is told, and nothing is missing" "$(cat "$work/told")" '^goheap: paused [0-9]+ ms$'
	equal "$1: in one line" 1 "$(wc -l <"$work/told")"
	in_common "$1"
	same "$1: histogram -p" <("$GOHEAP" histogram -n 0 --by size -e "$2" "$work/other") "$work/asked"
	# A heap dump has no place for where a goroutine was created, nor for its lock to a thread.
	same "$1: goroutines -p" <("$GOHEAP" goroutines "$work/other" -e "$2") \
		<(sed -E -e 's/^(created by .*) in goroutine [0-9]+$/\1/' -e 's/, locked to thread\]:$/]:/' "$work/goroutines")
	published "$work/own.profile" >"$work/published"
	[ "$(wc -l <"$work/published")" -gt 20 ] || fail "$1: it has a profile"
	same "$1: profile -p" "$work/published" <(published "$work/profile")
	"$GOHEAP" pprof -e "$2" "$work/other" -o "$work/pprof.written"
	cmp "$work/pprof.written" "$work/pprof.asked" || fail "$1: pprof -p"
}

# check_stacks NAME PROGRAM: what stacks alone hold is what the next collection leaves, and what is not held is what it
# frees; only what a goroutine holds that runs is no more than perhaps held.
check_stacks() {
	local address name held
	start "$2"
	"$GOHEAP" dump "$pid" -o "$work/other" 2>"$work/told" || fail "$1: goheap dump" "$(cat "$work/told")"
	go_on
	grep '^mark ' "$work/output" | while read -r _ address name; do
		held=$("$GOHEAP" path "$work/other" "$address")
		case $name in
		running*) name='running' ;;
		esac
		case $held in
		*garbage*) echo "freed $name" ;;
		*', perhaps'*) echo "perhaps $name" ;;
		*) echo "held $name" ;;
		esac
	done >"$work/held"
	equal "$1: objects" 22 "$(wc -l <"$work/held")"
	same "$1: what nothing holds is freed" <(grep '^freed' "$work/output" | sort) <(grep '^freed' "$work/held" | sort)
	# To Go 1.17 a deferred call has arguments.
	equal "$1: what a running goroutine holds, perhaps" 'perhaps running' \
		"$(grep '^perhaps' "$work/held" | grep -v '^perhaps deferred ' | sort -u)"
	"$dumpfile" compare "$work/own" "$work/other" >"$work/compared"
	has "$1: defers" "$(cat "$work/compared")" '^defers	3$'
	lacks "$1: defers are its own" "$(cat "$work/compared")" '^different (defers|panics)'
	has "$1: fields of variables whose address is taken" "$(cat "$work/compared")" '^fields of stack objects	[1-9]'
}

# check_core NAME TWIN PROGRAM: from a core file, made where the sample is about to write its dump, and spans wait to be
# swept: then the runtime does that first, which queues the finalizers of what is found dead.
check_core() {
	rm -f "$work/own"
	timeout 120 gdb -nx -q -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' \
		-ex 'handle SIGURG nostop noprint pass' -ex "break *'runtime/debug.WriteHeapDump'" \
		-ex "run $work/own sweep" -ex "generate-core-file $work/core" -ex delete -ex continue "$2" \
		>"$work/gdb" 2>&1 </dev/null
	if ! "$GOHEAP" dump -e "$3" "$work/core" -o "$work/other" 2>"$work/why"; then
		fail "$1: goheap dump" "$(cat "$work/why" "$work/gdb")"
		return
	fi
	equal "$1: nothing is missing" '' "$(cat "$work/why")"
	same "$1: histogram -e" <("$GOHEAP" histogram -e "$3" "$work/other") <("$GOHEAP" histogram -e "$3" "$work/core")
	in_common "$1" '^different (counters|(queued )?finalizers)[,:]'
	equal "$1: finalizers that are registered or queued" \
		"$(awk -F'\t' '/^(queued )?finalizers\t/ { n += $2 } END { print n }' "$work/compared")" \
		"$("$GOHEAP" finalizers "$work/other" | wc -l)"
}

# check_debugger TWIN PROGRAM: in GDB, of the process that it debugs, and before the first collection.
check_debugger() {
	goheap "$2" "break main.garbage" "run $work/own sweep" "goheap dump -o $work/early" "goheap histogram -n 1" \
		"delete" "echo now\\n" "break *$(nm "$1" | awk '$3 == "runtime/debug.WriteHeapDump" { print "0x" $1 }')" \
		"continue" "goheap dump -o $work/other" "goheap histogram -n 0 --by size" "echo then\\n" \
		"goheap profile" "goheap objects main.nodes" "delete" "continue" >"$work/session"
	objects=$(sed '/^now$/,$d' "$work/session" | sed -nE 's/^([0-9,]+) objects of .*/\1/p' | tr -d ,)
	[ "${objects:-0}" -gt 100 ] || fail "in gdb, before the first collection: objects" "$(cat "$work/session")"
	# Nothing was freed, nor has the runtime published what was allocated.
	equal 'in gdb, before the first collection: samples are in use' \
		"$("$GOHEAP" info "$work/early" | awk '/^samples:/ { n = $2 } END { print n + 0 }')" \
		"$("$GOHEAP" profile "$work/early" | sed -nE 's/^heap profile: ([1-9][0-9]*): .*/\1/p')"
	equal 'in gdb: no warning' '' "$(grep '^goheap: .*: ' "$work/session")"
	in_common 'in gdb' '^different (counters|(queued )?finalizers)[,:]'
	same 'in gdb: histogram' <("$GOHEAP" histogram -n 0 --by size -e "$2" "$work/other") \
		<(sed -n '/^ *objects  *bytes/,/^typed:/p' <(sed '1,/^now$/d' "$work/session"))
	"$GOHEAP" profile -e "$2" "$work/own" >"$work/profile"
	[ "$(calls "$work/profile" | wc -l)" -gt 50 ] || fail 'in gdb: it has a profile'
	sed -n '/^heap profile/,$p' "$work/session" >"$work/session.profile"
	same 'in gdb: profile' <(calls "$work/profile") <(calls "$work/session.profile")
}

# check_kill PROGRAM: goheap may be killed at any moment.
check_kill() {
	local state running=0
	start "$1"
	for i in {1..15}; do
		"$GOHEAP" dump "$pid" -o "$work/other" 2>"$work/why" &
		sleep "0.0$((i % 8))$i"
		kill -KILL $! 2>"$work/why"
		wait $! 2>"$work/why"
		state=$(cut -d' ' -f3 /proc/"$pid"/task/*/stat | sort -u | tr -d '\n')
		case $state in
		*[tT]*) ;;
		*) running=$((running + 1)) ;;
		esac
	done
	equal 'killed at any moment, the process runs on' 15 "$running"
	equal 'nothing is left of the file' '' "$(find "$work" -name '*other?*')"
	go_on
	has 'and works' "$("$GOHEAP" info "$work/own")" 'objects'
}

# refuses NAME PATTERN ARGUMENT...: goheap dump says so in one line.
refuses() {
	local told status
	told=$("$GOHEAP" dump "${@:3}" -o "$work/refused" 2>&1)
	status=$?
	equal "$1: exit status" 1 "$status"
	equal "$1: lines" 1 "$(printf '%s\n' "$told" | wc -l)"
	has "$1" "$told" "$2"
	[ ! -e "$work/refused" ] || fail "$1: no file is written"
}

check_errors() {
	start "$1"
	timeout 60 gdb -nx -q -batch -iex 'set auto-load no' -ex "attach $pid" \
		-ex "shell $GOHEAP dump $pid -o $work/refused >$work/traced 2>&1" -ex detach >"$work/gdb" 2>&1 </dev/null
	has 'one that is traced' "$(cat "$work/traced")" '^goheap: process [0-9]+: expected a process that nothing else traces, .*process [0-9]+ traces it'
	go_on
	refuses 'no such process' 'No such file|none' 4194301
	sleep 30 &
	refuses 'no Go program' 'expected' $!
	kill $!
	wait $! 2>"$work/why"
	equal 'no number of a process' 2 "$("$GOHEAP" histogram -p 1x >"$work/why" 2>&1; echo $?)"
	refuses 'no core file and no program' 'expected' "$work/own"
	refuses 'no core file' 'expected' -e "$1" "$1"
}

if ! dumpfile=$("$tests/build-sample" 1.19 dumpfile)/dumpfile; then
	fail "the oracle is built"
	finish
fi
for release in ${RELEASES:-$("$tests/toolchain" list)}; do
	sample "go $release" "$release" memory && check_live "go $release" "$directory/memory.stripped"
done
for release in ${RELEASES:-$("$tests/toolchain" list)}; do
	sample "go $release, stacks" "$release" stacked && check_stacks "go $release, stacks" "$directory/stacked.stripped"
done
if sample 'go 1.27, pie' 1.27 memory -buildmode=pie; then
	check_live 'go 1.27, pie' "$directory/memory.stripped"
fi
for release in 1.19 1.27; do
	sample "go $release, core" "$release" memory &&
		check_core "go $release, core" "$directory/memory" "$directory/memory.stripped"
done
if sample 'errors' 1.19 memory; then
	check_debugger "$directory/memory" "$directory/memory.stripped"
	check_kill "$directory/memory.stripped"
	check_errors "$directory/memory.stripped"
fi
finish
