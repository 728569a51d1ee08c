#!/bin/bash
# eu-stack shows return addresses of arm64 programs with the processor's signature, in the core files that QEMU writes.
#
# Packages: Debian 12's elfutils, libasm1, libdw1 and libelf1 0.188-2.1, qemu-user-static 1:7.2+dfsg-7+deb12u18+b3, clang-14,
# lld-14 and what they need of LLVM 1:14.0.6-12.
#
# Seen: code that is compiled with -mbranch-protection=standard, as the C libraries of distributions for arm64 are, signs the
# return addresses that it saves: bits 48 to 54 are the signature (FEAT_PAuth), which QEMU's default processor has. eu-stack
# 0.188 prints such an address as it is, so that it is in no function of the program, although the frames go on. The kernel's own
# core files tell in NT_ARM_PAC_MASK which bits these are; QEMU's do not have that note, and an unwinder must know them.
# Compiled with -mbranch-protection=none the same program's stack has all names.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download elfutils=0.188-2.1 libdw1=0.188-2.1 libelf1=0.188-2.1 libasm1=0.188-2.1 \
	qemu-user-static=1:7.2+dfsg-7+deb12u18+b3 clang-14=1:14.0.6-12 lld-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 \
	libllvm14=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12 >download.log 2>&1
for package in ./*.deb; do
	dpkg -x "$package" root
done
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/llvm-14/lib
tools=$work/root/usr/bin

cat >program.c <<'C'
#define FRAME __attribute__((noinline)) static
FRAME int third(int n) { __builtin_trap(); return n; }
FRAME int second(int n) { return third(n) + 1; }
FRAME int first(int n) { return second(n) + 2; }
void _start(void) { first(1); }
C

# stack PROTECTION: the functions of the program's stack by eu-stack, and how many of its addresses have a signature.
stack() {
	local core
	"$tools/clang-14" --target=aarch64-linux-gnu -g -O1 -fno-optimize-sibling-calls -mbranch-protection="$1" -ffreestanding \
		-nostdlib -static -fuse-ld="$work/root/usr/lib/llvm-14/bin/ld.lld" -o program program.c
	(ulimit -c unlimited && exec "$tools/qemu-aarch64-static" ./program) >/dev/null 2>&1 || :
	core=$(echo qemu_program_*.core)
	"$tools/eu-stack" --core "$core" -e program >said 2>/dev/null || :
	rm "$core"
	cat said
	names=$(awk '/^#/ { print (NF > 2 ? $3 : "?") }' said | paste -sd ' ')
	signed=$(awk '/^#/ && substr($2, 3, 4) != "0000"' said | wc -l)
}

"$tools/eu-stack" --version | head -n 1
"$tools/qemu-aarch64-static" --version | head -n 1
echo "without signatures:"
stack none
[ "$names" = "third second first _start" ] && [ "$signed" = 0 ]
echo "with them:"
stack standard
[[ $names == "third second ?"* ]] && [ "$signed" -ge 1 ]
echo "as seen before"
