#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "lib/trace/internal.h"
#include "lib/util/now.h"
#include "lib/util/process_list.h"

/* A thread's time on a processor is counted up to when it leaves it: se.exec_start in
 * /proc/PID/task/TID/sched of one that is asleep is when it last ran, by a clock of the processor's
 * own (update_curr in kernel/sched/fair.c). What that clock shows now is se.exec_start of a thread
 * that runs there: goheap's own, which moves there for a moment. Signals, and debuggers that stop a
 * thread, wake it: so it may be in its call for longer. */

/* Clocks of processors are read for no longer, in ns. */
#define PATIENCE 100000000

/* Fields of /proc/PID/task/TID/stat. */
enum { STATE = 3, PROCESSOR = 39 };

/* The clocks of the processors, in ns; 0 where they are not known. */
struct clocks {
	uint64_t now[CPU_SETSIZE];
	bool asked[CPU_SETSIZE];
	cpu_set_t own; /* processors that goheap may run on */
	uint64_t start;
};

/* Reads se.exec_start of the thread whose directory in /proc is DIRECTORY, in ns; 0 if it is not
 * there. */
static uint64_t read_start(const char *directory)
{
	char path[96], line[256];
	uint64_t ms = 0, ns = 0;
	snprintf(path, sizeof(path), "%s/sched", directory);
	FILE *file = fopen(path, "re");
	if (file == NULL)
		return 0;
	while (fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "se.exec_start : %" SCNu64 ".%6" SCNu64, &ms, &ns) == 2)
			break;
	fclose(file);
	return ms * 1000000 + ns;
}

/* Reads the state of the thread, a letter of the kernel's, and the processor on which it last ran.
 * Source: /proc/pid/stat in `man 5 proc'. */
static bool read_place(const char *directory, char *state, unsigned *processor)
{
	char path[96], text[1024];
	snprintf(path, sizeof(path), "%s/stat", directory);
	gh_proc_read(text, sizeof(text), path);
	const char *letter = gh_proc_stat_field(text, STATE);
	const char *number = gh_proc_stat_field(text, PROCESSOR);
	return letter != NULL && number != NULL && sscanf(letter, "%c", state) == 1 &&
	       sscanf(number, "%u", processor) == 1;
}

/* The clock of PROCESSOR; 0 if it is not known. */
static uint64_t clock_of(struct clocks *clocks, unsigned processor)
{
	cpu_set_t one;
	if (processor >= CPU_SETSIZE || !CPU_ISSET(processor, &clocks->own))
		return 0;
	if (clocks->asked[processor])
		return clocks->now[processor];
	clocks->asked[processor] = true;
	CPU_ZERO(&one);
	CPU_SET(processor, &one);
	if (gh_now() - clocks->start < PATIENCE && sched_setaffinity(0, sizeof(one), &one) == 0) {
		clocks->now[processor] = read_start("/proc/thread-self");
		sched_setaffinity(0, sizeof(clocks->own), &clocks->own);
	}
	return clocks->now[processor];
}

void gh_sleeps_read(struct gh_system_calls *calls, int pid)
{
	struct clocks clocks = {.start = gh_now()};
	if (sched_getaffinity(0, sizeof(clocks.own), &clocks.own) != 0)
		return;
	for (size_t i = 0; i < calls->count; i++) {
		char directory[64], state, after;
		unsigned processor, then;
		snprintf(directory, sizeof(directory), "/proc/%d/task/%d", pid,
			 calls->items[i].thread);
		if (!read_place(directory, &state, &processor) || (state != 'S' && state != 'D'))
			continue;
		uint64_t now = clock_of(&clocks, processor);
		uint64_t start = read_start(directory);
		/* It has not run meanwhile, on another processor with another clock. */
		if (read_place(directory, &after, &then) && after == state && then == processor &&
		    start != 0 && now > start)
			calls->items[i].asleep = now - start;
	}
}
