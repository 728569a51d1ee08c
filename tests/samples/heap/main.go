// Heap fills its heap with what programs have there: many small objects that point to each other, strings,
// tables and buffers; and writes a heap dump.
//
//	heap MEBIBYTES DUMP    fill that much, and write the dump to DUMP
//	heap MEBIBYTES         fill that much, print "waiting", and end when standard input does
package main

import (
	"fmt"
	"io"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// Node is an object of 80 bytes.
type Node struct {
	left, right *Node
	key         string
	value       interface{}
	count       int
	payload     []byte
}

// Pair is an object of 16 bytes.
type Pair struct {
	node *Node
	next *Pair
}

// Record is an object of 512 bytes.
type Record struct {
	nodes   [16]*Node
	pairs   *Pair
	numbers [47]int
}

var (
	root    *Node
	pairs   *Pair
	records []*Record
	index   = map[string]*Node{}
	random  = rand.New(rand.NewSource(1))
)

func insert(node **Node, key string) *Node {
	for *node != nil {
		(*node).count++
		if key < (*node).key {
			node = &(*node).left
		} else {
			node = &(*node).right
		}
	}
	*node = &Node{key: key}
	return *node
}

// grow makes the objects that belong to one key; some 1,000 bytes.
func grow(i int) {
	key := strconv.Itoa(random.Int())
	node := insert(&root, key)
	node.payload = make([]byte, random.Intn(256))
	node.value = random.Int()
	random.Read(node.payload)
	for j := 0; j < 4; j++ {
		pairs = &Pair{node, pairs}
	}
	if i%2 == 0 {
		index[key] = node
	}
	if i%4 == 0 {
		record := &Record{pairs: pairs}
		for j := range record.nodes {
			record.nodes[j] = node
		}
		records = append(records, record)
	}
	if i%200 == 0 {
		node.payload = make([]byte, random.Intn(1<<17))
		random.Read(node.payload)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	if len(os.Args) != 2 && len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: heap MEBIBYTES [DUMP]")
		os.Exit(2)
	}
	mebibytes, err := strconv.Atoi(os.Args[1])
	must(err)
	fill(mebibytes)
	debug.SetGCPercent(-1)
	runtime.GC()
	if len(os.Args) == 3 {
		dump, err := os.Create(os.Args[2])
		must(err)
		debug.WriteHeapDump(dump.Fd())
		must(dump.Close())
	} else {
		fmt.Println("waiting")
		io.Copy(io.Discard, os.Stdin)
	}
	runtime.KeepAlive(index)
}

func fill(mebibytes int) {
	var stats runtime.MemStats
	for i := 0; stats.HeapAlloc < uint64(mebibytes)<<20; i++ {
		if i%10000 == 0 {
			runtime.ReadMemStats(&stats)
		}
		grow(i)
	}
}
