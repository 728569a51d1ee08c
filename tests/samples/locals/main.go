// Locals builds objects that only the variables of its functions lead to, and says of each what type it has.
//
//	locals [DUMP]
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

// Each function has types of its own, of one shape: nothing but the function tells them apart.
type (
	// Made is allocated, and assigned once.
	Made struct {
		next  *Made
		words [6]uintptr
	}
	// Appended is what a slice that grows has.
	Appended struct {
		next  *Appended
		words [6]uintptr
	}
	// Filled is in a slice that is made as long as it is.
	Filled struct {
		next  *Filled
		words [6]uintptr
	}
	// Mapped is in a map.
	Mapped struct {
		next  *Mapped
		words [6]uintptr
	}
	// Few is in a map whose header is in the frame.
	Few struct {
		next  *Few
		words [6]uintptr
	}
	// Queued is in a channel.
	Queued struct {
		next  *Queued
		words [6]uintptr
	}
	// Returned is what a function returns that makes it.
	Returned struct {
		next  *Returned
		words [6]uintptr
	}
	// Listed is in a slice that a function returns.
	Listed struct {
		next  *Listed
		words [6]uintptr
	}
	// Looked is in a map that a function returns.
	Looked struct {
		next  *Looked
		words [6]uintptr
	}
	// Chained is a list that grows in a loop.
	Chained struct {
		next  *Chained
		words [6]uintptr
	}
	// Field is in a struct that is a variable.
	Field struct {
		next  *Field
		words [6]uintptr
	}
	// Boxed is in an interface.
	Boxed struct {
		next  *Boxed
		words [6]uintptr
	}
	// Left and Right are in one variable.
	Left struct {
		next  *Left
		words [6]uintptr
	}
	// Right is the other one.
	Right struct {
		next  *Right
		words [6]uintptr
	}
	// Early and Late are in slices of which one is made after the last use of the other.
	Early struct {
		next  *Early
		words [6]uintptr
	}
	// Late is the later one.
	Late struct {
		next  *Late
		words [6]uintptr
	}
)

// Holder is a variable, not an object.
type Holder struct {
	field *Field
	names []*Field
}

var (
	lock    sync.Mutex
	shown   strings.Builder
	release = make(chan bool)
	ready   sync.WaitGroup
	escaped unsafe.Pointer
)

// is says that at P there is an object of type OF.
//
//go:noinline
func is(p unsafe.Pointer, of string) {
	lock.Lock()
	escaped = p
	escaped = nil
	fmt.Fprintf(&shown, "%#x\t%s\n", uintptr(p), of)
	lock.Unlock()
}

// wait has the caller's variables stay as they are.
//
//go:noinline
func wait() {
	ready.Done()
	<-release
}

// keep is a last use of P.
//
//go:noinline
func keep(p unsafe.Pointer) {
}

func made(n int) {
	p := new(Made)
	p.next = &Made{next: new(Made)}
	is(unsafe.Pointer(p), "main.Made")
	is(unsafe.Pointer(p.next), "main.Made")
	is(unsafe.Pointer(p.next.next), "main.Made")
	wait()
	keep(unsafe.Pointer(p))
}

func appended(n int) {
	var list []*Appended
	for i := 0; i < n; i++ {
		p := new(Appended)
		is(unsafe.Pointer(p), "main.Appended")
		list = append(list, p)
	}
	is(unsafe.Pointer(&list[0]), "[]*main.Appended")
	wait()
	keep(unsafe.Pointer(&list[0]))
}

func filled(n int) {
	list := make([]*Filled, n)
	for i := range list {
		list[i] = new(Filled)
		is(unsafe.Pointer(list[i]), "main.Filled")
	}
	is(unsafe.Pointer(&list[0]), "[]*main.Filled")
	wait()
	keep(unsafe.Pointer(&list[0]))
}

