#!/usr/bin/env bash
# Programs as other people write them: who holds locks that wrappers take, what can never go on, what large arrays in maps and
# channels are, closures of generic functions by short names, nested range functions, and crashes; against what each program
# does, and says of itself.
. "$(dirname "$0")/lib.sh"
session_home

# is_from MINOR: the release is that or a later one.
is_from() {
	((${release#1.} >= $1))
}

# of PART: the number of the goroutine that has printed that; at PART: the address that it printed.
of() {
	awk -v part="$1" '$1 == part { print $2; exit }' "$work/output"
}
at() {
	awk -v part="$1" '$1 == part { print $3; exit }' "$work/output"
}

# joined FILE: with each sentence in one line.
joined() {
	sed -E ':a; N; $!ba; s/\n    / /g' "$1"
}

# ask PROGRAM ARGUMENT...: in $work/live and $work/cored, what goheap says of the program and of its core file; ends it.
ask() {
	local command commands=('hang' 'waits --group' 'waits --deadlocks' 'waits --deadlocks --json')
	run_until_ready "$@"
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # They are words.
		"$GOHEAP" $command -p "$pid" 2>"$work/why" || cat "$work/why"
	done >"$work/live"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	exec 7>&-
	wait "$pid" 2>"$work/why"
	for command in "${commands[@]}"; do
		# shellcheck disable=SC2086 # They are words.
		"$GOHEAP" $command -e "$1" "$work/core.$pid" 2>"$work/why" || cat "$work/why"
	done >"$work/cored"
	rm -f "$work/core.$pid"
}

# check_left NAME: locks that an end of a goroutine, or a return, has left locked.
check_left() {
	local way kind count all wait
	for kind in 'goexit 3 3 lock sync\.Mutex' 'early 1 2 write-lock sync\.RWMutex'; do
		read -r kind count all wait <<<"$kind"
		ask "$directory/left.stripped" "$kind"
		for way in live cored; do
			has "$1, $kind: nobody has it, $way" "$(cat "$work/$way")" \
				"^$count goroutines?: $wait 0x[0-9a-f]+ \\([^)]*\\), in main\\.[^;]*; no goroutine holds it: it was left locked\$"
			has "$1, $kind: who can never go on, $way" "$(cat "$work/$way")" "^$all goroutines can never go on"
		done
	done
}

# check_lockers NAME: locks that are held by way of interfaces, it does not show which.
check_lockers() {
	local way wait
	ask "$directory/lockers.stripped"
	for way in live cored; do
		for wait in 'write-lock sync\.RWMutex' 'lock sync\.Mutex'; do
			has "$1: nobody is said to have left it, $wait, $way" "$(cat "$work/$way")" \
				"^1 goroutine: $wait .*; (its holder is not known|perhaps no goroutine holds it: it may have been left locked|(perhaps )?held by goroutine [0-9]+ \\(main\\.hold at .*)\$"
		done
		has "$1: nor that somebody can never go on, $way" "$(cat "$work/$way")" '^No goroutine that can never go on$'
	done
}

# check_locks NAME: holders, circles and knots, all of them in one process.
check_locks() {
	local way text pair programs=(readers handed rlocker keyed flight try undo nothing group tokens stripes)
	! is_from 21 || programs+=(circle oncefunc)
	ask "$directory/strangers.stripped" "${programs[@]}"
	for way in live cored; do
		text=$(joined "$work/$way")
		has "$1: a reader that reads again, behind a writer, $way" "$text" \
			"^goroutine $(of readers-reader) \\(main\\.\\(\\*tree\\)\\.count at .* waits to read-lock sync\\.RWMutex $(at readers-reader) .*, held by itself\$"
		has "$1: a lock that another is to let go of, $way" "$text" \
			"^1 goroutine: lock sync\\.Mutex $(at handed-waits) \\(locked\\), in main\\.use at [^;]*; its holder is not known\$"
		has "$1: a condition's lock for readers, $way" "$text" \
			"^1 goroutine: write-lock sync\\.RWMutex $(at rlocker-waits) .* in main\\.\\(\\*queue\\)\\.push at [^;]*; held by goroutine $(of rlocker-holds) "
		has "$1: locks by key, $way" "$text" \
			"^goroutine [0-9]+ \\(main\\.\\(\\*keyedMutex\\)\\.Lock at .*, (perhaps )?held by goroutine ($(of keyed-a)|$(of keyed-b)) .*, (perhaps )?held by goroutine ($(of keyed-a)|$(of keyed-b))\$"
		has "$1: a call that waits for itself, $way" "$text" \
			"^goroutine [0-9]+ \\(main\\.\\(\\*callers\\)\\.do at .* waits for sync\\.WaitGroup $(at flight-waits) \\(counter 1\\).*: only they lead to what they wait for\$"
		has "$1: TryLock, $way" "$text" \
			"^1 goroutine: lock sync\\.Mutex $(at try-waits) .* in main\\.\\(\\*gauge\\)\\.read at [^;]*; perhaps held by goroutine $(of try-holds) "
		has "$1: unlocked by a list, $way" "$text" \
			"^1 goroutine: lock sync\\.Mutex $(at undo-waits) .* in main\\.\\(\\*shelf\\)\\.add at [^;]*; (its holder is not known|(perhaps )?held by goroutine $(of undo-holds) .*)\$"
		has "$1: nil channels, $way" "$text" \
			"^goroutine $(of nothing-waits) \\(main\\.\\(\\*options\\)\\.watch at .*\\) waits in select of nil channels alone: nothing ever ends that\$"
		has "$1: the same as JSON, $way" "$text" "\\{\"goroutine\":$(of nothing-waits),\"wait\":\"select\",[^{}]*\"never\":true,"
		has "$1: a task that does not say that it has ended, $way" "$text" \
			"^goroutine $(of group-waits) \\(main\\.\\(\\*tasks\\)\\.Wait at .* waits for sync\\.WaitGroup $(at group-waits) \\(counter 1\\).*: only it leads to that\$"
		has "$1: channels as locks, $way" "$text" \
			"^goroutine [0-9]+ \\(main\\.token\\.take at .* send on chan struct \\{\\} ($(at tokens-a)|$(at tokens-b)) .* goroutine [0-9]+ \\(main\\.token\\.take at .*: only they lead to what they wait for\$"
		has "$1: a callback that reads what is locked, $way" "$text" \
			"^goroutine $(of stripes) \\(main\\.\\(\\*striped\\)\\.read at .* waits to read-lock sync\\.RWMutex $(at stripes) .*, held by itself\$"
		is_from 21 || continue
		for pair in a:b b:c c:a; do
			has "$1: three of generic functions, $pair, $way" "$text" \
				"\\{\"goroutine\":$(of "circle-${pair%:*}"),[^{}]*\"object\":\"$(at "circle-${pair%:*}")\",[^{}]*\"holder\":$(of "circle-${pair#*:}"),"
		done
		has "$1: a function once, that waits for itself, $way" "$text" \
			"^goroutine [0-9]+ .* goroutine $(of oncefunc-inner) \\(main\\.oncefunc\\..* waits to lock sync\\.Mutex .*, held by goroutine $(of oncefunc-outer): only they lead to what they wait for, or hold it\$|^goroutine $(of oncefunc-inner) \\(main\\.oncefunc\\..* waits to lock sync\\.Mutex .*, held by goroutine $(of oncefunc-outer); goroutine .*: only they lead to what they wait for, or hold it\$"
	done
}

# check_memory NAME: types of large arrays, memory that the program maps, and cleanups.
check_memory() {
	local text programs=(memory mapped)
	! is_from 24 || programs+=(cleanup)
	run_until_ready "$directory/strangers.stripped" "${programs[@]}"
	text=$("$GOHEAP" histogram --bytes --limit 0 -p "$pid" 2>"$work/why" | sed -E 's/^ +([0-9,]+) +([0-9,]+) +[0-9.]+% +[0-9,]+ +0x[0-9a-f]+ +/\1 \2 /')
	has "$1: arrays as a map's values" "$text" '^3 540,672 \[4500\]main\.slot$'
	has "$1: as a channel's elements" "$text" '^1 196,608 \[\]\[6000\]\*main\.node$'
	has "$1: behind interfaces" "$text" '^3 147,456 \[6000\]\*main\.node$'
	has "$1: in structs" "$text" '^3 122,880 main\.page$'
	has "$1: what they lead to" "$text" "^$(commas $((3 * (5000 + 4500 + 6000) + 3000)))|49,5[0-9][0-9] [0-9,]+ main\\.node\$"
	has "$1: all have types" "$text" '^typed: (9[89]|100)% of bytes, (9[89]|100)% of objects; '
	text=$("$GOHEAP" memory --bytes -p "$pid" 2>"$work/why")
	has "$1: what the program has mapped" "$text" '^ *6[78],[0-9]{3},[0-9]{3} .* anonymous memory outside the Go heap'
	has "$1: who has" "$text" '^The program or C code mapped it by itself'
	! is_from 24 || has "$1: cleanups" "$("$GOHEAP" suspects --bytes -p "$pid" 2>"$work/why")" \
		"^goroutine $(of cleanup-blocked) runs (finalizers|cleanups), and is blocked in main\\.shut: 3[789] more wait for it\$"
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# check_names NAME: closures of generic functions, by the names that people type.
check_names() {
	local text
	text=$(goheap "$directory/strangers.stripped" 'goheap break convert.func1' 'goheap break convert[...].func1' 'goheap break list.each.func1' \
		'goheap break (*list[...]).each.func1' 'goheap break main.(*guarded[int]).with' 'goheap break main.convert[int,string]' \
		'goheap break flight.func1' 'goheap break func1' 'goheap break flight.func9')
	has "$1: which closures have a name" "$text" '^main\.convert\[go\.shape\.int,go\.shape\.string\]\.func1$'
	has "$1: which of a method" "$text" '^main\.\(\*list\[go\.shape\.string\]\)\.each\.func1$'
	# Two of convert and two of each, with, convert, and flight's.
	equal "$1: breakpoints" 7 "$(grep -c '^Breakpoint [0-9]* at 0x' <<<"$text")"
	equal "$1: lists" 2 "$(grep -c '^goheap: 2 functions are called so; name one:$' <<<"$text")"
	equal "$1: none" 2 "$(grep -c '^goheap: no function is called \(flight\.func9\|func1\)$' <<<"$text")"
}

# check_steps NAME: next goes through the bodies of nested range functions, and what continues the outer one.
check_steps() {
	local commands=() expected
	source=$tests/samples/strangers/ranges.go
	for _ in {1..14}; do
		commands+=(next)
	done
	expected="$(line_of 'defer fmt.Print("")') $(line_of 'for j := range') $(line_of 'if j == 1') $(line_of 'sum += i')"
	expected+=" $(line_of 'for j := range') $(line_of 'if j == 1') $(line_of 'continue outer') $(line_of 'for i, s') $(line_of 'defer fmt.Print("")')"
	# The end of a body may be a line of its own.
	equal "$1: the lines of two turns" "$expected" "$(goheap "$directory/strangers.stripped" "break ranges.go:$(line_of 'defer fmt.Print("")')" 'run loops </dev/null' "${commands[@]}" |
		sed -nE 's/^([0-9]+)\t(.*)/\1 \2/p' | grep -vE '^[0-9]+[[:space:]]+}$' | cut -d' ' -f1 | head -n 9 | tr '\n' ' ' | sed 's/ $//')"
}

# check_crashes NAME KIND...: what goheap crash says is what the program said before it printed stacks.
check_crashes() {
	local kind core
	mkdir -p "$work/crashes"
	cd "$work/crashes" || return
	for kind in "${@:2}"; do
		rm -f core*
		{
			(ulimit -c unlimited && GOTRACEBACK=crash exec "$directory/strangers.stripped" crash "$kind" 2>"$work/trace" >"$work/output" </dev/null)
		} 2>"$work/why"
		core=$(find . -name 'core*' | head -n 1)
		if [ -z "$core" ]; then
			skip "$1, $kind" "the kernel writes no core file here: $(cat /proc/sys/kernel/core_pattern)"
			continue
		fi
		equal "$1, $kind: what it crashed of" "$(sed -E '/^(goroutine |runtime stack:)/,$d; /^$/d' "$work/trace")" \
			"$("$GOHEAP" crash -e "$directory/strangers.stripped" "$core" 2>"$work/why" | sed '/^$/,$d')"
	done
	rm -f core*
	cd "$tests" || return
}

export CGO_ENABLED=0
for release in $(releases 1.19 1.22 1.24 1.26 1.27); do
	sample "Go $release, left" "$release" left && check_left "Go $release"
	sample "Go $release, lockers" "$release" lockers && check_lockers "Go $release"
	sample "Go $release" "$release" strangers || continue
	check_locks "Go $release"
	check_memory "Go $release"
	check_crashes "Go $release" hook error reason hash nested asleep
	! is_from 21 || check_names "Go $release"
	! is_from 23 || check_steps "Go $release"
done
finish
