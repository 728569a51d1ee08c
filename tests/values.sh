#!/usr/bin/env bash
# The fields of a heap dump's frames as variables in GDB: in made dumps of every format the values that were
# put there, in real ones, with their stripped program and with none, the words that an independent reader finds.
. "$(dirname "$0")/lib.sh"
session_home
build_maker makedump || exit

# session GDB PROGRAM DUMP COMMAND...: a session on a dump; PROGRAM may be empty.
session() {
	local gdb=$1 program=$2 dump=$3 commands=()
	shift 3
	for command in "$@"; do
		commands+=(-ex "$command")
	done
	# In the test's directory, so that what a dump could make the session do is seen.
	(cd "$work" && timeout -k 5 120 "$gdb" -nx -q -batch -iex 'set width 0' -iex 'set debuginfod enabled off' \
		-ex "jit-reader-load $GOHEAP_SO" -ex "goheap load $dump" "${commands[@]}" \
		${program:+"$program"} </dev/null 2>&1)
}

# words WORD: standard input, in which %N stands for the offset of word number N, in hexadecimal.
words() {
	awk -v word="$1" '{
		while (match($0, /%[0-9]+/))
			$0 = substr($0, 1, RSTART - 1) sprintf("0x%x", word * substr($0, RSTART + 1, RLENGTH - 1)) \
				substr($0, RSTART + RLENGTH)
		print
	}'
}

# typed: what GDB shows of a made dump of the 1.3 format. GDB has no order of variables.
# shellcheck disable=SC2317 # values calls it
typed() {
	cat <<-'END'
		main.worker
		sp_%11 = 0x10000
		sp_%12 = 0x0
		sp_%13 = 0x10600
		sp_%1 = 0x10000
		sp_%2 = 0x10400 "hello, world"
		sp_%4 = {array = 0x10200, len = 2, cap = 3}
		sp_%7 = {tab = 0x7000, data = 0x10000}
		sp_%9 = {_type = 0x5000 <type:main.Node>, data = 0x10000}
		main.main
		sp_%1 = 0x10008
		sp_%2 = 0x10100
		runtime.goexit
	END
}

# Questions about them and GDB's answers.
# shellcheck disable=SC2317
typed_answers() {
	cat <<-'END'
		print *sp_%1	{f_%0 = 0x10100, f_%1 = 0x10400 "hello", f_%3 = {array = 0x10200, len = 2, cap = 3}, f_%6 = {tab = 0x7000, data = 0x10100}}
		print sp_%4.array[1]	{f_%0 = {_type = 0x5100 <type:main.Pair>, data = 0x10200}}
		print *sp_%4.array@2	{{f_%0 = {_type = 0x5000 <type:main.Node>, data = 0x10000}}, {f_%0 = {_type = 0x5100 <type:main.Pair>, data = 0x10200}}}
		print *sp_%7.data	{f_%0 = 0x10100, f_%1 = 0x10400 "hello", f_%3 = {array = 0x10200, len = 2, cap = 3}, f_%6 = {tab = 0x7000, data = 0x10100}}
		whatis 'main.Node'	main.Node
		print *sp_%13	11
		whatis sp_%11	uintptr *
		whatis sp_%1	main.Node *
		whatis sp_%2	string
		whatis sp_%4	slice
		whatis sp_%9.data	main.Node *
	END
}

# untyped: the same of later formats.
# shellcheck disable=SC2317
untyped() {
	cat <<-'END'
		main.worker
		sp_%11 = 0x10000
		sp_%12 = 0x0
		sp_%13 = 0x10600
		sp_%1 = 0x10000
		sp_%2 = 0x10400
		sp_%4 = 0x10200
		sp_%7 = {tab = 0x7000 <itab:main.Node>, data = 0x10000}
		sp_%9 = {_type = 0x5000 <type:main.Node>, data = 0x10000}
		main.main
		sp_%1 = 0x10008
		sp_%2 = 0x10100
		runtime.goexit
	END
}

# shellcheck disable=SC2317
untyped_answers() {
	cat <<-'END'
		print *sp_%1	65792
		print sp_%13[2]	33
		whatis sp_%1	uintptr *
		whatis sp_%9.data	uintptr *
	END
}

# prototype: the same of the prototype, which has stack roots for the fields.
# shellcheck disable=SC2317
prototype() {
	cat <<-'END'
		main.worker
		sp_%11 = 0x10000
		sp_%13 = 0x10600
		sp_%1 = 0x10000
		sp_%2 = 0x10400
		main.main
		sp_%1 = 0x10008
		sp_%2 = 0x10100
		runtime.goexit
	END
}

