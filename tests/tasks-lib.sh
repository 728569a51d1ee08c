# shellcheck shell=bash disable=SC2154 # as lib.sh has it; kinds.sh sets $release and $pid
# The tasks that the manual pages begin with, after lib.sh and dap-lib.sh: every command that they show is run as it is printed, on
# a server of kinds.sh.

# tasks_of PAGE: the tasks of a manual page, without markup.
tasks_of() {
	sed -n '/^\.SH TASKS$/,/^\.SH [^T]/p' "$1" | sed -n '/^\.nf$/,/^\.fi$/p' | grep -vx '\.[nf][fi]' |
		sed -e 's/\\f[BR]//g' -e 's/^\\&//' -e 's/\\-/-/g' -e 's/\\e$/\\/' -e "s/\\\\(aq/'/g"
}

# check_help: goheap help has the tasks of the manual, by their names and other words for them.
check_help() {
	local name names
	names=$("$GOHEAP" help | sed -n '2,/^$/s/^  \([a-z]*\) .*/\1/p')
	equal "goheap help: the tasks" "crash hang leak live pod gdb delve" "$(xargs <<<"$names")"
	for name in $names; do
		"$GOHEAP" help "$name" | sed '1,2d; /^$/,$d; s/^  //' >"$work/task"
		holds "goheap help $name: ten lines at most" "$(cat "$work/task")" test "$(wc -l <"$work/task")" -le 10
		cat "$work/task" >>"$work/help"
	done
	same "goheap help TASK and goheap(1) are one text" <(tasks_of "$(dirname "$GOHEAP")/goheap.1") "$work/help"
	equal "goheap help, another word" "$("$GOHEAP" help delve)" "$("$GOHEAP" help vscode)"
	has "goheap help crash: the command, too" "$("$GOHEAP" help crash)" '^Usage: goheap crash '
	equal "goheap help COMMAND" "$("$GOHEAP" waits --help)" "$("$GOHEAP" help waits)"
	"$GOHEAP" help delv >"$work/out" 2>"$work/errors"
	equal "goheap help, mistyped: its status" 2 $?
	has "goheap help, mistyped: the nearest" "$(cat "$work/errors")" '^goheap: no such command or task: delv; did you mean delve\?$'
}

# as_typed COMMAND: runs it in the folder of the tasks, where its PID is the server's and the plugin that of this build. GDB
# gets the lines of $work/typed, too.
as_typed() (
	# shellcheck disable=SC2317 # the command runs these
	goheap() {
		"$GOHEAP" "$@"
	}
	# shellcheck disable=SC2317
	gdb() {
		local line more=()
		while IFS= read -r line; do
			more+=(-ex "echo @$line\\n" -ex "$line")
		done <"$work/typed"
		run_gdb "$@" "${more[@]}"
	}
	# shellcheck disable=SC2317
	dlv() {
		timeout -k 5 120 "$delve" "$@" --allow-non-terminal-interactive=true --init <(printf 'break main.main\ncontinue\ngoroutines\nexit\n') </dev/null
	}
	cd "$work/tasks" || exit
	line=${1//4711/${pid-}}
	eval "${line//goheap.so/$GOHEAP_SO}"
)

# run_shown PAGE COMMAND: a command of a task answers.
run_shown() {
	local status
	# Another task may have written it.
	[[ $2 != *" -o "* ]] || rm -f "$work/tasks/${2##* }"
	case $2 in
	"goheap web "*)
		: >"$work/out" # another may have been ready before
		as_typed "exec \"\$GOHEAP\" ${2#goheap }" >"$work/out" 2>"$work/errors" &
		wait_until grep -q '^http://' "$work/out"
		status=$?
		# The shell in between has it for a child, if there is one.
		kill "$(pgrep -P $! || echo $!)"
		wait $! 2>"$work/why"
		;;
	"dlv "*)
		[ -n "$delve" ] || { skip "$1: $2" "no Delve for it"; return; }
		as_typed "$2" >"$work/out" 2>&1
		status=$?
		has "$1: $2: goroutines" "$(cat "$work/out")" ' Goroutine 1 - User: '
		;;
	"ulimit "*)
		as_typed "$2" <<<"" >"$work/out" 2>"$work/errors"
		status=$(($? != 134))
		[ -e "$work/tasks/core" ] || mv "$work"/tasks/core.* "$work/tasks/core"
		;;
	*)
		as_typed "$2" <<<"histogram -n 1" >"$work/out" 2>"$work/errors"
		status=$?
		;;
	esac
	equal "$1: $2: its status" 0 $status
	has "$1: $2: its answer" "$(head -c 200 "$work/out" "$work/errors" 2>/dev/null)" '[a-z]'
}

