#!/usr/bin/env bash
# The arguments of functions where they are called: what GDB shows of them with the debug file, against the
# variables of the unstripped twin, in the same process.
. "$(dirname "$0")/lib.sh"

# compare: rows of args.py on standard input; prints the words that are equal, that differ, that the twin
# does not know, and that are only in the twin, and those that differ. arg1_2 is the third word of the second argument.
compare() {
	awk -v OFS='\t' '
		$1 == "ours" { ours = $0; next }
		$1 != "twin" { next }
		{
			delete theirs
			none = NF == 3 # of a wrapper that the compiler made it may have none
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
				m = split(parts[2], words, ",")
				for (j = 1; j <= m; j++) {
					word = theirs[parts[1], j - 1]
					if (words[j] == "-")
						continue
					if (word == words[j])
						equal++
					else if (word == "-" || word == "?" || theirs[parts[1], 0] == "?" || none)
						unknown++
					else
						differ[++differs] = $2 OFS $3 OFS fields[i] OFS word
				}
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
	holds "$1: words of arguments shown: $equal, and $unknown that the twin has optimized out; not shown: $rest" "$(cat "$work/errors")" \
		[ "$equal" -gt "$3" ]

	gdb -q -nx -batch -ex "exec-file $2.stripped" -ex "symbol-file $work/debug" -ex "handle SIGSEGV nostop noprint" \
		-ex "break runtime.gopanic" -ex "run >/dev/null" -ex "frame apply all info args" >"$work/session" 2>&1
	sed -n '/ main\.(\*large)\.first (/,/^#/p' "$work/session" | sed 1d >"$work/frame"
	has "$1: the registers of a function that a nil pointer stopped have changed" "$(cat "$work/frame")" '^arg0 = <optimized out>$'
}

# compare_places OURS THEIRS: rows of `twin args` of the debug file and the twin; prints how many places of arguments
# are the same, how many the twin does not know, for how many it has the place of another argument, and those that
# differ. Not compared: of generic functions, of which Go's tracebacks leave out the first argument, whether or not it is
# the dictionary; and parameters without a name, which are not where the twin has them.
compare_places() {
	awk -F'\t' -v OFS='\t' '
		# Go 1.19 has parts of interfaces twice.
		function parts_of(text, parts,    n, i, count, part) {
			n = split(text, part, " ")
			count = 0
			for (i = 1; i <= n; i++)
				if (!(i > 1 && part[i] == part[i - 1] && part[i] !~ /^:/))
					parts[++count] = part[i]
			return count
		}
		# Where one value is whole, its place is that of the first part. But of some strings the twin has only the
		# length, and that for the whole.
		function same_place(ours, theirs,    a, b, m, n, i) {
			gsub(/cfa( |:|$)/, "cfa+0&", theirs)
			gsub(/cfa\+0cfa/, "cfa+0", theirs)
			m = parts_of(ours, a)
			n = parts_of(theirs, b)
			for (i = 1; i <= m; i++) {
				if (m == 1 || n == 1) {
					sub(/:.*/, "", a[i])
					sub(/:.*/, "", b[1])
					if (a[i] == b[1])
						return 1
				} else if (i <= n && a[i] != b[i] && a[i] !~ /^:/ && b[i] !~ /^:/) {
					return 0
				}
			}
			return m > 1 && n > 1
		}
		$4 ~ /\[/ { next }
		NR == FNR {
			sub(/^arg/, "", $6)
			gsub(/ :[0-9]+/, "", $7) # the twin has no pads between parts
			start[$3, $6] = $1
			end[$3, $6] = $2
			place[$3, $6] = $7
			next
		}
		($3, $5) in place && $6 !~ /^~p/ && $1 < end[$3, $5] && start[$3, $5] < $2 {
			if (same_place(place[$3, $5], $7)) {
				same[$3, $5]
				next
			}
			for (i = 0; i < 10; i++)
				if (($3, i) in place && same_place(place[$3, i], $7)) {
					other[$3, $5]
					next
				}
			differ[$3, $5]
			differs = differs $4 OFS $6 OFS place[$3, $5] OFS $7 "\n"
		}
		END {
			for (key in place)
				if (!(key in same) && !(key in other) && !(key in differ))
					unknown++
			print length(same), unknown + 0, length(other)
			printf "%s", differs
		}' "$1" "$2"
}

# check_places NAME TWIN LEAST: at least so many arguments have a place.
check_places() {
	local same unknown others
	"$GOHEAP" debug "$2.stripped" -o "$work/debug" || return
	"$work/twin" args "$work/debug" >"$work/ours"
	"$work/twin" args "$2" >"$work/theirs"
	compare_places "$work/ours" "$work/theirs" >"$work/compared"
	read -r same unknown others <"$work/compared"
	equal "$1: places of arguments that differ from the twin's" "" "$(sed 1d "$work/compared")"
	# Where a function's first statement copies one parameter to another, the twin takes them to be one from the
	# start; and of some wrappers it does not have the receiver.
	has "$1: places that the twin has for another argument: $others" "$others" '^[0-4]$'
	holds "$1: places of arguments that are the twin's: $same, and $unknown that it does not have" "" [ "$same" -gt "$3" ]
}

# compare_types OURS THEIRS: rows of `twin types` of the debug file and the twin; prints how many arguments have the same
# type, and those that differ. Parameters without a name the twin may not have: of a receiver the function's name tells
# the type, the others are not compared.
compare_types() {
	awk -F'\t' -v OFS='\t' '
		NR == FNR { theirs[$3, $5] = $6 ~ /^~/ ? "?" : $7; next }
		$8 != "runtime" || $7 == "" { next }
		{
			sub(/^arg/, "", $6)
			method = $4
			sub(/\.[^.]*$/, "", method)
			pointer = method ~ /\)$/
			gsub(/^go\.|\(\*|\)|·[0-9]+/, "", method)
			receiver = (pointer ? "*" : "") method
			theirs_of = ($3, 0) in theirs && theirs[$3, 0] == receiver ? $6 : $6 - 1
			type = theirs_of < 0 ? receiver : ($3, theirs_of) in theirs ? theirs[$3, theirs_of] : "?"
			if (type == $7)
				same++
			else if (type != "?")
				differs = differs $4 OFS $6 OFS $7 OFS type "\n"
		}
		END {
			print same + 0
			printf "%s", differs
		}' "$1" "$2"
}

# check_types NAME TWIN LEAST: at least so many arguments have a type of the program's own.
check_types() {
	"$work/twin" types "$work/debug" >"$work/ours"
	"$work/twin" types "$2" >"$work/theirs"
	compare_types "$work/theirs" "$work/ours" >"$work/compared"
	equal "$1: types of arguments that differ from the twin's" "" "$(sed 1d "$work/compared")"
	local same
	read -r same <"$work/compared"
	holds "$1: types of arguments that are the twin's: $same" "" [ "$same" -gt "$3" ]
}

CC=${CC:-cc}
build_twin || exit 1
for release in $(formats 1.15 1.19 1.23 1.27); do
	sample "Go $release" "$release" args || continue
	if [ "$release" = 1.15 ]; then
		# Its tables have no arguments: those of methods are told by their types. Where they are, tests/told.sh sees.
		for mode in exe pie; do
			directory=$("$tests/build-sample" "$release" args -buildmode=$mode) &&
				"$GOHEAP" debug "$directory/args.stripped" -o "$work/debug" && check_types "Go $release, $mode" "$directory/args" 500
		done
		continue
	fi
	check_program "Go $release" "$directory/args" 60
	if is_newest "$release" && sample "Go $release, PIE" "$release" args -buildmode=pie; then
		check_places "Go $release, PIE" "$directory/args" 1000
		check_types "Go $release, PIE" "$directory/args" 100
	fi
	case $release in
	1.27) machines="amd64 $(first arm64 loong64 ppc64 ppc64le riscv64 s390x 386 arm mips mips64le)" ;;
	1.19) machines=$(first amd64 arm64) ;;
	*) machines=amd64 ;;
	esac
	for machine in $machines; do
		if GOARCH=$machine CGO_ENABLED=0 sample "Go $release, $machine" "$release" args; then
			check_places "Go $release, $machine" "$directory/args" 1000
			check_types "Go $release, $machine" "$directory/args" 100
		fi
	done
done
finish
