/* The holders of the mutexes that goroutines wait for: those whose frames have locked one, and know
 * its address. */
#include <stdlib.h>

#include "lib/util/bsearch.h"
#include "lib/wait/internal.h"

/* A function whose code refers to a mutex. */
struct ref {
	size_t module;
	size_t function;
	size_t mutex;
};

/* A goroutine that may have a mutex. */
struct holder {
	struct gh_lock_holder holder;
	size_t mutex;
	bool sure;    /* the receiver of its call is that mutex */
	bool has_own; /* it has taken what it may have; else it lets go of what others have taken */
};

/* How many mutexes a pointer may lead to that tells who may have each of them: more are in an array
 * that all of its users know. */
#define MOST_REACHED 64

/* A difference array over the mutexes: how many frames have a pointer that leads to more than
 * MOST_REACHED. Each adds 1 at the first mutex that its pointer leads to, and takes 1 away past the
 * last one, which may wrap around; choose_all_holders adds them up. */
struct crowd {
	size_t know; /* all of them */
	size_t hold; /* that have locked one, it is not known which */
	size_t give; /* that let go of one, it is not known which, that others have taken */
};

struct finder {
	struct gh_deadlocks *deadlocks;
	const struct gh_waits *waits;
	const struct gh_dump *dump;
	const struct gh_module *modules;
	size_t nmodules;
	const size_t *wait_of; /* by goroutine: the place of its wait */
	struct gh_lock_frames frames;
	struct gh_frame_locks open; /* of the frame that is looked at */
	unsigned unclear; /* kinds of locks that somebody may hold, it is not known which */
	struct GH_VECTOR(struct holder) holders;
	struct GH_VECTOR(struct ref) refs;
	bool *contended;      /* by mutex: others than those who wait for it know it; owned */
	struct crowd *crowds; /* by mutex; owned */
	bool failed;
};

/* What is known of a frame while it is looked at. */
struct frame {
	size_t goroutine;
	size_t depth;
	const struct gh_frame_lock *open; /* locks */
	size_t nopen;
};

static int compare_refs(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;
	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->mutex > y->mutex) - (x->mutex < y->mutex);
}

static int compare_holders(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;
	if (x->mutex != y->mutex)
		return x->mutex < y->mutex ? -1 : 1;
	size_t a_goroutine = x->holder.goroutine, b_goroutine = y->holder.goroutine;
	if (a_goroutine != b_goroutine)
		return a_goroutine < b_goroutine ? -1 : 1;
	/* The outermost of its frames has taken it. */
	return (x->holder.depth < y->holder.depth) - (x->holder.depth > y->holder.depth);
}

/* Finds the functions of module NUMBER that refer to mutexes from START to before END. */
static bool find_module_refs(struct finder *finder, size_t number, uint64_t start, uint64_t end)
{
	const struct gh_module *module = &finder->modules[number];
	struct gh_global_refs refs = {0};
	bool found =
	    gh_global_refs_find(&refs, module->tab, start - module->bias, end - module->bias);
	for (size_t i = 0; found && i < refs.count; i++) {
		size_t mutex =
		    gh_deadlocks_at(finder->deadlocks, refs.items[i].address + module->bias);
		if (mutex != GH_DUMP_NONE)
			gh_vector_push(&finder->refs,
				       ((struct ref){number, refs.items[i].function, mutex}));
	}
	gh_global_refs_free(&refs);
	return found;
}

/* Finds the functions that refer to mutexes that are globals. */
static bool find_refs(struct finder *finder)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	const struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	uint64_t start = UINT64_MAX, end = 0;
	for (size_t i = 0; i < deadlocks->mutexes.count; i++) {
		/* Go's code does not refer to those of C. */
		if (mutexes[i].locks == 0 ||
		    gh_dump_find_object(finder->dump, mutexes[i].address) != GH_DUMP_NONE)
			continue;
		start = start < mutexes[i].address ? start : mutexes[i].address;
		end = mutexes[i].address + 1;
	}
	bool found = true;
	for (size_t i = 0; i < finder->nmodules && found && start < end; i++)
		found = find_module_refs(finder, i, start, end);
	if (finder->refs.count > 0)
		qsort(finder->refs.items, finder->refs.count, sizeof(struct ref), compare_refs);
	return found && !finder->refs.failed;
}

