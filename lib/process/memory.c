#include "lib/process/process.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/cursor.h"

/* Blocks that are kept: goroutines and their stacks lie side by side, not in the order of the list.
 */
#define BLOCKS 256

/* Has BLOCK be the one at ADDRESS. */
static void read_block(struct gh_process_memory *memory, struct gh_process_block *block,
		       uint64_t address)
{
	block->address = address;
	block->asked = true;
	if (block->bytes == NULL)
		block->bytes = malloc(GH_PROCESS_BLOCK);
	if (block->bytes == NULL ||
	    memory->source->read(memory->source, address, block->bytes, GH_PROCESS_BLOCK))
		return;
	free(block->bytes);
	block->bytes = NULL;
}

/* The bytes of the block at ADDRESS; NULL if it cannot be read as a whole. */
static const uint8_t *find_block(struct gh_process_memory *memory, uint64_t address)
{
	if (memory->blocks == NULL)
		memory->blocks = calloc(BLOCKS, sizeof(*memory->blocks));
	if (memory->blocks == NULL)
		return NULL;
	struct gh_process_block *block = &memory->blocks[address / GH_PROCESS_BLOCK % BLOCKS];
	if (!block->asked || block->address != address)
		read_block(memory, block, address);
	return block->bytes;
}

bool gh_process_read(struct gh_process_memory *memory, uint64_t address, void *buf, size_t size)
{
	uint8_t *bytes = buf;
	if (address + size < address)
		return false;
	while (size > 0) {
		uint64_t offset = address % GH_PROCESS_BLOCK;
		size_t part = GH_PROCESS_BLOCK - (size_t)offset;
		if (part > size)
			part = size;
		const uint8_t *block = find_block(memory, address - offset);
		if (block != NULL)
			memcpy(bytes, block + offset, part);
		else if (!memory->source->read(memory->source, address, bytes, part))
			return false;
		bytes += part;
		address += part;
		size -= part;
	}
	return true;
}

bool gh_process_uint(struct gh_process_memory *memory, uint64_t address, unsigned size,
		     uint64_t *value)
{
	uint8_t bytes[8];
	*value = 0;
	if (!gh_process_read(memory, address, bytes, size))
		return false;
	struct gh_cursor cur = gh_cursor_make(bytes, size, "memory", address, memory->big_endian);
	*value = gh_cursor_uint(&cur, size);
	return true;
}

void gh_process_memory_free(struct gh_process_memory *memory)
{
	for (size_t i = 0; memory->blocks != NULL && i < BLOCKS; i++)
		free(memory->blocks[i].bytes);
	free(memory->blocks);
	memory->blocks = NULL;
}
