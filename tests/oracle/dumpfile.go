// Dumpfile reads heap dumps in the format of Go 1.7, for tests: it shares no code with goheap.
//
//	dumpfile count DUMP              how many objects and goroutines, "KIND<tab>NUMBER" a line
//	dumpfile objects DUMP            the same of the objects that are some, and of their bytes
//	dumpfile memory DUMP DIRECTORY   make in DIRECTORY memory.gdb, by which GDB appends all that the
//	                                 dump has of memory to memory.found, and prints some words;
//	                                 memory.expected, what it appends; and words.expected, what
//	                                 it prints, "ADDRESS<tab>WORD<tab>WORD" a line
//	dumpfile fields DUMP             a goroutine's id, depth, offset from sp and the word there, of
//	                                 each field of a stack frame that lies within it
//	dumpfile words DUMP              the same of each word of the frames
//	dumpfile graph DUMP              its objects, the references between them, and its roots, as the
//	                                 oracle hprof prints them; objects twice, with all of their
//	                                 contents, and with pointers alone
//	dumpfile compare OWN OTHER       what two dumps of one process have in common and what not: OWN is
//	                                 what it wrote of itself, in goroutine 1. "NAME<tab>NUMBER" a
//	                                 line; "different ..." for what should be the same
//	dumpfile prototype DUMP          write what the prototype of the format has of such a dump,
//	                                 fields as roots, to standard output
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// Every such region has its first words printed.
const sampled = 25

// What is read of a record.
type record struct {
	tag      uint64
	numbers  []uint64 // in order, but for what follows
	contents []byte   // of an object, frame or segment
	text     []byte   // a frame's function, why a goroutine waits, what another root is
	fields   []uint64 // their offsets
}

type dump struct {
	rest    []byte
	order   binary.ByteOrder
	word    uint64
	arch    string
	version string // of Go
	records []record
}

func (d *dump) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		fail("a number is cut off")
	}
	d.rest = d.rest[size:]
	return n
}

func (d *dump) numbers(count int) (all []uint64) {
	for i := 0; i < count; i++ {
		all = append(all, d.number())
	}
	return all
}

func (d *dump) bytes() []byte {
	size := d.number()
	data := d.rest[:size]
	d.rest = d.rest[size:]
	return data
}

func (d *dump) fields() (offsets []uint64) {
	for d.number() != 0 {
		offsets = append(offsets, d.number())
	}
	return offsets
}

func (d *dump) params() {
	d.order = binary.LittleEndian
	if d.number() != 0 {
		d.order = binary.BigEndian
	}
	d.word = d.number()
	d.numbers(2)
	d.arch = string(d.bytes())
	d.version = string(d.bytes())
	d.number()
}

func (d *dump) read(tag uint64) {
	r := record{tag: tag}
	switch tag {
	case 1, 12, 13: // object, data, bss
		r.numbers = d.numbers(1)
		r.contents = d.bytes()
		r.fields = d.fields()
	case 2: // other root
		r.text = d.bytes()
		r.numbers = d.numbers(1)
	case 3: // type
		r.numbers = d.numbers(2)
		r.text = d.bytes()
		d.number()
	case 4: // goroutine
		r.numbers = d.numbers(8)
		r.text = d.bytes()
		r.numbers = append(r.numbers, d.numbers(4)...)
	case 5: // stack frame
		r.numbers = d.numbers(3)
		r.contents = d.bytes()
		r.numbers = append(r.numbers, d.numbers(3)...)
		r.text = d.bytes()
		r.fields = d.fields()
	case 6:
		d.params()
	case 7, 11: // finalizers
		r.numbers = d.numbers(5)
	case 8: // itab
		r.numbers = d.numbers(2)
	case 9: // thread
		r.numbers = d.numbers(3)
	case 10: // memstats
		r.numbers = d.numbers(24 + 256 + 1)
	case 14: // defer
		r.numbers = d.numbers(7)
	case 15: // panic
		r.numbers = d.numbers(6)
	case 16: // profile
		r.numbers = d.numbers(2)
		for i, n := uint64(0), d.number(); i < n; i++ {
			function, file, line := d.bytes(), d.bytes(), d.number()
			// The runtime writes the line after the innermost call.
			if i > 0 {
				r.text = append(r.text, fmt.Sprintf("%s %s %d;", function, file, line)...)
			} else {
				r.text = append(r.text, fmt.Sprintf("%s;", function)...)
			}
		}
		r.numbers = append(r.numbers, d.numbers(2)...)
	case 17: // sample
		r.numbers = d.numbers(2)
	default:
		fail("unknown record %d", tag)
	}
	d.records = append(d.records, r)
}

