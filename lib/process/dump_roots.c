#include "lib/process/dump_parts.h"

#include <string.h>

#include "lib/dump/record.h"

/* Of a block of queued finalizers, in bytes (finBlockSize). */
#define FINALIZER_BLOCK 4096

/* Blocks that are followed from one to the next, unless to make work. */
#define MAX_BLOCKS (1U << 20)

/* The least entries of the table of itabs (itabInitSize), and the most that are believed. */
#define LEAST_ITABS 512
#define MOST_ITABS  (1U << 22)

static unsigned word_size(const struct gh_process *process)
{
	return process->tab->pointer_size;
}

/* The name that a dump has for a type: its package's path, and what comes after the package's name
 * in its string; or, of one without a name, the string. */
static void add_type_name(struct gh_dump_stream *stream, const struct gh_rtypes *types,
			  const struct gh_rtype *type)
{
	struct gh_rtype_text package = gh_rtype_package(types, type);
	const char *start = type->text.start;
	const char *arguments = memchr(start, '[', type->text.length);
	size_t length = arguments != NULL ? (size_t)(arguments - start) : type->text.length;
	const char *dot = type->named && package.length > 0 ? memrchr(start, '.', length) : NULL;
	if (dot == NULL) {
		gh_dump_stream_text(stream, start, type->text.length);
		return;
	}
	size_t rest = type->text.length - (size_t)(dot - start);
	gh_buffer_uleb128(&stream->bytes, package.length + rest);
	gh_buffer_bytes(&stream->bytes, package.start, package.length);
	gh_buffer_bytes(&stream->bytes, dot, rest);
}

void gh_dump_add_type(struct gh_dump_stream *stream, const struct gh_process *process,
		      struct gh_dump_types *types, uint64_t address)
{
	uint32_t number = gh_rtypes_at(types->types, address - process->bias);
	if (address == 0 || number == GH_NO_RTYPE ||
	    gh_numbermap_get(&types->written, address) != GH_NOT_MAPPED)
		return;
	if (!gh_numbermap_put(&types->written, address, number)) {
		types->failed = true;
		return;
	}
	const struct gh_rtype *type = &types->types->items[number];
	gh_buffer_uleb128(&stream->bytes, GH_DUMP_TYPE);
	gh_buffer_uleb128(&stream->bytes, address);
	gh_buffer_uleb128(&stream->bytes, type->size);
	add_type_name(stream, types->types, type);
	gh_buffer_uleb128(&stream->bytes, !type->direct || type->pointers > 0);
}

/* Adds the record of a finalizer, registered or queued, whose fields are from the word at FN on:
 * the closure, then, after WORDS, the argument's type and the object's. */
static void add_finalizer(struct gh_dump_stream *stream, struct gh_process *process,
			  struct gh_dump_types *types, enum gh_dump_kind kind, uint64_t object,
			  uint64_t fn, unsigned words)
{
	struct gh_buffer *out = &stream->bytes;
	unsigned word = word_size(process);
	uint64_t closure = gh_process_word(process, fn);
	uint64_t argument_type = gh_process_word(process, fn + words * word);
	uint64_t object_type = gh_process_word(process, fn + (words + 1) * word);
	gh_dump_add_type(stream, process, types, argument_type);
	gh_dump_add_type(stream, process, types, object_type);
	gh_buffer_uleb128(out, kind);
	gh_buffer_uleb128(out, object);
	gh_buffer_uleb128(out, closure);
	gh_buffer_uleb128(out, closure != 0 ? gh_process_constant_pointer(process, closure) : 0);
	gh_buffer_uleb128(out, argument_type);
	gh_buffer_uleb128(out, object_type);
	gh_dump_stream_pass(stream);
}

