#!/usr/bin/env bash
# shellcheck disable=SC2317 # functions are called by their names
# The static program, as ./configure --enable-static-program has it: alone in a root directory with nothing else, each command answers
# as the ordinary program does of a process, a core file and a heap dump. In namespaces made as containers have them, the commands
# that the manual shows for containers do what it says. The short check has one target for each command.
. "$(dirname "$0")/lib.sh"
. "$tests/tasks-lib.sh"

# build_static: $work/built/plugin/goheap, of this build's own objects: a copy of it is configured anew. False, and why in $work/why, if
# that cannot be done here.
build_static() {
	local source=$tests/.. build
	build=$(dirname "$GOHEAP")/..
	mkdir "$work/built"
	cp -a "$source"/{aclocal.m4,build-aux,configure,configure.ac,gdbinit.in,Makefile.am,Makefile.in,lib,plugin} "$work/built" &&
		cp -a "$build"/{lib,plugin,libgoheap.a} "$work/built" &&
		rm -f "$work/built/plugin/goheap" &&
		find "$work/built" -name '*.Po' -exec truncate -s 0 {} + || return
	(cd "$build" && ./config.status --config) >"$work/config" || return
	(
		cd "$work/built" && eval "./configure -q $(cat "$work/config") --enable-static-program" && make -s plugin/goheap
	) >"$work/why" 2>&1
}

# alone ARGUMENT...: goheap with these arguments in the bare root directory, in which /proc is mounted. $become is exec, or nothing.
become=
alone() {
	# shellcheck disable=SC2016 # the inner shell expands these
	LC_ALL=de_DE.ISO-8859-1 $become unshare -m sh -c 'mount --rbind /proc "$0/proc" && cd / && exec chroot "$0" /goheap "$@"' "$work/root" "$@"
}

# ordinary ARGUMENT...: the ordinary program with these arguments, for which the bare root directory is this one. Debug files of the
# system's libraries, which name more functions, are hidden from it.
ordinary() {
	local hide=true
	[ ! -d /usr/lib/debug ] || hide='mount -t tmpfs none /usr/lib/debug'
	# shellcheck disable=SC2016 # the inner shell expands these
	$become unshare -m sh -c "$hide"' && cd "$0" && exec "$@"' "$work/root" "$GOHEAP" "$@"
}

# arguments COMMAND TARGET...: in $words, what is typed after the command's name.
arguments() {
	local command=$1
	shift
	case $command in
	path | objects | referrers | reachable) words=("$@" "$address") ;;
	print) words=("$@" int "$address") ;;
	frame) words=("$@" 1) ;;
	instances) words=("$@" string) ;;
	sql) words=("$@" 'SELECT count(*), sum(bytes) FROM objects') ;;
	diff) words=(dump "$@") ;;
	addr2line) words=(-e app -f "$entry") ;;
	ps) words=() ;;
	probes) words=("$@" main.main) ;;
	debug | unstrip | dump | core | pprof | hprof | report) words=("$@" -o out/made) ;;
	# Another build is not made here: one that is given is.
	twin) words=("$@" --names app) ;;
	export) words=("$@" -t out/tables) ;;
	*) words=("$@") ;;
	esac
}

# plain FILE: an answer without what is of the moment.
plain() {
	tr -d '\0' <"$1" | sed -E -e "s#$work/root/#/#g; s#(^| )(/|\./)(out/|app\b|core\b|dump\b)#\1\3#g; s/paused [0-9]+ ms/paused N ms/; s/user root$/user 0/" \
		-e 's/ for at least [0-9]+ s//g' \
		-e '/mapped|resident|collector|waited|asleep|free but kept|^up [0-9]|for (at least )?[0-9]+ (s|min)/s/[0-9][0-9.,]*/N/g'
}

# what_is_written COMMAND: of the file, or files, that it wrote, without the time and the paths that they are of.
what_is_written() {
	local made=$work/root/out/made
	case $1 in
	dump) "$GOHEAP" histogram --bytes -n 9 "$made" ;;
	pprof) gunzip <"$made" | grep -aoE '(runtime|main|sync)\.[][A-Za-z.()*]+' ;;
	hprof) tail -c +32 "$made" | sha256sum ;;
	debug | unstrip) sha256sum <"$made" ;;
	export) find "$work/root/out/tables" -name 'part-0.csv.gz' | sort | sed 's#.*/\([a-z]*\)/part-0.*#\1#' ;;
	core | report) [ ! -s "$made" ] || echo "it is there" ;;
	esac 2>"$work/why"
	rm -rf "$work/root/out"
	mkdir "$work/root/out"
}

