//go:build go1.19
// +build go1.19

package main

import "runtime/debug"

// limit sets a limit of memory, and gives it.
func limit() int64 {
	debug.SetMemoryLimit(300 << 20)
	return debug.SetMemoryLimit(-1)
}
