// Stuck has one goroutine that has a mutex and does not go on, in the way that its argument names, and three that wait for the
// mutex. It prints "ready", the number of the one that has it, and of its thread; then it waits until its input ends.
package main

/*
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;

static long own_thread(void)
{
	return syscall(SYS_gettid);
}

static void lock_twice(void)
{
	pthread_mutex_lock(&taken);
	pthread_mutex_lock(&taken);
}

// Until its child ends, nothing stops a parent in the kernel.
static void wait_in_kernel(void)
{
	if (vfork() == 0) {
		while (getppid() != 1)
			usleep(20000);
		_exit(0);
	}
}
*/
import "C"

import (
	"bytes"
	"fmt"
	"io/ioutil"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var mutex sync.Mutex

func id() string {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	return string(bytes.Fields(buf)[1])
}

func say() { fmt.Println("ready", id(), C.own_thread()) }

//go:noinline
func callC() {
	runtime.LockOSThread()
	mutex.Lock()
	defer mutex.Unlock()
	say()
	C.lock_twice()
}

//go:noinline
func callKernel() {
	runtime.LockOSThread()
	mutex.Lock()
	defer mutex.Unlock()
	say()
	C.wait_in_kernel()
}

//go:noinline
func writePipe() {
	var pipe [2]int
	mutex.Lock()
	defer mutex.Unlock()
	syscall.Pipe(pipe[:])
	say()
	syscall.Write(pipe[1], make([]byte, 1<<20))
}

//go:noinline
func spin() {
	mutex.Lock()
	say()
	for n := uint64(1); n != 0; n = n*6364136223846793005 + 1442695040888963407 {
	}
	mutex.Unlock()
}

//go:noinline
func handle() {
	mutex.Lock()
	mutex.Unlock()
}

func main() {
	go map[string]func(){"c": callC, "kernel": callKernel, "pipe": writePipe, "spin": spin}[os.Args[1]]()
	time.Sleep(100 * time.Millisecond)
	for i := 0; i < 3; i++ {
		go handle()
	}
	ioutil.ReadAll(os.Stdin)
}
