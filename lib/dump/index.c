#include "lib/dump/internal.h"

#include <inttypes.h>
#include <stdlib.h>

/* A wait start from here on is a time since 1970, which LastGC is; below it, one of a clock that
 * starts with the machine. */
#define EPOCH_TIMES UINT64_C(1000000000000000000)

/* What the pass knows of the records before. */
struct pass {
	struct gh_dump *dump;
	struct gh_dump_stack *stack; /* of the goroutine that frames now belong to; NULL for none */
	uint64_t g;                  /* its */
	uint64_t depth;              /* of the next frame */
	uint64_t child_sp;           /* of the frame before; 0 if there is none */
	uint64_t return_slot;        /* where the prototype's frame before has its return address; 0
					if there is none */
	uint64_t last_gc;            /* time of the last garbage collection, since 1970 in ns */
	bool disordered;             /* some frame's depth is not the next */
};

static bool add_extent(struct gh_extents *extents, uint64_t address, uint64_t size, uint64_t offset)
{
	const struct gh_extent extent = {.address = address, .size = size, .offset = offset};
	return gh_extents_add(extents, &extent);
}

/* Adds a word to EXTENTS, which are the dump's. */
static bool add_word(struct gh_dump *dump, struct gh_extents *extents, uint64_t address,
		     uint64_t value)
{
	size_t offset = dump->words.size;
	dump->words.big_endian = dump->file.big_endian;
	gh_buffer_uint(&dump->words, value, dump->word);
	return !dump->words.failed && add_extent(extents, address, dump->word, offset);
}

static bool add_offset(struct gh_dump *dump, const struct gh_dump_record *record)
{
	return gh_vector_push(&dump->offsets[record->kind], record->offset);
}

static bool add_goroutine(struct pass *pass, const struct gh_dump_record *record)
{
	struct gh_dump *dump = pass->dump;
	struct gh_dump_stack *stack = gh_vector_extend(&dump->stacks, 1);
	if (stack == NULL)
		return false;
	*stack = (struct gh_dump_stack){
	    .offset = record->offset,
	    .first_frame = dump->frames.items.count,
	    .first_defer = gh_dump_count(dump, GH_DUMP_DEFER),
	    .first_panic = gh_dump_count(dump, GH_DUMP_PANIC),
	};
	if (record->goroutine.wait_start > dump->latest)
		dump->latest = record->goroutine.wait_start;
	pass->stack = stack;
	pass->g = record->goroutine.g;
	pass->depth = 0;
	pass->child_sp = 0;
	pass->return_slot = 0;
	return true;
}

/* The prototype's frames do not say how deep they are. */
static void check_frame(struct pass *pass, const struct gh_dump_frame *frame)
{
	struct gh_dump_damage *damage = &pass->dump->damage;
	if (pass->stack == NULL) {
		damage->orphan_frames++;
		return;
	}
	pass->stack->nframes++;
	if (pass->dump->format == GH_DUMP_PROTOTYPE)
		return;
	if (frame->depth != pass->depth || frame->child_sp != pass->child_sp)
		damage->misplaced_frames++;
	if (frame->depth != pass->depth)
		pass->disordered = true;
	pass->depth = frame->depth + 1;
	pass->child_sp = frame->sp;
}

/* The prototype has no contents of frames, but by the next frame a return address is known: the
 * machines that it was written on have it in a frame's last word. */
static bool add_return_address(struct pass *pass, const struct gh_dump_frame *frame)
{
	struct gh_dump *dump = pass->dump;
	uint64_t slot = pass->return_slot;
	pass->return_slot = 0;
	if (pass->stack != NULL && frame->size >= dump->word)
		pass->return_slot = frame->parent_sp - dump->word;
	return slot == 0 || add_word(dump, &dump->stack_words, slot, frame->pc);
}

static bool add_frame(struct pass *pass, const struct gh_dump_record *record)
{
	const struct gh_dump_frame *frame = &record->frame;
	check_frame(pass, frame);
	if (pass->dump->format == GH_DUMP_PROTOTYPE && !add_return_address(pass, frame))
		return false;
	return add_extent(&pass->dump->frames, frame->sp, frame->contents.size, record->offset);
}

