#!/usr/bin/env bash
# The deadlocks of mutexes, and knots of goroutines that wait for other things, those of errgroup among them, in stripped processes and their core files, and who has the mutexes, against what each goroutine
# printed before it waited; among goroutines that wait for mutexes in good order, of which nothing is said. And what `goheap
# hang' tells of them.
. "$(dirname "$0")/lib.sh"

# members FILE: of each sentence the goroutines, each with the mutex that it waits for.
members() {
	sed -nE 's/^( *(perhaps )?held by )?goroutine ([0-9]+) \(.* waits to [a-z-]+ sync\.[A-Za-z]+ (0x[0-9a-f]+).*/\3 \4/p' "$1" | sort
}

# json_members PART FILE: the same of the parts of that name in JSON.
json_members() {
	grep '^{"part":"'"$1"'",' "$2" | sed 's/{"goroutine":/\n&/g' | sed -nE 's/^\{"goroutine":([0-9]+),.*"object":"(0x[0-9a-f]+)".*/\1 \2/p' | sort
}

# places FILE: of mutexes in accounts how far from its beginning each is, in JSON.
places() {
	local kind object start
	sed 's/{"goroutine":/\n&/g' "$1" |
		sed -nE 's/.*"wait":"([a-z]*)[^"]*",.*"object":"(0x[0-9a-f]+)","container":"main\.account","container_address":"(0x[0-9a-f]+)",("perhaps_container":true,)?"(locked|readers)":.*/\1 \2 \3/p' |
		while read -r kind object start; do
			echo "$kind $((object - start))"
		done | sort -u
}

# joined FILE: with each sentence in one line.
joined() {
	sed -E ':a; N; $!ba; s/\n    / /g' "$1"
}

# start CASE...: runs the sample until all of it waits; $pid, and descriptor 7, which ends it.
start() {
	run_until_ready "$program" "$@"
	sed '/^ready/d' "$work/output" | sort >"$work/expected"
}

