#include "lib/wait/wait.h"

#include <string.h>

#include "lib/wait/internal.h"

/* How many cases a select may have: what src/reflect/value.go allows. */
#define MOST_CASES 65536

/* The direction of a sudog that is in a queue of a channel's, by the sudog's address. */
enum { RECEIVES, SENDS };

/* Notes the sudogs of the queue whose first is AT, and gives how many there are. */
static uint64_t note_queue(struct gh_wait_finder *finder, uint64_t at, uint32_t direction)
{
	uint64_t count = 0;
	while (at != 0 && gh_numbermap_get(&finder->queued, at) == GH_NOT_MAPPED &&
	       gh_wait_may_be_object(finder->dump, at)) {
		finder->failed |= !gh_numbermap_put(&finder->queued, at, direction);
		if (finder->failed)
			break;
		at = gh_wait_word(finder->dump, at + finder->layout.sudog_next);
		count++;
	}
	return count;
}

/* The place of the channel at ADDRESS, which is added if it is new. */
static size_t add_channel(struct gh_wait_finder *finder, uint64_t address)
{
	const struct gh_dump *dump = finder->dump;
	const struct gh_wait_layout *layout = &finder->layout;
	uint32_t place = gh_numbermap_get(&finder->channels, address);
	if (place != GH_NOT_MAPPED)
		return place;
	struct gh_channel channel = {
	    .address = address,
	    .length = gh_wait_word(dump, address),
	    .capacity = gh_wait_word(dump, address + layout->hchan_dataqsiz),
	    .elem_size = gh_wait_uint(dump, address + layout->hchan_elemsize, 2),
	    .closed = gh_wait_uint(dump, address + layout->hchan_closed, 4) != 0,
	    .elem_type = gh_wait_word(dump, address + layout->hchan_elemtype),
	};
	if (layout->hchan_timer != 0) {
		uint64_t timer = gh_wait_word(dump, address + layout->hchan_timer);
		channel.timer = timer != 0;
		channel.when = timer != 0 ? gh_wait_uint(dump, timer + layout->timer_when, 8) : 0;
	}
	channel.receivers =
	    note_queue(finder, gh_wait_word(dump, address + layout->hchan_recvq), RECEIVES);
	channel.senders =
	    note_queue(finder, gh_wait_word(dump, address + layout->hchan_sendq), SENDS);
	place = (uint32_t)finder->waits->channels.count;
	finder->failed |= !gh_numbermap_put(&finder->channels, address, place);
	gh_vector_push(&finder->waits->channels, channel);
	return place;
}

