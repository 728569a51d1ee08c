// Callers prints its own stacks of inlined calls: of the functions whose start and end come on standard input,
// a hexadecimal pair a line, the runtime's frames at every pc, innermost first, as rows of start, end, and
// file, line and function of each frame. Pcs in a row with the same stack are one row.
//
// To the runtime a stack's pcs are return addresses, one past what is executing. Its expansion of inlined
// calls leaves out the wrappers that the compiler made.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	_ "unsafe"
)

//go:linkname expand runtime/pprof.runtime_expandFinalInlineFrame
func expand(stack []uintptr) []uintptr

// stackAt returns the frames at pc as columns.
func stackAt(pc uintptr) string {
	stack := ""
	pcs := expand([]uintptr{pc + 1})
	frames := runtime.CallersFrames(pcs)
	for more := len(pcs) > 0; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		stack += fmt.Sprintf("\t%s\t%d\t%s", frame.File, frame.Line, frame.Function)
	}
	return stack
}

// A function's code.
type function struct{ low, high uintptr }

func read() (functions []function) {
	in := bufio.NewReader(os.Stdin)
	for {
		var f function
		if _, err := fmt.Fscanf(in, "0x%x\t0x%x\n", &f.low, &f.high); err != nil {
			return
		}
		functions = append(functions, f)
	}
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	functions := read()
	for i, f := range functions {
		last := f.high
		// A return address past the end is the next function's to the runtime, or nobody's.
		if i+1 == len(functions) || functions[i+1].low == f.high {
			last--
		}
		start, stack := f.low, stackAt(f.low)
		for pc := f.low + 1; pc < last; pc++ {
			if next := stackAt(pc); next != stack {
				fmt.Fprintf(out, "0x%x\t0x%x%s\n", start, pc, stack)
				start, stack = pc, next
			}
		}
		fmt.Fprintf(out, "0x%x\t0x%x%s\n", start, f.high, stack)
	}
}
