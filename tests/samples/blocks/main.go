// Blocks has memory of C's malloc, and prints each block that it has: its address, the size that malloc gives it, and what
// points to it. C code frees others before, of all sizes, on two threads, so that malloc has lists of free blocks of each kind.
// With numbers as arguments it has so many more in a list, and loses so many more of 100,000 bytes, and says nothing of these.
package main

/*
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct node {
	struct node *next;
	long numbers[4];
};

struct session {
	char text[65000];
};

static struct node *list;
struct session *of_c;

static char *text_of(int number)
{
	static char *const texts[] = {"session", "plain", "closure", "global", "of C", "lost"};
	return texts[number];
}

// C memory that nothing points to: the address is kept turned round.
static unsigned long lose(size_t size)
{
	void *block = malloc(size);
	memset(block, 'x', size);
	return ~(unsigned long)block;
}

static void say(unsigned long turned, const char *what)
{
	printf("%lx %zu %s\n", ~turned, malloc_usable_size((void *)~turned), what);
}

static void add_nodes(int count)
{
	for (int i = 0; i < count; i++) {
		struct node *node = calloc(1, sizeof(*node));
		node->next = list;
		list = node;
	}
}

static void say_nodes(void)
{
	for (struct node *node = list; node != NULL; node = node->next)
		printf("%lx %zu node\n", (unsigned long)node, malloc_usable_size(node));
}

// Blocks of all sizes that are free, but for a few, which lie between and are lost.
static void *scatter(void *unused)
{
	enum { COUNT = 4000 };
	static __thread void *blocks[COUNT];
	unsigned seed = 1;
	for (int i = 0; i < COUNT; i++) {
		seed = seed * 1103515245 + 12345;
		blocks[i] = malloc(seed % 3000 + 1);
		memset(blocks[i], 1, malloc_usable_size(blocks[i]));
	}
	flockfile(stdout);
	for (int i = 0; i < COUNT; i++) {
		if (i % 5 != 0)
			free(blocks[i]);
		else
			printf("%lx %zu scattered\n", (unsigned long)blocks[i], malloc_usable_size(blocks[i]));
	}
	funlockfile(stdout);
	memset(blocks, 0, sizeof(blocks));
	return unused;
}

static void *scatter_and_wait(void *unused)
{
	scatter(unused);
	pthread_mutex_t *ready = unused;
	pthread_mutex_unlock(ready);
	for (;;)
		pause();
}

// Blocks at multiples of powers of two, within an arena and with pages of their own; lost.
static void align_all(void)
{
	static const size_t alignments[] = {64, 4096, 1 << 16, 1 << 21};
	static const size_t sizes[] = {100, 50000, 200000, 300000};
	for (int i = 0; i < 16; i++) {
		void *block = NULL;
		if (posix_memalign(&block, alignments[i % 4], sizes[i / 4]) == 0)
			printf("%lx %zu aligned\n", (unsigned long)block, malloc_usable_size(block));
	}
}

static void scatter_all(void)
{
	static pthread_mutex_t ready = PTHREAD_MUTEX_INITIALIZER;
	pthread_t thread;
	scatter(NULL);
	pthread_mutex_lock(&ready);
	pthread_create(&thread, NULL, scatter_and_wait, &ready);
	pthread_mutex_lock(&ready);
}

// The last that malloc is asked for: nothing empties the arena's short lists after that.
static void leave_short_lists(void)
{
	void *blocks[40];
	for (int i = 0; i < 40; i++)
		blocks[i] = malloc(24);
	for (int i = 0; i < 40; i++)
		free(blocks[i]);
}

// What malloc itself says that it has given out, in bytes.
static void say_in_use(void)
{
	printf("in use: %zu\n", mallinfo2().uordblks);
}

// What is printed is in memory of no block until then.
static void keep_output(void)
{
	static char output[1 << 20];
	setvbuf(stdout, output, _IOFBF, sizeof(output));
}

static void flush(void)
{
	fflush(stdout);
}
*/
import "C"

import (
	"fmt"
	"os"
	"strconv"
	"unsafe"
)

// A session of the program's, whose memory is C's.
type session struct {
	id     int
	handle *C.struct_session
}

// One that has it as a number.
type plain struct {
	id     int
	handle uintptr
}

var (
	sessions []*session
	plains   map[int]*plain
	closures []func() int
	number   uintptr
	lost     []C.ulong
)

// say leaves no copy of the address in Go's memory.
func say(block unsafe.Pointer, what *C.char) {
	C.say(^C.ulong(uintptr(block)), what)
}

func count(text string) int {
	number, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return number
}

//go:noinline
func hold(block unsafe.Pointer) func() int {
	return func() int { return int(*(*byte)(block)) }
}

func main() {
	C.keep_output()
	if len(os.Args) != 2 { // with "few" there are few bytes
		C.scatter_all()
		C.align_all()
	}
	for i := 0; i < 50; i++ {
		block := (*C.struct_session)(C.calloc(1, C.sizeof_struct_session))
		sessions = append(sessions, &session{i, block})
		say(unsafe.Pointer(block), C.text_of(0))
	}
	plains = map[int]*plain{}
	for i := 0; i < 20; i++ {
		block := C.calloc(5000, 1)
		plains[i] = &plain{i, uintptr(block)}
		say(block, C.text_of(1))
	}
	for i := 0; i < 10; i++ {
		block := C.calloc(7000, 1)
		closures = append(closures, hold(block))
		say(block, C.text_of(2))
	}
	block := C.calloc(900000, 1)
	number = uintptr(block)
	say(block, C.text_of(3))
	C.add_nodes(300)
	C.say_nodes()
	C.of_c = (*C.struct_session)(C.calloc(1, C.sizeof_struct_session))
	say(unsafe.Pointer(C.of_c), C.text_of(4))
	for i := 0; i < 30; i++ {
		lost = append(lost, C.lose(8000))
		C.say(lost[i], C.text_of(5))
	}
	if len(os.Args) > 2 {
		C.add_nodes(C.int(count(os.Args[1])))
		for i := 0; i < count(os.Args[2]); i++ {
			lost = append(lost, C.lose(100000))
		}
	}
	C.leave_short_lists()
	C.say_in_use()
	C.flush()
	fmt.Println("ready")
	os.Stdin.Read(make([]byte, 1))
	fmt.Println(len(sessions), len(plains), len(closures), number)
}
