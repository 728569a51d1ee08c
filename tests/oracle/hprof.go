// Hprof reads Java heap dumps (hprof 1.0.2) that goheap made, for tests, and is strict: every record's length, every
// id that is referred to, classes before their instances. It is written from the format's description in the JDK's hprof
// agent and shares no code with goheap.
//
//	hprof graph FILE ORDER    the objects, the references between them, and the roots, as the oracle dumpfile prints
//	                          a dump's, in which words have their bytes in this order, big or little; what goheap adds
//	                          to the heap, threads and their names, is left out
//	hprof stacks FILE         a thread's id and place in its stack, function, file and line, of each stack frame
//	hprof names FILE          the class of each object and static, and the field of each reference
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"unicode/utf8"
)

// Types of fields and of the elements of arrays.
const (
	object  = 2
	boolean = 4
	char    = 5
	byte_   = 8
	long    = 11
)

var sizes = map[uint8]int{boolean: 1, char: 2, 6: 4, 7: 8, byte_: 1, 9: 2, 10: 4, long: 8}

type field struct {
	name   string
	kind   uint8
	target uint64 // of a static
}

type class struct {
	name    string
	super   uint64
	size    int // of an instance
	fields  []field
	statics []field
	dumped  bool
}

type frame struct {
	function, file string
	line           int32
}

// An instance or array.
type thing struct {
	kind    int    // of an array's elements, if they are of a primitive type
	class   *class // nil for arrays of primitive types
	form    string // whole, pointers, or chars
	data    []byte // as in the file
	widths  []int  // of the numbers that the data is made of; the last goes on
	fields  []string
	targets []uint64
}

// The contents as they were in memory, if numbers have their bytes in this order.
func (t *thing) contents(little bool) []byte {
	data := append([]byte(nil), t.data...)
	for i, at := 0, 0; little && at < len(data); i++ {
		width := t.widths[min(i, len(t.widths)-1)]
		for from, to := at, at+width-1; from < to; from, to = from+1, to-1 {
			data[from], data[to] = data[to], data[from]
		}
		at += width
	}
	return data
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

type root struct {
	tag           uint8
	id            uint64
	thread, depth uint32
}

type file struct {
	data     []byte // what is left
	word     int
	strings  map[uint64]string
	classes  map[uint64]*class
	serials  map[uint32]*class
	frames   map[uint64]frame
	traces   map[uint32][]uint64 // frames
	things   map[uint64]*thing
	order    []uint64 // of things
	roots    []root
	threads  map[uint32]uint64 // objects by serial
	traceOf  map[uint32]uint32 // of threads
	started  map[uint32]uint64
	referred map[uint64]string // ids of objects, and by what
	segments bool              // the heap dump has begun
	ended    bool
}

func fail(format string, args ...interface{}) {
	fmt.Fprintf(os.Stderr, "hprof: "+format+"\n", args...)
	os.Exit(1)
}

func check(ok bool, format string, args ...interface{}) {
	if !ok {
		fail(format, args...)
	}
}

func (f *file) bytes(count int) []byte {
	check(count >= 0 && count <= len(f.data), "%d bytes of %d are missing", count, len(f.data))
	data := f.data[:count]
	f.data = f.data[count:]
	return data
}

func (f *file) u1() uint8  { return f.bytes(1)[0] }
func (f *file) u2() uint16 { return binary.BigEndian.Uint16(f.bytes(2)) }
func (f *file) u4() uint32 { return binary.BigEndian.Uint32(f.bytes(4)) }
func (f *file) u8() uint64 { return binary.BigEndian.Uint64(f.bytes(8)) }

func (f *file) id() uint64 {
	if f.word == 4 {
		return uint64(f.u4())
	}
	return f.u8()
}

// The id of an object or class, which is to be there at the end.
func (f *file) reference(by string) uint64 {
	id := f.id()
	if id != 0 {
		f.referred[id] = by
	}
	return id
}

func (f *file) text() string {
	id := f.id()
	text, known := f.strings[id]
	check(known, "string %d is not there yet", id)
	return text
}

func (f *file) header() {
	magic := "JAVA PROFILE 1.0.2\x00"
	check(string(f.bytes(len(magic))) == magic, "not an hprof file")
	f.word = int(f.u4())
	check(f.word == 4 || f.word == 8, "ids of %d bytes", f.word)
	f.u8()
}

func (f *file) record() {
	tag := f.u1()
	f.u4()
	size := int(f.u4())
	check(!f.ended, "a record %#x after the end", tag)
	check(!f.segments || tag == 0x1c || tag == 0x2c, "a record %#x in the heap dump", tag)
	check(size <= len(f.data), "record %#x: %d bytes of %d", tag, len(f.data), size)
	left := len(f.data) - size
	switch tag {
	case 0x01:
		id := f.id()
		text := string(f.bytes(size - f.word))
		_, known := f.strings[id]
		check(id != 0 && !known, "string %d twice", id)
		check(utf8.ValidString(text) && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == 127 }) < 0, "string %q", text)
		f.strings[id] = text
	case 0x02:
		serial := f.u4()
		id := f.id()
		f.trace()
		c := &class{name: f.text()}
		check(serial != 0 && f.serials[serial] == nil, "class serial %d twice", serial)
		check(id != 0 && f.classes[id] == nil, "class %#x twice", id)
		f.serials[serial] = c
		f.classes[id] = c
	case 0x04:
		id := f.id()
		method := f.text()
		check(f.text() == "", "a signature")
		source := f.text()
		serial := f.u4()
		check(f.serials[serial] != nil, "class serial %d is not there yet", serial)
		_, known := f.frames[id]
		check(id != 0 && !known, "frame %d twice", id)
		f.frames[id] = frame{f.serials[serial].name + "." + method, source, int32(f.u4())}
	case 0x05:
		serial := f.u4()
		f.u4()
		var frames []uint64
		for n := f.u4(); n > 0; n-- {
			id := f.id()
			_, known := f.frames[id]
			check(known, "frame %d is not there yet", id)
			frames = append(frames, id)
		}
		_, known := f.traces[serial]
		check(serial != 0 && !known, "trace %d twice", serial)
		f.traces[serial] = frames
	case 0x0a:
		serial := f.u4()
		check(serial == uint32(len(f.started)+1), "thread %d out of order", serial)
		f.started[serial] = f.reference("a thread")
		_, known := f.traces[f.u4()]
		check(known, "a thread without a trace")
		for i := 0; i < 3; i++ {
			f.text()
		}
	case 0x1c:
		f.segments = true
		for len(f.data) > left {
			f.subrecord()
		}
	case 0x2c:
		f.ended = true
	default:
		fail("record %#x", tag)
	}
	check(len(f.data) == left, "record %#x is %d bytes longer than it says", tag, left-len(f.data))
}

