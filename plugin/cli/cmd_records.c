/* The commands that list a heap dump's records, a record a line. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/util/escape.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"

int gh_records_print(const struct gh_options *options, enum gh_emit_layout layout,
		     void (*print)(struct gh_emit *emit))
{
	struct gh_dump dump;
	if (!gh_heap_query_dump(&dump, options, options->file, false))
		return GH_EXIT_INPUT;
	gh_print_in_blocks();
	struct gh_emit emit = gh_emit_start(stdout, layout, &dump, options->json);
	print(&emit);
	gh_dump_close(&dump);
	if (emit.failed)
		gh_say(GH_OUT_OF_MEMORY);
	return emit.failed ? GH_EXIT_INPUT : GH_EXIT_OK;
}

/* A column's kind and member of a record. */
#define NUMBER(member)      GH_COL_NUMBER(struct gh_dump_record, member)
#define ADDRESS(member)     GH_COL_ADDRESS(struct gh_dump_record, member)
#define BOOL(member)        GH_COL_BOOL(struct gh_dump_record, member)
#define KNOWN_SLICE(member) GH_COL_KNOWN_SLICE(struct gh_dump_record, member)
#define TYPE_NAME(member)   GH_COL_TYPE_NAME(struct gh_dump_record, member)

/* Prints the titles of the columns in PARTS, whose last is NULL, before the first row. */
static void print_titles(struct gh_emit *emit, const struct gh_column *const *parts)
{
	const char *before = "";
	if (emit->json || emit->rows > 0)
		return;
	for (; *parts != NULL; parts++) {
		for (const struct gh_column *column = *parts; column->key != NULL; column++) {
			if (column->only == GH_IN_JSON)
				continue;
			fprintf(emit->out, "%s%s", before, column->key);
			before = "\t";
		}
	}
	putc('\n', emit->out);
}

/* Prints the records of KIND, below titles if TITLED. */
static void print_records(struct gh_emit *emit, enum gh_dump_kind kind,
			  const struct gh_column *columns, bool titled)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(emit->dump, kind); i++) {
		gh_dump_get(emit->dump, kind, i, &record);
		if (titled)
			print_titles(emit, (const struct gh_column *const[]){columns, NULL});
		gh_emit_row(emit, columns, &record);
	}
}

/* The fields of RECORD, as pairs of kind and offset. */
static void print_fields(struct gh_emit *emit, const void *record)
{
	static const char *const kinds[] = {"pointer", "string", "slice", "iface", "eface"};
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(emit->dump, record, &walk);
	while (gh_fields_next(&walk, &field)) {
		gh_emit_next(emit);
		fprintf(emit->out, "[\"%s\",%" PRIu64 "]", kinds[field.kind], field.offset);
	}
}

#define FIELDS                                                                                     \
	{                                                                                          \
		"fields", GH_COL_LIST(print_fields), .only = GH_IN_JSON                            \
	}

/* The id of goroutine NUMBER. */
static uint64_t goroutine_id(const struct gh_dump *dump, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine.id;
}

/* The goroutine that a row is of, before what it has itself. */
struct owner {
	struct gh_known id;
};

static const struct gh_column owner_columns[] = {
    {"goroutine", GH_COL_KNOWN_NUMBER(struct owner, id)},
    {0},
};

static void print_frame(struct gh_emit *emit, struct owner owner, size_t number)
{
	static const struct gh_column first[] = {
	    {"depth", NUMBER(frame.depth)},
	    {"sp", ADDRESS(frame.sp)},
	    {"size", NUMBER(frame.size)},
	    {0},
	};
	static const struct gh_column parent[] = {{"parent_sp", ADDRESS(frame.parent_sp)}, {0}};
	static const struct gh_column child[] = {{"child_sp", ADDRESS(frame.child_sp)}, {0}};
	static const struct gh_column last[] = {
	    {"entry", ADDRESS(frame.entry)},
	    {"pc", ADDRESS(frame.pc)},
	    {"continuation", ADDRESS(frame.continuation)},
	    {"function", KNOWN_SLICE(frame.function)},
	    FIELDS,
	    {0},
	};
	bool prototype = emit->dump->format == GH_DUMP_PROTOTYPE;
	struct gh_dump_record record;
	const struct gh_column *relative = prototype ? parent : child;
	gh_dump_get(emit->dump, GH_DUMP_FRAME, number, &record);
	print_titles(emit,
		     (const struct gh_column *const[]){owner_columns, first, relative, last, NULL});
	gh_emit_values(emit, owner_columns, &owner);
	gh_emit_values(emit, first, &record);
	gh_emit_values(emit, relative, &record);
	gh_emit_row(emit, last, &record);
}

