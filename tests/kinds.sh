#!/usr/bin/env bash
# What commands are asked about: core files without their program, programs of another build, each pair of kinds of input, and
# the commands that answers and the manuals' tasks name, run as they are printed.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/dap-lib.sh"
. "$(dirname "$0")/tasks-lib.sh"

release=${RELEASES:-1.27} release=${release##* }
go=$("$tests/toolchain" "$release") || {
	skip "Go $release" "no toolchain"
	finish
}
export GOCACHE=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}/gocache GOFLAGS='' GOPROXY=off GO111MODULE=off \
	GOTOOLCHAIN=local

# program_text [LINE]: a program that keeps sessions, has a deadlock, and crashes at the end of a line on its input. LINE is its first.
program_text() {
	cat <<-END
		$*
		package main

		import (
			"bufio"
			"fmt"
			"os"
			"sync"
		)

		type session struct {
			name string
			data [64]byte
		}

		var (
			kept []*session
			a, b sync.Mutex
		)

		func lock(first, second *sync.Mutex, ready *sync.WaitGroup) {
			first.Lock()
			defer first.Unlock()
			ready.Done()
			ready.Wait()
			second.Lock()
			defer second.Unlock()
		}

		func main() {
			for i := 0; i < 3000; i++ {
				kept = append(kept, &session{name: fmt.Sprint(i)})
			}
			var ready sync.WaitGroup
			ready.Add(2)
			go lock(&a, &b, &ready)
			go lock(&b, &a, &ready)
			ready.Wait()
			fmt.Println("ready")
			bufio.NewReader(os.Stdin).ReadString('\n')
			var none map[string]int
			none["x"] = len(kept)
		}
	END
}

# build NAME FLAGS FIRST [MORE]: $work/NAME, of the text that begins with the line FIRST and has MORE behind it.
build() {
	mkdir "$work/src.$1"
	{ program_text "$3"; echo "${4-}"; } >"$work/src.$1/main.go"
	(cd "$work/src.$1" && "$go/bin/go" build -trimpath -ldflags="$2" -o "$work/$1" main.go) 2>"$work/why" ||
		fail "$1: can be built" "$(cat "$work/why")"
}

# crash PROGRAM [FILTER]: its core file, the kernel's, is $work/core. False if the kernel writes none.
crash() {
	rm -rf "$work/crashed" "$work/core"
	mkdir "$work/crashed"
	(
		cd "$work/crashed" && ulimit -c unlimited
		echo "${2-0x33}" >/proc/self/coredump_filter
		GOTRACEBACK=crash exec "$1" <<<"" >"$work/output" 2>"$work/traceback"
	)
	mv "$work"/crashed/core* "$work/core" 2>/dev/null
}

# id PROGRAM: its build id, by readelf.
id() {
	readelf -n "$1" 2>/dev/null | sed -n 's/^ *Build ID: //p'
}

# refused NAME PATTERN COMMAND...: goheap says in one line, and prints nothing, why it does not answer.
refused() {
	local status
	"$GOHEAP" "${@:3}" >"$work/out" 2>"$work/errors"
	status=$?
	equal "$1: its status" 1 $status
	equal "$1: nothing is printed" "" "$(cat "$work/out")"
	equal "$1: in one line" 1 "$(wc -l <"$work/errors")"
	has "$1: why" "$(cat "$work/errors")" "$2"
}

# answered NAME PATTERN COMMAND...: goheap prints a line like PATTERN.
answered() {
	"$GOHEAP" "${@:3}" >"$work/out" 2>"$work/errors"
	equal "$1: its status" 0 $?
	has "$1: the answer" "$(cat "$work/out" "$work/errors")" "$2"
}

# found_elsewhere: the program of that core file, which is not where it was, is found by its build id: beside the core file
# under any name, run by a process from another place, and at a debuginfod server.
found_elsewhere() {
	local pid build
	cp "$work/away/right" "$work/renamed"
	answered "a program beside its core file" "^goheap: $work/core: its program is $work/renamed, by its build id\$" crash "$work/core"
	rm "$work/renamed"
	run_until_ready "$work/away/right" wait
	answered "a program that still runs" "^goheap: $work/core: its program is /proc/$pid/exe, by its build id\$" crash "$work/core"
	end "$pid"
	exec 7>&-
	if ! ldconfig -p | grep -q 'libdebuginfod\.so\.1 '; then
		skip "a program that debuginfod has" "no libdebuginfod"
		return
	fi
	build=$(id "$work/away/right")
	mkdir -p "$work/server/buildid/$build"
	cp "$work/away/right" "$work/server/buildid/$build/executable"
	DEBUGINFOD_CACHE_PATH=$work/cached DEBUGINFOD_URLS=file://$work/server/ answered "a program that debuginfod has" \
		"^goheap: $work/core: its program is $work/cached/$build/executable, by its build id\$" crash "$work/core"
}

