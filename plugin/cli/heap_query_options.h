/* The command line of the commands that answer a question about the heap of a dump. */
#ifndef GH_PLUGIN_CLI_HEAP_QUERY_OPTIONS_H
#define GH_PLUGIN_CLI_HEAP_QUERY_OPTIONS_H

#include <stdbool.h>

#include "lib/util/buffer.h"

/* What objects are put in groups by. */
enum gh_grouping { GH_BY_TYPE, GH_BY_SIZE, GH_BY_SITE };

/* What the command line of a command has besides the programs' options. */
enum gh_question_kind {
	GH_ASKS_DUMP,      /* DUMP */
	GH_ASKS_ADDRESSES, /* DUMP ADDR... */
	GH_ASKS_GROUPS,    /* DUMP, and what to group by */
	GH_ASKS_GROWTH,    /* OLD NEW, and what to group by */
	GH_ASKS_PICTURE,   /* DUMP [ADDR], and where to write it */
	GH_ASKS_FILE,      /* DUMP, and the file to write */
};

struct gh_question_options {
	const char *dump;           /* the dump's path; in argv */
	const char *newer;          /* the second dump's; in argv */
	const char *program;        /* the program's path; in argv, NULL if none is given */
	const char *names;          /* its path before it was stripped; in argv, NULL likewise */
	const char *output;         /* the path to write to; in argv, NULL if none is given */
	struct gh_buffer addresses; /* uint64_t; owned */
	enum gh_grouping grouping;  /* what to group by */
	size_t limit;               /* rows to print, or objects to draw; SIZE_MAX: all */
	bool json;                  /* print JSON */
};

/* Parses the command line of a command that DOC describes. Exits, as argp does, on --help and on a
 * usage error. To be freed with gh_question_free_options. */
struct gh_question_options gh_question_parse(int argc, char **argv, enum gh_question_kind kind,
					     const char *doc);

void gh_question_free_options(struct gh_question_options *options);

#endif
