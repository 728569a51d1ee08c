/* goheap dot: a picture of the heap: what retains most of it, or what is around an object. */
#include <stdio.h>

#include "lib/util/output.h"
#include "plugin/command/command.h"
#include "plugin/command/heap_query.h"
#include "plugin/findings/suspects.h"

/* What holds the object of a line that nothing dominates. */
static void draw_holder(struct gh_picture *picture, const struct gh_merged_line *line)
{
	uint32_t object = line->object;
	const struct gh_root *roots;
	size_t count = gh_heap_roots(&picture->query->heap, object, &roots);
	if (count == 1 && line->heads == 1) {
		gh_picture_root(picture, &roots[0], false);
		return;
	}
	gh_dot_note(&picture->dot, object, false);
	if (count == 0)
		fputs("several ways", picture->dot.label);
	else if (line->heads > 1)
		gh_names_print_stack(picture->dot.label, &picture->query->names, &roots[0],
				     line->heads);
	else
		fprintf(picture->dot.label, "%zu roots", count);
	gh_dot_end(&picture->dot);
}

static void draw_tree(struct gh_picture *picture, const struct gh_merged_dominators *tree)
{
	if (tree->count > 0)
		picture->dot.most = tree->lines[0].retained;
	gh_picture_legend(picture, tree->count);
	for (size_t i = 0; i < tree->count; i++) {
		const struct gh_merged_line *line = &tree->lines[i];
		gh_picture_line(picture, line->object, line->count, line->retained);
		if (line->parent == GH_HEAP_NONE) {
			draw_holder(picture, line);
			continue;
		}
		uint64_t retained = line->retained;
		gh_dot_edge(&picture->dot, tree->lines[line->parent].object, line->object, retained,
			    GH_DOT_POINTER);
		gh_picture_share(picture, " ", retained);
		gh_dot_end(&picture->dot);
	}
}

/* The objects that retain most, below what dominates them. */
static bool draw_dominators(struct gh_picture *picture)
{
	struct gh_heap_query *query = picture->query;
	struct gh_merged_dominators tree;
	bool made = gh_merged_dominators_make(&tree, &query->heap, &query->dominators,
					      gh_names_classes(&query->names), GH_HEAP_NONE,
					      picture->limit);
	if (made)
		draw_tree(picture, &tree);
	gh_merged_dominators_free(&tree);
	return made;
}

/* Draws on OUT; CENTER may be GH_HEAP_NONE. False if memory ran out. */
static bool draw(struct gh_heap_query *query, uint32_t center, FILE *out)
{
	struct gh_picture picture = {.query = query, .limit = query->options->limit};
	if (!gh_dot_open(&picture.dot, out))
		return false;
	picture.dot.whole = query->dump.objects.bytes;
	bool drawn = center == GH_HEAP_NONE ? draw_dominators(&picture)
					    : gh_neighborhood_draw(&picture, center);
	gh_dot_close(&picture.dot);
	return drawn;
}

/* Draws into the file PATH, which is there whole or not at all. */
static bool draw_file(struct gh_heap_query *query, uint32_t center, const char *path,
		      struct gh_error *err)
{
	struct gh_output file;
	if (!gh_output_open(&file, path, GH_OUTPUT_PUBLIC, err))
		return false;
	FILE *out = gh_output_stream(&file, err);
	bool drawn = out != NULL && draw(query, center, out) && !gh_has_left_out();
	bool written = out != NULL && !ferror(out);
	if (out != NULL && fclose(out) != 0)
		written = false;
	if (out != NULL && !(drawn && written))
		gh_fail_errno(err, path, "write");
	return gh_output_end(&file, drawn && written, err);
}

static int answer(struct gh_heap_query *query, uint32_t center)
{
	const char *path = query->options->output;
	struct gh_error err;
	if (path == NULL) {
		if (draw(query, center, stdout))
			return GH_EXIT_OK;
		gh_say(GH_OUT_OF_MEMORY);
	} else {
		if (draw_file(query, center, path, &err))
			return GH_EXIT_OK;
		gh_print_error(&err);
	}
	return GH_EXIT_INPUT;
}

static int answer_dump(struct gh_heap_query *query)
{
	return answer(query, GH_HEAP_NONE);
}

static int answer_object(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	(void)address;
	return answer(query, object);
}

int gh_cmd_dot(const struct gh_options *options)
{
	if (options->addresses.count == 0)
		return gh_heap_query_run(options, GH_WITH_DOMINATORS, answer_dump);
	return gh_heap_query_run_each(options, GH_WITH_DOMINATORS, answer_object);
}
