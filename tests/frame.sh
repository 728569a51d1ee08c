#!/usr/bin/env bash
# shellcheck disable=SC2317 # some functions are called by name
# What `goheap frame' shows: arguments where functions begin against what the program prints of them, and against GDB on the
# unstripped twin; the same later, from frames of their callees; pointers against the heap dump's own lists. What is only
# likely has a question mark. And what finish shows of results without a type.
. "$(dirname "$0")/lib.sh"
session_home

# asks PROGRAM: has GDB do what is in $work/commands, with goheap. What GDB and goheap say is in $work/output.
asks() {
	goheap "$1" "source $work/commands" >"$work/output"
}

# arguments: the arguments in $work/output, a row each.
arguments() {
	sed -nE 's/^(arg[0-9]+) = (.*)/\1\t\2/p' "$work/output"
}

# check_told NAME: where methods begin, against what they print themselves.
check_told() {
	local method
	{
		# A function that a signal stops where it begins does so twice.
		echo 'set env GODEBUG=asyncpreemptoff=1'
		for method in words numbers pointers structs constants beyond; do
			echo "break main.(*point).$method"
		done
		printf '%s\n' "run arguments >$work/told" 'goheap frame --limit 0 --depth 20'
		for method in 1 2 3 4 5; do
			printf '%s\n' continue 'goheap frame --limit=0 --depth=20 0'
		done
		printf '%s\n' 'tbreak main.arguments' continue 'echo caller\n' 'goheap frame 1' continue
	} >"$work/commands"
	asks "$directory/printed.stripped"
	# The last argument of a method there is a channel, whose address is not told.
	sed -n '/^caller/,$p' "$work/output" >"$work/caller"
	sed -i '/^caller/,$d' "$work/output"
	arguments | grep -v 'chan int' >"$work/found"
	same "$1: arguments that the program prints ($(wc -l <"$work/told"))" "$work/told" "$work/found"
	# Where a method begins its type tells all of it.
	if [ "$1" != "Go 1.15" ]; then
		has "$1: an argument of which a word is not told" "$(cat "$work/caller")" '^arg9 = \{0x[0-9a-f]+, \.\.\.\}\?$'
	fi
}

# passed: the rows of a session on standard input: each stop in main.pause, with the arguments of the function of main.main's
# below which it is, in their order. After "begins" are those where the function began, after "pauses" those at the stop.
passed() {
	awk -v OFS='\t' '
		/^begins/ { n = left_out = pauses = 0; next }
		/^#2 .* in main\.(pointed|array) / { left_out = 1; next }
		left_out && / = / { next }
		/^pauses/ { for (i = 0; i < n; i++) print stop + 0 "|" i, value[i]; stop++; i = 0; pauses = 1; next }
		/^~r[0-9]* = / { next }
		/^[a-z0-9]+ = / { sub(/^[a-z0-9]+ = /, ""); if (pauses) print stop - 1 "|" i++, $0; else value[n++] = $0 }'
}

# session PAUSES [BEGINS]: the commands of a session that does PAUSES in main.pause, and BEGINS where functions of main.main's
# begin. They are no commands of breakpoints: GDB 18.1 may leave those out where others before took a while.
session() {
	local functions=(pause)
	[ $# -eq 1 ] || functions=(kept once unused countdown changed swapped escaped escaped.func1 floats structs many branch
		variadic '(*large).method' '(*large).first' pause)
	printf '%s\n' 'set width 0' 'set env GODEBUG=asyncpreemptoff=1'
	printf 'break main.%s\n' "${functions[@]}"
	# The program ends by another signal than that of breakpoints.
	# shellcheck disable=SC2016 # GDB's variables
	printf '%s\n' 'info breakpoints $bpnum' 'set $pause = $_' 'run >/dev/null' 'while $_siginfo.si_signo == 5' \
		'if $pc == $pause' "$1" else 'echo begins\n' "${2-}" end continue end
}

