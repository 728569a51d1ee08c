/* The commands that list a heap dump's records, a record a line. */
#include <stdio.h>
#include <stdlib.h>

#include "plugin/cli/command.h"
#include "plugin/cli/options.h"
#include "plugin/view/open_dump.h"
#include "plugin/view/report.h"
#include "plugin/view/row.h"

/* A dump has millions of frames and roots. */
#define OUTPUT_BUFFER (1 << 18)

/* Prints what PRINT does of the dump that OPTIONS name. */
static int print_dump(const struct gh_options *options, void (*print)(struct gh_row *row))
{
	struct gh_dump dump;
	if (!gh_dumpfile_open(&dump, options->file))
		return GH_EXIT_INPUT;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	struct gh_row row = {.dump = &dump, .json = options->json};
	print(&row);
	gh_dump_close(&dump);
	return GH_EXIT_OK;
}

/* Prints the records of KIND. */
static void print_records(struct gh_row *row, enum gh_dump_kind kind,
			  void (*print)(struct gh_row *row, const struct gh_dump_record *record))
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(row->dump, kind); i++) {
		gh_dump_get(row->dump, kind, i, &record);
		print(row, &record);
		gh_row_end(row);
	}
}

/* The id of goroutine NUMBER. */
static uint64_t goroutine_id(const struct gh_dump *dump, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine.id;
}

/* The address of a type, and its name. */
static void print_type(struct gh_row *row, const char *key, const char *name_key, uint64_t address)
{
	gh_row_address(row, key, address);
	gh_row_slice(row, name_key, gh_dumpfile_type_name(row->dump, address));
}

static void print_frame(struct gh_row *row, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(row->dump, GH_DUMP_FRAME, number, &record);
	const struct gh_dump_frame *frame = &record.frame;
	gh_row_number(row, "depth", frame->depth);
	gh_row_address(row, "sp", frame->sp);
	gh_row_number(row, "size", frame->size);
	if (row->dump->format == GH_DUMP_PROTOTYPE)
		gh_row_address(row, "parent_sp", frame->parent_sp);
	else
		gh_row_address(row, "child_sp", frame->child_sp);
	gh_row_address(row, "entry", frame->entry);
	gh_row_address(row, "pc", frame->pc);
	gh_row_address(row, "continuation", frame->continuation);
	gh_row_slice(row, "function", frame->function);
	gh_row_fields(row, &record);
	gh_row_end(row);
}

/* Frames that no goroutine has are in the file before the first. */
static void print_frames(struct gh_row *row)
{
	size_t first = row->dump->damage.orphan_frames;
	for (size_t i = 0; i < first; i++) {
		gh_row_slice(row, "goroutine", (struct gh_dump_slice){0});
		print_frame(row, i);
	}
	for (size_t i = 0; i < row->dump->nstacks; i++) {
		const struct gh_dump_stack *stack = gh_dump_stack(row->dump, i);
		uint64_t id = goroutine_id(row->dump, i);
		for (size_t f = 0; f < stack->nframes; f++) {
			gh_row_number(row, "goroutine", id);
			print_frame(row, stack->first_frame + f);
		}
	}
}

int gh_cmd_frames(const struct gh_options *options)
{
	return print_dump(options, print_frames);
}

static void print_type_record(struct gh_row *row, const struct gh_dump_record *record)
{
	gh_row_address(row, "address", record->type.address);
	gh_row_number(row, "size", record->type.size);
	gh_row_bool(row, "indirect", record->type.indirect);
	gh_row_slice(row, "name", record->type.name);
	gh_row_fields(row, record);
}

static void print_types(struct gh_row *row)
{
	print_records(row, GH_DUMP_TYPE, print_type_record);
}

int gh_dump_types(const struct gh_options *options)
{
	return print_dump(options, print_types);
}

/* Formats to 1.3 have the one, later ones the other. */
static void print_itab(struct gh_row *row, const struct gh_dump_record *record)
{
	gh_row_address(row, "address", record->itab.address);
	if (row->dump->format <= GH_DUMP_1_3)
		gh_row_bool(row, "indirect", record->itab.indirect);
	else
		print_type(row, "type", "type_name", record->itab.type);
}

static void print_itabs(struct gh_row *row)
{
	print_records(row, GH_DUMP_ITAB, print_itab);
}

int gh_cmd_itabs(const struct gh_options *options)
{
	return print_dump(options, print_itabs);
}

/* A root of this KIND at ADDRESS, which points to POINTER. */
static void print_root(struct gh_row *row, const char *kind, uint64_t address, uint64_t pointer)
{
	gh_row_text(row, "kind", kind);
	gh_row_address(row, "address", address);
	gh_row_address(row, "pointer", pointer);
}

