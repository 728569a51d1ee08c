#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/command/wait_query.h"
#include "plugin/hang/hang.h"

/* A goroutine that can never go on. */
struct member {
	uint32_t knot; /* the number of the first goroutine of its knot */
	const struct gh_wait *wait;
};

/* Goroutines that can never go on, and share what only they lead to. */
struct knot {
	size_t first; /* place of its first member */
	size_t count; /* of members */
	char *text;   /* what they wait for, and where, without addresses; owned */
	size_t alike; /* knots that begin a sentence together, in the first of them */
};

struct members GH_VECTOR(struct member);
struct knots GH_VECTOR(struct knot);

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->knot != y->knot)
		return x->knot > y->knot ? 1 : -1;
	return (x->wait->goroutine > y->wait->goroutine) -
	       (x->wait->goroutine < y->wait->goroutine);
}

static int compare_texts(const void *a, const void *b)
{
	const struct knot *x = a, *y = b;
	int order = strcmp(x->text, y->text);
	return order != 0 ? order : (x->first > y->first) - (x->first < y->first);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct knot *x = a, *y = b;
	size_t first = x->alike * x->count;
	size_t second = y->alike * y->count;
	if (first != second)
		return first > second ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The goroutine that holds the lock that WAIT is for; GH_DUMP_NONE if it is not certain, or WAIT is
 * for no lock. */
static size_t holder_of(const struct gh_wait_query *query, const struct gh_wait *wait)
{
	const struct gh_deadlocks *deadlocks = &query->deadlocks;
	size_t place = (size_t)(wait - query->waits.list.items);
	size_t number = gh_deadlocks_mutex(deadlocks, &query->waits, place);
	if (number == GH_DUMP_NONE)
		return GH_DUMP_NONE;
	const struct gh_held_mutex *mutex = &deadlocks->mutexes.items[number];
	return mutex->sure && mutex->nholders == 1
		   ? deadlocks->holders.items[mutex->first].goroutine
		   : GH_DUMP_NONE;
}

/* Prints WAIT. Returns whether it is for a lock with a holder. */
static bool print_member(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait)
{
	struct gh_dump_record record;
	size_t holder = holder_of(query, wait);
	gh_wait_print_goroutine(out, query, wait->goroutine);
	putc(' ', out);
	gh_wait_print_clause(out, query, wait, false);
	if (holder == GH_DUMP_NONE)
		return false;
	gh_dump_get(&query->dump, GH_DUMP_GOROUTINE, holder, &record);
	fprintf(out, ", held by goroutine %" PRIu64, record.goroutine.id);
	return true;
}

char *gh_wait_alike_text(struct gh_wait_query *query, const struct gh_wait *const *waits,
			 size_t count)
{
	char *texts[GH_WAIT_TOLD] = {0};
	char *text = NULL;
	size_t size;
	size_t told = count < GH_WAIT_TOLD ? count : GH_WAIT_TOLD;
	bool ok = true;
	for (size_t i = 0; ok && i < told; i++) {
		FILE *out = open_memstream(&texts[i], &size);
		if (out != NULL) {
			const struct gh_call *call = gh_wait_place(query, waits[i]->goroutine);
			gh_wait_print(out, query, waits[i], true);
			if (call != NULL)
				gh_traceback_print_call(out, call);
		}
		texts[i] = gh_text_end(out, &texts[i]);
		ok = texts[i] != NULL;
	}
	FILE *all = ok ? open_memstream(&text, &size) : NULL;
	if (all != NULL) {
		qsort(texts, told, sizeof(*texts), compare_strings);
		for (size_t i = 0; i < told; i++)
			fprintf(all, "%s\n", texts[i]);
		fprintf(all, "%zu", count);
		text = gh_text_end(all, &text);
	}
	for (size_t i = 0; i < told; i++)
		free(texts[i]);
	return text;
}

void gh_wait_print_alike(FILE *out, size_t alike, bool several)
{
	if (alike > 1)
		fprintf(out, " (and %zu like %s)", alike - 1, several ? "these" : "this");
}

void gh_wait_print_left(struct gh_wait_query *query, size_t shown, size_t count)
{
	if (shown >= count)
		return;
	fprintf(query->out, "and %zu more: ", count - shown);
	gh_see_print(query->out, query->options, "waits --deadlocks");
	putc('\n', query->out);
}

/* Finds the members of all knots, by knot. */
static void find_members(struct members *members, const struct gh_wait_query *query,
			 const struct gh_leaked *leaked)
{
	for (size_t i = 0; i < query->waits.list.count; i++) {
		const struct gh_wait *wait = &query->waits.list.items[i];
		if (leaked->of[wait->goroutine])
			gh_vector_push(members,
				       ((struct member){leaked->knots[wait->goroutine], wait}));
	}
	if (members->count > 0)
		qsort(members->items, members->count, sizeof(*members->items), compare_members);
}

/* Finds the knots, those together of which the same is to be said. */
static void find_knots(struct knots *knots, struct gh_wait_query *query,
		       const struct members *members)
{
	for (size_t i = 0; i < members->count && !knots->failed;) {
		const struct member *first = &members->items[i];
		struct knot knot = {.first = i, .alike = 1};
		while (i < members->count && members->items[i].knot == first->knot)
			i++;
		knot.count = i - knot.first;
		const struct gh_wait *waits[GH_WAIT_TOLD];
		for (size_t k = 0; k < knot.count && k < GH_WAIT_TOLD; k++)
			waits[k] = first[k].wait;
		knot.text = gh_wait_alike_text(query, waits, knot.count);
		if (knot.text == NULL)
			knots->failed = true;
		else if (!gh_vector_push(knots, knot))
			free(knot.text);
	}
	if (knots->count > 0)
		qsort(knots->items, knots->count, sizeof(*knots->items), compare_texts);
}

/* Puts the first of those that are alike to the start, what most goroutines are in first. Returns
 * how many there are. */
static size_t merge_alike(struct knots *knots)
{
	size_t count = 0;
	for (size_t i = 0; i < knots->count; i++) {
		struct knot *last = count > 0 ? &knots->items[count - 1] : NULL;
		if (last != NULL && strcmp(last->text, knots->items[i].text) == 0) {
			last->alike++;
			free(knots->items[i].text);
		} else {
			knots->items[count++] = knots->items[i];
		}
	}
	if (count > 0)
		qsort(knots->items, count, sizeof(*knots->items), compare_sizes);
	return count;
}

static void print_knot(struct gh_wait_query *query, const struct member *members,
		       const struct knot *knot)
{
	FILE *out = query->out;
	bool never = true, held = false;
	for (size_t i = 0; i < knot->count && i < GH_WAIT_TOLD; i++) {
		const struct gh_wait *wait = members[knot->first + i].wait;
		fputs(i > 0 ? ";\n    " : "", out);
		held = print_member(out, query, wait) || held;
		never = never && wait->never;
	}
	if (knot->count > GH_WAIT_TOLD)
		fprintf(out, ";\n    and %zu more", knot->count - GH_WAIT_TOLD);
	if (never)
		fputs(": nothing ever ends that", out);
	else if (held)
		fputs(": only they lead to what they wait for, or hold it", out);
	else
		fputs(knot->count > 1 ? ": only they lead to what they wait for"
				      : ": only it leads to that",
		      out);
	gh_wait_print_alike(out, knot->alike, knot->count > 1);
	putc('\n', out);
}

/* A knot, as it is printed as JSON. */
struct knot_row {
	struct gh_wait_query *query;
	const struct member *members;
	size_t count;
	const char *part;
	uint64_t alike;
};

static void emit_members(struct gh_emit *emit, const void *member)
{
	const struct knot_row *row = member;
	for (size_t i = 0; i < row->count; i++)
		gh_wait_emit_item(emit, row->query, row->members[i].wait);
}

static void emit_knot(struct gh_wait_query *query, const struct member *members,
		      const struct knot *knot)
{
	static const struct gh_column columns[] = {
	    {"part", GH_COL_TEXT(struct knot_row, part)},
	    {"alike", GH_COL_NUMBER(struct knot_row, alike)},
	    {"members", GH_COL_LIST(emit_members)},
	    {0},
	};
	struct gh_emit emit = gh_emit_start(query->out, GH_EMIT_ROWS, &query->dump, true);
	struct knot_row row = {query, members + knot->first, knot->count, "knot", knot->alike};
	gh_emit_row(&emit, columns, &row);
}

bool gh_knots_print(struct gh_wait_query *query, const struct gh_leaked *leaked, size_t limit)
{
	struct members members = {0};
	struct knots knots = {0};
	bool json = query->options->json;
	find_members(&members, query, leaked);
	find_knots(&knots, query, &members);
	bool failed = members.failed || knots.failed;
	size_t total = knots.count;
	size_t count = merge_alike(&knots);
	for (size_t i = 0; i < count; i++) {
		if (!failed && json)
			emit_knot(query, members.items, &knots.items[i]);
		else if (!failed && i < limit)
			print_knot(query, members.items, &knots.items[i]);
		free(knots.items[i].text);
	}
	if (failed) {
		gh_say(GH_OUT_OF_MEMORY);
	} else if (total > 0 && !json) {
		gh_wait_print_left(query, limit, count);
		gh_print_count(query->out, total, "other knot");
		fputs(": ", query->out);
		gh_print_count(query->out, members.count, "goroutine");
		fprintf(query->out, " that can %snever go on\n", leaked->perhaps ? "perhaps " : "");
	}
	gh_vector_free(&members);
	gh_vector_free(&knots);
	return !failed;
}
