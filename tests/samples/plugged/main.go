// Plugged is a plugin whose variables hold objects.
package main

import "unsafe"

var (
	held  *[1000]byte
	first = &held
)

// Hold makes an object that only a variable of the plugin's holds, and gives its address.
func Hold() uintptr {
	*first = new([1000]byte)
	return uintptr(unsafe.Pointer(held))
}

func main() {}
