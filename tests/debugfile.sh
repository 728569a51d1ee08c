#!/usr/bin/env bash
# shellcheck disable=SC2317 # some functions are called by name
# The debug file: what the checkers of ELF and DWARF say of it, and what it holds against the DWARF of
# the unstripped twin, both read with libdwarf.
. "$(dirname "$0")/lib.sh"

# quiet NAME COMMAND...: the command succeeds, and prints nothing but what is expected of it.
quiet() {
	local name=$1
	shift
	if "$@" >"$work/output" 2>&1 && ! [ -s "$work/output" ]; then
		ok "$name"
	else
		fail "$name" "$(head -n 20 "$work/output")"
	fi
}

# complaints COMMAND...: what a tool that always has much to say says on standard error.
complaints() {
	{ "$@" >/dev/null; } 2>&1
}

# The checkers find fault with what Go's linker and the C compiler wrote as well, and that is copied:
# headers, notes, .eh_frame. So each prints what it says of a file, to be compared with what it says
# of the program.

# Go's own attributes of types are unknown to it, or it expects them nowhere.
dwarfdump_errors() {
	dwarfdump -ka "$1" 2>&1 | grep -E '^\*\*\* (DWARF CHECK|ERROR)|ERROR' |
		grep -v -e "ERROR COUNT" -e "TOTAL ERRORS" -e "DWARF CHECK: .*DW_AT_go_" -e "^There were"
}

llvm_errors() {
	llvm-dwarfdump --verify "$1" 2>&1 | grep -E '^(error|warning)|Errors detected'
}

lint_errors() {
	# It does not know the notes of SystemTap's probes.
	eu-elflint --gnu-ld "$@" 2>&1 | grep -v -e '^No errors$' -e "'\.note\.stapsdt': unknown object file note type 3 " |
		sed 's/^section \[[ 0-9]*\]/section/'
}

lint_debug_errors() {
	lint_errors --debug "$1"
}

# no_more NAME CHECKER CHECKER_OF_PROGRAM PROGRAM DEBUGFILE
no_more() {
	"$3" "$4" | sort >"$work/before"
	"$2" "$5" | sort | comm -13 "$work/before" - >"$work/errors"
	same "$1" /dev/null "$work/errors"
}

# sections FILE: the bytes of those that have contents.
sections() {
	local bytes=0 size
	while read -r size; do
		bytes=$((bytes + size))
	done < <(readelf --wide --sections "$1" | sed -nE '/ NOBITS /d; s/^ *\[ *[0-9]+\] +[^ ]+ +[A-Z_]+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) .*/0x\1/p')
	echo $bytes
}

# valid NAME PROGRAM DEBUGFILE PLAIN: every checker is content. PLAIN is the debug file for libdwarf.
valid() {
	local room=$(($(stat -c %s "$3") - $(sections "$3")))
	holds "$1: nothing but headers takes room beside the sections" "$room bytes" [ $((room >= 0 && room < 16384)) = 1 ]
	quiet "$1: readelf has no warning" complaints readelf --wide --all --debug-dump "$3"
	no_more "$1: eu-elflint finds nothing" lint_debug_errors lint_errors "$2" "$3"
	no_more "$1: dwarfdump finds nothing" dwarfdump_errors dwarfdump_errors "$2" "$4"
	no_more "$1: llvm-dwarfdump --verify finds nothing" llvm_errors llvm_errors "$2" "$3"
}

