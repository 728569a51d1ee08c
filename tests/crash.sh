#!/usr/bin/env bash
# Crashes of a stripped program and of its unstripped twin, one of each kind: the goroutines of its core file, and of the process while GDB has it,
# against the traceback that the process itself printed.
. "$(dirname "$0")/lib.sh"
session_home

patience=300 gdb_options=(-iex 'set print frame-arguments presence')

# Kinds of crashes, as the sample has them; those with a + have another goroutine run. KINDS restricts them.
all="error string number stringer wrapped custom nothing nested again recovered map entry later+ later mapped divide index assert call
	overflow deadlock unlock spin+ spin read sleep"
some="nothing nested entry later overflow spin read" alone="nested later spin"
all=${KINDS:-$all} some=${KINDS:-$some} alone=${KINDS:-$alone}

# busy_thread PID: the thread of the process that runs, and has for longest, or else that reads from descriptor 0; the process if
# there is none. A signal that is sent to the process goes to its first thread if that takes it, which need not be where the
# goroutine is.
busy_thread() {
	local task busy reads=$1
	busy=$(awk '$3 == "R" { print $14, $1 }' /proc/"$1"/task/*/stat 2>/dev/null | sort -n | tail -n 1)
	for task in /proc/"$1"/task/*; do
		[[ $(cat "$task/syscall") != "0 0x0 "* ]] || reads=${task##*/}
	done 2>/dev/null
	[ -n "$busy" ] && reads=${busy#* }
	echo "$reads"
}

# has_run PID: a thread of it has run for long.
# shellcheck disable=SC2317 # wait_until calls it.
has_run() {
	awk '$14 >= 30 { found = 1 } END { exit !found }' "/proc/$1/task"/*/stat
}

# crash PROGRAM KIND [FILTER]: lets the program crash. Its core is $work/core, if the kernel writes one, and what it printed
# $work/traceback. FILTER is the kernel's coredump_filter.
crash() {
	local kind=${2%+} more=() debug='' pid
	[ "$kind" = "$2" ] || more=(run)
	# What is to be running when it is killed is to be so on a busy machine, too.
	[ "$2" != spin ] || debug=asyncpreemptoff=1
	rm -rf "$work/crashed" "$work/core" "$work/input"
	mkdir "$work/crashed"
	mkfifo "$work/input"
	# Another may have been ready before.
	: >"$work/output"
	(
		cd "$work/crashed" || exit
		ulimit -c unlimited
		[ $# -lt 3 ] || echo "$3" >/proc/self/coredump_filter
		ASAN_OPTIONS=disable_coredump=0 GODEBUG=$debug GOTRACEBACK=crash exec "$1" "$kind" "${more[@]}" <"$work/input" >"$work/output" 2>"$work/traceback"
	) &
	pid=$!
	exec 7>"$work/input"
	case $kind in
	spin | read | sleep | c)
		wait_until grep -q ready "$work/output"
		# It has printed that before it waits, or before its thread has run for long.
		sleep 0.2
		[ "$2" != spin ] || wait_until has_run "$pid"
		kill -ABRT "$(busy_thread "$pid")"
		;;
	esac
	wait "$pid" 2>/dev/null
	exec 7>&-
	mv "$work"/crashed/core* "$work/core" 2>/dev/null
}

# rows: a traceback on standard input as rows: goroutine, number of the frame from the outermost one, call, place. Go leaves
# out the middle of a long stack: the frames above have their number from the innermost one, after a t. Long ones of
# ours have both. Threads' own stacks are left out; so are the words of arguments in releases
# where they are not known. Up to Go 1.20 the runtime takes the address where a goroutine was preempted for a return
# address: the line, and the inlined calls, are those of the instruction before it, and are left out.
rows() {
	awk -v both="${1-}" -v minor="${release#1.}" -v OFS='\t' '
		function flush(   i) {
			for (i = 1; i <= count; i++) {
				print id, (i <= elided ? "t" i : count - i), calls[i], places[i]
				if (both && i <= 100)
					print id, "t" i, calls[i], places[i]
			}
			count = elided = 0
		}
		/^goroutine 0 / || /^$/ || /^runtime stack:/ { flush(); id = ""; next }
		/^goroutine [0-9]+ / { flush(); id = $2; next }
		/^([cfg]s|r[a-z0-9]+|e[a-z]+) +0x/ || /stack unavailable/ || id == "" { next }
		/^\.\.\..* frames elided/ { elided = count; next }
		/^\t/ {
			sub(/^\t/, "")
			sub(/ fp=0x.*/, "")
			if (minor < 21 && calls[count - 1] ~ /^runtime\.asyncPreempt\(/) {
				if (!/ \+0x/) {
					count--
					next
				}
				sub(/:[0-9]+/, "")
			}
			places[count] = $0
			next
		}
		{
			if (minor < 18 && !/^created by /)
				sub(/\([^()]*\)$/, "(...)")
			calls[++count] = $0
		}
		END { flush() }' | sort -u
}

