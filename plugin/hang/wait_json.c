#include <stdlib.h>

#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

/* A wait, as it is printed. */
struct row {
	const char *part; /* which part of several it is; NULL if there are no others */
	struct gh_wait_query *query;
	const struct gh_wait *wait;
	struct gh_known goroutine; /* its id */
	struct gh_known count;     /* of goroutines that wait so */
	const char *kind;
	struct gh_bytes reason;
	uint64_t waited; /* ns */
	struct gh_known object;
	struct gh_wait_container container;
	struct gh_known container_address;
	struct gh_known counter;
	bool locked;
	struct gh_known readers;
	struct gh_known writer; /* the id of the goroutine that waits before to write-lock it */
	struct gh_known holder; /* the id of the goroutine that has the lock */
	struct gh_known perhaps_holder;
	const char
	    *left; /* that nobody has it: "certain" or "perhaps"; NULL if that is not known */
	struct gh_known descriptor;
	const char *target;     /* what that is of */
	const char *in_c;       /* what is waited for in the C library; NULL for nothing */
	struct gh_known thread; /* that has that, or is waited for */
	const char *call;       /* the system call that it is in; NULL if it is in none */
	const char *arguments;  /* of that; NULL if they are not known */
	struct gh_known asleep; /* ns that its thread has been, at least */
	char target_text[GH_DESCRIPTOR_TEXT];
	struct gh_known when;
	bool never; /* nothing ends it */
	struct gh_bytes function;
	const char *file;
	int32_t line;
};

static void print_cases(struct gh_emit *emit, const void *member)
{
	struct case_row {
		const char *operation;
		uint64_t address;
		struct gh_bytes type;
		const struct gh_channel *channel;
		uint64_t length, capacity, senders, receivers;
		bool closed, timer;
		struct gh_known when;
		struct gh_bytes function;
		const char *file;
		struct gh_known line;
	};
	static const struct gh_column columns[] = {
	    {"operation", GH_COL_TEXT(struct case_row, operation)},
	    {"address", GH_COL_ADDRESS(struct case_row, address)},
	    {"type", GH_COL_BYTES(struct case_row, type)},
	    {"length", GH_COL_NUMBER(struct case_row, length)},
	    {"capacity", GH_COL_NUMBER(struct case_row, capacity)},
	    {"closed", GH_COL_BOOL(struct case_row, closed)},
	    {"timer", GH_COL_BOOL(struct case_row, timer), .optional = true},
	    {"when", GH_COL_KNOWN_NUMBER(struct case_row, when), .optional = true},
	    {"senders", GH_COL_NUMBER(struct case_row, senders)},
	    {"receivers", GH_COL_NUMBER(struct case_row, receivers)},
	    {"made_function", GH_COL_BYTES(struct case_row, function), .optional = true},
	    {"made_file", GH_COL_TEXT(struct case_row, file), .optional = true},
	    {"made_line", GH_COL_KNOWN_NUMBER(struct case_row, line), .optional = true},
	    {0},
	};
	const struct row *row = member;
	const struct gh_waits *waits = &row->query->waits;
	for (size_t i = 0; i < row->wait->ncases; i++) {
		const struct gh_wait_case *wait = &waits->cases.items[row->wait->first + i];
		const struct gh_channel *channel = &waits->channels.items[wait->channel];
		struct case_row item = {
		    .operation = wait->send ? "send" : "receive",
		    .address = channel->address,
		    .type = gh_wait_elem_type(row->query, channel),
		    .length = channel->length,
		    .capacity = channel->capacity,
		    .senders = channel->senders,
		    .receivers = channel->receivers,
		    .closed = channel->closed,
		    .timer = channel->timer,
		    .when = {channel->when, channel->when != 0},
		};
		struct gh_call maker;
		if (gh_wait_channel_maker(row->query, channel, &maker)) {
			item.function = (struct gh_bytes){maker.name, maker.length};
			item.file = *maker.file != '\0' ? maker.file : NULL;
			item.line = (struct gh_known){(uint64_t)maker.line, true};
		}
		if (item.type.size == 0)
			item.type.data = NULL;
		gh_emit_item(emit, columns, &item);
	}
}

