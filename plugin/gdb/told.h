/* What goheap.gdb's _goheap_tell prints: a setting of GDB's, a line "files", and what `info files'
 * prints. */
#ifndef GH_PLUGIN_GDB_TOLD_H
#define GH_PLUGIN_GDB_TOLD_H

#include <stdbool.h>
#include <stdio.h>

#include "plugin/gdb/info_files.h"

struct gh_told {
	bool held;                 /* goheap itself has GDB run the command: GH_SCRIPT_UNHOOKED */
	struct gh_infofiles files; /* owned: for gh_infofiles_free */
};

/* Reads what GDB printed from IN; it may end early. False if memory ran out. */
bool gh_told_read(struct gh_told *told, FILE *in);

/* The same from TEXT. */
bool gh_told_parse(struct gh_told *told, const char *text);

#endif
