// Crowd blocks many goroutines, in a few ways and at many depths, and writes what it knows of itself.
//
//	crowd COUNT DUMP [STACKS]    block COUNT goroutines; write a heap dump to DUMP and, of the same
//	                             moment, runtime.Stack's text to STACKS; if that is -, print it
//	                             and "ready", and wait until its input ends
package main

import (
	"fmt"
	"io/ioutil"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// What keeps the goroutines blocked for as long as the program runs.
var (
	never   = make(chan int)
	other   = make(chan int)
	mutex   sync.Mutex
	entered sync.WaitGroup
)

func receive() int {
	return <-never
}

func send() int {
	other <- 1
	return 1
}

func selects() int {
	select {
	case n := <-never:
		return n
	case other <- 2:
		return 2
	}
}

func lock() int {
	mutex.Lock()
	return 3
}

func sleep() int {
	time.Sleep(24 * time.Hour)
	return 4
}

var ways = []func() int{receive, send, selects, lock, sleep}

//go:noinline
func descend(depth int, way func() int) int {
	if depth == 0 {
		entered.Done()
		return way()
	}
	return descend(depth-1, way) + depth
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) != 3 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: crowd COUNT DUMP [STACKS]")
		os.Exit(2)
	}
	count, err := strconv.Atoi(os.Args[1])
	must(err)
	dump, err := os.Create(os.Args[2])
	must(err)
	mutex.Lock()
	entered.Add(count)
	for i := 0; i < count; i++ {
		go descend(i%13, ways[i%len(ways)])
	}
	entered.Wait()
	time.Sleep(time.Second)
	debug.SetGCPercent(-1)
	runtime.GC()
	var buf []byte
	if len(os.Args) == 4 {
		buf = make([]byte, count*4096+1<<20)
	}
	fd := dump.Fd()
	n := runtime.Stack(buf, true)
	debug.WriteHeapDump(fd)
	must(dump.Close())
	if len(os.Args) == 4 && os.Args[3] != "-" {
		must(ioutil.WriteFile(os.Args[3], buf[:n], 0o600))
	} else if len(os.Args) == 4 {
		os.Stdout.Write(buf[:n])
		fmt.Println("ready")
		ioutil.ReadAll(os.Stdin)
	}
}
