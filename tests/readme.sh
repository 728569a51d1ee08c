#!/usr/bin/env bash
# What README, tests/ACCURACY and the manual pages show and tell to type: sessions are compared with real ones, and every
# other command is run.
. "$(dirname "$0")/lib.sh"
top=$(cd "$tests/.." && pwd)
build=$(cd "$(dirname "$GOHEAP")/.." && pwd)
page=$build/plugin/goheap.1 gdb_page=$top/plugin/goheap-gdb.7

# alike: what differs between two runs, or two machines, made the same.
alike() {
	sed -E -e 's/^[0-9]+ threads: .*[0-9]+ asleep$/N threads/' -e 's/goroutine [0-9]+( \(|$)/goroutine N\1/' \
		-e 's/keep [0-9]+ objects of [0-9.]+ (bytes|kB)$/keep N objects/' -e 's/0x[0-9a-f]+/0xN/g' -e 's/[0-9]+ ms$/N ms/' -e 's/LWP [0-9]+/LWP N/g' \
		-e 's/[0-9.]+ MB in [0-9,]+ objects/N MB in N objects/' -e 's/^goroutines [0-9]+/goroutines N/' -e 's/goroutine [0-9]+,/goroutine N,/' -e 's/[0-9.]+%/N%/g' \
		-e 's#( at |file |^	)(/[^ ]*/|\.\.\./)#\1#g' -e 's/ +/ /g' -e 's/ $//' \
		-e 's/, Go BuildID=[^,]*,/, ...,/'
}

# in_order EXPECTED FOUND: the lines of EXPECTED that are not in FOUND after the one before. Those that end in dots begin
# lines there.
in_order() {
	awk '
		BEGIN { n = i = 0 }
		NR == FNR { size[n] = sub(/ \.\.\.$/, "") ? length($0) : 10000; line[n++] = $0; next }
		{ if (i < n && substr($0, 1, size[i]) == line[i]) i++ }
		END { if (i < n) print "not there, in this order: " line[i] }' "$1" "$2"
}

# indented FILE: what README or tests/ACCURACY sets off from its text.
indented() {
	sed -n 's/^    //p' "$1"
}

# examples PAGE: the examples of a manual page.
examples() {
	sed -n '/^\.EX$/,/^\.EE$/p' "$1" | grep -v '^\.E[EX]$' |
		sed -e 's/\\&//g' -e 's/\\-/-/g' -e "s/\\\\(aq/'/g" -e 's/\\e/\\/g'
}

# heads PAGE TITLE: the heads of the paragraphs there, without markup.
heads() {
	sed -n "/^\.SH $2\$/,/^\.SH /p" "$1" | awk '/^\.TP/ { getline; print }' | sed -e 's/^\.[A-Z]* //' -e 's/\\f[A-Z]//g' -e 's/\\-/-/g'
}

# as_shown NAME REAL: what is shown on standard input, but for the dots for what is left out, is in a real
# session.
as_shown() {
	grep -vx '\.\.\.' | alike >"$work/expected"
	if [ ! -s "$work/expected" ]; then
		fail "$1 shows something"
		return
	fi
	in_order "$work/expected" "$2" >"$work/apart"
	same "$1 ($(wc -l <"$work/expected") lines)" /dev/null "$work/apart"
}

sessions() {
	GOHEAP_BUILD=$build "$tests/demo" 2>&1 | alike >"$work/demo"
	as_shown "the sessions in README are the demo's" "$work/demo" \
		< <(indented <(sed -n '/^A stripped program$/,/^Installing$/p' "$top/README"))
	as_shown "the sessions in goheap-gdb(7) are the demo's" "$work/demo" < <(examples "$gdb_page")
}

# inputs: in $work/in, the programs and dumps that the examples name. $address is what they call 0xc000002000, and
# $typed an object of a type with a name.
inputs() {
	local leak sample
	leak=$("$tests/build-sample" 1.19 leak) || return
	sample=$("$tests/build-sample" 1.19 sample) || return
	mkdir "$work/in"
	cp "$sample/sample.stripped" "$work/in/server"
	cp "$leak/leak.stripped" "$work/in/shop"
	cd "$work/in" || return
	./shop before.heapdump after.heapdump
	address=$("$GOHEAP" diff --by site before.heapdump after.heapdump | awk 'NR == 2 { for (i = 1; i <= NF; i++) if ($i ~ /^0x/) print $i }')
	typed=$("$GOHEAP" path -e shop after.heapdump "$address" | awk '/ main\.Server,/ { print $1 }')
}

# Every example of goheap(1), in the order in which it is there.
run_examples() {
	local command
	while IFS= read -r command; do
		printf '$ %s\n' "$command" >>"$work/transcript"
		if [[ $command == *"| dot "* ]] && ! command -v dot >/dev/null; then
			skip "$command" "no Graphviz"
			continue
		fi
		if PATH=$build/plugin:$PATH bash -o pipefail -c "${command//0xc000002000/$address}" </dev/null >"$work/output" 2>"$work/errors"; then
			ok "$command"
		else
			fail "$command" "$(cat "$work/output" "$work/errors")"
		fi
		lacks "$command: no error" "$(grep -v ': its program is ' "$work/errors")" '^goheap: |rror|No such'
		{
			cat "$work/output"
			echo
		} >>"$work/transcript"
	done < <(examples "$page" | sed -n 's/^\$ //p')
	alike <"$work/transcript" >"$work/real"
	as_shown "the examples in goheap(1) print what it shows" "$work/real" < <(examples "$page")
}

