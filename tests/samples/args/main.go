// Args is a program whose functions take arguments of all kinds, and use them in all ways: once, later,
// after a call, never, and changed.
package main

import "fmt"

type point struct{ x, y int32 }

type large struct {
	name   string
	values [3]int
	small  int8
}

type shape interface{ area() float64 }

func (p point) area() float64 { return float64(p.x) * float64(p.y) }

var sink int

//go:noinline
func call(n int) int {
	sink += n
	return pause(n) + 1
}

//go:noinline
func pause(n int) int {
	defer func() { sink++ }()
	return n * 3
}

//go:noinline
func kept(a int, b uint8, c string) int {
	n := call(a)
	n += call(int(b))
	return n + call(len(c)) + a + int(b) + len(c)
}

//go:noinline
func once(a, b int) int {
	n := call(a + b)
	return call(n)
}

//go:noinline
func unused(x int, a int32, y string, b int16) int {
	n := call(int(a))
	n += call(int(b))
	return n + int(a) + int(b)
}

//go:noinline
func countdown(n int, by int) int {
	total := 0
	for n > 0 {
		total += call(n)
		n -= by
	}
	return total + call(n)
}

//go:noinline
func changed(n int, text string) int {
	m := n
	n = call(n + 1)
	if n > 3 {
		text = text + "more"
	}
	call(n)
	return m + n + call(len(text)) + len(text)
}

//go:noinline
func swapped(a, b int) int {
	for i := 0; i < 3; i++ {
		call(a)
		a, b = b, a
	}
	return call(b) + a
}

//go:noinline
func pointed(n int, m int) int {
	p := &n
	for i := 0; i < 2; i++ {
		*p += call(m)
		m++
	}
	return *p + call(n)
}

//go:noinline
func escaped(n int) func() int {
	f := func() int { n++; return call(n) }
	n += call(n)
	return f
}

//go:noinline
func floats(a float64, n int, b float32, c complex128) float64 {
	n += call(n)
	return a + float64(n) + float64(b)*real(c) + float64(call(n))
}

//go:noinline
func structs(p point, l large, s []int, i shape, e interface{}) int {
	n := call(int(p.x))
	n += call(len(l.name) + l.values[1] + int(l.small))
	s = append(s, n)
	n += call(int(i.area()))
	return n + call(len(s)) + int(p.y) + e.(int)
}

//go:noinline
func many(a, b, c, d, e, f, g, h, i, j, k, l int) int {
	n := call(a + l)
	k += call(k)
	return n + call(k) + a + b + c + d + e + f + g + h + i + j + k + l
}

//go:noinline
func array(a [4]int, one [1]int, none struct{}, n int) int {
	a[1] = call(n)
	return a[1] + call(a[2]) + one[0] + n
}

//go:noinline
func branch(a, b int) int {
	if a > 2 {
		a = call(b)
	} else {
		b = call(a)
	}
	return call(a) + call(b) + a + b
}

//go:noinline
func variadic(n int, rest ...int) int {
	for _, r := range rest {
		n += call(r)
	}
	return n + call(len(rest))
}

func (l *large) method(n int) int {
	l.small++
	n += call(n)
	return n + int(l.small) + call(n)
}

//go:noinline
func (l *large) first() int {
	return len(l.name) + call(2)
}

func stopped() {
	defer func() { recover() }()
	var l *large
	sink += l.first()
}

func main() {
	l := &large{"name", [3]int{4, 5, 6}, -7}
	total := kept(-2, 200, "kept") + once(1, 2) + unused(1, -2, "x", 3) + countdown(5, 2) + changed(3, "text")
	total += swapped(1, 2) + pointed(3, 4) + escaped(5)() + int(floats(1.5, 2, 2.5, 3+4i))
	total += structs(point{1, 2}, *l, []int{1, 2}, point{3, 4}, 5)
	total += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) + array([4]int{1, 2, 3, 4}, [1]int{5}, struct{}{}, 6)
	total += branch(1, 2) + branch(3, 4) + variadic(1, 2, 3)
	total += l.method(4)
	stopped()
	fmt.Println(total, sink)
}
