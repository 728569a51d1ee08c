// Told is a program that prints the arguments of its functions when they are called: of each its type, and its value
// down to the numbers, strings and addresses in it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

const rounds = 50

var (
	out   = bufio.NewWriter(os.Stdout)
	calls int
	seed  = uint32(1)
	sink  int
)

// tell prints what the pointers args point to: the arguments of the function of that name.
func tell(name string, args ...interface{}) {
	calls++
	for i, arg := range args {
		value := reflect.ValueOf(arg).Elem()
		var leaves []string
		walk(value, &leaves)
		fmt.Fprintf(out, "%d\t%s\targ%d\t%s\t%s\t%s\n", calls, name, i, value.Type(), strings.Join(leaves, ","), text(value, 2))
	}
}

func bits(address unsafe.Pointer, size uintptr) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(address))
	case 2:
		return uint64(*(*uint16)(address))
	case 4:
		return uint64(*(*uint32)(address))
	}
	return *(*uint64)(address)
}

// number is the SIZE bytes, OFFSET into the value, in hexadecimal.
func number(value reflect.Value, offset, size uintptr) string {
	return strconv.FormatUint(bits(unsafe.Pointer(value.UnsafeAddr()+offset), size), 16)
}

// walk appends the words that the compiler takes a value apart into.
func walk(value reflect.Value, leaves *[]string) {
	size := value.Type().Size()
	switch value.Kind() {
	case reflect.Struct:
		for i := 0; i < value.NumField(); i++ {
			walk(value.Field(i), leaves)
		}
	case reflect.Array:
		for i := 0; i < value.Len(); i++ {
			walk(value.Index(i), leaves)
		}
	case reflect.String, reflect.Slice, reflect.Interface, reflect.Complex64, reflect.Complex128:
		word := uintptr(8)
		if value.Kind() == reflect.Complex64 {
			word = 4
		}
		for offset := uintptr(0); offset < size; offset += word {
			*leaves = append(*leaves, number(value, offset, word))
		}
	default:
		*leaves = append(*leaves, number(value, 0, size))
	}
}

func list(value reflect.Value, count, depth int) string {
	var items []string
	for i := 0; i < count; i++ {
		items = append(items, text(value.Index(i), depth))
	}
	return strings.Join(items, " ")
}

// text is what a debugger would print of a value, with pointers followed to that depth.
func text(value reflect.Value, depth int) string {
	size := value.Type().Size()
	switch value.Kind() {
	case reflect.Struct:
		var items []string
		for i := 0; i < value.NumField(); i++ {
			items = append(items, value.Type().Field(i).Name+":"+text(value.Field(i), depth))
		}
		return "{" + strings.Join(items, " ") + "}"
	case reflect.Array:
		return "[" + list(value, value.Len(), depth) + "]"
	case reflect.Slice:
		return fmt.Sprintf("%d/%d[%s]", value.Len(), value.Cap(), list(value, value.Len(), depth))
	case reflect.String:
		return fmt.Sprintf("%d'%x", value.Len(), value.String())
	case reflect.Complex64, reflect.Complex128:
		return "(" + number(value, 0, size/2) + " " + number(value, size/2, size/2) + ")"
	case reflect.Interface:
		dynamic := bits(unsafe.Pointer(value.UnsafeAddr()), 8)
		if dynamic != 0 && value.Type().NumMethod() > 0 {
			dynamic = bits(unsafe.Pointer(uintptr(dynamic)+8), 8) // of the itab
		}
		return fmt.Sprintf("<%x %s>", dynamic, number(value, 8, 8))
	case reflect.Ptr:
		address := number(value, 0, 8)
		if value.IsNil() || depth == 0 {
			return address
		}
		return address + "&" + text(value.Elem(), depth-1)
	}
	return number(value, 0, size)
}

// random is another number each time, the same in each run.
func random() int {
	seed = seed*1664525 + 1013904223
	return int(int32(seed)) >> (seed >> 8 & 15)
}

func name() string {
	return strings.Repeat(string(rune('a'+seed%26)), int(seed>>16&7))
}

type point struct{ x, y int32 }

type user struct {
	Name  string
	tags  []string
	at    point
	score float64
	next  *user
}

type small struct {
	a uint8
	b int16
	c float32
	d bool
}

type wide struct {
	a, b, c, d, e, f int
	last             string
}

