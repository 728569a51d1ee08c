// Leaks keeps what it should not, in one of many ways, and tells how much that is.
//
//	leaks KIND OLD NEW    write a heap dump to OLD when half of it is kept, and to NEW when all of it is
//	leaks KIND            keep all of it until standard input ends
//
// It prints "held<tab>VARIABLE<tab>TYPE<tab>COUNT", which are the variable that holds the leak and what there is most of
// in it; "word<tab>ADDRESS", that of the pointer which the variable leads to the heap by; and "freed<tab>BYTES<tab>OBJECTS",
// what the garbage collector frees when it is let go of.
package main

import (
	"container/list"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
	"unsafe"
)

const count = 2000

// Session is what is known of a visitor.
type Session struct {
	user  string
	notes []byte
}

//go:noinline
func newSession(i int) *Session {
	return &Session{"visitor " + strconv.Itoa(i), make([]byte, 700)}
}

// Server is put into the data segment by the linker.
type Server struct {
	name    string
	tenants map[string]map[string]*Session
}

var srv = &Server{name: "shop", tenants: map[string]map[string]*Session{}}

//go:noinline
func (s *Server) visit(i int) {
	tenant := "tenant " + strconv.Itoa(i%20)
	if s.tenants[tenant] == nil {
		s.tenants[tenant] = map[string]*Session{}
	}
	session := newSession(i)
	s.tenants[tenant][session.user] = session
}

var cache map[string]*Session

//go:noinline
func remember(i int) {
	if cache == nil {
		cache = map[string]*Session{}
	}
	session := newSession(i)
	cache[session.user] = session
}

var history *list.List

//go:noinline
func record(i int) {
	if history == nil {
		history = list.New()
	}
	history.PushBack(newSession(i))
}

var table *sync.Map

//go:noinline
func store(i int) {
	if table == nil {
		table = &sync.Map{}
	}
	table.Store(i, newSession(i))
}

var queue chan *Session

//go:noinline
func enqueue(i int) {
	if queue == nil {
		queue = make(chan *Session, count)
	}
	queue <- newSession(i)
}

var peak map[int]*Session

// fillPeak has a map grow, and empties it in the end but for some entries.
//
//go:noinline
func fillPeak(i int) {
	if peak == nil {
		peak = map[int]*Session{0: newSession(i)}
	}
	for j := 1; j < 16; j++ {
		peak[16*i+j] = peak[0]
	}
	for j := range peak {
		if i == count-1 && j > 9 {
			delete(peak, j)
		}
	}
}

type key int

var chain context.Context

//go:noinline
func derive(i int) {
	if chain == nil {
		chain = context.Background()
	}
	chain = context.WithValue(chain, key(i), newSession(i))
}

var log []*Session

//go:noinline
func appendLog(i int) {
	log = append(log, newSession(i))
}

// Part is an eighth of a large array, more of it, and as much of one that all have.
type Part struct {
	bytes []byte
	more  []byte
	all   []byte
}

var parts []*Part

//go:noinline
func slice(i int) {
	if i%100 != 0 {
		return
	}
	whole := make([]byte, 1<<17)
	all := whole[4096:20480]
	if len(parts) > 0 {
		all = parts[0].all
	}
	parts = append(parts, &Part{whole[4096:20480], whole[:32], all})
}

var uneven []*Session

// appendUneven keeps sessions, one of which has most of the bytes.
//
//go:noinline
func appendUneven(i int) {
	session := newSession(i)
	if i == 0 {
		session.notes = make([]byte, 8<<20)
	}
	uneven = append(uneven, session)
}

// Records keep sessions, and beside them a text that has nothing to do with these.
type Records struct {
	sessions []*Session
	text     []byte
}

var records Records

//go:noinline
func appendRecord(i int) {
	if i == 0 {
		records.text = make([]byte, 1<<20)
	}
	records.sessions = append(records.sessions, newSession(i))
}

// Request is what a goroutine answers.
type Request struct {
	body []byte
}

var answers chan bool

//go:noinline
func handle(r *Request) {
	<-answers
	r.body[0]++
}

func serve(i int) {
	if answers == nil {
		answers = make(chan bool)
	}
	go handle(&Request{make([]byte, 3000)})
}

var visits chan int

// gather keeps its sessions in a variable of its own.
//
//go:noinline
func gather() {
	var gathered []*Session
	for i := range visits {
		gathered = append(gathered, newSession(i))
	}
	gathered[0].notes[0]++
}

func visit(i int) {
	if visits == nil {
		visits = make(chan int)
		go gather()
	}
	visits <- i
}

var timers []*time.Timer

//go:noinline
func later(i int) {
	session := newSession(i)
	timers = append(timers, time.AfterFunc(time.Hour, func() { session.notes[0]++ }))
}

// forget keeps no timer: only the runtime has them.
//
//go:noinline
func forget(i int) {
	session := newSession(i)
	time.AfterFunc(time.Hour, func() { session.notes[0]++ })
}

var stuck = make(chan bool)

// lockThread has one goroutine in 20 keep its thread.
func lockThread(i int) {
	if i%20 == 0 {
		go func() {
			runtime.LockOSThread()
			<-stuck
		}()
	}
}

// finish never comes to an end, and so the next one does not begin.
func finish(s *Session) {
	<-stuck
	s.notes[0]++
}

//go:noinline
func abandon(i int) {
	runtime.SetFinalizer(newSession(i), finish)
}

var sessions = sync.Pool{}

