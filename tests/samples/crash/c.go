//go:build cgo
// +build cgo

package main

// void spin_in_c(void);
// void abort_in_c(void);
// void fault_on_thread(void);
// void *fault_in_c(void *unused);
// #cgo LDFLAGS: -lpthread
import "C"

import "fmt"

//go:noinline
func inC(n int, mode string) int {
	fmt.Println("ready")
	if mode == "cabort" {
		C.abort_in_c()
	}
	if mode == "cfault" {
		C.fault_in_c(nil)
	}
	if mode == "cthread" {
		C.fault_on_thread()
	}
	C.spin_in_c()
	return n
}
