#!/usr/bin/env bash
# The functions, files and lines that goheap decodes, at every pc, against Go's own debug/gosym, and
# against the DWARF of the unstripped twin, read with libdwarf.
. "$(dirname "$0")/lib.sh"

# rows: of either side, those that name a file or a line. gosym has rows for the padding after a
# function as well.
rows() {
	awk -F'\t' '!($3 == "?" && $4 <= 0)'
}

# gosym takes a table's offset of 0 for a table; to the runtime it means there is none. The linker's
# trampolines on riscv64 are the functions without tables.
without_trampolines() {
	grep -v -e '-tramp[0-9]*$'
}

# of_go: of rows on standard input those of functions that are in $go_functions, or all where that is empty. The race detector's
# C functions are in the function table, without tables of their own.
go_functions=
of_go() {
	if [ -n "$go_functions" ]; then
		inside "$go_functions" -
	else
		cat
	fi
}

# goheap escapes backslashes so that its output can be read back.
escape() {
	sed 's/\\/\\\\/g'
}

# ask_gosym NAME ORACLE FILE [N]: the line of every pc, or of those of one function in N, in $work/gosym.
ask_gosym() {
	"$2" -lines -every "${4-1}" "$3" | escape | rows | without_trampolines | of_go >"$work/gosym"
	[ -s "$work/gosym" ] || fail "$1: gosym reads it"
}

# part N FILE: of rows on standard input those of one function in N of FILE's; all of them if N is 1.
part() {
	if (($1 == 1)); then
		cat
	else
		inside <("$GOHEAP" funcs "$2" | sed -n "1~$1p") -
	fi
}

# compare_lines NAME FILE [N]: with what gosym said last.
compare_lines() {
	"$GOHEAP" lines "$2" | part "${3-1}" "$2" | rows | without_trampolines | of_go >"$work/ours"
	same "$1: the line of every pc ($(wc -l <"$work/gosym") rows) is gosym's" "$work/gosym" "$work/ours"
}

# compare_table NAME STRIPPED: the debug file's line table has gosym's line, which is in $work/gosym, at every pc. What is
# inlined in runtime.sigpanic is left out: GDB aborts on inlined calls in a frame that a signal made.
compare_table() {
	rm -f "$work/debug"
	"$GOHEAP" debug "$2" -o "$work/debug"
	"$work/twin" lines "$work/debug" >"$work/table"
	if ! [ -s "$work/table" ]; then
		fail "$1: the debug file has lines"
		return
	fi
	apart "$work/table" "$work/gosym" | grep -v 'runtime\.sigpanic$' >"$work/left"
	same "$1: the line of every pc ($(wc -l <"$work/gosym") rows) in the debug file" /dev/null "$work/left"
}

# check_format NAME FILE: the format of its function table has the name of the release that began it, by the number that the
# table begins with: debug/gosym has that of each.
check_format() {
	local format
	objcopy -O binary -j .gopclntab "$2" "$work/table"
	case $(od -An -t x4 -N 4 "$work/table") in
	*fffffffb) format=go1.2 ;;
	*fffffffa) format=go1.16 ;;
	*fffffff0) format=go1.18 ;;
	*fffffff1) format=go1.20 ;;
	*) format=unknown ;;
	esac
	has "$1: the format of its function table" "$("$GOHEAP" info --json "$2")" "\"pclntab_format\":\"$format\","
}

# What the pclntab does not tell as the DWARF does: the linker writes an array type's length as ...
# in the names of the functions that compare it, and a package's init function has no place of
# its own but that of the first variable it sets.
explained() {
	awk -F'\t' '$3 !~ /^type\.\.eq\..*\[/ && $3 !~ /\.init$/'
}

# compare_functions NAME STRIPPED TWIN: entry, end, name and file of every function.
compare_functions() {
	"$GOHEAP" funcs "$2" | cut -f 1-4 | of_go >"$work/ours"
	"$work/twin" funcs "$3" 2>"$work/errors" | cut -f 1-4 | escape >"$work/dwarf"
	if ! [ -s "$work/dwarf" ]; then
		fail "$1: libdwarf reads the twin" "$(cat "$work/errors")"
		return
	fi
	# The same entry, end and name, whatever the file.
	cut -f 1-3 "$work/dwarf" | explained >"$work/expected"
	cut -f 1-3 "$work/ours" | explained | grep -v -e 'go:textfips\(start\|end\)$' >"$work/found"
	same "$1: entry, end, name of every function ($(wc -l <"$work/expected")) are the DWARF's" \
		"$work/expected" "$work/found"
	# The file, wherever the DWARF names one.
	grep -v '?$' "$work/dwarf" | explained >"$work/expected"
	awk -F'\t' 'NR == FNR { file[$1] = 1; next } $1 in file' "$work/expected" "$work/ours" |
		explained >"$work/found"
	same "$1: the file of every function that has one there ($(wc -l <"$work/expected"))" \
		"$work/expected" "$work/found"
	explained <"$work/dwarf" >"$work/kept"
	others=$(($(wc -l <"$work/dwarf") - $(wc -l <"$work/kept")))
	holds "$1: few functions ($others) are told apart by name" "" [ "$others" -le $(($(wc -l <"$work/dwarf") / 20)) ]
}