static void print_other_root(struct gh_row *row, const struct gh_dump_record *record)
{
	print_root(row, "other", 0, record->other_root.pointer);
	gh_row_slice(row, "description", record->other_root.description);
}

static void print_stack_root(struct gh_row *row, const struct gh_dump_record *record)
{
	print_root(row, "stack", record->stack_root.address, record->stack_root.pointer);
	gh_row_address(row, "description", record->stack_root.sp);
}

static void print_data_root(struct gh_row *row, const struct gh_dump_record *record)
{
	print_root(row, "data", record->data_root.address, record->data_root.pointer);
	gh_row_slice(row, "description", (struct gh_dump_slice){0});
}

/* The pointers that are not nil in CONTENTS at ADDRESS, whose fields are RECORD's. */
static void print_pointers(struct gh_row *row, const char *kind, uint64_t address,
			   struct gh_dump_slice contents, const struct gh_dump_record *record,
			   struct gh_dump_slice description)
{
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(row->dump, record, &walk);
	while (gh_fields_next(&walk, &field)) {
		/* Of an interface, the data word. */
		if (field.kind == GH_FIELD_IFACE || field.kind == GH_FIELD_EFACE)
			field.offset += row->dump->word;
		struct gh_cursor cur = gh_dump_bytes(row->dump, contents);
		gh_cursor_seek(&cur, field.offset);
		uint64_t pointer = gh_cursor_uint(&cur, row->dump->word);
		if (pointer == 0)
			continue;
		print_root(row, kind, address + field.offset, pointer);
		gh_row_slice(row, "description", description);
		gh_row_end(row);
	}
}

static void print_segment_roots(struct gh_row *row, enum gh_dump_kind kind)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(row->dump, kind); i++) {
		gh_dump_get(row->dump, kind, i, &record);
		print_pointers(row, kind == GH_DUMP_DATA ? "data" : "bss", record.segment.address,
			       record.segment.contents, &record, (struct gh_dump_slice){0});
	}
}

static void print_frame_roots(struct gh_row *row)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(row->dump, GH_DUMP_FRAME); i++) {
		gh_dump_get(row->dump, GH_DUMP_FRAME, i, &record);
		print_pointers(row, "stack", record.frame.sp, record.frame.contents, &record,
			       record.frame.function);
	}
}

/* A root of this KIND without a description. */
static void print_plain_root(struct gh_row *row, const char *kind, uint64_t address,
			     uint64_t pointer)
{
	if (pointer == 0)
		return;
	print_root(row, kind, address, pointer);
	gh_row_slice(row, "description", (struct gh_dump_slice){0});
	gh_row_end(row);
}

static void print_goroutine_roots(struct gh_row *row)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(row->dump, GH_DUMP_GOROUTINE); i++) {
		gh_dump_get(row->dump, GH_DUMP_GOROUTINE, i, &record);
		const struct gh_dump_goroutine *goroutine = &record.goroutine;
		print_plain_root(row, "goroutine", goroutine->descriptor, goroutine->context);
		print_plain_root(row, "goroutine", goroutine->descriptor, goroutine->top_defer);
		print_plain_root(row, "goroutine", goroutine->descriptor, goroutine->top_panic);
	}
}

static void print_call_roots(struct gh_row *row)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(row->dump, GH_DUMP_DEFER); i++) {
		gh_dump_get(row->dump, GH_DUMP_DEFER, i, &record);
		print_plain_root(row, "defer", record.defer.record, record.defer.func_value);
	}
	for (size_t i = 0; i < gh_dump_count(row->dump, GH_DUMP_PANIC); i++) {
		gh_dump_get(row->dump, GH_DUMP_PANIC, i, &record);
		print_plain_root(row, "panic", record.panic.record, record.panic.argument_data);
	}
}

/* Go has one finalizer for an object: the pointers of one are not printed again. SEEN has a bit for
 * each. */
static void print_object_roots(struct gh_row *row, uint64_t address, uint8_t *seen)
{
	size_t number = gh_dump_find_object(row->dump, address);
	if (number == GH_DUMP_NONE || (seen[number / 8] & 1U << number % 8) != 0)
		return;
	seen[number / 8] |= (uint8_t)(1U << number % 8);
	struct gh_dump_record record;
	gh_dump_get(row->dump, GH_DUMP_OBJECT, number, &record);
	print_pointers(row, "finalizer", record.object.address, record.object.contents, &record,
		       (struct gh_dump_slice){0});
}

