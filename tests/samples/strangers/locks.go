package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"
)

type tree struct {
	lock     sync.RWMutex
	children []string
}

//go:noinline
func (t *tree) count() int {
	t.lock.RLock()
	defer t.lock.RUnlock()
	return len(t.children)
}

//go:noinline
func (t *tree) walk() int {
	t.lock.RLock()
	defer t.lock.RUnlock()
	say("readers-reader", fmt.Sprintf("%p", &t.lock))
	pause()
	pause()
	return t.count()
}

//go:noinline
func (t *tree) add(name string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	t.children = append(t.children, name)
}

// readers has a reader read-lock again what a writer waits for.
func readers() {
	t := new(tree)
	go t.walk()
	pause()
	go func() {
		say("readers-writer", fmt.Sprintf("%p", &t.lock))
		t.add("x")
	}()
}

// resource is locked by its embedded lock, behind an interface.
type resource struct {
	sync.Mutex
	name string
}

type locked interface {
	Lock()
	Unlock()
	Name() string
}

func (r *resource) Name() string { return r.name }

//go:noinline
func begin(r locked, to chan locked, again chan bool) {
	r.Lock()
	to <- r
	<-again
}

//go:noinline
func complete(from chan locked) {
	for r := range from {
		say("handed-unlocks")
		time.Sleep(time.Hour)
		r.Unlock()
	}
}

//go:noinline
func use(r locked) string {
	r.Lock()
	defer r.Unlock()
	return r.Name()
}

var again = make(chan bool)

// handed has a lock taken in one goroutine, and let go of by another.
func handed() {
	r := &resource{name: "r"}
	to := make(chan locked)
	go complete(to)
	go begin(r, to, again)
	pause()
	go func() {
		say("handed-waits", fmt.Sprintf("%p", &r.Mutex))
		use(r)
	}()
}

type queue struct {
	rw    sync.RWMutex
	cond  *sync.Cond
	items []string
}

//go:noinline
func (q *queue) first(stop chan bool) string {
	q.cond.L.Lock()
	defer q.cond.L.Unlock()
	say("rlocker-holds", fmt.Sprintf("%p", &q.rw))
	<-stop
	return q.items[0]
}

//go:noinline
func (q *queue) await() string {
	q.cond.L.Lock()
	for len(q.items) == 0 {
		q.cond.Wait()
	}
	defer q.cond.L.Unlock()
	return q.items[0]
}

//go:noinline
func (q *queue) push(item string) {
	q.rw.Lock()
	q.items = append(q.items, item)
	q.rw.Unlock()
	q.cond.Signal()
}

var stop = make(chan bool)

// rlocker has a condition whose lock is an RWMutex's for readers: one waits for it, and has let go, another holds it.
func rlocker() {
	q := new(queue)
	q.cond = sync.NewCond(q.rw.RLocker())
	go q.await()
	pause()
	go q.first(stop)
	pause()
	go func() {
		say("rlocker-waits", fmt.Sprintf("%p", &q.rw))
		q.push("x")
	}()
}

// keyedMutex has a lock for each key.
type keyedMutex struct {
	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

//go:noinline
func (k *keyedMutex) Lock(key string) func() {
	k.mu.Lock()
	l, ok := k.locks[key]
	if !ok {
		l = new(sync.Mutex)
		k.locks[key] = l
	}
	k.mu.Unlock()
	l.Lock()
	return func() { l.Unlock() }
}

//go:noinline
func (k *keyedMutex) both(first, second string) {
	defer k.Lock(first)()
	say("keyed-" + first)
	pause()
	defer k.Lock(second)()
}

// keyed has two goroutines lock two keys in either order.
func keyed() {
	k := &keyedMutex{locks: map[string]*sync.Mutex{}}
	go k.both("a", "b")
	go k.both("b", "a")
}

// call is one that others share.
type call struct {
	wg  sync.WaitGroup
	val string
}

type callers struct {
	mu sync.Mutex
	m  map[string]*call
}

//go:noinline
func (g *callers) do(key string, fn func() string) string {
	g.mu.Lock()
	if c, ok := g.m[key]; ok {
		g.mu.Unlock()
		say("flight-waits", fmt.Sprintf("%p", &c.wg))
		c.wg.Wait()
		return c.val
	}
	c := new(call)
	c.wg.Add(1)
	g.m[key] = c
	g.mu.Unlock()
	c.val = fn()
	c.wg.Done()
	return c.val
}

// flight has callers wait for one that asks for the same again.
func flight() {
	g := &callers{m: map[string]*call{}}
	var recursive func() string
	recursive = func() string { return g.do("key", recursive) }
	go g.do("key", recursive)
	pause()
	for i := 0; i < 2; i++ {
		go g.do("key", recursive)
	}
}

type gauge struct {
	mu    sync.Mutex
	value int
}

// update has taken the lock as a function says that tries for some time.
//
//go:noinline
func (g *gauge) update() {
	if !tryFor(&g.mu, time.Second) {
		return
	}
	defer g.mu.Unlock()
	say("try-holds", fmt.Sprintf("%p", &g.mu))
	<-stop
	g.value++
}

//go:noinline
func (g *gauge) read() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.value
}

