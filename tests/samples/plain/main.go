// Plain has objects without pointers, whose contents goheap does not copy for questions about the heap: slices of bytes,
// arrays, functions that have numbers of their own. It prints how many of each there are and, if told to churn, makes new
// ones in their place for ever.
package main

import (
	"fmt"
	"os"
	"time"
)

type point struct{ x, y, z int }

type grid [3000]int

var (
	texts  [][]byte
	small  []func() int
	others []func() int
	points []*point
	grids  []*grid
)

func fill(i int) {
	texts[i] = make([]byte, 1000+i%5000)
	copy(texts[i], "text")
	a, b, c := i, i+1, i+2
	small[i] = func() int { return a + b + c }
	points[i] = &point{a, b, c}
	if i%10 == 0 {
		others[i/10] = func() int { return grids[i/10][a] + b }
		grids[i/10] = &grid{i}
	}
}

func main() {
	const count = 10000
	texts = make([][]byte, count)
	small = make([]func() int, count)
	points = make([]*point, count)
	others = make([]func() int, count/10)
	grids = make([]*grid, count/10)
	for i := 0; i < count; i++ {
		fill(i)
	}
	fmt.Printf("%d closure main.fill.func1\n", count)
	fmt.Printf("%d closure main.fill.func2\n", count/10)
	fmt.Printf("%d main.point\n", count)
	fmt.Printf("%d main.grid\n", count/10)
	fmt.Println("ready")
	for i := 0; len(os.Args) > 1; i++ {
		fill(i % count)
		if i%100 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	os.Stdin.Read(make([]byte, 1))
}
