// Shared is a library for programs in C, which has a heap of its own.
package main

import "C"

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
)

// Node is an object of 48 bytes.
type Node struct {
	next  *Node
	name  string
	value interface{}
}

var list *Node

// Run fills the heap, prints "waiting" and, once there is a line of input, writes a heap dump to path.
//
//export Run
func Run(path *C.char) {
	for i := 0; i < 5000; i++ {
		list = &Node{list, fmt.Sprint("node ", i), &i}
		runtime.SetFinalizer(list, func(n *Node) {})
	}
	for i := 0; i < 3; i++ {
		go func() { select {} }()
	}
	runtime.GC()
	debug.SetGCPercent(-1)
	file, err := os.Create(C.GoString(path))
	if err != nil {
		panic(err)
	}
	fmt.Println("waiting")
	os.Stdin.Read(make([]byte, 1))
	debug.WriteHeapDump(file.Fd())
}

func main() {}
