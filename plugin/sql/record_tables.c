/* Tables whose items are records of the dump: what allocates, samples of that, data segments,
 * itabs, finalizers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/sql/internal.h"

static const struct gh_dump_record *record_of(const struct gh_sql_cursor *cursor)
{
	return cursor->state;
}

/* Records of a second kind come after those of the first. */

static uint64_t count_records(struct gh_sql_cursor *cursor)
{
	const enum gh_dump_kind *kinds = cursor->table->records;
	const struct gh_dump *dump = cursor->heap->dump;
	return gh_dump_count(dump, kinds[0]) +
	       (kinds[1] != GH_DUMP_EOF ? gh_dump_count(dump, kinds[1]) : 0);
}

static bool load_record(struct gh_sql_cursor *cursor)
{
	const enum gh_dump_kind *kinds = cursor->table->records;
	uint64_t count = gh_dump_count(cursor->heap->dump, kinds[0]);
	bool is_first = cursor->item < count;
	gh_dump_get(cursor->heap->dump, kinds[is_first ? 0 : 1],
		    is_first ? cursor->item : cursor->item - count, cursor->state);
	return true;
}

/* sites: records of the profile. */

/* The places that the site's stack has, innermost first; COUNT of them. NULL if memory ran out. */
static const uint32_t *stack_of(const struct gh_sql_cursor *cursor, size_t *count)
{
	struct gh_sql_made *made = &cursor->sql->made;
	const struct gh_symbols *symbols = cursor->heap->names->symbols;
	struct gh_error err;
	if (!made->has_allocations)
		made->has_allocations =
		    gh_allocations_make(&made->allocations, cursor->heap->dump,
					symbols != NULL ? &symbols->program.tab : NULL, &err);
	*count = 0;
	return made->has_allocations ? gh_allocations_stack(&made->allocations, cursor->item, count)
				     : NULL;
}

static const struct gh_interned *text_of(const struct gh_sql_cursor *cursor, uint32_t number)
{
	return cursor->sql->made.allocations.texts.items[number];
}

/* The line that allocates. NULL if it is not known. */
static const struct gh_allocation_line *line_of(const struct gh_sql_cursor *cursor)
{
	size_t count;
	const uint32_t *places = stack_of(cursor, &count);
	return count > 0 ? gh_allocations_line(&cursor->sql->made.allocations, places[0], 0) : NULL;
}

static void give_function(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_allocation_line *line = line_of(cursor);
	if (line != NULL)
		gh_sql_give_bytes(out, text_of(cursor, line->function)->text,
				  text_of(cursor, line->function)->length);
}

static void give_file(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_allocation_line *line = line_of(cursor);
	if (line != NULL && text_of(cursor, line->file)->length > 0)
		gh_sql_give_bytes(out, text_of(cursor, line->file)->text,
				  text_of(cursor, line->file)->length);
}

static void give_line(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_allocation_line *line = line_of(cursor);
	gh_sql_give_known(out, line != NULL ? line->line : 0);
}

static void print_stack(FILE *out, const struct gh_sql_cursor *cursor, const uint32_t *places,
			size_t count)
{
	const struct gh_allocations *allocations = &cursor->sql->made.allocations;
	const char *before = "";
	for (size_t i = count; i-- > 0;) {
		uint32_t nlines = gh_allocations_place(allocations, places[i])->nlines;
		for (uint32_t n = nlines; n-- > 0; before = ";") {
			const struct gh_interned *function = text_of(
			    cursor, gh_allocations_line(allocations, places[i], n)->function);
			fputs(before, out);
			fwrite(function->text, 1, function->length, out);
		}
	}
}

static void give_stack(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	size_t count;
	const uint32_t *places = stack_of(cursor, &count);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	if (stream != NULL)
		print_stack(stream, cursor, places, count);
	gh_sql_give_stream(out, stream, true, &text, &size);
}

static const struct gh_sql_column site_columns[] = {
    {"id", "INTEGER", GH_SQL_MEMBER(struct gh_dump_record, profile.id),
     .about = "as in samples.site"},
    {"function", "TEXT", give_function, .about = "that allocates"},
    {"file", "TEXT", give_file, .about = "where it does"},
    {"line", "INTEGER", give_line, .about = "where it does"},
    {"size", "INTEGER", GH_SQL_MEMBER(struct gh_dump_record, profile.size),
     .about = "of each object, in bytes"},
    {"allocations", "INTEGER", GH_SQL_MEMBER(struct gh_dump_record, profile.allocations),
     .about = "objects that were, of those sampled"},
    {"frees", "INTEGER", GH_SQL_MEMBER(struct gh_dump_record, profile.frees),
     .about = "of these, that were freed again"},
    {"stack", "TEXT", give_stack,
     .about = "functions, the outermost first, as flame graphs have it"},
    {0},
};

