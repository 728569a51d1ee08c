#!/usr/bin/env bash
# Values of every kind as goheap print prints them, by type and address, against the text that the program makes of
# them by reflection: in a process, in its core file and in its heap dump, in the shell and in GDB.
. "$(dirname "$0")/lib.sh"
session_home
# In GDB they are printed of one release.
gdb_release=${GDB_RELEASE:-1.27}
! is_full || gdb_release=${GDB_RELEASE:-1.19}

# start PROGRAM: runs it until it has printed its values, to $work/places, and written $work/dump. Its process is $child.
start() {
	rm -f "$work/dump"
	: >"$work/places"
	mkdir -p "$work/dumped"
	(cd "$work/dumped" && ulimit -c unlimited && GOTRACEBACK=crash exec "$1" "$work/dump" >"$work/places" 2>"$work/why") &
	child=$!
	wait_until grep -q '^ready' "$work/places" && return
	fail "the sample runs" "$(cat "$work/why")"
}

# ask N: of each Nth value the type and address in $work/asked, the text in $work/expected.
ask() {
	grep -v -e '^ready' -e '^part' "$work/places" | awk -v n="$1" 'NR % n == 0' | tee >(cut -f 3 >"$work/expected") |
		cut -f 1,2 >"$work/asked"
}

# in_shell NAME N ARG...: each Nth value, by goheap print with ARGs.
in_shell() {
	local name=$1 type address
	ask "$2"
	shift 2
	while IFS=$'\t' read -r type address; do
		"$GOHEAP" print --limit 0 --depth 20 "$@" "$type" "$address" 2>>"$work/why"
	done <"$work/asked" >"$work/found"
	same "$name: $(wc -l <"$work/asked") values" "$work/expected" "$work/found"
}

# in_gdb NAME PROGRAM COMMAND: one value in eight, or all if RELEASES says what to test with, in a session after COMMAND.
in_gdb() {
	local type address commands=()
	ask "$([ -n "${RELEASES-}" ] && echo 1 || echo 8)"
	while IFS=$'\t' read -r type address; do
		commands+=("echo @" "goheap print --limit 0 --depth=20 $type $address")
	done <"$work/asked"
	goheap "${@:2}" "${commands[@]}" >"$work/output"
	sed -n 's/^@//p' "$work/output" >"$work/found"
	same "$1 in GDB: $(wc -l <"$work/asked") values" "$work/expected" "$work/found"
}

# limits NAME PROGRAM: what is left out says so, and types need not be the program's in full.
limits() {
	local list map
	list=$(awk -F'\t' '$1 == "**main.node" && !/cycle/ { print $2 }' "$work/places")
	map=$(awk -F'\t' '$1 == "map[int]int" && length($3) > 100000 { print $2 }' "$work/places")
	# shellcheck disable=SC2317 # its output is
	print() {
		"$GOHEAP" print -e "$2" "$work/core" "${@:3}" 2>&1
	}
	has "$1: a pointer that is not followed" "$(print "$@" --depth 2 "**main.node" "$list")" \
		'^\*\*main.node \{Name: "a", next: \(\*main.node\)\(0x[0-9a-f]+\), tags: \[\]string len: 0, cap: 0, \[\], '
	equal "$1: the first of many entries" 'map[int]int [-5: 0, 27: 77409,...+99998 more]' \
		"$(print "$@" --limit 2 'map[int]int' "$map")"
	equal "$1: an array of pointers to slices that the program does not describe" \
		'[2]*[]main.basics [nil,nil]' "$(print "$@" '[2]*[]main.basics' "$(zeros)" | sed 's/,nil,.*/,nil]/')"
	equal "$1: what is not in memory" 'main.point {X: (unreadable 0x10), Y: (unreadable 0x18)}' \
		"$(print "$@" main.point 10)"
	has "$1: no such type" "$(print "$@" main.nosuch 10)" \
		': expected a type that the program describes, found none called main.nosuch$'
}

