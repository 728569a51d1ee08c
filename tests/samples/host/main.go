// Host loads a plugin.
//
//	host DUMP PLUGIN    print "mark ADDRESS held" of an object that the plugin holds, "waiting"; when its input has a
//	                    byte or ends, write the heap dump DUMP
//	host - PLUGIN       have the plugin start a goroutine that waits, print the stacks, and "ready"; end with the input
package main

import (
	"fmt"
	"os"
	"plugin"
	"runtime"
	"runtime/debug"
)

func wait(p *plugin.Plugin) {
	function, err := p.Lookup("Wait")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	function.(func())()
	stacks := make([]byte, 1<<16)
	os.Stdout.Write(stacks[:runtime.Stack(stacks, true)])
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
}

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
	if os.Args[1] == "-" {
		wait(p)
		return
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
