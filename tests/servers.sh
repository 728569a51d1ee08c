#!/usr/bin/env bash
# Other people's servers, stripped, as Debian has them, under load: the heap of each while it runs and of its core file,
# against what it tells of itself by net/http/pprof; and what there is when goheap or the server is killed meanwhile. They
# are in a network of their own, that leads nowhere.
# shellcheck disable=SC2317 # Each server is started and loaded by its name.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers-lib.sh"

# program_of_npm NAME PACKAGE PATH: as program does.
program_of_npm() {
	local path
	path=$("$tests/npm-program" "$2" "$3" 2>"$work/why") && export "$1=$path"
}

if [ -z "${GOHEAP_SERVERS-}" ]; then
	program prometheus prometheus usr/bin/prometheus
	program etcd etcd-server usr/bin/etcd
	program syncthing syncthing usr/bin/syncthing
	# From the network that leads nowhere they could not be fetched.
	program_of_npm playwright playwright-core@1.55.0 package.json
	program_of_npm axe axe-core@4.10.3 axe.min.js
fi
own_network "${prometheus-}${etcd-}${syncthing-}"

# own FILE [ARGUMENTS]: the server's profile.
own() {
	curl -s "http://127.0.0.1:$port/debug/pprof/heap?${2-}" >"$1"
}

# start NAME: the server, and its load; $pid, $loader.
start() {
	"start_$1"
	pid=$!
	for _ in {1..600}; do
		own "$work/first" debug=1
		[ -s "$work/first" ] && break
		sleep 0.1
	done
	while :; do
		"load_$1"
	done >"$work/loaded" 2>&1 &
	loader=$!
	sleep 3
}

stop_load() {
	end "$loader"
	sleep 0.5
}

# traces FILE: what go tool pprof says that a profile's stacks have in use and have allocated. The functions init of a
# package are in several files; Go's own writer gives all of them the file that it saw first.
traces() {
	local index
	for index in inuse_space inuse_objects alloc_space alloc_objects; do
		timeout 60 go tool pprof -sample_index=$index -unit=bytes -traces -lines "$1" 2>"$work/why" | awk -v index_="$index" '
			function flush() { if (stack != "") sum[stack] += value; stack = "" }
			/^-----/ { flush(); on = 1; next }
			{ sub(/\.init [^ ]*:/, ".init :") }
			!on { next }
			/^ +bytes:/ { size = $2; next }
			stack == "" { value = $1; $1 = ""; stack = size }
			{ stack = stack " | " $0 }
			END { flush(); for (stack in sum) print index_, sum[stack], stack }'
	done | sort
}

# statistic NAME FILE: of the memory statistics of a profile.
statistic() {
	sed -n "s/^# $1 = //p" "$2"
}

# sites FILE: the records of a profile, but for what its own writing has allocated.
sites() {
	records "$1" | grep -vF ' runtime/pprof.writeHeapInternal '
}

# check_profile NAME: the allocation profile and the objects are those that the server tells of, when nothing changes
# meanwhile: then it tells the same again.
check_profile() {
	local written before after objects
	for _ in {1..20}; do
		own "$work/collected" 'debug=1&gc=1'
		own "$work/before" debug=1
		"$GOHEAP" profile -p "$pid" >"$work/profile" 2>"$work/why"
		"$GOHEAP" histogram --bytes -n 1 -p "$pid" >"$work/histogram" 2>"$work/why"
		own "$work/after" debug=1
		cmp -s <(sites "$work/before") <(sites "$work/after") &&
			[ "$(statistic NumGC "$work/collected")" = "$(statistic NumGC "$work/after")" ] && break
	done
	same "$1: profile: $(sites "$work/after" | wc -l) sites" <(sites "$work/before") <(sites "$work/profile")
	written=$(sed -nE 's/^[0-9,]+ objects of ([0-9,]+) bytes.*/\1/p' "$work/histogram" | tr -d ,)
	before=$(statistic HeapAlloc "$work/before") after=$(statistic HeapAlloc "$work/after")
	objects=$(sed -nE 's/^([0-9,]+) objects of .*/\1/p' "$work/histogram")
	if [ "${before:-1}" -le "${written:-0}" ] && [ "$written" -le "${after:-0}" ]; then
		ok "$1: $objects objects, as many bytes as it has in use"
	else
		fail "$1: bytes of objects" "$before, then $written, then $after"
	fi
	for _ in {1..20}; do
		own "$work/before"
		"$GOHEAP" pprof -p "$pid" -o "$work/pprof" 2>"$work/why"
		own "$work/after"
		traces "$work/before" >"$work/traces"
		cmp -s "$work/traces" <(traces "$work/after") && break
	done
	[ "$(wc -l <"$work/traces")" -gt 20 ] || fail "$1: go tool pprof reads it" "$(cat "$work/why")"
	same "$1: pprof" "$work/traces" <(traces "$work/pprof")
}

