#!/usr/bin/env bash
# The page that `goheap web' serves: who gets it and who does not; what it answers, against the commands and against the
# sample's own source; and in a browser, as a person uses it.
. "$(dirname "$0")/lib.sh"
session_home

# serve ARGUMENT...: starts it; its process is $server, and its address $address, which ends in a slash.
serve() {
	rm -f "$work/address"
	# A shell has what is in the background ignore SIGINT.
	env --default-signal=INT "$GOHEAP" web "$@" >"$work/address" 2>"$work/why" &
	server=$!
	wait_until [ -s "$work/address" ]
	address=$(cat "$work/address")
	port=$(sed -E 's|.*:([0-9]+)/.*|\1|' "$work/address")
}

# status ARGUMENT...: what HTTP says.
status() {
	curl -s --max-time 20 -o "$work/body" -w '%{http_code}' "$@"
}

stop() {
	end "$server"
}

check_guard() {
	local token=${address#http://127.0.0.1:*/} name
	has "the address" "$address" '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$'
	equal "with the address" 200 "$(status "$address")"
	equal "without the token" 403 "$(status "http://127.0.0.1:$port/")"
	equal "the file of a page without the token" 403 "$(status "http://127.0.0.1:$port/main.js")"
	equal "with another token" 403 "$(status "http://127.0.0.1:$port/$(tr 0-9a-f 1-9a-f0 <<<"${token%/}")/api/info")"
	equal "with a part of it" 403 "$(status "http://127.0.0.1:$port/${token:0:31}/api/info")"
	equal "by another name" 403 "$(status -H "Host: evil.example:$port" "$address")"
	equal "by its name and no port" 403 "$(status -H "Host: 127.0.0.1" "$address")"
	equal "as localhost" 200 "$(status -H "Host: localhost:$port" "$address")"
	equal "from another site's page" 403 "$(status -H "Origin: http://evil.example" "$address"api/info)"
	equal "from another port's page" 403 "$(status -H "Origin: http://127.0.0.1:1" "$address"api/info)"
	equal "from its own page" 200 "$(status -H "Origin: http://127.0.0.1:$port" "$address"api/info)"
	equal "from a page that hides which" 403 "$(status -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors' "$address"api/info)"
	equal "POST" 405 "$(status -X POST "$address"api/info)"
	equal "DELETE" 405 "$(status -X DELETE "$address"api/info)"
	lacks "a long request" "$(status -H "X-Long: $(head -c 100000 /dev/zero | tr '\0' a)" "$address")" '^200$'
	equal "a file that is none of the page's" 404 "$(status --path-as-is "$address../../../etc/passwd")"
	curl -s --max-time 20 -D "$work/headers" -o "$work/body" "$address"
	for name in "content-security-policy: default-src 'none'" 'x-content-type-options: nosniff' 'referrer-policy: no-referrer' \
		'cache-control: no-store' 'cross-origin-resource-policy: same-origin'; do
		has "a header: $name" "$(tr -d '\r' <"$work/headers" | tr '[:upper:]' '[:lower:]')" "^$name"
	done
	lacks "the policy has no way in" "$(cat "$work/headers")" 'unsafe-|\*'
	if command -v ss >/dev/null; then
		equal "it listens on this machine's own address alone" "127.0.0.1:$port" "$(ss -Htln "sport = :$port" | awk '{ print $4 }')"
	fi
}

# check_silent: who connects and says nothing, or never ends, keeps no one else waiting. A server that takes no more has the
# kernel try to connect for minutes.
check_silent() {
	: >"$work/connected" # another may have been ready before
	local silent
	# shellcheck disable=SC2016 # the inner shell expands these
	timeout 60 bash -c '
		for i in {1..260}; do
			exec {fd}<>"/dev/tcp/127.0.0.1/$0"
			[ $((i % 2)) = 0 ] || printf "GET / HTTP/1.1\r\nX-Slow: " >&"$fd"
		done
		echo connected
		sleep 60' "$port" >"$work/connected" &
	silent=$!
	wait_until grep -q connected "$work/connected"
	equal "besides 260 silent connections" 200 "$(status --max-time 8 "$address")"
	end "$silent"
	equal "after 260 silent connections" 200 "$(status --max-time 8 "$address")"
}

# What the page may not ask.
check_refused() {
	local question long
	for question in dump core 'histogram?output=/tmp/x' 'histogram?exe=/etc/passwd' 'histogram?names=/etc/passwd' 'histogram?process=1' \
		'histogram?module=x' 'histogram?limit=10001' 'histogram?limit=0' 'histogram?limit=-1' 'histogram?json=1' 'instances?type=--exe=/etc/passwd' \
		'instances?type=' 'objects?address=/etc/passwd' 'objects?address=0x' 'objects?address=-1' 'histogram?by=%00' 'diff?older=/etc/passwd' \
		'histogram?older=/etc/passwd' 'diff?older' 'suspects?older' 'sql?output=/tmp/x' 'sql?query=-o/tmp/x' 'sql?query=' \
		'../api/info' 'web' 'ask' 'session?fresh'; do
		has "not to be asked: $question" "$(status --path-as-is "$address"api/"$question")" '^(400|404)$'
	done
	for question in 'DROP+TABLE+objects' 'ATTACH+%27/etc/passwd%27+AS+x' "SELECT+load_extension(%27/tmp/x%27)" 'VACUUM+INTO+%27/tmp/x%27'; do
		has "SQL that reads no heap: $question" "$(curl -s --max-time 20 "$address"api/sql?query="$question")" '^goheap: (not authorized|sql: expected a SELECT)'
	done
	has "why there is no answer" "$(curl -s --max-time 20 "$address"'api/objects?address=0x1')" '^goheap: 0x1: expected an address in an object'
	long=$(head -c 4097 /dev/zero | tr '\0' a)
	for question in "sql?query=$long" "strings?grep=$long" "instances?type=$long"; do
		equal "a text that is too long: ${question%%=*}" \
			"goheap: expected a text of at most 4096 bytes, found one of 4097: goheap in a shell takes longer ones" \
			"$(curl -s --max-time 20 "$address"api/"$question")"
	done
	lacks "a text as long as can be" "$(curl -s --max-time 20 "${address}api/strings?grep=${long%a}")" 'expected a text'
	equal "a question with too many parts" 400 "$(status "$address"'api/histogram?'"$(printf 'by=type&%.0s' {1..40})")"
}

# half_closed VERSION QUESTION: what is answered to who asks and closes its direction of the connection, by HTTP/VERSION.
half_closed() {
	python3 -c '
import socket, sys
port, path, version = sys.argv[1:]
asked = socket.create_connection(("127.0.0.1", int(port)), 100)
asked.sendall(f"GET {path} HTTP/{version}\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
asked.shutdown(socket.SHUT_WR)
while part := asked.recv(65536):
    sys.stdout.buffer.write(part)' "$port" "/${address#http://*/}api/$2" "$1" | tr -d '\r'
}

# is_idle: no question is being answered.
# shellcheck disable=SC2317 # wait_until calls it.
is_idle() {
	! pgrep -P "$server" >/dev/null
}

# check_ends: who has no more to say is answered, and who has gone is not.
check_ends() {
	local version found last numbers='WITH+RECURSIVE+n(i)+AS+(SELECT+1+UNION+ALL+SELECT+i%2B1+FROM+n'
	if needs "a connection that is closed in one direction" python3; then
		for version in 1.0 1.1; do
			last=3${version#1.}00000
			found=$(half_closed "$version" "sql?query=$numbers+WHERE+i%3C$last)+SELECT+count(*)+AS+numbers+FROM+n")
			has "a connection that is closed in one direction, HTTP/$version: status" "$found" '^HTTP/1\.1 200 OK$'
			equal "a connection that is closed in one direction, HTTP/$version: the answer" "{\"numbers\":$last}" "$(tail -n 1 <<<"$found")"
		done
		lacks "no interim response of HTTP/1.0" "$(half_closed 1.0 info)" '100 Continue'
	fi
	wait_until is_idle || fail "nothing is left to answer"
	curl -s --max-time 100 "$address"api/sql?query="$numbers)+SELECT+count(*)+FROM+n" >"$work/body" &
	wait_until pgrep -P "$server" >/dev/null || fail "an endless question is being answered"
	equal "another question is answered meanwhile" '{"answer":42}' \
		"$(curl -s --max-time 100 "$address"api/sql?query=SELECT+42+AS+answer)"
	kill -KILL $!
	wait $! 2>/dev/null
	wait_until is_idle
	equal "an endless question that nobody waits for any more is not answered" "" "$(pgrep -P "$server")"
}

# check_answers RELEASE PROGRAM: each answer is what the command prints.
check_answers() {
	local object question arguments
	object=$("$GOHEAP" histogram --json -e "$2" "$work/after" | sed -n 's/.*"largest":"\([^"]*\)","type":"main.Server".*/\1/p')
	while IFS='|' read -r question arguments; do
		question=${question//OBJECT/$object} arguments=${arguments//OBJECT/$object}
		# shellcheck disable=SC2086 # words
		set -- $arguments
		case $1 in
		diff) "$GOHEAP" diff --bytes -e "$program" "$work/before" "$work/after" "${@:2}" ;;
		suspects) "$GOHEAP" suspects --bytes -e "$program" "$work/before" "$work/after" "${@:2}" ;;
		memstats) "$GOHEAP" "$1" "$work/after" "${@:2}" ;;
		older) "$GOHEAP" "$2" -e "$program" "$work/before" "${@:3}" ;;
		sql) "$GOHEAP" sql -e "$program" --json "$work/after" "SELECT type, count(*) FROM objects GROUP BY 1" ;;
		*) "$GOHEAP" "$1" -e "$program" "$work/after" "${@:2}" ;;
		esac >"$work/expected" 2>"$work/why"
		curl -s --max-time 20 "$address"api/"$question" >"$work/found"
		[ -s "$work/expected" ] || fail "Go $release: $question: the command answers"
		same "Go $release: $question" "$work/expected" "$work/found"
	done <<-END
		info|info --json
		memstats|memstats --json
		suspects|suspects --json
		histogram?by=type|histogram --json --by type -n 1000
		histogram?by=site&limit=5|histogram --json --by site -n 5
		histogram?by=path|histogram --json --by path -n 1000
		instances?type=main.Request|instances --json -n 100 main.Request
		dominators|dominators --json -n 100
		dominators?merged&limit=10000|dominators --merged --json -n 10000
		profile|profile --json
		dominators?address=OBJECT|dominators --json -n 100 OBJECT
		objects?address=OBJECT|objects --json -n 100 OBJECT
		print?address=OBJECT&depth=1&limit=100|print --json --depth 1 -n 100 OBJECT
		path?address=OBJECT|path --json -n 100 OBJECT
		referrers?address=OBJECT|referrers --json -n 100 OBJECT
		reachable?address=OBJECT|reachable --json -n 100 OBJECT
		strings?grep=visitor+77|strings --json -n 100 --grep visitor.77
		goroutines?group|goroutines --json --group
		goroutines?memory|goroutines --json --memory
		waits?group|waits --json --group
		hang|hang --json
		diff?by=type|diff --json --by type -n 1000
		diff?by=path&limit=10000|diff --json --by path -n 10000
		goroutines?group&older|older goroutines --json --group
		strings?limit=10000&older|older strings --json -n 10000
		histogram?by=type&older|older histogram --json -n 1000
		sql?query=SELECT+type,+count(*)+FROM+objects+GROUP+BY+1|sql
	END
}