# compare_release RELEASE
compare_release() {
	local release=$1 oracle directory spec name suffix
	if ! oracle=$("$tests/build-sample" "$release" gosym 2>"$work/why"); then
		skip "Go $release" "$(tail -n 1 "$work/why")"
		[ "$release" = 1.19 ] && fail "Go 1.19 is part of the core set"
		return
	fi
	for spec in "sample" "sample -buildmode=pie" "cgo" "cgo -buildmode=pie" "sample -race" "sample -N" "sample -asan" "cgo -musl"; do
		[[ ! $spec =~ -race|-N|-asan|-musl|cgo.*pie ]] || is_newest "$release" || continue
		name=${spec%% *}
		sample_as "Go $release $spec" "$release" "$spec" || continue
		go_functions=
		if [ "$spec" = "sample -race" ]; then
			go_functions=$work/go-functions
			"$work/twin" funcs "$directory/sample" >"$go_functions"
		fi
		[ "$spec" != sample ] || check_format "Go $release" "$directory/sample.stripped"
		ask_gosym "Go $release $spec.sw" "$oracle/gosym" "$directory/$name.sw"
		compare_lines "Go $release $spec.sw" "$directory/$name.sw"
		# What strip leaves has the addresses of the unstripped twin.
		ask_gosym "Go $release $spec" "$oracle/gosym" "$directory/$name.stripped"
		for suffix in "" .stripped; do
			compare_lines "Go $release $spec$suffix" "$directory/$name$suffix"
		done
		compare_table "Go $release $spec" "$directory/$name.stripped"
		compare_functions "Go $release $spec" "$directory/$name.stripped" "$directory/$name"
	done
	go_functions=
}

# compare_program PACKAGE PATH SET
compare_program() {
	local program every=1
	if ! program=$("$tests/npm-program" "$1" "$2" 2>"$work/why"); then
		skip "$1" "$(tail -n 1 "$work/why")"
		[ "$3" = core ] && fail "$1 is part of the core set"
		return
	fi
	if [ -z "$newest" ]; then
		skip "$1" "no toolchain whose debug/gosym reads it"
		return
	fi
	# debug/gosym takes its time: it looks for each pc from its function's beginning.
	[ "$3" = core ] || every=4
	ask_gosym "$1" "$newest/gosym" "$program" "$every"
	compare_lines "$1, one function in $every" "$program" "$every"
}

# compare_old RELEASE: programs with the tables of Go 1.0 and 1.1, with that release's debug/gosym. It is
# right only where an int has the 32 bits of the numbers there, some of them negative; and it takes a line
# number that a directive gives, as for main.made, for the place of a file.
compare_old() {
	local oracle format bits name
	if ! oracle=$(ORACLE_GOARCH=386 "$tests/build-sample" "$1" gosym 2>"$work/why"); then
		skip "tables of Go 1.0 and 1.1" "$(tail -n 1 "$work/why")"
		[ "$1" = 1.19 ] && fail "Go 1.19 is part of the core set"
		return
	fi
	needs_386 "tables of Go 1.0 and 1.1" || return
	build_maker makeprogram || exit 1
	for format in 1.0 interim 1.1; do
		for bits in 32 64; do
			"$work/makeprogram" "$format" $((bits / 8)) little >"$work/old"
			name="Go $format, $bits bits"
			"$oracle/gosym" -funcs "$work/old" >"$work/gosym"
			"$GOHEAP" funcs "$work/old" | cut -f 1-3 >"$work/ours"
			[ "$format" = interim ] || has "$name: the format of its function table" "$("$GOHEAP" info --json "$work/old")" "\"pclntab_format\":\"go$format\","
			equal "$name: gosym finds functions" 4 "$(wc -l <"$work/gosym")"
			same "$name: entry, end, name of every function are gosym's" \
				"$work/gosym" "$work/ours"
			"$oracle/gosym" -lines "$work/old" | grep -v 'main\.made$' >"$work/gosym"
			"$GOHEAP" lines "$work/old" | grep -v 'main\.made$' >"$work/ours"
			equal "$name: gosym finds lines" 7 "$(wc -l <"$work/gosym")"
			same "$name: the line of every pc is gosym's" "$work/gosym" "$work/ours"
			"$GOHEAP" debug "$work/old" -o "$work/old.debug"
			# At its second instruction, which they return to, the return address is 0, as Delve wants it.
			equal "$name: no caller before goexit, which goroutines return to, and in it" \
				"40106f 401070 401072" "$(readelf --debug-dump=frames-interp "$work/old.debug" |
					awk '
						$1 == "LOC" { for (i = 2; $i != "ra"; i++); }
						$1 ~ /^[0-9a-f]+$/ && $2 ~ /\+/ && $i == "u" { sub(/^0*/, "", $1); print $1 }' |
					paste -sd ' ')"
		done
	done
}

build_twin || exit 1
newest=
newest_release=
# RELEASES: the Go releases to test with, if not those.
for release in $(formats "$apart"); do
	compare_release "$release"
done
for release in $(picked "$apart"); do
	if oracle=$("$tests/build-sample" "$release" gosym 2>/dev/null); then
		newest=$oracle
		newest_release=$release
	fi
done
[ -z "$newest" ] || compare_old "$newest_release"
while IFS=$'\t' read -r package path _ _ set; do
	[ "$set" = bench ] || { [ "$set" != core ] && ! is_full; } || compare_program "$package" "$path" "$set"
done < <(grep -v '^#' "$tests/programs")
finish
