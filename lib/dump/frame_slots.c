#include "lib/dump/dump.h"

#include <stdlib.h>

#include "lib/util/bsearch.h"
#include "lib/util/vector.h"

/* No pointer was seen in a slot yet. */
#define NOTHING_SEEN (SIZE_MAX - 1)

/* A frame and where it is looked up. */
struct located {
	uint64_t address;
	size_t frame; /* its number */
	bool last;    /* of its stack */
};

/* A field of some frame at a site. */
struct seen {
	uint64_t offset; /* from the frame's sp, in bytes */
	enum gh_field_kind kind;
	uint64_t pointer; /* its pointer, where objects have types; else 0 */
};

/* A stack root of the prototype. */
struct root {
	uint64_t sp;      /* of its frame */
	uint64_t offset;  /* from that, in bytes */
	uint64_t pointer; /* that is there */
	bool taken;       /* a frame at that sp has it and those after it; no other gets them */
};

/* The collection at work. */
struct collector {
	const struct gh_dump *dump;
	const struct gh_arch *arch;
	struct GH_VECTOR(struct located) frames;
	struct GH_VECTOR(struct gh_site) sites;
	struct GH_VECTOR(struct gh_slot) slots;
	struct GH_VECTOR(struct seen) fields; /* of the site */
	struct GH_VECTOR(struct root) roots;  /* by sp */
};

uint64_t gh_top_frame_pc(const struct gh_arch *arch, const struct gh_dump_frame *top)
{
	/* No call returns to where the instructions are that make the frame. */
	bool returns = top->pc > top->entry && top->pc - top->entry > 2 * arch->quantum;
	return returns ? gh_arch_call_pc(arch, top->pc) : top->pc;
}

static struct gh_dump_record get_frame(const struct collector *collector, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(collector->dump, GH_DUMP_FRAME, number, &record);
	return record;
}

/* The address by which FRAME's place in the code is looked up. */
static uint64_t lookup_address(const struct gh_arch *arch, const struct gh_dump_frame *frame,
			       bool top)
{
	if (top || frame->pc == frame->entry)
		return gh_top_frame_pc(arch, frame);
	return gh_arch_call_pc(arch, frame->pc);
}

static void locate_stack(struct collector *collector, const struct gh_dump_stack *stack)
{
	for (size_t i = 0; i < stack->nframes; i++) {
		size_t number = stack->first_frame + i;
		struct gh_dump_record record = get_frame(collector, number);
		if (record.frame.pc == 0 || record.frame.entry > record.frame.pc)
			continue;
		struct located located = {lookup_address(collector->arch, &record.frame, i == 0),
					  number, i + 1 == stack->nframes};
		gh_vector_push(&collector->frames, located);
	}
}

static int compare_located(const void *a, const void *b)
{
	const struct located *first = a;
	const struct located *second = b;
	if (first->address != second->address)
		return first->address > second->address ? 1 : -1;
	return (first->frame > second->frame) - (first->frame < second->frame);
}

static int compare_roots(const void *a, const void *b)
{
	const struct root *first = a;
	const struct root *second = b;
	return (first->sp > second->sp) - (first->sp < second->sp);
}

static void sort_roots(struct collector *collector)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(collector->dump, GH_DUMP_STACK_ROOT); i++) {
		gh_dump_get(collector->dump, GH_DUMP_STACK_ROOT, i, &record);
		const struct gh_dump_stack_root *found = &record.stack_root;
		struct root root = {found->sp, found->address - found->sp, found->pointer, false};
		if (root.offset <= INT64_MAX)
			gh_vector_push(&collector->roots, root);
	}
	if (collector->roots.count > 0)
		qsort(collector->roots.items, collector->roots.count, sizeof(struct root),
		      compare_roots);
}

/* The place of the first root whose frame's sp is SP or higher. */
static size_t first_root(const struct root *roots, size_t count, uint64_t sp)
{
	return gh_lower_bound(count, i, roots[i].sp < sp);
}

