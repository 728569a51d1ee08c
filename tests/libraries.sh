#!/usr/bin/env bash
# Stripped Go libraries in programs of other languages: breakpoints and stacks are as GDB alone has them in the same
# libraries before they were stripped.
. "$(dirname "$0")/lib.sh"
session_home
gdb_options=(-iex 'set breakpoint pending on' -iex 'set print frame-arguments none')
child='' children=''
trap 'kill $child $children 2>/dev/null; rm -rf "$work"' EXIT
line=$(grep -n '// a breakpoint' "$tests/samples/library/main.go" | cut -d: -f1)

# rows: backtraces on standard input as rows: function, file, line; of what is Go's. The line of an inlined call is left
# out: Go's DWARF has that of the function.
rows() {
	sed -nE -e '/ (runtime\.goexit|crosscall2) \(/,/ hit Breakpoint /d' -e 's/^#[1-9][0-9]* +([^ ]+) \(.*\) at (.*):[0-9]+$/\1\t\2/p' \
		-e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([^ ]+) \(.*\) at (.*):([0-9]+)$/\2\t\3\t\4/p' | sed 's/\t\.\//\t/'
}

# names: the functions of a backtrace on standard input, and then the registers.
names() {
	sed -nE -e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([^ ]+) .*/\2/p' -e '/^r[a-z0-9]+ /p'
}

# forget: goheap has seen no library yet.
forget() {
	rm -rf "$XDG_CACHE_HOME/goheap"
}

# like NAME [SESSION]: the stacks that the session shows are those of the twin's.
like() {
	rows <"${2-$work/session}" >"$work/found"
	same "$1: stacks as in the unstripped library" "$work/expected" "$work/found"
}

# said NAME SO: the session names the library in one line, and says no more.
said() {
	equal "$1: the library is named, once" "goheap: go$release library $2" \
		"$(sed -nE '/^goheap: .* is no Go program; /d; /^goheap: /{ s/^(goheap: go1\.[0-9]+)[0-9.]* /\1 /; s/, [0-9]+ functions, [0-9]+ ms$//; p; }' "$work/session")"
	lacks "$1: no complaint" "$(cat "$work/session")" '^(warning: (section|location)|Warning: the current|.*[Ee]rror)'
}

# The breakpoints, before the program runs, what is shown at each, and when it runs again.
stops=("break main.work" "break main.go:$line" run bt continue bt delete "break main.(*box).grow" run bt)

# test_linked SO: a program that names its library.
test_linked() {
	"$CC" -g -DLINKED -o "$work/linked" "$tests/oracle/library_host.c" -ldl "$1"
	forget
	goheap "$work/linked" "${stops[@]}" >"$work/session"
	like "$release: needed by a C program"
	said "$release: needed by a C program" "$1"
}

# What has GDB be as if it had no Python.
no_python="python _goheap_loads = lambda event: None"

# test_loaded SO: a program that loads it, in C and in Python. Without GDB's Python its symbols are there from the first
# stop on.
test_loaded() {
	local name="$release: loaded by a C program" python
	forget
	goheap "$work/host" "set args $1" "${stops[@]}" >"$work/session"
	like "$name"
	said "$name" "$1"
	name="$release: loaded, no Python"
	forget
	goheap "$work/host" "$no_python" "set args $1" "break Work" run "info symbol \$pc" "${stops[@]:0:2}" "delete 1" "info breakpoints" \
		continue bt continue bt delete "${stops[@]:7}" >"$work/session"
	like "$name"
	said "$name" "$1"
	has "$name: the stop in C is in C" "$(cat "$work/session")" "^Thread 1 .* hit Breakpoint 1, 0x[0-9a-f]+ in Work \(\) from $1"
	goheap "$work/host" "$no_python" "set args $1" "${stops[@]}" >"$work/session"
	like "$name, seen before"

	python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null) || {
		skip "$release: loaded by Python" "no python3"
		return
	}
	echo "import ctypes, sys; ctypes.CDLL(sys.argv[1]).Work(21)" >"$work/program.py"
	forget
	goheap "$python" "set args $work/program.py $1" "${stops[@]}" >"$work/session"
	like "$release: loaded by Python"
	test_boundary "$release: Python" "$python" "$work/program.py $1" ffi_call
}

