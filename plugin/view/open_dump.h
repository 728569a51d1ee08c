/* A heap dump that a command reads, and what is in it in words. */
#ifndef GH_PLUGIN_VIEW_OPEN_DUMP_H
#define GH_PLUGIN_VIEW_OPEN_DUMP_H

#include <stdio.h>

#include "lib/dump/dump.h"
#include "lib/export/core_file.h"

/* Opens the dump at PATH, to be closed with gh_dump_close. On failure prints the error and returns
 * false. What is missing or wrong in a dump that can be read is told on standard error. */
bool gh_dumpfile_open(struct gh_dump *dump, const char *path);

/* Writes a core file of DUMP, which PROGRAM wrote, to PATH. On failure prints the error and returns
 * false. */
bool gh_dumpfile_write_core(const struct gh_dump *dump, const struct gh_core_program *program,
			    const char *path);

/* The file at PATH begins as a heap dump does, or as a gzip file. False, too, if it cannot be read.
 */
bool gh_dumpfile_recognise(const char *path);

/* What Go calls the STATUS of a goroutine. */
const char *gh_dumpfile_status(uint64_t status);

/* Why GOROUTINE waits or, if it does not, its status: SIZE bytes, of the dump's or static; to be
 * escaped. */
const char *gh_dumpfile_state(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine,
			      size_t *size);

/* How many whole minutes a goroutine has waited, or been in a system call. */
uint64_t gh_dumpfile_minutes(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine);

/* The name of the type at ADDRESS, of size 0 if the dump does not have it. */
struct gh_dump_slice gh_dumpfile_type_name(const struct gh_dump *dump, uint64_t address);

#endif