/* Adds the roots in the frame at SP to the site's fields. */
static void collect_roots(struct collector *collector, uint64_t sp)
{
	struct root *roots = collector->roots.items;
	size_t count = collector->roots.count;
	for (size_t i = first_root(roots, count, sp);
	     i < count && roots[i].sp == sp && !roots[i].taken; i++) {
		struct seen seen = {roots[i].offset, GH_FIELD_POINTER, roots[i].pointer};
		gh_vector_push(&collector->fields, seen);
		roots[i].taken = true;
	}
}

/* Where in a field its pointer is, in words. */
static unsigned pointer_word(enum gh_field_kind kind)
{
	return kind == GH_FIELD_IFACE || kind == GH_FIELD_EFACE ? 1 : 0;
}

/* The pointer in FIELD of a frame with these CONTENTS. */
static uint64_t pointer_of(const struct gh_dump *dump, const struct gh_field *field,
			   struct gh_cursor contents)
{
	gh_cursor_seek(&contents, field->offset + pointer_word(field->kind) * dump->word);
	return gh_cursor_uint(&contents, dump->word);
}

/* Adds the fields of frame NUMBER to the site's. */
static void collect_frame(struct collector *collector, size_t number)
{
	const struct gh_dump *dump = collector->dump;
	struct gh_dump_record record = get_frame(collector, number);
	if (dump->format == GH_DUMP_PROTOTYPE) {
		collect_roots(collector, record.frame.sp);
		return;
	}
	struct gh_cursor contents = gh_dump_bytes(dump, record.frame.contents);
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(dump, &record, &walk);
	while (gh_fields_next(&walk, &field)) {
		struct seen seen = {field.offset, field.kind, 0};
		if (dump->format <= GH_DUMP_1_3)
			seen.pointer = pointer_of(dump, &field, contents);
		gh_vector_push(&collector->fields, seen);
	}
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *first = a;
	const struct seen *second = b;
	if (first->offset != second->offset)
		return first->offset > second->offset ? 1 : -1;
	return (first->kind > second->kind) - (first->kind < second->kind);
}

/* The number of the type of the object that begins at ADDRESS; GH_DUMP_NONE if none does, or it is
 * not known to be of one type. */
static size_t type_at(const struct gh_dump *dump, uint64_t address)
{
	size_t number = gh_dump_find_object(dump, address);
	if (number == GH_DUMP_NONE)
		return GH_DUMP_NONE;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_OBJECT, number, &record);
	struct gh_dump_object object = record.object;
	if (object.address != address || object.type == 0 || object.type_kind > GH_DUMP_ARRAY)
		return GH_DUMP_NONE;
	number = gh_dump_find(dump, GH_DUMP_TYPE, object.type);
	if (number == GH_DUMP_NONE)
		return GH_DUMP_NONE;
	gh_dump_get(dump, GH_DUMP_TYPE, number, &record);
	return record.type.size <= object.contents.size ? number : GH_DUMP_NONE;
}

/* Notes that SLOT points to POINTER in some frame. */
static void see_pointer(const struct gh_dump *dump, struct gh_slot *slot, uint64_t pointer)
{
	if (pointer == 0 || slot->type == GH_DUMP_NONE)
		return;
	size_t type = type_at(dump, pointer);
	if (slot->type == NOTHING_SEEN)
		slot->type = type;
	else if (slot->type != type)
		slot->type = GH_DUMP_NONE;
}

/* Makes one slot of the COUNT fields at one offset: of the kind that is first. */
static void make_slot(struct collector *collector, const struct seen *fields, size_t count)
{
	struct gh_slot slot = {fields->offset, fields->kind, NOTHING_SEEN};
	for (size_t i = 0; i < count && fields[i].kind == slot.kind; i++)
		if (slot.kind != GH_FIELD_STRING)
			see_pointer(collector->dump, &slot, fields[i].pointer);
	if (slot.type == NOTHING_SEEN)
		slot.type = GH_DUMP_NONE;
	gh_vector_push(&collector->slots, slot);
}

