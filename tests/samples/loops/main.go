// Loops builds objects in loops that store them in package variables, and says of each what type it has.
//
//	loops [DUMP]
//
// It prints lines of two words with a tab between them: an address, hexadecimal, and the type of the object that begins
// there. Then it writes the heap dump, or prints "ready" and waits for the end of its input.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"
)

// Each loop has types of its own, of one shape: nothing but its code tells them apart.
type (
	// Listed is in a list that grows at its head.
	Listed struct {
		next  *Listed
		words [6]uintptr
	}
	// Nested is in one that two loops, one in the other, build.
	Nested struct {
		next  *Nested
		words [6]uintptr
	}
	// Ringed is in a slice that a loop goes round and round.
	Ringed struct {
		next  *Ringed
		words [6]uintptr
	}
	// Registered is in a field that a method stores in.
	Registered struct {
		next  *Registered
		words [6]uintptr
	}
	// Queued is stored where a loop that ends only by a return has its condition.
	Queued struct {
		next  *Queued
		words [6]uintptr
	}
	// Mapped is in a map.
	Mapped struct {
		next  *Mapped
		words [6]uintptr
	}
	// Kept is in a field of a variable.
	Kept struct {
		next  *Kept
		words [6]uintptr
	}
	// Called is stored after a call.
	Called struct {
		next  *Called
		words [6]uintptr
	}
	// Received is made for what comes out of a channel.
	Received struct {
		next  *Received
		words [6]uintptr
	}
	// Appended is in a slice that grows.
	Appended struct {
		next  *Appended
		words [6]uintptr
	}
	// Chosen is stored where a condition holds.
	Chosen struct {
		next  *Chosen
		words [6]uintptr
	}
	// Tailed is in a list that grows at its end.
	Tailed struct {
		next  *Tailed
		words [6]uintptr
	}
	// Left and Right are in one variable, in turns, by one store.
	Left struct {
		next  unsafe.Pointer
		words [6]uintptr
	}
	// Right is the other one.
	Right struct {
		next  unsafe.Pointer
		words [6]uintptr
	}
)

// Even and Odd are in one variable, in turns, by two stores.
type (
	Even struct {
		next  unsafe.Pointer
		words [6]uintptr
	}
	// Odd is the other one.
	Odd struct {
		next  unsafe.Pointer
		words [6]uintptr
	}
)

// Registry has a method that stores in it.
type Registry struct {
	count int
	head  *Registered
}

// Holder is a variable, not an object.
type Holder struct {
	count int
	kept  *Kept
}

// Where the loops store.
var (
	listed   *Listed
	nested   *Nested
	ring     []*Ringed
	ringAt   int
	mapped   map[int]*Mapped
	holder   Holder
	called   *Called
	received *Received
	appended []*Appended
	chosen   *Chosen
	first    *Tailed
	last     *Tailed
	either   unsafe.Pointer
	parity   unsafe.Pointer
	registry Registry
	queued   *Queued
)

var (
	lock  sync.Mutex
	shown strings.Builder
)

// is says that at P there is an object of type OF.
//
//go:noinline
func is(p unsafe.Pointer, of string) {
	lock.Lock()
	fmt.Fprintf(&shown, "%#x\t%s\n", uintptr(p), of)
	lock.Unlock()
}

func list(n int) {
	for i := 0; i < n; i++ {
		listed = &Listed{next: listed, words: [6]uintptr{uintptr(i)}}
	}
}

func nest(n int) {
	for i := 0; i < n; i++ {
		for j := 0; j < i%4; j++ {
			nested = &Nested{next: nested, words: [6]uintptr{uintptr(i), uintptr(j)}}
		}
	}
}

func turn(n int) {
	for ringAt < 2 {
		ring = make([]*Ringed, 16)
		ringAt++
	}
	for i := 0; i < n; i++ {
		ring[ringAt%len(ring)] = &Ringed{next: ring[0], words: [6]uintptr{uintptr(i)}}
		ringAt++
	}
}

func fill(n int) {
	for round := 0; round < 2; round++ {
		mapped = make(map[int]*Mapped, n)
		for i := 0; i < n; i++ {
			mapped[i] = &Mapped{words: [6]uintptr{uintptr(i)}}
		}
	}
}

