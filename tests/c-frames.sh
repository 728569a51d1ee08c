#!/usr/bin/env bash
# The C functions on the stacks of goroutines that are in C, or in Go that C has called: of a running process and of its core
# file, the program stripped. They are compared with GDB's backtrace of the same thread, which has the debug information of the
# program, and of the C library where that is installed; and, where C has called Go, with what the C compiler's own unwinder
# printed in the program.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" gdb gcore || finish
needs_amd64 "everything" || finish
if nm -D "$GOHEAP" | grep -q ' __asan_init'; then
	skip "everything" "libdw cannot be loaded beside the sanitizers"
	finish
fi

# theirs FILE: of what GDB tells of all frames in FILE, a line for each thread that is in C of Go's: its functions up to the one
# that Go's runtime called, callees first. Those that a tail call has left, which GDB concludes, have no frame.
theirs() {
	awk '
		/^Thread / { stack = ""; done = 0 }
		/^ rip = .* in / {
			name = $5
			getline
			if (/^ tail call frame/)
				next
			if (name == "runtime.asmcgocall" && !done)
				print stack
			if (name ~ /^runtime\./)
				done = 1
			stack = stack " " name
		}' "$1" | sort
}

# ours FILE: the same of what goheap prints, of goroutines whose first function is in C.
ours() {
	awk '
		/^goroutine / { stack = ""; done = 0 }
		/^[^\t]/ && !/^(goroutine|created) / {
			if (!/ in [^ ]+$/) {
				if (!done && stack != "")
					print stack
				done = 1
			}
			sub(/ in [^ ]+$/, "")
			stack = stack " " $0
		}' "$1" | sort
}

# goroutine FUNCTION FILE: the lines of the goroutine that has the function.
goroutine() {
	awk -v function_="$1" -v RS= 'index($0, "\n" function_ "(")' "$2"
}

# check_stacks NAME FILE: what goheap printed into FILE of the process.
check_stacks() {
	local found
	ours "$2" | grep -v ' in_lie' >"$work/ours"
	same "$1: C functions, as GDB has them" "$work/theirs" "$work/ours"
	equal "$1: each in a way of its own" 9 "$(sort -u "$work/ours" | wc -l)"
	found=$(goroutine main.descend "$2" | grep -v ^$'\t')
	equal "$1: from Go to C and back, twice" "1 2 2" \
		"$(for function in in_read further_down down; do grep -c "^$function in foreign" <<<"$found"; done | tr '\n' ' ' | sed 's/ $//')"
	# The calls of print_callers and upAgain are two; what is above is the same.
	found=$(goroutine main.descend "$2" | grep pc= | sed 's/.*pc=//' | tr '\n' ' ')
	equal "$1: the C functions between, as the C compiler's unwinder has them" "yes yes" \
		"$(for which in inner outer; do
			callers=$(sed -n "s/^$which \(.*\) 0x[0-9a-f]*$/\1/p" "$work/output" | head -n 1)
			[[ " $found" == *" $callers "* ]] && echo yes
		done | tr '\n' ' ' | sed 's/ $//')"
	equal "$1: call frame information that lies" "in_lie main._Cfunc_in_lie(...) main.inLie(...)" \
		"$(goroutine main.inLie "$2" | sed -n '/^in_lie in /,$ { /^created/d; s/ in .*//; s/()$/(...)/; /^[^\t]/p; }' | uniq | paste -sd ' ')"
	equal "$1: Go that C has called and that waits" "upAgain further_down down" \
		"$(goroutine main.waitInGo "$2" | sed -n 's/ in foreign.*//p' | head -n 3 | tr '\n' ' ' | sed 's/ $//')"
	equal "$1: Go that a thread of C's has called" "fromThread call_go" \
		"$(goroutine main.fromThread "$2" | sed -n 's/ in foreign.*//p' | tr '\n' ' ' | sed 's/ $//')"
}

# go_alone: what is of Go in goroutines on standard input.
go_alone() {
	awk '/^[^\t]/ { c = (/ in [^ ]+$/ || /^[^ ]+\+0x[0-9a-f]+$/) && !/^created / } NF > 0 && !c'
}

