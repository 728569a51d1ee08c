#!/usr/bin/env bash
# The arguments of functions where they are called: what GDB shows of them with the debug file, against the
# variables of the unstripped twin, in the same process.
set -u
export LC_ALL=C
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# compare: rows of args.py on standard input; prints the words that are equal, that differ, that the twin
# does not know, and that are only in the twin, and those that differ. arg1_2 is the third word of the second argument.
compare() {
	awk -v OFS='\t' '
		$1 == "ours" { ours = $0; next }
		$1 != "twin" { next }
		{
			delete theirs
			for (i = 4; i <= NF; i++) {
				value = $i
				sub(/^.*=/, "", value)
				n = split(value, parts, ",")
				for (j = 1; j <= n; j++) {
					theirs[i - 4, j - 1] = parts[j]
					all += parts[j] != "-"
				}
			}
			n = split(ours, fields, " ")
			for (i = 4; i <= n; i++) {
				split(substr(fields[i], 4), parts, "=")
				split(parts[1] "_0", place, "_")
				word = theirs[place[1], place[2]]
				if (word == parts[2])
					equal++
				else if (word == "-" || word == "?" || theirs[place[1], 0] == "?")
					unknown++
				else
					differ[++differs] = $2 OFS $3 OFS fields[i] OFS word
			}
		}
		END {
			print equal + 0, differs + 0, unknown + 0, all - equal
			for (i = 1; i <= differs; i++)
				print differ[i]
		}'
}

# check_program NAME TWIN LEAST: at least so many words are shown.
check_program() {
	local equal unknown rest
	"$GOHEAP" debug "$2.stripped" -o "$work/debug" || return
	"$GOHEAP" funcs "$2.stripped" | cut -f 3 |
		grep -E '^(main|fmt|strconv)\.' | grep -v '[][ ]' >"$work/functions"
	TWIN=$2 DEBUGFILE=$work/debug FUNCTIONS=$work/functions timeout -k 5 300 gdb -q -nx -batch \
		-ex "exec-file $2.stripped" -x "$tests/oracle/args.py" >"$work/rows" 2>"$work/errors"
	compare <"$work/rows" >"$work/compared"
	read -r equal _ unknown rest <"$work/compared"
	equal "$1: words of arguments that differ from the twin's" "" "$(sed 1d "$work/compared")"
	if [ "$equal" -gt "$3" ]; then
		ok "$1: words of arguments shown: $equal, and $unknown that the twin has optimized out; not shown: $rest"
	else
		fail "$1: only $equal words of arguments are shown" "$(cat "$work/errors")"
	fi

	gdb -q -nx -batch -ex "exec-file $2.stripped" -ex "symbol-file $work/debug" -ex "handle SIGSEGV nostop noprint" \
		-ex "break runtime.gopanic" -ex "run >/dev/null" -ex "frame apply all info locals" >"$work/session" 2>&1
	sed -n '/ main\.(\*large)\.first ()/,/^#/p' "$work/session" >"$work/frame"
	has "$1: a function that a nil pointer stopped is on the stack" "$(cat "$work/frame")" 'first'
	lacks "$1: its registers have changed, and no argument is shown" "$(cat "$work/frame")" '^arg'
}

for release in ${RELEASES:-$("$tests/toolchain" list)}; do
	[ "$release" = 1.15 ] && continue # its tables have no arguments
	if ! directory=$("$tests/build-sample" "$release" args 2>"$work/why"); then
		skip "Go $release" "$(tail -n 1 "$work/why")"
		[ "$release" = 1.19 ] && fail "Go 1.19 is part of the core set"
		continue
	fi
	check_program "Go $release" "$directory/args" 30
done
finish
