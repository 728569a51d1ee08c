#include "lib/process/internal.h"

#include <stdlib.h>

#include "lib/pclntab/pclntab.h"

/* In the descriptor of a type, of one whose pointers a program for the collector tells instead of a
 * mask (kindGCProg). */
#define KIND_GC_PROGRAM 64

void gh_stack_objects_start(struct gh_stack_objects *walk, const struct gh_pclntab *tab, int minor,
			    const struct gh_func *func)
{
	*walk = (struct gh_stack_objects){.tab = tab, .minor = minor};
	if (!gh_stackmaps_told(tab))
		return;
	uint64_t address = gh_pclntab_funcdata(tab, func, tab->numbers.stack_objects);
	if (address != 0 && gh_image_at(tab->image, address, &walk->records))
		walk->left = gh_cursor_uint(&walk->records, tab->pointer_size);
}

/* To Go 1.16: the offset, and the type: size, pointer data, hash, flags, two alignments, kind,
 * equal, GCData. */
static void read_typed(struct gh_stack_objects *walk, struct gh_stack_object *object)
{
	unsigned word = walk->tab->pointer_size;
	uint64_t offset = gh_cursor_uint(&walk->records, word);
	uint64_t type = gh_cursor_uint(&walk->records, word);
	struct gh_cursor cur;
	object->offset = word == 8 ? (int64_t)offset : (int32_t)offset;
	if (!gh_image_at(walk->tab->image, type, &cur)) {
		walk->records.failed = true;
		return;
	}
	object->size = gh_cursor_uint(&cur, word);
	object->pointers = gh_cursor_uint(&cur, word);
	gh_cursor_bytes(&cur, 4 + 1 + 1 + 1);
	uint8_t kind = gh_cursor_u8(&cur);
	gh_cursor_bytes(&cur, word);
	uint64_t mask = gh_cursor_uint(&cur, word);
	object->mask = (kind & KIND_GC_PROGRAM) != 0 ? 0 : mask;
	walk->records.failed = walk->records.failed || cur.failed;
}

/* From Go 1.17 on: offset, size, and pointer data, which is negative if a program tells of them, in
 * 4 bytes each; and the mask: its address, or, from 1.18 on, how far it is from rodata. */
static void read_numbers(struct gh_stack_objects *walk, struct gh_stack_object *object)
{
	unsigned word = walk->tab->pointer_size;
	object->offset = (int32_t)gh_cursor_u32(&walk->records);
	object->size = gh_cursor_u32(&walk->records);
	int64_t pointers = (int32_t)gh_cursor_u32(&walk->records);
	uint64_t mask;
	if (walk->minor == 17) {
		gh_cursor_bytes(&walk->records, word - 4);
		mask = gh_cursor_uint(&walk->records, word);
	} else {
		mask = walk->tab->module.rodata + gh_cursor_u32(&walk->records);
	}
	object->pointers = (uint64_t)llabs(pointers);
	object->mask = pointers < 0 ? 0 : mask;
}

bool gh_stack_objects_next(struct gh_stack_objects *walk, struct gh_stack_object *object)
{
	if (walk->left == 0)
		return false;
	walk->left--;
	*object = (struct gh_stack_object){0};
	if (walk->minor < 17)
		read_typed(walk, object);
	else
		read_numbers(walk, object);
	if (walk->records.failed || object->size == 0 || object->pointers > object->size)
		walk->left = 0;
	return !walk->records.failed && object->size > 0 && object->pointers <= object->size;
}
