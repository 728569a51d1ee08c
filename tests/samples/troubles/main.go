// Troubles has one of the troubles that a server can have, or none, prints "ready", and waits until its input ends.
//
//	troubles KIND
package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Item is what is kept.
type Item struct {
	name string
	data []byte
}

var (
	mutex sync.Mutex
	items = map[string]*Item{}
	jobs  = make(chan int)
	kept  [][]byte
	held  []*session
)

// hold has the mutex for as long as the program runs.
//
//go:noinline
func hold() {
	mutex.Lock()
	time.Sleep(time.Hour)
	mutex.Unlock()
}

//go:noinline
func handle() {
	mutex.Lock() // they wait
	mutex.Unlock()
}

// crowd has 10,000 goroutines behind one mutex.
func crowd() {
	go hold()
	time.Sleep(50 * time.Millisecond)
	for i := 0; i < 10000; i++ {
		go handle()
	}
}

//go:noinline
func block(end int) {
	syscall.Read(end, make([]byte, 1))
}

// threads has 2,000 threads, each in a system call.
func threads() {
	var ends [2]int
	debug.SetMaxThreads(10000)
	if err := syscall.Pipe(ends[:]); err != nil {
		panic(err)
	}
	for i := 0; i < 2000; i++ {
		go block(ends[0])
	}
}

//go:noinline
func produce() {
	jobs <- 1
}

// produces has 2,000 goroutines wait for one that does not come to take what they have; that can reach the channel still.
func produces() {
	for i := 0; i < 2000; i++ {
		go produce()
	}
}

//go:noinline
func answer(i int) {
	reply := make(chan int)
	fmt.Fprintln(os.Stderr, <-reply, i)
}

// forgets has 500 goroutines that nobody can wake.
func forgets() {
	for i := 0; i < 500; i++ {
		go answer(i)
	}
}

// touched is memory that is written to.
func touched(size int) []byte {
	bytes := make([]byte, size)
	for i := range bytes {
		bytes[i] = 1
	}
	return bytes
}

//go:noinline
func remember(i int) {
	name := "item " + strconv.Itoa(i)
	items[name] = &Item{name, touched(900)}
}

// off has no garbage collected.
func off() {
	debug.SetGCPercent(-1)
	for i := 0; i < 100; i++ {
		kept = [][]byte{touched(1 << 20)}
	}
}

// workers wait for work, each of them: nothing is wrong with that.
func workers() {
	for i := 0; i < 2000; i++ {
		go func() {
			for range jobs {
				handle()
			}
		}()
	}
}

// spread keeps what a healthy program of 200 MB does: a bit of everything.
func spread() {
	for i := 0; i < 200; i++ {
		kept = append(kept, touched(1<<20))
	}
	for i := 0; i < 1000; i++ {
		remember(i)
	}
}

// Session has a map of one entry, for which maps have room for eight.
type session struct {
	labels map[string]string
	stop   chan struct{}
	ticks  chan time.Time
}

//go:noinline
func (s *session) serve() {
	select { // they wait
	case <-s.ticks:
	case <-s.stop:
	}
	fmt.Fprintln(os.Stderr, s.labels)
}

// sessions has 2,000 goroutines in one select, of channels of their own that are reached; which lie in either order.
func sessions() {
	for i := 0; i < 2000; i++ {
		s := &session{labels: map[string]string{"number": strconv.Itoa(i)}}
		if i%2 == 0 {
			s.stop = make(chan struct{})
		}
		s.ticks = make(chan time.Time)
		if i%2 != 0 {
			s.stop = make(chan struct{})
		}
		held = append(held, s)
		go s.serve()
	}
}

// end ends the program with its input.
func end() {
	os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// settle waits until no other goroutine is about to run.
func settle() {
	for text := make([]byte, 16<<20); ; time.Sleep(50 * time.Millisecond) {
		if bytes.Count(text[:runtime.Stack(text, true)], []byte(" [run")) <= 1 {
			return
		}
	}
}

func main() {
	switch os.Args[1] {
	case "crowd":
		crowd()
	case "threads":
		threads()
	case "produces":
		produces()
	case "forgets":
		forgets()
	case "leaks":
		for i := 0; i < 50000; i++ {
			remember(i)
		}
	case "off":
		off()
	case "limit":
		limit()
	case "malloc":
		useC(100 << 20)
	case "workers":
		workers()
	case "spread":
		spread()
	case "sessions":
		sessions()
	case "server":
		defer func() { <-make(chan int) }()
		go end()
	}
	switch os.Args[1] {
	case "crowd", "threads", "produces", "forgets", "sessions":
		settle()
	}
	time.Sleep(300 * time.Millisecond)
	if os.Args[1] != "off" {
		runtime.GC()
	}
	fmt.Println("ready")
	if os.Args[1] == "server" {
		return
	}
	os.Stdin.Read(make([]byte, 1))
	fmt.Fprintln(os.Stderr, len(items), len(kept))
}
