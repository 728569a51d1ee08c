#!/usr/bin/env bash
# Programs that UPX has packed: their file has no Go tables, and what they unpack in memory is in no file. What goheap tells
# of the process, of its core file and in GDB is compared with the traceback that the process ends with.
. "$(dirname "$0")/lib.sh"
session_home

# pack FROM TO
pack() {
	local upx library
	upx=$("$tests/debian-program" upx-ucl usr/bin/upx-ucl bullseye 2>"$work/why") &&
		library=$("$tests/debian-program" libucl1 usr/lib/x86_64-linux-gnu/libucl.so.1 bullseye 2>"$work/why") || return
	cp "$1" "$2"
	LD_LIBRARY_PATH=${library%/*} "$upx" -1 -q "$2" >"$work/why" 2>&1
}

# rows: of a traceback, each goroutine's number with the file and line of each of its calls.
rows() {
	awk '
		/^goroutine [0-9]+ / { number = $2 }
		/^$/ { number = 0 }
		number > 0 && /^\t/ { sub(/^\t/, ""); sub(/ \+0x.*/, ""); print number, $0 }' | sort
}

# check NAME PROGRAM
check() {
	local file
	GOTRACEBACK=all run_until_ready "$2" "$work/own"
	"$GOHEAP" goroutines --all -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" histogram --bytes -p "$pid" >"$work/histogram" 2>"$work/why" || cat "$work/why"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	file=$(sed -n 's/^\t\(.*main\.go:[0-9]*\) .*/\1/p' "$work/live" | tail -n 1)
	goheap "$2" "attach $pid" "goheap goroutines --all" "break $file" "info symbol main.main" "detach" >"$work/session"
	kill -QUIT "$pid"
	# At the end of its input it would end before it has handled that.
	wait "$pid" 2>"$work/why"
	exec 7>&-
	rows <"$work/trace" >"$work/expected"
	[ "$(wc -l <"$work/expected")" -gt 30 ] || fail "$1: the process ends with its traceback" "$(head -n 20 "$work/trace")"
	same "$1: live" "$work/expected" <(rows <"$work/live")
	has "$1: the heap" "$(cat "$work/histogram")" '^[0-9,]+ objects of [0-9,]+ bytes'
	"$GOHEAP" goroutines --all "$work/core.$pid" >"$work/found" 2>"$work/why" || cat "$work/why"
	same "$1: in a core file" "$work/expected" <(rows <"$work/found")
	rm -f "$work/core.$pid"
	same "$1: in GDB" "$work/expected" <(rows <"$work/session")
	has "$1: where it is from" "$(cat "$work/session")" '^goheap: go1\.[0-9.]* program \(unpacked in memory\), [0-9]+ functions$'
	has "$1: a breakpoint by line" "$(cat "$work/session")" '^Breakpoint 1 at 0x[0-9a-f]+: '
	has "$1: a symbol" "$(cat "$work/session")" '^main\.main in section \.text'
}

# check_other: what is packed need not be Go's.
check_other() {
	if ! pack "$(command -v bash)" "$work/other"; then
		skip "another program" "$(tail -n 1 "$work/why")"
		return
	fi
	# Another may have been ready before.
	: >"$work/output"
	"$work/other" -c 'echo ready; read -r' >"$work/output" < <(sleep 30) &
	pid=$!
	wait_until grep -q '^ready' "$work/output"
	"$GOHEAP" hang -p "$pid" >"$work/found" 2>&1
	equal "another program: exit status" 1 $?
	has "another program" "$(cat "$work/found")" '^goheap: process [0-9]+ runs .*/other, which is no Go program, and has loaded no Go library$'
	end "$pid"
}

export CGO_ENABLED=0
for release in $(releases 1.19 1.27); do
	sample "Go $release" "$release" waits || continue
	if pack "$directory/waits.stripped" "$work/packed"; then
		check "Go $release" "$work/packed"
		has "Go $release: the file says what to do" "$("$GOHEAP" funcs "$work/packed" 2>&1)" \
			'^goheap: .*/packed is packed: unpack it with upx -d, or ask its process, by its PID$'
	else
		skip "Go $release" "$(tail -n 1 "$work/why")"
	fi
done
check_other
finish