// try has a lock taken by TryLock, in a function that returns whether it is.
func try() {
	g := new(gauge)
	go g.update()
	pause()
	go func() {
		say("try-waits", fmt.Sprintf("%p", &g.mu))
		g.read()
	}()
}

type shelf struct {
	mu    sync.Mutex
	books int
}

// move locks all, and has a list of what to undo.
//
//go:noinline
func move(all []*shelf) {
	var undo []func()
	defer func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}()
	for _, s := range all {
		s.mu.Lock()
		undo = append(undo, s.mu.Unlock)
	}
	say("undo-holds", fmt.Sprintf("%p", &all[1].mu))
	<-stop
}

//go:noinline
func (s *shelf) add() {
	s.mu.Lock()
	s.books++
	s.mu.Unlock()
}

// undo has locks in a list of method values.
func undo() {
	all := []*shelf{{}, {}, {}}
	go move(all)
	pause()
	go func() {
		say("undo-waits", fmt.Sprintf("%p", &all[1].mu))
		all[1].add()
	}()
}

type options struct {
	updates chan string
	done    chan struct{}
}

//go:noinline
func (o *options) watch(ctx context.Context) {
	say("nothing-waits")
	for {
		select {
		case <-ctx.Done():
			return
		case u := <-o.updates:
			fmt.Println(u)
		case <-o.done:
			return
		}
	}
}

// nothing has a select of nothing but nil channels.
func nothing() {
	go new(options).watch(context.Background())
}

// tasks is as an errgroup.
type tasks struct {
	wg   sync.WaitGroup
	once sync.Once
	err  error
}

func (g *tasks) Go(f func() error) {
	g.wg.Add(1)
	go func() {
		if err := f(); err != nil {
			g.once.Do(func() { g.err = err })
			return // without Done
		}
		g.wg.Done()
	}()
}

//go:noinline
func (g *tasks) Wait() error {
	say("group-waits", fmt.Sprintf("%p", &g.wg))
	g.wg.Wait()
	return g.err
}

// group has one that waits for tasks, of which one has ended and not said so.
func group() {
	go func() {
		g := new(tasks)
		for i := 0; i < 3; i++ {
			i := i
			g.Go(func() error {
				if i == 1 {
					return errors.New("task " + strconv.Itoa(i))
				}
				return nil
			})
		}
		g.Wait()
	}()
}

type token chan struct{}

//go:noinline
func (t token) take() { t <- struct{}{} }

//go:noinline
func (t token) give() { <-t }

//go:noinline
func both(name string, a, b token) {
	a.take()
	defer a.give()
	say("tokens-"+name, fmt.Sprintf("%p", b))
	pause()
	b.take()
	defer b.give()
}

// tokens has channels as locks, taken in either order.
func tokens() {
	a, b := make(token, 1), make(token, 1)
	go both("a", a, b)
	go both("b", b, a)
}

// striped has its locks by value, in an array of structs that keep them apart.
type striped struct {
	stripes [8]struct {
		sync.RWMutex
		_    [40]byte
		rows map[string]int
	}
}

//go:noinline
func (s *striped) update(key string, f func(rows map[string]int)) {
	stripe := &s.stripes[len(key)%len(s.stripes)]
	stripe.Lock()
	defer stripe.Unlock()
	f(stripe.rows)
}

//go:noinline
func (s *striped) read(key string) int {
	stripe := &s.stripes[len(key)%len(s.stripes)]
	stripe.RLock()
	defer stripe.RUnlock()
	return stripe.rows[key]
}

// stripes has one read in a callback what it has locked.
func stripes() {
	s := new(striped)
	go s.update("abc", func(rows map[string]int) {
		say("stripes", fmt.Sprintf("%p", &s.stripes[3].RWMutex))
		fmt.Println(s.read("abd"), rows)
	})
}
