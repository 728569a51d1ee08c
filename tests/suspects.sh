#!/usr/bin/env bash
# What holds a leak, and what has grown (goheap diff): on dumps of a program that leaks in ways it tells of, by name with the
# unstripped program, and by the functions that use it without. The names of functions are those that objdump finds in the
# unstripped program.
. "$(dirname "$0")/lib.sh"
session_home

variables="static map list syncmap channel context slice subslice timer shop"
KINDS=${KINDS-$variables emptied uneven beside handle goroutine gatherer after threads cleanup finalizer pool nothing}

# said WHAT COLUMN: what the program printed of it.
said() {
	awk -F'\t' -v what="$1" -v column="$2" '$1 == what { print $column }' "$work/said"
}

# leak KIND: the sample in $directory writes its dumps to $work/old and $work/new.
leak() {
	# The runtime has a list of timers for each processor.
	[ "$1" != after ] || local -x GOMAXPROCS=2
	"$directory/leaks.stripped" "$1" "$work/old" "$work/new" >"$work/said" && return
	fail "$1: the sample writes its dumps"
	return 1
}

# users ADDRESS: the functions whose code refers to it.
users() {
	awk -v address="${1#0x}" '/^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[0-9a-f]+ </, "", name); sub(/>:$/, "", name) }
		{ for (i = 1; i < NF; i++) if ($i == "#" && $(i + 1) == address) print name }' "$work/code" | sort -u
}

# check_users NAME TEXT ADDRESS: TEXT, "global ADDRESS of PACKAGE, used in F and N more", is about those functions. Those of one
# package are named without it, also where package main's are there, into which its may be inlined; of several, with theirs.
check_users() {
	local function more package
	users "$3" >"$work/users"
	package=$(sed -nE "s/.*global $3 of ([^ ,]*), used in .*/\1./p" <<<"$2")
	function=$package$(sed -nE "/global $3( of [^ ,]*)?, used in /{s/.*global $3( of [^ ,]*)?, used in //; s/ and [0-9]+ more.*//; s/( \(|, \+| ->| keep).*//; p}" <<<"$2")
	more=$(sed -nE "s/.*global $3( of [^ ,]*)?, used in [^ ]* and ([0-9]+) more.*/\2/p" <<<"$2")
	[ -z "$package" ] || equal "$1: the package of all that use it" 0 "$(grep -vF -- "$package" "$work/users" | grep -vc '^main\.')"
	equal "$1: the function uses it" "$function" "$(grep -Fx -- "${function:-none}" "$work/users")"
	equal "$1: the functions that use it" "$(wc -l <"$work/users")" $((${more:-0} + 1))
}

# check_root NAME: the word that leads to the leak has a name.
check_root() {
	local word object output variable
	word=$(said word 2) variable=$(said held 2)
	object=$("$GOHEAP" roots "$work/new" | awk -v word="$word" '$2 == word { print $3; exit }')
	output=$("$GOHEAP" path "$work/new" "$object" -e "$directory/leaks" | head -n 1)
	if [ "$kind" = static ]; then
		equal "$1: by name" "main.srv -> main.Server (static).tenants (data, $word)" "$output"
		# Where main.srv is, and what it points to, the symbol table and the program's own memory say.
		variable=0x$(nm "$directory/leaks" | awk '$3 == "main.srv" { sub(/^0+/, "", $1); print $1 }')
		output=$("$GOHEAP" path "$work/new" "$object" -e "$directory/leaks.stripped" | head -n 1)
		has "$1: by the value's place" "$output" " -> static $(printf '%#x' $((word - 16))), \+16 \(data, $word\)\$"
		check_users "$1: by use" "$output" "$variable"
		has "$1: by the value's place, as JSON" "$("$GOHEAP" path --json "$work/new" "$object" -e "$directory/leaks.stripped")" \
			"\"global\":\"$variable\",.*\"statics\":\[\{\"address\":\"$(printf '%#x' $((word - 16)))\",\"offset\":16,\"name\":null\}\]"
	else
		has "$1: by name" "$output" "^$variable(\.[a-z.]*)? \(bss, $word\)\$"
		output=$("$GOHEAP" path "$work/new" "$object" -e "$directory/leaks.stripped" | head -n 1)
		check_users "$1: by use" "$output" "$(sed -nE 's/^global (0x[0-9a-f]+) .*/\1/p' <<<"$output")"
	fi
}

