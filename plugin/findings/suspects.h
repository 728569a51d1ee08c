/* Answers about what fills a heap: groups of objects and their growth, what dominates them,
 * pictures of them, and what may leak. */
#ifndef GH_PLUGIN_FINDINGS_SUSPECTS_H
#define GH_PLUGIN_FINDINGS_SUSPECTS_H

#include "lib/heap/heap.h"
#include "plugin/command/heap_query.h"

/* The objects of a heap in groups: by type, by size, by the place that allocated them, or by what
 * holds them. */

struct gh_groups {
	const struct gh_names *names; /* the query's */
	enum gh_grouping by;          /* what they have in common */
	const uint32_t *of;           /* by object: its group's number */
	uint32_t *numbers;            /* the same, if it is not the names'; owned */
	struct GH_VECTOR(
	    char *) texts; /* by number: what they are called, unless that is by type */
	size_t count;      /* of groups */
};

/* Groups the objects of QUERY. False, and the error printed, if memory ran out. To be freed either
 * way. */
bool gh_groups_make(struct gh_groups *groups, struct gh_heap_query *query, enum gh_grouping by);

/* What objects of group NUMBER are called; to be escaped. */
const char *gh_groups_name(const struct gh_groups *groups, uint32_t number);

/* The last column of a table of groups: their names, which are the members at OFFSET in its rows;
 * in JSON a size is a number. */
struct gh_column gh_groups_column(const struct gh_groups *groups, size_t offset);

void gh_groups_free(struct gh_groups *groups);

/* Prints to OUT what has grown from OLDER to NEWER, which have dominators, in groups: the LIMIT
 * that have changed by most bytes, as a table with its sums, or as JSON, an object a line. False if
 * memory ran out. */
bool gh_growth_print(FILE *out, struct gh_heap_query *older, struct gh_heap_query *newer,
		     enum gh_grouping by, size_t limit, bool json);

/* A picture of objects of a heap and of what they retain. */

/* A picture while it is drawn. */
struct gh_picture {
	struct gh_heap_query *query; /* the caller's; has dominators */
	struct gh_dot dot;
	size_t limit; /* of objects */
};

/* The bytes that OBJECT retains. */
uint64_t gh_picture_retained(const struct gh_picture *picture, uint32_t object);

/* Puts BYTES and their share of the heap, after BEFORE, into the label that is begun. */
void gh_picture_share(const struct gh_picture *picture, const char *before, uint64_t bytes);

/* Draws OBJECT; MARKED if it was asked for. */
void gh_picture_object(const struct gh_picture *picture, uint32_t object, bool marked);

/* Draws COUNT objects, of which OBJECT retains most, and which retain so many bytes together. */
void gh_picture_line(const struct gh_picture *picture, uint32_t object, uint32_t count,
		     uint64_t retained);

/* Draws ROOT and the line to its object, which is heavy if it is of the PATH. */
void gh_picture_root(struct gh_picture *picture, const struct gh_root *root, bool path);

/* Draws what the picture is of: the dump, and the SHOWN of its objects. */
void gh_picture_legend(struct gh_picture *picture, size_t shown);

/* What is around an object, as a picture: the shortest way to it from a root, what points to it,
 * and what it points to. */

/* Draws what is around CENTER, so many objects as are the picture's limit. False if memory ran out.
 */
bool gh_neighborhood_draw(struct gh_picture *picture, uint32_t center);

/* What in a heap may be leaking: the holders that by themselves keep much of it alive, the objects
 * that several hold together, with what there is most of in each; much garbage; memory that C code
 * has lost; and a text that takes much by its copies. What is worth telling is by what roots reach,
 * but for garbage; the shares that are told are of the whole heap, as those of all commands. */

/* Findings that are told, and the parts of one. */
#define GH_SUSPECTS_MAX  5
#define GH_SUSPECT_PARTS 3

enum gh_suspect_kind {
	GH_SUSPECT_HOLDER,  /* one holds it all */
	GH_SUSPECT_SHARED,  /* objects of one class that several hold */
	GH_SUSPECT_GARBAGE, /* what nothing holds, and was not collected yet */
	GH_SUSPECT_LOST,    /* blocks of C's malloc that nothing points to */
	GH_SUSPECT_STRING,  /* one text many times */
};

/* Objects of a class. */
struct gh_suspect_part {
	uint32_t class;
	uint64_t objects;
	uint64_t bytes;    /* in them */
	uint64_t retained; /* that would go with them */
	uint64_t size;     /* of the one that keeps most */
};

struct gh_suspect {
	enum gh_suspect_kind kind;
	uint32_t number;             /* of the holder, or the class of those that are shared */
	uint64_t shared;             /* how many those are */
	uint64_t bytes;              /* that would go with it */
	struct gh_known before;      /* as many in the older heap */
	struct gh_suspect_part most; /* the class that tells most of what it is, if by few bytes */
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

/* Slices each of which alone keeps an array and has a sliver of it. */
struct gh_suspect_slices {
	uint64_t count;
	uint64_t used;   /* bytes of the arrays that they have */
	uint64_t bytes;  /* in the arrays */
	uint32_t object; /* that the first of them is in */
	uint64_t offset; /* there, in bytes */
};

/* Finds those for the arrays that SUSPECT is mostly made of. False if it is not, or they are not
 * held like that. */
bool gh_suspect_slices_find(struct gh_suspect_slices *slices, const struct gh_suspects *suspects,
			    const struct gh_suspect *suspect);

/* Names the holder of SUSPECT, if it has one, by that of its roots which leads to the example. */
void gh_suspect_choose_root(struct gh_suspects *suspects, const struct gh_suspect *suspect);

/* Prints the types on the way to the example of SUSPECT; or, if its holder keeps several objects
 * that keep at least a fourth of it each, a line for each of them, with what leads to it. */
void gh_suspect_print_ways(FILE *out, struct gh_suspects *suspects,
			   const struct gh_suspect *suspect);

/* Maps that keep room for many more entries than they have. */
struct gh_suspect_maps {
	uint64_t count;
	uint64_t entries; /* of all of them */
	uint64_t room;    /* for so many */
	uint64_t bytes;   /* of that room */
};

/* Finds those of which SUSPECT is mostly made. False if it is not, or they have no such room. */
bool gh_suspect_maps_find(struct gh_suspect_maps *maps, const struct gh_suspects *suspects,
			  const struct gh_suspect *suspect);

/* Objects of the class NAME are what a map keeps its entries in. */
bool gh_suspect_is_of_map(const char *name);

/* Prints SUSPECT for a person, as a sentence and some lines that say more. */
void gh_suspect_print(FILE *out, struct gh_suspects *suspects, const struct gh_suspect *suspect);

/* Prints SUSPECT, which is no garbage and no text, as one clause: what there is most of, how much
 * of the heap that is, and who holds it. */
void gh_suspect_print_short(FILE *out, struct gh_suspects *suspects,
			    const struct gh_suspect *suspect);

/* Prints all of them as JSON, an object a line. */
void gh_suspects_emit(FILE *out, struct gh_suspects *suspects);

#endif
