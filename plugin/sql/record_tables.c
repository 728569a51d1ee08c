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

/* sites: records of the profile. */

static uint64_t count_sites(struct gh_sql_cursor *cursor)
{
	return gh_dump_count(cursor->heap->dump, GH_DUMP_PROFILE);
}

static bool load_site(struct gh_sql_cursor *cursor)
{
	gh_dump_get(cursor->heap->dump, GH_DUMP_PROFILE, cursor->item, cursor->state);
	return true;
}

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

static void give_site(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->profile.id);
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

static void give_object_size(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->profile.size);
}

static void give_allocations(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->profile.allocations);
}

static void give_frees(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->profile.frees);
}

static const struct gh_sql_column site_columns[] = {
    {"id", "INTEGER", give_site, .about = "as in samples.site"},
    {"function", "TEXT", give_function, .about = "that allocates"},
    {"file", "TEXT", give_file, .about = "where it does"},
    {"line", "INTEGER", give_line, .about = "where it does"},
    {"size", "INTEGER", give_object_size, .about = "of each object, in bytes"},
    {"allocations", "INTEGER", give_allocations, .about = "objects that were, of those sampled"},
    {"frees", "INTEGER", give_frees, .about = "of these, that were freed again"},
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
    .count = count_sites,
    .load = load_site,
};

/* samples */

static uint64_t count_samples(struct gh_sql_cursor *cursor)
{
	return gh_dump_count(cursor->heap->dump, GH_DUMP_SAMPLE);
}

static bool load_sample(struct gh_sql_cursor *cursor)
{
	gh_dump_get(cursor->heap->dump, GH_DUMP_SAMPLE, cursor->item, cursor->state);
	return true;
}

static void give_sampled(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_object(out, cursor,
			   gh_heap_find(cursor->heap->heap, record_of(cursor)->sample.object));
}

static void give_sample_site(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->sample.profile);
}

static const struct gh_sql_column sample_columns[] = {
    {"object", GH_SQL_ADDRESS, give_sampled, .about = "that was sampled when it was allocated"},
    {"site", "INTEGER", give_sample_site, .about = "id of what allocated it, as in sites"},
    {0},
};

const struct gh_sql_table gh_sql_samples = {
    .name = "samples",
    .about = "The objects whose allocation is known",
    .columns = sample_columns,
    .rows = 1e4,
    .state = sizeof(struct gh_dump_record),
    .count = count_samples,
    .load = load_sample,
};

/* Tables of records of two kinds, one after the other. */

static uint64_t count_two(const struct gh_sql_cursor *cursor, enum gh_dump_kind first,
			  enum gh_dump_kind second)
{
	return gh_dump_count(cursor->heap->dump, first) + gh_dump_count(cursor->heap->dump, second);
}

static bool load_two(struct gh_sql_cursor *cursor, enum gh_dump_kind first,
		     enum gh_dump_kind second)
{
	uint64_t count = gh_dump_count(cursor->heap->dump, first);
	bool is_first = cursor->item < count;
	gh_dump_get(cursor->heap->dump, is_first ? first : second,
		    is_first ? cursor->item : cursor->item - count, cursor->state);
	return true;
}

/* segments */

static uint64_t count_segments(struct gh_sql_cursor *cursor)
{
	return count_two(cursor, GH_DUMP_DATA, GH_DUMP_BSS);
}

static bool load_segment(struct gh_sql_cursor *cursor)
{
	return load_two(cursor, GH_DUMP_DATA, GH_DUMP_BSS);
}

static void give_kind(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out, record_of(cursor)->kind == GH_DUMP_DATA ? "data" : "bss");
}

static void give_start(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->segment.address);
}

static void give_size(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->segment.contents.size);
}

static const struct gh_sql_column segment_columns[] = {
    {"kind", "TEXT", give_kind, .about = "data or bss"},
    {"address", GH_SQL_ADDRESS, give_start, .about = "where it begins"},
    {"bytes", "INTEGER", give_size, .about = "in it"},
    {0},
};

