#include "lib/util/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* Numbers to be worked on. */
struct job {
	void (*work)(void *context, uint32_t number);
	void *context;
	uint32_t count;
	atomic_uint_fast64_t next; /* the lowest that is not taken yet */
};

unsigned gh_parallel_width(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	if (processors < 1)
		return 1;
	return processors < GH_PARALLEL_MAX ? (unsigned)processors : GH_PARALLEL_MAX;
}

static void *run(void *arg)
{
	struct job *job = arg;
	uint64_t number;
	while ((number = atomic_fetch_add(&job->next, 1)) < job->count)
		job->work(job->context, (uint32_t)number);
	return NULL;
}

/* Starts a thread that leaves the process's signals to the others, but for those of its own faults:
 * the kernel ends the process without a word where these are blocked. */
static bool start(pthread_t *thread, struct job *job)
{
	static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
	sigset_t others, before;
	sigfillset(&others);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&others, faults[i]);
	pthread_sigmask(SIG_SETMASK, &others, &before);
	bool ok = pthread_create(thread, NULL, run, job) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return ok;
}

void gh_parallel(uint32_t count, void (*work)(void *context, uint32_t number), void *context)
{
	struct job job = {.work = work, .context = context, .count = count};
	pthread_t threads[GH_PARALLEL_MAX];
	unsigned started = 0;
	while (started + 1 < gh_parallel_width() && started + 1 < count &&
	       start(&threads[started], &job))
		started++;
	run(&job);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

/* What is worked on before the number that is next is taken, for each thread: what is done and not
 * taken yet takes memory. */
#define AHEAD 4

/* Numbers whose results are taken in order. */
struct ordered {
	void (*work)(void *context, uint32_t number);
	void (*take)(void *context, uint32_t number);
	void *context;
	uint32_t count;
	uint32_t ahead;       /* how many numbers are worked on, or done and not taken, at most */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t taken; /* next has changed */
	bool *done;           /* by number: it was worked on; owned */
	uint32_t next;        /* the lowest that is not taken yet */
	bool taking;          /* a thread takes numbers, and will go on as long as there are any */
};

/* Whoever has done the number that is next takes it, and what others have done after it. */
static void work_ordered(void *context, uint32_t number)
{
	struct ordered *ordered = context;
	pthread_mutex_lock(&ordered->lock);
	while (number - ordered->next >= ordered->ahead)
		pthread_cond_wait(&ordered->taken, &ordered->lock);
	pthread_mutex_unlock(&ordered->lock);
	ordered->work(ordered->context, number);
	pthread_mutex_lock(&ordered->lock);
	ordered->done[number] = true;
	bool take = !ordered->taking;
	while (take && ordered->next < ordered->count && ordered->done[ordered->next]) {
		uint32_t next = ordered->next;
		ordered->taking = true;
		pthread_mutex_unlock(&ordered->lock);
		ordered->take(ordered->context, next);
		pthread_mutex_lock(&ordered->lock);
		ordered->taking = false;
		ordered->next++;
		pthread_cond_broadcast(&ordered->taken);
	}
	pthread_mutex_unlock(&ordered->lock);
}

bool gh_parallel_ordered(uint32_t count, void (*work)(void *context, uint32_t number),
			 void (*take)(void *context, uint32_t number), void *context)
{
	struct ordered ordered = {
	    .work = work,
	    .take = take,
	    .context = context,
	    .count = count,
	    .ahead = AHEAD * gh_parallel_width(),
	    .lock = PTHREAD_MUTEX_INITIALIZER,
	    .taken = PTHREAD_COND_INITIALIZER,
	    .done = calloc((size_t)count + 1, sizeof(*ordered.done)),
	};
	if (ordered.done == NULL)
		return false;
	gh_parallel(count, work_ordered, &ordered);
	free(ordered.done);
	return true;
}