# Every command that goheap(1) has.
run_commands() {
	local command arguments
	for command in $(heads "$page" COMMANDS); do
		case $command in
		addr2line) arguments=(-e server 0x488888) ;;
		export) arguments=(after.heapdump --tables "$work/fleet") ;;
		core | hprof | report | pprof) arguments=(-e shop after.heapdump -o "$work/out") ;;
		# They want a core file, a process or a checkout, or do not end: tests/crash.sh, debuginfod.sh, live-heap.sh, memory.sh, rebuilt.sh,
		# watch.sh, web.sh.
		crash | debuginfod | dump | memory | twin | watch | web) continue ;;
		debug | unstrip) arguments=(server -o "$work/out") ;;
		instances) arguments=(-e shop after.heapdump main.Session) ;;
		diff) arguments=(-e shop before.heapdump after.heapdump) ;;
		ps) arguments=() ;;
		symbolize) arguments=(server /dev/null) ;;
		frame) arguments=(-e shop after.heapdump 1) ;;
		funcs | lines) arguments=(server) ;;
		probes) arguments=(server main.leaf) ;;
		objects | path | print | reachable | referrers) arguments=(-e shop after.heapdump "$address") ;;
		*) arguments=(after.heapdump) ;;
		esac
		rm -f "$work/out"
		if "$GOHEAP" "$command" "${arguments[@]}" >"$work/output" 2>&1; then
			ok "goheap $command"
		else
			fail "goheap $command" "$(head "$work/output")"
		fi
	done
}

# The options in goheap(1) are those that its commands say they take.
options() {
	local command
	for command in $(heads "$page" COMMANDS); do
		"$GOHEAP" "$command" --help
	done | grep -oE -- '^ .*--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | grep -vx -e --usage | sort -u >"$work/taken"
	heads "$page" OPTIONS | grep -oE -- '--[a-z0-9-]+' | sort -u >"$work/documented"
	same "goheap(1) has every option ($(wc -l <"$work/taken")), and no other" "$work/taken" "$work/documented"
}

# gdb_heads: the commands that goheap-gdb(7) has.
gdb_heads() {
	heads "$gdb_page" COMMANDS | sed -E -e 's/symbols memory/symbols/' -e 's/\[[^]]*\]|--?[a-z]+|"|,|goheap|[A-Z]+/ /g' -e 's/[][]/ /g' |
		xargs -n 1
}

# The manual pages have the commands that the program, and GDB with goheap, tell of.
lists() {
	listed_commands | sort >"$work/told"
	heads "$page" COMMANDS | sort >"$work/documented"
	same "goheap(1) has every command ($(wc -l <"$work/told")), and no other" "$work/told" "$work/documented"
	gdb -nx -q -batch -ex "jit-reader-load $GOHEAP_SO" -ex "help goheap" 2>&1 |
		sed -nE 's/^goheap ([a-z]+) *-- .*/\1/p' | sort -u >"$work/told"
	gdb_heads | sort >"$work/documented"
	same "goheap-gdb(7) has every command ($(wc -l <"$work/told")), and no other" "$work/told" "$work/documented"
}

# Every command that goheap-gdb(7) has, in a session with a heap dump.
gdb_commands() {
	local command commands=() count=0
	for command in $(gdb_heads); do
		case $command in
		crash | dump | goroutine | symbols) continue ;; # of processes and core files: tests/crash.sh, live-heap.sh, goroutines.sh, nofile.sh
		break | memory | returned) continue ;; # the same: tests/short-names.sh, memory.sh, printed.sh
		diff) commands+=(-ex "goheap diff before.heapdump") ;;
		instances) commands+=(-ex "goheap instances main.Session") ;;
		load) commands+=(-ex "goheap load after.heapdump") ;;
		print) commands+=(-ex "goheap print $typed" -ex "goheap print 'main.Server' $typed" -ex "with language c -- print *('main.Server' *) $typed") ;;
		objects | path | reachable | referrers) commands+=(-ex "goheap $command $address") ;;
		export) commands+=(-ex "goheap export --tables $work/fleet.gdb") ;;
		hprof | report) commands+=(-ex "goheap $command -o $work/out") ;;
		sql) commands+=(-ex "goheap sql SELECT count(*) FROM objects") ;;
		pprof) commands+=(-ex "goheap pprof --rate 1 -o $work/out") ;;
		*) commands+=(-ex "goheap $command") ;;
		esac
		count=$((count + 1))
	done
	gdb -nx -q -batch -iex 'set auto-load no' -ex "jit-reader-load $GOHEAP_SO" \
		-ex "goheap load after.heapdump" "${commands[@]}" ./shop </dev/null >"$work/output" 2>"$work/errors"
	lacks "the commands in goheap-gdb(7) ($count)" "$(cat "$work/errors")" 'goheap: |[Uu]sage|Undefined|rror|No symbol|^A heap dump'
	equal "goheap print" 2 "$(grep -c '^main.Server {.*sessions: ' "$work/output")"
	equal "print in C" 1 "$(grep -c '^\$[0-9]* = {.*sessions = ' "$work/output")"
}

