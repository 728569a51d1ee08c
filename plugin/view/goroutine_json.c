#include "plugin/view/internal.h"

#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A call, or where a goroutine was created. */
struct call_row {
	struct gh_bytes function;
	const char *file; /* NULL if it is not known */
	int32_t line;
	uint64_t pc;
	uint64_t offset; /* of the pc in the function */
	bool inlined;
	const char *language; /* "c"; NULL for Go's */
	const char *binary;   /* that has C code; NULL if it is not known */
};

#define PLACE_COLUMNS                                                                              \
	{"function", GH_COL_BYTES(struct call_row, function)},                                     \
	    {"file", GH_COL_TEXT(struct call_row, file)},                                          \
	{                                                                                          \
		"line", GH_COL_LINE(struct call_row, line)                                         \
	}

/* A goroutine. */
struct row {
	struct gh_goroutine_list *listing;
	size_t number;
	const char *status;
	struct gh_dump_goroutine record;
	uint64_t waited; /* ns */
	struct gh_known creator_id;
	struct gh_known stack; /* its size */
	bool locked;
	bool selected;
};

/* Prints the calls that are in the traceback. */
static void print_calls(struct gh_emit *emit, const struct gh_goroutine_list *listing)
{
	static const struct gh_column columns[] = {
	    PLACE_COLUMNS,
	    {"pc", GH_COL_ADDRESS(struct call_row, pc)},
	    {"offset", GH_COL_NUMBER(struct call_row, offset)},
	    {"inlined", GH_COL_BOOL(struct call_row, inlined)},
	    {"language", GH_COL_TEXT(struct call_row, language), .optional = true},
	    {"binary", GH_COL_TEXT(struct call_row, binary), .optional = true},
	    {0},
	};
	for (size_t i = 0; i < listing->traceback.calls.count; i++) {
		const struct gh_call *call = &listing->traceback.calls.items[i];
		struct call_row row = {
		    .function = {call->name, call->length},
		    .file = *call->file != '\0' ? call->file : NULL,
		    .line = call->line,
		    .pc = call->pc,
		    .offset = call->offset,
		    .inlined = call->inlined,
		    .language = call->object != NULL ? "c" : NULL,
		    .binary = call->object != NULL && *call->object != '\0' ? call->object : NULL,
		};
		if (gh_goroutine_has_call(listing, call))
			gh_emit_item(emit, columns, &row);
	}
}

static void print_frames(struct gh_emit *emit, const void *member)
{
	print_calls(emit, ((const struct row *)member)->listing);
}

static void print_creator(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {PLACE_COLUMNS, {0}};
	const struct row *row = member;
	struct gh_call creator;
	if (!gh_goroutine_find_creator(row->listing, &row->record, &creator)) {
		fputs("null", emit->out);
		return;
	}
	struct call_row call = {
	    .function = {creator.name, creator.length},
	    .file = creator.file,
	    .line = creator.line,
	};
	gh_emit_object(emit, columns, &call);
}

static void print_defers(struct gh_emit *emit, const void *member)
{
	struct defer_row {
		const char *function; /* NULL if it is not known */
		uint64_t entry;
		uint64_t pc;
	};
	static const struct gh_column columns[] = {
	    {"function", GH_COL_TEXT(struct defer_row, function)},
	    {"entry", GH_COL_ADDRESS(struct defer_row, entry)},
	    {"pc", GH_COL_ADDRESS(struct defer_row, pc)},
	    {0},
	};
	const struct row *row = member;
	const struct gh_dump_stack *stack = gh_dump_stack(emit->dump, row->number);
	for (size_t i = 0; i < stack->ndefers; i++) {
		struct gh_dump_record record;
		gh_dump_get(emit->dump, GH_DUMP_DEFER, stack->first_defer + i, &record);
		struct defer_row defer = {
		    .function = gh_goroutine_function(row->listing, record.defer.entry),
		    .entry = record.defer.entry,
		    .pc = record.defer.pc,
		};
		gh_emit_item(emit, columns, &defer);
	}
}

static void print_panics(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"argument_type", GH_COL_ADDRESS(struct gh_dump_panic, argument_type)},
	    {"argument_data", GH_COL_ADDRESS(struct gh_dump_panic, argument_data)},
	    {"value", GH_COL_KNOWN_SLICE(struct gh_dump_panic, value), .optional = true},
	    {0},
	};
	const struct row *row = member;
	const struct gh_dump_stack *stack = gh_dump_stack(emit->dump, row->number);
	for (size_t i = 0; i < stack->npanics; i++) {
		struct gh_dump_record record;
		gh_dump_get(emit->dump, GH_DUMP_PANIC, stack->first_panic + i, &record);
		gh_emit_item(emit, columns, &record.panic);
	}
}

/* A label. */
struct label_row {
	struct gh_bytes key;
	struct gh_bytes value;
};

