#!/usr/bin/env bash
# The rules of the house: the sources keep them, and .ci/house notices where one is broken. Each rule is broken once,
# in a copy of the sources.
. "$(dirname "$0")/lib.sh"

# The commands are asked of the program, so it is where the tests have it, but for one that has one more.
export GOHEAP

# copy: the sources anew in $work/copy.
copy() {
	rm -rf "$work/copy"
	mkdir "$work/copy"
	(cd "$tests/.." && find README HACKING lib plugin tests -path tests/samples -prune -o \
		\( -name '*.[ch]' -o -name '*.def' -o -name '*.js' -o -name goheap.1.in -o -name goheap-gdb.7 -o -name README -o -name HACKING \) -print |
		tar -cf - -T -) | tar -xf - -C "$work/copy"
}

names=() patterns=()

# breaks NAME PATTERN: what was just done to the copy breaks a rule, and a line matches PATTERN.
breaks() {
	names+=("$1") patterns+=("$2")
}

# broken: of the copy all that was done to it is told, and nothing else.
broken() {
	local i output
	if output=$("$tests/../.ci/house" "$work/copy"); then
		fail "${names[*]}: is noticed" "$output"
	fi
	for i in "${!names[@]}"; do
		has "${names[i]}: is told" "$output" "${patterns[i]}"
		output=$(grep -Ev -- "${patterns[i]}" <<<"$output")
	done
	equal "nothing else is told" "" "$output"
	names=() patterns=()
	copy
}

if output=$("$tests/../.ci/house"); then
	ok "the sources keep the rules"
else
	fail "the sources keep the rules" "$output"
fi
copy

# One by itself is noticed.
echo '#include "plugin/view/emit.h"' >>"$work/copy/lib/util/cursor.c"
breaks "an include that goes up" '^lib/util/cursor\.c: includes plugin/view/emit\.h \(line [0-9]+\), which is above it: .* \[include-order\]$'
broken

# So is each of the others, all at once.
echo 'int odd;' >"$work/copy/lib/odd.c"
breaks "a file in no room" '^lib/odd\.c: is in no room: '

echo '#include "lib/util/output.h"' >>"$work/copy/lib/util/error.h"
breaks "a cycle of includes" '^lib/util/(error|output)\.h: is in a cycle of includes: .* \[include-cycle\]$'

echo 'int odd = EM_386;' >>"$work/copy/lib/heap/path.c"
breaks "a machine's number" '^lib/heap/path\.c: names a machine \(line [0-9]+\): .* \[machine\]$'

echo 'const char *odd = "arm64";' >>"$work/copy/lib/heap/adjacency.c"
breaks "a machine's name" '^lib/heap/adjacency\.c: names a machine \(line [0-9]+\): .* \[machine\]$'

# lib/elf may name machines.
echo 'int odd = EM_386;' >>"$work/copy/lib/elf/core.c"

echo 'int odd(int low, int high) { return low + (high - low) / 2; }' >>"$work/copy/lib/heap/dominators.c"
breaks "a binary search" '^lib/heap/dominators\.c: has a binary search of its own: .* \[binary-search\]$'

echo 'const char *odd = "{\"odd\":1}";' >>"$work/copy/plugin/view/print.c"
breaks "a JSON key" '^plugin/view/print\.c: writes a JSON key by hand: .* \[json-keys\]$'

echo 'int odd(void) { return argp_parse(0, 0, 0, 0, 0, 0); }' >>"$work/copy/plugin/view/emit.c"
breaks "a parser of options" '^plugin/view/emit\.c: parses options of its own: .* \[argp-parse\]$'

echo 'int odd;' >"$work/copy/lib/util/path.c"
breaks "two files of one name" '^lib/(heap|util)/path: has the name of lib/(util|heap)/path: .* \[basename\]$'

touch "$work/copy/lib/heap/untold.c"
breaks "a file that no header tells of" '^lib/heap/untold\.c: is not told of: .* \[told-file\]$'

touch "$work/copy/lib/heap/"{odder,oddest,oddity}.h
breaks "a room of many headers" '^lib/heap: has 5 headers: .* \[headers\]$'

{
	echo 'int odd(void)'
	echo '{'
	yes '	;' | head -n 80
	echo '}'
} >"$work/copy/lib/util/odd_function.c"
breaks "a long function" '^lib/util/odd_function\.c: has a function of 81 lines \(from line 2\): .* \[long-function\]$'

yes '' | head -n 501 >"$work/copy/lib/util/odd_file.c"
breaks "a long file" '^lib/util/odd_file\.c: has 501 lines: .* \[long-file\]$'

printf '.TP\n.B odd\nWhat is\n.BR odd .\n' >>"$work/copy/plugin/goheap.1.in"
breaks "a manual's entry that begins with a question's word" '^plugin/goheap\.1\.in: begins a sentence with "What is odd .*" \(line [0-9]+\): .* \[openings\]$'

printf '.PP\nIt is odd. Of\n.I odd\nit is likewise so.\n' >>"$work/copy/plugin/goheap-gdb.7"
breaks "a sentence that turns round" '^plugin/goheap-gdb\.7: begins a sentence with "Of odd it is'

printf '\nWho is odd\n----------\n' >>"$work/copy/README"
breaks "such a heading" '^README: begins a sentence with "Who is odd'

echo 'const char *odd = "goheap: How odd it is";' >>"$work/copy/plugin/view/address.c"
breaks "such a message" '^plugin/view/address\.c: begins a text with a question.s word \(line [0-9]+\): .* \[openings\]$'

echo 'GH_FLAG("odd", 0, odd, "It is odd. By odd it is meant that")' >>"$work/copy/plugin/cli/commands.def"
breaks "such a help text" '^plugin/cli/commands\.def: begins a text with a question.s word \(line [0-9]+\): .* \[openings\]$'

echo "title('Which is odd')" >>"$work/copy/plugin/web/page/views.js"
breaks "such a title in the browser" '^plugin/web/page/views\.js: begins a text with a question.s word \(line [0-9]+\): .* \[openings\]$'

printf '#!/bin/sh\n"%s" "$@"\necho "  oddity      Do something odd"\n' "$GOHEAP" >"$work/goheap"
chmod +x "$work/goheap"
breaks "a command that nothing tells of" '^plugin/goheap\.1\.in: does not tell of .goheap oddity.: .* \[commands\]$'
GOHEAP=$work/goheap broken

finish
