/* The heap of a dump as a graph, gh_heap_build, and what is computed on it: dominators, paths from
 * roots, histograms, strings, cleanups.
 *
 * - heap.c, object_table.c, adjacency.c, pointers.c: the graph of objects and pointers;
 * - roots.c, reached_frames.c, cleanup_closures.c, pool_lists.c, span_tail.c: what keeps objects,
 *   and what is no object;
 * - dominators.c, merged_dominators.c, histogram.c: what is retained, by which objects, lines and
 *   kinds of them;
 * - path.c, path_tree.c, ways.c: paths from roots to one object, to all, and by how many ways;
 * - strings.c: objects that are text. */
#ifndef GH_HEAP_HEAP_H
#define GH_HEAP_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/dump/dump.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/vector.h"

/* Adjacency lists: for each object a list of objects, 4 bytes for each and 4 for each entry. */

struct gh_adjacency {
	uint32_t **blocks; /* by object / GH_ADJACENCY_BLOCK: their lists; owned */
	uint32_t *ends;    /* by object: where its list ends in its block; owned */
	uint32_t count;    /* of objects */
	uint64_t entries;  /* in all lists */
};

/* The object table: the objects of a dump, but for the tails of spans (see lib/heap/internal.h),
 * numbered from 0 by ascending address, and found by any address within. */

/* No object. */
#define GH_HEAP_NONE UINT32_MAX

struct gh_heap_object {
	uint64_t address; /* of its first byte */
	uint64_t size;    /* in bytes: of its size class */
	uint64_t offset;  /* of its record, in the file */
	size_t number;    /* of its record in the dump */
};

/* Objects of one size: those of a gh_extent_run, or of a part of one between span_tails. */
struct gh_object_run {
	uint64_t address; /* that its items' addresses are past */
	uint64_t size;    /* of each object, in bytes */
	uint64_t offset;  /* that its items' offsets are past */
	size_t number;    /* of the first's record in the dump */
	uint32_t first;   /* the first's number here */
};

/* What begins in one stretch of GH_OBJECT_TABLE_BLOCK bytes. */
struct gh_object_block {
	uint64_t starts; /* a bit for each GH_EXTENT_UNIT: an object begins there */
	uint32_t before; /* objects that begin before the block */
	uint32_t run;    /* that the last of them is in */
};

/* Blocks without a large gap between them. */
struct gh_object_segment {
	uint64_t first; /* number of the first block in the address space */
	uint64_t count; /* of blocks */
	size_t at;      /* of the first in the table of blocks */
};

struct gh_object_table {
	uint32_t count;      /* of objects */
	uint64_t bytes;      /* in them */
	uint64_t span_tails; /* records of objects that are none: see gh_span_tails */
	const struct gh_extent_item *items; /* of the dump's objects, by number of record */
	struct GH_VECTOR(struct gh_object_run) runs; /* by address, and one past the last */
	uint32_t *hints; /* by object / GH_OBJECT_TABLE_HINT: the run of the first; owned */
	bool irregular;  /* some overlap, or are not aligned: there are no blocks */
	struct GH_VECTOR(struct gh_object_block) blocks;
	struct GH_VECTOR(struct gh_object_segment) segments; /* by address */
};

/* The pointers in an object, frame, or segment of a dump, and what they point to. */

struct gh_pointer {
	uint64_t offset; /* of it, from the start of the region, in bytes */
	uint64_t value;  /* an address; 0 for nil */
	uint32_t target; /* the object that it points to, or into; or GH_HEAP_NONE */
};

/* A walk over the pointers of a region. The fields are private but the count. */
struct gh_pointers {
	const struct gh_dump *dump;          /* the caller's */
	const struct gh_object_table *table; /* the objects' numbers; the caller's */
	struct gh_fields fields;             /* of the region */
	struct gh_cursor contents;           /* of the region */
	uint64_t unknown;                    /* interfaces whose type is not in the dump */
	const uint32_t *targets; /* the objects that the pointers to come lead to; NULL if
				    they are not known */
	size_t ntargets;         /* of these */
	const uint64_t *c_words; /* words beside the fields, that hold addresses of C's memory */
	size_t nc_words;         /* of these to come */
	uint64_t address;        /* of the region */
};

/* Starts a walk over the pointers of RECORD, an object, frame, or segment of DUMP, whose objects
 * are numbered by TABLE. */
void gh_pointers_of(const struct gh_dump *dump, const struct gh_object_table *table,
		    const struct gh_dump_record *record, struct gh_pointers *walk);

/* Gives the next field that is a pointer: of a string or slice, that to its bytes or elements; of
 * an interface, its data word, if that is a pointer. It may be nil, and may point to no object.
 * False at the end. */
