#include "lib/heap/lists.h"

#include <stdlib.h>

bool gh_lists_make(struct gh_lists *lists, uint32_t count)
{
	*lists = (struct gh_lists){.count = count};
	lists->blocks = calloc((size_t)gh_lists_nblocks(lists) + 1, sizeof(*lists->blocks));
	lists->ends = calloc((size_t)count + 1, sizeof(*lists->ends));
	return lists->blocks != NULL && lists->ends != NULL;
}

void gh_lists_free(struct gh_lists *lists)
{
	for (uint32_t i = 0; lists->blocks != NULL && i < gh_lists_nblocks(lists); i++)
		free(lists->blocks[i]);
	free(lists->blocks);
	free(lists->ends);
	*lists = (struct gh_lists){0};
}

/* One past the last object of BLOCK. */
static uint32_t block_end(const struct gh_lists *lists, uint32_t block)
{
	uint32_t start = block * GH_LISTS_BLOCK;
	return lists->count - start < GH_LISTS_BLOCK ? lists->count : start + GH_LISTS_BLOCK;
}

/* Counts, in the ends of REVERSE, how often each object is in LISTS. */
static bool count_entries(struct gh_lists *reverse, const struct gh_lists *lists)
{
	const uint32_t *list;
	for (uint32_t object = 0; object < lists->count; object++) {
		size_t length = gh_lists_get(lists, object, &list);
		for (size_t i = 0; i < length; i++)
			if (++reverse->ends[list[i]] == 0)
				return false;
	}
	return true;
}

/* Makes, of the counts in the ends of REVERSE, the starts, and the blocks. */
static bool make_blocks(struct gh_lists *reverse)
{
	for (uint32_t block = 0; block < gh_lists_nblocks(reverse); block++) {
		uint64_t start = 0;
		for (uint32_t i = block * GH_LISTS_BLOCK; i < block_end(reverse, block); i++) {
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

/* Fills REVERSE, in whose ends are the starts, and which are ends afterwards; what comes twice goes
 * in once, and leaves a gap before the next list. */
static void fill(struct gh_lists *reverse, const struct gh_lists *lists)
{
	const uint32_t *list;
	for (uint32_t object = 0; object < lists->count; object++) {
		size_t length = gh_lists_get(lists, object, &list);
		for (size_t i = 0; i < length; i++) {
			uint32_t *block = reverse->blocks[list[i] / GH_LISTS_BLOCK];
			block[reverse->ends[list[i]]++] = object;
		}
	}
}

/* Leaves out, of the lists, which ascend, what is there twice. */
static void leave_out(struct gh_lists *lists)
{
	for (uint32_t block = 0; block < gh_lists_nblocks(lists); block++) {
		uint32_t *entries = lists->blocks[block];
		uint32_t from = 0, to = 0;
		for (uint32_t i = block * GH_LISTS_BLOCK; i < block_end(lists, block); i++) {
			uint32_t start = to;
			for (; from < lists->ends[i]; from++)
				if (to == start || entries[to - 1] != entries[from])
					entries[to++] = entries[from];
			lists->ends[i] = to;
		}
		uint32_t *smaller = realloc(entries, (size_t)to * sizeof(*entries) + 1);
		if (smaller != NULL)
			lists->blocks[block] = smaller;
		lists->entries += to;
	}
}

bool gh_lists_reverse(struct gh_lists *reverse, const struct gh_lists *lists)
{
	if (!gh_lists_make(reverse, lists->count) || !count_entries(reverse, lists) ||
	    !make_blocks(reverse))
		return false;
	fill(reverse, lists);
	leave_out(reverse);
	return true;
}