func read(path string) *dump {
	data, err := os.ReadFile(path)
	must(err)
	line := []byte("go1.7 heap dump\n")
	if !bytes.HasPrefix(data, line) {
		fail("%s is no heap dump", path)
	}
	d := &dump{rest: data[len(line):]}
	for tag := d.number(); tag != 0; tag = d.number() {
		d.read(tag)
	}
	return d
}

func (d *dump) value(data []byte) uint64 {
	if d.word == 4 {
		return uint64(d.order.Uint32(data))
	}
	return d.order.Uint64(data)
}

// The offsets of the fields that lie within the record's contents.
func (d *dump) within(r record) (offsets []uint64) {
	for _, offset := range r.fields {
		if offset+d.word <= uint64(len(r.contents)) {
			offsets = append(offsets, offset)
		}
	}
	return offsets
}

func (d *dump) words(r record) (offsets []uint64) {
	for offset := uint64(0); offset+d.word <= uint64(len(r.contents)); offset += d.word {
		offsets = append(offsets, offset)
	}
	return offsets
}

// Prints the words of frames at the offsets that the function gives.
func (d *dump) frames(offsets func(record) []uint64) {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	var id uint64
	for _, r := range d.records {
		switch r.tag {
		case 4:
			id = r.numbers[2]
		case 5:
			for _, offset := range offsets(r) {
				fmt.Fprintf(out, "%d\t%d\t%#x\t%#x\n", id, r.numbers[1], offset,
					d.value(r.contents[offset:]))
			}
		}
	}
}

// What is not of the prototype is left out.
func (d *dump) prototype() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	put := func(values ...uint64) {
		for _, value := range values {
			var bytes [binary.MaxVarintLen64]byte
			out.Write(bytes[:binary.PutUvarint(bytes[:], value)])
		}
	}
	putText := func(text []byte) {
		put(uint64(len(text)))
		out.Write(text)
	}
	out.WriteString("go1.3 heap dump\n")
	for _, r := range d.records {
		switch r.tag {
		case 1:
			put(1, r.numbers[0], 0, 127)
			putText(r.contents)
		case 4:
			put(8)
			put(r.numbers[:8]...)
			putText(r.text)
		case 5:
			sp := r.numbers[0]
			put(9, sp, sp+uint64(len(r.contents)), r.numbers[3], r.numbers[4])
			putText(r.text)
			for _, offset := range d.within(r) {
				put(4, sp+offset, d.value(r.contents[offset:]), sp)
			}
		case 6:
			put(10, 0, d.word, 2*d.word, 0, 0)
		case 12, 13:
			for _, offset := range d.within(r) {
				put(5, r.numbers[0]+offset, d.value(r.contents[offset:]))
			}
		}
	}
	put(3)
}

type region struct {
	address uint64
	data    []byte
}

// The objects, frames and segments by address.
func (d *dump) regions() (all []region) {
	for _, r := range d.records {
		switch r.tag {
		case 1, 5, 12, 13:
			all = append(all, region{r.numbers[0], r.contents})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].address < all[j].address })
	return all
}

