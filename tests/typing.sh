#!/usr/bin/env bash
# Types of the objects in heap dumps: what goheap says of a stripped program's against what the program says itself of
# objects of many types, with all that can be mistaken for another; and how much is typed in dumps of programs that do
# what programs do.
. "$(dirname "$0")/lib.sh"

# plain: names of types on standard input, less what goheap and package reflect have each its own way: "[]" or "[N]"
# of an array's elements, once more if they are arrays, and packages' paths. Of a GC shape it is the one type that has it.
plain() {
	sed -E 's/ header$//; s/^(\[\])?go\.shape\.struct \{\.\.\.\}, perhaps //; s/^\[[0-9]*\]//; s/^\[[0-9]+\]//; s#([a-z0-9.]+/)+([a-z0-9]+\.)#\2#g'
}

# answers [OPTION...]: what goheap says of each address that the program told, a line each.
answers() {
	cut -f 1 "$work/said" | xargs "$GOHEAP" objects --json "$@" "$work/dump" >"$work/json" || return 1
	sed -E 's/,"pointers":.*//; s/.*,"type":"(.*)"$/\1/; s/\\"/"/g' "$work/json"
}

# compare NAME SHARE OPTION...: no object has a wrong type, and so many in 100 of those that the program tells of, or
# more, have one.
compare() {
	local name=$1 share=$2 all known
	shift 2
	if ! answers "$@" >"$work/answers"; then
		fail "$name: goheap objects"
		return
	fi
	plain <"$work/answers" >"$work/found"
	cut -f 2 "$work/said" | plain >"$work/expected"
	paste "$work/expected" "$work/found" "$work/said" | grep -vE '^[^	]*	[0-9]+ bytes, ' >"$work/typed"
	# Values that share memory are not told apart, nor types of one shape.
	awk -F'\t' '$1 != $2 && $2 != "small values" && !($1 ~ / or / && ($2 ~ /^go\.shape\.struct [{] / || index($1, $2)))' \
		"$work/typed" >"$work/wrong"
	same "$name: no object has a wrong type" /dev/null "$work/wrong"
	all=$(wc -l <"$work/said") known=$(wc -l <"$work/typed")
	holds "$name: $known of $all have a type" "$(paste "$work/expected" "$work/found" | awk -F'\t' '$1 != $2')" \
		[ "$((100 * known))" -ge "$((share * all))" ]
}

# typed NAME PERCENT OPTION...: so many in 100 bytes of the heap, or more, are of known types.
typed() {
	local name=$1 percent=$2 line
	shift 2
	line=$("$GOHEAP" histogram --bytes "$@" "$work/dump" | grep '^typed: ')
	if [ "$(sed -E 's/^typed: ([0-9]+)% of bytes.*/\1/' <<<"$line")" -ge "$percent" ]; then
		ok "$name: $line"
	else
		fail "$name: $percent% of bytes typed" "$line"
	fi
}

# check_release RELEASE [FLAG...]
check_release() {
	local release=$1 directory name
	shift
	name="Go $release${GOARCH:+ $GOARCH}${*:+ $*}"
	sample "$name" "$release" typed "$@" || return
	if ! "$directory/typed.stripped" "$work/dump" >"$work/said"; then
		fail "$name: the sample writes its dump"
		return
	fi
	compare "$name, stripped" 98 -e "$directory/typed.stripped"
	has "$name: what a reflect.Value holds" "$(cat "$work/answers")" '^map\[string\]\*main\.Large$'
	has "$name: a slice of one element" "$(cat "$work/answers")" '^(\[\])?\*main\.Few$'
	check_shapes "$name" "$release"
	compare "$name, with the twin" 98 -e "$directory/typed.stripped" --names "$directory/typed"
	"$GOHEAP" histogram --bytes -e "$directory/typed.stripped" --names "$GOHEAP" "$work/dump" >"$work/histogram" 2>&1
	equal "$name: names of another program: exit status" 1 $?
	"$GOHEAP" histogram --bytes --names "$directory/typed.stripped" "$work/dump" >"$work/histogram" 2>&1
	has "$name: names of a program that has none" "$(cat "$work/histogram")" '^goheap: .*: expected DWARF, found none'
	"$GOHEAP" path -e "$directory/typed" "$work/dump" \
		"$(awk -F'\t' '$2 == "main.Holder" { print $1; exit }' "$work/said")" >"$work/path"
	has "$name: a path names a global" "$(cat "$work/path")" '^main\.holder \(bss, 0x[0-9a-f]+\)$'
	"$GOHEAP" path -e "$directory/typed.stripped" "$work/dump" \
		"$(awk -F'\t' '$2 == "map[string]main.Named" { print $1; exit }' "$work/said")" >"$work/path"
	has "$name: a path names fields" "$(cat "$work/path")" 'main\.Holder, [0-9]+ bytes  \.many ->$'
	has "$name: and types" "$(cat "$work/path")" ' map\[string\]main\.Named, [0-9]+ bytes$'
	[ -n "${GOARCH:-}" ] || check_gdb "$name" "$directory"
	"$GOHEAP" histogram --bytes -n 0 "$work/dump" >"$work/histogram"
	has "$name: without the program" "$(cat "$work/histogram")" '^typed: [0-9]+% of bytes'
}

