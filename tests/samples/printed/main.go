// Values of every kind, each printed as a row: its type, its address, and its text, which is made here of what
// reflection tells. With an argument it writes a heap dump there; then it says "ready" and waits.
package main

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

type point struct{ X, Y int }

type node struct {
	Name string
	next *node
	tags []string
	any  interface{}
}

type user struct {
	node
	*point
}

type fault struct {
	code int
	err  error
}

func (f *fault) Error() string { return "fault" }

type named int

func (n named) Error() string { return "named" }

type shape interface{ area() float64 }

func (p point) area() float64 { return 0 }

type wide struct {
	a [40]int64
}

type basics struct {
	b    bool
	i8   int8
	i16  int16
	i32  int32
	i64  int64
	u8   uint8
	u16  uint16
	u32  uint32
	u64  uint64
	ptr  uintptr
	f32  float32
	f64  float64
	c64  complex64
	c128 complex128
	s    string
	raw  unsafe.Pointer
	n    named
	e    struct{}
	arr  [3]point
	fn   func(int) int
	nofn func()
	wait time.Duration
}

func (p *point) sum() int { return p.X + p.Y }

// What closures have captured, as it is printed after their functions' names.
var captured = map[string]string{}

// The closure of FUNCTION has captured values of these NAMES, which releases after Go 1.20 do not have, by text and in order.
// Of which types those are is known from Go 1.18 on.
func captures(function string, names, texts []string) {
	var minor int
	fmt.Sscanf(runtime.Version(), "go1.%d", &minor)
	if minor < 18 {
		return
	}
	for i := range texts {
		if minor > 20 {
			names[i] = "X" + strconv.Itoa(i)
		}
		texts[i] = names[i] + ": " + texts[i]
	}
	captured[function] = " {" + strings.Join(texts, ", ") + "}"
}

// The text of values, of pointers no more than 20 deep.
func text(v reflect.Value, shown bool) string {
	name := ""
	if shown {
		name = v.Type().String() + " "
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if v.Type() == reflect.TypeOf(time.Second) {
			return time.Duration(v.Int()).String()
		}
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32:
		return fmt.Sprint(float32(v.Float()))
	case reflect.Float64:
		return fmt.Sprint(v.Float())
	case reflect.Complex64:
		return fmt.Sprint(complex64(v.Complex()))
	case reflect.Complex128:
		return fmt.Sprint(v.Complex())
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.UnsafePointer:
		if v.Pointer() == 0 {
			return "unsafe.Pointer(nil)"
		}
		return fmt.Sprintf("unsafe.Pointer(%#x)", v.Pointer())
	case reflect.Func:
		if v.IsNil() {
			return "nil"
		}
		function := runtime.FuncForPC(v.Pointer()).Name()
		return function + captured[function]
	case reflect.Ptr:
		if v.IsNil() {
			return "nil"
		}
		return "*" + text(v.Elem(), shown)
	case reflect.Interface:
		if v.IsNil() {
			return name + "nil"
		}
		return v.Type().String() + "(" + v.Elem().Type().String() + ") " + text(v.Elem(), false)
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice {
			if shown {
				name += fmt.Sprintf("len: %d, cap: %d, ", v.Len(), v.Cap())
			}
			if v.IsNil() {
				return name + "nil"
			}
		}
		var elems []string
		for i := 0; i < v.Len(); i++ {
			elems = append(elems, text(v.Index(i), false))
		}
		return name + "[" + strings.Join(elems, ",") + "]"
	case reflect.Struct:
		var fields []string
		for i := 0; i < v.NumField(); i++ {
			fields = append(fields, v.Type().Field(i).Name+": "+text(v.Field(i), true))
		}
		return name + "{" + strings.Join(fields, ", ") + "}"
	case reflect.Map:
		if v.IsNil() {
			return name + "nil"
		}
		return name + "[" + strings.Join(entries(v), ", ") + "]"
	}
	panic(v.Kind())
}

// An entry's place among the others of its map, where the map is printed.
var place = regexp.MustCompile(`:1000([0-9]{7})\b`)

