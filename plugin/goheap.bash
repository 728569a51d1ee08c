# bash completion for goheap(1)
# shellcheck shell=bash

_goheap()
{
	local cur prev words cword
	_init_completion || return

	case ${words[1]-} in
	addr2line) local options='-a -C -e -f -i -p -s --addresses --exe --functions --inlines --pretty-print --basenames' ;;
	debug) local options='-o --output' ;;
	crash) local options='-e --exe' ;;
	core | dump) local options='-e -o --exe --output' ;;
	hprof | report) local options='-e -o --exe --names --output' ;;
	pprof) local options='-e -o --exe --live --output --rate --raw' ;;
	profile) local options='-e --exe --json --rate' ;;
	goroutines) local options='-a -e -s --all --exe --grep --group --json --status' ;;
	lines) local options='-i --inlines --json' ;;
	info | funcs | frames | types | itabs | roots | finalizers | defers | panics | threads | memstats | params)
		local options='--json'
		;;
	objects | referrers | path | reachable | dominators | unreachable | strings)
		local options='-e -n --exe --json --limit --names'
		;;
	dot) local options='-e -n -o --exe --limit --names --output' ;;
	histogram | diff) local options='-e -n --by --exe --json --limit --names' ;;
	*) local options='--version' ;;
	esac

	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options --help" -- "$cur")
	elif ((cword == 1)); then
		mapfile -t COMPREPLY < <(compgen -W 'info funcs lines addr2line debug core crash dot dump hprof report goroutines
			frames types itabs roots finalizers defers panics threads memstats params
			histogram dominators path objects referrers reachable unreachable strings diff profile pprof' -- "$cur")
	elif [[ $prev == --by ]]; then
		mapfile -t COMPREPLY < <(compgen -W 'type size site' -- "$cur")
	elif [[ ${words[1]} == goroutines && $prev == -*s ]]; then
		COMPREPLY=()
	elif [[ ${words[1]} != addr2line || $prev == -*e ]]; then
		_filedir
	fi
} && complete -F _goheap goheap
