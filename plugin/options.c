#include "plugin/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum {
	KEY_JSON = 0x100, /* past the letters: there is no short option */
};

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
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	return options;
}
