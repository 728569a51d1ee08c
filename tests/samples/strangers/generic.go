//go:build go1.21
// +build go1.21

package main

import (
	"fmt"
	"sync"
)

func init() {
	programs["circle"], programs["calls"] = circle, calls
	crashes["array"] = func(n int) { fmt.Println((*[5]int)(make([]int, n))) }
}

// guarded keeps a value with its lock.
type guarded[T any] struct {
	mu    sync.Mutex
	value T
}

//go:noinline
func (g *guarded[T]) with(f func(*T)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.value)
}

//go:noinline
func nest[A, B any](name string, a *guarded[A], b *guarded[B]) {
	a.with(func(x *A) {
		say("circle-"+name, fmt.Sprintf("%p", &b.mu))
		pause()
		b.with(func(y *B) { fmt.Println(*x, *y) })
	})
}

// circle has three lock values in a circle, by generic functions.
func circle() {
	a, b, c := new(guarded[int]), new(guarded[string]), new(guarded[[]byte])
	go nest("a", a, b)
	go nest("b", b, c)
	go nest("c", c, a)
}

type list[T any] struct {
	next  *list[T]
	value T
}

// each calls what it is given, in a closure of a generic method.
//
//go:noinline
func (l *list[T]) each(f func(T) bool) {
	visit := func(at *list[T]) bool {
		return f(at.value)
	}
	for at := l; at != nil && visit(at); at = at.next {
	}
}

//go:noinline
func convert[K comparable, V any](from *list[V], key func(V) K) map[K][]V {
	to := map[K][]V{}
	from.each(func(v V) bool {
		k := key(v)
		to[k] = append(to[k], v)
		return true
	})
	return to
}

// calls has closures within generic functions and methods.
func calls() {
	words := &list[string]{&list[string]{nil, "de"}, "abc"}
	fmt.Println(convert(words, func(s string) int { return len(s) }))
	fmt.Println(convert(&list[[2]int16]{nil, [2]int16{1, 2}}, func(p [2]int16) [1]int16 { return [1]int16{p[0]} }))
}
