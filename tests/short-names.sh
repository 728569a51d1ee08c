#!/usr/bin/env bash
# Functions by the names that people type: GDB has a breakpoint on handle or http.Get where it has it on the function's
# whole name; and Delve, given the unstripped twin, takes those names for the same functions.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" gdb || finish

# short_names DEBUG: its short names with their addresses.
short_names() {
	readelf -sW "$1" | awk '$4 == "FUNC" && $5 == "LOCAL" && $3 == 0 { print $2 "\t" $8 }' | sort
}

# functions DEBUG: its functions' names with their addresses.
functions() {
	readelf -sW "$1" | awk '$4 == "FUNC" && $5 == "GLOBAL" { print $2 "\t" $8 }' | sort
}

# debug FILE COMMAND...: GDB on the program with that debug file.
debug() {
	plain_gdb "$stripped" "symbol-file $1" "${@:2}"
}

# stops: what GDB tells of breakpoints, on standard input: for each the name that was echoed before and where it stops,
# all of them in one line.
stops() {
	awk '/^name / { name = $2; next }
		/ in .* at / { sub(/.* 0x/, "0x"); places[name] = places[name] "; " $0 }
		END { for (name in places) print name "\t" places[name] }' | sort
}

# ask SESSION FILE NAME...: where GDB has breakpoints on them: SESSION is "debug" with a debug file, or "goheap" with a program.
ask() {
	local name commands=() session=$1 file=$2
	shift 2
	for name in "$@"; do
		commands+=("echo name $name\\n" "break -function $name" "info breakpoints" "delete")
	done
	"$session" "$file" "${commands[@]}" | stops
}

# compare_gdb NAME: short names of functions whose own code starts at one place, one of each, against the whole names. The
# names that have more instances are those of type parameters and of what the linker made for assembly. Where a function
# begins with an inlined call, that one's short name is there, too.
compare_gdb() {
	join -t $'\t' <(uniq -w 16 "$work/short" | sort) "$work/functions" |
		awk -F'\t' '{ own = $3; base = $2; sub(/.*\./, "", own); sub(/.*\./, "", base) }
			$3 !~ /\[|^type/ && own == base { count[$3]++; short[$3] = $2 } END { for (name in count) if (count[name] == 1) print name "\t" short[name] }' |
		sort | awk 'NR % 4 == 1' >"$work/pairs"
	join -t $'\t' "$work/pairs" <(cut -f 2 "$work/functions" | sort | uniq -u) >"$work/once"
	[ "$(wc -l <"$work/once")" -gt 50 ] || fail "$1: short names to ask for" "$(wc -l "$work/once")"
	mapfile -t wholes < <(cut -f 1 "$work/once")
	mapfile -t shorts < <(cut -f 2 "$work/once")
	ask debug "$work/program.debug" "${wholes[@]}" >"$work/expected"
	equal "$1: breakpoints on ${#wholes[@]} whole names" "${#wholes[@]}" "$(wc -l <"$work/expected")"
	join -t $'\t' "$work/once" "$work/expected" | cut -f 2- | sort >"$work/wanted"
	ask debug "$work/program.debug" "${shorts[@]}" >"$work/found"
	same "$1: breakpoints on their short names are at the same places" "$work/wanted" "$work/found"
}

# unwrapped: stops on standard input without those in the wrapper that the compiler makes for pointers, where the method of the
# value is inlined: Go's DWARF has no call there.
unwrapped() {
	awk -F'\t' '{
		n = split($1, name, "."); m = split($2, places, "; "); line = ""
		type = n > 1 ? name[n - 1] : "[^.)]+"
		method = $2 ~ "[./ ]" type "[.]" name[n] " at "
		for (i = 2; i <= m; i++)
			if (!method || places[i] !~ "[.][(][*]" type "[)][.]" name[n] " at ") line = line "; " places[i]
		print $1 "\t" line }'
}