static bool waits_for(const struct finder *finder, size_t goroutine, size_t mutex)
{
	size_t wait = finder->wait_of[goroutine];
	return wait != GH_DUMP_NONE &&
	       gh_deadlocks_mutex(finder->deadlocks, finder->waits, wait) == mutex;
}

enum hold { HOLDS_NOT, HOLDS_PERHAPS, HOLDS };

/* The function of the frame at DEPTH waits for a lock itself: what it calls is only the lock's own.
 */
static bool is_waiting(const struct finder *finder, size_t goroutine, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (!gh_wait_frame_is(finder->dump, goroutine, i, "sync.*") &&
		    !gh_wait_frame_is(finder->dump, goroutine, i, "internal/sync.*") &&
		    !gh_wait_frame_is(finder->dump, goroutine, i, "runtime.*"))
			return false;
	return true;
}

/* Whether FRAME has locked MUTEX, number NUMBER, by OPEN. A mutex that it waits for is not one that
 * it has locked, it is not known which: it may wait for each of a pair in turn. */
static enum hold holds_by(struct finder *finder, const struct frame *frame, size_t number,
			  const struct gh_frame_lock *open)
{
	const struct gh_held_mutex *mutex = &finder->deadlocks->mutexes.items[number];
	enum hold hold = HOLDS_NOT;
	if (open->address == mutex->address)
		hold = open->certain ? HOLDS : HOLDS_PERHAPS;
	else if (open->address == 0 || !open->lasts)
		hold = HOLDS_PERHAPS;
	if (hold == HOLDS_NOT || open->lets_go)
		return hold;
	const struct gh_wait *wait = &finder->waits->list.items[mutex->wait];
	bool takes_same = wait->kind == GH_WAIT_MUTEX || open->lock == GH_LOCK_WRITE;
	if (open->address != mutex->address && takes_same &&
	    waits_for(finder, frame->goroutine, number) &&
	    is_waiting(finder, frame->goroutine, frame->depth))
		return HOLDS_NOT;
	return hold;
}

/* Whether FRAME has locked mutex NUMBER, with *PC set to where; with LETS_GO, whether it lets go of
 * it. */
static enum hold holds(struct finder *finder, const struct frame *frame, size_t number,
		       bool lets_go, uint64_t *pc)
{
	enum hold hold = HOLDS_NOT;
	const struct gh_held_mutex *mutex = &finder->deadlocks->mutexes.items[number];
	for (size_t i = 0; i < frame->nopen && hold != HOLDS; i++) {
		const struct gh_frame_lock *open = &frame->open[i];
		if ((open->lock & mutex->locks) == 0 || open->lets_go != lets_go)
			continue;
		enum hold by = holds_by(finder, frame, number, open);
		*pc = by > hold ? open->pc : *pc;
		hold = by > hold ? by : hold;
	}
	if (hold == HOLDS_NOT)
		return HOLDS_NOT;
	switch (gh_lock_frames_released(&finder->frames, frame->goroutine, frame->depth,
					mutex->locks, mutex->address)) {
	case GH_RELEASED:
		return HOLDS_NOT;
	case GH_RELEASED_PERHAPS:
		return HOLDS_PERHAPS;
	case GH_RELEASED_NOT:
		break;
	}
	return hold;
}

