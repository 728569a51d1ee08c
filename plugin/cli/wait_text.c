#include <inttypes.h>
#include <string.h>

#include "plugin/cli/wait_query.h"

void gh_wait_print_case(FILE *out, const struct gh_wait_query *query,
			const struct gh_wait_case *wait, bool plain)
{
	const struct gh_channel *channel = &query->waits.channels.items[wait->channel];
	struct gh_bytes type = gh_wait_elem_type(query, channel);
	fputs(wait->send ? "send on chan " : "receive from chan ", out);
	if (type.size > 0)
		gh_print_bytes(out, type.data, type.size, false);
	else
		fprintf(out, "of %" PRIu64 " bytes", channel->elem_size);
	if (plain)
		return;
	fprintf(out, " 0x%" PRIx64 " (len %" PRIu64 ", cap %" PRIu64 "%s%s)", channel->address,
		channel->length, channel->capacity, channel->closed ? ", closed" : "",
		channel->timer ? ", a timer's" : "");
}

static void print_channels(FILE *out, const struct gh_wait_query *query, const struct gh_wait *wait,
			   bool plain)
{
	if (wait->kind == GH_WAIT_SELECT)
		fputs(wait->ncases > 0 ? "select: " : "select without cases", out);
	else if (wait->ncases == 0)
		fputs(wait->kind == GH_WAIT_SEND ? "send on a nil channel"
						 : "receive from a nil channel",
		      out);
	for (size_t i = 0; i < wait->ncases; i++) {
		if (i > 0)
			fputs(", ", out);
		gh_wait_print_case(out, query, &query->waits.cases.items[wait->first + i], plain);
	}
}

static void print_mutex_state(FILE *out, const struct gh_waits *waits, const struct gh_wait *wait)
{
	struct gh_mutex_state state = gh_mutex_state(waits, wait);
	if (!state.known)
		return;
	if (wait->kind == GH_WAIT_MUTEX || state.locked || state.readers == 0)
		fputs(!state.locked                 ? " (free)"
		      : wait->kind == GH_WAIT_MUTEX ? " (locked)"
						    : " (a writer has it)",
		      out);
	else
		fprintf(out, " (%" PRIu64 " reader%s it)", state.readers,
			state.readers > 1 ? "s have" : " has");
}

static void print_sync(FILE *out, const struct gh_wait_query *query, const struct gh_wait *wait,
		       bool plain)
{
	static const char *const texts[] = {
	    [GH_WAIT_MUTEX] = "lock sync.Mutex",
	    [GH_WAIT_RWMUTEX_READ] = "read-lock sync.RWMutex",
	    [GH_WAIT_RWMUTEX_WRITE] = "write-lock sync.RWMutex",
	    [GH_WAIT_WAITGROUP] = "sync.WaitGroup",
	    [GH_WAIT_COND] = "sync.Cond",
	    [GH_WAIT_SEMAPHORE] = "semaphore",
	};
	int32_t counter;
	fputs(texts[wait->kind], out);
	if (plain || wait->object == 0)
		return;
	fprintf(out, " 0x%" PRIx64, wait->object);
	if (wait->kind == GH_WAIT_WAITGROUP && gh_waitgroup_counter(&query->waits, wait, &counter))
		fprintf(out, " (counter %" PRId32 ")", counter);
	if (wait->kind == GH_WAIT_MUTEX || wait->kind == GH_WAIT_RWMUTEX_READ ||
	    wait->kind == GH_WAIT_RWMUTEX_WRITE)
		print_mutex_state(out, &query->waits, wait);
}

static void print_sleep(FILE *out, const struct gh_wait_query *query, const struct gh_wait *wait,
			bool plain)
{
	fputs("sleep", out);
	if (!plain && query->now != 0 && wait->when > query->now)
		fprintf(out, ", %.1f s more", (double)(wait->when - query->now) / 1e9);
}

static bool starts_with(const struct gh_call *call, const char *text)
{
	size_t length = strlen(text);
	return call->length >= length && memcmp(call->name, text, length) == 0;
}

/* Prints the function that made the system call, which is named for it. */
static void print_syscall(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	static const char *const passed[] = {"runtime.", "internal/runtime/", "syscall.Syscall",
					     "syscall.RawSyscall", "syscall.rawSyscall"};
	fputs("system call", out);
	if (gh_wait_place(query, wait->goroutine) == NULL)
		return;
	for (size_t i = 0; i < query->traceback.ncalls; i++) {
		const struct gh_call *call = &query->traceback.calls[i];
		bool passes = false;
		for (size_t k = 0; k < sizeof(passed) / sizeof(*passed); k++)
			passes = passes || starts_with(call, passed[k]);
		if (passes)
			continue;
		fputs(", ", out);
		gh_traceback_print_name(out, call);
		return;
	}
}

static void print_reason(FILE *out, const struct gh_dump *dump, size_t number)
{
	struct gh_dump_record record;
	size_t size;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	const char *state = gh_goroutine_state(dump, &record.goroutine, &size);
	gh_print_bytes(out, state, size, false);
}

void gh_wait_print(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait, bool plain)
{
	switch (wait->kind) {
	case GH_WAIT_SEND:
	case GH_WAIT_RECEIVE:
	case GH_WAIT_SELECT:
		print_channels(out, query, wait, plain);
		break;
	case GH_WAIT_MUTEX:
	case GH_WAIT_RWMUTEX_READ:
	case GH_WAIT_RWMUTEX_WRITE:
	case GH_WAIT_WAITGROUP:
	case GH_WAIT_COND:
	case GH_WAIT_SEMAPHORE:
		print_sync(out, query, wait, plain);
		break;
	case GH_WAIT_SLEEP:
		print_sleep(out, query, wait, plain);
		break;
	case GH_WAIT_DESCRIPTOR:
		fputs("file descriptor", out);
		if (!plain && wait->descriptor != GH_NO_DESCRIPTOR)
			fprintf(out, " %" PRId64, wait->descriptor);
		break;
	case GH_WAIT_SYSCALL:
		print_syscall(out, query, wait);
		break;
	case GH_WAIT_OTHER:
		print_reason(out, &query->dump, wait->goroutine);
		break;
	}
}