# sums KEY DUMP: in JSON how many objects it has, how many bytes, and how many of them are reachable, by an independent reader.
sums() {
	local figures
	mapfile -t figures < <("$dumpfile" objects "$2" | cut -f 2; "$dumpfile" reach "$2" </dev/null | sed -n 's/^bytes\t//p')
	printf '"%sobjects":%s,"%sbytes":%s,"%sreachable":%s' "$1" "${figures[0]}" "$1" "${figures[1]}" "$1" "${figures[2]}"
}

# check_browser RELEASE TYPE [one|large]: with TYPE, as a person uses it; and on three screens, or one. Fails if there is no browser.
check_browser() {
	local playwright axe
	if ! command -v chromium >/dev/null || ! command -v node >/dev/null; then
		skip "Go $1: in a browser" "no chromium, or no node"
		return 1
	fi
	if ! playwright=$("$tests/npm-program" playwright-core@1.55.0 package.json 2>"$work/why") ||
		! axe=$("$tests/npm-program" axe-core@4.10.3 axe.min.js 2>"$work/why"); then
		skip "Go $1: in a browser" "$(tail -n 1 "$work/why")"
		return 1
	fi
	timeout -k 5 500 node "$tests/web-browser.mjs" "${playwright%/package.json}" "$axe" "$address" "$2" ${3+"$3"} >"$work/seen" 2>&1 ||
		echo "it ended with $?" >>"$work/seen"
}

