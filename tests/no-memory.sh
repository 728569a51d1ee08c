#!/usr/bin/env bash
# Commands that find no memory at one of their allocations: each prints what it does otherwise, or says so and fails.
. "$(dirname "$0")/lib.sh"

if nm -D "$GOHEAP" | grep -q ' __asan_init'; then
	skip "everything" "the sanitizers allocate themselves"
	finish
fi
# How many of a command's allocations are tried, from the first that is not made for every command on.
TRIED=40

"$CC" -O1 -shared -fPIC "$tests/oracle/fail_malloc.c" -o "$work/fail_malloc.so" -ldl
sample "everything" 1.27 graph || finish
program=$directory/graph.stripped
"$directory/graph" "$work/dump" >"$work/said"

# allocations ARGUMENT...: how many goheap makes; what it prints is in $work/expected.
allocations() {
	ALLOCATIONS=$work/count LD_PRELOAD=$work/fail_malloc.so "$GOHEAP" "$@" >"$work/expected" 2>"$work/errors"
	cat "$work/count"
}

base=$(allocations --version)

# same_file: what a command writes to $work/file is as when it lacked nothing.
same_file() {
	[ ! -e "$work/whole" ] || cmp -s "$work/whole" "$work/file"
}

# check ARGUMENT...: goheap with them. SQLite takes lack of memory for a query that needs too much, status 2.
check() {
	local count step at status told=0 tried=0
	rm -f "$work/file" "$work/whole"
	count=$(allocations "$@")
	[ ! -e "$work/file" ] || mv "$work/file" "$work/whole"
	step=$(((count - base) / TRIED + 1))
	for ((at = base; at <= count; at += step)); do
		rm -f "$work/file"
		FAIL_AT=$at LD_PRELOAD=$work/fail_malloc.so timeout 60 "$GOHEAP" "$@" >"$work/found" 2>"$work/errors"
		status=$?
		tried=$((tried + 1))
		if ((status == 1 || status == 2)) && grep -qE 'out of memory|Cannot allocate memory|takes more than [0-9]+ MiB of memory' "$work/errors"; then
			told=$((told + 1))
		elif [ $status -ne 0 ] || ! cmp -s "$work/expected" "$work/found" || ! same_file; then
			fail "goheap $1: allocation $at of $count" "status $status, and $(head -n 3 "$work/errors")"
			return
		fi
	done
	if ((told > 0)); then
		ok "goheap $1: told at $told of $tried allocations"
	else
		fail "goheap $1: told at none of $tried allocations"
	fi
}

check info "$program"
check lines "$program"
check types "$program"
check addr2line -e "$program" "$("$GOHEAP" funcs "$program" | awk '/main\.main$/ { print $1 }')"
for command in goroutines histogram dominators unreachable strings suspects waits hang dot profile; do
	check "$command" -e "$program" "$work/dump"
done

# short KIB ARGUMENT...: goheap with them where the system says that so much memory is free. What it prints is in $work/found.
short() {
	sed "s/^MemAvailable:.*/MemAvailable: $1 kB/" /proc/meminfo >"$work/meminfo"
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare "${alone[@]}" sh -c 'mount --bind "$0" /proc/meminfo && exec "$@"' "$work/meminfo" "$GOHEAP" "${@:2}" >"$work/found" 2>"$work/errors"
}

# check_short: a heap for which there is too little memory is not looked at, and all else is told; a process is copied to a file.
check_short() {
	local few='expected [0-9.]+ kB of free memory, for what points to what, found 1\.02 kB'
	short 1 histogram -e "$program" "$work/dump"
	equal "too little memory for a dump: status" 1 $?
	has "too little memory for a dump: why" "$(cat "$work/errors")" "^goheap: $work/dump: $few: look at it where there is more\$"
	short 1 -e "$program" "$work/dump"
	equal "too little memory, the first answer: status" 0 $?
	has "too little memory, the first answer: the heap" "$(cat "$work/found")" '^Nothing unusual but for the heap, which was not looked at\.$'
	has "too little memory, the first answer: what it is" "$(cat "$work/found")" ', heap dump of graph\.stripped: go1\.27'
	sample "too little memory for a process" 1.27 troubles || return
	run_until_ready "$directory/troubles.stripped" leaks
	short 20000 histogram --bytes "$pid"
	equal "too little memory for a process: status" 1 $?
	has "too little memory for a process: why" "$(cat "$work/errors")" \
		"^goheap: process $pid: expected [0-9]+ MB of free memory, or 48 and a disk .*, for a copy of what it has, found 20 MB"
	"$GOHEAP" histogram --bytes "$pid" >"$work/expected" 2>"$work/why"
	short 60000 histogram --bytes "$pid"
	has "too little memory for a copy: it is in a file" "$(cat "$work/errors")" \
		"^goheap: 61,440,000 bytes of memory are free: the copy of process $pid is in a temporary file, which takes longer\$"
	same "too little memory for a copy: the answer" "$work/expected" "$work/found"
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

alone=(-m)
[ "$(id -u)" = 0 ] || alone=(-r -m)
if unshare "${alone[@]}" mount --bind /proc/meminfo /proc/meminfo 2>"$work/why"; then
	check_short
else
	skip "too little memory" "nothing can be mounted"
fi
in_full "other commands" || finish
check goroutines --group -e "$program" "$work/dump"
check goroutines --group --json -e "$program" "$work/dump"
check histogram --by root -e "$program" "$work/dump"
check histogram --by site -e "$program" "$work/dump"
check diff -e "$program" "$work/dump" "$work/dump"
check frame -e "$program" "$work/dump" 1
check sql -e "$program" "$work/dump" 'SELECT count(*) FROM objects'
for command in pprof core; do
	check "$command" -e "$program" -o "$work/file" "$work/dump"
done
# A process, whose goroutines wait.
if sample "a process" 1.27 deadlocks; then
	GOGC=off run_until_ready "$directory/deadlocks.stripped" upgrades group healthy
	for command in info goroutines histogram; do
		check "$command" -p "$pid"
	done
	exec 7>&-
	wait "$pid" 2>"$work/why"
fi
finish
