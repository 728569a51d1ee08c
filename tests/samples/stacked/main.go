// Stacked has objects that only stacks and registers hold: variables whose address is taken, still used or not;
// deferred calls; a goroutine that runs; from Go 1.25 on, cleanups that wait to be called. It prints each such object's address, and which the next collection frees.
//
//	stacked DUMP    print "mark ADDRESS NAME" of each, "waiting"; when its input has a byte or ends, write the heap
//	                dump DUMP, collect, and print "freed NAME"
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unsafe"
)

// Mark is what is held, of a size that nothing else has.
type Mark struct {
	name  string
	bytes [1000]byte
}

// Holder is a variable with pointers after each other and between numbers.
type Holder struct {
	number int
	mark   *Mark
	inner  *Holder
	marks  [3]*Mark
}

var (
	block   = make(chan bool)
	started = make(chan bool)
	stop    int32
	freed   = make(chan string, 100)
	sink    int
	prepare = func() {}
)

//go:noinline
func mark(name string) *Mark {
	m := &Mark{name: name}
	fmt.Printf("mark %#x %s\n", uintptr(unsafe.Pointer(m)), name)
	runtime.SetFinalizer(m, func(m *Mark) { freed <- m.name })
	return m
}

//go:noinline
func fill(h *Holder, name string) {
	h.mark = mark(name)
	h.marks[2] = mark(name + "[2]")
}

//go:noinline
func use(h *Holder) { sink += h.number + h.inner.number }

//go:noinline
func wait() {
	started <- true
	<-block
}

// The variables are used after the wait.
func live() {
	var inner, outer Holder
	fill(&inner, "inner")
	fill(&outer, "outer")
	outer.inner = &inner
	p := &outer
	wait()
	use(p)
}

// They are not.
func dead() {
	var inner, outer Holder
	fill(&inner, "dead inner")
	fill(&outer, "dead outer")
	outer.inner = &inner
	use(&outer)
	wait()
}

// The one is, by the other.
func both() {
	var list [4]Holder
	for i := range list {
		fill(&list[i], fmt.Sprint("element ", i))
		list[i].inner = &list[(i+1)%4]
	}
	p := &list[2]
	wait()
	use(p)
}

func deferred() {
	for i := 0; i < 3; i++ {
		m := mark(fmt.Sprint("deferred ", i))
		defer func() { sink += len(m.name) }()
	}
	wait()
}

//go:noinline
func spin(m *Mark, h *Holder) int {
	n := 0
	for atomic.LoadInt32(&stop) == 0 {
		for i := range m.bytes {
			n += i*int(m.bytes[i]) + h.number
		}
	}
	return n + len(h.mark.name)
}

func running() {
	var h Holder
	m := mark("running")
	fill(&h, "running variable")
	started <- true
	sink += spin(m, &h)
	runtime.KeepAlive(m)
}

func main() {
	debug.SetGCPercent(-1)
	file, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	prepare()
	for _, f := range []func(){live, dead, both, deferred, running} {
		go f()
		<-started
	}
	fmt.Println("waiting")
	os.Stdin.Read(make([]byte, 1))
	debug.WriteHeapDump(file.Fd())
	runtime.GC()
	for {
		select {
		case name := <-freed:
			fmt.Println("freed", name)
			continue
		case <-time.After(500 * time.Millisecond):
		}
		break
	}
	atomic.StoreInt32(&stop, 1)
	close(block)
}
