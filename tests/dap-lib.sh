# shellcheck shell=bash
# The Debug Adapter Protocol, by which editors drive debuggers, as GDB, Delve and LLDB speak it: what their tests share. They
# ask on descriptor 7, and the debugger answers on 8; $number is that of the last request, and all that is said is in
# $work/talk.

# read_message: reads a message of DAP's; it is in $line.
read_message() {
	local header length=0
	line=
	while IFS= read -r -t 60 header <&8; do
		header=${header%$'\r'}
		[ -n "$header" ] || break
		length=${header#Content-Length: }
	done
	# shellcheck disable=SC2154 # lib.sh sets it
	[ "$length" -gt 0 ] && IFS= read -r -N "$length" -t 60 line <&8 && printf '%s\n' "$line" >>"$work/talk"
}

# message PATTERN: reads messages up to one that matches.
message() {
	while read_message; do
		[[ $line =~ $1 ]] && return
	done
	return 1
}

# ask TEXT: writes it on descriptor 7. A debugger that has ended does not end the test; those that it starts later have SIGPIPE as
# it was.
ask() {
	trap '' PIPE
	printf %s "$1" >&7
	trap - PIPE
}

# connect: starts Delve, $delve, as an editor does; its process id is among $children.
connect() {
	local port
	: >"$work/talk"
	: >"$work/dlv"
	number=0
	# shellcheck disable=SC2154 # its callers set them
	"$delve" dap --listen=127.0.0.1:0 >"$work/dlv" 2>&1 &
	children="$children $!"
	wait_until grep -q 'listening at: ' "$work/dlv"
	port=$(sed -nE 's/.*listening at: .*:([0-9]+)$/\1/p' "$work/dlv")
	exec 7<>"/dev/tcp/127.0.0.1/$port" 8<&7
}

# dap COMMAND ARGUMENTS: asks, without waiting for the answer.
dap() {
	number=$((number + 1))
	local text="{\"seq\":$number,\"type\":\"request\",\"command\":\"$1\",\"arguments\":$2}"
	ask "Content-Length: ${#text}"$'\r\n\r\n'"$text"
}

# answer COMMAND ARGUMENTS: the same; the answer is in $line.
answer() {
	dap "$@"
	message "\"request_seq\": ?${number}[,}]"
}

# dap_stop COMMAND ARGUMENTS: the thread that stops after it is in $thread, and its innermost frames in $stack. GDB 16 may tell of
# the stop before it answers.
dap_stop() {
	local stopped="" answered=""
	dap "$1" "$2"
	until [ -n "$stopped" ] && [ -n "$answered" ]; do
		message "\"(request_seq\": ?${number}[,}]|event\": ?\"stopped\")" || break
		case $line in
		*'"stopped"'*) stopped=$line ;;
		*) answered=$line ;;
		esac
	done
	thread=$(grep -oE '"threadId": ?[0-9]+' <<<"$stopped" | grep -oE '[0-9]+')
	answer stackTrace "{\"threadId\":${thread:-0},\"levels\":3}"
	# Objects of a source are within those of frames.
	# shellcheck disable=SC2001,SC2034 # a pattern that the shell has not; its callers use it
	stack=$(sed -E 's/"source": ?\{[^}]*\}/"source": 0/g' <<<"$line" | grep -oE '\{[^{}]*"line": ?[^{}]*\}' |
		sed -E 's/.*"line": ?([0-9]+).*/\1 &/; s/^([0-9]+) .*"name": ?"([^"]*)".*/\2 \1/')
}
