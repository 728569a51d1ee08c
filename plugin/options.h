/* The command line that info and funcs share. */
#ifndef GH_PLUGIN_OPTIONS_H
#define GH_PLUGIN_OPTIONS_H

#include <stdbool.h>

struct gh_options {
	const char *file; /* the program to read; in argv */
	bool json;        /* print JSON */
};

/* Parses "[--json] FILE". Exits, as argp does, on --help and on a usage error. DOC says what the
 * command does. */
struct gh_options gh_options_parse(int argc, char **argv, const char *doc);

#endif
