#!/usr/bin/env bash
# packages.sh [SUITE]: what `make dist' and `make deb' make, in Debian SUITE (bookworm) alone: the distribution is the same bytes twice,
# builds there with GCC and clang without a warning, and as packages that lintian finds nothing in; which are installed in another
# bare Debian, used, and removed without a trace. To be run by hand, as root, where goheap was built, with debootstrap and a
# network; it takes ten to twenty minutes. What is mounted and made for it goes away with it.
. "$(dirname "$0")/lib.sh"

suite=${1-bookworm}
build=$(cd "$(dirname "$GOHEAP")/.." && pwd)
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>"$work/why"; then
	skip "everything" "the test has to be run by root, who may mount"
	finish
fi
needs "everything" debootstrap apt-config make strip || finish

# inside ROOT COMMAND: a shell's command in that Debian, with the proxies and the like of this one.
inside() {
	local proxies
	mapfile -t proxies < <(env | grep -iE '^(https?_proxy|no_proxy)=')
	# shellcheck disable=SC2016 # the inner shell expands these
	unshare -m sh -c 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t tmpfs none "$0/tmp" && exec chroot "$0" "$@"' \
		"$work/$1" env -i HOME=/root TERM=dumb LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
		"${proxies[@]}" sh -c "$2" </dev/null
}

# install ROOT PACKAGE...: with their files of apt, or ends the test.
install() {
	inside "$1" "apt-get -qq update && apt-get -qq install -y --no-install-recommends ${*:2}" >"$work/log" 2>&1 && return
	fail "$1: ${*:2} can be installed" "$(tail -n 5 "$work/log")"
	finish
}

# make_roots: $work/clean, a bare Debian, and $work/build, the same.
make_roots() {
	local mirror
	# shellcheck disable=SC2016 # apt expands these
	mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
		awk '$2 == "main" && /\/debian\/? / { print $1; exit }')
	if ! debootstrap --variant=minbase "$suite" "$work/clean" "$mirror" >"$work/log" 2>&1; then
		skip "everything" "$(tail -n 1 "$work/log")"
		finish
	fi
	cp /etc/resolv.conf /etc/hosts "$work/clean/etc/"
	apt-config dump | grep -E '^Acquire::(Check-Valid-Until|Retries|https?)\b' >"$work/clean/etc/apt/apt.conf.d/99here"
	cp -a "$work/clean" "$work/build"
}

# check_dist: made twice, with other permissions and at another time.
check_dist() {
	make -s -C "$build" dist >"$work/log" 2>&1 || fail "make dist" "$(tail -n 5 "$work/log")"
	cp "$build"/goheap-*.tar.gz "$work/build/root/"
	sleep 1
	(umask 077 && make -s -C "$build" dist) >"$work/log" 2>&1
	same "make dist twice" "$work"/build/root/goheap-*.tar.gz "$build"/goheap-*.tar.gz
	rm -f "$build"/goheap-*.tar.gz
	mkdir "$work/build/root/source"
	tar -C "$work/build/root/source" --strip-components=1 -xf "$work"/build/root/goheap-*.tar.gz
}

# check_compilers: no warning, of the linker either.
check_compilers() {
	local cc status
	for cc in gcc clang; do
		# What configure tries with -Werror fails.
		inside build "mkdir /root/$cc && cd /root/$cc && ../source/configure -q CC=$cc &&
			make -s -j$(nproc) CFLAGS='-O2 -g -Werror' LDFLAGS=-Wl,--fatal-warnings" >"$work/log" 2>&1
		status=$?
		equal "$cc: $(inside build "$cc --version | head -n 1"): warnings are errors" 0 $status
		[ $status = 0 ] || grep -E 'rror|warning' "$work/log" | head
	done
}

check_deb() {
	inside build 'mkdir /root/tree && cd /root/tree && ../source/configure -q && make -s deb' >"$work/log" 2>&1 ||
		fail "make deb" "$(tail -n 5 "$work/log")"
	equal "make deb: packages" "gdb-goheap goheap" "$(inside build 'cd /root/tree && ls' | sed -n 's/_.*\.deb$//p' | grep -v dbgsym | xargs)"
	equal "lintian" "" "$(inside build 'cd /root/tree && lintian --info --display-info --pedantic *goheap_*.deb 2>&1' | grep -v '^running with root')"
}

# in_gdb PROGRAM: GDB as anybody starts it, who has no .gdbinit.
in_gdb() {
	inside clean "cd /root && gdb -q -batch -ex 'info line main.main' -ex 'goheap info' $1" 2>&1
}

check_installed() {
	local output
	sample "a program" 1.19 dump || return
	cp "$directory/dump.stripped" "$work/clean/root/program"
	install clean gdb
	# What comes with the packages' libraries stays.
	cp "$work"/build/root/tree/*goheap_*.deb "$work/clean/root/"
	install clean "$(inside clean 'ls -d /root/*.deb | xargs -I % dpkg-deb -f % Depends' | sed 's/([^)]*)//g; s/,/ /g; s/goheap//g' | xargs)"
	list >"$work/before"
	install clean /root/*.deb
	has "installed: goheap" "$(inside clean 'goheap info /root/program')" '^go version: +go1\.19'
	has "installed: a dump" "$(inside clean 'cd /root && ./program own stacks >/tmp/counts && goheap histogram -e program own')" ' main\.Node$'
	output=$(in_gdb program)
	has "installed: GDB has lines" "$output" '^Line [0-9]+ of ".*main\.go" starts at address'
	has "installed: GDB has goheap" "$output" '^go version: +go1\.19'
	equal "installed: GDB says nothing of another program" "" "$(inside clean "gdb -q -batch /bin/true" 2>&1 | grep -v 'No debugging symbols')"
	echo 'jit-reader-load goheap.so' >"$work/clean/root/.gdbinit"
	has "installed: a .gdbinit that loads it, too" "$(in_gdb program)" '^go version: +go1\.19'
	rm "$work/clean/root/.gdbinit"
	inside clean 'apt-get -qq purge -y goheap gdb-goheap' >"$work/log" 2>&1 || fail "removed" "$(tail -n 5 "$work/log")"
	list >"$work/after"
	same "removed: no file remains" "$work/before" "$work/after"
	lacks "removed: GDB is as before" "$(in_gdb program)" 'starts at address|goheap\.so'
}

# list: the files of that Debian that packages bring.
list() {
	(cd "$work/clean" && find etc usr -type f -o -type l | grep -vE '^etc/ld\.so\.cache|^usr/share/info/dir|/__pycache__/' | sort)
}

make_roots
install build autoconf automake build-essential clang debhelper lintian "$(sed -n '/^Build-Depends:/,/^[A-Z]/{ s/^ \([a-z0-9-]*\).*,$/\1/p; }' "$tests/../debian/control" |
	grep -v debhelper | xargs)"
check_dist
check_compilers
check_deb
check_installed
finish
