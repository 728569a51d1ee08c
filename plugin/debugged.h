/* Commands on what GDB debugs: a process, live or in a core file. */
#ifndef GH_PLUGIN_DEBUGGED_H
#define GH_PLUGIN_DEBUGGED_H

#include <stdbool.h>

#include "plugin/infofiles.h"

/* The command NAME can be run on it. */
bool gh_debugged_has(const char *name);

/* Writes the script by which GDB runs the command ARGV[0], with its ARGC - 1 arguments, on what it
 * debugs, serving it memory. DIRECTORY is the session's. Returns an exit status. */
int gh_debugged_run(char **argv, int argc, const char *directory, const struct gh_infofiles *files);

#endif