# answer HOW COMMAND TARGET...: what alone or ordinary prints and writes, in $work/answer.HOW.
answer() {
	local how=$1 words
	arguments "${@:2}"
	echo "histogram -n 3" >"$work/question"
	$how "$2" "${words[@]}" <"$work/question" >"$work/printed" 2>"$work/said"
	echo "status $?" >>"$work/said"
	# Another process of Go's may begin or end meanwhile.
	if [ "$2" = ps ]; then
		awk -v pid="$pid" 'NR == 1 || $1 == pid { print $1, $2 == "root" ? "0" : $2, $3, $NF }' "$work/printed" >"$work/row"
		mv "$work/row" "$work/printed"
	fi
	# Each look wakes threads: the calls that they are in change.
	if [ "$2" = threads ]; then
		cut -f 1-3 "$work/printed" >"$work/row"
		mv "$work/row" "$work/printed"
	fi
	{
		sort "$work/said"
		what_is_written "$2"
	} >>"$work/printed"
	plain "$work/printed" >"$work/answer.$how"
}

# compare COMMAND NAME TARGET...: both answer the same.
compare() {
	answer ordinary "$1" "${@:3}"
	answer alone "$1" "${@:3}"
	if [ ! -s "$work/answer.ordinary" ]; then
		fail "$1: $2: the ordinary program answers"
	else
		same "$1: $2" "$work/answer.ordinary" "$work/answer.alone"
	fi
}

# check_commands: each command that goheap --help lists, on each target, or in the short check on one of them by turns.
check_commands() {
	local command turn=0 at
	for command in $(listed_commands | grep -vx web); do
		for at in 0 1 2; do
			is_full || [ $((turn % 3)) = "$at" ] || continue
			case $at in
			0) compare "$command" "a process" "$pid" ;;
			1) compare "$command" "a core file" core ;;
			2) compare "$command" "a dump" dump ;;
			esac
		done
		turn=$((turn + 1))
		same "$command --help" <("$GOHEAP" "$command" --help) <(alone "$command" --help)
	done
	holds "commands" "$turn" test "$turn" -gt 40
	for at in $("$GOHEAP" help | sed -n '2,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		same "help $at" <("$GOHEAP" help "$at") <(alone help "$at")
	done
}

# check_first: the first answer about each.
check_first() {
	local target
	for target in "$pid" core dump; do
		plain <(ordinary "$target" 2>&1) >"$work/answer.ordinary"
		plain <(alone "$target" 2>&1) >"$work/answer.alone"
		same "the first answer: $target" "$work/answer.ordinary" "$work/answer.alone"
	done
}

# check_web: the page, and an answer that it shows.
check_web() {
	local server address how
	needs "web" curl || return
	for how in ordinary alone; do
		rm -f "$work/address"
		become='exec' $how web dump --http 127.0.0.1:0 >"$work/address" 2>"$work/why" &
		server=$!
		wait_until [ -s "$work/address" ] || fail "web: $how: it serves" "$(cat "$work/why")"
		address=$(cat "$work/address")
		for file in "" main.js api/suspects 'api/histogram?limit=5'; do
			curl -s --max-time 20 "$address$file"
		done >"$work/answer.$how"
		end "$server"
	done
	holds "web: there is an answer" "" grep -q '"objects":' "$work/answer.alone"
	same "web" "$work/answer.ordinary" "$work/answer.alone"
	has "web: a port that is no number" "$(alone web dump --http localhost:http 2>&1)" '^goheap: cannot listen on localhost:http: '
}

# check_prompt: a line is typed on a terminal, of which nothing describes the kind.
check_prompt() {
	needs "a terminal" script || return
	export -f alone
	printf '%s\n' 'histogram -n 1' quit |
		work=$work SHELL=$BASH TERM=xterm-256color timeout 60 script -qec "stty -echo; alone ask dump" /dev/null | tr -d '\r' >"$work/typed"
	equal "a terminal: an answer" 1 "$(grep -cFx "$(ordinary histogram -n 1 dump 2>"$work/why" | tail -n 1)" "$work/typed")"
}

# check_c: functions in C of a process, by libdw, whose functions are in the program.
check_c() {
	local how
	sample "C" "$newest" foreign || return
	run_until_ready "$directory/foreign.stripped"
	# One of them is in a loop.
	for how in ordinary alone; do
		$how goroutines "$pid" 2>"$work/why" | grep -E '^[^ ]+( in [^ ]+|\+0x[0-9a-f]+)$' | sed 's/[0-9a-f]$//' >"$work/answer.$how"
	done
	same "functions in C" "$work/answer.ordinary" "$work/answer.alone"
	has "functions in C: there are some" "$(cat "$work/answer.alone")" '^pthread_cond_wait in libc\.so\.$'
	end "$pid"
	exec 7>&-
}

# Containers, made by hand.

