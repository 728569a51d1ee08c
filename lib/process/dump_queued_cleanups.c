#include "lib/process/dump_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/record.h"

/* Of a block of queued cleanups, in bytes (cleanupBlockSize). */
#define BLOCK 512

/* Blocks that are followed from one to the next, unless to make work. */
#define MAX_BLOCKS (1U << 20)

/* A block: a number of 8 bytes and a word, for a list without locks; alllink; n, of 4 bytes; and
 * the cleanups. */
struct block {
	uint64_t next;  /* alllink */
	uint64_t count; /* n */
	uint64_t first; /* address of the first */
};

/* Of a cleanup, in words: a closure; from Go 1.26 on what calls it comes before, and its argument
 * after it. */
static unsigned cleanup_words(const struct gh_process *process)
{
	return process->minor < 26 ? 1 : 3;
}

static bool read_block(struct gh_process *process, uint64_t address, struct block *block)
{
	unsigned word = process->tab->pointer_size;
	uint64_t link = address + 8 + word;
	*block = (struct block){.first = link + 2 * word};
	return gh_process_may_point(process, address) &&
	       gh_process_uint(&process->memory, link, word, &block->next) &&
	       gh_process_uint(&process->memory, link + word, 4, &block->count) &&
	       block->count <= (BLOCK - 8 - 3 * word) / cleanup_words(process) / word;
}

/* Each of BLOCK's cleanups begins with the closure of a function, or has been called and is nil.
 * *COUNT is how many are to be called. */
static bool are_cleanups(struct gh_process *process, const struct block *block, uint64_t *count)
{
	unsigned size = cleanup_words(process) * process->tab->pointer_size;
	for (uint64_t i = 0; i < block->count; i++) {
		uint64_t closure = gh_process_word(process, block->first + i * size);
		if (closure == 0)
			continue;
		if (!gh_process_is_closure(process, closure))
			return false;
		++*count;
	}
	return true;
}

/* How many cleanups are queued in the list of blocks that starts at ADDRESS; 0 if it is none. Takes
 * the blocks off *LEFT. */
static uint64_t count_queued(struct gh_process *process, uint64_t address, uint64_t *left)
{
	uint64_t count = 0;
	for (; address != 0; --*left) {
		struct block block;
		if (*left == 0 || !read_block(process, address, &block) ||
		    !are_cleanups(process, &block, &count))
			return 0;
		address = block.next;
	}
	return count;
}

/* Looks from START to END, in the program, for gcCleanups.all, which lists all blocks: what leads
 * to more than *MOST cleanups. */
static void search(struct gh_process *process, uint64_t start, uint64_t end, uint64_t *most,
		   uint64_t *best)
{
	unsigned word = process->tab->pointer_size;
	uint64_t left = MAX_BLOCKS;
	uint64_t at = start + process->bias;
	uint64_t address;
	end += process->bias;
	for (; gh_process_next_uint(&process->memory, &at, end, word, &address); at += word) {
		uint64_t count = address != 0 ? count_queued(process, address, &left) : 0;
		if (count > *most) {
			*most = count;
			*best = address;
		}
	}
}

void gh_dump_add_cleanup(struct gh_dump_stream *stream, struct gh_process *process,
			 const char *what, uint64_t address)
{
	unsigned word = process->tab->pointer_size;
	unsigned count = cleanup_words(process);
	char *text = NULL;
	if (count > 1) {
		uint64_t closure = gh_process_word(process, address + word);
		uint64_t entry = gh_process_constant_pointer(process, closure);
		if (asprintf(&text, "%s %s", what, gh_process_function(process, entry)) < 0)
			text = NULL;
	}
	for (unsigned i = 0; i < count; i++)
		gh_dump_add_root(stream, text != NULL ? text : what,
				 gh_process_word(process, address + i * word));
	free(text);
}

void gh_dump_add_queued_cleanups(struct gh_dump_stream *stream, struct gh_process *process)
{
	const struct gh_moduledata *module = &process->tab->module;
	unsigned size = cleanup_words(process) * process->tab->pointer_size;
	uint64_t count = 0, address = 0;
	struct block block;
	if (process->minor < 25)
		return;
	search(process, module->noptrbss, module->enoptrbss, &count, &address);
	search(process, module->bss, module->ebss, &count, &address);
	for (; address != 0 && read_block(process, address, &block); address = block.next) {
		for (uint64_t i = 0; i < block.count; i++) {
			gh_dump_add_cleanup(stream, process, "queued cleanup",
					    block.first + i * size);
			gh_dump_stream_pass(stream);
		}
	}
}
