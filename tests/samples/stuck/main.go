// Stuck has one goroutine that has a mutex and does not go on, in the way that its argument names, and three that wait for the
// mutex. It prints "ready", the number of the one that has it, of its thread, and what a system call it is in works on; then it
// waits until its input ends. It maps the file that a second argument names, which is data.
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

func say(what ...interface{}) {
	fmt.Println(append([]interface{}{"ready", id(), C.own_thread()}, what...)...)
}

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
	name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", pipe[1]))
	say(pipe[1], name)
	// Whatever stops the process for a moment ends a write that has done a part.
	for left := make([]byte, 1<<20); len(left) > 0; {
		if n, _ := syscall.Write(pipe[1], left); n > 0 {
			left = left[n:]
		}
	}
}

//go:noinline
func spin() {
	mutex.Lock()
	say()
	for n := uint64(1); n != 0; n = n*6364136223846793005 + 1442695040888963407 {
	}
	mutex.Unlock()
}

type held struct {
	next *held
	room [100]int
}

//go:noinline
func (h *held) close() {
	mutex.Lock()
	h.room[0]++
	mutex.Unlock()
}

//go:noinline
func makeHeld(n int) {
	for i := 0; i < n; i++ {
		runtime.SetFinalizer(new(held), (*held).close)
	}
}

//go:noinline
func blockFinalizers() {
	mutex.Lock()
	makeHeld(20)
	runtime.GC()
	time.Sleep(50 * time.Millisecond)
	say()
	<-make(chan int)
}

// It needs more than 32 MB, and says how many MB all stacks have, and how many calls its has.
//
//go:noinline
func descend(depth int) int {
	var room [1 << 13]int
	room[depth] = depth
	if depth == 600 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		calls := runtime.Callers(1, make([]uintptr, 1000)) - 1
		say(stats.StackInuse>>20, calls)
		<-make(chan int)
	}
	return descend(depth+1) + room[depth/2]
}

//go:noinline
func goDeep() {
	mutex.Lock()
	descend(0)
}

//go:noinline
func handle() {
	mutex.Lock()
	mutex.Unlock()
}

func mapFile(path string) {
	file, err := os.Open(path)
	if err != nil {
		panic(err)
	}
	if _, err := syscall.Mmap(int(file.Fd()), 0, 1, syscall.PROT_READ, syscall.MAP_SHARED); err != nil {
		panic(err)
	}
}

func main() {
	if len(os.Args) > 2 {
		mapFile(os.Args[2])
	}
	go map[string]func(){"c": callC, "kernel": callKernel, "pipe": writePipe, "spin": spin,
		"finalizers": blockFinalizers, "deep": goDeep}[os.Args[1]]()
	time.Sleep(100 * time.Millisecond)
	for i := 0; i < 3; i++ {
		go handle()
	}
	ioutil.ReadAll(os.Stdin)
}
