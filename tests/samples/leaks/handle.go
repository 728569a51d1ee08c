//go:build cgo

package main

import "runtime/cgo"

var lent []cgo.Handle

// lend has C keep a session for as long as it has the handle.
//
//go:noinline
func lend(i int) {
	lent = append(lent, cgo.NewHandle(newSession(i)))
}

// takeBack leaves the root of the runtime's map of handles, to Go 1.23 the map.
var takeBack = func() {
	for _, handle := range lent {
		handle.Delete()
	}
}

func init() {
	kinds = append(kinds, kind{"handle", "runtime/cgo.handles", nil, "main.Session", count, lend, func() { takeBack() }})
}
