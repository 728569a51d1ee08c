// Selves is a program with types that are of themselves, and text with a NUL and quotes.
package main

import "os"

type list []list
type self *self
type pair [2]*pair
type index map[string]index
type state func(state) state
type queue chan queue
type tree struct {
	kids []tree
	text string
	_, _ int
}
type T struct{ n int }

//go:noinline
func (t *T) all(a list, b self, c pair, d index, e state, f queue, g tree, h *[]string) int {
	return t.n + len(a)
}

type caller interface {
	all(a list, b self, c pair, d index, e state, f queue, g tree, h *[]string) int
}

func main() {
	callers := []caller{&T{1}, nil}
	println(callers[len(os.Args)-1].all(list{nil, list{}}, new(self), pair{}, index{"": nil}, nil, make(queue, 3),
		tree{[]tree{{}}, "a\x00b \"c\" " + os.Args[0][:1], 1, 2}, &[]string{"d"}))
}
