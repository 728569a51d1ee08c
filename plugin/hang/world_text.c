/* What is said of the world while it is being stopped, and of those that wait to stop it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

/* The world, as a row of JSON. */
struct world_row {
	const char *part;
	const struct gh_wait_query *query;
	const struct gh_world *world;
	struct gh_known goroutine;
	struct gh_bytes reason;
	uint64_t left;
};

static uint64_t goroutine_id(const struct gh_dump *dump, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine.id;
}

/* The function that has the world stopped; size 0 if a collection does, or it is not known. */
static struct gh_bytes find_reason(const struct gh_dump *dump, const struct gh_world *world)
{
	struct gh_dump_record record;
	if (world->stopper == GH_DUMP_NONE || world->reason == GH_DUMP_NONE ||
	    world->reason >= gh_dump_stack(dump, world->stopper)->nframes)
		return (struct gh_bytes){0};
	gh_dump_get(dump, GH_DUMP_FRAME,
		    gh_dump_stack(dump, world->stopper)->first_frame + world->reason, &record);
	struct gh_cursor name = gh_dump_bytes(dump, record.frame.function);
	return (struct gh_bytes){(const char *)name.pos, gh_cursor_left(&name)};
}

static void emit_running(struct gh_emit *emit, const void *member)
{
	const struct world_row *row = member;
	for (size_t i = 0; i < row->world->running.count; i++)
		gh_emit_item_number(emit,
				    goroutine_id(&row->query->dump, row->world->running.items[i]));
}

static void emit_world(const struct gh_wait_query *query, const struct gh_world *world)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct world_row, part)},
	    {"goroutine", GH_COL_KNOWN_NUMBER(struct world_row, goroutine), .optional = true},
	    {"reason", GH_COL_BYTES(struct world_row, reason), .optional = true},
	    {"left", GH_COL_NUMBER(struct world_row, left)},
	    {"waits_for", GH_COL_LIST(emit_running)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
	struct world_row row = {.part = "world",
				.query = query,
				.world = world,
				.reason = find_reason(&query->dump, world),
				.left = world->left};
	if (world->stopper != GH_DUMP_NONE)
		row.goroutine = (struct gh_known){goroutine_id(&query->dump, world->stopper), true};
	if (world->stopper != GH_DUMP_NONE && world->reason == GH_DUMP_NONE)
		row.reason = (struct gh_bytes){"garbage collection", strlen("garbage collection")};
	gh_emit_row(&emit, columns, &row);
}

/* Prints the sentence, of at most GH_WAIT_TOLD goroutines that have not stopped. */
static void print_world(struct gh_wait_query *query, const struct gh_world *world)
{
	struct gh_bytes reason = find_reason(&query->dump, world);
	size_t count = world->running.count;
	fputs("stopping the world", stdout);
	if (reason.size > 0) {
		fputs(" for ", stdout);
		gh_print_bytes(stdout, reason.data, reason.size, false);
	}
	fputs(": ", stdout);
	if (world->stopper != GH_DUMP_NONE)
		gh_wait_print_goroutine(stdout, query, world->stopper);
	else
		fputs("a goroutine", stdout);
	fputs(" waits for ", stdout);
	for (size_t i = 0; i < count && i < GH_WAIT_TOLD; i++) {
		fputs(i > 0 ? ", " : "", stdout);
		gh_wait_print_goroutine(stdout, query, world->running.items[i]);
	}
	if (count > GH_WAIT_TOLD)
		printf(" and %zu more", count - GH_WAIT_TOLD);
	if (count == 0)
		printf("%" PRIu32 " processor%s of Go's that %s not stopped\n", world->left,
		       world->left > 1 ? "s" : "", world->left > 1 ? "have" : "has");
	else
		puts(count > 1 ? ", which run and have not stopped"
			       : ", which runs and has not stopped");
}

/* Those that wait as STOP says: COUNT, of whom FIRST is the first. */
static void print_waiting(struct gh_wait_query *query, enum gh_stop stop, size_t count,
			  size_t first)
{
	struct row {
		const char *part;
		const char *wait;
		uint64_t count, first;
	};
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct row, part)},
	    {"waits_to", GH_COL_TEXT(struct row, wait)},
	    {"count", GH_COL_NUMBER(struct row, count)},
	    {"first", GH_COL_NUMBER(struct row, first)},
	    {0},
	};
	const char *wait = stop == GH_WAITS_TO_COLLECT ? "start a collection" : "stop the world";
	if (query->options->json) {
		struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, &query->dump, true);
		struct row row = {"stoppers", wait, count, goroutine_id(&query->dump, first)};
		gh_emit_row(&emit, columns, &row);
		return;
	}
	gh_print_count(stdout, count, "goroutine");
	printf(" wait%s to %s: ", count > 1 ? "" : "s", wait);
	gh_wait_print_goroutine(stdout, query, first);
	puts(count > 1 ? " is the first" : "");
}

/* Prints those that wait to stop the world, or to start a collection. */
static void print_stoppers(struct gh_wait_query *query)
{
	static const char parked[] = "semacquire";
	const struct gh_dump *dump = &query->dump;
	struct gh_dump_record record;
	size_t count[GH_WAITS_TO_COLLECT + 1] = {0}, first[GH_WAITS_TO_COLLECT + 1];
	size_t size, reason;
	for (size_t i = 0; i < dump->stacks.count; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		const char *state = gh_goroutine_state(dump, &record.goroutine, &size);
		if (record.goroutine.status != GH_DUMP_WAITING || size != strlen(parked) ||
		    memcmp(state, parked, size) != 0)
			continue;
		enum gh_stop stop = gh_stop_of(dump, i, &reason);
		if (count[stop]++ == 0)
			first[stop] = i;
	}
	for (enum gh_stop stop = GH_WAITS_TO_STOP; stop <= GH_WAITS_TO_COLLECT; stop++)
		if (count[stop] > 0)
			print_waiting(query, stop, count[stop], first[stop]);
}

void gh_world_print(struct gh_wait_query *query)
{
	struct gh_world world = {0};
	struct gh_error err;
	if (query->symbols != NULL) {
		struct gh_module module = gh_symbols_module(query->symbols);
		if (!gh_world_find(&world, &query->dump, &module, &err))
			gh_leave_out();
	}
	if (world.left > 0)
		query->options->json ? emit_world(query, &world) : print_world(query, &world);
	gh_world_free(&world);
	print_stoppers(query);
}
