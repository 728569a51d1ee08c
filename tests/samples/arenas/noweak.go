//go:build go1.21 && !go1.24 && goexperiment.arenas

package main

func watch(int) {}
