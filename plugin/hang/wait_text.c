#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "lib/trace/trace.h"
#include "lib/util/escape.h"
#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

/* Shorter sleeps are not told, in ns. */
#define TOLD_SLEEP 1000000000

/* How far the frames reach from where a goroutine is in C to the runtime's call of that. */
#define C_FRAMES 4

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
	fprintf(out, " 0x%" PRIx64 " (len %" PRIu64 ", cap %" PRIu64 "%s%s", channel->address,
		channel->length, channel->capacity, channel->closed ? ", closed" : "",
		channel->timer ? ", a timer's" : "");
	if (query->now != 0 && channel->when > query->now)
		fprintf(out, " that fires in %.1f s", (double)(channel->when - query->now) / 1e9);
	putc(')', out);
}

/* Prints what made the channel of WAIT; with PLAIN what made all channels of its type. */
static void print_maker(FILE *out, struct gh_wait_query *query, const struct gh_wait_case *wait,
			bool plain)
{
	const struct gh_channel *channel = &query->waits.channels.items[wait->channel];
	struct gh_call call;
	if ((plain && gh_channel_maker(&query->makers, channel) == 0) ||
	    !gh_wait_channel_maker(query, channel, &call))
		return;
	fputs(" made in ", out);
	gh_traceback_print_call(out, &call);
}

static void print_channels(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait,
			   bool plain)
{
	if (wait->kind == GH_WAIT_SELECT)
		fputs(wait->ncases > 0 ? "select: "
		      : wait->only_nil ? "select of nil channels alone"
		      : wait->never    ? "select (no cases)"
				       : "select",
		      out);
	else if (wait->ncases == 0)
		fprintf(out, "%s a %schannel",
			wait->kind == GH_WAIT_SEND ? "send on" : "receive from",
			wait->never ? "nil " : "");
	for (size_t i = 0; i < wait->ncases; i++) {
		if (i > 0)
			fputs(", ", out);
		gh_wait_print_case(out, query, &query->waits.cases.items[wait->first + i], plain);
	}
	if (wait->ncases == 1)
		print_maker(out, query, &query->waits.cases.items[wait->first], plain);
}

static void print_mutex_state(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	struct gh_mutex_state state = gh_mutex_state(&query->waits, wait);
	const struct gh_wait *writer = gh_wait_writer(&query->waits, wait);
	if (!state.known)
		return;
	if (wait->kind == GH_WAIT_MUTEX || state.locked || state.readers == 0)
		fputs(!state.locked                 ? " (free)"
		      : wait->kind == GH_WAIT_MUTEX ? " (locked)"
						    : " (a writer has it)",
		      out);
	else {
		fprintf(out, " (%" PRIu64 " reader%s it", state.readers,
			state.readers > 1 ? "s have" : " has");
		if (writer != NULL) {
			fputs("; ", out);
			gh_wait_print_goroutine(out, query, writer->goroutine);
			fputs(" waits to write-lock it: new readers wait behind it", out);
		}
		putc(')', out);
	}
}

/* Prints what the object of WAIT is in, if that is known and is more than the object. */
static void print_container(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	struct gh_wait_container container = gh_wait_container(query, wait->object);
	if (container.type == NULL || strncmp(container.type, "sync.", 5) == 0)
		return;
	fputs(container.perhaps ? ", perhaps in " : " in ", out);
	gh_escape_print(out, container.type);
	fprintf(out, " 0x%" PRIx64, container.address);
}

static void print_sync(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait,
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
		print_mutex_state(out, query, wait);
	print_container(out, query, wait);
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

/* The function that made the system call, which is named for it; NULL if it is not known. */
static const struct gh_call *find_syscall(struct gh_wait_query *query, const struct gh_wait *wait)
{
	static const char *const passed[] = {"runtime.", "internal/runtime/", "syscall.Syscall",
					     "syscall.RawSyscall", "syscall.rawSyscall"};
	if (gh_wait_place(query, wait->goroutine) == NULL)
		return NULL;
	for (size_t i = 0; i < query->traceback.calls.count; i++) {
		const struct gh_call *call = &query->traceback.calls.items[i];
		bool passes = call->object != NULL;
		for (size_t k = 0; k < sizeof(passed) / sizeof(*passed); k++)
			passes = passes || starts_with(call, passed[k]);
		if (!passes)
			return call;
	}
	return NULL;
}

const struct gh_dump_call *gh_wait_call(const struct gh_wait_query *query, size_t goroutine)
{
	struct gh_dump_record record;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, goroutine, &record);
	return gh_dump_call(&query->dump, record.goroutine.thread);
}

/* Prints BEFORE, and for how long the thread in CALL has been asleep, if that is long. */
static void print_asleep(FILE *out, const struct gh_dump_call *call, const char *before)
{
	if (call->asleep >= TOLD_SLEEP)
		fprintf(out, "%s for at least %" PRIu64 " s", before, call->asleep / 1000000000);
}