check() {
	local name="Go $1" twin
	sample "$name" "$1" foreign || return
	twin=$directory/foreign
	run_until_ready "$directory/foreign.stripped"
	"$GOHEAP" goroutines -p "$pid" -e "$twin" >"$work/live" 2>"$work/why"
	"$GOHEAP" goroutines --json -p "$pid" >"$work/json" 2>"$work/why"
	"$GOHEAP" hang "$pid" 2>"$work/why" | sed -nE 's/^in C: .*, asleep in read\(([0-9]+), ([^)]*)\).*/\1 \2/p' >"$work/reads"
	has "$name: what a thread in C reads" "$(cat "$work/reads")" '^[0-9]+ pipe:\[[0-9]+\]$'
	same "$name: it is what the kernel says that descriptor is of" "$work/reads" \
		<(while read -r descriptor _; do echo "$descriptor $(readlink "/proc/$pid/fd/$descriptor")"; done <"$work/reads")
	gdb -q -nx -batch -iex 'set auto-load off' -ex 'thread apply all frame apply all -q info frame' -ex "generate-core-file $work/core" -p "$pid" "$twin" >"$work/gdb" 2>"$work/why"
	end "$pid"
	theirs "$work/gdb" >"$work/theirs"
	check_stacks "$name, running" "$work/live"
	"$GOHEAP" goroutines "$work/core" -e "$twin" >"$work/core.text" 2>"$work/why"
	"$GOHEAP" goroutines "$work/core" -e "$twin.stripped" >"$work/stripped" 2>"$work/why"
	check_stacks "$name, core file" "$work/core.text"
	same "$name: Go's functions are those of Go alone, stripped or not" <(go_alone <"$work/core.text") <(go_alone <"$work/stripped")
	same "$name: the same addresses, stripped or not" <(grep -o 'pc=.*' "$work/core.text") <(grep -o 'pc=.*' "$work/stripped")
	has "$name: a function without a name" "$(cat "$work/stripped")" '^foreign\.stripped\+0x[0-9a-f]+$'
	equal "$name: as many in JSON" "$(grep -c 'pc=' "$work/stripped")" "$(grep -o '"language":"c"' "$work/json" | wc -l)"
	"$GOHEAP" dump -o "$work/dump" "$work/core" -e "$twin" 2>"$work/why"
	"$GOHEAP" goroutines -e "$twin" "$work/dump" >"$work/dump.text" 2>"$work/why"
	same "$name: in a dump that goheap made" <(ours "$work/live") <(ours "$work/dump.text")
	equal "$name: in SQL" "$(grep -c 'pc=' "$work/live")" \
		"$("$GOHEAP" sql -e "$twin" "$work/dump" "SELECT count(*) FROM frames WHERE language = 'c' AND binary IS NOT NULL" 2>"$work/why" | tail -n 1 | tr -d ' ')"
	mkdir -p "$work/broken"
	: >"$work/broken/libdw.so.1"
	LD_LIBRARY_PATH=$work/broken "$GOHEAP" goroutines "$work/core" -e "$twin" >"$work/dump.text" 2>"$work/why"
	equal "$name, without libdw: it is said" "goheap: functions in C are not shown: libdw.so.1, elfutils' library, cannot be loaded" "$(cat "$work/why")"
	same "$name, without libdw: the functions in Go" <(go_alone <"$work/core.text") <(go_alone <"$work/dump.text")
	rm -f "$work/core" "$work/dump"
}

# check_library: in a library without debug information, the addresses that GDB has.
check_library() {
	local name="Go $1, SQLite"
	sample "$name" "$1" sqlite || return
	run_until_ready "$directory/sqlite.stripped"
	"$GOHEAP" goroutines -p "$pid" >"$work/live" 2>"$work/why"
	gdb -q -nx -batch -iex 'set auto-load off' -ex 'thread apply all frame apply all -q info frame' -p "$pid" "$directory/sqlite" >"$work/gdb" 2>"$work/why"
	end "$pid"
	awk '
		/^ rip = / {
			name = $5
			pc = $3
			getline
			if (name == "runtime.asmcgocall")
				print stack
			if (!/^ tail call frame/ && pc != last)
				stack = stack " " pc
			last = pc
		}
		/^Thread / { stack = last = "" }' "$work/gdb" >"$work/theirs"
	awk '/pc=/ { sub(/.*pc=/, ""); if ($0 != last) stack = stack " " $0; last = $0 } END { print stack }' "$work/live" >"$work/ours"
	same "$name: addresses of C code" "$work/theirs" "$work/ours"
	has "$name: a function that has a name" "$(cat "$work/live")" '^sqlite3_exec in libsqlite3\.so'
}

