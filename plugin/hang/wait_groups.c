/* Goroutines that wait alike. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

void gh_wait_print_place(FILE *out, struct gh_wait_query *query, size_t number)
{
	const struct gh_call *call = gh_wait_place(query, number);
	if (call == NULL)
		return;
	fputs(", in ", out);
	gh_traceback_print_call(out, call);
}

static uint64_t object_of(const struct gh_waits *waits, const struct gh_wait *wait)
{
	if (wait->ncases == 0)
		return wait->object;
	return waits->channels.items[waits->cases.items[wait->first].channel].address;
}

static int compare_ends(const struct gh_wait_group *x, const struct gh_wait_group *y)
{
	return strcmp(x->end != NULL ? x->end : "", y->end != NULL ? y->end : "");
}

static int compare_members(const void *a, const void *b)
{
	const struct gh_wait_group *x = a, *y = b;
	int order = strcmp(x->text, y->text);
	if (order == 0)
		order = (x->object > y->object) - (x->object < y->object);
	if (order == 0)
		order = compare_ends(x, y);
	if (order == 0)
		order = (x->wait->goroutine > y->wait->goroutine) -
			(x->wait->goroutine < y->wait->goroutine);
	return order;
}

/* Goroutines wait for each other with WAIT, rather than for what is to do. */
static bool is_blocked(const struct gh_wait *wait)
{
	switch (wait->kind) {
	case GH_WAIT_MUTEX:
	case GH_WAIT_RWMUTEX_READ:
	case GH_WAIT_RWMUTEX_WRITE:
	case GH_WAIT_WAITGROUP:
	case GH_WAIT_COND:
	case GH_WAIT_SEMAPHORE:
		return true;
	case GH_WAIT_OTHER:
	case GH_WAIT_SEND:
	case GH_WAIT_RECEIVE:
	case GH_WAIT_SELECT:
	case GH_WAIT_SLEEP:
	case GH_WAIT_DESCRIPTOR:
		break;
	case GH_WAIT_SYSCALL:
		return wait->in_c != NULL;
	}
	return false;
}

static int compare_groups(const void *a, const void *b)
{
	const struct gh_wait_group *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return compare_members(a, b);
}

/* Prints what most descriptors of GROUP are of, if there is more than one. */
static void print_ends(FILE *out, const struct gh_wait_group *group)
{
	if (group->ends < 2)
		return;
	if (group->ends == group->count)
		fputs("; all ", out);
	else
		fprintf(out, "; %zu of them ", group->ends);
	gh_escape_print(out, group->end);
}

static void print_group(struct gh_wait_query *query, const struct gh_wait_group *group)
{
	FILE *out = query->out;
	bool one = group->objects == 1;
	gh_print_count(out, group->count, "goroutine");
	gh_minutes_print(out, group->waited / GH_NS_PER_MINUTE);
	fputs(": ", out);
	gh_wait_print(out, query, group->wait,
		      !one || (object_of(&query->waits, group->wait) == 0 && group->count > 1));
	gh_wait_print_place(out, query, group->wait->goroutine);
	if (one)
		gh_wait_print_wakers(out, query, group->wait);
	else
		fprintf(out, "; %zu different ones", group->objects);
	print_ends(out, group);
	putc('\n', out);
}

/* Adds the groups of MEMBERS to GROUPS, whose texts they share, the largest first. */
static void make_groups(struct gh_wait_group_list *groups, struct gh_wait_group_list *members)
{
	size_t run = 0; /* of those with the same end */
	if (members->count > 0)
		qsort(members->items, members->count, sizeof(*members->items), compare_members);
	for (size_t i = 0; i < members->count; i++) {
		const struct gh_wait_group *member = &members->items[i];
		bool begins = i == 0 || strcmp(member[-1].text, member->text) != 0;
		if (begins && !gh_vector_push(groups, *member))
			break;
		struct gh_wait_group *group = &groups->items[groups->count - 1];
		run = begins || compare_ends(&member[-1], member) != 0 ? 1 : run + 1;
		if (member->end != NULL && run > group->ends) {
			group->end = member->end;
			group->ends = run;
		}
		group->count++;
		group->objects += begins || member[-1].object != member->object;
		if (member->waited > group->waited)
			group->waited = member->waited;
	}
	if (groups->count > 0)
		qsort(groups->items, groups->count, sizeof(*groups->items), compare_groups);
}

