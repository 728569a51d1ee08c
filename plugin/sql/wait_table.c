/* The table of what goroutines wait for: its items are waits, the parts their cases. */
#include <string.h>

#include "plugin/sql/internal.h"

bool gh_sql_find_waits(struct gh_sql *sql)
{
	struct gh_sql_made *made = &sql->made;
	struct gh_error err;
	if (!made->has_waits)
		made->has_waits = gh_waits_find(&made->waits, sql->heap.dump, &err);
	return made->has_waits;
}

static uint64_t count_waits(struct gh_sql_cursor *cursor)
{
	cursor->failed |= !gh_sql_find_waits(cursor->sql);
	return cursor->sql->made.waits.list.count;
}

static const struct gh_wait *wait_of(const struct gh_sql_cursor *cursor)
{
	return &cursor->sql->made.waits.list.items[cursor->item];
}

/* The case; NULL if it is no channel that is waited for. */
static const struct gh_wait_case *case_of(const struct gh_sql_cursor *cursor)
{
	const struct gh_wait *wait = wait_of(cursor);
	const struct gh_waits *waits = &cursor->sql->made.waits;
	return wait->ncases > 0 ? &waits->cases.items[wait->first + cursor->part - 1] : NULL;
}

static const void *channel_of(const struct gh_sql_cursor *cursor)
{
	const struct gh_wait_case *one = case_of(cursor);
	return one != NULL ? &cursor->sql->made.waits.channels.items[one->channel] : NULL;
}

/* What is no channel has one row. */
static bool step_case(struct gh_sql_cursor *cursor)
{
	return cursor->part <= wait_of(cursor)->ncases || cursor->part == 1;
}

static struct gh_dump_goroutine waiting(const struct gh_sql_cursor *cursor)
{
	struct gh_dump_record record;
	gh_dump_get(cursor->heap->dump, GH_DUMP_GOROUTINE, wait_of(cursor)->goroutine, &record);
	return record.goroutine;
}

static void give_goroutine(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, waiting(cursor).id);
}

static void give_kind(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out, gh_wait_kind_name(wait_of(cursor)->kind));
}

static void give_reason(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	struct gh_dump_goroutine goroutine = waiting(cursor);
	size_t size;
	const char *reason = gh_goroutine_state(cursor->heap->dump, &goroutine, &size);
	gh_sql_give_bytes(out, reason, size);
}

static void give_waited(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	struct gh_dump_goroutine goroutine = waiting(cursor);
	gh_sql_give_number(out, gh_dump_waited(cursor->heap->dump, &goroutine));
}

static void give_never(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, wait_of(cursor)->never);
}

static void give_operation(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_wait_case *one = case_of(cursor);
	gh_sql_give_text(out, one == NULL ? NULL : one->send ? "send" : "receive");
}

static void give_object(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_channel *channel = channel_of(cursor);
	gh_sql_give_known(out, channel != NULL ? channel->address : wait_of(cursor)->object);
}

static void give_elem_type(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_channel *channel = channel_of(cursor);
	if (channel != NULL)
		gh_sql_give_type_at(out, cursor, channel->elem_type);
}

static void give_locked(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	struct gh_mutex_state state = gh_mutex_state(&cursor->sql->made.waits, wait_of(cursor));
	enum gh_wait_kind kind = wait_of(cursor)->kind;
	if (state.known && kind >= GH_WAIT_MUTEX && kind <= GH_WAIT_RWMUTEX_WRITE)
		gh_sql_give_number(out, state.locked);
}

static void give_counter(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	int32_t counter;
	if (wait_of(cursor)->kind == GH_WAIT_WAITGROUP &&
	    gh_waitgroup_counter(&cursor->sql->made.waits, wait_of(cursor), &counter))
		sqlite3_result_int(out, counter);
}

static void give_descriptor(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	if (wait_of(cursor)->descriptor != GH_NO_DESCRIPTOR)
		sqlite3_result_int64(out, wait_of(cursor)->descriptor);
}

static void give_in_c(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_dump_c_wait *wait = wait_of(cursor)->in_c;
	gh_sql_give_text(out, wait != NULL ? gh_c_wait_kind_name(wait->kind) : NULL);
}

static void give_in_c_thread(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_dump_c_wait *wait = wait_of(cursor)->in_c;
	if (wait != NULL)
		gh_sql_give_known(out, wait->thread);
}

/* The system call that it is in; NULL if it is in none, or that is not known. */
static const struct gh_dump_call *call_of(const struct gh_sql_cursor *cursor)
{
	struct gh_dump_goroutine goroutine = waiting(cursor);
	return wait_of(cursor)->kind == GH_WAIT_SYSCALL
		   ? gh_dump_call(cursor->heap->dump, goroutine.thread)
		   : NULL;
}

static void give_call(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_dump_call *call = call_of(cursor);
	gh_sql_give_text(out, call != NULL ? call->name : NULL);
}

static void give_arguments(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_dump_call *call = call_of(cursor);
	gh_sql_give_text(out, call != NULL && *call->arguments != '\0' ? call->arguments : NULL);
}

static void give_asleep(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_dump_call *call = call_of(cursor);
	if (call != NULL)
		gh_sql_give_known(out, call->asleep);
}

static const struct gh_sql_column columns[] = {
    {"goroutine", "INTEGER", give_goroutine, .about = "id of the one that waits"},
    {"kind", "TEXT", give_kind, .about = "send, receive, select, mutex, waitgroup, sleep, ..."},
    {"reason", "TEXT", give_reason, .about = "as Go has it"},
    {"waited", "INTEGER", give_waited, .about = "how long at least, in ns; 0 if it is not known"},
    {"never", "INTEGER", give_never, .about = "1 if nothing ends it: a nil channel, or no case"},
    {"operation", "TEXT", give_operation, .about = "of the case: send or receive"},
    {"object", GH_SQL_ADDRESS, give_object, .about = "the channel, mutex, wait group or condition"},
    {"type", "TEXT", give_elem_type, .needs = GH_SQL_NEEDS_NAMES,
     .about = "of the channel's elements"},
    {"length", "INTEGER", .row = channel_of, GH_SQL_MEMBER(struct gh_channel, length),
     .about = "elements in the channel's buffer"},
    {"capacity", "INTEGER", .row = channel_of, GH_SQL_MEMBER(struct gh_channel, capacity),
     .about = "of the channel's buffer"},
    {"locked", "INTEGER", give_locked, .about = "1 if the mutex is"},
    {"counter", "INTEGER", give_counter, .about = "of the wait group"},
    {"descriptor", "INTEGER", give_descriptor, .about = "of the file that is waited for"},
    {"in_c", "TEXT", give_in_c, .about = "in the C library: mutex, rwlock read, cond, join, ..."},
    {"in_c_thread", "INTEGER", give_in_c_thread,
     .about = "the system's number of the thread that has it, or is to end"},
    {"system_call", "TEXT", give_call, .about = "its name: read, futex, ..."},
    {"arguments", "TEXT", give_arguments, .about = "of that: descriptors with what they are of"},
    {"asleep", "INTEGER", give_asleep,
     .about = "for how long its thread has been, at least, in ns"},
    {0},
};

const struct gh_sql_table gh_sql_waits = {
    .name = "waits",
    .about = "Waits of goroutines; each case of a select is a row",
    .columns = columns,
    .rows = 1e3,
    .count = count_waits,
    .step = step_case,
};
