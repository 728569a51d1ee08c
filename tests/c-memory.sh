#!/usr/bin/env bash
# The memory of C's malloc among the objects of the heap (--c): each block that malloc has given out, by the program's own list of
# its blocks, whose sizes malloc itself tells; what holds each, by how the program was written; and those that it has lost.
. "$(dirname "$0")/lib.sh"
session_home
children=
trap 'kill $children 2>/dev/null; rm -rf "$work"' EXIT

needs "everything" gcore jq || finish

# theirs KIND: the blocks of a kind, of what the program printed: addresses and sizes.
theirs() {
	sed -nE "s/^([0-9a-f]+) ([0-9]+) ($1)\$/0x\1 \2/p" "$work/output" | sort
}

# ask COMMAND [OPTION...]: of the process or the core file.
ask() {
	"$GOHEAP" "$@" "$target" 2>"$work/why" || fail "$name: goheap $*" "$(cat "$work/why")"
}

# held KIND WAY: the way from a root to each block of a kind is like WAY, an extended regular expression; types and fields alone.
held() {
	theirs "$1" | cut -d ' ' -f 1 >"$work/addresses"
	while read -r address; do
		"$GOHEAP" path --c "$target" "$address" 2>"$work/why" | sed -E 's/^  0x[0-9a-f]+  //; s/, [0-9]+ bytes//' | tr '\n' '|'
		echo
	done < <(head -n 3 "$work/addresses") >"$work/ways"
	equal "$name: held, $1" "" "$(grep -vE "$2" "$work/ways")"
	[ -s "$work/addresses" ] || fail "$name: blocks, $1"
}

# check_blocks [OPTION...]: goheap knows those of the process or core file that the program knows, and few others.
check_blocks() {
	"$GOHEAP" sql --c --json "$target" "$@" "SELECT address, bytes FROM objects WHERE type LIKE '%C memory%' OR type LIKE '%_Ctype_struct%'" 2>"$work/why" |
		jq -r '"\(.address) \(.bytes)"' | sort >"$work/found"
	theirs '.*' >"$work/expected"
	equal "$name: blocks that goheap does not know" "" "$(comm -13 "$work/found" "$work/expected" | head -n 5)"
	# The C library's own: buffers of files and, of each thread, which a busy machine has more of, a cache and a list of
	# libraries' variables.
	comm -23 "$work/found" "$work/expected" >"$work/others"
	holds "$name: blocks that the program does not know" "$(wc -l <"$work/others") of them: $(head -n 100 "$work/others" | tr '\n' ',')" \
		test "$(wc -l <"$work/others")" -le 20
}

# check NAME TARGET: what goheap says of the process or core file.
check() {
	local name=$1 target=$2
	check_blocks
	held session '^global 0x[^|]*\|\[\]\*main\.session  \[[0-9]+\] ->\|main\.session  \.handle ->\|main\._Ctype_struct_session\|$'
	held plain '^global 0x[^|]*\|map\[int\]\*main\.plain .*\|main\.plain  \.handle ->\|C memory of 5[0-9]+ bytes\|$'
	held closure '^global 0x[^|]*\|\[\]func\(\) int  \[[0-9]+\] ->\|closure main\.hold\.func1  [^|]* ->\|C memory of 7[0-9]+ bytes\|$'
	held global '^global 0x[^|]*\|C memory of 90[0-9]+ bytes\|$'
	held node '^root: C variable blocks\.stripped\+0x[0-9a-f]+\|(C memory of (40|56) bytes  \+0 ->\||  \.\.\. [0-9]+ objects? \.\.\.\|)*C memory of (40|56) bytes\|$'
	held "of C" '^root: C variable blocks\.stripped(\+0x[0-9a-f]+|: of_c)\|C memory of 65[0-9]+ bytes\|$'
	"$GOHEAP" unreachable --c --json "$target" 2>"$work/why" | jq -r '"\(.object) \(.size)"' | sort >"$work/garbage"
	theirs 'lost|scattered|aligned' >"$work/expected"
	# What is left on stacks and in registers may be of a few.
	equal "$name: lost, and held by something" true "$([ "$(comm -13 "$work/garbage" "$work/expected" | wc -l)" -le 3 ] && echo true)"
	equal "$name: lost, and held for sure" "" "$(comm -13 "$work/garbage" "$work/expected" | cut -d ' ' -f 1 |
		xargs -r "$GOHEAP" path --c "$target" 2>"$work/why" | grep '^[a-z]' | grep -v ', perhaps$')"
	has "$name: told" "$(ask suspects --bytes --c)" "^[0-9]+\. [0-9,]+ blocks of C memory, [0-9,]+ bytes, [0-9.]+% of the heap and C's memory, are pointed to by nothing: C code has lost them\$"
}

