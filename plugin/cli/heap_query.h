/* A query about the heap of a dump: what the commands that answer one read. */
#ifndef GH_PLUGIN_CLI_HEAP_QUERY_H
#define GH_PLUGIN_CLI_HEAP_QUERY_H

#include "lib/heap/dominators.h"
#include "plugin/cli/options.h"
#include "plugin/view/object_names.h"
#include "plugin/view/symbols.h"

struct gh_heap_query {
	const struct gh_options *options; /* the caller's */
	struct gh_dump dump;              /* that it is about */
	struct gh_heap heap;              /* of the dump */
	struct gh_dominators dominators;  /* zeros unless they were asked for */
	struct gh_names names;            /* of what is in the heap */
	struct gh_symbols symbols;        /* if a program is given */
	char running[32]; /* path of the program that a process runs, if none is given */
	const char *twin; /* path of that program with DWARF; NULL if there is none; not owned */
};

/* Opens the heap that PATH is for: of a heap dump, of a core file, of the process that OPTIONS name
 * by PATH, or of what GDB debugs, if PATH is the session's socket. On failure prints the error and
 * returns false. To be closed with gh_dump_close. */
bool gh_heap_query_dump(struct gh_dump *dump, const struct gh_options *options, const char *path);

/* DUMP is cut off before the data segments: what is garbage cannot be told. */
bool gh_heap_query_lacks_roots(const struct gh_dump *dump);

/* Reads the dump PATH and makes the graph of its heap, and names; WITH_DOMINATORS, these too. What
 * is wrong with the heap is told in one line. On failure prints the error and returns false. To be
 * closed with gh_heap_query_close. */
bool gh_heap_query_open(struct gh_heap_query *query, const struct gh_options *options,
			const char *path, bool with_dominators);

void gh_heap_query_close(struct gh_heap_query *query);

/* Runs ANSWER on the dump that OPTIONS name. The exit status is the answer's, unless there is
 * nothing to answer on. */
int gh_heap_query_run(const struct gh_options *options, bool with_dominators,
		      int (*answer)(struct gh_heap_query *query));

/* The same for each of the addresses, in their order: ANSWER gets the object there. An address in
 * none is an error, told in one line. */
int gh_heap_query_run_each(const struct gh_options *options, bool with_dominators,
			   int (*answer)(struct gh_heap_query *query, uint32_t object,
					 uint64_t address));

#endif
