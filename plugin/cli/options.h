/* What command lines share. */
#ifndef GH_PLUGIN_CLI_OPTIONS_H
#define GH_PLUGIN_CLI_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>

/* Parses the ARGC arguments at ARGV as argp_parse does with ARGP, FLAGS and INPUT; what is wrong
 * with them is told without what a terminal would act on. */
void gh_arguments_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
			void *input);

/* What an argp parser does with KEY if it is no option of its own, for a command that takes one
 * argument: that goes to *TO, which is NULL before; in argv. */
error_t gh_options_one(int key, char *arg, struct argp_state *state, const char **to);

/* The decimal number ARG. Exits, as on a usage error, if it is none, or above MOST. */
uint64_t gh_options_number(const char *arg, uint64_t most, const struct argp_state *state);

/* The command line that info and funcs share. */
struct gh_options {
	const char *file; /* the program to read; in argv */
	bool json;        /* print JSON */
};

/* Parses "[--json] FILE". Exits, as argp does, on --help and on a usage error. DOC says what the
 * command does. */
struct gh_options gh_options_parse(int argc, char **argv, const char *doc);

#endif
