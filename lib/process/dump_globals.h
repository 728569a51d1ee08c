/* The global variables of a process's modules, as records of a heap dump: those of the program, and
 * of what it has loaded as plugins or, if it is in C itself, as shared libraries.
 *
 * Source: type moduledata in src/runtime/symtab.go. */
#ifndef GH_PROCESS_DUMP_GLOBALS_H
#define GH_PROCESS_DUMP_GLOBALS_H

#include "lib/process/dump_stream.h"

/* Adds the records of the data and bss segments of the modules of PROCESS, those of its program
 * first. False if the masks of some are not found: then they are without fields. */
bool gh_dump_add_globals(struct gh_dump_stream *stream, struct gh_process *process);

#endif