# first FILE...: what goheap suspects tells first of these dumps, by the program $program.
first() {
	"$GOHEAP" suspects --bytes "$@" -e "$program" | head -n 1
}

# bytes TEXT: that the finding TEXT tells.
bytes() {
	sed -nE 's/^1\. .* keeps? ([0-9,]+) bytes, .*/\1/p' <<<"$1" | tr -d ,
}

# holder_type: that of the object which the variable leads to, of a leak of the kind $kind, as its source says.
holder_type() {
	case $kind in
	static) echo 'map\[string]map\[string]\*main\.Session' ;;
	map) echo 'map\[string]\*main\.Session' ;;
	list) echo 'container/list\.List' ;;
	syncmap) echo 'sync\.Map' ;;
	channel) echo 'chan \*main\.Session' ;;
	context) echo 'context\.valueCtx' ;;
	slice) echo '\[]\*main\.Session' ;;
	subslice) echo '\[]\*main\.Part' ;;
	shop) echo 'main\.Shop' ;;
	handle) echo '(map\[interface \{}]\*sync\.entry|internal/sync\.indirect\[interface \{},interface \{}])' ;;
	esac
}

# A number with its digits in groups, as a regular expression with one group of its own.
grouped='[0-9]{1,3}(,[0-9]{3})*'

# near NAME EXPECTED FOUND [FEW]: what goheap found of the bytes or objects that the program freed, which are as many or, with
# the runtime's own that went at the same time, a few more: less than FEW, or 1,000.
near() {
	if [[ $3 =~ ^[0-9]+$ ]] && (($3 <= $2 && $2 - $3 < ${4-1000})); then
		ok "$1"
	else
		fail "$1" "expected: $2, or a few less
found:    $3"
	fi
}

# freed NAME BYTES OUTPUT: the finding is of the BYTES that the program freed.
freed() {
	near "$1" "$2" "$(bytes "$3")"
}

# check_held NAME [REST]: the first finding is the variable, the type and the figures that the program tells, and REST bytes
# that it cannot let go of; without names it is the functions that use it.
check_held() {
	local bytes count half output variable program=$directory/leaks
	bytes=$(($(said freed 2) + ${2-0}))
	variable=$(said held 2) count=$(said held 4)
	half=$(commas $((count - count / 2)))
	output=$(first "$work/new")
	has "$1: by name" "$output" "^1\. $variable( -> main\.Server \(static\)\.tenants|(\.[a-z]+)+)? \(.*\) keeps "
	has "$1: by type" "$output" ": $(commas "$count") $(said held 3), [0-9,]+ bytes for each\$"
	freed "$1: the bytes are those that go with it" "$bytes" "$output"
	output=$(first "$work/new" "$work/old")
	has "$1: growth" "$output" "^1\. $variable.*; [0-9,]+ bytes and $half $(said held 3) more than before\$"
	program=$directory/leaks.stripped
	output=$(first "$work/new")
	freed "$1: the bytes, stripped" "$bytes" "$output"
	has "$1: how many, stripped" "$output" ": $(commas "$count") $(said held 3), [0-9,]+ bytes for each\$"
	has "$1: the holder's type, stripped" "$output" \
		"^1\. global 0x[^(]* \($(holder_type)\) keeps "
	check_users "$1: by use" "$output" "$(sed -nE 's/^1\. global (0x[0-9a-f]+)[ ,].*/\1/p' <<<"$output")"
}

# check_uneven NAME: one session has most of the bytes, which are not told as if each had a part.
check_uneven() {
	local program=$directory/leaks
	has "$1: how many" "$(first "$work/new")" "^1\. main\.uneven \(.*\) keeps .*: $(commas "$(said held 4)") main\.Session\$"
}