# lost PROGRAM: in a session the buckets, or groups, of a map are where nothing is: the third word of its header in all releases.
lost() {
	local map
	map=$(awk -F'\t' '$1 == "map[int]int" && length($3) > 100000 { print $2 }' "$work/places")
	goheap "$1" "attach $child" "set language c" "set \$buckets = (unsigned long *)($map + 16)" \
		"set \$old = *\$buckets" "set var *\$buckets = 0x10" "echo @" "goheap print map[int]int $map" \
		"set var *\$buckets = \$old" >"$work/output"
	equal "go$release: a map whose entries cannot be read" "map[int]int [(entries that cannot be read)]" "$(sed -n 's/^@//p' "$work/output")"
}

# parts NAME ARG...: parts of values, as Go's own expressions have them.
parts() {
	local type address path
	grep '^part' "$work/places" | cut -f 5 >"$work/expected"
	while IFS=$'\t' read -r _ type address path _; do
		"$GOHEAP" print --limit 0 --depth 20 --part "$path" "${@:2}" "$type" "$address" 2>&1
	done < <(grep '^part' "$work/places") >"$work/found"
	same "$1: $(wc -l <"$work/expected") parts of values" "$work/expected" "$work/found"
}

# zeros: where the zero time.Time is.
zeros() {
	awk -F'\t' '$3 == "time.Time(0001-01-01T00:00:00Z)" { print $2 }' "$work/places"
}

# untyped NAME PROGRAM: the types of objects are found.
untyped() {
	local address
	address=$(awk -F'\t' '$1 == "main.basics" { print $2 }' "$work/places")
	equal "$1: an object's type is found" "$("$GOHEAP" print -e "$2" "$work/dump" main.basics "$address" 2>&1)" \
		"$("$GOHEAP" print -e "$2" "$work/dump" "$address" 2>&1)"
}

# arguments PROGRAM: where functions stop, their arguments by their own types, many of them in registers.
arguments() {
	local arg method go_on="run arguments parts >$work/told" commands=()
	for method in words numbers pointers structs constants beyond; do
		commands+=("break main.(*point).$method")
	done
	"$1" arguments parts >"$work/calls"
	while IFS=$'\t' read -r arg _; do
		if [ "$arg" = arg0 ]; then
			commands+=("$go_on")
			go_on='continue'
		fi
		commands+=("echo @" "goheap print --limit 0 --depth=20 $arg")
	done <"$work/calls"
	# A function that a signal stops where it begins does so twice.
	goheap "$1" 'set env GODEBUG=asyncpreemptoff=1' "${commands[@]}" continue >"$work/output"
	sed -n 's/^@//p' "$work/output" >"$work/found"
	cut -f 2 "$work/told" >"$work/expected"
	same "$(wc -l <"$work/expected") arguments, by their own types" "$work/expected" "$work/found"
}

# results NAME PROGRAM: what methods have returned, where finish stops.
results() {
	local method commands=()
	for method in numbers texts pointers structs many nothing recursive; do
		commands+=("tbreak main.gift.$method")
	done
	commands+=("run results >$work/told")
	for _ in 1 2 3 4 5 6; do
		commands+=(finish continue)
	done
	goheap "$2" "${commands[@]}" finish "goheap returned --depth 0" continue >"$work/output"
	grep '^Value returned' "$work/output" >"$work/found"
	# The last is asked for again.
	sed '$p' "$work/told" >"$work/expected"
	same "$1: what $(wc -l <"$work/expected") calls have returned" "$work/expected" "$work/found"
}

