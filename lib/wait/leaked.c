#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/wait/internal.h"

/* A goroutine that can go on once an object is reached. */
struct watch {
	uint32_t object;
	uint32_t goroutine;
};

/* A goroutine that can go on once the holder of a lock can. */
struct behind {
	uint32_t holder;
	uint32_t goroutine;
};

/* A pointer of a goroutine's that is no field of a frame. */
struct loose_root {
	uint32_t goroutine;
	uint32_t object;
};

struct finder {
	const struct gh_waits *waits;
	const struct gh_dump *dump;
	const struct gh_heap *heap;
	const struct gh_deadlocks *deadlocks; /* NULL if none are known */
	bool every_word;                      /* fieldlists of frames do not have all pointers */
	uint8_t *reached;                     /* a bit for each object; owned */
	uint8_t *watched;                     /* likewise: goroutines wait for it; owned */
	bool *blocked;              /* by goroutine: it is not known yet that it can go on; owned */
	struct gh_numbermap ids;    /* of goroutines to their numbers */
	struct gh_numbermap sudogs; /* by address, those of goroutines that are blocked */
	struct GH_VECTOR(struct watch) watches;    /* by object */
	struct GH_VECTOR(struct behind) behind;    /* by holder */
	struct GH_VECTOR(struct loose_root) loose; /* by goroutine */
	struct GH_VECTOR(uint32_t) queue;          /* objects whose pointers are to be followed */
	struct GH_VECTOR(uint32_t) woken;          /* goroutines whose stacks are to be */
	uint64_t objects;                          /* reached */
	uint64_t bytes;                            /* in them */
	const bool *is_leaked;                     /* by goroutine; the result's */
	uint32_t *knots; /* by goroutine: another of its knot, or itself; the result's */
	uint32_t leaked; /* the goroutine that is looked at; GH_NOT_MAPPED before all are known */
	struct gh_numbermap
	    firsts; /* of objects that only leaked ones reach, to the first of these */
	bool failed;
};

static bool test_bit(const uint8_t *bits, uint32_t number)
{
	return (bits[number / 8] >> number % 8 & 1) != 0;
}

static void set_bit(uint8_t *bits, uint32_t number)
{
	bits[number / 8] |= (uint8_t)(1U << number % 8);
}

/* The goroutine that stands for the knot of GOROUTINE. */
static uint32_t find_knot(const uint32_t *knots, uint32_t goroutine)
{
	while (knots[goroutine] != goroutine)
		goroutine = knots[goroutine];
	return goroutine;
}

/* Puts GOROUTINE and the one that is looked at into one knot, for which the first of them stands.
 */
static void tie(struct finder *finder, uint32_t goroutine)
{
	uint32_t a = find_knot(finder->knots, goroutine);
	uint32_t b = find_knot(finder->knots, finder->leaked);
	uint32_t first = a < b ? a : b;
	finder->knots[a] = first;
	finder->knots[b] = first;
	/* Ways stay short. */
	finder->knots[goroutine] = first;
	finder->knots[finder->leaked] = first;
}

/* GOROUTINE can go on; or it is leaked as well, and waits for what another has reached. */
static void wake(struct finder *finder, uint32_t goroutine)
{
	if (finder->leaked != GH_NOT_MAPPED && finder->is_leaked[goroutine])
		tie(finder, goroutine);
	if (!finder->blocked[goroutine])
		return;
	finder->blocked[goroutine] = false;
	gh_vector_push(&finder->woken, goroutine);
}

/* OBJECT has been reached before. */
static void tie_by(struct finder *finder, uint32_t object)
{
	uint32_t first = finder->leaked != GH_NOT_MAPPED ? gh_numbermap_get(&finder->firsts, object)
							 : GH_NOT_MAPPED;
	if (first != GH_NOT_MAPPED)
		tie(finder, first);
}

static void reach(struct finder *finder, uint32_t object)
{
	if (object == GH_HEAP_NONE)
		return;
	if (test_bit(finder->reached, object)) {
		tie_by(finder, object);
		return;
	}
	set_bit(finder->reached, object);
	if (finder->leaked != GH_NOT_MAPPED)
		finder->failed |= !gh_numbermap_put(&finder->firsts, object, finder->leaked);
	gh_vector_push(&finder->queue, object);
	finder->objects++;
	finder->bytes += gh_heap_object(finder->heap, object).size;
	if (!test_bit(finder->watched, object))
		return;
	const struct watch *items = finder->watches.items;
	size_t i = gh_lower_bound(finder->watches.count, k, items[k].object < object);
	for (; i < finder->watches.count && items[i].object == object; i++)
		wake(finder, items[i].goroutine);
}

static void reach_address(struct finder *finder, uint64_t address)
{
	if (address != 0)
		reach(finder, gh_heap_find(finder->heap, address));
}

