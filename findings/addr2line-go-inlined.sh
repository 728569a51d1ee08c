#!/bin/bash
# GNU addr2line -i names an inlined Go function by the function around it.
#
# Packages: Debian 12's binutils 2.40-2, golang-1.19-go and golang-1.19-src 1.19.8-2, llvm-14 1:14.0.6-12.
#
# Seen: of an address in a call that Go has inlined, `addr2line -f -i' prints the right lines, innermost first, and for both the
# name of the outer function, which alone has a symbol. llvm-addr2line prints both names, from the same DWARF. Go's entries for
# functions have DW_AT_name and no DW_AT_linkage_name, and addr2line prefers the symbol to such a name where the language is one
# that it takes to mangle names. What reads stacks through addr2line loses the inlined names of every Go program.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 \
	llvm-14=1:14.0.6-12 libllvm14=1:14.0.6-12 >download.log 2>&1
for package in ./*.deb; do
	dpkg -x "$package" root
done
export GOROOT=$work/root/usr/lib/go-1.19 GOCACHE=$work/cache GO111MODULE=off GOTOOLCHAIN=local
export LD_LIBRARY_PATH=$work/root/usr/lib/x86_64-linux-gnu:$work/root/usr/lib/llvm-14/lib
# What Debian links there leads out of the unpacked packages.
for name in src test api misc; do
	rm -f "$GOROOT/$name"
	ln -s "$work/root/usr/share/go-1.19/$name" "$GOROOT/$name"
done
tools=$work/root/usr/bin

cat >main.go <<'GO'
package main

import "os"

//go:noinline
func sink(n int) int { return n }

func leaf(n int) int { return sink(n) + 1 }

//go:noinline
func caller(n int) int {
	return leaf(n) * 2
}

func main() { os.Exit(caller(len(os.Args))) }
GO
"$GOROOT/bin/go" build -trimpath -o program main.go
address=$("$tools/x86_64-linux-gnu-objdump" -d --disassemble=main.caller program |
	awk '/call .*<main.sink>/ { sub(":", "", $1); print $1 }')

"$tools/x86_64-linux-gnu-addr2line" --version | head -n 1
echo "an inlined call of main.leaf in main.caller, at 0x$address:"
"$tools/x86_64-linux-gnu-addr2line" -f -i -s -e program "0x$address" | tee gnu
echo "llvm-addr2line:"
"$tools/llvm-addr2line-14" -f -i -s -e program "0x$address" | tee llvm

printf '%s\n' main.caller main.go:8 main.caller main.go:12 >gnu.seen
printf '%s\n' main.leaf main.go:8 main.caller main.go:12 >llvm.seen
diff gnu.seen gnu
diff llvm.seen llvm
echo "as seen before"