# test_java SO: a program in Java that calls it.
test_java() {
	local name="$release: called by Java" home signals="handle SIGSEGV nostop noprint pass"
	home=$(readlink -f "$(command -v javac)")
	home=${home%/bin/javac}
	if [ ! -e "$home/include/jni.h" ]; then
		skip "$name" "no JDK"
		return
	fi
	javac -d "$work" "$tests/oracle/LibraryHost.java"
	"$CC" -shared -fPIC -I"$home/include" -I"$home/include/linux" -o "$work/jni.so" "$tests/oracle/library_jni.c" "$1"
	forget
	# The virtual machine reads memory that is not there.
	goheap "$home/bin/java" "$signals" "set args -cp $work LibraryHost $work/jni.so" "${stops[@]}" >"$work/session"
	like "$name"
	if needs_amd64 "$name: below Go's calls are those of C"; then
		has "$name: below Go's calls are those of C" "$(cat "$work/session")" '^#[0-9]+ .* in Java_LibraryHost_work \(\) from '
	fi
}

# test_late SO: a process that loads it after GDB has attached to it.
test_late() {
	local name="$release: loaded after attach"
	forget
	WAIT=1 run_until_ready "$work/host" "$1"
	goheap "" "attach $pid" "break main.work" "shell echo >$work/input" continue bt detach >"$work/session"
	exec 7>&-
	wait "$pid" 2>/dev/null
	mv "$work/expected" "$work/all"
	sed '/^runtime.cgocallback\t/q' "$work/all" >"$work/expected"
	like "$name"
	said "$name" "$1"
	mv "$work/all" "$work/expected"
}

# test_running SO: a process that has it, its core file, and over gdbserver.
test_running() {
	local name="$release: attach" here=("break main.(*box).grow" continue bt)
	sed -n '/^main\.(\*box)/,$p' "$work/expected" >"$work/last"
	mv "$work/last" "$work/expected"
	LOOP=1 "$work/host" "$1" >"$work/out" &
	child=$!
	while [ ! -s "$work/out" ]; do sleep 0.05; done
	forget
	goheap "" "attach $child" "${here[@]}" "gcore $work/core" detach >"$work/session"
	like "$name"
	said "$name" "$1"
	if needs "$release: gdbserver" gdbserver; then
		serve --attach "$child"
		forget
		goheap "$work/host" "target remote 127.0.0.1:$port" "${here[@]}" detach >"$work/session"
		like "$release: gdbserver"
		said "$release: gdbserver" "$1"
		wait "$server"
	fi
	end "$child"
	child=
	forget
	goheap "$work/host" "core-file $work/core" bt >"$work/session"
	like "$release: a core file"
	said "$release: a core file" "$1"
}

# test_python SO: an interpreter that has it, and its core file: the library is not what the program was linked with, and
# below Go's calls are the interpreter's.
test_python() {
	local name="$release: attached to Python" python
	python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null) || {
		skip "$name" "no python3"
		return
	}
	"$python" -c 'import ctypes, sys, time
library = ctypes.CDLL(sys.argv[1])
while True: print(library.Work(21), flush=True); time.sleep(0.1)' "$1" >"$work/out" &
	child=$!
	while [ ! -s "$work/out" ]; do sleep 0.05; done
	forget
	goheap "" "attach $child" "break main.(*box).grow" continue bt "gcore $work/core" detach >"$work/session"
	end "$child"
	child=
	like "$name"
	said "$name" "$1"
	below_is_python "$name"
	forget
	goheap "$python" "core-file $work/core" bt >"$work/session"
	like "$release: a core file of Python"
	said "$release: a core file of Python" "$1"
	below_is_python "$release: a core file of Python"
}

# below_is_python NAME: the session's stack goes on to the interpreter's.
below_is_python() {
	if needs_amd64 "$1: below Go's calls are Python's"; then
		has "$1: below Go's calls are Python's" "$(sed '1,/ crosscall2 /d' "$work/session")" '^#[0-9]+ .* (in )?_?Py[A-Za-z_]+ \('
	fi
}

# test_unnamed: a library without a build id.
test_unnamed() {
	forget
	goheap "$work/host" "set args $unnamed" "break Work" run "break main.(*box).grow" continue bt run continue bt \
		>"$work/session"
	equal "$release: no build id: stops" 2 "$(grep -c 'hit Breakpoint 2.*main.go:' "$work/session")"
}

# poke OFFSET HEX: overwrites bytes of the hostile library.
poke() {
	printf %s "$2" | sed 's/../\\x&/g' | xargs -0 printf %b | dd of="$work/hostile.so" bs=1 seek="$(($1))" conv=notrunc status=none
}

