//go:build go1.21
// +build go1.21

package main

import "unsafe"

// Leaf has a shape that no other type has.
type Leaf struct {
	leaf  *Leaf
	plain *Plain
	size  [5]uintptr
}

// Cage and Coop have one shape.
type Cage struct {
	inner *Inner
	size  [7]uintptr
}

// Coop is a Cage by another name.
type Coop Cage

var (
	leaves []Leaf
	cages  []Cage
	coops  []Coop
)

// grow returns zero values, whose memory is asked for by their shape.
//
//go:noinline
func grow[T any](n int) []T {
	return append([]T(nil), make([]T, n)...)
}

func buildGeneric() {
	leaves, cages = grow[Leaf](100), grow[Cage](100)
	coops = make([]Coop, 100)
	elements(leaves)
	elements(coops)
	is(unsafe.Pointer(&cages[0]), "[]main.Cage or []main.Coop")
}
