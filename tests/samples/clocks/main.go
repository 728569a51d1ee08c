// Clocks is a program whose goroutines wait for mutexes of C's.
//
//	clocks c        two goroutines in C wait for each other's mutexes
//	clocks go       one has a mutex of Go's and waits for one of C's, whose holder waits, in Go that C called, for the first
//	clocks self     one in C waits for what it has itself
//	clocks rwlock   one has an rwlock and waits for a mutex, the other the other way round
//	clocks thread   a thread of C's has the mutex
//	clocks between  one has a mutex and waits for another, which a thread of C's has, that waits for the first
//	clocks join     one has a mutex of Go's and waits for a thread to end, which waits for the mutex in Go that it called
//	clocks joinc    one has a mutex and waits for a thread of C's to end, which waits for the mutex
//	clocks cond     one has a mutex of Go's and waits for a condition of C's, which whoever waits for the mutex would signal
//	clocks sem      the same with a semaphore
//	clocks healthy  many take a mutex, an rwlock and mutexes of Go's, wait for threads to end, and let go of all
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
int lock_between(void);
int join_go(void);
int join_c(void);
int wait_cond(void);
int signal_cond(void);
int wait_sem(void);
int post_sem(void);
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
	case "between":
		go between()
	case "join":
		go joinGo()
	case "joinc":
		go joinC()
	case "cond":
		go waitCond()
		go signalCond()
	case "sem":
		go waitSem()
		go postSem()
	case "healthy":
		for i := 0; i < 20; i++ {
			go healthy()
		}
	}
	time.Sleep(600 * time.Millisecond)
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
func between() { C.lock_between() }

//go:noinline
func joinGo() {
	mutex.Lock()
	C.join_go()
	mutex.Unlock()
}

//go:noinline
func joinC() { C.join_c() }

//go:noinline
func waitCond() {
	mutex.Lock()
	C.wait_cond()
	mutex.Unlock()
}

//go:noinline
func signalCond() {
	time.Sleep(100 * time.Millisecond)
	mutex.Lock()
	C.signal_cond()
	mutex.Unlock()
}

//go:noinline
func waitSem() {
	mutex.Lock()
	C.wait_sem()
	mutex.Unlock()
}

//go:noinline
func postSem() {
	time.Sleep(100 * time.Millisecond)
	mutex.Lock()
	C.post_sem()
	mutex.Unlock()
}

//go:noinline
func healthy() {
	for {
		mutex.Lock()
		C.work()
		mutex.Unlock()
		C.work()
	}
}
