package main

import (
	"fmt"
	"syscall"
)

type node struct {
	id   int
	name string
	next *node
}

// page is too large to be with a map's keys.
type page struct {
	nodes [5000]*node
	title string
}

type slot struct {
	owner *node
	label string
	_     [16]byte
}

type queues struct {
	pages   map[int]*page
	byValue map[string][4500]slot
	waiting chan [6000]*node
	fixed   *[3000]slot
	any     []interface{}
}

var kept []interface{}

//go:noinline
func newNode(i int) *node { return &node{i, fmt.Sprint("node ", i), nil} }

// memory has large arrays as a map's values, as a channel's elements, behind interfaces and by themselves.
func memory() {
	q := &queues{pages: map[int]*page{}, byValue: map[string][4500]slot{}, waiting: make(chan [6000]*node, 4), fixed: new([3000]slot)}
	for i := 0; i < 3; i++ {
		p := new(page)
		for j := range p.nodes {
			p.nodes[j] = newNode(j)
		}
		q.pages[i] = p
		var slots [4500]slot
		for j := range slots {
			slots[j] = slot{owner: newNode(j), label: "slot"}
		}
		q.byValue[fmt.Sprint(i)] = slots
		var nodes [6000]*node
		for j := range nodes {
			nodes[j] = newNode(j)
		}
		q.waiting <- nodes
		q.any = append(q.any, nodes)
	}
	for i := range q.fixed {
		q.fixed[i].owner = newNode(i)
	}
	kept = append(kept, q)
}

// mapped has memory that the program maps by itself.
func mapped() {
	bytes, err := syscall.Mmap(-1, 0, 64<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	for i := 0; i < len(bytes); i += 4096 {
		bytes[i] = 1
	}
	kept = append(kept, bytes)
}
