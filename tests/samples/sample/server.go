package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"example.org/goheap/samples/frames"
)

// A Server has fields of several kinds for a debugger to print.
type Server struct {
	Name   string
	Limits []int
	served map[string]int
	mu     sync.Mutex
}

//go:noinline
func (s *Server) handle(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.served == nil {
		s.served = make(map[string]int)
	}
	s.served[s.Name]++
	result := leaf(n, s.Name)
	return result + s.served[s.Name]
}

// A Shape is called through its method table.
type Shape interface {
	Area() float64
}

// Square has a value receiver, Circle a pointer receiver.
type Square struct{ side float64 }

// Circle is the other Shape.
type Circle struct{ radius float64 }

// Area of a Square.
//
//go:noinline
func (s Square) Area() float64 {
	frames.Report("square", 0) // BREAK square
	return s.side * s.side
}

// Area of a Circle.
//
//go:noinline
func (c *Circle) Area() float64 {
	frames.Report("circle", 0) // BREAK circle
	return 3 * c.radius * c.radius
}

func far(n int) int {
	return frames.Report("far", n) // BREAK far
}

// wait blocks the thread itself, not only the goroutine: whoever attaches finds main's frames on it.
//
//go:noinline
func wait(busy bool) int {
	var ends [2]int
	if err := syscall.Pipe(ends[:]); err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		return 1
	}
	if busy {
		started := make(chan bool)
		go spin(started)
		<-started
	}
	frames.Ready()
	var buffer [1]byte
	n, _ := syscall.Read(ends[0], buffer[:])
	return n
}

var spun int

//go:noinline
func spin(started chan<- bool) {
	runtime.LockOSThread()
	started <- true
	for {
		spun = turn(spun)
	}
}

//go:noinline
func turn(n int) int {
	for i := 0; i < 1000; i++ {
		n += i ^ n>>3
	}
	return n
}

//go:noinline
func goroutines() int {
	var held sync.Mutex
	held.Lock()
	var never sync.WaitGroup
	never.Add(1)
	condition := sync.NewCond(new(sync.Mutex))
	silent := make(chan int)
	full := make(chan int)
	reader, _, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		return 1
	}

	go inReceive(silent)
	go inReceive(silent)
	go inSend(full)
	go inSelect(silent, full)
	go inMutex(&held)
	go inSleep(time.Hour)
	go inWaitGroup(&never)
	go inCondition(condition)
	go inRead(reader)
	go func() {
		select {}
	}()

	// Nothing tells a program that its goroutines are parked. They have nothing else to do.
	time.Sleep(200 * time.Millisecond)
	frames.Ready()
	never.Wait()
	return 0
}

//go:noinline
func inReceive(c <-chan int) int {
	return <-c
}

//go:noinline
func inSend(c chan<- int) {
	c <- 1
}

//go:noinline
func inSelect(a, b chan int) int {
	var none chan int
	select {
	case n := <-a:
		return n
	case none <- 2:
		return 2
	case b <- 3:
		return 3
	}
}

//go:noinline
func inMutex(m *sync.Mutex) {
	m.Lock()
	defer m.Unlock()
}

//go:noinline
func inSleep(d time.Duration) {
	time.Sleep(d)
}

//go:noinline
func inWaitGroup(w *sync.WaitGroup) {
	w.Wait()
}

//go:noinline
func inCondition(c *sync.Cond) {
	c.L.Lock()
	c.Wait()
	c.L.Unlock()
}

//go:noinline
func inRead(f *os.File) int {
	var buffer [16]byte
	n, _ := f.Read(buffer[:])
	return n
}
