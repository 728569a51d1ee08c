#include "lib/typing/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/hash.h"

/* More pointers are not named one by one. */
#define MAX_NAMED 6

/* A key of SHAPE: the same for equal ones. */
static uint64_t key_of(const struct gh_dump *dump, const struct gh_shape *shape)
{
	return gh_hash_bytes(GH_HASH_START ^ shape->size ^ (uint64_t)shape->in_c << 63,
			     dump->file.start + shape->list, (size_t)shape->list_length);
}

static bool equal(const struct gh_dump *dump, const struct gh_shape *a, const struct gh_shape *b)
{
	return a->size == b->size && a->in_c == b->in_c && a->list_length == b->list_length &&
	       memcmp(dump->file.start + a->list, dump->file.start + b->list,
		      (size_t)a->list_length) == 0;
}

/* Before 1.4 objects have no fieldlists of their own. */
static struct gh_shape shape_of(const struct gh_dump *dump, const struct gh_dump_object *object)
{
	struct gh_shape shape = {.size = object->contents.size,
				 .next = GH_NOT_MAPPED,
				 .in_c = gh_dump_is_c(dump, object->address)};
	if (shape.in_c || dump->format < GH_DUMP_1_4 || object->fields.offset == 0)
		return shape;
	struct gh_cursor cur = dump->file;
	gh_cursor_seek(&cur, object->fields.offset);
	gh_fieldlist_skip(&cur);
	shape.list = object->fields.offset;
	shape.list_length = gh_cursor_offset(&cur) - shape.list;
	return shape;
}

uint32_t gh_shapes_of(struct gh_shapes *shapes, const struct gh_dump *dump,
		      const struct gh_dump_object *object)
{
	struct gh_shape shape = shape_of(dump, object);
	uint64_t key = key_of(dump, &shape);
	uint32_t first = gh_numbermap_get(&shapes->keys, key);
	uint32_t last = first;
	for (uint32_t i = first; i != GH_NOT_MAPPED; i = shapes->items.items[i].next) {
		if (equal(dump, &shape, &shapes->items.items[i]))
			return i;
		last = i;
	}
	uint32_t number = (uint32_t)shapes->items.count;
	if (!gh_vector_push(&shapes->items, shape))
		return GH_NOT_MAPPED;
	if (first != GH_NOT_MAPPED)
		shapes->items.items[last].next = number;
	else if (!gh_numbermap_put(&shapes->keys, key, number))
		return GH_NOT_MAPPED;
	return number;
}

static void put(struct gh_buffer *out, const char *format, uint64_t number)
{
	char text[64];
	int length = snprintf(text, sizeof(text), format, number);
	gh_buffer_bytes(out, text, (size_t)length);
}

void gh_shapes_name(const struct gh_shapes *shapes, const struct gh_dump *dump, uint32_t number,
		    struct gh_buffer *out)
{
	const struct gh_shape *shape = &shapes->items.items[number];
	struct gh_fieldlist list = {.offset = shape->list};
	struct gh_fields walk;
	struct gh_field field;
	uint64_t count = 0;
	put(out, shape->in_c ? "C memory of %" PRIu64 " bytes" : "%" PRIu64 " bytes", shape->size);
	if (shape->list == 0)
		return;
	gh_fields_start(&walk, &dump->file, dump->format, dump->word, list, shape->size);
	while (gh_fields_next(&walk, &field)) {
		bool interface = field.kind == GH_FIELD_IFACE || field.kind == GH_FIELD_EFACE;
		if (count++ < MAX_NAMED)
			put(out, count == 1 ? ", pointers at %" PRIu64 : " %" PRIu64,
			    field.offset + (interface ? dump->word : 0));
	}
	if (count == 0)
		put(out, ", no pointers", 0);
	if (count > MAX_NAMED)
		put(out, " and %" PRIu64 " more", count - MAX_NAMED);
}

void gh_shapes_free(struct gh_shapes *shapes)
{
	gh_vector_free(&shapes->items);
	gh_numbermap_free(&shapes->keys);
	*shapes = (struct gh_shapes){0};
}
