#!/usr/bin/env bash
# Every answer about small heaps and programs that are made byte by byte, word for word: the files in tests/data/answers have each
# command and below it what follows from the heaps that tests/oracle/makedump_heaps.c makes and from the program that
# tests/unit/synthetic.h describes: each line, singular and plural, limits, ties, and why there is no answer.
# A status that is not 0 is in brackets after it.
. "$(dirname "$0")/lib.sh"

build_maker makedump || exit
for what in leak before; do
	"$work/makedump" $what 1 8 little >"$work/$what"
done
"$work/makedump" values 1 8 little >"$work/typed"
"$work/makedump" values 5 8 little >"$work/untyped"
"$work/makedump" linked 5 8 little >"$work/linked"
"$work/makedump" leak 5 8 little >"$work/plain"
"$work/makedump" crowd 5 8 little >"$work/crowd"
build_maker makeprogram || exit
"$work/makeprogram" 1.26 8 little >"$work/program"
"$work/makeprogram" 1.2 4 big >"$work/old"
cd "$work" || exit

# check COMMAND EXPECTED
check() {
	local found status
	found=$(eval "\"\$GOHEAP\" $1" 2>&1)
	status=$?
	[ $status = 0 ] || found+=${found:+$'\n'}"($status)"
	equal "goheap $1" "$2" "$found"
}

# check_all FILE: each command of it.
check_all() {
	local line command='' expected=''
	while IFS= read -r line; do
		if [[ $line = '$ goheap '* ]]; then
			[ -z "$command" ] || check "$command" "${expected%$'\n'}"
			command=${line#'$ goheap '} expected=''
		else
			expected+=${expected:+$'\n'}$line
		fi
	done <"$1"
	check "$command" "$expected"
}

for answers in "$tests"/data/answers/*; do
	check_all "$answers"
done
finish