# What container runtimes leave root: no CAP_SYS_PTRACE, unless $added is it.
usual=-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap

# start_pod: a program of user 65532 alone in a root directory, and in PID and mount namespaces of its own; its PID here is $server.
start_pod() {
	local outer
	mkdir "$work/pod" "$work/look"
	mkfifo "$work/input.pod"
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare -m -p -f --kill-child sh -c 'mount -t tmpfs none "$1" && cp "$2" "$1/server" && mkdir "$1/proc" && chmod 755 "$1" &&
		mount -t proc proc "$1/proc" && cd / && exec chroot --userspec=65532:65532 "$1" /server map' - "$work/pod" "$program" \
		<"$work/input.pod" >"$work/output" 2>"$work/why" &
	outer=$!
	exec 8>"$work/input.pod"
	wait_until grep -q '^waiting' "$work/output" || return
	server=$(pgrep -P "$outer")
}

# start_look: a container with another root directory in the PID namespace of the program; $look is a process of it.
start_look() {
	# shellcheck disable=SC2016
	nsenter -t "$server" -p unshare -m sh -c 'read -r pid _ </proc/self/stat; mount -t tmpfs none "$1" && mkdir "$1/proc" "$1/sys" && chmod 755 "$1" &&
		mount -t proc proc "$1/proc" && mount --rbind /sys "$1/sys" && echo "$pid" >"$2.part" && mv "$2.part" "$2" && exec sleep 1d' - "$work/look" "$work/look.pid" &
	wait_until [ -e "$work/look.pid" ]
	look=$(cat "$work/look.pid")
}

# in_look [USER] -- COMMAND...: in that container, with the capabilities in $usual and $added.
in_look() {
	local user=0
	[ "$1" = -- ] || user=$1
	[ "$1" = -- ] || shift
	shift
	nsenter -t "$look" -m -p setpriv "--bounding-set=$usual$added" chroot --userspec="$user:$user" "$work/look" "$@"
}

# kubectl, docker: what the manual shows of them, by these.
kubectl() {
	case $* in
	"debug shop -c look --image=busybox --target=server --profile=general -- sleep 1d") start_look ;;
	"cp goheap shop:/goheap -c look") cp "$work/built/plugin/goheap" "/proc/$look/root/$work/look/goheap" ;;
	"exec shop -c look -- /goheap "*) in_look "${@:5}" ;;
	"cp shop:/heap heap -c look") cp "/proc/$look/root/$work/look/heap" heap ;;
	*) return 2 ;;
	esac
}
docker() {
	[[ $* == "run --pid=container:shop --cap-add=SYS_PTRACE -v $PWD/goheap:/goheap busybox /goheap 1" ]] && in_look -- /goheap 1
}

# shown NAME COMMAND PATTERN: a command that the manual shows answers.
shown() {
	local status
	eval "$2" >"$work/out" 2>"$work/errors" </dev/null
	status=$?
	equal "$1: $2: its status" 0 $status
	[ -z "$3" ] || has "$1: $2: its answer" "$(cat "$work/out" "$work/errors")" "$3"
}

# check_refused: without the capability there is one line; the program's user needs none.
check_refused() {
	local command added="" told
	for command in goroutines suspects memory "dump -o /more" "core -o /more"; do
		# shellcheck disable=SC2086 # an option of it
		told=$(in_look -- /goheap $command 1 2>&1)
		equal "root without the capability: $command" \
			"1 goheap: process 1 may not be read: root lacks the capability CAP_SYS_PTRACE in this container: see goheap help pod" "$? $told"
	done
	told=$(in_look 65533 -- /goheap suspects 1 2>&1)
	equal "another user" "1 goheap: process 1 belongs to another user: run goheap as user 65532, or as root" "$? $told"
	if [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>"$work/why" || echo 0)" -gt 0 ]; then
		skip "the program's user" "the system lets nobody but root read processes: yama's ptrace_scope"
	else
		has "the program's user, without the capability" "$(in_look 65532 -- /goheap suspects 1 2>&1)" 'main\.'
	fi
}

# check_limit: in a control group that has less memory than the heap of a program takes, nothing is copied where no disk has temporary files.
check_limit() {
	local told added=,+sys_ptrace number
	if ! make_group 30000000 2>"$work/why"; then
		skip "a limit of memory" "no control group can be made here"
		return
	fi
	CGO_ENABLED=0 sample "a limit of memory" "$newest" crowd || return
	nsenter -t "$server" -p "$directory/crowd.stripped" 10000 /dev/null - <"$work/input.pod" >"$work/output" 2>"$work/why" &
	wait_until grep -q '^ready' "$work/output"
	number=$(awk '/^NSpid:/ { print $NF }' "/proc/$(pgrep -P $!)/status")
	told=$( (echo "$BASHPID" >"$group/cgroup.procs" && in_look -- /goheap dump "$number" -o /more) 2>&1)
	wait_until rmdir "$group" 2>"$work/why"
	has "a limit of memory" "$told" "^goheap: process $number: expected [0-9]+ MB of free memory, or 48 and a disk at .TMPDIR, /tmp or /var/tmp, for a copy of what it has, found [0-9]+ MB"
}

