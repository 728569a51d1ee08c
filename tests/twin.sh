#!/usr/bin/env bash
# Programs that have their symbols and DWARF: with goheap GDB knows no less of them than without it, and says the same.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" gdb || finish

# steady: a session on standard input without what differs from run to run, the name of the file with the symbols, what GDB 18
# says of a position independent program whose symbols are in another file than itself, and what GDB says where the source is
# newer than the file with the symbols, as it is in a new checkout and a program that was built before.
steady() {
	grep -vE -e '^\[(New|Switching|Inferior|LWP)' -e '^warning: Probes-based dynamic linker|^Reverting to original interface' -e "^$twin:\$" \
		-e '^warning: Source file is more recent than executable' -e '\.debug:$' |
		sed -E -e 's/0x[0-9a-f]+/ADDRESS/g' -e 's/-?[0-9]{9,}/NUMBER/g' -e 's/^Thread [0-9]+/Thread/'
}

# compare NAME LINES COMMAND...: the commands print the same of the twin with and without goheap, at least so many lines, but for
# the variables that tell the goroutine, which are in a file called goheap.
compare() {
	local name=$1 lines=$2
	shift 2
	plain_gdb "$twin" "$@" | steady >"$work/expected"
	goheap "$twin" "$@" | sed -e '1{/^goheap: go1.* with DWARF/d}' -e '/^File goheap:$/,/^$/d' -e 's/, goheap\>//' |
		steady >"$work/found"
	[ "$(wc -l <"$work/expected")" -ge "$lines" ] || fail "$name: what GDB says" "$(head "$work/expected" | cut -c 1-200)"
	same "$name ($(wc -l <"$work/expected") lines)" "$work/expected" "$work/found"
}

for release in $(releases "$apart"); do
	for flag in '' -buildmode=pie; do
		[ -z "$flag" ] || { is_newest "$release" && in_full "Go $release, PIE"; } || continue
		name="Go $release${flag:+, PIE}"
		sample "$name" "$release" sample ${flag:+"$flag"} || continue
		twin=$directory/sample
		compare "$name: functions" 1000 "info functions"
		compare "$name: types" 100 "info types"
		compare "$name: variables" 100 "info variables"
		variables=$(goheap "$twin" "info variables -q ." | sed '1,/^File goheap:$/d; /^$/,$d' | grep -v ' _goheap_')
		equal "$name: what tells the goroutine" $'\truntime.g *g;\n\tuint64 goid;' "$variables"
		compare "$name: sources" 3 "info sources"
		compare "$name: lines" 10 "info line main.main" "info scope main.main" "list main.main" "info address main.main"
		compare "$name: a stop" 30 "tbreak main.(*Server).handle" "tbreak server.go:30" "info breakpoints" "run >/dev/null" \
			"info args" "info locals" "list" "continue" "info locals" "up" "info locals" "ptype struct runtime.g" "kill"
	done
done
finish
