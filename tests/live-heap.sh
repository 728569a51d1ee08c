#!/usr/bin/env bash
# The heap of a running process and of a core file, stripped, against the heap dump that the same process writes of
# itself a moment later, by a reader that shares no code with goheap.
. "$(dirname "$0")/lib.sh"
session_home

# start PROGRAM [ARGUMENT]: runs the sample until its heap is full; $pid, and descriptor 7, by which it goes on.
start() {
	rm -f "$work/input" "$work/own"
	mkfifo "$work/input"
	# Another may have been waiting before.
	: >"$work/output"
	"$1" "$work/own" "${@:2}" <"$work/input" >"$work/output" &
	pid=$!
	exec 7>"$work/input"
	wait_until grep -q waiting "$work/output"
	# It has printed that before it reads.
	sleep 0.1
}

# go_on: it writes its own dump, and ends.
go_on() {
	echo >&7
	wait "$pid"
	exec 7>&-
}

# in_common NAME: the dumps own and other, which is goheap's, are of one heap.
in_common() {
	if ! "$dumpfile" compare "$work/own" "$work/other" >"$work/compared" 2>"$work/why"; then
		fail "$1: both dumps can be read" "$(cat "$work/why")"
		return
	fi
	grep '^different' "$work/compared" | grep -vE "${2-^$}" | cut -c1-300 >"$work/different"
	same "$1: $(awk -F'\t' '$1 == "objects" || $1 == "pointers" { printf "%s %s, ", $2, $1 }' "$work/compared")roots, finalizers, frames, profile" \
		/dev/null "$work/different"
	# The runtime's own structures, a buffer, and what is counted are not as they were.
	has "$1: few objects were rewritten" "$(grep '^rewritten	' "$work/compared")" '	(1?[0-9])$'
	for kind in objects pointers variables 'queued finalizers' finalizers itabs threads frames goroutines 'profile records' samples; do
		grep -q "^$kind	[1-9]" "$work/compared" || fail "$1: there are $kind" "$(cat "$work/compared")"
	done
}

# counters NAME RELEASE PART: the memory statistics of the dumps own and other differ by one part in PART at most. To Go
# 1.15 what was ever allocated is not known; where the collector is off, its next run is at no figure that tells anything;
# "other sys" grows by 256 kB at a time (persistentChunkSize in src/runtime/malloc.go), as for one thread more.
counters() {
	equal "$1: memory statistics" '' "$(awk -F': *' -v old="$2" -v part="$3" '
		NR == FNR { own[$1] = $2; next }
		$1 == "next gc" && own[$1] > 2 ^ 60 || old == "1.15" && $1 ~ /^(total alloc|mallocs|frees)$/ { next }
		(own[$1] > $2 ? own[$1] - $2 : $2 - own[$1]) > own[$1] / part + ($1 == "other sys" ? 262144 : 0) { print $1 ": " own[$1] ", not " $2 }
		' <("$GOHEAP" memstats "$work/own") <("$GOHEAP" memstats "$work/other"))"
}

# published FILE: the profile's records but those that have nothing yet, as has what the process allocated to print it.
published() {
	records "$1" | grep -v '^0: 0 \[0: 0\]'
}

# calls FILE: the profile's records without the innermost lines: those in the process's own dump are of where the calls
# return to.
calls() {
	records "$1" | sed -E 's/^([^|]*\| [^|]*):[0-9]+( \||$)/\1\2/' | sort
}

# ask: what each command says of the process, in files.
ask() {
	"$GOHEAP" histogram --bytes -n 0 --by size -p "$pid" >"$work/asked" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" goroutines -p "$pid" >"$work/goroutines" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" suspects --json -p "$pid" >"$work/suspects" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" dominators --json -n 1000 -p "$pid" >"$work/dominators" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" profile -p "$pid" >"$work/profile" 2>"$work/why" || cat "$work/why"
	"$GOHEAP" pprof -p "$pid" -o "$work/pprof.asked" 2>"$work/why" || cat "$work/why"
	for command in $listings; do
		"$GOHEAP" "$command" -p "$pid" >"$work/$command" 2>"$work/why" || cat "$work/why"
	done
}

# of_heap: what info says on standard input without the file's name, and what a dump does not have of its program.
of_heap() {
	grep -vE '^(file|main package|module|go build id|gnu build id):'
}

# lasting: the same of $command without the system calls that threads are in, for each look at a process wakes them.
lasting() {
	if [ "$command" = threads ]; then
		cut -f 1-3
	else
		cat
	fi
}

# check_asked NAME PROGRAM: that is what they say of the dump.
check_asked() {
	same "$1: histogram -p" <("$GOHEAP" histogram --bytes -n 0 --by size -e "$2" "$work/other") "$work/asked"
	same "$1: goroutines -p" <("$GOHEAP" goroutines "$work/other" -e "$2") "$work/goroutines"
	same "$1: suspects -p" <("$GOHEAP" suspects --json "$work/other" -e "$2") "$work/suspects"
	same "$1: dominators -p" <("$GOHEAP" dominators --json -n 1000 "$work/other" -e "$2") "$work/dominators"
	published "$work/own.profile" >"$work/published"
	[ "$(wc -l <"$work/published")" -gt 20 ] || fail "$1: it has a profile"
	same "$1: profile -p" "$work/published" <(published "$work/profile")
	for command in $listings; do
		same "$1: $command -p" <("$GOHEAP" "$command" "$work/other" | of_heap | lasting) <(of_heap <"$work/$command" | lasting)
	done
	"$GOHEAP" pprof -e "$2" "$work/other" -o "$work/pprof.written"
	cmp "$work/pprof.written" "$work/pprof.asked" || fail "$1: pprof -p"
}

