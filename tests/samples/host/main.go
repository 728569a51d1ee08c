// Host loads a plugin.
//
//	host DUMP PLUGIN    print "mark ADDRESS held" of an object that the plugin holds, "waiting"; when its input has a
//	                    byte or ends, write the heap dump DUMP
package main

import (
	"fmt"
	"os"
	"plugin"
	"runtime"
	"runtime/debug"
)

func main() {
	p, err := plugin.Open(os.Args[2])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	hold, err := p.Lookup("Hold")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Printf("mark %#x held\n", hold.(func() uintptr)())
	runtime.GC()
	file, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("waiting")
	os.Stdin.Read(make([]byte, 1))
	debug.WriteHeapDump(file.Fd())
}
