// Churn allocates and drops objects of every size in several goroutines, with a collection at every tenth of growth, beside
// a heap that stays.
//
//	churn LIST    write the addresses of objects that stay to LIST, one a line, with their sizes and checksums, and print
//	              "ready"; then, for each line of the input, what is in use after a forced collection, while nothing is
//	              allocated
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"unsafe"
)

// Node is of a tree.
type Node struct {
	left, right *Node
	name        string
	value       interface{}
	data        []byte
}

// Block is larger than objects that have their pointers beside them.
type Block struct {
	nodes [100]*Node
	text  [80]string
}

var (
	kept    []interface{}
	running sync.RWMutex
	list    *bufio.Writer
)

func note(address unsafe.Pointer, size uintptr) {
	contents := (*[1 << 30]byte)(address)[:size:size]
	fmt.Fprintf(list, "%#x %d %d\n", uintptr(address), size, crc32.ChecksumIEEE(contents))
}

// scribble gives data what no other has.
func scribble(data []byte) {
	seed := uint32(uintptr(unsafe.Pointer(&data[0])) >> 3)
	for i := range data {
		seed = seed*1664525 + 1013904223
		data[i] = byte(seed >> 24)
	}
}

// fill gives n data, which starts with the address of n, so that it can be told from what was there before.
func (n *Node) fill(size int) *Node {
	n.data = make([]byte, size)
	if size >= 8 {
		binary.LittleEndian.PutUint64(n.data, uint64(uintptr(unsafe.Pointer(n))))
	}
	return n
}

func tree(depth, size int) *Node {
	if depth == 0 {
		return nil
	}
	n := (&Node{tree(depth-1, size), tree(depth-1, size), fmt.Sprint("node ", size), depth * 1000, nil}).fill(size)
	scribble(n.data[8:size:size])
	note(unsafe.Pointer(n), unsafe.Sizeof(*n))
	note(unsafe.Pointer(&n.data[0]), uintptr(size))
	return n
}

func keep() {
	for size := 16; size < 2000; size += size/3 + 1 {
		kept = append(kept, tree(8, size))
	}
	for i := 0; i < 100; i++ {
		b := &Block{}
		for k := range b.nodes {
			b.nodes[k] = tree(1, 24)
		}
		note(unsafe.Pointer(b), unsafe.Sizeof(*b))
		kept = append(kept, b)
	}
	for i := 0; i < 20; i++ {
		large := make([]byte, 1<<20)
		scribble(large)
		note(unsafe.Pointer(&large[0]), uintptr(len(large)))
		kept = append(kept, large)
	}
	m := map[string]*Node{}
	for i := 0; i < 5000; i++ {
		n := tree(1, 12)
		m[fmt.Sprint("key ", i)] = n
	}
	big := make([]*Node, 100000)
	for i := range big {
		big[i] = m["key 7"]
	}
	note(unsafe.Pointer(&big[0]), uintptr(len(big))*unsafe.Sizeof(big[0]))
	kept = append(kept, m, big)
}

// A few of what one goroutine has made, and nothing for long.
func churn(seed uint32) {
	var slots [50]*Node
	var blocks [3]*Block
	for {
		running.RLock()
		for i := 0; i < 2000; i++ {
			seed = seed*1664525 + 1013904223
			random := seed >> 8
			n := (&Node{left: slots[random%50], value: random, name: fmt.Sprint(random)}).fill(int(random % 700))
			if n.left != nil && n.left.left != nil {
				n.left.left = nil
			}
			slots[random>>8%50] = n
			if random%64 == 0 {
				b := &Block{}
				b.nodes[random%100] = n
				blocks[random>>6%3] = b
			}
			if random%512 == 0 {
				slots[0] = (&Node{value: make([]*Node, random%5000)}).fill(int(random % 40000))
			}
		}
		running.RUnlock()
		runtime.Gosched()
	}
}

func main() {
	file, err := os.Create(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	list = bufio.NewWriter(file)
	debug.SetGCPercent(10)
	runtime.GOMAXPROCS(4)
	keep()
	list.Flush()
	file.Close()
	for i := uint32(1); i <= 4; i++ {
		go churn(i)
	}
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		var stats runtime.MemStats
		running.Lock()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		fmt.Println(stats.HeapAlloc)
		running.Unlock()
	}
	runtime.KeepAlive(kept)
}