# check_beside NAME: two fields of one variable keep much each: the sessions do not keep what the text has.
check_beside() {
	local program=$directory/leaks output bytes
	output=$("$GOHEAP" suspects --bytes "$work/new" -e "$program")
	bytes=$(sed -nE 's/^   ([0-9,]+) bytes of it in .*, by main\.records\.sessions \(bss, 0x[0-9a-f]+\)$/\1/p' <<<"$output" | tr -d ,)
	has "$1: the text" "$output" "^   1,048,576 bytes of it in 0x[0-9a-f]+, .*, by main\.records\.text \(bss, $(printf '%#x' $(($(said word 2) + 24)))\)\$"
	near "$1: the sessions" $(($(said freed 2) - 1048576)) "${bytes:-0}"
	has "$1: who keeps the sessions" "$output" "^1\. main\.records\.sessions .*: $(commas "$(said held 4)") main\.Session(, |\$)"
	has "$1: in the first answer" "$("$GOHEAP" "$work/new" -e "$program")" ", of which $(commas "$(said held 4)") main\.Session keep 1\.[0-9]+ MB; held by"
}

# check_goroutines NAME: they are told by where the source says that they wait.
check_goroutines() {
	local count line output program=$directory/leaks
	count=$(commas "$(said held 4)")
	line=$(grep -n '^	<-answers' "$tests/samples/leaks/main.go" | cut -d : -f 1)
	output=$(first "$work/new" "$work/old")
	has "$1: by name" "$output" "^1\. $count goroutines in main\.handle at .*/main\.go:$line, r keep .*: $count main\.Request, "
	has "$1: growth" "$output" "; [0-9,]+ bytes and $(commas $(($(said held 4) / 2))) main\.Request more than before\$"
	# That is the same as in the table of all stacks.
	"$GOHEAP" goroutines --bytes --memory "$work/new" -e "$program" >"$work/memory"
	equal "$1: goroutines --bytes --memory" "$(sed -nE '1s/^1\. (.*) keep ([0-9,]+) bytes, .*/\2 \1/p' <<<"$output")" \
		"$(awk 'NR == 2 { bytes = $1; $1 = $2 = $3 = ""; sub(/^ */, ""); print bytes, $0 }' "$work/memory")"
	has "$1: goroutines --bytes --memory in JSON" "$("$GOHEAP" goroutines --bytes --memory --json "$work/new" -e "$program" | head -n 1)" \
		"^\{\"retained\":[0-9]+,\"goroutines\":$(said held 4),\"root\":\{\"kind\":\"stack\",\"variable\":\"r\","
	program=$directory/leaks.stripped
	output=$(first "$work/new")
	has "$1: stripped" "$output" "^1\. $count goroutines in main\.handle at .*/main\.go:$line keep .*: $count main\.Request, "
}

# check_gatherer NAME: one goroutine, by its variable and where it waits.
check_gatherer() {
	local line output program
	line=$(grep -n 'range visits' "$tests/samples/leaks/main.go" | cut -d : -f 1)
	for program in "$directory/leaks" "$directory/leaks.stripped"; do
		output=$(first "$work/new")
		has "$1: ${program##*/}" "$output" \
			"^1\. goroutine [0-9]+ in main\.gather at .*/main\.go:$line(, gathered)? \(.*\) keeps .*: $(commas "$(said held 4)") .*main\.Session, [0-9]+ bytes for each\$"
		freed "$1: the bytes, ${program##*/}" "$(said freed 2)" "$output"
	done
}

# check_timers NAME: what the runtime's timers hold, too.
check_timers() {
	local output program=$directory/leaks
	output=$(first "$work/new")
	has "$1: by name" "$output" \
		"^1\. $(commas "$(said held 4)") time\.Timer, held by main\.timers and runtime\..*: $(commas "$(said held 4)") closure main\.later\.func1, "
}

# check_after NAME: what only the runtime's timers hold, of two processors. Less than 5 % at one of them is not told.
check_after() {
	local kept program=$directory/leaks.stripped closure
	closure="closure $(said held 2 | sed 's/\./\\./g')"
	has "$1: the closures" "$(first "$work/new")" "^1\. .* keeps? .*: [0-9,]+ $closure, "
	has "$1: growth" "$(first "$work/new" "$work/old")" "^1\. .*: [0-9,]+ $closure, .* and [0-9,]+ $closure more than before\$"
	kept=$("$GOHEAP" suspects --bytes "$work/new" -e "$program" | sed -nE "s/^[0-9]\. .*: ([0-9,]+) $closure, .*/\1/p" | tr -d , | awk '{ sum += $1 } END { print sum + 0 }')
	equal "$1: nearly all of them" yes "$([ "$kept" -le "$(said held 4)" ] && [ "$kept" -ge $(($(said held 4) * 95 / 100)) ] && echo yes || echo "$kept")"
}

