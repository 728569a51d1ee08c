// Graph builds structures whose shape it knows, says what they are, writes a heap dump, and then lets go of one after
// the other, measuring what the garbage collector frees.
//
//	graph DUMP [AFTER [STRUCTURE]]    write a dump to DUMP; let go of all structures, or of STRUCTURE alone;
//	                                  write another to AFTER
//
// It prints lines of words with tabs between them; addresses are hexadecimal:
//
//	object STRUCTURE NUMBER ADDRESS SIZE       an object, and the bytes that the allocator has for it; 0: not known
//	pointer STRUCTURE FROM OFFSET TO           the object at FROM points to the one at TO
//	root STRUCTURE KIND NAME WHERE TO          what alone holds a structure: a variable (bss, data) and its address, a
//	                                           function (frame) and its goroutine's id, or a finalizer and its object
//	text STRUCTURE ADDRESS COPIES TEXT         a string, and how many objects have it
//	array STRUCTURE ADDRESS TYPE               an array of numbers, and their type
//	site STRUCTURE FUNCTION FILE LINE COUNT    where so many of its objects are allocated
//	freed STRUCTURE BYTES OBJECTS              what the garbage collector freed when it was let go of
//
// Every allocation is sampled. Sizes are those of the allocator's classes, whatever the size of a word, and no object is
// so small that it shares its memory with others.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"unsafe"
)

// Link is an element of a list.
type Link struct {
	next    *Link
	payload [7]uintptr
}

// Tree is a node of a binary tree.
type Tree struct {
	key     int
	left    *Tree
	payload [6]uintptr
	right   *Tree
	more    [3]uintptr
}

// Ring is an element of a cycle, linked both ways.
type Ring struct {
	number   int
	previous *Ring
	next     *Ring
	payload  [9]uintptr
}

// Block is what others point to, without pointers of its own.
type Block struct {
	words [16]uintptr
}

// Shape is an interface with a method.
type Shape interface {
	Area() uintptr
}

// Square implements Shape as a value.
type Square struct {
	side    uintptr
	payload [3]uintptr
}

// Area is the square's.
func (s Square) Area() uintptr { return s.side * s.side }

// Circle implements Shape as a pointer.
type Circle struct {
	radius uintptr
	center *Block
	more   [4]uintptr
}

// Area is three times the square of the radius.
func (c *Circle) Area() uintptr { return 3 * c.radius * c.radius }

// Boxes holds interfaces.
type Boxes struct {
	number  int
	value   interface{} // a Square
	shape   Shape       // a Square
	pointer Shape       // a *Circle
	more    uintptr
}

// Settings is a global's type; the pointer is in its midst.
type Settings struct {
	name  string
	block *Block
	count int
}

// Static is the type of what the linker makes, with a name, so that it is in the data segment.
type Static struct {
	name  string
	first *Link
}

// Resource has a finalizer.
type Resource struct {
	number  int
	block   *Block
	payload [4]uintptr
}

// Numbers has an array of each type of number that has no pointers.
type Numbers struct {
	shorts  []int16
	letters []uint16
	ints    []int32
	runes   []uint32
	longs   []int64
	words   []uint
	floats  []float32
	doubles []float64
}

// What alone holds each structure.
var (
	list     *Link
	tree     *Tree
	table    map[int][]byte
	ring     *Ring
	closure  func() *Block
	pipe     chan *Block
	boxes    *Boxes
	settings Settings
	resource *Resource
	names    []string
	numbers  *Numbers
	static   = &Static{name: "static"}

	finalized = make(chan bool)
)

// The goroutines that hold a structure.
var (
	held    = make(chan uintptr)
	release = make(chan bool)
	reveal  = make(chan bool)
)

const (
	links     = 5
	depth     = 3
	entries   = 20
	rings     = 4
	messages  = 3
	word      = unsafe.Sizeof(uintptr(0))
	sliceSize = 112
)

var stats runtime.MemStats

