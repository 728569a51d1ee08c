#!/usr/bin/env bash
# Heap dumps in GDB: goroutines as threads, their stacks, and memory, against what the process that wrote
# the dump printed of itself at that moment.
. "$(dirname "$0")/lib.sh"
session_home

gdb_options=(-iex 'set print frame-arguments presence')

# shown: backtraces of all threads on standard input as such rows.
shown() {
	sed -nE -e 's/^Thread [0-9]+ .*\(LWP ([0-9]+).*/thread \1/p' \
		-e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(.*) \((\.\.\.)?\) at (.*):([0-9]+)$/\2\t\4\t\5/p' |
		awk -F'\t' -v OFS='\t' '
			/^thread / { id = substr($0, 8); next }
			{ sub(/\[.*\]/, "[...]", $1); print id, $0 }' | sort
}

# stacks NAME PROGRAM DUMP STACKS: every frame that runtime.Stack printed is in GDB's backtrace of that
# goroutine's thread. (GDB shows more: the runtime's own frames, and the system's goroutines.)
stacks() {
	goheap "$2" "goheap load $3" "thread apply all backtrace" >"$work/session"
	printed <"$4" >"$work/printed"
	shown <"$work/session" >"$work/shown"
	cut -f 1-4 "$work/printed" | sort >"$work/expected"
	comm -23 "$work/expected" "$work/shown" >"$work/left"
	if [ -s "$work/printed" ]; then
		same "$1: every frame that the process printed ($(wc -l <"$work/expected"))" /dev/null "$work/left"
	else
		fail "$1: the process printed its stacks" "$(cat "$work/session")"
	fi
	# By its own DWARF, the twin's stacks have no end.
	[ "${2##*.}" = stripped ] && lacks "$1: no frame is unknown" "$(cat "$work/session")" '\?\?|[Cc]annot access|corrupt|not saved'
	ids=$(grep -c '^goroutine ' "$4")
	same "$1: a thread for each goroutine ($ids)" /dev/null <(comm -23 \
		<(sed -nE 's/^goroutine ([0-9]+) .*/\1/p' "$4" | sort) \
		<(sed -nE 's/^Thread [0-9]+ .*\(LWP ([0-9]+).*/\1/p' "$work/session" | sort))
}

# alone NAME DUMP STACKS: with no program, the functions of every stack.
alone() {
	goheap "" "goheap load $2" "thread apply all backtrace" >"$work/session"
	printed <"$3" | grep -v 'inlined$' | cut -f 1-2 | sort -u >"$work/expected"
	sed -nE -e 's/^Thread [0-9]+ .*\(LWP ([0-9]+).*/thread \1/p' \
		-e 's/^#[0-9]+ +0x[0-9a-f]+ in (.*) \(\)$/\1/p' "$work/session" |
		awk -v OFS='\t' '
			/^thread / { id = substr($0, 8); next }
			{ sub(/\[.*\]/, "[...]"); print id, $0 }' | sort -u >"$work/shown"
	comm -23 "$work/expected" "$work/shown" >"$work/left"
	same "$1: with no program, every function on a stack ($(wc -l <"$work/expected"))" /dev/null \
		"$work/left"
	lacks "$1: with no program, no frame is unknown" "$(cat "$work/session")" \
		'\?\?|[Cc]annot access|corrupt|not saved'
}

# names NAME PROGRAM DUMP STACKS: threads are called as runtime.Stack calls the goroutines' states.
names() {
	goheap "$2" "goheap load $3" "info threads" >"$work/session"
	sed -nE 's/^goroutine ([0-9]+) \[([^],]*).*/\1\t\2/p' "$4" | grep -v 'running$' | sort >"$work/printed"
	sed -nE 's/^.{2}[0-9]+ +LWP ([0-9]+) "([^",]*).*/\1\t\2/p' "$work/session" | sort >"$work/shown"
	comm -23 "$work/printed" "$work/shown" >"$work/missing"
	# A wait reason of some releases is called otherwise in tracebacks.
	grep -v -e 'sync\.' "$work/missing" >"$work/left"
	same "$1: thread names" /dev/null "$work/left"
}

# memory NAME PROGRAM DUMP: what GDB reads of each object, frame and segment is what the dump has, and it
# counts as many.
memory() {
	rm -f "$work"/memory.*
	"$dumpfile" memory "$3" "$work" || fail "$1: the dump can be read"
	goheap "$2" "goheap load $3" "source $work/memory.gdb" "info threads" >"$work/session"
	if [ -s "$work/memory.expected" ]; then
		same "$1: objects, frames and segments that GDB reads ($(wc -c <"$work/memory.expected") bytes)" \
			"$work/memory.expected" "$work/memory.found"
	else
		fail "$1: the dump has objects, frames and segments"
	fi
	sed -nE 's/^(0x[0-9a-f]+)( <[^>]*>)?:/\1/p' "$work/session" >"$work/words.found"
	same "$1: words of them that GDB prints ($(wc -l <"$work/words.expected"))" \
		"$work/words.expected" "$work/words.found"
	"$dumpfile" count "$3" >"$work/expected"
	sed -nE 's/^go1.*: ([0-9,]+) goroutines, .* in ([0-9,]+) objects$/objects\t\2\ngoroutines\t\1/p' \
		"$work/session" | tr -d , >"$work/found"
	same "$1: objects and goroutines" "$work/expected" "$work/found"
	same "$1: threads" <(sed -n 's/goroutines\t//p' "$work/expected") \
		<(grep -cE '^.{2}[0-9]+ +LWP [0-9]+ ' "$work/session")
}

