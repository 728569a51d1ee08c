#!/usr/bin/env bash
# Stripped programs in LLDB, with what `goheap unstrip --for lldb', `goheap debug --for lldb' and goheap.lldb give it: the
# arguments of functions at their breakpoints, against what the program prints of them itself in the same run, and against
# `info args' of GDB with goheap.so on the same stripped program.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/dap-lib.sh"
session_home

lldbinit=$(realpath "$tests/../plugin/goheap.lldb")
stops=310
is_full && stops=1550

# lldb_session PROGRAM [DEBUGFILE]: stops at the functions in $work/functions, $stops times, and prints at each stop the
# arguments: raw and in hexadecimal, as people see them, and raw. The program's output goes to $work/told.
lldb_session() {
	{
		echo "command source -s true $lldbinit"
		echo "target create ${2:+--symfile $2} $1"
		sed 's/.*/breakpoint set -n "&"/' "$work/functions"
		echo "process launch -o $work/told"
		for ((i = 0; i < stops; i++)); do
			printf '%s\n' 'frame variable -R -f x' 'frame variable' 'frame variable -R' continue
		done
		printf '%s\n' 'breakpoint disable' continue
	} >"$work/commands"
	rm -f "$work/told" # LLDB would leave its end
	# A signal that is handled on the way from a breakpoint returns to it.
	GODEBUG=asyncpreemptoff=1 timeout -k 5 300 "$lldb" --no-lldbinit --batch -s "$work/commands" </dev/null >"$work/session" 2>"$work/errors"
}