func address(p unsafe.Pointer) uintptr {
	return uintptr(p)
}

// object says what is at ADDRESS.
func object(structure string, number int, address uintptr, size uintptr) {
	fmt.Printf("object\t%s\t%d\t%#x\t%d\n", structure, number, address, size)
}

func pointer(structure string, from uintptr, offset uintptr, to uintptr) {
	fmt.Printf("pointer\t%s\t%#x\t%d\t%#x\n", structure, from, offset, to)
}

func variable(structure string, where unsafe.Pointer, to uintptr) {
	fmt.Printf("root\t%s\tbss\tmain.%s\t%#x\t%#x\n", structure, structure, address(where), to)
}

// site says that the caller allocates so many objects in the line before, or in the one so many lines before.
func site(structure string, count int, before int) {
	pc, file, line, _ := runtime.Caller(1)
	fmt.Printf("site\t%s\t%s\t%s\t%d\t%d\n", structure, runtime.FuncForPC(pc).Name(), file, line-before, count)
}

//go:noinline
func buildList() {
	for i := 0; i < links; i++ {
		list = &Link{next: list}
	}
	site("list", links, 2)
	number := 0
	for l := list; l != nil; l = l.next {
		object("list", number, address(unsafe.Pointer(l)), unsafe.Sizeof(*l))
		if l.next != nil {
			pointer("list", address(unsafe.Pointer(l)), 0, address(unsafe.Pointer(l.next)))
		}
		number++
	}
	variable("list", unsafe.Pointer(&list), address(unsafe.Pointer(list)))
}

// newTree makes a node and what is below it, and counts them in NUMBER.
//
//go:noinline
func newTree(left int, number *int) *Tree {
	if left == 0 {
		return nil
	}
	t := &Tree{key: *number}
	if *number == 0 {
		site("tree", 1<<depth-1, 2)
	}
	from := address(unsafe.Pointer(t))
	object("tree", *number, from, unsafe.Sizeof(*t))
	*number++
	t.left = newTree(left-1, number)
	t.right = newTree(left-1, number)
	if left > 1 {
		pointer("tree", from, unsafe.Offsetof(t.left), address(unsafe.Pointer(t.left)))
		pointer("tree", from, unsafe.Offsetof(t.right), address(unsafe.Pointer(t.right)))
	}
	return t
}

//go:noinline
func buildTree() {
	number := 0
	tree = newTree(depth, &number)
	variable("tree", unsafe.Pointer(&tree), address(unsafe.Pointer(tree)))
}

// How a map keeps its entries differs between releases: only the map and the values are told of.
//
//go:noinline
func buildTable() {
	table = make(map[int][]byte)
	for i := 0; i < entries; i++ {
		value := make([]byte, sliceSize)
		table[i] = value
	}
	site("table", entries, 3)
	for i := 0; i < entries; i++ {
		object("table", i, address(unsafe.Pointer(&table[i][0])), sliceSize)
	}
	variable("table", unsafe.Pointer(&table), *(*uintptr)(unsafe.Pointer(&table)))
}

//go:noinline
func buildRing() {
	ring = &Ring{}
	ring.previous, ring.next = ring, ring
	for i := 1; i < rings; i++ {
		r := &Ring{number: i, previous: ring.previous, next: ring}
		r.previous.next, ring.previous = r, r
	}
	site("ring", rings-1, 3)
	r := ring
	for i := 0; i < rings; i++ {
		from := address(unsafe.Pointer(r))
		object("ring", i, from, unsafe.Sizeof(*r))
		pointer("ring", from, unsafe.Offsetof(r.previous), address(unsafe.Pointer(r.previous)))
		pointer("ring", from, unsafe.Offsetof(r.next), address(unsafe.Pointer(r.next)))
		r = r.next
	}
	variable("ring", unsafe.Pointer(&ring), address(unsafe.Pointer(ring)))
}

