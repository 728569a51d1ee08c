#!/usr/bin/env bash
# goheap dot: Graphviz reads it, and what it draws is what the program that wrote the dump says of itself.
. "$(dirname "$0")/lib.sh"

# picture NAME ARGUMENT...: $work/picture is what Graphviz reads of `goheap dot': a line for each box and line.
picture() {
	local name=$1
	shift
	"$GOHEAP" dot "$@" -o "$work/dot" 2>"$work/errors"
	equal "$name: it is drawn" 0 $?
	dot -Tplain -y "$work/dot" >"$work/picture" 2>"$work/errors"
	same "$name: Graphviz has no objection" /dev/null "$work/errors"
}

# pointers: of $work/picture, "FROM TO" for each line between objects; they are known by their addresses.
pointers() {
	awk '
		BEGIN { n = 0 }
		$1 == "node" && match($0, /\\n0x[0-9a-f]+/) { address[$2] = substr($0, RSTART + 2, RLENGTH - 2) }
		$1 == "edge" && $2 ~ /^N/ { from[n] = $2; to[n++] = $3 }
		END { for (i = 0; i < n; i++) print address[from[i]] "\t" address[to[i]] }' "$work/picture" | sort
}

# said KIND STRUCTURE COLUMN...: what the program printed in such lines.
said() {
	awk -F'\t' -v kind="$1" -v structure="$2" '$1 == kind && $2 == structure' "$work/said" | cut -f "$3"
}

# check_around STRUCTURE: all of it, from its first object on, and nothing else.
check_around() {
	local first
	first=$(said object "$1" 4 | head -n 1)
	picture "Go $release, $1" "$work/dump" "$first" --limit 0
	said pointer "$1" 3,5 | sort >"$work/expected"
	pointers >"$work/found"
	same "Go $release, $1: objects and pointers are the program's ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	has "Go $release, $1: its variable" "$(cat "$work/picture")" "^node R[0-9]+ .*$(said root "$1" 5)"
	equal "Go $release, $1: the path from there" 1 "$(grep -c '^edge R' "$work/picture")"
}

# The way to the last element is drawn; of a list that is all.
check_path() {
	picture "Go $release, the path" "$work/dump" "$(said object list 4 | tail -n 1)"
	said pointer list 3,5 | sort >"$work/expected"
	pointers >"$work/found"
	same "Go $release, the path: the list" "$work/expected" "$work/found"
	equal "Go $release, the path: its lines are heavy" "$(said pointer list 3 | wc -l)" \
		"$(grep -c '^N.* -> N.*penwidth=4\.0' "$work/dot")"
}

# Elements of a list are one box, which retains all of them.
check_dominators() {
	local count bytes
	picture "Go $release, the whole heap" "$work/dump" --limit 0
	count=$(said object list 4 | wc -l)
	bytes=$(said object list 5 | awk '{ n += $1 } END { print n }')
	has "Go $release, the whole heap: the list" "$(cat "$work/picture")" \
		"$(said object list 4 | head -n 1), one of $count.*of $bytes bytes"
	# What is drawn are trees: each object has one line to it.
	grep '^edge' "$work/picture" | cut -d ' ' -f 3 | sort >"$work/found"
	grep -o '^node N[0-9]*' "$work/picture" | cut -d ' ' -f 2 | sort >"$work/expected"
	same "Go $release, the whole heap: trees ($(wc -l <"$work/expected") objects)" "$work/expected" "$work/found"
	picture "Go $release, a limit" "$work/dump" --limit 7
	equal "Go $release, a limit: objects" 7 "$(grep -c '^node N' "$work/picture")"
}

check_release() {
	local directory
	sample "Go $1" "$1" graph || return 0
	"$directory/graph" "$work/dump" >"$work/said"
	for structure in list tree ring; do
		check_around "$structure"
	done
	check_path
	check_dominators
}

# Nothing in a dump's texts is anything else in the picture.
check_hostile() {
	"$work/crafted" roots >"$work/dump"
	picture "hostile texts" "$work/dump"
	equal "hostile texts: boxes" 5 "$(grep -c '^node N' "$work/picture")"
	equal "hostile texts: roots" 5 "$(grep -c '^node R' "$work/picture")"
	dot -Tsvg "$work/dot" >"$work/svg" 2>"$work/errors"
	lacks "hostile texts: no control character in an image" "$(cat "$work/svg")" $'[\x01-\x08\x0b-\x1f\x7f]'
	has "hostile texts: they are shown as they are" "$(cat "$work/svg")" \
		'>root: &quot;\]\}; \\\\&quot; &amp;quot; &amp;#10; &lt;b&gt;\\\\N\\\\G<'
}

# Of a way of 200,000 objects both ends are drawn. There are no goroutines, by which it would be known where the program was.
check_chain() {
	local directory
	"$work/crafted" chain >"$work/dump"
	if sample "no goroutines" 1.19 graph; then
		picture "no goroutines" "$work/dump" 0x38cbf0 --limit 8 -e "$directory/graph"
	fi
	picture "a long path" "$work/dump" 0x38cbf0 --limit 8
	has "a long path: what is left out is told" "$(cat "$work/picture")" '^edge N[0-9]+ N[0-9]+ .*" by way of [0-9]+ more"'
	has "a long path: its root" "$(cat "$work/picture")" '^node R1 .*"root: the first"'
	has "a long path: its end" "$(cat "$work/picture")" '^node N[0-9]+ .*0x38cbf0'
	equal "a long path: as many objects of each end" "0x10000 0x10010 0x10020 0x38cbd0 0x38cbe0 0x38cbf0" \
		"$(grep -oE '^node N.*\\n0x[0-9a-f]+' "$work/picture" | sed 's/.*\\n//' | sort | paste -sd ' ')"
}

check_usage() {
	"$GOHEAP" dot "$work/dump" 0x10 -o "$work/none" 2>"$work/errors"
	equal "no object there: the exit status" 1 $?
	has "no object there: it is told" "$(cat "$work/errors")" '^goheap: 0x10: expected an address in an object'
	equal "no object there: no file" no "$([ -e "$work/none" ] || echo no)"
	"$GOHEAP" dot "$work/dump" 0x10000 0x10010 >"$work/found" 2>&1
	equal "two addresses" 2 $?
	"$GOHEAP" dot "$work/dump" --limit 3 >"$work/found"
	"$GOHEAP" dot "$work/dump" --limit 3 -o "$work/dot"
	same "standard output and a file are the same" "$work/found" "$work/dot"
}

needs "pictures" dot || finish
build_maker crafted ||
	fail "crafted.c is compiled"
for release in $(releases "$apart"); do
	check_release "$release"
done
check_hostile
check_chain
check_usage
finish
