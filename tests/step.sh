#!/usr/bin/env bash
# Stepping follows the goroutine, whichever thread it is on and wherever its stack is: twenty goroutines
# run the same function, which blocks in the usual ways, and the counter that one of them writes tells whether
# it is that one that was stepped through. Delve, with the unstripped twin, steps through the same lines.
#
# STEPS is how many times `next' is said: by itself 200 with Debian's own release, 60 with others. How many processors there
# are matters to GDB and to the runtime's scheduler, not to what differs between the releases.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" gdb || finish
source=$tests/samples/steps/main.go

# times COUNT COMMAND...: fills commands with COUNT times the commands.
times() {
	local count=$1 i
	shift
	commands=()
	for ((i = 0; i < count; i++)); do
		commands+=("$@")
	done
}

# in_worker PROGRAM COMMAND...: a session whose goroutine has just returned from its third call of record.
# What it printed up to there is left out.
in_worker() {
	local program=$1
	shift
	goheap "$program" "tbreak main.record" "run $work/counts >/dev/null" \
		"eval \"break main.record if goid == %d\", goid" continue continue 'info args' delete finish 'echo begin\n' "$@" \
		>"$work/session"
	sed '1,/^begin$/d' "$work/session"
}

# lines: where the session on standard input stopped: the numbers of the source's lines.
lines() {
	sed -nE 's/^([0-9]+)\t.*/\1/p'
}

# written ID: how many rounds the goroutine has written that has written that the program calls ID.
written() {
	awk -v id="$1" '$1 == id { last = $2 } END { print last + 0 }' "$work/counts"
}

# check_next NAME PROGRAM: the lines come in their order, round by round, and the rounds are those of one goroutine.
check_next() {
	local session id round record rounds
	record=$(line_of 'record(file, id, i)')
	times "$steps" next 'printf "goroutine %d\n", goid'
	session=$(in_worker "$2" 'printf "goroutine %d\n", goid' "${commands[@]}" 'print _goheap_hold' kill)
	equal "$1: $steps next: goroutines" 1 "$(grep '^goroutine ' <<<"$session" | sort -u | wc -l)"
	equal "$1: $steps next: stops" "$steps" "$(lines <<<"$session" | wc -l)"
	lines <<<"$session" >"$work/lines"
	equal "$1: $steps next: lines out of order" "" "$(awk -v first="$(line_of 'for i := 0')" \
		-v last="$(line_of 'sums <- sum')" -v unlock="$(line_of 'mutex.Unlock()')" '
		# A call that was inlined into a line comes between two stops there.
		NR > 1 && $1 != at + 1 && !(at == last && $1 == first) && !(at == unlock + 1 && $1 == unlock) &&
			!(at == unlock && $1 == unlock) { print at, $1 }
		{ at = $1 }' "$work/lines")"
	lacks "$1: $steps next: nothing else is shown" "$session" \
		'sigtramp|SIGURG|hit |Breakpoint|Switching to goroutine|Error|warning'
	has "$1: $steps next: the goroutine is not left locked" "$session" '^\$[0-9]+ = 1$'
	# The goroutine's own rounds, told by its arguments where the program's tables have them.
	id=$(sed -nE 's/^(arg1|id) = ([0-9]+)$/\2/p' "$work/session")
	if [ -n "$id" ]; then
		round=$(sed -nE 's/^(arg2|i) = ([0-9]+)$/\2/p' "$work/session")
		rounds=$(grep -c "^$record\$" "$work/lines")
		[ "$(tail -n 1 "$work/lines")" = "$record" ] && rounds=$((rounds - 1))
		equal "$1: $steps next: the program's own count" $((round + rounds)) "$(written "$id")"
	fi
}

# check_finish NAME PROGRAM: calls that block, and calls that have the stack grow, are left in their own goroutine.
check_finish() {
	local session
	times "$finishes" "eval \"tbreak main.deep if goid == %d\", goid" continue finish 'printf "goroutine %d\n", goid' \
		"eval \"tbreak main.record if goid == %d\", goid" continue finish 'printf "goroutine %d\n", goid'
	session=$(in_worker "$2" "${commands[@]}" kill)
	equal "$1: $((2 * finishes)) finish: goroutines" 1 "$(grep '^goroutine ' <<<"$session" | sort -u | wc -l)"
	equal "$1: $((2 * finishes)) finish: in the caller" $((2 * finishes)) "$(grep -Ec '^(0x[0-9a-f]+ in )?main\.worker \(' <<<"$session")"
}