/* FRAME knows MUTEX: its goroutine may hold it; if not, it is noted that it knows it. */
static void note(struct finder *finder, const struct frame *frame, size_t mutex)
{
	struct gh_lock_holder holder = {.goroutine = frame->goroutine, .depth = frame->depth};
	uint64_t ignored;
	enum hold hold = holds(finder, frame, mutex, false, &holder.pc);
	if (hold != HOLDS_NOT || holds(finder, frame, mutex, true, &ignored) != HOLDS_NOT)
		gh_vector_push(&finder->holders, ((struct holder){.holder = holder,
								  .mutex = mutex,
								  .sure = hold == HOLDS,
								  .has_own = hold != HOLDS_NOT}));
	if (!waits_for(finder, frame->goroutine, mutex))
		finder->contended[mutex] = true;
}

/* FRAME knows the mutexes from FIRST to before END, which are too many to be told apart. */
static void note_crowd(struct finder *finder, const struct frame *frame, size_t first, size_t end)
{
	struct crowd crowd = {.know = 1};
	for (size_t i = 0; i < frame->nopen; i++) {
		const struct gh_frame_lock *open = &frame->open[i];
		if (open->lasts && open->address != 0)
			continue;
		if (open->lets_go)
			crowd.give = 1;
		else
			crowd.hold = 1;
	}
	finder->crowds[first].know += crowd.know;
	finder->crowds[first].hold += crowd.hold;
	finder->crowds[first].give += crowd.give;
	finder->crowds[end].know -= crowd.know;
	finder->crowds[end].hold -= crowd.hold;
	finder->crowds[end].give -= crowd.give;
}

/* Notes the mutexes that WORD is the address of, or of a struct that they may be in. */
static void note_word(struct finder *finder, const struct frame *frame, uint64_t word)
{
	const struct gh_deadlocks *deadlocks = finder->deadlocks;
	const struct gh_held_mutex *mutexes = deadlocks->mutexes.items;
	size_t mutex = word != 0 ? gh_deadlocks_from(deadlocks, word) : deadlocks->mutexes.count;
	if (mutex == deadlocks->mutexes.count)
		return;
	if (mutexes[mutex].address == word)
		note(finder, frame, mutex++);
	size_t object = gh_dump_find_object(finder->dump, word);
	if (object == GH_DUMP_NONE)
		return;
	struct gh_extent extent = gh_extents_get(&finder->dump->objects, object);
	size_t end = gh_deadlocks_from(deadlocks, extent.address + extent.size);
	if (end > mutex + MOST_REACHED)
		note_crowd(finder, frame, mutex, end);
	else
		for (; mutex < end; mutex++)
			note(finder, frame, mutex);
}

/* Notes the mutexes that the pointers of the frame at DEPTH lead to, for FRAME. */
static void note_fields(struct finder *finder, const struct frame *frame, size_t depth)
{
	const struct gh_dump_stack *stack = gh_dump_stack(finder->dump, frame->goroutine);
	struct gh_frame_pointers walk;
	uint64_t word;
	if (depth >= stack->nframes)
		return;
	gh_frame_pointers_start(&walk, finder->dump, stack->first_frame + depth);
	while (gh_frame_pointers_next(&walk, &word))
		note_word(finder, frame, word);
}

/* Notes the mutexes that FRAME has locked for sure, even if none of its pointers leads there. */
static void note_locked(struct finder *finder, const struct frame *frame)
{
	for (size_t i = 0; i < frame->nopen; i++) {
		uint64_t address = frame->open[i].address;
		size_t mutex =
		    address != 0 ? gh_deadlocks_at(finder->deadlocks, address) : GH_DUMP_NONE;
		if (mutex != GH_DUMP_NONE)
			note(finder, frame, mutex);
	}
}

/* Notes what the frame at DEPTH tells of mutexes. Its function's arguments are among the fields of
 * the caller's frame. */
