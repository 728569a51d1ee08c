/* What in a heap may be leaking: the holders that by themselves keep much of it alive, and the
 * objects that several hold together, with what there is most of in each. */
#ifndef GH_PLUGIN_CLI_SUSPECTS_H
#define GH_PLUGIN_CLI_SUSPECTS_H

#include "lib/heap/strings.h"
#include "plugin/cli/heap_query.h"
#include "plugin/view/holders.h"

/* Findings that are told, and the parts of one. */
#define GH_SUSPECTS_MAX  5
#define GH_SUSPECT_PARTS 3

enum gh_suspect_kind {
	GH_SUSPECT_HOLDER,  /* one holds it all */
	GH_SUSPECT_SHARED,  /* objects of one class that several hold */
	GH_SUSPECT_GARBAGE, /* what nothing holds, and was not collected yet */
	GH_SUSPECT_STRING,  /* one text many times */
};

/* Objects of a class. */
struct gh_suspect_part {
	uint32_t class;
	uint64_t objects;
	uint64_t bytes; /* in them */
};

struct gh_suspect {
	enum gh_suspect_kind kind;
	uint32_t number;             /* of the holder, or the class of those that are shared */
	uint64_t shared;             /* how many those are */
	uint64_t bytes;              /* that would go with it */
	struct gh_known before;      /* as many in the older heap */
	struct gh_suspect_part most; /* of what there is most that tells what it is */
	struct gh_known objects_before;
	uint32_t example; /* one of those objects; GH_HEAP_NONE if there is none */
	struct gh_suspect_part parts[GH_SUSPECT_PARTS]; /* the most bytes first */
	size_t nparts;
	struct gh_heap_string text; /* of GH_SUSPECT_STRING */
};

/* The analysis of one heap. */
struct gh_suspects {
	struct gh_heap_query *query; /* the caller's */
	struct gh_held held;
	struct gh_heap_strings texts;
	uint32_t *above;               /* by class: zeros, for counting; owned */
	struct gh_histogram_row *rows; /* by class: of the finding that is looked at; owned */
	struct gh_suspect found[GH_SUSPECTS_MAX]; /* what keeps, or has grown, most comes first */
	size_t count;
	uint64_t reachable;  /* bytes that roots lead to */
	bool hides_cleanups; /* garbage may be what cleanups keep */
	bool compares;       /* with an older heap */
};

/* Finds what in the heap of QUERY is suspect; with OLDER, an analysis of the same program's, what
 * has grown since. OLDER may be NULL. False (ERR filled) if memory ran out. To be freed either way.
 */
bool gh_suspects_find(struct gh_suspects *suspects, struct gh_heap_query *query,
		      struct gh_suspects *older, struct gh_error *err);

void gh_suspects_free(struct gh_suspects *suspects);

/* Prints SUSPECT for a person, as a sentence and some lines that say more. */
void gh_suspect_print(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect);

/* Prints all of them as JSON, an object a line. */
void gh_suspects_emit(FILE *out, struct gh_suspects *suspects);

#endif
