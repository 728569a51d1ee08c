// Waits has a goroutine for each way of waiting. Each prints, before it waits, its number, what it waits for, and how: the
// fields that `goheap waits --json' has, separated by tabs; and on standard error descriptors, and what they are of. Then it
// prints "ready", and waits until its input ends.
package main

import (
	"bytes"
	"fmt"
	"io/ioutil"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"
)

type job struct {
	name string
	next *job
}

type account struct {
	balance int
	mutex   sync.Mutex
	shared  sync.RWMutex
}

var (
	globalMutex sync.Mutex
	globalCond  = sync.NewCond(&sync.Mutex{})
	never       chan int
	started     sync.WaitGroup
	output      sync.Mutex
	kept        []interface{}
)

// id is the number of the goroutine that calls it.
func id() string {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	return string(bytes.Fields(buf)[1])
}

func say(format string, args ...interface{}) {
	output.Lock()
	fmt.Printf(id()+"\t"+format+"\n", args...)
	output.Unlock()
}

// start calls f in a goroutine, which has to call started.Done.
func start(f func()) {
	started.Add(1)
	go f()
	started.Wait()
}

func channel(c interface{}, length, capacity int) string {
	return fmt.Sprintf("%T %p %d %d", c, c, length, capacity)
}

func channels() {
	full := make(chan *job, 2)
	full <- &job{name: "first"}
	full <- &job{name: "second"}
	unbuffered := make(chan int)
	results := make(chan [3]string, 5)
	kept = append(kept, full, unbuffered, results)
	start(func() {
		say("send\tsend %s", channel(full, 2, 2))
		started.Done()
		full <- &job{}
	})
	start(func() {
		say("receive\treceive %s", channel(unbuffered, 0, 0))
		started.Done()
		<-unbuffered
	})
	start(func() {
		say("select\treceive %s, send %s", channel(results, 0, 5), channel(full, 2, 2))
		started.Done()
		select {
		case <-results:
		case full <- nil:
		}
	})
	start(func() {
		say("receive\t")
		started.Done()
		<-never
	})
	start(func() {
		say("send\t")
		started.Done()
		never <- 1
	})
	start(func() {
		say("select\t")
		started.Done()
		select {}
	})
}

func mutexes() {
	a := new(account)
	kept = append(kept, a)
	a.mutex.Lock()
	a.shared.RLock()
	globalMutex.Lock()
	start(func() {
		say("mutex\t%p", &a.mutex)
		started.Done()
		a.mutex.Lock()
	})
	start(func() {
		say("mutex\t%p", &globalMutex)
		started.Done()
		globalMutex.Lock()
	})
	start(func() {
		say("rwmutex write\t%p", &a.shared)
		started.Done()
		a.shared.Lock()
	})
	time.Sleep(100 * time.Millisecond)
	start(func() {
		say("rwmutex read\t%p", &a.shared)
		started.Done()
		a.shared.RLock()
	})
	start(func() {
		say("rwmutex write\t%p", &a.shared)
		started.Done()
		a.shared.Lock()
	})
}

func others() {
	group := new(sync.WaitGroup)
	group.Add(3)
	cond := sync.NewCond(new(sync.Mutex))
	kept = append(kept, group, cond)
	start(func() {
		say("waitgroup\t%p 3", group)
		started.Done()
		group.Wait()
	})
	for i := 0; i < 2; i++ {
		start(func() {
			say("cond\t%p", cond)
			started.Done()
			cond.L.Lock()
			cond.Wait()
		})
	}
	start(func() {
		say("cond\t%p", globalCond)
		started.Done()
		globalCond.L.Lock()
		globalCond.Wait()
	})
	start(func() {
		say("sleep\t")
		started.Done()
		time.Sleep(time.Hour)
	})
	start(func() {
		timer := time.NewTimer(2 * time.Hour)
		say("receive\treceive chan time.Time %p 0 1", timer.C)
		started.Done()
		<-timer.C
	})
}

func descriptors() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		panic(err)
	}
	server, err := listener.Accept()
	if err != nil {
		panic(err)
	}
	var blocking [2]int
	if err := syscall.Pipe(blocking[:]); err != nil {
		panic(err)
	}
	kept = append(kept, listener, reader, writer, client)
	fmt.Fprintf(os.Stderr, "in main.descriptors.func1.1: tcp %s, listening\n", listener.Addr())
	fmt.Fprintf(os.Stderr, "in main.descriptors.func3.1: tcp %s to %s\n", server.LocalAddr(), server.RemoteAddr())
	fmt.Fprintf(os.Stderr, "in main.descriptors.func4: %d\n", blocking[0])
	raw, _ := listener.(*net.TCPListener).SyscallConn()
	raw.Control(func(fd uintptr) {
		start(func() {
			say("descriptor\t%d", fd)
			started.Done()
			listener.Accept()
		})
	})
	pipe, _ := reader.SyscallConn()
	pipe.Control(func(fd uintptr) {
		start(func() {
			say("descriptor\t%d", fd)
			started.Done()
			reader.Read(make([]byte, 1))
		})
	})
	connection, _ := server.(*net.TCPConn).SyscallConn()
	connection.Control(func(fd uintptr) {
		start(func() {
			say("descriptor\t%d", fd)
			started.Done()
			server.Read(make([]byte, 1))
		})
	})
	start(func() {
		say("syscall\t")
		started.Done()
		syscall.Read(blocking[0], make([]byte, 1))
	})
}

// full is the address of a listener that has no room for another connection.
func full() string {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		panic(err)
	}
	syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	syscall.Listen(fd, 0)
	bound, _ := syscall.Getsockname(fd)
	address := fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
	only, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	kept = append(kept, only)
	return address
}

func dials() {
	address := full()
	fmt.Fprintf(os.Stderr, "dialled: %s\n", address)
	for i := 0; i < 2; i++ {
		start(func() {
			dialer := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
				return c.Control(func(fd uintptr) {
					say("descriptor\t%d", fd)
					started.Done()
				})
			}}
			dialer.Dial("tcp", address)
		})
	}
}

func init() {
	runtime.MemProfileRate = 1
	if os.Getenv("UNSAMPLED") != "" {
		runtime.MemProfileRate = 0
	}
}

func main() {
	channels()
	mutexes()
	others()
	descriptors()
	dials()
	time.Sleep(200 * time.Millisecond)
	if len(os.Args) > 1 {
		file, err := os.Create(os.Args[1])
		if err != nil {
			panic(err)
		}
		debug.WriteHeapDump(file.Fd())
	}
	say("syscall\t")
	fmt.Println("ready")
	ioutil.ReadAll(os.Stdin)
	runtime.KeepAlive(kept)
}