// Regions that touch make one command: GDB takes long for each.
func (d *dump) memory(directory string) {
	var script, words bytes.Buffer
	var expected []byte
	found := filepath.Join(directory, "memory.found")
	size := map[uint64]string{4: "w", 8: "g"}[d.word]
	regions := d.regions()
	for i := 0; i < len(regions); {
		start := regions[i].address
		end := start
		for ; i < len(regions) && regions[i].address == end; i++ {
			expected = append(expected, regions[i].data...)
			end += uint64(len(regions[i].data))
		}
		if i < len(regions) && regions[i].address < end {
			fail("regions overlap at %#x", regions[i].address)
		}
		if end > start {
			fmt.Fprintf(&script, "append binary memory %s %#x %#x\n", found, start, end)
		}
	}
	for i := 0; i < len(regions); i += sampled {
		r := regions[i]
		if uint64(len(r.data)) < 2*d.word {
			continue
		}
		fmt.Fprintf(&script, "x/2x%s %#x\n", size, r.address)
		fmt.Fprintf(&words, "%#x\t0x%0*x\t0x%0*x\n", r.address,
			2*d.word, d.value(r.data), 2*d.word, d.value(r.data[d.word:]))
	}
	for name, data := range map[string][]byte{
		"memory.gdb":      script.Bytes(),
		"memory.expected": expected,
		"words.expected":  words.Bytes(),
	} {
		must(os.WriteFile(filepath.Join(directory, name), data, 0666))
	}
}

// The objects by address, and the one that holds an address.
type objects []record

func (d *dump) objects() (all objects) {
	for _, r := range d.records {
		if r.tag == 1 {
			all = append(all, r)
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].numbers[0] < all[j].numbers[0] })
	return d.withinSpans(all)
}

// The end of a span of small objects is not for objects from Go 1.22 on, but dumped as if it were: there
// is the pointer bitmap of those that have pointers, and from 1.26 on before it their mark bits.
func (d *dump) withinSpans(all objects) (kept objects) {
	var release int
	fmt.Sscanf(d.version, "go1.%d", &release)
	const span = 8192
	slots := func(r record, bitmap bool) uint64 {
		var reserve, size = uint64(0), uint64(len(r.contents))
		if bitmap {
			reserve += span / d.word / 8
		}
		if release >= 26 && size >= 16 {
			reserve += 128
		}
		return (span - reserve) / size
	}
	small := func(r record) bool {
		return release >= 22 && len(r.contents) > 0 && uint64(len(r.contents)) <= 8*d.word*d.word
	}
	slot := func(r record) uint64 { return r.numbers[0] % span / uint64(len(r.contents)) }
	pointers := make(map[uint64]bool)
	for _, r := range all {
		if small(r) && len(r.fields) > 0 && slot(r) < slots(r, true) {
			pointers[r.numbers[0]/span] = true
		}
	}
	for _, r := range all {
		if !small(r) || slot(r) < slots(r, pointers[r.numbers[0]/span]) {
			kept = append(kept, r)
		}
	}
	return kept
}

func (all objects) find(address uint64) uint64 {
	i := sort.Search(len(all), func(i int) bool { return all[i].numbers[0] > address })
	if i == 0 || address-all[i-1].numbers[0] >= uint64(len(all[i-1].contents)) {
		return 0
	}
	return all[i-1].numbers[0]
}

// An object's contents with its pointers to objects as those objects' addresses, and 0 where they are to none; the same
// with 0 in all other words; and what it points to.
func (d *dump) shown(r record, all objects) (whole, pointers []byte, to []uint64) {
	whole = append(whole, r.contents...)
	pointers = make([]byte, (uint64(len(whole))+d.word-1)/d.word*d.word)
	for _, offset := range d.within(r) {
		target := all.find(d.value(r.contents[offset:]))
		for _, data := range [][]byte{whole, pointers} {
			if d.word == 4 {
				d.order.PutUint32(data[offset:], uint32(target))
			} else {
				d.order.PutUint64(data[offset:], target)
			}
		}
		if target != 0 {
			to = append(to, target)
		}
	}
	return whole, pointers, to
}