void gh_dump_add_root(struct gh_dump_stream *stream, const char *description, uint64_t pointer)
{
	if (pointer == 0)
		return;
	gh_buffer_uleb128(&stream->bytes, GH_DUMP_OTHER_ROOT);
	gh_dump_stream_text(stream, description, strlen(description));
	gh_buffer_uleb128(&stream->bytes, pointer);
}

void gh_dump_add_note(struct gh_buffer *out, const char *note)
{
	size_t size = strlen(note);
	gh_buffer_uleb128(out, GH_DUMP_OTHER_ROOT);
	gh_buffer_uleb128(out, size);
	gh_buffer_bytes(out, note, size);
	gh_buffer_uleb128(out, 0);
}

/* Adds what the special at ADDRESS of SPAN is. */
static void add_special(struct gh_dump_stream *stream, struct gh_process *process,
			const struct gh_spans *spans, struct gh_dump_types *types,
			const struct gh_span *span, uint64_t address,
			const struct gh_special *special)
{
	const struct gh_special_kinds *kinds = &spans->layout.kinds;
	uint64_t fields = address + spans->layout.special_size;
	if (special->offset >= span->size)
		return;
	if (special->kind == kinds->finalizer)
		/* fn, nret, fint, ot */
		add_finalizer(stream, process, types, GH_DUMP_FINALIZER,
			      span->start + special->offset, fields, 2);
	else if (kinds->cleanup != 0 && special->kind == kinds->cleanup)
		gh_dump_add_cleanup(stream, process, GH_DUMP_CLEANUP, fields);
	else if (kinds->weak_handle != 0 && special->kind == kinds->weak_handle)
		gh_dump_add_root(stream, "weak pointer's handle", gh_process_word(process, fields));
}

void gh_dump_add_specials(struct gh_dump_stream *stream, struct gh_process *process,
			  const struct gh_spans *spans, struct gh_dump_types *types)
{
	uint64_t left = gh_specials_most(spans, process);
	for (size_t i = 0; i < spans->list.count && !stream->failed; i++) {
		const struct gh_span *span = &spans->list.items[i];
		uint64_t address = span->specials;
		struct gh_special special;
		for (; address != 0 && left > 0; left--) {
			if (!gh_special_read(spans, process, address, &special))
				break;
			add_special(stream, process, spans, types, span, address, &special);
			address = special.next;
		}
	}
}

/* A block of queued finalizers: alllink, next, cnt (4 bytes), 4 more, and the finalizers: fn, arg,
 * nret, fint, ot. */
struct block {
	uint64_t next;  /* alllink */
	uint64_t count; /* cnt */
	uint64_t first; /* address of the first */
};

static bool read_finalizer_block(struct gh_process *process, uint64_t address, struct block *block)
{
	unsigned word = word_size(process);
	*block = (struct block){.first = address + 2 * word + 8};
	return gh_process_may_point(process, address) &&
	       gh_process_uint(&process->memory, address, word, &block->next) &&
	       gh_process_uint(&process->memory, address + 2 * word, 4, &block->count) &&
	       block->count <= (FINALIZER_BLOCK - 2 * word - 8) / (5 * word);
}

/* Each of BLOCK's finalizers has a closure of a function's, and types. */
static bool are_finalizers(struct gh_process *process, const struct gh_dump_types *types,
			   const struct block *block)
{
	unsigned word = word_size(process);
	for (uint64_t i = 0; i < block->count; i++) {
		uint64_t at = block->first + i * 5 * word;
		uint64_t closure = gh_process_word(process, at);
		uint64_t type = gh_process_word(process, at + 3 * word);
		if (!gh_process_is_closure(process, closure) ||
		    (type != 0 && gh_rtypes_at(types->types, type - process->bias) == GH_NO_RTYPE))
			return false;
	}
	return true;
}

/* How many finalizers are queued in the list of blocks that starts at ADDRESS; 0 if it is none.
 * Takes the blocks off *LEFT. */