# functions_of FILE GOROUTINE...: the C functions of those goroutines that the program has itself, a line for each.
functions_of() {
	local goroutine
	for goroutine in "${@:2}"; do
		echo "$goroutine: $(goroutine "main.$goroutine" "$1" | sed -n 's/ in foreign$//p' |
			grep -E '^(in_|wait_|lock_|fromThread|call_go|upAgain|further_|down)' | paste -sd ' ')"
	done
}

# check_arm64_below NAME: GDB's backtraces go on from C to the Go that called it. QEMU does not tell GDB which bits of return addresses
# are signatures: the processor is one that makes none.
check_arm64_below() {
	local emulated=cortex-a72
	needs "$1: below C" gdb-multiarch || return
	# QEMU 7.2 loses the connection now and then.
	for _ in 1 2 3; do
		printf '%s\n' "break *0x$(nm "$directory/foreign" | awk '$3 == "lock_deeper" { print $1 }')" continue backtrace kill |
			on_arm64 "$directory/foreign.stripped"
		frames <"$work/output" | cut -f 1 >"$work/ours"
		[ ! -s "$work/ours" ] || break
	done
	printf '%s\n' runtime.asmcgocall runtime.cgocall main._Cfunc_in_mutex main.inMutex runtime.goexit >"$work/theirs"
	same "$1: GDB's backtrace below C" "$work/theirs" "$work/ours"
	for _ in 1 2 3; do
		printf '%s\n' 'break main.upAgain' continue backtrace kill | on_arm64 "$directory/foreign.stripped"
		frames <"$work/output" | cut -f 1 | grep -E '^(main\.|runtime\.goexit)' | grep -v gowrap >"$work/ours"
		[ ! -s "$work/ours" ] || break
	done
	sed -i 's/^main\.waitInGo$/main.descend/' "$work/ours"
	printf '%s\n' main.upAgain main._Cfunc_down main.descend runtime.goexit >"$work/theirs"
	same "$1: GDB's backtrace through a callback" "$work/theirs" "$work/ours"
}

# check_arm64: in a core file that QEMU wrote, of a program that has the C library in it. Go has each of its threads print its stack
# before that: one may be on its way into the signal's handler, or out of it.
check_arm64() {
	local name="Go $1, arm64" callers
	needs "$name" aarch64-linux-gnu-gcc qemu-aarch64-static || return
	GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc sample "$name" "$1" foreign -ldflags=-extldflags=-static || return
	cat >"$work/theirs" <<-'END'
		inRead: wait_forever in_read
		inMutex: lock_deeper in_mutex
		inRdlock: in_rdlock
		inLoop: in_loop
		waitInGo: upAgain further_down down
		fromThread: fromThread call_go
	END
	for _ in 1 2 3; do
		emulate aarch64 "$directory/foreign.stripped" || return
		"$GOHEAP" goroutines "$core" -e "$directory/foreign" >"$work/text" 2>"$work/why"
		functions_of "$work/text" inRead inMutex inRdlock inLoop waitInGo fromThread >"$work/ours"
		cmp -s "$work/theirs" "$work/ours" && break
	done
	same "$name: C functions" "$work/theirs" "$work/ours"
	callers=$(sed -n 's/^inner \(.*\) 0x[0-9a-f]*$/\1/p' "$work/output" | head -n 1)
	has "$name: the C functions between, as the C compiler's unwinder has them" \
		" $(goroutine main.descend "$work/text" | grep pc= | sed 's/.*pc=//' | tr '\n' ' ')" " ${callers:?} "
	check_arm64_below "$name"
}

