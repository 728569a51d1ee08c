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

void gh_sql_give_item(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_object(out, cursor, (uint32_t)cursor->item);
}

void gh_sql_give_item_type(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out, gh_sql_type_of(cursor, (uint32_t)cursor->item));
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
	char *whole = gh_text_end(stream, text);
	if (whole != NULL && written) {
		sqlite3_result_text64(out, whole, *size, free, SQLITE_UTF8);
		return;
	}
	free(whole);
	sqlite3_result_error_nomem(out);
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

static uint64_t number_at(const void *member, size_t size)
{
	switch (size) {
	case sizeof(uint64_t):
		return *(const uint64_t *)member;
	case sizeof(uint32_t):
		return *(const uint32_t *)member;
	default:
		return *(const bool *)member;
	}
}

void gh_sql_give_member(sqlite3_context *out, const struct gh_sql_cursor *cursor,
			const struct gh_sql_column *column)
{
	const void *row = column->row != NULL ? column->row(cursor) : cursor->state;
	if (row == NULL)
		return;
	const void *member = (const char *)row + column->offset;
	const struct gh_call *call = member;
	switch (column->kind) {
	case GH_SQL_NUMBER:
		gh_sql_give_number(out, number_at(member, column->size));
		break;
	case GH_SQL_KNOWN:
		gh_sql_give_known(out, number_at(member, column->size));
		break;
	case GH_SQL_OBJECT:
		gh_sql_give_object(out, cursor, *(const uint32_t *)member);
		break;
	case GH_SQL_TEXT:
		gh_sql_give_text(out, *(const char *const *)member);
		break;
	case GH_SQL_SLICE:
		gh_sql_give_slice(out, cursor, *(const struct gh_dump_slice *)member);
		break;
	case GH_SQL_FUNCTION:
		gh_sql_give_bytes(out, call->name, call->length);
		break;
	case GH_SQL_FILE:
		if (*call->file != '\0')
			sqlite3_result_text(out, call->file, -1, SQLITE_TRANSIENT);
		break;
	case GH_SQL_LINE:
		if (*call->file != '\0')
			sqlite3_result_int(out, call->line);
		break;
	}
}