# check_shapes NAME RELEASE: of a type that is known by its GC shape alone it is told which it perhaps is, but not where
# several have that.
check_shapes() {
	[ "${2#1.}" -ge 22 ] || return 0
	has "$1: by the shape that one type has" "$(cat "$work/answers")" \
		'^\[\]go\.shape\.struct \{\.\.\.\}, perhaps \[\]main\.Leaf$'
	equal "$1: and in SQL, with its package" main "$("$GOHEAP" sql --csv "$work/dump" -e "$directory/typed.stripped" \
		"SELECT package FROM types WHERE name LIKE '[]go.shape.%, perhaps []main.Leaf'" | sed 1d)"
	lacks "$1: but not by one that two have" "$(cat "$work/answers")" 'perhaps \[\]main\.(Cage|Coop)'
}

# check_locals RELEASE: what only the variables of functions lead to has its type, from where arguments are in registers on: in a
# dump, and in the process.
check_locals() {
	local name="Go $1: only locals" directory
	[ "${1#1.}" -ge 18 ] && sample "$name" "$1" locals || return 0
	if ! "$directory/locals.stripped" "$work/dump" >"$work/said"; then
		fail "$name: the sample writes its dump"
		return
	fi
	# Of two types that one place has, or a variable, none is known; nor, in a dump of this release, where a frame has a map.
	compare "$name" "$((${1#1.} < 22 ? 85 : 97))" -e "$directory/locals.stripped"
	run_until_ready "$directory/locals.stripped"
	"$GOHEAP" histogram --json -n 0 -p "$pid" >"$work/json" 2>"$work/errors"
	end "$pid"
	for type in Made Appended Filled Mapped Few Queued Returned Listed Looked Chained Field Boxed; do
		has "$name, live: main.$type" "$(cat "$work/json")" \
			"\"objects\":$(grep -c "	main\.$type\$" "$work/output"),.*\"type\":\"main\.$type\""
	done
}

# check_loops RELEASE: what loops store in package variables has its type, where the compiler puts parts of a loop behind those
# that follow them, too.
check_loops() {
	local name="Go $1: loops" directory
	[ "${1#1.}" -ge 18 ] && sample "$name" "$1" loops || return 0
	if ! "$directory/loops.stripped" "$work/dump" >"$work/said"; then
		fail "$name: the sample writes its dump"
		return
	fi
	compare "$name" 80 -e "$directory/loops.stripped"
	# Of two types that one variable has, none is known.
	paste "$work/expected" "$work/found" | awk -F'\t' '$1 != $2 { print $1 }' | grep -vxE 'main\.(Left|Right|Even|Odd)' | sort -u >"$work/untyped"
	same "$name: all but what one variable has two types of" /dev/null "$work/untyped"
}

# check_gdb NAME DIRECTORY: in GDB an object comes with the command that prints its value.
check_gdb() {
	local address session command
	needs "$1: in GDB" gdb || return
	address=$(awk -F'\t' '$2 == "main.Large" { print $1; exit }' "$work/said")
	session=$(gdb_objects "$2" "goheap objects $address")
	command=$(sed -n 's/^  \(goheap print .*\)$/\1/p' <<<"$session")
	equal "$1: in GDB, the command that prints a value" "goheap print 'main.Large' $address" "$command"
	for command in "$command" "goheap print $address" "goheap print $address+8"; do
		has "$1: and the value, by $command" "$(gdb_objects "$2" "$command")" \
			'^main.Large \{name: "large", '
	done
	has "$1: where the type is not known" "$(gdb_objects "$2" "goheap print 8")" '^goheap: 0x8: expected an address in an object, '
}

# gdb_objects DIRECTORY COMMAND: what GDB prints for COMMAND, with the stripped program's dump loaded.
gdb_objects() {
	goheap "$1/typed.stripped" "goheap load $work/dump" "$2"
}

