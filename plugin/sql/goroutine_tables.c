/* Tables whose items are goroutines: themselves, the calls on their stacks, the pointers in their
 * frames; and what they wait for. */
#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "plugin/sql/internal.h"

/* The goroutine that a cursor is at. */
struct goroutine_state {
	struct gh_dump_goroutine record;
	struct gh_traceback traceback;
	bool has_calls; /* the traceback is its */
};

/* Goroutines by id. */

static int compare_ids(const void *a, const void *b)
{
	const struct gh_sql_id *first = a;
	const struct gh_sql_id *second = b;
	if (first->id != second->id)
		return first->id < second->id ? -1 : 1;
	return first->number < second->number ? -1 : first->number > second->number;
}

/* Makes the list of goroutines by id, unless it is there. False if memory ran out. */
static bool order_ids(struct gh_sql *sql)
{
	struct gh_sql_made *made = &sql->made;
	const struct gh_dump *dump = sql->heap.dump;
	if (made->ids.count == dump->stacks.count)
		return true;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		gh_vector_push(&made->ids, (struct gh_sql_id){record.goroutine.id, (uint32_t)i});
	}
	if (made->ids.failed) {
		gh_vector_free(&made->ids);
		return false;
	}
	qsort(made->ids.items, made->ids.count, sizeof(*made->ids.items), compare_ids);
	return true;
}

static void find_goroutine(struct gh_sql_cursor *cursor, sqlite3_value *value)
{
	const struct gh_sql_made *made = &cursor->sql->made;
	uint64_t id = (uint64_t)sqlite3_value_int64(value);
	cursor->failed |= !order_ids(cursor->sql);
	gh_sql_take(cursor, 0, 0);
	size_t at = gh_lower_bound(made->ids.count, i, made->ids.items[i].id < id);
	/* Two have one id in a damaged dump alone: then all are looked at. */
	if (at + 1 < made->ids.count && made->ids.items[at + 1].id == id)
		gh_sql_take(cursor, 0, cursor->heap->dump->stacks.count);
	else if (at < made->ids.count && made->ids.items[at].id == id)
		gh_sql_take(cursor, made->ids.items[at].number,
			    (uint64_t)made->ids.items[at].number + 1);
}

static uint64_t count_goroutines(struct gh_sql_cursor *cursor)
{
	return cursor->heap->dump->stacks.count;
}

static bool load_goroutine(struct gh_sql_cursor *cursor)
{
	struct goroutine_state *state = cursor->state;
	struct gh_dump_record record;
	gh_dump_get(cursor->heap->dump, GH_DUMP_GOROUTINE, cursor->item, &record);
	state->record = record.goroutine;
	state->has_calls = false;
	return true;
}

static void free_goroutine(struct gh_sql_cursor *cursor)
{
	gh_traceback_free(&((struct goroutine_state *)cursor->state)->traceback);
}

static const struct gh_dump_goroutine *goroutine_of(const struct gh_sql_cursor *cursor)
{
	return &((const struct goroutine_state *)cursor->state)->record;
}

/* The calls of the goroutine. NULL if memory ran out. */
static const struct gh_traceback *calls_of(const struct gh_sql_cursor *cursor)
{
	struct goroutine_state *state = cursor->state;
	if (!state->has_calls)
		state->has_calls = gh_traceback_make(&state->traceback, cursor->heap->dump,
						     cursor->heap->names->symbols, cursor->item);
	return state->has_calls ? &state->traceback : NULL;
}

/* goroutines */

static void give_status(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_text(out, gh_goroutine_status(goroutine_of(cursor)->status));
}

static void give_reason(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	if (goroutine_of(cursor)->status == GH_DUMP_WAITING)
		gh_sql_give_slice(out, cursor, goroutine_of(cursor)->wait_reason);
}

static void give_waited(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_number(out, gh_dump_waited(cursor->heap->dump, goroutine_of(cursor)));
}

static const void *own_call(const struct gh_sql_cursor *cursor)
{
	const struct gh_traceback *calls = calls_of(cursor);
	return calls != NULL ? gh_traceback_own_call(calls) : NULL;
}

