#!/usr/bin/env bash
# Probes that `goheap probes' makes: where they are, against what Go's own disassembler and the DWARF of the unstripped twin say;
# and what bpftrace and perf see by them of a program that prints its own calls, where the kernel has them do so.
. "$(dirname "$0")/lib.sh"
needs "everything" python3 strip || finish
build_twin

probed=(main.area main.many 'main.(*account).pay' 'main.(*account).worth' 'main.(*account).swap' main.deep main.guarded)

# disassembled RELEASE TWIN: rows of its instructions: function, its file, address, text.
disassembled() {
	"$("$tests/toolchain" "$1")/bin/go" tool objdump "$2" | awk -F'\t+' -v OFS='\t' '
		/^TEXT / { split($0, words, "\\(SB\\) "); name = substr(words[1], 6); file = words[2]; next }
		NF > 3 { print name, file, $2, $4 }'
}

# offsets FILE: rows of address and offset on standard input whose offset in the program FILE another tool says is another.
offsets() {
	readelf -lW "$1" | awk '
		function number(text,    i, value) {
			for (i = 3; i <= length(text); i++)
				value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
			return value
		}
		NR == FNR { if ($1 == "LOAD" && / R E /) moved = number($3) - number($2); next }
		number($1) - number($2) != moved' - /dev/fd/3
}

# check_places NAME RELEASE: of the program in $directory.
check_places() {
	local name=$1 twin=$directory/probed names
	disassembled "$2" "$twin" >"$work/instructions"
	"$GOHEAP" funcs --json "$twin.stripped" | python3 "$tests/oracle/probes.py" >"$work/rows"
	awk -F'\t' '$2 !~ /\.s$/ && $4 ~ /^RET/ { print $3 }' "$work/instructions" | sort -u >"$work/expected"
	awk -F'\t' '$1 == "return" && $2 !~ /\.s$/ { print $3 }' "$work/rows" | sort -u >"$work/found"
	holds "$name: return instructions: $(commas "$(wc -l <"$work/expected")")" "too few" [ "$(wc -l <"$work/expected")" -gt 1000 ]
	same "$name: those of all functions" "$work/expected" "$work/found"
	equal "$name: their offsets" "" "$(awk '$1 == "return" { print $3, $4 }' FS='\t' "$work/rows" | offsets "$twin" 3<&0)"

	mapfile -t names < <("$GOHEAP" funcs "$twin.stripped" | awk -F'\t' '$3 ~ /^(main|strconv)\./ && $4 ~ /\.go$/ { print $3 }' |
		grep -vE '\.func[0-9]|init|main\.main$')
	"$GOHEAP" probes "$twin.stripped" "${names[@]}" --for json 2>"$work/why" | python3 "$tests/oracle/probes.py" >"$work/rows"
	equal "$name: functions that are probed" "${#names[@]}" "$(grep -c '^probe' "$work/rows")"
	# Each is an instruction, in the function before anything is called; and behind a jump, where more stack may be asked for, as
	# by the last instructions.
	awk -F'\t' '
		NR == FNR { if ($1 == "probe") probe[$2] = $4; next }
		!($1 in probe) { next }
		$3 == probe[$1] { found[$1] = 1 }
		!found[$1] && $4 ~ /^(CALL|RET|BL |JMP)/ { early[$1] = 1 }
		!found[$1] && $4 ~ /^(J[A-Z]+ |B[A-Z]+ )/ { jumps[$1]++ }
		$4 ~ /runtime\.morestack/ { grows[$1] = 1 }
		END {
			for (name in probe) {
				if (!found[name] || early[name] || grows[name] && !jumps[name] || !grows[name] && jumps[name])
					print name, probe[name], found[name], early[name], grows[name], jumps[name]
				all += grows[name]
			}
			print (all > 10 ? "many" : all) " that grow their stacks"
		}' "$work/rows" "$work/instructions" >"$work/found"
	equal "$name: where they are" "many that grow their stacks" "$(cat "$work/found")"
	equal "$name: their offsets" "" "$(awk -F'\t' '$1 == "probe" { print $4, $5 }' "$work/rows" | offsets "$twin" 3<&0)"

	"$work/twin" args "$twin" | sed 's/ $//' >"$work/theirs"
	awk -F'\t' -v OFS='\t' '
		function address(text) { return sprintf("%16s", substr(text, 3)) }
		NR == FNR { if ($1 == "place") { at[$2] = address($3); ours[$2, $4] = $5 } next }
		$4 ~ /^main\./ && $3 in at && address($1) <= at[$3] && at[$3] < address($2) {
			if (!(($3, $5) in ours))
				missing++
			else if (ours[$3, $5] == $7 || index(ours[$3, $5], $7 ":") == 1)
				same++ # what is whole in memory begins there
			else
				print $4, $6, $7, ours[$3, $5]
		}
		END { print (same > 10 ? "many" : same + 0) " are the same" }' "$work/rows" "$work/theirs" >"$work/found"
	equal "$name: where arguments are there" "many are the same" "$(cat "$work/found")"
}

