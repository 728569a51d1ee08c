// Library is what a program of another language loads, built with -buildmode=c-shared. Its function Work goes through
// calls that are inlined and calls that are not, its function Nest through C and back.
package main

import "C"

import "fmt"

type box struct{ n int }

//export Work
func Work(n C.int) C.int {
	return C.int(work(int(n)))
}

//go:noinline
func work(n int) int {
	b := &box{n}
	return twice(b) + 1
}

func twice(b *box) int {
	b.grow()
	return b.n * 2 // a breakpoint
}

//go:noinline
func (b *box) grow() {
	fmt.Println("grow", b.n)
}

func main() {}
