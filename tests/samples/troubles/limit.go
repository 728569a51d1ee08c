//go:build go1.19
// +build go1.19

package main

import (
	"runtime/debug"
	"time"
)

// limit has a memory limit that the program is at, so that it collects garbage all the time.
func limit() {
	debug.SetMemoryLimit(48 << 20)
	for i := 0; i < 46; i++ {
		kept = append(kept, touched(1<<20))
	}
	go func() {
		for {
			for i := 0; i < 100; i++ {
				kept[i%len(kept)] = touched(1 << 20)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
}
