/* What is emitted can be followed by what is printed without: it is all written by then. */
#include <stdio.h>
#include <stdlib.h>

#include "plugin/view/emit.h"
#include "tests/unit/suites.h"

struct row {
	uint64_t number;
};

static const struct gh_column columns[] = {{"n", GH_COL_NUMBER(struct row, number)}, {0}};
static const struct row row = {7};

/* Emits each way, with a mark printed after it. */
static void emit_all(struct gh_emit *emit)
{
	FILE *out = emit->out;
	gh_emit_open(emit);
	putc('|', out);
	gh_emit_values(emit, columns, &row);
	putc('|', out);
	gh_emit_next(emit);
	putc('|', out);
	gh_emit_object(emit, columns, &row);
	putc('|', out);
	gh_emit_item(emit, columns, &row);
	putc('|', out);
	gh_emit_item_number(emit, 8);
	putc('|', out);
	gh_emit_close(emit);
	putc('|', out);
	gh_emit_row(emit, columns, &row);
	putc('|', out);
	gh_emit_end(emit);
	putc('|', out);
}

static void check_emitted(enum gh_emit_layout layout, bool json, const char *expected)
{
	char *text;
	size_t length;
	struct gh_dump dump = {.objects.bytes = 1000};
	FILE *out = open_memstream(&text, &length);
	struct gh_emit emit = gh_emit_start(out, layout, &dump, json);
	emit_all(&emit);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(what_is_emitted_is_written)
{
	check_emitted(GH_EMIT_ROWS, true,
		      "{|\"n\":7|,|{\"n\":7}|,{\"n\":7}|,8|}|,\"n\":7}\n|{}\n|");
	check_emitted(GH_EMIT_ROWS, false, "|7||\t7|\t7|8||\t7\n|\n|");
}
END_TEST

void emit_tests(TCase *tests)
{
	tcase_add_test(tests, what_is_emitted_is_written);
}
