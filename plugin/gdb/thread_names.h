/* The names of a heap dump's threads in GDB: why their goroutines wait, and for how long. */
#ifndef GH_PLUGIN_GDB_THREAD_NAMES_H
#define GH_PLUGIN_GDB_THREAD_NAMES_H

#include <stdio.h>

#include "lib/dump/dump.h"

/* Tells GDB the names of the threads that DUMP's core file will have. */
void gh_threadnames_define(FILE *script, const struct gh_dump *dump);

/* Has GDB, which has that core file, give them to its threads. */
void gh_threadnames_apply(FILE *script);

#endif
