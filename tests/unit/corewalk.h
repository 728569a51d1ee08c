/* Reads a core file that was made from a heap dump. */
#ifndef TESTS_UNIT_COREWALK_H
#define TESTS_UNIT_COREWALK_H

#include "lib/export/export.h"

/* Writes DUMP to PATH as a core file, and aborts unless that is to libelf an ELF file with a thread
 * for each goroutine, and with the dump's memory where the dump has it. False if it was not
 * written. */
bool core_walk(const struct gh_dump *dump, const struct gh_core_program *program, const char *path);

#endif
