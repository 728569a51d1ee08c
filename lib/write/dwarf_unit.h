/* What each unit of .debug_info begins and ends with. DWARF 4, section 7.5.1.1. */
#ifndef GH_WRITE_DWARF_UNIT_H
#define GH_WRITE_DWARF_UNIT_H

#include "lib/util/buffer.h"

/* Appends a unit's header to INFO: its abbreviations are at offset ABBREV of .debug_abbrev, and its
 * addresses have WORD bytes. Returns where the unit starts. */
size_t gh_unit_begin(struct gh_buffer *info, uint32_t abbrev, uint8_t word);

/* Ends the children of its first entry, and the unit that starts at START. */
void gh_unit_end(struct gh_buffer *info, size_t start);

#endif