/* Frames that no goroutine has are in the file before the first. */
static void print_frames(struct gh_emit *emit)
{
	const struct gh_dump *dump = emit->dump;
	for (size_t i = 0; i < dump->damage.orphan_frames; i++)
		print_frame(emit, (struct owner){0}, i);
	for (size_t i = 0; i < dump->stacks.count; i++) {
		const struct gh_dump_stack *stack = gh_dump_stack(dump, i);
		struct owner owner = {{goroutine_id(dump, i), true}};
		for (size_t f = 0; f < stack->nframes; f++)
			print_frame(emit, owner, stack->first_frame + f);
	}
}

int gh_cmd_frames(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_frames);
}

static void print_types(struct gh_emit *emit)
{
	static const struct gh_column columns[] = {
	    {"address", ADDRESS(type.address)},
	    {"size", NUMBER(type.size)},
	    {"indirect", BOOL(type.indirect)},
	    {"name", KNOWN_SLICE(type.name)},
	    FIELDS,
	    {0},
	};
	print_records(emit, GH_DUMP_TYPE, columns, false);
}

int gh_records_types(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_types);
}

/* Formats to 1.3 have the one, later ones the other. */
static void print_itabs(struct gh_emit *emit)
{
	static const struct gh_column old[] = {
	    {"address", ADDRESS(itab.address)},
	    {"indirect", BOOL(itab.indirect)},
	    {0},
	};
	static const struct gh_column columns[] = {
	    {"address", ADDRESS(itab.address)},
	    {"type", ADDRESS(itab.type)},
	    {"type_name", TYPE_NAME(itab.type)},
	    {0},
	};
	print_records(emit, GH_DUMP_ITAB, emit->dump->format <= GH_DUMP_1_3 ? old : columns, true);
}

int gh_cmd_itabs(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_itabs);
}

static void print_finalizer_state(struct gh_emit *emit, const void *record)
{
	const struct gh_dump_record *finalizer = record;
	gh_escape_either(emit->out, finalizer->kind == GH_DUMP_FINALIZER ? "registered" : "queued",
			 emit->json);
}

static void print_finalizers(struct gh_emit *emit)
{
	static const struct gh_column columns[] = {
	    {"state", GH_COL_PRINTED(print_finalizer_state)},
	    {"object", ADDRESS(finalizer.object)},
	    {"func_value", ADDRESS(finalizer.func_value)},
	    {"entry", ADDRESS(finalizer.entry)},
	    {"argument_type", ADDRESS(finalizer.argument_type)},
	    {"argument_type_name", TYPE_NAME(finalizer.argument_type)},
	    {"object_type", ADDRESS(finalizer.object_type)},
	    {"object_type_name", TYPE_NAME(finalizer.object_type)},
	    {0},
	};
	print_records(emit, GH_DUMP_FINALIZER, columns, true);
	print_records(emit, GH_DUMP_QUEUED_FINALIZER, columns, true);
}

int gh_cmd_finalizers(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_finalizers);
}

