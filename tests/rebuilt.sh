#!/usr/bin/env bash
# `goheap twin': a stripped program is built again, proved to be the same function by function, and GDB then has its variables,
# as it has those of the program that was never stripped. A build with one difference is not proved, or not made.
. "$(dirname "$0")/lib.sh"
needs_amd64 "everything" || finish
session_home
source=$work/source
export GOENV=off GOCACHE=$GOHEAP_TEST_CACHE/gocache GOPATH=$GOHEAP_TEST_CACHE/gopath GOSUMDB=off
unset GOFLAGS GOWORK GOTOOLCHAIN GOROOT
stops=$(is_full && echo 1000 || echo 40)

# new_source: a fresh copy of the source in $source.
new_source() {
	rm -rf "$source"
	mkdir -p "$source"
	cp -r "$tests"/samples/{go.mod,shop} "$source"
}

# build NAME LDFLAGS [FLAG...]: $work/NAME, of $source. From 1.18 a build asks git.
build() {
	(cd "$source" && GOTOOLCHAIN=local GOPROXY=off go build -buildvcs=false "${@:3}" -ldflags="$2" -o "$work/$1" ./shop) \
		>"$work/why" 2>&1
}

# twin ARGUMENT...: what is said about the stripped program.
twin() {
	"$GOHEAP" twin "$work/stripped" "$@" 2>&1
}

# rows: what GDB says of variables, without addresses, which no two runs share.
rows() {
	grep -E '^(\$[0-9]+|[a-z]+) = |^#|rror' | sed -E 's/0x[0-9a-f]+/ADDRESS/g; s/^(#[0-9]+ ).* in /\1/; s# at .*/# at #'
}

# variables PROGRAM GDB: those at each of the stops in a function and its callers, and of packages.
variables() {
	printf '%s\n' 'set breakpoint pending off' 'set environment GODEBUG asyncpreemptoff=1' "break stock.go:$(line_of '// added' "$source/shop/stock/stock.go")" \
		'commands 1' 'silent' 'info args' 'info locals' 'print *item' "print 'example.org/goheap/samples/shop/stock.Opened'" \
		"print 'main.motto'" 'up' 'print rounds' 'print round' 'print sum' "print 'main.Version'" 'down' 'continue' 'end' \
		"break shop/main.go:$(line_of '// billed' "$source/shop/main.go")" \
		'commands 2' 'silent' 'info locals' 'print last' 'continue' 'end' 'run' >"$work/commands"
	"$2" "$1" "source $work/commands" "kill" | rows
}

# proved NAME ARGUMENT...: the twin of the stripped program is, wholly.
proved() {
	local said
	said=$(twin "${@:2}")
	has "$1: all functions are the same" "$said" '^([0-9]{4,}) of \1 functions are the same: the twin is proved$'
	lacks "$1: nothing is left out" "$said" 'left out'
}

# check_locals NAME: GDB with goheap shows the stripped program's variables as GDB alone shows those of the build that has them.
check_locals() {
	variables "$work/plain" plain_gdb >"$work/expected"
	variables "$work/stripped" goheap >"$work/found"
	has "$1: variables at stops" "$(grep -c '^before = ' "$work/expected")" "^$stops\$"
	same "$1: variables by name at $stops stops" "$work/expected" "$work/found"
}

# check_built NAME [FLAG...]: a program that was built with these flags.
check_built() {
	local name=$1
	shift
	if ! build plain '-X=main.Version=v7' "$@" || ! build stripped '-s -w -X=main.Version=v7' "$@"; then
		skip "$name" "$(tail -n 1 "$work/why")"
		return
	fi
	proved "$name" --source "$source"
	check_locals "$name"
}

# not_proved NAME PACKAGE: the source is not the program's any more; PACKAGE has other code.
not_proved() {
	local said
	said=$(twin --source "$source")
	equal "$1: status" 1 "$(twin --source "$source" >/dev/null 2>&1; echo $?)"
	has "$1: not proved" "$said" '^[0-9]+ of [0-9]+ functions are the same: the twin is not proved$'
	has "$1: where it differs" "$said" "^other code: .*$2 \([0-9]+\)"
	has "$1: why" "$said" '^most likely: the source is not the one'
	lacks "$1: nothing is kept" "$(variables "$work/stripped" goheap)" '^before = '
}

