/* Which of a line's instructions start its statement. */
#ifndef GH_WRITE_STATEMENT_H
#define GH_WRITE_STATEMENT_H

#include "lib/elf/arch.h"

#include <stddef.h>

/* True if the SIZE bytes of CODE for ARCH do nothing but move data between registers and the stack
 * frame, and jump: what the register allocator put there, not the statement whose line the
 * pclntab has for it. A breakpoint that is set there may never be reached, or not first. Always
 * false on machines other than amd64, 386 and arm64, whose instructions it does not know. */
bool gh_code_only_moves(const struct gh_arch *arch, const uint8_t *code, size_t size);

#endif