// The entries of a map as package fmt orders them: it is asked to print a map of the same keys.
func entries(m reflect.Value) []string {
	var rows []string
	places := reflect.MakeMap(reflect.MapOf(m.Type().Key(), reflect.TypeOf(0)))
	for iter := m.MapRange(); iter.Next(); {
		places.SetMapIndex(iter.Key(), reflect.ValueOf(10000000000+len(rows)))
		rows = append(rows, text(iter.Key(), false)+": "+text(iter.Value(), false))
	}
	var sorted []string
	for _, match := range place.FindAllStringSubmatch(fmt.Sprint(places), -1) {
		i, _ := strconv.Atoi(match[1])
		sorted = append(sorted, rows[i])
	}
	return sorted
}

// What is printed stays alive, and where it is.
var kept []interface{}

func row(pointer interface{}, text string) {
	v := reflect.ValueOf(pointer)
	kept = append(kept, pointer)
	star := ""
	switch v.Type().Elem().Kind() {
	case reflect.Ptr, reflect.Map, reflect.Chan, reflect.Func:
		// Those are named by what they are, not where.
		star = "*"
	}
	fmt.Printf("%s%s\t%#x\t%s%s\n", star, v.Type().Elem(), v.Pointer(), star, text)
	// Of these the variable's address is as good as the value.
	if kind := v.Type().Elem().Kind(); star != "" && kind != reflect.Ptr && len(text) < 1000 {
		fmt.Printf("%s\t%#x\t%s\n", v.Type().Elem(), v.Pointer(), text)
	}
}

// Prints what POINTER points to.
func print(pointer interface{}) {
	row(pointer, text(reflect.ValueOf(pointer).Elem(), true))
}

// Maps are printed by their headers, as well as where they are.
func printMap(pointer interface{}) {
	print(pointer)
	m := reflect.ValueOf(pointer).Elem()
	fmt.Printf("%s\t%#x\t%s\n", m.Type(), m.Pointer(), text(m, true))
}

// A row of a part of what POINTER points to, which in Go is what FOUND points to.
func part(pointer interface{}, path string, found interface{}) {
	kept = append(kept, pointer)
	v := reflect.ValueOf(pointer)
	star := ""
	if v.Type().Elem().Kind() == reflect.Ptr {
		star = "*"
	}
	fmt.Printf("part\t%s%s\t%#x\t%s\t%s\n", star, v.Type().Elem(), v.Pointer(), path, text(reflect.ValueOf(found).Elem(), true))
}

// A map's row is that of the pointer to its header.
func entry(pointer interface{}, path string, found interface{}) {
	kept = append(kept, pointer)
	m := reflect.ValueOf(pointer).Elem()
	fmt.Printf("part\t%s\t%#x\t%s\t%s\n", m.Type(), m.Pointer(), path, text(reflect.ValueOf(found).Elem(), true))
}

func twice(n int) int { return 2 * n }