# check_threads NAME: as many as the kernel has of the process.
check_threads() {
	local pid output told threads
	lacks "$1: a dump of few threads" "$("$GOHEAP" suspects --bytes "$work/old")" 'threads: see'
	has "$1: a dump" "$("$GOHEAP" suspects --bytes "$work/new")" "^[0-9]+ threads: see goheap goroutines --group $work/new \(which are locked"
	mkfifo "$work/threads"
	: >"$work/output" # another may have been ready before
	"$directory/leaks.stripped" threads <"$work/threads" >"$work/output" &
	pid=$!
	exec 8>"$work/threads"
	wait_until grep -q '^waiting' "$work/output"
	# The runtime may start another meanwhile.
	threads=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)
	output=$("$GOHEAP" suspects --bytes -p "$pid" 2>"$work/why")
	told=$(sed -nE 's/^([0-9]+) threads: see goheap goroutines --group [0-9]+ .*/\1/p' <<<"$output")
	holds "$1: a process" "$threads threads before, $told told: $output" \
		test "$threads" -le "${told:-0}" -a "${told:-0}" -le "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)"
	has "$1: the goroutines that are locked" "$("$GOHEAP" goroutines --group -p "$pid" 2>"$work/why")" \
		"^$(said held 4) goroutines \[chan receive.*, locked to thread\]:"
	end "$pid"
}

# check_cleanups NAME RELEASE: Go 1.24 and 1.25 have their closures in the heap.
check_cleanups() {
	local output program=$directory/leaks.stripped
	output=$(first "$work/new" "$work/old")
	if [ "${2#1.}" -lt 26 ]; then
		has "$1: by name and type" "$output" "^1\\. cleanup main\\.release, perhaps keeps .*: $(commas "$(said held 4)") main\\.Session, "
		has "$1: growth" "$output" " and $(commas $(($(said held 4) / 2))) main\\.Session more than before\$"
		has "$1: JSON" "$("$GOHEAP" suspects --json "$work/new" -e "$program")" \
			'"root":\{"kind":"cleanup",.*"function":"main\.release",.*"conservative":true\}'
		# The sample collects its garbage before it writes a dump.
		has "$1: no garbage" "$("$GOHEAP" histogram --bytes "$work/new" -e "$program")" 'garbage: [0-9] objects?$'
		has "$1: garbage, without the program" "$("$GOHEAP" histogram --bytes "$work/new")" 'garbage: [0-9]+,[0-9]+ objects$'
	else
		has "$1: perhaps no garbage" "$output" "^1\\. garbage, not collected yet, or what cleanups keep, .* objects\$"
	fi
	# A process tells of them.
	start cleanup
	output=$("$GOHEAP" suspects --bytes -p "$pid" --names "$directory/leaks" 2>/dev/null | head -n 1)
	has "$1: a process: by name and type" "$output" "^1\\. (root: )?cleanup main\\.release keeps .*: $(commas "$(said held 4)") main\\.Session, "
	output=$("$GOHEAP" suspects --bytes -p "$pid" 2>/dev/null | head -n 1)
	has "$1: a process: stripped" "$output" "^1\\. (root: )?cleanup main\\.release keeps .*: $(commas "$(said held 4)") main\\.Session, "
	end "$pid"
}

# check_emptied NAME: a map that had 30,001 entries and has 10 is told as that.
check_emptied() {
	local output program room
	for program in "$directory/leaks" "$directory/leaks.stripped"; do
		output=$("$GOHEAP" suspects --bytes "$work/new" "$work/old" -e "$program")
		freed "$1: the bytes" "$(said freed 2)" "$(head -n 1 <<<"$output")"
		has "$1: growth" "$output" '^1\. .* \(map\[int]\*main\.Session\) keeps .*: 1 map\[int]\*main\.Session; [0-9,]+ bytes more than before$'
		has "$1: what it holds" "$output" '^   the map has room for [0-9,]+ entries and holds 10: a map does not shrink when entries are deleted$'
		room=$(sed -nE 's/^   the map has room for ([0-9,]+) .*/\1/p' <<<"$output" | tr -d ,)
		# A map is less than eight times as large as what it had at most.
		equal "$1: its room" 1 $((room >= 30001 && room < 8 * 30001))
	done
	has "$1: by name" "$("$GOHEAP" suspects --bytes "$work/new" -e "$directory/leaks")" '^1\. main\.peak '
	check_users "$1: by use" "$output" "$(sed -nE 's/^1\. global (0x[0-9a-f]+)[ ,].*/\1/p' <<<"$output")"
}

