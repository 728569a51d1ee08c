#!/usr/bin/env bash
# Types of stripped programs: what the debug file says of them against the DWARF of the unstripped twin, both
# read with libdwarf; and what GDB prints with the one and with the other.
. "$(dirname "$0")/lib.sh"
session_home
child=
trap 'kill $child 2>/dev/null; rm -rf "$work"' EXIT

# build RELEASE [FLAG...]: builds the sample. Go 1.19 takes its language version from go.mod alone.
build() {
	local release=$1
	shift
	[ "$release" != 1.19 ] || set -- -gcflags=-lang=go1.18 "$@"
	"$tests/build-sample" "$release" types "$@" 2>"$work/why"
}

# types_of FILE: the types in FILE's DWARF, but for those whose names the runtime has no part in: closures, the
# headers and iterators of maps that Go 1.15 had, and the number that tells apart the types of functions. For uintptr
# Go's linker has an address in the place of an offset.
types_of() {
	"$work/twintypes" "$1" | sed 's/·[0-9]*//g' |
		grep -v -e 'struct { \([a-z/]*\.\.\)\?F uintptr' -e 'noalg\.map\.\(hdr\|iter\)\[' \
			-e '^[0-9]*	uintptr	' | sort -u
}

# equal_types NAME TWIN DEBUGFILE: every type of the twin's is in the debug file: its name, size, and fields or
# other parts. The twin leaves types out that only code refers to.
equal_types() {
	types_of "$2" >"$work/theirs"
	types_of "$3" >"$work/ours"
	comm -23 "$work/theirs" "$work/ours" >"$work/missing"
	same "$1: every type of the twin's ($(wc -l <"$work/theirs")) is there" /dev/null "$work/missing"
	"$work/twintypes" "$2" | wc -l >"$work/all"
	at_most "$1: types that are not compared" "$(($(cat "$work/all") - $(wc -l <"$work/theirs")))" 90
	at_least "$1: types of the package" "$(cut -f 2 "$work/ours" | grep -c '^main\.')" 35
}

# at_most NAME COUNT LIMIT
at_most() {
	if [ "$2" -le "$3" ]; then ok "$1: $2"; else fail "$1: $2, more than $3"; fi
}

# at_least NAME COUNT LIMIT
at_least() {
	if [ "$2" -ge "$3" ]; then ok "$1: $2"; else fail "$1: $2, less than $3"; fi
}

# named_types FILE: the sample's named types in FILE's DWARF.
named_types() {
	"$work/twintypes" "$1" | cut -f 2 | grep -E '^(main|example\.org/[a-z/]*/(solid|plane)/shape)\.[A-Za-z]' |
		sort -u
}

# debug PROGRAM COMMAND...: what GDB prints for each command, after a line with the command itself.
debug() {
	local program=$1 command arguments=()
	shift
	for command in "$@"; do
		arguments+=(-ex "echo > $command\\n" -ex "$command")
	done
	run_gdb -iex 'set exec-file-mismatch off' "$program" "${arguments[@]}" | sed -n '/^> /,$p' | grep -v -e '^\[Inferior .* detached\]$' -ie '^warning: '
}

# prints NAME TWIN STRIPPED: ptype of every named type of the twin's.
prints() {
	local name commands=()
	while IFS= read -r name; do
		commands+=("ptype '$name'" "whatis '$name'")
	done < <(named_types "$2")
	debug "$2" "${commands[@]}" >"$work/theirs"
	"$GOHEAP" debug "$3" -o "$work/stripped.debug"
	debug "$3" "symbol-file $work/stripped.debug" 'set language go' "${commands[@]}" |
		sed '/^> ptype/,$!d' >"$work/ours"
	same "$1: ptype and whatis of $((${#commands[@]} / 2)) types are the twin's" "$work/theirs" \
		"$work/ours"
	at_least "$1: lines of ptype" "$(wc -l <"$work/ours")" 200
}

# start PROGRAM: runs it until its values are what they stay. Its process is $child, and where they are is in
# $work/places.
start() {
	: >"$work/places"
	"$1" >>"$work/places" 2>"$work/names" &
	child=$!
	for _ in $(seq 100); do
		if grep -q '^ready' "$work/places"; then
			return 0
		fi
		sleep 0.1
	done
	return 1
}

stop() {
	end "$child"
	child=
}

