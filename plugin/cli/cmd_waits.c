/* goheap waits: what each blocked goroutine waits for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/cli/command.h"
#include "plugin/cli/wait_query.h"

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

static void print_line(struct gh_wait_query *query, const struct gh_wait *wait,
		       const struct gh_dump_goroutine *goroutine)
{
	printf("goroutine %" PRIu64, goroutine->id);
	print_duration(stdout, gh_dump_waited(&query->dump, goroutine));
	fputs(": ", stdout);
	gh_wait_print(stdout, query, wait, false);
	print_place(stdout, query, wait->goroutine);
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

static void print_group(struct gh_wait_query *query, const struct member *group)
{
	FILE *out = query->out;
	bool one = group->objects == 1;
	gh_print_count(out, group->count, "goroutine");
	print_duration(out, group->waited);
	fputs(": ", out);
	gh_wait_print(out, query, group->wait,
		      !one || (object_of(&query->waits, group->wait) == 0 && group->count > 1));
	print_place(out, query, group->wait->goroutine);
	if (one)
		gh_wait_print_wakers(out, query, group->wait);
	else
		fprintf(out, "; %zu different ones", group->objects);
	putc('\n', out);
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

size_t gh_wait_groups_print(struct gh_wait_query *query, size_t limit, const char *part)
{
	const struct gh_options *options = query->options;
	struct gh_emit emit = gh_emit_start(query->out, GH_EMIT_ROWS, &query->dump, options->json);
	struct members members = {0};
	struct gh_dump_record record;
	for (size_t i = 0; i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
		if (!record.goroutine.system || options->all)
			add_member(&members, query, wait, &record.goroutine);
	}
	bool failed = members.failed;
	size_t ngroups = make_groups(&members);
	for (size_t i = 0; i < ngroups; i++) {
		const struct member *group = &members.items[i];
		if (i < limit && options->json)
			gh_wait_emit_group(&emit, query,
					   &(struct gh_wait_group){group->wait, group->waited,
								   group->count, group->objects},
					   part);
		else if (i < limit && !failed)
			print_group(query, group);
		free(group->text);
	}
	gh_vector_free(&members);
	if (failed)
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	return failed ? SIZE_MAX : ngroups;
}

static int answer(struct gh_wait_query *query)
{
	const struct gh_options *options = query->options;
	struct gh_emit emit = gh_emit_start(query->out, GH_EMIT_ROWS, &query->dump, options->json);
	struct gh_dump_record record;
	if (options->group)
		return gh_wait_groups_print(query, SIZE_MAX, NULL) != SIZE_MAX ? GH_EXIT_OK
									       : GH_EXIT_INPUT;
	for (size_t i = 0; i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
		if (record.goroutine.system && !options->all)
			continue;
		if (options->json)
			gh_wait_emit(&emit, query, wait);
		else
			print_line(query, wait, &record.goroutine);
	}
	return GH_EXIT_OK;
}

static int answer_deadlocks(struct gh_wait_query *query)
{
	struct gh_leaked leaked = {0};
	int status = gh_wait_find_leaked(&leaked, query)
			 ? gh_deadlocks_print(query, &leaked, SIZE_MAX)
			 : GH_EXIT_INPUT;
	gh_leaked_free(&leaked);
	return status;
}

int gh_cmd_waits(const struct gh_options *options)
{
	if (options->json && options->graph) {
		fputs("goheap: --graph is a picture: without --json\n", stderr);
		return GH_EXIT_USAGE;
	}
	return gh_wait_query_run(options, options->deadlocks ? answer_deadlocks
					  : options->graph   ? gh_deadlocks_draw
							     : answer);
}
