#include <pthread.h>
#include <unistd.h>

#include "_cgo_export.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void pause_for(int ms)
{
	usleep((useconds_t)ms * 1000);
}

static void *hold_first(void *argument)
{
	pthread_mutex_lock(&first);
	for (;;)
		pause_for(1000000);
	return argument;
}

/* Takes one mutex, and then the other. */
int lock_first_second(void)
{
	pthread_mutex_lock(&first);
	pause_for(200);
	return pthread_mutex_lock(&second);
}

int lock_second_first(void)
{
	pthread_mutex_lock(&second);
	pause_for(200);
	return pthread_mutex_lock(&first);
}

int lock_first(void)
{
	return pthread_mutex_lock(&first);
}

int lock_twice(void)
{
	pthread_mutex_lock(&first);
	return pthread_mutex_lock(&first);
}

/* Takes it, and calls Go. */
int lock_and_call(void)
{
	pthread_mutex_lock(&first);
	pause_for(200);
	lockInGo();
	return pthread_mutex_unlock(&first);
}

int write_and_lock(void)
{
	pthread_rwlock_wrlock(&rwlock);
	pause_for(200);
	return pthread_mutex_lock(&first);
}

int lock_and_read(void)
{
	pthread_mutex_lock(&first);
	pause_for(200);
	return pthread_rwlock_rdlock(&rwlock);
}

int start_holder(void)
{
	pthread_t thread;
	int result = pthread_create(&thread, NULL, hold_first, NULL);
	pause_for(200);
	return result;
}

/* Takes it and lets go of it, a while later. */
int work(void)
{
	pthread_mutex_lock(&first);
	pause_for(1);
	return pthread_mutex_unlock(&first);
}
