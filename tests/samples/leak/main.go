// Leak serves visitors, and keeps what it should not: sessions that nobody ends, and a request that nobody answers.
//
//	leak BEFORE AFTER [many]    write a heap dump to BEFORE after 10 visits, and to AFTER after 3000, or two million
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"
)

// Request is what a visitor asks.
type Request struct {
	path string
	body []byte
}

// Session is what is known of a visitor.
type Session struct {
	user     string
	requests []*Request
}

// Server knows its visitors.
type Server struct {
	name     string
	sessions map[string]*Session
	queue    chan *Request
}

// Handler is what visitors come to.
type Handler interface {
	visit(user, path string)
	answer(request *Request)
}

var handler Handler

// visit keeps the request in the visitor's session, for a history that nobody reads.
//
//go:noinline
func (s *Server) visit(user, path string) {
	session := s.sessions[user]
	if session == nil {
		session = &Session{user: user}
		s.sessions[user] = session
	}
	request := &Request{path: path}
	request.body = make([]byte, 1000)
	session.requests = append(session.requests, request)
}

// answer waits for a turn that does not come.
//
//go:noinline
func (s *Server) answer(request *Request) {
	s.queue <- request
	fmt.Println(len(request.body))
}

func visits(from, to int) {
	for i := from; i < to; i++ {
		handler.visit(fmt.Sprintf("visitor %d", i%500), fmt.Sprintf("/articles/%d", i))
	}
}

func write(path string) {
	file, err := os.Create(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	runtime.GC()
	debug.WriteHeapDump(file.Fd())
	file.Close()
}

func main() {
	count := 3000
	runtime.MemProfileRate = 1
	if len(os.Args) == 4 {
		count = 2000000
		runtime.MemProfileRate = 1 << 20 // each would take too long
	} else if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: leak BEFORE AFTER [many]")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1) // the collector's goroutines are as many everywhere
	handler = &Server{"shop", make(map[string]*Session), make(chan *Request)}
	visits(0, 10)
	write(os.Args[1])
	visits(10, count)
	go handler.answer(&Request{"/report", make([]byte, 200000)})
	time.Sleep(100 * time.Millisecond)
	write(os.Args[2])
}
