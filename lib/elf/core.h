/* A core file: its notes, its auxiliary vector, and the process's memory. */
#ifndef GH_ELF_CORE_H
#define GH_ELF_CORE_H

#include "lib/elf/image.h"
#include "lib/elf/loaded.h"

/* Finds the next note of the kernel's of this TYPE (NT_*) in CORE, which gh_image_open_core opened,
 * from *AT on, which is 0 at first and then where the next is looked for. NOTE is its contents.
 * False if there are no more. */
bool gh_core_note(const struct gh_image *core, uint32_t type, uint64_t *at, struct gh_cursor *note);

/* Looks the entry of this TYPE (AT_*) up in the auxiliary vector, the note NT_AUXV, of CORE. False
 * if there is none. */
bool gh_core_auxv(const struct gh_image *core, uint64_t type, uint64_t *value);

/* What the process's program was called when it was run, as far as CORE has it; NULL if not. */
const char *gh_core_execfn(const struct gh_image *core);

/* Opens LOADED, the headers of the process's program in CORE's memory, as gh_loaded_open does. */
bool gh_core_loaded(struct gh_loaded *loaded, const struct gh_image *core, struct gh_error *err);

/* How many bytes CORE's segments have past its end: not 0 if the file was cut short. */
uint64_t gh_core_missing(const struct gh_image *core);

/* The process's memory, as far as CORE has it; good for as long as that is open. */
struct gh_memory gh_core_memory(const struct gh_image *core);

#endif
