// Strangers has programs as other people write them. Each argument names one: locks that are left or handed on in ways of their
// own, circles of waits, memory of unusual types. Goroutines print their part, their number, and the address of what they hold
// or wait for. Then it prints "ready", and waits until its input ends. Alone, "crash" and the name of a crash ends it so.
package main

import (
	"bytes"
	"fmt"
	"io/ioutil"
	"os"
	"runtime"
	"sync"
	"time"
)

var output sync.Mutex

// say prints a goroutine's part, its number, and what else there is to know of it.
func say(part string, what ...interface{}) {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	output.Lock()
	defer output.Unlock()
	fmt.Println(append([]interface{}{part, string(bytes.Fields(buf)[1])}, what...)...)
}

func pause() { time.Sleep(50 * time.Millisecond) }

// programs are what arguments name.
var programs = map[string]func(){
	"readers": readers,
	"handed":  handed,
	"rlocker": rlocker,
	"keyed":   keyed,
	"flight":  flight,
	"try":     try,
	"undo":    undo,
	"nothing": nothing,
	"group":   group,
	"tokens":  tokens,
	"stripes": stripes,
	"memory":  memory,
	"mapped":  mapped,
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "crash" {
		crashes[os.Args[2]](len(os.Args))
		return
	}
	for _, name := range os.Args[1:] {
		programs[name]()
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("ready")
	ioutil.ReadAll(os.Stdin)
	runtime.KeepAlive(kept)
}