# section NAME FIELD: where it is in the library: 2 for its address, 3 for its place in the file.
section() {
	printf '0x%s' "$(readelf -SW "$so" | tr -d '[]' | awk -v name="$1" -v field="$2" '$2 == name { print $(field + 2) }')"
}

# survives NAME: the program names the hostile library, which GDB then loads: GDB goes on.
survives() {
	local name="$release: $1"
	forget
	timeout -k 5 20 "$GOHEAP" info "$work/hostile.so" >"$work/info" 2>&1
	[ $? -le 1 ] || fail "$name: goheap info" "$(tail -n 3 "$work/info")"
	patience=40 goheap "$work/hosted" "break main.(*box).grow" run bt "goheap goroutines" kill "output 42" "echo \\n" >"$work/session"
	has "$name: GDB goes on" "$(cat "$work/session")" '^42$'
	lacks "$name: nothing breaks" "$(cat "$work/session")" '[Ii]nternal error|exhausted|core dumped|Error in sourced|goheap: boot|Traceback'
	equal "$name: its text is escaped" "" "$(raw <"$work/session")"
	cp "$so" "$work/hostile.so"
}

# test_hostile: a library that lies.
test_hostile() {
	local tab note
	cp "$so" "$work/hostile.so"
	"$CC" -g -DLINKED -o "$work/hosted" "$tests/oracle/library_host.c" -ldl "$work/hostile.so"
	tab=$(($("$GOHEAP" info "$so" | sed -n 's/^pclntab address: *//p') - $(section .data.rel.ro 2) + $(section .data.rel.ro 3)))
	note=$(section .note.gnu.build-id 3)
	poke "$tab + 8" ffffffffffffff7f
	survives "a table of any number of functions"
	head -c 65536 /dev/zero | tr '\0' '\377' | dd of="$work/hostile.so" bs=1 seek=$((tab + 72)) conv=notrunc status=none
	survives "a table of nothing"
	head -c "$(($(section .rela.dyn 4)))" /dev/zero | tr '\0' A | dd of="$work/hostile.so" bs=1 seek=$(($(section .rela.dyn 3))) conv=notrunc status=none
	survives "relocations from anywhere to anywhere"
	poke "$note + 4" ffffffff
	survives "a build id of 4 GB"
	poke 40 ffffffffffffff7f
	survives "sections past the end"
	truncate -s "$(($(stat -c %s "$so") / 2))" "$work/hostile.so"
	survives "cut short"
	sed -i 's/main\.work/m\x1b[2J\n.kk/' "$work/hostile.so"
	survives "control characters in a name"
}

# test_same_id SO: a library that has the build id of another, which was seen before: its symbols are its own.
test_same_id() {
	local name="$release: the build id of another library" id
	sample "$name" "$release" parked -buildmode=c-shared || return
	cp "$directory/parked.stripped" "$work/hostile.so"
	id=$(dd if="$1" bs=1 skip=$(($(section .note.gnu.build-id 3))) count=36 status=none | od -An -v -tx1 | tr -d ' \n')
	poke "$(section .note.gnu.build-id 3)" "$id"
	equal "$name" "$(readelf -n "$1" | grep 'Build ID')" "$(readelf -n "$work/hostile.so" | grep 'Build ID')"
	forget
	goheap "$work/host" "set args $1" "break main.work" run bt >"$work/session"
	STACKS=$work/stacks goheap "$work/host" "set args $work/hostile.so" "break main.start" run bt >"$work/session"
	has "$name: it stops" "$(cat "$work/session")" 'hit Breakpoint 1, main\.start \(.*\) at .*/parked/main\.go:[0-9]+$'
}

# test_harmless SO: names that a shell or GDB would take for more, and the user's own settings.
test_harmless() {
	local odd="a b\$(touch harm);\"'.so"
	cp "$1" "$work/$odd"
	forget
	rm "$work/out"
	(cd "$work" && LOOP=1 exec ./host "./$odd" >out) &
	child=$!
	while [ ! -s "$work/out" ]; do sleep 0.05; done
	gdb_options+=(-iex "set debug-file-directory /nowhere:$work")
	(cd "$work" && goheap host "attach $child" "break main.work" "show debug-file-directory" continue detach) >"$work/session"
	end "$child"
	child=
	has "a library of an odd name" "$(cat "$work/session")" 'hit Breakpoint 1, main.work'
	equal "nothing is run of its name" "" "$(find "$work" -name harm)"
	has "the user's directories are still searched, first" "$(cat "$work/session")" "is \"/nowhere:$work:$XDG_CACHE_HOME/goheap\"\.\$"
	forget
	goheap "$work/host" "break main" run "show debug-file-directory" >"$work/session"
	has "of a program without a Go library nothing changes" "$(cat "$work/session")" "is \"/nowhere:$work\"\.\$"
}

