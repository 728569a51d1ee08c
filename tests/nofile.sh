#!/usr/bin/env bash
# Programs whose file GDB does not have: deleted since it was started, in another mount namespace, on the
# far side of gdbserver, or with nothing left but a core file. What GDB shows is compared with the same
# attach while the file is at hand, and with the traceback that the process ends with.
. "$(dirname "$0")/lib.sh"
session_home
children=
trap 'kill $children 2>/dev/null; rm -rf "$work"' EXIT

spin=$(grep -n 'spun = turn(spun)' "$tests/samples/sample/server.go" | cut -d : -f 1)

# goheap ARGUMENT...: GDB with the plugin, and the commands on standard input.
goheap() {
	gdb_lines -ex "jit-reader-load $GOHEAP_SO" "$@"
}

# start PROGRAM MODE: runs it until it is ready; its process id in $pid.
start() {
	GODEBUG=asyncpreemptoff=1 GOTRACEBACK=system GOGC=off "$1" "$2" >"$work/out" 2>"$work/dump" &
	pid=$!
	children="$children $pid"
	ready "$work/out"
}

# ready FILE: until the program that writes FILE is.
ready() {
	wait_until grep -qxs ready "$1"
	# The other threads go to sleep.
	sleep 0.3
}

# thread_of FUNCTION: of a `thread apply all backtrace`, the thread that is in FUNCTION, as rows of
# function, file and line.
thread_of() {
	awk -v RS= -v name=" $1 (" 'index($0, name)' | frames
}

# traceback: the stack of goroutine 1 as rows, from Go's own, inlined calls left out, and syscall.Syscall, where
# the goroutine's stack ends but not the thread's.
traceback() {
	awk '/^goroutine 1 / { on = 1; next } on && /^$/ { exit } on' | sed 'N;s/\n//' |
		sed -nE '/\(\.\.\.\)\t/d; /^syscall\.Syscall\(/d; s/^(.*)\([^()]*\)\t(.*):([0-9]+) .*/\1\t\2\t\3/p'
}

# in_order EXPECTED FOUND: the lines of EXPECTED that are not in FOUND after the one before.
in_order() {
	awk 'BEGIN { n = i = 0 } NR == FNR { line[n++] = $0; next } i < n && $0 == line[i] { i++ }
		END { while (i < n) print line[i++]; if (n == 0) print "no line at all" }' "$1" "$2"
}

# like NAME SESSION: main's stack in the session is that of the attach with the file at hand, and has what
# the process itself printed. One line says where the program is from.
like() {
	thread_of main.wait <"$2" >"$work/found"
	same "$1: main's stack as with the file at hand" "$work/at-hand" "$work/found"
	in_order "$work/traceback" "$work/found" >"$work/apart"
	same "$1: main's stack as in the process's traceback" /dev/null "$work/apart"
	has "$1: one line" "$(grep -c '^goheap: ' "$2")" '^1$'
	lacks "$1: no ?? in any thread" "$(sed -n '/^Thread /,$p' "$2")" '\?\?|[Ee]rror'
}

# test_waiting NAME STRIPPED: the stacks of a process.
test_waiting() {
	local core=$work/core all="thread apply all backtrace"
	rm -f "$work/session."* "$core"
	cp "$2" "$work/program"
	start "$work/program" wait
	goheap -p "$pid" <<<"$all" | thread_of main.wait >"$work/at-hand"
	rm "$work/program"

	goheap -p "$pid" <<<"$all" >"$work/session.deleted"
	goheap <<-END >"$work/session.attach"
		attach $pid
		$all
		gcore $core
	END
	goheap -p "$pid" <<-END | sed '/^goheap: .*deleted/d' >"$work/session.memory"
		goheap symbols memory
		$all
	END
	if needs "$1: gdbserver" gdbserver; then
		serve --attach "$pid"
		goheap <<-END >"$work/session.remote"
			target remote 127.0.0.1:$port
			$all
			disconnect
		END
		wait "$server"
		# As a target is that has no files.
		serve --attach "$pid"
		goheap <<-END >"$work/session.nofiles"
			set remote hostio-open-packet off
			target remote 127.0.0.1:$port
			$all
			detach
		END
		wait "$server"
	fi
	kill -QUIT "$pid"
	wait "$pid" 2>/dev/null
	traceback <"$work/dump" >"$work/traceback"

	like "$1: deleted, gdb -p" "$work/session.deleted"
	has "$1: deleted: why" "$(cat "$work/session.deleted")" \
		'^goheap: go1\.[0-9.]+ program \(its file is deleted\), [0-9]+ functions, [0-9]+ ms$'
	like "$1: deleted, attach" "$work/session.attach"
	like "$1: goheap symbols memory" "$work/session.memory"
	if [ -e "$work/session.remote" ]; then
		like "$1: deleted, gdbserver" "$work/session.remote"
		has "$1: gdbserver: from where" "$(cat "$work/session.remote")" '\(from the target\)'
		like "$1: gdbserver without files" "$work/session.nofiles"
		has "$1: gdbserver without files: from where" "$(cat "$work/session.nofiles")" \
			'\(from memory\)'
	fi
	goheap "--core=$core" <<<"$all" >"$work/session.core"
	like "$1: a core file alone" "$work/session.core"
	goheap <<-END >"$work/session.core"
		core-file $core
		$all
	END
	like "$1: a core file alone, core-file" "$work/session.core"
	test_damaged "$1" "$core"
}

