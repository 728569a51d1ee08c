package main

/*
int descend(int n);
*/
import "C"

// Nest calls C, which calls it with 7 less, until that is 0.
//
//export Nest
func Nest(n C.int) C.int {
	return C.descend(n-7) + 1
}