/* Orders the cases of a select: what is sent comes first, then by type. */
static int compare_cases(const void *left, const void *right, void *all)
{
	const struct gh_wait_case *a = left;
	const struct gh_wait_case *b = right;
	const struct gh_channel *channels = all;
	const struct gh_channel *x = &channels[a->channel];
	const struct gh_channel *y = &channels[b->channel];
	if (a->send != b->send)
		return a->send ? -1 : 1;
	if (x->elem_type != y->elem_type)
		return x->elem_type < y->elem_type ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

/* Adds the channels that goroutine G, at that address, waits for. The runtime has them by address:
 * goroutines in one select would have them in different orders. */
static void add_cases(struct gh_wait_finder *finder, struct gh_wait *wait, uint64_t g)
{
	const struct gh_dump *dump = finder->dump;
	const struct gh_wait_layout *layout = &finder->layout;
	uint64_t sudog = gh_wait_word(dump, g + layout->g_waiting);
	wait->first = finder->waits->cases.count;
	while (sudog != 0 && wait->ncases < MOST_CASES && gh_wait_word(dump, sudog) == g) {
		uint64_t channel = gh_wait_word(dump, sudog + layout->sudog_c);
		if (channel == 0 || !gh_wait_may_be_object(dump, channel))
			break;
		struct gh_wait_case added = {.channel = add_channel(finder, channel),
					     .sudog = sudog};
		uint32_t direction = gh_numbermap_get(&finder->queued, sudog);
		if (direction == GH_NOT_MAPPED)
			break;
		added.send = direction == SENDS;
		gh_vector_push(&finder->waits->cases, added);
		wait->ncases++;
		sudog = gh_wait_word(dump, sudog + layout->sudog_waitlink);
	}
	if (wait->ncases > 1 && !finder->waits->cases.failed && !finder->waits->channels.failed)
		qsort_r(&finder->waits->cases.items[wait->first], wait->ncases,
			sizeof(struct gh_wait_case), compare_cases, finder->waits->channels.items);
}

/* A select of goroutine G's has no record of a wait: each of its channels is nil. The first word of
 * what the runtime has of G, the end of its stack, is never zero. */
static bool has_only_nil(const struct gh_wait_finder *finder, uint64_t g)
{
	return gh_wait_word(finder->dump, g) != 0 &&
	       gh_wait_word(finder->dump, g + finder->layout.g_waiting) == 0;
}

/* Until when goroutine G sleeps: what it has itself, or its timer. */
static uint64_t find_wake(const struct gh_wait_finder *finder, uint64_t g)
{
	const struct gh_dump *dump = finder->dump;
	uint64_t at = g + finder->layout.g_sleep;
	if (finder->layout.sleeps_by_timer) {
		at = gh_wait_word(dump, at);
		at = at != 0 ? at + finder->layout.timer_when : 0;
	}
	return gh_wait_uint(dump, at, 8);
}

/* The wait reasons of the runtime's that tell all. One may go on: "chan receive (nil chan)". */
static const struct {
	const char *reason;
	enum gh_wait_kind kind;
} reasons[] = {
    {"chan send", GH_WAIT_SEND}, {"chan receive", GH_WAIT_RECEIVE}, {"select", GH_WAIT_SELECT},
    {"sleep", GH_WAIT_SLEEP},    {"IO wait", GH_WAIT_DESCRIPTOR},
};

static bool begins_with(struct gh_cursor text, const char *start)
{
	size_t length = strlen(start);
	return gh_cursor_left(&text) >= length && memcmp(text.pos, start, length) == 0;
}

/* Fills in what the REASON tells: "chan receive", "chan receive (nil chan)". */
static void read_reason(struct gh_wait *wait, struct gh_cursor reason)
{
	static const char *const nothing[] = {" (nil chan)", " (no cases)"};
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		struct gh_cursor rest = reason;
		if (!begins_with(rest, reasons[i].reason))
			continue;
		gh_cursor_bytes(&rest, strlen(reasons[i].reason));
		wait->never = begins_with(rest, nothing[0]) || begins_with(rest, nothing[1]);
		if (gh_cursor_left(&rest) == 0 || wait->never || begins_with(rest, " ("))
			wait->kind = reasons[i].kind;
	}
}

/* Finds what GOROUTINE, the one of WAIT, waits for. */
static void find_wait(struct gh_wait_finder *finder, struct gh_wait *wait,
		      const struct gh_dump_goroutine *goroutine)
{
	if (finder->layout.g_waiting == 0)
		return;
	read_reason(wait, gh_dump_bytes(finder->dump, goroutine->wait_reason));
	switch (wait->kind) {
	case GH_WAIT_SEND:
	case GH_WAIT_RECEIVE:
	case GH_WAIT_SELECT:
		add_cases(finder, wait, goroutine->g);
		if (wait->kind == GH_WAIT_SELECT && !wait->never) {
			wait->only_nil = has_only_nil(finder, goroutine->g);
			wait->never = wait->only_nil;
		}
		break;
	case GH_WAIT_SLEEP:
		wait->when = find_wake(finder, goroutine->g);
		break;
	case GH_WAIT_DESCRIPTOR:
		gh_descriptor_wait_find(finder, wait);
		break;
	case GH_WAIT_OTHER:
		gh_sync_wait_find(finder, wait, goroutine);
		break;
	case GH_WAIT_MUTEX:
	case GH_WAIT_RWMUTEX_READ:
	case GH_WAIT_RWMUTEX_WRITE:
	case GH_WAIT_WAITGROUP:
	case GH_WAIT_COND:
	case GH_WAIT_SEMAPHORE:
	case GH_WAIT_SYSCALL:
		break; /* no reason says so */
	}
}