type (
	level  int8
	weight float32
	label  string
	labels []label
	pair   [1]user
	index  map[string]*user
	queue  chan int
	action func(int) int
	failed struct{ code int }
	empty  struct{}
)

func (f *failed) Error() string { return strconv.Itoa(f.code) }

// caller is what all receivers are called through.
type caller interface {
	numbers(a int8, b uint16, c int32, d uint64, e bool, f rune, g uintptr) int
	floats(a float32, n int, b float64, c complex128, d complex64) int
	texts(a string, b []byte, c []string, d label, e labels) int
	pointers(a *user, b map[string]int, c chan int, d func(int) int, e *int, f index) int
	interfaces(a interface{}, b error, c fmt.Stringer, d []interface{}) int
	structs(a point, b small, c empty, d user) int
	arrays(a [1]string, b pair, c [2]int, d [0]int, e int) int
	many(a wide, b string, c user, d int) int
	rest(a time.Duration, rest ...*user) int
}

// A record's methods tell of the arguments themselves, which are moved to the heap for that; a point's of copies.
type record struct {
	user
	calls int
}

//go:noinline
func (r *record) numbers(a int8, b uint16, c int32, d uint64, e bool, f rune, g uintptr) int {
	tell("main.(*record).numbers", &r, &a, &b, &c, &d, &e, &f, &g)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) floats(a float32, n int, b float64, c complex128, d complex64) int {
	tell("main.(*record).floats", &r, &a, &n, &b, &c, &d)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) texts(a string, b []byte, c []string, d label, e labels) int {
	tell("main.(*record).texts", &r, &a, &b, &c, &d, &e)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) pointers(a *user, b map[string]int, c chan int, d func(int) int, e *int, f index) int {
	tell("main.(*record).pointers", &r, &a, &b, &c, &d, &e, &f)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) interfaces(a interface{}, b error, c fmt.Stringer, d []interface{}) int {
	tell("main.(*record).interfaces", &r, &a, &b, &c, &d)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) structs(a point, b small, c empty, d user) int {
	tell("main.(*record).structs", &r, &a, &b, &c, &d)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) arrays(a [1]string, b pair, c [2]int, d [0]int, e int) int {
	tell("main.(*record).arrays", &r, &a, &b, &c, &d, &e)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) many(a wide, b string, c user, d int) int {
	tell("main.(*record).many", &r, &a, &b, &c, &d)
	r.calls++
	return r.calls
}

//go:noinline
func (r *record) rest(a time.Duration, rest ...*user) int {
	tell("main.(*record).rest", &r, &a, &rest)
	r.calls++
	return r.calls
}

//go:noinline
func (p point) numbers(a int8, b uint16, c int32, d uint64, e bool, f rune, g uintptr) int {
	self, a1, b1, c1, d1, e1, f1, g1 := p, a, b, c, d, e, f, g
	tell("main.point.numbers", &self, &a1, &b1, &c1, &d1, &e1, &f1, &g1)
	return int(p.x)
}

//go:noinline
func (p point) floats(a float32, n int, b float64, c complex128, d complex64) int {
	self, a1, n1, b1, c1, d1 := p, a, n, b, c, d
	tell("main.point.floats", &self, &a1, &n1, &b1, &c1, &d1)
	return int(p.x)
}

//go:noinline
func (p point) texts(a string, b []byte, c []string, d label, e labels) int {
	self, a1, b1, c1, d1, e1 := p, a, b, c, d, e
	tell("main.point.texts", &self, &a1, &b1, &c1, &d1, &e1)
	return int(p.x)
}

//go:noinline
func (p point) pointers(a *user, b map[string]int, c chan int, d func(int) int, e *int, f index) int {
	self, a1, b1, c1, d1, e1, f1 := p, a, b, c, d, e, f
	tell("main.point.pointers", &self, &a1, &b1, &c1, &d1, &e1, &f1)
	return int(p.x)
}

//go:noinline
func (p point) interfaces(a interface{}, b error, c fmt.Stringer, d []interface{}) int {
	self, a1, b1, c1, d1 := p, a, b, c, d
	tell("main.point.interfaces", &self, &a1, &b1, &c1, &d1)
	return int(p.x)
}

//go:noinline
func (p point) structs(a point, b small, c empty, d user) int {
	self, a1, b1, c1, d1 := p, a, b, c, d
	tell("main.point.structs", &self, &a1, &b1, &c1, &d1)
	return int(p.x)
}

