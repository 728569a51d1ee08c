/* goheap waits: what each blocked goroutine waits for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/cli/command.h"
#include "plugin/cli/wait_query.h"

/* A wait, as it is printed. */
struct row {
	struct gh_wait_query *query;
	const struct gh_wait *wait;
	struct gh_known goroutine; /* its id */
	struct gh_known count;     /* of goroutines that wait so */
	const char *kind;
	struct gh_bytes reason;
	uint64_t waited; /* ns */
	struct gh_known object;
	struct gh_known counter;
	bool locked;
	struct gh_known readers;
	struct gh_known descriptor;
	const char *target; /* what that is of */
	char target_text[GH_DESCRIPTOR_TEXT];
	struct gh_known when;
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
		int32_t line;
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
	    {"made_line", GH_COL_LINE(struct case_row, line), .optional = true},
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
			item.line = maker.line;
		}
		if (item.type.size == 0)
			item.type.data = NULL;
		gh_emit_item(emit, columns, &item);
	}
}

static const struct gh_column columns[] = {
    {"goroutine", GH_COL_KNOWN_NUMBER(struct row, goroutine), .optional = true},
    {"count", GH_COL_KNOWN_NUMBER(struct row, count), .optional = true},
    {"wait", GH_COL_TEXT(struct row, kind)},
    {"reason", GH_COL_BYTES(struct row, reason)},
    {"waited", GH_COL_NUMBER(struct row, waited)},
    {"object", GH_COL_KNOWN_ADDRESS(struct row, object), .optional = true},
    {"counter", GH_COL_KNOWN_NUMBER(struct row, counter), .optional = true},
    {"locked", GH_COL_BOOL(struct row, locked), .optional = true},
    {"readers", GH_COL_KNOWN_NUMBER(struct row, readers), .optional = true},
    {"descriptor", GH_COL_KNOWN_NUMBER(struct row, descriptor), .optional = true},
    {"target", GH_COL_TEXT(struct row, target), .optional = true},
    {"when", GH_COL_KNOWN_NUMBER(struct row, when), .optional = true},
    {"channels", GH_COL_LIST(print_cases)},
    {"function", GH_COL_BYTES(struct row, function)},
    {"file", GH_COL_TEXT(struct row, file)},
    {"line", GH_COL_LINE(struct row, line)},
    {0},
};

/* Fills in what is known of the object of ROW's wait. */
static void fill_object(struct row *row)
{
	const struct gh_waits *waits = &row->query->waits;
	const struct gh_wait *wait = row->wait;
	int32_t counter;
	row->object = (struct gh_known){wait->object, wait->object != 0};
	if (wait->kind == GH_WAIT_WAITGROUP && gh_waitgroup_counter(waits, wait, &counter))
		row->counter = (struct gh_known){(uint64_t)counter, true};
	struct gh_mutex_state state = gh_mutex_state(waits, wait);
	bool is_rw = wait->kind == GH_WAIT_RWMUTEX_READ || wait->kind == GH_WAIT_RWMUTEX_WRITE;
	row->locked = state.known && state.locked && (is_rw || wait->kind == GH_WAIT_MUTEX);
	if (state.known && is_rw)
		row->readers = (struct gh_known){state.readers, true};
	int64_t descriptor = gh_wait_descriptor(row->query, wait);
	if (descriptor != GH_NO_DESCRIPTOR)
		row->descriptor = (struct gh_known){(uint64_t)descriptor, true};
	if (gh_wait_descriptor_of(row->query, descriptor, row->target_text,
				  sizeof(row->target_text)))
		row->target = row->target_text;
	row->when = (struct gh_known){wait->when, wait->when != 0};
}

/* Fills ROW of WAIT, whose goroutine is GOROUTINE. */
static void fill(struct row *row, struct gh_wait_query *query, const struct gh_wait *wait,
		 const struct gh_dump_goroutine *goroutine)
{
	const struct gh_dump *dump = &query->dump;
	const struct gh_call *call = gh_wait_place(query, wait->goroutine);
	*row = (struct row){
	    .query = query,
	    .wait = wait,
	    .goroutine = {goroutine->id, true},
	    .kind = gh_wait_kind_name(wait->kind),
	    .waited = gh_dump_waited(dump, goroutine),
	};
	row->reason.data = gh_goroutine_state(dump, goroutine, &row->reason.size);
	if (call != NULL)
		row->function = (struct gh_bytes){call->name, call->length};
	if (call != NULL && *call->file != '\0')
		row->file = call->file;
	row->line = call != NULL ? call->line : 0;
	fill_object(row);
}

