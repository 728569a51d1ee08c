/* Pictures in the language of Graphviz's dot: boxes, notes and edges, with what is written in them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "plugin/view/emit.h"
#include "tests/unit/suites.h"

static struct gh_dot dot;
static FILE *out;
static char *text;
static size_t length;

static void begin(void)
{
	out = open_memstream(&text, &length);
	ck_assert(gh_dot_open(&dot, out));
	dot.whole = 1000;
	dot.most = 400;
}

/* What is between the first lines of the picture and the last is EXPECTED. */
static void check_drawn(const char *expected)
{
	static char whole[4096];
	gh_dot_close(&dot);
	fclose(out);
	snprintf(whole, sizeof(whole),
		 "digraph goheap {\nrankdir=LR\nnode [style=filled fillcolor=\"#f8f8f8\"]\n%s}\n",
		 expected);
	ck_assert_str_eq(text, whole);
	free(text);
}

START_TEST(a_picture_may_be_empty)
{
	begin();
	check_drawn("");
}
END_TEST

START_TEST(labels_are_quoted)
{
	begin();
	gh_dot_legend(&dot);
	fputs("a\"b\\c\nd&e<\xc3\xa9", dot.label);
	gh_dot_end(&dot);
	check_drawn("legend [shape=box fontsize=16 label=\"a\\\"b\\\\c\\nd&amp;e<\xc3\xa9\"]\n");
}
END_TEST

/* From grey to red by the root of the share of all; letters of 8 to 24 points by that of the most.
 */
START_TEST(objects_are_as_red_and_as_large_as_what_they_retain)
{
	begin();
	gh_dot_object(&dot, 1, 0, false);
	fputs("none", dot.label);
	gh_dot_end(&dot);
	gh_dot_object(&dot, 2, 250, true);
	gh_dot_end(&dot);
	gh_dot_object(&dot, 3, 1000, false);
	gh_dot_end(&dot);
	gh_dot_object(&dot, 4, 100, false);
	gh_dot_end(&dot);
	/* More than all there is. */
	gh_dot_object(&dot, UINT32_MAX, UINT64_MAX, false);
	gh_dot_end(&dot);
	check_drawn(
	    "N1 [shape=box fontsize=8.0 color=\"#b2b2b2\" fillcolor=\"#ededed\" label=\"none\"]\n"
	    "N2 [shape=box fontsize=20.6 color=\"#b25959\" fillcolor=\"#ede1e1\" penwidth=4 "
	    "label=\"\"]\n"
	    "N3 [shape=box fontsize=24.0 color=\"#b20000\" fillcolor=\"#edd5d5\" label=\"\"]\n"
	    "N4 [shape=box fontsize=16.0 color=\"#b27a7a\" fillcolor=\"#ede5e5\" label=\"\"]\n"
	    "N4294967295 [shape=box fontsize=24.0 color=\"#b20000\" fillcolor=\"#edd5d5\" "
	    "label=\"\"]\n");
}
END_TEST

START_TEST(notes_point_to_objects)
{
	begin();
	gh_dot_note(&dot, 7, false);
	fputs("one", dot.label);
	gh_dot_end(&dot);
	gh_dot_note(&dot, 8, true);
	fputs("two", dot.label);
	gh_dot_end(&dot);
	ck_assert_uint_eq(dot.notes, 2);
	check_drawn("R1 -> N7 [penwidth=1]\nR1 [shape=ellipse fontsize=10 label=\"one\"]\n"
		    "R2 -> N8 [penwidth=4]\nR2 [shape=ellipse fontsize=10 label=\"two\"]\n");
}
END_TEST

START_TEST(edges_are_as_wide_as_what_they_lead_to)
{
	begin();
	gh_dot_edge(&dot, 1, 2, 0, GH_DOT_POINTER);
	gh_dot_end(&dot);
	gh_dot_edge(&dot, 1, 3, 250, GH_DOT_INDIRECT);
	fputs(".next", dot.label);
	gh_dot_end(&dot);
	gh_dot_edge(&dot, 2, 3, 1000, GH_DOT_POINTER);
	gh_dot_end(&dot);
	gh_dot_edge(&dot, 2, 4, 0, GH_DOT_PATH);
	gh_dot_end(&dot);
	check_drawn("N1 -> N2 [fontsize=10 penwidth=1.0 color=\"#b2b2b2\" label=\"\"]\n"
		    "N1 -> N3 [fontsize=10 penwidth=1.8 style=dotted color=\"#b25959\" "
		    "label=\".next\"]\n"
		    "N2 -> N3 [fontsize=10 penwidth=4.0 color=\"#b20000\" label=\"\"]\n"
		    "N2 -> N4 [fontsize=10 penwidth=4.0 color=\"#b2b2b2\" label=\"\"]\n");
}
END_TEST

void dot_tests(TCase *tests)
{
	tcase_add_test(tests, a_picture_may_be_empty);
	tcase_add_test(tests, labels_are_quoted);
	tcase_add_test(tests, objects_are_as_red_and_as_large_as_what_they_retain);
	tcase_add_test(tests, notes_point_to_objects);
	tcase_add_test(tests, edges_are_as_wide_as_what_they_lead_to);
}
