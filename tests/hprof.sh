#!/usr/bin/env bash
# goheap hprof: what is in the file, to a strict reader of the format and to VisualVM's own, is what is in the dump, to a
# reader that shares no code with goheap.
. "$(dirname "$0")/lib.sh"

# unnamed: such rows, in which variables have neither names nor addresses, and no inlined calls are counted in stacks.
# shellcheck disable=SC2317 # it is called as check_graph's filter
unnamed() {
	sed -E -e 's/^root	(data|bss|global)	[^	]*	/root	global	/' -e 's/^(root	frame	[0-9]+)	[0-9]+/\1/'
}

# check_graph NAME DUMP ORDER [FILTER]: $work/hprof has the dump's objects with their contents, its references and roots.
# Large objects have their pointers alone.
check_graph() {
	"$hprof" graph "$work/hprof" "$3" 2>"$work/errors" | ${4-cat} | sort >"$work/found"
	same "$1: a strict reader has no objection" /dev/null "$work/errors"
	"$dumpfile" graph "$2" | ${4-cat} | awk -F'\t' '
		NR == FNR { if ($1 == "object") form[$2] = $4; next }
		$1 != "object" || $4 == form[$2] || !($2 in form)' "$work/found" - | sort >"$work/expected"
	same "$1: objects, references, roots ($(cut -f 1 "$work/expected" | uniq -c | awk '{ printf "%s%d %ss", (NR > 1 ? ", " : ""), $1, $2 }'))" \
		"$work/expected" "$work/found"
}