# check_loaded NAME: while it is under load.
check_loaded() {
	local address
	"$GOHEAP" dump -f "$pid" -o "$work/dump" 2>"$work/told" || fail "$1: goheap dump"
	has "$1: dump: the pause alone is told" "$(cat "$work/told")" '^goheap: paused [0-9]+ ms$'
	equal "$1: dump: in one line" 1 "$(wc -l <"$work/told")"
	has "$1: info" "$("$GOHEAP" info "$work/dump")" '^objects: *[0-9]{4,}$'
	"$GOHEAP" dominators --bytes -n 10 -p "$pid" >"$work/dominators" 2>"$work/told" || fail "$1: dominators"
	equal "$1: dominators: in one line" 1 "$(wc -l <"$work/told")"
	has "$1: dominators" "$(cat "$work/dominators")" '^ +[0-9,]+ +[0-9.]+% +[0-9]+ +0x'
	address=$("$GOHEAP" dominators --bytes -n 1 "$work/dump" | grep -o '0x[0-9a-f]*' | head -n 1)
	has "$1: path to its largest retainer" "$("$GOHEAP" path -e "${!1}" "$work/dump" "$address" 2>&1)" '(data|bss|goroutine|finalizer|other)'
	"$GOHEAP" goroutines -p "$pid" >"$work/goroutines" 2>"$work/told" || fail "$1: goroutines"
	has "$1: goroutines" "$(cat "$work/goroutines")" '^main\.'
	equal "$1: each goroutine can go on" 'No goroutine that can never go on' "$("$GOHEAP" goroutines --leaked -p "$pid" 2>"$work/told")"
	equal "$1: no mutexes are waited for in a circle" "No deadlock of mutexes" "$("$GOHEAP" waits --deadlocks -p "$pid" 2>"$work/told")"
}

# check_core NAME: its core file has the heap that it has itself, if nothing changes meanwhile.
check_core() {
	for _ in {1..10}; do
		own "$work/before" debug=1
		timeout 120 gcore -o "$work/core" "$pid" >"$work/gcore" 2>&1
		own "$work/after" debug=1
		cmp -s <(sites "$work/before") <(sites "$work/after") && break
	done
	"$GOHEAP" profile -e "${!1}" "$work/core.$pid" >"$work/profile" 2>"$work/told"
	equal "$1: core file: nothing is missing" '' "$(cat "$work/told")"
	same "$1: core file: profile" <(sites "$work/before") <(sites "$work/profile")
	has "$1: core file: histogram" "$("$GOHEAP" histogram --bytes -n 1 -e "${!1}" "$work/core.$pid" 2>&1)" '^[0-9,]{5,} objects of '
	rm -f "$work/core.$pid"
}

