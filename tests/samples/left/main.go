// Left has a lock that was left locked, goroutines that wait for it, and more that are idle. It prints "ready", and waits until
// its input ends. Nothing in it lets go of a lock that it has not taken.
//
//	left          a mutex that a panic has left locked, and three goroutines
//	left goexit   one that runtime.Goexit has left locked, and three
//	left early    an RWMutex that a return has left read-locked, whose goroutine waits for work, a writer and a reader
package main

import (
	"fmt"
	"io/ioutil"
	"os"
	"runtime"
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

type ledger struct {
	mutex sync.Mutex
	lines []string
}

func (l *ledger) check(line string) {
	if line == "" {
		runtime.Goexit()
	}
}

//go:noinline
func (l *ledger) append(line string) {
	l.mutex.Lock()
	l.check(line)
	l.lines = append(l.lines, line)
	l.mutex.Unlock()
}

func goexit() {
	l := new(ledger)
	go l.append("")
	time.Sleep(50 * time.Millisecond)
	for i := 0; i < 3; i++ {
		go l.append("x")
	}
}

type cache struct {
	lock sync.RWMutex
	rows map[string]string
}

//go:noinline
func (c *cache) get(key string) (string, error) {
	c.lock.RLock()
	row, ok := c.rows[key]
	if !ok {
		return "", os.ErrNotExist
	}
	c.lock.RUnlock()
	return row, nil
}

//go:noinline
func (c *cache) put(key, row string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.rows[key] = row
}

//go:noinline
func (c *cache) serve(keys chan string) {
	for key := range keys {
		if _, err := c.get(key); err != nil {
			fmt.Println(err)
		}
	}
}

var keys = make(chan string)

func early() {
	c := &cache{rows: map[string]string{"a": "b"}}
	go c.serve(keys)
	keys <- "z"
	time.Sleep(50 * time.Millisecond)
	go c.put("c", "d")
	time.Sleep(50 * time.Millisecond)
	go c.get("a")
}

func panics() {
	s := &store{hits: map[int]int{}}
	broken(s)
	for i := 0; i < 3; i++ {
		go s.count(1)
	}
	if s.hits[1] > 0 {
		fmt.Println(s.read())
	}
}

func main() {
	switch {
	case len(os.Args) < 2:
		panics()
	case os.Args[1] == "goexit":
		goexit()
	case os.Args[1] == "early":
		early()
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
}