# check_passed NAME: of functions in outer frames is shown what they were called with, or what the variable is by then, or
# nothing, and that with a question mark; the words of where they begin are shown without one. Left out are a function whose
# argument is changed through a pointer, and one with an argument of no size, which is not shown.
check_passed() {
	session $'echo pauses\\n\nframe apply level 2 -q info args' 'info args' >"$work/commands"
	run_gdb -x "$work/commands" "$directory/args" | passed >"$work/expected"
	session $'echo begins\\n\ngoheap frame 2\necho pauses\\n' >"$work/commands"
	asks "$directory/args.stripped"
	passed <"$work/output" >"$work/found"
	equal "$1: arguments in outer frames without a question mark" "" \
		"$(cut -f 2 "$work/found" | grep -v -e '?$' -e '^<optimized out>$')"
	compare_passed "$1: arguments in outer frames" 50
	session 'echo pauses\n' 'goheap frame' >"$work/commands"
	asks "$directory/args.stripped"
	passed <"$work/output" | sed 's/[^"?]$/&?/' >"$work/found"
	compare_passed "$1: arguments where functions begin" 90
	has "$1: numbers where a function begins" "$(cat "$work/output")" '^arg9 = 10$'
	has "$1: an argument of six words" "$(cat "$work/output")" '^arg1 = \{0x[0-9a-f]+, 4, 4, 5, 6, 249\}$'
	has "$1: an argument of which a word is not told" "$(cat "$work/output")" '^arg2 = \{0x[0-9a-f]+, 2, \.\.\.\}$'
}

