#!/usr/bin/env bash
# A stripped program that `goheap unstrip' has made whole, in the tools that read symbols and DWARF: each says of it what it
# says of the unstripped twin, or what the program says of itself.
. "$(dirname "$0")/lib.sh"

# both NAME COMMAND...: the command's output on the twin and on what was made is the same. It is given the program last.
both() {
	local name=$1
	shift
	"$@" "$twin" >"$work/expected" 2>"$work/why"
	"$@" "$whole" >"$work/found" 2>"$work/why"
	if [ -s "$work/expected" ]; then
		same "$name: $(wc -l <"$work/expected") lines" "$work/expected" "$work/found"
	else
		fail "$name: there is some output" "$(cat "$work/why")"
	fi
}

# shellcheck disable=SC2317 # both calls these
go_nm() {
	"$goroot/bin/go" tool nm "$1" | sed -nE 's/\.abi0$//; s/^ *([0-9a-f]+) [Tt] ((main|runtime)\..*)/\1 \2/p' | grep -v ' runtime\.e\?text$' | sort
}

# Without the operands, which name variables in the twin.
# shellcheck disable=SC2317
go_objdump() {
	"$goroot/bin/go" tool objdump -s '^main\.' "$1" | cut -f 1-4
}

# shellcheck disable=SC2317
disassembly() {
	objdump --disassemble='main.(*engine).spin' --no-show-raw-insn "$1" | sed 1,3d
}

# shellcheck disable=SC2016,SC2317
lldb_session() {
	GODEBUG=asyncpreemptoff=1 lldb --no-lldbinit --batch -o 'breakpoint set -n "main.(*engine).spin"' -o run \
		-o 'thread backtrace -c 5' -o kill "$1" </dev/null 2>&1 | sed -nE 's/^[* ]*frame #([0-9]+): 0x[0-9a-f]+ [^`]*`([^ ]*).* at ([^ ]+).*/\1 \2 \3/p'
}

# shellcheck disable=SC2317
pprof_disassembly() {
	"$goroot/bin/go" tool pprof -disasm 'main.*spin' "$1" "$work/profile" | sed -n '/^ROUTINE/,$p' | sed -E 's/ [^ ]*main\.go/ main.go/'
}

# check_pprof: of the stripped program's own profile.
check_pprof() {
	"$directory/busy.stripped" "$work/profile"
	both "$name: go tool pprof -disasm" pprof_disassembly
	has "$name: go tool pprof -disasm has the instructions of the function" "$(cat "$work/found")" '^ROUTINE =+ main\.\(\*engine\)\.spin'
}

# hottest: the function at the top of a list on standard input of shares and names.
hottest() {
	sed -nE 's/^ *([0-9.]+)% +(\[\.\] )?(main\.[^ ]*).*/\1 \3/p' | sort -rn | sed -n '1s/.* //p'
}

# check_perf: what takes most of the time is what the program's own profile says, and who calls it. The first of these is the one
# that perf always leaves out: a function that calls none has no frame pointer of its own.
check_perf() {
	if ! perf record -e cpu-clock -g -o "$work/perf.data" "$whole" "$work/profile" >"$work/why" 2>&1; then
		skip "$name: perf" "$(tail -n 1 "$work/why")"
		return
	fi
	"$goroot/bin/go" tool pprof -top "$twin" "$work/profile" 2>"$work/why" | awk '$6 ~ /^main\./ { print $2, $6 }' | hottest >"$work/expected"
	perf report --stdio --no-children -g none -i "$work/perf.data" --sort symbol 2>"$work/why" | hottest >"$work/found"
	same "$name: perf report: $(cat "$work/expected") takes the most" "$work/expected" "$work/found"
	perf script -i "$work/perf.data" -F ip,sym 2>"$work/why" |
		awk '/ main\.\(\*engine\)\.spin$/ { stack = ""; inside = 1 } inside && NF { stack = stack " " $2 } !NF { if (inside) print stack; inside = 0 }' |
		sort | uniq -c | sort -rn | sed -nE '1s/^ *[0-9]+ //p' >"$work/found"
	equal "$name: perf: its callers" " main.(*engine).spin main.work main.main runtime.main runtime.goexit" \
		"$(sed 's/\.abi0//' "$work/found")"
}

# shellcheck disable=SC2317
probes() {
	bpftrace -l "uprobe:$1:main.*" | sed -E 's/.*:(main\.)/\1/' | sort
}

for release in ${RELEASES:-$(first 1.27 1.19)}; do
	name="Go $release"
	sample "$name" "$release" busy || continue
	goroot=$("$tests/toolchain" "$release")
	twin=$directory/busy
	whole=$work/whole
	"$GOHEAP" unstrip "$directory/busy.stripped" -o "$whole" || fail "$name: goheap unstrip"
	both "$name: go tool nm" go_nm
	both "$name: go tool objdump" go_objdump
	both "$name: objdump" disassembly
	check_pprof
	if needs "$name: LLDB" lldb; then
		both "$name: LLDB" lldb_session
	fi
	if needs "$name: perf" perf; then
		check_perf
	fi
	if needs "$name: bpftrace" bpftrace; then
		both "$name: bpftrace" probes
	fi
done
finish
