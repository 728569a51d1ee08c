//go:build go1.24
// +build go1.24

package main

import (
	"runtime"
	"weak"
)

func init() { programs["cleanup"] = cleanup }

var (
	closing  = make(chan int)
	weakly   []weak.Pointer[node]
	strongly []*node
)

//go:noinline
func shut(number int) {
	say("cleanup-blocked", number)
	closing <- number
}

// cleanup has the first of 40 cleanups block all others, and weak pointers to half of what is kept.
func cleanup() {
	for i := 0; i < 40; i++ {
		large := new([70000]byte)
		runtime.AddCleanup(large, shut, i)
		n := newNode(i)
		weakly = append(weakly, weak.Make(n))
		if i%2 == 0 {
			strongly = append(strongly, n)
		}
	}
	runtime.GC()
	pause()
	runtime.GC()
}
