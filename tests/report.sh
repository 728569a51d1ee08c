#!/usr/bin/env bash
# The page that `goheap report' writes, in a browser: what it says of each structure of a sample, against what
# the sample says itself and what Go's collector freed of it; and as a person uses it.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" chromium node || finish
if ! playwright=$("$tests/npm-program" playwright-core@1.55.0 package.json 2>"$work/why") ||
	! axe=$("$tests/npm-program" axe-core@4.10.3 axe.min.js 2>"$work/why"); then
	skip "everything" "$(tail -n 1 "$work/why")"
	finish
fi

# browse WHAT HOW: what tests/web-browser.mjs finds in the report.
browse() {
	timeout -k 5 500 node "$tests/web-browser.mjs" "${playwright%/package.json}" "$axe" "file://$work/report.html" "$@" 2>&1
}

# answers FILE: what is recorded in a report.
answers() {
	sed -n 's/.*id="recording">\(.*\)<\/script>/\1/p' "$1" | base64 -d | gzip -dc
}

# check_release RELEASE: each structure of a sample, and its deadlock.
check_release() {
	local directory structure kind name where to bytes addresses=()
	sample "Go $1" "$1" graph || return 0
	"$directory/graph.stripped" "$work/dump" >"$work/said" || fail "Go $1: the sample runs"
	"$GOHEAP" report -e "$directory/graph.stripped" "$work/dump" -o "$work/report.html" ||
		fail "Go $1: the page is written"
	lacks "Go $1: the page asks for nothing outside it" "$(cat "$work/report.html")" '(src|href)="[^#]|url\(|https?://|import '
	answers "$work/report.html" >"$work/answers"

	while read -r _ structure kind name where to; do
		[ "$kind" = finalizer ] && continue
		bytes=$(awk -v structure="$structure" '$1 == "freed" && $2 == structure { print $3 }' "$work/said")
		[ "$kind" = frame ] && where="goroutine $where, $name"
		printf '%s %s bytes, held by %s\n' "$to" "$bytes" "$where"
		addresses+=("$to")
		# What a resource holds its finalizer holds as well.
	done < <(grep '^root' "$work/said" | grep -v resource) >"$work/expected"
	browse "$(IFS=,; echo "${addresses[*]}")" objects >"$work/seen"
	while read -r to bytes _; do
		where=$(sed -n "s/^$to .*held by //p" "$work/expected")
		grep -qF -- "$where" <(grep "^object $to " "$work/seen") || where=$(grep "^object $to " "$work/seen")
		printf '%s %s bytes, held by %s\n' "$to" \
			"$(sed -n "s/^{\"object\":\"$to\",.*\"retained\":\([0-9]*\)}$/\1/p" "$work/answers" | head -n 1)" "$where"
	done < <(cat "$work/expected") >"$work/found"
	same "Go $1: what each structure retains, and what holds it" "$work/expected" "$work/found"
	equal "Go $1: nothing is wrong with the page" end "$(grep -v '^object ' "$work/seen")"
}

# names FILE: what text is in it.
names() {
	strings "$1"
	[ "$command" != report ] || answers "$1"
}

# check_gdb: the same commands on the dump that GDB has loaded, and so on the program and its names.
check_gdb() {
	local directory command
	if ! command -v gdb >/dev/null || ! directory=$("$tests/build-sample" 1.19 graph 2>"$work/why"); then
		skip "in GDB" "no gdb, or no sample"
		return
	fi
	"$directory/graph.stripped" "$work/dump" >"$work/said"
	for command in report hprof dot; do
		goheap "$directory/graph.stripped" "goheap load --names $directory/graph $work/dump" "goheap $command -o $work/in-gdb" \
			>"$work/session"
		has "in GDB: goheap $command, with the names of variables" "$(names "$work/in-gdb")" 'main\.table'
	done
}

# A type's name, a function's and a root's that are parts of a page.
check_hostile() {
	build_maker makedump || exit
	for format in 1 5; do
		"$work/makedump" hostile $format 8 little >"$work/made"
		"$GOHEAP" report "$work/made" -o "$work/report.html" 2>/dev/null || fail "hostile names, format $format: a page"
		equal "hostile names, format $format: nothing of them is run, and writing goes one way" end "$(browse "" report)"
		equal "hostile names, format $format: scripts are the page's own" 2 "$(grep -c '</script' "$work/report.html")"
	done
}

# check_errors: what is no dump, and where nothing can be written.
check_errors() {
	echo nothing >"$work/nothing"
	"$GOHEAP" report "$work/nothing" -o "$work/none.html" 2>"$work/why"
	equal "no dump: status" 1 $?
	equal "no dump: no page" "" "$(ls "$work/none.html" 2>/dev/null)"
	"$GOHEAP" report "$work/made" -o "$work/none/none.html" 2>"$work/why"
	equal "no directory: status" 1 $?
	has "no directory: the reason" "$(cat "$work/why")" '^goheap: .*/none/none\.html: '
	"$GOHEAP" report "$work/made" 2>/dev/null
	equal "no name: status" 2 $?
}

# check_waits RELEASE: the page of a process with a deadlock has it, by what each goroutine printed.
check_waits() {
	sample "Go $1, waits" "$1" deadlocks || return 0
	run_until_ready "$directory/deadlocks.stripped" two
	"$GOHEAP" report -p "$pid" -o "$work/report.html" 2>"$work/why" || fail "Go $1: the page of a process is written" "$(cat "$work/why")"
	exec 7>&-
	wait "$pid" 2>"$work/why"
	browse "" leaked >"$work/seen"
	same "Go $1: who waits for what" <(sed '/^ready/d' "$work/output" | sort) \
		<(sed -nE 's/^circle goroutine ([0-9]+) waits: .* (0x[0-9a-f]+) in main\.account.*/\1 \2/p' "$work/seen" | sort)
}

# check_compared: a report of two dumps, as a person uses it, against the sample's source, as tests/web.sh does.
check_compared() {
	local directory
	sample "two dumps" 1.19 leak || return 0
	"$directory/leak.stripped" "$work/before" "$work/after" || fail "two dumps: the sample runs"
	"$GOHEAP" report -e "$directory/leak.stripped" "$work/before" "$work/after" -o "$work/report.html" || fail "two dumps: the page is written"
	[ "$(stat -c %s "$work/report.html")" -le 2000000 ] || fail "two dumps: 2 MB at the most" "$(stat -c %s "$work/report.html")"
	browse main.Request report >"$work/seen"
	cat >"$work/expected" <<-END
		path true true
		up []*main.Request
		back true
		search 1
		key types
		tree true
		flame body ([]uint8): 3.1 MB, 3,000 objects, +3.1 MB since the older dump
		merged 3,000 +3.3 MB
		map growth +3.3 MB
		map true
		goroutine true true
		slot true
		climb true true
		growth +144 kB
		object growth +3.3 MB
		new text new
		stacks +1
		missing true
		grey true
		pattern 1
		end
	END
	same "two dumps: in a browser, as a person uses it" "$work/expected" \
		<(grep -v '^busy\|^grown' "$work/seen" | sed 's/^up \([^ ]*\) .*/up \1/')
	has "two dumps: requests" "$(cat "$work/seen")" '^grown [+]2,99[01]$'
}

releases=$("$tests/toolchain" list)
for release in $(releases 1.15 1.19 "$(tail -n 1 <<<"$releases")"); do
	check_release "$release"
	check_waits "$release"
done
check_compared
check_gdb
check_hostile
check_errors
finish
