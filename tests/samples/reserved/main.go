// Reserved is a program that has addresses without memory, and memory that is not to be read: it says how much of each, and
// "ready". Two of its goroutines wait for each other's mutexes.
//
//	reserved FILE   FILE is an empty file
package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

const (
	huge  = 16 << 30
	large = 8 << 20
	page  = 4096
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// Mapped maps memory, and says of how many bytes it is.
func mapped(kind string, fd, size, access, flags int) []byte {
	bytes, err := syscall.Mmap(fd, 0, size, access, flags)
	must(err)
	fmt.Printf("%s %d %#x\n", kind, size, uintptr(unsafe.Pointer(&bytes[0])))
	return bytes
}

// Device maps the buffer of a performance counter, which is the kernel's, if that is to be had.
func device() {
	attributes := make([]byte, 64)
	attributes[0] = 1  // PERF_TYPE_SOFTWARE
	attributes[4] = 64 // the size of this, PERF_ATTR_SIZE_VER0
	fd, _, _ := syscall.Syscall6(298, uintptr(unsafe.Pointer(&attributes[0])), 0, ^uintptr(0), ^uintptr(0), 0, 0)
	if int(fd) < 0 {
		return
	}
	if bytes, err := syscall.Mmap(int(fd), 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err == nil {
		fmt.Printf("device %d %#x\n", len(bytes), uintptr(unsafe.Pointer(&bytes[0])))
	}
}

var first, second sync.Mutex

//go:noinline
func lock(a, b *sync.Mutex) {
	a.Lock()
	time.Sleep(100 * time.Millisecond)
	b.Lock()
	b.Unlock()
	a.Unlock()
}

func main() {
	both := syscall.PROT_READ | syscall.PROT_WRITE
	private := syscall.MAP_PRIVATE | syscall.MAP_ANON | syscall.MAP_NORESERVE
	mapped("spare", -1, huge, both, private)
	mapped("none", -1, huge, syscall.PROT_NONE, private)
	mapped("used", -1, huge, both, private)[huge/2] = 'u'
	pinned := mapped("pinned", -1, large, both, syscall.MAP_SHARED|syscall.MAP_ANON)
	if syscall.Mlock(pinned) != nil {
		fmt.Println("unlocked")
	}
	mapped("shared", -1, large, both, syscall.MAP_SHARED|syscall.MAP_ANON)[0] = 's'
	zero, err := syscall.Open("/dev/zero", syscall.O_RDWR, 0)
	must(err)
	mapped("zero", zero, large, both, syscall.MAP_PRIVATE)[page] = 'z'
	file, err := os.OpenFile(os.Args[1], os.O_RDWR, 0600)
	must(err)
	must(file.Truncate(large))
	mapped("past", int(file.Fd()), large, both, syscall.MAP_SHARED)
	mapped("past", int(file.Fd()), large, both, syscall.MAP_PRIVATE)
	mapped("past", int(file.Fd()), large, syscall.PROT_READ, syscall.MAP_PRIVATE)
	must(file.Truncate(page))
	device()
	go lock(&first, &second)
	go lock(&second, &first)
	time.Sleep(300 * time.Millisecond)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
