// The shop has variables of every kind that a debugger names, in functions of two packages.
package main

import (
	"bufio"
	"fmt"
	"os"

	"example.org/goheap/samples/shop/stock"
)

// Version is set by the linker. No code refers to the others but through all.
var (
	Version string
	Wanted  string
	greeted = "hello"
	all     = []*string{&Wanted, &greeted}
)

var motto = "open all day"

type price float64

func (p price) String() string { return fmt.Sprintf("%.2f", float64(p)) }

//go:noinline
func bill(store *stock.Store, words []string, rounds int) (sum int, last price) {
	for round := 0; round < rounds; round++ {
		word := words[round%len(words)]
		total := store.Add(word, round+1)
		sum += total + extra(round)
		last = price(sum) / 4
		var shown fmt.Stringer = last
		note(shown, word) // billed
	}
	return sum, last
}

//go:noinline
func note(shown fmt.Stringer, word string) {
	if len(word) > 100 {
		fmt.Println(shown, word)
	}
}

func main() {
	words := []string{"pear", "fig", "plum", "", "quince"}
	rounds := 40
	if len(os.Args) > 1 {
		fmt.Sscan(os.Args[1], &rounds)
	}
	sum, last := bill(stock.New(words...), words, rounds)
	fmt.Println("ready", Version, *all[rounds%2], motto, sum, last)
	bufio.NewReader(os.Stdin).ReadString('\n')
}
