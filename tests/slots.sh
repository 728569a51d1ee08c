#!/usr/bin/env bash
# The words of frames that hold pointers: what `info locals' shows in a process of a stripped program, against the
# fieldlists of the heap dump that the process wrote, which are the runtime's own reading of its pointer maps.
set -u
export LC_ALL=C
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
session_home

# Stops when the dump has been written, and shows each frame of each goroutine in it. Frame 0 is the thread's.
cat >"$work/slots.gdb" <<'END'
define show_frame
  printf "sp %lu\n", $sp
  info locals
end
define show
  echo \ngoroutine $arg0\n
  goheap goroutine $arg0
  frame apply all -q -s show_frame
end
handle SIGURG SIGSEGV nostop noprint pass
tbreak main.write
run
tbreak os.(*File).Write
continue
shell $DUMPFILE fields $DUMP | cut -f 1 | uniq | sed 's/^/show /' >$DUMP.gdb
END

# shown: rows of a session on standard input: goroutine, depth, offset and word of every variable. Frames that are
# inlined have one sp. A dump has the arguments of a frame in its caller's.
shown() {
	awk -v OFS='\t' '
		function number(hex,   value, i) {
			for (i = 3; i <= length(hex); i++)
				value = 16 * value + index("123456789abcdef", substr(hex, i, 1))
			return value
		}
		function flush_goroutine(   i, j) {
			for (i = 0; i < variables; i++) {
				for (j = depth[i]; j + 1 < frames && offset[i] >= sp[j + 1] - sp[j]; j++)
					offset[i] -= sp[j + 1] - sp[j]
				printf "%s\t%d\t0x%x\t%s\n", id, j, offset[i], word[i]
			}
			variables = frames = seen = 0
		}
		/^goroutine [0-9]+$/ { flush_goroutine(); id = $2 }
		/^sp [0-9]+$/ && ++seen > 1 && (frames == 0 || $2 != sp[frames - 1]) { sp[frames++] = $2 }
		/^sp_0x/ && frames > 0 {
			depth[variables] = frames - 1
			offset[variables] = number(substr($1, 4))
			word[variables++] = $3
		}
		END { flush_goroutine() }' | sort
}

# check_program NAME PROGRAM
check_program() {
	export DUMP=$work/dump
	rm -f "$DUMP"
	timeout -k 5 120 gdb -nx -q -batch -iex 'set width 0' -iex 'set debuginfod enabled off' -iex 'set auto-load no' \
		-x "$work/goheap.gdb" -ex "jit-reader-load $GOHEAP_SO" -ex "file $2" \
		-ex "set args $DUMP $work/stacks" -x "$work/slots.gdb" -x "$DUMP.gdb" >"$work/session" 2>&1
	shown <"$work/session" >"$work/found"
	# The goroutine that wrote the dump has gone on.
	"$DUMPFILE" fields "$DUMP" | grep -v "^1$(printf '\t')" | sort >"$work/expected"
	grep -v "^1$(printf '\t')" "$work/found" >"$work/others"
	same "$1: every field of parked goroutines ($(wc -l <"$work/expected")), and no other" \
		"$work/expected" "$work/others"
}

export DUMPFILE WORK=$work
DUMPFILE=$("$tests/build-sample" 1.19 dumpfile)/dumpfile
for release in ${RELEASES:-$("$tests/toolchain" list)}; do
	for spec in dump 'dump -buildmode=pie'; do
		# shellcheck disable=SC2086 # the words of a specification are arguments
		if directory=$("$tests/build-sample" "$release" $spec 2>"$work/why"); then
			check_program "Go $release $spec" "$directory/dump.stripped"
		else
			skip "Go $release $spec" "$(tail -n 1 "$work/why")"
			[ "$release" = 1.19 ] && fail "Go 1.19 is part of the core set"
		fi
	done
done
finish