# unfinished PROGRAM: of an expression that GDB makes no value of, what is missing is said.
# shellcheck disable=SC2016 # GDB's
unfinished() {
	local at one commands=() expressions=('$sp' '$sp + 8' '$sp +' '$sp -' '$sp &&' '$sp ==' '$sp @' '$sp .' '-' '($sp' '($sp + 1) * (2'
		'$sp + {1' '$sp)' '$sp]' '($sp]' '$i++' '$i--' '4 * -1' '"(+"' "'('")
	for one in "${expressions[@]}"; do
		commands+=('echo @\n' "print $one" 'echo @\n' "goheap print uint64 $one")
	done
	goheap "$1" 'break main.main' 'run >/dev/null' 'set var $i = $sp' "${commands[@]}" 'echo @\n' kill >"$work/output"
	awk '/^\$[0-9]+ = / { valued = 1 } /^@/ { if (at++ % 2 && !valued) print int(at / 2) - 1; valued = 0 }' \
		"$work/output" >"$work/expected"
	awk '/^@/ { at++ } at % 2 == 0 && /^goheap: (expected an? .*, found the end of the expression|a . of the expression closes nothing)$/ {
		print int(at / 2) - 1 }' "$work/output" >"$work/found"
	at=$(wc -l <"$work/expected")
	same "$at expressions of ${#expressions[@]} lack something, and it is said" "$work/expected" "$work/found"
	has "what is missing" "$(cat "$work/output")" '^goheap: expected an operand after \+, found the end of the expression$'
	has "which bracket is missing" "$(cat "$work/output")" '^goheap: expected a \), found the end of the expression$'
}

# reduce: values on standard input, each with a line @ after it, as trees of fields and elements.
reduce() {
	python3 "$tests/oracle/tree.py" "$@"
}

# as_json NAME ARG...: as JSON the values are the same. Left out are what is no text in JSON, and the largest maps.
as_json() {
	grep -v -e '^ready' -e '^part' -e '\\xff' -e '^context' -e uint8 -e '^json' "$work/places" | awk 'length($0) < 100000' >"$work/asked"
	# What JSON has as texts or values by themselves.
	cut -f 3 "$work/asked" | sed -E -e 's/^\**chan[^ ]* (struct \{\}|interface \{\}|[a-z.]+) ?//; s/reflect\.Value\(nil\)/nil/g' \
		-e 's/(time\.Time|sync\.[A-Za-z]+|netip\.Addr|netip\.Prefix|net\.IP|big\.Rat|big\.Float)\(([^()]*)\)/"\2"/g; s/unsafe\.Pointer\((0x[0-9a-f]+)\)/"\1"/g' \
		-e 's/[A-Z][A-Za-z]+ \(([0-9]+)\)/\1/g; s/^(big|atomic|bytes|strings)\.[A-Za-z]+\((.*)\)$/\2/' -e 's/$/\n@/' | reduce >"$work/expected"
	while IFS=$'\t' read -r type address _; do
		"$GOHEAP" print --json --limit 0 --depth 20 "${@:2}" "$type" "$address" 2>>"$work/why"
	done <"$work/asked" | python3 "$tests/oracle/json_text.py" | reduce >"$work/found"
	same "$1: $(wc -l <"$work/asked") values, as JSON" "$work/expected" "$work/found"
}

