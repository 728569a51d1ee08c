#!/usr/bin/env bash
# What goroutines in C wait for in the C library, and who has it: of programs whose sources say so. And deadlocks that are made of
# mutexes of C's, and of C's and Go's; none in a program that is well.
. "$(dirname "$0")/lib.sh"
session_home
children=
trap 'kill $children 2>/dev/null; rm -rf "$work"' EXIT

needs_amd64 "everything" || finish
if nm -D "$GOHEAP" | grep -q ' __asan_init'; then
	skip "everything" "libdw cannot be loaded beside the sanitizers"
	finish
fi

# ask COMMAND...: what goheap prints of the process.
ask() {
	timeout 60 "$GOHEAP" "$@" -p "$pid" 2>"$work/why"
}

# start NAME MODE: the program, in that mode.
start() {
	run_until_ready "$directory/clocks.stripped" "$2"
	# The last goroutine is to have come to where it waits.
	sleep 0.2
}

# check_waits NAME: a program whose goroutines each wait for something else.
check_waits() {
	local waits mutex
	run_until_ready "$directory/foreign.stripped"
	sleep 0.2
	waits=$(ask waits --group)
	ask waits --json >"$work/json"
	end "$pid"
	mutex=$(nm "$directory/foreign" | sed -nE 's/^0*([0-9a-f]+) b mutex$/0x\1/p')
	has "$1: a mutex, and who has it" "$waits" \
		"in C, main\._Cfunc_in_mutex, for a pthread mutex $mutex.*; held by goroutine [0-9]+ \(main\.holdMutex at "
	has "$1: an rwlock" "$waits" \
		"in C, main\._Cfunc_in_rdlock, to read-lock a pthread rwlock $(nm "$directory/foreign" | sed -nE 's/^0*([0-9a-f]+) b rwlock$/0x\1/p').*; held by goroutine [0-9]+ \(main\.holdRWLock at "
	has "$1: a condition" "$waits" 'in C, main\._Cfunc_in_cond, for a pthread condition'
	has "$1: as JSON" "$(cat "$work/json")" "\"wait\":\"syscall\",.*\"object\":\"$mutex\",.*\"holder\":[0-9]+,\"in_c\":\"mutex\",\"in_c_thread\":[0-9]+"
	if [ -e /usr/lib/debug/.build-id ]; then
		has "$1: a semaphore" "$waits" "in C, main\._Cfunc_in_semaphore, for a semaphore of the C library's 0x"
		has "$1: a thread" "$waits" 'in C, main\._Cfunc_in_join, for thread [0-9]+ to end'
	else
		skip "$1: a semaphore and a thread" "no debug information of the C library"
	fi
	lacks "$1: what is in no lock" "$(grep in_read <<<"$waits")" ' for a | to '
}

# check_deadlock NAME MODE SENTENCE: there is one deadlock, for certain, which SENTENCE tells.
check_deadlock() {
	local hang
	start "$1" "$2"
	hang=$(ask hang)
	end "$pid"
	has "$1: one, for certain" "$hang" '^1 deadlock of mutexes'
	has "$1: who waits for whom" "$(tr -d '\n' <<<"$hang")" "$3"
}

# check_known NAME MODE LINE: there is no deadlock that is known, but LINE says what the one waits for who keeps the other waiting.
check_known() {
	local hang
	start "$1" "$2"
	hang=$(ask hang)
	end "$pid"
	has "$1: no deadlock that is certain" "$hang" '^No deadlock of mutexes'
	has "$1: who waits for whom" "$hang" "$3"
}

# check_healthy NAME COUNT: asked so often, goheap finds no deadlock in a process that is busy with C's locks, and meets some of these.
check_healthy() {
	local hang met=0 found=
	for _ in $(seq "$2"); do
		hang=$(ask hang)
		matches "$hang" '^No deadlock of mutexes' || found+=$hang$'\n'
		! matches "$hang" 'for a pthread |thread [0-9]+ to end|lock a pthread' || met=$((met + 1))
	done
	equal "$1: no deadlock" "" "$found"
	holds "$1: locks of C's are met with" "in $met of $2" [ "$met" -gt 0 ]
}

