// Has memory of each kind, and says how much: what the Go heap has, by runtime.MemStats; what C code has
// asked malloc for, on several threads; a file and anonymous memory that it maps itself. After each line of input it
// says again what of the Go heap is free, and what counts towards the limit of memory: both become less by themselves.
package main

/*
#include <stdlib.h>
#include <string.h>

void *volatile last;

static void use(size_t size)
{
	last = malloc(size);
	memset(last, 1, size);
}
*/
import "C"

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"syscall"
)

var (
	kept      [][]byte
	finalized []*[2]int
)

func touch(bytes []byte) {
	for i := range bytes {
		bytes[i] = 1
	}
}

// spend has as many bytes of objects as there are to be, and lets go of half of them.
func spend(count int) {
	var dropped [][]byte
	for i := 0; i < count; i++ {
		for _, list := range []*[][]byte{&kept, &dropped} {
			bytes := make([]byte, 100000)
			touch(bytes)
			*list = append(*list, bytes)
		}
	}
}

// reserve has addresses that no memory is behind, but for a page at their end. Core files leave that out.
func reserve() {
	size := 3 << 20
	size <<= 20
	reserved, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		return
	}
	syscall.Madvise(reserved, 16) // MADV_DONTDUMP
	reserved[size-1] = 1
	fmt.Println("reserved", size)
}

// deep has a stack that is larger than others.
func deep(left int, ready chan bool) {
	var room [1024]byte
	if left > 0 {
		deep(left-1, ready)
		return
	}
	room[left] = 1
	ready <- true
	select {}
}

// sayLimited says how much counts towards the limit max, if there is one.
func sayLimited(stats *runtime.MemStats, max int64) {
	if max == 0 {
		fmt.Println("limited", 0)
	} else {
		fmt.Println("limited", stats.Sys-stats.HeapReleased)
	}
}

func main() {
	small := make(chan int)
	for thread := 0; thread < 4; thread++ {
		go func() {
			runtime.LockOSThread()
			for i := 0; i < 5000; i++ {
				C.use(1000)
			}
			small <- 5000 * 1000
			select {}
		}()
	}
	asked := <-small + <-small + <-small + <-small
	for i := 0; i < 3; i++ {
		C.use(9000000)
		asked += 9000000
	}
	mapped, err := syscall.Mmap(-1, 0, 50<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	touch(mapped)
	reserve()
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	size, _ := file.Seek(0, 2)
	data, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	sum := 0
	for _, b := range data {
		sum += int(b)
	}
	ready := make(chan bool)
	for i := 0; i < 100; i++ {
		go deep(50, ready)
		<-ready
	}
	spend(100)
	for i := 0; i < 40000; i++ {
		object := &[2]int{1, 1} // pages of zeros are not in core files
		runtime.SetFinalizer(object, func(*[2]int) {})
		finalized = append(finalized, object)
	}
	for i := 0; i < 40; i++ {
		runtime.GC()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	fmt.Println("objects", stats.HeapAlloc)
	fmt.Println("spans", stats.HeapInuse)
	fmt.Println("most", stats.HeapIdle-stats.HeapReleased)
	fmt.Println("stacks", stats.StackInuse)
	fmt.Println("malloc", asked)
	fmt.Println("anonymous", len(mapped))
	fmt.Println("files", len(data))
	fmt.Println("own", stats.MSpanSys+stats.MCacheSys+stats.BuckHashSys+stats.GCSys+stats.OtherSys)
	fmt.Println("specials", 48*len(finalized))
	fmt.Println("collections", stats.NumGC)
	fmt.Println("fraction", stats.GCCPUFraction)
	fmt.Println("span", stats.PauseEnd[(stats.NumGC+255)%256]-stats.PauseEnd[(stats.NumGC+255-32)%256])
	max := limit()
	fmt.Println("limit", max)
	sayLimited(&stats, max)
	fmt.Println("ready", sum)
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		runtime.ReadMemStats(&stats)
		fmt.Println("least", stats.HeapIdle-stats.HeapReleased)
		sayLimited(&stats, max)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(finalized)
}
