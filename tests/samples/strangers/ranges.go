//go:build go1.23
// +build go1.23

package main

import "fmt"

func init() { programs["loops"] = func() { fmt.Println(loops(3)) } }

func pairs(n int) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		defer fmt.Print()
		for i := 0; i < n; i++ {
			if !yield(i, "x") {
				return
			}
		}
	}
}

//go:noinline
func loops(n int) (sum int) {
outer:
	for i, s := range pairs(n) {
		defer fmt.Print("")
		for j := range pairs(n) {
			if j == 1 {
				continue outer
			}
			sum += i + len(s)
		}
		sum = 100
	}
	return sum
}
