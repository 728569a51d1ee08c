#!/usr/bin/env bash
# Completion in bash, zsh and fish: commands, tasks, the options of each command with their values, PIDs and files, by what
# goheap --help prints.
# shellcheck disable=SC2317 # each shell's function is called by its name
. "$(dirname "$0")/lib.sh"
plugin=$(cd "$(dirname "$GOHEAP")" && pwd)
PATH=$plugin:$PATH
mkdir "$work/files"
touch "$work/files/one.core"
cd "$work/files" || exit

# Each of these reads command lines and prints, below "== NUMBER", the words that the shell offers for the last word of each.

completed_by_bash() {
	bash --norc -c '
		. /usr/share/bash-completion/bash_completion
		. "$1/goheap.bash"
		while IFS= read -r COMP_LINE; do
			read -ra COMP_WORDS <<<"$COMP_LINE"
			[[ $COMP_LINE != *" " ]] || COMP_WORDS+=("")
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_POINT=${#COMP_LINE} COMPREPLY=()
			echo "== $((++number))"
			_goheap
			[ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"
		done' bash "$plugin"
}

# It completes on a terminal only; what it would offer passes through compadd.
completed_by_zsh() {
	cat >"$work/zshrc" <<-'END'
		PS1= LISTMAX=1000000 fpath=($plugin $fpath)
		autoload -Uz compinit
		compinit -u -D
		compadd() {
			local -a offered
			local word
			[[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] || builtin compadd -A offered "$@"
			for word in $offered; do print -r -- $word >>$offered_words; done
			builtin compadd "$@"
		}
		number=0
		next() { print -r -- "== $((++number))" >>$offered_words; BUFFER= }
		zle -N next
		bindkey '^I' complete-word
		bindkey '^T' next
	END
	rm -f "$work/words"
	# shellcheck disable=SC2016 # zsh's
	plugin=$plugin offered_words=$work/words zsh -f -c '
		zmodload zsh/zpty
		zpty shell zsh -f -i
		zpty -w shell ". $1"
		zpty -w -n shell $'\''\x14'\''
		while IFS= read -r line; do
			zpty -w -n shell "$line"$'\''\t\x14'\''
			(( ++lines ))
		done
		repeat 600; do
			while zpty -r -t shell output; do :; done
			grep -qx "== $((lines + 1))" $offered_words 2>/dev/null && break
			sleep 0.2
		done
		zpty -d shell' zsh "$work/zshrc"
	# The mark follows what it is for.
	grep -vx '== 1' "$work/words" | tac | awk '/^== / { sub(/[0-9]+/, $2 - 1) } { print }' | awk '/^== / { number = $2; next } { print number "\t" $0 }' |
		sort -n | awk -F'\t' '$1 != last { print "== " $1; last = $1 } { print $2 }'
}

completed_by_fish() {
	# shellcheck disable=SC2016 # fish's
	plugin=$plugin HOME=$work fish --no-config -c '
		source $plugin/goheap.fish
		for line in (cat)
			set number (math "0$number + 1")
			echo "== $number"
			complete -C"$line" | string replace -r "\t.*" ""
		end'
}

# offered NUMBER: the words that were offered for the command line NUMBER.
offered() {
	awk -v number="$1" '/^== / { on = $2 == number; next } on' "$work/offered" | sort -u
}

# check_shell SHELL
check_shell() {
	local command number=9
	{
		printf '%s\n' 'goheap ' 'goheap help ' 'goheap histogram --by ' 'goheap hang ' 'goheap hang -p ' 'goheap crash ' 'goheap ps ' \
			'goheap --' 'goheap hang -e '
		sed 's/.*/goheap & --/' "$work/told"
	} >"$work/lines"
	"completed_by_$1" <"$work/lines" >"$work/offered" 2>"$work/errors"
	same "$1: no error" /dev/null "$work/errors"
	same "$1: every command, and help" <(sort "$work/told" <(echo help)) <(offered 1 | grep '^[a-z]*[0-9]*[a-z]*$' | grep -vxE '[0-9]+')
	same "$1: help has every command and task" <(sort -u "$work/told" "$work/tasks") <(offered 2 | grep -vx help)
	equal "$1: the values of --by" "path root site size type" "$(offered 3 | xargs)"
	has "$1: a process" "$(offered 4)" "^$pid\$"
	has "$1: a file in place of a process" "$(offered 4)" '^one\.core$'
	has "$1: the process of -p" "$(offered 5)" "^$pid\$"
	lacks "$1: no file for -p" "$(offered 5)" core
	equal "$1: crash is about files" one.core "$(offered 6 | xargs)"
	equal "$1: ps is about nothing" "" "$(offered 7 | xargs)"
	equal "$1: options without a command" "--bytes --exe --help --json --module --names --process" "$(offered 8 | xargs)"
	equal "$1: the program of -e" one.core "$(offered 9 | xargs)"
	while read -r command; do
		number=$((number + 1))
		offered $number | grep '^--' | sed "s/^/$command /; s/=\$//"
	done <"$work/told" >"$work/found"
	same "$1: every option of every command ($(wc -l <"$work/taken")), and no other" "$work/taken" "$work/found"
}

listed_commands | sort >"$work/told"
"$GOHEAP" help | sed -n '2,/^$/s/^  \([a-z]*\) .*/\1/p' | sort >"$work/tasks"
while read -r command; do
	"$GOHEAP" "$command" --help | grep -oE -- '^ .*--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | grep -vx -e --usage -e --version |
		sort -u | sed "s/^/$command /"
done <"$work/told" >"$work/taken"
release=${RELEASES:-1.27}
sample completion "${release##* }" troubles || finish
run_until_ready "$directory/troubles.stripped" workers
for shell in bash zsh fish; do
	needs "completion in $shell" "$shell" || continue
	if [ "$shell" = bash ] && ! [ -e /usr/share/bash-completion/bash_completion ]; then
		skip "completion in bash" "no bash-completion"
		continue
	fi
	check_shell "$shell"
done
end "$pid"
exec 7>&-
finish
