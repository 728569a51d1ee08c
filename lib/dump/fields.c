#include "lib/dump/record.h"

struct gh_fieldlist gh_fieldlist_skip_counted(struct gh_cursor *cur)
{
	struct gh_fieldlist list = {.count = gh_cursor_uvarint(cur)};
	list.offset = gh_cursor_offset(cur);
	for (uint64_t i = 0; i < list.count && !cur->failed; i++) {
		gh_cursor_uvarint(cur);
		gh_cursor_uvarint(cur);
	}
	return list;
}

unsigned gh_field_words(enum gh_field_kind kind)
{
	switch (kind) {
	case GH_FIELD_SLICE:
		return 3;
	case GH_FIELD_STRING:
	case GH_FIELD_IFACE:
	case GH_FIELD_EFACE:
		return 2;
	default:
		return 1;
	}
}

/* The kind that NUMBER, which is not the end mark, stands for. */
static enum gh_field_kind field_kind(enum gh_dump_format format, uint64_t number)
{
	static const enum gh_field_kind from_1_4[] = {GH_FIELD_POINTER, GH_FIELD_IFACE,
						      GH_FIELD_EFACE};
	if (format != GH_DUMP_PROTOTYPE)
		number--;
	if (format >= GH_DUMP_1_4)
		return number < 3 ? from_1_4[number] : GH_FIELD_KINDS;
	return number < GH_FIELD_KINDS ? (enum gh_field_kind)number : GH_FIELD_KINDS;
}

void gh_fields_start(struct gh_fields *walk, const struct gh_cursor *file,
		     enum gh_dump_format format, uint8_t word, struct gh_fieldlist list,
		     uint64_t size)
{
	/* One by one: this is done for each object, and to clear all first takes longer. */
	walk->list = *file;
	gh_cursor_seek(&walk->list, list.offset != 0 ? list.offset : gh_cursor_size(file));
	walk->cur = walk->list;
	walk->where = list;
	walk->left = list.count;
	walk->budget = UINT64_MAX;
	walk->base = 0;
	walk->stride = 0;
	walk->element = size;
	walk->size = size;
	walk->word = word;
	walk->beyond = 0;
	walk->every_word = false;
	walk->format = format;
}

/* Reads the next pair of the list. False at its end. */
static bool next_pair(struct gh_fields *walk, struct gh_field *field)
{
	if (walk->budget == 0)
		return false;
	walk->budget--;
	if (walk->format == GH_DUMP_PROTOTYPE) {
		if (walk->left == 0)
			return false;
		walk->left--;
	}
	uint64_t number = gh_cursor_uvarint(&walk->cur);
	if (walk->format != GH_DUMP_PROTOTYPE && number == 0)
		return false;
	field->kind = field_kind(walk->format, number);
	field->offset = gh_cursor_uvarint(&walk->cur);
	return !walk->cur.failed;
}

/* FIELD lies within SIZE bytes. */
static bool fits(const struct gh_field *field, uint64_t size, uint8_t word)
{
	uint64_t width = (uint64_t)gh_field_words(field->kind) * word;
	return field->kind != GH_FIELD_KINDS && width <= size && field->offset <= size - width;
}

/* Goes to the next element, to which the list applies anew. */
static bool next_element(struct gh_fields *walk)
{
	if (walk->stride == 0 || walk->budget == 0 || walk->cur.failed)
		return false;
	if (walk->size - walk->base < walk->stride ||
	    walk->size - walk->base - walk->stride < walk->element)
		return false;
	walk->base += walk->stride;
	walk->cur = walk->list;
	walk->left = walk->where.count;
	return true;
}

static bool next_word(struct gh_fields *walk, struct gh_field *field)
{
	if (walk->size - walk->base < walk->word)
		return false;
	*field = (struct gh_field){GH_FIELD_POINTER, walk->base};
	walk->base += walk->word;
	return true;
}

bool gh_fields_next(struct gh_fields *walk, struct gh_field *field)
{
	if (walk->every_word)
		return next_word(walk, field);
	do {
		while (next_pair(walk, field)) {
			if (!fits(field, walk->element, walk->word)) {
				walk->beyond++;
				continue;
			}
			field->offset += walk->base;
			return true;
		}
	} while (next_element(walk));
	walk->budget = 0;
	return false;
}
