#!/usr/bin/env bash
# goheap export: what DuckDB, and ClickHouse on two servers, read of a directory to which the heaps of several hosts are
# written is what an independent reader finds in their dumps, and what the programs that wrote them say has grown; they are
# loaded and asked as the manual page has it. Nothing is lost when a run is killed, or a server is away.
. "$(dirname "$0")/lib.sh"

servers=()
trap '[ ${#servers[@]} -eq 0 ] || kill "${servers[@]}"; rm -rf "$work"' EXIT

# duckdb QUERY: what it answers, of the views that the schema beside the tables makes.
duckdb() {
	node "$tests/oracle/duckdb.mjs" "$modules" "$(cat "$work/fleet/schema.sql")$1"
}

# schema: each table, column and its type in DuckDB, as the program describes them.
schema() {
	"$GOHEAP" sql --schema | awk '
		/^functions$/ { exit }
		/^[a-z]/ { table = $0 ~ /^[a-z]+:/ ? substr($1, 1, length($1) - 1) : "" }
		/^  / && table != "" { print table, $1, $2 == "address" ? "UBIGINT" : $2 == "text" ? "VARCHAR" : "BIGINT" }'
}

# install: @duckdb/node-api in $modules. False if it cannot be had.
install() {
	local place=${GOHEAP_TEST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/goheap-tests}/npm/duckdb-1.5.6-r.1
	modules=$place/node_modules
	[ -d "$modules" ] && return
	rm -rf "$place.part"
	mkdir -p "$place.part"
	npm install --silent --no-audit --no-fund --prefix "$place.part" @duckdb/node-api@1.5.6-r.1 >"$work/why" 2>&1 &&
		mv "$place.part" "$place"
}

# manual NUMBER: what the manual page shows of heaps of many hosts, of those in the directory fleet: the example NUMBER.
manual() {
	sed -n '/^\.SH HEAPS OF MANY HOSTS$/,/^\.SH OPTIONS$/p' "$(dirname "$GOHEAP")/goheap.1" |
		awk -v wanted="$1" '$1 == ".fi" { on = 0 } on && n == wanted { print } $1 == ".nf" { on = 1; n++ }' |
		plain | sed -e "s#fleet/#$work/fleet/#" -e '/^\\&\.read /d'
}

# plain: text of the manual page without roff.
plain() {
	sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\e$/\\/'
}

# objects DUMP: how many there are in $work/DUMP, and their bytes, as an independent reader finds them.
objects() {
	"$dumpfile" objects "$work/$1" | cut -f 2 | paste -sd '|'
}

# What grew from the first to the last heap of each host, as the manual page asks; each "HOST|TYPE|BYTES".
check_growth() {
	local expected
	equal "$1: which type has grown most, and where" "leaking|main.Session" "$(grep -F '|main.' <<<"$2" | head -n 1 | cut -d '|' -f 1,2)"
	expected=$("$GOHEAP" diff "$work/1" "$work/2" -e "$program" --json | sed -nE 's/.*"bytes_growth":([0-9]{5,}),.*/\1/p' | sort -rn | xargs)
	has "$1: by how much: something" "$expected" '^[0-9]{6}'
	equal "$1: by how much: as diff has it" "$expected" "$(sed -nE 's/^leaking\|.*\|([0-9]{5,})$/\1/p' <<<"$2" | xargs)"
	equal "$1: elsewhere nothing has" "" "$(grep -v '^leaking|' <<<"$2" | grep -E '\|[0-9]{5,}$')"
}