check_differences() {
	new_source
	build stripped '-s -w' -trimpath
	sed -i 's/item.Count += count/item.Count -= -count + 1/' "$source/shop/stock/stock.go"
	not_proved "$1: an expression" 'example.org/goheap/samples/shop/stock'
	new_source
	echo 'func init() { motto += "!" }' >>"$source/shop/main.go"
	not_proved "$1: a function more" main
	new_source
	sed -i 's/round % 3/round % 5/' "$source/shop/extra.go"
	not_proved "$1: an inlined constant" main
	new_source
	build other '' -trimpath '-gcflags=all=-N'
	has "$1: another build" "$(twin --names "$work/other")" 'the twin is not proved$'
	build other '-s -w' -trimpath
	has "$1: a stripped build" "$(twin --names "$work/other")" 'expected a build with DWARF'
	has "$1: a program of C" "$(twin --names /bin/true)" 'found no pclntab'
}

# addresses FILE: its variables of packages by its DWARF, name and address, but for those without.
addresses() {
	readelf --debug-dump=info "$1" 2>"$work/why" | awk '
		/DW_TAG_/ { variable = /DW_TAG_variable/ }
		variable && / DW_AT_name / { name = $NF }
		variable && / DW_AT_location .*DW_OP_addr/ { address = $NF; sub(/\)/, "", address); print name, address }' | sort
}

# Where the builds' data differ, variables of packages are moved with them, or not shown.
check_data() {
	local said
	new_source
	build plain '-X=main.Version=v7' -trimpath
	build stripped '-s -w -X=main.Version=v7' -trimpath
	said=$(twin --source "$source")
	has "$1: a flag that is not recorded" "$said" 'the twin is proved$'
	variables "$work/plain" plain_gdb >"$work/expected"
	variables "$work/stripped" goheap >"$work/found"
	same "$1: those that code tells of" "$work/expected" "$work/found"
	# Without DWARF, and with symbols, the linker puts all where it does without either.
	build symbols '-w -X=main.Version=v7' -trimpath
	has "$1: variables without a place" "$said" '^[0-9]+ variables of packages are left out: .*-ldflags=-X$'
	"$GOHEAP" unstrip "$work/stripped" -o "$work/unstripped"
	nm "$work/symbols" | awk '{ sub(/^0+/, "", $1); print $3, $1 }' | sort >"$work/expected"
	addresses "$work/unstripped" >"$work/found"
	has "$1: variables with an address" "$(wc -l <"$work/found")" '^[0-9]{3,}$'
	equal "$1: each is where the program has it" "" "$(comm -13 "$work/expected" "$work/found" | head)"
	proved "$1: the flag is named" --source "$source" --ldflags '-X=main.Version=v7'
	check_locals "$1: the flag is named"
	# Without -trimpath the directory's name is in the program, and moves what is behind it.
	build plain '-X=main.Version=v7'
	build stripped '-s -w -X=main.Version=v7'
	mv "$source" "$work/sources of another and longer name"
	proved "$1: another directory" --source "$work/sources of another and longer name"
	mv "$work/sources of another and longer name" "$source"
	check_locals "$1: another directory"
}

# What the twin is for beside GDB's stops.
check_uses() {
	local name=$1 address
	run_until_ready "$work/stripped"
	has "$name: roots" "$("$GOHEAP" roots "$pid")" 'shop/stock\.Last'
	variables "$work/plain" plain_gdb >"$work/expected"
	"$GOHEAP" unstrip "$work/stripped" -o "$work/unstripped"
	variables "$work/unstripped" plain_gdb >"$work/found"
	same "$name: unstrip has them for GDB alone" "$work/expected" "$work/found"
	"$GOHEAP" debug "$work/stripped" -o "$work/debug"
	has "$name: a debug file" "$(plain_gdb "" "symbol-file $work/debug" "info scope bill")" '^Symbol sum '
	end "$pid"
	goheap "$work/stripped" "break stock.go:$(line_of '// added' "$source/shop/stock/stock.go")" run \
		"generate-core-file $work/core" kill >"$work/output"
	has "$name: a core file" "$(goheap "$work/stripped" "core-file $work/core" 'info locals' 'up' 'print words')" '^before = 0$'
	address=$(twin --print --source "$source" | tail -n 1)
	(eval "${address/ -o * / -o $work/again }") >"$work/why" 2>&1
	has "$name: the printed command builds it" "$(twin --names "$work/again")" 'the twin is proved$'
	has "$name: a program with DWARF" "$("$GOHEAP" twin "$work/plain" 2>&1)" 'has its DWARF: it needs no twin'
}

