# shellcheck shell=bash
# What the shell tests share: counting, and the closing line.
#
# The environment gives GOHEAP (the program), GOHEAP_SO (the plugin) and CC; tests/*.sh are run from
# anywhere.

set -u
export LC_ALL=C
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${GOHEAP:=$tests/../plugin/goheap}" "${GOHEAP_SO:=$tests/../plugin/goheap.so}" "${CC:=cc}"
passed=0 failed=0 skipped=0 left=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ok NAME: the check called NAME held.
ok() {
	passed=$((passed + 1))
	echo "ok - $1"
}

# fail NAME [DETAIL]: it did not.
fail() {
	failed=$((failed + 1))
	echo "FAILED - $1"
	if [ $# -gt 1 ]; then
		printf '%s\n' "$2" | sed 's/^/    /'
	fi
}

# commas NUMBER: with one after each three digits.
commas() {
	sed -E ':again; s/^([0-9]+)([0-9]{3})/\1,\2/; t again' <<<"$1"
}

# skip NAME REASON: it could not be made.
skip() {
	skipped=$((skipped + 1))
	echo "SKIP - $1: $2"
}

# is_full: this is the full check.
is_full() {
	[ "${GOHEAP_CHECK-}" = full ]
}

# in_full NAME: the same; in the short check, prints that the check called NAME is left to the full one.
in_full() {
	is_full && return
	left=$((left + 1))
	echo "LEFT - $1: make check-full"
	return 1
}

# needs NAME COMMAND...: false, and the check called NAME skipped, where one of the commands is not to be had.
needs() {
	local command
	for command in "${@:2}"; do
		command -v "$command" >/dev/null && continue
		skip "$1" "no $command"
		return 1
	done
}

# needs_amd64 NAME: the same where the machine is another.
needs_amd64() {
	[ "$(uname -m)" = x86_64 ] && return
	skip "$1" "not amd64"
	return 1
}

# needs_386 NAME: the same where the kernel runs no programs for 386.
needs_386() {
	# shellcheck disable=SC2016 # it is assembly's $
	echo 'void _start(void) { __asm__("int $0x80" : : "a"(1), "b"(0)); }' |
		"$CC" -m32 -nostdlib -static -x c -o "$work/386" - 2>"$work/why" && "$work/386" 2>"$work/why" && return
	skip "$1" "programs for 386 do not run here"
	return 1
}

# holds NAME DETAIL COMMAND...: the command succeeds.
holds() {
	if "${@:3}"; then
		ok "$1"
	else
		fail "$1" "$2"
	fi
}

# apart THEIRS OURS: the rows of OURS, of start, end and two columns more, whose addresses are not all in rows of THEIRS with
# the same two. Both are in the order of their addresses.
apart() {
	awk -F'\t' '
		BEGIN { n = i = 0 }
		function address(text) { return sprintf("%16s", substr(text, 3)) }
		NR == FNR { start[n] = address($1); end[n] = address($2); columns[n++] = $3 "\t" $4; next }
		{
			at = address($1)
			while (i < n && end[i] <= at)
				i++
			for (j = i; at < address($2) && j < n && start[j] <= at && columns[j] == $3 "\t" $4; j++)
				at = end[j]
			if (at < address($2))
				print
		}' "$@"
}

# inside FUNCTIONS ROWS, outside FUNCTIONS ROWS: the rows that start in one of the functions, or in none. Both files have a
# start and an end first, and are in the order of their addresses.
inside() {
	awk -F'\t' -v outside="${3-0}" '
		BEGIN { n = i = 0 }
		function address(text) { return sprintf("%16s", substr(text, 3)) }
		NR == FNR { start[n] = address($1); end[n++] = address($2); next }
		{
			at = address($1)
			while (i < n && end[i] <= at)
				i++
			if ((i == n || start[i] > at) == outside)
				print
		}' "$1" "$2"
}
outside() {
	inside "$@" 1
}

# equal NAME EXPECTED FOUND: two texts are equal.
equal() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1" "expected: $2
found:    $3"
	fi
}

