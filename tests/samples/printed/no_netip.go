//go:build !go1.18
// +build !go1.18

package main

func addresses() {}
