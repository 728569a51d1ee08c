/* goheap objects: what is at an address of the heap: its extent, its type, and its pointers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/heap/strings.h"
#include "lib/util/escape.h"
#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/gdb/session.h"
#include "plugin/view/address.h"
#include "plugin/view/table.h"

static void print_pointer(const struct gh_question *question, uint32_t object,
			  const struct gh_pointer *pointer)
{
	const struct gh_heap *heap = &question->heap;
	fputs("  ", stdout);
	gh_names_print_field(stdout, &question->names, object, pointer->offset);
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
		gh_names_print(stdout, &question->names, pointer->target, false);
	}
	putchar('\n');
}

static void print_extent(const struct gh_question *question, uint32_t object, uint64_t address)
{
	uint64_t start = gh_heap_object(&question->heap, object).address;
	gh_names_print_object(stdout, &question->names, object);
	if (address != start) {
		printf("; 0x%" PRIx64 " is ", address);
		gh_names_print_field(stdout, &question->names, object, address - start);
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
static void print_contents(const struct gh_question *question, uint32_t object)
{
	struct gh_cursor bytes = gh_dump_bytes(&question->dump, start_of(&question->heap, object));
	const char *data = (const char *)bytes.start;
	size_t length = gh_cursor_size(&bytes);
	if (length < GH_TEXTS_LEAST || !gh_escape_is_text(data, length))
		return;
	fputs("  ", stdout);
	gh_print_start(data, length);
	putchar('\n');
}

static int print_text(struct gh_question *question, uint32_t object, uint64_t address)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	struct gh_table table = {0};
	uint64_t count = 0;
	print_extent(question, object, address);
	gh_pointers_start(&question->heap, object, &walk);
	for (; gh_pointers_next(&walk, &pointer); count++) {
		if (count >= question->options->limit)
			continue;
		print_pointer(question, object, &pointer);
		table.rows++;
	}
	gh_table_finish(&table, count);
	if (count == 0)
		print_contents(question, object);
	if (getenv(GH_SESSION_VARIABLE) != NULL)
		gh_names_print_command(stdout, &question->names, object);
	return GH_EXIT_OK;
}

static void print_pointer_json(const struct gh_question *question, uint32_t object,
			       const struct gh_pointer *pointer)
{
	printf("{\"offset\":%" PRIu64 ",\"field\":", pointer->offset);
	gh_names_print_field_json(stdout, &question->names, object, pointer->offset);
	printf(",\"value\":\"0x%" PRIx64 "\",\"object\":", pointer->value);
	if (pointer->target == GH_HEAP_NONE) {
		fputs("null}", stdout);
		return;
	}
	printf("\"0x%" PRIx64 "\",\"type\":",
	       gh_heap_object(&question->heap, pointer->target).address);
	gh_names_print(stdout, &question->names, pointer->target, true);
	putchar('}');
}

static int print_json(struct gh_question *question, uint32_t object, uint64_t address)
{
	struct gh_heap_object extent = gh_heap_object(&question->heap, object);
	struct gh_row row = {.dump = &question->dump, .json = true};
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_row_address(&row, "object", extent.address);
	gh_row_number(&row, "size", extent.size);
	gh_row_number(&row, "offset", address - extent.address);
	gh_row_key(&row, "type");
	gh_names_print(stdout, &question->names, object, true);
	gh_row_key(&row, "pointers");
	putchar('[');
	gh_pointers_start(&question->heap, object, &walk);
	for (uint64_t i = 0; i < question->options->limit && gh_pointers_next(&walk, &pointer);
	     i++) {
		if (i > 0)
			putchar(',');
		print_pointer_json(question, object, &pointer);
	}
	putchar(']');
	gh_row_end(&row);
	return GH_EXIT_OK;
}

int gh_cmd_objects(const struct gh_options *options)
{
	return gh_question_run_each(options, false, options->json ? print_json : print_text);
}