// A stack trace's serial, which came before unless it is of a class loaded before all.
func (f *file) trace() {
	serial := f.u4()
	_, known := f.traces[serial]
	check(known || serial == 1, "trace %d is not there yet", serial)
}

func (f *file) subrecord() {
	switch tag := f.u1(); tag {
	case 0xff, 0x05:
		f.roots = append(f.roots, root{tag: tag, id: f.reference("a root")})
	case 0x02, 0x03:
		f.roots = append(f.roots, root{tag, f.reference("a root"), f.u4(), f.u4()})
	case 0x04:
		f.roots = append(f.roots, root{tag: tag, id: f.reference("a root"), thread: f.u4()})
	case 0x08:
		id, serial, trace := f.reference("a root"), f.u4(), f.u4()
		_, known := f.traces[trace]
		check(known, "trace %d is not there", trace)
		check(f.started[serial] == id, "thread %d is %#x, not %#x", serial, f.started[serial], id)
		f.threads[serial] = id
		f.traceOf[serial] = trace
	case 0x20:
		f.class()
	case 0x21:
		id := f.id()
		f.trace()
		c := f.dumped(f.id())
		size := f.u4()
		check(int(size) == c.size, "an instance of %d bytes of a class of %d, %s", size, c.size, c.name)
		f.add(id, f.instance(c, int(size)))
	case 0x22:
		id := f.id()
		f.trace()
		count := int(f.u4())
		c := f.dumped(f.id())
		check(strings.HasPrefix(c.name, "[L"), "an array of class %s", c.name)
		start := f.data
		check(count > 64, "an array of %d words", count)
		t := &thing{class: c, form: "pointers", widths: []int{f.word}}
		for i := 0; i < count; i++ {
			if to := f.reference("an array"); to != 0 {
				t.targets = append(t.targets, to)
				t.fields = append(t.fields, fmt.Sprintf("[%d]", i))
			}
		}
		t.data = start[:count*f.word]
		f.add(id, t)
	case 0x23:
		id := f.id()
		f.trace()
		count := int(f.u4())
		kind := f.u1()
		check(sizes[kind] != 0, "an array of type %d", kind)
		form := "whole"
		if kind == char {
			form = "chars"
		}
		f.add(id, &thing{kind: int(kind), form: form, data: f.bytes(count * sizes[kind]), widths: []int{sizes[kind]}})
	default:
		fail("%#x in a heap dump", tag)
	}
}

