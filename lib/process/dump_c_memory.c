#include "lib/process/dump_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/dump/record.h"
#include "lib/util/bsearch.h"

/* Memory that is neither malloc's nor the Go heap's, nor a thread's stack, is looked through as far
 * as it is so small, in bytes, or so near its end: there are the variables of threads. */
#define MOST_WHOLE (UINT64_C(1) << 20)
#define AT_THE_END (UINT64_C(1) << 18)

#define WORD 8

/* Libraries with an allocator of their own on malloc's, as SQLite, hand out what comes after a
 * header of theirs: addresses are taken for a block's own up to so many bytes from its start. */
#define MOST_HEADER 16

bool gh_c_block_is_named(const struct gh_c_block *block, uint64_t value)
{
	uint64_t offset = value - block->address;
	return offset <= MOST_HEADER && offset % WORD == 0;
}

/* A walk over words. TAKE is called with each that is the address of a byte of a block. */
struct scan {
	struct gh_process *process;
	const struct gh_c_memory *memory;
	void (*take)(struct scan *scan, uint64_t address, uint64_t value,
		     const struct gh_c_block *block);
	/* For those that write records. */
	struct gh_dump_stream *stream;
	const char *what;         /* that the words are in; NULL: variables */
	int thread;               /* whose; 0 for none */
	struct gh_c_files *files; /* for the names of variables */
	/* For those that note words. */
	struct gh_c_records *records;
	const uint64_t *pointers; /* a bit for each word; NULL: none */
	uint64_t start;           /* address of the first of them */
};

/* Scans one part of the memory that can be read as a whole, of at most GH_PROCESS_BLOCK bytes. */
static void scan_bytes(struct scan *scan, uint64_t address, const uint8_t *bytes, size_t size)
{
	struct gh_cursor cur =
	    gh_cursor_make(bytes, size, "memory", address, scan->process->memory.big_endian);
	for (; gh_cursor_left(&cur) >= WORD; address += WORD) {
		uint64_t value = gh_cursor_uint(&cur, WORD);
		const struct gh_c_block *block =
		    value != 0 ? gh_c_memory_at(scan->memory, value) : NULL;
		if (block != NULL)
			scan->take(scan, address, value, block);
	}
}

/* Scans the words from START to END, as far as they are there. */
static void scan_words(struct scan *scan, uint64_t start, uint64_t end)
{
	const struct gh_memory *source = scan->process->memory.source;
	const struct gh_footprint_pages pages = {source, -1};
	uint8_t bytes[GH_PROCESS_BLOCK];
	start += (WORD - start % WORD) % WORD;
	while (start < end && end - start >= WORD) {
		size_t most = end - start < sizeof(bytes) ? (size_t)(end - start) : sizeof(bytes);
		size_t page = (size_t)(gh_page_end(start) - start);
		if (source->read(source, start, bytes, most)) {
			scan_bytes(scan, start, bytes, most);
			start += most;
			continue;
		}
		most = page < most ? page : most;
		if (source->read(source, start, bytes, most)) {
			scan_bytes(scan, start, bytes, most);
			start += most;
		} else {
			start = gh_footprint_next_page(&pages, gh_page_end(start), end);
		}
	}
}

bool gh_c_records_open(struct gh_c_records *records, struct gh_process *process,
		       const struct gh_spans *spans)
{
	*records = (struct gh_c_records){0};
	if (process->writable == NULL)
		return true;
	if (!gh_c_memory_find(&records->memory, process, spans))
		return false;
	uint64_t heap = 0;
	for (size_t i = 0; i < spans->list.count; i++)
		heap += spans->list.items[i].size;
	if (process->only_large_c &&
	    (records->memory.bytes < GH_LARGE_C || records->memory.bytes < heap / 4))
		gh_c_records_free(records);
	return true;
}

void gh_c_records_free(struct gh_c_records *records)
{
	gh_c_memory_free(&records->memory);
	gh_vector_free(&records->words);
	*records = (struct gh_c_records){0};
}

static void add_field(struct scan *scan, uint64_t address, uint64_t value,
		      const struct gh_c_block *block)
{
	(void)value;
	(void)block;
	gh_buffer_uleb128(&scan->stream->bytes, GH_FIELD_POINTER + 1);
	gh_buffer_uleb128(&scan->stream->bytes, address - scan->start);
	gh_dump_stream_pass(scan->stream);
}

