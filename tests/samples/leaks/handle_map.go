//go:build cgo && !go1.23

package main

import (
	"sync"
	_ "unsafe" // for the linker to know the map by this name, too
)

//go:linkname handles runtime/cgo.handles
var handles sync.Map

// empty has no code but the runtime's refer to a part of the map.
//
//go:noinline
func empty(m *sync.Map) {
	*m = sync.Map{}
}

func init() {
	takeBack = func() { empty(&handles) }
}