static void give_creator(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_known(out, gh_dump_extras(cursor->heap->dump, cursor->item).creator);
}

static void give_stack_size(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	gh_sql_give_known(out, gh_dump_extras(cursor->heap->dump, cursor->item).stack);
}

/* Gives the labels as a JSON object, for json_extract. */
static void give_labels(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	struct gh_dump_label labels[GH_DUMP_LABELS_MAX];
	size_t count = gh_dump_labels(cursor->heap->dump, cursor->item, labels);
	char *text = NULL;
	size_t size;
	FILE *stream = count > 0 ? open_memstream(&text, &size) : NULL;
	for (size_t i = 0; stream != NULL && i < count; i++) {
		putc(i == 0 ? '{' : ',', stream);
		gh_print_bytes(stream, labels[i].key, labels[i].key_size, true);
		putc(':', stream);
		gh_print_bytes(stream, labels[i].value, labels[i].value_size, true);
	}
	if (count > 0)
		gh_sql_give_stream(out, stream, stream != NULL && putc('}', stream) != EOF, &text,
				   &size);
}

/* Finds those that can never go on, by the program's code if there is one. */
static bool find_leaked(struct gh_sql_made *made, const struct gh_sql_cursor *cursor)
{
	const struct gh_symbols *symbols = cursor->heap->names->symbols;
	struct gh_deadlocks deadlocks = {0};
	struct gh_error err;
	bool found = true;
	if (symbols != NULL) {
		const struct gh_module own = gh_symbols_module(symbols);
		found =
		    gh_deadlocks_find(&deadlocks, &made->waits, &own, symbols->others.list.items,
				      symbols->others.list.count, &err);
	}
	found = found &&
		gh_leaked_find(&made->leaked, &made->waits, cursor->heap->heap, &deadlocks, &err);
	gh_deadlocks_free(&deadlocks);
	return found;
}

/* The same, once. */
static const struct gh_leaked *leaked_of(const struct gh_sql_cursor *cursor)
{
	struct gh_sql_made *made = &cursor->sql->made;
	if (!made->has_leaked && gh_sql_find_waits(cursor->sql))
		made->has_leaked = find_leaked(made, cursor);
	return made->has_leaked ? &made->leaked : NULL;
}

static void give_leaked(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_leaked *leaked = leaked_of(cursor);
	if (leaked != NULL)
		gh_sql_give_number(out, leaked->of[cursor->item]);
	else
		sqlite3_result_error_nomem(out);
}

/* Gives the functions on its stack, as sites has them. */
static void give_stack(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_traceback *traceback = calls_of(cursor);
	char *text = NULL;
	size_t size;
	FILE *stream = traceback != NULL ? open_memstream(&text, &size) : NULL;
	const char *separator = "";
	for (size_t i = traceback != NULL ? traceback->calls.count : 0;
	     stream != NULL && i-- > 0;) {
		const struct gh_call *call = &traceback->calls.items[i];
		if (call->object != NULL)
			continue;
		fprintf(stream, "%s%.*s", separator, (int)call->length, call->name);
		separator = ";";
	}
	gh_sql_give_stream(out, stream, true, &text, &size);
}

static const struct gh_sql_column goroutine_columns[] = {
    {"id", "INTEGER", GH_SQL_MEMBER(struct goroutine_state, record.id), .find = find_goroutine,
     .matches = 1, .about = "as tracebacks have it"},
    {"status", "TEXT", give_status, .about = "running, runnable, syscall, waiting, ..."},
    {"reason", "TEXT", give_reason, .about = "why it waits"},
    {"waited", "INTEGER", give_waited, .about = "how long at least, in ns; 0 if it is not known"},
    {"function", "TEXT", .row = own_call, .kind = GH_SQL_FUNCTION,
     .about = "innermost of the program's own calls"},
    {"file", "TEXT", .row = own_call, .kind = GH_SQL_FILE, .about = "where that is"},
    {"line", "INTEGER", .row = own_call, .kind = GH_SQL_LINE, .about = "where that is"},
    {"system", "INTEGER", GH_SQL_MEMBER(struct goroutine_state, record.system),
     .about = "1 if it is the runtime's own"},
    {"leaked", "INTEGER", give_leaked, .about = "1 if it can never go on"},
    {"creator", "INTEGER", give_creator, .about = "id of the one that made it, of a process"},
    {"labels", "TEXT", give_labels, .about = "for profiles, as a JSON object, of a process"},
    {"stack", "TEXT", give_stack, .about = "functions, the outermost first, as sites has them"},
    {"descriptor", GH_SQL_ADDRESS, GH_SQL_MEMBER(struct goroutine_state, record.g),
     .about = "its runtime.g"},
    {"stack_bytes", "INTEGER", give_stack_size, .about = "size of its stack, of a process"},
    {0},
};