# check_crash: C code that aborted, in the kernel's core file: its thread is in the signal handlers that Go has for that.
check_crash() {
	local name="Go $1, abort in C" cores
	CGO_ENABLED=1 sample "$name" "$1" crash || return
	mkdir -p "$work/crash"
	(
		cd "$work/crash" || exit
		ulimit -c unlimited
		GOTRACEBACK=crash "$directory/crash.stripped" cabort
	) >"$work/output" 2>&1
	cores=("$work"/crash/*core*)
	if [ ! -e "${cores[0]}" ]; then
		skip "$name" "the kernel writes its core files elsewhere"
		return
	fi
	"$GOHEAP" crash "${cores[0]}" -e "$directory/crash" >"$work/text" 2>"$work/why"
	rm -r "$work/crash"
	equal "$name: C functions" "__GI_raise __GI_abort abort_in_c" \
		"$(sed -n 's/ in [^ ]*$//p' "$work/text" | grep -E '^(__GI_raise|__GI_abort|abort_in_c)$' | paste -sd ' ')"
	has "$name: Go's functions" "$(cat "$work/text")" '^main\._Cfunc_abort_in_c\(\)'
}

# liar FUNCTION: the functions that are told of that goroutine, up to the Go function that called C, without C's own library.
liar() {
	goroutine "main.$1" "$work/live" | sed -nE "/^created /d; s/ in (liars|library\.so)(\.stripped)?\$//p; s/^(library\.so\+)0x[0-9a-f]+\$/\1/p; s/^(main\.[^(]*)\(.*/\1/p" | paste -sd ' '
}

# check_liars: C code whose call frame information leads nowhere, in circles and out of memory: what is before that is told, and Go's
# functions are. Of a library that has none, or was removed or replaced since, no more is told than is certain.
check_liars() {
	local name="Go $1, lies" what expected range flags
	sample "$name" "$1" liars || return
	cat >"$work/library.c" <<-'END'
		static __attribute__((noinline, noclone)) int deeper(int (*wait)(void)) { volatile int r = wait(); return r + 1; }
		int library_waits(int (*wait)(void)) { volatile int r = deeper(wait); return r + 1; }
	END
	cat >"$work/other.c" <<-'END'
		int decoy_one(int x) { return x * 3; }
		int decoy_two(int x) { return decoy_one(x) + 7; }
	END
	for what in whole bare removed replaced; do
		flags=()
		[ "$what" != bare ] || flags=(-fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer)
		"$CC" -shared -fPIC -O2 "${flags[@]}" -o "$work/library.so" "$work/library.c"
		run_until_ready "$directory/liars.stripped" "$work/library.so"
		case $what in
		removed) rm "$work/library.so" ;;
		replaced)
			"$CC" -shared -fPIC -O2 -o "$work/other.so" "$work/other.c"
			mv "$work/other.so" "$work/library.so"
			;;
		esac
		timeout 20 "$GOHEAP" goroutines -p "$pid" -e "$directory/liars" >"$work/live" 2>"$work/why"
		expected="wait_forever deeper"
		range=$(awk '$6 ~ /library\.so$/ && $3 ~ /^0+$/ { print $1 }' "/proc/$pid/maps")
		case $what in
		whole) expected+=" library_waits in_library" ;;
		# Who may not administer the system does not get at what was removed.
		removed | replaced) [ -r "/proc/$pid/map_files/$range" ] && expected+=" library_waits in_library" || expected="wait_forever library.so+" ;;
		esac
		equal "$name: a library, $what" "$expected main._Cfunc_in_library main.inLibrary" "$(liar inLibrary | sed -E 's/_cgo_[0-9a-f]*_Cfunc_in_library/in_library/')"
		end "$pid"
	done
	for what in endless overflow huge wild null; do
		equal "$name: $what" "wait_forever in_$what main._Cfunc_in_$what main.in${what^}" "$(liar "in${what^}")"
	done
	has "$name: climb" "$(liar inClimb)" '^wait_forever( in_climb)+ main\._Cfunc_in_climb main\.inClimb$'
}

for release in $(releases 1.19 1.24 1.27); do
	check "$release"
	is_newest "$release" || continue
	check_liars "$release"
	check_library "$release"
	check_crash "$release"
	check_arm64 "$release"
done
finish
