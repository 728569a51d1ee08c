#include <pthread.h>
#include <semaphore.h>
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

static void *lock_second_then_first(void *argument)
{
	pthread_mutex_lock(&second);
	pause_for(200);
	pthread_mutex_lock(&first);
	return argument;
}

/* Has a thread of C's stand between itself and itself. */
int lock_between(void)
{
	pthread_t thread;
	pthread_mutex_lock(&first);
	pthread_create(&thread, NULL, lock_second_then_first, NULL);
	pause_for(100);
	return pthread_mutex_lock(&second);
}

static void *call_go(void *argument)
{
	lockInGo();
	return argument;
}

static void *take_first(void *argument)
{
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	return argument;
}

static int join_a_thread(void *(*run)(void *))
{
	pthread_t thread;
	return pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL);
}

int join_go(void)
{
	return join_a_thread(call_go);
}

int join_c(void)
{
	pthread_mutex_lock(&first);
	return join_a_thread(take_first);
}

static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;

int wait_cond(void)
{
	pthread_mutex_lock(&first);
	return pthread_cond_wait(&cond, &first);
}

int signal_cond(void)
{
	return pthread_cond_signal(&cond);
}

int wait_sem(void)
{
	return sem_wait(&semaphore);
}

int post_sem(void)
{
	return sem_post(&semaphore);
}

/* Takes a mutex and an rwlock, has another thread do so, and lets go of them, a while later. */
int work(void)
{
	pthread_mutex_lock(&first);
	pthread_rwlock_rdlock(&rwlock);
	pause_for(1);
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&first);
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
	return join_a_thread(take_first);
}