/* Go's collector keeps what an object with a finalizer points to, and not the object. */
static void print_finalizer_roots(struct gh_row *row)
{
	struct gh_dump_record record;
	uint8_t *seen = calloc(gh_dump_count(row->dump, GH_DUMP_OBJECT) / 8 + 1, 1);
	for (size_t i = 0; seen != NULL && i < gh_dump_count(row->dump, GH_DUMP_FINALIZER); i++) {
		gh_dump_get(row->dump, GH_DUMP_FINALIZER, i, &record);
		print_plain_root(row, "finalizer", record.finalizer.object,
				 record.finalizer.func_value);
		print_object_roots(row, record.finalizer.object, seen);
	}
	free(seen);
	for (size_t i = 0; i < gh_dump_count(row->dump, GH_DUMP_QUEUED_FINALIZER); i++) {
		gh_dump_get(row->dump, GH_DUMP_QUEUED_FINALIZER, i, &record);
		const struct gh_dump_finalizer *finalizer = &record.finalizer;
		print_plain_root(row, "queued finalizer", 0, finalizer->object);
		print_plain_root(row, "queued finalizer", 0, finalizer->func_value);
	}
}

static void print_roots(struct gh_row *row)
{
	print_records(row, GH_DUMP_OTHER_ROOT, print_other_root);
	print_segment_roots(row, GH_DUMP_DATA);
	print_segment_roots(row, GH_DUMP_BSS);
	print_records(row, GH_DUMP_DATA_ROOT, print_data_root);
	print_frame_roots(row);
	print_records(row, GH_DUMP_STACK_ROOT, print_stack_root);
	print_goroutine_roots(row);
	print_call_roots(row);
	print_finalizer_roots(row);
}

int gh_cmd_roots(const struct gh_options *options)
{
	return print_dump(options, print_roots);
}

static void print_finalizer(struct gh_row *row, const struct gh_dump_record *record)
{
	const struct gh_dump_finalizer *finalizer = &record->finalizer;
	gh_row_text(row, "state", record->kind == GH_DUMP_FINALIZER ? "registered" : "queued");
	gh_row_address(row, "object", finalizer->object);
	gh_row_address(row, "func_value", finalizer->func_value);
	gh_row_address(row, "entry", finalizer->entry);
	print_type(row, "argument_type", "argument_type_name", finalizer->argument_type);
	print_type(row, "object_type", "object_type_name", finalizer->object_type);
}

static void print_finalizers(struct gh_row *row)
{
	print_records(row, GH_DUMP_FINALIZER, print_finalizer);
	print_records(row, GH_DUMP_QUEUED_FINALIZER, print_finalizer);
}

int gh_cmd_finalizers(const struct gh_options *options)
{
	return print_dump(options, print_finalizers);
}

/* Prints the id of each goroutine's defers or panics before them. Those before any goroutine have
 * none. */
static void print_owned(struct gh_row *row, enum gh_dump_kind kind,
			void (*print)(struct gh_row *row, const struct gh_dump_record *record))
{
	const struct gh_dump *dump = row->dump;
	struct gh_dump_record record;
	size_t owner = 0;
	for (size_t i = 0; i < gh_dump_count(dump, kind); i++) {
		for (; owner < dump->nstacks; owner++) {
			const struct gh_dump_stack *stack = gh_dump_stack(dump, owner);
			size_t end = kind == GH_DUMP_DEFER ? stack->first_defer + stack->ndefers
							   : stack->first_panic + stack->npanics;
			if (i < end)
				break;
		}
		const struct gh_dump_stack *stack =
		    owner < dump->nstacks ? gh_dump_stack(dump, owner) : NULL;
		if (stack != NULL &&
		    i >= (kind == GH_DUMP_DEFER ? stack->first_defer : stack->first_panic))
			gh_row_number(row, "goroutine", goroutine_id(dump, owner));
		else
			gh_row_slice(row, "goroutine", (struct gh_dump_slice){0});
		gh_dump_get(dump, kind, i, &record);
		print(row, &record);
		gh_row_end(row);
	}
}

static void print_defer(struct gh_row *row, const struct gh_dump_record *record)
{
	const struct gh_dump_defer *defer = &record->defer;
	gh_row_address(row, "record", defer->record);
	gh_row_address(row, "argp", defer->argp);
	gh_row_address(row, "pc", defer->pc);
	gh_row_address(row, "func_value", defer->func_value);
	gh_row_address(row, "entry", defer->entry);
	gh_row_address(row, "next", defer->next);
}

static void print_defers(struct gh_row *row)
{
	print_owned(row, GH_DUMP_DEFER, print_defer);
}

