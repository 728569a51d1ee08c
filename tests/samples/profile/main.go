// Profile allocates from known places, and writes its heap profile and a heap dump of the same moment.
//
//	profile RATE DUMP PROTO TEXT    sample every RATE bytes; write the dump, the profile as pprof reads it, and
//	                                as text
package main

import (
	"bytes"
	"fmt"
	"io/ioutil"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"strings"
)

// Node is an object of 64 bytes.
type Node struct {
	next    *Node
	payload [7]uint64
}

// Maker makes objects.
type Maker interface {
	Make() *Node
	MakeSlowly() *Node
}

type maker struct{ made int }

// Make can be inlined.
func (m *maker) Make() *Node { return m.make() }

func (m *maker) make() *Node {
	m.made++
	return &Node{}
}

// MakeSlowly cannot.
//
//go:noinline
func (m *maker) MakeSlowly() *Node {
	m.made++
	return m.Make()
}

// factory has its methods by wrappers.
type factory struct{ *maker }

// Values that are kept.
var (
	list    *Node
	bytes_  [][]byte
	texts   []string
	tables  []map[string]int
	anys    []interface{}
	pipes   []chan *Node
	pointer []reflect.Value
	gone    *Node
)

func keep(node *Node) {
	node.next = list
	list = node
}

// Two levels of inlined calls, the outer of them from two lines.
func leaf() *Node   { return &Node{} }
func middle() *Node { return leaf() }

//go:noinline
func inlined() {
	keep(middle())
	keep(
		middle())
}

//go:noinline
func interfaces(m Maker) {
	keep(m.Make())
	keep(m.MakeSlowly())
}

// Closures of one line.
//
//go:noinline
func closures() {
	keep(func() *Node { return func() *Node { return &Node{} }() }())
	make := func() *Node {
		return new(Node)
	}
	keep(make())
}

// recurse has more frames than the runtime records, and inlined calls among them: the last frame that it
// records is one.
//
//go:noinline
func recurse(depth int) {
	if depth == 0 {
		keep(middle())
		return
	}
	again(depth)
}

// Through a variable, so that again can be inlined.
var step func(depth int)

func again(depth int) { step(depth - 1) }

//go:noinline
func kinds(i int) {
	bytes_ = append(bytes_, make([]byte, 1000+i))
	texts = append(texts, strings.Repeat(strconv.Itoa(i), 50))
	tables = append(tables, map[string]int{texts[0]: i, "other": i})
	anys = append(anys, i+1000, Node{}, []int{i})
	pipes = append(pipes, make(chan *Node, i%7))
	pointer = append(pointer, reflect.New(reflect.TypeOf(Node{})))
}

//go:noinline
func large() {
	bytes_ = append(bytes_, make([]byte, 700000), make([]byte, 3000000))
}

// Link is an object of 16 bytes that keeps others alive.
type Link struct {
	next    *Link
	payload *[100]byte
}

var chain *Link

//go:noinline
func payload() *[100]byte { return new([100]byte) }

// links makes a list. Of its objects the last keeps all alive.
//
//go:noinline
func links() {
	for i := 0; i < 1000; i++ {
		chain = &Link{chain, payload()}
	}
}

//go:noinline
func garbage() {
	for i := 0; i < 1000; i++ {
		gone = middle()
		gone.next = &Node{}
	}
	gone = nil
}

func allocate() {
	for i := 0; i < 300; i++ {
		inlined()
		interfaces(&maker{})
		interfaces(factory{&maker{}})
		closures()
		kinds(i)
	}
	step = recurse
	for i := 0; i < 40; i++ {
		recurse(10 * i)
	}
	for i := 0; i < 3; i++ {
		large()
	}
	links()
	garbage()
	done := make(chan bool)
	go func() {
		inlined()
		done <- true
	}()
	<-done
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: profile RATE DUMP PROTO TEXT")
		os.Exit(2)
	}
	rate, err := strconv.Atoi(os.Args[1])
	must(err)
	runtime.MemProfileRate = rate
	dump, err := os.Create(os.Args[2])
	must(err)
	allocate()

	// A profile is as of the last garbage collection but one: after these nothing changes.
	debug.SetGCPercent(-1)
	runtime.GC()
	runtime.GC()
	var proto, text bytes.Buffer
	must(pprof.WriteHeapProfile(&proto))
	must(pprof.Lookup("heap").WriteTo(&text, 1))
	debug.WriteHeapDump(dump.Fd())

	must(dump.Close())
	must(ioutil.WriteFile(os.Args[3], proto.Bytes(), 0666))
	must(ioutil.WriteFile(os.Args[4], text.Bytes(), 0666))
	runtime.KeepAlive(list)
	runtime.KeepAlive(chain)
}