/* A defer or panic of the goroutine whose g is OWNER, counted in COUNT. */
static bool add_owned(struct pass *pass, const struct gh_dump_record *record, uint64_t owner,
		      size_t *count)
{
	if (pass->stack == NULL || owner != pass->g)
		pass->dump->damage.strays++;
	if (count != NULL)
		++*count;
	return add_offset(pass->dump, record);
}

static bool add_record(struct pass *pass, const struct gh_dump_record *record)
{
	struct gh_dump *dump = pass->dump;
	switch (record->kind) {
	case GH_DUMP_OBJECT:
		return add_extent(&dump->objects, record->object.address,
				  record->object.contents.size, record->offset);
	case GH_DUMP_GOROUTINE:
		return add_goroutine(pass, record);
	case GH_DUMP_FRAME:
		return add_frame(pass, record);
	case GH_DUMP_DATA:
	case GH_DUMP_BSS:
		return add_offset(dump, record) &&
		       add_extent(&dump->segments, record->segment.address,
				  record->segment.contents.size, record->offset);
	case GH_DUMP_DEFER:
		return add_owned(pass, record, record->defer.goroutine,
				 pass->stack != NULL ? &pass->stack->ndefers : NULL);
	case GH_DUMP_PANIC:
		return add_owned(pass, record, record->panic.goroutine,
				 pass->stack != NULL ? &pass->stack->npanics : NULL);
	case GH_DUMP_STACK_ROOT:
		return add_offset(dump, record) &&
		       add_word(dump, &dump->stack_words, record->stack_root.address,
				record->stack_root.pointer);
	case GH_DUMP_DATA_ROOT:
		return add_offset(dump, record) &&
		       add_word(dump, &dump->data_words, record->data_root.address,
				record->data_root.pointer);
	case GH_DUMP_MEMSTATS:
		pass->last_gc = record->memstats.counters[GH_DUMP_LAST_GC];
		return add_offset(dump, record);
	default:
		return add_offset(dump, record);
	}
}

/* Notes why the records end at RECORD, which could not be read up to CUR. */
static void note_end(struct gh_dump *dump, const struct gh_cursor *cur,
		     const struct gh_dump_record *record)
{
	struct gh_error *warning = &dump->warning;
	uint64_t size = gh_cursor_size(&dump->file);
	if (record->offset == size)
		gh_fail(warning, dump->path, size, "a record", "the end of the file");
	else if (!cur->failed)
		gh_fail(warning, dump->path, record->offset, "a record",
			"tag %" PRIu64 "; only what comes before is used", record->tag);
	else if (gh_dump_number_is_long(dump, cur))
		gh_fail(warning, dump->path, gh_cursor_offset(cur), "a number of at most 64 bits",
			"a longer one in a record (%s); only what comes before is used",
			gh_dump_kind_name(record->kind));
	else
		gh_fail(warning, dump->path, record->offset, "a whole record",
			"the end of the file, at 0x%" PRIx64
			", within it (%s); only what comes before is used",
			size, gh_dump_kind_name(record->kind));
}

