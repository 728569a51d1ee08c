#include "lib/process/dump_parts.h"

#include <stdlib.h>

#include "lib/dump/record.h"

/* The moduledata is no longer, in words. */
#define MODULE_WORDS 128

/* Modules that are followed from one to the next, unless to make work. */
#define MAX_MODULES 1024

/* A bitvector of the runtime's. */
struct bits {
	uint64_t count;
	uint64_t address; /* of the bytes */
};

/* What is read of a moduledata. Addresses are the process's. */
struct module {
	uint64_t data, edata;
	uint64_t bss, ebss;
	struct bits data_mask; /* a bit for each word from data to edata */
	struct bits bss_mask;
	bool masked;   /* the masks are there */
	uint64_t next; /* address of the next; 0 at the end */
};

/* Where a release has those fields, in words. */
struct places {
	unsigned bounds; /* data; edata, bss and ebss follow */
	unsigned masks;  /* gcdatamask; gcbssmask follows */
	unsigned next;   /* 0: not known */
};

static unsigned word_size(const struct gh_process *process)
{
	return process->tab->pointer_size;
}

/* Reads the bitvector at ADDRESS. False if it is not that of SIZE bytes of variables. */
static bool read_bits(struct gh_process *process, uint64_t address, uint64_t size,
		      struct bits *bits)
{
	unsigned word = word_size(process);
	if (!gh_process_uint(&process->memory, address, 4, &bits->count))
		return false;
	bits->address = gh_process_word(process, address + word);
	return bits->count == size / word && (bits->count == 0 || bits->address >= GH_LEAST_PAGE);
}

/* Reads the bounds of MODULE from ADDRESS on. */
static void read_bounds(struct gh_process *process, uint64_t address, struct module *module)
{
	unsigned word = word_size(process);
	module->data = gh_process_word(process, address);
	module->edata = gh_process_word(process, address + word);
	module->bss = gh_process_word(process, address + 2 * word);
	module->ebss = gh_process_word(process, address + 3 * word);
}

/* Reads the masks of MODULE from ADDRESS on, which follow each other. */
static void read_masks(struct gh_process *process, uint64_t address, struct module *module)
{
	unsigned word = word_size(process);
	module->masked =
	    read_bits(process, address, module->edata - module->data, &module->data_mask) &&
	    read_bits(process, address + 2 * word, module->ebss - module->bss, &module->bss_mask);
}

/* Reads the program's own moduledata, and notes where it has what is found there: the bounds, which
 * the program tells, too; the masks, by their sizes; and after those the map of types, whether the
 * module is bad, of one byte, which went in Go 1.23, and the next module. */
static void read_first(struct gh_process *process, struct module *module, struct places *places)
{
	const struct gh_moduledata *first = &process->tab->module;
	uint64_t start = first->address + process->bias;
	unsigned word = word_size(process);
	*places = (struct places){0};
	*module = (struct module){
	    .data = first->data + process->bias,
	    .edata = first->edata + process->bias,
	    .bss = first->bss + process->bias,
	    .ebss = first->ebss + process->bias,
	};
	for (unsigned i = 0; i < MODULE_WORDS && first->address != 0 && !module->masked; i++) {
		struct module found;
		read_bounds(process, start + i * word, &found);
		if (found.data == module->data && found.edata == module->edata &&
		    found.bss == module->bss && found.ebss == module->ebss)
			places->bounds = i;
		places->masks = i;
		read_masks(process, start + i * word, module);
	}
	if (!module->masked || places->bounds == 0)
		return;
	places->next = places->masks + (process->minor < 23 ? 6 : 5);
	module->next = gh_process_word(process, start + places->next * word);
}