const struct gh_sql_table gh_sql_goroutines = {
    .name = "goroutines",
    .about = "The goroutines",
    .columns = goroutine_columns,
    .rows = 1e3,
    .state = sizeof(struct goroutine_state),
    .count = count_goroutines,
    .load = load_goroutine,
    .close = free_goroutine,
};

/* frames: the parts are calls, those that are inlined, too. */

static bool step_call(struct gh_sql_cursor *cursor)
{
	const struct gh_traceback *traceback = calls_of(cursor);
	cursor->failed |= traceback == NULL;
	return traceback != NULL && cursor->part <= traceback->calls.count;
}

static const void *call_of(const struct gh_sql_cursor *cursor)
{
	const struct goroutine_state *state = cursor->state;
	return &state->traceback.calls.items[cursor->part - 1];
}

static void give_depth(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_dump_stack *stack = gh_dump_stack(cursor->heap->dump, cursor->item);
	const struct gh_call *call = call_of(cursor);
	if (call->object == NULL)
		gh_sql_give_number(out, call->frame - stack->first_frame);
}

static void give_language(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_call *call = call_of(cursor);
	gh_sql_give_text(out, call->object != NULL ? "c" : "go");
}

static void give_binary(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_call *call = call_of(cursor);
	if (call->object != NULL && *call->object != '\0')
		gh_sql_give_text(out, call->object);
}

static struct gh_dump_frame frame_of(const struct gh_sql_cursor *cursor)
{
	const struct gh_call *call = call_of(cursor);
	struct gh_dump_record record;
	gh_dump_get(cursor->heap->dump, GH_DUMP_FRAME, call->frame, &record);
	return record.frame;
}

static void give_sp(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_call *call = call_of(cursor);
	if (call->object == NULL)
		gh_sql_give_number(out, frame_of(cursor).sp);
}

static void give_size(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct gh_call *call = call_of(cursor);
	if (call->object == NULL)
		gh_sql_give_number(out, frame_of(cursor).size);
}

static const struct gh_sql_column frame_columns[] = {
    {"goroutine", "INTEGER", GH_SQL_MEMBER(struct goroutine_state, record.id),
     .find = find_goroutine, .matches = 20, .about = "id of the one whose it is"},
    {"depth", "INTEGER", give_depth, .about = "of the frame, 0 for the innermost"},
    {"function", "TEXT", .row = call_of, .kind = GH_SQL_FUNCTION, .about = "that is called"},
    {"file", "TEXT", .row = call_of, .kind = GH_SQL_FILE, .about = "where that is"},
    {"line", "INTEGER", .row = call_of, .kind = GH_SQL_LINE, .about = "where that is"},
    {"inlined", "INTEGER", .row = call_of, GH_SQL_MEMBER(struct gh_call, inlined),
     .about = "1 if it has no frame of its own, but that of the next"},
    {"pc", GH_SQL_ADDRESS, .row = call_of, GH_SQL_MEMBER(struct gh_call, pc),
     .about = "where it goes on"},
    {"sp", GH_SQL_ADDRESS, give_sp, .about = "of the frame"},
    {"size", "INTEGER", give_size, .about = "of the frame, in bytes"},
    {"language", "TEXT", give_language, .about = "go, or c; of C depth, sp and size are not known"},
    {"binary", "TEXT", give_binary, .about = "name of the program or library that has C code"},
    {0},
};