void gh_wait_print_call(FILE *out, const struct gh_dump_call *call)
{
	gh_escape_print(out, call->name);
	if (*call->arguments != '\0') {
		putc('(', out);
		gh_escape_print(out, call->arguments);
		putc(')', out);
	}
	print_asleep(out, call, "");
}

int64_t gh_wait_descriptor(struct gh_wait_query *query, const struct gh_wait *wait)
{
	if (wait->kind != GH_WAIT_SYSCALL)
		return wait->descriptor;
	const struct gh_dump_call *call = gh_wait_call(query, wait->goroutine);
	return call != NULL && call->descriptor >= 0 ? call->descriptor : GH_NO_DESCRIPTOR;
}

bool gh_wait_descriptor_of(struct gh_wait_query *query, int64_t descriptor, char *text, size_t size,
			   bool end)
{
	return descriptor != GH_NO_DESCRIPTOR && query->pid != 0 &&
	       gh_descriptor_read(text, size, &query->sockets, query->pid, descriptor, end);
}

/* Prints the descriptor of WAIT, and what that is of. */
static void print_descriptor(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	char text[GH_DESCRIPTOR_TEXT];
	int64_t descriptor = gh_wait_descriptor(query, wait);
	if (descriptor == GH_NO_DESCRIPTOR)
		return;
	fprintf(out, " %" PRId64, descriptor);
	if (!gh_wait_descriptor_of(query, descriptor, text, sizeof(text), false))
		return;
	fputs(" (", out);
	gh_escape_print(out, text);
	putc(')', out);
}

bool gh_wait_is_in_c(const struct gh_wait_query *query, size_t goroutine)
{
	const struct gh_dump_stack *stack = gh_dump_stack(&query->dump, goroutine);
	size_t count = stack->nframes < C_FRAMES ? stack->nframes : C_FRAMES;
	return gh_wait_frame_find(&query->dump, goroutine, count, "runtime.cgocall") !=
	       GH_DUMP_NONE;
}

/* Prints what WAIT is for in the C library. */
static void print_c_wait(FILE *out, const struct gh_wait *wait, bool plain)
{
	static const char *const texts[] = {
	    [GH_C_WAIT_MUTEX] = "for a pthread mutex",
	    [GH_C_WAIT_RWLOCK_READ] = "to read-lock a pthread rwlock",
	    [GH_C_WAIT_RWLOCK_WRITE] = "to write-lock a pthread rwlock",
	    [GH_C_WAIT_COND] = "for a pthread condition",
	    [GH_C_WAIT_SEMAPHORE] = "for a semaphore of the C library's",
	    [GH_C_WAIT_JOIN] = "for a thread to end",
	};
	bool joins = wait->in_c->kind == GH_C_WAIT_JOIN;
	if (!plain && joins && wait->in_c->thread != 0)
		fprintf(out, ", for thread %" PRIu64 " to end", wait->in_c->thread);
	else
		fprintf(out, ", %s", texts[wait->in_c->kind]);
	if (!plain && wait->object != 0 && !joins)
		fprintf(out, " 0x%" PRIx64, wait->object);
}

static void print_syscall(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait,
			  bool plain)
{
	const struct gh_call *call = find_syscall(query, wait);
	fputs(gh_wait_is_in_c(query, wait->goroutine) ? "in C" : "system call", out);
	if (call != NULL) {
		fputs(", ", out);
		gh_traceback_print_name(out, call);
	}
	const struct gh_dump_call *in = plain ? NULL : gh_wait_call(query, wait->goroutine);
	if (wait->in_c != NULL) {
		print_c_wait(out, wait, plain);
		if (in != NULL)
			print_asleep(out, in, ",");
	} else if (in != NULL) {
		fputs(", in ", out);
		gh_wait_print_call(out, in);
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
		if (!plain)
			print_descriptor(out, query, wait);
		break;
	case GH_WAIT_SYSCALL:
		print_syscall(out, query, wait, plain);
		break;
	case GH_WAIT_OTHER:
		print_reason(out, &query->dump, wait->goroutine);
		break;
	}
}

void gh_wait_print_clause(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait,
			  bool plain)
{
	bool is_operation = wait->kind == GH_WAIT_SEND || wait->kind == GH_WAIT_RECEIVE ||
			    wait->kind == GH_WAIT_MUTEX || wait->kind == GH_WAIT_RWMUTEX_READ ||
			    wait->kind == GH_WAIT_RWMUTEX_WRITE;
	if (wait->kind == GH_WAIT_SYSCALL)
		fputs(gh_wait_is_in_c(query, wait->goroutine) ? "is " : "is in a ", out);
	else
		fputs(is_operation                   ? "waits to "
		      : wait->kind == GH_WAIT_SELECT ? "waits in "
		      : wait->kind == GH_WAIT_OTHER  ? "waits: "
						     : "waits for ",
		      out);
	gh_wait_print(out, query, wait, plain);
}
