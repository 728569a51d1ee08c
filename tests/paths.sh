#!/usr/bin/env bash
# What holds each byte of a heap, as a profile: read by Go's own pprof, against what a program that leaks in ways it
# tells of frees when it lets go; and against goref's profile of the same process, if GOREF names that program.
. "$(dirname "$0")/lib.sh"
session_home

# Those of which one variable holds all.
KINDS=${KINDS-static map list syncmap channel context slice subslice}

# pprof ARGUMENT...: go tool pprof, of a release whose pprof is in its package.
pprof() {
	"$goroot/bin/go" tool pprof "$@" 2>"$work/pprof.errors"
}

# top FILE [ARGUMENT...]: what each frame in the profile has with what is in it, in bytes, and its name.
top() {
	pprof -top -cum -unit=B -nodecount=0 -nodefraction=0 -edgefraction=0 "$@" | sed '1,/^ *flat /d' |
		awk '{ bytes = $4; sub(/B$/, "", bytes); $1 = $2 = $3 = $4 = $5 = ""; sub(/^ */, ""); print bytes "\t" $0 }'
}

# bytes FRAME: in what top has on standard input.
bytes() {
	awk -F'\t' -v frame="$1" '$2 == frame { print $1 }'
}

# total FILE: how many objects the profile is of, and bytes.
total() {
	local type
	for type in inuse_objects inuse_space; do
		pprof -top -unit=B -sample_index=$type "$1" | sed -nE 's/.* of ([0-9]+)B? total$/\1/p'
	done | xargs
}

# said WHAT COLUMN: what the program printed of it.
said() {
	awk -F'\t' -v what="$1" -v column="$2" '$1 == what { print $column }' "$work/said"
}

# in_heap ARGUMENT...: how many objects the heap has, and bytes.
in_heap() {
	"$GOHEAP" histogram --bytes -n 1 "$@" | sed -nE 's/^([0-9,]+) objects? of ([0-9,]+) bytes?;.*/\1 \2/p' | tr -d ,
}

# write OUT ARGUMENT...: goheap pprof --paths.
write() {
	"$GOHEAP" pprof --paths -o "$@" 2>"$work/errors" || fail "pprof --paths ${*:2}" "$(cat "$work/errors")"
}

# leak KIND: the sample in $directory writes its dumps to $work/old and $work/new.
leak() {
	"$directory/leaks.stripped" "$1" "$work/old" "$work/new" >"$work/said" && return
	fail "$1: the sample writes its dumps"
	return 1
}

# check_held NAME: what is below the variable is what is freed with it.
check_held() {
	local before
	write "$work/profile" -e "$directory/leaks" "$work/new"
	top "$work/profile" >"$work/top"
	equal "$1: below the variable is what it holds" "$(said freed 2)" "$(bytes "$(said held 2)" <"$work/top")"
	equal "$1: all objects and bytes of the heap" "$(in_heap "$work/new")" "$(total "$work/profile")"
	write "$work/profile.old" -e "$directory/leaks" "$work/old"
	before=$(top "$work/profile.old" | bytes "$(said held 2)")
	equal "$1: growth" $(($(said freed 2) - ${before:-0})) \
		"$(top -diff_base="$work/profile.old" "$work/profile" | bytes "$(said held 2)")"
	"$GOHEAP" histogram --bytes --by root -n 0 "$work/new" -e "$directory/leaks" >"$work/roots"
	equal "$1: histogram --by root" "$(said freed 2)" \
		"$(awk -v root="$(said held 2)" '$6 == root && NF == 6 { gsub(",", "", $2); print $2 }' "$work/roots")"
	"$GOHEAP" histogram --bytes --by path -n 0 "$work/new" -e "$directory/leaks" >"$work/paths"
	equal "$1: histogram --by path" "$(said freed 2)" \
		"$(awk -v root="$(said held 2)" '$6 == root { gsub(",", "", $2); sum += $2 } END { print sum }' "$work/paths")"
	write "$work/profile" -e "$directory/leaks.stripped" "$work/new"
	equal "$1, stripped: all objects and bytes of the heap" "$(in_heap "$work/new")" "$(total "$work/profile")"
	equal "$1, stripped: below one global is what it holds" "$(said freed 2)" \
		"$(top "$work/profile" | awk -F'\t' -v bytes="$(said freed 2)" '$1 == bytes && $2 ~ /^global 0x[0-9a-f]+ of main, used in / { print $1 }')"
	# Without a program there are no names.
	write "$work/profile" "$work/new"
	equal "$1, no program: all objects and bytes of the heap" "$(in_heap "$work/new")" "$(total "$work/profile")"
}

# check_fields NAME: each field has what the source gives it: 2,000 sessions of 48 bytes, with notes of 704, in 20 maps.
check_fields() {
	write "$work/profile" -e "$directory/leaks" "$work/new"
	pprof -traces -unit=B "$work/profile" | awk '/^-----------/ { way = ""; next } /^ +[0-9.]+B / { bytes = $1; $1 = "" }
		{ sub(/^ +/, ""); way = $0 " > " way; if ($0 == "main.srv") print bytes, way }' | sed 's/ > $//' >"$work/ways"
	has "$1: the notes of sessions" "$(cat "$work/ways")" \
		'^1408000B main\.srv > tenants \(map\[string\]map\[string\]\*main\.Session\) > \[val\] \(map\[string\]\*main\.Session\) > \[val\] \(\*main\.Session\) > notes \(\[\]uint8\)$'
	has "$1: sessions" "$(cat "$work/ways")" '^96000B .* > \[val\] \(\*main\.Session\)$'
	has "$1: keys of maps" "$(cat "$work/ways")" '^32000B .* > \[val\] \(map\[string\]\*main\.Session\) > \[key\] \(string\)$'
}

