package main

import (
	"sync"
	"time"
)

// hold prints that its goroutine has the mutex at an address, and keeps it.
//
//go:noinline
func hold(mutex interface{}) {
	say("holds %p", mutex)
	<-make(chan int)
}

type table struct {
	mutex sync.Mutex
	rows  int
}

//go:noinline
func (t *table) lock() {
	t.mutex.Lock()
	t.rows++
}

//go:noinline
func (t *table) unlock() {
	t.rows--
	t.mutex.Unlock()
}

//go:noinline
func (t *table) acquire() func() {
	t.mutex.Lock()
	return t.mutex.Unlock
}

//go:noinline
func (t *table) byMethods() {
	t.lock()
	defer t.unlock()
	hold(&t.mutex)
}

//go:noinline
func (t *table) byClosure() {
	release := t.acquire()
	defer release()
	hold(&t.mutex)
}

//go:noinline
func byLocker(lock sync.Locker) {
	lock.Lock()
	hold(lock)
	lock.Unlock()
}

//go:noinline
func byCondition(cond *sync.Cond) {
	cond.L.Lock()
	hold(cond.L)
	cond.L.Unlock()
}

//go:noinline
func inLoop(mutexes []*sync.Mutex) {
	for _, mutex := range mutexes {
		mutex.Lock()
		defer mutex.Unlock()
	}
	hold(mutexes[1])
}

//go:noinline
func (t *table) get() int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.rows
}

// wait lets go of the mutex that its caller has taken, and takes it again.
//
//go:noinline
func (t *table) wait() {
	t.mutex.Unlock()
	time.Sleep(time.Hour)
	t.mutex.Lock()
}

//go:noinline
func (t *table) letGoMeanwhile() {
	t.lock()
	t.wait()
	t.unlock()
}

// awaitRows waits for a condition, and has let go of its mutex.
//
//go:noinline
func (t *table) awaitRows(cond *sync.Cond) {
	t.mutex.Lock()
	cond.Wait()
	t.mutex.Unlock()
}

//go:noinline
func callAndWait(done func()) {
	done()
	time.Sleep(time.Hour)
}

// letGoByCallback has what it calls let go of its mutex.
//
//go:noinline
func (t *table) letGoByCallback() {
	t.mutex.Lock()
	callAndWait(func() {
		t.mutex.Unlock()
		total++
	})
	t.get()
}

// What it has is not to be seen.
//
//go:noinline
func holdUnseen(tables map[int]*table) {
	tables[1].mutex.Lock()
	<-make(chan int)
	tables[1].mutex.Unlock()
}

// again has a Once do what waits for that.
//
//go:noinline
func again(once *sync.Once) {
	once.Do(func() {
		say("again %p", once)
		again(once)
	})
}

// pair's accounts are told apart by the words in it alone.
type pair struct{ from, to *account }

//go:noinline
func moveBoth(p pair) {
	p.from.mutex.Lock()
	say("%p", &p.to.mutex)
	pause()
	p.to.mutex.Lock()
}

// ways has goroutines hold mutexes in as many ways, each waited for by another, who may say so.
func ways() {
	var tables [4]*table
	for i := range tables {
		tables[i] = new(table)
	}
	cond := sync.NewCond(&tables[2].mutex)
	loop := []*sync.Mutex{new(sync.Mutex), new(sync.Mutex), new(sync.Mutex)}
	go tables[0].byMethods()
	go tables[1].byClosure()
	go byCondition(cond)
	go byLocker(&tables[3].mutex)
	go inLoop(loop)
	pause()
	for _, t := range tables {
		go t.get()
	}
	go func() {
		loop[1].Lock()
		total++
	}()
}

// calledBack has one that has let go of its mutex by what another function was called with.
func calledBack() {
	one := new(table)
	go one.letGoByCallback()
	pause()
	go holdUnseen(map[int]*table{1: one})
	pause()
	go one.get()
}

// released has goroutines whose callers have taken mutexes that they have let go of, and others have.
func released() {
	one, two := new(table), new(table)
	cond := sync.NewCond(&two.mutex)
	go one.letGoMeanwhile()
	go two.awaitRows(cond)
	pause()
	go holdUnseen(map[int]*table{1: one})
	go holdUnseen(map[int]*table{1: two})
	pause()
	go one.get()
	go two.get()
}
