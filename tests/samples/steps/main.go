// Command steps has twenty goroutines in the same function, which blocks in all the usual ways, to be
// stepped through. It writes how far each has come to the file that its argument names.
package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var (
	mutex sync.Mutex
	total int
)

//go:noinline
func deep(n int) int {
	var space [256]byte
	if n == 0 {
		return int(space[total&255])
	}
	return deep(n-1) + int(space[n&255])
}

func twice(n int) int {
	return 2*n + total&1
}

//go:noinline
func record(file *os.File, id, i int) {
	fmt.Fprintf(file, "%d %d\n", id, i)
}

//go:noinline
func fail(n int) int {
	if n > 0 {
		panic(n)
	}
	return n
}

//go:noinline
func try(n int) (result int) {
	defer func() {
		recover()
		result++
	}()
	result = fail(n)
	return result + fail(-n)
}

//go:noinline
func brief(n int, done chan<- int) {
	defer func() { done <- n }()
	time.Sleep(time.Millisecond)
	n += try(n)
}

func worker(file *os.File, id int, sums chan<- int) {
	sum := 0
	for i := 0; ; i++ {
		time.Sleep(100 * time.Microsecond)
		record(file, id, i)
		mutex.Lock()
		total += twice(i)
		mutex.Unlock()
		sum += deep(i & 15)
		sums <- sum
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	sums := make(chan int)
	for id := 0; id < 20; id++ {
		go worker(file, id, sums)
	}
	done := make(chan int)
	for n := 1; ; n++ {
		for i := 0; i < 20; i++ {
			<-sums
		}
		go brief(n, done)
		<-done
	}
}
