#!/usr/bin/env bash
# What `goheap debuginfod' serves, to elfutils' own client, to GDB and Delve without goheap, and to eu-stack: executables and debug files
# of stripped Go programs by build id, as readelf tells it; and what it refuses.
. "$(dirname "$0")/lib.sh"
session_home

needs "everything" debuginfod-find curl readelf gdb eu-stack || finish

# serve DIR...: starts it; its process is $server, and its address $address.
serve() {
	: >"$work/address"
	"$GOHEAP" debuginfod --http 127.0.0.1:0 "$@" >"$work/address" 2>"$work/told" &
	server=$!
	wait_until [ -s "$work/address" ]
	address=$(sed 's/.*=//' "$work/address")
	export DEBUGINFOD_URLS=$address DEBUGINFOD_CACHE_PATH=$work/client DEBUGINFOD_PROGRESS=
	rm -rf "$work/client"
}

# status URL [OPTION...]: what HTTP says.
status() {
	curl -s --path-as-is --max-time 60 -o "$work/body" -w '%{http_code}' "${@:2}" "$address$1"
}

# build_id FILE
build_id() {
	readelf -n "$1" 2>"$work/why" | sed -n 's/.*Build ID: //p'
}

# functions FILE: of the program's own package, with their addresses, as the symbol table has them.
functions() {
	readelf -sW "$1" 2>"$work/why" | awk '$4 == "FUNC" && $8 ~ /^main\./ { print $2, $8 }' | sort -u
}

# line_of FILE: where GDB, which has no goheap, finds main.main.
line_of() {
	timeout 60 gdb --nx --batch -iex 'set debuginfod enabled on' -ex 'info line main.main' "$1" 2>"$work/why" | grep '^Line'
}

# check_release RELEASE: of a program with a GNU build id.
check_release() {
	local name="go $1" id found directory
	sample "$name" "$1" waits '-ldflags=-B gobuildid' || return
	rm -rf "$work/served"
	mkdir -p "$work/served/below" "$work/away"
	cp "$directory/waits.stripped" "$work/served/below/a program"
	cp "$directory/waits.stripped" "$work/away/waits"
	id=$(build_id "$work/away/waits")
	serve "$work/served"
	has "$name: told" "$(cat "$work/address")" "^Go programs: 1; for debuggers: export DEBUGINFOD_URLS=http://127\\.0\\.0\\.1:[0-9]+\$"
	equal "$name: listed" "$id  $work/served/below/a program" "$(curl -s "$address/")"
	found=$(debuginfod-find executable "$id" 2>"$work/why")
	holds "$name: the executable" "$(cat "$work/why")" cmp "$found" "$work/away/waits"
	found=$(debuginfod-find debuginfo "$id" 2>"$work/why")
	equal "$name: its debug file" "$id" "$(build_id "$found")"
	functions "$directory/waits" >"$work/expected"
	functions "$found" >"$work/found"
	same "$name: functions ($(wc -l <"$work/expected"))" /dev/null <(comm -23 "$work/expected" "$work/found")
	equal "$name: in GDB, without goheap" "$(DEBUGINFOD_URLS='' line_of "$directory/waits")" "$(line_of "$work/away/waits")"
	if needs "$name: in Delve" dlv; then
		printf 'break main.main\nexit\n' >"$work/typed"
		timeout 60 dlv exec --check-go-version=false --allow-non-terminal-interactive=true -r stdin:/dev/null "$work/away/waits" \
			--init "$work/typed" >"$work/output" 2>&1
		has "$name: in Delve" "$(cat "$work/output")" '^Breakpoint 1 set at 0x[0-9a-f]+ for main\.main\(\) .*/main\.go:[0-9]+$'
	fi
	run_until_ready "$work/away/waits"
	timeout 60 eu-stack -p "$pid" >"$work/output" 2>"$work/why"
	has "$name: in eu-stack" "$(cat "$work/output")" '^#[0-9]+ +0x[0-9a-f]+ runtime\.futex'
	exec 7>&-
	wait "$pid" 2>"$work/why"
	check_refused "$id"
	check_changes "$id"
	end "$server"
}