/* Reads the records from CUR on. False if memory ran out. */
static bool read_records(struct pass *pass, struct gh_cursor *cur)
{
	struct gh_dump *dump = pass->dump;
	struct gh_dump_record record;
	for (;;) {
		if (!gh_objects_read(dump, cur))
			return false;
		if (!gh_dump_record_read(cur, dump->format, &record))
			break;
		if (record.kind == GH_DUMP_EOF)
			return gh_dump_read_section(dump, cur);
		if (!add_record(pass, &record))
			return false;
	}
	note_end(dump, cur, &record);
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	const struct gh_dump_key *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static uint64_t key_of(const struct gh_dump_record *record)
{
	switch (record->kind) {
	case GH_DUMP_TYPE:
		return record->type.address;
	case GH_DUMP_ITAB:
		return record->itab.address;
	case GH_DUMP_GOROUTINE:
		return record->goroutine.id;
	default:
		return record->profile.id;
	}
}

/* The keys of all records of KIND, sorted; NULL if memory ran out. */
static struct gh_dump_key *make_keys(const struct gh_dump *dump, enum gh_dump_kind kind)
{
	size_t count = gh_dump_count(dump, kind);
	struct gh_dump_key *keys = calloc(count + 1, sizeof(*keys));
	struct gh_dump_record record;
	for (size_t i = 0; keys != NULL && i < count; i++) {
		gh_dump_get(dump, kind, i, &record);
		keys[i] = (struct gh_dump_key){.key = key_of(&record), .number = i};
	}
	if (keys != NULL)
		qsort(keys, count, sizeof(*keys), compare_keys);
	return keys;
}

static bool count_duplicates(struct gh_dump *dump)
{
	struct gh_dump_key *keys = make_keys(dump, GH_DUMP_GOROUTINE);
	if (keys == NULL)
		return false;
	for (size_t i = 1; i < dump->stacks.count; i++)
		dump->damage.duplicate_ids += keys[i].key == keys[i - 1].key;
	free(keys);
	return true;
}

/* Puts the frames of STACK, whose places are those from first_frame on, in the order of their
 * depths. */
static void order_stack(struct gh_dump *dump, const struct gh_dump_stack *stack,
			struct gh_dump_key *depths)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < stack->nframes; i++) {
		size_t place = stack->first_frame + i;
		struct gh_cursor cur = dump->file;
		gh_cursor_seek(&cur, gh_extents_get(&dump->frames, place).offset);
		gh_dump_record_read(&cur, dump->format, &record);
		depths[i] = (struct gh_dump_key){.key = record.frame.depth, .number = place};
	}
	qsort(depths, stack->nframes, sizeof(*depths), compare_keys);
	for (size_t i = 0; i < stack->nframes; i++)
		dump->frame_order[stack->first_frame + i] = depths[i].number;
}

static bool order_frames(struct gh_dump *dump)
{
	size_t count = dump->frames.items.count;
	size_t *order = calloc(count, sizeof(*order));
	struct gh_dump_key *depths = calloc(count, sizeof(*depths));
	dump->frame_order = order;
	bool ok = order != NULL && depths != NULL;
	for (size_t i = 0; ok && i < count; i++)
		order[i] = i;
	for (size_t i = 0; ok && i < dump->stacks.count; i++)
		order_stack(dump, gh_dump_stack(dump, i), depths);
	free(depths);
	return ok;
}

/* Sorts what the pass gathered. */
static bool finish(struct pass *pass)
{
	static const enum gh_dump_kind keyed[] = {GH_DUMP_TYPE, GH_DUMP_ITAB, GH_DUMP_PROFILE};
	struct gh_dump *dump = pass->dump;
	if (!gh_extents_finish(&dump->objects) || !gh_extents_finish(&dump->frames) ||
	    !gh_extents_finish(&dump->segments) || !gh_extents_finish(&dump->stack_words) ||
	    !gh_extents_finish(&dump->data_words) || !count_duplicates(dump))
		return false;
	dump->damage.overlapping_objects = dump->objects.overlapping;
	dump->damage.overlapping_frames = dump->frames.overlapping;
	for (unsigned i = 0; i < sizeof(keyed) / sizeof(keyed[0]); i++) {
		dump->keys[keyed[i]] = make_keys(dump, keyed[i]);
		if (dump->keys[keyed[i]] == NULL)
			return false;
	}
	if (dump->latest >= EPOCH_TIMES && pass->last_gc > dump->latest)
		dump->latest = pass->last_gc;
	return !pass->disordered || order_frames(dump);
}

bool gh_dump_index(struct gh_dump *dump, uint64_t first)
{
	struct pass pass = {.dump = dump};
	struct gh_cursor cur = dump->file;
	gh_cursor_seek(&cur, first);
	if (!read_records(&pass, &cur) || !finish(&pass))
		return false;
	size_t params = gh_dump_count(dump, GH_DUMP_PARAMS);
	dump->damage.repeated_params = params > 0 ? params - 1 : 0;
	return true;
}