func (f *file) dumped(id uint64) *class {
	c := f.classes[id]
	check(c != nil && c.dumped, "class %#x is not there yet", id)
	return c
}

func (f *file) add(id uint64, t *thing) {
	check(id != 0 && f.things[id] == nil && f.classes[id] == nil, "object %#x twice", id)
	f.things[id] = t
	f.order = append(f.order, id)
}

func (f *file) class() {
	id := f.id()
	c := f.classes[id]
	check(c != nil && !c.dumped, "class %#x is not loaded, or twice", id)
	c.dumped = true
	f.trace()
	c.super = f.id()
	check(c.super == 0 == (c.name == "java/lang/Object"), "superclass %#x of %s", c.super, c.name)
	for i := 0; i < 5; i++ {
		check(f.id() == 0, "a class loader, or the like")
	}
	c.size = int(f.u4())
	check(f.u2() == 0, "constants")
	for n := f.u2(); n > 0; n-- {
		name, kind := f.text(), f.u1()
		check(kind == object, "a static of type %d", kind)
		c.statics = append(c.statics, field{name, kind, f.reference("a static")})
	}
	size := 0
	if c.super != 0 {
		check(f.dumped(c.super).name == "java/lang/Object", "superclass of %s", c.name)
	} else {
		size = 2 * f.word // a header, which no instance has
	}
	for n := f.u2(); n > 0; n-- {
		name, kind := f.text(), f.u1()
		c.fields = append(c.fields, field{name: name, kind: kind})
		if kind == object {
			size += f.word
		} else {
			check(sizes[kind] != 0, "a field of type %d", kind)
			size += sizes[kind]
		}
	}
	check(c.size == size, "class %s is of %d bytes, its fields of %d", c.name, c.size, size)
}

func (f *file) instance(c *class, size int) *thing {
	check(size <= len(f.data), "an instance of %d bytes", size)
	t := &thing{class: c, form: "whole", data: f.data[:size]}
	for _, field := range c.fields {
		if field.kind != object {
			t.widths = append(t.widths, sizes[field.kind])
			f.bytes(sizes[field.kind])
			continue
		}
		t.widths = append(t.widths, f.word)
		if to := f.reference("a field"); to != 0 {
			t.targets = append(t.targets, to)
			t.fields = append(t.fields, field.name)
		}
	}
	return t
}

// What is of Java and not of the heap.
func (t *thing) added() bool {
	return t.form == "chars" || (t.class != nil && strings.HasPrefix(t.class.name, "java/"))
}

func (f *file) finish() {
	check(f.ended, "no end of the heap dump")
	for id, by := range f.referred {
		check(f.things[id] != nil || f.classes[id] != nil, "%s refers to %#x, which is not there", by, id)
	}
	for id, c := range f.classes {
		check(c.dumped, "class %#x, %s, is loaded and not dumped", id, c.name)
	}
	check(len(f.threads) == len(f.started), "%d threads, %d of them roots", len(f.started), len(f.threads))
	for _, r := range f.roots {
		switch r.tag {
		case 0x05:
			check(f.classes[r.id] != nil, "root %#x is no class", r.id)
		case 0x02, 0x03, 0x04:
			check(f.threads[r.thread] != 0, "root %#x of thread %d", r.id, r.thread)
		}
		if r.tag == 0x03 {
			check(int(r.depth) < len(f.traces[f.traceOf[r.thread]]), "root %#x of frame %d", r.id, r.depth)
		}
	}
}

