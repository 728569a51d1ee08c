// Probed prints its own calls, with arguments and results, of functions that are probed meanwhile: on
// goroutines whose stacks grow in them and that change threads.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

type account struct {
	name    string
	balance int64
}

type payer interface {
	pay(amount int32, to string) (int64, error)
	worth(in float64, by uint8) (uint8, string)
	swap(pair [2]int64, what interface{}) ([2]int64, interface{})
}

var errEmpty = errors.New("nothing left")

//go:noinline
func (a *account) pay(amount int32, to string) (int64, error) {
	if amount == 0 {
		return 0, nil
	}
	if int64(amount) > a.balance {
		return a.balance, errEmpty
	}
	a.balance -= int64(amount)
	if to == "" {
		return int64(deep(8)), &strconv.NumError{Func: "pay", Err: strconv.ErrSyntax}
	}
	return a.balance, nil
}

//go:noinline
func (a *account) worth(in float64, by uint8) (uint8, string) {
	if in > 1 {
		return by, a.name
	}
	return by + 1, a.name + "!"
}

// Swap has arguments and results in memory: arrays are there.
//
//go:noinline
func (a *account) swap(pair [2]int64, what interface{}) ([2]int64, interface{}) {
	if pair[0] == pair[1] {
		return pair, what
	}
	return [2]int64{pair[1], pair[0]}, a.name
}

//go:noinline
func area(w, h int, label string) int {
	if w < 0 {
		return -1
	}
	return w*h + len(label)
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k int, l int8) int {
	return a + b + c + d + e + f + g + h + i + j + k + int(l)
}

// Deep needs more stack with each call.
//
//go:noinline
func deep(n int) int {
	var room [128]int
	if n == 0 {
		return 0
	}
	room[n] = n
	// The goroutine may go on on another thread.
	if n%4 == 0 {
		runtime.Gosched()
	}
	return deep(n-1) + room[n]
}

//go:noinline
func guarded(n int) (result int) {
	defer func() {
		if r := recover(); r != nil {
			result = -n
		}
	}()
	if n%3 == 0 {
		panic(n)
	}
	return n
}

var out = bufio.NewWriter(os.Stdout)
var lock sync.Mutex

func say(format string, values ...interface{}) {
	lock.Lock()
	defer lock.Unlock()
	fmt.Fprintf(out, format+"\n", values...)
}

func errorName(err error) string {
	if err == nil {
		return "nil"
	}
	return fmt.Sprintf("%T", err)
}

// Round calls each of them.
func round(n int, p payer) {
	text := strconv.Itoa(n)
	say("main.area %d %d %q = %d", n, 7, text, area(n, 7, text))
	say("main.area %d %d %q = %d", -n, 7, "", area(-n, 7, ""))
	say("main.many %d %d = %d", n, -n%100, many(n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, int8(-n%100)))
	left, err := p.pay(int32(n), "shop "+text)
	say("main.(*account).pay %d %q = %d %s", n, "shop "+text, left, errorName(err))
	left, err = p.pay(1<<30, text)
	say("main.(*account).pay %d %q = %d %s", 1<<30, text, left, errorName(err))
	left, err = p.pay(1, "")
	say("main.(*account).pay %d %q = %d %s", 1, "", left, errorName(err))
	by, name := p.worth(float64(n%2)+0.5, uint8(n))
	say("main.(*account).worth %d = %d %q", uint8(n), by, name)
	pair, what := p.swap([2]int64{int64(n % 2), 1}, n)
	say("main.(*account).swap {0x%x, 0x%x} %T = {0x%x, 0x%x} %T", n%2, 1, n, pair[0], pair[1], what)
	for i := 8; i >= 0; i-- {
		say("main.deep %d = %d", i, i*(i+1)/2)
	}
	for i := 8; i >= 0; i-- {
		say("main.deep %d = %d", i, i*(i+1)/2)
	}
	deep(8)
	say("main.guarded %d = %d", n, guarded(n))
}

func main() {
	count, _ := strconv.Atoi(os.Args[1])
	// A probe cannot read what is not in memory yet: the types of interfaces.
	say("%s %s %T %T", errorName(errEmpty), errorName(&strconv.NumError{}), count, os.Args[1])
	var wait sync.WaitGroup
	for n := 1; n <= count; n++ {
		wait.Add(1)
		// Each begins with a small stack.
		go func(n int) {
			defer wait.Done()
			round(n, &account{name: "account " + strconv.Itoa(n), balance: 1 << 20})
		}(n)
		if n%8 == 0 {
			wait.Wait()
		}
	}
	wait.Wait()
	out.Flush()
	fmt.Fprintln(os.Stderr, "the program has ended well")
}
