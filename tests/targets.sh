#!/usr/bin/env bash
# Each command on each kind of target. The table in goheap(1) says which kinds a command answers. What it answers is the same in
# all forms: a process by its number, after -p and by its program's name; a file by its name, with -e, and as standard input.
# What it does not answer, it says in one line, with what does. What is no target is said to be none by every command.
# The short check has the first two commands for each row of kinds.
. "$(dirname "$0")/lib.sh"

# rows: the table: program, process, core, dump, command.
rows() {
	man -l "$(dirname "$GOHEAP")/goheap.1" | awk '
		/^ *program +process +core +dump/ { on = 1; next }
		on && NF < 5 { exit }
		on { for (i = 5; i <= NF; i++) print $1, $2, $3, $4, $i }'
}

# arguments COMMAND TARGET: in $words, what is typed after the command's name; the forms of TARGET are its later words.
arguments() {
	local command=$1
	shift
	case $command in
	path | objects | print | referrers | reachable) words=("$@" "$address") ;;
	frame) words=("$@" 1) ;;
	instances) words=("$@" string) ;;
	sql) words=("$@" 'SELECT count(*), sum(bytes) FROM objects') ;;
	diff) words=("${dump[@]}" "$@") ;;
	debug | unstrip | dump | core | pprof | hprof | report) words=("$@" -o "$work/written") ;;
	export) words=("$@" -t "$work/tables") ;;
	watch) words=("$@" -o "$work/tables" --rss 1T) ;;
	*) words=("$@") ;;
	esac
}

# answer COMMAND TARGET...: the answer on standard output or in a file, without what is of the form or the moment, in
# $work/answer; what is said in $work/said. The status is the command's.
answer() {
	local command=$1 words status
	arguments "$@"
	rm -rf "$work/written" "$work/tables"
	if [ "$command" = ask ]; then
		printf 'histogram\n' >"$work/questions"
		exec <"$work/questions"
	fi
	timeout "$([ "$command" = watch ] && echo 2 || echo 30)" "$GOHEAP" "$command" "${words[@]}" >"$work/printed" 2>"$work/said"
	status=$?
	# The page's address is random, and it is served until it is interrupted, as a process is watched.
	[[ $command != @(web|watch) || $status != 124 ]] || status=0
	[[ $command = @(web|watch) && $status = 0 ]] && echo >"$work/printed"
	# Meanwhile the runtime counts on.
	[ "$command" != dump ] || [ "$status" != 0 ] || "$GOHEAP" histogram --bytes "$work/written" >"$work/printed" 2>/dev/null
	[ "$command" != dump ] || rm -f "$work/written"
	cat "$work/printed" "$work/written" 2>/dev/null | tr -d '\0' |
		sed -E -e "s#(/dev/stdin|$core|$dump|\\b$pid\\b)#TARGET#g" -e 's/(goheap [a-z]+) -( |$)/\1 TARGET\2/g' \
			-e 's/ for at least [0-9]+ s//g' -e '/mapped|resident|collector|waited|asleep|for (at least )?[0-9]+ (s|min)/s/[0-9][0-9.,]*/N/g' -e '/^file: /d' >"$work/answer"
	return $status
}

# answered NAME KIND COMMAND TARGET...: there is an answer; kept in $work/first if that is not there.
answered() {
	if answer "${@:3}"; then
		ok "$1"
	else
		fail "$1: goheap ${*:3}" "$(head -n 5 "$work/said")"
		return
	fi
	if [ ! -e "$work/first" ]; then
		cp "$work/answer" "$work/first"
		[[ -s $work/answer || $3 = @(export|panics|ask) ]] || fail "$1: says something" "$(cat "$work/said")"
	elif [[ $2 = program || $3 = report || $3 = export ]]; then
		# A report has its own time.
		:
	else
		same "$1: the same as in the first form" "$work/first" "$work/answer"
	fi
}