# shellcheck disable=SC2317
prototype_answers() {
	cat <<-'END'
		print *sp_%1	{f_%0 = 0x10100, f_%1 = 0x10400 "hello", f_%3 = {array = 0x10200, len = 2, cap = 3}, f_%6 = {tab = 0x7000, data = 0x10100}}
		print *sp_%13	11
		whatis sp_%1	main.Node *
		whatis sp_%11	uintptr *
	END
}

# by_frame: such a list, each frame's variables sorted.
by_frame() {
	awk '!/^sp_/ { frame++ } { printf "%03d\t%s\n", frame, $0 }' | sort | cut -f 2-
}

# frames: a backtrace with variables on standard input as such a list.
frames() {
	sed -nE -e 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(.*) \(.*\)$/\2/p' -e 's/^[ \t]+(sp_0x.*)$/\1/p'
}

# values NAME EXPECTED FORMAT WORD ORDER GDB: each kind of record and field of a made dump.
values() {
	local name=$1 commands=() question
	needs "$1" "$6" || return
	"$work/makedump" values "$3" "$4" "$5" >"$work/made"
	"$2_answers" | words "$4" >"$work/answers"
	while IFS=$'\t' read -r question _; do
		commands+=("$question")
	done <"$work/answers"
	session "$6" "" "$work/made" 'echo stack\n' 'backtrace full' 'echo answers\n' "${commands[@]}" >"$work/session"
	"$2" | words "$4" | by_frame | cat - <(cut -f 2 "$work/answers") >"$work/expected"
	sed '1,/^stack$/d; /^answers$/,$d' "$work/session" | frames | by_frame >"$work/shown"
	sed -E '1,/^answers$/d; s/^(type|\$[0-9]+) = //' "$work/session" >>"$work/shown"
	same "$name" "$work/expected" "$work/shown"
}

check_made() {
	values "the prototype" prototype 0 8 little gdb
	values "the prototype, 32 bits" prototype 0 4 little gdb-multiarch
	values "1.3" typed 1 8 little gdb
	values "1.3, big-endian" typed 1 8 big gdb-multiarch
	values "1.3, 32 bits" typed 1 4 little gdb-multiarch
	values "1.4" untyped 2 8 little gdb
	values "1.5" untyped 3 8 little gdb
	values "1.6, big-endian" untyped 4 8 big gdb-multiarch
	values "1.7" untyped 5 8 little gdb
	values "1.7, big-endian" untyped 5 8 big gdb-multiarch
	values "1.7, 32 bits" untyped 5 4 little gdb-multiarch
	"$work/makedump" values 5 8 little >"$work/made"
	session gdb "" "$work/made" 'thread 2' 'info symbol 0x5100' 'info symbol 0x5101' 'x/2gx sp_0x68' \
		'print sp_0x8' >"$work/session"
	has "a type's descriptor is named" "$(cat "$work/session")" '^type:main\.Pair in section \.data'
	has "what is beyond it is not" "$(cat "$work/session")" '^No symbol matches 0x5101'
	has "memory at a variable" "$(cat "$work/session")" '^0x10600:	0x000000000000000b	0x0000000000000016$'
	# shellcheck disable=SC2016 # $1 is GDB's
	has "a pointer" "$(cat "$work/session")" '^\$1 = \(uintptr \*\) 0x10000$'
}

# What a session shows of the records of both the first formats.
both() {
	cat <<-'END'
		(gdb) goheap types
		0x5000	64	yes	main.Node
		0x5100	16	yes	main.Pair
		(gdb) goheap itabs
		address	indirect
		0x7000	yes
		(gdb) x/8gx 0x10000
		0x10000:	0x0000000000010100	0x0000000000010400
		0x10010:	0x0000000000000005	0x0000000000010200
		0x10020:	0x0000000000000002	0x0000000000000003
		0x10030:	0x0000000000007000	0x0000000000010100
		(gdb) x/s 0x10407
		0x10407:	"world"
		(gdb) x/4gx 0x10800
		0x10800:	0x0000000000000001	0x0000000000000002
		0x10810:	0x0000000000005000	0x0000000000010100
		(gdb) x/2gx 0x10a00
		0x10a00:	0x0000000000010000	0x0000000000000037
		(gdb) x/gx 0x60000
		0x60000:	0x0000000000010000
		(gdb) x/gx 0x61010
		0x61010:	0x0000000000010100
		(gdb) x/2gx 0x30008
		0x30008:	0x0000000000010000	0x0000000000010400
		(gdb) x/gx 0x31058
		0x31058:	0x0000000000010200
		(gdb) x/gx 0x30078
		0x30078:	0x0000000000402020
		(gdb) x/gx 0x30098
		0x30098:	0x0000000000403004
	END
}