# test_damaged NAME CORE: of core files cut short, nothing but symbols is lost.
test_damaged() {
	local size count=0
	for size in 64 4096 100000 1000000 $(($(stat -c %s "$2") - 4096)); do
		head -c "$size" "$2" >"$work/cut"
		goheap <<-END >"$work/session"
			core-file $work/cut
			print 42
		END
		grep -q '= 42$' "$work/session" && count=$((count + 1))
		lacks "$1: a core file cut to $size bytes" "$(cat "$work/session")" '^goheap: .*functions'
	done
	equal "$1: core files cut short: GDB goes on" 5 "$count"
}

# moving: what a user does with a process that runs.
moving() {
	cat <<-END
		break server.go:$spin
		continue
		break main.turn
		continue
		finish
		delete
		tbreak main.turn
		continue
		backtrace
	END
}

# stops SESSION: where it stopped.
stops() {
	sed -nE 's/.*(hit (Temporary )?[Bb]reakpoint [0-9]+, main\.[a-z]+) \(.*\) at (.*)$/\1 \3/p; s/^#[0-9]+ +(0x[0-9a-f]+ in )?(main\..*)/\2/p; s/^Run till exit.*/finish/p' "$1"
}

# test_moving NAME STRIPPED: breakpoints, in the process and when its program is run again.
test_moving() {
	cp "$2" "$work/program"
	start "$work/program" busy
	moving | goheap -p "$pid" >"$work/session"
	stops "$work/session" >"$work/expected"
	rm "$work/program"
	moving | goheap -p "$pid" >"$work/session"
	stops "$work/session" >"$work/found"
	same "$1: deleted: breakpoints and finish" "$work/expected" "$work/found"
	has "$1: deleted: a breakpoint by line" "$(cat "$work/found")" \
		"^hit Breakpoint 1, main\\.spin .*server\\.go:$spin\$"
	{
		echo "goheap symbols memory"
		moving
	} | goheap -p "$pid" >"$work/session"
	stops "$work/session" >"$work/found"
	same "$1: goheap symbols memory: breakpoints and finish" "$work/expected" "$work/found"
	# The shell tells of a process that is killed.
	{
		goheap -p "$pid" <<-END >"$work/session"
			break main.turn
			kill
			run busy >/dev/null
			backtrace 1
		END
		wait "$pid"
	} 2>/dev/null
	has "$1: deleted: the program runs again, and stops" "$(cat "$work/session")" \
		'^#0  main\.turn \(.*\) at .*/server\.go:'
}

# test_kernel_core NAME STRIPPED: the kernel leaves out what is in files, unless it is told not to.
test_kernel_core() {
	local filter core
	if ! grep -q '^core' /proc/sys/kernel/core_pattern; then
		skip "$1: a core file of the kernel's" "core_pattern is $(cat /proc/sys/kernel/core_pattern)"
		return
	fi
	for filter in 0x33 0x37; do
		rm -rf "$work/dumped"
		mkdir "$work/dumped"
		cp "$2" "$work/dumped/program"
		(
			cd "$work/dumped" && ulimit -c unlimited && echo "$filter" >/proc/self/coredump_filter &&
				export GOTRACEBACK=crash && exec ./program wait
		) >"$work/out" 2>"$work/dump" &
		pid=$!
		ready "$work/out"
		rm "$work/dumped/program"
		kill -QUIT "$pid"
		wait "$pid" 2>/dev/null
		core=$(find "$work/dumped" -type f | head -n 1)
		if [ -z "$core" ]; then
			skip "$1: a core file of the kernel's" "it wrote none"
			return
		fi
		goheap "--core=$core" <<<"thread apply all backtrace" >"$work/session"
		if [ "$filter" = 0x33 ]; then
			has "$1: a core file without the program: what to do" "$(cat "$work/session")" \
				'^goheap: .* name (\./|/.*/)program with the file command$'
		else
			traceback <"$work/dump" >"$work/traceback"
			thread_of main.wait <"$work/session" >"$work/found"
			in_order "$work/traceback" "$work/found" >"$work/apart"
			same "$1: a core file of the kernel's with the program" /dev/null "$work/apart"
		fi
	done
}

