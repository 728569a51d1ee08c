#include "plugin/cli/heap_query_options.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/cli/options.h"

/* A screenful of rows, and objects that are still a picture. */
#define ROWS_LIMIT    20
#define PICTURE_LIMIT 50

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

static bool is_whole(const struct parse *parse)
{
	const struct gh_question_options *options = &parse->options;
	return options->dump != NULL &&
	       (parse->kind != GH_ASKS_ADDRESSES || options->addresses.size > 0) &&
	       (parse->kind != GH_ASKS_GROWTH || options->newer != NULL) &&
	       (parse->kind != GH_ASKS_FILE || options->output != NULL);
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
	case 'o':
		options->output = arg;
		return 0;
	case KEY_BY:
		parse_grouping(options, arg, state);
		return 0;
	case 'n':
		options->limit = gh_options_number(arg, SIZE_MAX, state);
		if (options->limit == 0)
			options->limit = SIZE_MAX;
		return 0;
	case KEY_JSON:
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		parse_argument(parse, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!is_whole(parse))
			argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Sets of kinds of command. */
#define ONLY(kind) (1U << (kind))
#define ALL        UINT_MAX
#define GROUPING   (ONLY(GH_ASKS_GROUPS) | ONLY(GH_ASKS_GROWTH))
#define PRINTING   (ALL & ~(ONLY(GH_ASKS_PICTURE) | ONLY(GH_ASKS_FILE)))

static const struct {
	unsigned kinds; /* those that take it */
	struct argp_option option;
} known[] = {
    {ONLY(GH_ASKS_FILE),
     {.name = "output", .key = 'o', .arg = "FILE", .doc = "Write FILE (required)"}},
    {ONLY(GH_ASKS_PICTURE),
     {.name = "output", .key = 'o', .arg = "FILE", .doc = "Write FILE instead of standard output"}},
    {ALL,
     {.name = "exe",
      .key = 'e',
      .arg = "PROGRAM",
      .doc = "The program that wrote the dump, for types, files and lines"}},
    {ALL,
     {.name = "names",
      .key = KEY_NAMES,
      .arg = "PROGRAM",
      .doc = "The same program before it was stripped, for variables, and types that they tell"}},
    {GROUPING,
     {.name = "by",
      .key = KEY_BY,
      .arg = "WHAT",
      .doc = "What to put objects together by: type, size, or site, the place that allocated "
	     "them"}},
    {PRINTING,
     {.name = "limit",
      .key = 'n',
      .arg = "N",
      .doc = "Print no more than N rows; 0 for all (20, or all if it is JSON)"}},
    {ONLY(GH_ASKS_PICTURE),
     {.name = "limit",
      .key = 'n',
      .arg = "N",
      .doc = "Draw no more than N objects; 0 for all (50)"}},
    {PRINTING, {.name = "json", .key = KEY_JSON, .doc = "Print JSON instead of text"}},
};

#define NKNOWN (sizeof(known) / sizeof(known[0]))

/* How much is printed if no limit is given. */
static size_t default_limit(const struct parse *parse)
{
	if (parse->kind == GH_ASKS_PICTURE)
		return PICTURE_LIMIT;
	return parse->options.json ? SIZE_MAX : ROWS_LIMIT;
}

struct gh_question_options gh_question_parse(int argc, char **argv, enum gh_question_kind kind,
					     const char *doc)
{
	static const char *const arguments[] = {"DUMP",    "DUMP ADDR...", "DUMP",
						"OLD NEW", "DUMP [ADDR]",  "DUMP -o FILE"};
	struct argp_option options[NKNOWN + 1] = {0};
	size_t count = 0;
	for (size_t i = 0; i < NKNOWN; i++)
		if (known[i].kinds & ONLY(kind))
			options[count++] = known[i].option;
	struct argp argp = {
	    .options = options, .parser = parse_option, .args_doc = arguments[kind], .doc = doc};
	struct parse parse = {.kind = kind};
	gh_arguments_parse(&argp, argc, argv, 0, &parse);
	if (parse.options.limit == 0)
		parse.options.limit = default_limit(&parse);
	return parse.options;
}

void gh_question_free_options(struct gh_question_options *options)
{
	gh_buffer_free(&options->addresses);
}
