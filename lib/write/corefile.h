/* A core file made from a heap dump: goroutines as threads, and what the dump has of memory. */
#ifndef GH_WRITE_COREFILE_H
#define GH_WRITE_COREFILE_H

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
 * sparse. Returns false and fills ERR if it cannot be written, or if the dump is of no machine that
 * is known. */
bool gh_corefile_write(const struct gh_dump *dump, const struct gh_core_program *program,
		       const char *path, struct gh_error *err);

/* The pc that the core file has for TOP, a stack's first frame. A goroutine that does not run has
 * saved the address that a call returns to, which may be another line's; or, where nothing was
 * called, its function's entry, before it starts, or the end of the prologue, in
 * runtime.systemstack_switch. */
uint64_t gh_corefile_pc(const struct gh_arch *arch, const struct gh_dump_frame *top);

#endif