const struct gh_sql_table gh_sql_segments = {
    .name = "segments",
    .about = "The data segments, where global variables are",
    .columns = segment_columns,
    .rows = 2,
    .state = sizeof(struct gh_dump_record),
    .count = count_segments,
    .load = load_segment,
};

/* itabs */

static uint64_t count_itabs(struct gh_sql_cursor *cursor)
{
	return gh_dump_count(cursor->heap->dump, GH_DUMP_ITAB);
}

static bool load_itab(struct gh_sql_cursor *cursor)
{
	gh_dump_get(cursor->heap->dump, GH_DUMP_ITAB, cursor->item, cursor->state);
	return true;
}

static void give_itab(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->itab.address);
}

static void give_itab_type(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_known(out, record_of(cursor)->itab.type);
}

static void give_itab_type_name(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_type_at(out, cursor, record_of(cursor)->itab.type);
}

static const struct gh_sql_column itab_columns[] = {
    {"address", GH_SQL_ADDRESS, give_itab, .about = "that interfaces have"},
    {"descriptor", GH_SQL_ADDRESS, give_itab_type, .about = "of the dynamic type"},
    {"type", "TEXT", give_itab_type_name, .needs = GH_SQL_NEEDS_NAMES, .about = "its name"},
    {0},
};

const struct gh_sql_table gh_sql_itabs = {
    .name = "itabs",
    .about = "The tables of methods by which interfaces know dynamic types",
    .columns = itab_columns,
    .rows = 1e3,
    .state = sizeof(struct gh_dump_record),
    .count = count_itabs,
    .load = load_itab,
};

/* finalizers */

static uint64_t count_finalizers(struct gh_sql_cursor *cursor)
{
	return count_two(cursor, GH_DUMP_FINALIZER, GH_DUMP_QUEUED_FINALIZER);
}

static bool load_finalizer(struct gh_sql_cursor *cursor)
{
	return load_two(cursor, GH_DUMP_FINALIZER, GH_DUMP_QUEUED_FINALIZER);
}

static void give_state(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out,
			 record_of(cursor)->kind == GH_DUMP_FINALIZER ? "registered" : "queued");
}

static void give_object(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, record_of(cursor)->finalizer.object);
}

static void give_finalizer_function(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	struct gh_symbols *symbols = cursor->heap->names->symbols;
	struct gh_call call;
	if (symbols != NULL &&
	    gh_traceback_call_at(symbols, record_of(cursor)->finalizer.entry, &call))
		gh_sql_give_call_function(out, &call);
}

static void give_entry(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_known(out, record_of(cursor)->finalizer.entry);
}

static void give_closure(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_known(out, record_of(cursor)->finalizer.func_value);
}

static void give_object_type(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_type_at(out, cursor, record_of(cursor)->finalizer.object_type);
}

static const struct gh_sql_column finalizer_columns[] = {
    {"state", "TEXT", give_state, .about = "registered or queued"},
    {"object", GH_SQL_ADDRESS, give_object, .about = "that it is for"},
    {"type", "TEXT", give_object_type, .needs = GH_SQL_NEEDS_NAMES,
     .about = "of the pointer to the object"},
    {"function", "TEXT", give_finalizer_function,
     .about = "that it is; NULL if the program is not known"},
    {"entry", GH_SQL_ADDRESS, give_entry, .about = "where the function begins"},
    {"closure", GH_SQL_ADDRESS, give_closure, .about = "of the function"},
    {0},
};

const struct gh_sql_table gh_sql_finalizers = {
    .name = "finalizers",
    .about = "The finalizers",
    .columns = finalizer_columns,
    .rows = 100,
    .state = sizeof(struct gh_dump_record),
    .count = count_finalizers,
    .load = load_finalizer,
};