/* Fills in the WAIT of a goroutine in a system call, or in C. */
static void find_c_wait(struct gh_wait *wait, const struct gh_dump *dump)
{
	wait->kind = GH_WAIT_SYSCALL;
	wait->in_c = gh_dump_c_wait(dump, wait->goroutine);
	if (wait->in_c != NULL)
		wait->object = wait->in_c->object;
}

/* Finds what the goroutines from number FIRST to before END wait for. */
static bool find(struct gh_waits *waits, const struct gh_dump *dump, size_t first, size_t end,
		 struct gh_error *err)
{
	*waits = (struct gh_waits){.dump = dump};
	struct gh_wait_finder finder = {
	    .waits = waits, .dump = dump, .layout = gh_wait_layout_find(dump)};
	struct gh_dump_record record;
	for (size_t i = first; i < end && !finder.failed; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		struct gh_wait wait = {.goroutine = i, .descriptor = GH_NO_DESCRIPTOR};
		if (record.goroutine.status == GH_DUMP_SYSCALL)
			find_c_wait(&wait, dump);
		else if (record.goroutine.status == GH_DUMP_WAITING)
			find_wait(&finder, &wait, &record.goroutine);
		else
			continue;
		gh_vector_push(&waits->list, wait);
	}
	bool failed = finder.failed || finder.cond_addresses.failed || waits->list.failed ||
		      waits->cases.failed || waits->channels.failed;
	gh_numbermap_free(&finder.channels);
	gh_numbermap_free(&finder.queued);
	gh_numbermap_free(&finder.conds);
	gh_vector_free(&finder.cond_addresses);
	return !failed || gh_fail_memory(err, dump->path);
}

bool gh_waits_find(struct gh_waits *waits, const struct gh_dump *dump, struct gh_error *err)
{
	return find(waits, dump, 0, dump->stacks.count, err);
}

bool gh_waits_find_one(struct gh_waits *waits, const struct gh_dump *dump, size_t number,
		       struct gh_error *err)
{
	return find(waits, dump, number, number + 1, err);
}

void gh_waits_free(struct gh_waits *waits)
{
	gh_vector_free(&waits->list);
	gh_vector_free(&waits->cases);
	gh_vector_free(&waits->channels);
	gh_numbermap_free(&waits->writers);
}

const char *gh_wait_kind_name(enum gh_wait_kind kind)
{
	static const char *const names[] = {
	    [GH_WAIT_OTHER] = "other",
	    [GH_WAIT_SEND] = "send",
	    [GH_WAIT_RECEIVE] = "receive",
	    [GH_WAIT_SELECT] = "select",
	    [GH_WAIT_MUTEX] = "mutex",
	    [GH_WAIT_RWMUTEX_READ] = "rwmutex read",
	    [GH_WAIT_RWMUTEX_WRITE] = "rwmutex write",
	    [GH_WAIT_WAITGROUP] = "waitgroup",
	    [GH_WAIT_COND] = "cond",
	    [GH_WAIT_SEMAPHORE] = "semaphore",
	    [GH_WAIT_SLEEP] = "sleep",
	    [GH_WAIT_DESCRIPTOR] = "descriptor",
	    [GH_WAIT_SYSCALL] = "syscall",
	};
	return names[kind];
}

const char *gh_c_wait_kind_name(enum gh_dump_c_wait_kind kind)
{
	static const char *const names[] = {
	    [GH_C_WAIT_MUTEX] = "mutex",
	    [GH_C_WAIT_RWLOCK_READ] = "rwlock read",
	    [GH_C_WAIT_RWLOCK_WRITE] = "rwlock write",
	    [GH_C_WAIT_COND] = "cond",
	    [GH_C_WAIT_SEMAPHORE] = "semaphore",
	    [GH_C_WAIT_JOIN] = "join",
	};
	return names[kind];
}