# listed NAME FILE: the list in FILE has all that the process printed.
listed() {
	rows both <"$2" >"$work/found"
	comm -23 "$work/expected" "$work/found" >"$work/left"
	same "$1 ($(wc -l <"$work/expected") frames)" /dev/null "$work/left"
}

# calls: goroutine 1 of the process's traceback as what GDB's backtrace has, on one line: function and place of each frame
# that is not inlined, from the innermost one to what Go leaves out. What a signal's handler was made to call GDB
# shows as <signal handler called>; the function that entered a system call or C is further than
# Go has it.
calls() {
	awk -v RS= '/^goroutine 1 / && !/stack unavailable/' "$work/traceback" | awk '
		/^goroutine / { if (seen++) exit; next }
		/^\.\.\./ || /^$/ || /^created by / || /^[a-z0-9]+ +0x/ { exit }
		/^\t/ {
			if (inlined || name ~ /^runtime\.(sigpanic|asyncPreempt)$|^syscall\.Syscall$|^runtime\.cgocall$/ || ++count > 40)
				next
			printf "%s %s|", name, $1
			next
		}
		{
			inlined = /\(\.\.\.\)$/
			name = $0
			sub(/\([^()]*\)$/, "", name)
			sub(/\(\[\.\.\.\]\)$/, "", name)
			if (name == "panic")
				name = "runtime.gopanic"
		}'
}

# shown: a backtrace of GDB's on standard input likewise, with its inlined calls.
shown() {
	sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?(.*) \((\.\.\.)?\) at (.*:[0-9]+)$/\2 \4/p' | tr '\n' '|'
}

# backtrace NAME FILE: the backtrace in FILE has the crashed goroutine's frames.
backtrace() {
	local wanted rest call
	wanted=$(calls)
	rest=$(shown <"$2")
	[ -n "$wanted" ] || fail "$1: the process printed its stack" "$(head -n 20 "$work/traceback")"
	while [ -n "$wanted" ]; do
		call=${wanted%%|*}
		if [[ "|$rest" != *"|$call|"* ]]; then
			fail "$1" "no $call in: $(cat "$2")"
			return
		fi
		rest=${rest#*"$call|"}
		wanted=${wanted#*|}
	done
	ok "$1"
}

# first_lines: what the process said before it printed stacks.
first_lines() {
	sed -e '/^goroutine /,$d' -e '/^runtime stack:/,$d' -e '/^$/d' "$work/traceback"
}

# told NAME TEXT: goheap crash says what the process said before it printed stacks, and no panic of it twice, names the goroutine
# whose stack it printed first, and the calls in the sample that were still deferred where nothing ran them.
told() {
	lacks "$1: panics once" "$2" '^panicking in '
	equal "$1: what it crashed of" "$(first_lines)" "$(sed '/^$/,$d' <<<"$2")"
	case $1 in
	*" deadlock" | *" sleep") # no goroutine runs
		has "$1: what to ask" "$2" '^No goroutine crashed: see goheap hang( .*)? \(what they wait for\)$'
		return
		;;
	*+) ;;                              # which does is not known
	*" overflow")
		equal "$1: calls at either end of a long stack" 100 "$(grep -c "^$(printf '\t')" <<<"$2")"
		has "$1: the rest is counted" "$2" '^\.\.\.[0-9]{4,} frames elided\.\.\.$'
		;;
	*) has "$1: whose crash" "$2" '^goroutine 1 \[(running|syscall)' ;;
	esac
	case $1 in
	*" spin" | *" unlock" | *" overflow")
		equal "$1: deferred calls" 2 \
			"$(grep -cE '^deferred in goroutine 1: main\.(cleanup|middle\.[a-z]+1) by main\.middle$' <<<"$2")"
		;;
	esac
}