# check_found: a core file as the kernel writes it, whose program is where it was, or is another by now.
check_found() {
	local found="^goheap: $work/core: its program is $work/app, by its build id\$"
	answered "crash of a core file alone" '^panic: assignment to entry in nil map$' crash "$work/core"
	has "crash of a core file alone: it says which program" "$(cat "$work/errors")" "$found"
	for command in hang memory suspects goroutines roots; do
		answered "$command of a core file alone" "$found" "$command" "$work/core"
	done
	answered "hang of a core file that crashed" '^It crashed: panic: assignment to entry in nil map: see goheap crash ' hang "$work/core"
	answered "crash as JSON" '^\{"part":"crash","text":"panic: assignment to entry in nil map\\n.*","goroutine":1,"in_c":false\}$' crash --json "$work/core"
	has "crash as JSON: its goroutine" "$(tail -n 1 "$work/out")" '^\{"id":1,.*"main\.main"'
	answered "info of a core file: the build" "^gnu build id: +$(id "$work/app")\$" info "$work/core"
	mkdir "$work/alone"
	"$GOHEAP" dump "$work/core" -o "$work/alone/dump" 2>"$work/why" || fail "a dump of the core file" "$(cat "$work/why")"
	answered "suspects of a dump without its program" '^Its types and functions are in its program, which is not known: -e PROGRAM$' suspects "$work/alone/dump"
	answered "sql of a core file alone" '^3000$' sql --csv "$work/core" "SELECT count(*) FROM objects WHERE type = 'main.session'"
	mkdir "$work/away"
	mv "$work/app" "$work/away/right"
	cp "$work/again" "$work/app"
	refused "crash of a core file whose program was replaced" \
		"its program was $work/app, build id $(id "$work/away/right"); that file has been replaced since by build id $(id "$work/again"): name" \
		crash "$work/core"
	refused "crash with another build" "expected the program of $work/core, build id $(id "$work/away/right"), which is $work/app, found .*, build id $(id "$work/again")\$" \
		crash -e "$work/again" "$work/core"
	answered "crash with the right build" '^panic: assignment to entry in nil map$' crash -e "$work/away/right" "$work/core"
	rm "$work/app"
	refused "crash of a core file whose program is gone" "is without its program $work/app, build id $(id "$work/away/right"), which is not there any more: name it, -e PROGRAM \\(looked for beside the core file, among running programs and in /usr/lib/debug/.build-id\\)\$" crash "$work/core"
	found_elsewhere
	mv "$work/away/right" "$work/app"
}

# check_linker PROGRAM OTHER: of a process that runs the dynamic linker, which was told to load PROGRAM.
check_linker() {
	run_until_ready "$(readelf -l "$1" | sed -n 's/.*program interpreter: \(.*\)]/\1/p')" "$1"
	answered "a process of the dynamic linker's" '^goroutine [0-9]+ .* waits to lock ' hang -p "$pid"
	answered "a process of the dynamic linker's, with the program" '^goroutine [0-9]+ .* waits to lock ' hang -e "$1" -p "$pid"
	refused "a process of the dynamic linker's, with another program" "found another" hang -e "$2" -p "$pid"
	end "$pid"
	exec 7>&-
}

# check_live PROGRAM OTHER HOW: of a process that runs PROGRAM, and asked with OTHER.
check_live() {
	run_until_ready "$1"
	refused "a process, with another build, by $3" "expected the program of process $pid, .*$1, found another.*, $4" hang -e "$2" -p "$pid"
	answered "a process, with its own build, by $3" '^goroutine [0-9]+ .* waits to lock ' hang -e "$1" -p "$pid"
	end "$pid"
	exec 7>&-
}

# arguments COMMAND: what it takes behind the files.
arguments() {
	case $1 in
	frame) echo 1 ;;
	path | objects | referrers | reachable) echo "$object" ;;
	print) echo int "$object" ;;
	instances) echo main.session ;;
	sql) echo 'SELECT count(*) FROM objects' ;;
	core | pprof | hprof | report | dump | debug | unstrip | export) echo -o "$work/made" ;;
	esac
}