bool gh_pointers_next(struct gh_pointers *walk, struct gh_pointer *pointer);

/* The same, but for what it points to. */
bool gh_pointers_next_value(struct gh_pointers *walk, struct gh_pointer *pointer);

/* The same of those that point to, or into, the object TARGET. */
bool gh_pointers_next_to(struct gh_pointers *walk, uint32_t target, struct gh_pointer *pointer);

/* The roots of the heap: the pointers to its objects that are not in it. */

enum gh_root_kind {
	GH_ROOT_DATA, /* a slot of a data segment, or one of the prototype's data roots */
	GH_ROOT_BSS,
	GH_ROOT_FRAME,            /* a slot of a frame, or one of the prototype's stack roots */
	GH_ROOT_GOROUTINE,        /* see enum gh_root_slot */
	GH_ROOT_DEFER,            /* its closure */
	GH_ROOT_PANIC,            /* its argument */
	GH_ROOT_FINALIZER,        /* what its object points to, or its closure */
	GH_ROOT_QUEUED_FINALIZER, /* its object, or its closure */
	GH_ROOT_CLEANUP_CLOSURE,  /* the closure that Go 1.24 and 1.25 make for one: see
				     gh_cleanups_add */
	GH_ROOT_OTHER,
	GH_ROOT_KINDS,
};

/* What the offset of a root is if it is not that of a slot. */
enum gh_root_slot {
	GH_ROOT_CONTEXT = 0,   /* of a goroutine */
	GH_ROOT_TOP_DEFER = 1, /* of a goroutine: its record */
	GH_ROOT_TOP_PANIC = 2, /* of a goroutine: its record */
};
/* The closure of a finalizer. */
#define GH_ROOT_CLOSURE UINT64_MAX

struct gh_root {
	uint32_t object; /* that it points to */
	uint32_t number; /* of its record in the dump, of the kind that gh_root_record gives */
	uint64_t offset; /* of the slot in the frame's or segment's contents, or in the object with
			    a finalizer, in bytes; of a goroutine, enum gh_root_slot; of a
			    finalizer's closure, GH_ROOT_CLOSURE; else 0 */
	enum gh_root_kind kind;
	bool conservative; /* of a word that may be no pointer: see gh_roots_find */
	bool passing; /* it goes by itself: what an object with a finalizer points to goes once the
			 object does; see also gh_pool_lists_find */
};

/* How much is known by a root. One of a lower rank counts only for what no other leads to. */
enum gh_root_rank {
	GH_RANK_LASTING,
	GH_RANK_PASSING,
	GH_RANK_CONSERVATIVE,
	GH_RANKS,
};

enum gh_root_rank gh_root_rank(const struct gh_root *root);

/* The kind of the record that a root of KIND is in. */
enum gh_dump_kind gh_root_record(const struct gh_dump *dump, enum gh_root_kind kind);

/* The fieldlists of DUMP's frames have the variables whose address is taken, too. */
bool gh_roots_have_stack_objects(const struct gh_dump *dump);

struct gh_roots GH_VECTOR(struct gh_root);

/* The heap of a dump as a graph: its objects, the pointers between them, the roots. */

/* What is wrong with the roots. */
struct gh_roots_damage {
	uint64_t lost_finalizers; /* for addresses that are in no object */
};

/* What is wrong with a heap whose graph is made nonetheless. */
struct gh_heap_damage {
	uint64_t dangling; /* pointers in objects to where objects are, yet to none, nor to a
			      stack or a global */
	uint64_t outside;  /* fields of objects that do not lie in them */
	uint64_t unknown;  /* interfaces whose type is not in the dump */
	uint64_t empty;    /* objects without a byte: nothing points to them */
	struct gh_roots_damage roots;
};

struct gh_heap {
	const struct gh_dump *dump; /* the caller's */
	uint32_t count;             /* of objects, numbered from 0 by ascending address */
	uint64_t bytes;             /* in them */
	struct gh_object_table table;
	uint8_t *with_fields; /* a bit for each object: its fieldlist is not empty; owned */
	struct gh_adjacency targets;
	struct gh_adjacency referrers;
	struct gh_root *roots; /* as gh_roots_find sorts them; owned */
	size_t nroots;
	struct gh_heap_damage damage;
};

/* Makes the graph of DUMP, which is the caller's and outlives it. Returns false and fills ERR if
 * there are more objects than can be numbered, or memory ran out. On success the heap is to be
 * freed with gh_heap_free.
 *
 * Pointers are those that Go's collector follows: into an object as well as to its start. One to
 * where an object ends is of the next, if any: Go's compiler makes none, and pads what ends in a
 * field of no size (cmd/compile/internal/types, size.go). */
