/* The calls in a function that take mutexes or let go of them, and of which. */
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/wait/internal.h"

/* Package sync's methods that take a mutex or let go of it. */
static const struct gh_lock_method methods[] = {
    {"sync.(*Mutex).Lock", GH_LOCK_MUTEX, false, false},
    {"sync.(*Mutex).TryLock", GH_LOCK_MUTEX, false, true},
    {"sync.(*Mutex).Unlock", GH_LOCK_MUTEX, true, false},
    {"sync.(*RWMutex).Lock", GH_LOCK_WRITE, false, false},
    {"sync.(*RWMutex).TryLock", GH_LOCK_WRITE, false, true},
    {"sync.(*RWMutex).Unlock", GH_LOCK_WRITE, true, false},
    {"sync.(*RWMutex).RLock", GH_LOCK_READ, false, false},
    {"sync.(*RWMutex).TryRLock", GH_LOCK_READ, false, true},
    {"sync.(*RWMutex).RUnlock", GH_LOCK_READ, true, false},
};

#define NMETHODS (sizeof(methods) / sizeof(*methods))

/* Of functions with more calls, more ranges of them, or more bytes, none is found. */
enum { MOST_CALLS = 256, MOST_PIECES = 4096, MOST_CODE = 1 << 18 };

/* What RWMutex's inlined methods lock is its readerCount. */
#define READER_COUNT 16

const struct gh_lock_method *gh_lock_method_named(const char *text)
{
	size_t i = 0;
	/* From Go 1.24 on, sync's Mutex is one of internal/sync's. */
	if (strncmp(text, "internal/", 9) == 0)
		text += 9;
	if (strncmp(text, "sync.(", 6) != 0)
		return NULL;
	while (i < NMETHODS && strcmp(text, methods[i].name) != 0)
		i++;
	return i < NMETHODS ? &methods[i] : NULL;
}

const struct gh_lock_method *gh_lock_method_of(unsigned kind, bool unlocks)
{
	size_t i = 0;
	while (methods[i].lock != kind || methods[i].unlocks != unlocks || methods[i].may_fail)
		i++;
	return &methods[i];
}

static const struct gh_lock_method *find_method(const struct gh_pclntab *tab, uint32_t name)
{
	return gh_lock_method_named(gh_pclntab_name(tab, name));
}

