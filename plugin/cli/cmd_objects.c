/* goheap objects: what is at an address of the heap: its extent, its type, and its pointers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/heap/heap.h"
#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

static void print_pointer(const struct gh_heap_query *query, uint32_t object,
			  const struct gh_pointer *pointer)
{
	const struct gh_heap *heap = &query->heap;
	fputs("  ", stdout);
	gh_names_print_field(stdout, &query->names, object, pointer->offset);
	if (pointer->value == 0) {
		puts("  nil");
		return;
	}
	printf("  0x%" PRIx64 "  ", pointer->value);
	if (pointer->target == GH_HEAP_NONE) {
		gh_where_print(stdout, heap, pointer->value);
	} else {
		uint64_t start = gh_heap_object(heap, pointer->target).address;
		if (pointer->value != start)
			printf("%" PRIu64 " bytes into 0x%" PRIx64 ", ", pointer->value - start,
			       start);
		gh_names_print(stdout, &query->names, pointer->target);
	}
	putchar('\n');
}

static void print_extent(const struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	uint64_t start = gh_heap_object(&query->heap, object).address;
	gh_names_print_object(stdout, &query->names, object);
	if (address != start) {
		printf("; 0x%" PRIx64 " is ", address);
		gh_names_print_field(stdout, &query->names, object, address - start);
	}
	putchar('\n');
}

/* The bytes of OBJECT up to the first that is 0. */
static struct gh_dump_slice start_of(const struct gh_heap *heap, uint32_t object)
{
	struct gh_dump_record record;
	gh_dump_get(heap->dump, GH_DUMP_OBJECT, gh_heap_object(heap, object).number, &record);
	struct gh_dump_slice slice = record.object.contents;
	struct gh_cursor bytes = gh_dump_bytes(heap->dump, slice);
	slice.size = strnlen((const char *)bytes.start, gh_cursor_size(&bytes));
	return slice;
}

/* What has no pointers is shown if it is text. */
static void print_contents(const struct gh_heap_query *query, uint32_t object)
{
	struct gh_cursor bytes = gh_dump_bytes(&query->dump, start_of(&query->heap, object));
	const char *data = (const char *)bytes.start;
	size_t length = gh_cursor_size(&bytes);
	if (length < GH_HEAP_STRING_LEAST || !gh_escape_is_text(data, length))
		return;
	fputs("  ", stdout);
	gh_print_start(data, length);
	putchar('\n');
}

static int print_text(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	uint64_t shown = 0;
	uint64_t count = 0;
	print_extent(query, object, address);
	gh_pointers_start(&query->heap, object, &walk);
	for (; gh_pointers_next(&walk, &pointer); count++) {
		if (count >= query->options->limit)
			continue;
		print_pointer(query, object, &pointer);
		shown++;
	}
	gh_print_more(shown, count);
	if (count == 0)
		print_contents(query, object);
	if (getenv(GH_SESSION_VARIABLE) != NULL)
		gh_names_print_command(stdout, &query->names, object);
	return GH_EXIT_OK;
}

/* A pointer, as it is printed in JSON. */
struct pointer_row {
	struct gh_object field;
	uint64_t value;
	struct gh_known target; /* the address of the object that it points to, if it does */
	const char *type;       /* the target's; NULL if there is none */
};

static const struct gh_column pointer_columns[] = {
    GH_OBJECT_FIELD(struct pointer_row, field),
    {"value", GH_COL_ADDRESS(struct pointer_row, value)},
    {"object", GH_COL_KNOWN_ADDRESS(struct pointer_row, target)},
    {"type", GH_COL_TEXT(struct pointer_row, type), .optional = true},
    {0},
};

static void print_pointer_json(struct gh_emit *emit, const struct gh_object *object,
			       const struct gh_pointer *pointer)
{
	struct pointer_row row = {.field = *object, .value = pointer->value};
	row.field.offset = pointer->offset;
	if (pointer->target != GH_HEAP_NONE) {
		struct gh_object target = gh_names_object(object->names, pointer->target, 0);
		row.target = (struct gh_known){target.address, true};
		row.type = target.type;
	}
	gh_emit_item(emit, pointer_columns, &row);
}

/* An object, as it is printed in JSON. */
struct row {
	const struct gh_heap_query *query;
	uint64_t size;
	struct gh_object object; /* and the offset that is asked about */
};

static void print_pointers(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(&row->query->heap, row->object.number, &walk);
	for (uint64_t i = 0; i < row->query->options->limit && gh_pointers_next(&walk, &pointer);
	     i++)
		print_pointer_json(emit, &row->object, &pointer);
}

static int print_json(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	static const struct gh_column columns[] = {
	    {"object", GH_COL_ADDRESS(struct row, object.address)},
	    {"size", GH_COL_NUMBER(struct row, size)},
	    {"offset", GH_COL_NUMBER(struct row, object.offset)},
	    {"type", GH_COL_TEXT(struct row, object.type)},
	    {"pointers", GH_COL_LIST(print_pointers)},
	    {0},
	};
	struct gh_heap_object extent = gh_heap_object(&query->heap, object);
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
	struct row row = {
	    .query = query,
	    .size = extent.size,
	    .object = gh_names_object(&query->names, object, address - extent.address),
	};
	gh_emit_row(&emit, columns, &row);
	return GH_EXIT_OK;
}

int gh_cmd_objects(const struct gh_options *options)
{
	return gh_heap_query_run_each(options, GH_WITH_NAMES,
				      options->json ? print_json : print_text);
}
