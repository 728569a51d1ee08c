/* Symbols from a heap dump alone, for when the program that wrote it is not at hand. */
#ifndef GH_EXPORT_CORE_SYMBOLS_H
#define GH_EXPORT_CORE_SYMBOLS_H

#include "lib/dump/dump.h"

/* Writes an ELF file for debuggers to PATH. It has a symbol for each function that has a frame in
 * DUMP, and for each type and itab; a call frame description (DWARF 4, section 6.4) for each place
 * in the code that a frame is at, whose size the dump knows; and there, as variables, what the
 * frames' fieldlists say (see frame_slots.h). Addresses are those of the dumped process. A stack's
 * last frame has no caller. Made under a temporary name beside PATH and renamed when it is whole.
 * Returns false and fills ERR if it cannot be written, or if the dump is of no machine that is
 * known, or has no frames. */
bool gh_dumpsymbols_write(const struct gh_dump *dump, const char *path, struct gh_error *err);

/* The same into FD, an empty file. PATH is its name, for errors. */
bool gh_dumpsymbols_write_to(const struct gh_dump *dump, int fd, const char *path,
			     struct gh_error *err);

#endif
