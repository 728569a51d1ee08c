#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "_cgo_export.h"

/* Each frame of a chain must stay one, whatever the C compiler's options. */
#define FRAME __attribute__((noinline, noclone))

int down(int n);
int crash(int *where);
int measure(const char *where);
int measure_by_go(void);
void wait_here(void);
int waits(void);
void start_threads(void);

FRAME static int further_down(int n)
{
	volatile int result = upAgain(n);
	return result + 1;
}

FRAME int down(int n)
{
	volatile int result = further_down(n);
	return result + 1;
}

FRAME static int crash_here(int *where)
{
	volatile int result = *where;
	return result + 1;
}

FRAME int crash(int *where)
{
	volatile int result = crash_here(where);
	return result + 1;
}

/* What calls before it have left on the stack stays in its room. */
FRAME int measure(const char *where)
{
	char room[8192];
	__asm__ volatile("" : : "r"(room) : "memory");
	volatile int result = (int)strlen(where);
	return result + 1;
}

FRAME int measure_by_go(void)
{
	volatile int result = measureAgain();
	return result + 1;
}

static volatile int waiting;

FRAME void wait_here(void)
{
	waiting = 1;
	for (;;)
		pause();
}

int waits(void)
{
	return waiting;
}

static void *call_go(void *none)
{
	waitInC();
	return none;
}

static void *call_nothing(void *none)
{
	for (;;)
		pause();
	return none;
}

static void start(void *(*run)(void *), char *stack, size_t size)
{
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stack, size);
	pthread_create(&thread, &attributes, run, NULL);
	pthread_attr_destroy(&attributes);
}

/* Starts two threads. The stack of the one that calls Go begins where the other's ends. */
void start_threads(void)
{
	enum { SIZE = 128 << 10 };
	static char stacks[2][SIZE] __attribute__((aligned(4096)));
	start(call_nothing, stacks[0], SIZE);
	start(call_go, stacks[1], SIZE);
}

/* A program that has more unwind information than the C compiler's own library has. */
#define ONE(n)                                                                                     \
	FRAME int number_##n(void)                                                                 \
	{                                                                                          \
		return n;                                                                          \
	}
#define FOUR(n)    ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3)
#define SIXTEEN(n) FOUR(n##0) FOUR(n##1) FOUR(n##2) FOUR(n##3)
SIXTEEN(1) SIXTEEN(2) SIXTEEN(3) SIXTEEN(4)
