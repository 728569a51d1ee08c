/* A question about the heap of a dump: the command line that such commands share, and what they
 * read. */
#ifndef GH_PLUGIN_QUESTION_H
#define GH_PLUGIN_QUESTION_H

#include "lib/heap/dominators.h"
#include "plugin/naming.h"
#include "plugin/symbols.h"

/* What objects are put in groups by. */
enum gh_grouping { GH_BY_TYPE, GH_BY_SIZE, GH_BY_SITE };

/* What the command line of a command has besides options. */
enum gh_question_kind {
	GH_ASKS_DUMP,      /* DUMP */
	GH_ASKS_ADDRESSES, /* DUMP ADDR... */
	GH_ASKS_GROUPS,    /* DUMP, and what to group by */
	GH_ASKS_GROWTH,    /* OLD NEW, and what to group by */
	GH_ASKS_PICTURE,   /* DUMP [ADDR], and where to write it */
};

struct gh_question_options {
	const char *dump;           /* the dump's path; in argv */
	const char *newer;          /* the second dump's; in argv */
	const char *program;        /* the program's path; in argv, NULL if none is given */
	const char *names;          /* its path before it was stripped; in argv, NULL likewise */
	const char *output;         /* the path to write to; in argv, NULL if none is given */
	struct gh_buffer addresses; /* uint64_t; owned */
	enum gh_grouping grouping;
	size_t limit; /* rows to print; 0: all */
	bool has_limit;
	bool json;
};

struct gh_question {
	const struct gh_question_options *options;
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_dominators dominators; /* zeros unless they were asked for */
	struct gh_names names;
	struct gh_symbols symbols; /* if a program is given */
	const char *twin; /* path of that program with DWARF; NULL if there is none; not owned */
};

/* Parses the command line of a command that DOC describes. Exits, as argp does, on --help and on a
 * usage error. To be freed with gh_question_free_options. */
struct gh_question_options gh_question_parse(int argc, char **argv, enum gh_question_kind kind,
					     const char *doc);

void gh_question_free_options(struct gh_question_options *options);

/* Reads the dump PATH and makes the graph of its heap, and names; WITH_DOMINATORS, these too. What
 * is wrong with the heap is told in one line. On failure prints the error and returns false. To be
 * closed with gh_question_close. */
bool gh_question_open(struct gh_question *question, const struct gh_question_options *options,
		      const char *path, bool with_dominators);

void gh_question_close(struct gh_question *question);

/* Runs ANSWER on the dump that OPTIONS name, which are then freed. The exit status is the answer's,
 * unless there is nothing to answer on. */
int gh_question_run(struct gh_question_options *options, bool with_dominators,
		    int (*answer)(struct gh_question *question));

/* The same for each of the addresses, in their order: ANSWER gets the object there. An address in
 * none is an error, told in one line. */
int gh_question_run_each(struct gh_question_options *options, bool with_dominators,
			 int (*answer)(struct gh_question *question, uint32_t object,
				       uint64_t address));

#endif
