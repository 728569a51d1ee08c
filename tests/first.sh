#!/usr/bin/env bash
# The first answer, `goheap TARGET': of programs with one trouble each the first finding names that, by what the program
# itself, its traceback and the kernel say; of healthy ones, and of other people's servers under load, it accuses nobody.
# And `goheap ps'.
# shellcheck disable=SC2154,SC2317 # Each server is started and loaded by its name.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers-lib.sh"

if [ -z "${GOHEAP_SERVERS-}" ] && unshare -r -n ip link set lo up 2>"$work/why"; then
	program prometheus prometheus usr/bin/prometheus
	program etcd etcd-server usr/bin/etcd
	program syncthing syncthing usr/bin/syncthing
	[ -z "${prometheus-}${etcd-}${syncthing-}" ] || own_network yes
fi
[ -z "${GOHEAP_SERVERS-}" ] || ip link set lo up

# asked TARGET...: goheap's answer, with each finding in one line, in $work/answer.
asked() {
	timeout 60 "$GOHEAP" "$@" >"$work/screen" 2>"$work/told" || fail "goheap $*" "$(cat "$work/told")"
	sed -E ':a; N; $!ba; s/\n   ([^g]|g[^o]|go[^h])/ \1/g' "$work/screen" >"$work/answer"
}

# first: the first finding of the answer, and its command.
first() {
	sed -n '/^1\. /{N;p}' "$work/answer"
}

