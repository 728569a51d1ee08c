#!/usr/bin/env bash
# Stepping through other people's servers, stripped, while they are asked over HTTP: next goes over calls in a handler that wait
# for other goroutines, finish leaves the handler, in one goroutine; and when GDB has left them the servers answer as before. And through a compiler.
# shellcheck disable=SC2317 # each server is started and loaded by its name
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/servers-lib.sh"

if [ -z "${GOHEAP_SERVERS-}" ]; then
	needs "everything" gdb || finish
	program prometheus prometheus usr/bin/prometheus
	program etcd etcd-server usr/bin/etcd
	if esbuild=$("$tests/npm-program" @esbuild/linux-x64@0.28.2 bin/esbuild 2>"$work/why"); then
		export esbuild
	else
		unset esbuild
		skip esbuild "$(tail -n 1 "$work/why")"
	fi
	if tsgo=$("$tests/npm-program" @typescript/native-preview-linux-x64@7.0.0-dev.20260707.2 lib/tsgo 2>"$work/why"); then
		export tsgo
	else
		unset tsgo
		skip tsgo "$(tail -n 1 "$work/why")"
	fi
fi
own_network "${prometheus-}${etcd-}${esbuild-}${tsgo-}"
session_home

start_esbuild() {
	echo 'export function twice(x) { return x + x }' >"$work/twice.js"
	# It serves for as long as its input is open.
	"$esbuild" "$work/twice.js" --bundle --outdir="$work/out" --servedir="$work" --serve=127.0.0.1:8000 \
		</dev/zero >"$work/log" 2>&1 &
}

load_esbuild() {
	curl -sf http://127.0.0.1:8000/out/twice.js
}

# ask NAME FILE: asks for ever; each answer that has come adds a line to FILE.
ask() {
	while :; do
		"load_$1" >"$2.last" && [ -s "$2.last" ] && echo answered >>"$2"
	done
}

# answers: how many there are of either client.
answers() {
	cat "$work"/answers.? 2>/dev/null | wc -l
}

# wait_for_answers COUNT: until so many have come.
wait_for_answers() {
	for _ in {1..600}; do
		[ "$(answers)" -ge "$1" ] && return
		sleep 0.1
	done
	return 1
}

# stepping NEXTS: fills commands with what a session does once it has stopped in a function: next so many times, and finish.
stepping() {
	local i
	commands=(delete "backtrace 3" "echo begin\\n" 'printf "goroutine %lu\n", goid')
	for ((i = 0; i < $1; i++)); do
		commands+=("echo next\\n" next)
	done
	commands+=('printf "goroutine %lu\n", goid' "info frame" "echo out\\n" finish "backtrace 1" 'printf "goroutine %lu\n", goid'
		finish 'printf "goroutine %lu\n", goid')
}

# check_session NAME HANDLER NEXTS: $session went through HANDLER so.
check_session() {
	local handler=${2//[().*]/.}
	has "$1: the breakpoint" "$session" "hit Breakpoint 1, ([^ ]*/)?$handler \("
	has "$1: after $3 next: the handler" "$(sed '1,/^begin$/d' <<<"$session")" " in ([^ ]*/)?$handler \("
	equal "$1: each goes on in it" "$3" "$(sed -e '1,/^begin$/d' -e '/^out$/,$d' <<<"$session" | grep -cE '^[0-9]+\s')"
	equal "$1: finish: its caller" "$(sed -nE '/^begin$/q; s/^#1 +(0x[0-9a-f]+ in )?([^ ]+) \(.*/\2/p' <<<"$session")" \
		"$(sed '1,/^out$/d' <<<"$session" | sed -nE 's/^#0 +(0x[0-9a-f]+ in )?([^ ]+) \(.*/\2/p')"
	equal "$1: one goroutine" "4 1" "$(grep -c '^goroutine [1-9]' <<<"$session") $(grep '^goroutine ' <<<"$session" | sort -u | wc -l)"
	# What a function returned may well be an error.
	lacks "$1: nothing else is shown" "$(sed -e '1,/^begin$/d' -e '/^Value returned: /d' -e '/^rest$/,$d' <<<"$session")" 'sigtramp|SIGURG|hit |Switching to goroutine|[Ee]rror|goheap:'
}

# check NAME HANDLER NEXTS: the server's HANDLER, in which next is said so many times.
check() {
	local pid clients=() before session commands i
	"start_$1"
	pid=$!
	for i in 1 2; do
		ask "$1" "$work/answers.$i" 2>/dev/null &
		clients+=($!)
	done
	wait_for_answers 4 || fail "$1: answers" "$(tail -n 5 "$work/log")"
	stepping "$3"
	session=$(goheap "" "attach $pid" "break $2" continue "${commands[@]}" detach)
	before=$(answers)
	check_session "$@"
	wait_for_answers $((before + 10)) || fail "$1: it answers again" "$(tail -n 5 "$work/log")"
	has "$1: it has answered $before and $(($(answers) - before)) times" "$(grep TracerPid "/proc/$pid/status")" '\b0$'
	kill "${clients[@]}" "$pid"
	wait "${clients[@]}" "$pid" 2>"$work/why"
	rm -f "$work"/answers.*
}

# check_tsgo NEXTS: a compiler, in what waits for its goroutines, called as in Go's source; then it finds what is wrong.
check_tsgo() {
	local session commands handler='core.(*parallelWorkGroup).RunAndWait'
	echo 'export const twice: number = "two"' >"$work/twice.ts"
	stepping "$1"
	session=$(goheap "$tsgo" "break $handler" "run --noEmit --pretty false $work/twice.ts" "${commands[@]}" "echo rest\\n" continue)
	check_session tsgo "$handler" "$1"
	has "tsgo: what it prints" "$(sed '1,/^rest$/d' <<<"$session")" "twice\.ts\(1,14\): error TS2322: Type 'string' is not assignable to type 'number'"
}

[ -z "${prometheus-}" ] || ! in_full prometheus || check prometheus 'github.com/prometheus/prometheus/web/api/v1.(*API).query' 16
[ -z "${etcd-}" ] || ! in_full etcd || check etcd 'go.etcd.io/etcd/etcdserver.(*EtcdServer).Put' 5
[ -z "${esbuild-}" ] || check esbuild 'github.com/evanw/esbuild/pkg/api.(*apiHandler).ServeHTTP' 12
[ -z "${tsgo-}" ] || ! in_full "the TypeScript compiler" || check_tsgo 2
finish
