#!/bin/bash
# A pointer to a C struct that its header only declares, as *C.sqlite3 or *C.FILE, is no pointer for Go's collector; one to a
# struct that the header defines is.
#
# Packages: Debian 12's golang-1.19-go and golang-1.19-src 1.19.8-2, gcc-12 12.2.0-14+deb12u1.
#
# Seen: of two Go structs that differ in this alone, the descriptor's PtrBytes, the bytes up to the last pointer that the collector
# follows, is 0 of the one and 8 of the other. So objects of the first are in spans without pointers, neither heap dumps
# (runtime/debug.WriteHeapDump) nor heap bitmaps tell that such a field leads to C's memory, and who follows pointers as the
# collector does takes the handle of a library for a number: cgo marks such types as not in the heap.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 >download.log 2>&1
for package in ./*.deb; do
	dpkg -x "$package" root
done
export GOROOT=$work/root/usr/lib/go-1.19 GOCACHE=$work/cache GO111MODULE=off GOTOOLCHAIN=local CGO_ENABLED=1 CC=gcc
# What Debian links there leads out of the unpacked packages.
for name in src test api misc; do
	rm -f "$GOROOT/$name"
	ln -s "$work/root/usr/share/go-1.19/$name" "$GOROOT/$name"
done

cat >main.go <<'GO'
package main

/*
struct declared;
struct defined { int number; };
*/
import "C"

import (
	"fmt"
	"reflect"
	"unsafe"
)

type withDeclared struct{ handle *C.struct_declared }
type withDefined struct{ handle *C.struct_defined }

// pointers gives PtrBytes, the second word of a type's descriptor.
func pointers(value interface{}) uintptr {
	descriptor := (*[2]unsafe.Pointer)(unsafe.Pointer(&value))[0]
	return (*[2]uintptr)(descriptor)[1]
}

func main() {
	fmt.Println("declared", reflect.TypeOf(withDeclared{}).Size(), pointers(withDeclared{}))
	fmt.Println("defined", reflect.TypeOf(withDefined{}).Size(), pointers(withDefined{}))
}
GO
"$GOROOT/bin/go" build -o program main.go
./program >found

failed=0
expect() {
	echo "$1: $3"
	[ "$2" = "$3" ] || {
		echo "expected: $2"
		failed=1
	}
}
expect "a struct with a pointer to a declared one: size, PtrBytes" "declared 8 0" "$(sed -n 1p found)"
expect "a struct with a pointer to a defined one: size, PtrBytes" "defined 8 8" "$(sed -n 2p found)"
exit $failed
