/* What the commands that answer a query about the heap share. */
#ifndef GH_PLUGIN_COMMAND_HEAP_QUERY_H
#define GH_PLUGIN_COMMAND_HEAP_QUERY_H

#include "lib/heap/heap.h"
#include "plugin/command/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A query about the heap of a dump: what the commands that answer one read. */

struct gh_heap_query {
	const struct gh_options *options; /* the caller's */
	struct gh_dump dump;              /* that it is about */
	struct gh_heap heap;              /* of the dump */
	struct gh_dominators dominators;  /* zeros unless they were asked for */
	struct gh_dominator_tree tree;    /* of these; zeros unless gh_heap_query_prepare made it */
	struct gh_path_tree paths;        /* to all objects; zeros unless whoever asks made it */
	struct gh_names names;            /* of what is in the heap */
	struct gh_heap_strings strings;   /* none unless has_strings */
	struct gh_symbols symbols;        /* if a program is given */
	char running[32]; /* path of the program that a process runs, if none is given */
	const char *twin; /* path of that program with DWARF; NULL if there is none; not owned */
	char *kept_twin;  /* it, if it was kept (gh_kept_twin_find); owned */
	bool is_kept;     /* for the next question */
	bool has_strings; /* they were found */
};

/* Opens the heap that PATH is for: of a heap dump, of a core file, of the process that OPTIONS name
 * by PATH, or of what GDB debugs, if PATH is the session's socket. On failure prints the error and
 * returns false. HOW: GH_HEAP_NO_DATA and the like, besides what OPTIONS say. To be closed with
 * gh_dump_close. */
bool gh_heap_query_dump(struct gh_dump *dump, const struct gh_options *options, const char *path,
			unsigned how);

/* DUMP is cut off before the data segments: what is garbage cannot be told. */
bool gh_heap_query_lacks_roots(const struct gh_dump *dump);

/* What a query needs: each, all before it too; and that it shows nothing of objects without
 * pointers but where they are: a process's need not be copied then; and that it is about C's
 * memory, too, if that is large. */
enum gh_heap_with {
	GH_WITH_GRAPH,
	GH_WITH_NAMES,
	GH_WITH_DOMINATORS,
	GH_WITH_NO_DATA = 4,
	GH_WITH_LARGE_C = 8,
};

/* Reads the dump PATH and makes the graph of its heap, and what it is to be WITH; or takes what is
 * kept of it. What is wrong with the heap is told in one line. On failure prints the error and
 * returns NULL. To be closed with gh_heap_query_close. */
struct gh_heap_query *gh_heap_query_open(const struct gh_options *options, const char *path,
					 enum gh_heap_with with);

/* The same of DUMP, which is taken over, also on failure; PATH is what it was read from. */
struct gh_heap_query *gh_heap_query_make(const struct gh_options *options, struct gh_dump *dump,
					 const char *path, enum gh_heap_with with);

/* There is as much memory as the graph of DUMP's heap takes, which was read from PATH, and what it
 * is to be WITH. Else says so: the system would end a process. */
bool gh_heap_query_has_memory(const struct gh_dump *dump, const char *path, enum gh_heap_with with);

/* Finds the strings of QUERY, unless they were found before. False (ERR filled) if memory ran out.
 */
bool gh_heap_query_find_strings(struct gh_heap_query *query, struct gh_error *err);

/* Finds what many questions need, for which one alone would not wait: the strings of QUERY, which
 * has dominators, and the tree of these. False (ERR filled) if memory ran out. */
bool gh_heap_query_prepare(struct gh_heap_query *query, struct gh_error *err);

/* Says in one line on standard error what is wrong with the heap, if anything is. */
void gh_heap_query_print_damage(const struct gh_heap_query *query);

struct gh_sql_heap;

/* QUERY as the heap that SQL asks (plugin/sql/sql.h), as far as it was made. */
struct gh_sql_heap gh_heap_query_sql(struct gh_heap_query *query);

/* OLDER is the later one, by the last garbage collections of their dumps. */
bool gh_heap_query_is_reversed(const struct gh_heap_query *older,
			       const struct gh_heap_query *newer);

/* Says if the dumps of OLDER and NEWER are not of one build of a program, or were named the wrong
 * way round. */
void gh_heap_query_compare(const struct gh_heap_query *older, const struct gh_heap_query *newer);

/* QUERY may be NULL. */
void gh_heap_query_close(struct gh_heap_query *query);

/* Runs ANSWER on the dump that OPTIONS name. The exit status is the answer's, unless there is
 * nothing to answer on. */
int gh_heap_query_run(const struct gh_options *options, enum gh_heap_with with,
		      int (*answer)(struct gh_heap_query *query));

/* The same for each of the addresses, in their order: ANSWER gets the object there. An address in
 * none is an error, told in one line. */
int gh_heap_query_run_each(const struct gh_options *options, enum gh_heap_with with,
			   int (*answer)(struct gh_heap_query *query, uint32_t object,
					 uint64_t address));

#endif
