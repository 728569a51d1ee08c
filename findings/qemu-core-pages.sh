#!/bin/bash
# QEMU 10's core files have one segment for each page of memory that a program made accessible page by page.
#
# Packages: Debian 13's qemu-user 1:10.0.13+ds-0+deb13u1 and, for comparison, Debian 12's qemu-user-static
# 1:7.2+dfsg-7+deb12u18+b3.
#
# Seen: a program reserves 16 pages and makes eight of them accessible, one after the other, as the C library's malloc does with the
# heaps of threads. In the core file that QEMU 7.2 writes when the program aborts these are one PT_LOAD segment, as they are one
# mapping for the kernel; QEMU 10.0 writes eight segments of a page each, side by side. Who looks for a struct that tells the size of
# what follows, as the C library's heaps do, must put segments together that meet.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download qemu-user-static=1:7.2+dfsg-7+deb12u18+b3 >download.log 2>&1
# The other release's packages, by lists of their own.
mkdir -p apt/lists/partial apt/cache/archives/partial
: >apt/status
# shellcheck disable=SC2016 # apt expands these
mirror=$(apt-get indextargets --no-release-info --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
	awk '$2 == "main" && /\/debian\/? / { print $1; exit }')
echo "deb $mirror trixie main" >apt/sources
apt_13() {
	apt-get -q -o Dir::State="$work/apt" -o Dir::State::Lists="$work/apt/lists" -o Dir::State::status="$work/apt/status" \
		-o Dir::Cache="$work/apt/cache" -o Dir::Etc::sourcelist="$work/apt/sources" -o Dir::Etc::sourceparts=/dev/null \
		-o APT::Sandbox::User=root -o APT::Update::Post-Invoke-Success= "$@"
}
apt_13 update >>download.log 2>&1
apt_13 download qemu-user=1:10.0.13+ds-0+deb13u1 >>download.log 2>&1
for package in ./*.deb; do
	dpkg -x "$package" root
done

cat >program.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(void)
{
	char *memory = mmap(NULL, 16 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 8; i++) {
		mprotect(memory + i * 4096, 4096, PROT_READ | PROT_WRITE);
		memory[i * 4096] = 1;
	}
	printf("%lu\n", (unsigned long)memory);
	fflush(stdout);
	abort();
}
C
gcc -O1 -static -o program program.c

# segments QEMU: how many have something of the eight pages.
segments() {
	local start number=0 address
	rm -f ./*.core
	(ulimit -c unlimited && exec "$1" ./program) >start 2>/dev/null || :
	start=$(cat start)
	while read -r address size; do
		((address < start + 8 * 4096 && address + size > start)) && number=$((number + 1))
	done < <(readelf -lW qemu_program_*.core | awk '$1 == "LOAD" { print $3, $6 }')
	echo "$number"
}

for qemu in qemu-x86_64-static qemu-x86_64; do
	"root/usr/bin/$qemu" --version | head -n 1
	echo "segments for eight pages: $(segments "root/usr/bin/$qemu")"
done | grep -v Copyright | tee said
[ "$(sed -n 's/^segments for eight pages: //p' said | paste -sd ' ')" = "1 8" ]
echo "as seen before"