void gh_dump_add_c_blocks(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_c_records *records)
{
	struct scan scan = {
	    .process = process, .memory = &records->memory, .take = add_field, .stream = stream};
	for (size_t i = 0; i < records->memory.blocks.count && !stream->failed; i++) {
		const struct gh_c_block *block = &records->memory.blocks.items[i];
		if (block->size > stream->left)
			return;
		gh_buffer_uleb128(&stream->bytes, GH_DUMP_OBJECT);
		gh_buffer_uleb128(&stream->bytes, block->address);
		gh_dump_stream_memory(stream, process, block->address, block->size);
		scan.start = block->address;
		scan_words(&scan, block->address, block->address + block->size);
		gh_buffer_uleb128(&stream->bytes, 0); /* the end of the fields */
		gh_dump_stream_pass(stream);
	}
}

/* The file that ADDRESS, that of a variable, is of: the last one that begins before it. */
static const struct gh_mapped_file *file_of(const struct gh_process *process, uint64_t address)
{
	const struct gh_mapped_files *files = process->files;
	if (files == NULL)
		return NULL;
	size_t after = gh_lower_bound(files->count, i, files->items[i].start <= address);
	return after > 0 ? &files->items[after - 1] : NULL;
}

/* Writes to TEXT, of SIZE bytes, the name of the C variable at ADDRESS: by its symbol or, without
 * one, where it is in its file. False if it is in none. */
static bool name_variable(struct scan *scan, uint64_t address, char *text, size_t size)
{
	const struct gh_mapped_file *file = file_of(scan->process, address);
	const struct gh_c_variable *variable = NULL;
	const char *object;
	if (file == NULL)
		return false;
	if (gh_c_files_open(scan->files, scan->process))
		variable = gh_c_code_variable(scan->files->code, address, &object);
	if (variable == NULL) {
		const char *slash = strrchr(file->path, '/');
		snprintf(text, size, "C variable %.128s+0x%" PRIx64,
			 slash != NULL ? slash + 1 : file->path, address - file->start);
	} else if (address == variable->address) {
		snprintf(text, size, "C variable %.128s: %.256s", object, variable->name);
	} else {
		snprintf(text, size, "C variable %.128s: %.256s+0x%" PRIx64, object, variable->name,
			 address - variable->address);
	}
	return true;
}

/* Adds a root for the word at ADDRESS: VALUE, which is certain only where it is a block's own
 * address in a variable. */
static void add_root(struct scan *scan, uint64_t address, uint64_t value,
		     const struct gh_c_block *block)
{
	char text[512];
	bool is_variable = scan->what == NULL && name_variable(scan, address, text, sizeof(text));
	bool certain = is_variable && gh_c_block_is_named(block, value);
	size_t length = is_variable ? strlen(text) : 0;
	if (is_variable && !certain)
		snprintf(text + length, sizeof(text) - length, "%s", GH_DUMP_PERHAPS);
	else if (!is_variable && scan->thread != 0)
		snprintf(text, sizeof(text), "%s of thread %d%s", scan->what, scan->thread,
			 GH_DUMP_PERHAPS);
	else if (!is_variable)
		snprintf(text, sizeof(text), "C memory at 0x%" PRIx64 "%s", address,
			 GH_DUMP_PERHAPS);
	gh_dump_add_root(scan->stream, text, value);
	gh_dump_stream_pass(scan->stream);
}

static void exclude(struct gh_memory_parts *parts, uint64_t start, uint64_t end)
{
	struct gh_memory_part part = {start, end};
	if (start < end)
		gh_vector_push(parts, part);
}

/* Excludes the variables of the Go module of TAB, BIAS above its own addresses. */
static void exclude_module(struct gh_memory_parts *parts, const struct gh_pclntab *tab,
			   uint64_t bias)
{
	const struct gh_moduledata *module = &tab->module;
	exclude(parts, module->noptrdata + bias, module->enoptrdata + bias);
	exclude(parts, module->data + bias, module->edata + bias);
	exclude(parts, module->bss + bias, module->ebss + bias);
	exclude(parts, module->noptrbss + bias, module->enoptrbss + bias);
}

/* Fills PARTS, to be freed, with what is no C variable: what malloc and Go have. */
static void find_excluded(struct gh_memory_parts *parts, struct gh_process *process,
			  const struct gh_spans *spans, const struct gh_c_memory *memory)
{
	gh_own_memory_find(parts, process, spans);
	for (size_t i = 0; i < memory->parts.count; i++)
		gh_vector_push(parts, memory->parts.items[i]);
	exclude_module(parts, process->tab, process->bias);
	for (size_t i = 0; i < process->nothers; i++)
		exclude_module(parts, process->others[i].tab, process->others[i].bias);
	gh_memory_parts_merge(parts);
}

/* Scans what is from START to END, and not EXCLUDED. */
static void scan_rest(struct scan *scan, const struct gh_memory_parts *excluded, uint64_t start,
		      uint64_t end)
{
	struct gh_memory_part part;
	for (; gh_memory_parts_next(excluded, start, end, &part); start = part.end)
		scan_words(scan, start, part.start);
	scan_words(scan, start, end);
}