static const struct gh_column columns[] = {
    {"part", GH_COL_TEXT(struct row, part), .optional = true},
    {"goroutine", GH_COL_KNOWN_NUMBER(struct row, goroutine), .optional = true},
    {"count", GH_COL_KNOWN_NUMBER(struct row, count), .optional = true},
    {"wait", GH_COL_TEXT(struct row, kind)},
    {"reason", GH_COL_BYTES(struct row, reason)},
    {"waited", GH_COL_NUMBER(struct row, waited)},
    {"object", GH_COL_KNOWN_ADDRESS(struct row, object), .optional = true},
    {"container", GH_COL_TEXT(struct row, container.type), .optional = true},
    {"container_address", GH_COL_KNOWN_ADDRESS(struct row, container_address), .optional = true},
    {"perhaps_container", GH_COL_BOOL(struct row, container.perhaps), .optional = true},
    {"counter", GH_COL_KNOWN_NUMBER(struct row, counter), .optional = true},
    {"locked", GH_COL_BOOL(struct row, locked), .optional = true},
    {"readers", GH_COL_KNOWN_NUMBER(struct row, readers), .optional = true},
    {"waiting_writer", GH_COL_KNOWN_NUMBER(struct row, writer), .optional = true},
    {"holder", GH_COL_KNOWN_NUMBER(struct row, holder), .optional = true},
    {"perhaps_holder", GH_COL_KNOWN_NUMBER(struct row, perhaps_holder), .optional = true},
    {"in_c", GH_COL_TEXT(struct row, in_c), .optional = true},
    {"in_c_thread", GH_COL_KNOWN_NUMBER(struct row, thread), .optional = true},
    {"system_call", GH_COL_TEXT(struct row, call), .optional = true},
    {"arguments", GH_COL_TEXT(struct row, arguments), .optional = true},
    {"asleep", GH_COL_KNOWN_NUMBER(struct row, asleep), .optional = true},
    {"left_locked", GH_COL_TEXT(struct row, left), .optional = true},
    {"descriptor", GH_COL_KNOWN_NUMBER(struct row, descriptor), .optional = true},
    {"target", GH_COL_TEXT(struct row, target), .optional = true},
    {"when", GH_COL_KNOWN_NUMBER(struct row, when), .optional = true},
    {"never", GH_COL_BOOL(struct row, never), .optional = true},
    {"channels", GH_COL_LIST(print_cases)},
    {"function", GH_COL_BYTES(struct row, function)},
    {"file", GH_COL_TEXT(struct row, file)},
    {"line", GH_COL_LINE(struct row, line)},
    {0},
};

/* Fills in who holds the lock that ROW's wait is for: the first, if several do. */
static void fill_holder(struct row *row)
{
	static const char *const texts[] = {
	    [GH_LEFT_UNKNOWN] = NULL, [GH_LEFT_PERHAPS] = "perhaps", [GH_LEFT] = "certain"};
	const struct gh_waits *waits = &row->query->waits;
	const struct gh_deadlocks *deadlocks = gh_wait_deadlocks(row->query);
	size_t number =
	    gh_deadlocks_mutex(deadlocks, waits, (size_t)(row->wait - waits->list.items));
	struct gh_dump_record record;
	if (number == GH_DUMP_NONE)
		return;
	const struct gh_held_mutex *mutex = &deadlocks->mutexes.items[number];
	row->left = mutex->nholders == 0 ? texts[mutex->left] : NULL;
	if (mutex->nholders == 0)
		return;
	gh_dump_get(&row->query->dump, GH_DUMP_GOROUTINE,
		    deadlocks->holders.items[mutex->first].goroutine, &record);
	*(mutex->sure ? &row->holder : &row->perhaps_holder) =
	    (struct gh_known){record.goroutine.id, true};
}

/* Fills in what is waited for in the C library. */
static void fill_c_wait(struct row *row)
{
	const struct gh_dump_c_wait *wait = row->wait->in_c;
	if (wait == NULL)
		return;
	row->in_c = gh_c_wait_kind_name(wait->kind);
	row->thread = (struct gh_known){wait->thread, wait->thread != 0};
}

