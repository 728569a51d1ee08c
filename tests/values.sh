#!/usr/bin/env bash
# The fields of a heap dump's frames as variables in GDB: in made dumps of every format the values that were
# put there, in real ones, with their stripped program and with none, the words that an independent reader finds.
set -u
export LC_ALL=C

# The toolchains and samples stay where they are when the cache moves.
export GOHEAP_TEST_CACHE=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work/cache XDG_RUNTIME_DIR=$work/run
mkdir -p "$XDG_CACHE_HOME" "$XDG_RUNTIME_DIR"
sed '/^# --- build tree only ---$/,$d' "$tests/../gdbinit" >"$work/goheap.gdb"
"$CC" -std=gnu11 -I "$tests/.." "$tests/oracle/makedump.c" "$tests/unit/dumpmaker.c" -o "$work/makedump" || exit

# session GDB PROGRAM DUMP COMMAND...: a session on a dump; PROGRAM may be empty.
session() {
	local gdb=$1 program=$2 dump=$3 commands=()
	shift 3
	for command in "$@"; do
		commands+=(-ex "$command")
	done
	# In the test's directory, so that what a dump could make the session do is seen.
	(cd "$work" && timeout -k 5 120 "$gdb" -nx -q -batch -iex 'set width 0' -iex 'set debuginfod enabled off' \
		-x goheap.gdb -ex "jit-reader-load $GOHEAP_SO" -ex "goheap load $dump" "${commands[@]}" \
		${program:+"$program"} </dev/null 2>&1)
}

# words WORD: standard input, in which %N stands for the offset of word number N, in hexadecimal.
words() {
	awk -v word="$1" '{
		while (match($0, /%[0-9]+/))
			$0 = substr($0, 1, RSTART - 1) sprintf("0x%x", word * substr($0, RSTART + 1, RLENGTH - 1)) \
				substr($0, RSTART + RLENGTH)
		print
	}'
}

# typed: what GDB shows of a made dump of the 1.3 format. GDB has no order of variables.
# shellcheck disable=SC2317 # values calls it
typed() {
	cat <<-'END'
		main.worker
		sp_%11 = 0x10000
		sp_%12 = 0x0
		sp_%13 = 0x10600
		sp_%1 = 0x10000
		sp_%2 = 0x10400 "hello, world"
		sp_%4 = {array = 0x10200, len = 2, cap = 3}
		sp_%7 = {tab = 0x7000, data = 0x10000}
		sp_%9 = {_type = 0x5000 <type:main.Node>, data = 0x10000}
		main.main
		sp_%1 = 0x10008
		sp_%2 = 0x10100
		runtime.goexit
	END
}

# Questions about them and GDB's answers.
# shellcheck disable=SC2317
typed_answers() {
	cat <<-'END'
		print *sp_%1	{f_%0 = 0x10100, f_%1 = 0x10400 "hello", f_%3 = {array = 0x10200, len = 2, cap = 3}, f_%6 = {tab = 0x7000, data = 0x10100}}
		print sp_%4.array[1]	{f_%0 = {_type = 0x5100 <type:main.Pair>, data = 0x10200}}
		print *sp_%4.array@2	{{f_%0 = {_type = 0x5000 <type:main.Node>, data = 0x10000}}, {f_%0 = {_type = 0x5100 <type:main.Pair>, data = 0x10200}}}
		print *sp_%7.data	{f_%0 = 0x10100, f_%1 = 0x10400 "hello", f_%3 = {array = 0x10200, len = 2, cap = 3}, f_%6 = {tab = 0x7000, data = 0x10100}}
		whatis 'main.Node'	main.Node
		print *sp_%13	11
		whatis sp_%11	uintptr *
		whatis sp_%1	main.Node *
		whatis sp_%2	string
		whatis sp_%4	slice
		whatis sp_%9.data	main.Node *
	END
}

# untyped: the same of later formats.
# shellcheck disable=SC2317
untyped() {
	cat <<-'END'
		main.worker
		sp_%11 = 0x10000
		sp_%12 = 0x0
		sp_%13 = 0x10600
		sp_%1 = 0x10000
		sp_%2 = 0x10400
		sp_%4 = 0x10200
		sp_%7 = {tab = 0x7000 <itab:main.Node>, data = 0x10000}
		sp_%9 = {_type = 0x5000 <type:main.Node>, data = 0x10000}
		main.main
		sp_%1 = 0x10008
		sp_%2 = 0x10100
		runtime.goexit
	END
}

# shellcheck disable=SC2317
untyped_answers() {
	cat <<-'END'
		print *sp_%1	65792
		print sp_%13[2]	33
		whatis sp_%1	uintptr *
		whatis sp_%9.data	uintptr *
	END
}

