// Sample is a program to debug. It goes through the kinds of call that a Go stack is made of, and at
// the lines marked BREAK it prints the stack that a debugger stopped on that line must show.
//
//	sample             go through them all, and exit
//	sample goroutines  block goroutines in every way, print "ready", and wait
//	sample wait        print "ready", and wait in a system call
//	sample busy        the same, with another thread that runs Go code
package main

import (
	"fmt"
	"os"
	"strings"

	"example.org/goheap/samples/frames"
)

func main() {
	mode := "run"
	if len(os.Args) > 1 {
		mode = strings.TrimLeft(os.Args[1], "-")
	}
	os.Exit(run(mode))
}

//go:noinline
func run(mode string) int {
	switch mode {
	case "run":
		total := outer(3)
		total += kinds()
		fmt.Printf("total\t%d\n", total)
		return 0
	case "goroutines":
		return goroutines()
	case "wait":
		return wait(false)
	case "busy":
		return wait(true)
	}
	fmt.Fprintln(os.Stderr, "usage: sample [run|goroutines|wait|busy]")
	return 2
}

//go:noinline
func outer(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i
	}
	return middle(sum, "middle")
}

//go:noinline
func middle(n int, name string) int {
	server := &Server{Name: name, Limits: []int{n, 2 * n, 3 * n}}
	result := server.handle(n)
	return result + len(server.Limits)
}

//go:noinline
func leaf(depth int, name string) int {
	n := len(name) + depth
	n += frames.Report("leaf", n) // BREAK leaf
	return n
}

//go:noinline
func kinds() int {
	total := 0
	total += countdown(3)
	total += closures(4)
	total += interfaces()
	total += inlined(5)
	total += recovered()
	total += elsewhere()
	total += large(6)
	return total
}

//go:noinline
func countdown(n int) int {
	if n == 0 {
		return frames.Report("countdown", n) // BREAK countdown
	}
	return 1 + countdown(n-1)
}

//go:noinline
func closures(n int) int {
	captured := n * n
	f := func(m int) int {
		g := func() int {
			captured += m
			return frames.Report("closure", captured) // BREAK closure
		}
		return g() + captured
	}
	return apply(f, n)
}

//go:noinline
func apply(f func(int) int, n int) int {
	return f(n)
}

//go:noinline
func interfaces() int {
	total := 0.0
	for _, s := range []Shape{Square{2}, &Circle{1}} {
		total += area(s)
	}
	return int(total)
}

//go:noinline
func area(s Shape) float64 {
	return s.Area()
}

// inlined has code of both files in it, and in twice a call inlined into an inlined call.
//
//go:noinline
func inlined(n int) int {
	a := near(n)
	b := far(n)
	c := twice(n)
	return a + b + c
}

func near(n int) int {
	return frames.Report("near", n) // BREAK near
}

func twice(n int) int {
	return 2 * far(n+1)
}

//go:noinline
func recovered() (n int) {
	defer func() {
		if r := recover(); r != nil {
			n = frames.Report("recover", 1) // BREAK recover
		}
	}()
	defer cleanup(7)
	return explode(0)
}

//go:noinline
func cleanup(n int) {
	frames.Report("cleanup", n) // BREAK cleanup
}

//go:noinline
func explode(n int) int {
	if n == 0 {
		panic("exploded")
	}
	return 1 / n
}

// elsewhere runs on a stack of its own, so that a stack has another bottom than main.main.
//
//go:noinline
func elsewhere() int {
	results := make(chan int)
	go worker(8, results)
	return <-results
}

//go:noinline
func worker(n int, results chan<- int) {
	results <- frames.Report("worker", n) // BREAK worker
}

// large has a frame so big that the stack has to grow for it, and that its prologue is another.
//
//go:noinline
func large(n int) int {
	var numbers [10000]int
	for i := range numbers[:100] {
		numbers[i] = i * n
	}
	n = frames.Report("large", numbers[n]) // BREAK large
	return n + numbers[len(numbers)-1]%2
}
