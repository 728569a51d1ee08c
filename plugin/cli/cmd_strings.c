/* goheap strings: the text in a heap dump, the largest and the most repeated. */
#include <stdio.h>

#include "lib/heap/heap.h"
#include "lib/util/top.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/view/emit.h"

/* A text, as it is printed. */
struct row {
	const struct gh_heap_string *text;
	uint64_t bytes;  /* of all copies' objects */
	uint64_t copies; /* objects that have it */
	uint64_t length;
	uint64_t object; /* the first of them: its address */
};

/* For a person, as much as there is room for. */
static void print_contents(struct gh_emit *emit, const void *member)
{
	const struct gh_heap_string *text = ((const struct row *)member)->text;
	if (emit->json)
		gh_print_bytes(emit->out, text->data, text->length, true);
	else
		gh_print_start(text->data, text->length);
}

static const struct gh_column columns[] = {
    {"bytes", GH_COL_SIZE(struct row, bytes)},     {"copies", GH_COL_NUMBER(struct row, copies)},
    {"length", GH_COL_NUMBER(struct row, length)}, {"object", GH_COL_ADDRESS(struct row, object)},
    {"text", GH_COL_PRINTED(print_contents)},      {0},
};

static void print_row(const struct gh_heap_query *query, struct gh_emit *emit,
		      const struct gh_heap_string *text)
{
	struct row row = {
	    .text = text,
	    .bytes = text->bytes,
	    .copies = text->copies,
	    .length = text->length,
	    .object = gh_heap_object(&query->heap, text->object).address,
	};
	gh_emit_row(emit, columns, &row);
}

static uint64_t by_length(const struct gh_heap_string *text)
{
	return text->length;
}

static uint64_t by_copies(const struct gh_heap_string *text)
{
	return text->copies;
}

static uint64_t by_bytes(const struct gh_heap_string *text)
{
	return text->bytes;
}

/* Prints the texts of which KEY_OF is largest, LIMIT of them, and at least LEAST. */
static void print_table(const struct gh_heap_query *query, const struct gh_heap_strings *texts,
			size_t limit, uint64_t (*key_of)(const struct gh_heap_string *text),
			uint64_t least)
{
	struct gh_emit emit =
	    gh_emit_start(stdout, GH_EMIT_TABLE, &query->dump, query->options->json);
	struct gh_top top = {.limit = limit};
	size_t count;
	for (uint32_t i = 0; i < texts->count; i++)
		if (key_of(&texts->items[i]) >= least)
			gh_top_add(&top, key_of(&texts->items[i]), i);
	const struct gh_top_item *items = gh_emit_top(&top, &count);
	if (count > 0)
		gh_emit_titles(&emit, columns);
	else if (!emit.json && top.seen == 0)
		puts("none");
	for (size_t i = 0; i < count; i++)
		print_row(query, &emit, &texts->items[items[i].number]);
	gh_emit_finish(&emit, top.seen);
	gh_top_free(&top);
}

static void print_text(const struct gh_heap_query *query, const struct gh_heap_strings *texts)
{
	uint64_t objects = 0;
	uint64_t bytes = 0;
	/* Both tables together are as long as others. */
	size_t limit = query->options->limit;
	size_t half = limit / 2;
	for (size_t i = 0; i < texts->count; i++) {
		objects += texts->items[i].copies;
		bytes += texts->items[i].bytes;
	}
	puts("The longest:");
	print_table(query, texts, limit - half, by_length, 0);
	puts("\nThe most repeated:");
	print_table(query, texts, half, by_copies, 2);
	putchar('\n');
	gh_print_count(stdout, objects, "object");
	fputs(" of ", stdout);
	gh_print_size(stdout, bytes);
	fputs(" with ", stdout);
	gh_print_count(stdout, texts->count, "different text");
	putchar('\n');
}

/* False, and the error is printed, if it takes too long. */
static bool keep_matches(struct gh_heap_strings *texts, const struct gh_pattern *pattern)
{
	size_t count = 0;
	for (size_t i = 0; i < texts->count; i++) {
		const struct gh_heap_string *text = &texts->items[i];
		enum gh_match match = gh_pattern_matches(pattern, text->data, text->length);
		if (match == GH_MATCH_TOO_LONG) {
			gh_say("a string can match the regular expression in too many ways: repeat "
			       "less in it");
			return false;
		}
		if (match == GH_MATCH_YES)
			texts->items[count++] = *text;
	}
	texts->count = count;
	return true;
}

static int print_strings(struct gh_heap_query *query)
{
	struct gh_error err;
	struct gh_heap_strings *texts = &query->strings;
	if (!gh_heap_query_find_strings(query, &err)) {
		gh_print_error(&err);
		return GH_EXIT_INPUT;
	}
	if (query->options->has_pattern && !keep_matches(texts, &query->options->pattern))
		return GH_EXIT_INPUT;
	if (query->options->json)
		print_table(query, texts, query->options->limit, by_bytes, 0);
	else
		print_text(query, texts);
	return GH_EXIT_OK;
}

int gh_cmd_strings(const struct gh_options *options)
{
	return gh_heap_query_run(options, GH_WITH_GRAPH, print_strings);
}
