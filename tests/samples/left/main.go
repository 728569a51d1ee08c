// Left has a mutex that a panic has left locked, three goroutines that wait for it, and more that are idle. It prints "ready",
// and waits until its input ends. Nothing in it lets go of a mutex that it has not taken.
package main

import (
	"fmt"
	"io/ioutil"
	"os"
	"sync"
	"time"
)

type store struct {
	mutex sync.Mutex
	hits  map[int]int
}

//go:noinline
func (s *store) count(by int) {
	s.mutex.Lock()
	s.hits[1] += 100 / by
	s.mutex.Unlock()
}

//go:noinline
func (s *store) read() int {
	s.mutex.Lock()
	hits := s.hits[1]
	s.mutex.Unlock()
	return hits
}

var jobs = make(chan int)

//go:noinline
func work(jobs chan int) {
	for range jobs {
	}
}

//go:noinline
func broken(s *store) {
	defer func() { recover() }()
	s.count(0)
}

func main() {
	s := &store{hits: map[int]int{}}
	broken(s)
	for i := 0; i < 3; i++ {
		go s.count(1)
	}
	for i := 0; i < 5; i++ {
		go work(jobs)
	}
	for i := 0; i < 4; i++ {
		go time.Sleep(time.Hour)
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("ready")
	ioutil.ReadAll(os.Stdin)
	if s.hits[1] > 0 {
		fmt.Println(s.read())
	}
}