// The goroutine that a thread is.
func (f *file) goroutine(serial uint32) uint64 {
	t := f.things[f.threads[serial]]
	check(t != nil && t.class != nil && t.class.name == "java/lang/Thread", "thread %d is none", serial)
	id := binary.BigEndian.Uint64(t.data[f.word:])
	name := f.things[t.targets[0]]
	check(name != nil && name.class.name == "java/lang/String", "a thread's name")
	var text strings.Builder
	for chars := f.things[name.targets[0]].data; len(chars) > 0; chars = chars[2:] {
		text.WriteRune(rune(binary.BigEndian.Uint16(chars)))
	}
	check(strings.HasPrefix(text.String(), fmt.Sprintf("goroutine %d [", id)), "thread %d is %q", id, text.String())
	return id
}

func (f *file) names(out *bufio.Writer) {
	for _, id := range f.order {
		t := f.things[id]
		if t.kind != 0 && !t.added() {
			fmt.Fprintf(out, "array\t%#x\t%d\n", id, t.kind)
		}
		if t.added() || t.class == nil {
			continue
		}
		fmt.Fprintf(out, "class\t%#x\t%s\n", id, t.class.name)
		for i, to := range t.targets {
			fmt.Fprintf(out, "field\t%#x\t%s\t%#x\n", id, t.fields[i], to)
		}
	}
	for _, c := range f.classes {
		for _, s := range c.statics {
			fmt.Fprintf(out, "static\t%s\t%s\t%#x\n", c.name, s.name, s.target)
		}
	}
}

func (f *file) graph(out *bufio.Writer, little bool) {
	for _, id := range f.order {
		t := f.things[id]
		if t.added() {
			continue
		}
		fmt.Fprintf(out, "object\t%#x\t%d\t%s\t%08x\n", id, len(t.data), t.form,
			crc32.ChecksumIEEE(t.contents(little)))
		for _, to := range t.targets {
			fmt.Fprintf(out, "reference\t%#x\t%#x\n", id, to)
		}
	}
	for _, r := range f.roots {
		switch r.tag {
		case 0x05:
			c := f.classes[r.id]
			for _, s := range c.statics {
				kind := "global"
				for _, known := range []string{"data", "bss", "finalizer", "queued finalizer", "other root"} {
					if strings.HasPrefix(c.name, known+" ") {
						kind = known
					}
				}
				fmt.Fprintf(out, "root\t%s\t%s\t%#x\n", kind, s.name, s.target)
			}
		case 0x02:
			fmt.Fprintf(out, "root\tlocal\t%d\t%#x\n", f.goroutine(r.thread), r.id)
		case 0x03:
			fmt.Fprintf(out, "root\tframe\t%d\t%d\t%#x\n", f.goroutine(r.thread), r.depth, r.id)
		case 0x04:
			fmt.Fprintf(out, "root\tnative stack\t%d\t%#x\n", f.goroutine(r.thread), r.id)
		default:
			fmt.Fprintf(out, "root\tunknown\t%#x\n", r.id)
		}
	}
}

func (f *file) stacks(out *bufio.Writer) {
	for serial := uint32(1); int(serial) <= len(f.threads); serial++ {
		for i, id := range f.traces[f.traceOf[serial]] {
			fr := f.frames[id]
			fmt.Fprintf(out, "%d\t%d\t%s\t%s\t%d\n", f.goroutine(serial), i, fr.function, fr.file, fr.line)
		}
	}
}

func main() {
	order := len(os.Args) == 4 && os.Args[1] == "graph"
	check(order || (len(os.Args) == 3 && os.Args[1] != "graph"), "usage: hprof graph FILE ORDER | stacks FILE | names FILE")
	data, err := os.ReadFile(os.Args[2])
	check(err == nil, "%v", err)
	f := &file{
		data:     data,
		strings:  make(map[uint64]string),
		classes:  make(map[uint64]*class),
		serials:  make(map[uint32]*class),
		frames:   make(map[uint64]frame),
		traces:   make(map[uint32][]uint64),
		things:   make(map[uint64]*thing),
		threads:  make(map[uint32]uint64),
		traceOf:  make(map[uint32]uint32),
		started:  make(map[uint32]uint64),
		referred: make(map[uint64]string),
	}
	f.header()
	for len(f.data) > 0 {
		f.record()
	}
	f.finish()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	switch {
	case order:
		f.graph(out, os.Args[3] == "little")
	case os.Args[1] == "stacks":
		f.stacks(out)
	default:
		f.names(out)
	}
}