func maps() {
	for _, n := range []int{0, 1, 8, 9, 1000, 100000} {
		ints := map[int]int{}
		names := make(map[string]point, n/2)
		for i := 0; i < n; i++ {
			ints[i*7919%1000003-5] = i
			names["key"+strconv.Itoa(i)] = point{i, -i}
		}
		printMap(&ints)
		printMap(&names)
	}
	// Of this many some have not moved to the new buckets yet.
	for _, n := range []int{106, 107, 110, 113} {
		growing := map[uint16]string{}
		for i := 0; i < n; i++ {
			growing[uint16(i*31)] = "v" + strconv.Itoa(i)
		}
		if n%2 == 0 {
			for i := 0; i < n; i += 3 {
				delete(growing, uint16(i*31))
			}
		}
		printMap(&growing)
	}
	shrunk := map[int]bool{}
	for i := 0; i < 5000; i++ {
		shrunk[i] = true
	}
	for i := 0; i < 5000; i++ {
		if i%1000 != 7 {
			delete(shrunk, i)
		}
	}
	printMap(&shrunk)
	var none map[string]int
	printMap(&none)
	printMap(&map[[1]interface{}]int{{nil}: 1, {2}: 2, {"b"}: 3})
	printMap(&map[float64]string{math.NaN(): "nan", -math.NaN(): "nan", 1.5: "one", math.Inf(-1): "least", -2: "minus", 0: "zero"})
	printMap(&map[[2]string]int8{{"a", "b"}: 1, {"a", "a"}: 2, {"", ""}: 3})
	printMap(&map[point]*node{{1, 2}: {Name: "x"}, {1, 1}: nil, {0, 9}: {Name: "y"}})
	printMap(&map[interface{}]interface{}{1: "int", "s": 2, point{1, 2}: nil, named(3): 4.5, 7: "seven"})
	printMap(&map[wide]wide{{}: {}, {a: [40]int64{1}}: {a: [40]int64{2}}})
	printMap(&map[string]map[string][]int{"a": {"b": {1, 2}, "c": nil}, "d": nil})
	printMap(&map[bool]struct{}{true: {}, false: {}})
	people := map[string]*user{"a b[": {node: node{Name: "embedded", tags: []string{"x"}}, point: &point{3, 4}}, `q"`: nil}
	entry(&people, `["a b["].Name`, &people["a b["].Name)
	entry(&people, `["a b["].tags[0]`, &people["a b["].tags[0])
	entry(&people, `["a b["].Y`, &people["a b["].Y)
	entry(&people, `["q\""]`, &[]*user{nil}[0])
	numbers := map[int][]point{-3: {{1, 2}}, 4: nil}
	entry(&numbers, "[-3][0].Y", &numbers[-3][0].Y)
	points := map[point]string{{1, 2}: "there"}
	entry(&points, "[{X: 1, Y: 2}]", &[]string{"there"}[0])
	printMap(&map[complex128]int{1i: 1, 1: 2, -1: 3})
	printMap(&map[string]int{"same prefix, b": 1, "same prefix, a": 2, "same pre": 3, "": 4, "\x00": 5, "é\n\t\"\\\xff": 6})
}

func channels() {
	var none chan int
	row(&none, "chan int nil")
	empty := make(chan string, 3)
	row(&empty, "chan string 0/3")
	full := make(chan string, 3)
	for _, s := range []string{"a", "b", "c"} {
		full <- s
	}
	row(&full, `chan string 3/3 ["a","b","c"]`)
	wrapped := make(chan point, 4)
	for i := 0; i < 4; i++ {
		wrapped <- point{i, i}
	}
	<-wrapped
	<-wrapped
	wrapped <- point{9, 9}
	row(&wrapped, "chan main.point 3/4 [{X: 2, Y: 2},{X: 3, Y: 3},{X: 9, Y: 9}]")
	closed := make(chan interface{}, 2)
	closed <- 7
	close(closed)
	row(&closed, "chan interface {} 1/2 [interface {}(int) 7], closed")
	sends := (chan<- string)(full)
	row(&sends, `chan<- string 3/3 ["a","b","c"]`)
	ids := make(chan string)
	waited := make(chan int)
	go func() {
		ids <- id()
		<-waited
	}()
	receiver := <-ids
	row(&waited, "chan int 0/0, receiving: goroutine "+receiver)
	sent := make(chan int)
	go func() {
		ids <- id()
		sent <- 1
	}()
	sender := <-ids
	row(&sent, "chan int 0/0, sending: goroutine "+sender)
}

// The goroutine's.
func id() string {
	var buf [64]byte
	return strings.Fields(string(buf[:runtime.Stack(buf[:], false)]))[1]
}

func closures() {
	count := 40
	greeting := strings.Repeat("hi", 2)
	where := &point{1, 2}
	function := func(n int) int { return n + count + len(greeting) + where.X }
	count++
	captures("main.closures.func1", []string{"count", "greeting", "where"}, []string{"*41", `"hihi"`, "*main.point {X: 1, Y: 2}"})
	print(&function)
	captured["main.(*point).sum-fm"] = " {R: *main.point {X: 1, Y: 2}}"
	method := where.sum
	print(&method)
	captured["main.point.area-fm"] = " {R: main.point {X: 5, Y: 6}}"
	area := point{5, 6}.area
	print(&area)
	captured["main.shape.area-fm"] = " {R: main.shape(*main.point) *{X: 1, Y: 2}}"
	held := shape(where).area
	print(&held)
	handlers := map[string]func() int{"sum": where.sum, "none": nil}
	print(&handlers)
}

