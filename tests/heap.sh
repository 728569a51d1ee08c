#!/usr/bin/env bash
# What goheap says of the heap in a dump: on dumps of a program that builds structures it knows, and tells their
# addresses, what holds them, and what the garbage collector freed when it let go of each; in the shell and in GDB.
. "$(dirname "$0")/lib.sh"
session_home

# said KIND STRUCTURE COLUMN: what the program printed in the first such line.
said() {
	awk -F'\t' -v kind="$1" -v structure="$2" -v column="$3" \
		'$1 == kind && $2 == structure { print $column; exit }' "$work/said"
}

# compare NAME DIRECTORY [RUNNER]: the sample there, stripped, writes its dumps, and all that it says is so.
compare() {
	local name expected found
	if ! ${3-} "$2/graph.stripped" "$work/dump" "$work/after" >"$work/said"; then
		fail "$1: the sample writes its dumps"
		return
	fi
	needs "$1" python3 || return
	if ! python3 "$tests/oracle/heap.py" "$GOHEAP" "$dumpfile" "$2/graph.stripped" "$work/dump" "$work/after" \
		"$work/said" >"$work/rows" 2>"$work/errors"; then
		fail "$1: what goheap says can be read" "$(cat "$work/errors")"
	fi
	while IFS=$'\t' read -r name expected found; do
		equal "$1: $name" "$expected" "$found"
	done <"$work/rows"
}

# check_machine GOARCH RUNNER: the same of a program for another machine.
check_machine() {
	if needs "$1" "$2" && GOARCH=$1 sample "$1" 1.19 graph; then
		compare "$1" "$directory" "$2"
	fi
}

# address STRUCTURE NUMBER: of that object.
address() {
	awk -F'\t' -v structure="$1" -v number="$2" \
		'$1 == "object" && $2 == structure && $3 == number { print $4 }' "$work/said"
}

# check_names NAME DIRECTORY: variables have their names, and what they point to its type, by the unstripped program.
check_names() {
	local output
	output=$("$GOHEAP" path "$work/dump" "$(address held 1)" "$(address tree 1)" "$(address static 1)" -e "$2/graph")
	has "$1: a local variable" "$output" "^goroutine $(said root held 5), main\.hold at .*, first \(sp_0x[0-9a-f]+\)\$"
	has "$1: the type that follows from it" "$output" "^  $(address held 0)  main\.Link, 64 bytes  \.next ->\$"
	has "$1: a global variable" "$output" "^main\.tree \(bss, $(said root tree 5)\)\$"
	has "$1: the type that follows from it" "$output" "^  $(address tree 0)  main\.Tree, 96 bytes  \.left ->\$"
	has "$1: the type that follows from what a variable points to in the data segment" "$output" \
		"^  $(address static 0)  main\.Link, 64 bytes  \.next ->\$"
}

# check_referrers OBJECT: as many lines as there are to be, and how many more point to it, by what the sample said.
check_referrers() {
	local all limit output
	all=$(awk -F'\t' -v object="$1" '/^(pointer|root)/ && $NF == object' "$work/said" | wc -l)
	has "referrers: there are some" "$all" '^[3-9]$'
	for ((limit = 1; limit <= all; limit++)); do
		output=$("$GOHEAP" referrers --limit "$limit" "$work/dump" "$1")
		equal "referrers --limit $limit: lines" "$limit" "$(grep -c '^  ' <<<"$output")"
		equal "referrers --limit $limit: more" "$((all - limit))" "$(sed -nE '$s/^and ([0-9]+) more: .*/\1/p; $s/^  .*/0/p' <<<"$output")"
	done
}

# place NAME: the address of that variable.
place() {
	printf '0x%x' $((0x$(nm "$directory/graph" | awk -v name="$1" '$3 == name { print $1 }')))
}

