// Cgo is a program to debug that is linked by the C linker, and whose stacks lead from Go through C and
// back to Go. Where it prints a stack, as the sample does, the C functions are missing: the Go runtime
// does not know them.
//
//	cgo       go through it all, and exit
//	cgo wait  print "ready", and wait in a C function
package main

/*
int through_c(int n);
int wait_in_c(void);
*/
import "C"

import (
	"fmt"
	"os"
	"strings"

	"example.org/goheap/samples/frames"
)

func main() {
	mode := "run"
	if len(os.Args) > 1 {
		mode = strings.TrimLeft(os.Args[1], "-")
	}
	os.Exit(run(mode))
}

//go:noinline
func run(mode string) int {
	switch mode {
	case "run":
		fmt.Printf("total\t%d\n", outer(3))
		return 0
	case "wait":
		frames.Ready()
		return int(C.wait_in_c())
	}
	fmt.Fprintln(os.Stderr, "usage: cgo [run|wait]")
	return 2
}

//go:noinline
func outer(n int) int {
	direct := leaf(n)
	through := int(C.through_c(C.int(n)))
	return direct + through
}

//go:noinline
func leaf(n int) int {
	return frames.Report("leaf", n) // BREAK leaf
}

//export calledFromC
func calledFromC(n C.int) C.int {
	return C.int(callback(int(n)))
}

//go:noinline
func callback(n int) int {
	return frames.Report("callback", n+1) // BREAK callback
}