# run_session PAGE COMMAND: GDB is started by the command of a task, and each line of $work/typed answers.
run_session() {
	local line
	sed -i "s/4711/$pid/; s/  .*//" "$work/typed"
	rm -f "$work/tasks/before"
	as_typed "$2" >"$work/session"
	while IFS= read -r line; do
		if [[ $line = "goheap dump -o "* ]]; then
			holds "$1: (gdb) $line" "$(cat "$work/session")" test -s "$work/tasks/${line##* }"
			continue
		fi
		lacks "$1: (gdb) $line" "$(sed -n "/^@${line//[*()[]/.}\$/,/^@/p" "$work/session" | sed '1d; /^@/d' | grep . || echo nothing)" \
			'^(nothing|goheap: [^gp]|[Uu]sage|No |A heap dump|Undefined|There is no|The program is not|.*(rror|annot)|Function ".*not)'
	done <"$work/typed"
	: >"$work/typed"
}

# run_tasks PAGE FILE: every command of the tasks in FILE, as it is printed.
run_tasks() {
	local line gdb=
	: >"$work/typed"
	while IFS= read -r line; do
		if [[ $line != "(gdb) "* && $line = "$ "* && -n $gdb ]]; then
			run_session "$1" "$gdb"
			gdb=
		fi
		case $line in
		"$ gdb "*) gdb=${line#'$ '} ;;
		"$ ulimit "*) ;; # has been run
		"$ kubectl "*) ;; # tests/static.sh has containers
		"$ "*) line=${line#'$ '} && run_shown "$1" "${line%%  *}" ;;
		"(gdb) "*) echo "${line#'(gdb) '}" >>"$work/typed" ;;
		esac
	done <"$2"
	[ -z "$gdb" ] || run_session "$1" "$gdb"
}

# check_launch: the launch.json of goheap(1) is what Delve takes of an editor, that of goheap-gdb(7) what GDB takes.
check_launch() {
	local json children=""
	json=$(sed -n '/^{/,/}$/p' "$work/tasks.goheap")
	json=${json//\$\{workspaceFolder\}/$work/tasks}
	if [ -n "$delve" ]; then
		connect
		answer initialize '{"adapterID":"go"}'
		dap launch "${json//$'\n'/ }"
		message '"event":"initialized"'
		answer setFunctionBreakpoints '{"breakpoints":[{"name":"main.(*Server).handle"}]}'
		dap_stop configurationDone '{}'
		has "goheap(1): launch.json" "$line" '"name":"main\.\(\*Server\)\.handle"'
		answer disconnect '{"terminateDebuggee":true}'
		exec 7>&- 8<&-
		end "${children# }" 2>"$work/why" # by itself, or so
	else
		skip "goheap(1): launch.json" "no Delve for it"
	fi
	json=$(sed -n '/^{/,/}$/p' "$work/tasks.goheap-gdb")
	json=${json//\$\{workspaceFolder\}/$work/tasks}
	json=${json//goheap.so/$GOHEAP_SO}
	json=$("$GOHEAP" sql --csv "$work/dump" "SELECT json_extract('$json', '\$.setupCommands[0].text') AS text UNION ALL
		SELECT json_extract('$json', '\$.program')" 2>"$work/why" | tail -n +2 | tr -d '"')
	: >"$work/session"
	# shellcheck disable=SC2094 # GDB is asked to exit once it has written that the program stops
	{
		printf '%s\n' "-interpreter-exec console \"${json%%$'\n'*}\"" "-file-exec-and-symbols ${json#*$'\n'}" \
			'-break-insert main.(*Server).handle' '-exec-run'
		wait_until grep -q '^\*stopped' "$work/session"
		echo '-gdb-exit'
	} | timeout 100 gdb "${gdb_defaults[@]}" -i=mi >"$work/session" 2>&1
	has "goheap-gdb(7): launch.json" "$(cat "$work/session")" '^\*stopped,reason="breakpoint-hit".*func="main\.\(\*Server\)\.handle"'
}

# check_tasks: the commands of the tasks in both manual pages, of a server that is in $work/tasks.
check_tasks() {
	tasks_of "$(dirname "$GOHEAP")/goheap.1" >"$work/tasks.goheap"
	tasks_of "$tests/../plugin/goheap-gdb.7" >"$work/tasks.goheap-gdb"
	mkdir "$work/tasks"
	cp "$work/served" "$work/tasks/server"
	"$GOHEAP" unstrip "$work/served" -o "$work/whole" || fail "goheap unstrip"
	if ! find_delve "$release" || ! delve_reads "the tasks in Delve" "$work/whole"; then
		delve=
	fi
	run_shown goheap "$(sed -n 's/^\$ \(ulimit \)/\1/p' "$work/tasks.goheap")"
	run_until_ready "$work/tasks/server"
	run_tasks "goheap(1)" "$work/tasks.goheap"
	if needs "the tasks of goheap-gdb(7)" gdb; then
		run_tasks "goheap-gdb(7)" "$work/tasks.goheap-gdb"
		check_launch
	fi
	# Its input may have ended with that of Delve's server.
	end "$pid" 2>"$work/why"
	exec 7>&-
}