# check_release RELEASE [FLAG...]
check_release() {
	local what="go $*"
	sample "$what" "$1" blocks "${@:2}" || return
	run_until_ready "$directory/blocks.stripped"
	check "$what, process" "$pid"
	gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	end "$pid"
	check "$what, core file" "$work/core.$pid"
	rm "$work/core.$pid"
}

# check_arm64 RELEASE [FLAG...]: another machine, whose malloc is the same, in a core file that QEMU wrote.
check_arm64() {
	local name="go $*, arm64" target
	needs "$name" aarch64-linux-gnu-gcc qemu-aarch64-static || return
	GOARCH=arm64 CGO_ENABLED=1 CC=aarch64-linux-gnu-gcc sample "$name" "$1" blocks "${@:2}" || return
	# With one arena, its short lists are in the C library's data, which QEMU's core files do not tell from other memory.
	GLIBC_TUNABLES=glibc.malloc.arena_max=1 QEMU_LD_PREFIX=/usr/aarch64-linux-gnu emulate aarch64 "$directory/blocks.stripped" || return
	target=$core
	check_blocks -e "$directory/blocks.stripped"
	has "$name: lost" "$(ask suspects --bytes --c -e "$directory/blocks.stripped")" ' blocks of C memory, .*: C code has lost them$'
}

# One arena for all threads: nearly all of its lists have free blocks. Where threads keep none for themselves, and none has pages of
# its own, the chunks, with their heads, are what malloc itself says that it has given out; but for what a new thread has since then.
check_lists() {
	local name="go $1, one arena" target own found
	sample "$name" "$1" blocks || return
	GLIBC_TUNABLES=glibc.malloc.arena_max=1 run_until_ready "$directory/blocks.stripped"
	target=$pid
	check_blocks
	end "$pid"
	GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0:glibc.malloc.mmap_threshold=1000000000 \
		run_until_ready "$directory/blocks.stripped"
	target=$pid
	check_blocks
	own=$(sed -n 's/^in use: //p' "$work/output")
	found=$(awk '{ sum += $2 + 8 } END { print sum }' "$work/found")
	holds "$name: as much as mallinfo2(3) says" "$own, $found" [ $((found - own)) -ge 0 ] && [ $((found - own)) -lt 2000 ]
	end "$pid"
}

# Where C has much, it is told without being asked for; where it has little, nothing is said of it.
check_large() {
	local name="go $1, much of C's"
	sample "$name" "$1" blocks || return
	run_until_ready "$directory/blocks.stripped" 200000 400
	target=$pid
	has "$name: suspects, a list" "$(ask suspects --bytes)" "^[0-9]+\. root: C variable blocks\.stripped\+0x[0-9a-f]+ .* keeps "
	has "$name: suspects, lost" "$(ask suspects --bytes)" "^[0-9]+\. [0-9,]+ blocks of C memory, .*: C code has lost them\$"
	has "$name: suspects, of what size" "$(ask suspects --bytes)" "^   made of [0-9,]+ bytes in (39[0-9]|400) objects of C memory of 100[0-9]+ bytes\$"
	has "$name: first answer" "$("$GOHEAP" "$pid" 2>"$work/why" | tr '\n' ' ')" "[0-9,]+ blocks of C memory, [0-9.]+ MB, are pointed to by nothing"
	has "$name: in one session" "$("$GOHEAP" ask --c "$pid" <<<"histogram -n 1" 2>&1)" "C memory of 100[0-9]+ bytes"
	ask dump --c -f -o "$work/dump"
	target=$work/dump
	has "$name: a dump has it" "$(ask unreachable)" "C memory of 100[0-9]+ bytes"
	end "$pid"
	run_until_ready "$directory/blocks.stripped" few
	target=$pid
	lacks "$name: little of C's" "$(ask suspects --bytes; ask histogram -n 0)" "C memory|_Ctype_struct"
	ask dump -f -o "$work/dump"
	target=$work/dump
	"$GOHEAP" histogram --bytes --c -n 1 "$work/dump" >"$work/found" 2>&1
	has "$name: a dump without it" "$(cat "$work/found")" "no memory of glibc's malloc is there"
	end "$pid"
}

