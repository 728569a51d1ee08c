/* Functions that read the memory of the dumped process, and the table of maps, which is made of
 * that. */
#include <string.h>

#include "lib/value/value.h"
#include "plugin/sql/internal.h"

/* The process whose memory is read. NULL if the program that describes it is not known. */
static struct gh_process *process_of(struct gh_sql *sql)
{
	struct gh_sql_made *made = &sql->made;
	const struct gh_names *names = sql->heap.names;
	if (names == NULL || names->symbols == NULL)
		return NULL;
	if (!made->has_process)
		gh_dump_process(&made->process, &made->memory, sql->heap.dump, names->symbols);
	made->has_process = true;
	return &made->process;
}

/* The type that the program describes of what has this layout, as runtime.hmap of a map's header;
 * GH_NO_RTYPE if it describes none. */
static uint32_t described(const struct gh_typing *typing, uint32_t layout)
{
	if (layout == GH_NO_LAYOUT || layout < typing->types.count)
		return layout == GH_NO_LAYOUT ? GH_NO_RTYPE : layout;
	uint32_t refined = gh_layout(&typing->layouts, layout)->refines;
	return refined < typing->types.count ? refined : GH_NO_RTYPE;
}

/* The value that ADDRESS is in: OBJECT's, or an element of it. */
static uint64_t value_at(const struct gh_typing *typing, const struct gh_class *class,
			 uint32_t object, uint64_t address)
{
	uint64_t start = gh_typing_value(typing, object);
	bool is_element = class->array && class->size > 0 && address > start;
	return is_element ? address - (address - start) % class->size : start;
}

static void give_scalar(sqlite3_context *out, struct gh_values *values,
			const struct gh_scalar *scalar)
{
	switch (scalar->kind) {
	case GH_SCALAR_NONE:
		break;
	case GH_SCALAR_INTEGER:
		sqlite3_result_int64(out, scalar->integer);
		break;
	case GH_SCALAR_REAL:
		sqlite3_result_double(out, scalar->real);
		break;
	case GH_SCALAR_TEXT:
		sqlite3_result_text64(out,
				      values->out.size > 0 ? (const char *)values->out.data : "",
				      values->out.size, SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	}
	if (values->out.failed)
		sqlite3_result_error_nomem(out);
}

/* field(ADDRESS, PATH) */
static void give_field(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	(void)argc;
	struct gh_sql *sql = sqlite3_user_data(out);
	const char *path = (const char *)sqlite3_value_text(argv[1]);
	uint64_t address = (uint64_t)sqlite3_value_int64(argv[0]);
	if (sql->heap.heap == NULL || path == NULL)
		return;
	struct gh_process *process = process_of(sql);
	if (process == NULL) {
		sqlite3_result_error(out, "field needs the program that wrote the dump: -e PROGRAM",
				     -1);
		return;
	}
	const struct gh_typing *typing = &sql->heap.names->typing;
	uint32_t object = gh_heap_find(sql->heap.heap, address);
	if (object == GH_HEAP_NONE)
		return;
	const struct gh_class *class = gh_typing_class(typing, gh_typing_of(typing, object));
	uint32_t type = described(typing, class->layout);
	if (type == GH_NO_RTYPE)
		return;
	struct gh_scalar scalar;
	struct gh_values values = {
	    .process = process, .types = &typing->types, .limit = 64, .depth = 1};
	gh_value_read_field(&values, type, value_at(typing, class, object, address), path, &scalar);
	give_scalar(out, &values, &scalar);
	gh_values_free(&values);
}

/* object(ADDRESS) */
static void give_object(sqlite3_context *out, int argc, sqlite3_value **argv)
{
	(void)argc;
	const struct gh_sql *sql = sqlite3_user_data(out);
	uint32_t object = GH_HEAP_NONE;
	if (sql->heap.heap != NULL)
		object = gh_heap_find(sql->heap.heap, (uint64_t)sqlite3_value_int64(argv[0]));
	if (object != GH_HEAP_NONE)
		gh_sql_give_number(out, gh_heap_object(sql->heap.heap, object).address);
}

const struct gh_sql_function gh_sql_functions[] = {
    {"field", 2, give_field, GH_SQL_NEEDS_NAMES, "field(address, 'name.name')",
     "a field of the object there, through pointers and interfaces; times are seconds since 1970"},
    {"object", 1, give_object, GH_SQL_NEEDS_GRAPH, "object(address)",
     "the object that the address is in"},
    {0},
};

int gh_sql_add_functions(struct gh_sql *sql)
{
	int result = SQLITE_OK;
	for (const struct gh_sql_function *function = gh_sql_functions;
	     function->name != NULL && result == SQLITE_OK; function++)
		result =
		    sqlite3_create_function_v2(sql->db, function->name, function->arguments,
					       SQLITE_UTF8, sql, function->call, NULL, NULL, NULL);
	return result;
}

/* maps: an item is an object, if it is a map's header. */

static bool load_map(struct gh_sql_cursor *cursor)
{
	const struct gh_typing *typing = &cursor->heap->names->typing;
	uint32_t object = (uint32_t)cursor->item;
	uint32_t type =
	    described(typing, gh_typing_class(typing, gh_typing_of(typing, object))->layout);
	if (type == GH_NO_RTYPE || process_of(cursor->sql) == NULL)
		return false;
	struct gh_rtype_text text = typing->types.items[type].text;
	static const char old[] = "map.hdr["; /* to Go 1.8 */
	return gh_rtype_text_is(text, typing->types.swiss_maps ? "maps.Map" : "runtime.hmap") ||
	       (text.length > strlen(old) && memcmp(text.start, old, strlen(old)) == 0);
}

static void give_entries(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_typing *typing = &cursor->heap->names->typing;
	const struct gh_map_shape shape = {.swiss = typing->types.swiss_maps};
	uint64_t count;
	if (gh_map_count(process_of(cursor->sql), &shape,
			 gh_typing_value(typing, (uint32_t)cursor->item), &count))
		gh_sql_give_number(out, count);
}

static void give_buckets(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_typing *typing = &cursor->heap->names->typing;
	uint64_t count;
	if (gh_map_buckets(process_of(cursor->sql), typing->types.swiss_maps,
			   gh_typing_value(typing, (uint32_t)cursor->item), &count))
		gh_sql_give_number(out, count);
}

static const struct gh_sql_column map_columns[] = {
    {"object", GH_SQL_ADDRESS, gh_sql_give_item, .find = gh_sql_find_object, .matches = 1,
     .about = "its header"},
    {"type", "TEXT", gh_sql_give_item_type, .about = "as in objects"},
    {"entries", "INTEGER", give_entries, .about = "that it has"},
    {"buckets", "INTEGER", give_buckets,
     .about = "of 8 places for entries, or groups, as they are called from Go 1.24 on"},
    {0},
};

const struct gh_sql_table gh_sql_maps = {
    .name = "maps",
    .about = "The maps, if the program is known",
    .columns = map_columns,
    .needs = GH_SQL_NEEDS_NAMES,
    .rows = 1e4,
    .count = gh_sql_count_objects,
    .load = load_map,
};