# check_large NAME PROGRAM: an array that only a local variable leads to has a type, and so have its elements.
check_large() {
	"$GOHEAP" histogram --bytes -n 0 -e "$2" "$work/other" >"$work/histogram"
	has "$1: the type of a large array" "$(cat "$work/histogram")" '^ +1 .* \[\]\*main\.Row$'
	has "$1: and of its elements" "$(cat "$work/histogram")" '^ +20,000 .* main\.Row$'
}

# check_live NAME PROGRAM RELEASE [ask [LEFT_OUT]]: while it runs, but for differences that match LEFT_OUT; and what the commands
# say of it, which a dump of it has, too.
check_live() {
	start "$2"
	"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/told" || fail "$1: goheap dump" "$(cat "$work/told")"
	[ -z "${4-}" ] || ask
	go_on
	has "$1: the pause is told, and nothing is missing" "$(cat "$work/told")" '^goheap: paused [0-9]+ ms$'
	equal "$1: in one line" 1 "$(wc -l <"$work/told")"
	in_common "$1" "${5-^$}"
	counters "$1" "$3" 4
	# The runtime keeps the types of large objects since Go 1.22.
	[ "${3#1.}" -lt 22 ] || check_large "$1" "$2"
	[ -z "${4-}" ] || check_asked "$1" "$2"
}

# check_plain NAME PROGRAM: of objects whose contents are not copied types and numbers are what the program says, if it
# makes new ones meanwhile, too.
check_plain() {
	local how
	mkfifo "$work/input.plain"
	exec 8<>"$work/input.plain"
	for how in "" churn; do
		: >"$work/output" # another may have been ready before
		"$2" $how <&8 >"$work/output" 2>&1 &
		pid=$!
		wait_until grep -q ready "$work/output"
		"$GOHEAP" histogram --bytes -n 0 -p "$pid" 2>"$work/why" | sed -nE 's/^ +([0-9,]+) .* 0x[0-9a-f]+  (.*)/\1 \2/p' | tr -d , |
			grep -E ' (closure main\.fill.*|main\.(point|grid))$' | sort >"$work/asked"
		same "$1: what has no pointers${how:+, churning}" <(grep ' .*main' "$work/output" | sort) "$work/asked"
		kill "$pid"
		wait "$pid" 2>"$work/ended"
	done
	exec 8>&-
	rm "$work/input.plain"
}

# check_stacks NAME PROGRAM: what stacks alone hold is what the next collection leaves, and what is not held is what it
# frees; only what a goroutine holds that runs is no more than perhaps held.
check_stacks() {
	local address name held
	start "$2"
	"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/told" || fail "$1: goheap dump" "$(cat "$work/told")"
	go_on
	grep '^mark ' "$work/output" | while read -r _ address name; do
		held=$("$GOHEAP" path "$work/other" "$address")
		case $name in
		running*) name='running' ;;
		esac
		case $held in
		*garbage*) echo "freed $name" ;;
		*', perhaps'*) echo "perhaps $name" ;;
		*) echo "held $name" ;;
		esac
	done >"$work/held"
	has "$1: objects" "$(wc -l <"$work/held")" '^(22|27)$'
	same "$1: what nothing holds is freed" <(grep '^freed' "$work/output" | sort) <(grep '^freed' "$work/held" | sort)
	# To Go 1.17 a deferred call has arguments.
	equal "$1: what a running goroutine holds, perhaps" 'perhaps running' \
		"$(grep '^perhaps' "$work/held" | grep -v '^perhaps deferred ' | sort -u)"
	"$dumpfile" compare "$work/own" "$work/other" >"$work/compared"
	has "$1: defers" "$(cat "$work/compared")" '^defers	3$'
	lacks "$1: defers are its own" "$(cat "$work/compared")" '^different (defers|panics)'
	has "$1: fields of variables whose address is taken" "$(cat "$work/compared")" '^fields of stack objects	[1-9]'
	# The goroutine that ran has gone on since, and a collection may have told the profile what it freed.
	equal "$1: all else is as in the process's own dump" '1' "$(grep '^different' "$work/compared" |
		sed -E -e '/^different (counters|profile records)/d' -e 's/^different (fields of )?frames(, more)?: \[?([0-9]+) .*/\3/' \
			-e 's/^different goroutines(, more)?: \[[0-9]+ [0-9]+ ([0-9]+) .*/\2/' | sort -u | grep -c .)"
}

# held_by_registers: how many of the marked objects a register holds, by the dump other.
held_by_registers() {
	awk '/^mark / { print $2 }' "$work/output" | while read -r address; do
		"$GOHEAP" path "$work/other" "$address"
	done | grep -c '^root: register of goroutine [0-9]*, perhaps$'
}