# The other commands in README and tests/ACCURACY.
others() {
	local command
	while IFS= read -r command; do
		case $command in
		"./bootstrap demo"* | *"./bootstrap check"* | ./bootstrap) ok "$command: it runs the demo, or this" ;;
		"sudo make install") ok "$command: run below another root" ;;
		"gdb -ex \"jit-reader-load \$PWD/plugin/goheap.so\" ./server") ok "$command: run with another program" ;;
		"make deb "*) skip "make deb" "tests/packages.sh installs them in another Debian, as root" ;;
		"./configure --enable-static-program "*) ok "$command: tests/static.sh runs it" ;;
		"make bench" | "make bench-plot") skip "$command" "it takes minutes, and heap dumps of 2 to 8 GiB" ;;
		"make fuzz") skip "$command" "it takes minutes, and clang's libFuzzer" ;;
		"tests/packages.sh"*) skip "$command" "it installs other Debians, as root" ;;
		"tests/other-gdb "*) skip "$command" "it installs another Debian, as root" ;;
		*) fail "$command is run by no test" ;;
		esac
	done < <({
		indented <(sed '/^A stripped program$/,/^Installing$/d' "$top/README")
		indented "$tests/ACCURACY"
	} | grep -E '^(RELEASES=|\./|goheap [^(]*$|gdb |make |sudo |tests/)' | grep -vE '^goheap .* s +[0-9.]+ MiB$')
}

# The files that README and tests/ACCURACY name, with their folders or without.
files() {
	local file count=0
	while IFS= read -r file; do
		count=$((count + 1))
		[[ $file == *NAME* ]] || compgen -G "$top/$file" >/dev/null || fail "$file, which is named, is there"
	done < <(grep -ohE '\b(lib|plugin|tests)/[A-Za-z0-9_./*-]*[A-Za-z0-9_*]' "$top/README" "$tests/ACCURACY" | sort -u)
	while IFS= read -r file; do
		count=$((count + 1))
		[[ $file == *NAME* || -n $(find "$top/lib" "$top/plugin" "$tests" -name "$file") ]] || fail "$file, which is named, is there"
	done < <(sed -n '/^Finding your way$/,$p' "$top/README" | grep -oE '[A-Za-z0-9_.*]+\.(c|h|def|in|sh)\b' | sort -u)
	((count > 40)) || fail "README and tests/ACCURACY name files"
}

from_the_build_tree() {
	local directory program output
	sample "gdb -x gdbinit, from the build tree" 1.19 sample || return
	program=$directory/sample.stripped
	output=$(cd "$work" && XDG_CACHE_HOME=$work/cache gdb -nx -batch -x "$build/gdbinit" "$program" 2>&1)
	has "gdb -x gdbinit, of the build tree, from elsewhere" "$output" '^goheap: go1\.19'
	lacks "gdb -x gdbinit, of the build tree: it finds what it needs" "$output" 'warning|No such file'
}

installed() {
	make -C "$build" install DESTDIR="$work/root" >"$work/output" 2>&1 ||
		fail "make install" "$(tail "$work/output")"
	reader=$(find "$work/root" -name goheap.so)
	if "$build/config.status" --config | grep -q -e --with-jit-reader-dir; then
		skip "make install: the plugin is where jit-reader-load looks" "configure was told another directory"
	else
		has "make install: the plugin is where jit-reader-load looks" "$reader" \
			"$(gdb --configuration | sed -n 's/.*--with-jit-reader-dir=\([^ ]*\).*/\1/p')/goheap.so\$"
	fi
	equal "make install: the manual pages" "goheap-gdb.7 goheap.1" \
		"$(find "$work/root" -name 'goheap*.[17]' -printf '%f\n' | sort | tr '\n' ' ' | sed 's/ $//')"
	equal "make install: completion" "_goheap goheap.bash goheap.fish" \
		"$(find "$work/root" -path '*/site-functions/_goheap' -o -path '*/bash-completion/completions/*' -o -path '*/vendor_completions.d/*' |
			sed 's|.*/||' | sort | xargs)"
	init=$(dirname "$reader")/goheap.gdb
	lacks "make install: nothing is loaded from the build tree" "$(cat "$init")" "$build|@[A-Z]"
	equal "make install: GDB may read it at its start" 2 "$(find "$work/root" -name goheap.gdb | wc -l)"
	make -C "$build" uninstall DESTDIR="$work/root" >"$work/output" 2>&1
	same "make uninstall takes everything away" /dev/null <(find "$work/root" -type f)
}

if ! "$tests/toolchain" 1.19 >/dev/null 2>&1; then
	skip "the sessions" "no Go 1.19"
	finish
fi
from_the_build_tree
installed
sessions
files
others
lists
options
inputs || finish
run_examples
run_commands
gdb_commands
finish
