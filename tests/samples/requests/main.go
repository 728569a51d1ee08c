// Requests is a server and its clients: two requests keep the connections of a pool, and 20 more wait for one; with the
// argument "stream", 20 requests wait for news, which is what they are for; with "late", 20 have begun to wait for a connection
// 11 seconds after a collection, and right before another. It prints "ready", and waits until its input ends.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

type connection struct{ number int }

var (
	pool = make(chan *connection, 2)
	news = make(chan string)

	handled int32
)

//go:noinline
func take() *connection {
	return <-pool // they wait
}

func lookup(w http.ResponseWriter, r *http.Request) {
	atomic.AddInt32(&handled, 1)
	c := take()
	if r.URL.RawQuery == "keep" {
		return
	}
	fmt.Fprintln(w, c.number)
	pool <- c
}

func stream(w http.ResponseWriter, r *http.Request) {
	atomic.AddInt32(&handled, 1)
	select {
	case text := <-news:
		fmt.Fprintln(w, text)
	case <-r.Context().Done():
	}
}

func main() {
	for i := 0; i < cap(pool); i++ {
		pool <- &connection{i}
	}
	http.HandleFunc("/lookup", lookup)
	http.HandleFunc("/stream", stream)
	server := httptest.NewServer(http.DefaultServeMux)
	path := "/stream"
	if len(os.Args) > 1 && os.Args[1] == "late" {
		runtime.GC()
		time.Sleep(11 * time.Second)
	}
	if len(os.Args) == 1 || os.Args[1] == "late" {
		path = "/lookup"
		for i := 0; i < cap(pool); i++ {
			http.Get(server.URL + path + "?keep")
		}
	}
	for i := 0; i < 20; i++ {
		go http.Get(server.URL + path)
	}
	for atomic.LoadInt32(&handled) < 20 {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	runtime.GC()
	// How long they have waited Go knows from the collection before the one that sees them wait.
	if len(os.Args) == 1 {
		runtime.GC()
	}
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
}
