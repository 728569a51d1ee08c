// Lockers has an RWMutex and a Mutex, each held by a goroutine that finds it by number, as an interface, and waited for by
// another. It prints "ready", and waits until its input ends. No other code lets go of a lock that it has not taken.
package main

import (
	"fmt"
	"io/ioutil"
	"os"
	"sync"
	"time"
)

type queue struct {
	shared sync.RWMutex
	mutex  sync.Mutex
	items  []string
}

var lockers = map[int]sync.Locker{}

//go:noinline
func find(number int) sync.Locker { return lockers[number] }

//go:noinline
func hold(number int) {
	find(number).Lock()
	time.Sleep(time.Hour)
	find(number).Unlock()
}

//go:noinline
func (q *queue) push(item string) {
	q.shared.Lock()
	q.items = append(q.items, item)
	q.shared.Unlock()
}

//go:noinline
func (q *queue) size() int {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	return len(q.items)
}

func main() {
	q := new(queue)
	lockers[1] = q.shared.RLocker()
	lockers[2] = &q.mutex
	go hold(1)
	go hold(2)
	time.Sleep(100 * time.Millisecond)
	go q.push("x")
	go q.size()
	time.Sleep(100 * time.Millisecond)
	fmt.Println("ready")
	ioutil.ReadAll(os.Stdin)
}