//go:noinline
func newClosure(block *Block) func() *Block {
	return func() *Block { return block }
}

//go:noinline
func buildClosure() {
	block := new(Block)
	site("closure", 1, 1)
	closure = newClosure(block)
	from := *(*uintptr)(unsafe.Pointer(&closure))
	object("closure", 0, from, 2*word)
	object("closure", 1, address(unsafe.Pointer(block)), unsafe.Sizeof(*block))
	pointer("closure", from, word, address(unsafe.Pointer(block)))
	variable("closure", unsafe.Pointer(&closure), from)
}

// A channel's header has the address of its buffer in the third word.
//
//go:noinline
func buildPipe() {
	pipe = make(chan *Block, messages+1)
	for i := 0; i < messages; i++ {
		pipe <- new(Block)
	}
	site("pipe", messages, 2)
	header := *(*unsafe.Pointer)(unsafe.Pointer(&pipe))
	buffer := *(*unsafe.Pointer)(unsafe.Pointer(address(header) + 2*word))
	object("pipe", 0, address(header), 0)
	object("pipe", 1, address(buffer), (messages+1)*word)
	pointer("pipe", address(header), 2*word, address(buffer))
	for i := uintptr(0); i < messages; i++ {
		block := *(*uintptr)(unsafe.Pointer(address(buffer) + i*word))
		object("pipe", int(i)+2, block, unsafe.Sizeof(Block{}))
		pointer("pipe", address(buffer), i*word, block)
	}
	variable("pipe", unsafe.Pointer(&pipe), address(header))
}

//go:noinline
func buildBoxes() {
	boxes = new(Boxes)
	boxes.value = Square{side: uintptr(len(os.Args))}
	boxes.shape = Square{side: uintptr(len(os.Args))}
	circle := &Circle{radius: 3, center: new(Block)}
	boxes.pointer = circle
	from := address(unsafe.Pointer(boxes))
	data := func(offset uintptr) uintptr {
		return *(*uintptr)(unsafe.Pointer(address(unsafe.Pointer(boxes)) + offset + word))
	}
	offsets := [...]uintptr{unsafe.Offsetof(boxes.value), unsafe.Offsetof(boxes.shape), unsafe.Offsetof(boxes.pointer)}
	sizes := [...]uintptr{unsafe.Sizeof(Square{}), unsafe.Sizeof(Square{}), unsafe.Sizeof(Circle{})}
	object("boxes", 0, from, unsafe.Sizeof(*boxes))
	for i, offset := range offsets {
		object("boxes", i+1, data(offset), sizes[i])
		pointer("boxes", from, offset+word, data(offset))
	}
	center := address(unsafe.Pointer(circle.center))
	object("boxes", 4, center, unsafe.Sizeof(Block{}))
	pointer("boxes", address(unsafe.Pointer(circle)), unsafe.Offsetof(circle.center), center)
	variable("boxes", unsafe.Pointer(&boxes), from)
}

//go:noinline
func buildSettings() {
	settings = Settings{name: "settings", block: new(Block), count: 1}
	object("settings", 0, address(unsafe.Pointer(settings.block)), unsafe.Sizeof(Block{}))
	variable("settings", unsafe.Pointer(&settings.block), address(unsafe.Pointer(settings.block)))
}

// Some of them are equal, and all are so long that the tiny allocator has no part in them.
//
//go:noinline
func buildNames() {
	names = make([]string, 4)
	for i := range names {
		names[i] = strings.Repeat("so \\ it \"goes\", ", 3+i/3)
	}
	site("names", 1, 4)
	from := *(*uintptr)(unsafe.Pointer(&names))
	object("names", 0, from, 4*2*word)
	for i := range names {
		data := *(*uintptr)(unsafe.Pointer(&names[i]))
		object("names", i+1, data, 0)
		pointer("names", from, uintptr(i)*2*word, data)
	}
	fmt.Printf("text\tnames\t%#x\t3\t%s\n", *(*uintptr)(unsafe.Pointer(&names[0])), names[0])
	fmt.Printf("text\tnames\t%#x\t1\t%s\n", *(*uintptr)(unsafe.Pointer(&names[3])), names[3])
	variable("names", unsafe.Pointer(&names), from)
}