# compare_twin NAME TWIN: the same short names in a session with the twin, against the whole names without goheap.
compare_twin() {
	ask debug "$2" "${wholes[@]}" >"$work/expected"
	equal "$1: breakpoints on ${#wholes[@]} whole names" "${#wholes[@]}" "$(wc -l <"$work/expected")"
	join -t $'\t' "$work/once" "$work/expected" | cut -f 2- | sort >"$work/wanted"
	ask goheap "$2" "${shorts[@]}" | unwrapped >"$work/found"
	same "$1: breakpoints on their short names are at the same places" "$work/wanted" "$work/found"
	ask goheap "$2" "${wholes[@]}" >"$work/found"
	same "$1: and on the whole names, too" "$work/expected" "$work/found"
}

# delve TWIN LOCATION...: what Delve says of breakpoints there.
delve() {
	{ printf 'break %s\n' "${@:2}" && echo exit; } >"$work/commands"
	timeout -k 5 120 dlv exec --check-go-version=false --allow-non-terminal-interactive=true \
		--init "$work/commands" "$1" 2>&1 </dev/null | grep -v "^Type 'help'"
}

# compare_delve TWIN: each name that was asked for is where the whole name is. A method of a value has a wrapper for pointers,
# which Delve takes for another function; of some functions it says that they are in several places. It takes a package's
# init for each of those that the package's files have, too (init.0), and is not asked for it.
compare_delve() {
	local both=()
	for i in "${!wholes[@]}"; do
		[[ ${wholes[i]} != *.init ]] || continue
		both+=("${wholes[i]}" "${shorts[i]}")
	done
	delve "$1" "${both[@]}" >"$work/delve"
	equal "Delve: answers" ${#both[@]} "$(wc -l <"$work/delve")"
	awk 'NR % 2 == 0 && !/Breakpoint exists at/' "$work/delve" |
		awk '/ ambiguous: / { list = $0; sub(/.* ambiguous: /, "", list); gsub(/…|[(*)]/, "", list)
			n = split(list, names, ", "); if (n == 2 && names[1] == names[2]) next } { print }' >"$work/apart"
	equal "Delve: short names that are not where the whole names are" "" "$(head "$work/apart")"
}

# check_session PROGRAM: a session with the plugin.
check_session() {
	local output
	# shellcheck disable=SC2016 # GDB's
	output=$(goheap "$1" 'break handle' 'tbreak Server.handle' 'tbreak main.Server.handle' 'break Area' \
		'complete break Server.ha' 'complete break han' 'info line handle' 'run' 'backtrace 2' 'x/i $pc' 'info symbol $pc')
	equal "${1##*/}: three names, one place" "1 3" "$(sed -nE 's/^(Breakpoint|Temporary breakpoint) [0-9]+ at (0x[0-9a-f]+): .*server\.go, line [0-9]+\.$/\2/p' \
		<<<"$output" | sort | uniq -c | awk '{ n++; c = $1 } END { print n, c }')"
	has "${1##*/}: a name of two methods is no place" "$output" '^Function "Area" not defined\.$'
	has "${1##*/}: completion of Server.ha" "$output" '^break Server\.handle$'
	has "${1##*/}: completion of han" "$output" '^break handle$'
	has "${1##*/}: the stop has the function's name" "$output" '^Thread 1 .* hit .*reakpoint .*, main\.\(\*Server\)\.handle '
	has "${1##*/}: so has the backtrace" "$output" '^#0  main\.\(\*Server\)\.handle '
	has "${1##*/}: so has the instruction" "$output" '^=> 0x[0-9a-f]+ <main\.\(\*Server\)\.handle\+[0-9]+>'
	has "${1##*/}: so has the symbol" "$output" '^main\.\(\*Server\)\.handle \+ [0-9]+ in section \.text'
}

