#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "_cgo_export.h"

/* Each frame of a chain must stay one, whatever the C compiler's options. */
#define FRAME __attribute__((noinline, noclone))

#ifdef __aarch64__
/* The return addresses that it saves are signed, as those of distributions' libraries are. */
#pragma GCC target("branch-protection=standard")
#endif

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t cond_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_t sleeper;

/* Waits for ever. */
FRAME static int wait_forever(void)
{
	int ends[2];
	char byte;
	volatile int result;

	if (pipe(ends))
		return 1;
	result = (int)read(ends[0], &byte, 1);
	return result + 1;
}

FRAME int in_read(void)
{
	volatile int result = wait_forever();
	return result + 1;
}

FRAME int hold_mutex(void)
{
	pthread_mutex_lock(&mutex);
	volatile int result = wait_forever();
	pthread_mutex_unlock(&mutex);
	return result;
}

FRAME static int lock_deeper(void)
{
	volatile int result = pthread_mutex_lock(&mutex);
	return result + 1;
}

FRAME int in_mutex(void)
{
	volatile int result = lock_deeper();
	return result + 1;
}

FRAME int hold_rwlock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	volatile int result = wait_forever();
	pthread_rwlock_unlock(&rwlock);
	return result;
}

FRAME int in_rdlock(void)
{
	volatile int result = pthread_rwlock_rdlock(&rwlock);
	return result + 1;
}

FRAME int in_cond(void)
{
	pthread_mutex_lock(&cond_mutex);
	volatile int result = pthread_cond_wait(&cond, &cond_mutex);
	return result + 1;
}

FRAME int in_semaphore(void)
{
	sem_init(&semaphore, 0, 0);
	volatile int result = sem_wait(&semaphore);
	return result + 1;
}

static void *sleep_forever(void *argument)
{
	wait_forever();
	return argument;
}

FRAME int in_join(void)
{
	pthread_create(&sleeper, NULL, sleep_forever, NULL);
	volatile int result = pthread_join(sleeper, NULL);
	return result + 1;
}

/* Its call frame information lies while it waits: by that it has no frame, and called itself. */
FRAME int in_lie(void)
{
	volatile int result;
	__asm__ volatile(".cfi_remember_state\n.cfi_def_cfa_offset 0");
	result = wait_forever();
	__asm__ volatile(".cfi_restore_state");
	return result + 1;
}

/* On a processor, in code that calls nothing. */
FRAME int in_loop(void)
{
	static volatile int stop;
	while (!stop)
		;
	return stop;
}

/* Prints where those return to that called this: by the C compiler's own unwinder. */
FRAME static void print_callers(int n)
{
	void *callers[16];
	int count = backtrace(callers, 16);
	for (int i = 2; i < count; i++)
		printf("%s%p", i > 2 ? " " : n == 0 ? "inner " : "outer ", callers[i]);
	printf("\n");
	fflush(stdout);
}

FRAME static int further_down(int n)
{
	print_callers(n);
	volatile int result = upAgain(n);
	return result + 1;
}

FRAME int down(int n)
{
	volatile int result = further_down(n);
	return result + 1;
}

static void *call_go(void *argument)
{
	fromThread();
	return argument;
}

/* Has a thread of C's call Go. */
FRAME int start_thread_of_c(void)
{
	pthread_t thread;
	return pthread_create(&thread, NULL, call_go, NULL);
}