# check_queue NAME: what waits for a finalizer that never ends, which has one of the objects.
check_queue() {
	local output program
	for program in "$directory/leaks" "$directory/leaks.stripped"; do
		output=$(first "$work/new" "$work/old")
		has "$1: by the function" "$output" "^1\\. queued finalizer main\\.finish keeps [0-9,]+ bytes, .*: $(commas "$(said held 4)") main\\.Session, "
		has "$1: growth" "$output" " and 1,000 main\\.Session more than before\$"
	done
}

# check_pool NAME: its values are typed by their interfaces, which are not called so.
check_pool() {
	local output program=$directory/leaks
	output=$(first "$work/new")
	has "$1: by name and type" "$output" "^1\\. main\\.sessions\\.local \(\[\]sync\.poolLocal\) keeps .*: $(commas "$(said held 4)") main\\.Session, "
	program=$directory/leaks.stripped
	output=$(first "$work/new")
	has "$1: by use and type" "$output" \
		"^1\\. global 0x[0-9a-f]+ of main, used in refill \(\[\]sync\.poolLocal\) keeps .*: $(commas "$(said held 4)") main\\.Session, "
}

# check_merged NAME: what dominators has in one line is, in sum, what it has object by object in JSON.
check_merged() {
	"$GOHEAP" dominators --bytes -n 0 "$work/new" -e "$directory/leaks" >"$work/merged"
	"$GOHEAP" dominators --json "$work/new" -e "$directory/leaks" >"$work/each"
	equal "$1: merged dominators: objects" "$(wc -l <"$work/each")" \
		"$(awk 'NR > 1 { gsub(",", ""); sum += $3 } END { print sum }' "$work/merged")"
	equal "$1: merged dominators: bytes" \
		"$(sed -nE 's/^\{"retained":([0-9]+),.*"dominator":null\}$/\1/p' "$work/each" | awk '{ sum += $1 } END { print sum }')" \
		"$(grep -F '<-' "$work/merged" | awk '{ gsub(",", "", $1); sum += $1 } END { print sum }')"
	if [ "$kind" = goroutine ]; then
		has "$1: goroutines are one line" "$(cat "$work/merged")" \
			" $(commas "$(said held 4)")  0x[0-9a-f]+  main\.Request, .*  <- $(commas "$(said held 4)") goroutines in main\.handle at .*, r\$"
	elif [ "$kind" = static ]; then
		has "$1: entries of maps are one line" "$(cat "$work/merged")" " [12],[0-9]{3} +0x[0-9a-f]+  main\\.Session, "
	fi
}

# check_cut NAME: of a dump that is cut off before its roots.
check_cut() {
	local command status
	head -c $(($(stat -c %s "$work/new") / 2)) "$work/new" >"$work/cut"
	for command in suspects dominators unreachable dot "report -o $work/page.html"; do
		# shellcheck disable=SC2086 # the words of a command
		"$GOHEAP" $command "$work/cut" >"$work/output" 2>"$work/errors"
		status=$?
		equal "$1: $command of a cut dump" "1 " "$status $(cat "$work/output")"
		has "$1: $command of a cut dump: why" "$(cat "$work/errors")" '^goheap: .*: the roots, .* are missing: '
		# shellcheck disable=SC2086
		"$GOHEAP" $command --partial "$work/cut" >/dev/null 2>&1
		equal "$1: $command --partial" 0 $?
	done
	has "$1: histogram of a cut dump" "$("$GOHEAP" histogram --bytes "$work/cut" 2>/dev/null)" \
		'; the roots are missing: what is garbage is not known$'
}