static void print_duration(FILE *out, uint64_t ns)
{
	uint64_t minutes = ns / 60000000000;
	if (minutes > 0)
		fprintf(out, ", %" PRIu64 " minute%s", minutes, minutes > 1 ? "s" : "");
}

static void print_place(FILE *out, struct gh_wait_query *query, size_t goroutine)
{
	const struct gh_call *call = gh_wait_place(query, goroutine);
	if (call == NULL)
		return;
	fputs(", in ", out);
	gh_traceback_print_call(out, call);
}

static void print_line(const struct row *row)
{
	printf("goroutine %" PRIu64, row->goroutine.value);
	print_duration(stdout, row->waited);
	fputs(": ", stdout);
	gh_wait_print(stdout, row->query, row->wait, false);
	print_place(stdout, row->query, row->wait->goroutine);
	putchar('\n');
}

/* Goroutines that wait alike at one place, while they are gathered. */
struct member {
	char *text;                 /* what for, and where, without addresses; owned */
	const struct gh_wait *wait; /* of one of them */
	uint64_t id;
	uint64_t waited; /* ns; of a group the longest */
	size_t count;    /* of the group, in the first of it */
	size_t objects;  /* not the same as of the one before, plus one */
};

static uint64_t object_of(const struct gh_waits *waits, const struct gh_wait *wait)
{
	if (wait->ncases == 0)
		return wait->object;
	return waits->channels.items[waits->cases.items[wait->first].channel].address;
}

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	int order = strcmp(x->text, y->text);
	if (order == 0)
		order = (x->objects > y->objects) - (x->objects < y->objects);
	if (order == 0)
		order = (x->wait->goroutine > y->wait->goroutine) -
			(x->wait->goroutine < y->wait->goroutine);
	return order;
}

static int compare_groups(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return compare_members(a, b);
}

/* Prints how many are on the other side of the channel that all of GROUP wait for, and who else has
 * it. */
static void print_others(struct gh_wait_query *query, const struct gh_channel_holders *holders,
			 const struct gh_wait *wait)
{
	const struct gh_waits *waits = &query->waits;
	if (wait->ncases != 1)
		return;
	const struct gh_wait_case *only = &waits->cases.items[wait->first];
	const struct gh_channel *channel = &waits->channels.items[only->channel];
	printf("; %" PRIu64 " %s", only->send ? channel->receivers : channel->senders,
	       only->send ? "receive from it" : "send on it");
	holders += only->channel;
	if (holders->count == 0)
		return;
	fputs("; ", stdout);
	gh_wait_print_goroutine(stdout, query, holders->first);
	if (holders->count > 1)
		printf(" and %" PRIu64 " more have it", holders->count - 1);
	else
		fputs(" has it", stdout);
}

static void print_group(struct gh_wait_query *query, const struct gh_channel_holders *holders,
			const struct member *group)
{
	bool one = group->objects == 1;
	printf("%zu goroutine%s", group->count, group->count > 1 ? "s" : "");
	print_duration(stdout, group->waited);
	fputs(": ", stdout);
	gh_wait_print(stdout, query, group->wait,
		      !one || (object_of(&query->waits, group->wait) == 0 && group->count > 1));
	print_place(stdout, query, group->wait->goroutine);
	if (one)
		print_others(query, holders, group->wait);
	else
		printf("; %zu different ones", group->objects);
	putchar('\n');
}

static void print_json_group(struct gh_emit *emit, struct gh_wait_query *query,
			     const struct member *group)
{
	struct gh_dump_record record;
	struct row row;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, group->wait->goroutine, &record);
	fill(&row, query, group->wait, &record.goroutine);
	row.goroutine.known = false;
	row.count = (struct gh_known){group->count, true};
	row.waited = group->waited;
	row.object.known = row.object.known && group->objects == 1;
	gh_emit_row(emit, columns, &row);
}