bool gh_heap_build(struct gh_heap *heap, const struct gh_dump *dump, struct gh_error *err);

/* Frees everything. A zeroed heap may be freed too. */
void gh_heap_free(struct gh_heap *heap);

/* The bytes of those of HEAP's objects that are Go's: all but blocks of C's malloc. */
uint64_t gh_heap_go_bytes(const struct gh_heap *heap);

/* The object that holds ADDRESS, not only where it begins; or GH_HEAP_NONE. */
uint32_t gh_heap_find(const struct gh_heap *heap, uint64_t address);

/* Where OBJECT is, one of the heap's, and how large. */
struct gh_heap_object gh_heap_object(const struct gh_heap *heap, uint32_t object);

/* The objects that OBJECT points to, one for each of its pointers that points to an object, in the
 * order of its fields. Gives how many; the list is the heap's. */
size_t gh_heap_targets(const struct gh_heap *heap, uint32_t object, const uint32_t **targets);

/* The objects that point to OBJECT, ascending, each once. Gives how many; the list is the heap's.
 */
size_t gh_heap_referrers(const struct gh_heap *heap, uint32_t object, const uint32_t **referrers);

/* The fieldlist of OBJECT, of a dump of Go 1.4 or later, is not empty. */
static inline bool gh_heap_has_fields(const struct gh_heap *heap, uint32_t object)
{
	return (heap->with_fields[object / 8] >> object % 8 & 1) != 0;
}

/* The roots that point to OBJECT. Gives how many; the list is the heap's. */
size_t gh_heap_roots(const struct gh_heap *heap, uint32_t object, const struct gh_root **roots);

/* To be called by who reads the contents of all objects, one after the other, and comes to OBJECT:
 * lets go, now and then, of the memory that the dump's file has been mapped to, or all of it would
 * be there in the end. */
void gh_heap_passed(const struct gh_heap *heap, uint32_t object);

/* Starts a walk over the pointers of OBJECT, for gh_pointers_next. */
void gh_pointers_start(const struct gh_heap *heap, uint32_t object, struct gh_pointers *walk);

/* WALK is over the pointers of OBJECT, and has not begun: has it take their targets from HEAP,
 * since to look each up takes most of the time. */
void gh_pointers_use_targets(struct gh_pointers *walk, const struct gh_heap *heap, uint32_t object);

/* Where OBJECT has its first pointer to TARGET, which it points to; in bytes from its start. */
uint64_t gh_heap_offset(const struct gh_heap *heap, uint32_t object, uint32_t target);

/* The dominators of a heap's objects: one object dominates another if every path from a root to
 * that one goes through it. What an object dominates would go with it: its retained size.
 *
 * A root counts only for what no root of a better rank leads to: a word that may be no pointer does
 * not take an object from what is known to hold it, nor does its finalizer take from an object what
 * it points to. */

struct gh_dominators {
	uint32_t *idom;     /* by object: the nearest that dominates it; the heap's count if that is
			       the roots together; GH_HEAP_NONE if no root reaches it; owned */
	uint64_t *retained; /* by object: bytes that would go with it, its own among them; 0 if no
			       root reaches it; one more for the roots together; owned */
	uint32_t *order;    /* the objects that roots reach, each after its dominator; owned */
	uint32_t nreachable; /* of them */
	uint32_t nholders;   /* 0 but for gh_dominators_build_held */
};

/* Roots in groups, as those of one variable or of goroutines with one stack: each is a holder of
 * what is reached from its roots alone. Those of one are of one rank. */
struct gh_holders {
	const uint32_t *of; /* by the heap's root: its holder's number */
	uint32_t count;     /* of holders: with the heap's objects fewer than GH_HEAP_NONE - 1 */
};

/* Finds the dominators of HEAP's objects. False (ERR filled) if memory ran out. On success to be
 * freed with gh_dominators_free. */
bool gh_dominators_build(struct gh_dominators *dominators, const struct gh_heap *heap,
			 struct gh_error *err);

/* The same with a node for each of HOLDERS, which is to what its roots point to as an object to
 * what it points to: in all of the arrays the holders follow after the roots together, and the
 * order has those that have roots, too. */
bool gh_dominators_build_held(struct gh_dominators *dominators, const struct gh_heap *heap,
			      const struct gh_holders *holders, struct gh_error *err);

/* The node of holder NUMBER. */
static inline uint32_t gh_dominators_holder(const struct gh_heap *heap, uint32_t number)
{
	return heap->count + 1 + number;
}

