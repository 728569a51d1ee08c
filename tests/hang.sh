#!/usr/bin/env bash
# What `goheap hang' tells of processes that do not go on, in which no goroutine waits for ever in Go: one is in C, in the
# kernel, in a system call, or runs. The sample tells which, and on which thread. And that the process goes on afterwards. Then of
# a crowd of goroutines.
. "$(dirname "$0")/lib.sh"

# state: that of the thread that has the mutex, by the kernel.
# shellcheck disable=SC2317 # wait_until calls it.
state() {
	sed 's/.*) \(.\) .*/\1/' "/proc/$pid/task/$thread/stat"
}

# is_state STATE: it is that.
# shellcheck disable=SC2317 # wait_until calls it.
is_state() {
	[ "$(state)" = "$1" ]
}

# states: those of all threads.
states() {
	sed 's/.*) \(.\) .*/\1/' "/proc/$pid/task"/*/stat
}

# is_told PATTERN: goheap hang has a line that matches.
# shellcheck disable=SC2317 # wait_until calls it
is_told() {
	"$GOHEAP" hang -p "$pid" 2>"$work/why" | grep -Eq -- "$1"
}

# check RELEASE WAY FUNCTION STATE HELD DOES: the goroutine is in FUNCTION, its thread in STATE; it has the mutex, as HELD says
# it, and DOES something.
check() {
	local name="Go $1, $2" hang goroutine thread descriptor target does=$6
	run_until_ready "$directory/stuck.stripped" "$2"
	read -r _ goroutine thread descriptor target <"$work/output"
	[ "$2" != pipe ] || does="$does, in write\\($descriptor, pipe:.${target//[^0-9]/}.\\)"
	wait_until is_state "$4"
	# The others are to wait.
	sleep 0.2
	hang=$(timeout 60 "$GOHEAP" hang -p "$pid" 2>"$work/why")
	has "$name: who waits, who has it, and what that does" "$hang" \
		"^3 goroutines: lock sync\.Mutex 0x[0-9a-f]+ \(locked\), in main\.handle at .*/main\.go:[0-9]+; $5 by goroutine $goroutine \(main\.$3 at .*/main\.go:[0-9]+\), which is $does(,? for at least [0-9]+ s)?\$"
	case $2 in
	c) has "$name: its thread" "$hang" "^in C: goroutine $goroutine \(main\.$3 at [^ ]*\), on thread $thread, asleep in futex\(0x[0-9a-f]+\)( for at least [0-9]+ s)?( \(.*\))?\$" ;;
	kernel)
		has "$name: its thread" "$hang" "^in C: goroutine $goroutine \(main\.$3 at [^ ]*\), on thread $thread, in the kernel, where no signal reaches it, in (vfork|clone)( \(.*\))?\$"
		has "$name: among the threads" "$hang" "^[0-9]+ threads: .* 1 in the kernel, where no signal reaches them \(thread $thread"
		has "$name: among the threads, as JSON" "$("$GOHEAP" hang --json -p "$pid" 2>"$work/why")" \
			"^\{\"part\":\"threads\",.*,\"running\":[0-9]+,\"sleeping\":[0-9]+,\"stopped\":0,\"traced\":0,\"stuck\":$(states | grep -c D),\"first_stuck\":$thread$(sed '/^0$/d; s/.*/,"kernel_function":"&"/' "/proc/$pid/task/$thread/wchan")\}"
		;;
	# It is ready for the moments in which the system takes its thread's processor away.
	spin) holds "$name: it runs" "$hang" wait_until is_told "^running: goroutine $goroutine \(main\.$3 at [^ ]*\)\$" ;;
	esac
	if [ "$2" = pipe ]; then
		descriptor=$(find "/proc/$pid/fd" -type l | wc -l)
		lacks "$name: descriptors are left" "$hang" 'file descriptors are open'
		prlimit --pid "$pid" "--nofile=$descriptor"
		has "$name: no descriptor is left" "$(timeout 60 "$GOHEAP" hang -p "$pid" 2>"$work/why")" "^$descriptor file descriptors are open, and it may have $descriptor: "
	fi
	if [ "$2" = c ]; then
		has "$name: it waits for itself, in C" "$hang" \
			"^goroutine $goroutine \(main\.callC at .*\) is in C, main\._Cfunc_lock_twice, for a pthread mutex 0x[0-9a-f]+(, for at least [0-9]+ s)?, held by itself$"
		has "$name: and all others for it" "$hang" '^1 deadlock of mutexes; 3 more goroutines wait for them$'
	else
		equal "$name: nothing waits for itself" "No goroutine that can never go on