# check_in_gdb NAME: C's locks are told of in GDB, too.
check_in_gdb() {
	needs "$1: in GDB" gdb gdbserver || return
	start "$1" go
	same_in_gdb "$1" "$directory/clocks.stripped" hang waits goroutines
	has "$1: in GDB, C is told of" "$(cat "$work/theirs.1")" 'pthread mutex'
	has "$1: in GDB, C is told of" "$(cat "$work/theirs.3")" 'pthread_mutex_lock'
}

check() {
	local name="Go $1" one='goroutine [0-9]+ \(main\.' asleep='(, for at least [0-9]+ s)?'
	sample "$name" "$1" foreign || return
	check_waits "$name"
	sample "$name" "$1" clocks || return
	check_deadlock "$name, two mutexes of C's" c \
		"${one}(firstSecond|secondFirst) at [^)]*\) is in C, main\._Cfunc_[a-z_]*, for a pthread mutex 0x[0-9a-f]+$asleep, +held by ${one}(firstSecond|secondFirst) at [^)]*\), which is in C, main\._Cfunc_[a-z_]*, for a pthread mutex 0x[0-9a-f]+$asleep, +held by goroutine [0-9]+"
	check_deadlock "$name, one of Go's and one of C's" go \
		"${one}goThenC at [^)]*\)(, which)? is in C, main\._Cfunc_lock_first, for a pthread mutex 0x[0-9a-f]+$asleep, +held by (goroutine|.*${one}lockInGo at .*waits to lock sync\.Mutex)"
	check_deadlock "$name, itself" self "${one}twice at [^)]*\) is in C, main\._Cfunc_lock_twice, for a pthread mutex 0x[0-9a-f]+$asleep, +held by itself"
	check_deadlock "$name, an rwlock" rwlock "to read-lock a pthread rwlock 0x[0-9a-f]+$asleep, +held by "
	check_deadlock "$name, a thread of C's between" between \
		"${one}between at [^)]*\) is in C, main\._Cfunc_lock_between, for a pthread mutex 0x[0-9a-f]+$asleep, +held by thread [0-9]+ of C's, which waits in C for goroutine [0-9]+"
	check_deadlock "$name, a thread that is to end, and one of Go's" join \
		"for thread [0-9]+ to end$asleep, +on which is ${one}lockInGo at [^)]*\), which waits to lock sync\.Mutex.*held by |${one}lockInGo at .*waits to lock sync\.Mutex.*held by ${one}joinGo at [^)]*\), which is in C, main\._Cfunc_join_go, for thread [0-9]+ to end$asleep, +on which is goroutine"
	check_deadlock "$name, a thread of C's that is to end" joinc \
		"${one}joinC at [^)]*\) is in C, main\._Cfunc_join_c, for thread [0-9]+ to end$asleep, +which waits in C for goroutine [0-9]+"
	# Nothing says who would wake these.
	check_known "$name, a condition" cond "held by ${one}waitCond at [^)]*\), which is in C, main\._Cfunc_wait_cond, for a pthread condition$asleep\$"
	if [ -e /usr/lib/debug/.build-id ]; then
		check_known "$name, a semaphore" sem "held by ${one}waitSem at [^)]*\), which is in C, main\._Cfunc_wait_sem, for a semaphore of the C library's 0x[0-9a-f]+$asleep\$"
	else
		skip "$name, a semaphore" "no debug information of the C library"
	fi
	! is_newest "$1" || check_in_gdb "$name"
	start "$name" thread
	has "$name: a thread of C's has it" "$(ask waits --group)" 'for a pthread mutex 0x[0-9a-f]+.*; held by thread [0-9]+, which has no goroutine'
	end "$pid"
	start "$name" healthy
	check_healthy "$name" 5
	end "$pid"
	is_newest "$1" && sample "$name, SQLite" "$1" sqlite || return
	run_until_ready "$directory/sqlite.stripped" load
	check_healthy "$name, SQLite" 20
	end "$pid"
}

for release in $(releases 1.19 1.24 1.27); do
	check "$release"
done
finish