// A frame that a pointer on a stack leads to has variables whose pointers are not listed: any of its words
// may be one.
type frame struct {
	record
	goroutine uint64
	met, done bool
}

type stacks struct{ all []*frame }

func (s *stacks) meet(address uint64) {
	for _, f := range s.all {
		if address >= f.numbers[0] && address-f.numbers[0] < uint64(len(f.contents)) {
			f.met = true
		}
	}
}

func (s *stacks) next() *frame {
	for _, f := range s.all {
		if f.met && !f.done {
			f.done = true
			return f
		}
	}
	return nil
}

func (d *dump) graph() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	all := d.objects()
	held := make(map[uint64]bool)
	perhaps := false
	root := func(to uint64, format string, args ...interface{}) {
		if to = all.find(to); to != 0 && !(perhaps && held[to]) {
			held[to] = held[to] || !perhaps
			fmt.Fprintf(out, "root\t"+format+"\t%#x\n", append(args, to)...)
		}
	}
	for _, r := range all {
		whole, pointers, to := d.shown(r, all)
		fmt.Fprintf(out, "object\t%#x\t%d\twhole\t%08x\n", r.numbers[0], len(whole),
			crc32.ChecksumIEEE(whole))
		fmt.Fprintf(out, "object\t%#x\t%d\tpointers\t%08x\n", r.numbers[0], len(pointers),
			crc32.ChecksumIEEE(pointers))
		for _, address := range to {
			fmt.Fprintf(out, "reference\t%#x\t%#x\n", r.numbers[0], address)
		}
	}
	frames := &stacks{}
	onStack := func(to uint64, format string, args ...interface{}) {
		root(to, format, args...)
		if all.find(to) == 0 {
			frames.meet(to)
		}
	}
	var id uint64
	for _, r := range d.records {
		if r.tag == 4 {
			id = r.numbers[2]
		} else if r.tag == 5 {
			frames.all = append(frames.all, &frame{record: r, goroutine: id})
		}
	}
	for _, r := range d.records {
		switch r.tag {
		case 2:
			root(r.numbers[0], "other root\t%s", r.text)
		case 4:
			id = r.numbers[2]
			for _, pointer := range []uint64{r.numbers[8], r.numbers[10], r.numbers[11]} {
				onStack(pointer, "native stack\t%d", id)
			}
		case 5:
			for _, offset := range d.within(r) {
				onStack(d.value(r.contents[offset:]), "frame\t%d\t%d", id, r.numbers[1])
			}
		case 7:
			root(r.numbers[1], "finalizer\t%#x closure", r.numbers[0])
			holder := sort.Search(len(all), func(i int) bool { return all[i].numbers[0] > all.find(r.numbers[0]) })
			if all.find(r.numbers[0]) == 0 {
				continue
			}
			object := all[holder-1]
			for _, offset := range d.within(object) {
				root(d.value(object.contents[offset:]), "finalizer\t%#x+%#x", r.numbers[0], offset)
			}
		case 11:
			root(r.numbers[0], "queued finalizer\t%#x+0x0", r.numbers[0])
			root(r.numbers[1], "queued finalizer\t%#x closure", r.numbers[0])
		case 12, 13:
			for _, offset := range d.within(r) {
				root(d.value(r.contents[offset:]), "%s\t%#x",
					map[uint64]string{12: "data", 13: "bss"}[r.tag], r.numbers[0]+offset)
			}
		case 14:
			onStack(r.numbers[4], "local\t%d", id)
		case 15:
			onStack(r.numbers[3], "local\t%d", id)
		}
	}
	// Such a word says nothing of an object that is held anyhow.
	perhaps = true
	for f := frames.next(); f != nil; f = frames.next() {
		listed := make(map[uint64]bool)
		for _, offset := range d.within(f.record) {
			listed[offset] = true
		}
		// Above its variables a frame has the return address and the caller's frame pointer.
		end := len(f.contents) - map[string]int{"386": 4, "amd64": 16, "arm64": 8}[d.arch]
		for _, offset := range d.words(f.record) {
			if !listed[offset] && int(offset) < end {
				onStack(d.value(f.contents[offset:]), "frame\t%d\t%d", f.goroutine, f.numbers[1])
			}
		}
	}
}