static uint64_t count_queued(struct gh_process *process, const struct gh_dump_types *types,
			     uint64_t address, uint64_t *left)
{
	uint64_t count = 0;
	for (; address != 0; --*left) {
		struct block block;
		if (*left == 0 || !read_finalizer_block(process, address, &block) ||
		    !are_finalizers(process, types, &block))
			return 0;
		count += block.count;
		address = block.next;
	}
	return count;
}

/* Looks for runtime.allfin, which lists all blocks, among variables without pointers into the heap:
 * what leads to the most finalizers. */
static uint64_t find_blocks(struct gh_process *process, const struct gh_dump_types *types)
{
	const struct gh_moduledata *module = &process->tab->module;
	unsigned word = word_size(process);
	uint64_t best = 0, most = 0;
	uint64_t left = MAX_BLOCKS;
	uint64_t at = module->noptrbss + process->bias;
	uint64_t end = module->enoptrbss + process->bias;
	uint64_t address;
	for (; gh_process_next_uint(&process->memory, &at, end, word, &address); at += word) {
		uint64_t count = address != 0 ? count_queued(process, types, address, &left) : 0;
		if (count > most) {
			most = count;
			best = address;
		}
	}
	return best;
}

void gh_dump_add_queued_finalizers(struct gh_dump_stream *stream, struct gh_process *process,
				   struct gh_dump_types *types)
{
	unsigned word = word_size(process);
	struct block block;
	uint64_t address = find_blocks(process, types);
	for (; address != 0 && read_finalizer_block(process, address, &block);
	     address = block.next) {
		for (uint64_t i = 0; i < block.count; i++) {
			uint64_t at = block.first + i * 5 * word;
			/* fn, arg, nret, fint, ot */
			add_finalizer(stream, process, types, GH_DUMP_QUEUED_FINALIZER,
				      gh_process_word(process, at + word), at, 3);
		}
	}
}

/* The table at ADDRESS has so many entries; 0 if it is none: as many are used as it says. */
static uint64_t count_itabs(struct gh_process *process, uint64_t address)
{
	unsigned word = word_size(process);
	uint64_t size, count, used = 0;
	if (!gh_process_may_point(process, address) ||
	    !gh_process_uint(&process->memory, address, word, &size) || size < LEAST_ITABS ||
	    size > MOST_ITABS || (size & (size - 1)) != 0 ||
	    !gh_process_uint(&process->memory, address + word, word, &count) || count == 0 ||
	    count > size)
		return 0;
	for (uint64_t i = 0; i < size; i++) {
		uint64_t itab = gh_process_word(process, address + (2 + i) * word);
		if (itab == 0)
			continue;
		uint64_t inter = 0;
		if (used++ == count || !gh_process_read_constant(process, itab, &inter, word))
			return 0;
	}
	return used == count ? size : 0;
}

void gh_dump_add_itabs(struct gh_dump_stream *stream, struct gh_process *process,
		       struct gh_dump_types *types)
{
	const struct gh_moduledata *module = &process->tab->module;
	unsigned word = word_size(process);
	uint64_t table = 0, size = 0;
	uint64_t at = module->data + process->bias;
	uint64_t end = module->edata + process->bias;
	/* runtime.itabTable */
	for (; size == 0 && gh_process_next_uint(&process->memory, &at, end, word, &table);
	     at += word)
		size = count_itabs(process, table);
	for (uint64_t i = 0; i < size; i++) {
		uint64_t itab = gh_process_word(process, table + (2 + i) * word);
		/* Its second word is the dynamic type. */
		uint64_t type = itab != 0 ? gh_process_constant_pointer(process, itab + word) : 0;
		if (type == 0)
			continue;
		gh_dump_add_type(stream, process, types, type);
		gh_buffer_uleb128(&stream->bytes, GH_DUMP_ITAB);
		gh_buffer_uleb128(&stream->bytes, itab);
		gh_buffer_uleb128(&stream->bytes, type);
		gh_dump_stream_pass(stream);
	}
}
