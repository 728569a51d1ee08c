//go:build go1.24

package main

import "runtime"

var handles []*Handle

// Handle has a cleanup that keeps a session.
type Handle struct {
	number int
	self   *Handle
}

//go:noinline
func release(session *Session) {
	session.notes[0]++
}

//go:noinline
func attach(i int) {
	handle := &Handle{number: i}
	handle.self = handle
	runtime.AddCleanup(handle, release, newSession(i))
	handles = append(handles, handle)
}

func init() {
	kinds = append(kinds, kind{"cleanup", "main.release", nil, "main.Session", count, attach, func() { handles = nil }})
}
