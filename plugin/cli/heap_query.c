#include "plugin/cli/heap_query.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/util/escape.h"
#include "plugin/cli/command.h"
#include "plugin/view/address.h"
#include "plugin/view/open_process.h"
#include "plugin/view/progress.h"

#define OUTPUT_BUFFER (1 << 18)

/* Adds to LINE how many of WHAT there are. */
static void add_damage(FILE *line, bool *any, uint64_t count, const char *what)
{
	if (count == 0)
		return;
	fprintf(line, "%s%" PRIu64 " %s", *any ? ", " : "", count, what);
	*any = true;
}

static void print_damage(const struct gh_heap *heap)
{
	const struct gh_heap_damage *damage = &heap->damage;
	char *text = NULL;
	size_t size = 0;
	bool any = false;
	FILE *line = open_memstream(&text, &size);
	if (line == NULL)
		return;
	add_damage(line, &any, damage->dangling, "pointers to where no object is");
	add_damage(line, &any, damage->outside, "fields that do not lie in their object");
	add_damage(line, &any, damage->unknown, "interfaces of an unknown type");
	add_damage(line, &any, damage->empty, "objects without a byte");
	add_damage(line, &any, damage->roots.lost_finalizers, "finalizers of no object");
	fclose(line);
	if (any) {
		fputs("goheap: ", stderr);
		gh_escape_print(stderr, heap->dump->path);
		fprintf(stderr, ": %s\n", text);
	}
	free(text);
}

static bool build(struct gh_question *question, bool with_dominators, struct gh_error *err)
{
	return gh_heap_build(&question->heap, &question->dump, err) &&
	       (!with_dominators ||
		gh_dominators_build(&question->dominators, &question->heap, err)) &&
	       gh_names_make(&question->names, &question->heap, question->twin, err);
}

/* Opens the program that wrote the dump, if it is given, and finds its names: in itself, if it was
 * not stripped. */
static bool open_program(struct gh_question *question)
{
	const struct gh_options *options = question->options;
	const char *program = gh_options_program(options, question->running);
	struct gh_core_program twin;
	if (program == NULL)
		program = options->names;
	if (program == NULL)
		return true;
	/* What is said of variables must be of this program's. */
	if (options->names != NULL && options->names != program &&
	    !gh_symbols_program(&twin, &question->dump, options->names))
		return false;
	if (!gh_symbols_open(&question->symbols, &question->dump, program))
		return false;
	question->names.symbols = &question->symbols;
	question->twin = options->names;
	if (options->names == NULL && gh_image_has_dwarf(&question->symbols.program.image))
		question->twin = program;
	return true;
}

bool gh_question_open(struct gh_question *question, const struct gh_options *options,
		      const char *path, bool with_dominators)
{
	struct gh_error err;
	*question = (struct gh_question){.options = options};
	if (!gh_check_output(options->output, path) ||
	    !gh_check_output(options->output, options->program) ||
	    !gh_check_output(options->output, options->names) ||
	    !gh_heap_open(&question->dump, path, path == options->process ? path : NULL,
			  options->program))
		return false;
	if (!open_program(question)) {
		gh_dump_close(&question->dump);
		return false;
	}
	gh_progress_begin("goheap: following the pointers of", path);
	bool built = build(question, with_dominators, &err);
	gh_progress_end();
	if (built) {
		print_damage(&question->heap);
		return true;
	}
	gh_print_error(&err);
	gh_question_close(question);
	return false;
}

void gh_question_close(struct gh_question *question)
{
	gh_names_free(&question->names);
	gh_dominators_free(&question->dominators);
	gh_heap_free(&question->heap);
	if (question->names.symbols != NULL)
		gh_symbols_close(&question->symbols);
	gh_dump_close(&question->dump);
}

int gh_question_run(const struct gh_options *options, bool with_dominators,
		    int (*answer)(struct gh_question *question))
{
	struct gh_question question;
	int status = GH_EXIT_INPUT;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	if (gh_question_open(&question, options, options->file, with_dominators)) {
		status = answer(&question);
		gh_question_close(&question);
	}
	return status;
}

/* ADDRESS is in no object. */
static void print_no_object(const struct gh_question *question, uint64_t address)
{
	fprintf(stderr, "goheap: 0x%" PRIx64 ": expected an address in an object, found one ",
		address);
	gh_where_print(stderr, &question->heap, address);
	fputs("\n", stderr);
}

int gh_question_run_each(const struct gh_options *options, bool with_dominators,
			 int (*answer)(struct gh_question *question, uint32_t object,
				       uint64_t address))
{
	struct gh_question question;
	int status = GH_EXIT_INPUT;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	if (gh_question_open(&question, options, options->file, with_dominators)) {
		const uint64_t *addresses = (const void *)options->addresses.data;
		size_t count = options->addresses.size / sizeof(*addresses);
		status = GH_EXIT_OK;
		for (size_t i = 0; i < count && status == GH_EXIT_OK; i++) {
			uint32_t object = gh_heap_find(&question.heap, addresses[i]);
			if (object == GH_HEAP_NONE) {
				print_no_object(&question, addresses[i]);
				status = GH_EXIT_INPUT;
			} else {
				status = answer(&question, object, addresses[i]);
			}
		}
		gh_question_close(&question);
	}
	return status;
}
