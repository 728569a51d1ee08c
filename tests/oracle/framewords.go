// Framewords prints the fields of the stack frames of a heap dump in the 1.7 format: what a debugger
// must show of them. It shares no code with goheap.
//
//	framewords DUMP         goroutine's id, depth, offset from sp and the word there, of each field that
//	                        lies within its frame
//	framewords -all DUMP    the same of each word
//
// Or it writes what the prototype of the format has of such a dump, fields as roots, to standard output:
//
//	framewords -prototype DUMP
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

var in *bufio.Reader

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func number() uint64 {
	n, err := binary.ReadUvarint(in)
	check(err)
	return n
}

func numbers(count int) (all []uint64) {
	for i := 0; i < count; i++ {
		all = append(all, number())
	}
	return all
}

func text() []byte {
	data := make([]byte, number())
	_, err := io.ReadFull(in, data)
	check(err)
	return data
}

// The offsets of a fieldlist.
func fields() (offsets []uint64) {
	for number() != 0 {
		offsets = append(offsets, number())
	}
	return offsets
}

type params struct {
	order binary.ByteOrder
	size  uint64
}

func readParams() (p params) {
	p.order = binary.LittleEndian
	if number() != 0 {
		p.order = binary.BigEndian
	}
	p.size = number()
	numbers(2)
	text()
	text()
	number()
	return p
}

func (p params) word(data []byte) uint64 {
	if p.size == 4 {
		return uint64(p.order.Uint32(data))
	}
	return p.order.Uint64(data)
}

// Writing of the prototype; what is not of it is left out.
var (
	out       = bufio.NewWriter(os.Stdout)
	prototype = os.Args[1] == "-prototype"
)

func put(values ...uint64) {
	for _, value := range values {
		var bytes [binary.MaxVarintLen64]byte
		out.Write(bytes[:binary.PutUvarint(bytes[:], value)])
	}
}

func putText(text []byte) {
	put(uint64(len(text)))
	out.Write(text)
}

// A frame and its fields, or each of its words.
func frame(p params, id uint64, all bool) {
	head := numbers(3)
	contents := text()
	code := numbers(3)
	name := text()
	offsets := fields()
	if prototype {
		put(9, head[0], head[0]+uint64(len(contents)), code[0], code[1])
		putText(name)
	}
	if all {
		offsets = nil
		for offset := uint64(0); offset < uint64(len(contents)); offset += p.size {
			offsets = append(offsets, offset)
		}
	}
	for _, offset := range offsets {
		if offset+p.size > uint64(len(contents)) {
			continue
		}
		word := p.word(contents[offset:])
		if prototype {
			put(4, head[0]+offset, word, head[0])
		} else {
			fmt.Fprintf(out, "%d\t%d\t%#x\t%#x\n", id, head[1], offset, word)
		}
	}
}

func segment(p params) {
	address := number()
	contents := text()
	for _, offset := range fields() {
		if prototype {
			put(5, address+offset, p.word(contents[offset:]))
		}
	}
}

func object() {
	address := number()
	contents := text()
	fields()
	if prototype {
		put(1, address, 0, 127)
		putText(contents)
	}
}

func goroutine() (id uint64) {
	values := numbers(8)
	reason := text()
	numbers(4)
	if prototype {
		put(8)
		put(values...)
		putText(reason)
	}
	return values[2]
}

func main() {
	all := len(os.Args) == 3 && os.Args[1] == "-all"
	data, err := os.ReadFile(os.Args[len(os.Args)-1])
	check(err)
	in = bufio.NewReader(bytes.NewReader(data))
	defer out.Flush()
	_, err = in.ReadString('\n')
	check(err)
	if prototype {
		out.WriteString("go1.3 heap dump\n")
	}
	var p params
	var id uint64
	for {
		switch tag := number(); tag {
		case 0:
			if prototype {
				put(3)
			}
			return
		case 1:
			object()
		case 2:
			text()
			number()
		case 3:
			numbers(2)
			text()
			number()
		case 4:
			id = goroutine()
		case 5:
			frame(p, id, all)
		case 6:
			p = readParams()
			if prototype {
				put(10, 0, p.size, 2*p.size, 0, 0)
			}
		case 7, 11:
			numbers(5)
		case 8:
			numbers(2)
		case 9:
			numbers(3)
		case 10:
			numbers(24 + 256 + 1)
		case 12, 13:
			segment(p)
		case 14:
			numbers(7)
		case 15:
			numbers(6)
		case 16:
			numbers(2)
			for n := number(); n > 0; n-- {
				text()
				text()
				number()
			}
			numbers(2)
		case 17:
			numbers(2)
		default:
			panic(tag)
		}
	}
}