static void reach_frame(struct finder *finder, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(finder->dump, GH_DUMP_FRAME, number, &record);
	if (finder->every_word) {
		struct gh_cursor words = gh_dump_bytes(finder->dump, record.frame.contents);
		while (gh_cursor_left(&words) >= finder->dump->word)
			reach_address(finder, gh_cursor_uint(&words, finder->dump->word));
		return;
	}
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_of(finder->dump, &finder->heap->table, &record, &walk);
	while (gh_pointers_next(&walk, &pointer))
		reach(finder, pointer.target);
}

/* Wakes those that wait for locks of the goroutine HOLDER. */
static void wake_behind(struct finder *finder, uint32_t holder)
{
	const struct behind *items = finder->behind.items;
	size_t i = gh_lower_bound(finder->behind.count, k, items[k].holder < holder);
	for (; i < finder->behind.count && items[i].holder == holder; i++)
		wake(finder, items[i].goroutine);
}

/* Reaches what goroutine NUMBER, which can go on, leads to, and those that wait for its locks. */
static void reach_goroutine(struct finder *finder, uint32_t number)
{
	const struct gh_dump *dump = finder->dump;
	const struct gh_dump_stack *stack = gh_dump_stack(dump, number);
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	wake_behind(finder, number);
	reach_address(finder, record.goroutine.context);
	reach_address(finder, record.goroutine.top_defer);
	reach_address(finder, record.goroutine.top_panic);
	for (size_t i = 0; i < stack->nframes; i++)
		reach_frame(finder, stack->first_frame + i);
	for (size_t i = 0; i < stack->ndefers; i++) {
		gh_dump_get(dump, GH_DUMP_DEFER, stack->first_defer + i, &record);
		reach_address(finder, record.defer.func_value);
	}
	for (size_t i = 0; i < stack->npanics; i++) {
		gh_dump_get(dump, GH_DUMP_PANIC, stack->first_panic + i, &record);
		reach_address(finder, record.panic.argument_data);
	}
	const struct loose_root *loose = finder->loose.items;
	size_t i = gh_lower_bound(finder->loose.count, k, loose[k].goroutine < number);
	for (; i < finder->loose.count && loose[i].goroutine == number; i++)
		reach(finder, loose[i].object);
}

/* OBJECT is the record of the wait of a goroutine that is blocked: what it waits for is not reached
 * by way of that. */
static bool is_of_blocked(const struct finder *finder, uint32_t object)
{
	uint64_t address = gh_heap_object(finder->heap, object).address;
	return gh_numbermap_get(&finder->sudogs, address) != GH_NOT_MAPPED;
}

/* Follows all pointers that there are to follow. */
static void follow(struct finder *finder)
{
	const uint32_t *targets;
	while (finder->queue.count > 0 || finder->woken.count > 0) {
		if (finder->queue.count == 0) {
			reach_goroutine(finder, finder->woken.items[--finder->woken.count]);
			continue;
		}
		uint32_t object = finder->queue.items[--finder->queue.count];
		if (is_of_blocked(finder, object))
			continue;
		size_t count = gh_heap_targets(finder->heap, object, &targets);
		for (size_t i = 0; i < count; i++)
			reach(finder, targets[i]);
	}
}

/* Has WAIT's goroutine wait for the object at ADDRESS. False if that is no object: it can go on. */
static bool watch(struct finder *finder, const struct gh_wait *wait, uint64_t address)
{
	uint32_t object = address != 0 ? gh_heap_find(finder->heap, address) : GH_HEAP_NONE;
	if (object == GH_HEAP_NONE)
		return false;
	set_bit(finder->watched, object);
	gh_vector_push(&finder->watches, (struct watch){object, (uint32_t)wait->goroutine});
	return true;
}

/* WAIT is of the kinds that may never end. */
static bool may_be_leaked(const struct gh_wait *wait)
{
	switch (wait->kind) {
	case GH_WAIT_SEND:
	case GH_WAIT_RECEIVE:
	case GH_WAIT_SELECT:
		return wait->never || wait->ncases > 0;
	case GH_WAIT_MUTEX:
	case GH_WAIT_RWMUTEX_READ:
	case GH_WAIT_RWMUTEX_WRITE:
	case GH_WAIT_WAITGROUP:
	case GH_WAIT_COND:
		return wait->object != 0 && wait->sudog != 0;
	case GH_WAIT_OTHER:
	case GH_WAIT_SEMAPHORE:
	case GH_WAIT_SLEEP:
	case GH_WAIT_DESCRIPTOR:
	case GH_WAIT_SYSCALL:
		break;
	}
	return false;
}

