#!/bin/bash
# The minutes that a Go traceback says a goroutine has waited may be far more than it has.
#
# Packages: Debian 12's golang-1.19-go and golang-1.19-src 1.19.8-2.
#
# Seen: a goroutine that blocked less than a second ago, behind a collection that a second one followed a minute later, is
# printed as [chan receive, 1 minutes]; one that blocked in a process with a single collection since, as [chan receive], however
# long that is. The collector notes runtime.g.waitsince as it first sees a goroutine blocked, and notes work.tstart: that is set
# where marking ends, so then it is the time of the collection before, or 0. So the minutes may be too many by the time between
# two collections, two minutes in an idle process and more where GOGC is off. The source is the same in Go 1.27.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download golang-1.19-go=1.19.8-2 golang-1.19-src=1.19.8-2 >download.log 2>&1
for package in ./*.deb; do
	dpkg -x "$package" root
done
export GOROOT=$work/root/usr/lib/go-1.19 GOCACHE=$work/cache GO111MODULE=off GOTOOLCHAIN=local
# What Debian links there leads out of the unpacked packages.
for name in src test api misc; do
	rm -f "$GOROOT/$name"
	ln -s "$work/root/usr/share/go-1.19/$name" "$GOROOT/$name"
done

cat >main.go <<'GO'
package main

import (
	"os"
	"runtime"
	"time"
)

//go:noinline
func early(c chan int) { <-c }

//go:noinline
func late(c chan int) { <-c }

func main() {
	c := make(chan int)
	go early(c)
	time.Sleep(500 * time.Millisecond)
	runtime.GC()
	time.Sleep(61 * time.Second)
	first := make([]byte, 1<<16)
	first = first[:runtime.Stack(first, true)]
	go late(c)
	time.Sleep(500 * time.Millisecond)
	runtime.GC()
	second := make([]byte, 1<<16)
	second = second[:runtime.Stack(second, true)]
	os.WriteFile("first", first, 0o600)
	os.WriteFile("second", second, 0o600)
}
GO
"$GOROOT/bin/go" build -trimpath -o program main.go
# The runtime itself collects every two minutes, and where the heap has grown.
GOGC=1000 ./program

# waits FILE FUNCTION: what the traceback in FILE says of the goroutine in main.FUNCTION.
waits() {
	grep -B 1 "^main\.$2(" "$1" | sed -nE 's/^goroutine [0-9]+ (\[.*\]):$/\1/p'
}

"$GOROOT/bin/go" version
{
	echo "blocked for 61 seconds, one collection since: $(waits first early)"
	echo "blocked for half a second, behind a second collection: $(waits second late)"
} | tee found
printf '%s\n' 'blocked for 61 seconds, one collection since: [chan receive]' \
	'blocked for half a second, behind a second collection: [chan receive, 1 minutes]' | diff - found
echo "as seen before"
