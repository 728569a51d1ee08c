#include "lib/process/internal.h"

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

static bool read_kept(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	/* What is read is kept. */
	const struct gh_process *process = memory->from;
	return gh_process_read((struct gh_process_memory *)&process->memory, address, to, size);
}

struct gh_memory gh_process_memory_of(const struct gh_process *process)
{
	return (struct gh_memory){.read = read_kept, .from = process};
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

/* Where memory cannot be listed, no larger gap is passed over, in pages. */
#define LARGEST_GAP 4096

/* Has *ADDRESS, which cannot be read, be in the next page that can. False if there is none. */
static bool skip_gap(struct gh_process_memory *memory, uint64_t *address)
{
	const struct gh_memory *source = memory->source;
	uint64_t start = *address;
	uint64_t size;
	uint8_t byte;
	if (source->next != NULL) {
		*address = gh_page_end(start);
		bool found = *address > start && source->next(source, address, &size);
		*address += (sizeof(uint64_t) - *address % sizeof(uint64_t)) % sizeof(uint64_t);
		return found && *address > start;
	}
	for (unsigned i = 0; i < LARGEST_GAP && *address >= start; i++) {
		*address = gh_page_end(*address);
		if (gh_process_read(memory, *address, &byte, 1))
			return *address > start;
	}
	return false;
}

bool gh_process_next_uint(struct gh_process_memory *memory, uint64_t *address, uint64_t end,
			  unsigned size, uint64_t *value)
{
	while (*address < end && end - *address >= size) {
		if (gh_process_uint(memory, *address, size, value))
			return true;
		if (!skip_gap(memory, address))
			return false;
	}
	return false;
}

void gh_process_memory_free(struct gh_process_memory *memory)
{
	for (size_t i = 0; memory->blocks != NULL && i < BLOCKS; i++)
		free(memory->blocks[i].bytes);
	free(memory->blocks);
	memory->blocks = NULL;
}