check_duckdb() {
	local table
	for dump in "1 leaking" "3 steady" "1 ../a b"; do
		equal "DuckDB: objects and bytes of a dump of host ${dump#* }" "$(objects "${dump%% *}")" \
			"$(duckdb "SELECT count(*), sum(bytes)::BIGINT FROM objects WHERE host = '${dump#* }' GROUP BY time ORDER BY time LIMIT 1")"
	done
	equal "DuckDB: the dumps" "../a b|1|leaking|2|steady|2" \
		"$(duckdb "SELECT host, count(DISTINCT time) FROM objects GROUP BY host ORDER BY host" | paste -sd '|')"
	check_growth DuckDB "$(duckdb "$(manual 2)")"
	equal "DuckDB: objects by what points to them" \
		"$("$GOHEAP" sql "$work/1" -e "$program" --csv "SELECT count(*) FROM refs JOIN objects ON address = object" | tail -n 1)" \
		"$(duckdb "SELECT count(*) FROM refs r JOIN objects o ON o.address = r.object AND o.host = r.host AND o.time = r.time WHERE r.host = '../a b'")"
	# An address that is no signed number of 64 bits.
	mkdir -p "$work/fleet/host=large/time=20000101T000000.000000Z"/{slots,objects}
	printf 'goroutine,depth,function,variable,slot,value,object\n1,0,main.main,,0xc000000000,0xffffffffffffffff,0xffffffffffffff00\n' |
		gzip >"$work/fleet/host=large/time=20000101T000000.000000Z/slots/part-0.csv.gz"
	{ gzip -dc "$work"/fleet/host=steady/*/objects/part-0.csv.gz | head -n 1; echo '0xffffffffffffff00,large,1,1'; } |
		gzip >"$work/fleet/host=large/time=20000101T000000.000000Z/objects/part-0.csv.gz"
	has "DuckDB: what slots point to, and an address of 2^63 or more" "$(duckdb "$(manual 7 | sed 's/LIMIT 10//')")" '^large\|large\|1$'
	rm -r "$work/fleet/host=large"
	for table in $("$GOHEAP" sql --schema | sed -n 's/^\([a-z]*\):.*/\1/p'); do
		equal "DuckDB: rows of $table" "$("$GOHEAP" sql "$work/1" -e "$program" --csv "SELECT count(*) FROM $table" | sed 1d)" \
			"$(duckdb "SELECT count(*) FROM $table WHERE host = '../a b'")"
	done
}

# stamp NS: how the directory of a heap at that time is called.
stamp() {
	echo "time=$(date -u -d "@$(($1 / 1000000000))" +%Y%m%dT%H%M%S).$(printf %06d $(($1 % 1000000000 / 1000)))Z"
}

check_files() {
	local directory dump
	directory=$(echo "$work"/fleet/host=%2E.%2Fa%20b/time=*)
	equal "a name that is no name of a file stays in the directory" 1 "$(find "$work/fleet" -mindepth 2 -maxdepth 2 -path '*a%20b*' | wc -l)"
	equal "a directory for each table" "$("$GOHEAP" sql --schema | sed -n 's/^\([a-z]*\):.*/\1/p' | sort | xargs)" "$(cd "$directory" && echo *)"
	equal "each file is private" 600 "$(find "$work/fleet" -type f -printf '%m\n' | sort -u)"
	equal "nothing else is left but the types of columns" "schema.json schema.sql" \
		"$(find "$work/fleet" -type f ! -name part-0.csv.gz -printf '%P\n' | sort | xargs)"
	equal "the types of columns, as JSON" "$(schema)" "$(python3 -c '
import json, sys
for table, columns in json.load(open(sys.argv[1])).items():
    for column, kind in columns.items():
        print(table, column, kind)' "$work/fleet/schema.json")"
	equal "directories are named after the heaps' last collections" "$(for dump in 1 2; do
		stamp "$("$GOHEAP" memstats --json "$work/$dump" | sed -E 's/.*"last_gc":([0-9]+).*/\1/')"
	done | sort)" "$(find "$work/fleet/host=leaking" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort)"
	gzip -dc "$directory/objects/part-0.csv.gz" >"$work/found"
	"$GOHEAP" sql "$work/1" -e "$program" --csv "SELECT * FROM objects" >"$work/expected"
	same "a file has what sql prints" "$work/expected" "$work/found"
	: >"$work/file"
	"$GOHEAP" export "$work/1" --tables "$work/file/in" 2>"$work/errors"
	equal "a directory that cannot be made" "1 1" "$? $(grep -c '^goheap: .*: cannot make: ' "$work/errors")"
}

