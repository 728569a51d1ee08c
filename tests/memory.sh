#!/usr/bin/env bash
# What `goheap memory' says that a process's memory is used for: by the process's own runtime.MemStats, what it has asked
# malloc for and mapped itself, and the kernel's sum; of a process, and of its core file.
. "$(dirname "$0")/lib.sh"

# said KIND: what the sample first said of it.
said() {
	awk -v kind="$1" '$1 == kind { print $2; exit }' "$work/output"
}

# says_now KIND: what it says of it now.
says_now() {
	local count
	count=$(grep -c "^limited " "$work/output")
	echo >&7
	wait_until more_than "$count"
	awk -v kind="$1" '$1 == kind { last = $2 } END { print last }' "$work/output"
}

# shellcheck disable=SC2317 # says_now waits until it holds.
# more_than COUNT: it has said more often than that what counts towards the limit.
more_than() {
	(($(grep -c "^limited " "$work/output") > $1))
}

# part KIND FIELD: what goheap said of it.
part() {
	sed -nE "s/^\{\"part\":\"$1\",(.*,)?\"$2\":([0-9]+).*/\2/p" "$work/found"
}

# near NAME EXPECTED FOUND HUNDREDTHS: the two differ by no more than that, and 256 KiB.
near() {
	local less=$(($2 > $3 ? $2 - $3 : $3 - $2))
	if ((less <= $2 * $4 / 100 + 262144)); then
		ok "$1"
	else
		fail "$1" "expected about $2, found $3"
	fi
}

# fallen NAME KIND FOUND LAST: what becomes less by itself is between what the sample first said of the kind and says LAST.
fallen() {
	local first
	first=$(said "$2")
	if (($4 * 9 / 10 - 262144 <= $3 && $3 <= first * 101 / 100 + 262144)); then
		ok "$1"
	else
		fail "$1" "expected $4 to $first, found $3"
	fi
}

# check NAME: the kinds of memory, and what the collector did.
check() {
	equal "$1: collections" "$(said collections)" "$(part collections count)"
	equal "$1: the last of them" "$(said span)" "$(part collections recentNs)"
	equal "$1: what they took" "$(said fraction | awk '{ printf "%.4f", $1 }')" \
		"$(sed -nE 's/.*"cpuFraction":([0-9.]+).*/\1/p' "$work/found")"
	equal "$1: limit of memory" "$(said limit)" "$(part collections limit)"
	fallen "$1: what counts towards it" limited "$(part collections limited)" "$(says_now limited)"
	near "$1: bytes of objects" "$(said objects)" "$(part objects ofIt)" 2
	near "$1: objects" "$(said spans)" "$(part objects resident)" 5
	near "$1: stacks" "$(said stacks)" "$(part stacks mapped)" 5
	near "$1: malloc" "$(said malloc)" "$(part malloc resident)" 3
	# What of it is not found is said of the rest.
	near "$1: the runtime's own" "$(said own)" "$(($(part runtime mapped) + $(part anonymous ofIt)))" 5
	holds "$1: finalizers are the runtime's" "$(cat "$work/found")" test "$(part runtime resident)" -gt "$(said specials)"
	has "$1: the collector has run, and will" "$(grep -F '"part":"collections"' "$work/found")" '"off":false,"never":false'
	# The runtime's own is there, too.
	near "$1: anonymous" "$(($(said anonymous) + $(part anonymous ofIt) / 2))" "$(part anonymous resident)" 8
}

# claim CORE NUMBER: writes into the header of the segment NUMBER that the process had 2.9e18 bytes there.
claim() {
	printf '\0\0\0\0\0\0\x40\x28' | dd of="$1" bs=1 seek=$((64 + 56 * $2 + 40)) conv=notrunc status=none
}

# damaged_core NAME CORE: a core file whose segments claim more than it holds takes no longer than others.
damaged_core() {
	local segments number status
	mapfile -t segments < <(readelf -lW "$2" | awk '/^  [A-Z]/ { number++ } $1 == "LOAD" && / RW / { print number - 2 }')
	for number in "${segments[0]}" "${segments[${#segments[@]} / 2]}" "${segments[-1]}"; do
		claim "$2" "$number"
	done
	timeout 60 "$GOHEAP" memory --bytes -e "$directory/footprint.stripped" "$2" >"$work/found" 2>"$work/why"
	status=$?
	holds "$1: ends" "status $status: $(cat "$work/why")" test "$status" -le 1
}