# check_diff NAME: what has grown, by the bytes that would go; and what there is only in one dump.
check_diff() {
	local growth row
	"$directory/leaks.stripped" nothing "$work/old.nothing" "$work/none" >/dev/null
	growth=$("$GOHEAP" diff --json --by root "$work/none" "$work/new" -e "$directory/leaks" | grep -F '"main.cache"')
	row=$(sed -nE 's/.*"bytes":([0-9]+),"retained_growth":([0-9]+),"change":"new".*/\1 \2/p' <<<"$growth")
	near "$1: diff: new" "$(said freed 2)" "${row% *}"
	equal "$1: diff: new is grown" "${row% *}" "${row#* }"
	growth=$("$GOHEAP" diff --bytes --by root "$work/new" "$work/none" -e "$directory/leaks")
	row=$(sed -nE "s/.* -($grouped) +0 +0 +-($grouped) +gone +main\.cache\$/\1 \3/p" <<<"$growth" | tr -d ,)
	near "$1: diff: gone" "$(said freed 2)" "${row% *}"
	equal "$1: diff: gone is lost" "${row% *}" "${row#* }"
	growth=$("$GOHEAP" diff --bytes --by type "$work/old" "$work/new" -e "$directory/leaks")
	has "$1: diff: retained" "$growth" "^ +\+1,000 +\+48,000 +2,000 +96,000 +\+7[0-9]{2},[0-9]{3} +0x[0-9a-f]+  main\.Session\$"
	growth=$("$GOHEAP" diff --json --by type "$work/old" "$work/new" -e "$directory/leaks")
	has "$1: diff as JSON" "$growth" '^\{"objects_growth":1000,"bytes_growth":48000,"objects":2000,"bytes":96000,"retained_growth":7[0-9]{5},"change":null,"largest":"0x[0-9a-f]+","type":"main\.Session"\}$'
	growth=$("$GOHEAP" diff --json --by root "$work/new" "$work/none" -e "$directory/leaks" | grep -F '"main.cache"')
	row=$(sed -nE 's/^\{"objects_growth":-([0-9]+),"bytes_growth":-([0-9]+),"objects":0,"bytes":0,"retained_growth":-([0-9]+),"change":"gone",.*/\1 \2 \3/p' <<<"$growth")
	near "$1: diff as JSON: objects gone" "$(said freed 3)" "${row%% *}" 20
	near "$1: diff as JSON: bytes gone" "$(said freed 2)" "${row##* }"
	equal "$1: diff as JSON: gone is lost" "$row" "${row%% *} ${row##* } ${row##* }"
}

# check_other NAME RELEASE: that the older dump is of another program is told; that it is of the same one is not.
check_other() {
	local command other=$work/other
	"$("$tests/build-sample" "$2" leak)/leak.stripped" "$other" "$other.after" >/dev/null
	"$GOHEAP" diff --bytes "$work/old" "$work/new" >/dev/null 2>"$work/errors"
	"$GOHEAP" suspects --bytes "$work/old" "$work/new" >"$work/answer" 2>>"$work/errors"
	same "$1: dumps in either order" "$work/answer" <("$GOHEAP" suspects --bytes "$work/new" "$work/old" 2>>"$work/errors")
	equal "$1: of one program's dumps nothing is said" "" "$(cat "$work/errors")"
	"$GOHEAP" diff --bytes "$work/new" "$work/old" >/dev/null 2>"$work/errors"
	equal "$1: dumps in the wrong order" "goheap: $work/new, named as the older dump, is later than $work/old, by their last garbage collections: name them the other way round" \
		"$(cat "$work/errors")"
	for command in diff suspects; do
		"$GOHEAP" $command "$work/new" "$other" >/dev/null 2>"$work/errors"
		has "$1: $command of two programs' dumps" "$(cat "$work/errors")" ' are of different programs, or builds of one: '
	done
}

