//go:build go1.21
// +build go1.21

package main

import (
	"fmt"
	"sync"
)

func init() { programs["oncefunc"] = oncefunc }

var load func()

// oncefunc has a function that is to be called once wait for itself, by way of another goroutine.
func oncefunc() {
	load = sync.OnceFunc(func() {
		done := make(chan bool)
		go func() {
			say("oncefunc-inner")
			load()
			close(done)
		}()
		say("oncefunc-outer", fmt.Sprintf("%p", done))
		<-done
	})
	go load()
}