# compare_passed NAME LEAST: each of our values that is a number or a string of some length is one that the twin has, and so
# many are.
compare_passed() {
	awk -F'\t' '
		NR == FNR { theirs = $2; sub(/^0x[0-9a-f]+ /, "", theirs); if (theirs !~ /^"/) sub(/ .*/, "", theirs); has[$1, theirs "?"]; known[$1]; next }
		$2 ~ /^(-?[0-9.]+|".+")\?$/ && $1 in known { if (($1, $2) in has) equal++; else differs = differs $0 "\n" }
		END { print equal + 0; printf "%s", differs }' "$work/expected" "$work/found" >"$work/rows"
	equal "$1 that the twin has not" "" "$(sed 1d "$work/rows")"
	holds "$1: $(head -n 1 "$work/rows")" "$(cat "$work/rows" "$work/found")" [ "$(head -n 1 "$work/rows")" -ge "$2" ]
}

# check_dump NAME: the frames of a heap dump: pointers are those of the dump's lists; what the program has in its frames.
check_dump() {
	"$directory/dump.stripped" "$work/dump" "$work/stacks" >"$work/why"
	# What GDB itself prints may come later than what it runs does.
	printf '%s\n' 'define frames' 'pipe thread | cat' 'frame apply 7 -s goheap frame' end "goheap load $work/dump" \
		'thread apply all -q frames' >"$work/commands"
	asks "$directory/dump.stripped"
	"$dumpfile" fields "$work/dump" | cut -f 1,3,4 | sort -u >"$work/expected"
	sed -nE 's/^\[Current thread is [0-9]+ \(LWP ([0-9]+).*/thread \1/p; s/^(sp)_(0x[0-9a-f]+) = (0x[0-9a-f]+)$/\1 \2 \3/p' "$work/output" |
		awk -v OFS='\t' '/^thread/ { id = $2; next } { print id, $2, $3 }' | sort -u >"$work/found"
	same "$1: pointers that are not in the dump's lists" /dev/null <(comm -13 "$work/expected" "$work/found")
	holds "$1: pointers: $(wc -l <"$work/found")" "$(cat "$work/output")" [ "$(wc -l <"$work/found")" -gt 30 ]
	has "$1: an argument that looks like a string" "$(cat "$work/output")" '^arg1 = "locals"\?$'
	has "$1: words that look like an interface" "$(cat "$work/output")" '^sp_0x[0-9a-f]+ = interface \{\}\(string\) "being recovered"\?$'
	lacks "$1: what leads nowhere is no interface" "$(cat "$work/output")" 'interface.*unreadable'
}

# in_shell WHAT ARG...: the frames of the goroutine that is in main.locals, which is called with 21 and "locals", of what ARGs
# are, and frame 1 alone.
in_shell() {
	local id text shown
	id=$("$GOHEAP" goroutines -1 "${@:2}" | sed -nE 's/^goroutine ([0-9]+) .*main\.locals.*/\1/p')
	text=$("$GOHEAP" frame "${@:2}" "$id" 2>&1)
	equal "$1: the goroutine alone" "$("$GOHEAP" goroutines "${@:2}" 2>/dev/null | sed -n "/^goroutine $id /,/^\$/p")" \
		"$("$GOHEAP" goroutines "${@:2}" "$id" 2>/dev/null)"
	has "$1: no such goroutine" "$("$GOHEAP" goroutines "${@:2}" 2400 2>&1)" '^goheap: there is no goroutine 2400$'
	has "$1: the frame" "$text" "^#[0-9]+ +0x[0-9a-f]+ in main\.locals at $tests/samples/dump/main\.go:187$"
	has "$1: an argument" "$text" '^arg1 = "locals"\?$'
	has "$1: the last frame" "$text" '^#[0-9]+ +0x[0-9a-f]+ in runtime\.goexit '
	equal "$1: one frame" "$(sed -n '/^#1 /,/^#2 /p' <<<"$text" | sed '$d')" "$("$GOHEAP" frame "${@:2}" "$id" 1)"
	has "$1: no such frame" "$("$GOHEAP" frame "${@:2}" "$id" 99 2>&1)" "^goheap: goroutine $id has [0-9]+ frames, from 0 on$"
	shown=$(sed -nE 's/^see goheap (print .*) \(its type, .*/\1/p' <<<"$text")
	has "$1: an object without a type in the frame" "$text" "= ${shown##* }\??\$"
	# shellcheck disable=SC2086 # It is words.
	has "$1: what the command that shows it prints" "$("$GOHEAP" $shown 2>&1)" '^(\*|\[\]|map|func|chan|main|struct|[a-z]+\.)'
}

# check_shell NAME: of a heap dump, a process and its core file.
check_shell() {
	"$directory/dump.stripped" "$work/dump" "$work/stacks" >"$work/why"
	in_shell "$1: a heap dump in the shell" -e "$directory/dump.stripped" "$work/dump"
	run_until_ready "$directory/dump.stripped" wait
	in_shell "$1: a process in the shell" -p "$pid"
	gcore -o "$work/core" "$pid" >"$work/why" 2>&1
	exec 7>&-
	wait "$pid" 2>"$work/why"
	in_shell "$1: a core file in the shell" -e "$directory/dump.stripped" "$work/core.$pid"
	printf '%s\n' "core-file $work/core.$pid" \
		"goheap goroutine $("$GOHEAP" goroutines -1 "$work/core.$pid" -e "$directory/dump.stripped" | sed -nE 's/^goroutine ([0-9]+) .*main\.locals.*/\1/p')" \
		'frame function main.locals' 'echo at\n' 'goheap print arg0' 'goheap print arg1' 'goheap print --json arg1' \
		'goheap print string arg1' 'goheap print --json string arg1' 'goheap print []int arg1' 'goheap print main.None arg1' >"$work/commands"
	asks "$directory/dump.stripped"
	equal "$1: arguments that have no type that is known" '21? "locals"? goheap: arg1 has no type that is known' \
		"$(sed '1,/^at$/d' "$work/output" | head -n 3 | paste -sd ' ')"
	same "$1: arguments as the type that is asked for" <(printf '%s\n' '"locals"?' '{"perhaps":true,"type":"string","value":"locals"}' \
		'goheap: []int: expected a value of its size, found 16 bytes, not 24' \
		"goheap: $directory/dump.stripped: expected a type that the program describes, found none called main.None") \
		<(sed '1,/^at$/d' "$work/output" | tail -n +4)
	has "$1: no such goroutine" "$("$GOHEAP" frame -e "$directory/dump.stripped" "$work/dump" 2400 2>&1)" '^goheap: there is no goroutine 2400$'
}

# check_finish NAME: results without a type are words.
check_finish() {
	# shellcheck disable=SC2016 # GDB's
	printf '%s\n' 'break main.call' 'run >/dev/null' finish 'printf "rax %ld\n", $rax' 'goheap frame 99' 'goheap frame 1x' up \
		'goheap frame' 'goheap print int $sp' frame kill 'goheap frame' >"$work/commands"
	asks "$directory/args.stripped"
	equal "$1: the word that is returned" "$(sed -n 's/^rax //p' "$work/output")" \
		"$(sed -nE 's/^Value returned: ([-0-9]+)\?, .*/\1/p' "$work/output")"
	has "$1: no such frame" "$(cat "$work/output")" '^There is no such frame\.$'
	has "$1: no number of a frame" "$(cat "$work/output")" '^usage: goheap frame '
	has "$1: which frames these are" "$(cat "$work/output")" ': goheap goroutine ID selects one$'
	equal "$1: the frame stays selected" 3 "$(grep -cE '^#1 .* in main\.main ' "$work/output")"
	has "$1: no process" "$(tail -n 1 "$work/output")" 'No stack\.$'
}

# check_arm64 RELEASE: on arm64, under QEMU, where methods begin, and what finish shows of results: against what the program prints.
check_arm64() {
	local name="Go $1, arm64"
	needs "$name" gdb-multiarch qemu-aarch64-static || return
	GOARCH=arm64 CGO_ENABLED=0 sample "$name" "$1" printed || return
	# QEMU 7.2 loses the connection now and then.
	for _ in 1 2 3; do
		{
			printf 'break main.(*point).%s\n' words numbers pointers structs constants beyond
			for _ in 1 2 3 4 5 6; do
				printf '%s\n' continue 'goheap frame --limit=0 --depth=20'
			done
			echo continue
		} >"$work/commands"
		on_arm64 "$directory/printed.stripped" arguments <"$work/commands"
		arguments | grep -v 'chan int' >"$work/found"
		cmp -s "$work/told" "$work/found" && break
	done
	same "$name: arguments that the program prints ($(wc -l <"$work/told"))" "$work/told" "$work/found"
	for _ in 1 2 3; do
		{
			printf 'tbreak main.gift.%s\n' numbers texts pointers structs many nothing recursive
			for _ in 1 2 3 4 5 6 7; do
				printf '%s\n' continue finish
			done
			echo continue
		} >"$work/commands"
		on_arm64 "$directory/printed.stripped" results <"$work/commands"
		grep '^Value returned' "$work/output" >"$work/found"
		cmp -s "$work/told" "$work/found" && break
	done
	same "$name: what $(wc -l <"$work/told") calls have returned" "$work/told" "$work/found"
	GOARCH=arm64 CGO_ENABLED=0 sample "$name" "$1" args || return
	# shellcheck disable=SC2016 # GDB's
	printf '%s\n' 'break main.call' continue finish 'printf "x0 %ld\n", $x0' kill >"$work/commands"
	on_arm64 "$directory/args.stripped" <"$work/commands"
	equal "$name: the word that is returned" "$(sed -n 's/^x0 //p' "$work/output")" \
		"$(sed -nE 's/^Value returned: ([-0-9]+)\?, .*  \(X0, X1 and X2; .*/\1/p' "$work/output")"
}

build_dumpfile
for release in $(releases 1.15 1.19 1.27); do
	for check in printed:told args:passed args:finish dump:dump dump:shell; do
		# Before Go 1.18 the arguments of methods alone are known.
		[ "$release ${check#*:}" = "1.15 told" ] || [ "$release" != 1.15 ] || continue
		CGO_ENABLED=0 sample "Go $release" "$release" "${check%:*}" || continue
		"check_${check#*:}" "Go $release"
	done
	[ "$release" = 1.15 ] || check_arm64 "$release"
done
finish
