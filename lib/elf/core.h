/* What a core file has besides segments. */
#ifndef GH_ELF_CORE_H
#define GH_ELF_CORE_H

#include "lib/elf/image.h"
#include "lib/elf/loaded.h"

/* Looks the entry of this TYPE (AT_*) up in the auxiliary vector, the note NT_AUXV, of CORE, which
 * gh_image_open_core opened. False if there is none. */
bool gh_core_auxv(const struct gh_image *core, uint64_t type, uint64_t *value);

/* The process's memory, as far as CORE has it; good for as long as that is open. */
struct gh_memory gh_core_memory(const struct gh_image *core);

#endif
