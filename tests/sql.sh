#!/usr/bin/env bash
# goheap sql: what its tables say of a heap is what the program that wrote the dump says of its own structures, and what an
# independent reader finds; it asks no more than it has to; and nothing that is typed or in a dump does harm.
. "$(dirname "$0")/lib.sh"
session_home

# sql QUERY...: of $work/dump.
sql() {
	"$GOHEAP" sql "$work/dump" -e "$program" "$@"
}

# compare NAME: the sample graph in $directory, stripped, writes its dump, and all that it says is so.
compare() {
	local name expected found
	program=$directory/graph.stripped
	if ! "$program" "$work/dump" "$work/after" >"$work/said"; then
		fail "$1: the sample writes its dumps"
		return
	fi
	python3 "$tests/oracle/sql.py" "$GOHEAP" "$dumpfile" "$program" "$work/dump" "$work/said" >"$work/rows" 2>"$work/errors" ||
		fail "$1: what goheap says can be read" "$(cat "$work/errors")"
	while IFS=$'\t' read -r name expected found; do
		equal "$1: $name" "$expected" "$found"
	done <"$work/rows"
}

# check_stacks NAME: every call that Go's own traceback has is in frames, and of its goroutine.
check_stacks() {
	program=$directory/dump.stripped
	"$program" "$work/dump" "$work/stacks" >"$work/counts"
	printed <"$work/stacks" | cut -f 1-4 | sort -u >"$work/expected"
	sql --csv "SELECT DISTINCT id || char(9) || f.function || char(9) || f.file || char(9) || f.line FROM goroutines JOIN frames f ON
		goroutine = id" | sed -e 1d -e 's/^"//; s/"$//' -e 's/\[.*\]/[...]/' | sort >"$work/found"
	equal "$1: the calls of Go's tracebacks ($(wc -l <"$work/expected"))" "" "$(comm -23 "$work/expected" "$work/found" | head -n 5)"
	equal "$1: goroutines" "$(cut -f 1 "$work/expected" | sort -u)" \
		"$(sql --csv "SELECT id FROM goroutines WHERE NOT system" | sed 1d | sort | comm -12 - <(cut -f 1 "$work/expected" | sort -u))"
}

# check_waits NAME: what the sample waits says of its goroutines.
check_waits() {
	program=$directory/waits.stripped
	run_until_ready "$program" "$work/dump"
	exec 7>&-
	wait "$pid" 2>"$work/why"
	# When it wrote its dump, the first goroutine did nothing else.
	sed -nE '/^1	/d; s/^([0-9]+	[a-z ]+)	.*/\1/p' "$work/output" | sort >"$work/expected"
	sql --csv "SELECT DISTINCT goroutine || char(9) || kind FROM waits JOIN goroutines ON id = goroutine WHERE NOT system AND id <> 1 AND
		kind <> 'other'" | sed 1d | sort >"$work/found"
	same "$1: waits ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	grep -oE '(send|receive) chan [^ ]+ 0x[0-9a-f]+ [0-9]+ [0-9]+' "$work/output" | sort >"$work/expected"
	sql --csv "SELECT operation || ' chan ' || type || printf(' 0x%x ', object) || length || ' ' || capacity FROM waits JOIN goroutines ON id = goroutine
		WHERE NOT system AND type NOT NULL" |
		sed 1d | sort >"$work/found"
	same "$1: waits: channels ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	sed -nE 's/^([0-9]+)	(r?w?mutex[a-z ]*|waitgroup|cond)	(0x[0-9a-f]+)( [0-9]+)?$/\1 \3\4/p' "$work/output" | sort >"$work/expected"
	sql --csv "SELECT goroutine || printf(' 0x%x', object) || coalesce(' ' || counter, '') FROM waits WHERE type IS NULL AND object NOT NULL" |
		sed 1d | sort >"$work/found"
	same "$1: waits: mutexes and the like ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	# The RWMutex was left read-locked.
	equal "$1: what can never go on" "$(grep -cP '^[0-9]+\t((send|receive|select)\t$|rwmutex )' "$work/output")" "$(sql --csv 'SELECT count(*) FROM goroutines WHERE leaked' | sed 1d)"
}

# check_commands NAME: the commands say the same of that dump.
check_commands() {
	local name expected found
	python3 "$tests/oracle/sql_commands.py" "$GOHEAP" "$program" "$work/dump" >"$work/rows" 2>"$work/errors" ||
		fail "$1: what the commands say can be read" "$(cat "$work/errors")"
	while IFS=$'\t' read -r name expected found; do
		equal "$1: as $name has it" "$expected" "$found"
	done <"$work/rows"
}