//go:noinline
func (p point) arrays(a [1]string, b pair, c [2]int, d [0]int, e int) int {
	self, a1, b1, c1, d1, e1 := p, a, b, c, d, e
	tell("main.point.arrays", &self, &a1, &b1, &c1, &d1, &e1)
	return int(p.x)
}

//go:noinline
func (p point) many(a wide, b string, c user, d int) int {
	self, a1, b1, c1, d1 := p, a, b, c, d
	tell("main.point.many", &self, &a1, &b1, &c1, &d1)
	return int(p.x)
}

//go:noinline
func (p point) rest(a time.Duration, rest ...*user) int {
	self, a1, rest1 := p, a, rest
	tell("main.point.rest", &self, &a1, &rest1)
	return int(p.x)
}

// receiver is what receivers of each kind are called through.
type receiver interface {
	with(n int, s string, v interface{}, list []float64) int
}

//go:noinline
func (r level) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.level.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r weight) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.weight.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r label) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.label.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r labels) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.labels.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r pair) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.pair.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r index) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.index.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r queue) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.queue.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r action) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.action.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r small) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.small.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r empty) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.empty.with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r *user) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.(*user).with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func (r *failed) with(n int, s string, v interface{}, list []float64) int {
	self, n1, s1, v1, list1 := r, n, s, v, list
	tell("main.(*failed).with", &self, &n1, &s1, &v1, &list1)
	return n + len(s)
}

//go:noinline
func plain(n int, s string, u user, p *user, v interface{}, f float64, list []user) int {
	n1, s1, u1, p1, v1, f1, list1 := n, s, u, p, v, f, list
	tell("main.plain", &n1, &s1, &u1, &p1, &v1, &f1, &list1)
	return n + len(s) + len(u.tags) + len(list)
}

func makeUser(depth int) *user {
	if depth == 0 {
		return nil
	}
	return &user{name(), strings.Fields(name() + " " + name()), point{int32(random()), int32(random())}, float64(random()) / 8, makeUser(depth - 1)}
}

func makeError() error {
	if random()&1 == 0 {
		return nil
	}
	return &failed{random()}
}

func makeAny() interface{} {
	switch random() & 7 {
	case 0:
		return nil
	case 1:
		return name()
	case 2:
		return makeUser(1)
	case 3:
		return point{int32(random()), 4}
	case 4:
		return []int{random()}
	}
	return random()
}

func round(c caller) {
	u := makeUser(random() & 3)
	m := map[string]int{name(): random()}
	sink += c.numbers(int8(random()), uint16(random()), int32(random()), uint64(random()), random()&1 == 0, rune(random()), uintptr(random()))
	sink += c.floats(float32(random())/4, random(), float64(random())/16, complex(float64(random()), 2), complex64(complex(3, float64(random()))))
	sink += c.texts(name(), []byte(name()), strings.Fields(name()), label(name()), labels{label(name())})
	sink += c.pointers(u, m, make(chan int, 1), func(n int) int { return n + random() }, &sink, index{name(): u})
	sink += c.interfaces(makeAny(), makeError(), time.Duration(random()), []interface{}{makeAny()})
	sink += c.structs(point{int32(random()), 2}, small{uint8(random()), int16(random()), float32(random()), random()&1 == 0}, empty{}, *makeUser(2))
	sink += c.arrays([1]string{name()}, pair{*makeUser(1)}, [2]int{random(), random()}, [0]int{}, random())
	sink += c.many(wide{1, 2, 3, 4, 5, random(), name()}, name(), *makeUser(1), random())
	sink += c.rest(time.Duration(random()), u, makeUser(1))
}

func main() {
	defer out.Flush()
	callers := []caller{&record{user: *makeUser(1)}, point{1, 2}}
	receivers := []receiver{level(-3), weight(1.5), label("label"), labels{"a", "b"}, pair{*makeUser(2)}, index{"u": makeUser(1)},
		make(queue), action(func(n int) int { return n }), small{1, -2, 3.5, true}, empty{}, makeUser(2), &failed{7}}
	for i := 0; i < rounds; i++ {
		for _, c := range callers {
			round(c)
		}
		for _, r := range receivers {
			sink += r.with(random(), name(), makeAny(), []float64{float64(random())})
		}
		sink += plain(random(), name(), *makeUser(1), makeUser(1), makeAny(), float64(random()), []user{*makeUser(1)})
	}
}
