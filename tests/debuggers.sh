#!/usr/bin/env bash
# Core files made of heap dumps in debuggers other than GDB: their stacks against what the process that
# wrote the dump printed of itself at that moment.
. "$(dirname "$0")/lib.sh"

# compare NAME: rows of the debugger, with the goroutine, function, file and line, have all that are expected.
compare() {
	sort "$work/rows" >"$work/shown"
	comm -23 "$work/expected" "$work/shown" >"$work/left"
	if [ -s "$work/expected" ]; then
		same "$1: every frame that is expected ($(wc -l <"$work/expected"))" /dev/null "$work/left"
	else
		fail "$1: there are frames"
	fi
	same "$1: a thread for each goroutine" <("$dumpfile" count "$work/dump" | sed -n 's/goroutines\t//p') \
		<(cut -f 1 "$work/rows" | sort -u | wc -l)
}

# Inlined calls are frames of their own.
delve() {
	{
		sed -nE 's/^goroutine ([0-9]+) .*/\1/p' <("$GOHEAP" goroutines -a "$work/dump") |
			sed 's/.*/thread &\nstack 100/'
		echo exit
	} >"$work/commands"
	# Files below the directory it runs in it names by a part of their paths.
	cd "$work" || exit
	timeout -k 5 120 dlv core "$directory/dump" "$work/core" --init "$work/commands" \
		--allow-non-terminal-interactive=true </dev/null >"$work/session" 2>&1
	sed -nE -e 's/^Switched from [0-9]+ to /thread /p' \
		-e 's/^\* Thread ([0-9]+) .*/thread \1/p' \
		-e 's/^ *[0-9]+ +0x[0-9a-f]+ in (.*)/function \1/p' \
		-e 's/^ +at (.*):([0-9]+)$/\1\t\2/p' "$work/session" |
		awk -v OFS='\t' '
			/^thread / { id = substr($0, 8); next }
			/^function / { name = substr($0, 10); sub(/\[.*\]/, "[...]", name); next }
			{ print id, name, $0 }' >"$work/rows"
	printed <"$work/stacks" | cut -f 1-4 | sort >"$work/expected"
	compare "Go $1 in Delve"
}

# LLDB knows nothing of Go's DWARF but lines: an inlined call is a line of the function that it is in. That is
# the next that the process printed or, if it is a wrapper, none that it printed; so either line of the next will do, and
# both are in its row.
outermost() {
	awk -v OFS='\t' '
		/^goroutine [0-9]+ / { id = $2; elsewhere = /\[running/; inner = ""; next }
		/^created by / { getline; next }
		/^\t/ {
			line = place = $1
			sub(/.*:/, "", line)
			sub(/:[0-9]+$/, "", place)
			if (inner == "")
				inner = place OFS line
			if (inlined)
				next
			if (!elsewhere)
				print id, name, inner, place, line
			inner = ""
			elsewhere = 0
			next
		}
		{ inlined = /\(\.\.\.\)$/; name = $0; sub(/\([^()]*\)$/, "", name); if (name == "panic") name = "runtime.gopanic" }'
}

# lldb_rows PROGRAM [DEBUGFILE]: LLDB's backtraces of all threads. A debug file is named as the core file is opened: functions of
# which LLDB 19 has looked for the frames before `target symbols add' stay without those of the debug file.
lldb_rows() {
	cat >"$work/commands" <<-EOF
		settings set frame-format "frame \${function.name}\t\${line.file.fullpath}\t\${line.number}\n"
		target create --core $work/core ${2:+--symfile $2} $1
		thread list
		thread backtrace all
	EOF
	timeout -k 5 120 lldb --no-lldbinit --batch -s "$work/commands" </dev/null 2>"$work/errors" |
		sed -nE -e 's/^[* ]+thread #([0-9]+): tid = ([0-9]+),.*/tid \1 \2/p' \
			-e 's/^[* ]+thread #([0-9]+),.*/thread \1/p' -e 's/^[* ]+frame (.*)/\1/p' |
		awk -F'\t' -v OFS='\t' '
			/^tid / { split($0, words, " "); ids[words[2]] = words[3]; next }
			/^thread / { id = ids[substr($0, 8)]; next }
			{ sub(/\[.*\]/, "[...]", $1); sub(/\.abi0$/, "", $1); print id, $0 }'
}

lldb_stacks() {
	"$GOHEAP" debug "$directory/dump.stripped" -o "$work/dump.debug"
	lldb_rows "$directory/dump.stripped" "$work/dump.debug" >"$work/rows"
	# A call that is inlined there is not printed.
	outermost <"$work/stacks" | grep -v notifyListWait | awk -F'\t' -v OFS='\t' '
		NR == FNR { shown[$0]; next }
		{ inner = $1 OFS $2 OFS $3 OFS $4; print inner in shown ? inner : $1 OFS $2 OFS $5 OFS $6 }' \
		"$work/rows" - | sort >"$work/expected"
	compare "Go $1 in LLDB"
}

# check_release RELEASE
check_release() {
	sample "Go $1" "$1" dump || return 0
	"$directory/dump" "$work/dump" "$work/stacks" >"$work/counts"
	"$GOHEAP" core -f "$work/dump" -e "$directory/dump" -o "$work/core"
	if needs "Go $1 in LLDB" lldb; then
		lldb_stacks "$1"
	fi
	# Each release of Delve reads the DWARF of some releases of Go; Debian's reads that of its Go.
	[ "$1" = 1.19 ] || return
	delve=dlv
	if needs "Go $1 in Delve" dlv && delve_reads "Go $1 in Delve" "$directory/dump"; then
		delve "$1"
	fi
}

build_dumpfile
for release in $(formats "$apart"); do
	check_release "$release"
done
finish