# plan QUERY: how SQLite goes about it.
plan() {
	sql --csv "EXPLAIN QUERY PLAN $1" | sed -n 's/^.*,"\{0,1\}\(S[CE]\|USE\)/\1/p'
}

check_plans() {
	has "a plan: an object by its address" "$(plan 'SELECT * FROM objects WHERE address = 0x1')" 'INDEX [0-9]+:address=\?'
	has "a plan: objects by type" "$(plan "SELECT * FROM objects WHERE type = 'x'")" 'INDEX [0-9]+:type=\?'
	has "a plan: what an object points to" "$(plan 'SELECT * FROM refs WHERE holder = 1')" 'INDEX [0-9]+:holder=\?'
	has "a plan: what points to it" "$(plan 'SELECT * FROM refs WHERE object = 1')" 'INDEX [0-9]+:object=\?'
	has "a plan: the stack of a goroutine" "$(plan 'SELECT * FROM frames WHERE goroutine = 1')" 'INDEX [0-9]+:goroutine=\?'
	has "a plan: a sum for each type, the largest first: nothing is sorted but the sums" \
		"$(plan 'SELECT type, sum(bytes) FROM objects GROUP BY type ORDER BY 2 DESC' | paste -sd ' ')" \
		'^SCAN objects VIRTUAL TABLE INDEX [-0-9]+:sorted by type USE TEMP B-TREE FOR ORDER BY$'
	has "a plan: what it dominates" "$(plan 'SELECT * FROM retained WHERE holder = 1')" 'INDEX [0-9]+:holder=\?'
	lacks "a plan: nothing is sorted for the types" "$(plan 'SELECT type, count(*) FROM objects GROUP BY type')" 'TEMP'
	lacks "a plan: another collation is no look-up" "$(plan "SELECT * FROM objects WHERE type = 'x' COLLATE NOCASE")" 'type=\?'
}

# refused STATUS NAME PATTERN ARGUMENT...: exits so, with one line of error, and leaves no file.
refused() {
	local status=$1 name=$2 pattern=$3 output
	shift 3
	output=$(cd "$work/empty" && timeout 60 "$GOHEAP" sql "$work/dump" "$@" 2>&1 >/dev/null)
	equal "$name: exit status" "$status" $?
	has "$name: why" "$output" "$pattern"
	equal "$name: in one line" 1 "$(wc -l <<<"$output")"
	equal "$name: no file" "" "$(find "$work/empty" "$TMPDIR" -type f)"
}

check_refusals() {
	mkdir "$work/empty"
	refused 2 "a syntax error" '^goheap: near "FORM": syntax error$' 'SELECT * FORM objects'
	refused 2 "no such table" '^goheap: no such table: object: goheap sql --schema lists what there is$' 'SELECT * FROM object'
	refused 2 "no such column" '^goheap: no such column: size: goheap sql --schema ' 'SELECT size FROM objects'
	refused 2 "path without an address" '^goheap: path lacks an address: ' 'SELECT * FROM path'
	refused 2 "an error that a terminal would act on" '^goheap: near "\\x1b\[31m": syntax error$|^goheap: unrecognized token: "\\x1b"$' \
		$'SELECT \e[31m'
	for statement in "ATTACH 'x.db' AS x" VACUUM "CREATE TABLE x (y)" "CREATE TEMP TABLE x (y)" "DROP TABLE objects" "DELETE FROM objects" \
		"INSERT INTO objects VALUES (1, 2, 3, 4)" "UPDATE objects SET type = ''" "PRAGMA temp_store_directory = '/tmp'" \
		"PRAGMA journal_mode" "SELECT * FROM pragma_database_list" "VACUUM INTO 'x.db'" "SELECT load_extension('x')" "SELECT fts3_tokenizer('simple')" \
		"BEGIN" "CREATE VIRTUAL TABLE x USING objects" "SELECT 1; ATTACH 'x.db' AS x" "ANALYZE" "DETACH main"; do
		refused 2 "$statement" '^goheap: (not authorized: a heap is read, and nothing else|not authorized to use function: (load_extension|fts3_tokenizer)|table objects may not be modified|sql: expected a SELECT, found .*)$' "$statement"
	done
	refused 2 "writefile" '^goheap: no such function: writefile' "SELECT writefile('x', 'y')"
	refused 2 "readfile" '^goheap: no such function: readfile' "SELECT readfile('/etc/passwd')"
	refused 1 "a large blob" '^goheap: string or blob too big$' "SELECT length(zeroblob(1000000000))"
	refused 1 "a large random blob" '^goheap: string or blob too big$' "SELECT length(randomblob(1000000000))"
	equal "a long text" "" "$(sql "SELECT length(printf('%.*c', 300000000, 'x')) AS n" | sed 1d | tr -d ' ')"
	equal "a wide number" "" "$(sql "SELECT length(printf('%1000000000d', 1)) AS n" | sed 1d | tr -d ' ')"
	refused 1 "a table without an end" '^goheap: the query takes more than [0-9]+ MiB of memory: ' \
		"WITH RECURSIVE n(x) AS (VALUES (zeroblob(10000000)) UNION ALL SELECT x FROM n) SELECT count(*) FROM (SELECT x FROM n ORDER BY x)"
	refused 1 "a text without an end" '^goheap: (the query takes|string or blob too big)' \
		"WITH RECURSIVE n(x) AS (VALUES ('a') UNION ALL SELECT x || x FROM n) SELECT max(length(x)) FROM n"
}