# test_namespace NAME STRIPPED: the file is where GDB does not see it.
test_namespace() {
	mkdir -p "$work/hidden"
	if ! unshare -m mount -t tmpfs none "$work/hidden" 2>"$work/why"; then
		skip "$1: a mount namespace" "$(tail -n 1 "$work/why")"
		return
	fi
	rm -f "$work/out"
	unshare -m sh -c "mount -t tmpfs none '$work/hidden' && cp '$2' '$work/hidden/program' &&
		GOTRACEBACK=system exec '$work/hidden/program' wait" >"$work/out" 2>"$work/dump" &
	pid=$!
	children="$children $pid"
	ready "$work/out"
	goheap -p "$pid" <<<"thread apply all backtrace" >"$work/session"
	kill -QUIT "$pid"
	wait "$pid" 2>/dev/null
	traceback <"$work/dump" >"$work/traceback"
	thread_of main.wait <"$work/session" >"$work/found"
	in_order "$work/traceback" "$work/found" >"$work/apart"
	same "$1: a mount namespace: main's stack" /dev/null "$work/apart"
	has "$1: a mount namespace: from where" "$(cat "$work/session")" '\(from the process\)'
}

# test_others NAME STRIPPED OTHER: one process after the other, and those that are none of goheap's.
test_others() {
	local first second output
	cp "$2" "$work/program"
	start "$work/program" wait
	first=$pid
	rm -f "$work/program" "$work/out"
	cp "$3" "$work/program"
	start "$work/program" wait
	second=$pid
	rm "$work/program"
	output=$(goheap <<-END
		attach $first
		thread apply all backtrace
		detach
		attach $second
		thread apply all backtrace
	END
	)
	kill "$first" "$second"
	wait "$first" "$second" 2>/dev/null
	has "$1: two processes, both found" "$(grep -c ' main\.main (' <<<"$output")" '^2$'
	has "$1: two processes, each told" "$(grep -c '^goheap: .*deleted' <<<"$output")" '^2$'

	cp "$(command -v sleep)" "$work/program"
	"$work/program" 100 &
	first=$!
	sleep 0.5
	rm "$work/program"
	output=$(goheap -p "$first" <<-END
		backtrace
		backtrace
	END
	)
	end "$first"
	lacks "$1: not Go: nothing is said" "$output" '^goheap: '
	output=$(goheap "$2" <<-END
		goheap symbols memory
		print 42
	END
	)
	has "goheap symbols memory: no process" "$output" 'no auxiliary information'
}

# test_sections NAME PROGRAM: one without section headers, which GDB does not take for its program, but as one with them:
# breakpoints before it runs, a process, and a core file.
test_sections() {
	local program=$work/sectionless output
	cp "$2" "$program"
	# e_shoff; e_shnum and e_shstrndx
	head -c 8 /dev/zero | dd of="$program" bs=1 seek=40 conv=notrunc status=none
	head -c 4 /dev/zero | dd of="$program" bs=1 seek=60 conv=notrunc status=none
	output=$(goheap "$program" <<-END
		break main.leaf
		run
		backtrace
		kill
		file $program
		info line main.leaf
	END
	)
	has "$1: no section headers: a breakpoint before it runs" "$output" ' hit Breakpoint 1, main\.leaf \('
	has "$1: no section headers: backtrace" "$output" '^#1 .* main\.\(\*Server\)\.handle \('
	equal "$1: no section headers: each time one line" 2 \
		"$(grep -cE '^goheap: go1\.[0-9.]+ program \(with section headers, which GDB needs\), [0-9]+ functions, [0-9]+ ms$' <<<"$output")"
	has "$1: no section headers: named again" "$output" '^Line [0-9]+ of ".*/main\.go" starts at address .* <main\.leaf\+[0-9]+>'
	lacks "$1: no section headers: nothing is said to be missing" "$output" 'No symbol|no debugging symbols'
	start "$program" wait
	goheap -p "$pid" <<-END >"$work/session"
		goheap goroutines
		thread apply all backtrace
		generate-core-file $work/sectionless.core
	END
	end "$pid"
	has "$1: no section headers: attached" "$(thread_of main.wait <"$work/session")" '^main\.main	'
	has "$1: no section headers: goroutines" "$(cat "$work/session")" '^goroutine 1 \['
	goheap "$program" "$work/sectionless.core" <<-END >"$work/session"
		thread apply all backtrace
	END
	has "$1: no section headers: a core file" "$(thread_of main.wait <"$work/session")" '^main\.main	'
}

# RELEASES: the Go releases to test with, if not those.
releases=$("$tests/toolchain" list)
for release in $(releases 1.15 1.19 "$(tail -n 1 <<<"$releases")"); do
	sample "Go $release" "$release" sample || continue
	program=$directory/sample.stripped
	test_waiting "Go $release" "$program"
	test_moving "Go $release" "$program"
	test_kernel_core "Go $release" "$program"
	is_newest "$release" || continue
	test_sections "Go $release" "$program"
	sample "Go $release PIE" "$release" sample -buildmode=pie || continue
	test_sections "Go $release PIE" "$directory/sample.stripped"
	test_waiting "Go $release PIE" "$directory/sample.stripped"
	test_moving "Go $release PIE" "$directory/sample.stripped"
	test_kernel_core "Go $release PIE" "$directory/sample.stripped"
	test_namespace "Go $release" "$directory/sample.stripped"
	test_others "Go $release" "$program" "$directory/sample.stripped"
done
finish