# each OPTION...: each object of the dump and what it is called, by address.
each() {
	"$GOHEAP" dominators --json "$@" "$work/dump" | sed -nE 's/.*"object":"(0x[0-9a-f]+)","type":"(.*)","dominator":.*/\1	\2/p' | sort
}

# agrees NAME DIRECTORY PROGRAM: each object whose type is known without the variables' types, by headers, interfaces and what
# the code does with globals, has the type that the unstripped program's DWARF leads to. An array may have been made as one of
# so many elements.
agrees() {
	local both wrong
	each -e "$2/$3.stripped" | grep -vE '	[0-9]+ bytes, ' >"$work/types"
	each -e "$2/$3" | grep -vE '	[0-9]+ bytes, ' >"$work/names"
	join -t '	' "$work/types" "$work/names" >"$work/both"
	awk -F'\t' '{ sub(/^\[[0-9]*\]/, "", $2); sub(/^\[[0-9]*\]/, "", $3) } $2 != $3' "$work/both" >"$work/wrong"
	both=$(wc -l <"$work/both") wrong=$(wc -l <"$work/wrong")
	if [ "$both" -gt 10000 ] && [ "$wrong" -eq 0 ]; then
		ok "$1: the types of $both objects are those by DWARF"
	else
		fail "$1: the types of $both objects are those by DWARF" "$(head -n 20 "$work/wrong")"
	fi
}

# guesses NAME DIRECTORY PROGRAM: what an object perhaps is, it mostly is, as the unstripped program tells: but for what the
# runtime makes for maps and channels, which goheap calls by their types.
guesses() {
	local all wrong
	each -e "$2/$3.stripped" | sed -nE 's/^(0x[0-9a-f]+)	[0-9]+ bytes, .*, perhaps (.*)/\1	\2/p' |
		grep -vE '	(internal/)?runtime[./]' >"$work/guesses"
	each -e "$2/$3" >"$work/names"
	join -t '	' "$work/guesses" "$work/names" | grep -vE '	[0-9]+ bytes, [^	]*$' >"$work/both"
	awk -F'\t' '{ sub(/^\[\]/, "", $2); sub(/^\[\]/, "", $3) } $2 != $3' "$work/both" >"$work/wrong"
	all=$(wc -l <"$work/both") wrong=$(wc -l <"$work/wrong")
	# Where arguments are in registers the code tells most types, and nothing may be left to guess.
	if { [ "$all" -ge 5 ] || [ "${release#1.}" -ge 18 ]; } && [ $((10 * wrong)) -le "$all" ]; then
		ok "$1: of $all objects $((all - wrong)) are what they perhaps are"
	else
		fail "$1: of $all objects $((all - wrong)) are what they perhaps are" "$(cat "$work/wrong")"
	fi
}

# check_programs RELEASE
check_programs() {
	local directory goroot package=bufio
	! in_full "Go $1: a type checker of more packages" || package=encoding/json
	if sample "Go $1 checker" "$1" checker; then
		goroot=$("$tests/toolchain" "$1")
		"$directory/checker.stripped" "$work/dump" "$goroot" "$package" >"$work/said" ||
			fail "Go $1: the sample writes its dump"
		typed "Go $1: a type checker, stripped" 30 -e "$directory/checker.stripped"
		typed "Go $1: a type checker, with the twin" 95 --names "$directory/checker"
		agrees "Go $1: a type checker" "$directory" checker
	fi
	if sample "Go $1 web" "$1" web; then
		"$directory/web.stripped" "$work/dump" || fail "Go $1: the sample writes its dump"
		typed "Go $1: a web server, stripped" 93 -e "$directory/web.stripped"
		typed "Go $1: a web server, with the twin" 85 --names "$directory/web"
		agrees "Go $1: a web server" "$directory" web
		guesses "Go $1: a web server" "$directory" web
	fi
}

session_home
releases=$("$tests/toolchain" list)
for release in $(releases "$apart_maps"); do
	check_release "$release"
	check_locals "$release"
	check_loops "$release"
done
last=${RELEASES:-$(tail -n 1 <<<"$releases")}
in_full PIE && check_release "${last##* }" -buildmode=pie
for release in $(releases 1.15 "$last"); do
	in_full "Go $release, 386" && needs_386 "Go $release, 386" && GOARCH=386 check_release "$release"
done
for release in $(releases 1.15 "$(tail -n 1 <<<"$releases")"); do
	check_programs "$release"
done
finish