# test_boundary NAME PROGRAM ARGUMENTS FUNCTION [COMMAND...]: below Go's calls are those of C, as GDB has them where C calls
# Go, with this FUNCTION among them, and so is what the commands show.
test_boundary() {
	local function=$4 caller=("${@:5}")
	needs_amd64 "$1: the calls of C below" || return
	plain_gdb "" "file $2" "set args $3" "break Work" run bt "${caller[@]}" | names >"$work/expected.c"
	goheap "$2" "set args $3" "break main.(*box).grow" run bt "${caller[@]}" | names | sed '1,/^crosscall2$/d' >"$work/found"
	same "$1: the calls of C below" "$work/expected.c" "$work/found"
	has "$1: one is $function" "$(cat "$work/found")" "^$function\$"
}

# nested: of a backtrace on standard input, what C and Go call in turns; and then the registers.
nested() {
	sed -nE -e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(descend|main\.Nest|Nest|main) .*/\2/p' -e '/^(r[a-z0-9]+|x[0-9]+|sp) /p' |
		awk '!/^main$/ || !seen++'
}

# test_nested SO: C calls Go, which calls C, which calls Go, three times.
test_nested() {
	local name="$release: nested calls" main=("frame function main" "info registers rbx rbp rsp r12 r13 r14 r15")
	needs_amd64 "$name" || return
	export CALL=Nest
	{
		printf '%s\n' {descend,main.Nest,Nest,descend,main.Nest,Nest,descend,main.Nest,Nest}
		plain_gdb "" "file $work/host" "set args $1" "break Nest" run "${main[@]}" | nested
	} >"$work/expected.c"
	goheap "$work/host" "set args $1" "break getppid" run bt "${main[@]}" | nested >"$work/found"
	unset CALL
	same "$name, and C's registers below them" "$work/expected.c" "$work/found"
}

# test_installed SO UNSTRIPPED: its debug file, without goheap, in GDB, LLDB and perf.
test_installed() {
	local name="$release: a debug file installed"
	"$GOHEAP" debug "--install=$work/debug" "$1"
	plain_gdb "" "file $work/host" "set args $1" "set debug-file-directory $work/debug" "${stops[@]}" >"$work/session"
	like "$name"
	has "$release: no build id, a debug file installed" "$("$GOHEAP" debug "--install=$work/debug" "$unnamed" 2>&1)" \
		"^goheap: $unnamed: expected a GNU build id, found none\$"
	if needs "$name: LLDB" lldb; then
		found_by_lldb "$name" "$1"
	fi
	# It looks in one place.
	if command -v perf >/dev/null && mkdir -p /usr/lib/debug && unshare -m true; then
		found_by_perf "$name" "$@"
	else
		skip "$name: perf" "not installed, or not root"
	fi
}

# found_by_lldb NAME SO: LLDB has the line of a function in it.
found_by_lldb() {
	lldb -b -x -o "settings set target.debug-file-search-paths $work/debug" -o "target create $2" \
		-o "image lookup -v -n main.work" </dev/null >"$work/session" 2>&1
	has "$1: LLDB" "$(cat "$work/session")" \
		"LineEntry: .*: $tests/samples/library/main.go:$(grep -n '^func work' "$tests/samples/library/main.go" | cut -d: -f1)\$"
}

# found_by_perf NAME SO UNSTRIPPED: perf has the functions of it.
found_by_perf() {
	nm "$3" | sed -n 's/.* [Tt] \(main\.[a-z_].*\|main\.(.*\)$/\1/p' | sed 's/\.abi0$//' | sort -u >"$work/expected.perf"
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare -m sh -c 'mount --bind "$1" /usr/lib/debug && perf probe -x "$2" --funcs' - "$work/debug" "$2" 2>"$work/why" |
		grep '^main\.' | sort -u >"$work/found"
	same "$1: perf: functions ($(wc -l <"$work/expected.perf"))" "$work/expected.perf" "$work/found"
}

