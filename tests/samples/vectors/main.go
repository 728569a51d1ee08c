// Vectors has objects that only a vector register of a goroutine holds, which computes and calls nothing.
//
//	vectors    print "mark ADDRESS" of each, and "waiting"; when its input has a byte or ends, collect, and print "freed" for
//	           each that was not held
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"
)

var (
	stop    int32
	started = make(chan bool)
	sink    float64
)

//go:noinline
func mark() float64 {
	m := new([1000]byte)
	runtime.SetFinalizer(m, func(*[1000]byte) { fmt.Println("freed") })
	fmt.Printf("mark %#x\n", uintptr(unsafe.Pointer(m)))
	return math.Float64frombits(uint64(uintptr(unsafe.Pointer(m))))
}

//go:noinline
func compute(f float64) (sum float64) {
	for atomic.LoadInt32(&stop) == 0 {
		for i := 0; i < 1000000; i++ {
			sum += f
		}
	}
	return sum
}

func main() {
	runtime.GOMAXPROCS(1)
	for i := 0; i < 8; i++ {
		go func() {
			f := mark()
			started <- true
			sink += compute(f)
		}()
		<-started
	}
	fmt.Println("waiting")
	os.Stdin.Read(make([]byte, 1))
	runtime.GC()
	time.Sleep(500 * time.Millisecond)
	atomic.StoreInt32(&stop, 1)
}
