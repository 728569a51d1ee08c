// Deadlocks has deadlocks of mutexes, and of other things, those that its arguments name, among goroutines that wait for each
// other in good order. Each goroutine that is in one prints its number, and the address of what it waits for; those of other
// things print the argument before that. Then it prints "ready" and how many goroutines it has, and waits until its input ends. Alone, "world" has a
// collection that waits for a goroutine which does not stop, with GODEBUG=asyncpreemptoff=1.
package main

import (
	"bytes"
	"fmt"
	"io/ioutil"
	"os"
	"runtime"
	"sync"
	"time"
)

type account struct {
	name    string
	balance int
	mutex   sync.Mutex
	shared  sync.RWMutex
}

type server struct {
	mutex sync.Mutex
	count int
}

var (
	first, second sync.Mutex
	output        sync.Mutex
	total         int
)

func id() string {
	buf := make([]byte, 64)
	buf = buf[:runtime.Stack(buf, false)]
	return string(bytes.Fields(buf)[1])
}

func say(format string, args ...interface{}) {
	number := id()
	output.Lock()
	defer output.Unlock()
	fmt.Printf(number+" "+format+"\n", args...)
}

func pause() { time.Sleep(50 * time.Millisecond) }

//go:noinline
func transfer(from, to *account, amount int) {
	from.mutex.Lock()
	defer from.mutex.Unlock()
	say("%p", &to.mutex)
	pause()
	to.mutex.Lock()
	defer to.mutex.Unlock()
	from.balance -= amount
	to.balance += amount
}

//go:noinline
func move(from, to *account, amount int) {
	from.mutex.Lock()
	from.balance -= amount
	say("%p", &to.mutex)
	pause()
	to.mutex.Lock()
	to.balance += amount
	to.mutex.Unlock()
	from.mutex.Unlock()
}

//go:noinline
func leave(a *account) { a.shared.RUnlock() }

// What it calls lets go of a lock of another kind.
//
//go:noinline
func moveAlone(from, to *account, amount int) {
	from.mutex.Lock()
	leave(from)
	from.balance -= amount
	say("%p", &to.mutex)
	pause()
	to.mutex.Lock()
	to.balance += amount
	to.mutex.Unlock()
	from.mutex.Unlock()
}

// All in one line.
//
//go:noinline
func swap(a, b *account) {
	a.mutex.Lock(); say("%p", &b.mutex); pause(); b.mutex.Lock(); b.mutex.Unlock(); a.mutex.Unlock()
}

// It may unlock in between, but then it does not go on.
//
//go:noinline
func withdraw(from, to *account, amount int) bool {
	from.mutex.Lock()
	if amount < from.balance {
		from.mutex.Unlock()
		return false
	}
	say("%p", &to.mutex)
	pause()
	to.mutex.Lock()
	to.balance += amount
	to.mutex.Unlock()
	from.mutex.Unlock()
	return true
}

// It has unlocked what it locked, on all ways.
//
//go:noinline
func lockInTurn(a, b *account) {
	for i := 0; i < 2; i++ {
		if a.balance == 0 {
			a.mutex.Lock(); a.balance++; a.mutex.Unlock()
		}
	}
	b.mutex.Lock(); b.balance++; b.mutex.Unlock()
}

//go:noinline
func upgrade(a *account) {
	a.shared.RLock()
	defer a.shared.RUnlock()
	if a.balance == 0 {
		say("%p", &a.shared)
		pause()
		a.shared.Lock()
		a.balance = 1
		a.shared.Unlock()
	}
}

func (s *server) add() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.count++
}

func (s *server) serve() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	say("%p", &s.mutex)
	s.add()
}

func forward() {
	first.Lock()
	say("%p", &second)
	pause()
	second.Lock()
	total++
	second.Unlock()
	first.Unlock()
}

func backward() {
	second.Lock()
	say("%p", &first)
	pause()
	first.Lock()
	total--
	first.Unlock()
	second.Unlock()
}

//go:noinline
func slow(a, b *account) {
	a.mutex.Lock()
	b.mutex.Lock()
	time.Sleep(time.Hour)
	b.mutex.Unlock()
	a.mutex.Unlock()
}

//go:noinline
func quick(a, b *account) {
	a.mutex.Lock()
	a.balance++
	a.mutex.Unlock()
	b.mutex.Lock()
	b.balance++
	b.mutex.Unlock()
}

var numbers = make(chan int)

//go:noinline
func relay(in, out chan int) { out <- 1 + <-in }

//go:noinline
func receive(in chan int) { total += <-in }

// healthy has goroutines that wait for others that hold mutexes, or for the next number, and could go on.
func healthy() {
	var accounts [4]*account
	for i := range accounts {
		accounts[i] = &account{name: fmt.Sprint(i)}
	}
	out := make(chan int)
	go receive(out)
	go relay(numbers, out)
	go slow(accounts[1], accounts[2])
	pause()
	for i := 0; i < 10; i++ {
		go quick(accounts[0], accounts[1])
		go transferQuietly(accounts[3], accounts[1])
	}
	go lockInTurn(new(account), accounts[1])
}