static void note_frame(struct finder *finder, size_t goroutine, size_t depth)
{
	const struct gh_dump_stack *stack = gh_dump_stack(finder->dump, goroutine);
	struct gh_dump_record record;
	gh_dump_get(finder->dump, GH_DUMP_FRAME, stack->first_frame + depth, &record);
	size_t in = gh_lock_frames_module(&finder->frames, record.frame.entry);
	const struct gh_module *module = &finder->modules[in];
	gh_lock_frames_open(&finder->frames, goroutine, depth, &finder->open, &finder->unclear);
	finder->failed |= finder->open.failed || finder->frames.failed;
	if (finder->failed)
		return;
	struct frame frame = {.goroutine = goroutine,
			      .depth = depth,
			      .open = finder->open.items,
			      .nopen = finder->open.count};
	note_locked(finder, &frame);
	note_fields(finder, &frame, depth);
	if (frame.nopen > 0)
		note_fields(finder, &frame, depth + 1);
	struct ref own = {in, gh_pclntab_find(module->tab, record.frame.entry - module->bias), 0};
	const struct ref *refs = finder->refs.items;
	size_t i = gh_lower_bound(finder->refs.count, k, compare_refs(&refs[k], &own) < 0);
	for (; i < finder->refs.count && refs[i].module == own.module &&
	       refs[i].function == own.function;
	     i++)
		note(finder, &frame, refs[i].mutex);
}

/* Leaves one of each goroutine of the COUNT HOLDERS of a mutex, sure if one was. Returns how many
 * are left. */
static size_t merge_holders(struct holder *holders, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		struct holder *last = &holders[kept - (kept > 0)];
		if (kept > 0 && last->holder.goroutine == holders[i].holder.goroutine) {
			if ((holders[i].sure && !last->sure) ||
			    (holders[i].has_own && !last->has_own))
				last->holder = holders[i].holder;
			last->sure |= holders[i].sure;
			last->has_own |= holders[i].has_own;
		} else {
			holders[kept++] = holders[i];
		}
	}
	return kept;
}

/* Gives mutex NUMBER those of its COUNT candidates that are its holders. */
static void choose_holders(struct finder *finder, size_t number, const struct holder *candidates,
			   size_t count)
{
	struct gh_deadlocks *deadlocks = finder->deadlocks;
	struct gh_held_mutex *mutex = &deadlocks->mutexes.items[number];
	const struct crowd *crowd = &finder->crowds[number];
	size_t most = mutex->readers > 0 ? mutex->readers : 1;
	bool others = finder->contended[number] || crowd->know > 0, given = crowd->give > 0;
	size_t nsure = 0, nown = 0;
	for (size_t i = 0; i < count; i++) {
		bool waits = waits_for(finder, candidates[i].holder.goroutine, number);
		others = others || !waits;
		given = given || (!waits && !candidates[i].has_own);
		/* One that waits for it will let go of it then. */
		if (!waits || candidates[i].has_own)
			mutex->left = GH_LEFT_UNKNOWN;
		nsure += candidates[i].sure;
		nown += candidates[i].has_own;
	}
	mutex->sure = nsure == most && !given;
	/* As many as are to be found: those who wait for it are among them. */
	others = others && (mutex->readers == 0 || nown != mutex->readers);
	mutex->first = deadlocks->holders.count;
	for (size_t i = 0; i < count; i++) {
		const struct holder *candidate = &candidates[i];
		bool waits = waits_for(finder, candidate->holder.goroutine, number);
		bool may_be = candidate->has_own ? !others || !waits : !waits;
		if (candidate->sure || (!mutex->sure && may_be))
			gh_vector_push(&deadlocks->holders, candidate->holder);
	}
	mutex->nholders = deadlocks->holders.count - mutex->first;
	/* Of several that wait for it, as many as have it can be it. */
	if ((!others && mutex->nholders > most) || (!mutex->sure && crowd->hold > 0))
		mutex->nholders = 0;
}

/* Leaves those mutexes for left locked that nobody may hold; for certain where no code may let go
 * of them. Where some may, one that knows the mutex may be about to. */