static void add_sudog(struct finder *finder, uint64_t address)
{
	if (gh_numbermap_get(&finder->sudogs, address) == GH_NOT_MAPPED)
		finder->failed |= !gh_numbermap_put(&finder->sudogs, address, 0);
}

/* Has the goroutine of the wait at PLACE wait for the one that holds its lock for certain, or for
 * ever. False if neither is known. */
static bool wait_for_holder(struct finder *finder, size_t place)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	const struct gh_wait *wait = &finder->waits->list.items[place];
	size_t number =
	    deadlocks != NULL ? gh_deadlocks_mutex(deadlocks, finder->waits, place) : GH_DUMP_NONE;
	if (number == GH_DUMP_NONE)
		return false;
	const struct gh_held_mutex *mutex = &deadlocks->mutexes.items[number];
	bool one = mutex->sure && mutex->nholders == 1 && mutex->readers <= 1;
	if (!mutex->forever && (!one || !may_be_leaked(wait)))
		return false;
	if (one)
		gh_vector_push(
		    &finder->behind,
		    ((struct behind){(uint32_t)deadlocks->holders.items[mutex->first].goroutine,
				     (uint32_t)wait->goroutine}));
	if (wait->sudog != 0)
		add_sudog(finder, wait->sudog);
	finder->blocked[wait->goroutine] = true;
	return true;
}

/* Notes what the goroutine of the wait at PLACE waits for, if it may be leaked. */
static void add_blocked(struct finder *finder, size_t place)
{
	const struct gh_wait *wait = &finder->waits->list.items[place];
	struct gh_dump_record record;
	if (wait_for_holder(finder, place))
		return;
	gh_dump_get(finder->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
	if (record.goroutine.system || !may_be_leaked(wait))
		return;
	bool blocked = true;
	for (size_t i = 0; i < wait->ncases; i++) {
		const struct gh_wait_case *item = &finder->waits->cases.items[wait->first + i];
		add_sudog(finder, item->sudog);
		uint64_t channel = finder->waits->channels.items[item->channel].address;
		blocked = watch(finder, wait, channel) && blocked;
	}
	if (wait->sudog != 0) {
		add_sudog(finder, wait->sudog);
		blocked = watch(finder, wait, wait->object);
	}
	finder->blocked[wait->goroutine] = blocked;
}

static int compare_watches(const void *a, const void *b)
{
	const struct watch *x = a, *y = b;
	return (x->object > y->object) - (x->object < y->object);
}

static int compare_behind(const void *a, const void *b)
{
	const struct behind *x = a, *y = b;
	return (x->holder > y->holder) - (x->holder < y->holder);
}

static int compare_loose(const void *a, const void *b)
{
	const struct loose_root *x = a, *y = b;
	return (x->goroutine > y->goroutine) - (x->goroutine < y->goroutine);
}

/* The number of the goroutine that the description of a root ends with: "stack of goroutine 7,
 * perhaps". GH_NOT_MAPPED if it is of none. */
static uint32_t owner(const struct finder *finder, struct gh_dump_slice description)
{
	static const char of[] = " of goroutine ";
	struct gh_cursor text = gh_dump_bytes(finder->dump, description);
	size_t left = gh_cursor_left(&text);
	const char *found = memmem(text.pos, left, of, strlen(of));
	if (found == NULL)
		return GH_NOT_MAPPED;
	uint64_t id = 0;
	const char *end = (const char *)text.pos + left;
	for (found += strlen(of); found < end && *found >= '0' && *found <= '9'; found++)
		id = id * 10 + (uint64_t)(*found - '0');
	return gh_numbermap_get(&finder->ids, id);
}

/* Reaches what other roots point to, or keeps them for their goroutines. */
static void sort_others(struct finder *finder)
{
	const struct gh_dump *dump = finder->dump;
	struct gh_dump_record record;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		uint64_t id = record.goroutine.id;
		if (gh_numbermap_get(&finder->ids, id) == GH_NOT_MAPPED)
			finder->failed |= !gh_numbermap_put(&finder->ids, id, (uint32_t)i);
	}
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_OTHER_ROOT); i++) {
		gh_dump_get(dump, GH_DUMP_OTHER_ROOT, i, &record);
		uint32_t object = gh_heap_find(finder->heap, record.other_root.pointer);
		uint32_t goroutine = owner(finder, record.other_root.description);
		if (object == GH_HEAP_NONE)
			continue;
		if (goroutine == GH_NOT_MAPPED)
			reach(finder, object);
		else
			gh_vector_push(&finder->loose, (struct loose_root){goroutine, object});
	}
	if (finder->loose.count > 0)
		qsort(finder->loose.items, finder->loose.count, sizeof(struct loose_root),
		      compare_loose);
}

