#include "lib/process/internal.h"

#include <string.h>

#include "lib/rtype/rtype.h"

/* abi.TFlagGCMaskOnDemand (Go 1.24): GCData is the address of the pointer to the mask, which is nil
 * until it is first needed. Such types are structs and arrays. */
#define MASK_ON_DEMAND 16

/* The bits of the kind (abi.KindMask). */
#define KIND_MASK 31

/* Types in each other, unless to make work. */
#define MAX_DEPTH 64

/* A descriptor: size, pointer data, hash, flags, two alignments, kind, equal, GCData, and two more
 * numbers of 4 bytes. */
struct descriptor {
	uint64_t size;
	uint64_t pointers;
	uint64_t mask; /* address; 0 if it is to be made */
	uint64_t rest; /* address of what follows */
	uint8_t kind;
};

static bool read_descriptor(struct gh_process *process, uint64_t address,
			    struct descriptor *descriptor)
{
	unsigned word = process->tab->pointer_size;
	uint8_t bytes[5 * 8];
	if (address == 0 || address % word != 0 ||
	    !gh_process_read_constant(process, address, bytes, 4 * word + 8))
		return false;
	struct gh_cursor cur =
	    gh_cursor_make(bytes, sizeof(bytes), "type", address, process->memory.big_endian);
	descriptor->size = gh_cursor_uint(&cur, word);
	descriptor->pointers = gh_cursor_uint(&cur, word);
	uint8_t flags = bytes[2 * word + 4];
	descriptor->kind = bytes[2 * word + 7] & KIND_MASK;
	descriptor->mask = gh_process_constant_pointer(process, address + 3 * word + 8);
	descriptor->rest = address + 4 * word + 16;
	if ((flags & MASK_ON_DEMAND) != 0 && process->minor >= 24)
		descriptor->mask = gh_process_constant_pointer(process, descriptor->mask);
	return descriptor->pointers <= descriptor->size;
}

/* A mask that is being made. */
struct maker {
	struct gh_process *process;
	struct gh_type_mask *type;
	uint64_t left; /* parts that may still be looked at */
};

static bool make(struct maker *maker, uint64_t address, uint64_t offset, unsigned depth);

static uint64_t constant_word(const struct maker *maker, uint64_t address)
{
	return gh_process_constant_pointer(maker->process, address);
}

/* A number is no address: the file's is the process's. */
static uint64_t constant_number(const struct maker *maker, uint64_t address)
{
	unsigned word = maker->process->tab->pointer_size;
	uint8_t bytes[8];
	if (!gh_process_read_constant(maker->process, address, bytes, word))
		return 0;
	struct gh_cursor cur =
	    gh_cursor_make(bytes, word, "type", address, maker->process->memory.big_endian);
	return gh_cursor_uint(&cur, word);
}

/* Copies the mask of PART, of a value at OFFSET. */
static bool copy(struct maker *maker, const struct descriptor *part, uint64_t offset)
{
	unsigned word = maker->process->tab->pointer_size;
	for (uint64_t i = 0; i < part->pointers / word; i++) {
		uint64_t number = offset / word + i;
		uint8_t byte;
		if (maker->left-- == 0 || number / 8 >= maker->type->made.count ||
		    !gh_process_read_constant(maker->process, part->mask + i / 8, &byte, 1))
			return false;
		if ((byte >> i % 8 & 1) != 0)
			maker->type->made.items[number / 8] |= (uint8_t)(1U << number % 8);
	}
	return true;
}

/* What follows in an array's descriptor: element, slice, length. */
static bool make_array(struct maker *maker, const struct descriptor *array, uint64_t offset,
		       unsigned depth)
{
	unsigned word = maker->process->tab->pointer_size;
	uint64_t element = constant_word(maker, array->rest);
	uint64_t length = constant_number(maker, array->rest + 2 * word);
	uint64_t step = length > 0 ? array->size / length : 0;
	for (uint64_t i = 0; i < length; i++)
		if (!make(maker, element, offset + i * step, depth + 1))
			return false;
	return true;
}

/* What follows in a struct's: package path, and a slice of fields: name, type, offset. */
static bool make_struct(struct maker *maker, const struct descriptor *structure, uint64_t offset,
			unsigned depth)
{
	unsigned word = maker->process->tab->pointer_size;
	uint64_t fields = constant_word(maker, structure->rest + word);
	uint64_t count = constant_number(maker, structure->rest + 2 * word);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t field = fields + i * 3 * word;
		uint64_t place = constant_number(maker, field + 2 * word);
		if (place > structure->size ||
		    !make(maker, constant_word(maker, field + word), offset + place, depth + 1))
			return false;
	}
	return true;
}

/* Adds the pointers of a value at OFFSET, of the type at ADDRESS. */
static bool make(struct maker *maker, uint64_t address, uint64_t offset, unsigned depth)
{
	struct descriptor part;
	if (maker->left == 0 || depth > MAX_DEPTH || offset > maker->type->size)
		return false;
	maker->left--;
	if (!read_descriptor(maker->process, address, &part))
		return false;
	if (part.pointers == 0)
		return true;
	if (part.mask != 0)
		return copy(maker, &part, offset);
	if (part.kind == GH_KIND_ARRAY)
		return make_array(maker, &part, offset, depth);
	return part.kind == GH_KIND_STRUCT && make_struct(maker, &part, offset, depth);
}

void gh_type_mask_read(struct gh_type_mask *type, struct gh_process *process, uint64_t address)
{
	struct descriptor descriptor;
	*type = (struct gh_type_mask){0};
	if (!read_descriptor(process, address, &descriptor) || descriptor.size == 0)
		return;
	type->size = descriptor.size;
	type->pointers = descriptor.pointers;
	type->mask = descriptor.mask;
	uint64_t words = type->pointers / process->tab->pointer_size;
	if (type->mask != 0 || words == 0 || words > process->memory.source->size)
		return;
	uint8_t *made = gh_vector_extend(&type->made, (size_t)((words + 7) / 8));
	if (made == NULL)
		return;
	memset(made, 0, type->made.count);
	struct maker maker = {process, type, 8 * words + 1024};
	if (!make(&maker, address, 0, 0))
		gh_vector_free(&type->made);
}

bool gh_type_mask_bytes(const struct gh_type_mask *type, struct gh_process *process, uint64_t from,
			uint8_t *bytes, size_t size)
{
	if (type->mask != 0)
		return gh_process_read_constant(process, type->mask + from, bytes, size);
	if (from > type->made.count || size > type->made.count - from)
		return false;
	memcpy(bytes, type->made.items + from, size);
	return true;
}