/* Prints each goroutine's defers or panics. Those before any goroutine are of none. */
static void print_owned(struct gh_emit *emit, enum gh_dump_kind kind,
			const struct gh_column *columns)
{
	const struct gh_dump *dump = emit->dump;
	struct gh_dump_record record;
	size_t goroutine = 0;
	for (size_t i = 0; i < gh_dump_count(dump, kind); i++) {
		struct owner owner = {0};
		for (; goroutine < dump->stacks.count; goroutine++) {
			const struct gh_dump_stack *stack = gh_dump_stack(dump, goroutine);
			bool defers = kind == GH_DUMP_DEFER;
			size_t first = defers ? stack->first_defer : stack->first_panic;
			if (i >= first + (defers ? stack->ndefers : stack->npanics))
				continue;
			if (i >= first)
				owner.id = (struct gh_known){goroutine_id(dump, goroutine), true};
			break;
		}
		gh_dump_get(dump, kind, i, &record);
		print_titles(emit, (const struct gh_column *const[]){owner_columns, columns, NULL});
		gh_emit_values(emit, owner_columns, &owner);
		gh_emit_row(emit, columns, &record);
	}
}

static void print_defers(struct gh_emit *emit)
{
	static const struct gh_column columns[] = {
	    {"record", ADDRESS(defer.record)},
	    {"argp", ADDRESS(defer.argp)},
	    {"pc", ADDRESS(defer.pc)},
	    {"func_value", ADDRESS(defer.func_value)},
	    {"entry", ADDRESS(defer.entry)},
	    {"next", ADDRESS(defer.next)},
	    {0},
	};
	print_owned(emit, GH_DUMP_DEFER, columns);
}

int gh_cmd_defers(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_defers);
}

static void print_panics(struct gh_emit *emit)
{
	static const struct gh_column columns[] = {
	    {"record", ADDRESS(panic.record)},
	    {"argument_type", ADDRESS(panic.argument_type)},
	    {"argument_type_name", TYPE_NAME(panic.argument_type)},
	    {"argument_data", ADDRESS(panic.argument_data)},
	    {"defer", ADDRESS(panic.defer)},
	    {"next", ADDRESS(panic.next)},
	    {"value", KNOWN_SLICE(panic.value)},
	    {0},
	};
	print_owned(emit, GH_DUMP_PANIC, columns);
}

int gh_cmd_panics(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_panics);
}

static void print_threads(struct gh_emit *emit)
{
	struct row {
		uint64_t id, os_id, descriptor;
		const char *call, *arguments;
		struct gh_known asleep;
	};
	static const struct gh_column columns[] = {
	    {"id", GH_COL_NUMBER(struct row, id)},
	    {"os_id", GH_COL_NUMBER(struct row, os_id)},
	    {"descriptor", GH_COL_ADDRESS(struct row, descriptor)},
	    {"system_call", GH_COL_TEXT(struct row, call), .optional = true},
	    {"arguments", GH_COL_TEXT(struct row, arguments), .optional = true},
	    {"asleep", GH_COL_KNOWN_NUMBER(struct row, asleep), .optional = true},
	    {0},
	};
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(emit->dump, GH_DUMP_THREAD); i++) {
		gh_dump_get(emit->dump, GH_DUMP_THREAD, i, &record);
		const struct gh_dump_call *call = gh_dump_call(emit->dump, record.thread.m);
		struct row row = {.id = record.thread.id,
				  .os_id = record.thread.os_id,
				  .descriptor = record.thread.m};
		if (call != NULL) {
			row.call = call->name;
			row.arguments = *call->arguments != '\0' ? call->arguments : NULL;
			row.asleep = (struct gh_known){call->asleep, call->asleep != 0};
		}
		print_titles(emit, (const struct gh_column *const[]){columns, NULL});
		gh_emit_row(emit, columns, &row);
	}
}

int gh_cmd_threads(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_ROWS, print_threads);
}

/* The pauses of the latest garbage collections, latest first; there is room for so many only. */
static void print_pauses(struct gh_emit *emit, const void *record)
{
	const struct gh_dump_memstats *stats = &((const struct gh_dump_record *)record)->memstats;
	uint64_t count = stats->ngc < GH_DUMP_PAUSES ? stats->ngc : GH_DUMP_PAUSES;
	for (uint64_t i = 0; i < count; i++)
		gh_emit_item_number(emit, stats->pauses[(stats->ngc - 1 - i) % GH_DUMP_PAUSES]);
}

