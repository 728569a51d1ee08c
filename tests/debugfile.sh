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

# complaints COMMAND...: what a tool that always has much to say says on standard error. Its status may be 1: readelf 2.44 ends so
# where .eh_frame_hdr has no contents, as in every file that objcopy --only-keep-debug writes.
complaints() {
	{ "$@" >/dev/null; } 2>&1
	(($? <= 1))
}

# The checkers find fault with what Go's linker and the C compiler wrote as well, and that is copied:
# headers, notes, .eh_frame. So each prints what it says of a file, to be compared with what it says
# of the program.

# Go's own attributes of types are unknown to it, or it expects them nowhere; nor does it expect the size that Go's linker
# gives types of functions.
dwarfdump_errors() {
	dwarfdump -ka "$1" 2>&1 | grep -E '^\*\*\* (DWARF CHECK|ERROR)|ERROR' |
		grep -v -e "ERROR COUNT" -e "TOTAL ERRORS" -e "DWARF CHECK: .*DW_AT_go_" -e "^There were" \
			-e "DWARF CHECK: DW_TAG_subroutine_type -> DW_AT_byte_size"
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

# always FILE: the attributes that all entries of a tag have in units of Go's, by themselves or by what they are copies of. Where
# code is has one name, in whichever form. Types that are only declared are no entries.
always() {
	readelf --wide --debug-dump=info "$1" 2>"$work/why" | awk '
		function number(text) { gsub(/[<>:]|0x/, "", text); return text }
		/^ *<[0-9a-f]+><[0-9a-f]+>: Abbrev Number: / {
			at = ""
			if ($NF !~ /^\(DW_TAG_/)
				next
			split($1, place, "><")
			at = number(place[2])
			tag[at] = $NF
			if ($NF == "(DW_TAG_compile_unit)")
				go = 0
			in_go[at] = go
			next
		}
		at == "" || NF < 3 { next }
		{ name = $2 == "Unknown" ? $5 : $2; sub(/:$/, "", name) }
		name == "DW_AT_language" { in_go[at] = go = /\(Go\)/ }
		name == "DW_AT_abstract_origin" { origin[at] = number($NF); next }
		name == "DW_AT_declaration" { in_go[at] = 0 }
		{ if (name ~ /^DW_AT_(low_pc|high_pc|ranges)$/) name = "addresses"; own[at] = own[at] name " " }
		END {
			for (at in tag) {
				if (!in_go[at])
					continue
				entries[tag[at]]++
				n = split(own[at] (at in origin ? own[origin[at]] : ""), names, " ")
				for (i = 1; i <= n; i++)
					if (!((at, names[i]) in seen)) {
						seen[at, names[i]]
						has[tag[at] " " names[i]]++
					}
			}
			for (pair in has) {
				split(pair, part, " ")
				if (has[pair] == entries[part[1]])
					print pair
			}
		}' | sort
}

# attributes NAME TWIN FILE: what all entries of a tag have in the twin they have in FILE: debuggers that were made for Go's
# linker and C compilers rely on it. Units of types alone have no code, and what a package calls itself only its source tells.
attributes() {
	always "$2" >"$work/theirs"
	always "$3" >"$work/ours"
	cut -d ' ' -f 1 "$work/ours" | sort -u >"$work/tags"
	join "$work/tags" "$work/theirs" |
		grep -vE '^\(DW_TAG_compile_unit\) (addresses|DW_AT_(stmt_list|addr_base)|2905)$' | sort >"$work/expected"
	comm -23 "$work/expected" "$work/ours" >"$work/missing"
	same "$1: its entries have the $(wc -l <"$work/expected") attributes that the twin's always have" /dev/null "$work/missing"
}

# reads NAME PATTERN COMMAND...: the command ends well, and prints a line that matches PATTERN.
reads() {
	needs "$1" "$3" || return
	timeout 60 "${@:3}" >"$work/output" 2>"$work/why"
	local status=$?
	has "$1" "$(grep -E -m 1 -- "$2" "$work/output"; tail -n 3 "$work/why"; [ $status = 0 ] || echo "status $status")" "$2"
	equal "$1: its status" 0 "$status"
}

# consumers NAME TWIN FILE: others read FILE, and know of it what they know of the twin.
consumers() {
	needs "$1: pahole" pahole && {
		pahole -C main.Server "$2" >"$work/expected" 2>"$work/why"
		pahole -C main.Server "$3" >"$work/found" 2>"$work/why"
		same "$1: pahole" "$work/expected" "$work/found"
	}
	# Later ones than 0.17 read no DWARF of Go programs, the twin among them.
	if bpftrace -lv "uprobe:$2:main.leaf" 2>&1 | grep -q 'No DWARF'; then
		skip "$1: bpftrace" "it reads no DWARF of Go programs"
	else
		reads "$1: bpftrace" '^ +int64 arg0$' bpftrace -lv "uprobe:$3:main.leaf"
	fi
	reads "$1: abidw" "<class-decl name='main.Server' ([^>]* )?size-in-bits='448'" abidw "$3"
	reads "$1: perf probe" ' arg0=%ax:s64$' perf probe -x "$3" -D 'main.leaf arg0'
	needs "$1: dwz" dwz && {
		quiet "$1: dwz" dwz "$3" -o "$3.dwz"
		nm "$3" | sed -n 's/ T main\..*//p' >"$work/addresses"
		addr2line -f -e "$3" <"$work/addresses" >"$work/expected"
		addr2line -f -e "$3.dwz" <"$work/addresses" >"$work/found"
		same "$1: what dwz wrote" "$work/expected" "$work/found"
	}
}

# inlined NAME TWIN FILE: binutils call what is inlined at an address, innermost, what libdwarf reads of the twin. That a signal's
# function has nothing inlined is said of it on purpose.
inlined() {
	"$work/twin" inlines "$2" | awk -F'\t' '
		$4 != "runtime.sigpanic" && NF > most[$1] { most[$1] = NF; name[$1] = $NF }
		END { for (at in most) print at, name[at] }' | sort | awk 'NR % 5 == 1' >"$work/expected"
	cut -d ' ' -f 1 "$work/expected" | addr2line --addresses --functions --inlines --exe="$3" |
		awk '/^0x/ { sub(/^0x0*/, "0x"); at = $1; getline; print at, $0 }' >"$work/found"
	same "$1: addr2line of $(wc -l <"$work/expected") inlined calls" "$work/expected" "$work/found"
}

# c_functions NAME TWIN STRIPPED: of C functions, whose names are gone, none is called as one of Go's.
c_functions() {
	"$GOHEAP" unstrip "$3" -o "$work/program.unstripped"
	nm -n "$2" | sed -n '/ t runtime\.etext$/,$s/ [tT] .*//p' | addr2line --functions --exe="$work/program.unstripped" |
		sed -n '1~2p' >"$work/found"
	holds "$1: unstrip: $(wc -l <"$work/found") C functions are no function of Go's" "$(sort "$work/found" | uniq -c)" \
		[ "$(grep -c '\.' "$work/found")" = "$(grep -c '^runtime\.etext$' "$work/found")" ]
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
	# Where a function begins with an inlined call binutils call that by the function around it in the twin.
	"$work/twin" inlines "$2" | cut -f 1 | sed 's/^0x//' | sort -u >"$work/inlined"
	cut -d ' ' -f 1 "$work/theirs" | awk 'NR % 7 == 1' | sed 's/^0*//' | grep -vxFf "$work/inlined" >"$work/addresses"
	# Nor does the twin tell the places of all: of some that the compiler made it has none.
	places "$2" <"$work/addresses" | grep -v -e '?' -e $'\truntime\.text\t' >"$work/expected"
	places "$whole" <"$work/addresses" | sort >"$work/found"
	sort "$work/expected" | comm -23 - "$work/found" >"$work/missing"
	same "$1: unstrip: addr2line of $(wc -l <"$work/expected") functions" /dev/null "$work/missing"
	inlined "$1: unstrip" "$2" "$whole"
	[ "$4" = amd64 ] || return
	attributes "$1: unstrip" "$2" "$whole"
	[ "$1" != "Go $release sample" ] || ! is_newest "$release" || consumers "$1: unstrip" "$2" "$whole"
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
	if [ "${2##*/}" = cgo ]; then
		c_functions "$1" "$2" "$3"
	else
		unstripped "$1" "$2" "$3" "$4"
	fi
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
for release in $(releases "$apart"); do
	check_release "$release"
done
for arch in $(first arm64 386 arm loong64 mips64le ppc64 ppc64le riscv64 s390x); do
	check_machine 1.19 "$arch"
done
while IFS=$'\t' read -r package path _ _ set; do
	case $set in
	core) ;;
	bench) is_full || continue ;;
	*) continue ;;
	esac
	if program=$("$tests/npm-program" "$package" "$path" 2>"$work/why"); then
		check "$package" "" "$program" amd64
	else
		skip "$package" "$(tail -n 1 "$work/why")"
	fi
done < <(grep -v '^#' "$tests/programs")
finish
