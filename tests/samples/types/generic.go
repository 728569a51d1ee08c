//go:build go1.18
// +build go1.18

package main

import solid "example.org/goheap/samples/types/solid/shape"

// Pair and List are generic.
type Pair[K comparable, V any] struct {
	key   K
	value V
}

type List[T any] struct {
	head *element[T]
	size int
}

type element[T any] struct {
	next *element[T]
	data T
}

func (l *List[T]) push(v T) {
	l.head = &element[T]{l.head, v}
	l.size++
}

func generic() []interface{} {
	list := &List[Pair[string, *Node]]{}
	list.push(Pair[string, *Node]{"node", &root})
	return []interface{}{
		list, Pair[int, List[Text]]{}, &List[interface{ Area() float64 }]{},
		Pair[solid.Shape, map[string]solid.Shape]{},
	}
}