#define COUNTER(name) NUMBER(memstats.counters[GH_DUMP_##name])

static void print_memstats(struct gh_emit *emit)
{
	static const struct gh_column columns[] = {
	    {"alloc", COUNTER(ALLOC)},
	    {"total_alloc", COUNTER(TOTAL_ALLOC)},
	    {"sys", COUNTER(SYS)},
	    {"lookups", COUNTER(LOOKUPS)},
	    {"mallocs", COUNTER(MALLOCS)},
	    {"frees", COUNTER(FREES)},
	    {"heap_alloc", COUNTER(HEAP_ALLOC)},
	    {"heap_sys", COUNTER(HEAP_SYS)},
	    {"heap_idle", COUNTER(HEAP_IDLE)},
	    {"heap_inuse", COUNTER(HEAP_INUSE)},
	    {"heap_released", COUNTER(HEAP_RELEASED)},
	    {"heap_objects", COUNTER(HEAP_OBJECTS)},
	    {"stack_inuse", COUNTER(STACK_INUSE)},
	    {"stack_sys", COUNTER(STACK_SYS)},
	    {"mspan_inuse", COUNTER(MSPAN_INUSE)},
	    {"mspan_sys", COUNTER(MSPAN_SYS)},
	    {"mcache_inuse", COUNTER(MCACHE_INUSE)},
	    {"mcache_sys", COUNTER(MCACHE_SYS)},
	    {"buckhash_sys", COUNTER(BUCKHASH_SYS)},
	    {"gc_sys", COUNTER(GC_SYS)},
	    {"other_sys", COUNTER(OTHER_SYS)},
	    {"next_gc", COUNTER(NEXT_GC)},
	    {"last_gc", COUNTER(LAST_GC)},
	    {"pause_total_ns", COUNTER(PAUSE_TOTAL)},
	    {"num_gc", NUMBER(memstats.ngc)},
	    {"pause_ns", GH_COL_LIST(print_pauses)},
	    {0},
	};
	if (gh_dump_count(emit->dump, GH_DUMP_MEMSTATS) > 0) {
		struct gh_dump_record record;
		gh_dump_get(emit->dump, GH_DUMP_MEMSTATS, 0, &record);
		gh_emit_values(emit, columns, &record);
	}
	gh_emit_end(emit);
}

int gh_cmd_memstats(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_REPORT, print_memstats);
}

static void print_params(struct gh_emit *emit)
{
	struct params {
		const char *format;
		const char *machine;
		struct gh_dump_params params;
	};
	static const struct gh_column first[] = {
	    {"format", GH_COL_TEXT(struct params, format)},
	    {"big_endian", GH_COL_BOOL(struct params, params.big_endian)},
	    {"pointer_size", GH_COL_NUMBER(struct params, params.pointer_size)},
	    {0},
	};
	static const struct gh_column old[] = {
	    {"channel_header", GH_COL_NUMBER(struct params, params.channel_header)}, {0}};
	static const struct gh_column heap[] = {
	    {"heap_start", GH_COL_ADDRESS(struct params, params.heap_start)},
	    {"heap_end", GH_COL_ADDRESS(struct params, params.heap_end)},
	    {0},
	};
	static const struct gh_column last[] = {
	    {"machine", GH_COL_TEXT(struct params, machine)},
	    {"experiment", GH_COL_SLICE(struct params, params.experiment)},
	    {"cpus", GH_COL_NUMBER(struct params, params.ncpu)},
	    {0},
	};
	const struct gh_dump *dump = emit->dump;
	struct params row = {gh_dump_format_name(dump->format), dump->goarch, dump->params};
	gh_emit_values(emit, first, &row);
	if (dump->format <= GH_DUMP_1_3)
		gh_emit_values(emit, old, &row);
	gh_emit_values(emit, heap, &row);
	if (dump->format != GH_DUMP_PROTOTYPE)
		gh_emit_values(emit, last, &row);
	gh_emit_end(emit);
}

int gh_cmd_params(const struct gh_options *options)
{
	return gh_records_print(options, GH_EMIT_REPORT, print_params);
}
