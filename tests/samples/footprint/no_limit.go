//go:build !go1.19
// +build !go1.19

package main

// limit is 0: there is no limit of memory.
func limit() int64 {
	return 0
}
