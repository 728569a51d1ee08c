//go:build withc

package main

// static int calls;
// static int extra(int round) { calls++; return round % 3; }
import "C"

func extra(round int) int { return int(C.extra(C.int(round))) }
