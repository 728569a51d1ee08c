// Package frames prints what the samples' tests compare a debugger's backtraces with.
package frames

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// Report prints the stack from its caller on, innermost frame first, twice: as `frame` rows, those
// that have a stack frame of their own, each at the line of its own code; and as `logical` rows, with the
// inlined calls expanded.
//
//go:noinline
func Report(point string, n int) int {
	pcs := make([]uintptr, 64)
	pcs = pcs[:runtime.Callers(2, pcs)]
	var physical, logical string
	frames := runtime.CallersFrames(pcs)
	for {
		frame, more := frames.Next()
		row := fmt.Sprintf("\t%s\t%s\t%d\n", frame.Function, frame.File, frame.Line)
		logical += "logical" + row
		// Documented: an inlined call has no Func.
		if frame.Func != nil {
			physical += "frame" + row
		}
		if !more {
			break
		}
	}
	os.Stdout.WriteString("at\t" + point + "\n" + physical + logical)
	return n
}

// Ready tells the test that the program is where it is to be looked at.
func Ready() {
	// An orphan must not outlive for long the test that forgot it.
	time.AfterFunc(10*time.Minute, func() { os.Exit(3) })
	os.Stdout.WriteString("ready\n")
}