# end_sample: of run_until_ready.
end_sample() {
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# line_of TEXT [FILE]: the line of the sample's that has it.
line_of() {
	grep -nF -m 1 -- "$1" "$tests/samples/${2-troubles/main.go}" | cut -d: -f1
}

# trouble KIND PATTERN COMMAND: the first finding about the sample.
trouble() {
	run_until_ready "$directory/troubles.stripped" "$1"
	asked "$pid"
	has "$name, $1: the first finding" "$(first)" "^1\\. $2\$"
	has "$name, $1: what shows more" "$(first)" "^ +goheap $3 $pid\$"
	holds "$name, $1: it is one screen" "$(cat "$work/screen")" test "$(wc -l <"$work/screen")" -le 40
	end_sample
}

# silent KIND: nothing is said of the sample.
silent() {
	run_until_ready "$directory/troubles.stripped" "$1"
	asked "$pid"
	has "$name, $1: nothing unusual" "$(cat "$work/answer")" '^Nothing unusual\.$'
	lacks "$name, $1: no finding" "$(cat "$work/answer")" '^1\.'
	[ "$1" != workers ] || check_forms
	end_sample
}

# check_sessions: goroutines in one select are alike, and a map is not half empty that never had more entries.
check_sessions() {
	run_until_ready "$directory/troubles.stripped" sessions
	asked "$pid"
	has "$name, sessions: the first finding" "$(first)" \
		"^1\\. 2,000 goroutines pile up: each waits in select: .*receive from chan .* in main\\.\\(\\*session\\)\\.serve $at:$(line_of 'select { // they wait')"
	"$GOHEAP" suspects --bytes "$pid" >"$work/suspects" 2>"$work/told"
	has "$name, sessions: what keeps them" "$(cat "$work/suspects")" '^1\. 2,000 main\.session'
	lacks "$name, sessions: their maps" "$(cat "$work/suspects")" 'does not shrink'
	end_sample
}

# check_requests: those that have waited for a pool's connection for ten seconds; and those that are there to wait.
check_requests() {
	local object try begun
	run_until_ready "$directory/requests.stripped"
	sleep 11
	asked "$pid"
	has "$name: requests are held up" "$(first)" \
		"^1\\. 20 requests are held up: each waits to receive from chan \\*main\\.connection.* in main\\.take at $tests/samples/requests/main\\.go:$(line_of '// they wait' requests/main.go), the longest for [1-9][0-9] s"
	end_sample
	# The sample sleeps for 11 seconds before they begin to wait. On a busy machine too much time may pass until it is asked about.
	for try in {1..5}; do
		begun=$SECONDS
		run_until_ready "$directory/requests.stripped" late
		asked "$pid"
		[ $((SECONDS - begun)) -ge 20 ] || break
		[ "$try" -eq 5 ] || end_sample
	done
	"$GOHEAP" waits --group --json "$pid" >"$work/waits" 2>"$work/told"
	has "$name: Go takes them to have waited for 11 seconds" "$(grep '"function":"main.take"' "$work/waits")" '"waited":1[1-9][0-9]{9},'
	has "$name: requests that have waited for a moment" "$(cat "$work/answer")" '^Nothing unusual\.$'
	end_sample
	run_until_ready "$directory/requests.stripped" stream
	sleep 11
	asked "$pid"
	has "$name: requests that wait for news" "$(cat "$work/answer")" '^Nothing unusual\.$'
	object=$("$GOHEAP" histogram --limit 0 -p "$pid" 2>"$work/told" | sed -nE 's/.* (0x[0-9a-f]+)  map\[string\]net\/http\.muxEntry$/\1/p')
	has "$name: net/http's mux, into which main.main's calls are inlined" "$("$GOHEAP" path -p "$pid" "$object" 2>"$work/told")" \
		'^global 0x[0-9a-f]+ of net/http, used in [^ ]+ and '
	end_sample
}

# check_forms: of the process that runs: what it is, as text and JSON, by its number and name; among the processes.
check_forms() {
	local started user
	user=$(id -un)
	started=$(date -d "$(ps -o lstart= -p "$pid")" '+%Y-%m-%d %H:%M')
	has "$name: what it is" "$(cat "$work/answer")" \
		"^troubles\\.stripped, process $pid: go${release}[.0-9]*, $("$goroot/bin/go" env GOARCH), example\\.org/goheap/samples( \\(devel\\))?\$"
	has "$name: since when, and whose" "$(cat "$work/answer")" "^up .* since $started:[0-9]{2}, user $user\$"
	has "$name: its goroutines" "$(cat "$work/answer")" '^[0-9]+ threads?, 2,001 goroutines$'
	"$GOHEAP" --json "$pid" >"$work/json" 2>"$work/told"
	has "$name: as JSON" "$(head -n 1 "$work/json")" \
		"^\\{\"part\":\"target\",\"target\":\"process\",\"pid\":$pid,\"program\":\"$directory/troubles.stripped\",\"go_version\":\"go$release.*\"goroutines\":2001,\"paused_ns\":[0-9]+\\}\$"
	has "$name: figures as JSON" "$(tail -n 1 "$work/json")" '^\{"part":"figures","goroutines":2001,"wait_for_locks":0,"lock_wait_ns":0,"leaked":0,"deadlocks":0,"descriptors":[0-9]+,'
	equal "$name: no finding as JSON" 2 "$(wc -l <"$work/json")"
	"$GOHEAP" ps >"$work/ps" 2>"$work/told"
	has "$name: goheap ps" "$(cat "$work/ps")" "^ *$pid  $user +go${release}[.0-9]* +[0-9.]+ MB +2,001  [0-9]+ (s|min) +- +$directory/troubles\\.stripped, example\\.org/goheap/samples( \\(devel\\))?\$"
	"$GOHEAP" ps --json >"$work/ps" 2>"$work/told"
	has "$name: goheap ps, as JSON" "$(cat "$work/ps")" "^\\{\"pid\":$pid,\"user\":\"$user\",\"program\":\"$directory/troubles.stripped\",.*\"goroutines\":2001,"
	lacks "$name: no shell is a Go process" "$(cat "$work/ps")" "^\\{\"pid\":$$,"
	cp "$directory/troubles.stripped" "$work/core"
	asked "$work/core"
	has "$name: a program" "$(cat "$work/answer")" "^$work/core is a Go program: go$release"
	has "$name: that nobody runs" "$(cat "$work/answer")" 'none is running$'
	asked "$directory/troubles.stripped"
	has "$name: who runs a program" "$(cat "$work/answer")" "^ +goheap $pid   started $started:[0-9]{2} by $user\$"
	(cd "$work" && "$GOHEAP" core >"$work/answer" 2>"$work/told")
	has "$name: a file that is called as a command" "$(cat "$work/answer")" '^core is a Go program: '
}

# check_dump: of the process's dump, with its program and without.
check_dump() {
	run_until_ready "$directory/troubles.stripped" leaks
	"$GOHEAP" dump -f "$pid" -o "$work/heapdump" 2>"$work/told"
	asked "$work/heapdump" -e "$directory/troubles.stripped"
	has "$name: a heap dump" "$(first)" '^1\. 50,000 main\.Item keep [0-9.]+ MB, [0-9]+ % of the Go heap; held by '
	end_sample
	head -c 200000 "$work/heapdump" >"$work/cut"
	asked "$work/cut"
	has "$name: a dump that is cut off before its roots" "$(cat "$work/answer")" '^Nothing unusual in what is there: it is cut off before its roots, and what leaks is not known\.$'
	rm "$work/core"
	asked "$work/heapdump"
	has "$name: without its program" "$(first)" '^1\. 50,000 objects of (48|40) bytes, pointers at 0 16 keep '
}

# check_crash KIND: the core file's first finding, by the traceback that the program printed.
check_crash() {
	local function
	rm -rf "$work/crashed"
	mkdir "$work/crashed"
	(cd "$work/crashed" && ulimit -c unlimited && GOTRACEBACK=crash timeout 60 "$directory/crash.stripped" "$1" </dev/null >"$work/output" 2>"$work/traceback") 2>"$work/why"
	core=("$work"/crashed/core*)
	if [ ! -e "${core[0]}" ]; then
		skip "$name, $1" "the kernel writes no core file here"
		return
	fi
	function=$(awk '/^goroutine .*\[running/ { on = 1 } on && /^main\./ { sub(/\([^()]*\)$/, ""); print; exit }' "$work/traceback")
	asked "${core[0]}"
	has "$name, $1: the first finding" "$(first)" "^1\\. It crashed: $(grep -m 1 '^panic: ' "$work/traceback" | sed 's/[][()*.]/\\&/g').*; in goroutine [0-9]+ \\(${function//[()*.]/.} at "
	has "$name, $1: what shows more" "$(first)" "^ +goheap crash ${core[0]} "
}

# check_deadlock: who is in it, by what the goroutines printed before they waited.
check_deadlock() {
	local id
	run_until_ready "$directory/deadlocks.stripped" line healthy
	sed '/^ready/d' "$work/output" | cut -d' ' -f1 | sort -u >"$work/expected"
	asked "$pid"
	has "$name: the first finding" "$(first)" '^1\. Deadlock: goroutine [0-9]+ \(main\.'
	while read -r id; do
		has "$name: goroutine $id is in it" "$(first)" "goroutine $id "
	done <"$work/expected"
	end_sample
	run_until_ready "$directory/deadlocks.stripped" healthy
	asked "$pid"
	has "Go $release: nobody is in a deadlock" "$(cat "$work/answer")" '^Nothing unusual\.$'
	end_sample
}

# check_stuck: a thread in the kernel, no descriptors, a deep stack.
check_stuck() {
	local thread count
	run_until_ready "$directory/stuck.stripped" kernel
	read -r _ _ thread _ <"$work/output"
	wait_until grep -q ') D ' "/proc/$pid/task/$thread/stat"
	asked "$pid"
	has "$name: a thread in the kernel" "$(first)" "^1\\. Thread $thread is in the kernel, where no signal reaches it, and stays there"
	end_sample
	run_until_ready "$directory/stuck.stripped" pipe
	count=$(find "/proc/$pid/fd" -type l | wc -l)
	prlimit --pid "$pid" "--nofile=$count"
	asked "$pid"
	has "$name: no descriptor is left" "$(first)" "^1\\. $count file descriptors are open, and the process may have $count: "
	kill -STOP "$pid"
	wait_until grep -q ') T ' "/proc/$pid/stat"
	asked "$pid"
	has "$name: it is stopped" "$(first)" "^1\\. A signal has stopped the process: it goes on after kill -CONT $pid\$"
	kill -CONT "$pid"
	end_sample
}

# typed COMMAND...: what GDB prints where these are typed, in $work/typed; what it prints of goheap's, but for the program, in
# $work/lines.
typed() {
	at_terminal "$@"
	sed -nE '/^goheap: go[^ ]* program/d; s/^(\(gdb\) )?(goheap: .*)/\2/p' "$work/typed" >"$work/lines"
}

# check_gdb: the first lines at a terminal, once for each process, core file and dump; none where nobody asks.
check_gdb() {
	local gdb_options=() nothing='^goheap: nothing unusual: memory [0-9.]+ MB, Go heap [0-9.]+ [kM]B, [0-9]+ threads?, 2,001 goroutines$'
	needs "$name, in GDB" script || return
	run_until_ready "$directory/troubles.stripped" workers
	typed "attach $pid" "info threads" "backtrace 1"
	has "$name, in GDB: nothing unusual" "$(cat "$work/lines")" "$nothing"
	equal "$name, in GDB: once" 1 "$(wc -l <"$work/lines")"
	lacks "$name, in GDB: -batch" "$(run_gdb -ex "jit-reader-load $GOHEAP_SO" -p "$pid")" 'nothing unusual'
	gdb_options=(-p "$pid")
	typed "info threads"
	has "$name, in GDB: -p" "$(cat "$work/lines")" "$nothing"
	gdb_options=(-iex "set \$goheap_first_answer = 0")
	typed "attach $pid" "backtrace 1"
	equal "$name, in GDB: turned off" "" "$(cat "$work/lines")"
	lacks "$name, in GDB: the process goes on" "$(ps -o stat= -p "$pid")" '^[tT]'
	end_sample
	gdb_options=()
	typed "file $directory/troubles.stripped" "start workers" "backtrace 1"
	has "$name, in GDB: a program that it starts" "$(cat "$work/typed")" '^#0  main\.main \(\) at '
	equal "$name, in GDB: of which nothing is said" "" "$(cat "$work/lines")"
	run_until_ready "$directory/troubles.stripped" crowd
	typed "attach $pid" "backtrace 1"
	has "$name, in GDB: a lock" "$(head -n 1 "$work/lines")" \
		"^goheap: 10,000 goroutines wait to lock sync\\.Mutex in main\\.handle $at:$(line_of 'mutex.Lock() // they wait').* \\(goheap hang\\)\$"
	end_sample
	run_until_ready "$directory/troubles.stripped" off
	typed "attach $pid" "goheap diagnose"
	has "$name, in GDB: the collector" "$(head -n 1 "$work/lines")" '^goheap: The collector has never run, and the heap is 10[0-9] MB: .* \(goheap memory\)$'
	has "$name, in GDB: a large heap" "$(cat "$work/lines")" '^goheap: what holds the heap was not looked at: goheap diagnose$'
	equal "$name, in GDB: three lines at most" 2 "$(wc -l <"$work/lines")"
	has "$name, in GDB: goheap diagnose" "$(cat "$work/typed")" '^1\. The collector has never run, '
	lacks "$name, in GDB: that it debugs the process is no finding" "$(cat "$work/typed")" 'debugger has stopped'
	end_sample
	run_until_ready "$directory/troubles.stripped" leaks
	"$GOHEAP" dump -f "$pid" -o "$work/heapdump" 2>"$work/told"
	end_sample
	typed "file $directory/troubles.stripped" "goheap load $work/heapdump"
	has "$name, in GDB: a heap dump" "$(cat "$work/lines")" '^goheap: 50,000 main\.Item keep [0-9.]+ MB, .* \(goheap suspects\)$'
}

# check_gdb_core KIND: a core file: its crash, and once. The core is check_crash's.
check_gdb_core() {
	local gdb_options=("$directory/crash.stripped" "${core[0]}")
	[ -e "${core[0]}" ] || return
	typed "info threads" "backtrace 1"
	equal "$name, in GDB: the core file of a crash" 1 "$(grep -c '^goheap: goroutine [0-9]* crashed; goheap crash prints its stack$' "$work/lines")"
	lacks "$name, in GDB: which is nothing usual" "$(cat "$work/lines")" 'It crashed|nothing unusual'
}

for release in ${RELEASES:-1.19 1.27}; do
	name="Go $release"
	goroot=$("$tests/toolchain" "$release") || continue
	CGO_ENABLED=1 sample "$name" "$release" troubles || continue
	at="at $tests/samples/troubles/main\\.go"
	silent workers
	trouble crowd "10,000 goroutines wait to lock sync\\.Mutex in main\\.handle $at:$(line_of 'mutex.Lock() // they wait').*; held by goroutine [0-9]+ \\(main\\.hold $at:[0-9]+\\), which waits for sleep" hang
	trouble leaks "50,000 main\\.Item keep [0-9.]+ MB, [0-9]+ % of the Go heap; held by global 0x[0-9a-f]+ of main, used in remember.*" suspects
	if is_newest "$release"; then
		silent spread
		silent server
		check_sessions
		trouble forgets "500 goroutines can never go on: each waits to receive from chan int.* in main\\.answer $at:$(line_of '<-reply').*; only they keep [0-9.]+ kB" "goroutines --leaked --group"
		trouble produces "2,000 goroutines pile up: each waits to send on chan int.* in main\\.produce $at:$(line_of 'jobs <- 1').*; nobody waits to receive from it.*" "goroutines --group"
		trouble malloc "1[0-9]{2} MB of 1[0-9]{2} MB are malloc's: .*" memory
		trouble threads "2,0[0-9]{2} threads: 2,000 goroutines in main\\.block $at:$(line_of 'syscall.Read(end'), each is in a system call, syscall\\.read" "goroutines --group"
		trouble off "The collector has never run, and the heap is 10[0-9] MB: it is off \\(GOGC=off\\).*" memory
		trouble limit "The memory limit is reached: [0-9.]+ MB of 50\\.3 MB \\(GOMEMLIMIT\\), .*" memory
		check_dump
		check_gdb
		sample "$name" "$release" crash && check_crash index && check_gdb_core && check_crash custom
		sample "$name" "$release" requests && check_requests
		name="Go $release, deadlock"
		sample "$name" "$release" deadlocks && check_deadlock
		name="Go $release, stuck"
		sample "$name" "$release" stuck && check_stuck
	fi
done

# check_servers: each server is under load while it is asked about.
check_servers() {
	local server loaders=() pids=()
	for server in prometheus etcd syncthing; do
		[ -n "${!server-}" ] || continue
		"start_$server"
		pids+=("$server:$!")
	done
	for server in prometheus etcd syncthing; do
		[ -n "${!server-}" ] || continue
		while :; do "load_$server" && sleep 0.1; done >"$work/loaded" 2>&1 &
		loaders+=($!)
	done
	sleep 4
	for server in "${pids[@]}"; do
		asked "${server#*:}"
		has "${server%:*}: nothing unusual" "$(cat "$work/answer")" '^Nothing unusual\.$'
		lacks "${server%:*}: no accusation" "$(cat "$work/answer")" '^1\.'
	done
	for server in "${loaders[@]}" "${pids[@]#*:}"; do
		end "$server"
	done
}
[ -z "${GOHEAP_SERVERS-}" ] || check_servers
finish