# settled NAME STATUS: there is an answer, or one line says why not; of wrong use, two.
settled() {
	if [[ $2 = 0 && $1 = @(defers|panics):* ]]; then
		ok "$1" # there may be none
	elif [ "$2" = 0 ] && { [ -s "$work/out" ] || [ -e "$work/made" ]; }; then
		ok "$1"
	elif [ "$2" = 1 ] && [ "$(grep -c '^goheap: ' "$work/errors")" -ge 1 ] && ! [ -s "$work/out" ]; then
		ok "$1"
	elif [ "$2" = 2 ] && [ -s "$work/errors" ]; then
		ok "$1"
	else
		fail "$1" "status $2: $(head -c 300 "$work/out" "$work/errors")"
	fi
}

# check_kinds: each command on each kind, and on each pair of kinds where it compares.
check_kinds() {
	local kinds=("-p $pid" "$work/core" "$work/dump" "$work/app" "$work/other") names=(process core dump program other) commands command i j
	commands=$(listed_commands | grep -vx web)
	for command in $commands; do
		for i in "${!kinds[@]}"; do
			rm -rf "$work/made"
			# shellcheck disable=SC2046,SC2086 # -p and its number; several arguments
			if [ "$command" = sql ]; then
				"$GOHEAP" sql ${kinds[i]} "$(arguments sql)" </dev/null >"$work/out" 2>"$work/errors"
			else
				timeout 60 "$GOHEAP" "$command" ${kinds[i]} $(arguments "$command") <<<"histogram -n 1" >"$work/out" 2>"$work/errors"
			fi
			settled "$command: ${names[i]}" $?
		done
	done
	for command in suspects diff; do
		for i in "${!kinds[@]}"; do
			for j in "${!kinds[@]}"; do
				# shellcheck disable=SC2086
				"$GOHEAP" "$command" ${kinds[i]} ${kinds[j]} </dev/null >"$work/out" 2>"$work/errors"
				settled "$command: ${names[i]}, ${names[j]}" $?
			done
		done
	done
	# With their program, which the core file tells.
	for command in suspects diff; do
		answered "$command: a process and an older core file, without their program" '( in all$|main\.session|^Nothing to tell)' \
			"$command" -p "$pid" "$work/core"
		answered "$command: a core file and a dump, without their program" '( in all$|main\.session|^Nothing to tell)' \
			"$command" "$work/dump" "$work/core"
	done
}

# check_hints NAME ARGUMENT...: what the answers about the arguments name is run as it is printed.
check_hints() {
	local command hint
	for command in suspects hang memory crash; do
		"$GOHEAP" "$command" "${@:2}" 2>&1
	done | sed -nE 's/.*see (goheap [^;]*)/\1/p' | sed -E 's/ \(.*//' | sort -u >"$work/hints"
	[ -s "$work/hints" ] || fail "$1: there are hints"
	while IFS= read -r hint; do
		equal "$1: $hint: its status" 0 "$(PATH=$(dirname "$GOHEAP"):$PATH bash -c "$hint" </dev/null >"$work/out" 2>"$work/errors"; echo $?)"
		has "$1: $hint: its answer" "$(head -c 200 "$work/out")" .
	done <"$work/hints"
}

# in_gdb PROGRAM COMMAND...: what GDB prints.
in_gdb() {
	printf '%s\n' "${@:2}" | gdb_lines ${1:+"$1"} -ex "jit-reader-load $GOHEAP_SO"
}