# C's variables that have blocks are named by what symbols there are: all of a program that is not stripped, and what a stripped library
# shares with others.
check_variables() {
	local name="go $1, variables"
	sample "$name" "$1" blocks || return
	cat >"$work/kept.c" <<-'END'
		#include <stdlib.h>
		void *kept[4];
		static void *hidden;
		__attribute__((constructor)) static void fill(void)
		{
			kept[0] = calloc(1, 776);
			kept[2] = calloc(1, 777);
			hidden = (char *)calloc(1, 5778) + 32;
		}
		void *take(void) { return hidden; }
	END
	"$CC" -O1 -shared -fPIC -s -o "$work/libkept.so" "$work/kept.c"
	LD_PRELOAD=$work/libkept.so run_until_ready "$directory/blocks"
	gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	for target in "$pid" "$work/core.$pid"; do
		ask roots --c | sed -nE 's/.*root: C variable ([^/]*)$/\1/p' | sort -u >"$work/found"
		same "$name, $target" <(printf '%s\n' 'blocks: list' 'blocks: of_c' 'libkept.so: kept' 'libkept.so: kept+0x10') \
			<(grep -v ', perhaps$' "$work/found")
		has "$name, $target: without a symbol" "$(cat "$work/found")" '^libkept\.so\+0x[0-9a-f]+, perhaps$'
	done
	rm "$work/core.$pid"
	end "$pid"
}

# In GDB it is the same, with what is asked for by turns.
check_in_gdb() {
	local name="go $1, in GDB" global patience=900
	needs "$name" gdb gdbserver || return
	sample "$name" "$1" blocks || return
	run_until_ready "$directory/blocks.stripped" 60000 400
	global=$(theirs global | cut -d ' ' -f 1)
	same_in_gdb "$name" "$directory/blocks.stripped" suspects "histogram --limit 5" "histogram --c --limit 5" \
		"path --c $global" "unreachable --c --limit 3" "sql --c SELECT count(*), sum(bytes) FROM objects"
	has "$name: suspects" "$(cat "$work/theirs.1")" ': C code has lost them$'
}

# Code has written past the end of a block: what comes before it is known.
check_corrupt() {
	local name="go $1, corrupt" block before
	needs "$name" gdb || return
	sample "$name" "$1" blocks || return
	run_until_ready "$directory/blocks.stripped"
	target=$pid
	# A block in the main arena, whose size is in the word before it.
	block=$(theirs scattered | awk 'length($1) <= 10 { print $1 }' | sed -n 400p)
	timeout 60 gdb --nx --batch -p "$pid" -ex "set {long}($block - 8) = 12345678901" >"$work/gdb" 2>&1
	"$GOHEAP" sql --c --csv "$target" "SELECT address FROM objects WHERE type LIKE '%C memory%'" 2>"$work/why" | tr -d '\r' | sort >"$work/found"
	has "$name: told" "$(cat "$work/why")" "1 arenas of C's malloc known in part: their chunks do not fit together"
	before=$(theirs scattered | awk '{ print $1 }' | grep -n "^$block\$" | cut -d : -f 1)
	equal "$name: blocks before it" "" "$(theirs scattered | head -n $((before - 2)) | cut -d ' ' -f 1 | comm -23 - "$work/found" | head -n 5)"
	kill -KILL "$pid"
	wait "$pid" 2>"$work/why"
}