# What a person sees.
check_text() {
	local last output
	last=$(address list 4)
	output=$("$GOHEAP" path "$work/dump" "$last")
	has "path: the variable" "$output" "^bss $(said root list 5)\$"
	equal "path: a line for each object" 6 "$(wc -l <<<"$output")"
	output=$("$GOHEAP" path --limit 2 "$work/dump" "$last")
	equal "path --limit: both ends" "  $(address list 0)
  ... 3 objects ...
  $last" "$(sed -e 1d -e 's/\(0x[0-9a-f]*\)  .*/\1/' <<<"$output")"
	output=$("$GOHEAP" path "$work/dump" "$(address held 1)" -e "$directory/graph.stripped")
	has "path: the goroutine, its function and its line" "$output" \
		"^goroutine $(said root held 5), main\.hold at .*/main\.go:[0-9]+, sp_0x[0-9a-f]+\$"
	has "path: garbage" "$("$GOHEAP" path "$work/dump" "$(address garbage 0)")" 'garbage: no root leads to it'
	has "objects: of an address within one" "$("$GOHEAP" object "$work/dump" "${last%?}8")" "^$last  .*; ${last%?}8 is \+8\$"
	has "objects: text" "$("$GOHEAP" objects "$work/dump" "$(said text names 3)")" '^  so \\\\ it "goes", so '
	has "referrers: nothing" "$("$GOHEAP" referrers "$work/dump" "$(address garbage 0)")" 'nothing points to it'
	check_referrers "$(address ring 0)"
	output=$("$GOHEAP" dominators --bytes "$work/dump" --limit 0)
	has "dominators: a tree of 7 objects is one line" "$output" \
		" 7  $(address tree 0)  .*  <- bss $(said root tree 5)\$"
	has "dominators: what both copies of the environment have" "$output" \
		"<- in several ways: bss $(place syscall.envs); bss $(place runtime.envs)\$|<- in several ways: bss $(place runtime.envs); bss $(place syscall.envs)\$"
	has "dominators: what a variable's object dominates is below it" \
		"$(grep -A 1 " $(said root closure 6) " <<<"$output")" "^ .*   1    $(address closure 1) "
	equal "dominators of an object: what only it leads to" "$(address tree 1)
$(address tree 4)" "$("$GOHEAP" dominators --json "$work/dump" "$(address tree 0)" | sed 's/.*"object":"\(0x[0-9a-f]*\)".*/\1/' | sort)"
	output=$("$GOHEAP" dominators --bytes "$work/dump" "$(address tree 4)" -e "$directory/graph")
	has "dominators of an object: it, and what is above it" "$output" " 288 .* 3 +$(address tree 4)  main\.Tree, .*  <- $(address tree 0)  main\.Tree, "
	equal "dominators of an object: nothing else" 2 "$(wc -l <<<"$output")"
	equal "dominators of a closure: below it" 1 "$("$GOHEAP" dominators --bytes "$work/dump" "$(address closure 0)" | grep -c "^ .*   1    $(address closure 1) ")"
	has "unreachable: the sum" "$("$GOHEAP" unreachable --bytes "$work/dump")" '^garbage: [0-9]+ objects of [0-9,]+ bytes'
	equal "reachable: of a tree" "$(address tree 0)  96 bytes, pointers at 8 64
  leads to $(said freed tree 4) objects, itself among them, of $(said freed tree 3) bytes
  keeps alive, alone, $(said freed tree 3) bytes" "$("$GOHEAP" reachable --bytes "$work/dump" "$(address tree 0)")"
	equal "strings: the tables" "The longest:
The most repeated:" "$("$GOHEAP" strings --bytes "$work/dump" | grep '^The ')"
	has "strings: escaped" "$("$GOHEAP" strings --bytes "$work/dump")" ' 3 +48 +0x[0-9a-f]+  so \\\\ it "goes", so'
	output=$("$GOHEAP" strings --json --grep '^so .* "goes"' "$work/dump")
	equal "strings --grep" "$("$GOHEAP" strings --json "$work/dump" | grep -F '"text":"so ' | grep -F '\"goes\"')" "$output"
	equal "strings --grep: nothing" "" "$("$GOHEAP" strings --json --grep '^o ' "$work/dump")"
	has "diff: growth" "$("$GOHEAP" diff --bytes --by size "$work/after" "$work/dump")" ' \+20 +\+2,240 .* 112 bytes$'
}