# graph NAME DUMP ORDER [PROGRAM]: the same of what goheap writes.
graph() {
	if "$GOHEAP" hprof "$2" ${4+-e "$4"} -o "$work/hprof" 2>"$work/errors"; then
		same "$1: nothing is left out" /dev/null "$work/errors"
		check_graph "$1" "$2" "$3" ${4+unnamed}
		# With the program, closures of cleanups are roots as well.
		[ $# -gt 3 ] || same "$1: goheap roots" <("$dumpfile" graph "$2" | sed -n 's/^root	.*	//p' | sort) \
			<("$GOHEAP" roots "$2" | cut -f 3 | sort)
	else
		fail "$1: it is written" "$(cat "$work/errors")"
	fi
}

# stacks NAME PROGRAM DUMP STACKS: every frame that runtime.Stack printed is in that goroutine's stack.
stacks() {
	"$GOHEAP" hprof "$3" -e "$2" -o "$work/hprof" 2>"$work/errors"
	same "$1: written with the program" /dev/null "$work/errors"
	"$hprof" stacks "$work/hprof" 2>"$work/errors" >"$work/rows"
	same "$1: a strict reader has no objection with the program" /dev/null "$work/errors"
	printed <"$4" | cut -f 1-4 | sort >"$work/expected"
	cut -f 1,3- "$work/rows" | awk -F'\t' -v OFS='\t' '{ sub(/\[.*\]/, "[...]", $2); print }' | sort >"$work/found"
	comm -23 "$work/expected" "$work/found" >"$work/left"
	same "$1: every frame that the process printed ($(wc -l <"$work/expected"))" /dev/null "$work/left"
}

dotted() {
	awk -F'\t' -v OFS='\t' '{ gsub("/", ".", $3); print }'
}

# visualvm NAME WORD ORDER: VisualVM reads the same from $work/hprof as the strict reader. It does not tell contents, nor
# of what thread a native stack is.
visualvm() {
	if [ -z "$reader" ]; then
		skip "$1: VisualVM" "$why"
		return
	fi
	rm -rf "$work/hprof".*
	if ! java -cp "$work:$reader" Visualvm "$2" "$work/hprof" >"$work/retains" 2>"$work/errors"; then
		fail "$1: VisualVM opens it" "$(head -n 5 "$work/errors")"
		return
	fi
	"$hprof" graph "$work/hprof" "$3" | awk -F'\t' -v OFS='\t' '
		$1 == "object" { NF -= 2 }
		$2 == "native stack" { $3 = $4; NF-- }
		$1 == "root" && NF == 4 && $2 != "local" { $2 = $3; $3 = $4; NF-- }
		{ print }' | sort >"$work/expected"
	sort "$work/hprof.rows" >"$work/found"
	same "$1: VisualVM's objects, references, roots" "$work/expected" "$work/found"
	# To Java, the separator in the names of packages is a dot.
	"$hprof" stacks "$work/hprof" | dotted | sort >"$work/expected"
	dotted <"$work/hprof.stacks" | sort >"$work/found"
	same "$1: VisualVM's stacks" "$work/expected" "$work/found"
	has "$1: VisualVM finds what retains most" "$(cat "$work/retains")" '^0x[0-9a-f]+$'
}

# said KIND STRUCTURE COLUMN...: what the program printed in such lines.
said() {
	awk -F'\t' -v kind="$1" -v structure="$2" '$1 == kind && $2 == structure' "$work/said" | cut -f "$3"
}

# names RELEASE: types, fields and variables have the names that the source gives them.
names() {
	local directory
	sample "Go $1: names" "$1" graph || return
	"$directory/graph" "$work/dump" >"$work/said"
	graph "Go $1, with types" "$work/dump" little "$directory/graph"
	"$hprof" names "$work/hprof" >"$work/rows"
	said object boxes 3,4 | sed -nE 's/^[12]\t(.*)/\1\tmain.Square/p' | sort >"$work/expected"
	awk -F'\t' -v OFS='\t' '$3 == "main.Square" { print $2, $3 }' "$work/rows" | sort >"$work/found"
	same "Go $1, with types: what interfaces hold is of its type" "$work/expected" "$work/found"
	said object list 4 | sort >"$work/list"
	awk -F'\t' 'NR == FNR { list[$1]; next } $1 == "class" && $2 in list { print $3 }' "$work/list" "$work/rows" |
		uniq -c | sed 's/^ *//' >"$work/found"
	equal "Go $1, with types: the list's objects are of its type" "$(wc -l <"$work/list") main.Link" "$(cat "$work/found")"
	said pointer list 3,5 | sort >"$work/expected"
	awk -F'\t' -v OFS='\t' '
		NR == FNR { list[$1]; next }
		$1 == "field" && $3 == "next" && $2 in list { print $2, $4 }' "$work/list" "$work/rows" | sort >"$work/found"
	same "Go $1, with types: the list's fields" "$work/expected" "$work/found"
	# The types of elements are those of newarray in The Java Virtual Machine Specification.
	said array numbers 3,4 | sed -E 's/\tu?int16$/\t9/; s/\tu?int32$/\t10/; s/\tu?int(64)?$/\t11/; s/\tfloat32$/\t6/; s/\tfloat64$/\t7/' |
		sort >"$work/expected"
	awk -F'\t' -v OFS='\t' '
		NR == FNR { number[$1]; next }
		$1 == "array" && $2 in number { print $2, $3 }' "$work/expected" "$work/rows" | sort >"$work/found"
	same "Go $1, with types: the types of numbers" "$work/expected" "$work/found"
	has "Go $1, with types: the list's variable" "$(cat "$work/rows")" \
		"^static	main\.list	main\.list	$(said root list 6)\$"
	visualvm "Go $1, with types" 8 little
}

check_release() {
	local directory
	sample "Go $1" "$1" dump || return 0
	"$directory/dump" "$work/dump" "$work/stacks" >"$work/counts"
	graph "Go $1" "$work/dump" little
	stacks "Go $1" "$directory/dump.stripped" "$work/dump" "$work/stacks"
	check_graph "Go $1, with the program" "$work/dump" little unnamed
	visualvm "Go $1" 8 little
	names "$1"
}

# Pointers of 4 bytes, and numbers with the highest byte first.
check_machine() {
	if foreign_dump "$1" "$2"; then
		graph "$1" "$work/dump" "$4"
		visualvm "$1" "$3" "$4"
	fi
}

# What is left of a dump that is cut off refers to nothing that is not there.
check_damaged() {
	local size
	size=$(wc -c <"$work/dump")
	for part in 1 3 5 7; do
		head -c $((size * part / 8)) "$work/dump" >"$work/cut"
		"$GOHEAP" hprof "$work/cut" -o "$work/hprof" 2>"$work/errors"
		equal "$part eighths of a dump are written" 0 $?
		"$hprof" stacks "$work/hprof" >"$work/found" 2>"$work/errors"
		same "$part eighths: a strict reader has no objection" /dev/null "$work/errors"
	done
}

# crafted CASE...: a dump as no program writes it.
crafted() {
	"$work/crafted" "$@" >"$work/dump" || fail "crafted $*"
	"$GOHEAP" hprof "$work/dump" -o "$work/hprof" 2>"$work/warnings"
	equal "crafted $*: it is written" 0 $?
	lacks "crafted $*: no control character in a message" "$(cat "$work/warnings")" $'[\x01-\x08\x0b-\x1f\x7f]'
	"$hprof" stacks "$work/hprof" >"$work/found" 2>"$work/errors"
	same "crafted $*: a strict reader has no objection" /dev/null "$work/errors"
}

check_crafted() {
	build_maker crafted ||
		fail "crafted.c is compiled"
	for name in names ids nothing deep overlap high roots chain; do
		crafted "$name"
		[ "$name" = high ] &&
			has "crafted high: what has no address is told" "$(cat "$work/warnings")" ': 1 objects left out'
	done
	# Each format, with each size of pointers and each order of bytes.
	number=0
	while "$work/crafted" everything "$number" | grep -q .; do
		crafted everything "$number"
		number=$((number + 1))
	done
	equal "formats and machines" 24 "$number"
}

# What cannot be written leaves nothing behind, and what is there stays.
check_output() {
	echo before >"$work/there"
	"$GOHEAP" hprof "$work/there" -o "$work/there" >"$work/found" 2>&1
	equal "no dump" 1 $?
	equal "no dump: the file stays" before "$(cat "$work/there")"
	"$GOHEAP" hprof "$work/dump" -o "$work/none/hprof" >"$work/found" 2>&1
	equal "no such folder" 1 $?
	"$GOHEAP" hprof "$work/dump" >"$work/found" 2>&1
	equal "no output is named" 2 $?
	(
		trap '' XFSZ
		ulimit -f 1
		exec "$GOHEAP" hprof "$work/dump" -o "$work/limited"
	) 2>"$work/errors"
	equal "a full disk" 1 $?
	has "a full disk is told of" "$(cat "$work/errors")" '^goheap: .*/limited: cannot write: '
	same "a full disk leaves nothing" /dev/null <(find "$work" -name 'limited*')
}

build_dumpfile
sample "hprof" 1.19 hprof || finish
hprof=$directory/hprof
reader=
why="no javac"
if command -v javac >/dev/null; then
	if ! reader=$("$tests/visualvm" 2>"$work/why"); then
		reader=
		why=$(tail -n 1 "$work/why")
	elif ! javac -nowarn -cp "$reader" -d "$work" "$tests/oracle/Visualvm.java" >"$work/why" 2>&1; then
		fail "VisualVM's reader can be compiled with" "$(cat "$work/why")"
		reader=
	fi
fi
for release in $(releases "$apart_maps"); do
	check_release "$release"
done
check_damaged
in_full 386 && check_machine 386 env 4 little
check_machine s390x qemu-s390x 8 big
check_crafted
check_output
finish