# test_delve: the stack in a program whose debug file is installed, as it is in the unstripped one.
test_delve() {
	local name="$release: a debug file installed: Delve" delve=
	if ! find_delve "$release"; then
		skip "$name" "no dlv"
		return
	fi
	CGO_ENABLED=1 sample "$name" "$release" cgo -ldflags=-linkmode=external || return
	"$GOHEAP" debug "--install=$work/debug" "$directory/cgo.stripped"
	mkdir -p "$work/config/dlv"
	echo "debug-info-directories: [\"$work/debug/.build-id\"]" >"$work/config/dlv/config.yml"
	printf '%s\n' 'break main.main' continue 'break os.(*File).Write' continue stack 'exit -c' exit >"$work/commands"
	for program in cgo cgo.stripped; do
		XDG_CONFIG_HOME=$work/config timeout -k 5 "$patience" "$delve" exec "$directory/$program" --check-go-version=false \
			--init "$work/commands" --allow-non-terminal-interactive=true </dev/null 2>&1 |
			sed -nE -e 's/\x1b\[[0-9;]*m//g' -e 's/^ *[0-9]+ +(0x[0-9a-f]+ in .*)/\1/p' -e 's/^ +at (.*:[0-9]+)$/\1/p' >"$work/$program.delve"
	done
	has "$name: there is a stack" "$(cat "$work/cgo.delve")" ' in main\.main$'
	same "$name" "$work/cgo.delve" "$work/cgo.stripped.delve"
}

# Breakpoints that are set before there is any library, and where they stop in the first and in the second, and when all of it
# runs again.
both=("break main.work" "break main.go:$line" run bt continue bt continue bt continue bt
	run bt continue bt continue bt continue bt)

# test_two RELEASE OTHER SECONDS: a library of RELEASE, loaded so many seconds after one of the OTHER, or, if that is not at
# hand, another of RELEASE: both have the stacks that they have before they are stripped.
test_two() {
	local name="$1 and $2: two libraries"
	sample "$name" "$1" library -buildmode=c-shared || return
	cp "$directory/library.stripped" "$work/two.so"
	cp "$directory/library" "$work/two.unstripped.so"
	sample "$name" "$2" library -buildmode=c-shared ||
		sample "$name" "$1" library -buildmode=c-shared -ldflags=-extldflags=-Wl,--build-id=none || return
	cp "$directory/library.stripped" "$work/one.so"
	cp "$directory/library" "$work/one.unstripped.so"
	plain_gdb "" "file $work/host" "set args $work/one.unstripped.so $work/two.unstripped.so" "${both[@]}" | rows >"$work/expected"
	equal "$name: stacks of both unstripped, twice" 8 "$(grep -c '^runtime.cgocallback	' "$work/expected")"
	forget
	goheap "$work/host" "set environment LATER $3" "set args $work/one.so $work/two.so" "${both[@]}" >"$work/session"
	like "$name: C" "$work/session"
	if needs_amd64 "$name: below each, C"; then
		equal "$name: below each, C" 8 "$(grep -c '^#.* main (.*library_host.c' "$work/session")"
	fi
	two_in_python "$name: Python"
	two_attached "$name"
}

# two_in_python NAME: the same of a program in Python.
two_in_python() {
	local python
	python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null) || {
		skip "$1" "no python3"
		return
	}
	echo 'import ctypes, sys, time
for path in sys.argv[1:]:
    ctypes.CDLL(path).Work(21)
    time.sleep(1)' >"$work/program.py"
	forget
	goheap "$python" "set args $work/program.py $work/one.so $work/two.so" "${both[@]}" >"$work/session"
	like "$1" "$work/session"
}

# two_attached NAME: a process that has both, whichever is called first, and its core file.
two_attached() {
	: >"$work/out"
	LOOP=1 "$work/host" "$work/one.so" "$work/two.so" >"$work/out" &
	child=$!
	until [ "$(wc -l <"$work/out")" -ge 4 ]; do sleep 0.05; done
	forget
	goheap "" "attach $child" "break main.go:$line" continue bt continue bt "gcore $work/core" detach >"$work/session"
	end "$child"
	child=
	# Of the first time that it ran.
	awk '/^main\.twice\t/ { on = stacks < 4 } on; /^runtime.cgocallback\t/ { on = 0; stacks++ }' "$work/expected" | sort >"$work/once"
	rows <"$work/session" | sort >"$work/found"
	same "$1: attached" "$work/once" "$work/found"
	forget
	goheap "$work/host" "core-file $work/core" bt >"$work/core.session"
	rows <"$work/core.session" >"$work/found"
	sed '1,/ hit Breakpoint /d' "$work/session" | sed '1,/ hit Breakpoint /d' | rows >"$work/last"
	equal "$1: a core file: there is a stack" 1 "$(grep -c '^runtime.cgocallback	' "$work/found")"
	same "$1: a core file: the one where it stopped" "$work/last" "$work/found"
	for library in one two; do
		"$GOHEAP" memory --bytes --module "$library.so" "$work/core" 2>"$work/why" | grep ' stacks of threads$' >"$work/$library.stacks"
	done
	has "$1: a core file: memory" "$(cat "$work/one.stacks")" '^ +[1-9]'
	same "$1: a core file: threads' stacks are the same ones to both" <(awk '{ print $1, $3 }' "$work/one.stacks") <(awk '{ print $1, $3 }' "$work/two.stacks")
}