const struct gh_sql_table gh_sql_frames = {
    .name = "frames",
    .about = "The calls on the goroutines' stacks, the innermost first",
    .columns = frame_columns,
    .rows = 1e4,
    .state = sizeof(struct goroutine_state),
    .count = count_goroutines,
    .load = load_goroutine,
    .step = step_call,
    .close = free_goroutine,
};

/* slots: the parts are pointers in frames. */

struct slot_state {
	uint64_t id;  /* of the goroutine */
	size_t depth; /* of the frame */
	size_t next;  /* of the frame after it */
	bool walks;   /* over the pointers of the frame: */
	struct gh_dump_record record;
	struct gh_pointers walk;
	struct gh_pointer pointer;
};

static bool load_slots(struct gh_sql_cursor *cursor)
{
	struct slot_state *state = cursor->state;
	*state = (struct slot_state){.id = gh_sql_goroutine_id(cursor, cursor->item)};
	return cursor->heap->dump->format != GH_DUMP_PROTOTYPE;
}

static bool step_slot(struct gh_sql_cursor *cursor)
{
	struct slot_state *state = cursor->state;
	const struct gh_dump *dump = cursor->heap->dump;
	const struct gh_dump_stack *stack = gh_dump_stack(dump, cursor->item);
	while (!state->walks || !gh_pointers_next(&state->walk, &state->pointer)) {
		if (state->next == stack->nframes)
			return false;
		state->depth = state->next++;
		gh_dump_get(dump, GH_DUMP_FRAME, stack->first_frame + state->depth, &state->record);
		gh_pointers_of(dump, &cursor->heap->heap->table, &state->record, &state->walk);
		state->walks = true;
	}
	return true;
}

static void give_slot_address(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct slot_state *state = cursor->state;
	gh_sql_give_number(out, state->record.frame.sp + state->pointer.offset);
}

static void give_variable(sqlite3_context *out, const struct gh_sql_cursor *cursor)
{
	const struct slot_state *state = cursor->state;
	const struct gh_dump_stack *stack = gh_dump_stack(cursor->heap->dump, cursor->item);
	struct gh_buffer text = {0};
	const struct gh_root root = {
	    .object = state->pointer.target,
	    .number = (uint32_t)(stack->first_frame + state->depth),
	    .offset = state->pointer.offset,
	    .kind = GH_ROOT_FRAME,
	};
	bool found = gh_typing_root(&cursor->heap->names->typing, &root, &text);
	gh_sql_give_buffer(out, &text, found);
}

static const struct gh_sql_column slot_columns[] = {
    {"goroutine", "INTEGER", GH_SQL_MEMBER(struct slot_state, id), .find = find_goroutine,
     .matches = 50, .about = "id of the one whose it is"},
    {"depth", "INTEGER", GH_SQL_MEMBER(struct slot_state, depth),
     .about = "of the frame, as in frames"},
    {"function", "TEXT", .kind = GH_SQL_SLICE,
     GH_SQL_MEMBER(struct slot_state, record.frame.function), .about = "of the frame"},
    {"variable", "TEXT", give_variable, .needs = GH_SQL_NEEDS_NAMES,
     .about = "that it is in, by --names"},
    {"slot", GH_SQL_ADDRESS, give_slot_address, .about = "of the pointer"},
    {"value", GH_SQL_ADDRESS, GH_SQL_MEMBER(struct slot_state, pointer.value),
     .about = "of the pointer"},
    {"object", GH_SQL_ADDRESS, .kind = GH_SQL_OBJECT,
     GH_SQL_MEMBER(struct slot_state, pointer.target),
     .about = "that it points to; NULL if it is none"},
    {0},
};

const struct gh_sql_table gh_sql_slots = {
    .name = "slots",
    .about = "The pointers that the goroutines' frames list; what is found by their contents is in "
	     "roots alone",
    .columns = slot_columns,
    .rows = 1e5,
    .state = sizeof(struct slot_state),
    .count = count_goroutines,
    .load = load_slots,
    .step = step_slot,
};
