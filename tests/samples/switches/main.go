// Switches is a program to stop where the stack is not that of the goroutine: in the runtime's own code, in C,
// in a signal handler.
//
//	switches start     start a goroutine
//	switches grow      grow the stack
//	switches yield     let others run
//	switches collect   collect garbage
//	switches clock     ask for the time
//	switches callback  go from Go to C and back, three times
//	switches signal    handle a signal
//	switches crash     make C read from address 0
//	switches library   make the C library read from address 8, beside threads that are in C
package main

/*
int down(int n);
int crash(int *where);
int measure(const char *where);
int measure_by_go(void);
void wait_here(void);
int waits(void);
void start_threads(void);
*/
import "C"

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	// The test looks for what this thread does.
	runtime.LockOSThread()
	mode := ""
	if len(os.Args) > 1 {
		mode = strings.TrimLeft(os.Args[1], "-")
	}
	os.Exit(run(mode))
}

//go:noinline
func run(mode string) int {
	switch mode {
	case "start":
		start()
	case "grow":
		grow(100)
	case "yield":
		yield()
	case "collect":
		collect()
	case "clock":
		clock()
	case "callback":
		descend(2)
	case "signal":
		interrupted()
	case "crash":
		crash()
	case "library":
		library()
	default:
		fmt.Fprintln(os.Stderr, "usage: switches start|grow|yield|collect|clock|callback|signal|crash|library")
		return 2
	}
	return 0
}

//go:noinline
func start() {
	done := make(chan int)
	ready()
	go func() { done <- 1 }()
	<-done
}

//go:noinline
func grow(n int) byte {
	var large [1024]byte
	if n == 100 {
		ready()
	}
	if n == 0 {
		return 0
	}
	large[n] = grow(n - 1)
	return large[n/2]
}

//go:noinline
func yield() {
	ready()
	runtime.Gosched()
}

//go:noinline
func collect() {
	ready()
	runtime.GC()
}

//go:noinline
func clock() time.Time {
	ready()
	return time.Now()
}

//go:noinline
func descend(n int) int {
	return int(C.down(C.int(n))) + 1
}

//export upAgain
func upAgain(n C.int) C.int {
	return C.int(up(int(n)))
}

//go:noinline
func up(n int) int {
	if n > 0 {
		return descend(n-1) + 1
	}
	ready()
	return 1
}

var spin uint32

//go:noinline
func interrupted() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	ready()
	loop()
	<-signals
}

//go:noinline
func loop() {
	for i := uint32(0); i < 1<<30; i++ {
		spin += i
	}
}

//go:noinline
func crash() {
	ready()
	C.crash(nil)
}

//export waitInC
func waitInC() {
	C.wait_here()
}

//export measureAgain
func measureAgain() C.int {
	return C.measure((*C.char)(unsafe.Pointer(&[]byte{1, 0}[0])))
}

// Library crashes in C, as a thread that C started is in C that Go called, and another has never called Go.
//
//go:noinline
func library() {
	C.start_threads()
	for C.waits() == 0 {
		runtime.Gosched()
	}
	C.measure_by_go()
	ready()
	C.measure((*C.char)(unsafe.Pointer(uintptr(8))))
}

// Ready is where the test stops before it looks for the place.
//
//go:noinline
func ready() {
	spin++
}