# How many rows a command prints with no more than so many asked for, and that there are more.
check_limits() {
	local command
	for command in histogram dominators unreachable "histogram --by site"; do
		# shellcheck disable=SC2086 # a command and its options
		set -- "$("$GOHEAP" $command --limit 3 "$work/dump")" "$("$GOHEAP" $command --limit 0 "$work/dump")"
		has "$command --limit: what is left out" "$1" '^and [0-9,]+ more: --limit 0 prints all$'
		equal "$command --limit: rows" 3 "$(sed '1d; /^and /,$d' <<<"$1" | wc -l)"
		lacks "$command --limit 0: nothing is left out" "$2" ' more: '
		# In text a list is one entry.
		[ "$command" = dominators ] && continue
		# shellcheck disable=SC2086
		equal "$command --json: rows" "$(grep -c '^ .*[0-9]' <<<"$2")" \
			"$("$GOHEAP" $command --json "$work/dump" | wc -l)"
	done
	equal "strings --limit: rows of both tables" 3 "$("$GOHEAP" strings --bytes --limit 3 "$work/dump" | grep -cE '^ +[0-9].* 0x')"
}

# refused STATUS NAME PATTERN ARGUMENT...: exits so, with one line of error.
refused() {
	local status=$1 name=$2 pattern=$3 output
	shift 3
	output=$("$GOHEAP" "$@" 2>&1 >"$work/output")
	equal "$name: exit status" "$status" $?
	has "$name: why" "$output" "$pattern"
	[ "$status" = 1 ] && equal "$name: in one line" 1 "$(wc -l <<<"$output")"
}

check_refusals() {
	local sp
	sp=$("$GOHEAP" frames "$work/dump" | awk -F'\t' '$9 == "main.hold" { print $3 }')
	refused 1 "an address of a stack" \
		"^goheap: $sp: expected an address in an object, found one in the stack of goroutine $(said root held 5), main\.hold\$" \
		path "$work/dump" "$sp"
	refused 1 "an address of a variable" 'found one in the bss segment$' referrers "$work/dump" "$(said root list 5)"
	refused 1 "an address of nothing" '^goheap: 0x10: .*, found one outside of the dump$' objects "$work/dump" 10
	refused 1 "the dominated of garbage" ': expected an object that a root leads to, found garbage$' dominators "$work/dump" "$(address garbage 0)"
	refused 2 "no address" 'not an address: list' reachable "$work/dump" list
	refused 2 "a bad limit" 'not a number: -1' histogram --limit=-1 "$work/dump"
	refused 2 "a bad grouping" 'not type|size|site|path|root: name' histogram --by name "$work/dump"
	refused 2 "one dump to compare" 'Usage:' diff "$work/dump"
	refused 2 "the beginning of two commands" 'no such command: re' re "$work/dump"
}

# Names and texts that a terminal would act on; what is in no object, in itself, and cut off.
check_hostile() {
	local command address format
	build_maker makedump || exit
	for format in 0 1 2 5; do
		"$work/makedump" hostile $format 8 little >"$work/made"
		address=$("$GOHEAP" dominators --json "$work/made" | sed -n 's/.*"object":"\(0x[0-9a-f]*\)".*/\1/p' | head -n 1)
		for command in suspects histogram "histogram --by site" dominators unreachable strings "diff $work/made" \
			"path $address" "objects $address" "referrers $address" "reachable $address"; do
			# shellcheck disable=SC2086 # a command and what it takes
			set -- $command
			"$GOHEAP" "$1" "$work/made" "${@:2}" >"$work/output" 2>&1
			equal "format $format: $command of a hostile dump" 0 $?
			lacks "format $format: $command of a hostile dump, escaped" "$(cat "$work/output")" $'[\e\a\r]'
		done
	done
}

