#include "lib/heap/internal.h"

/* The address of RECORD's contents. */
static uint64_t address_of(const struct gh_dump_record *record)
{
	switch (record->kind) {
	case GH_DUMP_OBJECT:
		return record->object.address;
	case GH_DUMP_FRAME:
		return record->frame.sp;
	default:
		return record->segment.address;
	}
}

/* The contents of RECORD. */
static struct gh_dump_slice contents_of(const struct gh_dump_record *record)
{
	switch (record->kind) {
	case GH_DUMP_OBJECT:
		return record->object.contents;
	case GH_DUMP_FRAME:
		return record->frame.contents;
	default:
		return record->segment.contents;
	}
}

void gh_pointers_of(const struct gh_dump *dump, const struct gh_object_table *table,
		    const struct gh_dump_record *record, struct gh_pointers *walk)
{
	walk->dump = dump;
	walk->table = table;
	gh_dump_fields(dump, record, &walk->fields);
	walk->contents = gh_dump_bytes(dump, contents_of(record));
	walk->unknown = 0;
	walk->targets = NULL;
	walk->ntargets = 0;
	walk->nc_words = 0;
	if (dump->c_words.count == 0)
		return;
	walk->address = address_of(record);
	walk->c_words =
	    gh_dump_c_words(dump, walk->address, gh_cursor_size(&walk->contents), &walk->nc_words);
}

static uint64_t word_at(const struct gh_pointers *walk, uint64_t offset)
{
	struct gh_cursor cur = walk->contents;
	gh_cursor_seek(&cur, offset);
	return gh_cursor_uint(&cur, walk->dump->word);
}

/* The data word of an interface is a pointer. From 1.4 on it always is; before, its type tells, and
 * where that is not in the dump, it may be. */
static bool is_pointer(struct gh_pointers *walk, const struct gh_field *field)
{
	const struct gh_dump *dump = walk->dump;
	if (dump->format >= GH_DUMP_1_4)
		return true;
	uint64_t type = word_at(walk, field->offset);
	if (type == 0)
		return false;
	enum gh_dump_kind kind = field->kind == GH_FIELD_IFACE ? GH_DUMP_ITAB : GH_DUMP_TYPE;
	size_t number = gh_dump_find(dump, kind, type);
	if (number == GH_DUMP_NONE) {
		walk->unknown++;
		return true;
	}
	struct gh_dump_record record;
	gh_dump_get(dump, kind, number, &record);
	return kind == GH_DUMP_ITAB ? record.itab.indirect : record.type.indirect;
}

bool gh_pointers_next_value(struct gh_pointers *walk, struct gh_pointer *pointer)
{
	struct gh_field field;
	while (gh_fields_next(&walk->fields, &field)) {
		pointer->offset = field.offset;
		if (field.kind == GH_FIELD_IFACE || field.kind == GH_FIELD_EFACE) {
			if (!is_pointer(walk, &field))
				continue;
			pointer->offset += walk->dump->word;
		}
		pointer->value = word_at(walk, pointer->offset);
		return true;
	}
	if (walk->nc_words == 0)
		return false;
	walk->nc_words--;
	pointer->offset = *walk->c_words++ - walk->address;
	pointer->value = word_at(walk, pointer->offset);
	return true;
}

/* The object that VALUE points to, of those that are known to come next: the first of them, or none
 * at all. */
static uint32_t next_target(struct gh_pointers *walk, uint64_t value)
{
	if (walk->ntargets == 0)
		return GH_HEAP_NONE;
	struct gh_heap_object object = gh_object_table_get(walk->table, *walk->targets);
	if (value - object.address >= object.size)
		return GH_HEAP_NONE;
	walk->ntargets--;
	return *walk->targets++;
}

bool gh_pointers_next(struct gh_pointers *walk, struct gh_pointer *pointer)
{
	if (!gh_pointers_next_value(walk, pointer))
		return false;
	if (pointer->value == 0)
		pointer->target = GH_HEAP_NONE;
	else if (walk->targets != NULL)
		pointer->target = next_target(walk, pointer->value);
	else
		pointer->target = gh_object_table_find(walk->table, pointer->value);
	return true;
}

void gh_pointers_use_targets(struct gh_pointers *walk, const struct gh_heap *heap, uint32_t object)
{
	/* Where objects overlap, an address can be in two. */
	if (!heap->table.irregular)
		walk->ntargets = gh_heap_targets(heap, object, &walk->targets);
}

bool gh_pointers_next_to(struct gh_pointers *walk, uint32_t target, struct gh_pointer *pointer)
{
	struct gh_heap_object object = gh_object_table_get(walk->table, target);
	pointer->target = target;
	while (gh_pointers_next_value(walk, pointer))
		/* Most point elsewhere: the table need not be asked. */
		if (pointer->value - object.address < object.size &&
		    (!walk->table->irregular ||
		     gh_object_table_find(walk->table, pointer->value) == target))
			return true;
	return false;
}
