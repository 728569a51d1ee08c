#!/usr/bin/env bash
# Remote targets that are slow, broken or hostile: GDB connects to a stub that lies, drops the connection or answers
# slowly as it does without goheap, and asks it for no more than the program's headers can describe. What comes of an
# honest one is compared with its file, and with the symbols of the program before it was stripped.
. "$(dirname "$0")/lib.sh"
session_home
children=
trap 'kill $children 2>/dev/null; rm -rf "$work"' EXIT

needs_amd64 "remote targets" || finish
"$CC" -O1 -o "$work/remote_stub" "$tests/oracle/remote_stub.c" || exit
refused='^goheap: the target.s program is not read: expected at most [0-9.]+ GB, found [0-9]+ bytes by its headers$'

# stub LIE...: starts the stub; what it prints is in $told, its port in $port.
stub() {
	told=$(mktemp "$work/told.XXXXXX")
	"$work/remote_stub" "$@" "$program" >"$told" &
	children="$children $!"
	wait_until grep -q '^Listening on port ' "$told"
	port=$(sed -n 's/^Listening on port //p' "$told")
}

# asked WHAT: how much of it the stub was asked for: packets, bytes of memory, or of the file.
asked() {
	for _ in {1..600}; do
		awk -v what="$1" '$1 == what { print $2; found = 1 } END { exit !found }' "$told" && return
		sleep 0.1
	done
	echo "1000000000000"
}

# connect COMMAND...: GDB connects to the stub with goheap loaded, and goes on with the commands.
connect() {
	goheap "" "set remotetimeout 2" "target remote 127.0.0.1:$port" "$@" "output 42" "echo \\n"
}

# survives NAME LIE...: GDB goes on to the end, and no more is asked for than there is, twice.
survives() {
	local name=$1
	shift
	stub "$@"
	output=$(connect "x/i \$pc")
	has "$name: GDB goes on" "$output" '^42$'
	lacks "$name: nothing breaks" "$output" 'length_error|[Ii]nternal error|exhausted|Aborted|Error in sourced|goheap: boot'
	if [ "$(asked memory)" -lt $((2 * size)) ] && [ "$(asked file)" -lt $((2 * size)) ]; then
		ok "$name: no more is asked for than there is"
	else
		fail "$name: no more is asked for than there is" "$(cat "$told")"
	fi
}

# finds NAME: it found the program.
finds() {
	has "$1: the program's symbols" "$output" "<$entry>:"
}

# program_header INDEX FIELD: the offset of a field in the file: 8 p_offset, 16 p_vaddr, 32 p_filesz, 40 p_memsz.
program_header() {
	echo $((64 + 56 * $1 + $2))
}

test_honest() {
	cp "$program" "$work/escapes"
	# What GDB prints as it prints other bytes, where nothing of the program is: before its second segment.
	readelf -lW "$program" | awk '$1 == "LOAD" { print $2 }' | sed -n 2p >"$work/second"
	printf '\\x00\\xff\\x41\\\\x00x}' |
		dd of="$work/escapes" bs=1 seek=$(($(cat "$work/second") - 20)) conv=notrunc 2>/dev/null
	local honest=$program
	program=$work/escapes
	survives "a file" packet=0x20000
	finds "a file"
	has "a file: from where" "$output" '\(from the target\)'
	stub
	output=$(connect "shell cmp \"\$GOHEAP_SESSION\"/program $work/escapes && echo alike")
	has "a file: every byte is as in the file" "$output" '^alike$'
	program=$honest
	survives "no file" file=none
	finds "no file"
	has "no file: from where" "$output" '\(from memory\)'
	survives "a file in small parts" part=700
	finds "a file in small parts"
}

# What the headers say, in memory that is there whatever they say.
test_sizes() {
	local power
	for power in 63 62 40 36 33; do
		survives "2^$power bytes" file=none memory=all "patch=$(program_header "$text" 32):8:$((1 << power))"
		equal "2^$power bytes: one line says so" 1 "$(grep -Ec "$refused" <<<"$output")"
	done
	program_lies=("patch=56:2:0xffff" "patch=54:2:1" "patch=32:8:-1" "patch=16:2:4" "patch=4:1:1"
		"patch=$(program_header "$text" 8):8:-1" "patch=$(program_header "$text" 16):8:-1"
		"patch=$(program_header $((text + 1)) 8):8:0x40000000" "patch=$(program_header $((text + 1)) 16):8:0x1000"
		"patch=$(program_header $((text + 1)) 32):8:0x3fffffff" "auxv=3:0" "auxv=3:-1" "auxv=3:0x7fffffffffffffff"
		"auxv=4:0" "auxv=9:-1")
	local lie
	for lie in "${program_lies[@]}"; do
		survives "$lie" file=none "$lie"
	done
}