/* MAPPING begins where one of a file ends, or did: it has the variables that are zero at first. */
static bool follows_file(const struct gh_process *process, const struct gh_memory_part *mapping)
{
	const struct gh_memory_parts *files = &process->writable->of_files;
	size_t i = gh_lower_bound(files->count, k, files->items[k].end < mapping->start);
	return i < files->count && files->items[i].end == mapping->start;
}

/* Scans MAPPING, of no file: a thread's stack from its top on. */
static void scan_mapping(struct scan *scan, const struct gh_memory_parts *excluded,
			 const struct gh_memory_part *mapping)
{
	const struct gh_process *process = scan->process;
	uint64_t start = mapping->start;
	scan->thread = 0;
	scan->what = follows_file(process, mapping) ? NULL : "C memory";
	if (scan->what != NULL && mapping->end - start > MOST_WHOLE)
		start = mapping->end - AT_THE_END;
	for (size_t i = 0; i < process->nthreads; i++) {
		uint64_t sp = process->threads[i].sp;
		if (sp < mapping->start || sp >= mapping->end)
			continue;
		scan->what = "C stack";
		scan->thread = process->threads[i].id;
		start = sp;
	}
	scan_rest(scan, excluded, start, mapping->end);
}

/* Scans the registers of threads. */
static void scan_registers(struct scan *scan)
{
	const struct gh_process *process = scan->process;
	scan->what = "register";
	for (size_t i = 0; i < process->nthreads; i++) {
		const struct gh_registers *registers = &process->threads[i];
		scan->thread = registers->id;
		for (unsigned k = 0; k < registers->count; k++) {
			uint64_t value = registers->values[k];
			const struct gh_c_block *block = gh_c_memory_at(scan->memory, value);
			if (block != NULL)
				add_root(scan, 0, value, block);
		}
	}
}

void gh_dump_add_c_roots(struct gh_dump_stream *stream, struct gh_process *process,
			 const struct gh_spans *spans, const struct gh_c_records *records)
{
	struct gh_c_files opened = {0};
	struct scan scan = {.process = process,
			    .memory = &records->memory,
			    .take = add_root,
			    .stream = stream,
			    .files = &opened};
	struct gh_memory_parts excluded = {0};
	if (records->memory.blocks.count == 0)
		return;
	const struct gh_memory_parts *files = &process->writable->of_files;
	const struct gh_memory_parts *anonymous = &process->writable->anonymous;
	find_excluded(&excluded, process, spans, &records->memory);
	for (size_t i = 0; i < files->count; i++)
		scan_rest(&scan, &excluded, files->items[i].start, files->items[i].end);
	for (size_t i = 0; i < anonymous->count; i++)
		if (!gh_spans_meet(spans, anonymous->items[i].start, anonymous->items[i].end))
			scan_mapping(&scan, &excluded, &anonymous->items[i]);
	scan_registers(&scan);
	gh_c_files_close(&opened);
	stream->bytes.failed |= excluded.failed;
	gh_vector_free(&excluded);
}

static void note(struct scan *scan, uint64_t address, uint64_t value,
		 const struct gh_c_block *block)
{
	uint64_t number = (address - scan->start) / WORD;
	bool is_pointer =
	    scan->pointers != NULL && (scan->pointers[number / 64] >> number % 64 & 1) != 0;
	if (gh_c_block_is_named(block, value) && !is_pointer)
		gh_vector_push(&scan->records->words, address);
}

void gh_c_records_note(struct gh_c_records *records, struct gh_process *process, uint64_t address,
		       uint64_t size, const uint64_t *pointers)
{
	struct scan scan = {.process = process,
			    .memory = &records->memory,
			    .take = note,
			    .records = records,
			    .pointers = pointers,
			    .start = address};
	if (records->memory.blocks.count > 0)
		scan_words(&scan, address, address + size);
}

static int compare_words(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

void gh_c_records_end(struct gh_c_records *records, struct gh_dump_section *section)
{
	uint64_t *words = records->words.items;
	struct gh_memory_parts *parts = &records->memory.parts;
	uint64_t last = 0;
	gh_memory_parts_merge(parts);
	for (size_t i = 0; i < parts->count && records->memory.blocks.count > 0; i++) {
		gh_buffer_uleb128(&section->c_memory, parts->items[i].start - last);
		gh_buffer_uleb128(&section->c_memory, parts->items[i].end - parts->items[i].start);
		last = parts->items[i].end;
	}
	if (records->words.count > 0)
		qsort(words, records->words.count, sizeof(*words), compare_words);
	last = 0;
	for (size_t i = 0; i < records->words.count; i++) {
		gh_buffer_uleb128(&section->c_words, words[i] - last);
		last = words[i];
	}
	section->c_words.failed |= records->words.failed;
}