# What it shows of the others of the prototype.
# shellcheck disable=SC2317 # records calls it
prototype_records() {
	cat <<-'END'
		(gdb) goheap goroutines
		goroutine 1 [chan receive]:
		main.worker(...)
		main.main(...)

		goroutine 2 [chan receive]:
		main.worker(...)
		main.main(...)
		(gdb) goheap frames
		goroutine	depth	sp	size	parent_sp	entry	pc	continuation	function
		1	0	0x30000	128	0x30080	0x401000	0x401040	0x0	main.worker
		1	0	0x30080	32	0x300a0	0x402000	0x402020	0x0	main.main
		1	0	0x300a0	8	0x300a8	0x403000	0x403004	0x0	runtime.goexit
		2	0	0x31000	128	0x31080	0x401000	0x401040	0x0	main.worker
		2	0	0x31080	32	0x310a0	0x402000	0x402020	0x0	main.main
		2	0	0x310a0	8	0x310a8	0x403000	0x403004	0x0	runtime.goexit
		(gdb) goheap roots
		data	0x60000	0x10000	data 0x60000
		stack	0x30008	0x10000	a stack, 0x30008
		stack	0x30058	0x10000	a stack, 0x30058
		stack	0x30088	0x10000	a stack, 0x30088
		stack	0x31008	0x10000	a stack, 0x31008
		stack	0x31088	0x10000	a stack, 0x31088
		data	0x61010	0x10100	data 0x61010
		stack	0x30090	0x10100	a stack, 0x30090
		stack	0x31090	0x10100	a stack, 0x31090
		finalizer	?	0x10100	finalizer 0x404000 of 0x10000, +0
		finalizer	?	0x10100	finalizer 0x404000 of 0x10000, +56
		stack	0x31058	0x10200	a stack, 0x31058
		other	?	0x10200	root: finalizer queue
		finalizer	?	0x10200	finalizer 0x404000 of 0x10000, +24
		stack	0x30010	0x10400	a stack, 0x30010
		stack	0x31010	0x10400	a stack, 0x31010
		finalizer	?	0x10400	finalizer 0x404000 of 0x10000, +8
		stack	0x30068	0x10600	a stack, 0x30068
		stack	0x31068	0x10600	a stack, 0x31068
		(gdb) goheap finalizers
		state	object	func_value	entry	argument_type	argument_type_name	object_type	object_type_name
		registered	0x10000	0x404800	0x404000	0x5000	main.Node	0x5100	main.Pair
		(gdb) goheap params
		format:           go1.3 prototype
		big endian:       no
		pointer size:     8
		channel header:   16
		heap start:       0x10000
		heap end:         0x20000
		(gdb) goheap memstats
		(gdb) x/gx 0x60008
		0x60008:	Cannot access memory at address 0x60008
	END
}

