/* goheap roots: the pointers into the heap from outside of it, in a heap dump's records. */
#include <stdlib.h>

#include "plugin/cli/command.h"

/* A pointer from outside the heap. */
struct root {
	const char *kind;
	uint64_t address; /* of the pointer, or of what has it; 0 if that is not known */
	uint64_t pointer;
	struct gh_dump_slice description; /* the function's name, in a frame; may be none */
	struct gh_known sp;               /* of its frame, instead of a description */
};

static void print_root(struct gh_emit *emit, const struct root *root)
{
	static const struct gh_column columns[] = {
	    {"kind", GH_COL_TEXT(struct root, kind)},
	    {"address", GH_COL_ADDRESS(struct root, address)},
	    {"pointer", GH_COL_ADDRESS(struct root, pointer)},
	    {0},
	};
	static const struct gh_column slice[] = {
	    {"description", GH_COL_KNOWN_SLICE(struct root, description)}, {0}};
	static const struct gh_column sp[] = {
	    {"description", GH_COL_KNOWN_ADDRESS(struct root, sp)}, {0}};
	gh_emit_values(emit, columns, root);
	gh_emit_row(emit, root->sp.known ? sp : slice, root);
}

static void print_other_root(struct gh_emit *emit, const struct gh_dump_record *record)
{
	struct root root = {
	    .kind = "other",
	    .pointer = record->other_root.pointer,
	    .description = record->other_root.description,
	};
	print_root(emit, &root);
}

static void print_stack_root(struct gh_emit *emit, const struct gh_dump_record *record)
{
	struct root root = {
	    .kind = "stack",
	    .address = record->stack_root.address,
	    .pointer = record->stack_root.pointer,
	    .sp = {record->stack_root.sp, true},
	};
	print_root(emit, &root);
}

static void print_data_root(struct gh_emit *emit, const struct gh_dump_record *record)
{
	struct root root = {
	    .kind = "data",
	    .address = record->data_root.address,
	    .pointer = record->data_root.pointer,
	};
	print_root(emit, &root);
}

/* Prints the pointers that are not nil in CONTENTS at ROOT's address, whose fields are RECORD's. */
static void print_pointers(struct gh_emit *emit, struct root root, struct gh_dump_slice contents,
			   const struct gh_dump_record *record)
{
	const struct gh_dump *dump = emit->dump;
	uint64_t start = root.address;
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(dump, record, &walk);
	while (gh_fields_next(&walk, &field)) {
		/* Of an interface, the data word. */
		if (field.kind == GH_FIELD_IFACE || field.kind == GH_FIELD_EFACE)
			field.offset += dump->word;
		struct gh_cursor cur = gh_dump_bytes(dump, contents);
		gh_cursor_seek(&cur, field.offset);
		root.address = start + field.offset;
		root.pointer = gh_cursor_uint(&cur, dump->word);
		if (root.pointer != 0)
			print_root(emit, &root);
	}
}

static void print_segment_roots(struct gh_emit *emit, const struct gh_dump_record *record)
{
	struct root root = {
	    .kind = record->kind == GH_DUMP_DATA ? "data" : "bss",
	    .address = record->segment.address,
	};
	print_pointers(emit, root, record->segment.contents, record);
}

static void print_frame_roots(struct gh_emit *emit, const struct gh_dump_record *record)
{
	struct root root = {
	    .kind = "stack",
	    .address = record->frame.sp,
	    .description = record->frame.function,
	};
	print_pointers(emit, root, record->frame.contents, record);
}

/* A root of this KIND without a description, unless it is nil. */
static void print_plain_root(struct gh_emit *emit, const char *kind, uint64_t address,
			     uint64_t pointer)
{
	struct root root = {.kind = kind, .address = address, .pointer = pointer};
	if (pointer != 0)
		print_root(emit, &root);
}

static void print_goroutine_roots(struct gh_emit *emit, const struct gh_dump_record *record)
{
	const struct gh_dump_goroutine *goroutine = &record->goroutine;
	print_plain_root(emit, "goroutine", goroutine->g, goroutine->context);
	print_plain_root(emit, "goroutine", goroutine->g, goroutine->top_defer);
	print_plain_root(emit, "goroutine", goroutine->g, goroutine->top_panic);
}

static void print_defer_root(struct gh_emit *emit, const struct gh_dump_record *record)
{
	print_plain_root(emit, "defer", record->defer.record, record->defer.func_value);
}

static void print_panic_root(struct gh_emit *emit, const struct gh_dump_record *record)
{
	print_plain_root(emit, "panic", record->panic.record, record->panic.argument_data);
}

/* Go has one finalizer for an object: the pointers of one are not printed again. SEEN has a bit for
 * each. */
static void print_object_roots(struct gh_emit *emit, uint64_t address, uint8_t *seen)
{
	size_t number = gh_dump_find_object(emit->dump, address);
	if (number == GH_DUMP_NONE || (seen[number / 8] & 1U << number % 8) != 0)
		return;
	seen[number / 8] |= (uint8_t)(1U << number % 8);
	struct gh_dump_record record;
	gh_dump_get(emit->dump, GH_DUMP_OBJECT, number, &record);
	struct root root = {.kind = "finalizer", .address = record.object.address};
	print_pointers(emit, root, record.object.contents, &record);
}

/* Go's collector keeps what an object with a finalizer points to, and not the object. */
static void print_finalizer_roots(struct gh_emit *emit)
{
	const struct gh_dump *dump = emit->dump;
	struct gh_dump_record record;
	uint8_t *seen = calloc(gh_dump_count(dump, GH_DUMP_OBJECT) / 8 + 1, 1);
	emit->failed = seen == NULL;
	for (size_t i = 0; seen != NULL && i < gh_dump_count(dump, GH_DUMP_FINALIZER); i++) {
		gh_dump_get(dump, GH_DUMP_FINALIZER, i, &record);
		print_plain_root(emit, "finalizer", record.finalizer.object,
				 record.finalizer.func_value);
		print_object_roots(emit, record.finalizer.object, seen);
	}
	free(seen);
}

static void print_queued_finalizer_roots(struct gh_emit *emit, const struct gh_dump_record *record)
{
	print_plain_root(emit, "queued finalizer", 0, record->finalizer.object);
	print_plain_root(emit, "queued finalizer", 0, record->finalizer.func_value);
}

/* Prints the roots that the records of KIND have. */
static void print_each(struct gh_emit *emit, enum gh_dump_kind kind,
		       void (*print)(struct gh_emit *emit, const struct gh_dump_record *record))
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(emit->dump, kind); i++) {
		gh_dump_get(emit->dump, kind, i, &record);
		print(emit, &record);
	}
}

static void print_roots(struct gh_emit *emit)
{
	print_each(emit, GH_DUMP_OTHER_ROOT, print_other_root);
	print_each(emit, GH_DUMP_DATA, print_segment_roots);
	print_each(emit, GH_DUMP_BSS, print_segment_roots);
	print_each(emit, GH_DUMP_DATA_ROOT, print_data_root);
	print_each(emit, GH_DUMP_FRAME, print_frame_roots);
	print_each(emit, GH_DUMP_STACK_ROOT, print_stack_root);
	print_each(emit, GH_DUMP_GOROUTINE, print_goroutine_roots);
	print_each(emit, GH_DUMP_DEFER, print_defer_root);
	print_each(emit, GH_DUMP_PANIC, print_panic_root);
	print_finalizer_roots(emit);
	print_each(emit, GH_DUMP_QUEUED_FINALIZER, print_queued_finalizer_roots);
}

int gh_cmd_roots(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_roots);
}