# values NAME TWIN STRIPPED: values in a process, by type and address. In Go GDB's expressions have no types of the
# program; those of a value do not depend on the language in which it is named.
values() {
	local type address commands=() goheap=()
	if ! start "$3"; then
		fail "$1: the sample runs" "$(cat "$work/names")"
		return
	fi
	while IFS=$'\t' read -r type address; do
		[ -n "$address" ] || continue
		# shellcheck disable=SC2016 # the variable is GDB's
		commands+=('set language c' "set \$value = ('$type' *) $address" "print *('$type' *) $address"
			'set language go' 'print *$value')
		goheap+=("goheap print '$type' $address")
	done <"$work/places"
	# A stripped program's variables have no names.
	debug "$2" "attach $child" 'set print symbol off' "${commands[@]}" |
		sed '/^> set language/,$!d; s/ <main\[[a-z]*\]+[0-9]*>//g' >"$work/theirs"
	debug "$3" "attach $child" "symbol-file $work/stripped.debug" 'set print symbol off' "${commands[@]}" |
		sed '/^> set language/,$!d' >"$work/ours"
	same "$1: ${#goheap[@]} values of a process are the twin's" "$work/theirs" "$work/ours"
	has "$1: a string is text" "$(cat "$work/ours")" 'label = 0x[0-9a-f]+ "root"'
	GOHEAP_PROGRAM=$GOHEAP debug "$3" "source $work/goheap.gdb" "jit-reader-load $GOHEAP_SO" "attach $child" \
		"${goheap[@]}" >"$work/ours"
	has "$1: goheap print prints a Go value" "$(cat "$work/ours")" '^main.Node \{.* label: "root"'
	stop
}

# lists NAME STRIPPED: goheap types has what the program itself prints as the types of its values.
lists() {
	"$GOHEAP" types "$2" >"$work/types"
	cut -f 4 "$work/types" | sort -u >"$work/ours"
	# The package's name, where the list has its path.
	grep -v -e '^shape\.' -e '^\*shape\.' -e '^struct {' -e ready -e ' ' "$work/names" | sort -u >"$work/theirs"
	comm -23 "$work/theirs" "$work/ours" >"$work/missing"
	same "$1: goheap types has the types that the program names ($(wc -l <"$work/theirs"))" /dev/null \
		"$work/missing"
	"$GOHEAP" types --json "$2" | sed 's/.*"name":"\(.*\)"}$/\1/' | wc -l >"$work/count"
	same "$1: as many in JSON" <(wc -l <"$work/types") "$work/count"
	has "$1: two types of one name in two packages" "$(cat "$work/types")" \
		$'struct\texample.org/goheap/samples/types/solid/shape.Shape$'
	has "$1: the other" "$(cat "$work/types")" \
		$'struct\texample.org/goheap/samples/types/plane/shape.Shape$'
}

# globals_of FILE: where the runtime's variables are that Delve looks for, and where runtime.moduledata has the fields that it
# reads.
globals_of() {
	gdb -q -nx -batch -iex 'set auto-load no' -ex "symbol-file $1" -ex "python
for name in 'allgs', 'allglen', 'firstmoduledata':
    print(name, int(gdb.lookup_global_symbol('runtime.' + name).value().address))
for field in gdb.lookup_type('runtime.moduledata').fields():
    if field.name in ('text', 'etext', 'types', 'etypes', 'typemap', 'next'):
        print(field.name, field.bitpos)" 2>&1
}

globals() {
	globals_of "$2" >"$work/theirs"
	globals_of "$3" >"$work/ours"
	has "$1: the fields of the twin's runtime.moduledata" "$(cat "$work/theirs")" '^next [0-9]+$'
	same "$1: variables of the runtime" "$work/theirs" "$work/ours"
}

# check_release RELEASE [FLAG...]
check_release() {
	local directory name="Go $*"
	if ! directory=$(build "$@"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	if ! "$GOHEAP" debug "$directory/types.stripped" -o "$work/types.debug"; then
		fail "$name: goheap debug"
		return
	fi
	equal_types "$name" "$directory/types" "$work/types.debug"
	needs "$name: in GDB" gdb || return
	globals "$name" "$directory/types" "$work/types.debug"
	prints "$name" "$directory/types" "$directory/types.stripped"
	values "$name" "$directory/types" "$directory/types.stripped"
	lists "$name" "$directory/types.stripped"
}

# check_machine RELEASE GOARCH
check_machine() {
	local directory name="Go $1 $2${GOEXPERIMENT:+ $GOEXPERIMENT}"
	if ! directory=$(GOARCH=$2 build "$1"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	"$GOHEAP" debug "$directory/types.sw" -o "$work/types.debug" || fail "$name: goheap debug"
	equal_types "$name" "$directory/types" "$work/types.debug"
}

"$CC" -std=gnu11 -O2 "$tests/oracle/twintypes.c" -ldwarf -lelf -lz -o "$work/twintypes" || exit 1
releases=$("$tests/toolchain" list)
for release in $(formats "$apart"); do
	check_release "$release"
	! is_newest "$release" || check_release "$release" -buildmode=pie
done
for release in $(formats 1.15 1.19 "$(tail -n 1 <<<"$releases")"); do
	for arch in $(first arm64 386 arm mips mips64le ppc64 s390x); do
		check_machine "$release" "$arch"
	done
done
# Maps whose groups have an array of keys and one of values.
GOEXPERIMENT=mapsplitgroup check_machine "$(tail -n 1 <<<"$releases")" amd64
finish
