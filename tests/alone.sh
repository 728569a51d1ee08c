#!/usr/bin/env bash
# goheap.so alone: nothing is installed, and GDB is told of goheap.so and of nothing else. Then goheap is whole: its
# commands are there, and a program or core file that is open has its symbols. What backtraces show is what the
# program's own stack is, and the names that the unstripped twin has.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" gdb || finish
sample "everything" 1.19 sample || finish
program=$directory/sample.stripped
script=$(dirname "$(realpath "$GOHEAP_SO")")/goheap.gdb
load="jit-reader-load $GOHEAP_SO"
cd "$work" || exit
unset XDG_RUNTIME_DIR

# whole NAME OUTPUT: it has symbols, a backtrace and goroutines.
whole() {
	equal "$1: symbols at once, told once" 1 "$(grep -c '^goheap: go1\.19' <<<"$2")"
	has "$1: a breakpoint" "$2" '^Breakpoint 1 at 0x[0-9a-f]+: file .*/main\.go, line [0-9]+\.$'
	has "$1: a backtrace" "$2" '^#5 .* in main\.main \(\) at .*/main\.go:[0-9]+$'
	has "$1: goheap goroutines" "$2" '^goroutine 1 \[running, on selected thread\]: main\.leaf\('
	lacks "$1: no error" "$2" '[Ee]rror|Undefined|No symbol|^goheap: (type|no )'
}

look=("break main.leaf" "run >/dev/null" backtrace "goheap goroutines -1")

whole "the program first" "$(plain_gdb "$program" "$load" "${look[@]}" "gcore $work/core")"
whole "the program later" "$(plain_gdb "" "$load" "file $program" "${look[@]}")"
output=$(run_gdb -ex "$load" -ex backtrace -ex 'goheap goroutines -1' "$program" "$work/core")
has "a core file on the command line: a backtrace" "$output" '^#5 .* in main\.main \(\) at '
has "a core file on the command line: goheap goroutines" "$output" '^goroutine 1 \[.*\]: main\.leaf\('
whole "read by a system's init file, too, and again" \
	"$(plain_gdb "$program" "source $script" "$load" "source $script" "${look[@]}")"
# What GDB does not tell of is looked at before the next command.
whole "read again before the program is opened" \
	"$(printf '%s\n' "${look[@]}" | gdb_lines -iex "$load" -iex "source $script" "$program")"
output=$(plain_gdb "$program" "$load" "$load" "info line main.leaf")
has "loaded twice: GDB says that it is loaded" "$output" '^JIT reader already loaded'
has "loaded twice: it is one goheap" "$output" '^Line [0-9]+ of '
# Every session has it, by the file that Debian's package has; a .gdbinit may load it, too.
sed "s#goheap\.so#$GOHEAP_SO#" "$tests/../debian/load-goheap.gdb" >"$work/load-goheap.gdb"
each=("source $script" "source $work/load-goheap.gdb")
whole "loaded for every session" "$(plain_gdb "" "${each[@]}" "file $program" "${look[@]}")"
whole "loaded for every session, and in .gdbinit" "$(plain_gdb "" "${each[@]}" "$load" "file $program" "${look[@]}")"
equal "loaded for every session: nothing of a program in C" "" \
	"$(plain_gdb "" "${each[@]}" "file /bin/true" | grep -v "debugging symbols")"
for language in ada modula-2; do
	output=$(plain_gdb "$program" "set language $language" "$load" "show language" "info line main.leaf")
	has "in $language: symbols" "$output" '^Line [0-9]+ of '
	has "in $language: it stays" "$output" "\"$language\""
done

# GDB 18 writes an index of the twin's types in which it does not find them any more. One of before 18 has its index.
mkdir "$work/index"
for session in 1 2; do
	output=$(run_gdb -iex "set index-cache directory $work/index" -iex "set index-cache enabled on" -iex "$load" -ex "ptype 'main.Square'" \
		-ex "show index-cache enabled" "$directory/sample")
	has "an index of GDB's, session $session: types are there" "$output" '^type = struct main\.Square \{$'
	if (($(gdb --version | sed -nE '1s/.* ([0-9]+)\.[0-9.]+$/\1/p') > 17)); then
		has "an index of GDB's, session $session: it is left alone" "$output" '^goheap: .*: index-cache is off now$'
	else
		has "an index of GDB's, session $session: it is used" "$output" 'index cache is on\.$'
	fi
done

# A folder's name is no command.
odd="$work/a \"b'c\\d é"$'\n'"shell touch ran"
mkdir "$odd"
cp "$GOHEAP_SO" "$script" "$GOHEAP" "$odd"
ln -s "$odd/goheap.so" "$work/link.so"
output=$(plain_gdb "$program" "jit-reader-load $work/link.so" "info line main.leaf")
has "from a folder with quotes, a newline and more in its name" "$output" '^Line [0-9]+ of '
equal "from there: nothing ran that is in the name" "" "$(find "$work" -name ran)"

# without NAME GDB [OPTION...]: a GDB that has no Python says what to type.
without() {
	local name=$1 GDB=$2 output typed
	output=$(run_gdb "${@:3}" -ex "$load" "$program")
	typed=$(sed -n 's/^goheap: type  //p' <<<"$output")
	equal "$name: what to type" "source $script" "$typed"
	equal "$name: that in one line" 1 "$(grep -c goheap: <<<"$output")"
	output=$(printf '%s\n' "$typed" "${look[@]}" | gdb_lines "${@:3}" -ex "$load" "$program" |
		sed '/^goheap: type  /d; s/Python Exception .*//')
	whole "$name, typed" "$output"
	output=$(run_gdb "${@:3}" -ex "source $script" -ex "$load" -ex "info line main.leaf" "$program")
	lacks "$name: not where it was read before" "$output" 'goheap: type'
	has "$name: which is as good" "$output" '^Line [0-9]+ of '
}

without "Python without GDB's modules" gdb --data-directory=/nonexistent
if minimal=$("$tests/debian-program" gdb-minimal usr/bin/gdb 2>"$work/why") && "$minimal" --version >"$work/why" 2>&1; then
	without "gdb-minimal" "$minimal"
else
	skip "gdb-minimal" "$(tail -n 1 "$work/why")"
fi
equal "what GDB has read is noted nowhere afterwards" "" "$(find /tmp -maxdepth 1 -name 'goheap-read.*' -newer "$work/core")"

mkdir "$work/part"
cp "$GOHEAP_SO" "$work/part"
output=$(plain_gdb "$program" "jit-reader-load $work/part/goheap.so" "print 42")
has "without goheap.gdb: what is missing" "$output" "^goheap: no commands: $work/part/goheap.gdb is missing\$"
has "without goheap.gdb: GDB goes on" "$output" '= 42$'

# Where nobody may mount, a shell cannot be taken away.
shell=$(readlink -f /bin/sh)
if unshare -m mount --bind /dev/null "$shell" 2>"$work/why"; then
	# shellcheck disable=SC2016 # the inner shell expands these
	output=$(unshare -m bash -c 'mount --bind /dev/null "$1" && shift && exec "$@"' - "$shell" \
		gdb "${gdb_defaults[@]}" -batch -ex "$load" -ex "print 42" "$program" 2>&1)
	has "without a shell: what is missing" "$output" '^goheap: not loaded: there is no /bin/sh, by which GDB runs goheap; '
	equal "without a shell: that in one line" 1 "$(grep -c . <<<"${output%%\$1*}")"
	has "without a shell: GDB goes on" "$output" '= 42$'
else
	skip "without a shell" "$(tail -n 1 "$work/why")"
fi
finish