# The same of 1.3.
# shellcheck disable=SC2317
typed_records() {
	cat <<-'END'
		(gdb) goheap goroutines
		goroutine 1 [chan receive]:
		main.worker(...)
		main.main(...)

		goroutine 2 [chan receive]:
		main.worker(...)
		main.main(...)

		panicking in goroutine 2: main.Node, data 0x10000
		deferred in goroutine 2: 0x404000 by 0x402030
		(gdb) goheap frames
		goroutine	depth	sp	size	child_sp	entry	pc	continuation	function
		1	0	0x30000	128	0x0	0x401000	0x401040	0x401048	main.worker
		1	1	0x30080	32	0x30000	0x402000	0x402020	0x402028	main.main
		1	2	0x300a0	8	0x30080	0x403000	0x403004	0x40300c	runtime.goexit
		2	0	0x31000	128	0x0	0x401000	0x401040	0x401048	main.worker
		2	1	0x31080	32	0x31000	0x402000	0x402020	0x402028	main.main
		2	2	0x310a0	8	0x31080	0x403000	0x403004	0x40300c	runtime.goexit
		(gdb) goheap roots
		data	0x60000	0x10000	data 0x60000
		stack	0x30008	0x10000	goroutine 1, main.worker, sp_0x8
		stack	0x30040	0x10000	goroutine 1, main.worker, sp_0x40
		stack	0x30050	0x10000	goroutine 1, main.worker, sp_0x50
		stack	0x30058	0x10000	goroutine 1, main.worker, sp_0x58
		stack	0x30088	0x10000	goroutine 1, main.main, sp_0x8
		stack	0x31008	0x10000	goroutine 2, main.worker, sp_0x8
		stack	0x31088	0x10000	goroutine 2, main.main, sp_0x8
		panic	?	0x10000	goroutine 2, a panic's argument
		bss	0x61010	0x10100	bss 0x61010
		stack	0x30090	0x10100	goroutine 1, main.main, sp_0x10
		stack	0x31090	0x10100	goroutine 2, main.main, sp_0x10
		queued finalizer	?	0x10100	queued finalizer 0x404100 of 0x10100
		finalizer	?	0x10100	finalizer 0x404000 of 0x10000, +0
		finalizer	?	0x10100	finalizer 0x404000 of 0x10000, +56
		data	0x60020	0x10200	data 0x60020
		stack	0x30020	0x10200	goroutine 1, main.worker, sp_0x20
		stack	0x31058	0x10200	goroutine 2, main.worker, sp_0x58
		other	?	0x10200	root: finalizer queue
		finalizer	?	0x10200	finalizer 0x404000 of 0x10000, +24
		data	0x60008	0x10400	data 0x60008
		stack	0x30010	0x10400	goroutine 1, main.worker, sp_0x10
		finalizer	?	0x10400	finalizer 0x404000 of 0x10000, +8
		stack	0x31068	0x10600	goroutine 2, main.worker, sp_0x68
		(gdb) goheap finalizers
		state	object	func_value	entry	argument_type	argument_type_name	object_type	object_type_name
		registered	0x10000	0x404800	0x404000	0x5000	main.Node	0x5100	main.Pair
		queued	0x10100	0x404900	0x404100	0x5100	main.Pair	0x5000	main.Node
		(gdb) goheap defers
		goroutine	record	argp	pc	func_value	entry	next
		2	0xb000	0x31000	0x402030	0xb080	0x404000	0xb040
		(gdb) goheap panics
		goroutine	record	argument_type	argument_type_name	argument_data	defer	next	value
		2	0xc000	0x5000	main.Node	0x10000	0xb000	0xc040	?
		(gdb) goheap threads
		id	os_id	descriptor	system_call	arguments	asleep
		3	4242	0xa000	?	?	?
		(gdb) goheap memstats
		alloc:            1000
		total alloc:      1001
		sys:              1002
		lookups:          1003
		mallocs:          1004
		frees:            1005
		heap alloc:       1006
		heap sys:         1007
		heap idle:        1008
		heap inuse:       1009
		heap released:    1010
		heap objects:     1011
		stack inuse:      1012
		stack sys:        1013
		mspan inuse:      1014
		mspan sys:        1015
		mcache inuse:     1016
		mcache sys:       1017
		buckhash sys:     1018
		gc sys:           1019
		other sys:        1020
		next gc:          1021
		last gc:          1022
		pause total ns:   1023
		num gc:           2
		pause ns:         501 500
		(gdb) goheap params
		format:           go1.3
		big endian:       no
		pointer size:     8
		channel header:   16
		heap start:       0x10000
		heap end:         0x20000
		machine:          amd64
		experiment:       fieldtrack
		cpus:             4
		(gdb) x/5gx 0x60000
		0x60000:	0x0000000000010000	0x0000000000010400
		0x60010:	0x0000000000000005	0x0000000000005000
		0x60020:	0x0000000000010200
		(gdb) x/5gx 0x61000
		0x61000:	0x0000000000000000	0x0000000000007000
		0x61010:	0x0000000000010100	0x0000000000000042
		0x61020:	0x000000000000004d
		(gdb) x/16gx 0x30000
		0x30000:	0x0000000000402020	0x0000000000010000
		0x30010:	0x0000000000010400	0x000000000000000c
		0x30020:	0x0000000000010200	0x0000000000000002
		0x30030:	0x0000000000000003	0x0000000000007000
		0x30040:	0x0000000000010000	0x0000000000005000
		0x30050:	0x0000000000010000	0x0000000000010000
		0x30060:	0x0000000000000000	0x0000000000010600
		0x30070:	0x0000000000001234	0x0000000000402020
	END
}