# check_recursion NAME: what is by 2,000 steps the same is one.
check_recursion() {
	write "$work/profile" -e "$directory/leaks" "$work/new"
	equal "$1: the contexts of a chain are one frame" 96000 \
		"$(pprof -top -unit=B -nodefraction=0 "$work/profile" | awk '$6 == "context.valueCtx" { sub(/B/, "", $1); print $1 }')"
}

# check_stacks NAME: what goroutines hold is below the argument that holds it. Each has a request of 24 bytes and a body
# of 3,072.
check_stacks() {
	write "$work/profile" -e "$directory/leaks" "$work/new"
	equal "$1: below an argument" $((2000 * (24 + 3072))) "$(top "$work/profile" | bytes main.handle.r)"
}

# check_cut NAME: of a dump that is cut off before its roots, all that is left is garbage.
check_cut() {
	head -c $(($(stat -c %s "$work/new") / 2)) "$work/new" >"$work/cut"
	"$GOHEAP" pprof --paths -o "$work/profile" "$work/cut" >/dev/null 2>&1
	equal "$1: a dump without its roots" 1 $?
	write "$work/profile" --partial "$work/cut"
	equal "$1: garbage" "$(total "$work/profile" | cut -d ' ' -f 2)" \
		"$(top "$work/profile" | bytes 'garbage: no root leads to it')"
}

# start KIND: runs the unstripped sample as $pid.
start() {
	coproc LEAK { exec "$directory/leaks" "$1"; }
	pid=$LEAK_PID
	read -r -u "${LEAK[0]}" _
}

# check_process NAME: of a process, of its core file, in GDB, and of a loaded dump, the same is below the variable.
check_process() {
	local expected
	start map
	"$GOHEAP" dump -f "$pid" -o "$work/dump" 2>/dev/null
	write "$work/profile" -e "$directory/leaks" "$work/dump"
	expected=$(top "$work/profile" | bytes main.cache)
	has "$1: there is something" "$expected" '^[0-9]{7}$'
	write "$work/profile" -p "$pid"
	equal "$1: of a process" "$expected" "$(top "$work/profile" | bytes main.cache)"
	goheap "" "attach $pid" "goheap pprof --paths -o $work/profile.gdb" "generate-core-file $work/core" "detach" >"$work/session"
	equal "$1: of a process in GDB" "$expected" "$(top "$work/profile.gdb" | bytes main.cache)"
	end "$pid"
	write "$work/profile" -e "$directory/leaks" "$work/core"
	equal "$1: of a core file" "$expected" "$(top "$work/profile" | bytes main.cache)"
	equal "$1: all of a core file" "$(in_heap -e "$directory/leaks" "$work/core")" "$(total "$work/profile")"
	rm -f "$work/core" "$work/profile.gdb"
	goheap "$directory/leaks" "goheap load $work/dump" "goheap pprof --paths -o $work/profile.gdb" >"$work/session"
	equal "$1: of a dump in GDB" "$expected" "$(top "$work/profile.gdb" | bytes main.cache)"
}

# check_goref NAME RELEASE: goref finds as much below the same variables of the same process. It leaves out what a map
# of Go 1.19 to 1.23 has besides its buckets, 24 bytes. A block of 16 bytes in which another variable has a short
# string, too, is the one's or the other's: it looks through one variable after the other.
check_goref() {
	local kind variable left_out ours theirs
	if [ -z "${GOREF:-}" ]; then
		skip "$1: against goref" "GOREF does not name its program"
		return
	fi
	for kind in static map channel slice goroutine; do
		left_out=0
		case $kind in
		static) variable=main.srv ;;
		map) variable=main.cache ;;
		channel) variable=main.queue ;;
		slice) variable=main.log ;;
		goroutine) variable=main.handle.r ;;
		esac
		if [ "${2#1.}" -lt 24 ]; then
			[ "$kind" != static ] || left_out=$((20 * 24))
			[ "$kind" != map ] || left_out=24
		fi
		start "$kind"
		timeout -k 5 300 "$GOREF" attach "$pid" "$directory/leaks" -o "$work/goref" >/dev/null 2>&1
		write "$work/profile" --names "$directory/leaks" -p "$pid"
		end "$pid"
		ours=$(($(top "$work/profile" | bytes "$variable") - left_out))
		theirs=$(top "$work/goref" | bytes "$variable")
		[ $((ours - theirs)) != 16 ] && [ $((theirs - ours)) != 16 ] || theirs=$ours
		equal "$1, $kind: goref has as much" "$ours" "$theirs"
	done
}

# check RELEASE
check() {
	local kind
	sample "go $1" "$1" leaks || return
	for kind in $KINDS; do
		leak "$kind" || continue
		check_held "go $1, $kind"
		case $kind in
		static) check_fields "go $1" ;;
		context) check_recursion "go $1" ;;
		map) check_cut "go $1" ;;
		esac
	done
	if leak goroutine; then
		check_stacks "go $1"
	fi
	check_process "go $1"
	check_goref "go $1" "$1"
}

if ! goroot=$("$tests/toolchain" 1.19); then
	skip "all" "no go tool pprof"
	finish
fi
for release in $(releases 1.19 1.24 1.27); do
	check "$release"
done
finish