// refill is called when all garbage is collected: a pool keeps what it has for two collections.
func refill() {
	for i := 0; i < count; i++ {
		sessions.Put(newSession(i))
	}
}

// Shop has a finalizer, and a pool, which is in a list of package sync's.
type Shop struct {
	buffers sync.Pool
	open    []*Session
}

func (s *Shop) close() { s.open = nil }

var shop *Shop

//go:noinline
func enter(i int) {
	if shop == nil {
		shop = &Shop{}
		runtime.SetFinalizer(shop, (*Shop).close)
	}
	shop.open = append(shop.open, newSession(i))
}

// useBuffers is called when all garbage is collected, which takes pools out of the list. The pool has an array with one
// element of 128 bytes for each processor, until it is taken out again.
func useBuffers() {
	runtime.GOMAXPROCS(1)
	shop.buffers.Get()
}

type kind struct {
	name     string
	variable string
	where    unsafe.Pointer
	of       string
	count    int
	add      func(i int)
	drop     func()
}

var kinds = []kind{
	{"static", "main.srv", unsafe.Pointer(&srv), "main.Session", count, func(i int) { srv.visit(i) }, func() { srv.tenants = nil }},
	{"map", "main.cache", unsafe.Pointer(&cache), "main.Session", count, remember, func() { cache = nil }},
	{"list", "main.history", unsafe.Pointer(&history), "main.Session", count, record, func() { history = nil }},
	{"syncmap", "main.table", unsafe.Pointer(&table), "main.Session", count, store, func() { table = nil }},
	{"channel", "main.queue", unsafe.Pointer(&queue), "main.Session", count, enqueue, func() { queue = nil }},
	{"context", "main.chain", unsafe.Pointer(uintptr(unsafe.Pointer(&chain)) + unsafe.Sizeof(chain)/2), "main.Session", count, derive, func() { chain = nil }},
	{"slice", "main.log", unsafe.Pointer(&log), "main.Session", count, appendLog, func() { log = nil }},
	{"shop", "main.shop", unsafe.Pointer(&shop), "main.Session", count, enter, func() { shop = nil }},
	{"emptied", "main.peak", unsafe.Pointer(&peak), "main.Session", 10, fillPeak, func() { peak = nil }},
	{"subslice", "main.parts", unsafe.Pointer(&parts), "main.Part", count / 100, slice, func() { parts = nil }},
	{"uneven", "main.uneven", unsafe.Pointer(&uneven), "main.Session", count, appendUneven, func() { uneven = nil }},
	{"beside", "main.records", unsafe.Pointer(&records), "main.Session", count, appendRecord, func() { records = Records{} }},
	{"goroutine", "main.handle", nil, "main.Request", count, serve, func() {
		close(answers)
		time.Sleep(300 * time.Millisecond)
	}},
	{"gatherer", "main.gather", nil, "main.Session", count, visit, func() {
		close(visits)
		time.Sleep(300 * time.Millisecond)
	}},
	{"timer", "main.timers", unsafe.Pointer(&timers), "main.Session", count, later, func() {
		for _, t := range timers {
			t.Stop()
		}
		timers = nil
	}},
	{"after", "main.forget.func1", nil, "main.Session", count, forget, func() {}},
	{"threads", "", nil, "", count / 20, lockThread, func() {}},
	{"finalizer", "main.finish", nil, "main.Session", count - 1, abandon, func() {}},
	{"pool", "main.sessions", nil, "main.Session", count, func(i int) {}, func() {}},
	{"nothing", "", nil, "", 0, func(i int) { newSession(i) }, func() {}},
}

var stats runtime.MemStats

func collect() {
	for i := 0; i < 3; i++ {
		runtime.GC()
		runtime.Gosched()
	}
	runtime.ReadMemStats(&stats)
}

func write(k *kind, path string) {
	file, err := os.Create(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	collect()
	if k.name == "pool" {
		refill()
	} else if k.name == "shop" {
		useBuffers()
	}
	debug.WriteHeapDump(file.Fd())
	file.Close()
}

// fill is not inlined: nothing of it is left on the stack.
//
//go:noinline
func fill(k *kind, from, to int) {
	for i := from; i < to; i++ {
		k.add(i)
	}
	time.Sleep(50 * time.Millisecond)
}

//go:noinline
func letGo(k *kind) {
	collect()
	bytes, objects := stats.TotalAlloc-stats.HeapAlloc, stats.Frees
	k.drop()
	collect()
	fmt.Printf("freed\t%d\t%d\n", stats.TotalAlloc-stats.HeapAlloc-bytes, stats.Frees-objects)
}

// wait has no more garbage than there has to be.
func wait(k *kind) {
	fill(k, 0, count)
	collect()
	fmt.Println("waiting")
	os.Stdin.Read(make([]byte, 1))
	runtime.KeepAlive(k)
}

func main() {
	for i := range kinds {
		k := &kinds[i]
		if len(os.Args) < 2 || os.Args[1] != k.name {
			continue
		}
		if len(os.Args) == 2 {
			wait(k)
			return
		}
		fill(k, 0, count/2)
		write(k, os.Args[2])
		fill(k, count/2, count)
		fmt.Printf("held\t%s\t%s\t%d\n", k.variable, k.of, k.count)
		word := uintptr(k.where)
		if k.name == "static" {
			word = uintptr(unsafe.Pointer(&srv.tenants))
		}
		fmt.Printf("word\t%#x\n", word)
		write(k, os.Args[3])
		letGo(k)
		return
	}
	fmt.Fprintln(os.Stderr, "usage: leaks KIND OLD NEW")
	os.Exit(2)
}