/* Reaches what is on no goroutine's stack. */
static void reach_globals(struct finder *finder)
{
	const struct gh_heap *heap = finder->heap;
	for (size_t i = 0; i < heap->nroots; i++) {
		enum gh_root_kind kind = heap->roots[i].kind;
		if (kind != GH_ROOT_FRAME && kind != GH_ROOT_GOROUTINE && kind != GH_ROOT_DEFER &&
		    kind != GH_ROOT_PANIC && kind != GH_ROOT_OTHER)
			reach(finder, heap->roots[i].object);
	}
}

static void find(struct finder *finder, struct gh_leaked *leaked)
{
	const struct gh_waits *waits = finder->waits;
	size_t ngoroutines = finder->dump->stacks.count;
	for (size_t i = 0; i < waits->list.count; i++)
		add_blocked(finder, i);
	if (finder->watches.count > 0)
		qsort(finder->watches.items, finder->watches.count, sizeof(struct watch),
		      compare_watches);
	if (finder->behind.count > 0)
		qsort(finder->behind.items, finder->behind.count, sizeof(struct behind),
		      compare_behind);
	for (uint32_t i = 0; i < ngoroutines; i++)
		if (!finder->blocked[i])
			gh_vector_push(&finder->woken, i);
	sort_others(finder);
	reach_globals(finder);
	follow(finder);
	leaked->objects = finder->objects;
	leaked->bytes = finder->bytes;
	gh_numbermap_free(&finder->sudogs);
	memcpy(leaked->of, finder->blocked, ngoroutines * sizeof(bool));
	for (uint32_t i = 0; i < ngoroutines; i++) {
		finder->leaked = i;
		wake(finder, i);
		follow(finder);
	}
	for (uint32_t i = 0; i < ngoroutines; i++)
		leaked->knots[i] = find_knot(leaked->knots, i);
	leaked->objects = finder->objects - leaked->objects;
	leaked->bytes = finder->bytes - leaked->bytes;
}

/* Leaves out the first goroutine, whose `select {}' keeps a program from ending. */
static void leave_out_main(struct finder *finder, struct gh_leaked *leaked)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < finder->waits->list.count; i++) {
		const struct gh_wait *wait = &finder->waits->list.items[i];
		gh_dump_get(finder->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
		if (record.goroutine.id == 1 && wait->kind == GH_WAIT_SELECT && wait->never &&
		    !wait->only_nil)
			leaked->of[wait->goroutine] = false;
		leaked->count += leaked->of[wait->goroutine];
	}
}

bool gh_leaked_find(struct gh_leaked *leaked, const struct gh_waits *waits,
		    const struct gh_heap *heap, const struct gh_deadlocks *deadlocks,
		    struct gh_error *err)
{
	const struct gh_dump *dump = waits->dump;
	struct finder finder = {
	    .waits = waits,
	    .deadlocks = deadlocks,
	    .dump = dump,
	    .heap = heap,
	    .leaked = GH_NOT_MAPPED,
	    .every_word = !gh_roots_have_stack_objects(dump),
	    .reached = calloc(heap->count / 8 + 1, 1),
	    .watched = calloc(heap->count / 8 + 1, 1),
	    .blocked = calloc(dump->stacks.count + 1, sizeof(bool)),
	};
	*leaked = (struct gh_leaked){
	    .perhaps = gh_wait_lacks_frames(dump),
	    .of = calloc(dump->stacks.count + 1, sizeof(bool)),
	    .knots = calloc(dump->stacks.count + 1, sizeof(*leaked->knots)),
	};
	finder.is_leaked = leaked->of;
	finder.knots = leaked->knots;
	bool ok = finder.reached != NULL && finder.watched != NULL && finder.blocked != NULL &&
		  leaked->of != NULL && leaked->knots != NULL;
	for (uint32_t i = 0; ok && i < dump->stacks.count; i++)
		leaked->knots[i] = i;
	if (ok) {
		find(&finder, leaked);
		leave_out_main(&finder, leaked);
	}
	ok = ok && !finder.failed && !finder.watches.failed && !finder.loose.failed &&
	     !finder.behind.failed && !finder.queue.failed && !finder.woken.failed;
	free(finder.reached);
	free(finder.watched);
	free(finder.blocked);
	gh_numbermap_free(&finder.ids);
	gh_numbermap_free(&finder.sudogs);
	gh_numbermap_free(&finder.firsts);
	gh_vector_free(&finder.watches);
	gh_vector_free(&finder.behind);
	gh_vector_free(&finder.loose);
	gh_vector_free(&finder.queue);
	gh_vector_free(&finder.woken);
	return ok || gh_fail_memory(err, dump->path);
}

void gh_leaked_free(struct gh_leaked *leaked)
{
	free(leaked->of);
	free(leaked->knots);
	*leaked = (struct gh_leaked){0};
}