# check_refused ID
check_refused() {
	local path
	equal "a program that it does not have" 404 "$(status "/buildid/${1//[0-4]/5}/debuginfo")"
	for path in "/buildid/$1/source/etc/passwd" "/buildid/$1/section/.text" "/buildid/../../etc/passwd" "/buildid/$1/../executable" \
		"/buildid/$(tr a-f A-F <<<"$1")/debuginfo" "/buildid//debuginfo" "/etc/passwd" "/metrics"; do
		equal "no such file: $path" 404 "$(status "$path")"
	done
	lacks "a long request" "$(status "/buildid/$(head -c 100000 /dev/zero | tr '\0' a)/debuginfo")" '^200$'
	equal "POST" 405 "$(status "/buildid/$1/debuginfo" -X POST)"
	equal "by another name, of this machine's own address" 403 "$(status "/buildid/$1/executable" -H "Host: evil.example:1")"
	equal "HEAD" 200 "$(status "/buildid/$1/executable" --head)"
}

# is_served ID KIND FILE: what is served has the bytes of FILE.
# shellcheck disable=SC2317 # wait_until calls it
is_served() {
	[ "$(status "/buildid/$1/$2")" = 200 ] && cmp -s "$work/body" "$3"
}

# check_changes ID: a program that is not as it was is looked at again; the unstripped one has the debug information, if it is there;
# and so has the twin that was proved.
check_changes() {
	local other
	cp "$directory/waits" "$work/served/twin"
	sample "$name: another" 1.27 crowd || return
	cp "$directory/crowd.stripped" "$work/served/below/a program"
	equal "$name: a program that has changed" 404 "$(status "/buildid/${1//[0-4]/5}/executable")"
	is_served "$1" debuginfo "$work/served/twin" || wait_until is_served "$1" debuginfo "$work/served/twin"
	holds "$name: the unstripped program" "$(ls -R "$work/served")" is_served "$1" debuginfo "$work/served/twin"
	other=$(build_id "$directory/crowd.stripped")
	holds "$name: the program at the same path" "$other" is_served "$other" executable "$directory/crowd.stripped"
	"$GOHEAP" twin "$directory/crowd.stripped" --names "$directory/crowd" >"$work/output" 2>"$work/why" || fail "$name: the twin" "$(cat "$work/why")"
	status "/buildid/$other/debuginfo" >"$work/output"
	has "$name: a twin that was proved, with the source's variables" \
		"$(readelf --debug-dump=info "$work/body" 2>"$work/why" | sed -n 's/.*DW_AT_name *: //p' | sort -u)" '^count$'
}

# Go's own build id has another form: those who ask with a hash of it are told of that.
check_go_id() {
	local name="go 1.19, Go's own build id" id directory goroot
	goroot=$("$tests/toolchain" 1.19) || return
	sample "$name" 1.19 waits || return
	mkdir -p "$work/old"
	cp "$directory/waits.stripped" "$work/old/"
	ln -s old "$work/current"
	serve "$work/current"
	id=$(curl -s "$address/" | sed -nE 's/^([0-9a-f]{40})  .*waits\.stripped  Go build id .*/\1/p')
	holds "$name: the executable" "$id" is_served "$id" executable "$work/old/waits.stripped"
	equal "$name: Go's id" "$(curl -s "$address/" | sed 's/.*Go build id //')" "$("$goroot/bin/go" tool buildid "$work/old/waits.stripped")"
	end "$server"
}

for release in $(releases 1.24 1.27); do
	check_release "$release"
done
check_go_id
equal "no directory" "goheap: $work/nothing: expected a directory" "$("$GOHEAP" debuginfod "$work/nothing" 2>&1)"
finish