# check_core NAME [PROGRAM]: the core file that there is, with the program or without.
check_core() {
	rows <"$work/traceback" >"$work/expected"
	"$GOHEAP" goroutines --all "$work/core" ${2:+-e "$2"} >"$work/list" 2>&1
	listed "$1: goroutines in the shell" "$work/list"
	case $1 in
	*" nested")
		same "$1: with its panics" <(sed -nE 's/^[[:space:]]*panic: //p' "$work/traceback" | sort) \
			<(sed -n 's/^panicking in goroutine 1: //p' "$work/list" | sort)
		equal "$1: its group comes first" "goroutines 1" "$("$GOHEAP" goroutines --group "$work/core" ${2:+-e "$2"} 2>&1 | grep -m 1 '^goroutines ')"
		;;
	*" spin" | *" unlock") equal "$1: with deferred calls" 2 "$(grep -c '^deferred in goroutine 1: main\..* by main\.middle$' "$work/list")" ;;
	esac
	told "$1" "$("$GOHEAP" crash "$work/core" ${2:+-e "$2"} 2>&1)"
	goheap "${2-}" "core-file $work/core" "thread apply all -q backtrace 60" "echo list\\n" "goheap goroutines --all" \
		"echo one\\n" "goheap goroutine 1" "backtrace 60" >"$work/session"
	equal "$1: what it crashed of, as GDB opens it" "$(first_lines | head -n 10 | expand)" \
		"$(sed -E -e '1,/^Program terminated with /d' -e '/^(\[Current thread is |#0 |[0-9]+\t|warning: (Section|Unexpected size of section) |goheap: .* \(in the core file\)|goheap: go1[^ ]* program[ ,]|\[Thread debugging using |Using host libthread_db library )/d' \
			"$work/session" | sed -E '/^(goheap: |Thread |warning: |#|$)/,$d')"
	[[ $1 != *" deadlock" ]] ||
		has "$1: what to ask, as GDB opens it" "$(cat "$work/session")" '^goheap: no goroutine crashed; goheap hang tells what they wait for$'
	sed -e '1,/^list$/d' -e '/^one$/,$d' "$work/session" >"$work/list"
	listed "$1: goroutines in GDB" "$work/list"
	sed '1,/^one$/d' "$work/session" >"$work/one"
	[[ $1 == *+ ]] || backtrace "$1: the goroutine's backtrace" "$work/one"
	case $1 in
	*" sleep" | *" deadlock" | *+ | *"PIE, cabort") ;; # it is on no thread, or may not be; GDB does not know where libc is
	*)
		sed '/^list$/,$d' "$work/session" >"$work/threads"
		backtrace "$1: its thread's backtrace" "$work/threads"
		;;
	esac
}

# check_kinds NAME PROGRAM KIND...
check_kinds() {
	local name=$1 program=$2 kind
	shift 2
	for kind; do
		crash "$program" "$kind"
		if [ ! -s "$work/core" ]; then
			skip "$name, $kind" "the kernel writes no core file here: $(cat /proc/sys/kernel/core_pattern)"
			continue
		fi
		check_core "$name, $kind" "$program"
	done
}