/* Reads the moduledata at ADDRESS. False if it is none. */
static bool read_next(struct gh_process *process, const struct places *places, uint64_t address,
		      struct module *module)
{
	unsigned word = word_size(process);
	*module = (struct module){0};
	if (!gh_process_may_point(process, address))
		return false;
	read_bounds(process, address + places->bounds * word, module);
	if (module->data == 0 || module->data > module->edata || module->bss > module->ebss)
		return false;
	read_masks(process, address + places->masks * word, module);
	module->next = gh_process_word(process, address + places->next * word);
	return true;
}

/* Has C note the words from START to END that MASK does not have. */
static void note_words(struct gh_c_records *c, struct gh_process *process, uint64_t start,
		       uint64_t end, struct bits mask)
{
	uint64_t *bits = calloc(mask.count / 64 + 1, sizeof(*bits));
	if (bits == NULL) {
		c->words.failed = true;
		return;
	}
	for (uint64_t i = 0; i < mask.count; i += 8) {
		uint64_t byte;
		gh_process_uint(&process->memory, mask.address + i / 8, 1, &byte);
		bits[i / 64] |= byte << i % 64;
	}
	gh_c_records_note(c, process, start, end - start, mask.count > 0 ? bits : NULL);
	free(bits);
}

static void add_segment(struct gh_dump_stream *stream, struct gh_process *process,
			struct gh_c_records *c, enum gh_dump_kind kind, uint64_t start,
			uint64_t end, struct bits mask)
{
	struct gh_buffer *out = &stream->bytes;
	unsigned word = word_size(process);
	if (end - start > stream->left)
		return;
	if (c->memory.blocks.count > 0)
		note_words(c, process, start, end, mask);
	gh_buffer_uleb128(out, kind);
	gh_buffer_uleb128(out, start);
	gh_dump_stream_memory(stream, process, start, end - start);
	for (uint64_t i = 0; i < mask.count; i += 8) {
		uint64_t byte;
		gh_process_uint(&process->memory, mask.address + i / 8, 1, &byte);
		for (; byte != 0; byte &= byte - 1) {
			gh_buffer_uleb128(out, GH_FIELD_POINTER + 1);
			gh_buffer_uleb128(out, (i + (uint64_t)__builtin_ctzll(byte)) * word);
		}
		gh_dump_stream_pass(stream);
	}
	gh_buffer_uleb128(out, 0); /* the end of the fields */
}

static void add_module(struct gh_dump_stream *stream, struct gh_process *process,
		       struct gh_c_records *c, const struct module *module)
{
	struct bits data = {0}, bss = {0};
	if (module->masked) {
		data = module->data_mask;
		bss = module->bss_mask;
	}
	add_segment(stream, process, c, GH_DUMP_DATA, module->data, module->edata, data);
	add_segment(stream, process, c, GH_DUMP_BSS, module->bss, module->ebss, bss);
}

/* Adds the program's variables without pointers, which the runtime leaves out of its dumps:
 * mutexes, wait groups and counters are among them. */
static void add_plain(struct gh_dump_stream *stream, struct gh_process *process,
		      struct gh_c_records *c)
{
	const struct gh_moduledata *module = &process->tab->module;
	uint64_t bias = process->bias;
	add_segment(stream, process, c, GH_DUMP_DATA, module->noptrdata + bias,
		    module->enoptrdata + bias, (struct bits){0});
	add_segment(stream, process, c, GH_DUMP_BSS, module->noptrbss + bias,
		    module->enoptrbss + bias, (struct bits){0});
}

bool gh_dump_add_globals(struct gh_dump_stream *stream, struct gh_process *process,
			 struct gh_c_records *c)
{
	struct module module;
	struct places places;
	read_first(process, &module, &places);
	add_module(stream, process, c, &module);
	add_plain(stream, process, c);
	bool masked = module.masked;
	for (unsigned i = 1; i < MAX_MODULES && module.next != 0 && !stream->failed; i++) {
		if (!read_next(process, &places, module.next, &module))
			break;
		add_module(stream, process, c, &module);
		masked = masked && module.masked;
	}
	return masked;
}
