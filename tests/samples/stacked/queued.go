//go:build go1.25
// +build go1.25

package main

import (
	"fmt"
	"runtime"
)

// The first waits, and the others stay in the queue with what they are called with.
func queue() {
	for i := 0; i < 5; i++ {
		runtime.AddCleanup(new([16]int), func(m *Mark) {
			<-block
			sink += len(m.name)
		}, mark(fmt.Sprint("queued ", i)))
	}
	runtime.GC()
}

func init() { prepare = queue }