# catches_interrupts PID: the process is goheap, which does something about SIGINT, the second signal.
# shellcheck disable=SC2317 # wait_until calls it.
catches_interrupts() {
	[ "$(cat "/proc/$1/comm")" = goheap ] && ((16#$(awk '/^SigCgt:/ { print $2 }' "/proc/$1/status") & 2))
}

# What never ends is ended by the user.
check_interrupt() {
	# A shell has what it puts in the background ignore SIGINT.
	python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
		"$GOHEAP" sql "$work/dump" "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n" &
	wait_until catches_interrupts $!
	sleep 1
	kill -INT $!
	wait_until [ ! -d "/proc/$!" ] || kill -KILL $!
	wait $!
	equal "a query that never ends is interrupted" 130 $?
	timeout 60 python3 "$tests/oracle/prompt.py" "(sql) " "WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n;" ^C \
		"SELECT 'lost" ^C "SELECT 'kept' AS answer;" quit -- "$GOHEAP" sql "$work/dump" >"$work/typed"
	equal "a prompt: an interrupt ends the query, or drops the statement that is typed" "0 kept" "$? $(tr -d '\r' <"$work/typed" | grep -x kept)"
	timeout 60 python3 "$tests/oracle/prompt.py" "(gdb) " "goheap load $work/dump" \
		"goheap sql WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n" ^C "goheap sql SELECT 'kept' AS answer" \
		quit -- "$(command -v gdb)" -nx -q -iex 'set debuginfod enabled off' -iex 'set auto-load no' \
		-ex "jit-reader-load $GOHEAP_SO" "$program" >"$work/typed"
	equal "GDB: an interrupt ends the query" "0 kept" "$? $(tr -d '\r' <"$work/typed" | sed 's/\x1b\[[?0-9]*[hlm]//g' | grep -x kept)"
}

# Names of types, texts and titles with what a terminal would act on.
check_hostile() {
	local format
	build_maker makedump || exit
	for format in 0 1 2 5; do
		"$work/makedump" hostile $format 8 little >"$work/made"
		for table in $("$GOHEAP" sql --schema | sed -n 's/^\([a-z]*\):.*/\1/p'); do
			"$GOHEAP" sql "$work/made" "SELECT *, 1 AS \"$(printf '\e]0;x\a')\" FROM $table" >"$work/output" 2>/dev/null
			equal "format $format: $table of a hostile dump" 0 $?
			equal "format $format: $table, escaped" "" "$(raw <"$work/output")"
			"$GOHEAP" sql --json "$work/made" "SELECT *, 1 AS \"$(printf '\e]0;"x\a')\" FROM $table" >"$work/output" 2>/dev/null
			equal "format $format: $table in JSON, escaped" "" "$(raw <"$work/output")"
			python3 -c 'import json, sys; [json.loads(line)["\33]0;\"x\7"] for line in sys.stdin]' <"$work/output" 2>"$work/errors"
			equal "format $format: $table in JSON can be read" 0 $?
		done
	done
	timeout 20 script -qec "$GOHEAP sql --csv $work/dump \"SELECT char(27) || '[31m,', char(155)\"" /dev/null </dev/null | tr -d '\r' >"$work/output"
	equal "CSV on a terminal, escaped" '"\x1b[31m,",\xc2\x9b' "$(tail -n 1 "$work/output")"
	equal "CSV elsewhere, as it is" $'"\e[31m,"' "$(sql --csv "SELECT char(27) || '[31m,' AS x" | sed 1d)"
}

check_text() {
	local output
	output=$(sql "SELECT 1 AS a, 'é' AS b, NULL AS a, x'00ff' AS d, 'x' || char(10) || 'y' AS e UNION ALL SELECT 100, 'long', 2, 'z', ''")
	equal "a table" '  a  b     a:1  d     e
  1  é          00ff  x\ny
100  long    2  z     ' "$output"
	equal "no rows" "x" "$(sql 'SELECT 1 AS x WHERE 0')"
	equal "several statements" "x|1|y|2" "$(sql 'SELECT 1 AS x; ' '/* and */' ' SELECT 2 AS y;' | paste -sd '|')"
	equal "JSON" '{"a":1,"a:1":2.5,"b":null,"c":"0xff","d":"00ff","e\"":"q\"\\\n"}' \
		"$(sql --json "SELECT 1 AS a, 2.5 AS a, NULL AS b, '0xff' AS c, x'00ff' AS d, 'q\"\\' || char(10) AS 'e\"'")"
	equal "CSV" 'a,"b,"|1,"x""y"|,""' "$(sql --csv "SELECT 1 AS a, 'x\"y' AS 'b,' UNION ALL SELECT NULL, ''" | paste -sd '|')"
	has "the schema" "$("$GOHEAP" sql --schema)" '^objects: '
	equal "the schema: every table can be read" "" \
		"$("$GOHEAP" sql --schema | sed -n 's/^\([a-z]*\):.*/\1/p' | while read -r table; do
			sql "SELECT * FROM $table LIMIT 3" 2>&1 >"$work/output"
		done)"
}

# questions: what the manual page shows of the prompt: statements, and answers.
questions() {
	sed -n '/^\.SH QUESTIONS IN SQL$/,/^\.SH HEAPS /p' "$(dirname "$GOHEAP")/goheap.1" | sed -n '/^\.nf$/,/^\.fi$/p' | grep -v '^\.' |
		sed -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g'
}

# check_questions NAME: the questions in the manual page have the answers that it shows, which are what the sample says.
check_questions() {
	local copies entries late early pages workers capacity sent
	program=$directory/asked.stripped
	"$program" "$work/dump" >"$work/said"
	# shellcheck disable=SC2034 # It sets all of them.
	read -r copies entries late early pages workers capacity _ < <(cut -d ' ' -f 2 "$work/said" | paste -sd ' ')
	questions | awk '/^(SELECT|WITH)/ { asks = 1 } asks { print } /;$/ { asks = 0 }' | sql >"$work/answers" 2>"$work/errors"
	equal "$1: the questions in the manual page: no error" "" "$(cat "$work/errors")"
	questions | awk '/^(SELECT|WITH)/ { asks = 1 } !asks { print } /;$/ { asks = 0 }' >"$work/expected"
	# Before Go 1.18 those in the channel have no type.
	sent=$capacity
	if [[ $1 == "Go 1.15" ]]; then
		sed -i -e '/^body /s/55$/50/' -e 's/^      55  50500$/      50  50000/' "$work/expected"
		sent=0
	fi
	same "$1: the questions in the manual page have the answers there ($(questions | grep -c ';$'))" "$work/expected" <(sed 's/ *$//' "$work/answers")
	has "$1: copies of a string" "$(cat "$work/answers")" "^ +$copies +[0-9]+ +the upstream server did not answer$"
	has "$1: entries of a map" "$(cat "$work/answers")" "^map\[string\]int +$entries +1$"
	has "$1: requests of which the deadline is over" "$(cat "$work/answers")" "^main\.Request +$late$"
	has "$1: contexts of requests" "$(cat "$work/answers")" "^ctx +context\.timerCtx +$((late + early))$"
	# Those in the channel have shorter bodies.
	has "$1: a field" "$(cat "$work/answers")" "^ +$((late + early + sent)) +$(((late + early) * 1000 + sent * 100))$"
	has "$1: goroutines at one place" "$(cat "$work/answers")" "^main\.work +chan send +$workers$"
	has "$1: who waits for a channel" "$(cat "$work/answers")" "^\*main\.Request +$capacity +$workers$"
	has "$1: what goroutines keep" "$(cat "$work/answers")" "^main\.work +$workers +1$"
	has "$1: objects of a place of allocation" "$(cat "$work/answers")" "^main\.say +$copies +[0-9]+$"
	equal "$1: buckets, of a map that was larger" 1 "$(sql --csv "SELECT count(*) FROM maps WHERE type = 'map[string]int' AND buckets * 8 >= 10000 AND
		buckets * 8 < 40000" | sed 1d)"
	equal "$1: fields through pointers and interfaces" "$late|1000|1000|30" "$(sql --csv "SELECT count(*), min(field(address, 'body.len')), max(field(address, 'body.cap')),
		count(DISTINCT field(address, 'id')) FROM objects WHERE type = 'main.Request' AND field(address, 'ctx.deadline') < strftime('%s', 'now') + 0" | sed 1d | tr , '|')"
	equal "$1: numbers" "real,2.5 real,-0.25 integer,-3 integer,200 integer,$((1 << 40)) integer,1" "$(
		for name in level share step mask most on; do
			sql --csv "SELECT typeof(field(address, '$name')), field(address, '$name') FROM objects WHERE type = 'main.Gauge'" | sed 1d
		done | paste -sd ' '
	)"
	equal "$1: numbers below 0" "$(seq -s , -6 -1),0,0,$(seq -s , 6)" \
		"$(sql --csv "SELECT group_concat(number) AS numbers FROM (SELECT field(address, 'number') AS number FROM objects WHERE type = 'main.Connection' ORDER BY 1)" | sed 1d | tr -d '"')"
	equal "$1: no such field, no such object" ",,,$(printf 1)" "$(sql --csv "SELECT field(address, 'nothing'), field(address, 'body.nothing'), field(8, 'id'), object(address + 8) = address FROM objects WHERE
		type = 'main.Request' LIMIT 1" | sed 1d)"
}