bool gh_is_lock_own(const char *name)
{
	static const char *const starts[] = {"(*Mutex).", "(*RWMutex).", "(*Cond).", "runtime_"};
	size_t length = strlen(name);
	/* A value that calls a method is called as any function is. */
	if (length > 3 && strcmp(name + length - 3, "-fm") == 0)
		return false;
	if (strncmp(name, "internal/", 9) == 0)
		name += 9;
	if (strncmp(name, "sync.", 5) != 0)
		return false;
	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strncmp(name + 5, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

int32_t gh_own_line(const struct gh_range *range)
{
	return range->frames[range->nframes - 1].line;
}

/* The outermost inlined call of RANGE that is of one of the methods. NULL if none is. */
static const struct gh_frame *find_frame(const struct gh_pclntab *tab, const struct gh_range *range)
{
	for (unsigned i = range->nframes - 1; i-- > 0;)
		if (find_method(tab, range->frames[i].name) != NULL)
			return &range->frames[i];
	return NULL;
}

/* The receiver of the call at ADDRESS. NULL if it is not known. */
static const struct gh_receiver *find_receiver(const struct gh_lock_calls *calls, uint64_t address)
{
	const struct gh_receiver *items = calls->receivers.list.items;
	size_t count = calls->receivers.list.count;
	size_t at = address - calls->func.entry;
	size_t i = gh_lower_bound(count, k, items[k].at < at);
	return i < count && items[i].at == at && items[i].is_call ? &items[i] : NULL;
}

/* What a locked instruction of PIECE locks. NULL if it is not known. */
static const struct gh_receiver *find_locked(const struct gh_lock_calls *calls,
					     const struct gh_lock_piece *piece)
{
	const struct gh_receiver *items = calls->receivers.list.items;
	uint64_t entry = calls->func.entry;
	size_t count = calls->receivers.list.count;
	size_t i = gh_lower_bound(count, k, items[k].at < piece->start - entry);
	while (i < count && items[i].at < piece->end - entry && items[i].is_call)
		i++;
	return i < count && items[i].at < piece->end - entry ? &items[i] : NULL;
}

/* A locked instruction is in the inlined call that is executing. */
static bool is_here_placed(const struct gh_lock_calls *calls, struct gh_sourcemap *map)
{
	const struct gh_frame *here = find_frame(calls->tab, &calls->here);
	bool placed = false;
	for (size_t i = 0; here != NULL && !placed && i < calls->receivers.list.count; i++) {
		const struct gh_receiver *receiver = &calls->receivers.list.items[i];
		struct gh_range range;
		const struct gh_frame *frame = NULL;
		if (!receiver->is_call &&
		    gh_sourcemap_seek(map, calls->func.entry + receiver->at, &range))
			frame = find_frame(calls->tab, &range);
		placed = frame != NULL && frame->tree_index == here->tree_index;
	}
	return placed;
}

/* How many calls of LINE are not placed, the one that is executing included. */
static size_t count_left(const struct gh_lock_calls *calls, struct gh_sourcemap *map, int32_t line)
{
	bool is_here = find_frame(calls->tab, &calls->here) != NULL;
	size_t count = is_here && gh_own_line(&calls->here) == line && !is_here_placed(calls, map);
	for (size_t i = 0; i < calls->list.count; i++)
		count += calls->list.items[i].line == line && !calls->list.items[i].placed;
	return count;
}

/* What the last locked instruction of LINE before END locks that is in no call. NULL if there is
 * none. */
static const struct gh_receiver *find_locked_in_line(const struct gh_lock_calls *calls,
						     struct gh_sourcemap *map, int32_t line,
						     uint64_t end)
{
	const struct gh_receiver *items = calls->receivers.list.items;
	uint64_t entry = calls->func.entry;
	size_t i = gh_lower_bound(calls->receivers.list.count, k, items[k].at < end - entry);
	struct gh_range range;
	while (i-- > 0)
		if (!items[i].is_call && gh_sourcemap_seek(map, entry + items[i].at, &range) &&
		    gh_own_line(&range) == line && find_frame(calls->tab, &range) == NULL)
			return &items[i];
	return NULL;
}

static bool has_too_many(const struct gh_lock_calls *calls)
{
	return calls->list.count > MOST_CALLS || calls->pieces.count > MOST_PIECES;
}

/* The number of the inlined call TREE. A new one if it was not there. */
static size_t inlined_call(struct gh_lock_calls *calls, int32_t tree,
			   const struct gh_lock_method *method, int32_t line)
{
	size_t i = 0;
	while (i < calls->list.count && calls->list.items[i].tree != tree)
		i++;
	if (i == calls->list.count)
		gh_vector_push(&calls->list, ((struct gh_lock_call){
						 .method = method, .line = line, .tree = tree}));
	return i;
}

static void find_inlined(struct gh_lock_calls *calls, struct gh_sourcemap *map)
{
	const struct gh_frame *here = find_frame(calls->tab, &calls->here);
	struct gh_range range;
	while (!has_too_many(calls) && gh_sourcemap_next(map, &range)) {
		const struct gh_frame *frame = find_frame(calls->tab, &range);
		if (frame == NULL || (here != NULL && here->tree_index == frame->tree_index))
			continue;
		size_t call =
		    inlined_call(calls, frame->tree_index, find_method(calls->tab, frame->name),
				 gh_own_line(&range));
		gh_vector_push(&calls->pieces,
			       ((struct gh_lock_piece){call, range.start, range.end}));
	}
}

static void place(struct gh_lock_call *call, const struct gh_receiver *receiver)
{
	if (call->placed || receiver == NULL)
		return;
	call->placed = true;
	call->receiver = *receiver;
	if (!receiver->is_call && call->method->lock != GH_LOCK_MUTEX)
		call->receiver.offsets[receiver->nloads] -= READER_COUNT;
}

/* Finds what the inlined calls lock, all of which are there. The instruction need not be in the
 * ranges of the call that it is of. */
static void find_all_locked(struct gh_lock_calls *calls, struct gh_sourcemap *map)
{
	struct gh_lock_call *list = calls->list.items;
	const struct gh_lock_piece *pieces = calls->pieces.items;
	size_t count = calls->list.failed ? 0 : calls->pieces.count;
	for (size_t i = 0; i < count; i++)
		place(&list[pieces[i].call], find_locked(calls, &pieces[i]));
	for (size_t i = 0; i < count; i++) {
		struct gh_lock_call *call = &list[pieces[i].call];
		if (!call->placed && count_left(calls, map, call->line) == 1)
			place(call, find_locked_in_line(calls, map, call->line, pieces[i].end));
	}
}

/* Adds the call of METHOD from START to END, in RANGE. One within an inlined call is no other. */
static void add_called(struct gh_lock_calls *calls, const struct gh_lock_method *method,
		       uint64_t start, uint64_t end, const struct gh_range *range)
{
	const struct gh_frame *here = find_frame(calls->tab, &calls->here);
	const struct gh_frame *frame = find_frame(calls->tab, range);
	const struct gh_receiver *receiver = find_receiver(calls, start);
	size_t number = calls->list.count;
	if (frame == NULL)
		gh_vector_push(&calls->list,
			       ((struct gh_lock_call){
				   .method = method, .line = gh_own_line(range), .tree = -1}));
	else if (here == NULL || here->tree_index != frame->tree_index)
		number = inlined_call(calls, frame->tree_index, method, gh_own_line(range));
	if (number == calls->list.count)
		return;
	struct gh_lock_call *call = &calls->list.items[number];
	gh_vector_push(&calls->pieces, ((struct gh_lock_piece){number, start, end}));
	if (call->method == method)
		place(call, receiver);
}

/* The value in REG at the call at AT; unknown if it is not. */
static struct gh_receiver find_passed(const struct gh_lock_calls *calls, size_t at, uint8_t reg)
{
	const struct gh_passed *items = calls->receivers.passed.items;
	size_t count = calls->receivers.passed.count;
	size_t i = gh_lower_bound(count, k, items[k].value.at < at);
	for (; i < count && items[i].value.at == at; i++)
		if (items[i].reg == reg)
			return items[i].value;
	return (struct gh_receiver){0};
}

/* What EFFECT, of a call at AT, is on, by what the caller passes. */
static struct gh_receiver compose(const struct gh_lock_calls *calls, size_t at,
				  const struct gh_lock_effect *effect)
{
	const struct gh_receiver *inner = &effect->receiver;
	struct gh_receiver made = *inner;
	if (inner->from == GH_RECEIVER_ARGUMENT) {
		made = find_passed(calls, at, inner->reg);
		if (made.nloads + inner->nloads > GH_RECEIVER_LOADS)
			made.known = false;
		for (unsigned i = 0; made.known && i <= inner->nloads; i++)
			made.offsets[made.nloads + i] =
			    inner->offsets[i] + (i == 0 ? made.offsets[made.nloads] : 0);
		made.nloads += inner->nloads;
	}
	made.at = at;
	made.is_call = true;
	made.is_lasting = made.known && made.nloads == 0;
	return made;
}

/* Adds what the function at ENTRY has done when the call from START to END, in RANGE, returns. */
static void add_effects(struct gh_lock_calls *calls, struct gh_lock_code *code, uint64_t entry,
			uint64_t start, uint64_t end, const struct gh_range *range)
{
	const struct gh_lock_effects *effects = gh_lock_effects_of(code, calls->tab, entry);
	for (size_t i = 0; i < effects->count; i++) {
		struct gh_lock_call call = {
		    .method = effects->items[i].method,
		    .line = gh_own_line(range),
		    .tree = -1,
		    .placed = true,
		    .receiver = compose(calls, start - calls->func.entry, &effects->items[i]),
		};
		gh_vector_push(&calls->pieces,
			       ((struct gh_lock_piece){calls->list.count, start, end}));
		gh_vector_push(&calls->list, call);
	}
}

/* Fills in the function that SITE calls, and where the instruction begins, if it is one of TARGETS:
 * a prefix may come before the opcode. */
static void find_target(struct gh_callsite *site, const struct gh_lock_targets *targets)
{
	for (size_t i = 0; !site->direct && targets != NULL && i < targets->count; i++)
		if (site->start - targets->items[i].at <= 1) {
			site->start = targets->items[i].at;
			site->target = targets->items[i].entry;
			return;
		}
}

static void find_called(struct gh_lock_calls *calls, struct gh_lock_code *code,
			struct gh_sourcemap *map, const struct gh_lock_targets *targets)
{
	const struct gh_pclntab *tab = calls->tab;
	uint64_t entry = calls->func.entry;
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_func callee;
	struct gh_range range;
	gh_callsites_in(&walk, tab->image, entry, calls->func.end);
	while (!has_too_many(calls) && gh_callsites_next(&walk, &site)) {
		find_target(&site, targets);
		size_t index = site.target != 0 ? gh_pclntab_find(tab, site.target) : SIZE_MAX;
		uint64_t start = entry + site.start, end = entry + site.end;
		if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &callee, NULL) ||
		    callee.entry != site.target || calls->pc - start < end - start)
			continue;
		const struct gh_lock_method *method = find_method(tab, callee.name);
		if (method != NULL && gh_sourcemap_seek(map, start, &range))
			add_called(calls, method, start, end, &range);
		else if (method == NULL && code != NULL && gh_sourcemap_seek(map, start, &range))
			add_effects(calls, code, site.target, start, end, &range);
	}
}

