//go:build !cgo
// +build !cgo

package main

func useC(size int) {
	panic("this program has no C")
}
