#include "lib/heap/heap.h"

#include <stdlib.h>
#include <string.h>

#include "lib/heap/internal.h"

enum gh_dump_kind gh_root_record(const struct gh_dump *dump, enum gh_root_kind kind)
{
	static const enum gh_dump_kind kinds[] = {
	    [GH_ROOT_DATA] = GH_DUMP_DATA,
	    [GH_ROOT_BSS] = GH_DUMP_BSS,
	    [GH_ROOT_FRAME] = GH_DUMP_FRAME,
	    [GH_ROOT_GOROUTINE] = GH_DUMP_GOROUTINE,
	    [GH_ROOT_DEFER] = GH_DUMP_DEFER,
	    [GH_ROOT_PANIC] = GH_DUMP_PANIC,
	    [GH_ROOT_FINALIZER] = GH_DUMP_FINALIZER,
	    [GH_ROOT_QUEUED_FINALIZER] = GH_DUMP_QUEUED_FINALIZER,
	    [GH_ROOT_CLEANUP_CLOSURE] = GH_DUMP_OBJECT,
	    [GH_ROOT_OTHER] = GH_DUMP_OTHER_ROOT,
	};
	if (dump->format == GH_DUMP_PROTOTYPE && kind == GH_ROOT_DATA)
		return GH_DUMP_DATA_ROOT;
	if (dump->format == GH_DUMP_PROTOTYPE && kind == GH_ROOT_FRAME)
		return GH_DUMP_STACK_ROOT;
	return kinds[kind];
}

/* Where roots go to. */
struct gathering {
	const struct gh_dump *dump;
	const struct gh_object_table *table;
	struct gh_roots *roots;
	struct gh_roots_damage *damage;
	uint8_t *finalized; /* a bit for each object whose finalizer has been seen; owned */
	struct gh_reached_frames frames; /* that pointers on stacks lead to */
	enum gh_root_kind kind;          /* of what is read now */
	uint32_t number;                 /* of its record */
	bool conservative;               /* what is read now may be no pointer */
	bool passing;                    /* what is read now is kept for a finalizer alone */
};

/* Roots of KIND are on a goroutine's stack, or the collector takes them for such. */
static bool is_on_stack(enum gh_root_kind kind)
{
	return kind == GH_ROOT_FRAME || kind == GH_ROOT_GOROUTINE || kind == GH_ROOT_DEFER ||
	       kind == GH_ROOT_PANIC;
}

/* Adds a root to the object that ADDRESS is in, if it is in one. */
static void add(struct gathering *to, uint64_t address, uint64_t offset)
{
	if (address == 0)
		return;
	uint32_t object = gh_object_table_find(to->table, address);
	if (object == GH_HEAP_NONE && is_on_stack(to->kind))
		gh_reached_frames_add(&to->frames, address);
	if (object == GH_HEAP_NONE)
		return;
	gh_vector_push(to->roots, (struct gh_root){object, to->number, offset, to->kind,
						   to->conservative, to->passing});
}

/* Adds the pointers of RECORD. */
static void add_pointers(struct gathering *to, const struct gh_dump_record *record)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_of(to->dump, to->table, record, &walk);
	while (gh_pointers_next(&walk, &pointer))
		add(to, pointer.value, pointer.offset);
}

static void add_goroutine(struct gathering *to, const struct gh_dump_goroutine *goroutine)
{
	add(to, goroutine->context, GH_ROOT_CONTEXT);
	add(to, goroutine->top_defer, GH_ROOT_TOP_DEFER);
	add(to, goroutine->top_panic, GH_ROOT_TOP_PANIC);
}

/* What a registered finalizer will be called with is kept, but not the object itself, or it would
 * never be: so do markrootSpans and gcScanFinalizer of Go's src/runtime/mgcmark.go. */
static void add_finalizer(struct gathering *to, const struct gh_dump_finalizer *finalizer)
{
	add(to, finalizer->func_value, GH_ROOT_CLOSURE);
	uint32_t object = gh_object_table_find(to->table, finalizer->object);
	if (object == GH_HEAP_NONE) {
		to->damage->lost_finalizers++;
		return;
	}
	/* Go has one for an object: no more are looked at, or they could be many of a large one. */
	uint8_t bit = (uint8_t)(1U << object % 8);
	if ((to->finalized[object / 8] & bit) != 0)
		return;
	to->finalized[object / 8] |= bit;
	struct gh_dump_record record;
	gh_dump_get(to->dump, GH_DUMP_OBJECT, gh_object_table_get(to->table, object).number,
		    &record);
	to->passing = true;
	add_pointers(to, &record);
	to->passing = false;
}

static bool slice_is(struct gh_cursor bytes, const char *text)
{
	size_t size = gh_cursor_left(&bytes);
	return size == strlen(text) && memcmp(bytes.pos, text, size) == 0;
}

/* A root of this DESCRIPTION may be no pointer. */
static bool is_perhaps(const struct gh_dump *dump, struct gh_dump_slice description)
{
	size_t size = strlen(GH_DUMP_PERHAPS);
	if (description.size < size)
		return false;
	description.offset += description.size - size;
	description.size = size;
	return slice_is(gh_dump_bytes(dump, description), GH_DUMP_PERHAPS);
}