func (d *dump) sizes() {
	var bytes int
	all := d.objects()
	for _, r := range all {
		bytes += len(r.contents)
	}
	fmt.Printf("objects\t%d\nbytes\t%d\n", len(all), bytes)
}

func (d *dump) count() {
	var counts [18]int
	for _, r := range d.records {
		counts[r.tag]++
	}
	fmt.Printf("objects\t%d\n", counts[1])
	fmt.Printf("goroutines\t%d\n", counts[4])
}

// What compare counts.
type comparison map[string]int

// An object of the runtime's own list that is none, as its element lies where the span has other things: bits at its
// end, from Go 1.22 on.
func (d *dump) pastEnd(r record) bool {
	const page, marks = 8192, 128
	bits := page/d.word/8 + marks
	size := uint64(len(r.contents))
	return !strings.HasPrefix(d.version, "go1.1") && size <= 512 && r.numbers[0]%page+size > page-bits
}

func (c comparison) objects(own, other *dump) {
	found := map[uint64]record{}
	for _, r := range other.records {
		if r.tag == 1 {
			found[r.numbers[0]] = r
			c["objects"]++
		}
	}
	for _, r := range own.records {
		if r.tag != 1 {
			continue
		}
		o, ok := found[r.numbers[0]]
		delete(found, r.numbers[0])
		switch {
		case !ok && own.pastEnd(r):
			c["past the end of a span"]++
		case !ok:
			c["different objects: missing"]++
		case len(o.contents) != len(r.contents):
			c["different sizes of objects"]++
		default:
			c["pointers"] += len(r.fields)
			if fmt.Sprint(r.fields) != fmt.Sprint(o.fields) {
				c["different pointers of objects"]++
			}
			// The runtime's own, which goes on until the dump is written.
			if !bytes.Equal(r.contents, o.contents) {
				c["rewritten"]++
			}
		}
	}
	c["different objects: more"] += len(found)
}

// All records of the tag, each as a text; but for goroutine 1, and the runtime's own, which may go on.
func (d *dump) texts(tag uint64) map[string]int {
	all := map[string]int{}
	var id uint64
	system := false
	for _, r := range d.records {
		if r.tag == 4 {
			id, system = r.numbers[2], r.numbers[5] != 0
		}
		switch {
		case r.tag != tag || tag >= 4 && tag <= 5 && (id == 1 || system):
		case tag == 3:
			all[fmt.Sprint(r.numbers, string(r.text))]++
		case tag == 5:
			all[fmt.Sprintf("%d %x %s %x", id, r.numbers[:5], r.text, r.contents)]++
		case tag == 10:
			// Alloc, HeapAlloc, HeapInuse, HeapObjects, LastGC, PauseTotalNs, PauseNs, NumGC
			all[fmt.Sprint(r.numbers[0], r.numbers[6], r.numbers[9], r.numbers[11], r.numbers[22:])]++
		default:
			all[fmt.Sprint(r.numbers, string(r.text))]++
		}
	}
	return all
}

// The fields of each frame that lie within it, by goroutine, sp and field; but for those that texts leaves out.
func (d *dump) slots() map[string]bool {
	all := map[string]bool{}
	var id uint64
	system := false
	for _, r := range d.records {
		if r.tag == 4 {
			id, system = r.numbers[2], r.numbers[5] != 0
		}
		if r.tag == 5 && id != 1 && !system {
			for _, field := range d.within(r) {
				all[fmt.Sprintf("%d %x %s+%d", id, r.numbers[0], r.text, field)] = true
			}
		}
	}
	return all
}