check_pod() {
	local line more added=,+sys_ptrace server look
	mkdir "$work/here"
	cd "$work/here" || return
	start_pod || fail "containers: a program is ready" "$(cat "$work/why")"
	tasks_of "$(dirname "$GOHEAP")/goheap.1" | grep -A 1 '^\$ kubectl' >"$work/commands"
	while IFS= read -r line; do
		[[ $line != *\\ ]] || { read -r more && line="${line%\\}$more"; }
		[[ $line != '$ '* ]] || { line=${line#'$ '} && echo "${line%%  *}"; }
	done <"$work/commands" >"$work/typed"
	equal "containers: commands" 6 "$(wc -l <"$work/typed")"
	while IFS= read -r line <&9; do
		case $line in
		*" ps") shown "a pod" "$line" '^ +1  65532 .*/server,' ;;
		*" 1") shown "a pod" "$line" '^server, process 1: go1\.' ;;
		*) shown "a pod" "$line" '' ;;
		esac
	done 9<"$work/typed"
	has "a pod: the dump, here" "$("$GOHEAP" suspects --bytes -e "$program" heap 2>&1)" '2,000 main\.Session'
	holds "a pod: the file of the program is below /proc/PID/root alone" "" test ! -e "$work/pod/server" -a -e "/proc/$server/root/server"
	line=$(sed -n 's/\\-/-/g; s/^\$ \(docker .*\)/\1/p' "$(dirname "$GOHEAP")/goheap.1")
	shown "a pod" "$line" '^server, process 1: go1\.'
	check_refused
	check_limit
	# The first of a PID namespace: the others end with it.
	kill -KILL "$server"
	exec 8>&-
	wait 2>"$work/why"
}

# held COMMAND...: in the background, until it holds what it leaks; its process id in $pid, and descriptor 7 is its input.
held() {
	rm -f "$work/input"
	mkfifo "$work/input"
	: >"$work/output"
	GOTRACEBACK=crash "$@" <"$work/input" >"$work/output" 2>"$work/trace" &
	pid=$!
	exec 7>"$work/input"
	wait_until grep -q '^waiting' "$work/output"
	sleep 0.2
}

# start: $work/root has goheap, a program that runs, its heap dump, and a core file of it that the kernel has written if it does so
# here.
start() {
	mkdir -p "$work"/root/{proc,out} "$work/crashed"
	cp "$work/built/plugin/goheap" "$work/root/goheap"
	cp "$program" "$work/root/app"
	cd "$work/crashed" || return
	ulimit -c unlimited
	held "$work/root/app" map
	"$GOHEAP" core "$pid" -o "$work/root/core" 2>"$work/why" || fail "a core file" "$(cat "$work/why")"
	kill -ABRT "$pid"
	wait "$pid" 2>"$work/why"
	mv "$work/crashed/core"* "$work/root/core" 2>"$work/why" || skip "a core file of the kernel's" "it writes none here"
	held "$work/root/app" map
	"$GOHEAP" dump "$pid" -o "$work/root/dump" 2>"$work/why" || fail "a heap dump" "$(cat "$work/why")"
	address=$("$GOHEAP" sql "$work/root/dump" 'SELECT printf("%x", min(address)) FROM objects WHERE bytes >= 64' 2>"$work/why" | tail -n 1)
	entry=$("$GOHEAP" funcs "$program" | awk '$3 == "main.main" { print $1 }')
}

newest=$(releases 1.27) newest=${newest##* }
if nm -D "$GOHEAP" | grep -q ' __asan_init'; then
	skip "everything" "there is no static program with the sanitizers"
	finish
elif [ "$(id -u)" -ne 0 ] || ! unshare -m -p -f true 2>"$work/why"; then
	skip "everything" "the test has to be run by root, who may make namespaces"
	finish
fi
needs "everything" make setpriv nsenter || finish
if ! build_static; then
	skip "everything" "$(grep -E 'rror|missing' "$work/why" | tail -n 1)"
	finish
fi
CGO_ENABLED=0 sample "everything" "$newest" leaks || finish
program=$directory/leaks.stripped
equal "it loads nothing" "" "$(readelf -ld "$work/built/plugin/goheap" | grep -E 'INTERP|NEEDED')"
start
check_commands
check_first
check_web
check_prompt
end "$pid"
exec 7>&-
check_c
check_pod
finish