# by_frame: such a list, each frame's variables sorted.
by_frame() {
	awk '!/^sp_/ { frame++ } { printf "%03d\t%s\n", frame, $0 }' | sort | cut -f 2-
}

# frames: a backtrace with variables on standard input as such a list.
frames() {
	sed -nE -e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(.*) \(.*\)$/\2/p' -e 's/^[ \t]+(sp_0x.*)$/\1/p'
}

# values NAME EXPECTED FORMAT WORD ORDER GDB: each kind of record and field of a made dump.
values() {
	local name=$1 commands=() question
	"$work/makedump" values "$3" "$4" "$5" >"$work/made"
	"$2_answers" | words "$4" >"$work/answers"
	while IFS=$'\t' read -r question _; do
		commands+=("$question")
	done <"$work/answers"
	session "$6" "" "$work/made" 'echo stack\n' 'backtrace full' 'echo answers\n' "${commands[@]}" >"$work/session"
	"$2" | words "$4" | by_frame | cat - <(cut -f 2 "$work/answers") >"$work/expected"
	sed '1,/^stack$/d; /^answers$/,$d' "$work/session" | frames | by_frame >"$work/shown"
	sed -E '1,/^answers$/d; s/^(type|\$[0-9]+) = //' "$work/session" >>"$work/shown"
	same "$name" "$work/expected" "$work/shown"
}

# The prototype has no contents of frames.
check_made() {
	values "1.3" typed 1 8 little gdb
	values "1.3, big-endian" typed 1 8 big gdb-multiarch
	values "1.3, 32 bits" typed 1 4 little gdb-multiarch
	values "1.4" untyped 2 8 little gdb
	values "1.5" untyped 3 8 little gdb
	values "1.6, big-endian" untyped 4 8 big gdb-multiarch
	values "1.7" untyped 5 8 little gdb
	values "1.7, big-endian" untyped 5 8 big gdb-multiarch
	values "1.7, 32 bits" untyped 5 4 little gdb-multiarch
	"$work/makedump" values 5 8 little >"$work/made"
	session gdb "" "$work/made" 'thread 2' 'info symbol 0x5100' 'info symbol 0x5101' 'x/2gx sp_0x68' \
		'print sp_0x8' >"$work/session"
	has "a type's descriptor is named" "$(cat "$work/session")" '^type:main\.Pair in section \.data'
	has "what is beyond it is not" "$(cat "$work/session")" '^No symbol matches 0x5101'
	has "memory at a variable" "$(cat "$work/session")" '^0x10600:	0x000000000000000b	0x0000000000000016$'
	# shellcheck disable=SC2016 # $1 is GDB's
	has "a pointer" "$(cat "$work/session")" '^\$1 = \(uintptr \*\) 0x10000$'
}

check_types() {
	"$work/makedump" values 1 8 little >"$work/made"
	session gdb "" "$work/made" "ptype 'main.Node'" 'set language c' "print *('main.Node' *)0x10100" >"$work/session"
	has "a type by its name" "$(cat "$work/session")" '^type = struct main\.Node \{$'
	# shellcheck disable=SC2016 # $1 is GDB's
	has "memory as a type" "$(cat "$work/session")" '^\$1 = \{f_0x0 = 0x0, f_0x8 = \{str = 0x10407 "world", len = 5\},'
	# In the other goroutine that word points to an array of another type.
	session gdb "" "$work/made" 'thread 2' 'print *sp_0x58' >"$work/session"
	# shellcheck disable=SC2016
	has "what has no one type" "$(cat "$work/session")" '^\$1 = 20480$'
}

check_hostile() {
	local format
	for format in 1 5; do
		"$work/makedump" hostile $format 8 little >"$work/made"
		# shellcheck disable=SC2016 # $pc is GDB's
		session gdb "" "$work/made" 'backtrace full' 'info locals' 'whatis *sp_0x8' 'ptype sp_0x8' 'print *sp_0x8' \
			'info symbol 0x5000' 'info types .' 'info functions .' 'info scope *$pc' 'info address sp_0x8' \
			'thread apply all -s frame apply all -s info locals' >"$work/session"
		has "hostile names, format $format: variables are there" "$(cat "$work/session")" 'sp_0x8 = 0x10000$'
		lacks "hostile names, format $format: no control character" "$(cat "$work/session")" $'[\x01-\x08\x0b-\x1f\x7f]'
		equal "hostile names, format $format: nothing ran" "" "$(find "$work" -name gone)"
	done
}