func numbers() {
	for _, text := range []string{"0", "-1", "18446744073709551615", "18446744073709551616", "-1000000000000000000000000000000000000000"} {
		number, _ := new(big.Int).SetString(text, 10)
		row(number, "big.Int("+text+")")
	}
	large := new(big.Int).Exp(big.NewInt(3), big.NewInt(20000), nil)
	row(large, "big.Int("+large.String()+")")
	values := []reflect.Value{reflect.ValueOf(point{1, 2}), reflect.ValueOf(&point{3, 4}), reflect.ValueOf("text"), {}}
	row(&values, `[]reflect.Value len: 4, cap: 4, [reflect.Value(main.point) {X: 1, Y: 2},reflect.Value(*main.point) *{X: 3, Y: 4},`+
		`reflect.Value(string) "text",reflect.Value(nil)]`)
}

func others() {
	offset := 10
	captures("main.others.func1", []string{"offset"}, []string{"*10"})
	value := basics{true, -8, -16, -32, math.MinInt64, 8, 16, 32, math.MaxUint64, 77, 0.1, 1e21, 1 + 2i, -1.5 + 1e-7i,
		"text é \x01\"", unsafe.Pointer(&offset), 5, struct{}{}, [3]point{{1, 2}, {3, 4}},
		func(n int) int { return n + offset }, nil, 90*time.Minute + 1500*time.Millisecond}
	print(&value)
	for _, f := range []float64{0, 1, -1, 0.1, 1e20, 1e21, 123456789.125, 1e-4, 1e-5, math.MaxFloat64,
		math.SmallestNonzeroFloat64, math.Inf(1), math.NaN(), 1.0 / 3} {
		f := f
		g := float32(f)
		print(&f)
		print(&g)
	}
	for _, d := range []time.Duration{0, 1, 999, 1001, 1500000, time.Second, 61 * time.Second, -2 * time.Hour} {
		d := d
		print(&d)
	}
	list := &node{"a", &node{"b", nil, []string{"x", ""}, point{1, 2}}, []string{}, &point{3, 4}}
	print(&list)
	part(&list, ".next.tags[0]", &list.next.tags[0])
	part(&list, ".next.tags[1:]", &[]string{""})
	part(&list, ".next.*", list.next)
	part(&list, ".next.any.Y", &[]int{2}[0])
	part(&list, ".next.any.(main.point)", &point{1, 2})
	part(&list, ".any.(*main.point).X", &list.any.(*point).X)
	part(&list, ".Name[0]", &[]byte{'a'}[0])
	part(&value, ".arr[1].X", &value.arr[1].X)
	part(&value, ".n", &value.n)
	ring := &node{Name: "ring"}
	ring.next = &node{Name: "back", next: ring}
	row(&ring, fmt.Sprintf(`*main.node {Name: "ring", next: *main.node {Name: "back", next: (*main.node)(%p) (cycle), `+
		`tags: []string len: 0, cap: 0, nil, any: interface {} nil}, tags: []string len: 0, cap: 0, nil, any: interface {} nil}`, ring))
	errs := []error{nil, errors.New("plain"), &fault{3, errors.New("inner")}, named(4), &fault{5, &fault{6, nil}}}
	print(&errs)
	shapes := []shape{nil, point{5, 6}, &point{7, 8}}
	print(&shapes)
	anys := []interface{}{nil, 1, "two", 3.5, []int{4}, map[string]int{"five": 5}, twice, struct{ a, b int }{6, 7}, &offset}
	print(&anys)
	part := make([]byte, 3, 10)
	print(&part)
	var nothing []int
	print(&nothing)
	long := strings.Repeat("long ", 1000)
	print(&long)
	matrix := [2][2]int{{1, 2}, {3, 4}}
	print(&matrix)
	function := twice
	print(&function)
	when := time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.FixedZone("x", 3600))
	row(&when, "time.Time("+when.UTC().Format(time.RFC3339Nano)+")")
	now := time.Now()
	row(&now, "time.Time("+now.UTC().Format(time.RFC3339Nano)+")")
	var zero time.Time
	row(&zero, "time.Time(0001-01-01T00:00:00Z)")
}