test_files() {
	survives "an endless file" file=endless
	finds "an endless file"
	local headers=$work/headers
	cp "$program" "$headers"
	printf '\0\0\0\0\0\0\0\100' |
		dd of="$headers" bs=1 seek="$(program_header "$text" 32)" conv=notrunc 2>/dev/null
	local honest=$program
	program=$headers
	survives "an endless file of 2^62 bytes by its headers" file=endless
	equal "an endless file of 2^62 bytes: one line says so" 1 "$(grep -Ec "$refused" <<<"$output")"
	program=$honest
	local fd
	for fd in F F-1,2 Fffffffffffffffff 'F5;x' ''; do
		survives "the file is opened as '$fd'" "fd=$fd"
	done
	survives "process 7fffffff" pid=7fffffff
	survives "1000 threads" threads=1000
	survives "packets of 200 bytes" packet=200 file=none
	survives "a file that GDB opens, too" exec=/x/exe
	finds "a file that GDB opens, too"
}

# One is dropped, one falls silent, one answers with anything, while goheap reads the program.
test_breaks() {
	local lie lost=0 tried=0 sessions=
	for lie in "drop="{1..12} "drop="{15..60..5} "drop="{70..200..26} "file=none drop="{12..18}; do
		# shellcheck disable=SC2086 # it may be two
		stub packet=0x20000 $lie
		connect >"$work/session"
		tried=$((tried + 1))
		if ! grep -qx 42 "$work/session" || grep -q 'nternal error' "$work/session"; then
			lost=$((lost + 1))
			sed "s/^/    $lie: /" "$work/session"
		fi
	done
	equal "dropped at $tried packets: GDB goes on" 0 "$lost"
	# GDB waits for half a minute for what does not answer: for all of them at once.
	for lie in {freeze,garbage}={2,5,40}; do
		stub packet=0x20000 "$lie"
		connect >"$work/$lie" &
		sessions="$sessions $!"
	done
	# shellcheck disable=SC2086 # a list
	wait $sessions
	for lie in {freeze,garbage}={2,5,40}; do
		has "$lie, from that packet on: GDB goes on" "$(cat "$work/$lie")" '^42$'
	done
}

test_slow() {
	survives "a slow target" packet=200 slow=50
	has "a slow target: what to do" "$output" \
		'^goheap: the target.s program \([0-9.]+ MB\) is not read, .*: goheap symbols memory reads it'
}

# Ctrl-C goes to GDB and to what it runs.
test_interrupted() {
	local group lie times
	for lie in file=endless file=none; do
		for times in 1 20; do
			stub $lie packet=1000 slow=2
			: >"$work/session" # another may have been ready before
			set -m
			connect "print \$_isvoid(\$goheap_loaded)" >"$work/session" &
			group=$!
			set +m
			children="$children $group"
			wait_until grep -q '^determining executable' "$work/session"
			sleep 1
			for ((i = 0; i < times; i++)); do
				kill -INT -- "-$group" 2>/dev/null
				sleep 0.02
			done
			wait "$group"
			has "$lie, $times times Ctrl-C: GDB goes on" "$(cat "$work/session")" '^42$'
			has "$lie, $times times Ctrl-C: goheap is there" "$(cat "$work/session")" '= 0$'
		done
	done
}

# The same of a core file whose program has such headers.
test_core() {
	local core=$work/core offset pid
	: >"$work/out" # another may have been ready before
	"$program" wait >"$work/out" 2>&1 &
	pid=$!
	children="$children $pid"
	wait_until grep -qx ready "$work/out"
	if ! timeout 60 "$GDB" -nx -q -batch -p "$pid" -ex "gcore $core" </dev/null >"$work/why" 2>&1; then
		skip "a core file" "$(tail -n 1 "$work/why")"
		return
	fi
	kill "$pid"
	offset=$(readelf -lW "$core" | awk '$1 == "LOAD" && $3 ~ /^0x0*400000$/ { print $2 }')
	output=$(goheap "" "core-file $core" "symbol-file" "goheap symbols memory" "output 42" "echo \\n")
	has "a core file: its program" "$output" '\(from memory\)'
	printf '\0\0\0\0\0\0\0\200' |
		dd of="$core" bs=1 seek=$((offset + $(program_header "$text" 32))) conv=notrunc 2>/dev/null
	output=$(goheap "" "core-file $core" "goheap symbols memory" "output 42" "echo \\n")
	has "a core file with 2^63 bytes: GDB goes on" "$output" '^42$'
	has "a core file with 2^63 bytes: one line says so" "$output" "$refused"
}

for release in $(releases 1.19); do
	sample "Go $release" "$release" sample || continue
	echo "Go $release:"
	program=$directory/sample.stripped
	entry=$(nm "$directory/sample" | awk '$3 == "_rt0_amd64_linux" { print $3 }')
	size=$(stat -c %s "$program")
	text=$(readelf -lW "$program" | awk '/^  [A-Z]/ && $1 != "Type" { if ($1 == "LOAD") { print n; exit } n++ }')
	test_honest
	in_full "sizes" && test_sizes
	test_files
	test_breaks
	in_full "a slow line" && test_slow
	test_interrupted
	test_core
done
finish
