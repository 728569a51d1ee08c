// World has goroutines that cannot stop all others. With "stats", and GODEBUG=asyncpreemptoff=1, one waits for a goroutine that
// does not stop; with "wait", two wait until they may, and two more to start a collection, while the first has the semaphore.
// It prints the numbers of those that wait, then "ready", and waits for ever.
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"time"
	_ "unsafe"
)

//go:linkname worldsema runtime.worldsema
var worldsema uint32

//go:linkname acquire sync.runtime_Semacquire
func acquire(semaphore *uint32)

func say(what string) {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	fmt.Println(string(bytes.Fields(buf)[1]), what)
}

//go:noinline
func spin(n uint64) uint64 {
	for {
		n = n*6364136223846793005 + 1442695040888963407
		if n == 0 {
			return n
		}
	}
}

//go:noinline
func report() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
}

//go:noinline
func collect() { runtime.GC() }

func main() {
	if os.Args[1] == "stats" {
		go func() {
			say("spins")
			spin(1)
		}()
		time.Sleep(10 * time.Millisecond)
		fmt.Println("ready")
		report()
	}
	acquire(&worldsema)
	for i := 0; i < 2; i++ {
		go func() {
			say("reports")
			report()
		}()
		go func() {
			say("collects")
			collect()
		}()
	}
	time.Sleep(100 * time.Millisecond)
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