// OTHER also has the fields of variables whose address is taken.
func (c comparison) slots(own, other *dump) {
	all, found := own.slots(), other.slots()
	c["fields of frames"] = len(all)
	for slot := range all {
		if !found[slot] {
			c["different fields of frames: "+slot]++
		}
		delete(found, slot)
	}
	c["fields of stack objects"] = len(found)
}

func (c comparison) records(name string, own, other *dump, tag uint64, more bool) {
	all, found := own.texts(tag), other.texts(tag)
	c[name] += len(all)
	for text, count := range all {
		// What the runtime says of a pointer's type that has methods: "os." of *os.File.
		if tag == 3 && strings.HasSuffix(text, ".") {
			continue
		}
		if found[text] != count {
			c["different "+name+": "+text]++
		}
	}
	for text := range found {
		if all[text] == 0 && !more {
			c["different "+name+", more: "+text]++
		}
	}
}

func (c comparison) segments(own, other *dump) {
	// The runtime writes those of one module alone.
	found := map[[2]uint64]record{}
	for _, r := range other.records {
		if r.tag == 12 || r.tag == 13 {
			found[[2]uint64{r.tag, r.numbers[0]}] = r
		}
	}
	for _, r := range own.records {
		if r.tag == 12 || r.tag == 13 {
			o := found[[2]uint64{r.tag, r.numbers[0]}]
			if len(r.contents) != len(o.contents) ||
				fmt.Sprint(r.fields) != fmt.Sprint(o.fields) {
				c["different variables"]++
			}
			c["variables"] += len(r.fields)
			for i := range r.contents {
				if i < len(o.contents) && r.contents[i] != o.contents[i] {
					c["rewritten variables"]++
				}
			}
		}
	}
}

func compare(own, other *dump) {
	c := comparison{}
	c.objects(own, other)
	c.segments(own, other)
	c.records("types", own, other, 3, true)
	c.records("goroutines", own, other, 4, false)
	c.records("frames", own, other, 5, false)
	c.slots(own, other)
	c.records("finalizers", own, other, 7, false)
	c.records("itabs", own, other, 8, false)
	c.records("threads", own, other, 9, false)
	c.records("counters", own, other, 10, false)
	c.records("queued finalizers", own, other, 11, false)
	c.records("defers", own, other, 14, false)
	c.records("panics", own, other, 15, false)
	c.records("profile records", own, other, 16, false)
	c.records("samples", own, other, 17, false)
	var lines []string
	for name, count := range c {
		if count > 0 {
			lines = append(lines, fmt.Sprintf("%s\t%d", name, count))
		}
	}
	sort.Strings(lines)
	for _, line := range lines {
		fmt.Println(line)
	}
}

// A walk from the roots.
type walk struct {
	d       *dump
	objects objects
	reached []bool
	todo    []int
	bytes   uint64
	stacks  []region
	lost    uint64
}

// The object that holds the address.
func (w *walk) find(address uint64) int {
	i := sort.Search(len(w.objects), func(i int) bool { return w.objects[i].numbers[0] > address }) - 1
	if i >= 0 && address-w.objects[i].numbers[0] < uint64(len(w.objects[i].contents)) {
		return i
	}
	return -1
}

// Whether the address is in a goroutine's stack: no object is there.
func (w *walk) onStack(address uint64) bool {
	i := sort.Search(len(w.stacks), func(i int) bool { return w.stacks[i].address > address }) - 1
	return i >= 0 && address-w.stacks[i].address < uint64(len(w.stacks[i].data))
}

func (w *walk) mark(address uint64) bool {
	i := w.find(address)
	if i >= 0 && !w.reached[i] {
		w.reached[i] = true
		w.bytes += uint64(len(w.objects[i].contents))
		w.todo = append(w.todo, i)
	}
	return i >= 0
}

