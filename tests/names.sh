#!/usr/bin/env bash
# Awkward names, and other text that is typed: every command that takes a file, in the shell and in GDB, over names that a
# shell, GDB or a terminal would act on. What a command prints of such a file has to be what it prints of the same
# file by a plain name; and nothing else may be written, by whatever would have read a name as something to do.
. "$(dirname "$0")/lib.sh"
session_home
export LC_ALL=C HOME=$work/home
mkdir "$HOME"

# shellcheck disable=SC1003,SC2016 # these are names
names=(' both ends ' "it's" 'say "so"' '$(touch pwned)' '`touch pwned`' 'a|touch pwned' '@@ touch pwned; #' '; touch pwned'
	'"; touch pwned; "' "'; touch pwned; '" '$arg0' '$HOME' '%n%s' '-dash' '--version' 'a~' '*' 'back\slash' '{{}}' 'end\'
	$'two\nlines' $'a".\nb' "a', file type x" $'bytes \xff\x80\xc2\x85' $'escape \e[31m' $'over \xe2\x80\xae')

# as_word NAME: as a word of a GDB command.
as_word() {
	local word=$1
	word=${word//\\/\\\\}
	word=${word//\"/\\\"}
	printf '"%s"' "$word"
}

# untouched NAME: nothing has run that the names tell of.
untouched() {
	if find . "$HOME" -maxdepth 1 -name '*pwned' ! -name '*touch*' | grep -q .; then
		fail "$1: nothing runs" "$(find . -maxdepth 1)"
		rm -f pwned
	else
		ok "$1: nothing runs"
	fi
}

# fit NAME FILE: a terminal would act on nothing in it.
fit() {
	if grep -qP '[\x00-\x08\x0b-\x1f\x7f\xff]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|(?<![\xc2-\xf4\x80-\xbf])[\x80-\xbf]' "$2"; then
		fail "$1: fit for a terminal" "$(grep -aP '[\x00-\x08\x0b-\x1f\x7f-\xff]' "$2" | head -n 5 | od -c | head)"
	else
		ok "$1: fit for a terminal"
	fi
}

# in_shell PLAIN COMMAND...: each of these on the file by its plain name and by the other, which comes last.
in_shell() {
	local plain=$1 command
	for command in "${@:2}"; do
		# shellcheck disable=SC2086 # the words of a command
		"$GOHEAP" $command -- "$plain" >"$work/expected" 2>"$work/expected.errors" </dev/null
		local status=$?
		# shellcheck disable=SC2086
		"$GOHEAP" $command -- "$name" >"$work/found" 2>"$work/errors" </dev/null
		equal "$shown: $command: exit status" $status $?
		sed -i '/^file: /d; /^   see goheap /d' "$work/expected" "$work/found"
		cmp -s "$work/expected" "$work/found" || fail "$shown: $command prints what it prints of another name"
		cat "$work/errors" "$work/found" >>"$work/printed"
	done
}

# writing COMMAND...: each of these writes a file of that name.
writing() {
	local command
	for command in "$@"; do
		# shellcheck disable=SC2086
		"$GOHEAP" $command -o "$out/$name" >>"$work/printed" 2>&1
		equal "$shown: $command -o: exit status" 0 $?
		[ -s "$out/$name" ] || fail "$shown: $command -o writes it"
		rm -f "$out/$name"
	done
}

# one_line COMMAND...: which finds no file of that name: the error is one line.
one_line() {
	"$GOHEAP" "$@" >"$work/errors" 2>&1
	equal "$shown: $1 of no such file: exit status" 1 $?
	equal "$shown: $1 of no such file: lines" 1 "$(wc -l <"$work/errors")"
	cat "$work/errors" >>"$work/printed"
}

# check_shell: the name is awkward; with "all", to every command there is.
check_shell() {
	local programs=(info) dumps=(histogram) writers=("core $dump")
	if [ $# -gt 0 ]; then
		programs=(info funcs lines types)
		# shellcheck disable=SC2206 # words
		dumps=($listings types goroutines suspects histogram dominators unreachable strings "diff $dump" profile)
		writers=("debug $program" "unstrip $program" "core $dump" "hprof $dump" "dot $dump" "report $dump")
	fi
	: >"$work/printed"
	cp -- "$program" "$name"
	in_shell "$program" "${programs[@]}"
	"$GOHEAP" addr2line -e "$name" 0x401000 >>"$work/printed" 2>&1 || fail "$shown: addr2line"
	cp -- "$dump" "$name"
	in_shell "$dump" "${dumps[@]}"
	"$GOHEAP" dot -- "$name" >>"$work/printed" 2>&1 || fail "$shown: dot"
	writing "${writers[@]}"
	rm -f -- "$name"
	one_line info -- "$name"
	one_line histogram -- "$name"
	one_line goroutines -e "$name" "$dump"
	fit "$shown: in the shell" "$work/printed"
	untouched "$shown: in the shell"
}

# A program and a dump of that name.
check_gdb() {
	local word output
	word=$(as_word "$name")
	cp -- "$program" "$name"
	output=$(goheap "./$name" "info line main.main" "goheap info")
	has "$shown: GDB's program: its symbols" "$output" '^Line [0-9]+ of '
	has "$shown: GDB's program: goheap info" "$output" '^go version: '
	cp -- "$dump" "$name"
	output=$(goheap "$program" "goheap load -- $word" "goheap diff --bytes -- $word" "goheap histogram --bytes --limit 1")
	has "$shown: goheap load" "$output" ' heap dump of go'
	equal "$shown: goheap diff, histogram" 2 "$(grep -c ' objects .* bytes ' <<<"$output")"
	printf '%s\n' "$output" >"$work/printed"
	rm -f -- "$name"
	output=$(goheap "$program" "goheap load -- $word" "goheap load --names $word $dump" "goheap load $dump" \
		"goheap hprof -o $word" "goheap diff --bytes -- $word" "goheap print $word 0x1234" "goheap path $word")
	has "$shown: goheap load of no file" "$output" 'No such file'
	printf '%s\n' "$output" | grep -av '^No symbol ' >>"$work/printed"
	[ -s "$name" ] || fail "$shown: goheap hprof -o"
	rm -f -- "$name"
	fit "$shown: in GDB" "$work/printed"
	untouched "$shown: in GDB"
	equal "$shown: nothing else is written" "" "$(find . "$out" -type f)"
}

# Text without quotes, after every command.
check_text() {
	local command text commands=()
	while read -r command; do
		# shellcheck disable=SC2016
		for text in 'x$(touch pwned)' 'x`touch pwned`' 'x|touch pwned' 'x;touch pwned' '@@ touch pwned; #' \
			"'x @@ touch pwned; #' 0x1234" "'x\`touch pwned\`' 0x1234" '--exe=$(touch pwned)' '-o|touch pwned' \
			'$arg0' '-- shell touch pwned' '>pwned'; do
			commands+=("goheap $command $text")
		done
	done < <(goheap "" "help goheap" | sed -n 's/^goheap \([a-z]*\) .*/\1/p' | sort -u)
	has "commands, with texts" ${#commands[@]} '^[3-9][0-9][0-9]$'
	patience=600 goheap "$program" "${commands[@]}" >"$work/printed"
	fit "texts" "$work/printed"
	untouched "texts"
	equal "texts: nothing is written" "" "$(find . -type f)"
}

# What fails or is interrupted while goheap has GDB open a file leaves goheap as it was.
check_hooks() {
	local output
	printf '%s\n' 'define hook-exec-file' 'frame 1000' end >"$work/failing.gdb"
	printf '%s\n' 'define hook-exec-file' end >"$work/passing.gdb"
	output=$(goheap "" "source $work/failing.gdb" "file $program" "source $work/passing.gdb" "file $other" \
		"info line main.main")
	has "an error while GDB opens a file" "$output" '^No registers\.$'
	has "goheap goes on after an error" "$output" '^Line [0-9]+ of '

	mkdir "$work/slow"
	cp "$GOHEAP_SO" "$work/slow/goheap.so"
	cat >"$work/slow/goheap" <<-END
		#!/bin/sh
		if [ "\$1" = session ] && [ ! -e "$work/slow/once" ]; then
			: >"$work/slow/once"
			sleep 60
		fi
		exec "$GOHEAP" "\$@"
	END
	chmod +x "$work/slow/goheap"
	# shellcheck disable=SC2016 # the inner shell expands these
	GOHEAP_SO=$work/slow/goheap.so setsid bash -c '
		set -- "$1" -nx -q -batch -iex "set debuginfod enabled off" -x "$2" -ex "jit-reader-load $GOHEAP_SO" \
			-ex "echo once\\n" -ex "file $3" -ex "file $3" -ex "info line main.main" "$3"
		exec "$@"' _ "$GDB" "$work/goheap.gdb" "$program" >"$work/session" 2>&1 </dev/null &
	local gdb=$!
	wait_until [ -e "$work/slow/once" ]
	kill -INT -- -"$gdb"
	wait "$gdb"
	has "goheap goes on after an interrupt" "$(cat "$work/session")" '^Line [0-9]+ of '
}

# The name ends, to a careless reader, where another file's does.
check_beside() {
	local name=$1 output
	cp "$program" "$name"
	cp /bin/true "$2"
	output=$(goheap "./$name" "info line main.main" "info files")
	has "$name| beside $2|: its symbols" "$output" '^Line [0-9]+ of '
	if grep -qF "/$name', file type" <<<"$output"; then
		ok "$name| beside $2|: it is GDB's program still"
	else
		fail "$name| beside $2|: it is GDB's program still" "$output"
	fi
	rm -f -- "$name" "$2"
}

sample "Go 1.19" 1.19 dump || finish
program=$directory/dump.stripped dump=$work/plain.dump out=$work/out
"$directory/dump" "$dump" "$work/stacks" >"$work/counts" || finish
directory=$("$tests/build-sample" 1.19 sample) || finish
other=$directory/sample.stripped
mkdir "$work/here" "$out"
cd "$work/here" || exit 1
for name in "${names[@]}"; do
	shown=$(printf %q "$name")
	check_shell
	check_gdb
done
# shellcheck disable=SC2016 # a name
name=$' -$(touch pwned)`touch pwned`|touch pwned;touch pwned\n@@touch pwned "\'$arg0 %n\xff\e[31m\\ ' shown="all at once"
check_shell all
check_gdb
check_beside 'x ' x
# shellcheck disable=SC1003 # a name
check_beside 'x\' x
# shellcheck disable=SC2016 # a name
check_beside 'x $arg0' 'x '
check_text
check_hooks
output=$(TMPDIR=$work/'a b' XDG_RUNTIME_DIR=$work/'a b' goheap "$program" "goheap load $dump" "goheap info")
has "a directory for temporary files with a space in its name" "$output" '^objects: '
cp "$dump" "$HOME/names.dump"
has "goheap load ~/FILE" "$(goheap "$program" "goheap load ~/names.dump")" ' heap dump of go'
finish