bool gh_roots_have_stack_objects(const struct gh_dump *dump)
{
	struct gh_dump_record record;
	if (gh_dump_count(dump, GH_DUMP_OTHER_ROOT) == 0)
		return false;
	gh_dump_get(dump, GH_DUMP_OTHER_ROOT, 0, &record);
	return record.other_root.pointer == 0 &&
	       slice_is(gh_dump_bytes(dump, record.other_root.description),
			GH_DUMP_HAS_STACK_OBJECTS);
}

static void add_record(struct gathering *to, const struct gh_dump_record *record)
{
	switch (record->kind) {
	case GH_DUMP_GOROUTINE:
		add_goroutine(to, &record->goroutine);
		break;
	case GH_DUMP_DEFER:
		add(to, record->defer.func_value, 0);
		break;
	case GH_DUMP_PANIC:
		add(to, record->panic.argument_data, 0);
		break;
	case GH_DUMP_FINALIZER:
		add_finalizer(to, &record->finalizer);
		break;
	case GH_DUMP_QUEUED_FINALIZER:
		add(to, record->finalizer.object, 0);
		add(to, record->finalizer.func_value, GH_ROOT_CLOSURE);
		break;
	case GH_DUMP_OTHER_ROOT:
		to->conservative = is_perhaps(to->dump, record->other_root.description);
		add(to, record->other_root.pointer, 0);
		break;
	case GH_DUMP_FRAME:
		to->conservative = record->frame.continuation == GH_DUMP_INTERRUPTED;
		add_pointers(to, record);
		break;
	case GH_DUMP_STACK_ROOT:
		add(to, record->stack_root.pointer, 0);
		break;
	case GH_DUMP_DATA_ROOT:
		add(to, record->data_root.pointer, 0);
		break;
	case GH_DUMP_DATA:
	case GH_DUMP_BSS:
		add_pointers(to, record);
		break;
	case GH_DUMP_EOF:
	case GH_DUMP_OBJECT:
	case GH_DUMP_TYPE:
	case GH_DUMP_PARAMS:
	case GH_DUMP_ITAB:
	case GH_DUMP_THREAD:
	case GH_DUMP_MEMSTATS:
	case GH_DUMP_PROFILE:
	case GH_DUMP_SAMPLE:
	case GH_DUMP_KINDS:
		break; /* no roots */
	}
}

/* Adds the words of the frames that pointers on stacks lead to. False if memory ran out. */
static bool add_frames_met(struct gathering *to)
{
	struct gh_frame_words words;
	enum gh_reached_next next;
	uint64_t offset, value;
	to->kind = GH_ROOT_FRAME;
	to->conservative = true;
	while ((next = gh_reached_frames_next(&to->frames, &words)) == GH_REACHED_FRAME) {
		to->number = (uint32_t)words.number;
		while (gh_frame_words_next(&words, &offset, &value))
			add(to, value, offset);
		gh_frame_words_free(&words);
	}
	return next == GH_REACHED_END;
}

enum gh_root_rank gh_root_rank(const struct gh_root *root)
{
	if (root->conservative)
		return GH_RANK_CONSERVATIVE;
	return root->passing ? GH_RANK_PASSING : GH_RANK_LASTING;
}

static int compare(const void *a, const void *b)
{
	const struct gh_root *x = a, *y = b;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	if (gh_root_rank(x) != gh_root_rank(y))
		return gh_root_rank(x) < gh_root_rank(y) ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

void gh_roots_sort(struct gh_roots *all)
{
	struct gh_root *roots = all->items;
	size_t count = all->count, kept = 0;
	if (count > 0)
		qsort(roots, count, sizeof(*roots), compare);
	for (size_t i = 0; i < count; i++) {
		const struct gh_root *last = kept > 0 ? &roots[kept - 1] : NULL;
		if (roots[i].conservative && last != NULL && last->object == roots[i].object &&
		    !last->conservative)
			continue;
		roots[kept++] = roots[i];
	}
	all->count = kept;
}

/* Adds the roots of TO's kind. */
static void add_kind(struct gathering *to)
{
	enum gh_dump_kind record_kind = gh_root_record(to->dump, to->kind);
	size_t count = gh_dump_count(to->dump, record_kind);
	for (size_t number = 0; number < count && number < UINT32_MAX; number++) {
		struct gh_dump_record record;
		gh_dump_get(to->dump, record_kind, number, &record);
		to->number = (uint32_t)number;
		to->conservative = false;
		add_record(to, &record);
	}
}

bool gh_roots_find(const struct gh_dump *dump, const struct gh_object_table *table,
		   struct gh_roots *roots, struct gh_roots_damage *damage)
{
	struct gathering to = {.dump = dump, .table = table, .roots = roots, .damage = damage};
	to.finalized = calloc(table->count / 8 + 1, 1);
	bool ok = gh_reached_frames_start(&to.frames, dump) && to.finalized != NULL;
	for (unsigned kind = 0; ok && kind < GH_ROOT_KINDS; kind++) {
		to.kind = (enum gh_root_kind)kind;
		/* A dump has no records of cleanups. */
		if (to.kind != GH_ROOT_CLEANUP_CLOSURE)
			add_kind(&to);
	}
	/* Releases before 1.7 have no such variables. */
	if (ok && dump->format >= GH_DUMP_1_7 && !gh_roots_have_stack_objects(dump))
		ok = add_frames_met(&to);
	ok = ok && !roots->failed && !to.frames.queue.failed;
	gh_reached_frames_free(&to.frames);
	free(to.finalized);
	if (ok)
		gh_roots_sort(roots);
	return ok;
}
