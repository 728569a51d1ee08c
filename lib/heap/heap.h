/* The heap of a dump as a graph: its objects, the pointers between them, the roots. */
#ifndef GH_HEAP_HEAP_H
#define GH_HEAP_HEAP_H

#include "lib/heap/adjacency.h"
#include "lib/heap/object_table.h"
#include "lib/heap/pointers.h"
#include "lib/heap/roots.h"

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
	struct gh_adjacency targets;
	struct gh_adjacency referrers;
	struct gh_root *roots; /* sorted by object, kind, number and offset; owned */
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

/* The roots that point to OBJECT. Gives how many; the list is the heap's. */
size_t gh_heap_roots(const struct gh_heap *heap, uint32_t object, const struct gh_root **roots);

/* To be called by who reads the contents of all objects, one after the other, and comes to OBJECT:
 * lets go, now and then, of the memory that the dump's file has been mapped to, or all of it would
 * be there in the end. */
void gh_heap_passed(const struct gh_heap *heap, uint32_t object);

/* Starts a walk over the pointers of OBJECT, for gh_pointers_next. */
void gh_pointers_start(const struct gh_heap *heap, uint32_t object, struct gh_pointers *walk);

/* Where OBJECT has its first pointer to TARGET, which it points to; in bytes from its start. */
uint64_t gh_heap_offset(const struct gh_heap *heap, uint32_t object, uint32_t target);

#endif