# as_delve NAME ARG...: what Delve, given ARGs, prints of the unstripped program's variables is what goheap prints. Left out
# are what Delve does not print by what it means: channels, cycles, times, locks, atomic values, large numbers, addresses, contexts, bytes and package reflect's values; text that is no UTF-8, which
# 1.20 cuts; and maps so large that it takes a minute.
as_delve() {
	# The sample prints maps, functions and channels twice: by the pointer and by the variable.
	awk -F'\t' -v OFS='\t' '/^ready/ || /^map\[/ || $2 == address && "*" $1 == type { next } { type = $1; address = $2 }
			$1 == "part" { i++; next } { print i++, $0 }' "$work/places" |
		awk -F'\t' '$2 !~ /chan|^time.Time|^sync\.|^atomic\.|^big\.|^netip\.|reflect.Value|^context|^net\.|^bytes|^strings|^json|uint8/ && $4 !~ /\(cycle\)|\\xff/ && length($4) < 100000' >"$work/asked"
	while IFS=$'\t' read -r _ type address _; do
		"$GOHEAP" print --limit 0 --depth 20 -e "$program" "$work/core" "$type" "$address" | sed 's/^\*\*/*/'
		echo @
	done <"$work/asked" | reduce --delve >"$work/ours"
	{
		printf 'config %s\n' 'max-string-len 100000' 'max-array-values 200000' 'max-variable-recurse 20'
		sed -E 's/^([0-9]+)\t.*/print *main.kept[\1].(data)\nprint "@"/' "$work/asked"
		echo exit
	} >"$work/commands"
	timeout -k 5 120 "$delve" "${@:2}" --allow-non-terminal-interactive=true --init "$work/commands" </dev/null 2>"$work/why" |
		sed -e 's/\x1b\[[0-9;]*m//g' -e "/^Type 'help'/d" -e 's/^"@"$/@/' | reduce --delve >"$work/theirs"
	# Some types it does not find: the error begins with where it was asked.
	paste "$work/theirs" "$work/ours" | grep -v "^$work/commands" >"$work/both"
	same "$1: $(wc -l <"$work/both") values" <(cut -f 1 "$work/both") <(cut -f 2 "$work/both")
	[ "$(wc -l <"$work/both")" -ge 60 ] || fail "$1: Delve prints values" "$(cat "$work/theirs")"
}

# delves: what Delve prints of the core file and of the process.
delves() {
	local delve=
	is_newest_or_debian "$release" || return 0
	if ! find_delve "$release"; then
		skip "go$release: as Delve" "no dlv"
		return
	fi
	delve_reads "go$release: as Delve" "$directory/printed" || return
	as_delve "go$release: core file, as Delve" core "$directory/printed" "$work/core"
	# It takes the symbols of a process from a file of the same name.
	mkdir -p "$work/symbols" "$work/config/dlv"
	cp "$directory/printed" "$work/symbols/printed.stripped.debug"
	echo "debug-info-directories: [$work/symbols]" >"$work/config/dlv/config.yml"
	XDG_CONFIG_HOME=$work/config as_delve "go$release: process, as Delve" attach "$child"
}

# callers PROGRAM: what a function has saved of its arguments is told in the frames of those that have called, with a question
# mark: of main.gift.recursive, which calls itself with one less, from 50 on.
callers() {
	local commands=() i
	for i in {46..50}; do
		commands+=(up 'goheap print arg1')
		echo "$i?"
	done >"$work/expected"
	echo '{"perhaps":true,"type":"int","value":50}' >>"$work/expected"
	# A function that a signal stops where it begins would be counted twice.
	goheap "$1" 'set env GODEBUG=asyncpreemptoff=1' 'break main.gift.recursive' 'ignore 1 5' 'run results >/dev/null' "${commands[@]}" \
		'goheap print --json arg1' 'goheap print arg0' kill >"$work/output"
	grep -E '^([0-9]+\?|\{.*)$' "$work/output" >"$work/found"
	same "arguments of callers" "$work/expected" "$work/found"
	has "an argument that is not saved" "$(cat "$work/output")" '^goheap: arg0 is not known here: the function was called with it in registers, '
}

