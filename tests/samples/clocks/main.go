// Clocks is a program whose goroutines wait for mutexes of C's.
//
//	clocks c        two goroutines in C wait for each other's mutexes
//	clocks go       one has a mutex of Go's and waits for one of C's, whose holder waits, in Go that C called, for the first
//	clocks self     one in C waits for what it has itself
//	clocks rwlock   one has an rwlock and waits for a mutex, the other the other way round
//	clocks thread   a thread of C's has the mutex
//	clocks healthy  many take a mutex and let go of it
package main

/*
int lock_first_second(void);
int lock_second_first(void);
int lock_first(void);
int lock_twice(void);
int lock_and_call(void);
int write_and_lock(void);
int lock_and_read(void);
int start_holder(void);
int work(void);
*/
import "C"

import (
	"fmt"
	"os"
	"sync"
	"time"
)

var mutex sync.Mutex

func main() {
	switch os.Args[1] {
	case "c":
		go firstSecond()
		go secondFirst()
	case "go":
		go goThenC()
		go cThenGo()
	case "self":
		go twice()
	case "rwlock":
		go writeAndLock()
		go lockAndRead()
	case "thread":
		C.start_holder()
		go lockFirst()
	case "healthy":
		for i := 0; i < 20; i++ {
			go healthy()
		}
	}
	time.Sleep(time.Second)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}

//go:noinline
func firstSecond() { C.lock_first_second() }

//go:noinline
func secondFirst() { C.lock_second_first() }

//go:noinline
func lockFirst() { C.lock_first() }

//go:noinline
func goThenC() {
	mutex.Lock()
	time.Sleep(100 * time.Millisecond)
	C.lock_first()
	mutex.Unlock()
}

//go:noinline
func cThenGo() { C.lock_and_call() }

//export lockInGo
func lockInGo() {
	mutex.Lock()
	mutex.Unlock()
}

//go:noinline
func twice() { C.lock_twice() }

//go:noinline
func writeAndLock() { C.write_and_lock() }

//go:noinline
func lockAndRead() { C.lock_and_read() }

//go:noinline
func healthy() {
	for {
		C.work()
	}
}