//go:noinline
func transferQuietly(from, to *account) {
	from.mutex.Lock()
	defer from.mutex.Unlock()
	to.mutex.Lock()
	defer to.mutex.Unlock()
	from.balance--
	to.balance++
}

// Small objects without pointers share blocks of memory with others, which may be reached.
type group struct {
	sync.WaitGroup
	_ *account
}

// A worker that fails does not call Done.
//
//go:noinline
func gather(workers int) {
	group := new(group)
	for i := 0; i < workers; i++ {
		group.Add(1)
		go func(i int) {
			if i == 1 {
				return
			}
			group.Done()
		}(i)
	}
	say("group %p", group)
	group.Wait()
}

// Each passes on what it gets, and nobody begins.
//
//go:noinline
func pass(in, out chan int) {
	say("channels %p", in)
	out <- 1 + <-in
}

// What is signalled is another condition.
//
//go:noinline
func awaitSignal() {
	var mutex sync.Mutex
	cond := sync.NewCond(&mutex)
	mutex.Lock()
	say("cond %p", cond)
	cond.Wait()
	mutex.Unlock()
}

//go:noinline
func produce(results chan *account, done *sync.WaitGroup) {
	defer done.Done()
	say("full %p", results)
	results <- new(account)
}

// Who is to receive waits until all is sent.
//
//go:noinline
func collect(workers int) {
	done := new(group)
	results := make(chan *account, 1)
	results <- new(account)
	done.Add(workers)
	for i := 0; i < workers; i++ {
		go produce(results, &done.WaitGroup)
	}
	say("full %p", done)
	done.Wait()
	for range results {
	}
}

// mixed has one that has a mutex and waits for one that waits for the mutex.
func mixed() {
	shared := new(account)
	answer := make(chan int)
	shared.mutex.Lock()
	go func() {
		say("mixed %p", &shared.mutex)
		shared.mutex.Lock()
		answer <- 1
	}()
	say("mixed %p", answer)
	<-answer
	shared.mutex.Unlock()
}

//go:noinline
func letGo(a *account) { a.mutex.Unlock() }

//go:noinline
func letGoDeep(a *account) { letGo(a) }

// Each of these has let go of the one mutex, where its own code does not show it, when it waits for the other.
//
//go:noinline
func turnByCall(from, to *account, ready, others chan int) {
	from.mutex.Lock()
	letGoDeep(from)
	ready <- 1
	<-others
	to.mutex.Lock()
	to.mutex.Unlock()
	from.balance++
}

//go:noinline
func turnByInterface(from, to *account, mutex sync.Locker, ready, others chan int) {
	from.mutex.Lock()
	mutex.Unlock()
	ready <- 1
	<-others
	to.mutex.Lock()
	to.mutex.Unlock()
	from.balance++
}

//go:noinline
func turnByValue(from, to *account, unlock func(), ready, others chan int) {
	from.mutex.Lock()
	unlock()
	ready <- 1
	<-others
	to.mutex.Lock()
	to.mutex.Unlock()
	from.balance++
}

//go:noinline
func turnOnOneWay(from, to *account, ready, others chan int) {
	from.mutex.Lock()
	if from.balance > 0 {
		from.balance--
	} else {
		letGoDeep(from)
	}
	ready <- 1
	<-others
	to.mutex.Lock()
	to.mutex.Unlock()
	from.balance++
}

//go:noinline
func turnOnOtherWay(from, to *account, ready, others chan int) {
	from.mutex.Lock()
	if from.balance == 0 {
		letGoDeep(from)
		if from.name != "" {
			from.balance--
		}
	}
	ready <- 1
	<-others
	to.mutex.Lock()
	to.mutex.Unlock()
	from.balance++
}

// takeTurns has pairs of these wait for mutexes that others have, who reach them by number.
func takeTurns() {
	ready, others := make(chan int), make(chan int)
	for i := 10; i < 20; i += 2 {
		a, b := new(account), new(account)
		accounts[i], accounts[i+1] = a, b
		for range [2]int{} {
			switch i {
			case 10:
				go turnByCall(a, b, ready, others)
			case 12:
				go turnByInterface(a, b, &a.mutex, ready, others)
			case 14:
				go turnByValue(a, b, a.mutex.Unlock, ready, others)
			case 16:
				go turnOnOneWay(a, b, ready, others)
			case 18:
				go turnOnOtherWay(a, b, ready, others)
			}
			<-ready
			a, b = b, a
		}
	}
	for i := 10; i < 20; i++ {
		go holdByNumber(i)
	}
	pause()
	close(others)
}

// give has another unlock what it has locked.
//
//go:noinline
func give(a *account, to chan [1]*account) {
	a.mutex.Lock()
	to <- [1]*account{a}
	a.mutex.Lock()
	a.mutex.Unlock()
}