# language PROGRAM: what GDB prints itself, in its own Go, of the arguments of the first call; and that what else it prints, and
# what variables it has, is as without goheap, on the unstripped twin; but for the exit status of the last shell, and how many threads
# the runtime has started by then.
# shellcheck disable=SC2016 # GDB's
language() {
	local program=$1 session commands=('break main.(*point).words' 'run arguments >/dev/null' 'set var $mine = 5' 'print $mine'
		'print $_siginfo.si_signo' 'print/x $rip' 'print/x $xmm0.uint128' 'info registers rip' 'show convenience'
		'set print repeats 100' 'echo @' 'output arg1' 'echo \n@' 'output arg2.array[0]' 'echo \n@' 'output arg2.array[2]'
		'echo \n@' 'output *arg0' 'echo \n' kill)
	for session in goheap plain_gdb; do
		"$session" "$program" "${commands[@]}" >"$work/output.$session"
		sed -n -e '/^\$_\?goheap/d' -e '/^\$1 = /,$p' "$work/output.$session" | sed '/^@/,$d' | grep -v -e '^\$_gdb_setting' -e '^\$_shell_' -e '^\$_inferior_thread_count' |
			sed 's/<internal function [^>]*>/<internal function>/' | sort >"$work/gdb.$session"
		program=${1%.stripped}
	done
	has "GDB's own variables and registers" "$(cat "$work/gdb.plain_gdb")" '^\$2 = 5$'
	same "GDB's own variables and registers are as without goheap" "$work/gdb.plain_gdb" "$work/gdb.goheap"
	"$1" arguments | head -n 5 >"$work/told"
	sed -n 's/^@//p' "$work/output.goheap" | sed -E 's/^0x[0-9a-f]+ //; s/ = /: /g' >"$work/found"
	{
		sed -n 's/^arg1\t//p' "$work/told"
		sed -n 's/^arg2\t.*\["\([^"]*\)","\([^"]*\)","\([^"]*\)"\]$/"\1"\n"\3"/p' "$work/told"
		sed -n 's/^arg0\t\*main.point //p' "$work/told"
	} >"$work/expected"
	same "arguments in GDB's own Go" "$work/expected" "$work/found"
}

# outer_result PROGRAM: what a method returns that has called others, where finish ends its frame.
outer_result() {
	goheap "$1" 'tbreak main.gift.texts' "run results >$work/told" 'tbreak strings.genSplit' continue 'frame 2' finish continue \
		>"$work/output"
	sed -n 2p "$work/told" >"$work/expected"
	grep '^Value returned' "$work/output" >"$work/found"
	same "what an outer frame returns" "$work/expected" "$work/found"
}

# refused PROGRAM: what an expression asks for that is not there is said in Go's words, with what is there.
refused() {
	local commands=('break main.(*point).pointers' 'run arguments >/dev/null') expression
	local expressions=(foo 'foo.bar[1]' arg0.Z 'arg1.next.tags[7]' 'arg1.tags["a"]' 'arg2["nosuch"]' 'arg1.any.(string)'
		'arg1.next.any.(string)' 'arg0.X.Y' '*arg1.tags' 'len(arg2)' 'arg0 -> X' 'main.point' "\$nosuch" main.main arg9)
	for expression in "${expressions[@]}"; do
		commands+=("goheap print $expression")
	done
	goheap "$1" "${commands[@]}" up 'goheap print foo' kill 'goheap print foo' >"$work/output"
	sed -n '/^goheap: foo:/,$p' "$work/output" | grep -v -e '^#1 ' -e '^[0-9]' -e '^\[Inferior' -e '^Kill' >"$work/found"
	cat >"$work/expected" <<-'END'
		goheap: foo: there is no foo; here are arg0, arg1, arg2, arg3, arg4, arg5 (goheap frame shows them)
		goheap: foo.bar[1]: there is no foo; here are arg0, arg1, arg2, arg3, arg4, arg5 (goheap frame shows them); variables of packages have no names in a stripped program
		goheap: .Z: expected a field of main.point: X, Y, found none of that name
		goheap: [7]: expected an index that is in it, found 7, its length is 0
		goheap: ["a"]: expected a number as index, found "a"
		goheap: ["nosuch"]: expected a key that is in the map, as goheap print writes it, found "nosuch", which none of the 2 entries has
		goheap: .(string): expected a value that is not nil, found nil
		goheap: .(string): expected a value of that type, found main.point
		goheap: .Y: expected a struct, found int
		goheap: .*: expected a pointer, found []string
		goheap: len(arg2): not understood from len(arg2) on: what has a value is NAME, NAME.FIELD, NAME[INDEX], NAME[KEY], NAME[LOW:HIGH], NAME.(TYPE), *NAME, and numbers
		goheap: arg0 -> X: not understood from > X on: what has a value is NAME, NAME.FIELD, NAME[INDEX], NAME[KEY], NAME[LOW:HIGH], NAME.(TYPE), *NAME, and numbers
		That is a type: goheap print TYPE EXPRESSION
		It has no value.
		goheap: main.main: a function, which has no value: break, list and info line take it
		goheap: arg9: there is no arg9; here are arg0, arg1, arg2, arg3, arg4, arg5 (goheap frame shows them)
		goheap: foo: there is no foo; here are arg0 (goheap frame shows them)
		No process, core file or heap dump is loaded.
	END
	same "expressions of what is not there" "$work/expected" "$work/found"
}

