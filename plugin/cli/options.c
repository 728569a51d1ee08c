#include "plugin/cli/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/escape.h"

enum {
	KEY_JSON = 0x100, /* past the letters: there is no short option */
};

/* What argp and getopt print while the arguments are parsed. */
static struct {
	FILE *out;  /* where it is to go; NULL once it has gone there */
	char *text; /* owned */
	size_t size;
} messages;

static void print_messages(void)
{
	if (messages.out == NULL)
		return;
	fclose(stderr);
	stderr = messages.out;
	messages.out = NULL;
	if (messages.text != NULL)
		gh_escape_message(stderr, messages.text);
	free(messages.text);
	messages.text = NULL;
}

void gh_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	FILE *to = open_memstream(&messages.text, &messages.size);
	if (to != NULL && atexit(print_messages) == 0) {
		messages.out = stderr;
		stderr = to;
	}
	argp_parse(argp, argc, argv, flags, NULL, input);
	print_messages();
}

error_t gh_options_one(int key, char *arg, struct argp_state *state, const char **to)
{
	switch (key) {
	case ARGP_KEY_ARG:
		if (*to != NULL)
			argp_usage(state);
		*to = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

uint64_t gh_options_number(const char *arg, uint64_t most, const struct argp_state *state)
{
	char *end;
	errno = 0;
	uint64_t number = strtoull(arg, &end, 10);
	if (*arg < '0' || *arg > '9' || *end != '\0' || errno != 0 || number > most)
		argp_error(state, "not a number: %s", arg);
	return number;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct gh_options *options = state->input;
	switch (key) {
	case KEY_JSON:
		options->json = true;
		return 0;
	default:
		return gh_options_one(key, arg, state, &options->file);
	}
}

struct gh_options gh_options_parse(int argc, char **argv, const char *doc)
{
	static const struct argp_option known[] = {
	    {.name = "json", .key = KEY_JSON, .doc = "Print JSON instead of text"},
	    {0},
	};
	struct argp argp = {known, parse_option, "FILE", doc, NULL, NULL, NULL};
	struct gh_options options = {0};
	gh_arguments_parse(&argp, argc, argv, 0, &options);
	return options;
}
