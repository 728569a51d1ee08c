#!/usr/bin/env bash
# The heap of stripped programs at random moments while several goroutines allocate and the collector runs all the time:
# what roots reach, by a reader that shares no code with goheap, against what the program counts after a forced collection
# right after. STOPS says how many moments there are for each release, RELEASES which these are.
. "$(dirname "$0")/lib.sh"
stops=${STOPS:-3}

# check_stop NUMBER: one moment; appends to the file of what was wrong.
check_stop() {
	local reached lost missing changed other own
	if ! "$GOHEAP" dump -f "$pid" -o "$work/dump" 2>"$work/told" || [ "$(wc -l <"$work/told")" -ne 1 ]; then
		sed "s/^/stop $1: /" "$work/told"
		return
	fi
	echo >&7
	read -r own <&8
	{ read -r reached && read -r lost && read -r missing && read -r changed && read -r other; } < <("$dumpfile" reach "$work/dump" <"$work/list" | cut -f 2)
	[ "$missing" = 0 ] || echo "stop $1: $missing objects that are in use are not reached"
	[ "$changed" = 0 ] || echo "stop $1: $changed objects that are in use have not their contents"
	# The runtime has some such objects, and each goroutine may stand where it has just got memory.
	[ "$other" -le 70 ] || echo "stop $1: $other objects without pointers have contents of before"
	[ "$lost" = 0 ] || echo "stop $1: $lost pointers lead nowhere"
	[ $(((reached > own ? reached - own : own - reached) * 100)) -le "$own" ] ||
		echo "stop $1: $reached bytes are reached, the program counts $own"
	echo "$reached $own" >>"$work/counts"
}

# check_release RELEASE
check_release() {
	local i
	rm -f "$work/input" "$work/output"
	mkfifo "$work/input" "$work/output"
	nice "$directory/churn.stripped" "$work/list" <"$work/input" >"$work/output" &
	pid=$!
	exec 7>"$work/input" 8<"$work/output"
	read -r _ <&8
	: >"$work/counts"
	for ((i = 0; i < stops; i++)); do
		sleep "0.0$((RANDOM % 90 + 10))"
		check_stop "$i"
	done >"$work/wrong"
	exec 7>&- 8<&-
	wait "$pid"
	same "go $1: $stops stops: what is in use is reached, and no more" /dev/null "$work/wrong"
	equal "go $1: all were compared" "$stops" "$(wc -l <"$work/counts")"
}

build_dumpfile
for release in $(releases "$apart_maps"); do
	sample "go $release" "$release" churn && check_release "$release"
done
finish