# What is typed at the prompt, in goheap ask, and in GDB, of a dump and of a process.
check_typed() {
	local expected session
	expected=$(sql "SELECT type, count(*) FROM objects GROUP BY type ORDER BY 2 DESC LIMIT 3")
	equal "a prompt: a statement on two lines, another, and what is not ended" "$(sql 'SELECT 1; SELECT 2, 3 AS x; SELECT 4')" \
		"$(printf 'SELECT\n1;\nSELECT 2, 3 AS x -- ; \n;\nSELECT 4' | sql)"
	equal "a prompt: its options" '{"a":1}' "$(printf 'SELECT 1 AS a;\n' | sql --json)"
	equal "a prompt: the heap" "$expected" "$(printf 'SELECT type, count(*)\nFROM objects GROUP BY type ORDER BY 2 DESC LIMIT 3;\nquit' | sql)"
	equal "a prompt: goes on after an error" "x|1" "$(printf 'SELECT * FORM objects;\nSELECT 1 AS x;\nquit\nSELECT 2;' | sql 2>"$work/errors" | tr -d ' ' | paste -sd '|')"
	has "a prompt: an error" "$(cat "$work/errors")" '^goheap: near "FORM": syntax error$'
	has "a prompt: its help" "$(echo .help | sql)" '^Statements end with a semicolon\. schema lists the tables; quit ends\.$'
	equal "a prompt: its schema" "$("$GOHEAP" sql --schema)" "$(echo .schema | sql)"
	printf 'sel\tcount(*) fro\tobjects where add\t> 5;\n\033[A\nquit\n' | timeout 60 script -qec "stty -echo; $GOHEAP sql $work/dump" /dev/null |
		tr -d '\r' >"$work/typed"
	equal "a terminal: completion and history" 2 "$(grep -cxE " *$(sql --csv 'SELECT count(*) FROM objects' | tail -n 1)" "$work/typed")"
	equal "ask: words as they are typed" "$(sql "SELECT 'x  y' AS \"a  b\", 'it''s'"; echo '{"1":1}'; sql --csv 'SELECT 2')" \
		"$(printf "sql SELECT 'x  y' AS \"a  b\", 'it''s'\nsql --json \"SELECT 1\"\nsql --csv SELECT 2" | "$GOHEAP" ask "$work/dump" -e "$program")"
	session=$(goheap "$program" "goheap load $work/dump" "shell echo first" "goheap sql SELECT type, count(*) FROM objects GROUP BY type ORDER BY 2 DESC LIMIT 3" \
		"shell echo second" "goheap sql --json SELECT 'it''s  \$argc | * \" ' AS \"q  q\"" "shell echo third" "goheap sql" "goheap sql SELECT x FROM objects")
	equal "GDB: of a dump" "$expected" "$(sed '1,/^first$/d; /^second$/,$d' <<<"$session")"
	# shellcheck disable=SC2016 # GDB would expand it
	equal "GDB: words as they are typed" '{"q  q":"it'"'"'s  $argc | * \" "}' "$(sed '1,/^second$/d; /^third$/,$d' <<<"$session")"
	has "GDB: no query" "$session" '^usage: goheap sql QUERY$'
	has "GDB: no column" "$session" '^goheap: no such column: x: '
	session=$(goheap "$program" "break main.write" "run $work/other" "shell echo first" "goheap sql SELECT kind FROM roots WHERE kind = 'bss' LIMIT 1")
	equal "GDB: of a process" "kind|bss" "$(sed '1,/^first$/d' <<<"$session" | paste -sd '|')"
	run_until_ready "$parked"
	equal "a process" 1 "$("$GOHEAP" sql -p "$pid" --csv "SELECT count(*) > 5 AS x FROM objects" 2>"$work/errors" | tail -n 1)"
	exec 7>&-
	wait "$pid" 2>"$work/why"
}

