//go:build cgo
// +build cgo

package main

/*
#include <stdlib.h>
#include <string.h>

static void use(size_t size)
{
	for (size_t i = 0; i < size / 1000; i++)
		memset(malloc(1000), 1, 1000);
}
*/
import "C"

// useC has C's malloc give so many bytes, in small pieces.
func useC(size int) {
	C.use(C.size_t(size))
}