# lldb_rows: the rows of the session, as tests/samples/told prints them: stop, function, argument, type, words in
# hexadecimal; and the strings in it. In the file $work/raw are the stop, the argument, and its numbers in decimal.
lldb_rows() {
	awk -v OFS='\t' -v raw="$work/raw" '
		function flush() {
			if (argument == "")
				;
			else if (mode == "raw")
				print stop, argument, words >raw
			else if (mode == "hexadecimal")
				word[argument] = words
			else
				print stop, function_name, argument, go(type), word[argument], strings
			argument = words = strings = ""
		}
		# As Go writes it; LLDB writes pointers and arrays as C does.
		function go(type) {
			while (sub(/ ?\*$/, "", type))
				type = "*" type
			if (match(type, /\[[0-9]+\]$/))
				type = substr(type, RSTART) substr(type, 1, RSTART - 1)
			return type
		}
		function digits(value) {
			sub(/^0+/, "", value)
			return value == "" ? "0" : value
		}
		# Of complex numbers LLDB prints both halves as one.
		function number(value,    half) {
			if (value !~ /^0x/)
				return value
			value = substr(value, 3)
			half = length(value) / 2
			return type ~ /^complex/ ? digits(substr(value, half + 1)) "," digits(substr(value, 1, half)) : digits(value)
		}
		function take(value) {
			if (mode == "text") {
				while (match(value, /"[^"]*"/)) {
					strings = strings (strings == "" ? "" : " ") substr(value, RSTART, RLENGTH)
					value = substr(value, RSTART + RLENGTH)
				}
				return
			}
			if (value == "{" || value == "{}")
				return
			sub(/^NULL$/, "0x0", value)
			words = words (words == "" ? "" : ",") (mode == "hexadecimal" ? number(value) : value)
		}
		/stop reason = breakpoint/ { stop++; getline; sub(/.*`/, ""); sub(/ at .*/, ""); function_name = $0; next }
		/^\(lldb\) / {
			flush()
			mode = $0 ~ /variable -R -f x$/ ? "hexadecimal" : $0 ~ /variable -R$/ ? "raw" : $0 ~ /variable$/ ? "text" : ""
			next
		}
		mode == "" { next }
		/^\(.*\) arg[0-9]+ = / {
			flush()
			match($0, /\) arg[0-9]+ = /)
			type = substr($0, 2, RSTART - 2)
			argument = substr($0, RSTART + 2, RLENGTH - 5)
			take(substr($0, RSTART + RLENGTH))
			next
		}
		/ = / { sub(/^[^=]* = /, ""); take($0) }' "$work/session"
}

# told_rows: the same of what the program printed at the stops. What has no size is passed nowhere. LLDB does not follow
# pointers to what they point to.
told_rows() {
	awk -F'\t' -v OFS='\t' -v stops="$stops" '
		BEGIN { for (i = 32; i < 127; i++) letter[sprintf("%02x", i)] = sprintf("%c", i) }
		function followed(text,    depth, i, c) {
			i = index(text, "&{")
			for (i++; depth >= 0; ) {
				c = substr(text, ++i, 1)
				depth += (c == "{") - (c == "}")
			}
			return substr(text, 1, index(text, "&{") - 1) substr(text, i + 1)
		}
		function strings(text,    found, hex, i) {
			while (index(text, "&{"))
				text = followed(text)
			while (match(text, /[0-9]+\047[0-9a-f]*/)) {
				hex = substr(text, RSTART, RLENGTH)
				text = substr(text, RSTART + RLENGTH)
				sub(/.*\047/, "", hex)
				found = found (found == "" ? "" : " ") "\""
				for (i = 1; i < length(hex); i += 2)
					found = found letter[substr(hex, i, 2)]
				found = found "\""
			}
			return found
		}
		$1 > stops { exit }
		$5 != "" { print $1, $2, $3, $4, $5, strings($6) }' "$work/told"
}

# compare_functions: of functions that are no methods only words are known, and not all. Prints how many are equal, and
# those that differ.
compare_functions() {
	awk -F'\t' '
		$2 ~ /\..*\./ { next }
		NR == FNR { words[$1, $3] = $5; next }
		{
			m = split($5, ours, ",")
			split(words[$1, $3], theirs, ",")
			for (i = 1; i <= m; i++) {
				if (ours[i] == theirs[i])
					equal++
				else if (ours[i] !~ /^</)
					differs = differs $0 "\n"
			}
		}
		END { printf "%d\n%s", equal, differs }' "$work/expected" "$work/shown"
}

# gdb_raw: numbers of arguments as GDB prints them, as in the file raw.
gdb_raw() {
	awk -v OFS='\t' '
		/^stop$/ { stop++; next }
		!/^arg[0-9]+ = / { next }
		{
			argument = $1
			sub(/^arg[0-9]+ = /, "")
			# For GDB a value of a func type is the code there, not the pointer.
			gsub(/\{void \([^)]*\)\} 0x[0-9a-f]+/, "?")
			gsub(/ \047([^\047\\]|\\[^0-9]|\\[0-9]+)\047/, "")
			gsub(/ <[^<>]*>/, "")
			# A type that is called string has no fields for GDB.
			rest = $0
			line = ""
			while (match(rest, / "([^"\\]|\\.)*"(\.\.\.)?/)) {
				text = substr(rest, RSTART + 2, RLENGTH - 3)
				line = line substr(rest, 1, RSTART - 1)
				rest = substr(rest, RSTART + RLENGTH)
				if (rest !~ /^, len = /)
					line = line ", " length(text)
			}
			$0 = line rest
			gsub(/[{}]|[A-Za-z_][A-Za-z_0-9]* = /, "")
			gsub(/, */, ",")
			print stop, argument, $0
		}' "$work/gdb"
}

# masked: rows with pointers as nil or not, as another process has others, and numbers with a fraction in 6 digits.
masked() {
	awk -F'\t' -v OFS='\t' '
		function plain(value,    parts) {
			if (value ~ /^0x0*$/)
				return "nil"
			if (value ~ /^0x/)
				return "pointer"
			if (value ~ /i$/) {
				split(value, parts, " ")
				return sprintf("%.6g%s%.6gi", parts[1], parts[2], parts[3])
			}
			return value ~ /[.e]/ && value !~ /[a-df-z]/ ? sprintf("%.6g", value) : value
		}
		{
			n = split($3, values, ",")
			line = ""
			for (i = 1; i <= n; i++)
				line = line (i > 1 ? "," : "") plain(values[i])
			print $1, $2, line
		}' "$1"
}

# equal_in_gdb: prints how many arguments GDB shows as LLDB does, and those that it does not.
equal_in_gdb() {
	awk -F'\t' '
		NR == FNR { theirs[$1, $2] = $3; next }
		{
			expected = theirs[$1, $2]
			if (expected == "?")
				next
			if (expected == $3)
				equal++
			else
				differs = differs $0 "\t" expected "\n"
		}
		END { printf "%d\n%s", equal, differs }' <(masked "$work/in_gdb") <(masked "$work/raw")
}

# gdb_session STRIPPED
gdb_session() {
	{
		printf '%s\n' 'set pagination off' 'set print repeats unlimited' 'set environment GODEBUG=asyncpreemptoff=1' \
			"jit-reader-load $GOHEAP_SO" "file $1"
		sed 's/.*/break &/' "$work/functions"
		echo "run >/dev/null"
		for ((i = 0; i < stops; i++)); do
			printf '%s\n' 'printf "stop\n"' 'info args' continue
		done
	} >"$work/gdb_commands"
	timeout -k 5 300 gdb -q -nx -batch -x "$work/gdb_commands" </dev/null >"$work/gdb" 2>"$work/errors"
}

# check_values NAME PROGRAM [DEBUGFILE]: the arguments in LLDB.
check_values() {
	local equal
	lldb_session "${@:2}"
	lldb_rows >"$work/shown"
	told_rows >"$work/expected"
	equal "$1: stops" "$stops" "$(cut -f 1 "$work/shown" | sort -u | wc -l)"
	same "$1: arguments of methods: types, words and strings ($(awk '$2 ~ /\..*\./' "$work/shown" | wc -l))" \
		<(awk '$2 ~ /\..*\./' "$work/expected") <(awk '$2 ~ /\..*\./' "$work/shown")
	compare_functions >"$work/compared"
	read -r equal <"$work/compared"
	equal "$1: arguments of functions: what differs" "" "$(sed 1d "$work/compared" | head -n 20)"
	holds "$1: arguments of functions: equal words: $equal" "$(head -n 20 "$work/errors")" [ "$equal" -ge $((stops * 8 / 31)) ]
	equal_in_gdb >"$work/compared"
	read -r equal <"$work/compared"
	equal "$1: arguments that differ from those in GDB" "" "$(sed 1d "$work/compared" | head -n 20)"
	holds "$1: arguments equal to those in GDB: $equal" "" [ "$equal" -ge $((stops * 4)) ]
}

# versions: the releases of LLDB that are here, each with its command.
versions() {
	local command
	for command in $(compgen -c lldb | grep -xE 'lldb(-[0-9]+)?' | sort -u); do
		echo "$("$command" --version 2>/dev/null | sed -nE 's/^lldb version ([0-9]+).*/\1/p') $command"
	done | sort -n -u -k 1,1
}

# check_dap NAME PROGRAM: what an editor is told at a breakpoint: the frame, and the strings in the arguments.
check_dap() {
	local server frame scope
	# It was called so to release 17.
	if ! server=$(command -v "lldb-vscode-$version" || command -v "lldb-dap-$version"); then
		skip "$1, DAP" "no lldb-vscode and no lldb-dap"
		return
	fi
	mkfifo "$work/to" "$work/from"
	: >"$work/talk"
	"$server" <"$work/to" >"$work/from" 2>"$work/errors" &
	exec 7>"$work/to" 8<"$work/from"
	rm "$work/to" "$work/from"
	number=0
	answer initialize '{"adapterID":"lldb","linesStartAt1":true,"pathFormat":"path"}'
	dap launch "{\"program\":\"$2\",\"initCommands\":[\"command source -s true $lldbinit\"]}"
	message '"event":"initialized"'
	answer setFunctionBreakpoints '{"breakpoints":[{"name":"main.(*record).texts"}]}'
	dap_stop configurationDone '{}'
	equal "$1, DAP: the frame" "main.(*record).texts $(awk '/^func \(r \*record\) texts/ { print NR }' "$tests/samples/told/main.go")" \
		"$(head -n 1 <<<"$stack")"
	frame=$(grep -oE '"id":[0-9]+' <<<"$line" | sed -n '1s/"id"://p')
	answer scopes "{\"frameId\":${frame:-0}}"
	scope=$(grep -oE '"variablesReference":[0-9]+' <<<"$line" | sed -n '1s/.*://p')
	answer variables "{\"variablesReference\":${scope:-0}}"
	equal "$1, DAP: strings" \
		"$(awk -F'\t' '$1 == 3 && $4 ~ /^(string|main\.label)$/ { print $3, $6 }' "$work/expected")" \
		"$(grep -oE '"name":"arg[14]"[^}]*"value":" ? ?(\\.|[^"\\])*"' <<<"$line" | sed -E 's/"name":"(arg.)".*"value":" ?(.*)"$/\1 \2/; s/\\"/"/g')"
	answer disconnect '{"terminateDebuggee":true}'
	exec 7>&- 8<&-
	wait
}

# check_odd NAME RELEASE: types that are of themselves, of which LLDB would not come to an end, and text with NULs and quotes.
check_odd() {
	sample "$1, odd types" "$2" selves || return 0
	"$GOHEAP" unstrip --for lldb "$directory/selves.stripped" -o "$work/selves"
	"$lldb" --no-lldbinit --batch -o "command source -s true $lldbinit" -o "target create $work/selves" \
		-o 'breakpoint set -n "main.(*T).all"' -o run -o 'frame variable -T arg1 arg4 arg5 arg6 arg7.kids arg7.text arg8' \
		</dev/null 2>"$work/errors" | sed '1,/^(lldb) frame variable/d; s/0x[0-9a-f]*[1-9a-f][0-9a-f]*/0x/' >"$work/found"
	cat >"$work/told" <<-'EOF'
		(main.list) arg1 = {
		  (void *) array = 0x
		  (int) len = 2
		  (int) cap = 2
		}
		(main.index) arg4 = 0x len 1
		(main.state) arg5 = 0x0000000000000000
		(main.queue) arg6 = 0x len 0, cap 3
		([]main.tree) arg7.kids = len 1, cap 1 {
		  (main.tree) [0] = {
		    ([]main.tree) kids = len 0, cap 0 {}
		    (string) text = ""
		    (int) _ = 0
		    (int) _ = 0
		  }
		}
		(string) arg7.text = "a\0b \"c\" /"
		([]string *) arg8 = 0x len 1, cap 1
	EOF
	same "$1, odd types" "$work/told" "$work/found"
}

# check_signals NAME PROGRAM: SIGURG, which the runtime sends as the program starts, stops nothing.
check_signals() {
	"$lldb" --no-lldbinit --batch -o "command source -s true $lldbinit" -o "target create $2" -o "process launch -o /dev/null" \
		</dev/null >"$work/session" 2>"$work/errors"
	has "$1: runs to its end" "$(cat "$work/session")" '^Process [0-9]+ exited with status = 0 '
	lacks "$1: no stop" "$(cat "$work/session")" 'stop reason'
}

# check_sample RELEASE [FLAG]
check_sample() {
	local name="Go $1${2:+, $2}" stripped
	sample "$name" "$1" told ${2+"$2"} || return 0
	stripped=$directory/told.stripped
	"$stripped" | cut -f 2 | sort -u >"$work/functions"
	"$GOHEAP" unstrip --for lldb "$stripped" -o "$work/whole"
	"$GOHEAP" debug --for lldb "$stripped" -o "$work/debug"
	equal "$name: the language of all units" "12 (ANSI C99)" \
		"$(readelf --debug-dump=info "$work/whole" 2>/dev/null | sed -n 's/.*DW_AT_language *: *//p' | sed 's/\t/ /' | sort -u)"
	gdb_session "$stripped"
	gdb_raw >"$work/in_gdb"
	while read -r version lldb; do
		check_values "$name, LLDB $version" "$work/whole"
		check_dap "$name, LLDB $version" "$work/whole"
		check_signals "$name, LLDB $version" "$work/whole"
		in_full "$name, LLDB $version, with a debug file" &&
			check_values "$name, LLDB $version, with a debug file" "$stripped" "$work/debug"
		[ $# -gt 1 ] || check_odd "$name, LLDB $version" "$1"
	done < <(versions)
}

needs "everything" gdb lldb readelf || finish
for release in $(formats 1.19 1.27); do
	check_sample "$release"
done
in_full "PIE" && check_sample 1.27 -buildmode=pie
finish