# The file that all tables are written to has all their rows, and the indexes are whole; it is there whole or not at all.
check_file() {
	local table
	sql -o "$work/heap.sqlite"
	equal "a file: exit status" 0 $?
	equal "a file: it is whole" ok "$(sqlite3 "$work/heap.sqlite" 'PRAGMA integrity_check')"
	equal "a file: all objects, as an independent reader finds them" "$("$dumpfile" objects "$work/dump" | cut -f 2 | paste -sd '|')" \
		"$(sqlite3 "$work/heap.sqlite" 'SELECT count(*), sum(bytes) FROM objects')"
	"$GOHEAP" sql --schema | sed -n 's/^\([a-z]*\):.*/\1/p' | sort >"$work/tables"
	same "a file: its tables" "$work/tables" <(sqlite3 "$work/heap.sqlite" "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
	while read -r table; do
		sql --csv "SELECT quote(x) FROM (SELECT json_array($(sqlite3 "$work/heap.sqlite" "SELECT group_concat(name) FROM pragma_table_info('$table')")) AS x
			FROM $table)" | sed 1d | sort >"$work/expected"
		sqlite3 -csv "$work/heap.sqlite" "SELECT quote(x) FROM (SELECT json_array($(sqlite3 "$work/heap.sqlite" "SELECT group_concat(name) FROM
			pragma_table_info('$table')")) AS x FROM $table)" | tr -d '\r' | sort >"$work/found"
		same "a file: all of $table ($(wc -l <"$work/expected"))" "$work/expected" "$work/found"
	done <"$work/tables"
	equal "a file: private" 600 "$(stat -c %a "$work/heap.sqlite")"
	(cd "$work/empty" && "$GOHEAP" sql "$work/dump" -o "it's %s?mode=ro")
	equal "a file: of any name" "it's %s?mode=ro" "$(ls -A "$work/empty")"
	rm "$work/empty/"*
	(trap '' XFSZ && ulimit -f 100 && cd "$work/empty" && exec "$GOHEAP" sql "$work/dump" -o full >"$work/output" 2>&1)
	equal "a file: no room for it: exit status" 1 $?
	has "a file: no room for it: why" "$(cat "$work/output")" '^goheap: full: (disk I/O error|database or disk is full)$'
	equal "a file: no room for it: nothing is left" "" "$(ls -A "$work/empty")"
	refused 2 "a query and a file" '^goheap: -o writes all tables' -o x "SELECT 1"
}

build_dumpfile
for release in $(releases "$apart_maps"); do
	sample "Go $release" "$release" graph || continue
	compare "Go $release"
	sample "Go $release" "$release" asked && check_questions "Go $release"
	sample "Go $release" "$release" dump && check_stacks "Go $release"
	CGO_ENABLED=0 GODEBUG=asynctimerchan=0 sample "Go $release" "$release" waits && check_waits "Go $release" &&
		[[ $release =~ ^1\.(19|27)$ ]] && check_commands "Go $release"
done
if sample "go 1.19" 1.19 graph; then
	program=$directory/graph.stripped
	"$program" "$work/dump" "$work/after" >"$work/said"
	check_plans
	check_text
	check_refusals
	check_file
	check_interrupt
	check_hostile
	parked=$(CGO_ENABLED=0 "$tests/build-sample" 1.19 waits)/waits.stripped
	check_typed
fi

finish
