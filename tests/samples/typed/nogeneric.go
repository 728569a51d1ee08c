//go:build !go1.21
// +build !go1.21

package main

func buildGeneric() {
}
