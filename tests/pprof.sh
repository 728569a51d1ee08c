#!/usr/bin/env bash
# The allocation profile in a heap dump, against the one that the same process wrote at the same moment with
# runtime/pprof, both read by `go tool pprof'.
. "$(dirname "$0")/lib.sh"


# pprof ARGUMENT...: go tool pprof, of a release whose pprof is in its package.
pprof() {
	"$goroot/bin/go" tool pprof "$@" 2>"$work/pprof.errors"
}

# stacks: what `pprof -raw' prints on standard input as rows: allocated objects, bytes, those in use, size, and the
# stack, in which | is before each place and < before the calls that it is inlined into. Samples of one stack
# are one row; those of nothing at all are left out: a place that has not allocated as of the profile.
stacks() {
	awk '
		BEGIN { n = 0 }
		/^Samples:/ { part = "samples"; getline; next }
		/^Locations/ { part = "locations"; next }
		/^Mappings/ { part = ""; next }
		part == "samples" && /^ *bytes:\[/ { gsub(/[^0-9]/, ""); size[n - 1] = $0; next }
		part == "samples" {
			values[n] = $0
			sub(/: *[0-9 ]*$/, "", values[n])
			sub(/^[^:]*: */, "")
			places[n++] = $0
			next
		}
		part == "locations" {
			first = /^ *[0-9]+: 0x/
			if (first) {
				id = $1
				sub(/:/, "", id)
				sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "")
			}
			sub(/^ */, "")
			sub(/ s=[0-9]+.*/, "")
			place[id] = first ? $0 : place[id] " < " $0
		}
		END {
			for (i = 0; i < n; i++) {
				row = size[i]
				k = split(places[i], ids, " ")
				for (j = 1; j <= k; j++)
					row = row " | " place[ids[j]]
				split(values[i], value, " ")
				for (j = 1; j <= 4; j++)
					sum[row, j] += value[j]
				rows[row]
			}
			for (row in rows)
				if (sum[row, 1] > 0)
					printf "%d %d %d %d %s\n", sum[row, 1], sum[row, 2], sum[row, 3], sum[row, 4], row
		}' | sort
}

# without_rest: rows without the call that pprof adds to those which the runtime has kept of a deep stack: the last of
# them is inlined into it. In the sample there is one such.
without_rest() {
	sed -E 's/(main\.again [^ ]+) [|<] main\.recurse [^ ]+$/\1/'
}

# records: a profile of debug=1 as a row a record: amounts, and name and place of each call.
records() {
	awk '
		function out() {
			if (amounts != "" && amounts !~ /^0: 0 \[0: 0\]/)
				print amounts stack
			amounts = stack = ""
		}
		/^[0-9]+: [0-9]+ \[/ { out(); amounts = $0; sub(/ @.*/, "", amounts); next }
		/^#\t/ {
			n = split($0, field, /\t+/)
			name = field[n - 1]
			if (n > 3)
				sub(/\+0x[0-9a-f]+$/, "", name)
			stack = stack " | " name " " field[n]
			next
		}
		/^$/ { out() }' "$1" | without_rest | sort
}

# lines: the rows of stacks with what is known without the program: the amounts, and the files and lines but the
# innermost. Type arguments, which may have spaces in them, go first.
lines() {
	sed -E -e ':again' -e 's/\[[^][|]*\]//' -e 'tagain' -e 's/ [|<] [^ ]+ ([^ ]+)/ | \1/g' -e 's/^([0-9 ]+) \| [^ ]+/\1/' |
		awk '{
			row = ""
			for (i = 5; i <= NF; i++)
				row = row " " $i
			for (i = 1; i <= 4; i++)
				sum[row, i] += $i
			rows[row]
		}
		END { for (row in rows) print sum[row, 1], sum[row, 2], sum[row, 3], sum[row, 4] row }' | sort
}

# write RELEASE RATE [FLAG...]: has the sample write its files. False if it cannot be had.
write() {
	local release=$1 rate=$2
	shift 2
	sample "Go $release" "$release" profile "$@" || return 1
	"$directory/profile" "$rate" "$work/dump" "$work/proto" "$work/text" && return
	fail "Go $release: the sample writes a dump"
	return 1
}

