/* Adjacency lists: for each object a list of objects, 4 bytes for each and 4 for each entry. */
#ifndef GH_HEAP_ADJACENCY_H
#define GH_HEAP_ADJACENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The lists of so many objects, one after the other, are one piece of memory. */
#define GH_ADJACENCY_BLOCK 65536

struct gh_adjacency {
	uint32_t **blocks; /* by object / GH_ADJACENCY_BLOCK: their lists; owned */
	uint32_t *ends;    /* by object: where its list ends in its block; owned */
	uint32_t count;    /* of objects */
	uint64_t entries;  /* in all lists */
};

/* Makes COUNT lists without blocks. False if memory ran out. To be freed either way. */
bool gh_adjacency_make(struct gh_adjacency *lists, uint32_t count);

void gh_adjacency_free(struct gh_adjacency *lists);

/* The number of blocks. */
static inline uint32_t gh_adjacency_nblocks(const struct gh_adjacency *lists)
{
	return lists->count / GH_ADJACENCY_BLOCK + (lists->count % GH_ADJACENCY_BLOCK != 0);
}

/* Where OBJECT's list begins in its block. */
static inline uint32_t gh_adjacency_start(const struct gh_adjacency *lists, uint32_t object)
{
	return object % GH_ADJACENCY_BLOCK != 0 ? lists->ends[object - 1] : 0;
}

/* The list of OBJECT. Gives how many there are in it. */
static inline size_t gh_adjacency_get(const struct gh_adjacency *lists, uint32_t object,
				      const uint32_t **list)
{
	uint32_t start = gh_adjacency_start(lists, object);
	*list = lists->blocks[object / GH_ADJACENCY_BLOCK] + start;
	return lists->ends[object] - start;
}

/* Makes, of lists which say to what objects each one points, those which say what points to each:
 * ascending, each once. False if memory ran out, or one block would hold 2^32 entries. To be freed
 * either way. */
bool gh_adjacency_reverse(struct gh_adjacency *reverse, const struct gh_adjacency *lists);

#endif