# unwound_otherwise TWIN DEBUGFILE GOARCH: the functions, with start and end, in which ours unwinds otherwise than
# the twin does. The first pop what the stack delta of a machine with a link register cannot tell; the second returns to the
# kernel's signal frame, which leads on; the next returns to the first byte of a function up to Go 1.20. With a link
# register the twin takes those that the runtime injects for called. Then come marks around the code of the FIPS module, and the linker's trampolines, which have no DWARF; and the code that runs
# on another stack, where the twin is wrong: see switches.sh.
unwound_otherwise() {
	local injected='|sigpanic0?'
	case $3 in amd64 | 386) injected= ;; esac
	"$work/twin" funcs "$1" |
		awk -F'\t' -v name="^runtime\\.(asyncPreempt|clone|debugCall.*|goexit|sigtramp|cgocallback$injected)\$" '$3 ~ name'
	readelf --wide --syms "$1" | awk '$8 ~ /^go:textfips|-tramp[0-9]+(\.abi0)?$/ { print $2 }' |
		while read -r start; do
			printf '0x%x\t0x%x\n' $((16#$start)) $((16#$start + 16))
		done
	readelf --wide --syms "$2" | awk '$8 == "__morestack" { print $2, $3 }' |
		while read -r start size; do
			printf '0x%x\t0x%x\n' $((16#$start)) $((16#$start + size))
		done
}

# frames NAME TWIN DEBUGFILE GOARCH: where both say how to unwind they say the same. The twin's goes on where
# ours ends a backtrace, and leaves out the last byte of each function.
frames() {
	"$work/twin" frames "$2" >"$work/theirs"
	"$work/twin" frames "$3" >"$work/all"
	grep -v 'undef$' "$work/all" >"$work/ours"
	apart "$work/theirs" "$work/ours" >"$work/apart"
	unwound_otherwise "$2" "$3" "$4" | awk -F'\t' '{ printf "%16s\t%s\n", substr($1, 3), $0 }' | sort |
		cut -f 2- >"$work/otherwise"
	outside "$work/otherwise" "$work/apart" >"$work/wrong"
	same "$1: the call frame of every pc ($(wc -l <"$work/ours") rows) is the twin's" /dev/null \
		"$work/wrong"
	grep 'undef$' "$work/all" >"$work/ends"
	at_most "$1: rows where backtraces end" "$work/ends" 60
}

# at_most NAME FILE COUNT: FILE has no more lines than that.
at_most() {
	holds "$1: $(wc -l <"$2")" "$(head "$2")" [ "$(wc -l <"$2")" -le "$3" ]
}

# functions NAME TWIN DEBUGFILE: the same functions, with the file and the line of their declarations where the twin has
# them: it has lines from Go 1.20 on, and files but for functions that are inlined somewhere, too. A package's init function
# has no place of its own.
functions() {
	"$work/twin" funcs "$2" >"$work/all"
	"$work/twin" funcs "$3" >"$work/declared"
	awk -F'\t' '
		NR == FNR { file[$1] = $4; line[$1] = $5; next }
		$3 !~ /\.init$/ && $1 in file && ($4 != "?" && $4 != file[$1] || $5 != 0 && $5 != line[$1]) { print file[$1], line[$1], $0 }' \
		"$work/declared" "$work/all" >"$work/wrong"
	same "$1: the declarations that the twin tells of" /dev/null "$work/wrong"
	cut -f 1-2 "$work/all" >"$work/theirs"
	cut -f 1-2 "$work/declared" >"$work/ours"
	awk -F'\t' 'NR == FNR { row[$0] = 1; next } !($0 in row)' "$work/ours" "$work/theirs" \
		>"$work/missing"
	same "$1: every function of the twin ($(wc -l <"$work/theirs")) is there" /dev/null \
		"$work/missing"
}

# statements FUNCTIONS LINES: function, file, line, start and end of the row that a breakpoint on the line is
# put on, for each line of each function.
statements() {
	awk -F'\t' -v OFS='\t' '{ printf "%16s\t%s\n", substr($1, 3), $0 }' "$2" | sort | awk -F'\t' -v OFS='\t' '
		BEGIN { n = i = 0 }
		function address(text) { return sprintf("%16s", substr(text, 3)) }
		NR == FNR { start[n++] = address($1); next }
		{
			while (i + 1 < n && start[i + 1] <= $1)
				i++
			key = start[i] "|" $4 "|" $5
			if ($6 ~ /s/ && !(key in seen)) {
				seen[key] = 1
				print key, $1, address($3)
			}
		}' "$1" - | sort
}

# breakpoints NAME TWIN DEBUGFILE LEAST: a breakpoint on a line is where the twin has it, for LEAST lines
# in 100. The debug file marks its rows by what can be told from the code.
breakpoints() {
	"$work/twin" funcs "$2" >"$work/functions"
	"$work/twin" lines "$2" >"$work/lines"
	statements "$work/functions" "$work/lines" >"$work/theirs"
	"$work/twin" lines "$3" >"$work/lines"
	statements "$work/functions" "$work/lines" >"$work/ours"
	join -t "$(printf '\t')" "$work/ours" "$work/theirs" |
		awk -F'\t' -v least="$4" '
			{ lines++; if ($2 <= $4 && $4 < $3) same++ }
			END { printf "%.1f\n", 100 * same / lines; exit !(lines > 1000 && same * 100 >= lines * least) }' \
			>"$work/share"
	if [ "${PIPESTATUS[1]}" -eq 0 ]; then
		ok "$1: breakpoints of $(cat "$work/share") lines in 100 are on the twin's statement"
	else
		fail "$1: breakpoints of $(cat "$work/share") lines in 100 are on the twin's statement, not $4"
	fi
}

# symbols NAME TWIN DEBUGFILE: .symtab has the functions of the twin's, with their addresses and sizes.
symbols() {
	functions_of "$2" >"$work/theirs"
	functions_of "$3" >"$work/ours"
	comm -23 "$work/theirs" "$work/ours" >"$work/missing"
	same "$1: .symtab has every function of the twin's ($(wc -l <"$work/theirs"))" /dev/null \
		"$work/missing"
}

# functions_of FILE
functions_of() {
	readelf --wide --syms "$1" | grep -v -e ' go:textfips' -e '-tramp[0-9]' |
		awk '$4 == "FUNC" && $3 + 0 > 0 && $7 != "UND" { print $2, $3 }' | sort -u
}

# places PROGRAM: what addr2line makes of the addresses on standard input, in PROGRAM: a row for each. The table has neither
# the ABI of a function nor the length of an array in the name of one that compares it.
places() {
	addr2line --addresses --functions --exe="$1" | paste - - - | sed -E 's/\.abi0\t/\t/; s/(type\.\.eq\.)\[[0-9]+\]/\1[...]/'
}

# unstripped NAME TWIN STRIPPED GOARCH: `goheap unstrip' makes the same program, whose functions and lines are the twin's to
# tools that know nothing of Go's tables.
unstripped() {
	local whole=$work/program.unstripped
	if ! "$GOHEAP" unstrip "$3" -o "$whole" >"$work/output" 2>&1; then
		fail "$1: goheap unstrip" "$(cat "$work/output")"
		return
	fi
	if cmp <(tail -c +65 "$3") <(head -c "$(stat -c %s "$3")" "$whole" | tail -c +65) >"$work/output" 2>&1; then
		ok "$1: unstrip: the program's bytes are as they were"
	else
		fail "$1: unstrip: the program's bytes are as they were" "$(cat "$work/output")"
	fi
	readelf --wide --segments --notes "$3" | sed '/^ Section to Segment/,/^$/d' | sort -u >"$work/expected"
	readelf --wide --segments --notes "$whole" 2>"$work/errors" | sed '/^ Section to Segment/,/^$/d' | sort -u >"$work/found"
	comm -23 "$work/expected" "$work/found" >"$work/missing"
	same "$1: unstrip: its segments and notes, too" /dev/null "$work/missing"
	same "$1: unstrip: readelf has no warning" /dev/null "$work/errors"
	equal "$1: unstrip: its permissions" "$(stat -c %a "$3")" "$(stat -c %a "$whole")"
	symbols "$1: unstrip" "$2" "$whole"
	cut -d ' ' -f 1 "$work/theirs" | awk 'NR % 7 == 1' >"$work/addresses"
	# Nor does the twin tell the places of all: of some that the compiler made it has none.
	places "$2" <"$work/addresses" | grep -v -e '?' -e $'\truntime\.text\t' >"$work/expected"
	places "$whole" <"$work/addresses" | sort >"$work/found"
	sort "$work/expected" | comm -23 - "$work/found" >"$work/missing"
	same "$1: unstrip: addr2line of $(wc -l <"$work/expected") functions" /dev/null "$work/missing"
	[ "$4" = amd64 ] || return
	"$3" >"$work/expected" 2>&1
	"$whole" >"$work/found" 2>&1
	same "$1: unstrip: it prints the same" "$work/expected" "$work/found"
	"$GOHEAP" unstrip "$2" -o "$work/again" >"$work/output" 2>&1
	equal "$1: unstrip: one with its DWARF is refused" 1 $?
}

# check NAME TWIN STRIPPED GOARCH
check() {
	local debug=$work/program.debug
	if ! "$GOHEAP" debug "$3" -o "$debug" >"$work/output" 2>&1; then
		fail "$1: goheap debug" "$(cat "$work/output")"
		return
	fi
	if ! python3 "$tests/oracle/plaincie.py" "$debug" "$debug.plain" 2>"$work/output"; then
		fail "$1: the callers of signals' functions are marked" "$(tail -n 1 "$work/output")"
		return
	fi
	valid "$1" "$3" "$debug" "$debug.plain"
	[ -n "$2" ] || return
	functions "$1" "$2" "$debug"
	frames "$1" "$2" "$debug.plain" "$4"
	case $4 in
	amd64 | arm64) breakpoints "$1" "$2" "$debug" 92 ;;
	*) breakpoints "$1" "$2" "$debug" 88 ;;
	esac
	# The C functions of a cgo program are gone for good.
	[ "${2##*/}" = cgo ] || symbols "$1" "$2" "$debug"
	[ "${2##*/}" = cgo ] || unstripped "$1" "$2" "$3" "$4"
}

# bare NAME PROGRAM: where the headers of sections are gone, each segment is a section. The first begins with notes, which are
# one of their own.
bare() {
	local field
	cp "$2" "$work/bare"
	# e_shoff, and e_shnum with e_shstrndx.
	for field in 40:8 60:4; do
		head -c "${field#*:}" /dev/zero | dd of="$work/bare" bs=1 seek="${field%:*}" conv=notrunc 2>/dev/null
	done
	"$GOHEAP" debug "$work/bare" -o "$work/bare.debug"
	equal "$1: segments without sections" "$(readelf -lW "$work/bare" 2>/dev/null | awk '$1 == "LOAD" && loads++ { print $3, $6 }')" \
		"$(readelf -SW "$work/bare.debug" | sed 's/^ *\[ *//' | awk '$3 == "NOBITS" && $2 != ".text" { print "0x" $4, "0x" $6 }')"
}

# check_release RELEASE
check_release() {
	local spec name directory arch
	for spec in "sample" "sample -buildmode=pie" "cgo"; do
		[[ $spec != *pie ]] || is_newest "$1" || continue
		name=${spec%% *}
		# shellcheck disable=SC2086 # the words of a specification are arguments
		sample "Go $1 $spec" "$1" $spec || continue
		check "Go $1 $spec" "$directory/$name" "$directory/$name.stripped" amd64
		[ "$spec" != sample ] || bare "Go $1" "$directory/sample.stripped"
	done
}

# check_machine RELEASE GOARCH
check_machine() {
	local directory
	GOARCH=$2 sample "Go $1 $2" "$1" sample || return 0
	check "Go $1 $2" "$directory/sample" "$directory/sample.sw" "$2"
}

build_twin || exit 1
for release in ${RELEASES:-$apart}; do
	check_release "$release"
done
for arch in 386 arm arm64 loong64 mips64le ppc64 ppc64le riscv64 s390x; do
	check_machine 1.19 "$arch"
done
while IFS=$'\t' read -r package path _ _ set; do
	case $set in
	core | bench) ;;
	*) continue ;;
	esac
	if program=$("$tests/npm-program" "$package" "$path" 2>"$work/why"); then
		check "$package" "" "$program" amd64
	else
		skip "$package" "$(tail -n 1 "$work/why")"
	fi
done < <(grep -v '^#' "$tests/programs")
finish
