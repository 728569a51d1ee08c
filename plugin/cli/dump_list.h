/* Shared by the commands that list the records of a heap dump. */
#ifndef GH_PLUGIN_CLI_DUMP_LIST_H
#define GH_PLUGIN_CLI_DUMP_LIST_H

#include "plugin/cli/options.h"
#include "plugin/view/emit.h"

/* Prints what PRINT does of the dump that OPTIONS name, laid out as LAYOUT; gives the exit status.
 */
int gh_dumplist_print(const struct gh_options *options, enum gh_emit_layout layout,
		      void (*print)(struct gh_emit *emit));

#endif
