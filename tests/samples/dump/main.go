// Dump blocks goroutines in every way there is, and writes what it knows of itself.
//
//	dump DUMP STACKS [MORE]    write a heap dump to DUMP and, of the same moment, runtime.Stack's text
//	                           to STACKS; print counts, "NAME<tab>NUMBER" a line
//	dump wait [MORE]           say "ready", and wait for input. MORE: goroutines there are than always
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// What keeps the goroutines blocked for as long as the program runs.
var (
	never    = make(chan int)
	other    = make(chan string)
	mutex    sync.Mutex
	rwMutex  sync.RWMutex
	cond     = sync.NewCond(&sync.Mutex{})
	group    sync.WaitGroup
	entered  = make(chan string, 64)
	finalize = make(chan bool)
	silent   *os.File // the end of a pipe that nothing is written to
)

// Node is a type whose objects the program counts.
type Node struct {
	next    *Node
	magic   uint64
	payload [20]uint64
}

var list *Node

// Blocker has methods to block in.
type Blocker struct {
	name string
	ch   chan int
}

//go:noinline
func (b *Blocker) wait(n int) int {
	entered <- b.name
	return n + <-b.ch
}

// Waiter is called through, so that a wrapper is on the stack.
type Waiter interface {
	Wait() int
}

// Wait has a value receiver: a *Blocker gets to it through a wrapper.
func (b Blocker) Wait() int {
	entered <- b.name
	return <-b.ch
}

func receive() {
	entered <- "receive"
	<-never
}

func send() {
	entered <- "send"
	other <- "nobody listens"
}

func selects() {
	entered <- "selects"
	select {
	case <-never:
	case other <- "nor here":
	}
}

func selectNothing() {
	entered <- "selectNothing"
	select {}
}

func nilChannel() {
	var ch chan int
	entered <- "nilChannel"
	<-ch
}

func lock() {
	entered <- "lock"
	mutex.Lock()
}

func readLock() {
	entered <- "readLock"
	rwMutex.RLock()
}

func wait() {
	cond.L.Lock()
	entered <- "wait"
	cond.Wait()
}

func waitGroup() {
	entered <- "waitGroup"
	group.Wait()
}

func sleep() {
	entered <- "sleep"
	time.Sleep(24 * time.Hour)
}

func read(from *os.File) {
	entered <- "read"
	from.Read(make([]byte, 1))
}

func systemCall(fd int) {
	entered <- "systemCall"
	syscall.Read(fd, make([]byte, 1))
}

func locked() {
	runtime.LockOSThread()
	entered <- "locked"
	<-never
}

// Inlined into its caller.
func small(n int) int {
	return blocked(n) + 1
}

//go:noinline
func blocked(n int) int {
	entered <- "inlined"
	return n + <-never
}

func inlined() {
	println(small(3))
}

//go:noinline
func recurse(depth int) int {
	if depth == 0 {
		entered <- "recursion"
		return <-never
	}
	return recurse(depth-1) + depth
}

// Point is what one of the variables of locals is. It has an array, or the compiler would break it up, and
// Go's own DWARF of what is broken up is not right.
type Point struct {
	Place [2]int
	Name  string
}

// What the variables of locals are, "local<tab>NAME<tab>VALUE" a line.
var shown string

//go:noinline
func keep(node *Node, point Point, label string, square int) {
	entered <- "keep"
}

// Its variables live while it is blocked.
//
//go:noinline
func locals(n int, text string) {
	node := list.next
	point := Point{[2]int{n, 2 * n}, text + "!"}
	label := "label of " + text
	square := n * n
	shown = fmt.Sprintf("local\tnode\t%p\nlocal\tpoint\t{Place = {%d, %d}, Name = \"%s\"}\n",
		node, point.Place[0], point.Place[1], point.Name) +
		fmt.Sprintf("local\tlabel\t\"%s\"\nlocal\tsquare\t%d\nlocal\tn\t%d\nlocal\ttext\t\"%s\"\n",
			label, square, n, text)
	entered <- "locals"
	<-never
	keep(node, point, label, square)
	fmt.Println(n, text)
}

// What is passed on the stack to a goroutine's first function is not in a dump.
func callLocals() {
	locals(21, "locals")
}