No deadlock of mutexes" "$(grep -E '(never go on|of mutexes)$' <<<"$hang")"
	fi
	has "$name: it goes on as before" "$(states | tr -d '\n')" '^[RSD]+$'
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# check_finalizers RELEASE: the one goroutine that runs finalizers waits for the mutex. Of 20 objects the last may still be on a
# stack.
check_finalizers() {
	local name="Go $1, finalizers" sentence
	sentence='goroutine [0-9]+ runs finalizers, and is blocked in main\.\(\*held\)\.close: 1[89] more wait for it'
	run_until_ready "$directory/stuck.stripped" finalizers
	has "$name: hang" "$("$GOHEAP" hang --bytes -p "$pid" 2>"$work/why")" "^$sentence\$"
	has "$name: hang, as JSON" "$("$GOHEAP" hang --json -p "$pid" 2>"$work/why")" \
		"^\{\"part\":\"finalizers\",\"kind\":\"finalizers\",\"finding\":\"$sentence\",\"goroutine\":[0-9]+,\"function\":\"main\.\(\*held\)\.close\",\"waiting\":1[89]\}\$"
	has "$name: suspects" "$("$GOHEAP" suspects --bytes -p "$pid" 2>"$work/why")" "^$sentence\$"
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# check_deep RELEASE: the stack of one goroutine is out of proportion.
check_deep() {
	local name="Go $1, a deep stack" id calls megabytes sentence
	run_until_ready "$directory/stuck.stripped" deep
	read -r _ id _ megabytes calls < <(grep ^ready "$work/output")
	sentence="goroutine $id \\(main\\.descend, $calls frames\\) has a stack of 67,108,864 bytes"
	equal "$name: what the runtime has for all stacks" 64 "$megabytes"
	has "$name: hang" "$("$GOHEAP" hang --bytes -p "$pid" 2>"$work/why")" "^$sentence\$"
	has "$name: hang, as JSON" "$("$GOHEAP" hang --json -p "$pid" 2>"$work/why")" \
		"^\{\"part\":\"stack\",\"kind\":\"stack\",\"finding\":\"$sentence\",\"goroutine\":$id,\"function\":\"main\.descend\",\"frames\":$calls,\"stack_bytes\":67108864\}\$"
	equal "$name: goroutines, as JSON" 67108864 \
		"$("$GOHEAP" goroutines --json -p "$pid" 2>"$work/why" | sed -nE "s/^\\{\"id\":$id,.*\"stack_bytes\":([0-9]+),.*/\\1/p")"
	"$GOHEAP" dump -f "$pid" -o "$work/deep" 2>"$work/why"
	exec 7>&-
	wait "$pid" 2>"$work/why"
	has "$name: suspects, of a dump" "$("$GOHEAP" suspects --bytes "$work/deep" 2>"$work/why")" "^$sentence\$"
	equal "$name: SQL" "$id" "$("$GOHEAP" sql "$work/deep" --csv "SELECT id FROM goroutines WHERE stack_bytes = 67108864" 2>"$work/why" | sed 1d)"
	rm -f "$work/deep"
}

# stop_seen: waits until goheap, which is $asker, has a thread of the process stopped. False if it has ended before.
stop_seen() {
	local file stat
	while kill -0 "$asker" 2>"$work/why"; do
		for file in "/proc/$pid/task"/*/stat; do
			read -r stat <"$file"
			[[ $stat != *") t "* ]] || return 0
		done
	done
	return 1
}

# running: no thread of the process is stopped.
running() {
	[[ $(states) != *[tT]* ]]
}

# check_signals RELEASE: goheap is sent signals while it has a process stopped, one of whose threads keeps it waiting for 0.1 s:
# the process goes on within 2 s, though goheap be stopped or ended.
check_signals() {
	local signal asker late='' try
	run_until_ready "$directory/stuck.stripped" kernel
	wait_until grep -q ') D ' "/proc/$pid/task"/*/stat
	for signal in TSTP TTIN TTOU QUIT PIPE INT TERM HUP KILL; do
		# A busy machine may have slept through the stop.
		for try in {1..5}; do
			# In a group of processes of its own: the kernel ignores stops of one that no shell controls.
			set -m
			"$GOHEAP" hang -p "$pid" >"$work/hang" 2>&1 &
			asker=$!
			set +m
			stop_seen && kill "-$signal" "$asker" && break
			wait "$asker"
		done 2>"$work/why"
		((try < 5)) || late="$late $signal: never seen stopped;"
		for _ in {1..40}; do
			running && break
			sleep 0.05
		done
		running || late="$late $signal: $(states | tr -d '\n');"
		kill -CONT "$asker" 2>"$work/why"
		wait "$asker" 2>"$work/why"
	done
	equal "Go $1: signals at goheap leave no process stopped" "" "$late"
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# over_disk DIRECTORY COMMAND...: runs it where the disk of DIRECTORY answers nothing.
over_disk() {
	# shellcheck disable=SC2016 # The shell in it expands these.
	unshare -m bash -c 'exec 9<>/dev/fuse && mount -i -t fuse -o fd=9,rootmode=40000,user_id=0,group_id=0 none "$1" &&
		timeout -s KILL 60 "${@:2}"' - "$@"
}

# check_disk RELEASE: data that the process has mapped is on a disk that is gone.
check_disk() {
	local name="Go $1, data on a disk that is gone" goroutine place
	mkdir -p "$work/disk"
	echo data >"$work/disk/data"
	if ! over_disk "$work/disk" true 2>"$work/why"; then
		skip "$name" "no FUSE: $(tail -n 1 "$work/why")"
		return
	fi
	run_until_ready "$directory/stuck.stripped" pipe "$work/disk/data"
	read -r _ goroutine _ <"$work/output"
	sleep 0.2
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	for place in "-p $pid" "-e $directory/stuck.stripped $work/core.$pid"; do
		# shellcheck disable=SC2086 # Two or three words.
		has "$name: ${place%% *}" "$(over_disk "$work/disk" "$GOHEAP" hang $place 2>"$work/why")" \
			"^3 goroutines: lock sync\.Mutex .* held by goroutine $goroutine \(main\.writePipe at "
	done
	exec 7>&-
	wait "$pid" 2>"$work/why"
	rm -f "$work/core.$pid"
}

# groups: of the groups on standard input how many wait, and where.
groups() {
	sed -nE 's/^([0-9,]+) goroutines?[:,].*in (main\.[a-z]+) at .*/\1 \2/p' | sort
}

# check_crowd RELEASE COUNT: as many goroutines, which wait in five ways, in a process, in its core file and in its own dump.
check_crowd() {
	local name="Go $1, $2 goroutines" way place=() fifth
	fifth=$(commas $(($2 / 5)))
	sample "$name" "$1" crowd || return
	run_until_ready "$directory/crowd.stripped" "$2" "$work/dump" -
	wait_until grep -q '^ready' "$work/output"
	timeout 120 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	# Behind the heap of Go is what the runtime has of it.
	head -c "$(readelf -lW "$work/core.$pid" | awk '$1 == "LOAD" && $3 ~ /^0x00007/ { print $2; exit }' | xargs printf %d)" \
		"$work/core.$pid" >"$work/cut"
	printf "$fifth main.%s\n" lock receive selects send sleep >"$work/expected"
	for way in process core dump cut; do
		case $way in
		process) place=(-p "$pid") ;;
		core) place=("$work/core.$pid" -e "$directory/crowd.stripped") ;;
		dump) place=("$work/dump" -e "$directory/crowd.stripped") ;;
		cut) place=("$work/cut" -e "$directory/crowd.stripped") ;;
		esac
		same "$name: groups, $way" "$work/expected" <("$GOHEAP" waits --group "${place[@]}" 2>"$work/why" | groups | grep "^$fifth ")
		equal "$name: one by one, $way" "$2" "$("$GOHEAP" waits "${place[@]}" 2>"$work/why" | grep -cE ' in main\.(lock|receive|selects|send|sleep) at ')"
		"$GOHEAP" hang "${place[@]}" >"$work/hang" 2>"$work/why"
		has "$name: how many, $way" "$(head -n 1 "$work/hang")" "^$(commas $(($2 + 1))) goroutines: (.*, )?($2|$(($2 + 1))) waiting"
		if [ "$way" = cut ]; then
			has "$name: what is not known, $way" "$(cat "$work/why")" '^goheap: which goroutines can never go on is not known without the heap$'
			continue
		fi
		equal "$name: none for ever, $way" "No goroutine that can never go on
No deadlock of mutexes" "$(grep -E '(never go on|of mutexes)$' "$work/hang")"
	done
	exec 7>&-
	wait "$pid" 2>"$work/why"
	rm -f "$work/core.$pid" "$work/dump" "$work/cut"
}

export CGO_ENABLED=1
for release in $(releases 1.15 1.19 1.27); do
	sample "Go $release" "$release" stuck || continue
	check "$release" c callC S held 'in C, main\._Cfunc_lock_twice, for a pthread mutex 0x[0-9a-f]+'
	check "$release" kernel callKernel D held 'in C, main\._Cfunc_wait_in_kernel, in (vfork|clone)'
	check "$release" pipe writePipe S held 'in a system call, syscall\.write'
	# At some of its instructions it is not sure.
	check "$release" spin spin R '(perhaps )?held' '(on a thread|ready to run)'
	check_finalizers "$release"
	check_deep "$release"
	! is_newest "$release" || check_signals "$release"
	[ "$release" != 1.19 ] || check_disk "$release"
done
crowd=10000
! in_full '100,000 goroutines' || crowd=100000
check_crowd 1.19 $crowd
finish