//go:noinline
func buildNumbers() {
	numbers = &Numbers{make([]int16, 24), make([]uint16, 24), make([]int32, 12), make([]uint32, 12),
		make([]int64, 6), make([]uint, 48/word), make([]float32, 12), make([]float64, 6)}
	from := address(unsafe.Pointer(numbers))
	object("numbers", 0, from, 8*3*word)
	for i, kind := range []string{"int16", "uint16", "int32", "uint32", "int64", "uint", "float32", "float64"} {
		offset := 3 * word * uintptr(i)
		array := *(*uintptr)(unsafe.Pointer(address(unsafe.Pointer(numbers)) + offset))
		object("numbers", i+1, array, 48)
		pointer("numbers", from, offset, array)
		fmt.Printf("array\tnumbers\t%#x\t%s\n", array, kind)
	}
	variable("numbers", unsafe.Pointer(&numbers), from)
}

//go:noinline
func buildStatic() {
	static.first = newLinks()
	first, second := address(unsafe.Pointer(static.first)), address(unsafe.Pointer(static.first.next))
	object("static", 0, first, unsafe.Sizeof(Link{}))
	object("static", 1, second, unsafe.Sizeof(Link{}))
	pointer("static", first, 0, second)
	fmt.Printf("root\tstatic\tdata\tmain.static.first\t%#x\t%#x\n", address(unsafe.Pointer(&static.first)), first)
}

// To the garbage collector a finalizer is a root: of what its object points to.
//
//go:noinline
func buildResource() {
	resource = &Resource{block: new(Block)}
	runtime.SetFinalizer(resource, func(*Resource) {})
	from := address(unsafe.Pointer(resource))
	block := address(unsafe.Pointer(resource.block))
	object("resource", 0, from, unsafe.Sizeof(*resource))
	object("resource", 1, block, unsafe.Sizeof(Block{}))
	pointer("resource", from, unsafe.Offsetof(resource.block), block)
	variable("resource", unsafe.Pointer(&resource), from)
	fmt.Printf("root\tresource\tfinalizer\tmain.buildResource.func1\t%#x\t%#x\n", from, block)
}

// goroutine is the id of the one that runs.
func goroutine() uintptr {
	var text [64]byte
	runtime.Stack(text[:], false)
	id := uintptr(0)
	for _, c := range text[len("goroutine "):] {
		if c < '0' || c > '9' {
			break
		}
		id = 10*id + uintptr(c-'0')
	}
	return id
}

// newLinks makes a list of two on the heap: what no caller sees would be on the stack.
//
//go:noinline
func newLinks() *Link {
	return &Link{next: new(Link)}
}

// hold has a list that nothing else points to, until it is told to end.
//
//go:noinline
func hold() {
	first := newLinks()
	held <- goroutine()
	held <- address(unsafe.Pointer(first))
	held <- address(unsafe.Pointer(first.next))
	<-release
	runtime.KeepAlive(first)
	release <- true
}

func buildHeld() {
	go hold()
	id, first, second := <-held, <-held, <-held
	object("held", 0, first, unsafe.Sizeof(Link{}))
	object("held", 1, second, unsafe.Sizeof(Link{}))
	pointer("held", first, 0, second)
	fmt.Printf("root\theld\tframe\tmain.hold\t%d\t%#x\n", id, first)
}

// Pointer is a variable's type.
type Pointer struct {
	number int
	first  *Link
}

// attach gives a variable on the stack a list, and tells of it.
//
//go:noinline
func attach(p *Pointer) {
	p.first = newLinks()
	held <- goroutine()
	held <- address(unsafe.Pointer(p.first))
	held <- address(unsafe.Pointer(p.first.next))
}

