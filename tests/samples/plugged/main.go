// Plugged is a plugin whose variables and frames hold objects.
package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

var (
	held  *[1000]byte
	first = &held
)

// Hold makes an object that only a variable of the plugin's holds, and gives its address.
func Hold() uintptr {
	*first = new([1000]byte)
	return uintptr(unsafe.Pointer(held))
}

// HoldInFrame makes an object that only a frame of the plugin's holds, of a goroutine that waits, and gives its address.
func HoldInFrame() uintptr {
	started := make(chan uintptr)
	go keep(started)
	return <-started
}

//go:noinline
func allocate() *[2000]byte {
	return new([2000]byte)
}

//go:noinline
func keep(started chan uintptr) {
	object := allocate()
	started <- uintptr(unsafe.Pointer(object))
	<-started
	runtime.KeepAlive(object)
}

// Wait starts a goroutine that waits.
func Wait() {
	waits := make(chan bool)
	go wait(waits, 7)
	waits <- true
	for range [100]int{} {
		runtime.Gosched()
	}
}

//go:noinline
func wait(waits chan bool, n int) {
	<-waits
	waits <- n > 0
}

var mutexes [2]sync.Mutex

// Deadlock starts two goroutines that wait for each other's mutexes.
func Deadlock() {
	go lock(&mutexes[0], &mutexes[1])
	go lock(&mutexes[1], &mutexes[0])
	time.Sleep(200 * time.Millisecond)
}

//go:noinline
func lock(first, second *sync.Mutex) {
	first.Lock()
	time.Sleep(50 * time.Millisecond)
	second.Lock()
	second.Unlock()
	first.Unlock()
}

// An order is of types that only the plugin describes, but for those of its fields.
type order struct {
	id     int
	buyer  *customer
	lines  []line
	byText map[string]*line
	paid   chan *customer
}

type customer struct {
	name   string
	friend fmt.Stringer
}

type line struct {
	count int
	text  string
}

func (c *customer) String() string { return c.name }

var shown interface{}

// Show makes objects of those types, which an interface of the plugin's leads to, and prints the address and the type of
// each.
func Show() {
	friend := &customer{name: "bob"}
	buyer := &customer{"alice", friend}
	lines := make([]line, 5)
	for i := range lines {
		lines[i] = line{i, "item"}
	}
	text := &line{7, "text"}
	o := &order{42, buyer, lines, map[string]*line{"key": text}, make(chan *customer, 3)}
	o.paid <- friend
	shown = o
	for _, v := range []interface{}{o, buyer, friend, text, o.paid} {
		fmt.Printf("type %p %T\n", v, v)
	}
	fmt.Printf("type %p %T\n", &lines[0], &lines)
}

func main() {}
