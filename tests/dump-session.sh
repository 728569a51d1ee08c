#!/usr/bin/env bash
# The session that `goheap load' makes of a heap dump: the source's variables where the unstripped program is
# at hand, against what the dumped program printed of them; what becomes of the session when GDB goes
# on to something else; and the commands in GDB.
. "$(dirname "$0")/lib.sh"
session_home
cat >"$work/locals.gdb" <<'END'
define show_locals
  frame function main.locals
  info args
  info locals
  up
  info locals
end
END

gdb_options=(-x "$work/locals.gdb")

# wrong: what a session on standard input shows of the variables that the program printed, where it is neither
# that nor unknown.
wrong() {
	awk -F'\t' '
		NR == FNR { if ($1 == "local") value[$2] = $3; next }
		match($0, /^[a-z]+ = /) {
			name = substr($0, 1, RLENGTH - 3)
			found = substr($0, RLENGTH + 1)
			gsub(/0x[0-9a-f]+ "/, "\"", found)
			sub(/^\([^()]*\) /, "", found)
			if (name in value && found != value[name] && found !~ /optimized out|error reading|unavailable/)
				print name " is " value[name] ", not " found
		}' "$work/counts" -
}

# variables NAME PROGRAM COMMAND: the variables of main.locals after COMMAND, which loads the dump, are the
# program's, and none of them that has to be there is missing.
variables() {
	goheap "$2" "$3" "thread apply all -q -s show_locals" >"$work/session"
	same "$1: no variable has another value than the program printed" /dev/null <(wrong <"$work/session")
	for variable in node point label square; do
		has "$1: $variable" "$(cat "$work/session")" "^$variable = [^<]*\$"
	done
}

# dump_of DIRECTORY: the sample there writes a dump and its counts.
dump_of() {
	rm -f "$work/dump" "$work/stacks"
	timeout 60 "$1/dump.stripped" "$work/dump" "$work/stacks" >"$work/counts" 2>&1
}

check_names() {
	local directory spec release=$1
	for spec in "dump" "dump -buildmode=pie"; do
		[ "$spec" = dump ] || is_newest "$release" || continue
		# shellcheck disable=SC2086 # the words of a specification are arguments
		sample "Go $release $spec" "$release" $spec || continue
		dump_of "$directory"
		variables "Go $release $spec, --names" "$directory/dump.stripped" \
			"goheap load --names $directory/dump $work/dump"
		variables "Go $release $spec, unstripped" "$directory/dump" "goheap load $work/dump"
		variables "Go $release $spec, --names alone" "" "goheap load --names $directory/dump $work/dump"
		has "Go $release $spec: a register of an outer frame is not known" \
			"$(goheap "$directory/dump.stripped" "goheap load $work/dump" "thread 5" up "print \$rcx")" \
			'= <(not saved|optimized out)>$'
	done
}

# check_machine GOARCH EMULATOR: the same of a program for another machine.
check_machine() {
	local directory
	GDB=gdb-multiarch
	if ! command -v "$GDB" >/dev/null; then
		skip "$1" "no $GDB"
	elif foreign_dump "$1" "$2"; then
		variables "$1, --names" "$directory/dump.stripped" "goheap load --names $directory/dump $work/dump"
		goheap "$directory/dump" "goheap load $work/dump" "thread apply all backtrace" >"$work/session"
		has "$1: every stack ends" "$(grep -c '^Thread ' "$work/session")" \
			"^$(grep -c ' runtime\.goexit ' "$work/session")\$"
	fi
	GDB=gdb
}

# What a dump is refused for.
check_refusal() {
	local directory other output
	sample "another program's names" 1.19 sample || return
	other=$directory
	sample "names that are refused" 1.19 dump || return
	dump_of "$directory"
	output=$(goheap "$directory/dump.stripped" "goheap load --names $other/sample $work/dump" "info threads")
	has "names of another program are refused, with the reason" "$output" \
		'^goheap: .*/sample: expected the program that wrote the dump, found one with'
	lacks "and nothing is loaded" "$output" 'LWP'
	has "but not if told to" "$(goheap "$directory/dump.stripped" \
		"goheap load -f --names $other/sample $work/dump" "info threads")" 'LWP'
	output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" "goheap goroutine 1" "goheap crash" "goheap break main.main" "goheap memory --bytes")
	equal "what is about a process is refused, with what to do instead" "A heap dump's goroutines are threads: info threads
A heap dump does not tell of a crash, as a core file does: core-file CORE
A heap dump does not run: close it with core-file, then break
A heap dump is loaded; this asks a process or a core file: attach PID, or core-file CORE" "$(grep '^A heap dump' <<<"$output")"
	has "and where nothing is loaded" "$(goheap "$directory/dump.stripped" "goheap memory --bytes")" '^No process of this machine and no core file is debugged\.$'
	has "values of what has not returned" "$(goheap "$directory/dump.stripped" "break main.main" "run" "goheap returned")" '^goheap: no function has returned by finish$'
	has "names of no file" "$(goheap "$directory/dump.stripped" "goheap load --names $work/none $work/dump")" \
		'none: .*No such file'
}