struct members GH_VECTOR(struct member);

/* Puts the first of each group to the start of MEMBERS, the largest group first, and gives how many
 * groups there are. */
static size_t make_groups(struct members *members)
{
	size_t ngroups = 0;
	uint64_t last = 0;
	if (members->count > 0)
		qsort(members->items, members->count, sizeof(*members->items), compare_members);
	for (size_t i = 0; i < members->count; i++) {
		struct member member = members->items[i];
		struct member *group = ngroups > 0 ? &members->items[ngroups - 1] : NULL;
		uint64_t object = member.objects;
		if (group == NULL || strcmp(group->text, member.text) != 0) {
			members->items[ngroups] = member;
			group = &members->items[ngroups++];
			group->objects = 1;
		} else {
			group->objects += object != last;
			if (member.waited > group->waited)
				group->waited = member.waited;
			free(member.text);
		}
		group->count++;
		last = object;
	}
	if (ngroups > 0)
		qsort(members->items, ngroups, sizeof(*members->items), compare_groups);
	return ngroups;
}

/* Adds WAIT, for groups. */
static void add_member(struct members *members, struct gh_wait_query *query,
		       const struct gh_wait *wait, const struct gh_dump_goroutine *goroutine)
{
	struct member member = {
	    .wait = wait,
	    .id = goroutine->id,
	    .waited = gh_dump_waited(&query->dump, goroutine),
	    .objects = object_of(&query->waits, wait),
	};
	size_t size;
	FILE *out = open_memstream(&member.text, &size);
	if (out == NULL)
		return;
	gh_wait_print(out, query, wait, true);
	print_place(out, query, wait->goroutine);
	fclose(out);
	if (member.text == NULL || !gh_vector_push(members, member))
		free(member.text);
}

bool gh_wait_groups_print(struct gh_wait_query *query, size_t limit)
{
	const struct gh_options *options = query->options;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, options->json);
	struct members members = {0};
	struct gh_dump_record record;
	struct gh_channel_holders *holders = gh_channel_holders_find(&query->waits);
	for (size_t i = 0; i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
		if (!record.goroutine.system || options->all)
			add_member(&members, query, wait, &record.goroutine);
	}
	bool failed = members.failed || holders == NULL;
	size_t ngroups = make_groups(&members);
	for (size_t i = 0; i < ngroups; i++) {
		if (i < limit && options->json)
			print_json_group(&emit, query, &members.items[i]);
		else if (i < limit && !failed)
			print_group(query, holders, &members.items[i]);
		free(members.items[i].text);
	}
	gh_vector_free(&members);
	free(holders);
	if (failed)
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	return !failed;
}

static int answer(struct gh_wait_query *query)
{
	const struct gh_options *options = query->options;
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, options->json);
	struct gh_dump_record record;
	struct row row;
	if (options->group)
		return gh_wait_groups_print(query, SIZE_MAX) ? GH_EXIT_OK : GH_EXIT_INPUT;
	for (size_t i = 0; i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
		if (record.goroutine.system && !options->all)
			continue;
		fill(&row, query, wait, &record.goroutine);
		if (options->json)
			gh_emit_row(&emit, columns, &row);
		else
			print_line(&row);
	}
	return GH_EXIT_OK;
}

static int answer_deadlocks(struct gh_wait_query *query)
{
	struct gh_leaked leaked = {0};
	int status = gh_wait_find_leaked(&leaked, query) ? gh_deadlocks_print(query, &leaked)
							 : GH_EXIT_INPUT;
	gh_leaked_free(&leaked);
	return status;
}

int gh_cmd_waits(const struct gh_options *options)
{
	if (options->json && (options->deadlocks || options->graph)) {
		fputs("goheap: --json is for the list of waits alone\n", stderr);
		return GH_EXIT_USAGE;
	}
	return gh_wait_query_run(options, options->deadlocks ? answer_deadlocks
					  : options->graph   ? gh_deadlocks_draw
							     : answer);
}
