#!/usr/bin/env bash
# What holds a leak: on dumps of a program that leaks in ways it tells of, by name with the unstripped program, and by the
# functions that use it without. The names of functions are those that objdump finds in the unstripped program.
set -u
export LC_ALL=C
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

variables="static map list syncmap channel context slice subslice timer"
KINDS=${KINDS-$variables goroutine nothing}

# said WHAT COLUMN: what the program printed of it.
said() {
	awk -F'\t' -v what="$1" -v column="$2" '$1 == what { print $column }' "$work/said"
}

# leak KIND: the sample in $directory writes its dumps to $work/old and $work/new.
leak() {
	"$directory/leaks.stripped" "$1" "$work/old" "$work/new" >"$work/said" && return
	fail "$1: the sample writes its dumps"
	return 1
}

# users ADDRESS: the functions whose code refers to it.
users() {
	awk -v address="${1#0x}" '/^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name) }
		{ for (i = 1; i < NF; i++) if ($i == "#" && $(i + 1) == address) print name }' "$work/code" | sort -u
}

# check_users NAME TEXT ADDRESS: TEXT, "global ADDRESS of F and N more", is about those functions.
check_users() {
	local function more
	users "$3" >"$work/users"
	function=$(sed -nE "s/.*global $3 of (.*)/\1/; s/ and [0-9]+ more.*//; s/( \(|, \+| ->).*//p" <<<"$2")
	more=$(sed -nE "s/.*global $3 of [^ ]* and ([0-9]+) more.*/\1/p" <<<"$2")
	equal "$1: the function uses it" "$function" "$(grep -Fx -- "${function:-none}" "$work/users")"
	equal "$1: the functions that use it" "$(wc -l <"$work/users")" $((${more:-0} + 1))
}

# check_root NAME: the word that leads to the leak has a name.
check_root() {
	local word object output variable
	word=$(said word 2) variable=$(said held 2)
	object=$("$GOHEAP" roots "$work/new" | awk -v word="$word" '$2 == word { print $3; exit }')
	output=$("$GOHEAP" path "$work/new" "$object" -e "$directory/leaks" | head -n 1)
	if [ "$kind" = static ]; then
		equal "$1: by name" "main.srv -> main.Server (static).tenants (data, $word)" "$output"
		# Where main.srv is, and what it points to, the symbol table and the program's own memory say.
		variable=0x$(nm "$directory/leaks" | awk '$3 == "main.srv" { sub(/^0+/, "", $1); print $1 }')
		output=$("$GOHEAP" path "$work/new" "$object" -e "$directory/leaks.stripped" | head -n 1)
		has "$1: by the value's place" "$output" " -> static $(printf '%#x' $((word - 16))), \+16 \(data, $word\)\$"
		check_users "$1: by use" "$output" "$variable"
	else
		has "$1: by name" "$output" "^$variable(\.[a-z.]*)? \(bss, $word\)\$"
		output=$("$GOHEAP" path "$work/new" "$object" -e "$directory/leaks.stripped" | head -n 1)
		check_users "$1: by use" "$output" "$(sed -nE 's/^global (0x[0-9a-f]+) .*/\1/p' <<<"$output")"
	fi
}

# check RELEASE
check() {
	local kind
	sample "go $1" "$1" leaks || return
	objdump -d --no-show-raw-insn "$directory/leaks" >"$work/code"
	for kind in $KINDS; do
		leak "$kind" || continue
		[[ " $variables " != *" $kind "* ]] || check_root "go $1, $kind"
	done
}

# check_arm64: code of another machine. The source says what uses the variable.
check_arm64() {
	local kind=list output run
	run=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
	if [ -z "$run" ]; then
		skip "arm64" "no qemu-aarch64"
	elif GOARCH=arm64 sample "arm64" 1.19 leaks; then
		"$run" "$directory/leaks.stripped" "$kind" "$work/old" "$work/new" >"$work/said"
		output=$("$GOHEAP" dominators "$work/new" -e "$directory/leaks.stripped")
		has "arm64: by use" "$output" "<- global $(said word 2) of main\.record and 1 more \(bss, "
	fi
}

for release in ${RELEASES:-1.19 1.22 1.24 1.27}; do
	check "$release"
done
check_arm64

finish
