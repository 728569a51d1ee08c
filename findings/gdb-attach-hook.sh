#!/bin/bash
# At a terminal GDB 16 runs hookpost-attach before it knows that the process has stopped; in a script, after that.
#
# Packages: Debian 13's gdb 16.3-1 and, for comparison, Debian 12's gdb 13.1-3, with the libraries that they depend on.
#
# Seen: a program has two threads. Where `attach' is typed at a terminal, GDB 16.3 runs the hook right after it has asked the kernel to
# stop the process: `print $sp' fails there, "Selected thread is running.". GDB tells of the stop afterwards. GDB 13.1 does not run
# the hook at a terminal at all. With -batch both run it after the stop, and $sp is known. A hook must not do work there that takes
# time: the threads' stops are then told in another order, and the signal that stopped the first thread is kept, and handed to the
# process when GDB detaches.
set -euo pipefail
work=$(mktemp -d)
children=
trap 'kill $children 2>/dev/null; rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2016 # apt expands these
mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
	awk '$2 == "main" && /\/debian\/? / { print $1; exit }')

# fetch RELEASE PACKAGE: unpacks it and all that it depends on, in RELEASE/root.
fetch() {
	mkdir -p "$1/lists/partial" "$1/cache/archives/partial"
	: >"$1/status"
	echo "deb $mirror $1 main" >"$1/sources"
	local -a options=(-q -y -o "Dir::State=$work/$1" -o "Dir::State::Lists=$work/$1/lists" -o "Dir::State::status=$work/$1/status"
		-o "Dir::Cache=$work/$1/cache" -o "Dir::Etc::sourcelist=$work/$1/sources" -o Dir::Etc::sourceparts=/dev/null
		-o APT::Sandbox::User=root -o APT::Update::Post-Invoke-Success= -o Debug::NoLocking=true)
	apt-get "${options[@]}" update >>download.log 2>&1
	apt-get "${options[@]}" install --no-install-recommends --download-only "$2" >>download.log 2>&1
	for package in "$1"/cache/archives/*.deb; do
		dpkg -x "$package" "$1/root"
	done
}
fetch trixie gdb=16.3-1
fetch bookworm gdb=13.1-3

# wrapper RELEASE: RELEASE/gdb runs that GDB with its own libraries.
wrapper() {
	local root=$work/$1/root loader
	loader=$(find "$root" -name 'ld-linux-x86-64.so.2' -type f | head -n 1)
	[ -n "$loader" ] || loader=$(find "$root" -name 'ld-linux-x86-64.so.2' | head -n 1)
	printf '#!/bin/sh\nPYTHONHOME=%s/usr exec %s --library-path %s/lib/x86_64-linux-gnu:%s/usr/lib/x86_64-linux-gnu %s/usr/bin/gdb --data-directory=%s/usr/share/gdb --nx -q -iex "set confirm off" -iex "set debuginfod enabled off" -iex "set auto-load off" -iex "set height 0" "$@"\n' \
		"$root" "$loader" "$root" "$root" "$root" "$root" >"$1/gdb"
	chmod +x "$1/gdb"
}
wrapper trixie
wrapper bookworm

cat >program.c <<'C'
#include <pthread.h>
#include <unistd.h>

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_for_ever, NULL);
	wait_for_ever(NULL);
}
C
gcc -O1 -o program program.c -pthread
./program &
pid=$!
children=$pid
cat >hook.gdb <<'GDB'
define hookpost-attach
echo the hook runs\n
print $sp != 0
end
GDB
cat >expected <<'END'
13.1, terminal: no hook
13.1, script: the hook runs; its thread has stopped
16.3, terminal: the hook runs; its thread is running
16.3, script: the hook runs; its thread has stopped
END

# summary NAME OUTPUT
summary() {
	local text="$1: no hook"
	if grep -q 'the hook runs' "$2"; then
		text="$1: the hook runs"
		! grep -q 'Selected thread is running\.$' "$2" || text+="; its thread is running"
		! grep -q '^[$]1 = 1' "$2" || text+="; its thread has stopped"
	fi
	echo "$text"
}

# asked RELEASE VERSION: what the hook sees.
asked() {
	"$1/gdb" --version | head -n 1 | grep -q " $2\$"
	{
		sleep 3
		echo 'source hook.gdb'
		sleep 1
		echo "attach $pid"
		sleep 4
		echo quit
	} | TERM=dumb script -qec "$1/gdb" /dev/null | tr -d '\r' >typed
	summary "$2, terminal" typed
	kill -CONT "$pid"
	"$1/gdb" -batch -x hook.gdb -ex "attach $pid" >told 2>&1 </dev/null
	summary "$2, script" told
}
{
	asked bookworm 13.1
	asked trixie 16.3
} >found
cat found
diff expected found
echo "as expected"