# compare_stacks NAME RATE
compare_stacks() {
	local program
	pprof -raw "$work/proto" | stacks >"$work/expected"
	[ "$2" -gt 1 ] ||
		has "$1: calls are inlined" "$(cat "$work/expected")" ' \| main\.leaf [^ ]*:[0-9]+ < main\.middle .* \| main\.main '
	for program in profile profile.stripped; do
		"$GOHEAP" pprof -e "$directory/$program" --rate "$2" -o "$work/pprof" "$work/dump" 2>"$work/errors"
		pprof -raw "$work/pprof" | stacks >"$work/found"
		same "$1: with $program, stacks and scaled figures are the process's own ($(wc -l <"$work/expected"))" \
			"$work/expected" "$work/found"
		same "$1: with $program, no warning" /dev/null "$work/errors"
	done
	"$GOHEAP" pprof --rate "$2" -o "$work/pprof" "$work/dump"
	without_rest <"$work/expected" | lines >"$work/expected.lines"
	pprof -raw "$work/pprof" | stacks | lines >"$work/found"
	same "$1: without the program, lines and scaled figures are the process's own" "$work/expected.lines" \
		"$work/found"
}

# compare_text NAME RATE
compare_text() {
	has "$1: the process's own is no heap dump" "$("$GOHEAP" hang "$work/proto" 2>&1)" ': expected a Go heap dump, found a profile of pprof.s$'
	has "$1: nor is the text" "$("$GOHEAP" hang "$work/text" 2>&1)" ': expected a core file, heap dump or program, found a profile as text$'
	records "$work/text" >"$work/expected"
	"$GOHEAP" profile -e "$directory/profile.stripped" --rate "$2" "$work/dump" >"$work/profile"
	records "$work/profile" >"$work/found"
	same "$1: the text is the process's own ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	# Newer releases add a byte to those allocated if as many are in use.
	equal "$1: its first line" \
		"$(head -n 1 "$work/text" | sed -E 's/^(heap profile: ([0-9]+): ([0-9]+) \[\2: )[0-9]+\]/\1\3]/')" \
		"$(head -n 1 "$work/profile")"
	# The order, with what is not in a dump left out; and what stays as it is between the two.
	sed -n '/^# runtime.MemStats/,$p' "$work/text" |
		grep -v -e '^# PauseEnd' -e '^# NumForcedGC' -e '^# GCCPUFraction' -e '^# DebugGC' -e '^# MaxRSS' \
			>"$work/expected"
	sed -n '/^# runtime.MemStats/,$p' "$work/profile" >"$work/found"
	equal "$1: the memory statistics that are in a dump" "$(cut -d= -f1 "$work/expected")" \
		"$(cut -d= -f1 "$work/found")"
	equal "$1: those of the garbage collector" "$(grep -E '^# (NumGC|LastGC|PauseNs) ' "$work/expected")" \
		"$(grep -E '^# (NumGC|LastGC|PauseNs) ' "$work/found")"
	if paste -d' ' <(grep -E '^# (Total)?Alloc ' "$work/expected") \
		<(grep -E '^# (Total)?Alloc ' "$work/found") |
		awk '$4 > $8 || $8 - $4 > 4000000 { bad = 1 } END { exit bad || NR != 2 }'; then
		ok "$1: what was allocated since is little"
	else
		fail "$1: what was allocated since is little" "$(cat "$work/expected" "$work/found")"
	fi
}

# compare_raw NAME: the figures of the text are not scaled.
compare_raw() {
	"$GOHEAP" pprof -e "$directory/profile" --raw -o "$work/pprof" "$work/dump"
	equal "$1: --raw" \
		"$(records "$work/text" | tr -d '[]:' | awk '{ for (i = 1; i <= 4; i++) sum[i] += $i }
			END { print sum[3], sum[4], sum[1], sum[2] }')" \
		"$(pprof -raw "$work/pprof" | stacks | awk '{ for (i = 1; i <= 4; i++) sum[i] += $i }
			END { print sum[1], sum[2], sum[3], sum[4] }')"
}