# aborted: the core file that the kernel writes of the process.
aborted() {
	kill -ABRT "$child"
	wait "$child" 2>/dev/null
	if ! mv "$work/dumped/core"* "$work/written" 2>/dev/null; then
		skip "go$release: a core file that the kernel wrote" "core_pattern is $(cat /proc/sys/kernel/core_pattern)"
		return
	fi
	in_shell "go$release: a core file that the kernel wrote" 8 -e "$program" "$work/written"
}

# linked RELEASE: one value in sixteen of a program that was linked with -linkshared: its types are described by itself and by
# the library that has the runtime. What closures have captured is not told there.
linked() {
	local type address
	sample "go$1, -linkshared" "$1" printed -linkshared || return
	export LD_LIBRARY_PATH=$directory/lib.stripped
	start "$directory/printed.stripped"
	unset LD_LIBRARY_PATH
	sed -i '/\.func1 {/d' "$work/places"
	ask 16
	while IFS=$'\t' read -r type address; do
		"$GOHEAP" print --limit 0 --depth 20 -p "$child" "$type" "$address" 2>>"$work/why"
	done <"$work/asked" >"$work/found"
	same "go$1, -linkshared: $(wc -l <"$work/asked") values" "$work/expected" "$work/found"
	kill "$child"
	wait "$child" 2>/dev/null
}

for release in $(releases "$apart_maps"); do
	flags=()
	[ "$release" != 1.24 ] || flags=(-buildmode=pie)
	CGO_ENABLED=0 sample "go$release" "$release" printed "${flags[@]}" || continue
	program=$directory/printed.stripped
	start "$program"
	rm -f "$work/core"
	gcore -o "$work/made" "$child" >"$work/why" 2>&1 && mv "$work/made.$child" "$work/core"
	in_shell "go$release: core file" 1 -e "$program" "$work/core"
	in_shell "go$release: heap dump" 4 -e "$program" "$work/dump"
	parts "go$release: core file" -e "$program" "$work/core"
	limits "go$release" "$program"
	untyped "go$release" "$program"
	results "go$release" "$program"
	if [ "$release" = "$gdb_release" ]; then
		arguments "$program"
		unfinished "$program"
		refused "$program"
		callers "$program"
		outer_result "$program"
		language "$program"
		as_json "go$release: core file" -e "$program" "$work/core"
		in_shell "go$release: process" 8 -p "$child"
		"$GOHEAP" core -f -e "$program" "$work/dump" -o "$work/made" && in_shell "go$release: core file of the heap dump" 4 -e "$program" "$work/made"
		in_gdb "go$release: process" "$program" "attach $child"
		lost "$program"
		in_gdb "go$release: core file" "$program" "core-file $work/core"
		in_gdb "go$release: heap dump" "$program" "goheap load $work/dump"
	fi
	delves
	if [ "$release" = "$gdb_release" ] || [ -n "${RELEASES-}" ]; then
		aborted
	else
		end "$child"
	fi
done
[ -n "${RELEASES-}" ] || ! in_full "linked" || linked 1.19
finish