# state: what the kernel says of the memory that is not to be read.
state() {
	awk 'NR == FNR { if ($3 ~ /^0x/ && $1 !~ "^(pinned|shared|past)$") wanted[substr($3, 3)]; next }
		/^[0-9a-f]+-/ { split($1, range, "-"); is = range[1] in wanted }
		is && /^([0-9a-f]+-|Rss|Anonymous|Swap)/' "$work/output" "/proc/$pid/smaps"
}

# is_mapped_by_kernel: the memory that the sample has of a device is the kernel's own, whatever the release of that.
is_mapped_by_kernel() {
	awk -v start="$(awk '$1 == "device" { print substr($3, 3) }' "$work/output")" '
		/^[0-9a-f]+-/ { split($1, range, "-"); is = start != "" && range[1] == start }
		is && /^VmFlags:.* pf/ { found = 1 }
		END { exit !found }' "/proc/$pid/smaps"
}

# check_reserved RELEASE: addresses without memory and memory of devices are told of, not read, and in no dump and no core file.
check_reserved() {
	local name="Go $1, reserved" huge=$((16 << 30)) large=$((8 << 20)) kind at before text
	sample "$name" "$1" reserved || return
	: >"$work/empty"
	run_until_ready "$directory/reserved.stripped" "$work/empty"
	before=$(state)
	timeout 60 "$GOHEAP" memory -p "$pid" --json >"$work/found" 2>"$work/why"
	holds "$name: addresses" "$(part reserved mapped)" [ "$(part reserved mapped)" -ge $((2 * huge)) ]
	equal "$name: they have no memory" 0 "$(part reserved resident)"
	holds "$name: what one page is of" "$(part anonymous mapped)" [ "$(part anonymous mapped)" -ge "$huge" ]
	if grep -q '^unlocked' "$work/output"; then
		skip "$name: pinned memory" "it may not be locked"
	else
		equal "$name: pinned memory" "$large $large" "$(part pinned mapped) $(part pinned resident)"
	fi
	equal "$name: other shared memory" $((2 * large)) "$(part shared mapped)"
	equal "$name: a file, also behind its end" $((3 * large)) "$(part files mapped)"
	text=$(timeout 60 "$GOHEAP" memory --bytes -p "$pid" 2>"$work/why")
	has "$name: addresses, in words" "$text" ' addresses that are reserved, without memory$'
	if is_mapped_by_kernel; then
		equal "$name: a device" "$(said device)" "$(part devices mapped)"
		has "$name: its name" "$text" " 12,288 +anon_inode:\[perf_event\]\$"
	else
		skip "$name: a device" "the kernel maps none"
	fi
	timeout 60 "$GOHEAP" hang -p "$pid" >"$work/text" 2>"$work/why"
	has "$name: hang" "$(cat "$work/text")" '^1 deadlock of mutexes$'
	has "$name: stacks" "$(timeout 60 "$GOHEAP" goroutines -p "$pid" 2>"$work/why")" '^main\.lock\('
	rm -f "$work/dump"
	timeout 60 "$GOHEAP" dump -o "$work/dump" -p "$pid" 2>"$work/why"
	timeout 60 "$GOHEAP" core -o "$work/core" "$pid" 2>"$work/why"
	holds "$name: the dump is small" "$(du -k "$work/dump")" [ "$(du -k "$work/dump" | cut -f 1)" -lt 16384 ]
	holds "$name: the core file is small" "$(du -k "$work/core")" [ "$(du -k "$work/core" | cut -f 1)" -lt 65536 ]
	readelf -lW "$work/core" >"$work/segments" 2>"$work/why"
	for kind in none spare device; do
		at=$(awk -v kind="$kind" '$1 == kind { print $3 }' "$work/output")
		[ -z "$at" ] || equal "$name: nothing of it is in the core file, $kind" 0x000000 			"$(awk -v at="$(printf '0x%016x' "$at")" '$1 == "LOAD" && $3 == at { print $5 }' "$work/segments")"
	done
	equal "$name: it is as before" "$before" "$(state)"
	timeout 60 "$GOHEAP" memory "$work/core" -e "$directory/reserved.stripped" --json >"$work/found" 2>"$work/why"
	holds "$name: the core file's addresses" "$(part reserved mapped)" [ "$(part reserved mapped)" -ge "$huge" ]
	has "$name: the core file's deadlock" "$(timeout 60 "$GOHEAP" hang "$work/core" -e "$directory/reserved.stripped" 2>"$work/why")" '^1 deadlock of mutexes$'
	rm "$work/core"
	end "$pid"
}

# in_group COMMAND...: becomes that, in this group.
in_group() {
	echo "$BASHPID" >"$group/cgroup.procs"
	exec "$@"
}

