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