//go:noinline
func take(from chan [1]*account) {
	for a := range from {
		time.Sleep(time.Hour)
		a[0].mutex.Unlock()
	}
}

//go:noinline
func find(all *[4]account, number int) *account { return &all[number] }

// exchange has a mutex of which nothing in its frame is the address.
//
//go:noinline
func exchange(all *[4]account, from, to int) {
	find(all, from).mutex.Lock()
	say("%p", &all[to].mutex)
	pause()
	find(all, to).mutex.Lock()
	all[from].balance, all[to].balance = all[to].balance, all[from].balance
	find(all, to).mutex.Unlock()
	find(all, from).mutex.Unlock()
}

// More mutexes than the pointers into their array tell apart.
type row [71]account

//go:noinline
func (all *row) find(number int) *account { return &all[number] }

// letGoLater lets go of a mutex, it does not show of which.
//
//go:noinline
func (all *row) letGoLater(number int) {
	time.Sleep(time.Hour)
	all.find(number).mutex.Unlock()
}

// hold has a mutex, it does not show which.
//
//go:noinline
func (all *row) hold(number int) {
	all.find(number).mutex.Lock()
	time.Sleep(time.Hour)
	all.find(number).mutex.Unlock()
}

// keep never lets go of a mutex, and needs no pointer to it any more.
//
//go:noinline
func keep(a, b *account) {
	b.mutex.Lock()
	go transfer(a, b, 1)
	<-make(chan int)
}

var accounts = map[int]*account{}

//go:noinline
func holdByNumber(number int) {
	accounts[number].mutex.Lock()
	time.Sleep(time.Hour)
	accounts[number].mutex.Unlock()
}

func start(name string) {
	switch name {
	case "group":
		go gather(3)
	case "channels":
		var ring [4]chan int
		for i := range ring {
			ring[i] = make(chan int)
		}
		for i := range ring {
			go pass(ring[i], ring[(i+1)%len(ring)])
		}
	case "cond":
		go awaitSignal()
	case "full":
		go collect(3)
	case "held":
		accounts[1], accounts[2] = new(account), new(account)
		go holdByNumber(2)
		pause()
		go transfer(accounts[1], accounts[2], 1)
	case "given":
		to := make(chan [1]*account)
		go take(to)
		go give(new(account), to)
	case "turns":
		takeTurns()
	case "kept":
		go keep(new(account), new(account))
	case "mixed":
		go mixed()
	case "table":
		all := new([4]account)
		go exchange(all, 1, 2)
		go exchange(all, 2, 1)
	case "row", "row-let-go", "row-held":
		all := new(row)
		for i := 0; i < 70; i++ {
			go move(&all[i], &all[(i+1)%70], 1)
		}
		switch name {
		case "row-let-go":
			go all.letGoLater(70)
		case "row-held":
			go all.hold(70)
		}
	case "two":
		a, b := new(account), new(account)
		go transfer(a, b, 1)
		go transfer(b, a, 2)
	case "ring":
		var accounts [5]*account
		for i := range accounts {
			accounts[i] = new(account)
		}
		for i := range accounts {
			go move(accounts[i], accounts[(i+1)%5], 1)
		}
	case "other":
		a, b := new(account), new(account)
		a.shared.RLock()
		b.shared.RLock()
		go moveAlone(a, b, 1)
		go moveAlone(b, a, 2)
	case "line":
		a, b := new(account), new(account)
		go swap(a, b)
		go swap(b, a)
	case "early":
		a, b := new(account), new(account)
		go withdraw(a, b, 1)
		go withdraw(b, a, 2)
	case "upgrade":
		go upgrade(new(account))
	case "upgrades":
		a := new(account)
		go upgrade(a)
		go upgrade(a)
	case "again":
		go new(server).serve()
	case "globals":
		go forward()
		go backward()
	case "pairs":
		a, b := new(account), new(account)
		go moveBoth(pair{a, b})
		go moveBoth(pair{b, a})
	case "ways":
		ways()
	case "released":
		released()
	case "called-back":
		calledBack()
	case "once":
		go again(new(sync.Once))
	case "healthy":
		healthy()
	}
}

//go:noinline
func spin(n uint64) uint64 {
	for {
		n = n*6364136223846793005 + 1442695040888963407
		if n == 0 {
			return n
		}
	}
}

// collectGarbage never returns where spin cannot be preempted.
//
//go:noinline
func collectGarbage() {
	go func() {
		say("spins")
		spin(1)
	}()
	time.Sleep(10 * time.Millisecond)
	runtime.GC()
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "world" {
		fmt.Println("ready", runtime.NumGoroutine())
		collectGarbage()
	}
	for _, name := range os.Args[1:] {
		start(name)
	}
	time.Sleep(300 * time.Millisecond)
	fmt.Println("ready", runtime.NumGoroutine())
	ioutil.ReadAll(os.Stdin)
}
