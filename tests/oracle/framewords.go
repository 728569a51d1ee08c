// Framewords prints the fields of the stack frames of a heap dump in the 1.7 format: what a debugger
// must show of them. It shares no code with goheap.
//
//	framewords DUMP         goroutine's id, depth, offset from sp and the word there, of each field that
//	                        lies within its frame
//	framewords -all DUMP    the same of each word
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

func main() {
	all := len(os.Args) == 3 && os.Args[1] == "-all"
	data, err := os.ReadFile(os.Args[len(os.Args)-1])
	check(err)
	in = bufio.NewReader(bytes.NewReader(data))
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	_, err = in.ReadString('\n')
	check(err)
	var p params
	var id uint64
	for {
		switch tag := number(); tag {
		case 0:
			return
		case 1:
			number()
			text()
			fields()
		case 2:
			text()
			number()
		case 3:
			numbers(2)
			text()
			number()
		case 4:
			id = numbers(8)[2]
			text()
			numbers(4)
		case 5:
			depth := numbers(3)[1]
			contents := text()
			numbers(3)
			text()
			offsets := fields()
			if all {
				offsets = nil
				for offset := uint64(0); offset < uint64(len(contents)); offset += p.size {
					offsets = append(offsets, offset)
				}
			}
			for _, offset := range offsets {
				if offset+p.size <= uint64(len(contents)) {
					fmt.Fprintf(out, "%d\t%d\t%#x\t%#x\n", id, depth, offset, p.word(contents[offset:]))
				}
			}
		case 6:
			p = readParams()
		case 7, 11:
			numbers(5)
		case 8:
			numbers(2)
		case 9:
			numbers(3)
		case 10:
			numbers(24 + 256 + 1)
		case 12, 13:
			number()
			text()
			fields()
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