# thousands N: with a comma after the thousands.
thousands() {
	sed -E 's/([0-9]{3})$/,\1/' <<<"$1"
}

# check_release RELEASE
check_release() {
	local objects directory release=$1 program
	sample "Go $1" "$1" leak || return 0
	program=$directory/leak.stripped
	"$program" "$work/before" "$work/after" || fail "Go $1: the sample runs"
	serve -e "$program" "$work/after" "$work/before"
	[ "$1" != 1.19 ] || check_guard
	[ "$1" != 1.19 ] || check_refused
	[ "$1" != 1.19 ] || check_silent
	[ "$1" != 1.19 ] || check_ends
	check_answers "$1" "$program"
	equal "Go $1: the sums of both heaps" "{$(sums older_ "$work/before"), $(sums '' "$work/after")," \
		"$(curl -s --max-time 20 "${address}api/source" | sed -E 's/^(.*),"file".*("objects":.*),"typed".*/\1, \2,/')"
	local screens=()
	# Screens do not depend on the release.
	[ "$1" = 1.19 ] || screens=(one)
	# The visits' requests, and perhaps the one that waits to be answered: few releases tell its type.
	objects=$("$GOHEAP" histogram --json -e "$program" "$work/after" | sed -n 's/^{"objects":\([0-9]*\),.*"type":"main.Request"}$/\1/p')
	has "Go $1: requests" "$objects" '^300[01]$'
	if check_browser "$1" main.Request "${screens[@]}"; then
		cat >"$work/expected" <<-END
			path true true
			up []*main.Request
			back true
			objects $(thousands "$objects")
			instances $objects
			search 1
			key types
			tree true
			flame body ([]uint8): 3.1 MB, 3,000 objects, +3.1 MB since the older dump
			merged 3,000 +3.3 MB
			map growth +3.3 MB
			map true
			goroutine true true
			slot true
			entries 500
			entry "visitor 77" ADDRESS main.Session
			busy 1
			busy 0
			climb true true
			grown +$(thousands $((objects - 10)))
			growth +144 kB
			object growth +3.3 MB
			new text new
			stacks +1
			query $(thousands "$objects")
			wait 1
			end
		END
		# What the sample's source says: 500 visitors, of 6 requests with 1024 bytes each, and 10 requests before.
		sed 's/^up \([^ ]*\) .*/up \1/' "$work/seen" >"$work/found"
		same "Go $1: in a browser, as a person uses it" "$work/expected" "$work/found"
		for ((i = 0; i < 100; i++)); do
			pgrep -P "$server" >/dev/null || break
			sleep 0.1
		done
		equal "Go $1: what nobody waits for any more is not answered" "" "$(pgrep -P "$server")"
	fi
	kill -INT "$server"
	wait "$server" 2>/dev/null
	equal "Go $1: it ends when it is interrupted" 130 $?
	equal "Go $1: and does not answer then" 000 "$(status "$address")"
}

