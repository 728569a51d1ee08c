/* The variables of a heap dump's frames in DWARF, and their types. */
#ifndef GH_WRITE_SLOT_DWARF_H
#define GH_WRITE_SLOT_DWARF_H

#include "lib/util/buffer.h"
#include "lib/write/slots.h"

/* The variables' types where they are in .debug_info. The fields are private. */
struct gh_slot_types {
	uint32_t plain[GH_FIELD_KINDS]; /* offset of the type of each kind of slot */
	struct gh_buffer typed;         /* struct typed: those that point to a type of the dump */
};

/* Appends a unit to INFO, .debug_info, with the types of SLOTS: pointers, and what Go calls string,
 * slice, iface and eface. Where a slot's pointer is to a type of the dump it is to a struct of the
 * type's name and size, with its fields, named by their offset: "f_0x8". False if memory ran out.
 * In any case TYPES is to be freed with gh_slot_types_free. */
bool gh_slot_types_put(struct gh_slot_types *types, const struct gh_slots *slots,
		       struct gh_buffer *info);

void gh_slot_types_free(struct gh_slot_types *types);

/* Appends to INFO, within a function, a lexical block for SITE, with the site's variables, named by
 * their offset from sp: "sp_0x18". The block's end mark, a zero byte, is still to come, so that
 * other entries can be added to it. */
void gh_slot_block_begin(struct gh_buffer *info, const struct gh_slot_types *types,
			 const struct gh_slots *slots, const struct gh_site *site);

#endif
