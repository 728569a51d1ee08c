#!/usr/bin/env bash
# The system calls that goroutines' threads are in, with their arguments: of a program that says which it makes. And for how long its
# threads have been asleep: never longer than they have been there.
. "$(dirname "$0")/lib.sh"
session_home

needs_amd64 "everything" || finish

# elapsed: how long it is since $ready, in ns.
elapsed() {
	echo $(($(date +%s%N) - ready))
}

# start: the program, whose calls have lasted for two seconds and more; where they are told of is $work/theirs.
start() {
	rm -rf "$work/files"
	mkdir "$work/files"
	begun=$(date +%s%N)
	run_until_ready "$directory/syscalls.stripped" "$work/files"
	ready=$(date +%s%N)
	sed -n '/\t/ { s/\t-1\t/\t\t/; p; }' "$work/output" | sort >"$work/theirs"
}

# calls FILE: those in lines of goheap waits in FILE, as the program prints them.
calls() {
	sed -nE 's/^goroutine .*, in ([a-z_0-9]+)\((.*)\)( for at least [0-9]+ s)?, in main\.(in[A-Za-z]*) at .*/\4\t\1\t\2/p' "$1" |
		sed -E 's/^(in(Futex|Nanosleep|Poll)\t[a-z_]*\t)/\1\t/; /^in(Futex|Nanosleep|Poll)\t/!s/^([^\t]*\t[^\t]*\t[0-9]+)(, )?/\1\t/' | sort
}

# check_sleeps NAME LEAST MOST: the goroutines in calls have each been asleep for so long, in ns, as $work/json has it. On a machine
# that is busy goheap may not come to all processors in time, and not know it of some.
check_sleeps() {
	local name=$1 asleep
	asleep=$(sed -nE 's/.*"system_call":.*"asleep":([0-9]+).*/\1/p' "$work/json" | sort -n)
	# shellcheck disable=SC2016 # awk's
	holds "$name" "$asleep; not $2 to $3" awk -v least="$2" -v most="$3" '
		$1 < least || $1 > most { exit failed = 1 }
		END { exit failed || NR == 0 }' <<<"$asleep"
}

# check_live NAME: of a process that nobody has looked at yet.
check_live() {
	local dumped
	start
	if grep -qs '^se\.exec_start' "/proc/$pid/sched"; then
		# The calls began after the program, and 2.5 s before it was ready. A first look stops its threads, which wakes them.
		ready=$(date +%s%N)
		"$GOHEAP" waits --json -p "$pid" >"$work/json" 2>"$work/why"
		check_sleeps "$1: for how long" 2000000000 $(($(date +%s%N) - begun))
		sleep 1.2
		"$GOHEAP" waits --json -p "$pid" >"$work/json" 2>"$work/why"
		check_sleeps "$1: for how long since goheap has looked" 1000000000 "$(elapsed)"
	else
		skip "$1: for how long" "the kernel does not tell"
	fi
	end "$pid"
	start
	rm -f "$work/dump"
	"$GOHEAP" dump -o "$work/dump" -p "$pid" 2>"$work/why"
	"$GOHEAP" waits -e "$directory/syscalls.stripped" "$work/dump" >"$work/lines" 2>"$work/why"
	calls "$work/lines" >"$work/ours"
	same "$1: what the program says" "$work/theirs" "$work/ours"
	dumped=$("$GOHEAP" sql --json -e "$directory/syscalls.stripped" "$work/dump" "SELECT system_call, arguments FROM waits WHERE system_call IS NOT NULL" 2>"$work/why")
	same "$1: the same in SQL" <(awk -F '\t' '{ print $2 "(" $3 ($3 != "" && $4 != "" ? ", " : "") $4 ")" }' "$work/theirs" | sort) \
		<(sed -nE 's/.*"system_call":"([^"]*)","arguments":"([^"]*)".*/\1(\2)/p' <<<"$dumped" | sort)
	has "$1: that of a thread" "$("$GOHEAP" threads "$work/dump" 2>"$work/why")" $'\tflock\t'"[0-9]+, $work/files/flock.lock, LOCK_EX"
	has "$1: that of a thread in C" "$("$GOHEAP" hang -e "$directory/syscalls.stripped" "$work/dump" 2>"$work/why")" \
		"^in C: goroutine [0-9]+ \(main\.inFlock at .*, in flock\([0-9]+, $work/files/flock\.lock, LOCK_EX\)"
	end "$pid"
}

# check_elsewhere NAME: in GDB; and in its core file, which has no descriptors.
check_elsewhere() {
	needs "$1, in GDB" gdb || return
	start
	goheap "" "attach $pid" "goheap waits" "generate-core-file $work/core" >"$work/lines"
	end "$pid"
	calls "$work/lines" >"$work/ours"
	same "$1, in GDB: what the program says" "$work/theirs" "$work/ours"
	"$GOHEAP" waits "$work/core" -e "$directory/syscalls.stripped" >"$work/lines" 2>"$work/why"
	rm "$work/core"
	calls "$work/lines" >"$work/ours"
	sed -E "s:$work/files/[a-z]*\.lock, ::; s:unix, ::; s:(tcp|udp) 127[^,;]*(, listening)?|anon_inode.\[eventpoll\]:@:g; s:, @::g; s:\t@(, |$):\t:" "$work/theirs" >"$work/known"
	same "$1, core file: what the program says" "$work/known" "$work/ours"
}

for release in $(releases 1.19 1.27); do
	name="Go $release"
	sample "$name" "$release" syscalls || continue
	check_live "$name"
	check_elsewhere "$name"
done
finish