# check_large: the same of two million visits, whose dump is larger than 2 GB.
check_large() {
	local directory free available
	free=$(df --output=avail -B 1M "$work" | tail -n 1)
	available=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	if [ "$free" -lt 4000 ] || [ "$available" -lt 6000 ]; then
		skip "2 GB" "it needs 4000 MB on the disk and 6000 of memory, and there are $free and $available"
		return
	fi
	sample "2 GB" 1.19 leak || return
	GOGC=off "$directory/leak.stripped" "$work/before" "$work/large" many || fail "2 GB: the sample runs"
	has "2 GB: the dump's size" "$(stat -c %s "$work/large")" '^2[0-9]{9}$'
	serve -e "$directory/leak.stripped" "$work/large" "$work/before"
	if check_browser "2 GB" main.Request large; then
		# A request has 48 bytes, its body 1,024, and its path 16, or 24 in the second million.
		cat >"$work/expected" <<-END
			path true true
			up []*main.Request
			back true
			objects 2,000,001
			instances 10000
			search 1
			key types
			tree true
			flame body ([]uint8): 2.0 GB, 2,000,000 objects, +2.0 GB since the older dump
			merged 2,000,000 +2.2 GB
			map growth +2.2 GB
			map true
			goroutine true true
			slot true
			entries 500
			entry "visitor 77" ADDRESS main.Session
			busy 1
			busy 0
			climb true true
			grown +1,999,991
			growth +96.0 MB
			object growth +2.2 GB
			stacks +1
			query 2,000,001
			wait 1
			end
		END
		sed 's/^up \([^ ]*\) .*/up \1/' "$work/seen" >"$work/found"
		same "2 GB: in a browser, as a person uses it" "$work/expected" "$work/found"
	fi
	stop
	rm -f "$work/large"
}

