// Crash is a program that ends as its argument says, with two goroutines that wait and, if there is
// a second argument, one that runs. What is to be killed from outside says "ready" first.
//
//	crash error|string|number|stringer|wrapped|custom  panic with such a value
//	crash nothing    panic with nil
//	crash nested     panic in a deferred call while panicking
//	crash again      recover, and panic with the same value
//	crash recovered  panic, recover, and panic with another value after that
//	crash map        write to a nil map
//	crash entry      load from a nil pointer in a function's first instruction
//	crash later      the same further on
//	crash mapped     load from a page of a mapped file that is no longer in the file
//	crash divide     divide by zero
//	crash index      go out of a slice's bounds
//	crash assert     assert a type that an interface does not have
//	crash call       call a nil func value
//	crash overflow   recurse without an end
//	crash deadlock   have all goroutines wait
//	crash unlock     unlock a mutex that is not locked, which is a fatal error
//	crash spin       run Go code, to be killed
//	crash read       wait in a system call, to be killed
//	crash sleep      have nothing run, to be killed
//	crash c          run C code, to be killed; crash cabort: call abort in C; crash cfault: store to
//	                 no address in C; crash cthread: the same on a thread that C has started
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
)

type point struct{ x, y int }

type celsius float64

func (c celsius) String() string { return fmt.Sprintf("%g degrees", float64(c)) }

type code int

var (
	sink  int
	table map[string]int
	none  *[100]int
	nofn  func(int, string) int
	zero  int
	hands = []string{"left", "right"}
)

func main() {
	mode := "error"
	if len(os.Args) > 1 {
		mode = strings.TrimLeft(os.Args[1], "-")
	}
	if mode != "deadlock" {
		waiting := make(chan int)
		go wait(waiting, "waiting", 7)
		go wait(make(chan int), "also waiting", 8)
		<-waiting
	}
	if len(os.Args) > 2 {
		busy := make(chan int)
		go run(busy, 3)
		<-busy
	}
	middle(mode, 4, point{5, 6})
}

//go:noinline
func wait(c chan int, name string, n int) int {
	if n == 7 {
		c <- n
	}
	return len(name) + <-make(chan int)
}

//go:noinline
func run(c chan int, n int) {
	c <- n
	for i := 0; ; i++ {
		sink += i * n
	}
}

//go:noinline
func middle(mode string, n int, p point) int {
	// In a loop, so that the runtime keeps a list.
	for i := 0; i < 2; i++ {
		defer cleanup(n, mode)
	}
	return crash(mode, n+p.x) + p.y
}

//go:noinline
func mapped(n int, mode string) int {
	file, err := os.OpenFile(mode, os.O_RDWR|os.O_CREATE, 0600)
	if err != nil || file.Truncate(4096) != nil || os.Remove(mode) != nil {
		panic("no file to map")
	}
	page, err := syscall.Mmap(int(file.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil || file.Truncate(0) != nil {
		panic("no page is mapped")
	}
	return int(page[n])
}

//go:noinline
func cleanup(n int, mode string) {
	sink += n + len(mode)
}

// Crash has the crash's own function called from it.
//
//go:noinline
func crash(mode string, n int) int {
	if f := modes[mode]; f != nil {
		return f(n, mode)
	}
	fmt.Fprintln(os.Stderr, "usage: crash MODE")
	os.Exit(2)
	return 0
}

var modes map[string]func(n int, mode string) int

func init() {
	modes = map[string]func(n int, mode string) int{
		"error":     func(n int, mode string) int { panic(errors.New("no more " + mode + "s")) },
		"string":    func(n int, mode string) int { panic("it is a " + mode + "\nof two lines") },
		"number":    func(n int, mode string) int { panic(n) },
		"stringer":  func(n int, mode string) int { panic(celsius(36.6)) },
		"wrapped":   func(n int, mode string) int { panic(fmt.Errorf("reading: %w", os.ErrNotExist)) },
		"custom":    func(n int, mode string) int { panic(code(n)) },
		"nothing":   func(n int, mode string) int { var none interface{}; panic(none) },
		"nested":    nested,
		"again":     again,
		"recovered": recovered,
		"map":       func(n int, mode string) int { table[mode] = n; return n },
		"entry":     func(n int, mode string) int { return first(none) + n },
		"later":     later,
		"mapped":    mapped,
		"divide":    func(n int, mode string) int { return divide(n, zero) },
		"index":     func(n int, mode string) int { return len(pick(hands, n)) },
		"assert":    func(n int, mode string) int { return assert(mode) },
		"call":      func(n int, mode string) int { return nofn(n, mode) + n },
		"overflow":  func(n int, mode string) int { debug.SetMaxStack(4 << 20); return overflow(n, mode) },
		"deadlock":  func(n int, mode string) int { return <-make(chan int) },
		"unlock":    unlock,
		"spin":      spin,
		"read":      read,
		"sleep":     sleep,
		"c":         inC,
		"cabort":    inC,
		"cfault":    inC,
		"cthread":   inC,
	}
}

//go:noinline
func nested(n int, mode string) int {
	defer func() {
		panic(fmt.Sprintf("while panicking: %d", n))
	}()
	panic(errors.New("first"))
}

//go:noinline
func again(n int, mode string) int {
	defer func() {
		v := recover()
		panic(v)
	}()
	panic(errors.New("once"))
}

//go:noinline
func recovered(n int, mode string) int {
	func() {
		defer func() { sink += len(recover().(string)) }()
		panic("recovered from")
	}()
	panic(point{n, 2})
}

//go:noinline
func first(p *[100]int) int { return p[3] }

//go:noinline
func later(n int, mode string) int {
	total := 0
	for i := 0; i < n; i++ {
		total += len(mode) + i
	}
	none[n] = total
	return total
}

//go:noinline
func divide(n, by int) int { return n / by }

//go:noinline
func pick(from []string, n int) string { return from[n] }

//go:noinline
func assert(v interface{}) int { return v.(int) }

//go:noinline
func overflow(n int, mode string) int {
	var room [64]int
	room[n%64] = overflow(n+1, mode)
	return room[len(mode)] + n
}

//go:noinline
func unlock(n int, mode string) int {
	var m sync.Mutex
	m.Unlock()
	return n
}

//go:noinline
func spin(n int, mode string) int {
	fmt.Println("ready")
	for i := 0; ; i++ {
		sink += i * n
	}
}

//go:noinline
func read(n int, mode string) int {
	fmt.Println("ready")
	var b [1]byte
	count, _ := syscall.Read(0, b[:])
	return count + n
}

//go:noinline
func sleep(n int, mode string) int {
	fmt.Println("ready")
	time.Sleep(time.Hour)
	return n
}