# refused NAME COMMAND TARGET: it says so in one line.
refused() {
	answer "${@:2}"
	equal "$1: status" 1 $?
	equal "$1: lines" "0 1" "$(wc -l <"$work/printed") $(wc -l <"$work/said")"
}

# turned_away NAME COMMAND TARGET: and what to type or name instead.
turned_away() {
	refused "$@"
	has "$1: what answers" "$(cat "$work/said")" ': goheap [a-z]+ |: name '
}

# on KIND COMMAND FORM...: the forms of one target, words in each.
on() {
	local kind=$1 command=$2 form words
	rm -f "$work/first"
	for form in "${@:3}"; do
		read -ra words <<<"$form"
		if [ "${words[0]}" = '<' ]; then
			[ "$command" != ask ] || continue
			answered "$command: $kind by standard input" "$kind" "$command" "${words[@]:2}" < <(cat "${words[1]}")
		else
			answered "$command: $kind by $form" "$kind" "$command" "${words[@]}"
		fi
	done
}

# check COMMAND PROGRAM PROCESS CORE DUMP: by the table's row.
check() {
	local command=$1 with="-e$program"
	# Those that ask about programs need none.
	[ "$2" = no ] || with=
	[ "$2" = no ] && turned_away "$command: a program" "$command" "$program"
	[ "$2" = no ] || on program "$command" "$program"
	address=$("$GOHEAP" sql "$pid" "$any" 2>/dev/null | tail -n 1)
	[ "$3" = no ] && turned_away "$command: a process" "$command" "$pid"
	[ "$3" = no ] || on process "$command" "$pid" "-p $pid" "$name"
	[ "$5" = no ] && turned_away "$command: a heap dump" "$command" "$dump"
	[ "$5" = no ] || on "heap dump" "$command" "$dump" "$with $dump" "< $dump $with -"
	[ -n "$core" ] || return
	address=$("$GOHEAP" sql "$core" "$any" 2>/dev/null | tail -n 1)
	[ "$4" = no ] && turned_away "$command: a core file" "$command" "$core"
	[ "$4" = no ] || on "core file" "$command" "$core" "$with $core" "< $core -"
}

# check_none COMMAND: what is no target.
check_none() {
	local target
	for target in text none /bin/sh; do
		(cd "$work" && refused "$1: $target" "$1" "$target")
	done
	answer "$1" 4194301
	equal "$1: a process that is not there" "1 1" "$? $(wc -l <"$work/said")"
}

release=$(releases 1.27)
sample "targets" "${release##* }" crash || finish
needs "targets" man || finish
name=goheap-targets-$$ program=$work/$name dump=$work/dump core=
cp "$directory/crash.stripped" "$program"
echo text >"$work/text"
any='SELECT printf("%x", min(address)) FROM objects WHERE bytes >= 64'
mkdir "$work/crashed" "$work/here"
# Where a heap dump's program is looked for that is standard input; no file has the process's name there.
cp "$program" "$work/here/program"
cd "$work/here" || finish
(cd "$work/crashed" && ulimit -c unlimited && GOTRACEBACK=crash timeout 60 "$program" error </dev/null >"$work/output" 2>"$work/trace") 2>"$work/why"
core=$(find "$work/crashed" -name 'core*')
[ -n "$core" ] || skip "core files" "the kernel writes none here"
run_until_ready "$program" sleep
exec 7>&-
"$GOHEAP" dump "$pid" -o "$dump" 2>"$work/said" || fail "a heap dump" "$(cat "$work/said")"
count=0 row=
while read -r kinds_program kinds_process kinds_core kinds_dump command; do
	kinds="$kinds_program $kinds_process $kinds_core $kinds_dump"
	[ "$kinds" = "$row" ] || count=0
	row=$kinds count=$((count + 1))
	((count <= 2)) || is_full || continue
	check "$command" "$kinds_program" "$kinds_process" "$kinds_core" "$kinds_dump" </dev/null
	check_none "$command" </dev/null
done < <(rows)
holds "the table has rows" "$(rows)" [ "$count" -gt 0 ]
end "$pid"
finish