func states() {
	var free, locked sync.Mutex
	locked.Lock()
	row(&free, "sync.Mutex(unlocked)")
	row(&locked, "sync.Mutex(locked)")
	var read, written sync.RWMutex
	read.RLock()
	read.RLock()
	row(&read, "sync.RWMutex(2 reading)")
	written.Lock()
	row(&written, "sync.RWMutex(locked, 0 waiting to read)")
	var group sync.WaitGroup
	group.Add(3)
	row(&group, "sync.WaitGroup(3, 0 waiting)")
	var once, done sync.Once
	done.Do(func() {})
	row(&once, "sync.Once(not done)")
	row(&done, "sync.Once(done)")
	var value atomic.Value
	value.Store(point{1, 2})
	row(&value, "atomic.Value(interface {}(main.point) {X: 1, Y: 2})")
}

// The methods of a taker print their arguments.
type taker interface {
	words(a string, b []string, c interface{}, d error)
	numbers(a int, b uint8, c float64, d float32, e bool, f time.Duration, g named, h uintptr)
	pointers(a *node, b map[string]int, c *[]int, d *int, e chan int)
	structs(a point, b [1]string, c complex128, d fault)
	constants(a string, b interface{}, c error, d []int, e func(int) int)
	beyond(a, b, c, d, e, f, g, h int, i string)
}

func arguments(pointers ...interface{}) {
	for i, pointer := range pointers {
		fmt.Printf("arg%d\t%s\n", i, text(reflect.ValueOf(pointer).Elem(), true))
	}
}

// Parts of the arguments that were told last, each with its value.
func parts(rows ...interface{}) {
	if len(os.Args) > 2 {
		for i := 0; i < len(rows); i += 2 {
			fmt.Printf("%s\t%s\n", rows[i], text(reflect.ValueOf(rows[i+1]), true))
		}
	}
}

func (p *point) words(a string, b []string, c interface{}, d error) {
	arguments(&p, &a, &b, &c, &d)
	parts("arg1[2]", a[2], "arg2[2][1]", b[2][1], "arg2[1:3]", b[1:3], "arg3.(*main.node).Name", c.(*node).Name, "arg4.code", d.(*fault).code)
}

func (p *point) numbers(a int, b uint8, c float64, d float32, e bool, f time.Duration, g named, h uintptr) {
	arguments(&p, &a, &b, &c, &d, &e, &f, &g, &h)
}

func (p *point) pointers(a *node, b map[string]int, c *[]int, d *int, e chan int) {
	arguments(&p, &a, &b, &c, &d)
	parts("arg0.X", p.X, "*arg1.next", *a.next, "arg1.next.any.Y", 4, "arg1.tags[0]", a.tags[0], "arg1.tags[0:1]", a.tags[0:1],
		`arg2["b"]`, b["b"], "arg3[1]", (*c)[1], "*arg3", *c, "*arg4", *d)
}

func (p *point) structs(a point, b [1]string, c complex128, d fault) {
	arguments(&p, &a, &b, &c, &d)
}

func (p *point) constants(a string, b interface{}, c error, d []int, e func(int) int) {
	arguments(&p, &a, &b, &c, &d, &e)
}

// Of its arguments ten words are told: of the last one all but its length.
func (p *point) beyond(a, b, c, d, e, f, g, h int, i string) {
	arguments(&p, &a, &b, &c, &d, &e, &f, &g, &h, &i)
}