# compare_live NAME: of what the sample keeps, all that is in use is live. Its list is kept by its own objects, each of
# 16 bytes, as are those of 112 bytes that they point to; large buffers keep themselves only.
compare_live() {
	local payloads
	pprof -raw "$work/proto" | stacks |
		awk '$3 > 0 && / main\.allocate / {
			objects = $3
			bytes = $4
			$1 = $2 = $3 = $4 = $5 = ""
			sum[$0, 1] += objects
			sum[$0, 2] += bytes
			rows[$0]
		}
		END { for (row in rows) print sum[row, 1], sum[row, 2] row }' | sort >"$work/expected"
	"$GOHEAP" pprof -e "$directory/profile.stripped" --live --rate 1 -o "$work/pprof" "$work/dump" 2>"$work/errors"
	pprof -raw "$work/pprof" | stacks >"$work/live"
	awk '/ main\.allocate / { row = $1 " " $2; $1 = $2 = $3 = $4 = ""; print row " " $0 }' "$work/live" |
		sort >"$work/found"
	same "$1: what is live is what the process has in use ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	# The process may have one more in use than the list has, whose memory may be another object's by then.
	has "$1: what a list retains" "$(grep ' main\.links ' "$work/live")" \
		'^(1000 16000 128000|1001 16[01][0-9]{2} 128[01][0-9]{2}) 0  \| main\.links '
	payloads=$(awk '/ main\.payload / { print $1 }' "$work/expected")
	has "$1: payloads in use" "$payloads" '^100[01]$'
	has "$1: what its payload retains" "$(grep ' main\.payload ' "$work/live")" \
		"^$payloads (112[01][0-9]{2}) \\1 0  \\| main\\.payload "
	has "$1: what buffers retain" "$(grep ' main\.large ' "$work/live")" '^[0-9]+ ([0-9]+) \1 0  \| main\.large '
	equal "$1: nothing retains less than itself" "" "$(awk '$3 < $2' "$work/live")"
	has "$1: sample types of what is live" "$(pprof -raw "$work/pprof")" \
		'^live_objects/count live_space/bytes\[dflt\] retained_space/bytes$'
}

check_release() {
	local rate
	for rate in 1 4096 524288; do
		write "$1" "$rate" || return
		compare_stacks "Go $1, a sample each $rate bytes" "$rate"
		compare_text "Go $1, a sample each $rate bytes" "$rate"
		[ "$rate" -gt 1 ] || compare_live "Go $1"
	done
	compare_raw "Go $1"
}

# What pprof shows of the profile as a whole.
check_header() {
	local raw
	write 1.19 524288 "-ldflags=-B 0x0123456789abcdef" || return
	"$GOHEAP" pprof -e "$directory/profile.stripped" -o "$work/pprof" "$work/dump"
	raw=$(pprof -raw "$work/pprof")
	has "period" "$raw" '^Period: 524288$'
	has "type of the period" "$raw" '^PeriodType: space bytes$'
	has "sample types, and the default" "$raw" \
		'^alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes\[dflt\]$'
	has "time of the garbage collection" "$raw" \
		"^Time: $(date -u -d "@$("$GOHEAP" memstats "$work/dump" | sed -n 's/^last gc: \(.*\)\(.\{9\}\)$/\1.\2/p')" '+%F %T')"
	has "mapping, with its build id" "$raw" \
		"^1: 0x400000/0x[0-9a-f]+/0x0 $directory/profile.stripped 0123456789abcdef \[FN\]\[FL\]\[LN\]\[IN\]$"
	has "pprof -top" "$(pprof -sample_index=alloc_objects -top "$work/pprof")" '^Type: alloc_objects$'
}

# addresses FILE: function, file and line of the innermost call of each place, and its address.
addresses() {
	pprof -raw "$1" | sed -n '/^Locations/,/^Mappings/p' |
		sed -nE 's/^ *[0-9]+: 0x([0-9a-f]+) M=1 ([^ ]+) ([^ ]+) s=[0-9]+.*/\2@\3 \1/p' | sort
}

# A position-independent program's addresses are not its file's.
check_pie() {
	write 1.19 1 -buildmode=pie || return
	compare_stacks "PIE" 1
	"$GOHEAP" pprof -e "$directory/profile.stripped" --rate 1 -o "$work/pprof" "$work/dump"
	addresses "$work/proto" >"$work/expected"
	# Those alone that are in one place.
	addresses "$work/pprof" |
		awk '{ n[$1]++; row[$1] = $0 } END { for (key in n) if (n[key] == 1) print row[key] }' | sort >"$work/found"
	join "$work/expected" "$work/found" >"$work/both"
	# The process's own are in the calls: not before the code of their lines, but near.
	while read -r _ own ours; do
		[ $((0x$own)) -ge $((0x$ours)) ] && [ $((0x$own - 0x$ours)) -lt 1024 ] || echo "$own $ours"
	done <"$work/both" >"$work/apart"
	same "PIE: addresses are those of the code ($(wc -l <"$work/both"))" /dev/null "$work/apart"
	holds "PIE: there are addresses" "$(cat "$work/found")" [ "$(wc -l <"$work/both")" -gt 20 ]
}