static void find_left(struct finder *finder)
{
	struct gh_held_mutex *mutexes = finder->deadlocks->mutexes.items;
	unsigned kinds = 0;
	/* They may hold any; so may all where it is not known what code refers to. */
	if (gh_wait_lacks_frames(finder->dump) ||
	    (finder->nmodules > 0 && finder->modules[0].tab->image->arch->isa != GH_ISA_AMD64))
		finder->unclear = GH_LOCK_ALL;
	for (size_t i = 0; i < finder->deadlocks->mutexes.count; i++) {
		const struct crowd *crowd = &finder->crowds[i];
		if (crowd->hold > 0 || crowd->give > 0 || (mutexes[i].locks & finder->unclear) != 0)
			mutexes[i].left = GH_LEFT_UNKNOWN;
		kinds |= mutexes[i].left != GH_LEFT_UNKNOWN ? mutexes[i].locks : 0;
	}
	unsigned unproved = kinds != 0 ? gh_left_unproved(&finder->frames, kinds) : 0;
	for (size_t i = 0; i < finder->deadlocks->mutexes.count; i++) {
		bool known = finder->contended[i] || finder->crowds[i].know > 0;
		if (mutexes[i].left != GH_LEFT_PERHAPS)
			continue;
		if ((mutexes[i].locks & unproved) == 0)
			mutexes[i].left = GH_LEFT;
		else if (known)
			mutexes[i].left = GH_LEFT_UNKNOWN;
	}
}

static void choose_all_holders(struct finder *finder)
{
	struct holder *holders = finder->holders.items;
	size_t at = 0;
	for (size_t i = 1; i < finder->deadlocks->mutexes.count; i++) {
		finder->crowds[i].know += finder->crowds[i - 1].know;
		finder->crowds[i].hold += finder->crowds[i - 1].hold;
		finder->crowds[i].give += finder->crowds[i - 1].give;
	}
	if (finder->holders.count > 0)
		qsort(holders, finder->holders.count, sizeof(*holders), compare_holders);
	while (at < finder->holders.count) {
		size_t first = at;
		while (at < finder->holders.count && holders[at].mutex == holders[first].mutex)
			at++;
		choose_holders(finder, holders[first].mutex, &holders[first],
			       merge_holders(&holders[first], at - first));
	}
}

bool gh_mutex_holders_find(struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
			   const size_t *wait_of, const struct gh_module *modules, size_t nmodules)
{
	const struct gh_dump *dump = waits->dump;
	struct finder finder = {
	    .deadlocks = deadlocks,
	    .waits = waits,
	    .dump = dump,
	    .modules = modules,
	    .nmodules = nmodules,
	    .wait_of = wait_of,
	    .contended = calloc(deadlocks->mutexes.count + 1, sizeof(bool)),
	    .crowds = calloc(deadlocks->mutexes.count + 1, sizeof(struct crowd)),
	};
	bool ok = finder.contended != NULL && finder.crowds != NULL &&
		  gh_lock_frames_start(&finder.frames, waits, wait_of, modules, nmodules) &&
		  find_refs(&finder);
	for (size_t i = 0; ok && i < dump->stacks.count && !finder.failed; i++) {
		size_t nframes = gh_dump_stack(dump, i)->nframes;
		for (size_t depth = 0; depth < nframes; depth++)
			note_frame(&finder, i, depth);
	}
	ok = ok && !finder.failed && !finder.holders.failed;
	if (ok) {
		choose_all_holders(&finder);
		find_left(&finder);
	}
	ok = ok && !finder.frames.failed;
	free(finder.contended);
	free(finder.crowds);
	gh_lock_frames_free(&finder.frames);
	gh_vector_free(&finder.open);
	gh_vector_free(&finder.holders);
	gh_vector_free(&finder.refs);
	return ok && !deadlocks->holders.failed;
}
