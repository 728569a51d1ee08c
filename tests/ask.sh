#!/usr/bin/env bash
# The heap that is kept from one question to the next: answers are those that commands give which read it anew; what has
# changed is read again; and the process that keeps it goes when GDB does.
. "$(dirname "$0")/lib.sh"
session_home

# keepers: the processes that keep the heap for a GDB of this test's; not those that answer for them.
keepers() {
	local process parent
	for process in $(pgrep -x goheap); do
		read -r _ _ _ parent _ <"/proc/$process/stat" && [ "$(cat "/proc/$parent/comm")" != goheap ] &&
			tr '\0' '\n' <"/proc/$process/environ" | grep -q "^GOHEAP_SESSION=$work/run/" && echo "$process"
	done 2>/dev/null
}

# idle: waits until the one that keeps the heap has had nothing to do for two seconds, although it had a processor for it.
# shellcheck disable=SC2317 # A shell that GDB starts calls it.
idle() {
	local quiet=0 keeper
	for _ in {1..600}; do
		keeper=$(keepers)
		if [ -z "$(cat "/proc/$keeper/task/"*/children)" ] && grep -q '^State:.S' "/proc/$keeper/status"; then
			quiet=$((quiet + 1))
		else
			quiet=0
		fi
		[ "$quiet" -eq 20 ] && break
		sleep 0.1
	done
}

# garble: has every letter in $work/dump be another, although it looks like the same file.
# shellcheck disable=SC2317 # A shell that GDB starts calls it.
garble() {
	cp -p "$work/dump" "$work/kept"
	tr a-y b-z <"$work/kept" | dd of="$work/dump" conv=notrunc status=none
	touch -r "$work/kept" "$work/dump"
}

# no_keepers: there are none.
# shellcheck disable=SC2317 # wait_until calls it.
no_keepers() {
	[ -z "$(keepers)" ]
}

# gone NAME: there are none, or will be none soon.
gone() {
	wait_until no_keepers
	equal "$1" "" "$(keepers)"
}

# spoil: has $work/dump be no heap dump, although it looks like the same file.
# shellcheck disable=SC2317 # A shell that GDB starts calls it.
spoil() {
	cp -p "$work/dump" "$work/kept"
	printf 'spoilt' | dd of="$work/dump" conv=notrunc status=none
	touch -r "$work/kept" "$work/dump"
}

check_prompt() {
	local object=$1 program=$2 question
	for question in "suspects" "histogram -n 0" "path $object" "dominators --json" "referrers $object" "roots" \
		"goroutines" "histogram --by path" "diff $work/old" "suspects $work/old" "strings" "reachable ${object#0x}"; do
		echo "$question" >&3
		# shellcheck disable=SC2086 # the words of a question
		set -- $question
		case $1 in
		diff) "$GOHEAP" diff "$2" "$work/dump" -e "$program" ;;
		*) "$GOHEAP" "$1" "$work/dump" -e "$program" "${@:2}" ;;
		esac
	done 3>"$work/questions" | sed 's/^   see goheap \([a-z]*\) [^ ]* -e [^ ]*/   see \1/' >"$work/anew"
	"$GOHEAP" ask "$work/dump" -e "$program" <"$work/questions" >"$work/asked"
	same "a prompt: every answer" "$work/anew" "$work/asked"
	printf '%s\n' "\"path\" '$object'" nonsense "path 'x" "path --nonsense" "histogram -o" "quit" "path $object" |
		"$GOHEAP" ask "$work/dump" -e "$program" >"$work/asked" 2>"$work/errors"
	equal "a prompt: words in quotes, and the end" "$("$GOHEAP" path "$work/dump" "$object" -e "$program")" "$(cat "$work/asked")"
	equal "a prompt: each mistake is told" 4 "$(grep -c '^goheap' "$work/errors")"
	"$GOHEAP" ask "$work/said" </dev/null >"$work/asked" 2>"$work/errors"
	equal "a prompt: what is no dump" "1 1" "$? $(grep -c '^goheap: .*/said: ' "$work/errors")"
}

