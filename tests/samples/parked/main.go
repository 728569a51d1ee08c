// Parked is a library, built with -buildmode=c-shared, whose function Work has goroutines wait and writes their stacks,
// as its own runtime prints them, to a file.
package main

import "C"

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
)

type node struct {
	next *node
	size [40]int
}

var (
	parked bool
	wait   = make(chan int)
	// Nodes are n: what a heap has of one library, and no other.
	nodes *node
)

// Work has N goroutines wait when it is called for the first time, and writes the file STACKS.N.
//
//export Work
func Work(n C.int) C.int {
	if !parked {
		parked = true
		start(int(n))
	}
	return n
}

func start(n int) {
	for i := 0; i < n; i++ {
		nodes = &node{next: nodes}
		go park(i)
	}
	stacks := make([]byte, 1<<20)
	for {
		size := runtime.Stack(stacks, true)
		if bytes.Count(stacks[:size], []byte("[chan receive]")) == n {
			stacks = stacks[:size]
			break
		}
		runtime.Gosched()
	}
	name := fmt.Sprintf("%s.%d", os.Getenv("STACKS"), n)
	if err := os.WriteFile(name+".part", stacks, 0o600); err != nil {
		panic(err)
	}
	os.Rename(name+".part", name)
}

//go:noinline
func park(i int) {
	if i%2 == 0 {
		park(i + 1)
		return
	}
	<-wait
}

func main() {}
