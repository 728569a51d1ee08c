#!/usr/bin/env bash
# The words of frames that hold pointers: what `info locals' shows in a process of a stripped program, against the
# fieldlists of the heap dump that the process wrote, which are the runtime's own reading of its pointer maps.
. "$(dirname "$0")/lib.sh"
session_home

cat >"$work/define.gdb" <<'END'
define show_frame
  printf "sp %lu %lu\n", $sp, $pc
  info locals
end
END

# Stops when the dump has been written, and shows each frame of each goroutine in it. Frame 0 is the thread's.
cat >"$work/slots.gdb" <<'END'
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

# shown FIRST: rows of a session on standard input: goroutine, depth, offset and word of every variable, from frame
# FIRST on. Frames that are inlined have one sp and pc. A dump has the arguments of a frame in its caller's.
shown() {
	awk -v first="$1" '
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
		/^sp [0-9]+ [0-9]+$/ && ++seen > first && (frames == 0 || $2 != sp[frames - 1] || $3 != pc) {
			sp[frames++] = $2
			pc = $3
		}
		/^sp_0x/ && frames > 0 {
			depth[variables] = frames - 1
			offset[variables] = number(substr($1, 4))
			word[variables++] = $3
		}
		END { flush_goroutine() }' | sort
}

# parked: those rows of goroutines that cannot have run since: not of the first, which wrote the dump, nor of the
# runtime's own.
parked() {
	"$GOHEAP" goroutines "$DUMP" | sed -n 's/^goroutine \([0-9]*\) .*/\1/p' | grep -vx 1 >"$work/ids"
	awk 'NR == FNR { is[$1] = 1; next } $1 in is' "$work/ids" -
}

# check_program NAME PROGRAM
check_program() {
	export DUMP=$work/dump
	rm -f "$DUMP"
	goheap "" "file $2" "set args $DUMP $work/stacks" "source $work/define.gdb" "source $work/slots.gdb" "source $DUMP.gdb" \
		>"$work/session"
	shown 1 <"$work/session" >"$work/found"
	"$DUMPFILE" fields "$DUMP" | sort | parked >"$work/expected"
	parked <"$work/found" >"$work/others"
	same "$1: every field of parked goroutines, and no other" "$work/expected" "$work/others"
	enough "$1: fields" "$work/expected" 80
}

# enough NAME FILE LEAST: the file has so many lines.
enough() {
	holds "$1: $(wc -l <"$2")" "" [ "$(wc -l <"$2")" -ge "$3" ]
}

# check_machine GOARCH EMULATOR GDB: the same in a core file made of a dump. There the top frames of stacks, which
# have called as well, look as if they had not.
check_machine() {
	foreign_dump "$1" "$2" || return
	"$GOHEAP" debug "$directory/dump.stripped" -o "$work/debug" &&
		"$GOHEAP" core -f "$work/dump" -e "$directory/dump.stripped" -o "$work/core" || return
	"$3" -nx -q -batch -iex 'set width 0' -iex 'set auto-load no' -x "$work/define.gdb" -ex "exec-file $directory/dump.stripped" \
		-ex "symbol-file $work/debug" -ex "core-file $work/core" -ex 'set backtrace past-main' \
		-ex 'thread apply all -s frame apply all -q -s show_frame' 2>&1 |
		sed 's/^Thread .*(LWP \([0-9]*\).*/goroutine \1/' | shown 0 >"$work/found"
	"$DUMPFILE" fields "$work/dump" | sort >"$work/expected"
	comm -13 "$work/expected" "$work/found" >"$work/left"
	same "Go 1.19 $1: no variable but the fields of frames" /dev/null "$work/left"
	# Nor is runtime.sigpanic's frame one that has called, to GDB: it takes it for a signal's.
	"$GOHEAP" frames "$work/dump" | awk -F'\t' '$9 == "runtime.sigpanic" { print $1, $2 }' >"$work/signal"
	comm -23 "$work/expected" "$work/found" | awk '
		NR == FNR { signal[$1, $2] = 1; next }
		$2 >= 2 && !(($1, $2) in signal)' "$work/signal" - >"$work/left"
	same "Go 1.19 $1: every field, but of the frames at the top" /dev/null "$work/left"
	enough "Go 1.19 $1: variables" "$work/found" 80
}