# test_copies SO: two copies of it, at different addresses.
test_copies() {
	local name="$release: two copies"
	cp "$1" "$work/copy.so"
	forget
	goheap "$work/host" "set args $work/copy.so $1" "break main.work" run bt continue bt >"$work/session"
	equal "$name: stops" 2 "$(grep -c 'hit Breakpoint 1.*, main.work' "$work/session")"
	mv "$work/expected" "$work/all"
	sed '/^runtime.cgocallback\t/q' "$work/all" >"$work/once"
	cat "$work/once" "$work/once" >"$work/expected"
	like "$name"
	mv "$work/all" "$work/expected"
}

# callers: the addresses in a backtrace on standard input at which what called Work goes on.
callers() {
	sed -nE -e 's/^#[0-9]+ +(0x[0-9a-f]+) in .*/\1/p' -e '/^r[a-z0-9]+ /p'
}

# test_archive ARCHIVE FLAG: Go's code in a program in C that was linked with it and then stripped.
test_archive() {
	# The stack begins below the program's name.
	local name="$release: an archive, $2" registers=("up-silently 1000" "info registers rsp")
	"$CC" -g "$2" -DLINKED -o "$work/archived" "$tests/oracle/library_host.c" "$1" -ldl -lpthread
	strip -o "$work/stripped" "$work/archived"
	plain_gdb "" "file $work/archived" "${stops[@]}" | rows >"$work/expected"
	goheap "$work/stripped" "${stops[@]}" >"$work/session"
	like "$name"
	needs_amd64 "$name: the calls of C below" || return
	plain_gdb "" "set backtrace past-main on" "file $work/archived" "break Work" run bt "${registers[@]}" | callers >"$work/expected.c"
	goheap "$work/stripped" "break main.(*box).grow" run bt "${registers[@]}" | sed '1,/ crosscall2 /d' | sed 1d | callers >"$work/found"
	same "$name: the calls of C below" "$work/expected.c" "$work/found"
}

# test_addon ARCHIVE: a library in C that Go's code is linked into, as addons for Node are. The addresses of exported functions,
# of which one is the end of Go's code, are relocated by their symbols.
test_addon() {
	local name="$release: an archive in a library"
	"$CC" -shared -o "$work/addon" -Wl,--whole-archive "$1" -Wl,--no-whole-archive -lpthread
	strip -o "$work/addon.so" "$work/addon"
	plain_gdb "" "file $work/host" "set args $work/addon" "${stops[@]}" | rows >"$work/expected"
	goheap "$work/host" "set args $work/addon.so" "${stops[@]}" >"$work/session"
	like "$name"
	equal "$name: types" runtime.moduledata "$("$GOHEAP" types "$work/addon.so" 2>"$work/why" | cut -f 4 | grep -x 'runtime\.moduledata')"
}