# check_vectors RELEASE: what only a vector register holds, of a preempted goroutine or of the one of the 8 that runs, is
# held, perhaps, where the next collection leaves it; live and in a core file. Go 1.26 forgets those of preempted ones;
# in registers of the one that runs may be what others left.
check_vectors() {
	local name="go $1, vector registers" live core
	sample "$name" "$1" vectors || return
	start "$directory/vectors.stripped"
	sleep 0.5
	"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/told" || fail "$name: goheap dump" "$(cat "$work/told")"
	timeout 60 gcore -o "$work/vectors" "$pid" >"$work/gdb" 2>&1
	live=$(held_by_registers)
	"$GOHEAP" dump -f -e "$directory/vectors.stripped" "$work/vectors.$pid" -o "$work/other" 2>"$work/told" ||
		fail "$name: goheap dump of the core file" "$(cat "$work/told")"
	core=$(held_by_registers)
	rm -f "$work/vectors.$pid"
	go_on
	has "$name: freed, held live, and in a core file" "$(grep -c '^freed$' "$work/output") $live $core" '^(8 [0-3] [0-3]|0 8 8)$'
}

# typed NAME ARGUMENT...: the objects of types that only the plugin describes are what the program says of them.
typed() {
	local address
	while read -r address; do
		"$GOHEAP" print "${@:2}" "$address" 2>>"$work/why" | sed -E 's/ (\{|\[\{|[0-9]+\/[0-9]+ ).*//'
	done < <(awk '/^type / { print $2 }' "$work/output") >"$work/found"
	same "$1" "$work/types" "$work/found"
}

