#!/usr/bin/env bash
# goheap export: what DuckDB reads of a directory to which the heaps of several hosts are written is what an independent
# reader finds in their dumps, and what the program that wrote them says has grown.
set -u
export LC_ALL=C
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

# duckdb QUERY: what it answers; @TABLE stands for that table of all dumps.
duckdb() {
	node "$tests/oracle/duckdb.mjs" "$modules" "$(sed -E "s#@([a-z]+)#read_csv('$work/fleet/*/*/\\1/*.csv.gz', hive_partitioning = true)#g" <<<"$1")"
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

check_files() {
	local directory
	directory=$(echo "$work"/fleet/host=%2E.%2Fa%20b/time=*)
	equal "a name that is no name of a file stays in the directory" 1 "$(find "$work/fleet" -mindepth 2 -maxdepth 2 -path '*a%20b*' | wc -l)"
	equal "a directory for each table" "$("$GOHEAP" sql --schema | sed -n 's/^\([a-z]*\):.*/\1/p' | sort | xargs)" "$(cd "$directory" && echo *)"
	equal "each file is private" 600 "$(find "$work/fleet" -type f -printf '%m\n' | sort -u)"
	equal "nothing else is left" "" "$(find "$work/fleet" -type f ! -name part-0.csv.gz)"
	gzip -dc "$directory/objects/part-0.csv.gz" >"$work/found"
	"$GOHEAP" sql "$work/1" -e "$program" --csv "SELECT * FROM objects" >"$work/expected"
	same "a file has what sql prints" "$work/expected" "$work/found"
	: >"$work/file"
	"$GOHEAP" export "$work/1" --tables "$work/file/in" 2>"$work/errors"
	equal "a directory that cannot be made" "1 1" "$? $(grep -c '^goheap: .*: cannot make: ' "$work/errors")"
}

if ! command -v node >/dev/null || ! install; then
	skip "DuckDB" "no npm, or it cannot be had"
	finish
fi
sample "go 1.19" 1.19 leaks || finish
dumpfile=$("$tests/build-sample" 1.19 dumpfile)/dumpfile
program=$directory/leaks.stripped
# Three hosts, of which one has a leak: five dumps.
"$program" map "$work/1" "$work/2" >"$work/said"
"$program" map "$work/3" "$work/other" >/dev/null
cp "$work/3" "$work/4"
for dump in "1 leaking" "2 leaking" "3 steady" "4 quiet" "1 ../a b"; do
	"$GOHEAP" export "$work/${dump%% *}" -e "$program" --tables "$work/fleet" --host "${dump#* }" || fail "goheap export"
done
for dump in "1 leaking" "3 steady" "4 quiet"; do
	equal "objects and bytes of a dump of host ${dump#* }" "$("$dumpfile" objects "$work/${dump%% *}" | cut -f 2 | paste -sd '|')" \
		"$(duckdb "SELECT count(*), sum(bytes)::BIGINT FROM @objects WHERE host = '${dump#* }' GROUP BY time ORDER BY time LIMIT 1")"
done
equal "the dumps" "../a b|1|leaking|2|quiet|1|steady|1" \
	"$(duckdb "SELECT host, count(DISTINCT time) FROM @objects GROUP BY host ORDER BY host" | paste -sd '|')"
grown=$(duckdb "WITH sums AS (SELECT host, time, type, sum(bytes) AS bytes FROM @objects GROUP BY ALL)
	SELECT host, type, (arg_max(bytes, time) - arg_min(bytes, time))::BIGINT AS grown FROM sums GROUP BY host, type HAVING grown > 100000 ORDER BY grown DESC")
equal "which type has grown, and where" leaking "$(cut -d '|' -f 1 <<<"$grown" | sort -u)"
expected=$("$GOHEAP" diff "$work/1" "$work/2" -e "$program" --json | sed -nE 's/.*"bytes_growth":([0-9]{6,}),.*/\1/p' | sort -rn | xargs)
has "by how much: something" "$expected" '^[0-9]{6}'
equal "by how much: as diff has it" "$expected" "$(cut -d '|' -f 3 <<<"$grown" | xargs)"
equal "objects by what points to them" "$("$GOHEAP" sql "$work/1" -e "$program" --csv "SELECT count(*) FROM refs JOIN objects ON address = object" | tail -n 1)" \
	"$(duckdb "SELECT count(*) FROM @refs r JOIN @objects o ON o.address = r.object AND o.host = r.host AND o.time = r.time WHERE r.host = '../a b'")"
check_files
finish
