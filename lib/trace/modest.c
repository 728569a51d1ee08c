#include "lib/trace/trace.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The nice value: a tenth of a processor where another thread wants it, too, all of it else. */
#define NICE 10

/* A thread's class and level for a disk (ioprio_set(2)), as the linux/ioprio.h of older systems
 * lacks them: the last of those that are not left waiting for ever. */
#define WHO_THREAD  1
#define BEST_EFFORT 2
#define LAST_LEVEL  7

void gh_be_first_to_go(bool first)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "we");
	if (file == NULL)
		return;
	fputs(first ? "1000" : "0", file);
	fclose(file);
}

void gh_be_last_in_turn(void)
{
	errno = 0;
	int now = getpriority(PRIO_PROCESS, 0);
	if (errno == 0 && now < NICE)
		setpriority(PRIO_PROCESS, 0, NICE);
	syscall(SYS_ioprio_set, WHO_THREAD, 0, BEST_EFFORT << 13 | LAST_LEVEL);
}

struct job {
	void (*work)(void *context);
	void *context;
};

static void *run(void *argument)
{
	const struct job *job = argument;
	gh_be_last_in_turn();
	job->work(job->context);
	return NULL;
}

void gh_work_last_in_turn(void (*work)(void *context), void *context)
{
	struct job job = {work, context};
	pthread_t thread;
	if (pthread_create(&thread, NULL, run, &job) == 0)
		pthread_join(thread, NULL);
	else
		work(context);
}