# line_of FUNCTION: the file and line where etcd's own profile has 20,000 goroutines in it.
line_of() {
	awk -v name="$1" '
		/^[0-9]+ @/ { count = $1; told = 0 }
		count == 20000 && !told && index($0, name "+") { sub(/.*\//, ""); print; told = 1 }' "$work/stacks"
}

# browse_watches: from the first page of `goheap web' to the goroutines that hold the watches, and to what one of them has.
browse_watches() {
	local web
	if ! command -v chromium >/dev/null || ! command -v node >/dev/null || [ -z "${playwright-}" ] || [ -z "${axe-}" ]; then
		skip "etcd: in a browser" "no chromium, node, playwright-core or axe-core"
		return
	fi
	: >"$work/address" # another may have been ready before
	"$GOHEAP" web -p "$pid" >"$work/address" 2>"$work/told" &
	web=$!
	wait_until [ -s "$work/address" ]
	timeout -k 5 120 node "$tests/web-browser.mjs" "${playwright%/package.json}" "$axe" "$(cat "$work/address")" \
		'chan go.etcd.io/etcd/mvcc.WatchResponse' 'v3rpc.(*serverWatchStream).sendLoop' >"$work/seen" 2>&1
	end "$web"
	cat >"$work/expected" <<-END
		goroutines 20,000
		line $(line_of '(*serverWatchStream).sendLoop')
		type true
		way true
		end
	END
	same "etcd: 20,000 watches in a browser" "$work/expected" "$work/seen"
}

# check_watches: 20,000 watches that their client forgot; etcd's own profile says where the goroutines of each stand.
check_watches() {
	local directory watcher function
	sample "etcd: watches" 1.19 watches || return
	: >"$work/watching" # another may have been ready before
	exec 7> >(exec "$directory/watches" 127.0.0.1:2379 20000 >"$work/watching")
	watcher=$!
	wait_until [ -s "$work/watching" ]
	curl -s "http://127.0.0.1:$port/debug/pprof/goroutine?debug=1" >"$work/stacks"
	"$GOHEAP" suspects --bytes -p "$pid" 2>"$work/told" | head -n 1 >"$work/suspect"
	browse_watches
	exec 7>&-
	wait "$watcher"
	has "etcd: 20,000 watches are the first suspect" "$(cat "$work/suspect")" \
		'^1\. 20,000 chan go\.etcd\.io/etcd/mvcc\.WatchResponse, held by 20,000 goroutines in .* and 20,000 goroutines in .*, keep '
	for function in '(*serverWatchStream).sendLoop' '(*watchServer).Watch'; do
		has "etcd: $function is told by its line" "$(cat "$work/suspect")" \
			"20,000 goroutines in [^ ]*${function//[()*]/.} at [^ ]*/$(line_of "$function")[ ,]"
	done
}

# check_killed NAME: goheap, and then the server, is killed meanwhile.
check_killed() {
	local i status
	for i in 1 3 5 8; do
		"$GOHEAP" dump -f "$pid" -o "$work/killed" 2>"$work/why" &
		sleep "0.0$i"
		kill -KILL $! 2>"$work/why"
		wait $! 2>"$work/why"
	done
	equal "$1: goheap was killed: it is not stopped" '' "$(cut -d' ' -f3 /proc/"$pid"/task/*/stat | grep -i t)"
	own "$work/after" debug=1
	has "$1: and answers" "$(head -n 1 "$work/after")" '^heap profile: '
	rm -f "$work/killed"
	"$GOHEAP" dump -f "$pid" -o "$work/killed" 2>"$work/told" &
	sleep 0.02
	local reader=$!
	kill -KILL "$pid"
	wait "$pid" 2>"$work/why"
	wait "$reader"
	status=$?
	equal "$1: the server was killed: goheap says one thing" 1 "$(wc -l <"$work/told")"
	if [ $status -eq 0 ]; then
		has "$1: it was too late" "$(cat "$work/told")" '^goheap: paused '
	else
		has "$1: and which" "$(cat "$work/told")" '^goheap: (process [0-9]+( has ended,|: expected |: cannot stop it: )|there is no process [0-9]+: )'
		[ ! -e "$work/killed" ] || fail "$1: no file is written"
	fi
	rm -f "$work/killed"
}

for server in $(first prometheus:9090 etcd:2379 syncthing:9091); do
	name=${server%:*} port=${server#*:}
	[ -n "${!name-}" ] || continue
	start "$name"
	check_loaded "$name"
	stop_load
	check_profile "$name"
	check_core "$name"
	[ "$name" != etcd ] || check_watches
	check_killed "$name"
done
finish
