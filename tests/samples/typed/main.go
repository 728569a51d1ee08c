// Typed builds objects of many types, with all that can be mistaken for another, and says of each what type it has.
//
//	typed DUMP
//
// It prints lines of two words with a tab between them: an address, hexadecimal, and the type of the object that begins
// there. An array's elements are what counts: "[]T" is as good as "[N]T", and both as T if there is one.
package main

import (
	"container/list"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Inner is what other types begin with.
type Inner struct {
	next  *Inner
	value [3]uintptr
}

// Wrapper has nothing but an Inner: it is as large, and has the same pointers.
type Wrapper struct {
	Inner
}

// Padded begins with an Inner and is of the same size class as one, where there is no class of 40 bytes.
type Padded struct {
	Inner
	more uintptr
}

// Outer begins with an Inner and is larger.
type Outer struct {
	Inner
	name  string
	inner *Inner
	links [2]*Outer
}

// Same has the fields of Inner.
type Same Inner

// Plain and Other have no pointers and the same size.
type Plain struct{ a, b, c, d, e uintptr }

// Other is a Plain by another name.
type Other struct{ a, b, c, d, e uintptr }

// Single is a pointer, as the element of a slice may be.
type Single struct{ few *Few }

// Few is an array, of which there may be slices.
type Few struct{ others [1]*Other }

// Small is less than a tiny block.
type Small struct{ a, b int32 }

// Buffer begins with an array that it is sliced from.
type Buffer struct {
	data [56]byte
	used int
}

// Middle has such an array inside.
type Middle struct {
	used int
	data [7]uintptr
}

// Large has a header from Go 1.22 on.
type Large struct {
	name  string
	inner [40]*Inner
	plain *Plain
	rest  [50]uintptr
}

// Namer is an interface.
type Namer interface{ Name() string }

// Named implements it as a value.
type Named struct {
	name string
	more *Plain
}

// Name is the value's.
func (n Named) Name() string { return n.name }

// Pointed implements it as a pointer.
type Pointed struct {
	name  string
	inner *Inner
	count [5]int
}

// Name is the pointer's.
func (p *Pointed) Name() string { return p.name }

// Holder has all kinds of pointers.
type Holder struct {
	wrapper  *Wrapper
	ofWrap   *Inner // the start of a Wrapper
	padded   *Padded
	ofPadded *Inner // the start of a Padded
	lonely   *Inner // the start of a Padded that nothing else points to
	outer    *Outer
	ofOuter  *Inner // the start of an Outer
	same     *Same
	asInner  *Inner // a Same
	plain    *Plain
	other    *Other
	buffer   []byte    // of a Buffer
	middle   []uintptr // of a Middle
	whole    *Middle
	large    *Large
	larges   []Large
	namers   []Namer
	values   []interface{}
	slices   [][]*Plain
	part     []*Plain // the midst of one
	tail     []Plain  // the end of one
	front    []Plain  // the beginning of one
	text     string
	cut      string // of a longer one
	texts    []string
	small    *Small
	number   *int
	bools    []bool
	names    map[string]*Plain
	counts   map[int]int
	many     map[string]Named
	sets     map[Plain]struct{}
	nested   map[int]map[string][]*Plain
	call     func() *Plain
	method   func() string
	calls    []func() *Plain
	ints     chan int
	plains   chan *Plain
	nameds   chan Named
	none     chan *Plain
	value    atomic.Value
	mutex    *sync.Mutex // the start of a Locked
	ring     *list.List
	field    interface{} // of a struct in an interface, which reflection does not copy
	anys     []interface{}
	built    string
	unsafe   unsafe.Pointer
	hidden   interface{}
	ofLocked *Locked
	arrays   *[4][2]*Plain
	rows     [][2]Plain
	one      []*Few          // of one element
	first    **Few           // the start of a Single
	few      []*Other        // of a Few
	mirrors  []reflect.Value // of objects that nothing else points to
}

// Locked begins with a mutex.
type Locked struct {
	sync.Mutex
	word uintptr
}

// Pair is what reflection takes apart.
type Pair struct {
	First  Plain
	Second Named
}

var (
	holder  *Holder
	shown   strings.Builder
	pairs   interface{}
	release = make(chan bool)
	ready   = make(chan bool)
)

// is says that at P there is an object of type OF.
func is(p unsafe.Pointer, of string) {
	if p != nil {
		fmt.Fprintf(&shown, "%#x\t%s\n", uintptr(p), of)
	}
}

// object says what the pointer V points to.
func object(v interface{}) {
	value := reflect.ValueOf(v)
	is(unsafe.Pointer(value.Pointer()), value.Type().Elem().String())
}

// elements says what the slice V is of.
func elements(v interface{}) {
	value := reflect.ValueOf(v)
	is(unsafe.Pointer(value.Pointer()), value.Type().String())
}

// itself says what the map, channel or closure V is.
func itself(v interface{}) {
	value := reflect.ValueOf(v)
	is(unsafe.Pointer(value.Pointer()), value.Type().String())
}

// boxed says what the interface at P holds a pointer to.
func boxed(p *interface{}) {
	is((*[2]unsafe.Pointer)(unsafe.Pointer(p))[1], reflect.TypeOf(*p).String())
}

// call says what closure the function F is.
func call(f func() *Plain) {
	is(*(*unsafe.Pointer)(unsafe.Pointer(&f)), "closure "+runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name())
}

func text(p *string) {
	is(*(*unsafe.Pointer)(unsafe.Pointer(p)), "string data")
}

//go:noinline
func closure(p *Plain, n Namer, s string) func() *Plain {
	return func() *Plain {
		if n != nil && len(s) > len(n.Name()) {
			return nil
		}
		return p
	}
}

//go:noinline
func buildNested(h *Holder) {
	h.wrapper = new(Wrapper)
	h.ofWrap = &h.wrapper.Inner
	h.padded = new(Padded)
	h.ofPadded = &h.padded.Inner
	lonely := new(Padded)
	h.lonely = &lonely.Inner
	h.outer = &Outer{name: "outer", inner: new(Inner)}
	h.outer.links[0] = &Outer{inner: &new(Wrapper).Inner}
	h.outer.links[1] = h.outer
	h.ofOuter = &h.outer.Inner
	h.outer.next = &Inner{next: &Inner{}}
	h.same = new(Same)
	h.asInner = (*Inner)(new(Same))
	object(h.wrapper)
	object(h.padded)
	object(lonely)
	object(h.outer)
	object(h.outer.inner)
	object(h.outer.links[0])
	object((*Wrapper)(unsafe.Pointer(h.outer.links[0].inner)))
	object(h.outer.next)
	object(h.outer.next.next)
	object(h.same)
	object((*Same)(h.asInner))
	h.plain, h.other = new(Plain), new(Other)
	object(h.plain)
	object(h.other)
	h.ofLocked = &Locked{}
	h.mutex = &new(Locked).Mutex
	object(h.ofLocked)
	object((*Locked)(unsafe.Pointer(h.mutex)))
	h.arrays = new([4][2]*Plain)
	h.arrays[3][1] = new(Plain)
	object(h.arrays[3][1])
	h.rows = make([][2]Plain, 3)
	elements(h.rows)
}

//go:noinline
func buildArrays(h *Holder) {
	buffer, middle := new(Buffer), new(Middle)
	h.buffer, h.middle = buffer.data[:], middle.data[:]
	h.whole = new(Middle)
	object(buffer)
	object(middle)
	object(h.whole)
	h.large = &Large{name: "large", plain: new(Plain)}
	h.large.inner[39] = new(Inner)
	object(h.large)
	object(h.large.plain)
	object(h.large.inner[39])
	h.larges = make([]Large, 5)
	h.larges[4].plain = new(Plain)
	elements(h.larges)
	object(h.larges[4].plain)
	whole := make([]*Plain, 10)
	for i := range whole {
		whole[i] = new(Plain)
		object(whole[i])
	}
	elements(whole)
	h.part = whole[3:5]
	tail, front := make([]Plain, 7), make([]Plain, 7)
	h.tail, h.front = tail[5:], front[:2:2]
	elements(tail)
	elements(front)
	h.slices = append(h.slices, make([]*Plain, 3), nil, make([]*Plain, 0, 6))
	elements(h.slices)
	elements(h.slices[0])
	elements(h.slices[2])
	h.bools = make([]bool, 100)
	elements(h.bools)
}

//go:noinline
func buildSlices(h *Holder) {
	few := &Few{[1]*Other{new(Other)}}
	single := &Single{few}
	h.one, h.first, h.few = []*Few{few}, &single.few, few.others[:]
	elements(h.one)
	object(single)
	object(few)
	object(few.others[0])
}

//go:noinline
func buildReflected(h *Holder) {
	h.mirrors = []reflect.Value{
		reflect.New(reflect.TypeOf(Pointed{})).Elem(),
		reflect.ValueOf(Named{os.Args[0], nil}),
		reflect.ValueOf(&Outer{}),
		reflect.ValueOf(map[string]*Large{}),
		reflect.ValueOf(new(Wrapper)).Elem().Field(0),
		reflect.ValueOf([]*Plain{}),
		reflect.ValueOf(new(Pointed)).Method(0),
		{},
	}
	elements(h.mirrors)
	for i, of := range []string{"main.Pointed", "main.Named", "main.Outer", "map[string]*main.Large", "main.Wrapper", "[]*main.Plain",
		"main.Pointed"} {
		is((*[2]unsafe.Pointer)(unsafe.Pointer(&h.mirrors[i]))[1], of)
	}
}

//go:noinline
func buildInterfaces(h *Holder) {
	pointed := &Pointed{name: "pointed", inner: new(Inner)}
	h.namers = []Namer{Named{"named", new(Plain)}, pointed, &Named{os.Args[0], nil}}
	elements(h.namers)
	object(pointed)
	object(pointed.inner)
	n := 1000 + len(os.Args)
	h.values = []interface{}{Plain{b: uintptr(n)}, Named{"value", new(Plain)}, pointed, &Outer{}, strings.Repeat("a", n), n,
		[1]*Plain{new(Plain)}, struct{ p *Plain }{new(Plain)}, map[string]int{}, Other{a: uintptr(n)}, []*Plain{new(Plain)}}
	elements(h.values)
	for i := range h.values {
		switch v := h.values[i].(type) {
		case *Pointed, *Outer, map[string]int:
			itself := reflect.ValueOf(v)
			of := itself.Type()
			if of.Kind() == reflect.Ptr {
				of = of.Elem()
			}
			is(unsafe.Pointer(itself.Pointer()), of.String())
		case [1]*Plain:
			object(v[0])
		case struct{ p *Plain }:
			object(v.p)
		default:
			boxed(&h.values[i])
		}
	}
	object(h.values[10].([]*Plain)[0])
	h.value.Store(&Inner{})
	object(h.value.Load())
	pairs = Pair{Second: Named{"pair", new(Plain)}}
	h.field = reflect.ValueOf(pairs).Field(0).Interface()
	boxed(&pairs)
	h.small = &Small{1, 2}
	h.number = new(int)
	h.anys = []interface{}{n, n + 1, int32(n), Small{3, 4}}
	elements(h.anys)
}

//go:noinline
func buildText(h *Holder) {
	n := len(os.Args)
	h.text = strings.Repeat("text ", 20*n)
	long := strings.Repeat("long ", 30*n)
	h.cut = long[10:20]
	for i := 0; i < 20; i++ {
		h.texts = append(h.texts, strings.Repeat("t", 40+i*n))
		text(&h.texts[i])
	}
	text(&h.text)
	text(&long)
	elements(h.texts)
	var builder strings.Builder
	for i := 0; i < 100*n; i++ {
		builder.WriteByte('b')
	}
	h.built = builder.String()
}

//go:noinline
func buildMaps(h *Holder) {
	h.names, h.counts, h.many, h.sets = map[string]*Plain{}, map[int]int{}, map[string]Named{}, map[Plain]struct{}{}
	h.nested = map[int]map[string][]*Plain{}
	for i := 0; i < 5; i++ {
		h.names[fmt.Sprint("name of the plain ", i)] = new(Plain)
		h.nested[i] = map[string][]*Plain{"nested": {new(Plain)}}
		itself(h.nested[i])
		object(h.nested[i]["nested"][0])
	}
	for _, p := range h.names {
		object(p)
	}
	for i := 0; i < 3000; i++ {
		h.counts[i] = i
		h.many[fmt.Sprint("many ", i)] = Named{"many", new(Plain)}
		h.sets[Plain{a: uintptr(i)}] = struct{}{}
	}
	for _, n := range h.many {
		object(n.more)
	}
	itself(h.names)
	itself(h.counts)
	itself(h.many)
	itself(h.sets)
	itself(h.nested)
}

//go:noinline
func buildCalls(h *Holder) {
	h.call = closure(new(Plain), h.namers[1], h.text)
	object(h.call())
	call(h.call)
	pointed := &Pointed{name: "method"}
	h.method = pointed.Name
	object(pointed)
	for i := 0; i < 3; i++ {
		h.calls = append(h.calls, closure(new(Plain), Named{"call", new(Plain)}, ""))
		object(h.calls[i]())
		call(h.calls[i])
	}
	elements(h.calls)
}

//go:noinline
func buildChannels(h *Holder) {
	h.ints, h.plains, h.nameds, h.none = make(chan int, 10), make(chan *Plain, 10), make(chan Named, 4), make(chan *Plain)
	for i := 0; i < 3; i++ {
		p := new(Plain)
		h.plains <- p
		object(p)
	}
	n := Named{"sent", new(Plain)}
	h.nameds <- n
	object(n.more)
	itself(h.ints)
	itself(h.plains)
	itself(h.nameds)
	itself(h.none)
	h.ring = list.New()
	object(h.ring)
	for i := 0; i < 3; i++ {
		object(h.ring.PushBack(new(Other)))
		object(h.ring.Back().Value)
	}
}

// held is what a goroutine holds.
type held struct {
	plain *Plain
	name  string
	outer Outer
}

//go:noinline
func hold(h *held, plains []*Plain, names map[string]*Outer, any interface{}) {
	local := &held{plain: new(Plain)}
	object(h)
	object(h.plain)
	object(h.outer.inner)
	object(local)
	object(local.plain)
	object(plains[0])
	itself(names)
	object(names["name"])
	boxed(&any)
	ready <- true
	<-release
	runtime.KeepAlive(local)
	runtime.KeepAlive(h)
	runtime.KeepAlive(plains)
	runtime.KeepAlive(names)
	runtime.KeepAlive(any)
}

// Resource has a finalizer.
type Resource struct {
	plain *Plain
	rest  [9]uintptr
}

// Interfaces in globals are seen in stripped programs too.
var global interface{}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typed DUMP")
		os.Exit(2)
	}
	dump, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	debug.SetGCPercent(-1)
	h := new(Holder)
	object(h)
	buildNested(h)
	buildArrays(h)
	buildSlices(h)
	buildReflected(h)
	buildInterfaces(h)
	buildText(h)
	buildMaps(h)
	buildCalls(h)
	buildChannels(h)
	buildGeneric()
	holder, global = h, h
	resource := &Resource{plain: new(Plain)}
	runtime.SetFinalizer(resource, func(*Resource) {})
	object(resource)
	object(resource.plain)
	go hold(&held{plain: new(Plain), outer: Outer{inner: new(Inner)}}, []*Plain{new(Plain)},
		map[string]*Outer{"name": new(Outer)}, Named{os.Args[0], nil})
	<-ready
	runtime.GC()
	debug.WriteHeapDump(dump.Fd())
	fmt.Print(shown.String())
	runtime.KeepAlive(resource)
	runtime.KeepAlive(holder)
}
