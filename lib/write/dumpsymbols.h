/* Symbols from a heap dump alone, for when the program that wrote it is not at hand. */
#ifndef GH_WRITE_DUMPSYMBOLS_H
#define GH_WRITE_DUMPSYMBOLS_H

#include "lib/dump/dump.h"

/* Writes an ELF file for debuggers to PATH: a symbol for each function that has a frame in DUMP,
 * and a call frame description (DWARF 4, section 6.4) for each pc that a frame is at, whose size
 * the dump knows. Addresses are those of the dumped process. A stack's last frame has no caller.
 * Made under a temporary name beside PATH and renamed when it is whole. Returns false and fills ERR
 * if it cannot be written, or if the dump is of no machine that is known, or has no frames. */
bool gh_dumpsymbols_write(const struct gh_dump *dump, const char *path, struct gh_error *err);

#endif
