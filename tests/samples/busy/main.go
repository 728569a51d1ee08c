// Busy computes for half a second, most of the time in one function, and writes its own CPU profile, if it is told where.
//
//	busy [PROFILE]
package main

import (
	"os"
	"runtime/pprof"
	"time"
)

type engine struct{ state, rounds uint64 }

//go:noinline
func (e *engine) spin(n int) {
	for i := 0; i < n; i++ {
		e.state ^= e.state << 13
		e.state ^= e.state >> 7
		e.state ^= e.state << 17
	}
}

//go:noinline
func (e *engine) round() {
	e.spin(1 << 20)
	e.rounds++
}

//go:noinline
func work(e *engine) {
	for begun := time.Now(); time.Since(begun) < 500*time.Millisecond; {
		e.round()
	}
}

func main() {
	if len(os.Args) < 2 {
		work(&engine{state: 1})
		return
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		panic(err)
	}
	work(&engine{state: 1})
	pprof.StopCPUProfile()
	file.Close()
}
