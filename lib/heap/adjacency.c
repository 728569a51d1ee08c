#include "lib/heap/internal.h"

#include <stdlib.h>

#include "lib/util/parallel.h"

bool gh_adjacency_make(struct gh_adjacency *lists, uint32_t count)
{
	*lists = (struct gh_adjacency){.count = count};
	lists->blocks = calloc((size_t)gh_adjacency_nblocks(lists) + 1, sizeof(*lists->blocks));
	lists->ends = calloc((size_t)count + 1, sizeof(*lists->ends));
	return lists->blocks != NULL && lists->ends != NULL;
}

void gh_adjacency_free(struct gh_adjacency *lists)
{
	for (uint32_t i = 0; lists->blocks != NULL && i < gh_adjacency_nblocks(lists); i++)
		free(lists->blocks[i]);
	free(lists->blocks);
	free(lists->ends);
	*lists = (struct gh_adjacency){0};
}

/* One past the last object of BLOCK. */
static uint32_t block_end(const struct gh_adjacency *lists, uint32_t block)
{
	uint32_t start = block * GH_ADJACENCY_BLOCK;
	return lists->count - start < GH_ADJACENCY_BLOCK ? lists->count
							 : start + GH_ADJACENCY_BLOCK;
}

/* A part of what is made by one thread: the lists of some blocks. */
struct part {
	struct gh_adjacency *reverse;
	const struct gh_adjacency *lists;
	uint32_t first_block; /* of reverse */
	uint32_t end_block;   /* one past the last */
	uint32_t first;       /* object in them */
	uint32_t count;       /* of objects in them */
	bool failed;          /* memory ran out */
};

/* Counts, in the ends of the part, how often each of its objects is in the lists. */
static bool count_entries(const struct part *part)
{
	uint32_t *ends = part->reverse->ends;
	const uint32_t *list;
	for (uint32_t object = 0; object < part->lists->count; object++) {
		size_t length = gh_adjacency_get(part->lists, object, &list);
		for (size_t i = 0; i < length; i++)
			if (list[i] - part->first < part->count && ++ends[list[i]] == 0)
				return false;
	}
	return true;
}

/* Makes, of the counts in the ends of the part, the starts, and its blocks. */
static bool make_blocks(const struct part *part)
{
	struct gh_adjacency *reverse = part->reverse;
	for (uint32_t block = part->first_block; block < part->end_block; block++) {
		uint64_t start = 0;
		for (uint32_t i = block * GH_ADJACENCY_BLOCK; i < block_end(reverse, block); i++) {
			uint32_t length = reverse->ends[i];
			reverse->ends[i] = (uint32_t)start;
			start += length;
		}
		if (start > UINT32_MAX)
			return false;
		reverse->blocks[block] = malloc((size_t)start * sizeof(uint32_t) + 1);
		if (reverse->blocks[block] == NULL)
			return false;
	}
	return true;
}

/* Fills the part, in whose ends are the starts, and which are ends afterwards. */
static void fill(const struct part *part)
{
	struct gh_adjacency *reverse = part->reverse;
	const uint32_t *list;
	for (uint32_t object = 0; object < part->lists->count; object++) {
		size_t length = gh_adjacency_get(part->lists, object, &list);
		for (size_t i = 0; i < length; i++) {
			if (list[i] - part->first >= part->count)
				continue;
			uint32_t *block = reverse->blocks[list[i] / GH_ADJACENCY_BLOCK];
			block[reverse->ends[list[i]]++] = object;
		}
	}
}

/* Leaves out, of the lists of BLOCK, which ascend, what is there twice. */
static void leave_out(struct gh_adjacency *lists, uint32_t block)
{
	uint32_t *entries = lists->blocks[block];
	uint32_t from = 0, to = 0;
	for (uint32_t i = block * GH_ADJACENCY_BLOCK; i < block_end(lists, block); i++) {
		uint32_t start = to;
		for (; from < lists->ends[i]; from++)
			if (to == start || entries[to - 1] != entries[from])
				entries[to++] = entries[from];
		lists->ends[i] = to;
	}
	uint32_t *smaller = realloc(entries, (size_t)to * sizeof(*entries) + 1);
	if (smaller != NULL)
		lists->blocks[block] = smaller;
}

static void make_part(void *context, uint32_t number)
{
	struct part *part = (struct part *)context + number;
	part->failed = !count_entries(part) || !make_blocks(part);
	if (part->failed)
		return;
	fill(part);
	for (uint32_t block = part->first_block; block < part->end_block; block++)
		leave_out(part->reverse, block);
}

bool gh_adjacency_reverse(struct gh_adjacency *reverse, const struct gh_adjacency *lists)
{
	struct part parts[GH_PARALLEL_MAX];
	if (!gh_adjacency_make(reverse, lists->count))
		return false;
	uint32_t nblocks = gh_adjacency_nblocks(reverse), nparts = gh_parallel_width();
	if (nparts > nblocks)
		nparts = nblocks;
	for (uint32_t i = 0; i < nparts; i++) {
		uint32_t first = (uint32_t)((uint64_t)nblocks * i / nparts);
		uint32_t end = (uint32_t)((uint64_t)nblocks * (i + 1) / nparts);
		uint32_t count =
		    end > first ? block_end(reverse, end - 1) - first * GH_ADJACENCY_BLOCK : 0;
		parts[i] = (struct part){reverse, lists, first, end, first * GH_ADJACENCY_BLOCK,
					 count,   false};
	}
	gh_parallel(nparts, make_part, parts);
	bool ok = true;
	for (uint32_t i = 0; i < nparts; i++)
		ok = ok && !parts[i].failed;
	for (uint32_t block = 0; ok && block < nblocks; block++)
		reverse->entries += reverse->ends[block_end(reverse, block) - 1];
	return ok;
}