# check_slices NAME: a sliver of an array is told as that, by each of its ends. The one array that all have slices of is not
# counted among slivers, and of two slices of an array that one object has the first alone is.
check_slices() {
	local command object
	object=$("$GOHEAP" histogram --bytes -n 0 "$work/new" | sed -nE 's/.* (0x[0-9a-f]+)  131072 bytes, .*/\1/p')
	for command in path referrers; do
		has "$1: $command of a sliver" "$("$GOHEAP" "$command" "$work/new" "$object" -e "$directory/leaks")" \
			'  main\.Part, [0-9]+ bytes  ?\.(bytes|all) \[4096:20480\] of 131,072 bytes( ->)?$'
		has "$1: $command of a sliver in JSON" "$("$GOHEAP" "$command" --json "$work/new" "$object" -e "$directory/leaks")" \
			'"field":"(bytes|all)","range":\[4096,20480\]'
	done
	for command in leaks leaks.stripped; do
		has "$1: suspects of slivers, $command" "$("$GOHEAP" suspects --bytes "$work/new" -e "$directory/$command")" \
			'^   of these slices use 311,296 bytes of 2,490,368 bytes: main\.Part\.bytes \[4096:20480\] of 131,072 bytes, and 18 more like it$'
	done
}

# check_json NAME: the same in JSON, which has the root as other commands do.
check_json() {
	local output
	output=$("$GOHEAP" suspects --json "$work/new" "$work/old" -e "$directory/leaks" | head -n 1)
	has "$1: JSON" "$output" '^\{"kind":"holder","finding":"main\.cache .*","bytes":[0-9]+,"bytes_before":[0-9]+,"root":\{"kind":"bss","variable":"main\.cache",.*"type":"main\.Session","objects":'"$(said held 4),\"objects_before\":$(($(said held 4) / 2)),"
	near "$1: JSON: the bytes" "$(said freed 2)" "$(sed -E 's/.*"bytes":([0-9]+),"bytes_before".*/\1/' <<<"$output")"
	# A map with half of the entries is half as large.
	output=$(sed -E 's/.*"bytes_before":([0-9]+),.*/\1/' <<<"$output")
	equal "$1: JSON: half of the bytes" 1 $((output * 100 > $(said freed 2) * 45 && output * 100 < $(said freed 2) * 55))
}

# start KIND: the sample keeps its leak until it is told to stop; its process is $pid.
start() {
	coproc LEAK { exec "$directory/leaks.stripped" "$1"; }
	pid=$LEAK_PID
	read -r -u "${LEAK[0]}" _
}

# check_process NAME: of a process and of a core file, in the shell and in GDB; and of a loaded dump.
check_process() {
	local core=$work/core output
	start map
	output=$("$GOHEAP" suspects --bytes -p "$pid" --names "$directory/leaks" | head -n 1)
	has "$1: a process" "$output" "^1\. main\.cache \(map\[string\]\*main\.Session\) keeps "
	goheap "" "attach $pid" "goheap suspects --bytes" "goheap diff --bytes $work/old" "generate-core-file $core" "detach" >"$work/session"
	has "$1: a process in GDB" "$(cat "$work/session")" "^1\. global 0x[0-9a-f]+ of main, used in remember .* keeps "
	has "$1: diff of a process in GDB" "$(cat "$work/session")" "^ +\+1,000 +\+48,000 +2,000 +96,000 .*  main\.Session\$"
	output=$("$GOHEAP" suspects --bytes "$core" -e "$directory/leaks.stripped" | head -n 1)
	has "$1: a core file" "$output" "^1\. global 0x[0-9a-f]+ of main, used in remember .* keeps "
	end "$pid"
	rm -f "$core"
	goheap "$directory/leaks.stripped" "goheap load $work/new" "goheap suspects --bytes $work/old" >"$work/session"
	has "$1: a dump in GDB" "$(cat "$work/session")" "^1\. global 0x[0-9a-f]+ of main, used in remember .* keeps .* more than before\$"
	has "$1: the command that tells more" "$(cat "$work/session")" "^   see goheap path 0x"
}

# browse VIEW: the text of a view of the page, as a browser makes it.
browse() {
	timeout -k 5 60 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=10000 --dump-dom \
		"file://$work/page.html#/$1" 2>/dev/null | sed -n '/<main/,/<\/main>/p' | sed 's/<tr>/\n/g; s/<li>/\n/g' |
		sed 's/<[^>]*>/ /g; s/&gt;/>/g; s/  */ /g'
}