# check_step NAME PROGRAM: through the library and the runtime. From runtime.newstack, which goes on elsewhere than it was called
# from, GDB does not come back, with goheap or without: in the twin of Go 1.27 that comes before the end.
check_step() {
	local session patience=45
	times 50 step 'printf "goroutine %d\n", goid'
	session=$(in_worker "$2" "${commands[@]}" kill)
	equal "$1: 50 step: goroutines" 1 "$(grep '^goroutine [1-9]' <<<"$session" | sort -u | wc -l)"
	[ "$(grep -c '^goroutine ' <<<"$session")" -eq 50 ] || has "$1: 50 step: no end of them but that" \
		"$(grep -E '^[0-9]+[[:space:]]' <<<"$session" | tail -n 1)" 'CALL.*runtime·newstack'
	lacks "$1: 50 step: no signal's handler" "$session" 'sigtramp|SIGURG'
}

# check_chosen NAME PROGRAM: a goroutine that waits is shown, and one of its calls is finished, in whichever thread that returns;
# or what an inlined call has called. The selected thread may meanwhile recover from another goroutine's panic, at which
# GDB stops; and a goroutine that runs may have main.worker alone, which never returns.
# shellcheck disable=SC2016 # GDB expands these, not the shell
check_chosen() {
	local session right others unlock
	unlock=main.go:$(line_of 'mutex.Unlock()')
	times 8 "eval \"tbreak $unlock if goid != %lu\", \$chosen" continue \
		'eval "goheap goroutine %lu", $chosen' 'frame 2' 'info locals' 'info args' 'backtrace 6' up down finish \
		'printf "goroutines %lu, %lu\n", $chosen, goid' 'info breakpoints'
	session=$(goheap "$2" "break $unlock" "run $work/counts >/dev/null" 'set variable $chosen = goid' "ignore 1 4" continue \
		delete 'echo begin\n' "${commands[@]}" kill | sed '1,/^begin$/d')
	right=$(grep -cE '^goroutines ([0-9]+), \1$' <<<"$session")
	others=$(grep -cE '^((0x[0-9a-f]+ in )?main\.try|runtime\.goexit) \(' <<<"$session")
	if [ $((right + others)) -ge 8 ] && [ "$right" -ge 4 ]; then
		ok "$1: finish in the goroutine chosen: $right of 8"
	else
		fail "$1: finish in the goroutine chosen" "$session"
	fi
	# Where inlined calls end with that one, the caller is what they are inlined into, which has no address of its own.
	equal "$1: finish leads to the caller" "$right" "$(awk '
		{ name = $0; sub(/^(#[0-9]+ +)?(0x[0-9a-f]+ in )?/, "", name); sub(/ \(.*/, "", name) }
		/^goroutine / { split("", frames) }
		/^#([123]|[45]  [^0])/ { frames[name]; next }
		/^(0x[0-9a-f]+ in )?[^ ]+ \(.* at / { is_there = name in frames }
		/^goroutines / { split($2, id, ","); count += is_there && id[1] == $3 }
		END { print count + 0 }' <<<"$session")"
	lacks "$1: no breakpoint is left" "$session" '_goheap_goid'
	# Frame 0 stays the thread's own, whose variables are not to be had then; it may be where a panic was recovered.
	lacks "$1: and none is shown" "$(awk '/^#/ { on = 1 } /^goroutines / { on = 0 } on' <<<"$session" | grep -v -e "$unlock" -e '^#0 ')" \
		'reakpoint|invalid|[Ee]rror'
}

# check_shown NAME PROGRAM: what steps through the selected thread while another goroutine is shown says so, once, and what leads
# that one to a line.
# shellcheck disable=SC2016 # GDB expands these, not the shell
check_shown() {
	local session command unlock
	unlock=main.go:$(line_of 'mutex.Unlock()')
	for command in next step until "advance main.go:$(line_of 'sums <- sum')" "until $unlock" stepi nexti; do
		session+=$(goheap "$2" "tbreak $unlock" "run $work/counts >/dev/null" 'set variable $chosen = goid' \
			"tbreak $unlock if goid != \$chosen" continue 'eval "goheap goroutine %lu", $chosen' "frame 3" 'echo begin\n' \
			"$command" "echo again\\n" next kill | sed '1,/^begin$/d')$'\n'
	done
	lacks "$1: with another goroutine shown: no errors" "$session" 'invalid|[Ee]rror'
	equal "$1: with another goroutine shown: that is said" 7 \
		"$(grep -cE '^\[The selected thread goes on\. To follow goroutine ([0-9]+): finish, or goheap break PLACE goroutine \1, then continue\]$' <<<"$session")"
	session=$(goheap "$2" "tbreak $unlock" "run $work/counts >/dev/null" 'set variable $chosen = goid' \
		"tbreak $unlock if goid != \$chosen" continue "eval \"goheap break $unlock goroutine %lu\", \$chosen" 'echo begin\n' \
		continue 'printf "goroutines %lu, %lu\n", $chosen, goid' kill | sed '1,/^begin$/d')
	has "$1: and what is said leads it there" "$session" '^goroutines ([0-9]+), \1$'
}

# check_other NAME PROGRAM: where another goroutine meets a breakpoint meanwhile, that is said; and stepping goes on
# from there.
check_other() {
	local session
	times 5 next
	session=$(in_worker "$2" "eval \"tbreak main.go:$(line_of 'mutex.Unlock()') if goid != %d\", goid" \
		next next next next next "${commands[@]}" kill)
	has "$1: a breakpoint that another goroutine meets" "$session" '^\[Switching to goroutine [0-9]+\]$'
	equal "$1: stops" 10 "$(lines <<<"$session" | wc -l)"
}

# check_unwound NAME PROGRAM: a panic leaves the frame that is stepped through: the goroutine is found again where it
# was recovered.
check_unwound() {
	local session
	"$GOHEAP" debug "$2" -o "$work/debug"
	if ! readelf --notes "$work/debug" 2>&1 | grep -q stapsdt; then
		skip "$1: a panic" "goheap does not know how its runtime.recovery goes on"
		return
	fi
	session=$(goheap "$2" "tbreak main.fail" "run $work/counts >/dev/null" 'printf "goroutine %d\n", goid' next next next \
		'printf "goroutine %d\n", goid' 'info breakpoints' kill)
	has "$1: a panic: where it was recovered" "$session" '^(0x[0-9a-f]+ in )?main\.try \('
	equal "$1: a panic: goroutines" 1 "$(grep '^goroutine ' <<<"$session" | sort -u | wc -l)"
	has "$1: nothing is left behind" "$session" '^No breakpoints[, ].*watchpoints.*\.$'
}

# check_ended NAME PROGRAM: the goroutine that is stepped through ends: that is said where the program stops next.
check_ended() {
	local session
	# shellcheck disable=SC2016 # GDB knows it
	session=$(goheap "$2" "tbreak main.brief" "run $work/counts >/dev/null" 'printf "goroutine %d\n", goid' finish finish \
		'break main.brief' 'ignore $bpnum 9' next 'printf "held %d\n", $goheap_held' kill)
	has "$1: a goroutine that ends" "$session" \
		"^\[Goroutine $(sed -n 's/^goroutine \([0-9]*\)$/\1/p' <<<"$session") has ended\]$"
	has "$1: a goroutine that ends: nothing is held" "$session" '^held 0$'
}

# moved: lines on standard input without the one where stepping began, at which Delve may stop for others, too.
moved() {
	awk -v first="$(line_of 'record(file, id, i)')" '$1 != first || begun { begun = 1; print }'
}

# check_delve TWIN PROGRAM: the lines are those that Delve stops at in the twin.
check_delve() {
	local i
	{
		echo "break $source:$(line_of 'record(file, id, i)')"
		echo "continue"
		echo "clearall"
		for ((i = 0; i < 24; i++)); do echo next; done
		echo "exit -c"
	} >"$work/delve"
	timeout -k 5 "$patience" dlv exec --check-go-version=false --allow-non-terminal-interactive=true \
		--init "$work/delve" "$1" -- "$work/counts" </dev/null 2>&1 |
		sed -nE 's/^> main\.worker\(\) .*main\.go:([0-9]+) .*/\1/p' | moved >"$work/expected"
	times 24 next
	goheap "$2" "tbreak main.go:$(line_of 'record(file, id, i)')" "run $work/counts >/dev/null" \
		'echo begin\n' "${commands[@]}" kill | sed '1,/^begin$/d' | lines | moved >"$work/found"
	has "$name: Delve: stops" "$(wc -l <"$work/expected")" '^2[0-9]$'
	same "$name: 24 next: the lines that Delve stops at in the twin" "$work/expected" "$work/found"
}

# in_body: of lines' numbers those of statements in loops' bodies, and of what follows the loops, without repetitions: the code of a
# line may be in several pieces, and what begins and ends loops is mixed with iterators.
in_body() {
	grep -nvE 'for |func |^\s*}|^$|if x == 1|continue' "$source" | cut -d : -f 1 >"$work/statements"
	grep -xFf "$work/statements" | uniq
}

# check_loops RELEASE: loops over iterators are stepped through in their bodies, those of this call alone, and so Delve does it in
# the twin; what the iterators do is not shown. The runtime takes no coroutine that is switched to from a locked goroutine.
check_loops() {
	local source=$tests/samples/ranges/main.go name="Go $1, loops over iterators" function count session delve
	local counts="walk:13 simple:9 nested:20 find:9 again:15"
	sample "$name" "$1" ranges || return
	commands=()
	: >"$work/delve"
	for function in $counts; do
		count=${function#*:} function=main.${function%:*}
		commands+=("tbreak $function" continue "echo in $function\n")
		printf '%s\n' "break $function" continue clearall >>"$work/delve"
		for ((; count > 0; count--)); do
			commands+=(next)
			echo next >>"$work/delve"
		done
		commands+=("echo out\n")
	done
	session=$(goheap "$directory/ranges.stripped" "tbreak main.main" run "${commands[@]}" "tbreak main.pull" continue "info breakpoints" \
		next next next next next next next next continue)
	lacks "$name: nothing else is shown" "$(sed -n '/^in /,/^out$/p' <<<"$session")" 'hit |Breakpoint|[Ee]rror|goheap|warning'
	has "$name: no breakpoint is left" "$session" '^No breakpoints[, ].*watchpoints.*\.$'
	lacks "$name: coroutines" "$session" "fatal error"
	has "$name: what the program prints" "$session" '^6 7 14 3 36 6 5$'
	if ! delve=$("$tests/debian-program" delve usr/bin/dlv sid 2>"$work/why"); then
		skip "$name: Delve" "$(tail -n 1 "$work/why")"
		return
	fi
	timeout -k 5 "$patience" "$delve" exec --check-go-version=false --allow-non-terminal-interactive=true \
		--init "$work/delve" "$directory/ranges" </dev/null >"$work/theirs" 2>&1
	for function in $counts; do
		function=main.${function%:*}
		sed -n "/^in $function$/,/^out$/p" <<<"$session" | lines | in_body >"$work/found"
		sed -nE "s/^> (\[[^]]*\] )?$function(-range[0-9]+)*\(.*main\.go:([0-9]+) .*/\3/p" "$work/theirs" | in_body >"$work/expected"
		# The steps of either may end sooner.
		count=$(wc -l "$work/found" "$work/expected" | awk 'NR == 1 || $1 < least { least = $1 } END { print least + 0 }')
		[ "$count" -ge 4 ] || fail "$name: $function: steps" "$(paste "$work/expected" "$work/found")"
		same "$name: $function: the lines that Delve stops at in the twin" <(head -n "$count" "$work/expected") \
			<(head -n "$count" "$work/found")
	done
}

for release in $(releases "$apart"); do
	((${release#1.} < 23)) || check_loops "$release"
	sample "Go $release" "$release" steps || continue
	steps=${STEPS:-60} finishes=8 all_processors=8
	is_full || steps=${STEPS:-30} finishes=4
	[ "$release" != 1.19 ] || ! is_full || steps=${STEPS:-100} finishes=15 all_processors="1 8"
	for program in steps.stripped steps; do
		[ $program = steps.stripped ] || is_newest_or_debian "$release" || continue
		name="Go $release, $program"
		for processors in $all_processors; do
			export GOMAXPROCS=$processors
			check_next "$name, GOMAXPROCS=$processors" "$directory/$program"
		done
		check_finish "$name" "$directory/$program"
		check_step "$name" "$directory/$program"
		check_chosen "$name" "$directory/$program"
		[ "$release" != 1.19 ] || check_shown "$name" "$directory/$program"
		check_other "$name" "$directory/$program"
		check_unwound "$name" "$directory/$program"
		check_ended "$name" "$directory/$program"
		unset GOMAXPROCS
		if [ "$release" != 1.19 ]; then
			continue
		elif command -v dlv >/dev/null; then
			check_delve "$directory/steps" "$directory/$program"
		else
			skip "$name: Delve" "no dlv"
		fi
	done
done
# How the runtime goes on from a recovered panic is told by its code.
if [ -z "${RELEASES-}" ] && in_full "loops and a panic in the other releases"; then
	# Bodies are inlined from Go 1.24 on.
	check_loops 1.23
	for release in $("$tests/toolchain" list); do
		[[ " $apart " == *" $release "* ]] || ! sample "Go $release" "$release" steps ||
			GOMAXPROCS=8 check_unwound "Go $release" "$directory/steps.stripped"
	done
fi
finish