check_gdb() {
	local last session
	last=$(address list 4)
	session=$(goheap "$directory/graph.stripped" "goheap load $work/dump" "goheap path $last" "goheap path $last + 8" \
		"goheap path $last + 9 - 1 + 0" "goheap path $last+9 -1" "goheap object $last" "goheap referrers $last" \
		"goheap reachable --bytes $last" "set language c" "goheap path (char *) $last + 8" "echo that was in C\\n" \
		"goheap histogram --by size --limit 1" "goheap dominators --json --limit 2" "goheap unreachable --limit 1" \
		"goheap strings --bytes" "goheap diff --bytes --by size $work/after" \
		"goheap dominators --bytes $(address tree 0)" "goheap strings --bytes --grep nothing")
	equal "GDB: path, of expressions" 5 "$(grep -Ec "^global .* \\(bss, $(said root list 5)\\)\$" <<<"$session")"
	has "GDB: objects" "$session" "^$last  "
	has "GDB: referrers" "$session" "^  $(address list 3)  "
	has "GDB: reachable" "$session" '^  leads to 1 object, '
	has "GDB: histogram" "$session" '^ +objects +bytes +% +retained +largest  size$'
	equal "GDB: dominators in JSON" 2 "$(grep -c '^{"retained":' <<<"$session")"
	has "GDB: unreachable" "$session" '^garbage: '
	has "GDB: dominators of an object" "$session" " 7  $(address tree 0)  .*  <- .*\\(bss, $(said root tree 5)\\)\$"
	has "GDB: strings that match" "$session" '^0 objects of 0 bytes with 0 different texts$'
	has "GDB: strings" "$session" '^The most repeated:$'
	has "GDB: diff" "$session" ' \+20 +\+2,240 .* 112 bytes$'
	session=$(goheap "$directory/graph" "goheap load $work/dump" "goheap path 'main.list'" "goheap path 'main.list'.next" \
		"thread $(goheap "$directory/graph" "goheap load $work/dump" "thread find LWP $(said root held 5)" |
			sed -n 's/^Thread \([0-9]*\) .*/\1/p')" "frame function main.hold" "goheap path first")
	equal "GDB: path, of variables" 2 "$(grep -c "^main\.list (bss, $(said root list 5))\$" <<<"$session")"
	has "GDB: path, of a local variable" "$session" "^  $(address held 0)  "
	session=$(goheap "$directory/graph.stripped" "goheap load --names $directory/graph $work/dump" "goheap path $last")
	has "GDB: path, with the names of another program" "$session" "^main\.list \(bss, $(said root list 5)\)\$"
	session=$(goheap "$directory/graph.stripped" "goheap load $work/dump" "goheap path nothing" "goheap path 0x10" \
		"goheap path")
	has "GDB: what is no expression" "$session" '^No symbol "nothing" in current context\.$'
	has "GDB: what is no object" "$session" '^goheap: 0x10: expected an address in an object'
	has "GDB: no address" "$session" '^usage: goheap path ADDRESS$'
	has "GDB: no dump" "$(goheap "" "goheap histogram --bytes")" '^No process, core file or heap dump is loaded\.$'
	session=$(goheap "$directory/graph.stripped" "break main.main" "run $work/other" "goheap histogram --bytes" "goheap goroutine")
	has "GDB: of a process" "$session" '^[0-9,]+ objects of [0-9,]+ bytes'
	has "GDB: no goroutine" "$session" '^usage: goheap goroutine ID$'
	has "GDB: of a process, diff" "$(goheap "$directory/graph.stripped" "break main.main" "run $work/other" "goheap diff --bytes $work/dump")" \
		'^ +-[0-9,]+ +-[0-9,]+ .* in all$'
	for command in suspects histogram dominators path objects referrers reachable unreachable strings diff; do
		has "help goheap $command" "$(goheap "" "help goheap $command")" "^Usage: goheap $command "
		has "help goheap: $command" "$(goheap "" "help goheap")" "^goheap $command +-- "
	done
}

build_dumpfile
for release in $(releases "$apart_maps"); do
	sample "Go $release" "$release" graph || continue
	compare "Go $release" "$directory"
	check_names "Go $release" "$directory"
done
if in_full "Go $release PIE" && directory=$("$tests/build-sample" "$release" graph -buildmode=pie); then
	compare "Go $release PIE" "$directory"
	check_names "Go $release PIE" "$directory"
fi
in_full 386 && needs_386 386 && check_machine 386 env
check_machine s390x qemu-s390x-static
if directory=$("$tests/build-sample" 1.19 graph); then
	"$directory/graph.stripped" "$work/dump" "$work/after" >"$work/said"
	check_text
	check_limits
	check_refusals
	check_gdb
fi
check_hostile
finish
