// Types has values of every kind of type, and says where they are.
package main

import (
	"fmt"
	"os"
	"unsafe"

	"example.org/goheap/samples/frames"
	plane "example.org/goheap/samples/types/plane/shape"
	solid "example.org/goheap/samples/types/solid/shape"
)

// Of every basic kind one with a name.
type (
	Flag    bool
	Count   int
	Tiny    int8
	Short   int16
	Rune    int32
	Long    int64
	Size    uint
	Octet   uint8
	Port    uint16
	Word    uint32
	Mask    uint64
	Address uintptr
	Ratio   float32
	Weight  float64
	Phase   complex64
	Wave    complex128
	Text    string
	Raw     unsafe.Pointer
)

// Of every composite kind one with a name.
type (
	Grid     [2][3]Count
	Names    []string
	Index    map[string]*Node
	Buckets  map[Key][200]byte
	Queue    chan Event
	Source   <-chan *Event
	Sink     chan<- error
	Visitor  func(*Node, ...int) (Count, error)
	Link     *Node
	Anything interface{}
	Nothing  struct{}
)

// Areaer is an interface with a method of its own, and String of another.
type Areaer interface {
	fmt.Stringer
	Area() float64
	hidden(Visitor) chan Nothing
}

// Key is comparable, with a hole before its last field.
type Key struct {
	id  int32
	tag [3]byte
	_   int8
	n   uint64
}

// Base is embedded by value, and Event by pointer.
type Base struct {
	name Text
	next *Base
}

// Event has an anonymous struct, and a function.
type Event struct {
	When struct {
		sec  int64
		nsec int32
	}
	call func(int, string) (bool, error)
	Base
}

// Node is recursive in every way.
type Node struct {
	Base
	*Event
	value    int `json:"value"`
	label    string
	data     []byte
	parent   *Node
	children []*Node
	index    Index
	byKey    map[Key]Buckets
	queue    Queue
	visit    Visitor
	any      interface{}
	area     Areaer
	err      error
	grid     Grid
	self     *Link
	ratio    Ratio
	last     bool
	pipes    Pipes
}

// Received can be of a channel's elements without parentheses, an unnamed type like it only with them.
type Received <-chan int

// Pipes has types without names whose spelling is awkward.
type Pipes struct {
	named   chan Received
	unnamed chan (<-chan int)
	both    <-chan chan<- int
	tagged  struct {
		a int "json:\"a\\b\""
		b int `tick:"\"`
	}
	numbers Numbers
}

// Numbers are of all kinds, and of unlike signs.
type Numbers struct {
	i    int
	i8   int8
	i16  int16
	i32  int32
	i64  int64
	u    uint
	u8   uint8
	u16  uint16
	u32  uint32
	u64  uint64
	ptr  uintptr
	f32  float32
	f64  float64
	c64  complex64
	c128 complex128
}

func (n *Node) Area() float64               { return float64(n.value) }
func (n *Node) String() string              { return n.label }
func (n *Node) hidden(Visitor) chan Nothing { return nil }

// ByValue fits an interface by its value.
type ByValue struct{ a, b int }

func (v ByValue) Area() float64               { return float64(v.a * v.b) }
func (v ByValue) String() string              { return "by value" }
func (v ByValue) hidden(Visitor) chan Nothing { return nil }

// OnlyBoxed has no pointer to it anywhere: nothing but code names it.
type OnlyBoxed struct {
	size  Size
	other *OnlyBoxed
}

var (
	root   Node
	boxes  []interface{}
	plains plane.Shape
)

func fill() {
	root = Node{
		Base:  Base{name: "base", next: &Base{name: "next"}},
		Event: &Event{Base: Base{name: "event"}},
		value: 42, label: "root", data: []byte("bytes"),
		index: Index{"one": &Node{label: "one"}},
		byKey: map[Key]Buckets{{id: 1}: {}},
		queue: make(Queue, 3), visit: func(*Node, ...int) (Count, error) { return 1, nil },
		any: Grid{{1, 2, 3}, {4, 5, 6}}, err: os.ErrExist,
		grid: Grid{{7}}, ratio: 0.5, last: true,
	}
	root.pipes.numbers = Numbers{-1, -1, -1, -1, -1, ^uint(0), 255, 65535, 1<<32 - 1, 1<<64 - 1, ^uintptr(0), -1.5, -2.5, 1i, 2i}
	root.area = &root
	root.Event.When.sec = 7
	root.children = []*Node{&root, {label: "child", area: ByValue{2, 3}}}
	link := Link(&root)
	root.self = &link
	boxes = []interface{}{
		Flag(true), Count(1), Tiny(2), Short(3), Rune(4), Long(5), Size(6), Octet(7), Port(8), Word(9), Mask(10),
		Address(11), Ratio(1.5), Weight(2.5), Phase(1 + 2i), Wave(3 + 4i), Text("text"), Raw(&root),
		Grid{}, Names{"a", "b"}, Index{"x": nil}, Buckets{{id: 2}: {1}}, make(Queue), make(Source), make(Sink),
		Visitor(nil), Link(&root), Nothing{}, Key{}, Base{}, Event{}, &root, ByValue{}, OnlyBoxed{size: 1},
		plane.Shape{Width: 1}, &solid.Shape{Name: "cube"}, new(Areaer), new(Anything),
		struct {
			a Count
			b []Areaer
		}{}, [4]func(){}, map[Text]chan Key{}, make(chan struct{}), root, new(**Node),
		func(...Areaer) {}, func() (a, b int) { return }, map[int8]interface{}{}, map[[2]string]map[bool]Key{},
	}
	boxes = append(boxes, generic()...)
	plains = plane.Shape{Width: 2, Height: 3}
}

func main() {
	fill()
	fmt.Printf("main.Node\t%p\nmain.Key\t%p\n", &root, &Key{id: 5, tag: [3]byte{1, 2, 3}, n: 9})
	fmt.Printf("main.Base\t%p\nmain.Event\t%p\n", root.Base.next, root.Event)
	fmt.Printf("main.Areaer\t%p\nmain.Index\t%p\n", &root.area, &root.index)
	for _, box := range boxes {
		fmt.Fprintf(os.Stderr, "%T\n", box)
	}
	fmt.Fprintln(os.Stderr, root.area, root.err, plains.Area())
	frames.Ready()
	select {}
}

// Area is a method that Node has from Event as well.
func (e *Event) Area() float64 { return 0 }