# check_alone NAME PROGRAM KIND...: core files that have what is in files, too, and nothing else.
check_alone() {
	local name=$1 program=$2 kind
	shift 2
	for kind; do
		crash "$program" "$kind" 0x37
		if [ ! -s "$work/core" ]; then
			skip "$name, alone, $kind" "the kernel writes no core file here"
			continue
		fi
		check_core "$name, alone, $kind"
	done
}

# check_without NAME PROGRAM: a core file without the program says what to do.
check_without() {
	local command
	cp "$2" "$work/gone"
	crash "$work/gone" error
	rm "$work/gone"
	if [ ! -s "$work/core" ]; then
		skip "$1, without the program" "the kernel writes no core file here"
		return
	fi
	for command in crash goroutines; do
		has "$1, without the program: $command in the shell" "$("$GOHEAP" $command "$work/core" 2>&1)" \
			"^goheap: $work/core is without its program $work/gone, build id .*, which is not there any more: name it, -e PROGRAM \\(looked for "
	done
	goheap "" "core-file $work/core" "echo crash\n" "goheap crash" >"$work/session"
	has "$1, without the program: in GDB" "$(cat "$work/session")" \
		"^goheap: the core file is without its Go program: name $work/gone with the file command\$"
	equal "$1, without the program: goheap crash in GDB" "The program is not known: name it with the file command." \
		"$(sed '1,/^crash$/d' "$work/session")"
}

# check_c_thread NAME PROGRAM TWIN: a thread that C has started crashes. The process prints nothing;
# GDB tells where.
check_c_thread() {
	crash "$2" cthread
	if [ ! -s "$work/core" ]; then
		skip "$1" "the kernel writes no core file here"
		return
	fi
	"$GOHEAP" crash "$work/core" -e "$2" >"$work/list" 2>&1
	equal "$1: of what" "SIGSEGV: segmentation violation" "$(head -n 1 "$work/list")"
	has "$1: what to ask" "$(cat "$work/list")" "^No goroutine crashed: C code did, on a thread that runs none\. GDB's backtrace "
	goheap "$2" "core-file $work/core" "echo all\n" "backtrace" >"$work/session"
	has "$1: what to ask, as GDB opens it" "$(cat "$work/session")" '^goheap: no goroutine crashed; C code did: see backtrace$'
	has "$1: the backtrace, from where the shell says" "$(grep -A 1 '^#.*<signal handler called>' "$work/session")" \
		"^#[0-9]+ +$(sed -nE 's/^PC=0x([0-9a-f]+) .*/0x0*\1/p' "$work/list") in "
	has "$1: where, in the twin" "$(gdb -nx -batch -ex "core-file $work/core" -ex "info symbol $(sed -nE 's/^PC=(0x[0-9a-f]+) .*/\1/p' "$work/list")" "$3" 2>&1)" \
		'^fault_in_c'
}

# check_live NAME PROGRAM: the same while it crashes in GDB: at the signal of the fault, and when it ends itself; and the
# core file that GDB writes then.
check_live() {
	rm -f "$work/core"
	GOTRACEBACK=crash goheap "$2" "run later 2>$work/traceback" "goheap goroutines --all" "echo end\\n" "signal SIGSEGV" \
		"goheap goroutines --all" "echo \\n" "generate-core-file $work/core" "kill" >"$work/session"
	rows <"$work/traceback" >"$work/all"
	# What has not been done when the fault happens: the runtime's calls.
	grep -P '^1\t[0-9]+\tmain\.' "$work/all" >"$work/expected"
	sed '/^end$/,$d' "$work/session" >"$work/list"
	listed "$1, live: the goroutine at the fault" "$work/list"
	cp "$work/all" "$work/expected"
	sed '1,/^end$/d' "$work/session" >"$work/list"
	listed "$1, live: goroutines at the end" "$work/list"
	check_core "$1, core of GDB's" "$2"
}