# records NAME EXPECTED FORMAT: such sessions, of a dump of 64 bits.
records() {
	local name=$1 commands=() line
	"$work/makedump" values "$3" 8 little >"$work/made"
	{ both && "$2"; } >"$work/expected"
	while read -r line; do
		commands+=("echo $line\n" "${line#(gdb) }")
	done < <(grep '^(gdb) ' "$work/expected")
	session gdb "" "$work/made" "${commands[@]}" | sed -n '/^(gdb) /,$p' >"$work/shown"
	same "$1: every kind of record" "$work/expected" "$work/shown"
	session gdb "" "$work/made" 'goheap info' 'info threads' >"$work/session"
	has "$1: threads" "$(cat "$work/session")" '^  2    LWP 2 "chan receive" 0x000000000040103f in main\.worker \(\)'
	shift 3
	for line; do
		has "$name: $line" "$(cat "$work/session")" "$line"
	done
}

check_records() {
	records "the prototype" prototype_records 0 \
		'^go1\.3 prototype heap dump of an unknown Go, taken for linux/amd64: 2 goroutines, 272 bytes in 7 objects$'
	records "1.3" typed_records 1 '^profile records:  1$' '^samples:          1$' \
		'^go1\.3 heap dump of an unknown Go linux/amd64: 2 goroutines, 272 bytes in 7 objects$'
}

check_types() {
	"$work/makedump" values 1 8 little >"$work/made"
	session gdb "" "$work/made" "ptype 'main.Node'" 'set language c' "print *('main.Node' *)0x10100" >"$work/session"
	has "a type by its name" "$(cat "$work/session")" '^type = struct main\.Node \{$'
	# shellcheck disable=SC2016 # $1 is GDB's
	has "memory as a type" "$(cat "$work/session")" '^\$1 = \{f_0x0 = 0x0, f_0x8 = \{str = 0x10407 "world", len = 5\},'
	# In the other goroutine that word points to an array of another type.
	session gdb "" "$work/made" 'thread 2' 'print *sp_0x58' >"$work/session"
	# shellcheck disable=SC2016
	has "what has no one type" "$(cat "$work/session")" '^\$1 = 20480$'
}

check_hostile() {
	local format
	for format in 1 5; do
		"$work/makedump" hostile $format 8 little >"$work/made"
		# shellcheck disable=SC2016 # $pc is GDB's
		session gdb "" "$work/made" 'backtrace full' 'info locals' 'whatis *sp_0x8' 'ptype sp_0x8' 'print *sp_0x8' \
			'info symbol 0x5000' 'info types .' 'info functions .' 'info scope *$pc' 'info address sp_0x8' \
			'thread apply all -s frame apply all -s info locals' >"$work/session"
		has "hostile names, format $format: variables are there" "$(cat "$work/session")" 'sp_0x8 = 0x10000$'
		equal "hostile names, format $format: no control character" "" "$(raw <"$work/session")"
		equal "hostile names, format $format: nothing ran" "" "$(find "$work" -name gone)"
	done
}

