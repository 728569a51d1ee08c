#!/usr/bin/env bash
# The page that `goheap report' writes, in a browser: what it says of each structure of a sample, against what
# the sample says itself and what Go's collector freed of it.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" chromium || finish

# browse PAGE SCRIPT: prints what SCRIPT gives to say(), a line each, once the browser has loaded PAGE.
browse() {
	{
		sed '$d' "$1" | sed '$d'
		cat <<-END
			<pre id="said"></pre>
			<script>
			const say = line => document.getElementById('said').append(line + '\n');
			addEventListener('error', event => say('error ' + event.message));
			addEventListener('load', () => { $2
			say('end'); });
			</script>
			</body>
			</html>
		END
	} >"$work/page.html"
	timeout -k 5 60 chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=10000 --dump-dom \
		"file://$work/page.html" 2>"$work/why" | sed -n '/<pre id="said">/,/<\/pre>/p' |
		sed 's/.*<pre id="said">//; s/<\/pre>.*//; s/&gt;/>/g; s/&lt;/</g; s/&amp;/\&/g' | grep -v '^$'
}

# What a reader does to find what keeps an object alive: looks for it, and chooses it.
# shellcheck disable=SC2016 # the script's own
find_object='
const find = text => {
	const search = document.getElementById("search");
	search.value = text;
	search.dispatchEvent(new Event("input"));
	document.querySelector("#dominators td button").click();
	return document.getElementById("details").innerText.replaceAll("\n", " ");
};'

# check_release RELEASE
check_release() {
	local directory script=$find_object structure kind name where to bytes
	sample "Go $1" "$1" graph || return 0
	"$directory/graph.stripped" "$work/dump" >"$work/said" || fail "Go $1: the sample runs"
	"$GOHEAP" report -e "$directory/graph.stripped" "$work/dump" -o "$work/report.html" ||
		fail "Go $1: the page is written"
	lacks "Go $1: the page asks for nothing outside it" "$(cat "$work/report.html")" '(src|href)=|url\(|https?://|import'

	while read -r _ structure kind name where to; do
		[ "$kind" = finalizer ] && continue
		bytes=$(awk -v structure="$structure" '$1 == "freed" && $2 == structure { print $3 }' "$work/said")
		[ "$kind" = frame ] && where="goroutine $where, $name"
		printf '%s\t%s bytes, held by %s\n' "$structure" "$bytes" "$where"
		# What a resource holds its finalizer holds as well.
		script+="
			{
				const text = find('$to'), node = nodes.find(one => one.address === '$to');
				const held = text.includes('$where') ? '$where' : text;
				say('$structure\\t' + node.retained + ' bytes, held by ' + held);
			}"
	done < <(grep '^root' "$work/said" | grep -v resource) >"$work/expected"
	browse "$work/report.html" "$script" >"$work/found"
	echo end >>"$work/expected"
	same "Go $1: what each structure retains, and what holds it" "$work/expected" "$work/found"

	# shellcheck disable=SC2016
	browse "$work/report.html" '
		say(`sum ${nodes.filter(one => one.parent === 0).reduce((sum, one) => sum + one.retained, 0)}`);
		say(`whole ${nodes[0].retained}`);
		say(`less ${nodes.every(one => one.children.reduce((sum, child) => sum + child.retained, 0) <= one.retained)}`);
		say(`boxes ${document.querySelectorAll("#map .cell").length > 10}`);
		say(`stacks ${data.goroutines.length > 0 && data.goroutines.some(one => one.frames.some(frame => frame.function === "main.hold"))}`);
		say(`width ${document.documentElement.scrollWidth <= innerWidth}`);' >"$work/found"
	equal "Go $1: the boxes of the map add up" "$(sed -n 's/^whole //p' "$work/found")" \
		"$(sed -n 's/^sum //p' "$work/found")"
	equal "Go $1: the rest of the page" "less true boxes true stacks true width true end" \
		"$(grep -v '^sum\|^whole' "$work/found" | tr '\n' ' ' | sed 's/ $//')"
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
		has "in GDB: goheap $command, with the names of variables" "$(strings "$work/in-gdb")" 'main\.table'
	done
}

# A type's name, a function's and a root's that are parts of a page.
check_hostile() {
	"$CC" -std=gnu11 -I "$tests/.." "$tests/oracle/makedump.c" "$tests/unit/dumpmaker.c" -o "$work/makedump" || exit
	for format in 1 5; do
		"$work/makedump" hostile $format 8 little >"$work/made"
		"$GOHEAP" report "$work/made" -o "$work/report.html" 2>/dev/null || fail "hostile names, format $format: a page"
		equal "hostile names, format $format: the page is whole, and its writing goes one way" "whole heap false end" \
			"$(browse "$work/report.html" 'say(nodes[0].name); say(/[\u202a-\u202e\u2066-\u2069]/.test(document.body.innerText));' | tr '\n' ' ' | sed 's/ $//')"
		equal "hostile names, format $format: scripts are the page's own" 5 "$(grep -c '</script' "$work/report.html")"
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

releases=$("$tests/toolchain" list)
# check_waits RELEASE: the page of a process with a deadlock has it, by what each goroutine printed.
check_waits() {
	sample "Go $1, waits" "$1" deadlocks || return 0
	run_until_ready "$directory/deadlocks.stripped" two
	"$GOHEAP" report -p "$pid" -o "$work/report.html" 2>"$work/why" || fail "Go $1: the page of a process is written" "$(cat "$work/why")"
	exec 7>&-
	wait "$pid" 2>"$work/why"
	browse "$work/report.html" 'say(document.getElementById("waiting").innerText);' >"$work/shown"
	same "Go $1: who waits for what" <(sed '/^ready/d' "$work/output" | sort) \
		<(sed -nE 's/^( *held by )?goroutine ([0-9]+) \(.* waits to lock sync\.Mutex (0x[0-9a-f]+).*/\2 \3/p' "$work/shown" | sort)
	has "Go $1: groups" "$(cat "$work/shown")" '^2 goroutines: lock sync\.Mutex, in main\.transfer at .*; 2 different ones$'
}

for release in ${RELEASES:-1.15 1.19 "$(tail -n 1 <<<"$releases")"}; do
	check_release "$release"
	check_waits "$release"
done
check_gdb
check_hostile
check_errors
finish