# whole NAME PROGRAM DUMP: the core file is one to readelf.
whole() {
	"$GOHEAP" core -f "$3" -e "$2" -o "$work/core" || fail "$1: goheap core"
	quiet_elf=$(readelf --wide --segments --notes "$work/core" 2>&1 >/dev/null)
	same "$1: readelf has no warning" /dev/null <(printf '%s' "$quiet_elf")
}

# crowd RELEASE: 100,000 goroutines, and every frame of 12,000 of them, the first, the last and some between.
crowd() {
	local directory patience=900
	sample "Go $1, 100,000 goroutines" "$1" crowd || return
	"$directory/crowd" 100000 "$work/dump" "$work/stacks"
	goheap "$directory/crowd.stripped" "goheap load $work/dump" \
		"thread apply 1-4000 48001-52000 96001-100000 backtrace" >"$work/session"
	sed -nE 's/^Thread [0-9]+ .*\(LWP ([0-9]+).*/\1/p' "$work/session" | sort >"$work/ids"
	equal "Go $1, 100,000 goroutines: stacks shown" 12000 "$(wc -l <"$work/ids")"
	printed <"$work/stacks" | cut -f 1-4 | sort | join -t $'\t' "$work/ids" - >"$work/expected"
	shown <"$work/session" >"$work/shown"
	comm -23 "$work/expected" "$work/shown" >"$work/left"
	has "Go $1, 100,000 goroutines: the process printed those" "$(wc -l <"$work/expected")" '^[0-9]{6}$'
	same "Go $1, 100,000 goroutines: every frame that the process printed ($(wc -l <"$work/expected"))" \
		/dev/null "$work/left"
	has "Go $1, 100,000 goroutines: all are loaded" "$(grep '^go1' "$work/session")" ': 100,0[0-9][0-9] goroutines,'
	grep -E '\?\?|[Cc]annot access|corrupt|not saved' "$work/session" | head -n 20 >"$work/left"
	same "Go $1, 100,000 goroutines: no frame is unknown" /dev/null "$work/left"
	rm -f "$work/dump" "$work/stacks" "$work/session" "$work/shown" "$work/expected"
}

# crafted CASE THREADS: a dump as no program writes it loads, and nothing of it runs or reaches the terminal.
crafted() {
	"$work/crafted" "$1" >"$work/dump" || fail "crafted $1"
	(cd "$work" && goheap "" "goheap load $work/dump" "info threads" "thread apply all backtrace 20" \
		"thread apply 1 info locals" "goheap info") >"$work/session"
	has "crafted $1: it is loaded" "$(cat "$work/session")" '^go1\.7 heap dump of .* goroutines, '
	has "crafted $1: the session goes on" "$(cat "$work/session")" '^heap dump format: '
	equal "crafted $1: threads" "$2" "$(grep -cE '^[* ] [0-9]+ +(LWP|process) [0-9]+ ' "$work/session")"
	lacks "crafted $1: no control character, no error of GDB's own" "$(cat "$work/session")" \
		$'[\x01-\x08\x0b-\x1f\x7f]|internal-error|Error in sourced'
	equal "crafted $1: nothing ran" "" "$(find "$work" -name gone)"
}

check_crafted() {
	build_maker crafted ||
		fail "crafted.c is compiled"
	crafted names 7
	# A waiting goroutine is called after why it waits.
	has "crafted names: threads are named" "$(cat "$work/session")" '^  4 +LWP 4 "\\x5cn\\x5c"'
	crafted ids 9
	crafted deep 1
	crafted overlap 2
	crafted high 1
	# To GDB, a core file has a thread.
	crafted nothing 1
}

check_release() {
	local directory spec
	for spec in "dump" "dump -buildmode=pie"; do
		[ "$spec" = dump ] || { is_newest "$1" && in_full "Go $1 $spec"; } || continue
		# shellcheck disable=SC2086 # the words of a specification are arguments
		sample "Go $1 $spec" "$1" $spec || continue
		for program in $(first dump.stripped dump); do
			rm -f "$work/dump" "$work/stacks"
			"$directory/$program" "$work/dump" "$work/stacks" >"$work/counts" 2>&1
			stacks "Go $1 $spec, $program" "$directory/$program" "$work/dump" "$work/stacks"
			memory "Go $1 $spec, $program" "$directory/$program" "$work/dump"
		done
		alone "Go $1 $spec" "$work/dump" "$work/stacks"
		names "Go $1 $spec" "$directory/dump.stripped" "$work/dump" "$work/stacks"
		whole "Go $1 $spec" "$directory/dump.stripped" "$work/dump"
	done
}

build_dumpfile
for release in $(releases "$apart"); do
	check_release "$release"
done
in_full "a crowd of goroutines" && crowd 1.19
check_crafted
finish