func mapped(n int) {
	all := make(map[int]*Mapped, n)
	for i := 0; i < n; i++ {
		all[i] = new(Mapped)
		is(unsafe.Pointer(all[i]), "main.Mapped")
	}
	wait()
	keep(unsafe.Pointer(all[n/2]))
}

func few(n int) {
	all := map[string]*Few{}
	for i := 0; i < n; i++ {
		p := new(Few)
		is(unsafe.Pointer(p), "main.Few")
		all[fmt.Sprint("few ", i)] = p
	}
	wait()
	keep(unsafe.Pointer(all["few"]))
}

func queued(n int) {
	queue := make(chan *Queued, n)
	for i := 0; i < n; i++ {
		p := new(Queued)
		is(unsafe.Pointer(p), "main.Queued")
		queue <- p
	}
	wait()
	keep(unsafe.Pointer(<-queue))
}

//go:noinline
func makeOne() *Returned {
	p := new(Returned)
	is(unsafe.Pointer(p), "main.Returned")
	return p
}

func returned(n int) {
	p := makeOne()
	p.next = makeOne()
	wait()
	keep(unsafe.Pointer(p))
}

//go:noinline
func makeList(n int) []*Listed {
	list := make([]*Listed, 0, 1)
	for i := 0; i < n; i++ {
		p := &Listed{}
		is(unsafe.Pointer(p), "main.Listed")
		list = append(list, p)
	}
	return list
}

func listed(n int) {
	list := makeList(n)
	wait()
	keep(unsafe.Pointer(&list[0]))
}

//go:noinline
func makeMap(n int) map[int]*Looked {
	all := map[int]*Looked{}
	for i := 0; i < n; i++ {
		p := &Looked{}
		is(unsafe.Pointer(p), "main.Looked")
		all[i] = p
	}
	return all
}

func looked(n int) {
	all := makeMap(n)
	wait()
	keep(unsafe.Pointer(all[n/2]))
}

func chained(n int) {
	var first *Chained
	for i := 0; i < n; i++ {
		first = &Chained{next: first}
		is(unsafe.Pointer(first), "main.Chained")
	}
	wait()
	keep(unsafe.Pointer(first))
}

func field(n int) {
	var holder Holder
	holder.field = new(Field)
	is(unsafe.Pointer(holder.field), "main.Field")
	for i := 0; i < n; i++ {
		p := new(Field)
		is(unsafe.Pointer(p), "main.Field")
		holder.names = append(holder.names, p)
	}
	wait()
	keep(unsafe.Pointer(holder.field))
	keep(unsafe.Pointer(&holder.names[0]))
}

func boxed(n int) {
	var value interface{} = Boxed{words: [6]uintptr{uintptr(n)}}
	is((*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1], "main.Boxed")
	wait()
	keep((*[2]unsafe.Pointer)(unsafe.Pointer(&value))[1])
}

// either has two types in one variable.
func either(n int) {
	var p unsafe.Pointer
	if n%2 == 0 {
		p = unsafe.Pointer(new(Left))
		is(p, "main.Left")
	} else {
		p = unsafe.Pointer(new(Right))
		is(p, "main.Right")
	}
	wait()
	keep(unsafe.Pointer(p))
}

// after may have both slices in one place.
func after(n int) {
	early := make([]Early, n/4)
	if n%2 == 0 {
		is(unsafe.Pointer(&early[0]), "[]main.Early")
		wait()
		keep(unsafe.Pointer(&early[0]))
		return
	}
	escaped = unsafe.Pointer(&early[0])
	late := make([]Late, n/4)
	is(unsafe.Pointer(&late[0]), "[]main.Late")
	wait()
	keep(unsafe.Pointer(&late[0]))
}

func main() {
	functions := []func(int){made, appended, filled, mapped, few, queued, returned, listed, looked, chained, field, boxed, either,
		either, after, after}
	ready.Add(len(functions))
	for i, f := range functions {
		go f(20 + i)
	}
	ready.Wait()
	runtime.GC()
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