# check_other RELEASE NAME LIBRARY: another malloc, which LIBRARY has, is named, and nothing of it is taken for glibc's. How much it can have is
# no less than what the program has from it, and no more than the process has in memory.
check_other() {
	local name="go $1, $2" library own most resident
	library=$(find /usr/lib* -name "$3" 2>"$work/why" | head -n 1)
	if [ -z "$library" ]; then
		skip "$name" "no $3"
		return
	fi
	sample "$name" "$1" blocks || return
	LD_PRELOAD=$library run_until_ready "$directory/blocks.stripped" 200000 400
	own=$(($(theirs '.*' | awk '{ sum += $2 } END { print sum }') + 200000 * 40 + 400 * 100000))
	gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	resident=$(awk '/^VmRSS:/ { print 1024 * $2 }' "/proc/$pid/status")
	for target in "$pid" "$work/core.$pid"; do
		most=$(ask memory --json | jq -r "select(.part == \"allocator\" and .name == \"$2\") | .resident")
		holds "$name, $target: how much it can have" "$own <= $most <= $resident" [ "$own" -le "${most:-0}" ] && [ "$most" -le "$resident" ]
		has "$name, $target: named" "$(ask memory --bytes)" "^$(basename "$(realpath "$library")" .so)\S* has a malloc of its own, $2: up to [0-9,]{8,} bytes in memory"
		"$GOHEAP" histogram --bytes --c "$target" >"$work/found" 2>&1
		has "$name, $target: no blocks" "$(cat "$work/found")" "its malloc is $2, of "
		lacks "$name, $target: no blocks" "$(cat "$work/found")" "C memory of|_Ctype_struct"
	done
	rm "$work/core.$pid"
	end "$pid"
}

# SQLite has headers of its own in its blocks, and hands out what comes after them; it is asked in the middle of its work.
check_library() {
	local name="go $1, SQLite"
	sample "$name" "$1" rows || return
	run_until_ready "$directory/rows.stripped"
	target=$pid
	# In the middle of a call, as it always is on a busy machine, its goroutine holds the database, too.
	for _ in {1..5}; do
		ask suspects --json
	done >"$work/found"
	equal "$name: nothing is lost" 0 "$(grep -c '"kind":"lost"' "$work/found")"
	has "$name: it is main.database that has it" "$(jq -r .finding "$work/found")" "main\.database|global 0x[0-9a-f]+ of main"
	"$GOHEAP" "$pid" >"$work/found" 2>"$work/why"
	has "$name: nothing is wrong" "$(cat "$work/found")" "^Nothing unusual\\."
	end "$pid"
}

for release in $(releases 1.19 1.24 1.27); do
	check_release "$release"
	check_library "$release"
done
# Its chunks begin behind the variables of the first thread there.
check_release 1.27 "-ldflags=-linkmode=external -extldflags=-static"
if in_full "position-independent, and malloc told otherwise"; then
	check_release 1.27 -buildmode=pie
	for tunable in tcache_count=100 tcache_count=0 mxfast=80 perturb=85 mmap_threshold=4096 arena_max=1 hugetlb=1; do
		GLIBC_TUNABLES=glibc.malloc.$tunable check_release 1.27 && ok "malloc told $tunable"
	done
fi
check_arm64 1.27
check_arm64 1.27 -ldflags=-extldflags=-static
check_lists 1.27
check_large 1.27
check_variables 1.27
check_in_gdb 1.27
check_other 1.27 jemalloc 'libjemalloc.so.2'
check_other 1.27 tcmalloc 'libtcmalloc_minimal.so.4'
check_corrupt 1.27
# A program without cgo has none.
if sample "no cgo" 1.27 crowd; then
	run_until_ready "$directory/crowd.stripped" 9 "$work/dump" -
	"$GOHEAP" suspects --bytes --c "$pid" >"$work/found" 2>&1
	has "no cgo" "$(cat "$work/found")" "no memory of glibc's malloc is there"
	end "$pid"
fi
finish