static void print_labels(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"key", GH_COL_BYTES(struct label_row, key)},
	    {"value", GH_COL_BYTES(struct label_row, value)},
	    {0},
	};
	const struct row *row = member;
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	size_t count = gh_dump_labels(emit->dump, row->number, labels);
	for (size_t i = 0; i < count; i++) {
		struct label_row label = {.key = {labels[i].key, labels[i].key_size},
					  .value = {labels[i].value, labels[i].value_size}};
		gh_emit_item(emit, columns, &label);
	}
}

void gh_goroutine_json_print(struct gh_goroutine_list *listing, size_t number,
			     const struct gh_dump_goroutine *goroutine)
{
	static const struct gh_column columns[] = {
	    {"id", GH_COL_NUMBER(struct row, record.id)},
	    {"status", GH_COL_TEXT(struct row, status)},
	    {"wait_reason", GH_COL_SLICE(struct row, record.wait_reason)},
	    {"wait_start", GH_COL_NUMBER(struct row, record.wait_start)},
	    {"waited_ns", GH_COL_NUMBER(struct row, waited)},
	    {"system", GH_COL_BOOL(struct row, record.system)},
	    {"background", GH_COL_BOOL(struct row, record.background)},
	    {"descriptor", GH_COL_ADDRESS(struct row, record.g)},
	    {"sp", GH_COL_ADDRESS(struct row, record.sp)},
	    {"context", GH_COL_ADDRESS(struct row, record.context)},
	    {"thread", GH_COL_ADDRESS(struct row, record.thread)},
	    {"creator_pc", GH_COL_ADDRESS(struct row, record.creator_pc)},
	    {"created_by", GH_COL_PRINTED(print_creator)},
	    {"created_in", GH_COL_KNOWN_NUMBER(struct row, creator_id), .optional = true},
	    {"stack_bytes", GH_COL_KNOWN_NUMBER(struct row, stack), .optional = true},
	    {"locked_to_thread", GH_COL_BOOL(struct row, locked), .optional = true},
	    {"on_selected_thread", GH_COL_BOOL(struct row, selected), .optional = true},
	    {"labels", GH_COL_LIST(print_labels)},
	    {"frames", GH_COL_LIST(print_frames)},
	    {"defers", GH_COL_LIST(print_defers)},
	    {"panics", GH_COL_LIST(print_panics)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(listing->out, GH_EMIT_ROWS, listing->dump, true);
	struct gh_dump_extras extras = gh_dump_extras(listing->dump, number);
	struct row row = {
	    .listing = listing,
	    .number = number,
	    .creator_id = {extras.creator, extras.creator != 0},
	    .stack = {extras.stack, extras.stack != 0},
	    .locked = extras.locked,
	    .selected = extras.selected,
	    .status = gh_goroutine_status(goroutine->status),
	    .record = *goroutine,
	    .waited = gh_dump_waited(listing->dump, goroutine),
	};
	/* The runtime leaves the reason of the last wait there. */
	if (goroutine->status != GH_DUMP_WAITING)
		row.record.wait_reason = (struct gh_dump_slice){0};
	gh_emit_row(&emit, columns, &row);
}

/* A group. */
struct group_row {
	const struct gh_goroutine_list *listing;
	const struct gh_goroutine_group *group;
	uint64_t count;
	struct gh_bytes status;
	uint64_t minutes;
	bool locked;
};

static void print_ids(struct gh_emit *emit, const void *member)
{
	const struct group_row *row = member;
	for (size_t i = 0; i < row->group->count; i++)
		gh_emit_item_number(emit, row->group->first[i].id);
}

static void print_group_frames(struct gh_emit *emit, const void *member)
{
	print_calls(emit, ((const struct group_row *)member)->listing);
}

bool gh_goroutine_json_print_group(struct gh_goroutine_list *listing,
				   const struct gh_goroutine_group *group)
{
	static const struct gh_column columns[] = {
	    {"count", GH_COL_NUMBER(struct group_row, count)},
	    {"status", GH_COL_BYTES(struct group_row, status)},
	    {"minutes", GH_COL_NUMBER(struct group_row, minutes)},
	    {"locked_to_thread", GH_COL_BOOL(struct group_row, locked), .optional = true},
	    {"goroutines", GH_COL_LIST(print_ids)},
	    {"frames", GH_COL_LIST(print_group_frames)},
	    {0},
	};
	const struct gh_dump *dump = listing->dump;
	struct gh_emit emit = gh_emit_start(listing->out, GH_EMIT_ROWS, dump, true);
	struct gh_dump_record record;
	struct group_row row = {
	    .listing = listing,
	    .group = group,
	    .count = group->count,
	    .minutes = gh_goroutine_group_wait(group),
	    .locked = group->first->locked,
	};
	gh_dump_get(dump, GH_DUMP_GOROUTINE, group->first->number, &record);
	if (!gh_traceback_make(&listing->traceback, dump, listing->symbols, group->first->number))
		return false;
	row.status.data = gh_goroutine_state(dump, &record.goroutine, &row.status.size);
	gh_emit_row(&emit, columns, &row);
	return true;
}
