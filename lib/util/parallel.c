#include "lib/util/parallel.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
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

/* Starts a thread that leaves the process's signals to the others. */
static bool start(pthread_t *thread, struct job *job)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
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
