// Plugged is a plugin whose variables hold objects.
package main

import (
	"runtime"
	"unsafe"
)

var (
	held  *[1000]byte
	first = &held
)

// Hold makes an object that only a variable of the plugin's holds, and gives its address.
func Hold() uintptr {
	*first = new([1000]byte)
	return uintptr(unsafe.Pointer(held))
}

// Wait starts a goroutine that waits.
func Wait() {
	waits := make(chan bool)
	go wait(waits, 7)
	waits <- true
	for range [100]int{} {
		runtime.Gosched()
	}
}

//go:noinline
func wait(waits chan bool, n int) {
	<-waits
	waits <- n > 0
}

func main() {}
