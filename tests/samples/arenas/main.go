//go:build go1.21 && goexperiment.arenas

// Arenas has objects in user arenas, and some that only the runtime holds: for timers and, from Go 1.24 on, weak pointers
// and cleanups, one of which is of a part of an object.
//
//	arenas DUMP    print "waiting", and write the heap dump DUMP when its input has a byte or ends
package main

import (
	"arena"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// Node is what arenas and timers hold.
type Node struct {
	next *Node
	name string
	data []byte
}

var (
	nodes  []*Node
	arenas []*arena.Arena
	kept   []interface{}
)

func fill() {
	a := arena.NewArena()
	var last *Node
	for i := 0; i < 20000; i++ {
		n := arena.New[Node](a)
		n.next = last
		n.name = fmt.Sprint("node ", i)
		n.data = arena.MakeSlice[byte](a, 100, 100)
		last = n
	}
	nodes = append(nodes, last)
	arenas = append(arenas, a)
}

func main() {
	for i := 0; i < 3; i++ {
		fill()
	}
	for i := 0; i < 1000; i++ {
		n := &Node{name: fmt.Sprint("timer ", i)}
		time.AfterFunc(time.Hour, func() { fmt.Println(n.name) })
		watch(i)
	}
	runtime.GC()
	runtime.GC()
	file, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	descriptor := file.Fd()
	fmt.Println("waiting")
	os.Stdin.Read(make([]byte, 1))
	debug.WriteHeapDump(descriptor)
	runtime.KeepAlive(arenas)
}
