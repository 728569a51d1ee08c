// Labels has goroutines with labels of runtime/pprof. It prints the profile of its goroutines, which tells
// them, then "ready", and waits until its input ends.
package main

import (
	"context"
	"fmt"
	"io/ioutil"
	"os"
	"runtime/pprof"
	"sync"
)

var (
	waiting sync.WaitGroup
	ever    = make(chan int)
)

func main() {
	work(pprof.Labels("kind", "reader"))
	work(pprof.Labels("kind", "reader"))
	work(pprof.Labels("kind", "writer", "path", "/var/log"))
	work(pprof.Labels("with space", "and \"quotes\"", "empty", ""))
	var many []string
	for i := 0; i < 20; i++ {
		many = append(many, fmt.Sprintf("key%02d", i), fmt.Sprint(i*i))
	}
	work(pprof.Labels(many...))
	pprof.Do(context.Background(), pprof.Labels("outer", "1"), func(ctx context.Context) {
		pprof.Do(ctx, pprof.Labels("inner", "2"), func(context.Context) {
			waiting.Add(1)
			go wait()
		})
	})
	waiting.Add(1)
	go wait()
	waiting.Wait()
	if err := pprof.Lookup("goroutine").WriteTo(os.Stdout, 1); err != nil {
		panic(err)
	}
	fmt.Println("ready")
	ioutil.ReadAll(os.Stdin)
}

// work starts a goroutine with these labels.
func work(labels pprof.LabelSet) {
	waiting.Add(1)
	go pprof.Do(context.Background(), labels, func(context.Context) { wait() })
}

//go:noinline
func wait() {
	waiting.Done()
	<-ever
}