int gh_cmd_defers(const struct gh_options *options)
{
	return print_dump(options, print_defers);
}

static void print_panic(struct gh_row *row, const struct gh_dump_record *record)
{
	const struct gh_dump_panic *panic = &record->panic;
	gh_row_address(row, "record", panic->record);
	print_type(row, "argument_type", "argument_type_name", panic->argument_type);
	gh_row_address(row, "argument_data", panic->argument_data);
	gh_row_address(row, "defer", panic->defer);
	gh_row_address(row, "next", panic->next);
}

static void print_panics(struct gh_row *row)
{
	print_owned(row, GH_DUMP_PANIC, print_panic);
}

int gh_cmd_panics(const struct gh_options *options)
{
	return print_dump(options, print_panics);
}

static void print_thread(struct gh_row *row, const struct gh_dump_record *record)
{
	gh_row_number(row, "id", record->thread.id);
	gh_row_number(row, "os_id", record->thread.os_id);
	gh_row_address(row, "descriptor", record->thread.descriptor);
}

static void print_threads(struct gh_row *row)
{
	print_records(row, GH_DUMP_THREAD, print_thread);
}

int gh_cmd_threads(const struct gh_options *options)
{
	return print_dump(options, print_threads);
}

/* The pauses of the latest garbage collections, latest first; there is room for so many only. */
static void print_pauses(struct gh_report *report, const struct gh_dump_memstats *stats)
{
	uint64_t count = stats->ngc < GH_DUMP_PAUSES ? stats->ngc : GH_DUMP_PAUSES;
	gh_report_key(report, "pause_ns");
	if (report->json)
		putchar('[');
	for (uint64_t i = 0; i < count; i++)
		printf("%s%llu",
		       i == 0         ? ""
		       : report->json ? ","
				      : " ",
		       (unsigned long long)stats->pauses[(stats->ngc - 1 - i) % GH_DUMP_PAUSES]);
	fputs(report->json ? "]" : "\n", stdout);
}

static void print_memstats(struct gh_row *row)
{
	static const char *const names[GH_DUMP_COUNTERS] = {
	    "alloc",         "total_alloc",  "sys",         "lookups",       "mallocs",
	    "frees",         "heap_alloc",   "heap_sys",    "heap_idle",     "heap_inuse",
	    "heap_released", "heap_objects", "stack_inuse", "stack_sys",     "mspan_inuse",
	    "mspan_sys",     "mcache_inuse", "mcache_sys",  "buckhash_sys",  "gc_sys",
	    "other_sys",     "next_gc",      "last_gc",     "pause_total_ns"};
	struct gh_report report = {.json = row->json};
	if (gh_dump_count(row->dump, GH_DUMP_MEMSTATS) > 0) {
		struct gh_dump_record record;
		gh_dump_get(row->dump, GH_DUMP_MEMSTATS, 0, &record);
		for (unsigned i = 0; i < GH_DUMP_COUNTERS; i++)
			gh_report_number(&report, names[i], record.memstats.counters[i]);
		gh_report_number(&report, "num_gc", record.memstats.ngc);
		print_pauses(&report, &record.memstats);
	}
	gh_report_end(&report);
}

int gh_cmd_memstats(const struct gh_options *options)
{
	return print_dump(options, print_memstats);
}

static void report_slice(struct gh_report *report, const struct gh_row *row, const char *key,
			 struct gh_dump_slice slice)
{
	gh_report_key(report, key);
	gh_print_slice(stdout, row->dump, slice, report->json);
	if (!report->json)
		putchar('\n');
}

static void print_params(struct gh_row *row)
{
	const struct gh_dump *dump = row->dump;
	const struct gh_dump_params *params = &dump->params;
	struct gh_report report = {.json = row->json};
	gh_report_text(&report, "format", gh_dump_format_name(dump->format));
	gh_report_bool(&report, "big_endian", params->big_endian);
	gh_report_number(&report, "pointer_size", params->pointer_size);
	if (dump->format <= GH_DUMP_1_3)
		gh_report_number(&report, "channel_header", params->channel_header);
	gh_report_address(&report, "heap_start", params->heap_start);
	gh_report_address(&report, "heap_end", params->heap_end);
	if (dump->format != GH_DUMP_PROTOTYPE) {
		gh_report_text(&report, "machine", dump->goarch);
		report_slice(&report, row, "experiment", params->experiment);
		gh_report_number(&report, "cpus", params->ncpu);
	}
	gh_report_end(&report);
}

int gh_cmd_params(const struct gh_options *options)
{
	return print_dump(options, print_params);
}
