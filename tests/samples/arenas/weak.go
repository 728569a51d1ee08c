//go:build go1.24 && goexperiment.arenas

package main

import (
	"runtime"
	"weak"
)

// watch keeps an object, of which the runtime alone has a weak pointer's handle, and a cleanup's argument.
func watch(number int) {
	n := &Node{}
	kept = append(kept, n)
	weak.Make(n)
	small := new(int8)
	kept = append(kept, small)
	runtime.AddCleanup(small, func(*Node) {}, &Node{data: make([]byte, number)})
}
