//go:build go1.21
// +build go1.21

package main

//go:noinline
func generic[T any](ch chan T, name string) T {
	entered <- name
	return <-ch
}

func startGeneric() int {
	go generic(make(chan int), "generic")
	go generic(make(chan *Node), "genericPointer")
	return 2
}