void gh_dominators_free(struct gh_dominators *dominators);

/* The tree of dominators, to be walked down. */
struct gh_dominator_tree {
	const struct gh_dominators *dominators;
	uint32_t *child;   /* by node: the first that it dominates, or GH_HEAP_NONE; owned */
	uint32_t *sibling; /* by node: the next with its dominator, or GH_HEAP_NONE; owned */
	uint32_t root;     /* the node of the roots together: the heap's count */
};

/* Makes the tree of DOMINATORS, which are HEAP's and outlive it. False if memory ran out. To be
 * freed either way. */
bool gh_dominator_tree_make(struct gh_dominator_tree *tree, const struct gh_heap *heap,
			    const struct gh_dominators *dominators);

void gh_dominator_tree_free(struct gh_dominator_tree *tree);

/* The histogram of a heap: how many objects there are of each group, such as a type, a size or an
 * allocation site, their bytes, and what they retain. */

struct gh_histogram_row {
	uint64_t objects;  /* how many */
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes that would go with those of them that roots reach */
	uint32_t largest;  /* the one which alone retains most, the first of several */
};

/* Adds OBJECT to ROW, but not what it retains. The first is the largest if DOMINATORS is NULL. */
void gh_histogram_add(struct gh_histogram_row *row, const struct gh_heap *heap,
		      const struct gh_dominators *dominators, uint32_t object);

/* Adds to ROWS, by number of the group, what NODE dominates besides itself; the largest are those
 * of what is added. ABOVE has as many zeros as there are groups, and has them again afterwards. */
void gh_histogram_below(struct gh_histogram_row *rows, const struct gh_heap *heap,
			const uint32_t *groups, const struct gh_dominator_tree *tree, uint32_t node,
			uint32_t *above);

/* Fills ROWS, by number of the group: NGROUPS of them, all zero before. GROUPS has the number of
 * each object's group. What an object retains is not counted again for those of its group that it
 * dominates, and nothing is if DOMINATORS is NULL. False (ERR filled) if memory ran out. */
bool gh_histogram_make(struct gh_histogram_row *rows, size_t ngroups, const struct gh_heap *heap,
		       const uint32_t *groups, const struct gh_dominators *dominators,
		       struct gh_error *err);

/* Shortest paths from roots to objects: what keeps them alive. Those of one object are searched
 * back from it, those of all forward from the roots: in a heap of 5.1 million objects the one took
 * 12 ms on average, 110 ms at most, and the other 250 ms, which `goheap path` would take longer by,
 * and which pay for `goheap report` from some 20 paths on. */

struct gh_path_step {
	uint32_t object; /* its number */
	uint64_t
	    offset; /* of the pointer to the next object, in this one, in bytes; of the last 0 */
};

struct gh_path {
	struct gh_root root;                         /* points to the first step's object */
	struct GH_VECTOR(struct gh_path_step) steps; /* up to the object asked for */
};

enum gh_path_result {
	GH_PATH_FAILED,
	GH_PATH_FOUND,
	GH_PATH_NONE, /* no root reaches the object */
};

/* Finds a shortest path from a root of HEAP to OBJECT: from one of the best rank that leads to it,
 * however near another may be. Of several roots of an object it is the first by kind.
 * GH_PATH_FAILED (ERR filled) if memory ran out. If it is found the path is to be freed with
 * gh_path_free. */
enum gh_path_result gh_path_find(const struct gh_heap *heap, uint32_t object, struct gh_path *path,
				 struct gh_error *err);

void gh_path_free(struct gh_path *path);

/* Of an object that is held in several ways, roots that are told. */
#define GH_WAYS 3

/* Finds the nearest roots of OBJECT that are no passing or conservative ones, of each that points
 * to it the nearest, and gives how many there are of at most GH_WAYS. Of a long way, or if memory
 * runs out, there may be none. */
size_t gh_ways_find(const struct gh_heap *heap, uint32_t object, const struct gh_root **ways);

enum gh_path_order {
	GH_PATH_NEAREST,       /* from the nearest of the lasting roots */
	GH_PATH_GLOBALS_FIRST, /* from globals, where there are such; or else from stacks */
};

/* The shortest paths to all objects, as a tree: from the lasting roots, and from those of other
 * ranks to what these do not reach. */
struct gh_path_tree {
	uint32_t *parents; /* by object: the one before it on a shortest path; itself if a root
			      points to it; GH_HEAP_NONE if no root reaches it; owned */
	uint32_t *order;   /* the objects that roots reach, each after its parent; owned */
	uint32_t nreached; /* of them */
};

