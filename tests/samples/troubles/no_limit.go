//go:build !go1.19
// +build !go1.19

package main

func limit() {
	panic("there is no memory limit")
}