# Names that are parts of a page.
check_hostile() {
	build_maker makedump || exit
	"$work/makedump" hostile 5 8 little >"$work/made"
	serve "$work/made"
	if check_browser "hostile names" ""; then
		equal "hostile names: nothing of them is run or asked for" end "$(cat "$work/seen")"
	fi
	stop
}

# check_process: of a process that goes on, the page shows the heap and the goroutines as they were when it was opened.
check_process() {
	local directory before
	sample "of a process" 1.19 crowd || return
	run_until_ready "$directory/crowd.stripped" 50 "$work/crowd" -
	"$GOHEAP" dump -f "$pid" -o "$work/older" 2>"$work/why" || fail "of a process: its dump" "$(cat "$work/why")"
	serve -p "$pid" "$work/older"
	[ -n "$address" ] || fail "of a process: it serves" "$(cat "$work/why")"
	before=$(curl -s --max-time 20 "$address"'api/goroutines?group' |
		sed -E 's/^\{"count":([0-9]+),.*/\1/' | awk '{ sum += $1 } END { print sum }')
	equal "of a process: the goroutines that it began, and main" 51 "$before"
	exec 7>&-
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	equal "of a process that has ended: the goroutines" 51 "$(curl -s --max-time 20 "$address"'api/goroutines' | wc -l)"
	"$GOHEAP" goroutines --json --group -e "$directory/crowd.stripped" "$work/older" >"$work/expected"
	curl -s --max-time 20 "$address"'api/goroutines?group&older' >"$work/found"
	same "of a process that has ended: goroutines of the older dump, by its program" "$work/expected" "$work/found"
	equal "of a process: nothing is read again for each question" 1 "$(grep -c paused "$work/why")"
	stop
}

# check_gdb: of the dump that GDB has loaded, with an older one, in the background until GDB ends.
check_gdb() {
	local directory
	sample "in GDB" 1.19 leak || return
	"$directory/leak.stripped" "$work/before" "$work/after" || fail "in GDB: the sample runs"
	rm -f "$work/gdb" "$work/go"
	mkfifo "$work/go"
	goheap "$directory/leak.stripped" "goheap load $work/after" "goheap web" "goheap web $work/before" "goheap histogram --bytes -n 1" \
		"echo it goes on\\n" "shell cat $work/go" >"$work/gdb" 2>&1 &
	server=$!
	for ((i = 0; i < 600; i++)); do
		! grep -q '^it goes on' "$work/gdb" || break
		sleep 0.1
	done
	grep -o '^http://[^ ]*' "$work/gdb" >"$work/addresses"
	equal "in GDB: addresses" 2 "$(wc -l <"$work/addresses")"
	"$GOHEAP" histogram --json -n 1000 -e "$directory/leak.stripped" "$work/after" >"$work/expected"
	while read -r address; do
		curl -s --max-time 20 "$address"'api/histogram?by=type' >"$work/found"
		same "in GDB: what is loaded" "$work/expected" "$work/found"
	done <"$work/addresses"
	address=$(tail -n 1 "$work/addresses")
	"$GOHEAP" diff --json -n 1000 -e "$directory/leak.stripped" "$work/before" "$work/after" >"$work/expected"
	curl -s --max-time 20 "$address"'api/diff?by=type' >"$work/found"
	same "in GDB: what has grown" "$work/expected" "$work/found"
	# If GDB has ended before, nobody reads it.
	# shellcheck disable=SC2016 # the inner shell expands it
	timeout 60 sh -c ': >"$1"' sh "$work/go"
	wait "$server"
	for ((i = 0; i < 100; i++)); do
		[ "$(status "$address")" != 000 ] || break
		sleep 0.1
	done
	equal "in GDB: it ends with GDB" 000 "$(status "$address")"
}