# blocks DEBUGFILE: the addresses of the bytes where such words are said to be.
blocks() {
	llvm-dwarfdump --debug-info "$1" | awk '
		/DW_TAG/ {
			variable = /DW_TAG_variable/
			if (/DW_TAG_lexical_block/) {
				block = 1
				n = 0
			} else if (!variable) {
				block = 0
			}
		}
		block && !variable && (/DW_AT_low_pc/ || /^ *\[0x/) {
			match($0, /0x[0-9a-f]+/)
			list[n++] = substr($0, RSTART + RLENGTH - 8, 8)
		}
		block && variable && /DW_AT_abstract_origin/ {
			while (n > 0)
				print list[--n]
		}' | sort
}

# call_ends PROGRAM GOARCH: the address of each call's last byte, by a disassembler; on mips, of its delay slot's last two.
call_ends() {
	local options=() delay=0 last=1
	case $2 in
	arm) options=(--triple=armv7) ;;
	mips64le) delay=1 last=2 ;;
	esac
	llvm-objdump --disassemble --disassemble-zeroes --no-show-raw-insn "${options[@]}" "$1" | awk -v delay=$delay -v last=$last '
		function before(hex,   i, value) {
			for (i = 1; i <= length(hex); i++)
				value = 16 * value + index("123456789abcdef", substr(hex, i, 1))
			return sprintf("%08x", value - last)
		}
		!/^ *[0-9a-f]+: / { next }
		{
			if (left > 0 && --left == 0)
				print before(substr($1, 1, length($1) - 1))
			if ($2 ~ /^(call[lq]?|blx?|blr|bctrl|bclrl|jalr?|basr|bras|brasl|bgezal)$/)
				left = 1 + delay
		}' | sort
}

# check_calls NAME PROGRAM STRIPPED GOARCH: frames that have not called are said to have none.
check_calls() {
	"$GOHEAP" debug "$3" -o "$work/debug" && blocks "$work/debug" >"$work/blocks"
	call_ends "$2" "$4" | comm -13 - "$work/blocks" >"$work/left"
	same "$1: every place where they are is a call's last byte" /dev/null "$work/left"
	enough "$1: such places" "$work/blocks" 4000
}

export DUMPFILE WORK=$work
DUMPFILE=$("$tests/build-sample" 1.19 dumpfile)/dumpfile
for release in $(releases "$apart"); do
	for spec in dump 'dump -buildmode=pie'; do
		[ "$spec" = dump ] || is_newest "$release" || continue
		# shellcheck disable=SC2086 # the words of a specification are arguments
		sample "Go $release $spec" "$release" $spec || continue
		check_program "Go $release $spec" "$directory/dump.stripped"
		check_calls "Go $release $spec" "$directory/dump" "$directory/dump.stripped" amd64
	done
done
for arch in $(first arm64 386 arm mips64le ppc64 ppc64le riscv64 s390x); do
	GOARCH=$arch sample "Go 1.19 $arch" 1.19 sample || continue
	check_calls "Go 1.19 $arch" "$directory/sample" "$directory/sample.sw" "$arch"
done
check_machine amd64 env gdb
if needs "other machines" gdb-multiarch; then
	check_machine arm64 qemu-aarch64 gdb-multiarch
fi
if in_full "more machines" && needs "more machines" gdb-multiarch; then
	check_machine 386 env gdb-multiarch
	check_machine arm qemu-arm gdb-multiarch
	check_machine s390x qemu-s390x gdb-multiarch
	check_machine ppc64le qemu-ppc64le gdb-multiarch
	check_machine mips64le qemu-mips64el gdb-multiarch
	check_machine riscv64 qemu-riscv64 gdb-multiarch
fi
finish