# check_break PROGRAM: goheap break, where GDB's own has only the names that stand for one function.
check_break() {
	local output
	output=$(goheap "$1" 'goheap break Area' 'goheap break nosuch' 'goheap break handle goroutine 9999' \
		'goheap break middle goroutine 1' 'goheap break server.go:30' 'goheap break handle goroutine x' 'run >/dev/null' \
		'continue' 'info breakpoints')
	has "${1##*/}: goheap break: how many functions have a name" "$output" '^goheap: 2 functions are called so; name one:$'
	equal "${1##*/}: goheap break: which they are" 'main.(*Circle).Area
main.Square.Area' "$(grep -E '^main\.[^ ]*Area$' <<<"$output" | sort)"
	has "${1##*/}: goheap break: a name of none" "$output" '^goheap: no function is called nosuch$'
	has "${1##*/}: goheap break: a goroutine that is none" "$output" '^usage: goheap break '
	has "${1##*/}: goheap break: it stops in that goroutine" "$output" '^Thread 1 .* hit Breakpoint 2, main\.middle '
	has "${1##*/}: goheap break: and not in another; it takes a line" "$output" '^Thread 1 .* hit Breakpoint 3, main\.\(\*Server\)\.handle .*:30$'
	has "${1##*/}: goheap break: it is a breakpoint with a condition" "$output" '^	stop only if goid == 9999$'
}

# places FROM TO: the lines of the breakpoints that $output tells of between two lines, or of how many places one is.
places() {
	sed -n "/^$1/,/^$2/p" <<<"$output" | sed -nE 's/^Breakpoint .* (line |\()([0-9]+)(\.| locations\))$/\2/p' | xargs
}

# check_generic RELEASE: generic functions by each name that goheap lists them by, and by those that the program's own traceback
# has.
check_generic() {
	local go name file=$work/generic/main.go output names=() commands=()
	go=$("$tests/toolchain" "$1")/bin/go || return
	mkdir -p "$work/generic"
	cat >"$file" <<-'END'
		package main

		import "runtime/debug"

		type tree[K, V any] struct {
			key K
			val V
		}

		//go:noinline
		func (t *tree[K, V]) push(call func()) { call() }

		//go:noinline
		func Apply[T, U any](x T, f func(T) U) U { return f(x) }

		func main() {
			tree := &tree[string, int]{}
			tree.push(func() { Apply(1, func(int) string { debug.PrintStack(); return "" }) })
			Apply(struct{ v int }{2}, func(struct{ v int }) string { return "" })
		}
	END
	(cd "$work/generic" && GOCACHE=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}/gocache GOFLAGS='' GO111MODULE=off \
		GOTOOLCHAIN=local "$go" build -ldflags='-s -w' -o stripped "$file") || fail "Go $1: the program can be built"
	mapfile -t names < <("$GOHEAP" funcs "$work/generic/stripped" | cut -f 3 | grep '^main\..*\[' | sort -u)
	for name in "${names[@]}"; do
		commands+=("goheap break $name")
	done
	output=$(goheap "$work/generic/stripped" 'echo listed\n' "${commands[@]}" 'echo others\n' 'goheap break tree.push goroutine 1' \
		'goheap break main.(*tree[...]).push' 'break main.(*tree[...]).push' 'break main.Apply[...]' 'goheap break main.Apply[...]' \
		'goheap break Apply' 'echo end\n' 'complete break main.(*tree[' "complete goheap break 'main.(*tree[")
	"$work/generic/stripped" 2>&1 | grep -oE '^main\.[^ ]*\[\.\.\.\]\)?(\.push)?' | sort -u >"$work/found"
	printf '%s\n' 'main.(*tree[...]).push' 'main.Apply[...]' >"$work/expected"
	same "Go $1: the names in the traceback" "$work/expected" "$work/found"
	# Before Go 1.21 the tables have the names that tracebacks have: two functions of one name are one breakpoint.
	if [ "${1#1.}" -lt 21 ]; then
		equal "Go $1: breakpoints by the names that goheap lists" "11 2" "$(places listed others)"
		equal "Go $1: and by others" "11 11 11 2 2 2" "$(places others end)"
	else
		equal "Go $1: breakpoints by the names that goheap lists" "11 14 14" "$(places listed others)"
		equal "Go $1: and by others" "11 11 11 2 14 14" "$(places others end)"
		has "Go $1: two instances by a short name" "$output" '^goheap: 2 functions are called so; name one:$'
	fi
	has "Go $1: completion" "$output" '^break main\.\(\*tree\[.*\]\)\.push$'
	# GDB 16 ends the quote, too.
	has "Go $1: and of goheap break" "$output" "^goheap break 'main\.\(\*tree\[.*\]\)\.push'?\$"
}

