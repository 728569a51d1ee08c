#!/usr/bin/env bash
# What the README shows and tells to type.
set -u
export LC_ALL=C
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
top=$(cd "$tests/.." && pwd)
build=$(cd "$(dirname "$GOHEAP")/.." && pwd)

# alike: what differs between two runs, or two machines, made the same.
alike() {
	sed -E -e 's/0x[0-9a-f]+/0xN/g' -e 's/[0-9]+ ms$/N ms/' -e 's/LWP [0-9]+/LWP N/g' \
		-e 's/[0-9.]+ MB in [0-9,]+ objects/N MB in N objects/' -e 's/^goroutines [0-9]+/goroutines N/' -e 's/goroutine [0-9]+,/goroutine N,/' -e 's/[0-9.]+%/N%/g' \
		-e 's#( at |file |^	)(/[^ ]*/|\.\.\./)#\1#g' -e 's/ +/ /g' -e 's/ $//' \
		-e 's/, Go BuildID=[^,]*,/, ...,/'
}

# in_order EXPECTED FOUND: the lines of EXPECTED that are not in FOUND after the one before.
in_order() {
	awk '
		BEGIN { n = i = 0 }
		NR == FNR { line[n++] = $0; next }
		{ if (i < n && $0 == line[i]) i++ }
		END { if (i < n) print "not there, in this order: " line[i] }' "$1" "$2"
}

session() {
	if ! "$tests/toolchain" 1.19 >/dev/null 2>&1; then
		skip "the session" "no Go 1.19"
		return
	fi
	GOHEAP_BUILD=$build "$tests/demo" 2>&1 | alike >"$work/demo"
	# The indented lines of the section, but for the dots that stand for what is left out.
	sed -n '/^A session$/,/^Installing$/p' "$top/README" | sed -n 's/^    //p' | grep -vx '\.\.\.' |
		alike >"$work/expected"
	has "the README has a session" "$(cat "$work/expected")" 'backtrace'
	in_order "$work/expected" "$work/demo" >"$work/apart"
	same "the session in the README ($(wc -l <"$work/expected") lines) is the demo's" /dev/null \
		"$work/apart"
}

from_the_build_tree() {
	local program
	program=$("$tests/build-sample" 1.19 sample)/sample.stripped || return
	has "gdb -x gdbinit, from the build tree" \
		"$(cd "$build" && XDG_CACHE_HOME=$work/cache gdb -nx -batch -x "$top/gdbinit" "$program" 2>&1)" \
		'^goheap: go1\.19'
}

installed() {
	make -C "$build" install DESTDIR="$work/root" >"$work/output" 2>&1 ||
		fail "make install" "$(tail "$work/output")"
	reader=$(find "$work/root" -name goheap.so)
	has "make install: the plugin is where jit-reader-load looks" "$reader" \
		"$(gdb --configuration | sed -n 's/.*--with-jit-reader-dir=\([^ ]*\).*/\1/p')/goheap.so\$"
	init=$(find "$work/root" -name goheap.gdb)
	lacks "make install: nothing is loaded from the build tree" "$(cat "$init")" 'load\.gdb'
	make -C "$build" uninstall DESTDIR="$work/root" >"$work/output" 2>&1
	same "make uninstall takes everything away" /dev/null <(find "$work/root" -type f)
}

# Each command that the README lists is one that the program, or GDB with goheap, has.
commands() {
	local command
	while read -r command; do
		if "$GOHEAP" "$command" --help >/dev/null 2>&1 </dev/null; then
			ok "goheap $command"
		elif grep -Eq "^define(-prefix)? goheap $command\$" "$top/gdbinit"; then
			ok "goheap $command, in GDB"
		else
			fail "goheap $command"
		fi
	done < <(sed -nE 's/^    goheap ([a-z0-9]+) .*/\1/p' "$top/README" | sort -u)
}

session
from_the_build_tree
installed
commands
finish