# check_opened: the browser is shown the way by a file, as all users see what a program is called with.
check_opened() {
	local argument
	needs "a browser is opened" script || return
	mkdir -p "$work/bin"
	cat >"$work/bin/xdg-open" <<-'END'
		#!/bin/sh
		{ echo "$1" && stat -c %a "$1" && sed -n 's/.*url=\([^"]*\)".*/\1/p' "$1"; } >"$OPENED.part"
		mv "$OPENED.part" "$OPENED"
	END
	chmod +x "$work/bin/xdg-open"
	rm -f "$work/go"
	mkfifo "$work/go"
	# What script runs ends with its terminal.
	OPENED=$work/opened DISPLAY=:0 PATH=$work/bin:$PATH HOME=$work \
		timeout 60 script -qec "$GOHEAP web $work/made" /dev/null <"$work/go" >"$work/typed" 2>&1 &
	exec 7>"$work/go"
	wait_until [ -e "$work/opened" ]
	argument=$(sed -n 1p "$work/opened")
	has "a browser is opened: a file" "$argument" '/goheap-[^/]*\.html$'
	equal "a browser is opened: for the user alone" 600 "$(sed -n 2p "$work/opened")"
	address=$(sed -n 3p "$work/opened")
	equal "a browser is opened: the address" 200 "$(status "$address")"
	# A line of progress may come before it.
	has "a browser is opened: the same" "$(sed "s/.*\x1b\[K//" "$work/typed")" "^${address:-none}"
	exec 7>&-
	wait $!
	for ((i = 0; i < 100; i++)); do
		[ "$(status "$address")" != 000 ] || break
		sleep 0.1
	done
	equal "it ends when the terminal goes" 000 "$(status "$address")"
}

check_errors() {
	timeout 20 "$GOHEAP" web "$work/nothing" >"$work/body" 2>"$work/why"
	equal "no dump: status" 1 $?
	serve "$work/made"
	equal "nothing is said of other machines, which cannot ask" "" "$(cat "$work/why")"
	timeout 20 "$GOHEAP" web --http ":$port" "$work/made" >"$work/body" 2>"$work/why"
	equal "a port that is taken: status" 1 $?
	has "a port that is taken: the reason" "$(cat "$work/why")" '^goheap: cannot listen on :[0-9]+: Address already in use'
	stop
	serve --http 0:0 "$work/made"
	has "other machines can ask, and it is said" "$(cat "$work/why")" '^goheap: other machines can ask this server'
	if command -v ss >/dev/null; then
		equal "it listens on all of this machine's addresses" "0.0.0.0:$port" "$(ss -Htln "sport = :$port" | awk '{ print $4 }')"
	fi
	stop
	timeout 20 "$GOHEAP" web --http "127.0.0.1:none" "$work/made" >"$work/body" 2>"$work/why"
	equal "no port: status" 1 $?
	# What each command of GDB's starts is not to wait for the libraries of one.
	lacks "its library is not loaded by other commands" "$(ldd "$GOHEAP")" 'libmicrohttpd|libgnutls'
	mkdir "$work/broken"
	: >"$work/broken/libmicrohttpd.so.12"
	LD_LIBRARY_PATH=$work/broken timeout 20 "$GOHEAP" web "$work/made" >"$work/body" 2>"$work/why"
	equal "its library is broken: status" 1 $?
	has "its library is broken: the reason" "$(cat "$work/why")" \
		'^goheap: cannot load libmicrohttpd, which serves the page: .*libmicrohttpd\.so\.12: file too short$'
}

needs "everything" curl || finish
build_dumpfile
for release in ${RELEASES:-$(first 1.19 1.27)}; do
	check_release "$release"
done
! in_full '2 GB' || check_large
check_hostile
check_process
check_gdb
check_opened
check_errors
finish