// Prints how many bytes are reached from the roots, how many pointers of what is reached lead nowhere in the heap, and
// how many of those on standard input are in no object that is reached, or have other contents, by their addresses, sizes
// and checksums; and how many larger objects that are reached have no pointers, and do not start with the address of an
// object that points to them.
func (d *dump) reach() {
	w := walk{d: d}
	var start, end uint64
	for _, r := range d.records {
		switch r.tag {
		case 1:
			w.objects = append(w.objects, r)
		case 5:
			w.stacks = append(w.stacks, region{r.numbers[0], r.contents})
		}
	}
	sort.Slice(w.objects, func(i, j int) bool { return w.objects[i].numbers[0] < w.objects[j].numbers[0] })
	sort.Slice(w.stacks, func(i, j int) bool { return w.stacks[i].address < w.stacks[j].address })
	w.reached = make([]bool, len(w.objects))
	told := make([]bool, len(w.objects))
	if n := len(w.objects); n > 0 {
		start, end = w.objects[0].numbers[0], w.objects[n-1].numbers[0]
	}
	for _, r := range d.records {
		switch r.tag {
		case 2:
			w.mark(r.numbers[0])
		case 4, 7, 11, 14, 15:
			for _, number := range r.numbers {
				w.mark(number)
			}
		case 5, 12, 13:
			for _, offset := range d.within(r) {
				w.mark(d.value(r.contents[offset:]))
			}
		}
	}
	for len(w.todo) > 0 {
		r := w.objects[w.todo[len(w.todo)-1]]
		w.todo = w.todo[:len(w.todo)-1]
		for _, offset := range d.within(r) {
			to := d.value(r.contents[offset:])
			if i := w.find(to); i >= 0 && len(w.objects[i].contents) >= 64 && d.value(w.objects[i].contents) == r.numbers[0] {
				told[i] = true
			}
			if !w.mark(to) && to >= start && to <= end && !w.onStack(to) {
				w.lost++
			}
		}
	}
	missing, changed := 0, 0
	list := bufio.NewScanner(os.Stdin)
	for list.Scan() {
		var address, size uint64
		var sum uint32
		_, err := fmt.Sscan(list.Text(), &address, &size, &sum)
		must(err)
		i := w.find(address)
		if i < 0 || !w.reached[i] {
			missing++
			continue
		}
		contents := w.objects[i].contents[address-w.objects[i].numbers[0]:]
		if uint64(len(contents)) < size || crc32.ChecksumIEEE(contents[:size]) != sum {
			changed++
		}
	}
	other := 0
	for i, r := range w.objects {
		if w.reached[i] && !told[i] && len(r.contents) >= 64 && len(d.within(r)) == 0 {
			other++
		}
	}
	fmt.Printf("bytes\t%d\nlost\t%d\nmissing\t%d\nchanged\t%d\nother\t%d\n", w.bytes, w.lost, missing, changed, other)
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func fail(format string, args ...interface{}) {
	fmt.Fprintf(os.Stderr, "dumpfile: "+format+"\n", args...)
	os.Exit(1)
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: dumpfile count | fields | graph | objects | reach | words | prototype DUMP\n"+
		"       dumpfile memory DUMP DIRECTORY | compare OWN OTHER")
	os.Exit(2)
}

func main() {
	if len(os.Args) < 3 || (len(os.Args) == 4) != (os.Args[1] == "memory" || os.Args[1] == "compare") {
		usage()
	}
	d := read(os.Args[2])
	switch os.Args[1] {
	case "compare":
		compare(d, read(os.Args[3]))
	case "count":
		d.count()
	case "reach":
		d.reach()
	case "objects":
		d.sizes()
	case "memory":
		d.memory(os.Args[3])
	case "fields":
		d.frames(d.within)
	case "graph":
		d.graph()
	case "words":
		d.frames(d.words)
	case "prototype":
		d.prototype()
	default:
		usage()
	}
}