/* Adds WAIT, for groups. */
static void add_member(struct gh_wait_group_list *members, struct gh_wait_query *query,
		       const struct gh_wait *wait, const struct gh_dump_goroutine *goroutine)
{
	char end[GH_DESCRIPTOR_TEXT];
	struct gh_wait_group member = {
	    .wait = wait,
	    .waited = gh_dump_waited(&query->dump, goroutine),
	    .object = object_of(&query->waits, wait),
	};
	size_t size;
	FILE *out = open_memstream(&member.text, &size);
	if (out == NULL) {
		members->failed = true;
		return;
	}
	gh_wait_print(out, query, wait, true);
	gh_wait_print_place(out, query, wait->goroutine);
	member.text = gh_text_end(out, &member.text);
	if (gh_wait_descriptor_of(query, gh_wait_descriptor(query, wait), end, sizeof(end), true))
		members->failed |= (member.end = strdup(end)) == NULL;
	if (member.text == NULL || !gh_vector_push(members, member)) {
		members->failed = true;
		free(member.text);
		free(member.end);
	}
}

static int compare_blocked(const void *a, const void *b)
{
	const struct gh_wait_group *x = a, *y = b;
	bool is_first = is_blocked(x->wait);
	if (is_first != is_blocked(y->wait))
		return is_first ? -1 : 1;
	return compare_groups(a, b);
}

/* Puts those of GROUPS first that wait for each other; one of the others, the largest, is among the
 * LIMIT and one more that are shown then. How many these are. */
static size_t put_blocked_first(struct gh_wait_group_list *groups, size_t limit)
{
	struct gh_wait_group *items = groups->items;
	size_t nblocked = 0;
	if (groups->count > 0)
		qsort(items, groups->count, sizeof(*items), compare_blocked);
	while (nblocked < groups->count && is_blocked(items[nblocked].wait))
		nblocked++;
	if (nblocked < limit || nblocked == groups->count)
		return limit;
	struct gh_wait_group other = items[nblocked];
	memmove(&items[limit + 1], &items[limit], (nblocked - limit) * sizeof(*items));
	items[limit] = other;
	return limit + 1;
}

bool gh_wait_groups_find(struct gh_wait_groups *groups, struct gh_wait_query *query,
			 const bool *only)
{
	struct gh_dump_record record;
	*groups = (struct gh_wait_groups){0};
	for (size_t i = 0; i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		if (only != NULL && !only[wait->goroutine])
			continue;
		gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, wait->goroutine, &record);
		if (!record.goroutine.system || query->options->all)
			add_member(&groups->members, query, wait, &record.goroutine);
	}
	make_groups(&groups->list, &groups->members);
	if (!groups->members.failed && !groups->list.failed)
		return true;
	gh_say(GH_OUT_OF_MEMORY);
	return false;
}

void gh_wait_groups_free(struct gh_wait_groups *groups)
{
	for (size_t i = 0; i < groups->members.count; i++) {
		free(groups->members.items[i].text);
		free(groups->members.items[i].end);
	}
	gh_vector_free(&groups->members);
	gh_vector_free(&groups->list);
}

size_t gh_wait_groups_print(struct gh_wait_query *query, size_t limit, const char *part)
{
	const struct gh_options *options = query->options;
	struct gh_emit emit = gh_emit_start(query->out, GH_EMIT_ROWS, &query->dump, options->json);
	struct gh_wait_groups groups;
	bool found = gh_wait_groups_find(&groups, query, NULL);
	size_t ngroups = found ? groups.list.count : SIZE_MAX;
	if (found && limit < ngroups)
		limit = put_blocked_first(&groups.list, limit);
	for (size_t i = 0; found && i < ngroups && i < limit; i++) {
		if (options->json)
			gh_wait_emit_group(&emit, query, &groups.list.items[i], part);
		else
			print_group(query, &groups.list.items[i]);
	}
	gh_wait_groups_free(&groups);
	return ngroups;
}