# check_release RELEASE
check_release() {
	local directory stripped
	sample "Go $1" "$1" sample || return 0
	stripped=$directory/sample.stripped
	"$GOHEAP" debug --short-names "$stripped" -o "$work/program.debug" || return
	short_names "$work/program.debug" >"$work/short"
	functions "$work/program.debug" >"$work/functions"
	equal "Go $1: short names that are functions' own names" "" \
		"$(comm -12 <(cut -f 2 "$work/short" | sort -u) <(cut -f 2 "$work/functions" | sort -u) | head)"
	has "Go $1: the line of the first function of the text, asked for before any other" \
		"$(debug "$work/program.debug" "info line *0x$(head -n 1 "$work/functions" | cut -f 1)")" '^Line [0-9]+ of '
	compare_gdb "Go $1"
	equal "Go $1: short names without a package that are of other modules' functions" "" \
		"$(join -t $'\t' "$work/short" "$work/functions" |
			awk -F'\t' '$2 !~ /[.]/ && $3 !~ /^(main|example[.]org\/goheap\/.*)[.]/ && $3 ~ "[.]" $2 "$"' | head)"
	debug "$work/program.debug" 'info functions -n .' | grep -vE '^[0-9]+:|^File |^$' >"$work/listed"
	equal "Go $1: short names that GDB lists as functions" "" \
		"$(grep -xF -f <(cut -f 2 "$work/short") <(sed -E 's/.* //' "$work/listed") | head)"
	compare_twin "Go $1, twin" "$directory/sample"
	if [ "$1" = 1.19 ]; then
		check_session "$stripped"
		check_break "$stripped"
		check_session "$directory/sample"
		check_break "$directory/sample"
		if needs "Delve" dlv; then
			compare_delve "$directory/sample"
		fi
	fi
}

# check_dotted: a module whose path has a dot in its last element, which the linker escapes there, and in packages below it
# does not.
check_dotted() {
	local go
	go=$("$tests/toolchain" 1.19)/bin/go || return
	mkdir -p "$work/dotted/program" "$work/dotted/below"
	printf 'module example.org/module.v2\n\ngo 1.19\n' >"$work/dotted/go.mod"
	printf 'package module\n\n//go:noinline\nfunc Handle() { println("handled") }\n' >"$work/dotted/module.go"
	printf 'package below\n\n//go:noinline\nfunc Look() { println("looked") }\n' >"$work/dotted/below/below.go"
	cat >"$work/dotted/program/main.go" <<-'END'
		package main

		import (
			module "example.org/module.v2"
			"example.org/module.v2/below"
		)

		func main() {
			module.Handle()
			below.Look()
		}
	END
	(cd "$work/dotted" && GOCACHE=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}/gocache GOFLAGS='' GOPROXY=off \
		"$go" build -ldflags='-s -w' -o stripped ./program) || fail "the program can be built"
	"$GOHEAP" debug --short-names "$work/dotted/stripped" -o "$work/program.debug"
	equal "a module with a dot in its path: its functions without a package" "Handle Look " \
		"$(short_names "$work/program.debug" | cut -f 2 | grep -xE 'Handle|Look' | sort | tr '\n' ' ')"
}

for release in $(releases "$apart"); do
	check_release "$release"
done
check_dotted
for release in $(releases 1.19 1.27); do
	check_generic "$release"
done
finish
