// Dumpfile reads heap dumps of Go 1.7 and later, for tests: it shares no code with goheap.
//
//	dumpfile count DUMP              how many objects and goroutines, "KIND<tab>NUMBER" a line
//	dumpfile memory DUMP DIRECTORY   make in DIRECTORY memory.gdb, by which GDB appends all that the
//	                                 dump has of memory to memory.found, and prints some words;
//	                                 memory.expected, what it appends; and words.expected, what
//	                                 it prints, "ADDRESS<tab>WORD<tab>WORD" a line
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io/ioutil"
	"os"
	"path/filepath"
	"sort"
)

// Every such region has its first words printed.
const sampled = 25

type region struct {
	address uint64
	data    []byte
}

type dump struct {
	rest    []byte
	order   binary.ByteOrder
	word    int
	counts  [18]int  // of records, by tag
	regions []region // of objects, frames and segments, by address
}

func (d *dump) number() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		fail("a number is cut off")
	}
	d.rest = d.rest[size:]
	return n
}

func (d *dump) numbers(count int) {
	for i := 0; i < count; i++ {
		d.number()
	}
}

func (d *dump) bytes() []byte {
	size := d.number()
	data := d.rest[:size]
	d.rest = d.rest[size:]
	return data
}

func (d *dump) fields() {
	for d.number() != 0 {
		d.number()
	}
}

func (d *dump) region(address uint64) {
	d.regions = append(d.regions, region{address, d.bytes()})
}

func (d *dump) params() {
	d.order = binary.LittleEndian
	if d.number() != 0 {
		d.order = binary.BigEndian
	}
	d.word = int(d.number())
	d.numbers(2)
	d.bytes()
	d.bytes()
	d.number()
}

func (d *dump) record(tag uint64) {
	switch tag {
	case 1: // object
		d.region(d.number())
		d.fields()
	case 2: // other root
		d.bytes()
		d.number()
	case 3: // type
		d.numbers(2)
		d.bytes()
		d.number()
	case 4: // goroutine
		d.numbers(8)
		d.bytes()
		d.numbers(4)
	case 5: // stack frame
		sp := d.number()
		d.numbers(2)
		d.region(sp)
		d.numbers(3)
		d.bytes()
		d.fields()
	case 6:
		d.params()
	case 7, 11: // finalizers
		d.numbers(5)
	case 8: // itab
		d.numbers(2)
	case 9: // thread
		d.numbers(3)
	case 10: // memstats
		d.numbers(24 + 256 + 1)
	case 12, 13: // data, bss
		d.region(d.number())
		d.fields()
	case 14: // defer
		d.numbers(7)
	case 15: // panic
		d.numbers(6)
	case 16: // profile
		d.numbers(2)
		for n := d.number(); n > 0; n-- {
			d.bytes()
			d.bytes()
			d.number()
		}
		d.numbers(2)
	case 17: // sample
		d.numbers(2)
	default:
		fail("unknown record %d", tag)
	}
	d.counts[tag]++
}

func read(path string) *dump {
	data, err := ioutil.ReadFile(path)
	must(err)
	line := []byte("go1.7 heap dump\n")
	if !bytes.HasPrefix(data, line) {
		fail("%s is no heap dump", path)
	}
	d := &dump{rest: data[len(line):]}
	for tag := d.number(); tag != 0; tag = d.number() {
		d.record(tag)
	}
	sort.SliceStable(d.regions, func(i, j int) bool {
		return d.regions[i].address < d.regions[j].address
	})
	return d
}

func (d *dump) value(data []byte) uint64 {
	if d.word == 4 {
		return uint64(d.order.Uint32(data))
	}
	return d.order.Uint64(data)
}

// Regions that touch make one command: GDB takes long for each.
func (d *dump) memory(directory string) {
	var script, words bytes.Buffer
	var expected []byte
	found := filepath.Join(directory, "memory.found")
	size := map[int]string{4: "w", 8: "g"}[d.word]
	for i := 0; i < len(d.regions); {
		start := d.regions[i].address
		end := start
		for ; i < len(d.regions) && d.regions[i].address == end; i++ {
			expected = append(expected, d.regions[i].data...)
			end += uint64(len(d.regions[i].data))
		}
		if i < len(d.regions) && d.regions[i].address < end {
			fail("regions overlap at %#x", d.regions[i].address)
		}
		if end > start {
			fmt.Fprintf(&script, "append binary memory %s %#x %#x\n", found, start, end)
		}
	}
	for i := 0; i < len(d.regions); i += sampled {
		r := d.regions[i]
		if len(r.data) < 2*d.word {
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
		must(ioutil.WriteFile(filepath.Join(directory, name), data, 0666))
	}
}

func (d *dump) count() {
	fmt.Printf("objects\t%d\n", d.counts[1])
	fmt.Printf("goroutines\t%d\n", d.counts[4])
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

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "count":
		read(os.Args[2]).count()
	case len(os.Args) == 4 && os.Args[1] == "memory":
		read(os.Args[2]).memory(os.Args[3])
	default:
		fmt.Fprintln(os.Stderr, "usage: dumpfile count DUMP | dumpfile memory DUMP DIRECTORY")
		os.Exit(2)
	}
}