# same NAME EXPECTED FOUND: two files are equal.
same() {
	if diff "$2" "$3" >"$work/diff" 2>&1; then
		ok "$1"
	else
		fail "$1" "$(head -n 20 "$work/diff")"
	fi
}

# matches TEXT PATTERN: TEXT has a line that matches the extended regular expression PATTERN. Of a short text the shell finds
# out by itself, unless the pattern is one that only grep takes: there are thousands of them, and to start grep takes far longer.
matches() {
	local rest=$1$'\n' status=1
	if ((${#1} <= 4000)) && [[ $2 != *$'\n'* ]]; then
		while [ -n "$rest" ]; do
			[[ ${rest%%$'\n'*} =~ $2 ]]
			status=$?
			((status == 1)) || break
			rest=${rest#*$'\n'}
		done
		((status == 2)) || return "$status"
	fi
	grep -Eq -- "$2" <<<"$1"
}

# has NAME TEXT PATTERN: TEXT has a line that matches PATTERN.
has() {
	if matches "$2" "$3"; then
		ok "$1"
	else
		fail "$1" "no line matches: $3
$2"
	fi
}

# lacks NAME TEXT PATTERN: it has none.
lacks() {
	if matches "$2" "$3"; then
		fail "$1" "$(printf '%s\n' "$2" | grep -E -- "$3" | head -n 20)"
	else
		ok "$1"
	fi
}

# raw: the lines of standard input with a byte or character that a terminal acts on.
raw() {
	LC_ALL=C grep -aP '[\x01-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c|(?<![\x80-\xff])[\x80-\x9f]'
}

# printed: runtime.Stack's text on standard input as rows: goroutine, function, file, line. One top frame is
# left out: the goroutine that printed it stood elsewhere when it wrote the dump. Inlined calls, printed with (...) for
# their arguments, have a fifth column.
printed() {
	awk -v OFS='\t' '
		/^goroutine [0-9]+ / { id = $2; elsewhere = /\[running/; top = 1; next }
		/^created by / { getline; next }
		/^\t/ {
			place = $1
			line = place
			sub(/.*:/, "", line)
			sub(/:[0-9]+$/, "", place)
			if (!(elsewhere && top))
				print id, name, place, line inlined
			top = 0
			next
		}
		{ inlined = /\(\.\.\.\)$/ ? OFS "inlined" : ""; name = $0; sub(/\([^()]*\)$/, "", name); if (name == "panic") name = "runtime.gopanic" }' | sort
}

# records FILE: of a profile as Go or goheap prints it one record a line: figures, and each call's function and place.
records() {
	awk '
		/^# runtime.MemStats/ { exit }
		/^[0-9]+: / { if (record != "") print record; split($0, part, " @"); record = part[1]; next }
		/^#\t/ { n = split($0, field, /\t+/); sub(/\+0x[0-9a-f]+$/, "", field[n - 1]); record = record " | " field[n - 1] " " field[n] }
		END { if (record != "") print record }' "$1" | sort
}

# session_home: sessions get a cache, a runtime directory and temporary files of their own, and goheap.gdb as it is
# installed, in $work. The toolchains and samples stay where they are when the cache moves.
session_home() {
	export GOHEAP_TEST_CACHE=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}
	export XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work/run TMPDIR=$work/tmp
	# Where it is installed, it leaves files in the runtime directory.
	export CCACHE_DISABLE=1
	mkdir -p "$XDG_CACHE_HOME" "$XDG_RUNTIME_DIR" "$TMPDIR"
	cp "$(dirname "$GOHEAP_SO")/goheap.gdb" "$work/goheap.gdb"
}

# run_gdb ARGUMENT...: $GDB with these arguments and the options $gdb_options, for no more than $patience seconds. What the user
# of this machine has set is not to be seen.
gdb_defaults=(-nx -q -iex 'set width 0' -iex 'set height 0' -iex 'set debuginfod enabled off' -iex 'set auto-load no')
GDB=gdb patience=300 gdb_options=()
run_gdb() {
	timeout -k 5 "$patience" "$GDB" "${gdb_defaults[@]}" -batch "${gdb_options[@]}" "$@" </dev/null 2>&1
	local status=$?
	# Of a session that was cut short what it printed does not tell.
	((status < 124)) || echo "GDB's session was ended: status $status, 124 and 137 after $patience s"
	return $status
}

# plain_gdb PROGRAM COMMAND...: a session without goheap; PROGRAM may be empty.
plain_gdb() {
	local command commands=()
	for command in "${@:2}"; do
		commands+=(-ex "$command")
	done
	run_gdb "${commands[@]}" ${1:+"$1"}
}

# goheap PROGRAM COMMAND...: the same with the plugin. After session_home.
goheap() {
	local gdb_options=("${gdb_options[@]}" -ex "jit-reader-load $GOHEAP_SO")
	plain_gdb "$@"
}

# gdb_lines ARGUMENT...: GDB with these arguments and the commands on standard input, one a line.
gdb_lines() {
	local line commands=()
	while IFS= read -r line; do
		commands+=(-ex "$line")
	done
	run_gdb "$@" "${commands[@]}"
}

# line_of TEXT [FILE]: the number of the first line with TEXT, of $source unless told.
line_of() {
	# shellcheck disable=SC2154 # Its callers set it.
	grep -nF -- "$1" "${2-$source}" | head -n 1 | cut -d : -f 1
}

# frames: a backtrace of GDB's on standard input as rows of function, file, line.
frames() {
	sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(.*) \((\.\.\.)?\) at (.*):([0-9]+)$/\2\t\4\t\5/p'
}

# sample NAME RELEASE SAMPLE [FLAG...]: builds a sample; its directory is in $directory. False, and the check called NAME
# skipped, where it cannot be built; of Go 1.19 and this machine it has to be.
sample() {
	local name=$1
	shift
	directory=$("$tests/build-sample" "$@" 2>"$work/why") && return
	skip "$name" "$(tail -n 1 "$work/why")"
	[ "$# $1 ${GOARCH-}" = "2 1.19 " ] && fail "Go 1.19 is part of the core set"
	return 1
}

# sample_as NAME RELEASE SPECIFICATION: the same of a sample's name and flags in one word, of which -N is -gcflags='all=-N -l',
# which debuggers have programs built with, and -musl a static program with musl for its C library.
sample_as() {
	local word words=() cc=${CC:-gcc}
	for word in $3; do
		case $word in
		-N) word="-gcflags=all=-N -l" ;;
		-musl)
			needs "$1" musl-gcc || return
			cc=musl-gcc word="-ldflags=-linkmode=external -extldflags=-static"
			;;
		esac
		words+=("$word")
	done
	CC=$cc sample "$1" "$2" "${words[@]}"
}

# build_dumpfile: $dumpfile, which reads heap dumps and shares no code with goheap. Ends the test where it cannot be built.
build_dumpfile() {
	local directory
	sample "dumpfile" 1.19 dumpfile || finish
	# shellcheck disable=SC2034 # Its callers use it.
	dumpfile=$directory/dumpfile
}

# wait_until COMMAND...: for a minute at most, until the command succeeds. False if it does not.
wait_until() {
	for _ in {1..1200}; do
		"$@" && return
		sleep 0.05
	done
	return 1
}

# end PROCESS: kills one that this shell has started, and waits until it has ended.
end() {
	kill "$1"
	wait "$1" 2>/dev/null
}

# run_until_ready COMMAND...: in the background, until it has printed "ready"; its output in $work/output, its process id in
# $pid, and descriptor 7 is its input.
run_until_ready() {
	rm -f "$work/input"
	mkfifo "$work/input"
	# Another may have been ready before.
	: >"$work/output"
	"$@" <"$work/input" >"$work/output" 2>"$work/trace" &
	# shellcheck disable=SC2034 # Its callers use it.
	pid=$!
	exec 7>"$work/input"
	wait_until grep -q '^ready' "$work/output"
	# It has printed that before it waits for its input.
	for _ in {1..100}; do
		asleep "$pid" && break
		sleep 0.02
	done
}

# emulate MACHINE COMMAND...: runs it in QEMU until it has been ready for some time, and has it abort; its core file in $core.
# False if there is no such QEMU.
emulate() {
	command -v "qemu-$1-static" >/dev/null || return
	rm -rf "$work/emulated"
	mkdir "$work/emulated"
	cd "$work/emulated" || return
	ulimit -c unlimited
	GOTRACEBACK=crash run_until_ready "qemu-$1-static" "${@:2}"
	sleep 1
	# The runtime aborts the program for it. SIGABRT itself ends QEMU 10 and not the program in it.
	kill -QUIT "$pid"
	# With its input's end it would end by itself.
	wait "$pid" 2>"$work/why"
	exec 7>&-
	cd "$work" || return
	# shellcheck disable=SC2034 # Its callers use it.
	core=$(echo "$work"/emulated/qemu_*.core)
}

# listed_commands: those that goheap --help lists: one a line with what it does, or several on a line.
listed_commands() {
	"$GOHEAP" --help | sed -nE -e 's/^  ([a-z0-9]+) +[A-Z].*/\1/p' -e 's/^  ([a-z0-9]+(, [a-z0-9]+)+)$/\1/p' | sed 's/, /\n/g'
}

# prompts COUNT: so many times GDB has asked for a command.
prompts() {
	[ "$(grep -o '(gdb) ' "$work/screen" | wc -l)" -ge "$1" ]
}

# at_terminal COMMAND...: what GDB prints at a terminal where these are typed, in $work/typed. $gdb_options are GDB's. Each is typed once
# GDB asks for it: where a program starts, what was typed before may be lost.
at_terminal() {
	local count=0 command script
	rm -f "$work/keys"
	mkfifo "$work/keys"
	: >"$work/screen"
	timeout -k 5 120 script -qefc "TERM=dumb gdb ${gdb_defaults[*]@Q} ${gdb_options[*]@Q} -iex 'set confirm off' \
		-iex 'jit-reader-load $GOHEAP_SO'" "$work/screen" <"$work/keys" >"$work/script" &
	script=$!
	exec 8>"$work/keys"
	for command in "$@" quit; do
		wait_until prompts $((++count))
		(echo "$command" >&8) 2>>"$work/why" # GDB may have ended
	done
	exec 8>&-
	wait "$script"
	tr -d '\r' <"$work/screen" >"$work/typed"
}

# on_arm64 PROGRAM ARGUMENT...: has GDB do what standard input says with a program for arm64, which QEMU runs on a processor of the kind
# $emulated, if that is set. What the program prints is in $work/told, what GDB and goheap say in $work/output. After session_home.
on_arm64() {
	rm -f "$work/socket"
	GODEBUG=asyncpreemptoff=1 qemu-aarch64-static -cpu "${emulated:-max}" -g "$work/socket" "$@" >"$work/told" 2>"$work/why" &
	local emulator=$!
	wait_until [ -S "$work/socket" ]
	{
		echo "target remote $work/socket"
		cat
	} >"$work/remote"
	GDB=gdb-multiarch patience=60 goheap "$1" "source $work/remote" >"$work/output"
	kill "$emulator" 2>"$work/why"
	wait "$emulator" 2>"$work/why"
}

# make_group BYTES: makes a control group that has so much memory, $group. False if that cannot be.
make_group() {
	local place
	for place in memory/:memory.limit_in_bytes :memory.max; do
		group=/sys/fs/cgroup/${place%:*}goheap-test.$$
		mkdir "$group" || continue
		[ -e "$group/${place#*:}" ] && echo "$1" >"$group/${place#*:}" && return
		rmdir "$group"
	done
	false
}

# build_twin: $work/twin, which prints what libdwarf reads.
build_twin() {
	"$CC" -std=gnu11 -O2 "$tests"/oracle/twin{,_*}.c -ldwarf -lelf -lz -o "$work/twin"
}

# build_maker NAME: $work/NAME, which makes inputs byte by byte, of tests/oracle/NAME*.c and what makes them for the unit tests.
build_maker() {
	"$CC" -std=gnu11 -I "$tests/.." "$tests/oracle/$1"*.c "$tests/unit"/{dumpmaker,synthetic,synthetic_plan9}.c -o "$work/$1"
}

# serve ARGUMENT...: gdbserver in the background; its process id in $server and among $children, its port in $port.
serve() {
	rm -f "$work/server"
	gdbserver --once "${@:1:$#-1}" 127.0.0.1:0 "${@: -1}" >"$work/server" 2>&1 &
	server=$!
	children="$children $server"
	wait_until grep -qs '^Listening on port ' "$work/server"
	# shellcheck disable=SC2034 # Its callers use it.
	port=$(sed -n 's/^Listening on port //p' "$work/server")
}

# told: what goheap says on standard input but for where more is told, and how long somebody still sleeps.
told() {
	sed -E 's/^( *)see goheap .*/\1see goheap/; s/(sleep), [0-9.]+ s more/\1/'
}

# asleep PID: each thread of PID is: those that a debugger had stopped have made their system calls once more.
asleep() {
	! grep -qsE '^[0-9]+ \(.*\) R ' "/proc/$1/task"/*/stat
}

# same_in_gdb NAME PROGRAM COMMAND...: of the process $pid, which it ends and which runs PROGRAM, each goheap COMMAND says in GDB, attached,
# behind gdbserver and of the core file, what it says of the core file without GDB, which is in $work/theirs.1 and so on.
same_in_gdb() {
	local name=$1 program=$2 number target commands=() words
	shift 2
	for number in $(seq $#); do
		commands+=("echo part $number\\n" "goheap ${!number}")
	done
	commands+=("echo part\\n")
	goheap "" "attach $pid" "${commands[@]}" "generate-core-file $work/core" detach >"$work/attached"
	wait_until asleep "$pid"
	serve --attach "$pid"
	goheap "" "target remote 127.0.0.1:$port" "${commands[@]}" detach >"$work/remote"
	end "$pid"
	goheap "$program" "core-file $work/core" "${commands[@]}" >"$work/cored"
	for number in $(seq $#); do
		read -ra words <<<"${!number}"
		"$GOHEAP" "${words[0]}" "$work/core" -e "$program" "${words[@]:1}" 2>"$work/why" | told >"$work/theirs.$number"
		for target in attached cored remote; do
			sed -n "/^part $number\$/,/^part/ { /^part/d; p; }" "$work/$target" | told >"$work/ours"
			# GDB has a copy of the program.
			[ "$target" != remote ] ||
				sed -i "s/\\(in \\|^\\| \\)program\\(\$\\|+\)/\\1$(basename "$program")\\2/" "$work/ours"
			same "$name, $target in GDB: goheap ${!number}" "$work/theirs.$number" "$work/ours"
		done
	done
	rm "$work/core"
}

# foreign_dump GOARCH EMULATOR: has the sample for that machine, built with Go 1.19, write its dump to $work/dump, its stacks to
# $work/stacks and its counts to $work/counts; its directory is in $directory. False, and the check skipped, where
# it cannot be run. EMULATOR is "env" where none is needed.
foreign_dump() {
	local run
	run=$(command -v "$2" || command -v "$2-static")
	GOARCH=$1 sample "$1" 1.19 dump || return
	if [ -z "$run" ]; then
		skip "$1" "no $2"
	elif ! "$run" "$directory/dump" "$work/dump" "$work/stacks" >"$work/counts" 2>"$work/why"; then
		skip "$1" "cannot be run here: $(head -n 1 "$work/why")"
	else
		return 0
	fi
	return 1
}

# find_delve RELEASE: the path of the Delve that reads that release's DWARF, in $delve: Debian's own, or the newest where that is
# older than the release. False if there is none.
find_delve() {
	delve=$(command -v dlv) &&
		(($("$delve" version | sed -nE 's/^Version: 1\.([0-9]+)\..*/\1/p') >= ${1#1.})) ||
		delve=$("$tests/debian-program" delve usr/bin/dlv sid 2>"$work/why")
}

# delve_reads NAME PROGRAM: false, and the check called NAME skipped, where $delve is for other releases of Go than PROGRAM's.
delve_reads() {
	local refusal
	echo exit >"$work/exit"
	refusal=$(timeout 60 "$delve" exec "$2" --allow-non-terminal-interactive=true --init "$work/exit" </dev/null 2>&1 |
		grep -E 'too old for (this version of Delve|Go version)')
	[ -n "$refusal" ] || return 0
	skip "$1" "$refusal"
	return 1
}

# finish: prints what time the test took, and its counts, and ends it.
finish() {
	builtin times >"$work/times"
	awk -v passed="$SECONDS" -F '[ms ]+' '
		{ used += 60 * ($1 + $3) + $2 + $4 }
		END { printf "%d s, %d s of processors\n", passed, used }' "$work/times"
	((left == 0)) || echo "$left left to make check-full"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

# Go releases whose programs goheap reads by ways of its own: by their function tables and registers (1.15, 1.19, from 1.20),
# DWARF and inlined calls (1.27). The releases between are read as one of these is, but for maps (from 1.24), which those who
# read values and heaps ask for too, and for what the runtime has in memory: who reads that asks for each release.
# shellcheck disable=SC2034 # Its callers use it.
apart="1.15 1.19 1.27" apart_maps="1.15 1.19 1.24 1.27"

# The commands that list the records of a heap dump, or count them: those that have GH_OF_RECORDS in the list of commands.
listings=$(awk -F'[(,]' '/^COMMAND/ { name = $2 } /GH_OF_RECORDS/ { print name }' "$tests/../plugin/command/commands.def")
: "${listings:?}"

# picked RELEASE...: those of these Go releases that are tested with: all, or in the short check Debian's own and the last.
picked() {
	local words
	read -ra words <<<"${*//$'\n'/ }"
	if is_full; then
		echo "${words[*]}"
	elif [[ " ${words[*]} " == *" 1.19 "* ]]; then
		printf '%s\n' 1.19 "${words[-1]}" | uniq
	else
		echo "${words[-1]}"
	fi
}

# releases RELEASE...: all of them, or in the short check the last, unless RELEASES names others.
releases() {
	local words
	read -ra words <<<"${*//$'\n'/ }"
	is_full || words=("${words[-1]}")
	echo "${RELEASES:-${words[*]}}"
}

# formats RELEASE...: the same for who reads what Go's linker writes: in the short check Debian's own release, too.
formats() {
	echo "${RELEASES:-$(picked "$@")}"
}

# first WORD...: the WORDs, or in the short check the first of them.
first() {
	is_full || set -- "$1"
	echo "$*"
}

# is_newest RELEASE: it is the newest, or the last that RELEASES names. What matters no more to one release than to another, as
# where a program is loaded, is tested with its programs alone.
is_newest() {
	local releases=${RELEASES:-1.27}
	[ "$1" = "${releases##* }" ]
}

# is_newest_or_debian RELEASE: it is the newest, or in the full check Debian's own, or RELEASES names it. Unstripped programs have the same code of
# goheap's to go through as stripped ones: theirs are tested alone.
is_newest_or_debian() {
	[ -n "${RELEASES-}" ] || is_newest "$1" || { is_full && [ "$1" = 1.19 ]; }
}
