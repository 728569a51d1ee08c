// Asked fills its heap with what the questions in goheap(1) are about, prints what there is of each, and writes a heap
// dump to DUMP.
//
//	asked DUMP
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// Request is what a server works on.
type Request struct {
	id   int
	ctx  context.Context
	body []byte
}

// Cache keeps much.
type Cache struct {
	pages [][]byte
	hits  int
}

// Connection has a finalizer.
type Connection struct {
	number int
	peer   *Connection
}

// Gauge has numbers of several sizes.
type Gauge struct {
	level float64
	share float32
	step  int8
	mask  uint8
	most  uint64
	on    bool
}

const (
	copies      = 500
	entries     = 10
	late        = 30
	early       = 20
	pages       = 256
	workers     = 25
	capacity    = 5
	connections = 7
)

// kept holds values by interfaces, from which their types are known.
var kept []interface{}

var messages []string

//go:noinline
func say(text string) string {
	return string(append([]byte(nil), text...))
}

//go:noinline
func serve(deadline time.Time, count int) {
	for i := 0; i < count; i++ {
		ctx, cancel := context.WithDeadline(context.Background(), deadline)
		kept = append(kept, &Request{i, ctx, make([]byte, 1000)}, cancel)
	}
}

//go:noinline
func fill() {
	for i := 0; i < copies; i++ {
		messages = append(messages, say("the upstream server did not answer"))
	}
	sessions := map[string]int{}
	for i := 0; i < 10000; i++ {
		sessions[fmt.Sprint(i)] = i
	}
	for i := entries; i < 10000; i++ {
		delete(sessions, fmt.Sprint(i))
	}
	serve(time.Now().Add(-2*time.Hour), late)
	serve(time.Now().Add(time.Hour), early)
	cache := &Cache{}
	for i := 0; i < pages; i++ {
		cache.pages = append(cache.pages, make([]byte, 4096))
	}
	gauge := &Gauge{2.5, -0.25, -3, 200, 1 << 40, true}
	kept = append(kept, gauge, sessions, cache, bytes.NewBuffer(make([]byte, 1<<18)))
	for i := 0; i < connections; i++ {
		connection := &Connection{number: i}
		connection.peer = &Connection{number: -i}
		runtime.SetFinalizer(connection, func(*Connection) {})
		kept = append(kept, connection)
	}
}

//go:noinline
func work(jobs chan *Request, number int) {
	jobs <- &Request{id: number, body: make([]byte, 100)}
}

func main() {
	runtime.MemProfileRate = 1
	fill()
	jobs := make(chan *Request, capacity)
	for i := 0; i < workers+capacity; i++ {
		go work(jobs, i)
	}
	for len(jobs) < capacity || runtime.NumGoroutine() > workers+1 {
		time.Sleep(time.Millisecond)
	}
	// A collection, so that the profile is whole.
	runtime.GC()
	runtime.GC()
	time.Sleep(10 * time.Millisecond)
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	debug.WriteHeapDump(file.Fd())
	fmt.Println("copies", copies)
	fmt.Println("entries", entries)
	fmt.Println("late", late)
	fmt.Println("early", early)
	fmt.Println("pages", pages)
	fmt.Println("workers", workers)
	fmt.Println("capacity", capacity)
	fmt.Println("requests", late+early+workers+capacity)
	fmt.Println("connections", connections)
	runtime.KeepAlive(jobs)
}
