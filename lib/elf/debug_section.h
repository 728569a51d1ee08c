/* Sections of debug information, which linkers compress. */
#ifndef GH_ELF_DEBUG_SECTION_H
#define GH_ELF_DEBUG_SECTION_H

#include "lib/elf/image.h"
#include "lib/util/buffer.h"

/* The section of IMAGE whose name is NAME, such as "debug_info", behind a dot or, as some linkers
 * call one that is compressed, ".z"; NULL if there is none. */
const struct gh_section *gh_debug_section(const struct gh_image *image, const char *name);

/* Appends what SECTION holds to OUT, uncompressed. False if it cannot be read, is compressed by
 * something else than zlib, or would be larger than any such section is, or memory ran out. */
bool gh_debug_section_read(const struct gh_image *image, const struct gh_section *section,
			   struct gh_buffer *out);

#endif
