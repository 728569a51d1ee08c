/* A core file made from a heap dump: goroutines as threads, and what the dump has of memory. */
#ifndef GH_EXPORT_CORE_FILE_H
#define GH_EXPORT_CORE_FILE_H

#include "lib/dump/dump.h"

/* What a dump does not say of the program that wrote it. */
struct gh_core_program {
	const char *name; /* without a directory; "" if unknown */
	uint64_t entry; /* address of the entry point where the program was loaded; 0 if unknown */
};

/* Writes DUMP to PATH as an ELF core file: an NT_PRSTATUS note for each goroutine, whose thread id
 * is the goroutine's where that can be (positive, fits, and no other has it), with pc (at
 * the call it is in) and sp of its top frame; an NT_PRPSINFO note with the name of PROGRAM; an
 * NT_AUXV note with its entry point, by which debuggers know where a position-independent program
 * was; and objects, stack frames, data and bss as loadable segments. Objects that lie within a page
 * of each other share a segment, as do frames; what is between them reads as zeros. The file is
 * made under a temporary name beside PATH and renamed when it is whole; where it is zero it is
 * sparse. Only the user may read it. LEFT_OUT is set to how many goroutines are no threads, which
 * none are but of a dump that says next to nothing of each: the threads of a file shall not take
 * many times as much as the file. Returns false and fills ERR if it cannot be written, or if the
 * dump is of no machine that is known. */
bool gh_corefile_write(const struct gh_dump *dump, const struct gh_core_program *program,
		       const char *path, size_t *left_out, struct gh_error *err);

#endif
