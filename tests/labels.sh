#!/usr/bin/env bash
# The labels that runtime/pprof gave goroutines of a stripped process, against the profile of goroutines that the
# process writes of itself.
. "$(dirname "$0")/lib.sh"

# counted: how many goroutines have the same labels, of lines of labels on standard input.
counted() {
	sort | uniq -c | awk '{ $1 = $1; print }'
}

# told: the labels in a profile on standard input, those of each goroutine on a line.
told() {
	awk '
		/^[0-9]+ @/ { count = $1 }
		/^# labels: / {
			sub(/^# labels: \{/, "")
			sub(/\}$/, "")
			for (i = 0; i < count; i++)
				print
		}' | sed 's/":"/": "/g'
}

# listed: the same of goroutines as JSON.
listed() {
	sed -nE 's/^.*"labels":\[(.+)\],"frames".*/\1/p' |
		sed -E 's/\{"key":("([^"\\]|\\.)*"),"value":("([^"\\]|\\.)*")\}/\1: \3/g; s/,"/, "/g'
}

# ids: the numbers of the goroutines listed on standard input.
ids() {
	sed -nE 's/^goroutine ([0-9]+) .*/\1/p'
}

# first_calls: of a list on standard input, each goroutine's number and its first call in the sample, or its first.
first_calls() {
	awk '
		function flush() { if (id != "") print id, found }
		/^goroutine / { flush(); id = $2; found = ""; mine = 0; next }
		/^created by / || /^$/ || /^\t/ { next }
		{
			sub(/\(.*/, "")
			if (found == "" || (!mine && /^main\./)) found = $0
			mine = mine || /^main\./
		}
		END { flush() }'
}

# creators: of a traceback on standard input, each goroutine's number and that of the one which created it.
creators() {
	awk '/^goroutine / { id = $2 } / in goroutine [0-9]+$/ { print id "," $NF }' | sort -n
}

# check_heap NAME: where its heap is asked about, goroutines have the labels and creators that the process tells.
check_heap() {
	local file
	for file in dump packed; do
		"$GOHEAP" goroutines --json "$work/$file" 2>"$work/why" | listed | counted >"$work/found"
		same "$1: labels in a $file" "$work/expected" "$work/found"
		equal "$1: those with a label in a $file" 2 "$("$GOHEAP" goroutines --label kind=reader "$work/$file" | ids | wc -l)"
		equal "$1: nothing is wrong with the $file" "" "$(cat "$work/why")"
	done
	equal "$1: labels in SQL" 2 "$(grep -c ',reader$' "$work/sql")"
	equal "$1: a reader that shares no code reads the dump" "$("$dumpfile" graph "$work/dump" | grep -c '^object.*pointers')" \
		"$("$GOHEAP" info --json "$work/dump" | sed -E 's/.*"objects":([0-9]+).*/\1/')"
	# Tracebacks of Go 1.21 and later tell who created a goroutine.
	((${release#1.} >= 21)) || return
	creators <"$work/traceback" >"$work/expected"
	[ "$(wc -l <"$work/expected")" -ge 8 ] || fail "$1: the process tells creators" "$(cat "$work/expected")"
	awk -F, 'NR == FNR { told[$1]; next } $1 in told { print $1 "," $2 }' "$work/expected" "$work/sql" | sort -n >"$work/found"
	same "$1: creators in SQL" "$work/expected" "$work/found"
	"$GOHEAP" goroutines --all --json "$work/dump" |
		sed -nE 's/^\{"id":([0-9]+),.*"created_in":([0-9]+).*/\1,\2/p' | sort -n >"$work/found"
	same "$1: creators in a dump" "$work/expected" "$work/found"
}

# check NAME PROGRAM
check() {
	rm -f "$work/input"
	mkfifo "$work/input"
	: >"$work/profile" # another may have been ready before
	GODEBUG=tracebacklabels=1 "$2" <"$work/input" >"$work/profile" 2>"$work/traceback" &
	local pid=$! list
	exec 7>"$work/input"
	touch "$work/profile"
	wait_until grep -q '^ready' "$work/profile"
	"$GOHEAP" goroutines -p "$pid" >"$work/list" 2>"$work/why"
	"$GOHEAP" goroutines -p "$pid" --json >"$work/json" 2>"$work/why"
	list=$("$GOHEAP" goroutines -p "$pid" -1 2>"$work/why")
	"$GOHEAP" goroutines -p "$pid" --label kind=reader >"$work/readers" 2>"$work/why"
	"$GOHEAP" goroutines -p "$pid" --label kind >"$work/kinds" 2>"$work/why"
	"$GOHEAP" goroutines -p "$pid" --label kind=reade >"$work/none" 2>"$work/why"
	"$GOHEAP" dump -f "$pid" -o "$work/dump" 2>"$work/why"
	equal "$1: no goroutine has a label" 'goheap: none of the goroutines matches' \
		"$("$GOHEAP" goroutines -p "$pid" --label nosuch 2>&1 | grep -v paused)"
	"$GOHEAP" dump -f "$pid" --gzip -o "$work/packed" 2>"$work/why"
	cp "$work/dump" "$work/kept"
	equal "$1: a dump that is there is kept" "goheap: $work/dump exists: name another file, or replace it with --force" \
		"$("$GOHEAP" dump "$pid" -o "$work/dump" 2>&1)"
	same "$1: and is as it was" "$work/kept" "$work/dump"
	lacks "$1: nothing is stopped for a dump that cannot be written" \
		"$("$GOHEAP" dump "$pid" -o "$work/nowhere/dump" 2>&1)" paused
	"$GOHEAP" sql --csv -p "$pid" "SELECT id, creator, json_extract(labels, '$.kind') FROM goroutines" \
		2>"$work/why" >"$work/sql"
	kill -QUIT "$pid"
	wait "$pid" 2>"$work/why"
	exec 7>&-
	told <"$work/profile" | counted >"$work/expected"
	listed <"$work/json" | counted >"$work/found"
	equal "$1: goroutines with labels" 6 "$(told <"$work/profile" | wc -l)"
	same "$1: labels" "$work/expected" "$work/found"
	check_heap "$1"
	equal "$1: those with a label" 2 "$(ids <"$work/readers" | wc -l)"
	equal "$1: which have it" 2 "$(grep -c '^goroutine .*\] {kind: reader}:$' "$work/readers")"
	equal "$1: those with a label of a key" 3 "$(ids <"$work/kinds" | wc -l)"
	equal "$1: those with a label that none has" "" "$(cat "$work/none")"
	equal "$1: a line for each" "$(ids <"$work/list")" "$(ids <<<"$list")"
	equal "$1: its first call in the program" "$(first_calls <"$work/list")" \
		"$(sed -E 's/^goroutine ([0-9]+) \[[^]]*\]( \{.*\})?: ([^(]*)\(.* at .*:[0-9]+$/\1 \3/' <<<"$list")"
	# Tracebacks of Go 1.27 and later tell labels themselves. Which goroutine runs has changed.
	if ((${release#1.} >= 27)); then
		has "$1: labels in the process's own traceback" "$(grep '^goroutine' "$work/traceback")" '^goroutine .*\] \{kind: reader\}:$'
		equal "$1: the same as in the process's own traceback" \
			"$(sed -nE 's/^(goroutine [0-9]+) .*(\] \{.*\}:)$/\1 \2/p' "$work/traceback" | sed 's/ gp=.*\[/ [/' | sort)" \
			"$(sed -nE 's/^(goroutine [0-9]+) .*(\] \{.*\}:)$/\1 \2/p' "$work/list" | sort)"
	fi
}

build_dumpfile
for release in $(releases 1.15 1.19 1.23 1.24 1.27); do
	CGO_ENABLED=0 sample "Go $release" "$release" labels && check "Go $release" "$directory/labels.stripped"
done
finish