# test_foreign: an addon for Node that others have made: an archive of Go 1.18's in a library in C, here stripped.
test_foreign() {
	local name="an addon of Node" addon node commands scope='github.com/tdewolff/parse/v2/js.(*Scope).HoistUndeclared'
	needs_amd64 "$name" && needs "$name" node || return
	node=$(command -v node)
	if ! addon=$("$tests/npm-program" @tdewolff/minify@2.11.15 prebuilds/linux-x64/node.napi.node 2>"$work/why"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	strip -o "$work/addon.node" "$addon"
	echo 'require(process.argv[2]).string("text/html", "<p>a</p><style>a { b: c }</style><script>function f(a) { return 1 + a }</script>")' \
		>"$work/program.js"
	commands=("break main.minifyString" "break $scope" "break github.com/tdewolff/minify/v2/js.(*renamer).renameScope"
		"break github.com/tdewolff/minify/v2/css.(*Minifier).Minify" run bt continue bt continue bt continue bt)
	plain_gdb "" "file $node" "set args $work/program.js $addon" "${commands[@]}" | rows >"$work/expected"
	equal "$name: stacks before it is stripped" 4 "$(grep -c '^runtime.cgocallback	' "$work/expected")"
	forget
	goheap "$node" "set args $work/program.js $work/addon.node" "${commands[@]}" >"$work/session"
	like "$name"
	has "$name: below them, C" "$(cat "$work/session")" '^#[0-9]+ .* in v8(impl|::internal)::'
}

# goroutines: of stacks as Go prints them on standard input, the one that waits for a channel.
goroutines() {
	sed -n '/^goroutine [0-9]* \[chan /,/^$/p' | sed '/^$/d; /^ready$/d'
}

# test_plugin HOST PLUGIN: a program in Go, and the plugin that it loads, each beside its unstripped twin.
test_plugin() {
	local name="$release: a plugin" package=example.org/goheap/samples/plugged host
	# A goroutine that is preempted where it stops comes to the breakpoint again.
	local stops=("set environment GODEBUG asyncpreemptoff=1" "break $package.wait" "break plugged/main.go:$(grep -n 'waits <- n > 0' "$tests/samples/plugged/main.go" | cut -d: -f1)"
		run bt continue bt delete "break $package.wait" run bt)
	plain_gdb "" "file $1" "set args - $2" "${stops[@]}" </dev/null | rows >"$work/expected"
	equal "$name: stacks of the unstripped plugin" 3 "$(grep -c '^runtime.goexit	\|^'"$package.wait	" "$work/expected")"
	forget
	goheap "$1.stripped" "set args - $2.stripped" "${stops[@]}" >"$work/session"
	like "$name"
	equal "$name: the plugin is named, once" 1 "$(grep -c "^goheap: .* library $2.stripped, " "$work/session")"
	run_until_ready "$1.stripped" - "$2.stripped"
	host=$pid
	goroutines <"$work/output" >"$work/expected"
	has "$name: it has a goroutine" "$(cat "$work/expected")" "^$package.wait\("
	"$GOHEAP" goroutines -p "$host" 2>/dev/null | goroutines >"$work/found"
	same "$name: goroutines" "$work/expected" "$work/found"
	deadlocked "$name: a deadlock" -p "$host"
	goheap "" "attach $host" "gcore $work/core" "goheap goroutines" "echo \\n" detach | goroutines >"$work/found"
	same "$name: goroutines in GDB" "$work/expected" "$work/found"
	exec 7>&-
	wait "$host"
	"$GOHEAP" goroutines -e "$1.stripped" "$work/core" | goroutines >"$work/found"
	same "$name: goroutines in a core file" "$work/expected" "$work/found"
	deadlocked "$name: a deadlock in a core file" -e "$1.stripped" "$work/core"
}

# deadlocked NAME ARGUMENT...: the deadlock that the plugin has made is found.
deadlocked() {
	"$GOHEAP" waits --deadlocks "${@:2}" >"$work/found" 2>"$work/why"
	equal "$1" "2 waits of plugged.lock, 1 deadlock of mutexes" \
		"$(grep -c '/plugged\.lock at .*/plugged/main\.go:[0-9]*) waits to lock\|held by .*/plugged\.lock at ' "$work/found") waits of plugged.lock, $(grep deadlock "$work/found")"
}

# test_release SO UNSTRIPPED: the library in all of these.
test_release() {
	"$CC" -g -DLINKED -o "$work/twin" "$tests/oracle/library_host.c" -ldl "$2"
	plain_gdb "" "file $work/twin" "${stops[@]}" | rows >"$work/expected"
	equal "$release: stacks of the unstripped library" 3 "$(grep -c '^runtime.cgocallback	' "$work/expected")"
	test_linked "$1"
	test_loaded "$1"
	test_late "$1"
	test_copies "$1"
	test_java "$1"
	test_boundary "$release: C" "$work/host" "$1" main "frame function main" \
		"info registers rbx rbp rsp r12 r13 r14 r15"
	test_nested "$1"
	test_installed "$1" "$2"
	test_running "$1"
	test_python "$1"
}

# emulated PROGRAM ARGUMENT COMMAND...: a session about a program for arm64 in QEMU, which loses the connection now and
# then: up to three times, until there is a stack.
emulated() {
	local program=$1 argument=$2 try
	for ((try = 0; try < 3; try++)); do
		GODEBUG=asyncpreemptoff=1 qemu-aarch64-static -L /usr/aarch64-linux-gnu -g "$work/socket" "$program" "$argument" >"$work/out" 2>&1 &
		child=$!
		wait_until [ -S "$work/socket" ]
		GDB=gdb-multiarch goheap "$program" "set sysroot /usr/aarch64-linux-gnu" "set solib-search-path $(dirname -- "$argument")" \
			"target remote $work/socket" "${@:3}" kill >"$work/session"
		kill "$child" 2>/dev/null
		wait "$child" 2>/dev/null
		child=
		rm -f "$work/socket"
		! grep -q '^#4 ' "$work/session" || break
	done
}

# test_arm64: Go that C calls, and C that Go calls, on arm64.
test_arm64() {
	local name="$release: arm64" preserved="info registers x19 x21 x22 x23 x24 x25 x26 x27 x28 x29 sp"
	export GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc
	if needs "$name" gdb-multiarch qemu-aarch64-static "$CC" && sample "$name" "$release" library -buildmode=c-shared; then
		"$CC" -g -o "$work/emulated" "$tests/oracle/library_host.c" -ldl
		forget
		emulated "$work/emulated" "$directory/library.stripped" "break Work" continue "frame function main" "$preserved" \
			"echo in Go\\n" "break main.(*box).grow" continue bt "frame function main" "$preserved"
		sed '/^in Go$/,$d' "$work/session" | grep '^x[0-9]\|^sp' >"$work/expected.c"
		sed '1,/^in Go$/d' "$work/session" | grep '^x[0-9]\|^sp' >"$work/found"
		equal "$name: stacks go on below Go's calls" \
			"main.(*box).grow main.twice main.work main.Work runtime.cgocallbackg1 runtime.cgocallbackg runtime.cgocallback crosscall2 Work main " \
			"$(sed -n '/^in Go$/,/^x19/p' "$work/session" | names | grep -v '^_cgoexp' | awk '!seen[$0]++' | tr '\n' ' ')"
		same "$name: registers there ($(wc -l <"$work/expected.c"))" "$work/expected.c" "$work/found"
		CALL=Nest emulated "$work/emulated" "$directory/library.stripped" "break Nest" continue "frame function main" "$preserved" \
			"echo nested\\n" delete "break getppid" continue bt "frame function main" "$preserved"
		{
			printf '%s\n' {descend,main.Nest,Nest,descend,main.Nest,Nest,descend,main.Nest,Nest}
			sed '/^nested$/,$d' "$work/session" | nested
		} >"$work/expected.c"
		sed '1,/^nested$/d' "$work/session" | nested >"$work/found"
		same "$name: nested calls, and C's registers below them" "$work/expected.c" "$work/found"
		sample "$name" "$release" cgo
		emulated "$directory/cgo.stripped" -wait "break main.run" continue "break pipe" continue bt
		equal "$name: stacks go on from C to Go" \
			"runtime.asmcgocall runtime.cgocall main._Cfunc_wait_in_c main.run main.main runtime.main runtime.goexit " \
			"$(names <"$work/session" | sed '1,/^runtime.asmcgocall$/{ /^runtime.asmcgocall$/!d; }' | tr '\n' ' ')"
	fi
	unset GOARCH CGO_ENABLED
	CC=$native
}

native=$CC
test_foreign
"$CC" -g -o "$work/host" "$tests/oracle/library_host.c" -ldl || exit
for release in $(releases 1.19); do
	sample "$release: no build id" "$release" library -buildmode=c-shared -ldflags=-extldflags=-Wl,--build-id=none || continue
	unnamed=$directory/library.stripped
	sample "$release" "$release" library -buildmode=c-shared || continue
	so=$directory/library.stripped
	test_release "$so" "$directory/library"
	test_unnamed
	test_harmless "$so"
	test_hostile
	test_same_id "$so"
	test_delve
	test_arm64
	sample "$release: an archive" "$release" library -buildmode=c-archive || continue
	test_archive "$directory/library" -no-pie
	test_archive "$directory/library" -pie
	test_addon "$directory/library"
	sample "$release" "$release" library -buildmode=c-shared || continue
	in_full "two libraries" && test_two "$release" 1.24 5 && [ "$release" = 1.19 ] && test_two 1.24 1.27 1
	sample "$release: a plugin" "$release" plugged -buildmode=plugin || continue
	plugin=$directory/plugged
	sample "$release: a plugin" "$release" host && test_plugin "$directory/host" "$plugin"
done

finish
