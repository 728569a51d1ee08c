//go:build !go1.21
// +build !go1.21

package main

func startGeneric() int {
	return 0
}
