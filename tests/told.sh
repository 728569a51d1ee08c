#!/usr/bin/env bash
# The values of arguments at 1,500 calls: what GDB shows of them with the debug file, where each function's breakpoint
# stops, against what the program prints of them itself.
. "$(dirname "$0")/lib.sh"

# compare TOLD SHOWN: prints how many stops there are, how many words and how many whole values are shown and equal, how
# many words are not shown; and what differs. Of methods the types are compared, too; the program describes no others.
compare() {
	awk -F'\t' -v OFS='\t' '
		function differ(what, theirs) { differs = differs $0 OFS what OFS theirs "\n" }
		NR == FNR { type[$1, $2, $3] = $4; words[$1, $2, $3] = $5; value[$1, $2, $3] = $6; all += split($5, part, ","); next }
		!(($1, $2, $3) in type) { differ("argument", "none"); next }
		{
			stops[$1]
			n = split($5, ours, ",")
			m = split(words[$1, $2, $3], theirs, ",")
			method = $2 ~ /\..*\./
			if (method && $4 != type[$1, $2, $3])
				differ("type", type[$1, $2, $3])
			for (i = 1; i <= n; i++) {
				if (ours[i] == theirs[i])
					equal++
				else if (ours[i] !~ /^[-?]$/)
					differ("word " i, theirs[i])
			}
			if (!method || $6 == "-")
				next
			if (n == m && $6 == value[$1, $2, $3])
				values++
			else
				differ("value", value[$1, $2, $3])
		}
		END {
			print length(stops), equal + 0, values + 0, all - equal
			printf "%s", differs
		}' "$1" "$2"
}

# check NAME STOPS
check() {
	local at words values rest
	rm -f "$work/told" "$work/shown"
	"$GOHEAP" debug "$directory/told.stripped" -o "$work/debug" || return
	"$directory/told.stripped" | cut -f 2 | sort -u >"$work/functions"
	TOLD=$work/told DEBUGFILE=$work/debug FUNCTIONS=$work/functions timeout -k 5 300 gdb -q -nx -batch \
		-ex "exec-file $directory/told.stripped" -x "$tests/oracle/told.py" 2>"$work/errors" |
		grep -E '^[0-9]+	main\.' >"$work/shown"
	compare "$work/told" "$work/shown" >"$work/compared"
	read -r at words values rest <"$work/compared"
	equal "$1: arguments that differ from what the program prints" "" "$(sed 1d "$work/compared" | head -n 20)"
	if [ "$at" -eq "$2" ] && [ "$values" -gt 7500 ]; then
		ok "$1: at $at stops $words words and $values values of arguments are shown; not shown: $rest words"
	else
		fail "$1: only $values values are shown, at $at stops" "$(cat "$work/errors")"
	fi
}

for release in $(releases 1.15 1.19); do
	stops=1550
	# To Go 1.17 nothing is known of functions that are no methods.
	[ "$release" != 1.15 ] || stops=1500
	sample "Go $release" "$release" told || continue
	check "Go $release" "$stops"
	if ! in_full "Go $release, PIE"; then
		:
	elif directory=$("$tests/build-sample" "$release" told -buildmode=pie 2>"$work/why"); then
		check "Go $release, PIE" "$stops"
	else
		skip "Go $release, PIE" "$(tail -n 1 "$work/why")"
	fi
done
finish