/* Makes the site's slots of its fields. */
static void make_slots(struct collector *collector, struct gh_site *site)
{
	struct seen *fields = collector->fields.items;
	size_t count = collector->fields.count;
	if (count > 0)
		qsort(fields, count, sizeof(*fields), compare_seen);
	size_t end;
	for (size_t start = 0; start < count; start = end) {
		end = start + 1;
		while (end < count && fields[end].offset == fields[start].offset)
			end++;
		make_slot(collector, fields + start, end - start);
		site->count++;
	}
}

/* The size of the frame at FRAME, whose record is RECORD. What calls leave in a register is put
 * below the frame of a function that is made to call runtime.sigpanic, beyond that one's. */
static uint64_t frame_size(const struct collector *collector, const struct located *frame,
			   const struct gh_dump_record *record)
{
	if (!collector->arch->link_register || frame->last)
		return record->frame.size;
	struct gh_dump_record caller = get_frame(collector, frame->frame + 1);
	bool above = caller.frame.sp > record->frame.sp;
	return above ? caller.frame.sp - record->frame.sp : record->frame.size;
}

/* Has the site before one at ADDRESS end there, if not sooner. */
static void end_before(struct collector *collector, uint64_t address)
{
	size_t count = collector->sites.count;
	if (count > 0 && collector->sites.items[count - 1].end > address)
		collector->sites.items[count - 1].end = address;
}

/* Adds the site of the COUNT frames at FRAMES. */
static void add_site(struct collector *collector, const struct located *frames, size_t count)
{
	struct gh_dump_record record = get_frame(collector, frames[0].frame);
	const struct gh_dump_frame *frame = &record.frame;
	struct gh_site site = {
	    .address = frames[0].address,
	    .end = frame->pc > frames[0].address ? frame->pc
						 : frames[0].address + collector->arch->quantum,
	    .entry = frame->entry,
	    .size = frame_size(collector, frames, &record),
	    .function = frame->function,
	    .last = true,
	    .first = collector->slots.count,
	};
	for (size_t i = 0; i < count; i++)
		site.last = site.last && frames[i].last;
	end_before(collector, site.address);
	collector->fields.count = 0;
	for (size_t i = 0; i < count; i++)
		collect_frame(collector, frames[i].frame);
	make_slots(collector, &site);
	gh_vector_push(&collector->sites, site);
}

static void collect(struct collector *collector)
{
	for (size_t i = 0; i < gh_dump_count(collector->dump, GH_DUMP_GOROUTINE); i++)
		locate_stack(collector, gh_dump_stack(collector->dump, i));
	struct located *frames = collector->frames.items;
	size_t count = collector->frames.count;
	if (count > 0)
		qsort(frames, count, sizeof(*frames), compare_located);
	size_t end;
	for (size_t start = 0; start < count; start = end) {
		end = start + 1;
		while (end < count && frames[end].address == frames[start].address)
			end++;
		add_site(collector, frames + start, end - start);
	}
}

bool gh_slots_find(struct gh_slots *slots, const struct gh_dump *dump, struct gh_error *err)
{
	*slots = (struct gh_slots){.dump = dump, .arch = gh_dump_arch(dump, err)};
	if (slots->arch == NULL)
		return false;
	struct collector collector = {.dump = dump, .arch = slots->arch};
	sort_roots(&collector);
	collect(&collector);
	slots->sites = collector.sites.items;
	slots->nsites = collector.sites.count;
	slots->slots = collector.slots.items;
	slots->nslots = collector.slots.count;
	bool failed = collector.frames.failed || collector.fields.failed ||
		      collector.roots.failed || collector.sites.failed || collector.slots.failed;
	gh_vector_free(&collector.frames);
	gh_vector_free(&collector.fields);
	gh_vector_free(&collector.roots);
	return !failed || gh_fail_memory(err, dump->path);
}

void gh_slots_free(struct gh_slots *slots)
{
	free(slots->sites);
	free(slots->slots);
	*slots = (struct gh_slots){0};
}