# C code that another compiler has made is left alone: Go's functions are the same nonetheless.
check_c() {
	local said
	new_source
	build plain '-X=main.Version=v7' -tags=withc
	CC='gcc -O0 -fno-inline' build stripped '-s -w -X=main.Version=v7' -tags=withc
	said=$(twin --source "$source")
	has "$1: the functions of Go" "$said" '^([0-9]{4,}) of \1 functions are the same: the twin is proved$'
	has "$1: C's are not" "$said" '^C code is not the same'
	check_locals "$1"
	"$GOHEAP" unstrip "$work/stripped" -o "$work/unstripped"
	said=$(plain_gdb "$work/unstripped" 'info functions extra' 'info line main.bill')
	has "$1: functions by name" "$said" 'main\.extra|main\.bill'
	lacks "$1: and none of C" "$said" 'extra_c\.go:|static int extra|DWARF|rror'
}

# Text of the program is not run, and toolchains and sources that are not there are named.
check_refused() {
	new_source
	build stripped '-s -w -extld=/nowhere/gcc'
	has "$1: another linker" "$(twin --source "$source")" 'its -ldflags have -extld=/nowhere/gcc, which goheap does not run'
	build stripped '-s -w -extldflags=-fuse-ld=x'
	has "$1: flags for it" "$(twin --source "$source")" 'have -fuse-ld=x, which goheap does not run'
	build stripped '-s -w' -gcflags=-d=panic
	has "$1: the compiler's" "$(twin --source "$source")" 'its -gcflags have -d=panic, which'
	build stripped '-s -w'
	has "$1: no directory" "$(twin --source "$work/nowhere")" "^goheap: $work/nowhere: no directory: name the checkout of example.org"
	has "$1: a directory without it" "$(twin --source "$work")" 'go could not build'
	has "$1: no toolchain" "$(PATH=/nowhere HOME=/nowhere twin --source "$source")" 'was built by go1\.[0-9.]+, which is not here|proved'
	has "$1: no option" "$(twin --sources x)" "unrecognized option '--sources"
}

check_revision() {
	needs "$1: git" git || return
	new_source
	git() {
		command git -C "$source" -c user.name=x -c user.email=x@example.org "$@" >"$work/why" 2>&1
	}
	git init
	git add -A
	git commit -m one
	(cd "$source" && GOTOOLCHAIN=local GOPROXY=off go build -ldflags='-s -w' -o "$work/stripped" ./shop)
	proved "$1: a checkout" --source "$source"
	echo >>"$source/shop/extra.go"
	git commit -a -m two
	has "$1: another revision" "$(twin --source "$source")" "was built of revision ([0-9a-f]{40}), and $source is at .*checkout \1\$"
}

for release in $(releases 1.19 1.24 1.27); do
	toolchain=$("$tests/toolchain" "$release" 2>"$work/why") || {
		skip "Go $release" "$(tail -n 1 "$work/why")"
		continue
	}
	saved=$PATH PATH=$toolchain/bin:$PATH
	new_source
	check_built "Go $release"
	check_uses "Go $release"
	check_data "Go $release"
	check_differences "Go $release"
	if is_newest "$release" || in_full "Go $release: other builds"; then
		check_refused "Go $release"
		check_revision "Go $release"
		new_source
		check_built "Go $release, cgo" -tags=withc
		check_c "Go $release, cgo, another C compiler"
		check_built "Go $release, PIE" -buildmode=pie
		check_built "Go $release, -N -l" '-gcflags=all=-N -l'
	fi
	PATH=$saved
done
finish