# check_hints_in_gdb NAME COMMAND: what the answers after COMMAND name is run in GDB as it is printed.
check_hints_in_gdb() {
	local hints hint commands=()
	in_gdb "$work/app" "$2" "goheap suspects --bytes" "goheap hang" "goheap memory --bytes" "goheap crash" "goheap instances --bytes none" "goheap print none" |
		sed -nE 's/.*(see|;|\() ?(goheap [^;()]*)/\2\n/; s/^(goheap [^\n]*)\n.*/\1/p' | sed -E 's/ +((shows|tells|prints) .*)?$//' |
		sort -u >"$work/hints"
	mapfile -t hints <"$work/hints"
	((${#hints[@]} > 2)) || fail "$1: there are hints" "$(cat "$work/hints")"
	for hint in "${hints[@]}"; do
		commands+=("echo @$hint\\n" "$hint")
	done
	in_gdb "$work/app" "$2" "${commands[@]}" >"$work/session"
	for hint in "${hints[@]}"; do
		lacks "$1: $hint" "$(sed -n "/^@$hint\$/,/^@/p" "$work/session" | sed '1d; /^@/d' | grep . || echo nothing)" \
			'^(nothing|goheap: |[Uu]sage|No |A heap dump|Undefined|There is no|.*boot.gdb)'
	done
}

# check_gdb: what GDB says instead of an answer leads to one.
check_gdb() {
	local session
	check_hints_in_gdb "GDB, a process" "attach $pid"
	check_hints_in_gdb "GDB, a goroutine's frame" "attach $pid"$'\n'"goheap goroutine 1"
	check_hints_in_gdb "GDB, a core file" "core-file $work/core"
	check_hints_in_gdb "GDB, a dump" "goheap load $work/dump"
	session=$(in_gdb "" "goheap load $work/dump" "file $work/app" "goheap load $work/dump" "bt" "goheap crash" "core-file $work/core" "goheap crash")
	has "GDB, a dump without its program: it is to be named" "$session" 'name it with the file command and load again\.$'
	has "GDB, a dump whose program was named and that was loaded again" "$session" '^#[0-9]+ .* in main\.main .* at \.?/?main\.go:[0-9]+$'
	has "GDB, a dump: a crash is asked of a core file" "$session" ': core-file CORE$'
	has "GDB, a core file after a dump: the crash" "$session" '^goroutine 1 \[running'
	session=$(in_gdb "$work/app" "goheap load $work/dump" "goheap memory --bytes" "goheap goroutine 1" "info threads" "goheap break main.main" "core-file" \
		"goheap break main.main" "attach $pid" "goheap memory --bytes")
	has "GDB, a dump: memory is asked of a process" "$session" ': attach PID, or core-file CORE$'
	has "GDB, a dump: its goroutines" "$session" '^\* 1 .* LWP 1'
	has "GDB, a dump: breakpoints" "$session" 'close it with core-file, then break$'
	has "GDB, a dump that was closed: breakpoints" "$session" '^Breakpoint 1 at 0x.* line [0-9]+\.$'
	has "GDB, a process after a dump: memory" "$session" '100\.0% .* in all$'
	cp "$work/app" "$work/moved"
	mv "$work/app" "$work/gone"
	session=$(in_gdb "" "core-file $work/core" "goheap crash" "file $work/moved" "goheap crash")
	mv "$work/gone" "$work/app"
	has "GDB, a core file without its program: it is to be named" "$session" "name $work/app with the file command\$"
	has "GDB, a core file whose program was named: the crash" "$session" '^goroutine 1 \[running'
}

session_home
gdb_options=()
check_help
build app '-s -w' '// One.' 'var wide [1]*int; func init() { wide[0] = new(int) }'
build again '-s -w' $'// One.\n// Two.'
build plain '-s -w -buildid= -B none' '// One.'
build longer '-s -w -buildid= -B none' '// One.' 'func more() { println(1) }; func init() { more() }'
echo text >"$work/other"
if crash "$work/app" && [ -s "$work/core" ]; then
	check_found
	"$GOHEAP" dump -f "$work/core" -o "$work/dump" 2>"$work/why"
	object=$("$GOHEAP" roots "$work/dump" 2>"$work/why" | cut -f 3 | head -n 1)
	run_until_ready "$work/app"
	check_kinds
	mkdir "$work/a dump"
	cp "$work/dump" "$work/a dump/dump"
	check_hints "a process" -p "$pid"
	check_hints "a core file" "$work/core"
	check_hints "a dump" "$work/dump"
	check_hints "a dump whose name has a space" "$work/a dump/dump"
	if needs "hints in GDB" gdb; then
		check_gdb
	fi
	end "$pid"
	exec 7>&-
	build served '-s -w' '// One.' "type Server struct { n int }
		//go:noinline
		func (s *Server) handle(n int) { s.n += n; fmt.Fprintln(os.Stderr, s) }
		func init() { new(Server).handle(1) }"
	check_tasks
	crash "$work/app" 0x37 && check_hints "a core file with its program" "$work/core"
	build wider '-s -w' '// One.' 'var wide [1000]*int; func init() { wide[0] = new(int) }'
	refused "a dump, with a build that has more variables" 'wider: expected the program that wrote the dump, found one whose variables are elsewhere$' \
		suspects -e "$work/wider" "$work/dump"
	refused "names of another build" 'longer: expected .*functions, found another build' suspects -e "$work/app" --names "$work/longer" "$work/dump"
else
	skip "core files" "the kernel writes none here: $(cat /proc/sys/kernel/core_pattern)"
fi
check_live "$work/app" "$work/again" "build ids" "build id $(id "$work/again")"
check_live "$work/plain" "$work/longer" "tables" 'by its table of functions$'
if needs "the dynamic linker" cc; then
	build linked '-s -w -linkmode external' '// One.'
	check_linker "$work/linked" "$work/again"
fi
finish
