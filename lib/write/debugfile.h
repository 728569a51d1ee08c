/* The separate debug file of a stripped Go program: what `objcopy --only-keep-debug` would have
 * kept, had there been anything to keep. */
#ifndef GH_WRITE_DEBUGFILE_H
#define GH_WRITE_DEBUGFILE_H

#include "lib/pclntab/pclntab.h"
#include "lib/write/slots.h"

/* Writes the debug file of TAB's image to PATH: ELF and section headers as in the image, a
 * symbol table of functions, types and itabs, DWARF 4 (.debug_info, .debug_abbrev, .debug_line,
 * .debug_aranges, .debug_ranges, .debug_frame), and the image's own .eh_frame for its C functions.
 * Unless SLOTS is NULL it is for a heap dump of the program: functions have its variables (see
 * slot_dwarf.h), and if the program's types cannot be read the dump's have symbols. The file is
 * made under a temporary name beside PATH and renamed when it is whole. Returns false and fills ERR
 * if it cannot be written or the tables are malformed beyond use; then nothing is left behind. */
bool gh_debugfile_write(const struct gh_pclntab *tab, const struct gh_slots *slots,
			const char *path, struct gh_error *err);

/* The same into memory: on success *DATA is *SIZE bytes, to be freed by the caller.
 */
bool gh_debugfile_make(const struct gh_pclntab *tab, const struct gh_slots *slots, uint8_t **data,
		       size_t *size, struct gh_error *err);

#endif