func keep(n int) {
	for i := 0; i < n; i++ {
		holder.kept = &Kept{next: holder.kept, words: [6]uintptr{uintptr(i)}}
		holder.count++
	}
}

//go:noinline
func number(i int) uintptr {
	return uintptr(i) * 3
}

func call(n int) {
	for i := 0; i < n; i++ {
		made := &Called{next: called}
		made.words[1] = number(i)
		if number(i) == 7 {
			continue
		}
		called = made
	}
}

func receive(n int) {
	queue, done := make(chan int), make(chan bool)
	go func() {
		for i := range queue {
			received = &Received{next: received, words: [6]uintptr{uintptr(i)}}
		}
		done <- true
	}()
	for i := 0; i < n; i++ {
		queue <- i
	}
	close(queue)
	<-done
}

func grow(n int) {
	for i := 0; i < n; i++ {
		appended = append(appended, &Appended{words: [6]uintptr{uintptr(i)}})
	}
}

func choose(n int) {
	for i := 0; i < n; i++ {
		if i%3 == 0 {
			chosen = &Chosen{next: chosen, words: [6]uintptr{uintptr(i)}}
		} else if chosen != nil {
			chosen.words[2] += number(i)
		}
	}
}

func follow(n int) {
	for i := 0; i < n; i++ {
		made := &Tailed{words: [6]uintptr{uintptr(i)}}
		if last == nil {
			first = made
		} else {
			last.next = made
		}
		last = made
	}
}

// alternate has two types in one variable by one store: which one is not known.
func alternate(n int) {
	for i := 0; i < n; i++ {
		var made unsafe.Pointer
		if i%2 == 0 {
			made = unsafe.Pointer(&Left{next: either})
		} else {
			made = unsafe.Pointer(&Right{next: either})
		}
		either = made
	}
}

// alternateBy has the same by two stores.
func alternateBy(n int) {
	for i := 0; i < n; i++ {
		if i%2 == 0 {
			parity = unsafe.Pointer(&Even{next: parity})
		} else {
			parity = unsafe.Pointer(&Odd{next: parity})
		}
	}
}

//go:noinline
func (r *Registry) fill(n int) {
	for r.count < n {
		r.head = &Registered{next: r.head, words: [6]uintptr{uintptr(n)}}
		r.count++
	}
}

func register(n int) {
	registry.fill(n)
}

func enqueue(n int) {
	for {
		made := &Queued{words: [6]uintptr{uintptr(n)}}
		if n--; n == 0 {
			return
		}
		made.next = queued
		queued = made
	}
}

func say() {
	for p := listed; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Listed")
	}
	for p := nested; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Nested")
	}
	for _, p := range ring {
		is(unsafe.Pointer(p), "main.Ringed")
	}
	for _, p := range mapped {
		is(unsafe.Pointer(p), "main.Mapped")
	}
	for p := holder.kept; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Kept")
	}
	for p := called; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Called")
	}
	for p := received; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Received")
	}
	is(unsafe.Pointer(&appended[0]), "[]*main.Appended")
	for _, p := range appended {
		is(unsafe.Pointer(p), "main.Appended")
	}
	for p := chosen; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Chosen")
	}
	for p := first; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Tailed")
	}
	for p := registry.head; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Registered")
	}
	for p := queued; p != nil; p = p.next {
		is(unsafe.Pointer(p), "main.Queued")
	}
	for p, odd := parity, true; p != nil; odd = !odd {
		if odd {
			is(p, "main.Odd")
		} else {
			is(p, "main.Even")
		}
		p = (*Even)(p).next
	}
	for p, right := either, true; p != nil; right = !right {
		if right {
			is(p, "main.Right")
		} else {
			is(p, "main.Left")
		}
		p = (*Left)(p).next
	}
}

func main() {
	for _, f := range []func(int){list, nest, turn, fill, keep, call, receive, grow, choose, follow, alternate,
		alternateBy, register, enqueue} {
		f(40)
	}
	runtime.GC()
	say()
	fmt.Print(shown.String())
	if len(os.Args) > 1 {
		file, err := os.Create(os.Args[1])
		if err != nil {
			panic(err)
		}
		debug.WriteHeapDump(file.Fd())
		return
	}
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
}