/* Fills in the system call that is waited in. */
static void fill_call(struct row *row)
{
	const struct gh_dump_call *call = row->wait->kind == GH_WAIT_SYSCALL
					      ? gh_wait_call(row->query, row->wait->goroutine)
					      : NULL;
	if (call == NULL)
		return;
	row->call = call->name;
	row->arguments = *call->arguments != '\0' ? call->arguments : NULL;
	row->asleep = (struct gh_known){call->asleep, call->asleep != 0};
}

/* Fills in what is known of the object of ROW's wait. */
static void fill_object(struct row *row)
{
	const struct gh_waits *waits = &row->query->waits;
	const struct gh_wait *wait = row->wait;
	int32_t counter;
	row->object = (struct gh_known){wait->object, wait->object != 0};
	row->container = gh_wait_container(row->query, wait->object);
	row->container_address =
	    (struct gh_known){row->container.address, row->container.type != NULL};
	if (wait->kind == GH_WAIT_WAITGROUP && gh_waitgroup_counter(waits, wait, &counter))
		row->counter = (struct gh_known){(uint64_t)counter, true};
	struct gh_mutex_state state = gh_mutex_state(waits, wait);
	bool is_rw = wait->kind == GH_WAIT_RWMUTEX_READ || wait->kind == GH_WAIT_RWMUTEX_WRITE;
	row->locked = state.known && state.locked && (is_rw || wait->kind == GH_WAIT_MUTEX);
	if (state.known && is_rw)
		row->readers = (struct gh_known){state.readers, true};
	const struct gh_wait *writer = state.readers > 0 ? gh_wait_writer(waits, wait) : NULL;
	if (writer != NULL) {
		struct gh_dump_record record;
		gh_dump_get(&row->query->dump, GH_DUMP_GOROUTINE, writer->goroutine, &record);
		row->writer = (struct gh_known){record.goroutine.id, true};
	}
	if (is_rw || wait->kind == GH_WAIT_MUTEX || wait->in_c != NULL)
		fill_holder(row);
	fill_c_wait(row);
	fill_call(row);
	int64_t descriptor = gh_wait_descriptor(row->query, wait);
	if (descriptor != GH_NO_DESCRIPTOR)
		row->descriptor = (struct gh_known){(uint64_t)descriptor, true};
	if (gh_wait_descriptor_of(row->query, descriptor, row->target_text,
				  sizeof(row->target_text), false))
		row->target = row->target_text;
	row->when = (struct gh_known){wait->when, wait->when != 0};
}

static void fill(struct row *row, struct gh_wait_query *query, const struct gh_wait *wait)
{
	const struct gh_dump *dump = &query->dump;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
	const struct gh_dump_goroutine *goroutine = &record.goroutine;
	const struct gh_call *call = gh_wait_place(query, wait->goroutine);
	*row = (struct row){
	    .query = query,
	    .wait = wait,
	    .goroutine = {goroutine->id, true},
	    .kind = gh_wait_kind_name(wait->kind),
	    .waited = gh_dump_waited(dump, goroutine),
	    .never = wait->never,
	};
	row->reason.data = gh_goroutine_state(dump, goroutine, &row->reason.size);
	if (call != NULL)
		row->function = (struct gh_bytes){call->name, call->length};
	if (call != NULL && *call->file != '\0')
		row->file = call->file;
	row->line = call != NULL ? call->line : 0;
	fill_object(row);
}

void gh_wait_emit(struct gh_emit *emit, struct gh_wait_query *query, const struct gh_wait *wait)
{
	struct row row;
	fill(&row, query, wait);
	gh_emit_row(emit, columns, &row);
}

void gh_wait_emit_item(struct gh_emit *emit, struct gh_wait_query *query,
		       const struct gh_wait *wait)
{
	struct row row;
	fill(&row, query, wait);
	gh_emit_item(emit, columns, &row);
}

void gh_wait_emit_group(struct gh_emit *emit, struct gh_wait_query *query,
			const struct gh_wait_group *group, const char *part)
{
	struct row row;
	fill(&row, query, group->wait);
	row.part = part;
	row.goroutine.known = false;
	row.count = (struct gh_known){group->count, true};
	row.waited = group->waited;
	row.object.known = row.object.known && group->objects == 1;
	gh_emit_row(emit, columns, &row);
}
