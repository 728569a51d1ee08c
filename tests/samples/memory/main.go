// Memory fills its heap with all that a heap has: objects of every size with and without pointers, some large, some
// that reflection made the types of; maps, channels, closures; finalizers, some of them queued; garbage, and spans that
// wait to be swept; and goroutines that hold some of it. One in so many allocations is sampled for its profile.
//
//	memory DUMP          print "waiting", and write the heap dump DUMP, and what its allocation profile is then, DUMP.profile,
//	                     when its input has a byte or ends
//	memory DUMP sweep    write it while spans wait to be swept
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
)

// Node has pointers in other places than the next.
type Node struct {
	next  *Node
	label string
	value interface{}
	many  []*Node
}

// Wide is larger than objects that have their pointers beside them.
type Wide struct {
	number int
	nodes  [40]*Node
	bytes  [300]byte
	last   *Node
}

// Huge has a mask that is made when it is first needed.
type Huge struct {
	head *Node
	rows [3000]struct {
		number int
		node   *Node
		name   string
	}
	tail *Node
}

// Row is what only a large array leads to.
type Row struct {
	number int
	node   *Node
}

// Leaf has no pointers.
type Leaf struct{ a, b, c int }

// Resource has a finalizer.
type Resource struct {
	name string
	node *Node
}

var (
	nodes     *Node
	wide      []*Wide
	huge      []*Huge
	leaves    = map[int]*Leaf{}
	names     = map[string][]string{}
	resources []*Resource
	made      []interface{}
	arrays    []interface{}
	queue     = make(chan *Node, 10)
	stringers []fmt.Stringer
	block     = make(chan bool)
	finalized int
)

func (r *Resource) String() string { return r.name }

func (n *Node) String() string { return n.label }

func fill(count int) {
	for i := 0; i < count; i++ {
		nodes = &Node{next: nodes, label: fmt.Sprint("node ", i), value: i, many: make([]*Node, i%7)}
		for j := range nodes.many {
			nodes.many[j] = nodes.next
		}
		if i%3 == 0 {
			nodes.value = &Leaf{i, i, i}
		}
		leaves[i] = &Leaf{a: i}
		names[nodes.label] = strings.Split(nodes.label, " ")
		if i%10 == 0 {
			w := &Wide{number: i, last: nodes}
			w.nodes[i%40] = nodes
			wide = append(wide, w)
			stringers = append(stringers, nodes, &Resource{name: "plain"})
		}
	}
}

func grow() {
	for i := 0; i < 3; i++ {
		h := &Huge{head: nodes, tail: nodes.next}
		h.rows[i].node = nodes
		h.rows[2999].name = nodes.label
		huge = append(huge, h)
	}
	for size := 1; size < 70000; size += size/3 + 1 {
		arrays = append(arrays, make([]byte, size), make([]*Node, size), make([]Node, size/8+1), make([]Wide, size/128+1))
	}
	t := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeOf(0)},
		{Name: "B", Type: reflect.TypeOf(nodes)},
		{Name: "C", Type: reflect.ArrayOf(90, reflect.TypeOf(""))},
	})
	for i := 0; i < 20; i++ {
		made = append(made, reflect.New(t).Interface(), reflect.MakeSlice(reflect.SliceOf(t), i, i).Interface(),
			reflect.New(reflect.ArrayOf(i*50+1, t)).Interface())
	}
	for i := 0; i < 9; i++ {
		queue <- nodes
	}
}

func register(count int, keep bool) {
	for i := 0; i < count; i++ {
		r := &Resource{fmt.Sprint("resource ", i), nodes}
		runtime.SetFinalizer(r, func(r *Resource) {
			finalized++
			// The others stay in the queue.
			<-block
		})
		if keep {
			resources = append(resources, r)
		}
	}
}

//go:noinline
func hold(depth int, first *Node, label string, started chan bool) int {
	local := &Node{label: label, next: first}
	if depth > 0 {
		return hold(depth-1, local, label, started) + len(local.label)
	}
	started <- true
	<-block
	return len(first.label)
}

func garbage() (count int) {
	for i := 0; i < 20000; i++ {
		count += len(fmt.Sprint("garbage ", i)) + len(make([]*Node, i%50))
	}
	return count
}

// collect returns right after a collection: on one thread, little has been swept by then.
func collect() {
	var stats runtime.MemStats
	runtime.GOMAXPROCS(1)
	runtime.ReadMemStats(&stats)
	debug.SetGCPercent(100)
	for last := stats.NumGC; stats.NumGC == last; runtime.ReadMemStats(&stats) {
		arrays = append(arrays, make([]*Node, 10000), &Leaf{})
	}
}

func main() {
	runtime.MemProfileRate = 4096
	debug.SetGCPercent(-1)
	fill(3000)
	grow()
	register(40, true)
	register(20, false)
	// More than a stack takes, on 32 bits, too.
	rows := make([]*Row, 20000)
	for i := range rows {
		rows[i] = &Row{i, nodes}
	}
	started := make(chan bool)
	for i := 0; i < 8; i++ {
		go hold(i*3, nodes, "held", started)
		<-started
	}
	garbage()
	runtime.GC()
	// Some of what survives is freed.
	nodes = nodes.next.next
	wide = wide[:len(wide)/2]
	file, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	descriptor := file.Fd()
	if len(os.Args) > 2 {
		collect()
	} else {
		buffer := make([]byte, 1)
		fmt.Println("waiting")
		os.Stdin.Read(buffer)
	}
	debug.WriteHeapDump(descriptor)
	if file, err = os.Create(os.Args[1] + ".profile"); err == nil {
		pprof.Lookup("heap").WriteTo(file, 1)
	}
	runtime.KeepAlive(huge)
	runtime.KeepAlive(rows)
}