# calls: what bpftrace has printed, on standard input, as the program prints its calls.
calls() {
	sort -n | awk '
		# By goroutine, the calls that have not returned.
		{
			goroutine = $2 " " $4
			line = $0
			sub(/^[0-9]+ [0-9]+ goroutine [0-9]+: /, "", line)
		}
		line !~ / ns\)$/ {
			depth[goroutine]++
			name = substr(line, 1, index(line, "(arg0=") - 1)
			names[goroutine, depth[goroutine]] = name
			arguments[goroutine, depth[goroutine]] = substr(line, length(name) + 1)
			next
		}
		{
			name = substr(line, 1, match(line, / (returned|=) /) - 1)
			results = substr(line, length(name) + 2)
			if (depth[goroutine] == 0 || names[goroutine, depth[goroutine]] != name || results ~ /\(-1 ns\)$/) {
				print "not entered: " $0
				next
			}
			sub(/ \([0-9]+ ns\)$/, "", results)
			sub(/^returned /, "= ", results)
			print name arguments[goroutine, depth[goroutine]--] " " results
		}
		END { for (goroutine in depth) if (depth[goroutine] > 0) print goroutine " has not returned" }' |
		# Words that the program prints are left; of floating-point numbers there are none.
		sed -E -e 's/\?//g; s/ len [0-9]+//g' -e 's/^(main\.(area|deep|guarded|many).*) = (ax|r0)=(-?[0-9]+) .*/\1 = \4/' \
			-e 's/^(main\.many)\(arg0=(-?[0-9]+),.*\) = /\1 \2 = /' -e 's/\(arg0=0x[0-9a-f]+, /(/; s/\(arg1=, arg2=/(arg2=/' \
			-e 's/\(([a-zA-Z.*]*)\) \{0x[0-9a-f]+, 0x[0-9a-f]+\}/\1/g' -e 's/\(arg[0-9]=/ /; s/, arg[0-9]=/ /g; s/\) = / = /' \
			-e 's/(= ([0-9]+|\{[^}]*\})), /\1 /; s/ $/ nil/' | sort
}

# check_calls NAME ROUNDS: bpftrace prints the calls that the program prints, $program, which ends as it does without.
check_calls() {
	if [ "$numbers" = swapped ]; then
		skip "$1: calls" "bpftrace takes threads for processes in this container"
		return
	fi
	"$GOHEAP" probes "$program" "${probed[@]}" --returns >"$work/script"
	chmod +x "$work/script"
	BPFTRACE_PERF_RB_PAGES=4096 timeout 300 "$work/script" -o "$work/lines" -c "$program $2" >"$work/output" 2>"$work/why"
	has "$1: the program goes on" "$(cat "$work/why")" '^the program has ended well$'
	lacks "$1: bpftrace says nothing else" "$(cat "$work/why")" '^[^ ]*:[0-9]+:[0-9]+|^Lost'
	grep '^main\.' "$work/output" | sed -E 's/^(main\.many -?[0-9]+) -?[0-9]+ /\1 /' | sort >"$work/expected"
	grep -E '^[0-9]+ [0-9]+ goroutine ' "$work/lines" | calls >"$work/found"
	same "$1: $(commas "$(wc -l <"$work/expected")") calls" "$work/expected" "$work/found"
}

# traces: bpftrace can probe programs here, as one that it is told of by hand, whose second thread tells its process. $numbers:
# "right", "swapped" where bpftrace takes it for the thread, else "others".
traces() {
	needs "$1" bpftrace || return
	"$CC" -O0 -x c -pthread -o "$work/traced" - <<-'END' || return
		#include <pthread.h>
		#include <unistd.h>
		int traced(int process) { return process; }
		static void *run(void *unused) { traced(getpid()); return unused; }
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, NULL, run, NULL);
			return pthread_join(thread, NULL);
		}
	END
	timeout 60 bpftrace -c "$work/traced" -e "uprobe:$work/traced:traced { printf(\"traced %d %d %d\\n\", arg0, pid, tid); }" \
		>"$work/output" 2>"$work/why"
	numbers=$(awk '$1 == "traced" { print $2 == $3 ? "right" : $2 == $4 ? "swapped" : "others" }' "$work/output")
	[ -n "$numbers" ] && return
	skip "$1" "bpftrace cannot probe here: $(tail -n 1 "$work/why")"
	return 1
}