session_home
export CGO_ENABLED=1
head -c 7000000 /dev/urandom >"$work/file"
for release in $(releases "$apart_maps"); do
	sample "Go $release" "$release" footprint || continue
	run_until_ready "$directory/footprint.stripped" "$work/file"
	timeout 60 "$GOHEAP" memory -p "$pid" --json >"$work/found" 2>"$work/why"
	swapped=$(awk '/^Swap:/ { print $2 * 1024 }' "/proc/$pid/smaps_rollup")
	resident=$(awk '/^Rss:/ { print $2 * 1024 }' "/proc/$pid/smaps_rollup")
	check "Go $release, process"
	if [ -n "$(said reserved)" ]; then
		holds "Go $release, process: what is reserved only" "$(cat "$work/found")" test "$(part anonymous mapped)" -gt "$(said reserved)"
	else
		skip "Go $release, process: what is reserved only" "the system reserves no addresses without memory"
	fi
	near "Go $release, process: mapped files" "$(said files)" "$(part files resident)" 1
	has "Go $release, process: the file" "$(cat "$work/found")" '"part":"file","file":"[^"]*/file"'
	near "Go $release, process: in all" "$resident" "$(part all resident)" 1
	if ((swapped > 0)); then
		near "Go $release, process: in swap" "$swapped" "$(part all swapped)" 1
	else
		skip "Go $release, process: in swap" "nothing of it is"
	fi
	equal "Go $release, process: the kinds add up" "$(part all resident)" \
		"$(sed -nE '/"part":"(file|all)"/!s/.*"resident":([0-9]+).*/\1/p' "$work/found" | awk '{ sum += $1 } END { printf "%d", sum }')"
	text=$("$GOHEAP" memory --bytes -p "$pid" 2>"$work/why")
	has "Go $release, process: the most" "$text" '^ +[0-9,]+ +[0-9.]+% +[0-9,]+  anonymous memory outside the Go heap \(the runtime'"'"'s own is [0-9,]+ bytes of it at most\)$'
	has "Go $release, process: what that means" "$text" '^The program or C code mapped it by itself: no Go object is there\.$'
	has "Go $release, process: the collector" "$text" \
		"^The garbage collector has run $(said collections) times, the last 32 within [0-9.]+ s, and [0-9.]+ s ago\\. It has taken [0-9.]+% of the processors' time\\.\$"
	has "Go $release, process: suspects tell of it" "$("$GOHEAP" suspects -p "$pid" 2>"$work/why")" \
		"^1[0-9]{2} MB of the process are in memory, and the Go heap's objects are 1[0-2]\\.[0-9] MB: see goheap memory $pid\$"
	# Pages that were never touched are not in memory.
	fallen "Go $release, process: free" most "$(part free resident)" "$(says_now least)"
	goheap "" "attach $pid" "goheap memory --json" >"$work/found"
	near "Go $release, GDB: bytes of objects" "$(said objects)" "$(part objects ofIt)" 2
	near "Go $release, GDB: malloc" "$(said malloc)" "$(part malloc resident)" 3
	# What is in files, too.
	echo 0x3f >"/proc/$pid/coredump_filter"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	"$GOHEAP" memory -e "$directory/footprint.stripped" "$work/core.$pid" --json >"$work/found" 2>"$work/why"
	check "Go $release, core"
	has "Go $release, core: the file" "$(cat "$work/found")" '"part":"file","file":"[^"]*/file"'
	! is_newest "$release" || damaged_core "Go $release, damaged core" "$work/core.$pid"
	rm -f "$work/core.$pid"
	exec 7>&-
	wait "$pid" 2>"$work/why"
done
check_reserved "${release:?}"
# A process that collects all the time, as its limit is less than what it keeps.
if sample "Go 1.24" 1.24 churn; then
	run_until_ready env GOMEMLIMIT=4MiB "$directory/churn.stripped" "$work/list"
	text=$("$GOHEAP" memory --bytes -p "$pid" 2>"$work/why")
	has "at the limit: the limit" "$text" '^The limit of memory \(GOMEMLIMIT\) is 4,194,304 bytes, [0-9]{3,}% of which are used\.$'
	has "at the limit: what that means" "$text" '^To stay below it the collector runs again and again: raise it, or keep less\.$'
	for _ in {1..50}; do
		text=$("$GOHEAP" hang -p "$pid" 2>"$work/why")
		[[ $text == *"collecting garbage"* ]] && break
	done
	has "at the limit: hang leads there" "$text" "^see goheap memory $pid \\(how much the collector works\\)\$"
	# GDB changes when the last collection was: it does not run again and again.
	goheap "$directory/churn" "attach $pid" "set var 'runtime.memstats'.last_gc_unix = 1000000000" \
		"set var 'runtime.memstats'.pause_end[('runtime.memstats'.numgc + 255) % 256] = 1000000000" "goheap memory --bytes" >"$work/found" 2>&1
	has "at the limit long ago: when" "$(cat "$work/found")" '^The garbage collector has run .*, and [0-9]{8,}\.[0-9] s ago\.'
	has "at the limit long ago: the limit" "$(cat "$work/found")" '^The limit of memory \(GOMEMLIMIT\) is 4,194,304 bytes, [0-9]{3,}% of which are used\.$'
	lacks "at the limit long ago: it is not at work" "$(cat "$work/found")" '^To stay below it'
	exec 7>&-
	kill -KILL "$pid"
	wait "$pid" 2>"$work/why"
