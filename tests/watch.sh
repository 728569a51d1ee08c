#!/usr/bin/env bash
# goheap watch: what it keeps of a process that does what the test tells it to, when, and for how long.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" jq || finish
trap 'kill $watcher $pid 2>/dev/null; rm -rf "$work"' EXIT
watcher='' pid=''
kept=$work/kept

# watch OPTION...: the process, into $kept; events are lines of $work/events.
watch() {
	rm -rf "$kept"
	: >"$work/events"
	"$GOHEAP" watch "$pid" -o "$kept" "$@" >"$work/events" 2>"$work/why" &
	watcher=$!
	wait_until grep -q '"watching"' "$work/events"
}

# tell LINE: has the process do it, and waits until it has.
tell() {
	local before
	before=$(wc -l <"$work/output")
	echo "$1" >&7
	# shellcheck disable=SC2016 # wait_until's shell expands it
	wait_until bash -c '[ "$(wc -l <"$0")" -gt "$1" ]' "$work/output" "$before"
}

# event NAME: waits for it; its JSON.
event() {
	wait_until grep -q "\"event\":\"$1\"" "$work/events" || fail "event $1" "$(cat "$work/events" "$work/why")"
	grep "\"event\":\"$1\"" "$work/events" | tail -n 1
}

# evidence NAME: the folder that its event names.
evidence() {
	event "$1" | jq -r .evidence
}

stop() {
	kill "$watcher"
	wait "$watcher"
	equal "$1: exit status" 0 $?
	watcher=''
}

check() {
	local name="Go $1" folder resident
	sample "$name" "$1" grows || return
	run_until_ready "$directory/grows.stripped"
	watch --rss 60M --goroutines 1000
	sleep 2
	equal "$name: silent below the limits" 1 "$(wc -l <"$work/events")"
	tell "memory 80"
	folder=$(evidence rss)
	resident=$(event rss | jq .resident)
	equal "$name: as the kernel counts it" true "$([ "$resident" -ge 83886080 ] && [ "$resident" -le 120000000 ] && echo true)"
	has "$name: the first answer" "$(cat "$folder/answer.txt")" "process $pid: go$1"
	has "$name: the leak" "$(cat "$folder/suspects.txt")" "^[0-9]\\. .*[^0-9]80 main\\.session"
	has "$name: the dump" "$("$GOHEAP" histogram --bytes "$folder/heap.gz" -e "$directory/grows.stripped" 2>&1)" "^ +80 .* main\\.session\$"
	tell "goroutines 2000"
	has "$name: goroutines" "$(cat "$(evidence goroutines)/goroutines.txt")" "^2,?000 goroutines? "
	equal "$name: what has been told is not told again" "$(grep -c '"rss"' "$work/events")" 1
	# What the process has in use in its heap is known from Go 1.19 on.
	equal "$name: samples" true "$(awk -F , 'NR > 1 && $4 > 80e6 && $5 > 2000 { print "true"; exit }' "$kept/samples.csv")"
	stop "$name"
	has "$name: ended" "$(cat "$work/events")" '"event":"no longer watching"'
	watch --no-progress 3s --every 2s --keep 2 --no-dump
	event no-progress >/dev/null
	# shellcheck disable=SC2016 # likewise
	wait_until bash -c '[ "$(grep -c every "$0")" -ge 3 ]' "$work/events"
	equal "$name: the latest two" 2 "$(find "$kept" -mindepth 1 -type d | wc -l)"
	equal "$name: without dumps" 0 "$(find "$kept" -name 'heap*' | wc -l)"
	# The process is never traced but for the evidence.
	equal "$name: nobody traces it" 0 "$(awk '$1 == "TracerPid:" { print $2 }' "/proc/$pid/status")"
	end "$pid"
	event "the process has ended" >/dev/null
	wait "$watcher"
	equal "$name: with the process" 0 $?
}

# The program runs again.
check_follow() {
	local before
	sample "again" 1.27 grows || return
	# No other of its name runs on this machine.
	local program=$work/grows-$$
	cp "$directory/grows.stripped" "$program"
	run_until_ready "$program"
	watch --goroutines 100 --follow --no-dump
	before=$pid
	end "$pid"
	event "the process has ended" >/dev/null
	run_until_ready "$program"
	wait_until grep -q "\"watching\",\"pid\":$pid," "$work/events"
	tell "goroutines 200"
	equal "again: the new one" "$pid" "$(event goroutines | jq .pid)"
	lacks "again: not the old one" "$before" "^$pid\$"
	stop "again"
	# A file that cannot be written: told once, and the watch goes on.
	watch --goroutines 500 --no-dump
	rm -rf "$kept"
	: >"$kept"
	tell "goroutines 800"
	event goroutines >/dev/null
	has "no folder: told" "$(cat "$work/events")" '"event":"evidence is missing"'
	stop "no folder"
	end "$pid"
}

check_refused() {
	local words
	for words in "" "--rss x" "--rss -1" "--growth 5s" "--every 10%"; do
		# shellcheck disable=SC2086 # words
		"$GOHEAP" watch $$ -o "$kept" $words >"$work/found" 2>&1
		equal "refused: '$words'" 2 $?
		equal "refused: '$words', a line" 1 "$(wc -l <"$work/found")"
	done
	"$GOHEAP" watch $$ -o "$kept" --rss 1G >"$work/found" 2>&1
	equal "no Go program" 1 $?
}

for release in $(releases 1.19 1.24 1.27); do
	check "$release"
done
check_follow
check_refused
finish