# Several at once: one that cannot be read keeps none from being written. What was killed leaves nothing that is read.
check_runs() {
	local tables
	mkdir -p "$work/dumps/host=one" "$work/dumps/host=two"
	cp "$work/1" "$work/dumps/host=one/a.heapdump"
	cp "$work/3" "$work/dumps/host=two/b.heapdump"
	head -c 100 /dev/urandom >"$work/dumps/host=two/a.heapdump"
	"$GOHEAP" export --summary --tables "$work/runs" "$work"/dumps/host=*/*.heapdump 2>"$work/errors"
	equal "several, of which one is no dump: exit status, errors, nothing else" "1 1 1" \
		"$? $(grep -c '^goheap: .*/host=two/a.heapdump: ' "$work/errors") $(wc -l <"$work/errors")"
	tables=$(find "$work/runs" -name part-0.csv.gz | sed -E "s#^$work/runs/(host=[a-z]*)/time=[0-9TZ.]*/#\1 #" | sort | xargs)
	equal "several: those that can be read" "$(for host in one two; do printf "host=$host %s/part-0.csv.gz " paths sites stacks types; done | xargs)" "$tables"
	"$GOHEAP" export --tables "$work/runs" "$work/dumps/host=one/a.heapdump" 2>"$work/errors"
	equal "the same heap again: exit status, what is said" "0 1" "$? $(grep -c '^goheap: .*: took the place of what was in ' "$work/errors")"
	equal "the same heap again, with all tables" "1 $("$GOHEAP" sql --schema | grep -c '^[a-z]*:')" \
		"$(find "$work/runs/host=one" -mindepth 1 -maxdepth 1 | wc -l) $(find "$work/runs/host=one" -name part-0.csv.gz | wc -l)"
	equal "nothing else is left in the directory" "host=one host=two schema.json schema.sql" "$(find "$work/runs" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
	# No file may have more than 8 KiB: the signal kills it in the midst of one.
	{ (ulimit -f 8 && exec "$GOHEAP" export --tables "$work/killed" "$work/dumps/host=one/a.heapdump"); } 2>/dev/null
	equal "killed: something is left, and none of it is read" "1 0" \
		"$(find "$work/killed" -mindepth 1 -maxdepth 1 -name '.*' | wc -l) $(find "$work/killed" -path '*/*/*/*/*.csv.gz' ! -path '*/.*' | wc -l)"
	"$GOHEAP" export --summary --tables "$work/killed" "$work/dumps/host=one/a.heapdump"
	equal "after that: exit status, what is there" "0 host=one schema.json schema.sql" "$? $(find "$work/killed" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort | xargs)"
	equal "the types of what is there, and not of the rest" "paths sites stacks types" \
		"$(sed -n 's/^CREATE OR REPLACE VIEW \([a-z]*\) .*/\1/p' "$work/killed/schema.sql" | sort | xargs)"
}

# A core file, and a process.
check_process() {
	local place
	run_until_ready "$program" map
	"$GOHEAP" export --summary --tables "$work/live" -p "$pid" --host live 2>"$work/errors"
	equal "a process: exit status" 0 $?
	place=$(echo "$work"/live/host=live/time=*)
	equal "a process: what it says that it holds" "$(sed -n 's/^held\t.*\t\(main\.[A-Za-z]*\t[0-9]*\)$/\1/p' "$work/said")" \
		"$(gzip -dc "$place/types/part-0.csv.gz" | sed -n 's/^\(main\.Session\),\([0-9]*\),.*/\1\t\2/p')"
	exec 7>&-
	wait "$pid"
}

# clickhouse NUMBER ARGUMENT...: the client, of server NUMBER.
clickhouse() {
	local server=$1
	shift
	LD_LIBRARY_PATH=$libraries "$clickhouse/usr/bin/clickhouse-client" --port "${ports[server]}" "$@"
}

# start NUMBER: server NUMBER.
start() {
	local directory=$work/server$1
	mkdir -p "$directory/tmp"
	cat >"$directory/config.xml" <<-END
		<yandex>
		<logger><level>error</level><console>1</console></logger>
		<listen_host>127.0.0.1</listen_host><tcp_port>${ports[$1]}</tcp_port>
		<path>$directory/data/</path><tmp_path>$directory/tmp/</tmp_path><mark_cache_size>5000000</mark_cache_size>
		<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users>
		<profiles><default></default></profiles><quotas><default></default></quotas>
		<users_config>$directory/config.xml</users_config><default_profile>default</default_profile><default_database>default</default_database>
		<remote_servers><fleet>
		<shard><replica><host>127.0.0.1</host><port>${ports[0]}</port></replica></shard>
		<shard><replica><host>127.0.0.1</host><port>${ports[1]}</port></replica></shard>
		</fleet></remote_servers>
		</yandex>
	END
	(cd "$directory" && LD_LIBRARY_PATH=$libraries exec "$clickhouse/usr/sbin/clickhouse-server" --config-file=config.xml) >>"$directory/log" 2>&1 &
	servers[$1]=$!
	wait_until clickhouse "$1" --query "SELECT 1" >"$work/why" 2>&1 && return
	fail "ClickHouse's server $1 starts" "$(tail -n 5 "$directory/log")"
	return 1
}

# stop NUMBER: that server.
stop() {
	kill -KILL "${servers[$1]}"
	wait "${servers[$1]}" 2>/dev/null
	unset "servers[$1]"
}

# load HEAP: what is in that directory, as the manual page has it.
load() {
	(
		export heap=$1
		PATH=$work/bin:$PATH sh -c "set -e; $(manual 5)"
	)
}