# What is left of a dump's session when GDB has something else open.
check_leaving() {
	# shellcheck disable=SC2016 # GDB's shell knows it
	local directory output ls='shell ls $GOHEAP_SESSION'
	sample "leaving" 1.19 dump || return
	dump_of "$directory"
	output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" "$ls")
	has "loaded: the frames' callers are in the session" "$output" '^dump\.frames$'
	for command in "core-file" "file $directory/dump"; do
		output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" "core-file" "$ls")
		lacks "after $command they are gone" "$output" '^dump(\.frames)?$'
	done
	output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" "break main.locals" \
		"run $work/other $work/other.stacks >/dev/null" backtrace "$ls" "goheap types")
	lacks "in a process they are gone" "$output" '^dump(\.frames)?$'
	has "which is unwound" "$output" '^#[0-9]+ .*runtime\.goexit'
	has "and has no dump's records" "$output" '^No heap dump is loaded'
	output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" "goheap load $work/dump" "thread 5" \
		backtrace "$ls")
	has "loaded twice" "$output" '^#[0-9]+ .*runtime\.goexit'
	lacks "loaded twice: without a question" "$output" 'y or n'
	has "loaded twice: the frames' callers are in the session" "$output" '^dump\.frames$'
	# A directory is in the place of a file that the session is to have.
	for file in dump.threads dump.threads.gdb; do
		output=$(goheap "$directory/dump.stripped" "shell mkdir \$GOHEAP_SESSION/$file" "goheap load $work/dump" "info threads")
		has "a session without room for $file: it is told" "$output" "^/.*/$file: Is a directory\$"
		has "a session without room for $file: nothing is loaded" "$output" '^No threads\.$'
	done
}

# The commands in GDB, by what the process said of itself.
check_commands() {
	local directory output
	sample "commands" 1.19 dump || return
	dump_of "$directory"
	output=$(goheap "$directory/dump.stripped" "goheap types")
	has "no dump: one line says so" "$output" '^No heap dump is loaded: goheap load DUMP$'
	output=$(goheap "$directory/dump.stripped" "goheap load $work/dump")
	has "the line" "$output" '^go1\.7 heap dump of go1\.19\.[0-9]+ linux/amd64: [0-9]+ goroutines, [0-9.]+ [kM]B in ([0-9]+,)?[0-9]{1,3} objects$'
	has "what is not there" "$output" '^Not in a dump: .*noptrdata.*registers.*running'
	output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" "goheap goroutines")
	has "goroutines" "$(grep -c '^goroutine [0-9]' <<<"$output")" "^$(grep -c '^goroutine [0-9]' "$work/stacks")\$"
	has "goroutines: with lines" "$output" "^	$tests/samples/dump/main\.go:[0-9]+"
	output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" \
		"goheap goroutines -s select --group --grep 'main.(selects|lock)'")
	has "goroutines, five arguments" "$output" '^1 goroutine \[select\]:$'
	has "goroutines, five arguments: one" "$(grep -c '^main\.' <<<"$output")" '^1$'
	for command in $listings types; do
		output=$(goheap "$directory/dump.stripped" "goheap load $work/dump" "goheap $command --json")
		has "$command --json" "$output" '^\{.*\}$'
		has "help goheap $command" "$(goheap "" "help goheap $command")" "^Usage: goheap $command (\[--module NAME\] )?(\[--bytes\] )?\[--json\]\$"
		has "help goheap: $command" "$(goheap "" "help goheap")" "^goheap $command +-- "
	done
	has "info is the dump's" "$(goheap "$directory/dump.stripped" "goheap load $work/dump" "goheap info")" \
		"^file: +$work/dump\$"
	has "or the program's" "$(goheap "$directory/dump.stripped" "goheap load $work/dump" core-file "goheap info")" \
		"^file: +$directory/dump\.stripped\$"
	has "with neither, one line says so" "$(goheap "" "goheap info")" '^No program: '
}

# The commands in languages that spell an assignment otherwise than C.
check_languages() {
	local directory output
	sample "languages" 1.19 dump || return
	dump_of "$directory"
	for language in ada modula-2 pascal; do
		output=$(goheap "$directory/dump.stripped" "set language $language" "goheap load $work/dump" \
			"goheap goroutines -s select --grep main --group --all --json" "break main.main" \
			"run $work/other $work/other.stacks >/dev/null" "goheap goroutine 2" "backtrace")
		has "language $language: ten arguments" "$output" '^\{"count":1,.*"runtime\.goexit"'
		has "language $language: a goroutine's stack" "$output" '^#[1-9][0-9]* .* runtime\.forcegchelper'
		lacks "language $language: no errors" "$output" 'warning|[Ii]nvalid|[Ss]yntax'
	done
}

# Names of more threads than are told GDB at a time, by GDB's Python, and as where there is none.
check_many() {
	local directory no_python='python gdb.set_convenience_variable("_streq", None)' with
	sample "many" 1.19 dump || return
	"$directory/dump.stripped" "$work/dump" "$work/stacks" 2500 >"$work/counts" 2>&1
	sed -nE 's/^goroutine ([0-9]+) \[([^],]*).*/\1\t\2/p' "$work/stacks" | grep -v 'running$' | sort >"$work/printed"
	for with in "set language auto" "$no_python"; do
		goheap "$directory/dump.stripped" "set language pascal" "set language auto" "$with" "goheap load $work/dump" \
			"info threads" >"$work/session"
		sed -nE 's/^.{2}[0-9]+ +LWP ([0-9]+) "([^",]*).*/\1\t\2/p' "$work/session" | sort >"$work/shown"
		same "names of many threads ($(wc -l <"$work/printed")), $with" /dev/null <(comm -23 "$work/printed" "$work/shown")
		lacks "no word of languages, $with" "$(cat "$work/session")" 'current language'
	done
}

releases=$("$tests/toolchain" list)
for release in $(releases 1.15 1.19 "$(tail -n 1 <<<"$releases")"); do
	check_names "$release"
done
check_machine arm64 qemu-aarch64
if in_full "other machines"; then
	check_machine 386 env
	check_machine arm qemu-arm
	check_machine s390x qemu-s390x
fi
check_refusal
check_leaving
check_commands
check_languages
check_many
finish
