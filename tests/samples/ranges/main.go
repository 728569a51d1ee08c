//go:build go1.23

// Command ranges loops over iterators, whose bodies are functions that the iterators call or are inlined, to be stepped through.
package main

import (
	"fmt"
	"iter"
	"slices"
)

type tree struct {
	left, right *tree
	value       int
}

// push calls yield in a recursive function: at another depth of the stack for each value.
func (t *tree) push(yield func(int) bool) bool {
	if t == nil {
		return true
	}
	return t.left.push(yield) &&
		yield(t.value) &&
		t.right.push(yield)
}

func (t *tree) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		t.push(yield)
	}
}

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; i < n; i++ {
			if !yield(i) {
				return
			}
		}
	}
}

//go:noinline
func note(n int) int {
	return n + 1
}

//go:noinline
func walk(t *tree) (sum int) {
	for v := range t.all() {
		sum += note(v)
		sum -= 1
	}
	return sum
}

//go:noinline
func simple(n int) (sum int) {
	for x := range count(n) {
		sum += note(x)
		if x > 1 {
			sum = note(sum)
		}
	}
	return sum
}

//go:noinline
func nested(t *tree, n int) (sum int) {
	for v := range t.all() {
		sum += note(v)
		for x := range count(n) {
			if x == 1 {
				continue
			}
			sum += note(x)
		}
		if v == 2 {
			break
		}
	}
	return note(sum)
}

//go:noinline
func find(t *tree, wanted int) int {
	for v := range t.all() {
		defer note(v)
		if v == wanted {
			return note(v)
		}
	}
	return -1
}

// again calls itself in the loop's body.
//
//go:noinline
func again(t *tree, depth int) (sum int) {
	for v := range t.all() {
		sum += note(v)
		if depth > 0 {
			sum += again(t, depth-1)
		}
	}
	return sum
}

//go:noinline
func pull(t *tree) (sum int) {
	next, stop := iter.Pull(t.all())
	defer stop()
	for {
		v, ok := next()
		if !ok {
			break
		}
		sum += v
	}
	return sum
}

//go:noinline
func keys(list []int) (sum int) {
	for v := range slices.Values(list) {
		sum += note(v)
	}
	return sum
}

func main() {
	t := &tree{&tree{nil, nil, 1}, &tree{nil, nil, 3}, 2}
	fmt.Println(walk(t), simple(3), nested(t, 3), find(t, 2), again(t, 1), pull(t), keys([]int{1, 2}))
}