# check_perf NAME: perf takes the definitions, and counts the calls.
check_perf() {
	local group=goheap_test_$$
	needs "$1: perf" perf || return
	"$GOHEAP" probes "$program" "${probed[@]:0:3}" --returns --for perf | sed "s/'goheap:/'$group:/" >"$work/commands"
	if ! perf probe -q -x "$work/traced" "$group:traced=traced" 2>"$work/why"; then
		skip "$1: perf" "it defines no probes here: $(tail -n 1 "$work/why")"
		return
	fi
	sh -e "$work/commands" >"$work/why" 2>&1 || fail "$1: perf takes the definitions" "$(cat "$work/why")"
	perf record -q -o "$work/perf" -e "$group:*" "$program" 10 >"$work/output" 2>"$work/why"
	perf script -i "$work/perf" 2>"$work/why" | sed -nE "s/.* $group:(main_[a-z]+).*\) arg0=(0x[0-9a-f]+).*/\1 \2/p" | sort >"$work/found"
	perf probe -q -d "$group:*" 2>"$work/why"
	grep -E '^main\.(area|many)' "$work/output" | awk '{ printf "%s %s\n", $1, $2 }' | sed 's/\./_/' |
		while read -r name first; do printf '%s 0x%x\n' "$name" "$first"; done | sort >"$work/expected"
	grep -v account "$work/found" >"$work/ours"
	same "$1: calls that perf records" "$work/expected" "$work/ours"
}

# check_targets: a process, its core file, and a program that its path does not lead to.
check_targets() {
	local expected process
	mkdir -p "$work/a path" "$work/plain"
	cp "$directory/probed.stripped" "$work/plain/server"
	cp "$directory/probed.stripped" "$work/a path/server"
	has "a path with a space" "$("$GOHEAP" probes "$work/a path/server" main.area 2>&1)" 'copy or link the program$'
	expected=$("$GOHEAP" probes "$work/plain/server" main.area)
	has "the path of the program" "$expected" "^uprobe:$work/plain/server:0x[0-9a-f]+$"
	"$work/plain/server" 100000000 >/dev/null &
	process=$!
	wait_until grep -q server "/proc/$process/maps"
	equal "a process" "$expected" "$("$GOHEAP" probes -p "$process" main.area | sed "/^\/pid == $process || tid == $process\/$/d; s/process = $process;/process = pid;/")"
	equal "a core file" "$expected" "$(cd "$work" && "$GOHEAP" core "$process" -o core 2>why && "$GOHEAP" probes core main.area 2>why)"
	end "$process"
	"$work/a path/server" 100000000 >/dev/null &
	process=$!
	wait_until grep -q server "/proc/$process/maps"
	rm "$work/a path/server"
	"$GOHEAP" probes -p "$process" main.area >"$work/script"
	has "a process whose program is gone" "$(cat "$work/script")" "^uprobe:/proc/$process/exe:0x[0-9a-f]+\$"
	if [ "$1" = traced ] && [ "$numbers" = others ]; then
		skip "calls of that" "bpftrace has other process numbers than this container"
	elif [ "$1" = traced ]; then
		timeout 20 bpftrace --unsafe "$work/script" 2>"$work/why" | head -n 20 >"$work/output"
		has "calls of that" "$(cat "$work/output")" "^[0-9]+ $process goroutine [0-9]+: main\.area\(arg0="
	fi
	end "$process"
}