# sums: of each host's heaps, what ClickHouse has, and what is in the dumps.
check_sums() {
	local heap expected
	expected=$(printf '%s\n' "../a b|$(objects 1)" "leaking|$(objects 1)" "leaking|$(objects 2)" "steady|$(objects 3)" "steady|$(objects 4)" | sed 's#^\.\./a b#%2E.%2Fa%20b#' | sort)
	equal "ClickHouse: $1" "$expected" "$(clickhouse 0 --query "SELECT host, sum(objects), sum(bytes) FROM types GROUP BY host, time" | tr '\t' '|' | sort)"
}

check_clickhouse() {
	local heap away server
	libraries=$clickhouse/usr/lib/$(uname -m)-linux-gnu
	mapfile -t ports < <(python3 -c 'import socket; s = [socket.create_server(("127.0.0.1", 0)) for _ in "ab"]; print(*(x.getsockname()[1] for x in s), sep="\n")')
	mkdir "$work/bin"
	printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s --port %s "$@"\n' "$libraries" "$clickhouse/usr/bin/clickhouse-client" "${ports[0]}" >"$work/bin/clickhouse-client"
	chmod +x "$work/bin/clickhouse-client"
	start 0 && start 1 || return
	for server in 0 1; do
		manual 3 | clickhouse "$server" --multiquery || fail "ClickHouse: the manual page's tables can be made"
	done
	# All heaps of a host are on one server.
	for heap in "$work"/fleet/*/*; do
		load "$heap" || fail "ClickHouse: a heap is loaded"
	done
	check_sums "objects and bytes of each heap, on two servers"
	equal "ClickHouse: both have some" "0 0" "$(for server in 0 1; do clickhouse "$server" --query "SELECT count() = 0 FROM types_here"; done | xargs)"
	check_growth ClickHouse "$(manual 6 | clickhouse 0 --multiquery | tr '\t' '|')"
	equal "ClickHouse: an address as a number" "824633720832 18446744073709551615" "$(clickhouse 0 --query \
		"SELECT $(sed -n 's/^\.B \(reinterpretAsUInt64.*\)/\1/p' "$(dirname "$GOHEAP")/goheap.1" | plain) FROM (SELECT arrayJoin(['0xc000000000', '0xffffffffffffffff']) AS value)" | xargs)"
	away=$(clickhouse 1 --query "SELECT any(host) FROM types_here")
	stop 1
	clickhouse 0 --query "SELECT count() FROM types" >"$work/output" 2>"$work/errors"
	equal "ClickHouse: a server is away: no answer, but an error" "1 0 1" "$(($? != 0)) $(wc -l <"$work/output") $(grep -c -m 1 'Connection refused' "$work/errors")"
	heap=$work/later/host=$away/time=29991231T235959.000000Z
	mkdir -p "${heap%/*}"
	cp -r "$(find "$work/fleet/host=$away" -mindepth 1 -maxdepth 1 | sort | tail -n 1)" "$heap"
	load "$heap" 2>"$work/errors"
	equal "ClickHouse: a server is away: what is to be loaded there is not, with an error" "1 1" "$(($? != 0)) $(grep -c -m 1 'Connection refused' "$work/errors")"
	start 1 || return
	check_sums "the server is back: nothing is lost"
	load "$heap" || fail "ClickHouse: what failed is loaded again"
	equal "ClickHouse: what was to be loaded is, once" \
		"$(gzip -dc "$heap/types/part-0.csv.gz" | sed 1d | wc -l)" "$(clickhouse 0 --query "SELECT count() FROM types WHERE time LIKE '2999%'")"
}

sample "go 1.19" 1.19 leaks || finish
build_dumpfile
program=$directory/leaks.stripped
# Three hosts, of which one has a leak: five dumps.
"$program" map "$work/1" "$work/2" >"$work/said"
"$program" nothing "$work/3" "$work/4" >/dev/null
"$GOHEAP" export "$work/1" "$work/2" -e "$program" --tables "$work/fleet" --host leaking || fail "goheap export"
"$GOHEAP" export "$work/3" "$work/4" -e "$program" --tables "$work/fleet" --host steady || fail "goheap export"
"$GOHEAP" export "$work/1" -e "$program" --tables "$work/fleet" --host "../a b" || fail "goheap export"
check_files
check_runs
check_process
if command -v node >/dev/null && install; then
	check_duckdb
else
	skip "DuckDB" "no npm, or it cannot be had"
fi
if ! in_full ClickHouse; then
	:
elif clickhouse=$("$tests/clickhouse" 2>"$work/why"); then
	check_clickhouse
else
	skip "ClickHouse" "$(cat "$work/why")"
fi
finish