const struct gh_sql_table gh_sql_sites = {
    .name = "sites",
    .is_summary = true,
    .about = "The stacks that allocated, by the allocation profile: what was sampled, not scaled",
    .columns = site_columns,
    .rows = 1e3,
    .state = sizeof(struct gh_dump_record),
    .records = {GH_DUMP_PROFILE},
    .count = count_records,
    .load = load_record,
};

/* samples */

static void give_sampled(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_object(out, cursor,
			   gh_heap_find(cursor->heap->heap, record_of(cursor)->sample.object));
}

static const struct gh_sql_column sample_columns[] = {
    {"object", GH_SQL_ADDRESS, give_sampled, .about = "that was sampled when it was allocated"},
    {"site", "INTEGER", GH_SQL_MEMBER(struct gh_dump_record, sample.profile),
     .about = "id of what allocated it, as in sites"},
    {0},
};

const struct gh_sql_table gh_sql_samples = {
    .name = "samples",
    .about = "The objects whose allocation is known",
    .columns = sample_columns,
    .rows = 1e4,
    .state = sizeof(struct gh_dump_record),
    .records = {GH_DUMP_SAMPLE},
    .count = count_records,
    .load = load_record,
};

/* segments */

static void give_kind(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out, record_of(cursor)->kind == GH_DUMP_DATA ? "data" : "bss");
}

static const struct gh_sql_column segment_columns[] = {
    {"kind", "TEXT", give_kind, .about = "data or bss"},
    {"address", GH_SQL_ADDRESS, GH_SQL_MEMBER(struct gh_dump_record, segment.address),
     .about = "where it begins"},
    {"bytes", "INTEGER", GH_SQL_MEMBER(struct gh_dump_record, segment.contents.size),
     .about = "in it"},
    {0},
};

const struct gh_sql_table gh_sql_segments = {
    .name = "segments",
    .about = "The data segments, where global variables are",
    .columns = segment_columns,
    .rows = 2,
    .state = sizeof(struct gh_dump_record),
    .records = {GH_DUMP_DATA, GH_DUMP_BSS},
    .count = count_records,
    .load = load_record,
};

/* itabs */

static void give_itab_type_name(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_type_at(out, cursor, record_of(cursor)->itab.type);
}

static const struct gh_sql_column itab_columns[] = {
    {"address", GH_SQL_ADDRESS, GH_SQL_MEMBER(struct gh_dump_record, itab.address),
     .about = "that interfaces have"},
    {"descriptor", GH_SQL_ADDRESS, .kind = GH_SQL_KNOWN,
     GH_SQL_MEMBER(struct gh_dump_record, itab.type), .about = "of the dynamic type"},
    {"type", "TEXT", give_itab_type_name, .needs = GH_SQL_NEEDS_NAMES, .about = "its name"},
    {0},
};

const struct gh_sql_table gh_sql_itabs = {
    .name = "itabs",
    .about = "The tables of methods by which interfaces know dynamic types",
    .columns = itab_columns,
    .rows = 1e3,
    .state = sizeof(struct gh_dump_record),
    .records = {GH_DUMP_ITAB},
    .count = count_records,
    .load = load_record,
};

/* finalizers */

static void give_state(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out,
			 record_of(cursor)->kind == GH_DUMP_FINALIZER ? "registered" : "queued");
}

static void give_finalizer_function(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	struct gh_symbols *symbols = cursor->heap->names->symbols;
	struct gh_call call;
	if (symbols != NULL &&
	    gh_traceback_call_at(symbols, record_of(cursor)->finalizer.entry, &call))
		gh_sql_give_bytes(out, call.name, call.length);
}

static void give_object_type(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_type_at(out, cursor, record_of(cursor)->finalizer.object_type);
}

static const struct gh_sql_column finalizer_columns[] = {
    {"state", "TEXT", give_state, .about = "registered or queued"},
    {"object", GH_SQL_ADDRESS, GH_SQL_MEMBER(struct gh_dump_record, finalizer.object),
     .about = "that it is for"},
    {"type", "TEXT", give_object_type, .needs = GH_SQL_NEEDS_NAMES,
     .about = "of the pointer to the object"},
    {"function", "TEXT", give_finalizer_function,
     .about = "that it is; NULL if the program is not known"},
    {"entry", GH_SQL_ADDRESS, .kind = GH_SQL_KNOWN,
     GH_SQL_MEMBER(struct gh_dump_record, finalizer.entry), .about = "where the function begins"},
    {"closure", GH_SQL_ADDRESS, .kind = GH_SQL_KNOWN,
     GH_SQL_MEMBER(struct gh_dump_record, finalizer.func_value), .about = "of the function"},
    {0},
};

const struct gh_sql_table gh_sql_finalizers = {
    .name = "finalizers",
    .about = "The finalizers",
    .columns = finalizer_columns,
    .rows = 100,
    .state = sizeof(struct gh_dump_record),
    .records = {GH_DUMP_FINALIZER, GH_DUMP_QUEUED_FINALIZER},
    .count = count_records,
    .load = load_record,
};