# locals: threads' backtraces with variables on standard input as rows: goroutine, depth, offset, word.
locals() {
	awk -v OFS='\t' '
		/^Thread [0-9]+ / { id = $0; sub(/.*\(LWP /, "", id); sub(/[^0-9].*/, "", id) }
		/^#[0-9]+ / { depth = substr($1, 2) }
		/^[ \t]*sp_0x[0-9a-f]+ = 0x/ { print id, depth, substr($1, 4), $3 }' | sort
}

# columns PROGRAM: of such rows; without the depth where inlined frames count as well.
columns() {
	if [ -n "$1" ]; then
		cut -f 1,3- | sort -u
	else
		sort
	fi
}

# real NAME GDB PROGRAM DUMP STACKS: the stacks and every field of a dump that a program wrote. PROGRAM may be
# empty.
real() {
	session "$2" "$3" "$4" 'thread apply all backtrace full' >"$work/session"
	"$framewords" "$4" | columns "$3" >"$work/expected"
	locals <"$work/session" | columns "$3" >"$work/shown"
	if [ "$(wc -l <"$work/expected")" -ge 50 ]; then
		comm -23 "$work/expected" "$work/shown" >"$work/left"
		same "$1: every field ($(wc -l <"$work/expected"))" /dev/null "$work/left"
	else
		fail "$1: the dump has fields" "$(cat "$work/expected")"
	fi
	# Frames at one pc have the variables of all of them.
	"$framewords" -all "$4" | columns "$3" | comm -13 - "$work/shown" >"$work/left"
	same "$1: no other value" /dev/null "$work/left"
	# Without the program nothing tells of inlined calls.
	awk -v OFS='\t' -v program="$3" '
		/^goroutine [0-9]+ / { id = $2; next }
		/^created by / || /^\t/ || NF == 0 { next }
		/\(\.\.\.\)$/ && program == "" { next }
		{ sub(/\([^()]*\)$/, ""); sub(/^panic$/, "runtime.gopanic"); print id, $0 }' "$5" | sort -u >"$work/expected"
	awk -v OFS='\t' '
		/^Thread [0-9]+ / { id = $0; sub(/.*\(LWP /, "", id); sub(/[^0-9].*/, "", id) }
		/^#[0-9]+ / { sub(/^#[0-9]+ +(0x[0-9a-f]+ in )?/, ""); sub(/ \(.*/, ""); sub(/\[.*\]/, "[...]"); print id, $0 }' \
		"$work/session" | sort -u >"$work/shown"
	comm -23 "$work/expected" "$work/shown" >"$work/left"
	same "$1: every function on a stack ($(wc -l <"$work/expected"))" /dev/null "$work/left"
	lacks "$1: no frame is unknown" "$(cat "$work/session")" '\?\?|[Cc]annot access|corrupt|not saved'
}

# check_release RELEASE
check_release() {
	local directory spec
	for spec in dump 'dump -buildmode=pie'; do
		# shellcheck disable=SC2086 # the words of a specification are arguments
		if ! directory=$("$tests/build-sample" "$1" $spec 2>"$work/why"); then
			skip "Go $1 $spec" "$(tail -n 1 "$work/why")"
			continue
		fi
		"$directory/dump.stripped" "$work/dump" "$work/stacks" >"$work/counts"
		real "Go $1 $spec" gdb "$directory/dump.stripped" "$work/dump" "$work/stacks"
		real "Go $1 $spec, no program" gdb "" "$work/dump" "$work/stacks"
	done
}

# check_machine GOARCH QEMU [alone]: programs for other machines, as far as they can be run here; and with no program,
# if that is said: where it cannot read the code of a frame, GDB takes it for one without a frame of its own on arm.
check_machine() {
	local directory run
	run=$(command -v "$2" || command -v "$2-static")
	if ! directory=$(GOARCH=$1 "$tests/build-sample" 1.19 dump 2>"$work/why"); then
		skip "$1" "$(tail -n 1 "$work/why")"
	elif [ -z "$run" ]; then
		skip "$1" "no $2"
	elif ! "$run" "$directory/dump" "$work/dump" "$work/stacks" >"$work/counts" 2>"$work/why"; then
		skip "$1" "cannot be run here: $(head -n 1 "$work/why")"
	else
		real "$1" gdb-multiarch "$directory/dump.stripped" "$work/dump" "$work/stacks"
		[ $# -eq 2 ] || real "$1, no program" gdb-multiarch "" "$work/dump" "$work/stacks"
	fi
}

check_made
check_types
check_hostile
if framewords=$("$tests/build-sample" 1.19 framewords 2>"$work/why"); then
	framewords=$framewords/framewords
	for release in $("$tests/toolchain" list); do
		check_release "$release"
	done
	check_machine 386 env alone
	check_machine arm qemu-arm
	check_machine s390x qemu-s390x alone
else
	fail "the reader of dumps" "$(cat "$work/why")"
fi
finish
