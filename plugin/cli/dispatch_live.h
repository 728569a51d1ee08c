/* Commands on what GDB debugs: a process, live or in a core file. */
#ifndef GH_PLUGIN_CLI_DISPATCH_LIVE_H
#define GH_PLUGIN_CLI_DISPATCH_LIVE_H

#include "plugin/gdb/info_files.h"
#include "plugin/gdb/words.h"

/* Writes the script by which GDB runs the command WORDS on what it debugs, serving it memory: by
 * `goheap live', which reads the words again. ADDRESS, a number as text, is the value of what was
 * typed after the command; NULL if that is not an expression. DIRECTORY is the session's. Returns
 * an exit status. */
int gh_dispatch_live(const struct gh_words *words, const char *address, const char *directory,
		     const struct gh_infofiles *files);

#endif
