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
	(cd "$tests/.." && find lib plugin tests -path tests/samples -prune -o \
		\( -name '*.[ch]' -o -name goheap.1.in \) -print | tar -cf - -T -) | tar -xf - -C "$work/copy"
}

# broken NAME PATTERN: the copy breaks a rule, and a line matches PATTERN; it is the only one but for those that match $also.
broken() {
	local output
	if output=$("$tests/../.ci/house" "$work/copy"); then
		fail "$1: is noticed" "$output"
	else
		has "$1: is told" "$output" "$2"
		equal "$1: nothing else is told" "" "$(grep -Ev -- "$2" <<<"$output")"
	fi
	copy
}

if output=$("$tests/../.ci/house"); then
	ok "the sources keep the rules"
else
	fail "the sources keep the rules" "$output"
fi
copy

echo '#include "plugin/view/emit.h"' >>"$work/copy/lib/util/cursor.c"
broken "an include that goes up" '^lib/util/cursor\.c: includes plugin/view/emit\.h \(line [0-9]+\), which is above it: .* \[include-order\]$'

echo 'int odd;' >"$work/copy/lib/odd.c"
broken "a file in no room" '^lib/odd\.c: is in no room: '

echo '#include "lib/util/output.h"' >>"$work/copy/lib/util/error.h"
broken "a cycle of includes" '^lib/util/(error|output)\.h: is in a cycle of includes: .* \[include-cycle\]$'

echo 'int odd = EM_386;' >>"$work/copy/lib/heap/path.c"
broken "a machine's number" '^lib/heap/path\.c: names a machine \(line [0-9]+\): .* \[machine\]$'

echo 'const char *odd = "arm64";' >>"$work/copy/lib/heap/path.c"
broken "a machine's name" '^lib/heap/path\.c: names a machine \(line [0-9]+\): .* \[machine\]$'

echo 'int odd = EM_386;' >>"$work/copy/lib/elf/core.c"
if output=$("$tests/../.ci/house" "$work/copy"); then
	ok "lib/elf may name machines"
else
	fail "lib/elf may name machines" "$output"
fi
copy

echo 'int odd(int low, int high) { return low + (high - low) / 2; }' >>"$work/copy/lib/heap/path.c"
broken "a binary search" '^lib/heap/path\.c: has a binary search of its own: .* \[binary-search\]$'

echo 'const char *odd = "{\"odd\":1}";' >>"$work/copy/plugin/view/print.c"
broken "a JSON key" '^plugin/view/print\.c: writes a JSON key by hand: .* \[json-keys\]$'

echo 'int odd(void) { return argp_parse(0, 0, 0, 0, 0, 0); }' >>"$work/copy/plugin/view/print.c"
broken "a parser of options" '^plugin/view/print\.c: parses options of its own: .* \[argp-parse\]$'

echo 'int odd;' >"$work/copy/lib/util/path.c"
broken "two files of one name" '^lib/(heap|util)/path: has the name of lib/(util|heap)/path: .* \[basename\]$'

touch "$work/copy/lib/heap/oddest.c"
broken "a file that no header tells of" '^lib/heap/oddest\.c: is not told of: .* \[told-file\]$'

touch "$work/copy/lib/heap/"{odd,odder,oddest}.h
broken "a room of many headers" '^lib/heap: has 5 headers: .* \[headers\]$'

{
	echo 'int odd(void)'
	echo '{'
	yes '	;' | head -n 80
	echo '}'
} >"$work/copy/lib/util/odd.c"
broken "a long function" '^lib/util/odd\.c: has a function of 81 lines \(from line 2\): .* \[long-function\]$'

yes '' | head -n 501 >"$work/copy/lib/util/odd.c"
broken "a long file" '^lib/util/odd\.c: has 501 lines: .* \[long-file\]$'

printf '#!/bin/sh\n"%s" "$@"\necho "  oddity      Do something odd"\n' "$GOHEAP" >"$work/goheap"
chmod +x "$work/goheap"
GOHEAP=$work/goheap broken "a command that nothing tells of" '^plugin/goheap\.1\.in: does not tell of .goheap oddity.: .* \[commands\]$'

finish