/* Finds them, in linear time. False (ERR filled) if memory ran out. To be freed either way. */
bool gh_path_tree_build(struct gh_path_tree *tree, const struct gh_heap *heap,
			enum gh_path_order order, struct gh_error *err);

/* The same as gh_path_find, by TREE of HEAP: in a time that the path's length alone takes. */
enum gh_path_result gh_path_tree_find(const struct gh_path_tree *tree, const struct gh_heap *heap,
				      uint32_t object, struct gh_path *path, struct gh_error *err);

void gh_path_tree_free(struct gh_path_tree *tree);

/* The strings in a heap: which objects are text.
 *
 * A dump does not say which objects are strings' bytes. One is taken for text if it has no
 * pointers, if some pointer to it is followed by a length, as in a string or slice, of at least
 * GH_HEAP_STRING_LEAST bytes which it has, and if those bytes are UTF-8 without control characters.
 */

#define GH_HEAP_STRING_LEAST 4

struct gh_heap_string {
	const char *data; /* in the dump; not ended by a NUL */
	size_t length;    /* in bytes */
	uint32_t object;  /* the first that has it, of those with like text */
	uint32_t copies;  /* objects with like text */
	uint64_t bytes;   /* in these objects */
};

struct gh_heap_strings GH_VECTOR(struct gh_heap_string);

/* Finds the texts in HEAP, each once, in the order of their objects. False (ERR filled) if memory
 * ran out. The vector is to be freed either way.
 */
bool gh_heap_strings_find(struct gh_heap_strings *texts, const struct gh_heap *heap,
			  struct gh_error *err);

/* Cleanups (runtime.AddCleanup), which a dump that the runtime wrote does not tell of. Up to
 * Go 1.25 each has a closure in the heap, of a function whose name is known, that nothing points to
 * but the runtime's record of it: what that leads to is kept for the cleanup. Go 1.26 keeps what it
 * calls outside of the heap. */

/* Has such closures be roots of HEAP. They are conservative, for one may be left of a cleanup that
 * has run, unless the dump was made of a process, and has them as roots of another kind. TAB is
 * that of the program that wrote the dump, whose addresses are BIAS above its own. False (ERR
 * filled) if memory ran out. */
bool gh_cleanups_add(struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
		     struct gh_error *err);

/* Has the roots of HEAP that are lists of all pools (sync.Pool) be passing ones: on amd64 and
 * arm64. TAB, BIAS: as above. False (ERR filled) if memory ran out. */
bool gh_pool_lists_find(struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
			struct gh_error *err);

/* What a cleanup calls. */
struct gh_cleanup {
	uint64_t entry;    /* where the function begins */
	uint64_t argument; /* address of a copy of its argument */
};

/* Finds the cleanup that ROOT is of: a closure or, from Go 1.26 on, the argument. TAB and BIAS are
 * those of gh_cleanups_add. False if it is of none, or it is not known what that calls. */
bool gh_cleanup_of(struct gh_cleanup *cleanup, const struct gh_heap *heap,
		   const struct gh_pclntab *tab, uint64_t bias, const struct gh_root *root);

/* What keeps most of the heap alive, as a tree: the objects that retain most, each below what
 * dominates it. A map of a million entries is not a million lines of it, nor a list: objects of one
 * class are one line if they are dominated by objects of one line, and an object is in the line of
 * one of its class that dominates it. Those that nothing dominates are if no root points to them,
 * or if those that do are of the same slot in the frames of goroutines with the same stack. */

struct gh_merged_line {
	uint32_t object;   /* that of the line that retains most */
	uint32_t count;    /* objects in the line */
	uint32_t heads;    /* those of them that none of the line dominates */
	uint64_t retained; /* bytes that would go with the line */
	uint32_t parent;   /* the line that it is below; GH_HEAP_NONE for none */
	uint32_t child;    /* the first line below; GH_HEAP_NONE for none */
	uint32_t sibling;  /* the next line with its parent; GH_HEAP_NONE for none */
};

struct gh_merged_dominators {
	struct gh_merged_line *lines; /* the largest first; owned */
	size_t count;                 /* of lines */
	uint64_t seen;                /* how many there would be without a limit */
};

/* Makes the tree of the LIMIT (SIZE_MAX: all) lines of HEAP that retain most; of the object TOP and
 * what it dominates, unless that is GH_HEAP_NONE. CLASSES are by object. False if memory ran out;
 * to be freed either way. */
bool gh_merged_dominators_make(struct gh_merged_dominators *tree, const struct gh_heap *heap,
			       const struct gh_dominators *dominators, const uint32_t *classes,
			       uint32_t top, size_t limit);

void gh_merged_dominators_free(struct gh_merged_dominators *tree);

#endif
