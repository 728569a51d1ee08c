#!/usr/bin/env bash
# The goroutines that can never go on, in Go's own test programs for its profile of leaked goroutines: those that a look at the
# stripped process finds before the runtime looks are among those of the runtime's profile, and these among those that a look
# afterwards finds; in nearly all of them the three are the same. The same in core files, and in heap dumps of the programs' own.
. "$(dirname "$0")/lib.sh"

if ! go=$("$tests/toolchain" 1.27 2>"$work/why"); then
	skip "goroutines that can never go on" "$(tail -n 1 "$work/why")"
	finish
fi
cp -rL "$go/src/runtime/testdata/testgoroutineleakprofile" "$work/src"
chmod -R u+w "$work/src"
cat >"$work/src/pause.go" <<-'END'
	package main

	import (
		"fmt"
		"os"
		"runtime/debug"
		"time"
	)

	// pause waits for input; before that, with a file's name, it lets other goroutines come to where they wait, and writes
	// a heap dump there.
	func pause(dump ...string) {
		for _, name := range dump {
			time.Sleep(time.Second)
			file, _ := os.Create(name)
			debug.WriteHeapDump(file.Fd())
			file.Close()
		}
		fmt.Println("paused")
		os.Stdin.Read(make([]byte, 1))
	}
END
cp "$work/src/pause.go" "$work/src/goker"
sed -i 's/^\(\t*\)prof\.WriteTo(os\.Stdout, 2)/\1pause(os.Args[2])\n&\n\1pause()/' "$work"/src/*.go "$work"/src/goker/*.go
printf 'module leaks\n\ngo 1.26\n' >"$work/src/go.mod"
each=2
! in_full "half of the programs" || each=1
for program in . goker; do
	(cd "$work/src" && GOCACHE=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}/gocache GOFLAGS='' GOPROXY=off "$go/bin/go" build -ldflags='-s -w' -o "$work/$program/leaks" "./$program") ||
		fail "the programs can be built"
	# One of them does not let others run before it looks.
	grep -ho 'register("[A-Za-z0-9]*"' "$work/src/$program"/*.go | sed 's/.*"\(.*\)"/\1/' | grep -vx SpawnGC |
		awk -v each="$each" 'NR % each == 0' >"$work/$program/names"
done

declare -A inputs pids

# start PROGRAM: runs each of its cases.
start() {
	local name
	while read -r name; do
		mkfifo "$work/$name.input"
		exec {input}<>"$work/$name.input"
		timeout 900 "$work/$1/leaks" "$name" "$work/$name.dump" <"$work/$name.input" >"$work/$name.output" 2>"$work/$name.errors" &
		inputs[$name]=$input
		pids[$name]=$!
	done <"$work/$1/names"
}

# wait_paused NAME COUNT: until the case has paused so many times. False if it does not.
wait_paused() {
	local i
	for ((i = 0; i < 1200; i++)); do
		[ "$(grep -c '^paused' "$work/$1.output")" -ge "$2" ] && return
		kill -0 "${pids[$1]}" 2>/dev/null || break
		sleep 0.05
	done
	fail "$1 pauses" "$(tail -n 3 "$work/$1.output" "$work/$1.errors")"
	return 1
}

# leaked ARGUMENT...: the numbers of those that can never go on.
leaked() {
	"$GOHEAP" goroutines --leaked --json "$@" 2>"$work/why" | sed -nE 's/^\{"id":([0-9]+),.*/\1/p' | sort
}

# check PROGRAM: looks at each of its cases.
check() {
	local name pid
	while read -r name; do
		wait_paused "$name" 1 || continue
		pid=$(pgrep -P "${pids[$name]}")
		leaked -p "$pid" >"$work/before"
		leaked "$work/$name.dump" -e "$work/$1/leaks" >"$work/dumped"
		timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
		leaked "$work/core.$pid" -e "$work/$1/leaks" >"$work/cored"
		rm -f "$work/core.$pid"
		echo >&"${inputs[$name]}"
		wait_paused "$name" 2 || continue
		leaked -p "$pid" >"$work/after"
		kill "$pid"
		sed -nE 's/^goroutine ([0-9]+) .*\(leaked\).*/\1/p' "$work/$name.output" | sort >"$work/profile"
		# A deadlock is one wherever its mutex can be reached from, which the collector does not see: the process says itself
		# that those wait for a mutex, and they do so still.
		sed -nE 's/^goroutine ([0-9]+) .*\[sync\.(RW)?Mutex\..*/\1/p' "$work/$name.output" | sort | comm -12 - "$work/after" |
			sort -m - "$work/profile" | uniq >"$work/stuck"
		same "$name: $(wc -l <"$work/profile") leaked, and no other is found before" /dev/null \
			<(sort -m "$work/before" "$work/cored" "$work/dumped" | uniq | comm -13 "$work/stuck" -)
		same "$name: all of them are found after" /dev/null <(comm -23 "$work/profile" "$work/after")
		cmp -s "$work/before" "$work/after" && cmp -s "$work/before" "$work/cored" && echo "$name" >>"$work/equal"
		cmp -s "$work/profile" "$work/dumped" && echo "$name" >>"$work/equal-dumps"
	done <"$work/$1/names"
}

start .
start goker
check .
check goker
cases=$(cat "$work/names" "$work/goker/names" | wc -l)
has "there are cases" "$((cases * each))" '^[89][0-9]$'
# of_cases FILE: of 100 cases as many are in FILE.
of_cases() {
	echo $(($(wc -l <"$1") * 100 / cases))
}
has "cases with the same before and after, and in a core file" "$(of_cases "$work/equal") in 100" '^(8[5-9]|9[0-9]|100) in'
# A heap dump of the runtime's has not all that tells which words of a stack are pointers: what they may be counts.
has "the same in the program's own heap dump" "$(of_cases "$work/equal-dumps") in 100" '^([7-9][0-9]|100) in'
finish
