// Liars is a program whose goroutines are in C code that has call frame information that lies, each in another way, or none; and in
// a library, which it loads.
//
//	liars LIBRARY
package main

/*
#cgo LDFLAGS: -ldl
int in_endless(void);
int in_overflow(void);
int in_huge(void);
int in_wild(void);
int in_null(void);
int in_climb(void);
int in_library(const char *path);
*/
import "C"

import (
	"fmt"
	"os"
	"time"
)

//go:noinline
func inEndless() { C.in_endless() }

//go:noinline
func inOverflow() { C.in_overflow() }

//go:noinline
func inHuge() { C.in_huge() }

//go:noinline
func inWild() { C.in_wild() }

//go:noinline
func inNull() { C.in_null() }

//go:noinline
func inClimb() { C.in_climb() }

//go:noinline
func inLibrary() { C.in_library(C.CString(os.Args[1])) }

func main() {
	go inEndless()
	go inOverflow()
	go inHuge()
	go inWild()
	go inNull()
	go inClimb()
	go inLibrary()
	time.Sleep(500 * time.Millisecond)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
