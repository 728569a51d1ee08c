#!/bin/bash
# eu-addr2line finds lines only in programs that have .debug_aranges: in none of Go's or clang's.
#
# Packages: Debian 12's elfutils, libdw1 and libelf1 0.188-2.1, clang-14 1:14.0.6-12 and golang-1.19-go and -src 1.19.8-2.
#
# Seen: eu-addr2line 0.188 prints "??:0" for an address in a function whose line table llvm-addr2line and readelf read. The
# section .debug_aranges makes the difference: gcc writes it, clang and Go's linker do not, and without it the same program of
# gcc's has no lines either.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download elfutils=0.188-2.1 libdw1=0.188-2.1 libelf1=0.188-2.1 libasm1=0.188-2.1 clang-14=1:14.0.6-12 \
	libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12 golang-1.19-go=1.19.8-2 \
	golang-1.19-src=1.19.8-2 >download.log 2>&1
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

# lines PROGRAM FUNCTION: what eu-addr2line says of the function's address.
lines() {
	local address
	address=$(nm "$1" | awk -v name="$2" '$3 == name { print $1 }')
	echo "$1: $(readelf -SW "$1" | grep -c debug_aranges) .debug_aranges," \
		"$("$work/root/usr/bin/eu-addr2line" -s -e "$1" "0x$address")"
}

printf 'int triple(int n)\n{\n\treturn n * 3;\n}\nint main(void)\n{\n\treturn triple(2);\n}\n' >c.c
printf 'package main\n\n//go:noinline\nfunc triple(n int) int {\n\treturn n * 3\n}\n\nfunc main() { println(triple(2)) }\n' >main.go
gcc -g -O1 -o by-gcc c.c
objcopy -R .debug_aranges by-gcc by-gcc-without
"$work/root/usr/bin/clang-14" -g -O1 -o by-clang c.c
"$GOROOT/bin/go" build -trimpath -o by-go main.go

"$work/root/usr/bin/eu-addr2line" --version | head -n 1
{
	lines by-gcc triple
	lines by-gcc-without triple
	lines by-clang triple
	lines by-go main.triple
} | tee found

cat >seen <<'END'
by-gcc: 1 .debug_aranges, c.c:3:11
by-gcc-without: 0 .debug_aranges, ??:0
by-clang: 0 .debug_aranges, ??:0
by-go: 0 .debug_aranges, ??:0
END
diff <(sed 's/c\.c:[0-9:]*/c.c:LINE/' seen) <(sed 's/c\.c:[0-9:]*/c.c:LINE/' found)
echo "as seen before"