stop() {
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# check NAME CASE...: the goroutines of those cases are in as many deadlocks.
check() {
	local name=$1 way own
	shift
	start "$@" healthy
	own=$(sed -n 's/^ready //p' "$work/output")
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --graph -p "$pid" >"$work/graph" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" hang -p "$pid" >"$work/hang" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --deadlocks --json -p "$pid" >"$work/live.json" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" hang --json -p "$pid" >"$work/hang.json" 2>"$work/why" || cat "$work/why"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	stop
	"$GOHEAP" waits --deadlocks -e "$program" "$work/core.$pid" >"$work/cored" 2>"$work/why" || cat "$work/why"
	rm -f "$work/core.$pid"
	equal "$name: what its goroutines do" "$own goroutines: 1 in system calls or C, $((own - 1)) waiting" \
		"$(head -n 1 "$work/hang")"
	same "$name: what most wait for, who has it, and what that does" \
		<(printf '%s\n' '10 main.quick main.slow waits for sleep' '9 main.transferQuietly main.transferQuietly waits to lock sync.Mutex') \
		<(sed -nE 's/^([0-9]+) goroutines: lock sync\.Mutex 0x[0-9a-f]+ \(locked\)( in .* 0x[0-9a-f]+)?, in ([^ ]*) at .*; held by goroutine [0-9]+ \(([^ ]*) at .*\), which (.*)$/\1 \3 \4 \5/p' "$work/hang")
	has "$name: what most wait for" "$(cat "$work/hang")" '^Most wait for:$'
	has "$name: they are waited for at one place" "$(cat "$work/hang")" '^5 goroutines: lock sync\.Mutex, in main\.move at [^;]*; 5 different ones$'
	has "$name: how many can never go on" "$(cat "$work/hang")" "^$(wc -l <"$work/expected") goroutines can never go on; only they keep [0-9]+ objects? of [0-9.]+ (bytes|kB)\$"
	same "$name: and three of the deadlocks" <(joined "$work/live" | head -n 3) <(joined "$work/hang" | grep '^goroutine [0-9]')
	equal "$name: how many more, and of all" "and $(($# - 3)) more: see goheap waits --deadlocks $pid
$(tail -n 1 "$work/live")" "$(grep -A 1 '^and [0-9]* more: ' "$work/hang")"
	equal "$name: what to type next" "see goheap goroutines --group $pid (all stacks)" "$(tail -n 1 "$work/hang")"
	same "$name: as JSON" "$work/expected" <(json_members deadlock "$work/live.json")
	# A string and an int are before the one; that, too, before the other. On 386 other types have an account's size.
	[[ $name == *386 ]] || equal "$name: where mutexes are in accounts, as JSON" "mutex 24
rwmutex 32" "$(places "$work/live.json")"
	same "$name: deadlocks of a hanging process as JSON" "$work/live.json" <(tail -n "$(wc -l <"$work/live.json")" "$work/hang.json")
	equal "$name: what its goroutines do as JSON" "{\"part\":\"goroutines\",\"count\":$own,\"running\":0,\"runnable\":0,\"syscall\":1,\"waiting\":$((own - 1))," \
		"$(head -n 1 "$work/hang.json" | grep -o '.*"waiting":[0-9]*,')"
	for way in live cored; do
		same "$name: $way" "$work/expected" <(members "$work/$way")
		equal "$name: $way: how many" "$# deadlocks of mutexes" "$(tail -n 1 "$work/$way")"
	done
	check_picture "$name"
	same "$name: marked in the picture" <(cut -d' ' -f1 "$work/expected" | sort) \
		<(sed -nE 's/^g[0-9]+ \[shape=box fillcolor=[^ ]* label="goroutine ([0-9]+) .*/\1/p' "$work/graph" | sort -u)
}

# check_picture NAME: Graphviz reads the picture, in which a line leads from each of the expected goroutines to what it waits for.
check_picture() {
	dot -Tplain "$work/graph" 2>"$work/errors" >"$work/plain"
	same "$1: Graphviz has no objection to the picture" /dev/null "$work/errors"
	awk '/^g[0-9]+ \[/ { match($0, /goroutine [0-9]+/); id[$1] = substr($0, RSTART + 10, RLENGTH - 10) }
		/^g[0-9]+ -> / { gsub(/"/, "", $3); print id[$1], $3 }' "$work/graph" | sort -u >"$work/found"
	same "$1: what each waits for is in the picture" /dev/null <(awk '{ print $1, $NF }' "$work/expected" | sort -u | comm -23 - "$work/found")
}

source=$tests/samples/deadlocks/main.go

# check_release NAME CASE...: those cases, and what is said of them.
check_release() {
	local name=$1 case place in=',? (perhaps )?in main\.account 0x[0-9a-f]+'
	# Other types have its size and its pointers there.
	[[ $name != *386 ]] || in=''
	place="\\(main\\.transfer at [^ ]*/main\\.go:$(line_of 'to.mutex.Lock()')\\)"
	program=$directory/deadlocks.stripped
	check "$@"
	has "$name: a sentence" "$(joined "$work/live")" "^goroutine [0-9]+ $place waits to lock sync\.Mutex 0x[0-9a-f]+ \(locked\)$in, held by goroutine ([0-9]+) $place, which waits to lock sync\.Mutex 0x[0-9a-f]+ \(locked\)$in, held by goroutine [0-9]+\$"
	has "$name: who has it himself" "$(cat "$work/live")" '^goroutine [0-9]+ \(main\.upgrade at [^ ]*/main\.go:'"$(line_of 'a.shared.Lock()')"'\) waits to write-lock sync\.RWMutex 0x[0-9a-f]+ \(1 reader has it\)'"$in"', held by itself$'
	start upgrades healthy
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	stop
	has "$name: either of two readers" "$(cat "$work/live")" '\(2 readers have it\)'"$in"', held by itself$'
	equal "$name: and the other" '1 deadlock of mutexes; 1 more goroutine waits for them' "$(tail -n 1 "$work/live")"
	start table healthy
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	stop
	same "$name: mutexes that are found by number" "$work/expected" <(members "$work/live")
	equal "$name: are perhaps held" 2 "$(grep -c '^    perhaps held by goroutine' "$work/live")"
	equal "$name: and the deadlock is one perhaps" 'perhaps 1 deadlock of mutexes' "$(tail -n 1 "$work/live")"
	# Where arguments are on the stack, it is not known which of those is let go of.
	for case in '1 row' 'perhaps 1 row-let-go' 'No row-held'; do
		[[ $name != *386 && $name != *1.15 ]] || break
		start "${case##* }" healthy
		"$GOHEAP" waits --deadlocks -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
		stop
		has "$name: 70 mutexes in an array, ${case##* }" "$(cat "$work/live")" "^${case% *} deadlocks? of mutexes( among .*)?\$"
	done
	start turns healthy
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	stop
	has "$name: what is called may have unlocked them" "$(tail -n 1 "$work/live")" '^(No|perhaps [0-9]+) deadlocks? of mutexes([;,] the holders? of .*| among .*)?$'
	start held kept given healthy
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/held" 2>"$work/why" || cat "$work/why"
	stop
	lacks "$name: mutexes that others have who do not wait for mutexes" "$(cat "$work/held")" '^ *(perhaps )?held by'
	has "$name: and who is behind one that waits for ever" "$(cat "$work/held")" '^ +goroutine [0-9]+ \(main\.transfer at [^ ]*\) waits to lock sync\.Mutex .*, held by goroutine [0-9]+: only they lead to what they wait for, or hold it$'
	has "$name: no deadlock" "$(cat "$work/held")" '^No deadlock of mutexes( among the [0-9]+ locks? whose holders? (is|are) [a-z ]*; [0-9]+ (is|are) not|, but the holders? of [0-9]+ locks? (is|are) not known)?$'
}

# ask NAME ARGUMENT...: what goheap says of the process that runs, in $work/live, and of its core file, in $work/cored; ends it.
ask() {
	"$GOHEAP" "${@:2}" -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	stop
	"$GOHEAP" "${@:2}" -e "$program" "$work/core.$pid" >"$work/cored" 2>"$work/why" || cat "$work/why"
	rm -f "$work/core.$pid"
}

# holders FILE: of the mutexes that are waited for, in JSON, the goroutine that holds each.
holders() {
	sed -nE 's/.*"object":"(0x[0-9a-f]+)",.*"holder":([0-9]+),.*/\2 holds \1/p' "$1" | sort
}

# check_ways NAME: who has mutexes that were taken by methods, closures, interfaces and in loops, and who has none any more.
check_ways() {
	local name=$1 way
	program=$directory/deadlocks.stripped
	start ways
	"$GOHEAP" waits --group -p "$pid" >"$work/groups" 2>"$work/why" || cat "$work/why"
	has "$name: where one was taken" "$(cat "$work/groups")" '; held by goroutine [0-9]+ \(main\.hold at [^ ]*\), which took it in main\.inLoop at [^ ]*/ways\.go:[0-9]+ and waits to receive '
	ask "$name" waits --json
	for way in live cored; do
		same "$name: who has mutexes, by what each printed, $way" <(grep ' holds ' "$work/expected") <(holders "$work/$way")
	done
	start released
	ask "$name" waits --json
	for way in live cored; do
		lacks "$name: who has let go of them, $way" "$(cat "$work/$way")" 'holder"'
	done
	start called-back
	"$GOHEAP" waits --json -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	stop
	has "$name: who has perhaps let go of one by a callback" "$(cat "$work/live")" '"perhaps_holder":'
	lacks "$name: is not said to hold it" "$(cat "$work/live")" '"holder":'
	start pairs once
	ask "$name" waits --deadlocks
	for way in live cored; do
		same "$name: a circle of two, and one of one, $way" <(awk '{ print $1 }' "$work/expected") <(members "$work/$way" | cut -d' ' -f1)
		equal "$name: once alone is held by itself, $way" 1 "$(grep -cE ', (perhaps )?held by itself$' "$work/$way")"
		has "$name: how many, $way" "$(tail -n 1 "$work/$way")" '^(2 deadlocks of mutexes|1 deadlock of mutexes, and perhaps 1 more)$'
	done
}

# check_left NAME: a mutex that was left locked, before what is idle.
check_left() {
	local name=$1 way
	program=$directory/left.stripped
	run_until_ready "$program"
	"$GOHEAP" hang --json -p "$pid" >"$work/json" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" dump -f "$pid" -o "$work/dump" 2>"$work/why" || cat "$work/why"
	ask "$name" hang
	for way in live cored; do
		has "$name: what is left locked comes first, $way" "$(grep -A 1 '^Most wait for' "$work/$way" | tail -n 1)" \
			'^3 goroutines: lock sync\.Mutex .* in main\.\(\*store\)\.count at [^;]*; no goroutine holds it: it was left locked$'
		equal "$name: who can never go on, $way" '3 goroutines can never go on
3 goroutines wait for ever for 1 lock that was left locked
No deadlock of mutexes' "$(sed -E 's/(can never go on); only they keep .*/\1/' "$work/$way" | grep -E ' can never go on$| wait for ever |of mutexes$')"
	done
	has "$name: as JSON" "$(cat "$work/json")" '^\{"part":"deadlocks","certain":0,"perhaps":0,"behind":0,"locks":1,"holders_known":1,"left_locked":1,"behind_left_locked":3\}$'
	equal "$name: as SQL" 3 "$("$GOHEAP" sql -e "$program" "$work/dump" 'SELECT sum(leaked) FROM goroutines' 2>"$work/why" | tail -n 1 | tr -d ' ')"
	# The section of goheap's own, with a part that says that a goroutine is missing.
	{ head -c -1 "$work/dump" && printf '\3\2\1\0\0'; } >"$work/lost"
	has "$name: it may be held by what could not be read" "$("$GOHEAP" hang -e "$program" "$work/lost" 2>"$work/why")" \
		'^3 goroutines: lock sync\.Mutex .* in main\.\(\*store\)\.count at [^;]*; its holder is not known$'
	has "$name: as JSON, of the group" "$(cat "$work/json")" '"part":"group","count":3,"wait":"mutex",.*"locked":true,"left_locked":"certain",'
}

# knots: of each sentence on standard input about a knot the goroutines, each with what it waits for, in one line.
knots() {
	local sentence
	while read -r sentence; do
		tr ';' '\n' <<<"$sentence" | sed -nE 's/^ ?goroutine ([0-9]+) .* waits (to|for) [^0]*(0x[0-9a-f]+).*/\1 \3/p' | sort | tr '\n' ','
		echo
	done < <(grep -E ': (only they lead to what they wait for(, or hold it)?|only it leads to that)$') | sort
}

# knots_in_json: the same of what `goheap waits --deadlocks --json' prints.
knots_in_json() {
	python3 -c '
import json, sys
for row in map(json.loads, sys.stdin):
    if row["part"] == "knot":
        print("".join(sorted("%s %s," % (member["goroutine"], member.get("object") or member["channels"][0]["address"])
                             for member in row["members"])))
' | sort
}

# check_knots NAME: goroutines that wait for a group, channels, and conditions that only they lead to.
check_knots() {
	local name=$1 way channel cases=(group channels cond full mixed)
	program=$directory/deadlocks.stripped
	start "${cases[@]}" healthy
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --deadlocks --json -p "$pid" >"$work/live.json" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --group -p "$pid" >"$work/live.groups" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --graph -p "$pid" >"$work/graph" 2>"$work/why" || cat "$work/why"
	channel=$(awk '$2 == "full" { print $3 }' "$work/expected" | sort | uniq -d)
	"$GOHEAP" print "$channel" -p "$pid" >"$work/channel" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/why" || cat "$work/why"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	stop
	"$GOHEAP" waits --deadlocks -e "$program" "$work/core.$pid" >"$work/cored" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --deadlocks -e "$program" "$work/other" >"$work/dumped" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --group -e "$program" "$work/core.$pid" >"$work/cored.groups" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" waits --group -e "$program" "$work/other" >"$work/dumped.groups" 2>"$work/why" || cat "$work/why"
	rm -f "$work/core.$pid"
	for way in "${cases[@]}"; do
		awk -v way="$way" '$2 == way { print $1, $3 }' "$work/expected" | sort | tr '\n' ','
		echo
	done | sort >"$work/rows"
	for way in live cored dumped; do
		same "$name: knots, $way" "$work/rows" <(joined "$work/$way" | knots)
		has "$name: where a channel was made, and who has it, $way" "$(cat "$work/$way.groups")" \
			'^3 goroutines: send on chan \*main\.account 0x[0-9a-f]+ \(len 1, cap 1\) made in main\.collect at [^ ]*/main\.go:'"$(line_of 'results := make')"', in main\.produce at [^ ]*; nobody waits to receive from it; goroutine [0-9]+ \(main\.collect at [^ ]*\) has it$'
		equal "$name: channels that may have been made at several places, $way" '' "$(grep 'chan int .* made in' "$work/$way.groups")"
		equal "$name: how many, $way" "5 other knots: 12 goroutines that can never go on" "$(tail -n 1 "$work/$way")"
	done
	check_picture "$name"
	same "$name: knots, as JSON" "$work/rows" <(knots_in_json <"$work/live.json")
	same "$name: who sends on a channel, as it is printed" <(awk -v at="$channel" '$3 == at { print $1 }' "$work/expected" | sort) \
		<(sed -nE 's/^(perhaps )?chan \*main\.account 1\/1 \[\*\{name: "", .*\}\], sending: goroutine ([0-9, ]+)$/\2/p' "$work/channel" | tr -d ' ' | tr ',' '\n' | sort)
	has "$name: a sentence of a knot" "$(cat "$work/live")" '^goroutine [0-9]+ \(main\.gather at [^ ]*/main\.go:[0-9]+\) waits for sync\.WaitGroup 0x[0-9a-f]+ \(counter 1\)(,? (perhaps )?in main\.group 0x[0-9a-f]+)?: only it leads to that$'
}

count_threads() {
	find /proc/"$pid"/task -mindepth 1 -maxdepth 1 | wc -l
}

# check_world NAME: a collection that waits for a goroutine on another P, which does not stop.
check_world() {
	local name=$1 line before after spins
	(GOMAXPROCS=2 GODEBUG=asyncpreemptoff=1 exec "$directory/deadlocks.stripped" world </dev/null >"$work/output") &
	pid=$!
	for _ in {1..100}; do
		before=$(count_threads)
		"$GOHEAP" hang -p "$pid" >"$work/hang" 2>"$work/why"
		after=$(count_threads)
		line=$(grep '^collecting garbage: ' "$work/hang") && [ "$before" = "$after" ] && break
		sleep 0.1
	done
	spins=$(sed -n 's/ spins$//p' "$work/output")
	has "$name: whom it waits for" "$(cat "$work/hang")" '^stopping the world: goroutine 1 \(main\.collectGarbage at [^ ]*\) waits for goroutine '"$spins"' \(main\.spin at [^ ]*\), which runs and has not stopped$'
	has "$name: who collects garbage" "$line" '^collecting garbage: goroutine 1 \(main\.collectGarbage at [^ ]*/main\.go:[0-9]+\) \['
	equal "$name: threads" "$after" "$(sed -nE 's/^([0-9]+) threads: .*/\1/p' "$work/hang")"
	"$GOHEAP" hang --json -p "$pid" >"$work/hang.json" 2>"$work/why"
	has "$name: who collects garbage, as JSON" "$(grep '"part":"collector"' "$work/hang.json")" '^{"part":"collector","goroutine":1,"state":"[^"]*"}$'
	equal "$name: whom it waits for, as JSON" "{\"part\":\"world\",\"goroutine\":1,\"reason\":\"garbage collection\",\"left\":1,\"waits_for\":[$spins]}" \
		"$(grep '"part":"world"' "$work/hang.json")"
	equal "$name: nobody else does" "1 1" "$(grep -c '^collecting garbage: ' "$work/hang") $(grep -c '"part":"collector"' "$work/hang.json")"
	same "$name: nothing but JSON" /dev/null <(grep -v '^{.*}$' "$work/hang.json")
	kill -KILL "$pid"
	wait "$pid" 2>"$work/why"
}

# check_stoppers NAME: one that stops the world for what is no collection; those that wait until they may, or to collect garbage.
check_stoppers() {
	local name=$1 spins way first
	program=$directory/world.stripped
	: >"$work/output" # another may have been ready before
	(GOMAXPROCS=2 GODEBUG=asyncpreemptoff=1 exec "$program" stats >"$work/output") &
	pid=$!
	wait_until grep -q ready "$work/output"
	spins=$(sed -n 's/ spins$//p' "$work/output")
	wait_until told_of_world '^stopping the world for runtime\.ReadMemStats: goroutine 1 \(main\.report at [^ ]*\) waits for goroutine '"$spins"' \(main\.spin at '
	lacks "$name: nobody collects garbage" "$(cat "$work/hang")" '^collecting garbage'
	has "$name: for what the world is stopped" "$(cat "$work/hang")" '^stopping the world for runtime\.ReadMemStats: goroutine 1 \(main\.report at [^ ]*\) waits for goroutine '"$spins"' \(main\.spin at [^ ]*\), which runs and has not stopped$'
	kill -KILL "$pid"
	wait "$pid" 2>"$work/why"
	: >"$work/output" # another may have been ready before
	"$program" wait >"$work/output" &
	pid=$!
	wait_until grep -q ready "$work/output"
	wait_until all_wait_for_world
	told_of_world x
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	kill -KILL "$pid"
	wait "$pid" 2>"$work/why"
	"$GOHEAP" hang -e "$program" "$work/core.$pid" >"$work/cored" 2>"$work/why"
	rm -f "$work/core.$pid"
	first=$(sed -nE 's/.*"waits_to":"stop the world","count":2,"first":([0-9]+)\}$/\1/p' "$work/json")
	has "$name: one that waits to stop the world" "$(cat "$work/output")" "^$first reports\$"
	first=$(sed -nE 's/.*"waits_to":"start a collection","count":2,"first":([0-9]+)\}$/\1/p' "$work/json")
	has "$name: one that waits to collect garbage" "$(cat "$work/output")" "^$first collects\$"
	for way in hang cored; do
		equal "$name: both in $way" '2 goroutines wait to stop the world: main.report
2 goroutines wait to start a collection: main.collect' "$(sed -nE 's/^(.* wait to [a-z ]*: )goroutine [0-9]+ \((main[^ ]*) at .*\) is the first$/\1\2/p' "$work/$way")"
	done
}

# shellcheck disable=SC2317 # wait_until calls it
# all_wait_for_world: by $work/json, all four do that have been started to.
all_wait_for_world() {
	"$GOHEAP" hang --json -p "$pid" >"$work/json" 2>"$work/why"
	grep -q '"waits_to":"stop the world","count":2,' "$work/json" && grep -q '"waits_to":"start a collection","count":2,' "$work/json"
}

# told_of_world PATTERN: what goheap says of the process, in $work/hang, has a line of that pattern.
told_of_world() {
	"$GOHEAP" hang -p "$pid" >"$work/hang" 2>"$work/why"
	grep -qE "$1" "$work/hang"
}

# check_emulated RELEASE CASE...: those cases on arm64, in the core file that QEMU writes.
check_emulated() {
	GOARCH=arm64 sample "Go $1, arm64" "$1" deadlocks || return
	if ! emulate aarch64 "$directory/deadlocks.stripped" "${@:2}" healthy; then
		skip "Go $1, arm64" 'no qemu-aarch64-static'
		return
	fi
	sed '/^ready/d' "$work/output" | sort >"$work/expected"
	"$GOHEAP" waits --deadlocks -e "$directory/deadlocks.stripped" "$core" >"$work/cored" 2>"$work/why" || cat "$work/why"
	same "Go $1, arm64: in a core file" "$work/expected" <(members "$work/cored")
	equal "Go $1, arm64: how many" "perhaps 7 deadlocks of mutexes" "$(tail -n 1 "$work/cored")"
}

# check_errgroup RELEASE: golang.org/x/sync/errgroup, whose members send on a channel that is full, to one that waits for them
# first: a knot of them all, by what each of them printed of itself.
check_errgroup() {
	local name="Go $1, errgroup" go source way
	if ! go=$("$tests/toolchain" "$1" 2>"$work/why") ||
		! source=$("$tests/debian-program" golang-golang-x-sync-dev usr/share/gocode/src/golang.org/x/sync/errgroup/errgroup.go 2>"$work/why"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	mkdir -p "$work/gopath/src/golang.org/x/sync" "$work/gopath/src/fetch"
	cp -r "${source%/*}" "$work/gopath/src/golang.org/x/sync"
	cat >"$work/gopath/src/fetch/main.go" <<-'END'
		package main

		import (
			"bytes"
			"fmt"
			"io/ioutil"
			"os"
			"runtime"
			"time"

			"golang.org/x/sync/errgroup"
		)

		func say(what interface{}) {
			buf := make([]byte, 64)
			fmt.Printf("%s %v\n", bytes.Fields(buf[:runtime.Stack(buf, false)])[1], what)
		}

		//go:noinline
		func fetch(results chan []byte) error {
			say(results)
			results <- nil
			return nil
		}

		//go:noinline
		func fetchAll(n int) {
			var group errgroup.Group
			results := make(chan []byte, 1)
			results <- nil
			for i := 0; i < n; i++ {
				group.Go(func() error { return fetch(results) })
			}
			say("group")
			if group.Wait() == nil {
				<-results
			}
		}

		func main() {
			go fetchAll(3)
			time.Sleep(300 * time.Millisecond)
			fmt.Println("ready")
			ioutil.ReadAll(os.Stdin)
		}
	END
	(cd "$work/gopath/src/fetch" && GO111MODULE=off GOENV=off GOPATH=$work/gopath GOCACHE=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}/gocache \
		"$go/bin/go" build -ldflags='-s -w' -o "$work/fetch" .) >"$work/why" 2>&1 || fail "$name: can be built" "$(cat "$work/why")"
	run_until_ready "$work/fetch"
	"$GOHEAP" waits --deadlocks -p "$pid" >"$work/live" 2>"$work/why" || cat "$work/why"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	stop
	"$GOHEAP" waits --deadlocks -e "$work/fetch" "$work/core.$pid" >"$work/cored" 2>"$work/why" || cat "$work/why"
	rm -f "$work/core.$pid"
	for way in live cored; do
		same "$name: who waits for what, $way" <(grep -v ready "$work/output" | sort) \
			<(sed -nE -e 's/^ *goroutine ([0-9]+) \(main\.fetch at .*\) waits to send on chan \[\]uint8 (0x[0-9a-f]+) \(len 1, cap 1\).*/\1 \2/p' \
				-e 's/^ *goroutine ([0-9]+) \((golang\.org\/x\/sync\/errgroup\.\(\*Group\)\.Wait|main\.fetchAll) at .*\) waits for sync\.WaitGroup 0x[0-9a-f]+ \(counter 3\).*/\1 group/p' "$work/$way" | sort)
		equal "$name: a knot, $way" "No deadlock of mutexes
1 other knot: 4 goroutines that can never go on" "$(grep -E 'mutexes$|never go on$' "$work/$way")"
	done
}

export CGO_ENABLED=0
for release in $(releases "$apart_maps"); do
	sample "Go $release" "$release" deadlocks && check_release "Go $release" two ring other line early upgrade again globals
	sample "Go $release" "$release" deadlocks && check_knots "Go $release" && check_world "Go $release"
done
for release in $(releases 1.19 1.27); do
	[ "$release" != 1.15 ] || continue
	sample "Go $release" "$release" deadlocks && check_ways "Go $release"
	sample "Go $release" "$release" left && check_left "Go $release"
done
for release in ${RELEASES:-1.19 1.27}; do
	checked=() # Go 1.23 and later link to no function of the runtime's by its name, unless they are told to.
	((${release#1.} < 23)) || checked=(-ldflags=-checklinkname=0)
	sample "Go $release" "$release" world "${checked[@]}" && check_stoppers "Go $release"
done
check_errgroup 1.19
# Which globals' addresses are in code is not known there.
in_full "Go 1.27, 386" && needs_386 "Go 1.27, 386" && GOARCH=386 sample "Go 1.27, 386" 1.27 deadlocks && check_release "Go 1.27, 386" two ring other line early upgrade again
for release in $(first 1.27 1.19); do
	check_emulated "$release" two ring line early upgrade again globals
done
finish
