#!/bin/bash
# The addresses of a Go program that is position-independent begin at 0x400000, not at 0.
#
# Packages: Debian 12's golang-1.19-go and golang-1.19-src 1.19.8-2, binutils 2.40-2, gcc-12 12.2.0-14+deb12u1.
#
# Seen: what -buildmode=pie and Go's own linker make is of type DYN, and its first segment has the address 0x400000; GNU ld gives
# such programs 0. So an address in the process less the start of its mapping, as systemd prints of a core file's frames
# ("server + 0x7eb89"), is no address in the file: addr2line answers ??, or names another function where there is one. 0x400000
# has to be added. With cgo, when gcc links, it is 0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 >download.log 2>&1
for package in ./*.deb; do
	dpkg -x "$package" root
done
export GOROOT=$work/root/usr/lib/go-1.19 GOCACHE=$work/cache GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=0
# What Debian links there leads out of the unpacked packages.
for name in src test api misc; do
	rm -f "$GOROOT/$name"
	ln -s "$work/root/usr/share/go-1.19/$name" "$GOROOT/$name"
done

cat >main.go <<'GO'
package main

import (
	"os"
	"reflect"
	"strconv"
)

//go:noinline
func here() {}

func main() {
	maps, _ := os.ReadFile("/proc/self/maps")
	println(strconv.FormatUint(uint64(reflect.ValueOf(here).Pointer()), 16))
	os.Stdout.Write(maps)
}
GO
"$GOROOT/bin/go" build -buildmode=pie -o program main.go
./program >maps 2>pc
start=$(awk -v program="$work/program" '$6 == program { sub(/-.*/, "", $1); print $1; exit }' maps)
offset=$((16#$(cat pc) - 16#$start))

echo 'int main(void) { return 0; }' >other.c
gcc -pie -fPIE -o other other.c

failed=0
expect() {
	echo "$1: $3"
	[ "$2" = "$3" ] || {
		echo "expected: $2"
		failed=1
	}
}
first() {
	readelf -lW "$1" | awk '$1 == "LOAD" { print $3; exit }'
}
expect "the type of Go's file" DYN "$(readelf -h program | awk '$1 == "Type:" { print $2 }')"
expect "where Go's linker begins" 0x0000000000400000 "$(first program)"
expect "where GNU ld begins" 0x0000000000000000 "$(first other)"
expect "addr2line at the offset from the mapping" '??' "$(addr2line -f -e program "$(printf %x $offset)" | head -n 1)"
expect "addr2line 0x400000 behind it" main.here "$(addr2line -f -e program "$(printf %x $((offset + 0x400000)))" | head -n 1)"
exit $failed
