package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// status is an error whose method panics.
type status struct{ code int }

func (s *status) Error() string { return strings.Repeat("x", s.code) }

// reason is a string that is an error, as many have them.
type reason string

func (r reason) Error() string { return "reason: " + string(r) }

type visitor interface{ visit(depth int) int }

type square struct{ room [30]int }

func (s square) visit(depth int) int { return visit(&s, depth) + s.room[depth%30] }

//go:noinline
func visit(v visitor, depth int) int { return v.visit(depth+1) + 1 }

var (
	hook  struct{ before, after func(int) int }
	table = map[int]string{}
	size  = 1 << 46
	none  *struct{ lines [400]int }
	boxes = map[interface{}]int{}
)

// crashes end the program; each is called with 3.
var crashes = map[string]func(n int){
	"hook":     func(n int) { fmt.Println(hook.after(n)) },
	"overflow": func(n int) { fmt.Println(visit(square{}, n)) },
	"maps": func(n int) {
		runtime.GOMAXPROCS(4)
		for i := 0; i < 4; i++ {
			go func(i int) {
				for {
					table[i] = "x"
				}
			}(i)
		}
		time.Sleep(time.Minute)
	},
	"asleep": func(n int) {
		locked := make(chan int)
		go func() {
			runtime.LockOSThread()
			<-locked
		}()
		runtime.LockOSThread()
		var mu sync.Mutex
		mu.Lock()
		pause()
		mu.Lock()
	},
	"error":    func(n int) { panic(&status{-n}) },
	"reason":   func(n int) { panic(reason("two\tcolumns\n\tof two lines")) },
	"huge":     func(n int) { kept = append(kept, make([]byte, size)) },
	"length":   func(n int) { kept = append(kept, make([]byte, -n)) },
	"group":    func(n int) { new(sync.WaitGroup).Done() },
	"closed":   func(n int) { c := make(chan int); close(c); close(c) },
	"sent":     func(n int) { c := make(chan int, 1); close(c); c <- n },
	"nil":      func(n int) { var c chan int; close(c) },
	"hash":     func(n int) { boxes[[]int{n}] = n },
	"method":   func(n int) { var v interface{} = n; fmt.Println(v.(visitor)) },
	"bounds":   func(n int) { b := make([]int, n); fmt.Println(b[n+1:][0]) },
	"order":    func(n int) { b := make([]int, 9); fmt.Println(b[n : n-1]) },
	"far":      func(n int) { fmt.Println(none.lines[n*100]) },
	"wild":     func(n int) { *(*int)(unsafe.Pointer(uintptr(size) + 0x123450)) = n },
	"struct":   func(n int) { panic(struct{ a, b int }{n, 4}) },
	"pointer":  func(n int) { panic(&node{id: n}) },
	"nilerror": func(n int) { var s *status; panic(error(s)) },
	"float":    func(n int) { panic(complex(1.5, -2)) },
	"goexit":   func(n int) { defer runtime.Goexit(); panic("left by Goexit") },
	"exits":    func(n int) { go func() { time.Sleep(time.Hour) }(); runtime.Goexit() },
	"nested": func(n int) {
		defer func() {
			defer func() { panic(fmt.Errorf("third: %w", recover().(error))) }()
			panic(fmt.Errorf("second: %v", recover()))
		}()
		panic("first")
	},
	"repanic": func(n int) {
		defer func() { panic(recover()) }()
		fmt.Println(hook.before(n))
	},
	"runlock": func(n int) { new(sync.RWMutex).RUnlock() },
	"wait":    func(n int) { <-(chan int)(nil) },
	"quit": func(n int) {
		fmt.Println("ready")
		time.Sleep(time.Hour)
	},
	"kill": func(n int) { p, _ := os.FindProcess(os.Getpid()); p.Signal(syscall.SIGABRT); time.Sleep(time.Hour) },
}
