/* Relative relocations, applied to a file's bytes as for load address 0. */
#ifndef GH_ELF_RELOCATE_H
#define GH_ELF_RELOCATE_H

#include "lib/elf/image.h"

/* Applies the relocations of IMAGE's DT_RELA table that only add the load address: writes their
 * addends where they apply. Those that lie outside the file's bytes are passed over. Tables without
 * addends (DT_REL, DT_RELR) need nothing: there the addend is in place already.
 * Format: the ELF specification's dynamic section, and each machine's psABI for the type numbers.
 */
void gh_relocate(struct gh_image *image);

#endif