func take(t taker) {
	list := &node{Name: "second", any: point{3, 4}}
	list = &node{Name: "first", next: list, tags: []string{"tag"}}
	t.words(strings.Repeat("word ", 3), []string{"a", "", strings.Repeat("b", 70)}, list, &fault{3, errors.New("inner")})
	t.numbers(-5, 200, 0.1, 2.5, true, 1500*time.Millisecond, named(7), 1<<40)
	t.pointers(list, map[string]int{"b": 2, "a": 1}, &[]int{1, 2}, new(int), make(chan int))
	t.structs(point{-1, 2}, [1]string{strings.ToUpper("one")}, complex(1, -2), fault{4, named(8)})
	t.constants("constant", nil, nil, nil, twice)
	t.beyond(1, 2, 3, 4, 5, 6, 7, 8, strings.ToLower("ONE"))
}

// The results of a giver's methods are printed where they have returned: of some more than registers hold.
type giver interface {
	numbers(a int) (int8, uint16, float32, bool, float64, time.Duration)
	texts(a string) (string, []string, error)
	pointers(a *node) (*node, map[string]int, interface{}, error)
	structs(a wide, b [2]int, c string) (point, [1]string, [2]int, complex128, fault, struct{})
	many(a basics) (basics, wide, int)
	nothing(a int)
	recursive(a int) (int, string)
}

type gift string

//go:noinline
func (g gift) numbers(a int) (int8, uint16, float32, bool, float64, time.Duration) {
	return int8(-a), uint16(a), float32(a) / 2, a > 0, float64(a) / 3, time.Duration(a) * time.Second
}

//go:noinline
func (g gift) texts(a string) (string, []string, error) {
	return a + string(g), strings.Split(a, "e"), errors.New(a)
}

//go:noinline
func (g gift) pointers(a *node) (*node, map[string]int, interface{}, error) {
	return &node{Name: string(g), next: a}, map[string]int{a.Name: 1, "": 2}, *a, nil
}

//go:noinline
func (g gift) structs(a wide, b [2]int, c string) (point, [1]string, [2]int, complex128, fault, struct{}) {
	return point{b[1], b[0]}, [1]string{c}, [2]int{b[0], int(a.a[3])}, complex(float64(b[0]), 0.5), fault{5, nil}, struct{}{}
}

//go:noinline
func (g gift) many(a basics) (basics, wide, int) {
	a.i8--
	return a, wide{[40]int64{1, 39: 2}}, 3
}

//go:noinline
func (g gift) nothing(a int) {}

// Its stack is moved meanwhile.
//
//go:noinline
func (g gift) recursive(a int) (int, string) {
	var large [1000]byte
	if a == 0 {
		return 0, string(g)
	}
	large[a] = 1
	n, s := g.recursive(a - 1)
	return n + int(large[a]), s
}

func result(values ...interface{}) {
	var texts []string
	for _, value := range values {
		texts = append(texts, text(reflect.ValueOf(value).Elem(), true))
	}
	fmt.Printf("Value returned: %s\n", strings.Join(texts, ", "))
}

func give(g giver) {
	a, b, c, d, e, f := g.numbers(7)
	result(&a, &b, &c, &d, &e, &f)
	h, i, j := g.texts("three words here")
	result(&h, &i, &j)
	k, l, m, n := g.pointers(&node{Name: "inner", any: 7})
	result(&k, &l, &m, &n)
	o, p, q, r, s, t := g.structs(wide{[40]int64{3: 9}}, [2]int{-1, 1}, "text")
	result(&o, &p, &q, &r, &s, &t)
	u, v, w := g.many(basics{s: "basics", arr: [3]point{{1, 2}}, fn: twice})
	result(&u, &v, &w)
	g.nothing(1)
	x, y := g.recursive(50)
	result(&x, &y)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "results" {
		give(gift("gift"))
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "arguments" {
		take(&point{1, 2})
		return
	}
	runtime.GOMAXPROCS(1)
	others()
	closures()
	numbers()
	addresses()
	contexts()
	packages()
	maps()
	channels()
	states()
	// Those that are to wait do so by then.
	time.Sleep(50 * time.Millisecond)
	if len(os.Args) > 1 {
		runtime.GC()
		file, err := os.Create(os.Args[1])
		if err != nil {
			panic(err)
		}
		debug.WriteHeapDump(file.Fd())
		file.Close()
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