# A line is typed with a tab after the beginning of a command, and of an option; and another is had again by the arrow.
check_terminal() {
	printf 'refe\t%s\nhistogram --lim\t1 --by size\n\033[A\nquit\n' "$1" |
		timeout 60 script -qec "stty -echo; $GOHEAP ask $work/dump" /dev/null | tr -d '\r' >"$work/typed"
	"$GOHEAP" histogram "$work/dump" --by size -n 1 >"$work/anew"
	equal "a terminal: completion and history" "1 2" \
		"$(grep -c "$("$GOHEAP" referrers "$work/dump" "$1" | tail -n 1)" "$work/typed") $(grep -cFx "$(tail -n 1 "$work/anew")" "$work/typed")"
}

check_dump() {
	local object=$1 program=$2 query="SELECT type, count(*), sum(bytes) FROM objects WHERE reachable GROUP BY type"
	"$GOHEAP" path "$work/dump" "$object" -e "$program" >"$work/path"
	"$GOHEAP" histogram -n 3 "$work/dump" -e "$program" >"$work/histogram"
	"$GOHEAP" sql "$work/dump" -e "$program" "$query" >"$work/sql"
	"$GOHEAP" histogram -n 3 "$work/old" -e "$program" >"$work/histogram.old"
	declare -f spoil keepers >"$work/functions"
	echo "work=$work" >>"$work/functions"
	goheap "$program" "goheap load $work/dump" "goheap path $object" "shell . $work/functions; keepers >$work/first; spoil" \
		"shell echo again; : >$work/spoilt" "goheap path $object" "shell echo histogram" "goheap histogram -n 3" \
		"shell echo sql" "goheap sql $query" "shell . $work/functions; keepers >$work/second; rm $work/dump; mv $work/kept $work/dump" \
		"shell echo same" "goheap histogram -n 3" "shell cp $work/dump $work/kept; cp $work/old $work/dump" \
		"shell echo other" "goheap histogram -n 3" "shell mv $work/kept $work/dump" >"$work/session"
	same "a dump in GDB: what is kept is not read again" "$work/path" <(sed '1,/^again$/d; /^histogram$/,$d' "$work/session")
	same "a dump in GDB: nor is it for the dominators" "$work/histogram" <(sed '1,/^histogram$/d; /^sql$/,$d' "$work/session")
	same "a dump in GDB: nor is it for SQL" "$work/sql" <(sed '1,/^sql$/d; /^same$/,$d' "$work/session")
	same "a dump in GDB: a copy in its place" "$work/histogram" <(sed '1,/^same$/d; /^other$/,$d' "$work/session")
	same "a dump in GDB: another in its place" "$work/histogram.old" <(sed '1,/^other$/d' "$work/session")
	equal "a dump in GDB: one process keeps it" "1 $(cat "$work/first")" "$(wc -l <"$work/second") $(cat "$work/second")"
	gone "a dump in GDB: it ends with GDB"
}

# What was answered about the whole heap, and what was answered before anybody asked, is not looked up again.
check_answers() {
	local command program=$1
	declare -f idle garble keepers >"$work/functions"
	echo "work=$work" >>"$work/functions"
	goheap "$program" "goheap load $work/dump" "goheap strings -n 3" "shell bash -c '. $work/functions; idle; garble'" \
		"shell echo strings -n 3" "goheap strings -n 3" "shell echo strings" "goheap strings" "shell echo suspects" "goheap suspects" \
		"shell echo histogram" "goheap histogram" "shell echo dominators" "goheap dominators" "shell echo end; mv $work/kept $work/dump" \
		>"$work/session"
	for command in "strings -n 3" strings suspects histogram dominators; do
		# shellcheck disable=SC2086 # the words of a question
		"$GOHEAP" $command "$work/dump" -e "$program" | sed 's/^   see goheap \([a-z]*\) [^ ]* -e [^ ]*/   see goheap \1/' >"$work/anew"
		same "an answer that is kept: $command" "$work/anew" \
			<(sed -n "/^$command\$/,/^\(strings\|suspects\|histogram\|dominators\|end\)\$/p" "$work/session" | sed '1d; $d')
	done
}