# check_page NAME: the page for a browser begins with the same; and one of two dumps has what has grown: the variable, by what
# the program's collector frees, and the type, by how many there are.
check_page() {
	"$GOHEAP" report "$work/new" -e "$directory/leaks" -o "$work/page.html"
	needs "$1: the page" chromium || return
	near "$1: the page" "$(said freed 2)" \
		"$(browse suspects | sed -nE "s/^ *main\.cache \(map\[string\]\*main\.Session\) keeps ($grouped) bytes, .*/\1/p" | tr -d ,)"
	"$GOHEAP" report "$work/none" "$work/new" -e "$directory/leaks" -o "$work/page.html"
	has "$1: the page of two dumps: by type" "$(browse growth)" " [+]$(commas "$(said held 4)") .* new .*main\\.Session *$"
	has "$1: the page of two dumps: by variable" "$(browse growth/root)" \
		"^ [+]$(awk -v bytes="$(said freed 2)" 'BEGIN { printf "%.1f MB [+]%.1f MB", bytes / 1e6, bytes / 1e6 }') .* new .*main\\.cache"
}

# check RELEASE
check() {
	local kind
	sample "go $1" "$1" leaks || return
	objdump -d --no-show-raw-insn "$directory/leaks" >"$work/code"
	for kind in $KINDS; do
		[ "$kind" != cleanup ] || [ "${1#1.}" -ge 24 ] || continue
		leak "$kind" || continue
		[[ " $variables " != *" $kind "* ]] || check_root "go $1, $kind"
		check_merged "go $1, $kind"
		case $kind in
		goroutine) check_goroutines "go $1, $kind" ;;
		gatherer) check_gatherer "go $1, $kind" ;;
		cleanup) check_cleanups "go $1, $kind" "$1" ;;
		emptied) check_emptied "go $1, $kind" ;;
		uneven) check_uneven "go $1, $kind" ;;
		beside) check_beside "go $1, $kind" ;;
		finalizer) check_queue "go $1, $kind" ;;
		pool) check_pool "go $1, $kind" ;;
		after) check_after "go $1, $kind" ;;
		threads) check_threads "go $1, $kind" ;;
		timer) check_timers "go $1, $kind" ;;
		# What its pool has is freed before all else.
		shop) check_held "go $1, $kind" 128 ;;
		# From Go 1.24 on the root of the runtime's map stays.
		handle) check_held "go $1, $kind" $((${1#1.} < 24 ? 0 : 160)) ;;
		nothing)
			equal "go $1: nothing" "Nothing to tell: nothing keeps much of the heap by itself" \
				"$("$GOHEAP" suspects --bytes "$work/new")"
			equal "go $1: nothing grown" "Nothing to tell: nothing has grown by much of the heap" \
				"$("$GOHEAP" suspects --bytes "$work/new" "$work/old")"
			;;
		*) check_held "go $1, $kind" ;;
		esac
		if [ "$kind" = list ]; then
			has "go $1, $kind: elements are no lists" "$("$GOHEAP" histogram --bytes -n 0 "$work/new" -e "$directory/leaks")" \
				'^ +2,000 +96,000 .*  container/list\.Element$'
		fi
		if [[ $kind = @(syncmap|handle) ]] && [ "${1#1.}" -ge 24 ]; then
			lacks "go $1, $kind: the nodes of the tree" "$("$GOHEAP" suspects --bytes "$work/new" -e "$directory/leaks")" \
				"$(commas "$(said held 4)") objects of|objects of 160 bytes"
		fi
		if [ "$kind" = subslice ]; then
			check_slices "go $1"
		fi
		if [ "$kind" = map ]; then
			check_diff "go $1"
			check_json "go $1"
			check_cut "go $1"
			check_other "go $1" "$1"
			check_page "go $1"
			check_process "go $1"
		fi
	done
}

# check_arm64: code of another machine. The source says what uses the variable.
check_arm64() {
	local kind=list output run
	run=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
	if [ -z "$run" ]; then
		skip "arm64" "no qemu-aarch64"
	elif GOARCH=arm64 sample "arm64" 1.19 leaks; then
		"$run" "$directory/leaks.stripped" "$kind" "$work/old" "$work/new" >"$work/said"
		output=$("$GOHEAP" dominators --bytes "$work/new" -e "$directory/leaks.stripped")
		has "arm64: by use" "$output" "<- global $(said word 2) of main, used in record and 1 more \(bss, "
	fi
}

for release in $(releases 1.19 1.24 1.27); do
	check "$release"
done
check_arm64

finish