# check_text TRACED: nothing of a function's name is taken for anything else.
check_text() {
	local name=$'m.%s"\x1b\\$(}`;' escaped
	# shellcheck disable=SC2016 # nothing in it is to be expanded
	LC_ALL=C sed 's/main\.guarded/m.%s"\x1b\\$(}`;/g' "$directory/probed.stripped" >"$work/named"
	chmod +x "$work/named"
	program=$work/named
	"$GOHEAP" probes "$program" "$name" --returns >"$work/script"
	"$GOHEAP" probes "$program" "$name" --returns --for perf >"$work/commands"
	equal "a name for perf" "perf probe -x $program" "$(sed "s/ 'goheap:m_s_[a-z0-9_]*=0x[0-9a-f]*\( [a-z]*[0-9]=%[a-z0-9]*:x64\)*'\$//" "$work/commands" | sort -u)"
	equal "no control characters" "" "$(cat "$work/script" "$work/commands" | raw)"
	[ "$1" = traced ] || return
	bpftrace --unsafe -c "$program 3" -o "$work/lines" "$work/script" >"$work/output" 2>"$work/why"
	escaped=$("$GOHEAP" funcs "$program" | cut -f 3 | grep -F 'm.%s"' | head -n 1)
	equal "a name in bpftrace's lines" "3" "$(grep -cF ": $escaped(arg0=" "$work/lines")"
}

check_refusals() {
	local program=$directory/probed.stripped
	has "no function" "$("$GOHEAP" probes "$program" 2>&1)" 'no function is named'
	has "no such function" "$("$GOHEAP" probes "$program" main.nothing 2>&1)" 'no function is called main\.nothing'
	has "several" "$("$GOHEAP" probes "$program" Error 2>&1)" 'functions are called so; name one:'
	has "an inlined one" "$("$GOHEAP" probes "$program" main.errorName 2>&1)" 'inlined wherever it is called'
	has "assembly" "$("$GOHEAP" probes "$program" runtime.memmove 2>&1)" 'is in assembly'
	has "one that never returns" "$("$GOHEAP" probes "$program" runtime.forcegchelper --returns 2>&1)" 'never returns'
	has "a histogram of perf's" "$("$GOHEAP" probes "$program" main.area --latency --for perf 2>&1)" 'for bpftrace alone'
	GOARCH=386 sample "386" 1.19 probed && has "386" "$("$GOHEAP" probes "$directory/probed.stripped" main.area 2>&1)" 'amd64 and arm64'
	sample "Go 1.15" 1.15 probed && has "Go 1.15" "$("$GOHEAP" probes "$directory/probed.stripped" main.area 2>&1)" 'Go 1\.18 and later'
}

# finders FILE: the tools that find the functions of the program FILE by name.
finders() {
	local process found=
	perf probe -x "$1" --funcs 2>"$work/why" | grep -qx main.deep && found+=" perf"
	bpftrace -l "uprobe:$1:main.deep" 2>"$work/why" | grep -q deep && found+=" bpftrace"
	"$1" 100000000 >/dev/null 2>&1 &
	process=$!
	wait_until grep -q server "/proc/$process/maps"
	sleep 0.5
	eu-stack -p "$process" 2>"$work/why" | grep -qE ' (runtime|main)\.' && found+=" eu-stack"
	end "$process"
	echo "${found:- none}"
}

# check_finders: the table of them in goheap(1).
check_finders() {
	local release programs row column
	needs "tools that find functions by name" perf bpftrace eu-stack || return
	mkdir "$work/found.d"
	for release in 1.19 1.24; do
		programs=$work/programs-$release
		mkdir -p "$programs/debug"
		sample "Go $release" "$release" probed || return
		cp "$directory/probed.stripped" "$programs/server"
		"$GOHEAP" unstrip "$programs/server" -o "$programs/server.whole" 2>"$work/why"
		"$GOHEAP" debug "$programs/server" --install="$programs/debug" 2>"$work/why"
		finders "$programs/server" >"$work/found.d/stripped"
		export -f finders wait_until end
		work=$work unshare -m bash -c "mount --bind '$programs/debug' /usr/lib/debug && finders '$programs/server'" \
			>"$work/found.d/debug --install"
		"$GOHEAP" debug "$programs/server" -o "$programs/server.debug" 2>"$work/why"
		finders "$programs/server" >"$work/found.d/FILE.debug beside it"
		finders "$programs/server.whole" >"$work/found.d/unstrip"
		for row in stripped 'FILE.debug beside it' 'debug --install' unstrip; do
			echo "$release: $row: $(sed 's/^ //' "$work/found.d/$row")"
		done
	done >"$work/found"
	sed -n '/^ *Go 1.19 *Go 1.24$/,/^\.fi$/{ s/\\-/-/g; s/   */\t/g; /^[^.\t]/p; }' "$tests/../plugin/goheap.1" >"$work/table"
	for column in 2 3; do
		awk -F'\t' -v column="$column" '{ print (column == 2 ? "1.19" : "1.24") ": " $1 ": " $column }' "$work/table"
	done >"$work/expected"
	same "tools that find functions by name" "$work/expected" "$work/found"
}

traced=no numbers=
traces "calls of programs" && traced=traced
for release in $(formats 1.19 1.24 1.27); do
	for machine in amd64 arm64; do
		name="Go $release, $machine"
		GOARCH=$machine sample "$name" "$release" probed || continue
		check_places "$name" "$release"
		[ "$traced $(uname -m) $machine" = "traced x86_64 amd64" ] || continue
		# Its processes are this test's alone.
		program=$work/probed
		cp "$directory/probed.stripped" "$program"
		check_calls "$name" "$(is_full && echo 400 || echo 40)"
		is_newest "$release" && check_perf "$name"
	done
	if is_newest "$release" && sample "Go $release, PIE" "$release" probed -buildmode=pie; then
		check_places "Go $release, PIE" "$release"
		cp "$directory/probed.stripped" "$work/probed"
		[ "$traced" = no ] || check_calls "Go $release, PIE" 40
	fi
done
if sample "targets" 1.19 probed; then
	check_targets "$traced"
	check_text "$traced"
	check_refusals
fi
[ "$traced" = no ] || ! in_full "tools that find functions by name" || check_finders
finish