# check_failures: nothing is half-written, and what is wrong is told.
check_failures() {
	local errors
	write 1.19 1 || return
	(
		trap '' XFSZ
		ulimit -f 1
		"$GOHEAP" pprof -e "$directory/profile" -o "$work/limited" "$work/dump"
	) 2>"$work/errors"
	equal "a full disk" 1 $?
	has "a full disk is told of" "$(cat "$work/errors")" '^goheap: .*/limited: cannot write: '
	same "a full disk leaves nothing" /dev/null <(find "$work" -name 'limited*')
	"$GOHEAP" pprof -o "$work/none/pprof" "$work/dump" 2>"$work/errors"
	equal "no such directory" 1 $?
	"$GOHEAP" pprof "$work/dump" 2>"$work/errors"
	equal "no output" 2 $?
	"$GOHEAP" pprof --rate -1 -o "$work/pprof" "$work/dump" 2>"$work/errors"
	equal "no rate" 2 $?
	errors=$("$GOHEAP" profile -e "$("$tests/build-sample" 1.19 sample)/sample" "$work/dump" 2>&1)
	equal "another program" 1 $?
	has "another program is told of" "$errors" 'expected the program that wrote the dump, found one'
	directory=$("$tests/build-sample" 1.19 dump)
	"$directory/dump" "$work/other" "$work/stacks" >"$work/counts"
	errors=$("$GOHEAP" profile "$work/other" 2>&1)
	equal "no profile" 1 $?
	has "no profile is told of" "$errors" ': expected an allocation profile, found none'
}

check_json() {
	needs "JSON" python3 || return
	write 1.19 1 || return
	"$GOHEAP" profile -e "$directory/profile" --rate 1 "$work/dump" >"$work/profile"
	records "$work/profile" >"$work/expected"
	"$GOHEAP" profile -e "$directory/profile" --json "$work/dump" | python3 -c '
import json, sys
for line in sys.stdin:
    record = json.loads(line)
    if record["alloc_objects"] > 0:
        print("%(inuse_objects)d: %(inuse_bytes)d [%(alloc_objects)d: %(alloc_bytes)d]" % record, end="")
        for call in record["stack"]:
            print(" | %(function)s %(file)s:%(line)d" % call, end="")
        print()' | without_rest | sort >"$work/found"
	same "JSON is the text" "$work/expected" "$work/found"
	"$GOHEAP" profile -e "$directory/profile" --json "$work/dump" | sed 's/{"function":/\n&/g' |
		sed -nE 's/^\{"function":"main\.(leaf|middle|inlined|main)".*"inlined":(true|false)\}.*/\1 \2/p' | sort -u >"$work/found"
	same "JSON: which calls are inlined" <(printf '%s\n' 'inlined false' 'leaf true' 'main false' 'middle true') "$work/found"
}

# In GDB: of the dump that is loaded, with the program that wrote it.
check_gdb() {
	write 1.19 1 || return
	"$GOHEAP" profile -e "$directory/profile.stripped" "$work/dump" >"$work/expected"
	(
		cd "$work" && XDG_CACHE_HOME=$work/cache gdb -nx -batch \
			-ex "jit-reader-load $GOHEAP_SO" -ex "file $directory/profile.stripped" -ex "goheap load $work/dump" \
			-ex "echo \nprofile:\n" -ex "goheap profile" -ex "goheap pprof --rate 1 -o $work/gdb.pprof"
	) 2>&1 | sed '1,/^profile:$/d' >"$work/found"
	same "goheap profile in GDB" "$work/expected" "$work/found"
	pprof -raw "$work/proto" | stacks >"$work/expected"
	pprof -raw "$work/gdb.pprof" | stacks >"$work/found"
	same "goheap pprof in GDB" "$work/expected" "$work/found"
}

# check_rate: a program that samples each allocation, taken for one that does not.
check_rate() {
	local directory
	directory=$("$tests/build-sample" 1.19 leak) || return
	"$directory/leak.stripped" "$work/before" "$work/after"
	"$GOHEAP" pprof -o "$work/pprof" "$work/after" 2>"$work/errors"
	has "a rate that does not fit the heap" "$(cat "$work/errors")" \
		'^goheap: .*/after: by a MemProfileRate of 524288 the profile is of [0-9.]+ [MG]B in use, of a heap of [0-9.]+ MB: --rate 1 would fit$'
	equal "it is one line" 1 "$(wc -l <"$work/errors")"
	"$GOHEAP" pprof --rate 1 -o "$work/pprof" "$work/after" 2>"$work/errors"
	same "the rate that fits" /dev/null "$work/errors"
}

if ! goroot=$("$tests/toolchain" 1.19); then
	skip "all" "no go tool pprof"
	finish
fi
for release in $(releases "$apart"); do
	check_release "$release"
done
check_header
check_pie
check_failures
check_json
check_gdb
check_rate
finish