/* A call that is placed is nowhere else: other instructions in its ranges are not of it. */
static void narrow_pieces(struct gh_lock_calls *calls)
{
	struct gh_lock_piece *pieces = calls->pieces.items;
	size_t kept = 0;
	for (size_t i = 0; i < calls->pieces.count; i++) {
		const struct gh_lock_call *call = &calls->list.items[pieces[i].call];
		if (!call->placed)
			pieces[kept++] = pieces[i];
	}
	calls->pieces.count = kept;
	for (size_t i = 0; i < calls->list.count; i++) {
		const struct gh_lock_call *call = &calls->list.items[i];
		uint64_t start = calls->func.entry + call->receiver.at;
		if (call->placed)
			gh_vector_push(&calls->pieces,
				       ((struct gh_lock_piece){i, start, start + 1}));
	}
}

bool gh_lock_calls_any(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_sourcemap map = {0};
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_range range;
	bool any = false;
	gh_callsites_in(&walk, tab->image, func->entry, func->end);
	while (!any && gh_callsites_next(&walk, &site)) {
		struct gh_func callee;
		size_t index = site.direct ? gh_pclntab_find(tab, site.target) : SIZE_MAX;
		any = index != SIZE_MAX && gh_pclntab_record(tab, index, &callee, NULL) &&
		      find_method(tab, callee.name) != NULL;
	}
	if (!any && gh_sourcemap_start(&map, tab, func))
		while (!any && gh_sourcemap_next(&map, &range))
			any = find_frame(tab, &range) != NULL;
	gh_sourcemap_free(&map);
	return any;
}