# locals: threads' backtraces with variables on standard input as rows: goroutine, depth, offset, word.
locals() {
	awk -v OFS='\t' '
		/^Thread [0-9]+ / { id = $0; sub(/.*\(LWP /, "", id); sub(/[^0-9].*/, "", id) }
		/^#[0-9]+ / { depth = substr($1, 2) }
		/^[ \t]*sp_0x[0-9a-f]+ = 0x/ { print id, depth, substr($1, 4), $3 }' | sort
}

# columns PROGRAM: of such rows; without the depth where inlined frames count as well.
columns() {
	if [ -n "$1" ]; then
		cut -f 1,3- | sort -u
	else
		sort
	fi
}

# real NAME GDB PROGRAM DUMP STACKS [SHOWN]: the stacks and every field of a dump that a program wrote. PROGRAM may be
# empty. SHOWN is loaded instead, the same dump in another format.
real() {
	session "$2" "$3" "${6:-$4}" 'thread apply all backtrace full' >"$work/session"
	"$dumpfile" fields "$4" | columns "$3" >"$work/expected"
	locals <"$work/session" | columns "$3" >"$work/shown"
	if [ "$(wc -l <"$work/expected")" -ge 50 ]; then
		# Where goheap does not unwind, GDB takes runtime.sigpanic's frame for a signal's: it looks for variables at its pc.
		"$GOHEAP" frames "$4" | awk -F'\t' '$9 == "runtime.sigpanic" { print $1, $2 }' >"$work/frames"
		"$dumpfile" fields "$4" | awk 'NR == FNR { signal[$1, $2] = 1; next } ($1, $2) in signal' "$work/frames" - |
			columns "$3" >"$work/signal"
		comm -23 "$work/expected" "$work/shown" | comm -23 - "$work/signal" >"$work/left"
		same "$1: every field ($(wc -l <"$work/expected"))" /dev/null "$work/left"
	else
		fail "$1: the dump has fields" "$(cat "$work/expected")"
	fi
	# Frames at one pc have the variables of all of them.
	"$dumpfile" words "$4" | columns "$3" | comm -13 - "$work/shown" >"$work/left"
	# The prototype's dumps have no word of a frame but its roots; those that another frame at that pc has read as 0.
	[ -z "${6-}" ] || sed -i '/\t0x0$/d' "$work/left"
	same "$1: no other value" /dev/null "$work/left"
	# Without the program nothing tells of inlined calls.
	awk -v OFS='\t' -v program="$3" '
		/^goroutine [0-9]+ / { id = $2; next }
		/^created by / || /^\t/ || NF == 0 { next }
		/\(\.\.\.\)$/ && program == "" { next }
		{ sub(/\([^()]*\)$/, ""); sub(/^panic$/, "runtime.gopanic"); print id, $0 }' "$5" | sort -u >"$work/expected"
	awk -v OFS='\t' '
		/^Thread [0-9]+ / { id = $0; sub(/.*\(LWP /, "", id); sub(/[^0-9].*/, "", id) }
		/^#[0-9]+ / { sub(/^#[0-9]+ +(0x[0-9a-f]+ in )?/, ""); sub(/ \(.*/, ""); sub(/\[.*\]/, "[...]"); print id, $0 }' \
		"$work/session" | sort -u >"$work/shown"
	comm -23 "$work/expected" "$work/shown" >"$work/left"
	same "$1: every function on a stack ($(wc -l <"$work/expected"))" /dev/null "$work/left"
	lacks "$1: no frame is unknown" "$(cat "$work/session")" '\?\?|[Cc]annot access|corrupt|not saved'
}

# check_release RELEASE
check_release() {
	local directory spec
	for spec in dump 'dump -buildmode=pie'; do
		[ "$spec" = dump ] || is_newest "$1" || continue
		# shellcheck disable=SC2086 # the words of a specification are arguments
		sample "Go $1 $spec" "$1" $spec || continue
		"$directory/dump.stripped" "$work/dump" "$work/stacks" >"$work/counts"
		real "Go $1 $spec" gdb "$directory/dump.stripped" "$work/dump" "$work/stacks"
		real "Go $1 $spec, no program" gdb "" "$work/dump" "$work/stacks"
	done
}

# What the prototype would have of a dump, on the machines that it was for.
check_prototype() {
	local arch directory
	for arch in amd64 386; do
		[ "$arch" = amd64 ] || needs_386 "a prototype's dump, $arch" || continue
		GOARCH=$arch sample "a prototype's dump, $arch" 1.19 dump || continue
		"$directory/dump.stripped" "$work/dump" "$work/stacks" >"$work/counts"
		"$dumpfile" prototype "$work/dump" >"$work/prototype"
		real "a prototype's dump, $arch" gdb "$directory/dump.stripped" "$work/dump" "$work/stacks" "$work/prototype"
		real "a prototype's dump, $arch, no program" gdb "" "$work/dump" "$work/stacks" "$work/prototype"
	done
}

# check_machine GOARCH EMULATOR: programs for other machines, as far as they can be run here.
check_machine() {
	local directory
	if ! command -v gdb-multiarch >/dev/null; then
		skip "$1" "no gdb-multiarch"
	elif foreign_dump "$1" "$2"; then
		real "$1" gdb-multiarch "$directory/dump.stripped" "$work/dump" "$work/stacks"
		real "$1, no program" gdb-multiarch "" "$work/dump" "$work/stacks"
	fi
}

check_made
check_records
check_types
check_hostile
if dumpfile=$("$tests/build-sample" 1.19 dumpfile 2>"$work/why"); then
	dumpfile=$dumpfile/dumpfile
	for release in $(releases "$apart_maps"); do
		check_release "$release"
	done
	check_prototype
	check_machine arm64 qemu-aarch64
	check_machine s390x qemu-s390x
	in_full "other machines" || finish
	check_machine 386 env
	check_machine arm qemu-arm
	check_machine mips64le qemu-mips64el
	check_machine ppc64le qemu-ppc64le
	check_machine riscv64 qemu-riscv64
else
	fail "the reader of dumps" "$(cat "$work/why")"
fi
finish
