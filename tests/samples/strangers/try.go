//go:build go1.18
// +build go1.18

package main

import (
	"sync"
	"time"
)

// tryFor returns whether it has taken the lock, for which it has patience.
//
//go:noinline
func tryFor(mu *sync.Mutex, patience time.Duration) bool {
	until := time.Now().Add(patience)
	for !mu.TryLock() {
		if time.Now().After(until) {
			return false
		}
		time.Sleep(time.Millisecond)
	}
	return true
}
