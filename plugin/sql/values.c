#include <stdlib.h>
#include <string.h>

#include "plugin/sql/internal.h"

void gh_sql_give_number(sqlite3_context *out, uint64_t number)
{
	sqlite3_result_int64(out, (sqlite3_int64)number);
}

void gh_sql_give_known(sqlite3_context *out, uint64_t number)
{
	if (number != 0)
		gh_sql_give_number(out, number);
}

void gh_sql_give_text(sqlite3_context *out, const char *text)
{
	if (text != NULL)
		sqlite3_result_text(out, text, -1, SQLITE_STATIC);
}

void gh_sql_give_bytes(sqlite3_context *out, const void *data, size_t size)
{
	sqlite3_result_text64(out, data, size, SQLITE_STATIC, SQLITE_UTF8);
}

void gh_sql_give_slice(sqlite3_context *out, const struct gh_sql_cursor *cursor,
		       struct gh_dump_slice slice)
{
	struct gh_cursor bytes = gh_dump_bytes(cursor->heap->dump, slice);
	if (slice.offset != 0)
		gh_sql_give_bytes(out, bytes.start, gh_cursor_size(&bytes));
}

void gh_sql_give_object(sqlite3_context *out, const struct gh_sql_cursor *cursor, uint32_t object)
{
	if (object != GH_HEAP_NONE)
		gh_sql_give_number(out, gh_heap_object(cursor->heap->heap, object).address);
}

void gh_sql_give_buffer(sqlite3_context *out, struct gh_buffer *buffer, bool found)
{
	if (buffer->failed)
		sqlite3_result_error_nomem(out);
	else if (found)
		sqlite3_result_text64(out, (const char *)buffer->data, buffer->size,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
	gh_buffer_free(buffer);
}

void gh_sql_take(struct gh_sql_cursor *cursor, uint64_t first, uint64_t end)
{
	cursor->at = first;
	cursor->end = end;
}

uint32_t gh_sql_object(const struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	return gh_heap_find(cursor->heap->heap, (uint64_t)sqlite3_value_int64(value));
}

void gh_sql_find_object(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	uint32_t object = gh_sql_object(cursor, value);
	if (object == GH_HEAP_NONE)
		gh_sql_take(cursor, 0, 0);
	else
		gh_sql_take(cursor, object, (uint64_t)object + 1);
}

uint64_t gh_sql_count_objects(struct gh_sql_cursor *cursor)
{
	return cursor->heap->heap->count;
}

void gh_sql_stay_sorted(struct gh_sql_cursor *cursor)
{
	(void)cursor;
}

uint64_t gh_sql_goroutine_id(const struct gh_sql_cursor *cursor, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(cursor->heap->dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine.id;
}

void gh_sql_give_stream(sqlite3_context *out, FILE *stream, bool written, char **text, size_t *size)
{
	if (stream != NULL && fclose(stream) == 0 && written) {
		sqlite3_result_text64(out, *text, *size, free, SQLITE_UTF8);
		return;
	}
	free(*text);
	sqlite3_result_error_nomem(out);
}

void gh_sql_give_call_function(sqlite3_context *out, const struct gh_call *call)
{
	if (call != NULL)
		gh_sql_give_bytes(out, call->name, call->length);
}

void gh_sql_give_call_file(sqlite3_context *out, const struct gh_call *call)
{
	if (call != NULL && *call->file != '\0')
		sqlite3_result_text(out, call->file, -1, SQLITE_TRANSIENT);
}

void gh_sql_give_call_line(sqlite3_context *out, const struct gh_call *call)
{
	if (call != NULL && *call->file != '\0')
		sqlite3_result_int(out, call->line);
}

void gh_sql_give_type_at(sqlite3_context *out, const struct gh_sql_cursor *cursor, uint64_t address)
{
	const struct gh_typing *typing = &cursor->heap->names->typing;
	uint32_t type = gh_rtypes_at(&typing->types, address - typing->bias);
	if (type != GH_NO_RTYPE)
		gh_sql_give_bytes(out, typing->types.items[type].text.start,
				  typing->types.items[type].text.length);
	else
		gh_sql_give_slice(out, cursor, gh_dumpfile_type_name(cursor->heap->dump, address));
}
