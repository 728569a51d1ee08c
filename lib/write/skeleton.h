/* The ELF file without its contents: what a debug file takes over from the program. */
#ifndef GH_WRITE_SKELETON_H
#define GH_WRITE_SKELETON_H

#include "lib/elf/image.h"
#include "lib/write/elffile.h"

struct gh_skeleton {
	uint32_t *numbers; /* each section's number in the new file, by its number in the image; 0
			      if it is left out; owned */
};

/* Fills ELF with the header, the segments and the allocated sections of IMAGE: those without
 * contents, as `objcopy --only-keep-debug` does it, but for the notes, the interpreter's name and
 * .eh_frame, which a debugger looks for in the debug file. Where the image has no section headers,
 * sections are made up from its segments. False (ERR filled) if memory ran out; in any case ELF and
 * SKELETON are to be freed. */
bool gh_skeleton_make(struct gh_skeleton *skeleton, struct gh_elf *elf,
		      const struct gh_image *image, struct gh_error *err);

void gh_skeleton_free(struct gh_skeleton *skeleton);

#endif
