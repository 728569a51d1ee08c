#include "lib/write/slots.h"

#include <stdlib.h>

#include "lib/write/corefile.h"

/* No pointer was seen in a slot yet. */
#define NOTHING_SEEN (SIZE_MAX - 1)

/* A frame and where it is looked up. */
struct located {
	uint64_t address;
	size_t frame; /* its number */
	bool last;    /* of its stack */
};

/* The collection at work. */
struct collector {
	const struct gh_dump *dump;
	const struct gh_arch *arch;
	struct gh_buffer frames; /* struct located */
	struct gh_buffer sites;  /* struct gh_site */
	struct gh_buffer slots;  /* struct gh_slot */
	struct gh_buffer fields; /* of the site: uint64_t, offset and kind */
};

static struct gh_dump_record get_frame(const struct collector *collector, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(collector->dump, GH_DUMP_FRAME, number, &record);
	return record;
}

static void locate_stack(struct collector *collector, const struct gh_dump_stack *stack)
{
	for (size_t i = 0; i < stack->nframes; i++) {
		size_t number = stack->first_frame + i;
		struct gh_dump_record record = get_frame(collector, number);
		if (record.frame.pc == 0 || record.frame.entry > record.frame.pc)
			continue;
		struct located located = {gh_corefile_pc(collector->arch, &record.frame), number,
					  i + 1 == stack->nframes};
		gh_buffer_bytes(&collector->frames, &located, sizeof(located));
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

static int compare_numbers(const void *a, const void *b)
{
	uint64_t first = *(const uint64_t *)a;
	uint64_t second = *(const uint64_t *)b;
	return (first > second) - (first < second);
}

/* Adds the fields of all the COUNT frames to the site's. */
static void collect_fields(struct collector *collector, const struct located *frames, size_t count)
{
	collector->fields.size = 0;
	for (size_t i = 0; i < count; i++) {
		struct gh_dump_record record = get_frame(collector, frames[i].frame);
		struct gh_fields walk;
		struct gh_field field;
		gh_dump_fields(collector->dump, &record, &walk);
		while (gh_fields_next(&walk, &field)) {
			uint64_t packed = field.offset * GH_FIELD_KINDS + field.kind;
			gh_buffer_bytes(&collector->fields, &packed, sizeof(packed));
		}
	}
}

/* Makes the site's slots of its fields; of two at one offset, the kind that is first. */
static void make_slots(struct collector *collector, struct gh_site *site)
{
	uint64_t *fields = (void *)collector->fields.data;
	size_t count = collector->fields.size / sizeof(*fields);
	if (count > 0)
		qsort(fields, count, sizeof(*fields), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = fields[i] / GH_FIELD_KINDS;
		if (i > 0 && fields[i - 1] / GH_FIELD_KINDS == offset)
			continue;
		struct gh_slot slot = {offset, fields[i] % GH_FIELD_KINDS, NOTHING_SEEN};
		gh_buffer_bytes(&collector->slots, &slot, sizeof(slot));
		site->count++;
	}
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

/* Where in a slot its pointer is, in words. */
static unsigned pointer_word(enum gh_field_kind kind)
{
	return kind == GH_FIELD_IFACE || kind == GH_FIELD_EFACE ? 1 : 0;
}

/* Notes what SLOT points to in a frame with these CONTENTS. */
static void see_pointer(const struct gh_dump *dump, struct gh_slot *slot, struct gh_cursor contents)
{
	if (slot->type == GH_DUMP_NONE)
		return;
	gh_cursor_seek(&contents, slot->offset + pointer_word(slot->kind) * dump->word);
	uint64_t pointer = gh_cursor_uint(&contents, dump->word);
	if (pointer == 0)
		return;
	size_t type = type_at(dump, pointer);
	if (slot->type == NOTHING_SEEN)
		slot->type = type;
	else if (slot->type != type)
		slot->type = GH_DUMP_NONE;
}

static int compare_slots(const void *a, const void *b)
{
	const struct gh_slot *first = a;
	const struct gh_slot *second = b;
	return (first->offset > second->offset) - (first->offset < second->offset);
}

/* Looks at what the slots of SITE hold in the frame NUMBER. */
static void see_frame(struct collector *collector, const struct gh_site *site, size_t number)
{
	struct gh_slot *slots = (struct gh_slot *)(void *)collector->slots.data + site->first;
	struct gh_dump_record record = get_frame(collector, number);
	struct gh_cursor contents = gh_dump_bytes(collector->dump, record.frame.contents);
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(collector->dump, &record, &walk);
	while (gh_fields_next(&walk, &field)) {
		struct gh_slot key = {.offset = field.offset};
		struct gh_slot *slot =
		    bsearch(&key, slots, site->count, sizeof(*slots), compare_slots);
		if (slot->kind == field.kind && field.kind != GH_FIELD_STRING)
			see_pointer(collector->dump, slot, contents);
	}
}

/* Finds the slots' types: only objects of the first formats have one. */
static void find_types(struct collector *collector, const struct gh_site *site,
		       const struct located *frames, size_t count)
{
	if (site->count == 0 || collector->fields.failed || collector->slots.failed)
		return;
	if (collector->dump->format <= GH_DUMP_1_3)
		for (size_t i = 0; i < count; i++)
			see_frame(collector, site, frames[i].frame);
	struct gh_slot *slots = (struct gh_slot *)(void *)collector->slots.data;
	for (size_t i = 0; i < site->count; i++)
		if (slots[site->first + i].type == NOTHING_SEEN)
			slots[site->first + i].type = GH_DUMP_NONE;
}

/* Has the site before one at ADDRESS end there, if not sooner. */
static void end_before(struct collector *collector, uint64_t address)
{
	size_t count = collector->sites.size / sizeof(struct gh_site);
	if (count == 0)
		return;
	struct gh_site *site = (struct gh_site *)(void *)collector->sites.data + count - 1;
	if (site->end > address)
		site->end = address;
}

/* Adds the site of the COUNT frames at FRAMES. */
static void add_site(struct collector *collector, const struct located *frames, size_t count)
{
	struct gh_dump_record record = get_frame(collector, frames[0].frame);
	const struct gh_dump_frame *frame = &record.frame;
	struct gh_site site = {
	    .address = frames[0].address,
	    .end = frame->pc > frame->entry ? frame->pc : frames[0].address + 1,
	    .entry = frame->entry,
	    .size = frame->contents.size,
	    .function = frame->function,
	    .last = true,
	    .first = collector->slots.size / sizeof(struct gh_slot),
	};
	for (size_t i = 0; i < count; i++)
		site.last = site.last && frames[i].last;
	end_before(collector, site.address);
	collect_fields(collector, frames, count);
	make_slots(collector, &site);
	find_types(collector, &site, frames, count);
	gh_buffer_bytes(&collector->sites, &site, sizeof(site));
}

static void collect(struct collector *collector)
{
	for (size_t i = 0; i < gh_dump_count(collector->dump, GH_DUMP_GOROUTINE); i++)
		locate_stack(collector, gh_dump_stack(collector->dump, i));
	struct located *frames = (void *)collector->frames.data;
	size_t count = collector->frames.failed ? 0 : collector->frames.size / sizeof(*frames);
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
	collect(&collector);
	slots->sites = (void *)collector.sites.data;
	slots->nsites = collector.sites.size / sizeof(struct gh_site);
	slots->slots = (void *)collector.slots.data;
	slots->nslots = collector.slots.size / sizeof(struct gh_slot);
	gh_buffer_free(&collector.frames);
	gh_buffer_free(&collector.fields);
	if (collector.frames.failed || collector.fields.failed || collector.sites.failed ||
	    collector.slots.failed)
		return gh_fail_errno(err, dump->path, "find the variables of its frames");
	return true;
}

void gh_slots_free(struct gh_slots *slots)
{
	free(slots->sites);
	free(slots->slots);
	*slots = (struct gh_slots){0};
}
