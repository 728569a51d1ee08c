#!/usr/bin/env bash
# The ordinary commands under valgrind, on a stripped program, on a heap dump that it wrote, on a process and on its core
# file: no invalid read, no use of what was never written, no leak.
. "$(dirname "$0")/lib.sh"

needs "everything" valgrind || finish
if nm -D "$GOHEAP" | grep -q ' __asan_init'; then
	skip "everything" "built with the sanitizers, which look for the same"
	finish
fi
sample "everything" 1.19 dump || finish
program=$directory/dump.stripped
if ! "$program" "$work/dump" "$work/stacks" >/dev/null 2>"$work/why"; then
	fail "the sample writes a dump" "$(head -n 1 "$work/why")"
	finish
fi

leaks=full
# check ARGUMENT...: goheap with them ends well, prints something or writes $work/file, and valgrind finds nothing.
check() {
	local status
	rm -rf "$work/file"
	timeout 300 valgrind -q --leak-check="$leaks" --error-exitcode=99 --log-file="$work/log" \
		"$GOHEAP" "$@" >"$work/out" 2>"$work/err"
	status=$?
	if [ $status -ne 0 ] || [ -s "$work/log" ]; then
		fail "goheap $1" "status $status
$(head -n 20 "$work/err" "$work/log")"
	elif [ ! -s "$work/out" ] && [ ! -s "$work/file" ]; then
		fail "goheap $1: there is output"
	else
		ok "goheap $1"
	fi
}

object=$("$GOHEAP" sql -e "$program" "$work/dump" "SELECT address FROM objects WHERE type LIKE 'main.%' LIMIT 1" | grep -o '0x[0-9a-f]*')
entry=$("$GOHEAP" funcs "$program" | awk '/main\.main$/ { print $1; exit }')
check info "$program"
check funcs "$program"
check lines "$program"
check types "$program"
check addr2line -e "$program" "$entry"
check debug "$program" -o "$work/file"
for command in $listings types; do
	check "$command" "$work/dump"
done
for command in goroutines histogram dominators unreachable strings; do
	check "$command" -e "$program" "$work/dump"
done
for command in objects path referrers reachable; do
	check "$command" -e "$program" "$work/dump" "$object"
done
check frame -e "$program" "$work/dump" 1
check waits -e "$program" "$work/dump"
check sql -e "$program" "$work/dump" 'select * from retained where holder = (select max(holder) from retained)'
check diff -e "$program" "$work/dump" "$work/dump"
check dot -e "$program" "$work/dump"
check dominators --merged -e "$program" "$work/dump"
check histogram --by root -e "$program" "$work/dump"
check instances -e "$program" "$work/dump" "$("$GOHEAP" histogram -e "$program" -n 1 --json "$work/dump" | sed -n '1s/.*"type":"\(.*\)".*/\1/p')"
check suspects -e "$program" "$work/dump" "$work/dump"
check print -e "$program" "$work/dump" "$object"
check pprof --paths -e "$program" -o "$work/file" "$work/dump"
check hang -e "$program" "$work/dump"
for command in core hprof report; do
	check "$command" -e "$program" -o "$work/file" "$work/dump"
done
check export --summary --tables "$work/file" "$work/dump"
check unstrip "$program" -o "$work/file"

# Values of all kinds, and parts of them.
if sample "values" 1.27 printed; then
	: >"$work/places"
	(cd "$work" && exec "$directory/printed" "$work/values" >"$work/places" 2>"$work/why") &
	child=$!
	wait_until grep -q '^ready' "$work/places"
	kill "$child"
	wait "$child" 2>"$work/why"
	program=$directory/printed.stripped
	each=48
	! in_full "values of more types" || each=12
	while IFS=$'\t' read -r _ type address part _; do
		check print -e "$program" --part "$part" "$work/values" "$type" "$address"
	done < <(grep $'^part\tmap' "$work/places")
	while IFS=$'\t' read -r type address _; do
		check print -e "$program" --json "$work/values" "$type" "$address"
	done < <(grep -v -e '^ready' -e '^part' "$work/places" | awk -F'\t' -v each="$each" '!seen[$1]++ && NR % each == 0')
fi

# Goroutines that wait for each other's mutexes, in a process and its core file.
if sample "a process" 1.27 deadlocks; then
	program=$directory/deadlocks.stripped
	run_until_ready "$program" two upgrades group healthy
	check hang -p "$pid"
	check histogram -p "$pid"
	# The search for leaks takes ten times as long as all else in what has copied a process.
	in_full "leaks of more commands" || leaks=no
	check goroutines -p "$pid"
	check memory -p "$pid"
	if in_full "more commands of a process"; then
		check info -p "$pid"
		check suspects -p "$pid"
		check waits --deadlocks -p "$pid"
		check waits --graph -p "$pid"
		check frame -p "$pid" 1
	fi
	check dump -o "$work/file" "$pid"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	exec 7>&-
	wait "$pid" 2>"$work/why"
	for command in info goroutines hang waits histogram; do
		check "$command" -e "$program" "$work/core.$pid"
	done
	check waits --deadlocks -e "$program" "$work/core.$pid"
fi
finish