bool gh_lock_calls_find(struct gh_lock_calls *calls, const struct gh_pclntab *tab,
			struct gh_lock_code *code, uint64_t pc,
			const struct gh_lock_targets *targets)
{
	struct gh_sourcemap map = {0};
	*calls = (struct gh_lock_calls){.tab = tab, .pc = pc};
	size_t index = gh_pclntab_find(tab, pc);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &calls->func, NULL) ||
	    gh_is_lock_own(gh_pclntab_name(tab, calls->func.name)))
		return true;
	calls->is_skipped = calls->func.end - calls->func.entry > MOST_CODE;
	if (calls->is_skipped)
		return true;
	bool ok = gh_receivers_find(&calls->receivers, tab, &calls->func);
	if (ok && gh_sourcemap_start(&map, tab, &calls->func) &&
	    gh_sourcemap_seek(&map, pc, &calls->here) &&
	    gh_sourcemap_start(&map, tab, &calls->func)) {
		calls->is_inside = find_frame(tab, &calls->here) != NULL;
		find_inlined(calls, &map);
		if (!has_too_many(calls))
			find_all_locked(calls, &map);
		find_called(calls, code, &map, targets);
	}
	gh_sourcemap_free(&map);
	ok = ok && !calls->list.failed && !calls->pieces.failed;
	calls->is_skipped = has_too_many(calls);
	if (calls->is_skipped)
		calls->list.count = calls->pieces.count = 0;
	if (ok)
		narrow_pieces(calls);
	return ok && !calls->pieces.failed;
}

void gh_lock_calls_free(struct gh_lock_calls *calls)
{
	gh_receivers_free(&calls->receivers);
	gh_vector_free(&calls->list);
	gh_vector_free(&calls->pieces);
}