# check_entry NAME PROGRAM: wherever main.middle is stopped, the words of its arguments are those that main.main calls it with,
# or marked as out of date, as they are at its first instruction.
check_entry() {
	local list='goheap goroutines --grep main.middle' steps=() calls stale='0x[0-9a-f]+\?'
	((${release#1.} >= 18)) || return
	for _ in {1..15}; do
		steps+=("stepi" "$list")
	done
	goheap "$2" "break *'main.middle'" "run sleep" "set scheduler-locking on" "$list" "${steps[@]}" "kill" |
		grep '^main\.middle(' >"$work/calls"
	calls=$(grep -vE "^main\.middle\(\{0x[0-9a-f]+\??, (0x5|$stale)\}, (0x4|$stale), \{(0x5|$stale), (0x6|$stale)\}\)\$" "$work/calls")
	equal "$1: arguments from the first instruction on" "16 " "$(wc -l <"$work/calls") $calls"
	has "$1: none of them is saved at the first" "$(head -n 1 "$work/calls")" \
		"^main\.middle\(\{$stale, $stale\}, $stale, \{$stale, $stale\}\)\$"
}

# check_release NAME [FLAG...]: the sample, built so. What of it does not depend on the release is seen of one: most kinds, the
# twin, all that a program linked with C does, and core files that have all that is in files.
check_release() {
	local name=$1 kinds=$some plain=no one=no
	shift
	sample "$name" "$release" crash "$@" || return
	[ "$#" -gt 0 ] || [ "$CGO_ENABLED" != 0 ] || plain=yes
	! is_newest "$release" || one=yes
	if [ $plain = yes ]; then
		[ $one = no ] || ! is_full || kinds=$all
		# shellcheck disable=SC2086 # a list
		check_kinds "$name" "$directory/crash.stripped" $kinds
		check_live "$name" "$directory/crash.stripped"
		check_entry "$name" "$directory/crash.stripped"
	elif [ $one = yes ] && is_full; then
		# shellcheck disable=SC2086 # a list
		check_kinds "$name" "$directory/crash.stripped" $some
	fi
	if [ "$CGO_ENABLED" != 0 ] && { [ $one = yes ] || is_full; }; then
		check_kinds "$name" "$directory/crash.stripped" c cabort cfault
		check_c_thread "$name, cthread" "$directory/crash.stripped" "$directory/crash"
	fi
	[ $one = yes ] || return
	# The least and the most that a core file can be without: no library is loaded, or several, and the program moved.
	# shellcheck disable=SC2086 # a list
	[ $(($# > 0)) != "$CGO_ENABLED" ] || check_alone "$name" "$directory/crash.stripped" $alone
	if ! in_full "$name, twin"; then
		return
	elif [ $plain = yes ]; then
		check_without "$name" "$directory/crash.stripped"
		# shellcheck disable=SC2086 # a list
		check_kinds "$name, twin" "$directory/crash" $some
		check_live "$name, twin" "$directory/crash"
	elif [ "$#" -gt 0 ] && [ "$CGO_ENABLED" != 0 ]; then
		# shellcheck disable=SC2086 # a list
		check_kinds "$name, twin" "$directory/crash" $alone
	fi
}

for release in $(releases 1.15 1.19 1.27); do
	CGO_ENABLED=0 check_release "Go $release"
	! is_newest "$release" || ! in_full "Go $release, PIE" || CGO_ENABLED=0 check_release "Go $release, PIE" -buildmode=pie
	CGO_ENABLED=1 check_release "Go $release, cgo"
	is_newest "$release" || continue
	in_full "Go $release, cgo, PIE; -race; -N; -asan; musl" || continue
	CGO_ENABLED=1 check_release "Go $release, cgo, PIE" -buildmode=pie
	for flags in -race -N -asan -musl; do
		CGO_ENABLED=1 sample_as "Go $release, $flags" "$release" "crash $flags" &&
			check_kinds "Go $release, $flags" "$directory/crash.stripped" nested entry
	done
done
# Where the runtime has its fields changes from release to release.
if [ -z "${RELEASES-}" ] && in_full "the releases between"; then
	for release in 1.21 1.22 1.23 1.24 1.26; do
		CGO_ENABLED=0 sample "Go $release" "$release" crash &&
			check_kinds "Go $release" "$directory/crash.stripped" nested entry
	done
fi
finish