# check_plugin RELEASE: variables and frames of a plugin's hold objects, also ones of the plugin's own types.
check_plugin() {
	local name="go $1, plugin" plugin
	if ! plugin=$("$tests/build-sample" "$1" plugged -buildmode=plugin 2>"$work/why"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	sample "$name" "$1" host || return
	start "$directory/host.stripped" "$plugin/plugged.stripped"
	"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/told" || fail "$name: goheap dump" "$(cat "$work/told")"
	sed -nE 's/^type [^ ]+ //p' "$work/output" | sed -E 's/^\*\[\]/[5]/; s/^\*//' >"$work/types"
	equal "$name: objects of its types" 6 "$(grep -c '\<main\.' "$work/types")"
	typed "$name: types" -p "$pid"
	XDG_CACHE_HOME=$work/cache timeout 60 gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set auto-load no' \
		-ex "jit-reader-load $GOHEAP_SO" -ex "attach $pid" -ex "gcore $work/core" \
		-ex "goheap print $(awk '/^type / { print $2; exit }' "$work/output")" -ex detach </dev/null >"$work/gdb" 2>&1
	has "$name: types in GDB" "$(cat "$work/gdb")" '^main\.order \{id: 42, buyer: \*main\.customer \{name: "alice", friend: fmt\.Stringer\(\*main\.customer\) '
	go_on
	typed "$name: types in a core file" -e "$directory/host.stripped" "$work/core"
	typed "$name: types in a dump" -e "$directory/host.stripped" "$work/other"
	rm -f "$work/core"
	"$GOHEAP" path "$work/other" "$(awk '/^mark .* variable/ { print $2 }' "$work/output")" >"$work/held" 2>&1
	has "$name: what a variable of the plugin's holds" "$(cat "$work/held")" '^bss 0x'
	"$GOHEAP" path "$work/other" "$(awk '/^mark .* frame/ { print $2 }' "$work/output")" >"$work/held" 2>&1
	has "$name: what a frame of the plugin's holds" "$(cat "$work/held")" '^goroutine [0-9]+, .*\.keep, '
	"$dumpfile" compare "$work/own" "$work/other" >"$work/compared"
	has "$name: variables" "$(cat "$work/compared")" '^variables	[1-9]'
	lacks "$name: the program's variables are its own" "$(cat "$work/compared")" '^different variables'
}

# check_library RELEASE: the heap of a library that a program in C has loaded.
check_library() {
	local name="go $1, library" library
	if ! library=$("$tests/build-sample" "$1" shared -buildmode=c-shared 2>"$work/why"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	printf '%s\n' '#include <dlfcn.h>' 'int main(int n, char **v) {' \
		'((void (*)(char *))dlsym(dlopen(v[2], RTLD_NOW), "Run"))(v[1]); }' >"$work/load.c"
	"$CC" -o "$work/load" "$work/load.c" -ldl
	start "$work/load" "$library/shared.stripped"
	"$GOHEAP" dump -f -e "$library/shared.stripped" "$pid" -o "$work/other" 2>"$work/told" || fail "$name: goheap dump" "$(cat "$work/told")"
	go_on
	"$dumpfile" compare "$work/own" "$work/other" | cut -c1-300 >"$work/compared"
	# 5,000 and their values, and some more of the runtime and for the environment's variables.
	has "$name: objects" "$(cat "$work/compared")" '^objects	(99[0-9]{2}|1[0-9]{4})$'
	has "$name: finalizers" "$(cat "$work/compared")" '^finalizers	500[0-9]$'
	# The one that writes the dump has gone on.
	lacks "$name: the library's heap is its own" "$(grep -v '^different [^	]*frames' "$work/compared")" '^different [^cg]'
}

# check_arenas NAME PROGRAM: user arenas, and what only the runtime holds.
check_arenas() {
	start "$2"
	"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/why" || fail "$1: goheap dump" "$(cat "$work/why")"
	go_on
	"$dumpfile" compare "$work/own" "$work/other" >"$work/compared" 2>"$work/why" || fail "$1: compare" "$(cat "$work/why")"
	grep '^different' "$work/compared" | grep -v '^different counters' >"$work/different"
	same "$1: as the process's own dump" /dev/null "$work/different"
	has "$1: pointers" "$(cat "$work/compared")" '^pointers	[1-9][0-9]{5}'
	has "$1: what timers, weak pointers and cleanups hold is no garbage" \
		"$("$GOHEAP" unreachable --bytes -e "$2" "$work/other")" '^garbage: [0-9] objects of '
}

# check_core NAME TWIN PROGRAM RELEASE: from a core file, made where the sample is about to write its dump, and spans wait to be
# swept: then the runtime does that first, which queues the finalizers of what is found dead.
check_core() {
	rm -f "$work/own"
	run_gdb -ex 'handle SIGURG nostop noprint pass' -ex "break *'runtime/debug.WriteHeapDump'" \
		-ex "run $work/own sweep" -ex "generate-core-file $work/core" -ex delete -ex continue "$2" >"$work/gdb"
	if ! "$GOHEAP" dump -f -e "$3" "$work/core" -o "$work/other" 2>"$work/why"; then
		fail "$1: goheap dump" "$(cat "$work/why" "$work/gdb")"
		return
	fi
	equal "$1: nothing is missing" '' "$(cat "$work/why")"
	same "$1: histogram -e" <("$GOHEAP" histogram --bytes -e "$3" "$work/other") <("$GOHEAP" histogram --bytes -e "$3" "$work/core")
	for command in $listings; do
		same "$1: $command -e" <("$GOHEAP" "$command" "$work/other" | of_heap) \
			<("$GOHEAP" "$command" -e "$3" "$work/core" | of_heap)
	done
	in_common "$1" '^different (counters|(queued )?finalizers)[,:]'
	# That of Go 1.15 has the system give it memory for itself meanwhile.
	counters "$1" "$4" "$([ "$4" = 1.15 ] && echo 10 || echo 50)"
	equal "$1: finalizers that are registered or queued" \
		"$(awk -F'\t' '/^(queued )?finalizers\t/ { n += $2 } END { print n }' "$work/compared")" \
		"$("$GOHEAP" finalizers "$work/other" | tail -n +2 | wc -l)"
}

# check_piped NAME PROGRAM: that core file through pipes, of which goheap made the dump in the file other; cut short; and as others
# compress it.
check_piped() {
	# As the kernel hands it to a program that core_pattern names; and as a file.
	"$GOHEAP" dump -f -e "$2" - -o "$work/piped" < <(cat "$work/core") >"$work/why" 2>&1
	cmp "$work/other" "$work/piped" >>"$work/why" 2>&1
	equal "$1: from a pipe" '' "$(cat "$work/why")"
	"$GOHEAP" dump -f -e "$2" --gzip -o "$work/piped" - <"$work/core" >"$work/why" 2>&1
	gzip -dc "$work/piped" | cmp "$work/other" - >>"$work/why" 2>&1
	equal "$1: from standard input, compressed" '' "$(cat "$work/why")"
	same "$1: the compressed one is read" <("$GOHEAP" histogram --bytes -e "$2" "$work/other") <("$GOHEAP" histogram --bytes -e "$2" "$work/piped")
	head -c 100000 "$work/core" | "$GOHEAP" dump -f -e "$2" -o "$work/refused" - >"$work/why" 2>&1
	has "$1: a pipe that ends early" "$(head -n 1 "$work/why")" '^goheap: /dev/stdin: .*(cut short|expected)'
	same "$1: each command takes a pipe" <("$GOHEAP" histogram --bytes -e "$2" "$work/other") \
		<("$GOHEAP" histogram --bytes -e "$2" - 2>&1 < <(cat "$work/core"))
	for command in '\x28\xb5\x2f\xfd zstd' '\xfd\x37\x7a\x58\x5a xz' '\x04\x22\x4d\x18 lz4'; do
		{ printf '%b' "${command% *}"; head -c 100 /dev/zero; } >"$work/packed"
		has "$1: a core file that ${command#* } compressed" "$("$GOHEAP" hang -e "$2" "$work/packed" 2>&1)" \
			"^goheap: .*/packed: expected a core file, heap dump or program, found what ${command#* } compressed: unpack it with ${command#* } -d\$"
	done
	head -c 100000 "$work/core" | gzip >"$work/packed"
	has "$1: a core file that gzip compressed" "$("$GOHEAP" hang -e "$2" "$work/packed" 2>&1)" \
		'expected a Go heap dump, found a core file that gzip compressed: unpack it with gzip -d$'
}

# registers DUMP: the roots that are registers.
registers() {
	"$GOHEAP" roots "$1" | grep 'register of' | sort -u
}

# check_debugger TWIN PROGRAM: in GDB, of the process that it debugs, and before the first collection.
check_debugger() {
	goheap "$2" "break main.garbage" "run $work/own sweep" "goheap dump -f -o $work/early" "goheap histogram --bytes -n 1" \
		"tbreak runtime.slicebytetostring" "continue" "finish" "goheap dump -f -o $work/fresh" "generate-core-file $work/fresh.core" \
		"delete" "echo now\\n" "break *$(nm "$1" | awk '$3 == "runtime/debug.WriteHeapDump" { print "0x" $1 }')" \
		"continue" "goheap dump -f -o $work/other" "generate-core-file $work/core" \
		"goheap histogram --bytes -n 0 --by size" "echo then\\n" \
		"goheap profile" "goheap objects main.nodes" "echo frames\\n" "goheap frames" "echo end\\n" "delete" "continue" >"$work/session"
	objects=$(sed '/^now$/,$d' "$work/session" | sed -nE 's/^([0-9,]+) objects of .*/\1/p' | tr -d ,)
	[ "${objects:-0}" -gt 100 ] || fail "in gdb, before the first collection: objects" "$(cat "$work/session")"
	# Nothing was freed, nor has the runtime published what was allocated.
	equal 'in gdb, before the first collection: samples are in use' \
		"$("$GOHEAP" info "$work/early" | awk '/^samples:/ { n = $2 } END { print n + 0 }')" \
		"$("$GOHEAP" profile "$work/early" | sed -nE 's/^heap profile: ([1-9][0-9]*): .*/\1/p')"
	equal 'in gdb: no warning' '' "$(grep '^goheap: .*: ' "$work/session")"
	in_common 'in gdb' '^different (counters|(queued )?finalizers)[,:]'
	same 'in gdb: histogram' <("$GOHEAP" histogram --bytes -n 0 --by size -e "$2" "$work/other") \
		<(sed -n '/^ *objects  *bytes/,/^typed:/p' <(sed '1,/^now$/d' "$work/session"))
	# Only registers have the string that a call has just returned.
	"$GOHEAP" dump -f -e "$2" "$work/fresh.core" -o "$work/of-core"
	has 'in gdb: registers are roots' "$(registers "$work/fresh")" '^other	\?	0x[0-9a-f]+	root: register of goroutine 1, perhaps$'
	# A core file has one more: where the thread has its own variables.
	equal 'in gdb: registers are those of the core file' '' \
		"$(comm -23 <(registers "$work/fresh") <(registers "$work/of-core"))"
	"$GOHEAP" profile -e "$2" "$work/own" >"$work/profile"
	[ "$(calls "$work/profile" | wc -l)" -gt 50 ] || fail 'in gdb: it has a profile'
	same 'in gdb: frames' <("$GOHEAP" frames "$work/other") <(sed -n '/^frames$/,/^end$/p' "$work/session" | sed '1d;$d')
	sed -n '/^heap profile/,$p' "$work/session" >"$work/session.profile"
	same 'in gdb: profile' <(calls "$work/profile") <(calls "$work/session.profile")
}

# emulated QEMU LAST COMMAND...: the commands in GDB, of the sample in $directory, emulated, until their output has LAST:
# QEMU 7.2 loses the connection now and then.
emulated() {
	local try pid
	for ((try = 0; try < 5; try++)); do
		rm -rf "$work/own" "$work/other" "$work/socket" "$work/emulated"
		mkdir "$work/emulated"
		(cd "$work/emulated" && ulimit -c unlimited && GOMAXPROCS=1 GODEBUG=asyncpreemptoff=1 GOTRACEBACK=crash exec "$1" \
			-g "$work/socket" "$directory/memory.stripped" "$work/own" sweep >"$work/output" 2>&1 </dev/null) &
		pid=$!
		wait_until [ -S "$work/socket" ]
		GDB=gdb-multiarch goheap "$directory/memory.stripped" "target remote $work/socket" \
			'handle all nostop noprint pass' "${@:3}" >"$work/session"
		kill "$pid" 2>"$work/why"
		wait "$pid" 2>"$work/why"
		! grep -q "$2" "$work/session" || break
	done
}

# check_machine RELEASE GOARCH QEMU LINK: an emulated process that is about to write its dump, in GDB; and one that aborts
# when it has written it, in QEMU's core file. Register LINK has the return address.
check_machine() {
	local name="go $1, $2" address
	needs "$name" gdb-multiarch "$3" || return
	CGO_ENABLED=0 GOARCH=$2 sample "$name" "$1" memory || return
	address=$("$GOHEAP" funcs "$directory/memory.stripped" | awk -F'\t' '$3 == "runtime/debug.WriteHeapDump" { print $1 }')
	emulated "$3" 'exited normally' "break *$address" continue "goheap dump -f -o $work/other" delete continue
	in_common "$name" '^different (counters|(queued )?finalizers)[,:]'
	emulated "$3" 'terminated with signal SIGABRT' "break *$address" continue "tbreak *\$$4" 'delete 1' continue \
		'signal SIGABRT'
	"$GOHEAP" dump -f -e "$directory/memory.stripped" "$work"/emulated/qemu_*.core -o "$work/other" >"$work/why" 2>&1
	equal "$name, core: nothing is missing" '' "$(cat "$work/why")"
	in_common "$name, core" '^different counters[,:]'
	rm -rf "$work/emulated"
}

# check_foreign RELEASE PACKAGE FLAG: a program of a release that no toolchain is to be had of, which has done its work
# and waits. Its objects are those that its last collection left, and what it allocated since, 5 in 100 at most before
# the next; what roots reach is most of that, and was more while it worked.
check_foreign() {
	local name="go $1, other people's" program pid collected marked objects garbage
	if ! program=$("$tests/npm-program" "$2" bin/esbuild 2>"$work/why"); then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	has "$name: its release" "$("$GOHEAP" info "$program")" "^go version: +go$1(\\.|\$)"
	rm -f "$work/input"
	mkfifo "$work/input"
	: >"$work/trace"
	(cd "$quiet" && GOGC=5 GODEBUG=gctrace=1 exec "$program" --bundle input.js --outfile="$work/output.js" "$3") <>"$work/input" \
		>"$work/output" 2>"$work/trace" &
	pid=$!
	# It still looks at its files now and then: the dump is of what the last collection left if none came since, or was under
	# way.
	for _ in {1..60}; do
		sleep 2
		[ "$(wc -c <"$work/trace")" -ge 500 ] || continue
		collected=$(grep -a '^gc ' "$work/trace" | tail -n 1)
		"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/told"
		sleep 1
		[ "$collected" != "$(grep -a '^gc ' "$work/trace" | tail -n 1)" ] || break
	done
	marked=$(sed -nE 's/.*->([0-9]+) MB, .*/\1/p' <<<"$collected")
	end "$pid"
	has "$name: the pause is told, and nothing is missing" "$(cat "$work/told")" '^goheap: paused [0-9]+ ms$'
	equal "$name: in one line" 1 "$(wc -l <"$work/told")"
	objects=$("$GOHEAP" info --bytes "$work/other" | awk '/^size of objects:/ { print $4 }')
	garbage=$("$GOHEAP" unreachable --bytes -n 1 "$work/other" | sed -nE 's/^garbage: .* objects of ([0-9,]+) bytes, in .*/\1/p' | tr -d ,)
	has "$name: marked, objects, garbage" "$marked $objects $garbage" '^[1-9][0-9]+ [0-9]{7,} [0-9]+$'
	equal "$name: bytes in objects, and of those that are reached" 'good good' "$(
		awk -v marked="$marked" -v objects="$objects" -v garbage="$garbage" 'BEGIN {
			bytes = marked * 1048576
			print(objects > 0.95 * bytes && objects < 1.25 * bytes ? "good" : objects " of " bytes,
				objects - garbage > bytes / 2 ? "good" : objects - garbage " of " bytes) }')"
}

# check_kill PROGRAM: goheap may be killed at any moment.
check_kill() {
	local state running=0
	start "$1"
	for i in {1..15}; do
		"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/why" &
		sleep "0.0$((i % 8))$i"
		kill -KILL $! 2>"$work/why"
		wait $! 2>"$work/why"
		state=$(cut -d' ' -f3 /proc/"$pid"/task/*/stat | sort -u | tr -d '\n')
		case $state in
		*[tT]*) ;;
		*) running=$((running + 1)) ;;
		esac
	done
	equal 'killed at any moment, the process runs on' 15 "$running"
	equal 'nothing is left of the file' '' "$(find "$work" -name '*other?*')"
	go_on
	has 'and works' "$("$GOHEAP" info "$work/own")" 'objects'
}

# refuses NAME PATTERN ARGUMENT...: goheap dump says so in one line.
refuses() {
	local told status
	told=$("$GOHEAP" dump -f "${@:3}" -o "$work/refused" 2>&1)
	status=$?
	equal "$1: exit status" 1 "$status"
	equal "$1: lines" 1 "$(printf '%s\n' "$told" | wc -l)"
	has "$1" "$told" "$2"
	[ ! -e "$work/refused" ] || fail "$1: no file is written"
}

# check_running PROGRAM: without a stop. The process only waits, so that nothing changes meanwhile.
check_running() {
	start "$1"
	"$GOHEAP" dump -f "$pid" --no-pause -o "$work/other" 2>"$work/told" || fail 'without a pause' "$(cat "$work/told")"
	go_on
	equal 'without a pause: it says so' 'goheap: not paused: what changed while it was read may not fit together' "$(cat "$work/told")"
	in_common 'without a pause'
}

# check_pattern PROGRAM: what the manual page has for core_pattern, with the core file of a process that is there until
# it has been read, and with one that the kernel wrote.
check_pattern() {
	local pattern words
	pattern=$(sed -n 's/^\.B |[^ ]* //p' "$(dirname "$GOHEAP")/goheap.1" | sed 's/\\//g')
	start "$1"
	timeout 60 gcore -o "$work/core" "$pid" >"$work/gdb" 2>&1
	pattern=${pattern//\/var\/crash/$work} pattern=${pattern//.%t/}
	read -ra words <<<"${pattern//%P/$pid}"
	"$GOHEAP" "${words[@]}" < <(cat "$work/core.$pid") >"$work/why" 2>&1 || fail 'core_pattern' "$pattern"
	go_on
	equal 'core_pattern: nothing is missing' '' "$(cat "$work/why")"
	same 'core_pattern: the heap' <("$GOHEAP" histogram --bytes -n 0 -e "$1" "$work/core.$pid") <("$GOHEAP" histogram --bytes -n 0 -e "$1" "$work/$pid.heapdump")
	[ "$(stat -c %s "$work/$pid.heapdump")" -lt $(($(stat -c %s "$work/core.$pid") / 3)) ] || fail 'core_pattern: it is far smaller'
	if [ "$(cat /proc/sys/kernel/core_pattern)" != core ]; then
		skip "a core file of the kernel's" "core_pattern is $(cat /proc/sys/kernel/core_pattern)"
		return
	fi
	mkdir "$work/dumped"
	: >"$work/output"
	(cd "$work/dumped" && ulimit -c unlimited && sleep 100 | GOTRACEBACK=crash "$1" "$work/own" >"$work/output" 2>&1 &
		echo $! >"$work/shell")
	wait_until grep -q waiting "$work/output"
	sleep 0.1
	pid=$(pgrep -n -f "^$1 $work/own")
	kill -ABRT "$pid"
	wait_until [ ! -d "/proc/$pid" ]
	pkill -P "$(cat "$work/shell")" sleep
	cat "$work"/dumped/core* | "$GOHEAP" dump -f -e "$1" -o "$work/other" - >"$work/why" 2>&1 || fail "a core file of the kernel's" "$(cat "$work/why")"
	equal "a core file of the kernel's: nothing is missing" '' "$(cat "$work/why")"
	[ "$("$GOHEAP" info "$work/other" | awk '/^objects:/ { print $2 }')" -gt 10000 ] || fail "a core file of the kernel's: its objects"
}

# check_container PROGRAM: one of other pid and mount namespaces, whose file is not seen from here.
check_container() {
	mkdir -p "$work/hidden"
	rm -f "$work/output"
	if ! unshare -m mount -t tmpfs none "$work/hidden" 2>"$work/why"; then
		skip 'in a container' "$(cat "$work/why")"
		return
	fi
	mkfifo "$work/contained"
	unshare -m -p -f --mount-proc --kill-child sh -c "mount -t tmpfs none '$work/hidden' && cp '$1' '$work/hidden/program' &&
		'$work/hidden/program' '$work/own'" <"$work/contained" >"$work/output" 2>&1 &
	local outer=$!
	exec 7>"$work/contained"
	wait_until grep -q waiting "$work/output"
	sleep 0.1
	[ ! -e "$work/hidden/program" ] || fail 'in a container: its program is not seen from here'
	pid=$(pgrep -f "^$work/hidden/program")
	"$GOHEAP" dump -f "$pid" -o "$work/other" 2>"$work/told" || fail 'in a container' "$(cat "$work/told")"
	same 'in a container: by goheap that is in it' <("$GOHEAP" histogram --bytes --by size -e "$1" "$work/other") \
		<(nsenter -t "$pid" -m -p "$GOHEAP" histogram --bytes --by size -p "$(awk '/^NSpid:/ { print $3 }' "/proc/$pid/status")" 2>"$work/why")
	equal 'in a container: whose /proc is that of another' \
		'goheap: /proc: expected the processes of the pid namespace that goheap is in, found others: mount -t proc proc /proc' \
		"$(nsenter -t "$pid" -p "$GOHEAP" histogram --bytes -p "$pid" 2>&1)"
	echo >&7
	wait "$outer"
	exec 7>&-
	equal 'in a container: in one line' 1 "$(wc -l <"$work/told")"
	in_common 'in a container'
}

# check_user PROGRAM: another user's process.
check_user() {
	local told status
	if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups true 2>"$work/why"; then
		skip "another user's process" 'the test has to be run by root'
		return
	fi
	chmod 711 "$work"
	mkdir "$work/open"
	chmod 777 "$work/open"
	cp "$GOHEAP" "$work/goheap"
	cp "$1" "$work/program"
	chmod 755 "$work/goheap" "$work/program"
	start "$1"
	for option in '' "-e $work/program" "-e $work/program --no-pause"; do
		# shellcheck disable=SC2086 # words
		told=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$work/goheap" dump "$pid" $option -o "$work/open/refused" 2>&1)
		status=$?
		equal "another user's process $option: exit status" 1 "$status"
		equal "another user's process $option: lines" 1 "$(printf '%s\n' "$told" | wc -l)"
		has "another user's process $option" "$told" '^goheap: process [0-9]+ belongs to another user: run goheap as user [0-9]+, or as root$'
	done
	for command in goroutines histogram info; do
		has "another user's process: $command" \
			"$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$work/goheap" "$command" -p "$pid" 2>&1)" \
			'^goheap: process [0-9]+ belongs to another user: run goheap as user [0-9]+, or as root$'
	done
	go_on
}

check_errors() {
	start "$1"
	plain_gdb "" "attach $pid" "shell $GOHEAP dump $pid -o $work/refused >$work/traced 2>&1" detach >"$work/gdb"
	has 'one that is traced' "$(cat "$work/traced")" '^goheap: process [0-9]+ is traced by process [0-9]+: end that, or have it detach, first$'
	go_on
	refuses 'no such process' '^goheap: there is no process 4194301: it has ended, or the number is wrong$' 4194301
	sleep 30 &
	wait_until grep -q '^sleep$' "/proc/$!/comm"
	refuses 'no Go program' '^goheap: process [0-9]+ runs .*/sleep, which is no Go program, and has loaded no Go library$' $!
	kill $!
	wait $! 2>"$work/why"
	equal 'no number of a process' 2 "$("$GOHEAP" histogram --bytes -p 1x >"$work/why" 2>&1; echo $?)"
	refuses 'nothing on standard input' '^goheap: /dev/stdin: expected a core file, heap dump or program, found an empty file$' - </dev/null
	refuses 'no core file and no program' 'is a heap dump already: goheap info ' "$work/own"
	refuses 'no core file' 'is a program: name its process' -e "$1" "$1"
}

build_dumpfile
for release in $(formats "$("$tests/toolchain" list)"); do
	sample "go $release" "$release" memory &&
		check_live "go $release" "$directory/memory.stripped" "$release" "$(is_newest_or_debian "$release" && echo ask)"
done
for release in $(releases "$apart_maps"); do
	mode=exe
	! is_newest "$release" || mode=pie
	sample "go $release, $mode, stacks" "$release" stacked -buildmode=$mode &&
		check_stacks "go $release, $mode, stacks" "$directory/stacked.stripped"
done
for release in $(first 1.27 1.19); do
	sample "go $release, without pointers" "$release" plain &&
		check_plain "go $release, without pointers" "$directory/plain.stripped"
done
for release in 1.21 1.27; do
	in_full "go $release, user arenas" && GOEXPERIMENT=arenas sample "go $release, user arenas" "$release" arenas &&
		check_arenas "go $release, user arenas" "$directory/arenas.stripped"
done
for release in 1.15 1.19 1.27; do
	in_full "go $release, plugin" && check_plugin "$release"
done
for release in $(first 1.27 1.19); do
	check_library "$release"
done
for release in $(picked 1.26 1.27); do
	check_vectors "$release"
done
if in_full 'go 1.27, pie' && sample 'go 1.27, pie' 1.27 memory -buildmode=pie; then
	check_live 'go 1.27, pie' "$directory/memory.stripped" 1.27
fi
# The call that reading its input defers is a record in these builds.
for flags in -race -N -asan -musl; do
	in_full "go 1.27, $flags" || continue
	sample_as "go 1.27, $flags" 1.27 "memory $flags" &&
		check_live "go 1.27, $flags" "$directory/memory.stripped" 1.27 "" '^different defers, more: .*	1$'
done
for release in $(first 1.27 1.19); do
	sample "go $release, core" "$release" memory || continue
	check_core "go $release, core" "$directory/memory" "$directory/memory.stripped" "$release"
	[ "$release" = 1.19 ] || check_piped "go $release, core" "$directory/memory.stripped"
done
for release in $(picked 1.15 1.22 1.27); do
	needs_386 "go $release, 386" || continue
	GOARCH=386 sample "go $release, 386" "$release" memory || continue
	check_live "go $release, 386" "$directory/memory.stripped" "$release"
	check_core "go $release, 386, core" "$directory/memory" "$directory/memory.stripped" "$release"
done
# Which bits the heap has for pointers matters to a big-endian machine.
check_machine 1.27 arm64 qemu-aarch64-static lr
for release in 1.19 1.27; do
	in_full "go $release, s390x" && check_machine "$release" s390x qemu-s390x-static r14
done
if in_full 'programs of other releases'; then
	# Esbuild watches its input, whose contents it reads over and over while that is new, and all directories above it: those for
	# temporary files change with every other test.
	quiet=$(mktemp -d -p /var/tmp)
	trap 'rm -rf "$work" "$quiet"' EXIT
	for ((i = 0; i < 6000; i++)); do
		echo "export function f$i(a, b) { const x = [a, b, {k$i: 's$i'}]; return x.map(y => y + $i) }"
	done >"$quiet/input.js"
	touch -d '1 hour ago' "$quiet/input.js"
	check_foreign 1.16 esbuild-linux-64@0.12.0 --watch
	check_foreign 1.17 esbuild-linux-64@0.14.0 --watch
	check_foreign 1.18 esbuild-linux-64@0.14.40 --watch
	check_foreign 1.25 @esbuild/linux-x64@0.27.2 --watch=forever
	check_foreign 1.20 @esbuild/linux-x64@0.18.20 --watch=forever
fi
if sample 'errors' 1.19 memory; then
	check_debugger "$directory/memory" "$directory/memory.stripped"
	check_kill "$directory/memory.stripped"
	check_running "$directory/memory.stripped"
	check_pattern "$directory/memory.stripped"
	check_container "$directory/memory.stripped"
	check_user "$directory/memory.stripped"
	check_errors "$directory/memory.stripped"
fi
finish
