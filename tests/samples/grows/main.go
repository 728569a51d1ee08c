// Grows does what it is told, a line of its input each: "memory N" keeps N MB more, "goroutines N" starts N that wait, "work"
// takes processor time for a moment. It says when it has.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
)

type session struct{ data [1 << 20]byte }

var sessions []*session

func grow(count int) {
	for i := 0; i < count; i++ {
		s := new(session)
		for k := range s.data {
			s.data[k] = 1
		}
		sessions = append(sessions, s)
	}
}

func wait() { select {} }

func main() {
	runtime.GC()
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var count int
		switch text := lines.Text(); {
		case text == "work":
			for i := 0; i < 1e8; i++ {
				count += i
			}
		case scan(text, "memory %d", &count):
			grow(count)
		case scan(text, "goroutines %d", &count):
			for i := 0; i < count; i++ {
				go wait()
			}
		}
		fmt.Println("done", count != -1)
	}
}

func scan(text, format string, count *int) bool {
	n, _ := fmt.Sscanf(text, format, count)
	return n == 1
}
