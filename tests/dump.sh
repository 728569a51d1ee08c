#!/usr/bin/env bash
# The commands that read heap dumps: on dumps that programs of every release wrote of themselves,
# against what the same programs said of the same moment; and on dumps made here.
. "$(dirname "$0")/lib.sh"

# The value of a key in the counts that the sample printed, or in a report of goheap's.
count_of() {
	awk -F'\t' -v key="$1" '$1 == key { print $2 }' "$work/counts"
}

report_of() {
	sed -n "s/^$1: *//p" "$work/report"
}

# equal NAME EXPECTED FOUND
equal() {
	holds "$1 ($2)" "expected $2, found $3" [ "$2" = "$3" ]
}

# between NAME LEAST FOUND MOST
between() {
	if [ "$2" -le "$3" ] && [ "$3" -le "$4" ]; then
		ok "$1 ($3)"
	else
		fail "$1" "expected $2 to $4, found $3"
	fi
}

# The goroutine that wrote both is elsewhere in each, up to the function that called them; and what
# goheap adds after the goroutines that have defers and panics is its own.
same_moment() {
	awk '
		/^goroutine 1 / { print "goroutine 1"; skip = 1; next }
		/^main\.main\(/ { skip = 0 }
		/^(deferred|panicking) in goroutine / { own = 1; next }
		!skip && !(own && $0 == "") { print }
		{ own = 0 }'
}

# stack_text NAME: without what the dump does not have: locks to threads, who created a goroutine, and, up to Go 1.17,
# what the values of arguments are. Go 1.15 shows one function of the runtime, where it is inlined.
stack_text() {
	local arguments=
	[[ $1 =~ 1\.1[0-7]( |$) ]] && arguments='s/^([^\t].*)\(.*\)$/\1(...)/'
	sed -E -e "$arguments" -e 's/, locked to thread//' -e 's/^(created by .*) in goroutine .*/\1/' |
		sed -e '/^runtime\.goparkunlock(/,+1d'
}

# What is known without the program: no files, no inlined calls, no creators. To Go, wrappers are not
# there, which then cannot be told.
names_only() {
	sed -E -e '/^\t/d' -e '/^created by /d' -e '/\(\.\.\.\)$/d' -e 's/^([^\t].*)\(.*\)$/\1(...)/' \
		-e 's/, locked to thread//'
}

without_wrappers() {
	grep -Ev '^main\.(start\.(gowrap[0-9]+|func[2-9])|startGeneric\.[a-z0-9]+|\(\*Blocker\)\.Wait)\('
}

# compare_stacks NAME DIRECTORY DUMP STACKS
compare_stacks() {
	local program
	stack_text "$1" <"$4" | same_moment >"$work/expected"
	for program in dump dump.stripped; do
		"$GOHEAP" goroutines -e "$2/$program" "$3" 2>"$work/errors" >"$work/text"
		same_moment <"$work/text" >"$work/found"
		same "$1: goroutines, states, functions, lines with $program are the process's own \
($(grep -c '^goroutine ' "$work/expected"))" "$work/expected" "$work/found"
		[ -s "$work/errors" ] && fail "$1: no warning" "$(cat "$work/errors")"
	done
	names_only <"$4" | same_moment >"$work/expected"
	"$GOHEAP" goroutines "$3" | same_moment | without_wrappers >"$work/found"
	same "$1: goroutines, states, functions without the program" "$work/expected" "$work/found"
}

# compare_counts NAME RELEASE DUMP
compare_counts() {
	local name=$1 minor=${2#1.} dump=$3 objects found
	"$GOHEAP" info --bytes "$dump" >"$work/report"
	objects=$(count_of objects)
	# The runtime's own threads may allocate a little between the two.
	if [ "$minor" -lt 22 ]; then
		between "$name: objects" "$objects" "$(report_of objects)" $((objects + 50))
		between "$name: bytes in objects" "$(count_of heap_alloc)" \
			"$(report_of 'size of objects')" $(($(count_of heap_alloc) + 50000))
	else
		# From Go 1.22 on, the dumper takes a span's heap bitmap for objects as well.
		between "$name: objects" "$objects" "$(report_of objects)" $((objects * 5 / 4))
	fi
	found=$(report_of objects)
	equal "$name: machine" "$(count_of arch)" "$(report_of machine)"
	[ "$minor" -lt 17 ] || equal "$name: version" "$(count_of version)" "$(report_of 'go version')"
	# The finalizer goroutine is one of the system's to Go's own count, even while a finalizer runs.
	equal "$name: goroutines" $(($(count_of goroutines) + 1)) \
		"$("$GOHEAP" goroutines "$dump" | grep -c '^goroutine ')"
	equal "$name: all goroutines" "$(report_of goroutines)" \
		"$("$GOHEAP" goroutines -a "$dump" | grep -c '^goroutine ')"
	equal "$name: frames" "$(report_of 'stack frames')" "$("$GOHEAP" frames "$dump" | tail -n +2 | wc -l)"
	equal "$name: types" "$(report_of types)" "$("$GOHEAP" types "$dump" | wc -l)"
	equal "$name: itabs" "$(report_of itabs)" "$("$GOHEAP" itabs "$dump" | tail -n +2 | wc -l)"
	equal "$name: no itab is without its type" 0 \
		"$("$GOHEAP" itabs "$dump" | awk -F'\t' '$3 == "?"' | wc -l)"
	equal "$name: CPUs" "$(count_of cpus)" "$("$GOHEAP" params "$dump" | sed -n 's/^cpus: *//p')"
	"$GOHEAP" memstats "$dump" >"$work/report"
	equal "$name: garbage collections" "$(count_of collections)" "$(report_of 'num gc')"
	between "$name: objects in the statistics" "$objects" "$(report_of 'heap objects')" \
		$((objects + 50))
	[ "$minor" -ge 22 ] ||
		equal "$name: objects are those in the statistics" "$found" "$(report_of 'heap objects')"
}

# check_records NAME DUMP
check_records() {
	local id
	has "$1: a thread is the process's first" "$("$GOHEAP" threads "$2")" "	$(count_of pid)	0x"
	id=$("$GOHEAP" goroutines --grep '^main\.holdsDefers' --json "$2" | sed 's/^{"id":\([0-9]*\),.*/\1/')
	equal "$1: deferred calls" 3 "$("$GOHEAP" defers "$2" | awk -F'\t' -v id="$id" '$1 == id' | wc -l)"
	equal "$1: panics" 2 "$("$GOHEAP" panics "$2" | tail -n +2 | wc -l)"
	equal "$1: titles of their columns" "goroutine record argument_type argument_type_name argument_data defer next value" \
		"$("$GOHEAP" panics "$2" | head -n 1 | tr '\t' ' ')"
	has "$1: the type of a run-time error" "$("$GOHEAP" panics "$2")" "	runtime\.errorString	"
	"$GOHEAP" finalizers "$2" >"$work/finalizers"
	between "$1: queued finalizers" 4 "$(grep -c '^queued' "$work/finalizers")" 8
	equal "$1: registered finalizers with one function" 3 \
		"$(grep '^registered' "$work/finalizers" | cut -f 4 | sort | uniq -c | sort -n | awk '$1 == 3 { n++ } END { print 3 * (n > 0) }')"
	has "$1: roots in the data segment" "$("$GOHEAP" roots "$2")" "^data	0x[0-9a-f]+	0x[0-9a-f]+	data 0x[0-9a-f]+$"
	has "$1: roots in stacks" "$("$GOHEAP" roots "$2")" "^stack	0x[0-9a-f]+	0x[0-9a-f]+	goroutine 1, main\.main, sp_0x[0-9a-f]+$"
}

# check_json NAME DUMP: each line of each command is JSON.
check_json() {
	local command
	needs "$1: JSON" python3 || return
	for command in $listings types goroutines "goroutines --group" "goroutines -a"; do
		# shellcheck disable=SC2086 # a command and its options
		if ! (set -o pipefail && "$GOHEAP" $command --json "$2" | python3 -c '
import json, sys
for line in sys.stdin:
    assert isinstance(json.loads(line), dict)') >"$work/errors" 2>&1; then
			fail "$1: $command --json" "$(cat "$work/errors")"
			return
		fi
	done
	ok "$1: JSON of every command"
}

# check_damaged NAME DUMP: cut off, and compressed.
check_damaged() {
	local size errors
	size=$(wc -c <"$2")
	head -c $((size / 2)) "$2" >"$work/cut"
	errors=$("$GOHEAP" info "$work/cut" 2>&1 >"$work/report")
	equal "$1: half of it can be read" 0 $?
	has "$1: where it ends is told" "$errors" \
		"^goheap: .*/cut: offset 0x[0-9a-f]+: expected a whole record, found the end of the file, at $(printf '0x%x' $((size / 2)))"
	equal "$1: half of it is not whole" no "$(report_of whole)"
	gzip -c "$2" >"$work/dump.gz"
	"$GOHEAP" frames "$2" >"$work/expected"
	"$GOHEAP" frames "$work/dump.gz" >"$work/found" 2>&1
	same "$1: compressed" "$work/expected" "$work/found"
}

# check_release RELEASE
check_release() {
	local release=$1 directory errors
	sample "Go $release" "$release" dump || return 0
	if ! "$directory/dump" "$work/dump" "$work/stacks" >"$work/counts"; then
		fail "Go $release: the sample writes a dump"
		return
	fi
	compare_stacks "Go $release" "$directory" "$work/dump" "$work/stacks"
	compare_counts "Go $release" "$release" "$work/dump"
	check_records "Go $release" "$work/dump"
	check_json "Go $release" "$work/dump"
	check_damaged "Go $release" "$work/dump"
	if [ -n "$other" ]; then
		errors=$("$GOHEAP" goroutines -e "$other" "$work/dump" 2>&1)
		equal "Go $release: another program is refused" 1 $?
		has "Go $release: why another program is refused" "$errors" \
			'expected the program that wrote the dump, found one'
	fi
	other=$directory/dump
}

# A position-independent program's addresses are not its file's.
check_pie() {
	local directory
	sample "Go $1 PIE" "$1" dump -buildmode=pie || return 0
	"$directory/dump" "$work/dump" "$work/stacks" >"$work/counts"
	compare_stacks "Go $1 PIE" "$directory" "$work/dump" "$work/stacks"
}

# check_machine GOARCH EMULATOR: programs for other machines, as far as they can be run here.
check_machine() {
	local directory
	if foreign_dump "$1" "$2"; then
		compare_stacks "$1" "$directory" "$work/dump" "$work/stacks"
		compare_counts "$1" 1.19 "$work/dump"
	fi
}

# The primitives of the format, to make a dump by hand.
number() {
	local value=$1
	while [ "$value" -ge 128 ]; do
		# shellcheck disable=SC2059 # the format is the byte
		printf "\\$(printf %03o $((value % 128 + 128)))"
		value=$((value / 128))
	done
	# shellcheck disable=SC2059
	printf "\\$(printf %03o "$value")"
}

numbers() {
	local value
	for value in "$@"; do
		number "$value"
	done
}

text() {
	number "$(printf %s "$1" | wc -c)"
	printf %s "$1"
}

# goroutine ID STATUS WAIT_START REASON FUNCTION: with one frame.
goroutine() {
	numbers 4 $((36864 + $1)) $((196608 + 256 * $1)) "$1" 0 "$2" 0 0 "$3"
	text "$4"
	numbers 0 0 0 0
	numbers 5 $((196608 + 256 * $1)) 0 0 8 0 0 0 0 0 0 0 0 4096 4112 4112
	text "$5"
	number 0
}

# The records come on standard input.
made_dump() {
	printf 'go1.7 heap dump\n'
	numbers 6 0 8 65536 131072
	text amd64
	text go1.99
	number 4
	cat
	number 0
}

# What makedump.c puts in its records: the statistics in the order of runtime/heapdump.go, and the sizes of stacks and segments
# are of 16, 4 and 1, and of 5 words.
check_fields() {
	local format command
	build_maker makedump || exit
	cat >"$work/fields" <<-'END'
		1 params {"format":"go1.3","big_endian":false,"pointer_size":8,"channel_header":16,"heap_start":"0x10000","heap_end":"0x20000","machine":"amd64","experiment":"fieldtrack","cpus":4}
		5 params {"format":"go1.7","big_endian":false,"pointer_size":8,"heap_start":"0x10000","heap_end":"0x20000","machine":"amd64","experiment":"go1.99.1","cpus":4}
		1 itabs {"address":"0x7000","indirect":true}
		5 itabs {"address":"0x7000","type":"0x5000","type_name":"main.Node"}
		5 finalizers {"state":"registered","object":"0x10000","func_value":"0x404800","entry":"0x404000","argument_type":"0x5000","argument_type_name":"main.Node","object_type":"0x5100","object_type_name":"main.Pair"}
		5 finalizers {"state":"queued","object":"0x10100","func_value":"0x404900","entry":"0x404100","argument_type":"0x5100","argument_type_name":"main.Pair","object_type":"0x5000","object_type_name":"main.Node"}
		5 panics {"goroutine":2,"record":"0xc000","argument_type":"0x5000","argument_type_name":"main.Node","argument_data":"0x10000","defer":"0xb000","next":"0xc040","value":null}
		5 memstats {"alloc":1000,"total_alloc":1001,"sys":1002,"lookups":1003,"mallocs":1004,"frees":1005,"heap_alloc":1006,"heap_sys":1007,"heap_idle":1008,"heap_inuse":1009,"heap_released":1010,"heap_objects":1011,"stack_inuse":1012,"stack_sys":1013,"mspan_inuse":1014,"mspan_sys":1015,"mcache_inuse":1016,"mcache_sys":1017,"buckhash_sys":1018,"gc_sys":1019,"other_sys":1020,"next_gc":1021,"last_gc":1022,"pause_total_ns":1023,"num_gc":2,"pause_ns":[501,500]}
		1 info {"heap_dump_format":"go1.3","go_version":null,"machine":"amd64","pointer_size":8,"big_endian":false,"goroutines":2,"stack_frames":6,"objects":7,"object_bytes":272,"stack_bytes":336,"segment_bytes":80,"types":2,"itabs":1,"finalizers":1,"queued":1,"threads":1,"profile_records":1,"samples":1,"whole":true}
		5 info {"heap_dump_format":"go1.7","go_version":"go1.99.1","machine":"amd64","pointer_size":8,"big_endian":false,"goroutines":2,"stack_frames":6,"objects":7,"object_bytes":272,"stack_bytes":336,"segment_bytes":80,"types":2,"itabs":1,"finalizers":1,"queued":1,"threads":1,"profile_records":1,"samples":1,"whole":true}
	END
	cut -d ' ' -f 1,2 "$work/fields" | uniq | while read -r format command; do
		"$work/makedump" values "$format" 8 little >"$work/made"
		"$GOHEAP" "$command" --json "$work/made" | sed -E "s/\"file\":\"[^\"]*\",//; s/^/$format $command /"
	done >"$work/found"
	same "each field of a made dump's records, as JSON" "$work/fields" "$work/found"
	has "an address in the heap, and in no object" "$("$GOHEAP" objects "$work/made" 18000 2>&1)" "^goheap: 0x18000: .*, found one in the heap's free memory\$"
}

minute=60000000000

waiting() {
	goroutine 1 4 $((1 * minute)) 'chan receive' main.a
	goroutine 2 4 $((3 * minute)) 'chan receive' main.a
	goroutine 3 4 $((8 * minute)) select main.b
	goroutine 4 1 $((1 * minute)) '' 'main.generic[go.shape.int,main.T[int]].func1'
	goroutine 5 3 $((8 * minute - minute / 2)) 'chan receive' main.c
	goroutine 6 4 0 'chan receive' main.c
}

check_waits() {
	waiting | made_dump >"$work/made"
	"$GOHEAP" goroutines "$work/made" >"$work/found"
	cat >"$work/expected" <<-'END'
		goroutine 1 [chan receive, 7 minutes]:
		main.a(...)

		goroutine 2 [chan receive, 5 minutes]:
		main.a(...)

		goroutine 3 [select]:
		main.b(...)

		goroutine 4 [runnable]:
		main.generic[...].func1(...)

		goroutine 5 [syscall]:
		main.c(...)

		goroutine 6 [chan receive]:
		main.c(...)
	END
	same "minutes of waiting" "$work/expected" "$work/found"
	has "who has waited longest" "$("$GOHEAP" hang "$work/made" 2>"$work/why")" '^6 goroutines: .*; goroutine 1 has waited longest, for at least 420 s$'
	has "who has waited longest, as JSON" "$("$GOHEAP" hang --json "$work/made" 2>"$work/why")" \
		'^\{"part":"goroutines","count":6,"running":0,"runnable":1,"syscall":1,"waiting":4,"waited":420000000000,"oldest":1\}$'
	"$GOHEAP" goroutines --group -s 'chan receive' "$work/made" >"$work/found"
	cat >"$work/expected" <<-'END'
		2 goroutines [chan receive, 7 minutes]:
		main.a(...)

		goroutines 1 2

		1 goroutine [chan receive]:
		main.c(...)

		goroutines 6
	END
	same "groups" "$work/expected" "$work/found"
	equal "of one status" 4 "$("$GOHEAP" goroutines -s waiting "$work/made" | grep -c '^goroutine')"
	equal "of a pattern" 2 "$("$GOHEAP" goroutines --grep '^main\.c' "$work/made" | grep -c '^goroutine')"
	"$GOHEAP" goroutines --grep '(' "$work/made" >"$work/found" 2>&1
	equal "no pattern" 2 $?
}

# Who collects garbage, who waits for that, and for what most wait, of a dump whose program is not known.
check_collector() {
	{
		goroutine 1 4 0 'garbage collection' main.a
		goroutine 2 4 0 'GC assist wait' main.b
		goroutine 3 4 0 'GC assist wait' main.b
		goroutine 4 4 0 'wait for GC cycle' main.c
	} | made_dump >"$work/made"
	"$GOHEAP" hang "$work/made" >"$work/found" 2>"$work/errors"
	cat >"$work/expected" <<-END
		4 goroutines: 4 waiting
		collecting garbage: goroutine 1 (main.a) [garbage collection]
		3 goroutines wait for the collector
		Most wait for:
		2 goroutines: GC assist wait, in main.b
		1 goroutine: garbage collection, in main.a
		1 goroutine: wait for GC cycle, in main.c
		No goroutine that can never go on
		see goheap goroutines --group $work/made (all stacks)
	END
	same "who waits for the collector" "$work/expected" "$work/found"
	equal "without the program" "goheap: who has a mutex is told by the program's code: name it with -e" "$(cat "$work/errors")"
	goroutine 2 4 0 'GC assist marking' main.b | made_dump >"$work/made"
	has "one waits for the collector" "$("$GOHEAP" hang "$work/made" 2>"$work/errors")" '^1 goroutine waits for the collector$'
}

hostile() {
	# shellcheck disable=SC2016 # nothing here is to be expanded, ever
	goroutine 1 4 0 $'a\n\e[31m"\\$(touch gone)`id`' $'main.\r\n\e]0;x\a$(id)'
}

check_hostile() {
	hostile | made_dump >"$work/made"
	local command
	for command in goroutines 'goroutines --json' 'goroutines --group' frames 'frames --json' roots; do
		# shellcheck disable=SC2086 # a command and its options
		lacks "hostile text in $command" "$("$GOHEAP" $command "$work/made")" $'[\e\a\r]'
	done
	"$GOHEAP" goroutines "$work/made" >"$work/found"
	# shellcheck disable=SC2016
	printf '%s\n' 'goroutine 1 [a\n\x1b[31m"\\$(touch gone)`id`]:' 'main.\x0d\n\x1b]0;x\x07$(id)(...)' \
		>"$work/expected"
	same "hostile text is escaped" "$work/expected" "$work/found"
	check_json "hostile text" "$work/made"
}

other=
for release in $(releases "$apart"); do
	check_release "$release"
done
check_pie 1.19
check_machine s390x qemu-s390x
if in_full "other machines"; then
	check_machine 386 env
	check_machine arm qemu-arm
fi
check_fields
check_waits
check_collector
check_hostile
finish