fi
# A process that has collected less often than there are collections looked back at, as the runtime traces it.
if sample "Go 1.19" 1.19 crowd; then
	run_until_ready env GODEBUG=gctrace=1 GOGC=20 "$directory/crowd.stripped" 1500 "$work/dump" -
	"$GOHEAP" memory -p "$pid" --json >"$work/found" 2>"$work/why"
	mapfile -t ends < <(sed -nE 's/^gc [0-9]+ @([0-9.]+)s .*/\1/p' "$work/trace")
	has "few collections: some, and less than 32" ${#ends[@]} '^([2-9]|[12][0-9])$'
	equal "few collections" ${#ends[@]} "$(part collections count)"
	equal "few collections: before the last" $((${#ends[@]} - 1)) "$(part collections recent)"
	# The trace has when each began.
	near "few collections: since the first" "$(awk "BEGIN { printf \"%d\", (${ends[-1]} - ${ends[0]}) * 1e9 }")" "$(part collections recentNs)" 30
	exec 7>&-
	wait "$pid" 2>"$work/why"
fi
# A container that has too little memory for a copy of the process's: a temporary file has it, where there is a disk. Without one nothing
# is read: the system would end one of the two.
if ! make_group 210000000 2>"$work/why"; then
	skip "no room for a copy" "no control group can be made"
elif sample "Go 1.24" 1.24 footprint; then
	run_until_ready in_group "$directory/footprint.stripped" "$work/file"
	(TMPDIR=/dev/shm in_group "$GOHEAP" suspects -p "$pid" >"$work/found" 2>&1)
	equal "no room for a copy: status" 1 $?
	has "no room for a copy: said" "$(cat "$work/found")" \
		"^goheap: process $pid: expected [0-9]+ MB of free memory, or 48 and a disk at \\\$TMPDIR, /tmp or /var/tmp, for a copy of what it has, found [0-9]+ MB in this container: set TMPDIR, ask from outside of it, or in GDB\$"
	equal "no room for a copy: the process lives" 0 "$(kill -0 "$pid"; echo $?)"
	has "no room for a copy: from outside" "$("$GOHEAP" memory -p "$pid" 2>"$work/why")" ' in all$'
	for command in "histogram --bytes" roots; do
		read -ra words <<<"$command"
		"$GOHEAP" "${words[@]}" -p "$pid" 2>"$work/why" | told | sed 's/for at least [0-9]* s$/for at least some s/' >"$work/outside"
		(unset TMPDIR && in_group "$GOHEAP" "${words[@]}" -p "$pid" 2>"$work/short" | told | sed 's/for at least [0-9]* s$/for at least some s/' >"$work/inside")
		same "a copy in a file: $command" "$work/outside" "$work/inside"
		has "a copy in a file: $command: said" "$(cat "$work/short")" "^goheap: [0-9.,]+ (MB|bytes) of memory are free in this container: the copy of process $pid is in a temporary file, which takes longer\$"
	done
	(unset TMPDIR && in_group "$GOHEAP" dump -p "$pid" -f -o "$work/dump" 2>"$work/short")
	"$GOHEAP" dump -p "$pid" -f -o "$work/other" 2>"$work/why"
	same "a copy in a file: dump" <("$GOHEAP" sql --csv "$work/other" "SELECT address, bytes, type FROM objects") \
		<("$GOHEAP" sql --csv "$work/dump" "SELECT address, bytes, type FROM objects")
	equal "a copy in a file: the process lives" 0 "$(kill -0 "$pid"; echo $?)"
	exec 7>&-
	wait "$pid" 2>"$work/why"
	rmdir "$group"
fi
echo "go1.7 heap dump" >"$work/dump"
"$GOHEAP" memory --bytes "$work/dump" >"$work/found" 2>&1
equal "a heap dump: status" 1 $?
has "a heap dump: what is wanted" "$(cat "$work/found")" 'is a heap dump, which has the Go heap alone: goheap suspects .*/dump$'
finish
