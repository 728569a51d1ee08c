/* Variables without a source in DWARF, in blocks of the code where they are known, and their types.
 * DWARF 4, sections 3.5, 4.1, 5.1, 5.2, 5.5 and 7.5. */
#ifndef GH_WRITE_DWARF_VARIABLE_H
#define GH_WRITE_DWARF_VARIABLE_H

#include "lib/util/buffer.h"

/* The codes of the abbreviations are from 1 to this. Checkers want codes to go up by one. */
#define GH_VARIABLE_ABBREVS 8

/* Begins .debug_abbrev with abbreviations; its end mark is still to come. */
void gh_variable_abbrevs(struct gh_buffer *abbrev);

/* Appends a unit called NAME to INFO, .debug_info, whose addresses have WORD bytes, for types.
 * Returns where it starts. The abbreviations are the section's first. */
size_t gh_variable_unit_begin(struct gh_buffer *info, const char *name, uint8_t word);

/* Append a type to the unit that is in the making. Each returns the type's offset in INFO. Sizes
 * are in bytes; TO and TYPE are offsets of types. */
uint32_t gh_variable_base(struct gh_buffer *info, const char *name, uint8_t encoding, uint8_t size);
uint32_t gh_variable_pointer(struct gh_buffer *info, uint8_t size, uint32_t to);

/* The same of a struct. Its name, a string, is to follow, and then its members; gh_buffer_u8 of 0
 * ends it. */
uint32_t gh_variable_struct_begin(struct gh_buffer *info, uint64_t size);
void gh_variable_member(struct gh_buffer *info, const char *name, uint64_t offset, uint32_t type);

/* The same of another name of TYPE, which is to follow. */
uint32_t gh_variable_typedef_begin(struct gh_buffer *info, uint32_t type);

/* Appends to INFO, within a function, a block of the code from ADDRESS on, of SIZE bytes.
 * gh_buffer_u8 of 0 ends it. */
void gh_variable_block_begin(struct gh_buffer *info, uint64_t address, uint64_t size, uint8_t word);

/* Appends a variable to the block. The expression that tells where it is, in less than 128 bytes,
 * is to follow; gh_variable_end ends it, given what this returns. */
size_t gh_variable_begin(struct gh_buffer *info, const char *name, uint32_t type);
void gh_variable_end(struct gh_buffer *info, size_t start);

#endif
