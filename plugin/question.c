#include "plugin/question.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command.h"
#include "plugin/dumpfile.h"
#include "plugin/progress.h"
#include "plugin/table.h"
#include "plugin/where.h"

#define OUTPUT_BUFFER (1 << 18)

/* A screenful. */
#define DEFAULT_LIMIT 20

enum {
	KEY_JSON = 0x100, /* past the letters: there is no short option */
	KEY_BY,
	KEY_NAMES,
};

/* What the parser fills, and for what. */
struct parse {
	struct gh_question_options options;
	enum gh_question_kind kind;
};

static void parse_limit(struct gh_question_options *options, const char *arg,
			struct argp_state *state)
{
	char *end;
	errno = 0;
	options->limit = strtoull(arg, &end, 10);
	options->has_limit = true;
	if (*arg < '0' || *arg > '9' || *end != '\0' || errno != 0)
		argp_error(state, "not a number: %s", arg);
}

static void parse_address(struct gh_question_options *options, const char *arg,
			  struct argp_state *state)
{
	char *end;
	errno = 0;
	uint64_t address = strtoull(arg, &end, 16);
	if (*arg == '-' || *arg == '+' || *arg == ' ' || end == arg || *end != '\0' || errno != 0)
		argp_error(state, "not an address: %s", arg);
	gh_buffer_bytes(&options->addresses, &address, sizeof(address));
}

static void parse_grouping(struct gh_question_options *options, const char *arg,
			   struct argp_state *state)
{
	static const char *const names[] = {"type", "size", "site"};
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], arg) == 0) {
			options->grouping = (enum gh_grouping)i;
			return;
		}
	}
	argp_error(state, "not type, size or site: %s", arg);
}

static void parse_argument(struct parse *parse, char *arg, struct argp_state *state)
{
	struct gh_question_options *options = &parse->options;
	if (options->dump == NULL)
		options->dump = arg;
	else if (parse->kind == GH_ASKS_ADDRESSES ||
		 (parse->kind == GH_ASKS_PICTURE && options->addresses.size == 0))
		parse_address(options, arg, state);
	else if (parse->kind == GH_ASKS_GROWTH && options->newer == NULL)
		options->newer = arg;
	else
		argp_usage(state);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct gh_question_options *options = &parse->options;
	switch (key) {
	case 'e':
		options->program = arg;
		return 0;
	case KEY_NAMES:
		options->names = arg;
		return 0;
	case 'n':
		parse_limit(options, arg, state);
		return 0;
	case KEY_JSON:
		if (parse->kind == GH_ASKS_PICTURE)
			argp_error(state, "a picture is not JSON");
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(parse, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (options->dump == NULL ||
		    (parse->kind == GH_ASKS_ADDRESSES && options->addresses.size == 0) ||
		    (parse->kind == GH_ASKS_GROWTH && options->newer == NULL))
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The options that not all have. */
static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = parse;
		return 0;
	case KEY_BY:
		parse_grouping(&parse->options, arg, state);
		return 0;
	case 'o':
		parse->options.output = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

struct gh_question_options gh_question_parse(int argc, char **argv, enum gh_question_kind kind,
					     const char *doc)
{
	static const struct argp_option shared[] = {
	    {.name = "exe",
	     .key = 'e',
	     .arg = "PROGRAM",
	     .doc = "The program that wrote the dump, for types, files and lines"},
	    {.name = "names",
	     .key = KEY_NAMES,
	     .arg = "PROGRAM",
	     .doc = "The same program before it was stripped, for variables, and types that they "
		    "tell"},
	    {.name = "limit",
	     .key = 'n',
	     .arg = "N",
	     .doc = "Print no more than N rows; 0 for all (20, or all if it is JSON)"},
	    {.name = "json", .key = KEY_JSON, .doc = "Print JSON instead of text"},
	    {0},
	};
	static const struct argp_option by[] = {
	    {.name = "by",
	     .key = KEY_BY,
	     .arg = "WHAT",
	     .doc = "What to put objects together by: type, size, or site, the place that "
		    "allocated them"},
	    {0},
	};
	static const struct argp_option output[] = {
	    {.name = "output",
	     .key = 'o',
	     .arg = "FILE",
	     .doc = "Write FILE instead of standard output"},
	    {0},
	};
	static const struct argp common = {.options = shared, .parser = parse_option};
	static const struct argp_child children[] = {{.argp = &common}, {0}};
	static const char *const arguments[] = {"DUMP", "DUMP ADDR...", "DUMP", "OLD NEW",
						"DUMP [ADDR]"};
	bool groups = kind == GH_ASKS_GROUPS || kind == GH_ASKS_GROWTH;
	struct argp argp = {
	    .options = groups                    ? by
		       : kind == GH_ASKS_PICTURE ? output
						 : NULL,
	    .parser = parse_own,
	    .args_doc = arguments[kind],
	    .doc = doc,
	    .children = children,
	};
	struct parse parse = {.kind = kind};
	argp_parse(&argp, argc, argv, 0, NULL, &parse);
	if (!parse.options.has_limit && !parse.options.json)
		parse.options.limit = DEFAULT_LIMIT;
	return parse.options;
}

void gh_question_free_options(struct gh_question_options *options)
{
	gh_buffer_free(&options->addresses);
}

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
		gh_print_bytes(stderr, heap->dump->path, strlen(heap->dump->path), false);
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
	const struct gh_question_options *options = question->options;
	const char *program = options->program != NULL ? options->program : options->names;
	struct gh_core_program twin;
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

bool gh_question_open(struct gh_question *question, const struct gh_question_options *options,
		      const char *path, bool with_dominators)
{
	struct gh_error err;
	*question = (struct gh_question){.options = options};
	if (!gh_dumpfile_open(&question->dump, path))
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

int gh_question_run(struct gh_question_options *options, bool with_dominators,
		    int (*answer)(struct gh_question *question))
{
	struct gh_question question;
	int status = GH_EXIT_INPUT;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	if (gh_question_open(&question, options, options->dump, with_dominators)) {
		status = answer(&question);
		gh_question_close(&question);
	}
	gh_question_free_options(options);
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

int gh_question_run_each(struct gh_question_options *options, bool with_dominators,
			 int (*answer)(struct gh_question *question, uint32_t object,
				       uint64_t address))
{
	struct gh_question question;
	int status = GH_EXIT_INPUT;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	if (gh_question_open(&question, options, options->dump, with_dominators)) {
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
	gh_question_free_options(options);
	return status;
}