# A process's memory is changed, and changed back.
check_process() {
	local word pid
	coproc LEAK { exec "$1" map; }
	pid=$LEAK_PID
	read -r -u "${LEAK[0]}" _
	word=$(awk -F'\t' '$1 == "word" { print $2 }' "$work/said")
	"$GOHEAP" suspects -p "$pid" 2>/dev/null | head -n 1 >"$work/suspect"
	goheap "" "attach $pid" "goheap suspects" "set language c" "set \$was = *(long *)$word" "set *(long *)$word = 0" "shell echo changed" \
		"goheap suspects" "set *(long *)$word = \$was" "shell echo back" "goheap suspects" "detach" >"$work/session"
	equal "a process: before" 1 "$(sed '/^changed$/,$d' "$work/session" | grep -c '^1\. global .* keeps ')"
	equal "a process: its memory has changed" 0 "$(sed '1,/^changed$/d; /^back$/,$d' "$work/session" | grep -c '^1\. global .* keeps ')"
	has "a process: what was held is garbage" "$(sed '1,/^changed$/d; /^back$/,$d' "$work/session")" '^1\. garbage, not collected yet'
	equal "a process: it is as it was" 1 "$(sed '1,/^back$/d' "$work/session" | grep -c '^1\. global .* keeps ')"
	end "$pid"
	gone "a process: what keeps its heap ends with GDB"
}

# The heap of a process is asked about when the process is no more.
check_prompt_of_process() {
	local asked
	coproc LEAK { exec "$1" map; }
	asked=$LEAK_PID
	read -r -u "${LEAK[0]}" _
	"$GOHEAP" suspects -p "$asked" 2>/dev/null | sed '/^   see/d' >"$work/anew"
	rm -f "$work/asked"
	# shellcheck disable=SC2094 # what waits for the answer is not what prints it
	{
		echo suspects
		wait_until [ -s "$work/asked" ]
		kill "$asked"
		while kill -0 "$asked" 2>/dev/null; do sleep 0.1; done
		printf 'echo\nsuspects\ntypes\n'
	} | "$GOHEAP" ask -p "$asked" 2>"$work/errors" >"$work/asked"
	wait "$asked" 2>/dev/null
	sed -i '/^   see/d' "$work/asked"
	same "a prompt of a process: both before and after it ended" <(cat "$work/anew" "$work/anew") "$work/asked"
	has "a prompt of a process: what asks a program" "$(cat "$work/errors")" '^goheap: types: not of a process$'
}

check_killed() {
	goheap "$2" "goheap load $work/dump" "goheap path $1" "shell touch $work/ready; while [ -e $work/ready ]; do sleep 0.1; done" >"$work/session" &
	wait_until [ -e "$work/ready" ]
	equal "a killed GDB: what keeps the heap is there" 1 "$(keepers | grep -c .)"
	pkill -KILL -P $! gdb
	rm "$work/ready"
	gone "a killed GDB: it is gone"
	wait
}

if sample "go 1.19" 1.19 leaks; then
	"$directory/leaks.stripped" map "$work/old" "$work/dump" >"$work/said"
	object=$("$GOHEAP" histogram --bytes -n 0 "$work/dump" | awk '$5 ~ /^0x/ && $1 == "2,000" { print $5; exit }')
	has "an object" "$object" '^0x'
	check_prompt "$object" "$directory/leaks.stripped"
	check_terminal "$object"
	check_dump "$object" "$directory/leaks.stripped"
	check_answers "$directory/leaks.stripped"
	check_process "$directory/leaks.stripped"
	check_prompt_of_process "$directory/leaks.stripped"
	check_killed "$object" "$directory/leaks.stripped"
fi

finish
