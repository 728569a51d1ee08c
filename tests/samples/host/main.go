// Host loads a plugin.
//
//	host DUMP PLUGIN    print "mark ADDRESS variable" of an object that a variable of the plugin's holds, and "mark ADDRESS
//	                    frame" of one that a frame holds, "type ADDRESS TYPE" of others, "waiting"; when its input has a
//	                    byte or ends, write the heap dump DUMP
//	host - PLUGIN       have the plugin start a goroutine that waits, and a deadlock, print the stacks, and "ready"; end
//	                    with the input
package main

import (
	"fmt"
	"os"
	"plugin"
	"runtime"
	"runtime/debug"
)

func look(p *plugin.Plugin, name string) plugin.Symbol {
	symbol, err := p.Lookup(name)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	return symbol
}

func wait() {
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
	if os.Args[1] == "-" {
		look(p, "Wait").(func())()
		look(p, "Deadlock").(func())()
		wait()
		return
	}
	look(p, "Show").(func())()
	fmt.Printf("mark %#x variable\n", look(p, "Hold").(func() uintptr)())
	fmt.Printf("mark %#x frame\n", look(p, "HoldInFrame").(func() uintptr)())
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
