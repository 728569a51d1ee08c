/* goheap path: the shortest way from a root to an object: what keeps it alive. */
#include "lib/heap/path.h"

#include <inttypes.h>
#include <stdio.h>

#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/view/table.h"

static void print_step(const struct gh_question *question, const struct gh_path_step *step,
		       bool last)
{
	fputs("  ", stdout);
	gh_names_print_object(stdout, &question->names, step->object);
	if (!last) {
		fputs("  ", stdout);
		gh_names_print_field(stdout, &question->names, step->object, step->offset);
		fputs(" ->", stdout);
	}
	putchar('\n');
}

/* Of a long path both ends are printed. */
static void print_steps(const struct gh_question *question, const struct gh_path *path)
{
	const struct gh_path_step *steps = gh_path_steps(path);
	size_t limit = question->options->limit;
	size_t left_out = path->nsteps > limit ? path->nsteps - limit : 0;
	for (size_t i = 0; i < path->nsteps; i++) {
		if (left_out > 0 && i == limit / 2) {
			fputs("  ... ", stdout);
			gh_print_count(left_out, "object");
			puts(" ...");
			i += left_out;
			if (i >= path->nsteps)
				return;
		}
		print_step(question, &steps[i], i + 1 == path->nsteps);
	}
}

static void print_text(struct gh_question *question, const struct gh_path *path)
{
	gh_names_print_root(stdout, &question->names, &path->root);
	putchar('\n');
	print_steps(question, path);
}

static void print_json(struct gh_question *question, const struct gh_path *path)
{
	const struct gh_path_step *steps = gh_path_steps(path);
	fputs("\"root\":", stdout);
	gh_names_print_root_json(stdout, &question->names, &path->root);
	fputs(",\"path\":[", stdout);
	for (size_t i = 0; i < path->nsteps; i++) {
		printf("%s{\"object\":\"0x%" PRIx64 "\",\"type\":", i > 0 ? "," : "",
		       gh_heap_object(&question->heap, steps[i].object).address);
		gh_names_print(stdout, &question->names, steps[i].object, true);
		if (i + 1 < path->nsteps) {
			printf(",\"offset\":%" PRIu64 ",\"field\":", steps[i].offset);
			gh_names_print_field_json(stdout, &question->names, steps[i].object,
						  steps[i].offset);
		}
		putchar('}');
	}
	putchar(']');
}

static void print_unreachable(const struct gh_question *question, uint32_t object)
{
	if (question->options->json) {
		fputs("\"root\":null,\"path\":null", stdout);
		return;
	}
	gh_names_print_object(stdout, &question->names, object);
	puts("\n  garbage: no root leads to it");
}

static int print_path(struct gh_question *question, uint32_t object, uint64_t address)
{
	(void)address;
	struct gh_error err;
	struct gh_path path;
	enum gh_path_result result = gh_path_find(&question->heap, object, &path, &err);
	if (result == GH_PATH_FAILED) {
		gh_print_error(&err);
		return GH_EXIT_INPUT;
	}
	bool json = question->options->json;
	if (json)
		printf("{\"object\":\"0x%" PRIx64 "\",",
		       gh_heap_object(&question->heap, object).address);
	if (result == GH_PATH_FOUND) {
		(json ? print_json : print_text)(question, &path);
		gh_path_free(&path);
	} else {
		print_unreachable(question, object);
	}
	if (json)
		puts("}");
	return GH_EXIT_OK;
}

int gh_cmd_path(const struct gh_options *options)
{
	return gh_question_run_each(options, false, print_path);
}