func deferred(ch chan int) {
	<-ch
}

func holdsDefers() {
	for i := 0; i < 3; i++ {
		defer deferred(never)
	}
	entered <- "holdsDefers"
	<-never
}

func panics() {
	defer func() {
		entered <- "panics"
		<-never
		fmt.Println(recover())
	}()
	panic("being recovered")
}

func faults() {
	defer func() {
		entered <- "faults"
		<-never
		fmt.Println(recover())
	}()
	var node *Node
	node.magic++
}

func caller(f func()) {
	f()
}

func methodValue(b *Blocker) {
	caller(func() { b.wait(1) })
}

func interfaceCall(w Waiter) {
	w.Wait()
}

// finalizers registers some, and queues others: the first of them to run never ends.
func finalizers() {
	for i := 0; i < 5; i++ {
		runtime.SetFinalizer(&Node{magic: uint64(i)}, func(*Node) {
			finalize <- true
			<-never
		})
	}
	for node := list; node != nil && node.magic < 3; node = node.next {
		runtime.SetFinalizer(node, func(*Node) {})
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Starts them all, and waits until each is as good as blocked.
func start() {
	in, out, err := os.Pipe()
	must(err)
	silent = out
	var fds [2]int
	must(syscall.Pipe(fds[:]))
	mutex.Lock()
	rwMutex.Lock()
	group.Add(1)

	method := &Blocker{"method", never}
	value := Blocker{"value", never}
	goroutines := []func(){receive, send, selects, selectNothing, nilChannel, lock, readLock, wait,
		waitGroup, sleep, locked, inlined, holdsDefers, panics, faults}
	for _, f := range goroutines {
		go f()
	}
	go read(in)
	go systemCall(fds[0])
	go recurse(20)
	go callLocals()
	go method.wait(2)
	go methodValue(&Blocker{"methodValue", never})
	go interfaceCall(&value)
	go func() {
		entered <- "closure"
		<-never
	}()
	n := len(goroutines) + 8 + startGeneric()
	for i := 0; i < n; i++ {
		<-entered
	}
}

func startMore(number string) {
	n, err := strconv.Atoi(number)
	must(err)
	for i := 0; i < n; i++ {
		go [...]func(){receive, send, selects}[i%3]()
		<-entered
	}
}

func blockAll(more []string) {
	for i := 0; i < 1000; i++ {
		list = &Node{next: list, magic: uint64(999 - i)}
	}
	start()
	for _, number := range more {
		startMore(number)
	}
	finalizers()
	runtime.GC()
	<-finalize
	time.Sleep(200 * time.Millisecond)
	debug.SetGCPercent(-1)
	runtime.GC()
	runtime.GC()
}

func main() {
	if len(os.Args) >= 2 && os.Args[1] == "wait" {
		blockAll(os.Args[2:])
		fmt.Println("ready")
		os.Stdin.Read(make([]byte, 1))
		return
	}
	if len(os.Args) != 3 && len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: dump DUMP STACKS [MORE]")
		os.Exit(2)
	}
	dump, err := os.Create(os.Args[1])
	must(err)
	stacks, err := os.Create(os.Args[2])
	must(err)
	blockAll(os.Args[3:])
	write(dump, stacks)
	must(dump.Close())
	must(stacks.Close())
}

func write(dump, stacks *os.File) {
	// All that is needed is had before, so that nothing changes in between.
	buf := make([]byte, 1<<22)
	fd := dump.Fd()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	n := runtime.Stack(buf, true)
	debug.WriteHeapDump(fd)

	_, err := stacks.Write(buf[:n])
	must(err)
	fmt.Printf("goroutines\t%d\n", runtime.NumGoroutine())
	fmt.Printf("objects\t%d\n", stats.Mallocs-stats.Frees)
	fmt.Printf("heap_alloc\t%d\n", stats.HeapAlloc)
	fmt.Printf("collections\t%d\n", stats.NumGC)
	fmt.Printf("cpus\t%d\n", runtime.NumCPU())
	fmt.Printf("version\t%s\n", runtime.Version())
	fmt.Printf("arch\t%s\n", runtime.GOARCH)
	fmt.Printf("pid\t%d\n", os.Getpid())
	fmt.Print(shown)
	runtime.KeepAlive(list)
}
