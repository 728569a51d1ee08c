// Foreign is a program whose goroutines are in C, each in its own way, and stay there: in calls of the C library that
// block, in a loop, and in Go that C has called. It prints "ready", and where C functions return to that called Go.
package main

/*
int in_read(void);
int hold_mutex(void);
int in_mutex(void);
int hold_rwlock(void);
int in_rdlock(void);
int in_cond(void);
int in_semaphore(void);
int in_join(void);
int in_loop(void);
int in_lie(void);
int down(int n);
int start_thread_of_c(void);
*/
import "C"

import (
	"fmt"
	"time"
)

func main() {
	go inRead()
	go holdMutex()
	go holdRWLock()
	time.Sleep(200 * time.Millisecond)
	go inMutex()
	go inRdlock()
	go inCond()
	go inSemaphore()
	go inJoin()
	go inLoop()
	go inLie()
	go descend(1)
	go waitInGo()
	C.start_thread_of_c()
	time.Sleep(500 * time.Millisecond)
	fmt.Println("ready")
	select {}
}

//go:noinline
func inRead() { C.in_read() }

//go:noinline
func holdMutex() { C.hold_mutex() }

//go:noinline
func inMutex() { C.in_mutex() }

//go:noinline
func holdRWLock() { C.hold_rwlock() }

//go:noinline
func inRdlock() { C.in_rdlock() }

//go:noinline
func inCond() { C.in_cond() }

//go:noinline
func inSemaphore() { C.in_semaphore() }

//go:noinline
func inJoin() { C.in_join() }

//go:noinline
func inLoop() { C.in_loop() }

//go:noinline
func inLie() { C.in_lie() }

// Descend goes from Go to C and back, twice, and waits in C.
//
//go:noinline
func descend(n int) int {
	return int(C.down(C.int(n))) + 1
}

//export upAgain
func upAgain(n C.int) C.int {
	switch n {
	case 0:
		return C.in_read()
	case 7:
		<-never
	}
	return C.int(descend(int(n)-1)) + 1
}

var never = make(chan int)

// WaitInGo waits for a channel in Go that C has called.
//
//go:noinline
func waitInGo() {
	C.down(7)
}

//export fromThread
func fromThread() {
	<-never
}