// hide has a list in one of two variables on its stack, and says no more of them but by a pointer to it: so the stack's
// map of pointers has neither.
//
//go:noinline
func hide(second bool) {
	var one, two Pointer
	chosen := &one
	if second {
		chosen = &two
	}
	attach(chosen)
	<-reveal
	runtime.KeepAlive(chosen)
	reveal <- true
}

func buildHidden() {
	go hide(len(os.Args) > 1)
	id, first, second := <-held, <-held, <-held
	object("hidden", 0, first, unsafe.Sizeof(Link{}))
	object("hidden", 1, second, unsafe.Sizeof(Link{}))
	pointer("hidden", first, 0, second)
	fmt.Printf("root\thidden\tframe\tmain.hide\t%d\t%#x\n", id, first)
}

// What nothing holds any more, and no garbage collection has seen since.
//
//go:noinline
func buildGarbage() {
	first := newLinks()
	object("garbage", 0, address(unsafe.Pointer(first)), unsafe.Sizeof(*first))
	object("garbage", 1, address(unsafe.Pointer(first.next)), unsafe.Sizeof(*first))
	pointer("garbage", address(unsafe.Pointer(first)), 0, address(unsafe.Pointer(first.next)))
}

// The structures, and how each is let go of.
var structures = []struct {
	name string
	drop func()
}{
	{"list", func() { list = nil }},
	{"tree", func() { tree = nil }},
	{"table", func() { table = nil }},
	{"ring", func() { ring = nil }},
	{"closure", func() { closure = nil }},
	{"pipe", func() { pipe = nil }},
	{"boxes", func() { boxes = nil }},
	{"settings", func() { settings = Settings{} }},
	{"resource", func() { resource = nil }},
	{"names", func() { names = nil }},
	{"numbers", func() { numbers = nil }},
	{"static", func() { static.first = nil }},
	{"hidden", func() { reveal <- true; <-reveal }},
	{"held", func() { release <- true; <-release }},
}

// collect frees all that can be: what has a finalizer is freed by the garbage collection after the finalizer ran, and
// what pools hold by the second.
func collect() {
	for i := 0; i < 3; i++ {
		runtime.GC()
		runtime.Gosched()
	}
	runtime.ReadMemStats(&stats)
}

// drop lets go of a structure. The runtime may make a thread meanwhile: what is allocated is not counted.
//
//go:noinline
func drop(name string, letGo func()) {
	collect()
	bytes, objects := stats.TotalAlloc-stats.HeapAlloc, stats.Frees
	letGo()
	collect()
	fmt.Printf("freed\t%s\t%d\t%d\n", name, stats.TotalAlloc-stats.HeapAlloc-bytes, stats.Frees-objects)
}

// warmUp has the runtime make what it needs to collect garbage and to run finalizers, and keep it.
func warmUp() {
	runtime.SetFinalizer(newLinks(), func(*Link) { finalized <- true })
	runtime.GC()
	<-finalized
	for i := 0; i < 3; i++ {
		collect()
	}
}

func write(path string) {
	file, err := os.Create(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	debug.WriteHeapDump(file.Fd())
	file.Close()
}

func init() {
	runtime.MemProfileRate = 1
}

func main() {
	if len(os.Args) < 2 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: graph DUMP [AFTER [STRUCTURE]]")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	warmUp()
	buildList()
	buildTree()
	buildTable()
	buildRing()
	buildClosure()
	buildPipe()
	buildBoxes()
	buildSettings()
	buildResource()
	buildNames()
	buildNumbers()
	buildStatic()
	buildHidden()
	buildHeld()
	collect()
	buildGarbage()
	write(os.Args[1])
	for _, structure := range structures {
		if len(os.Args) < 4 || os.Args[3] == structure.name {
			drop(structure.name, structure.drop)
		}
	}
	if len(os.Args) > 2 {
		write(os.Args[2])
	}
}
