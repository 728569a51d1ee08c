/* Findings about the threads and file descriptors of a process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/trace/trace.h"
#include "lib/util/number_file.h"
#include "plugin/command/wait_query.h"
#include "plugin/findings/findings.h"
#include "plugin/gdb/gdb.h"
#include "plugin/hang/hang.h"

/* Go has one for each processor that it uses, and for each call that blocks. */
#define MANY_THREADS 256

/* So many of a hundred descriptors are nearly all. */
#define NEARLY_ALL 95

/* A thread that waits for a disk is in the kernel, too, but not for so long, in ns. */
#define STUCK_LEAST UINT64_C(1000000000)

/* Adds that it is stopped. Whoever asks in GDB knows that GDB has stopped it. */
static void find_stopped(struct gh_diagnosis *diagnosis)
{
	const struct gh_thread_states *threads = &diagnosis->threads;
	char path[64];
	uint64_t tracer = 0;
	if (threads->stopped == 0 && (threads->traced == 0 || getenv(GH_SESSION_VARIABLE) != NULL))
		return;
	FILE *out = gh_finding_begin(diagnosis, GH_FINDING_STOPPED, threads->stopped);
	if (out == NULL)
		return;
	if (threads->stopped > 0) {
		fprintf(out, "A signal has stopped the process: it goes on after kill -CONT %d",
			diagnosis->pid);
	} else {
		snprintf(path, sizeof(path), "/proc/%d/status", diagnosis->pid);
		gh_number_file_read(path, "TracerPid:", &tracer);
		fprintf(out, "A debugger has stopped the process: process %" PRIu64, tracer);
	}
	gh_finding_end(diagnosis, NULL);
}

/* Adds a thread that is in the kernel, where no signal reaches it, and stays there. */
static void find_stuck(struct gh_diagnosis *diagnosis)
{
	const struct gh_thread_states *threads = &diagnosis->threads;
	uint64_t switches = UINT64_MAX;
	const struct timespec wait = {STUCK_LEAST / 1000000000, 0};
	if (threads->stuck == 0)
		return;
	gh_thread_is_stuck(diagnosis->pid, threads->first_stuck, &switches);
	if (switches == UINT64_MAX || nanosleep(&wait, NULL) != 0 ||
	    !gh_thread_is_stuck(diagnosis->pid, threads->first_stuck, &switches))
		return;
	FILE *out = gh_finding_begin(diagnosis, GH_FINDING_KERNEL, threads->stuck);
	if (out == NULL)
		return;
	fprintf(out, "Thread %d is in the kernel, where no signal reaches it, and stays there",
		threads->first_stuck);
	if (strlen(threads->where) > 1)
		fprintf(out, ": in %s", threads->where);
	if (threads->stuck > 1)
		fprintf(out, "; and perhaps %zu more", threads->stuck - 1);
	gh_finding_end(diagnosis, "hang");
}

static void find_descriptors(struct gh_diagnosis *diagnosis)
{
	struct gh_figures *figures = &diagnosis->figures;
	if (!gh_descriptors_count(&figures->descriptors, &figures->descriptor_limit,
				  diagnosis->pid)) {
		figures->descriptor_limit = 0;
		return;
	}
	if (figures->descriptors < figures->descriptor_limit / 100 * NEARLY_ALL +
				       figures->descriptor_limit % 100 * NEARLY_ALL / 100)
		return;
	FILE *out = gh_finding_begin(diagnosis, GH_FINDING_DESCRIPTORS, 1);
	if (out == NULL)
		return;
	gh_print_number(out, figures->descriptors);
	fputs(" file descriptors are open, and the process may have ", out);
	gh_print_number(out, figures->descriptor_limit);
	fputs(": with none left it can accept, connect and open nothing", out);
	gh_finding_end(diagnosis, "waits --group");
}

/* Prints where most of those goroutines are that have a thread each: in C, or in a system call. */
static void print_places(FILE *out, struct gh_wait_query *query)
{
	struct gh_wait_groups groups;
	bool *calls = calloc(query->dump.stacks.count + 1, sizeof(*calls));
	for (size_t i = 0; calls != NULL && i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		calls[wait->goroutine] = wait->kind == GH_WAIT_SYSCALL;
	}
	bool found = calls != NULL && gh_wait_groups_find(&groups, query, calls);
	if (found && groups.list.count > 0) {
		const struct gh_wait_group *group = &groups.list.items[0];
		const struct gh_call *call = gh_wait_place(query, group->wait->goroutine);
		fputs(": ", out);
		gh_print_count(out, group->count, "goroutine");
		if (call != NULL) {
			fputs(" in ", out);
			gh_traceback_print_call(out, call);
		}
		fputs(", each ", out);
		gh_wait_print_clause(out, query, group->wait, true);
	}
	if (calls != NULL)
		gh_wait_groups_free(&groups);
	free(calls);
}

/* The goroutines that are locked to their threads. */
static size_t count_locked(const struct gh_dump *dump)
{
	size_t count = 0;
	for (size_t i = 0; i < dump->stacks.count; i++)
		count += gh_dump_extras(dump, i).locked;
	return count;
}

static void find_many(struct gh_diagnosis *diagnosis, struct gh_wait_query *query)
{
	size_t count = diagnosis->threads.count;
	if (count < MANY_THREADS)
		return;
	FILE *out = gh_finding_begin(diagnosis, GH_FINDING_THREADS, count);
	if (out == NULL)
		return;
	size_t locked = count_locked(&query->dump);
	gh_print_count(out, count, "thread");
	if (locked > count / 2) {
		fputs(": ", out);
		gh_print_count(out, locked, "goroutine");
		fputs(" are locked to theirs", out);
	}
	print_places(out, query);
	gh_finding_end(diagnosis, "goroutines --group");
}

void gh_find_threads(struct gh_diagnosis *diagnosis, struct gh_wait_query *query)
{
	if (diagnosis->pid == 0)
		return;
	find_stopped(diagnosis);
	find_stuck(diagnosis);
	find_descriptors(diagnosis);
	find_many(diagnosis, query);
}
