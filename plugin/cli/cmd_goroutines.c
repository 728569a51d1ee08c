/* goheap goroutines: the goroutines of a heap dump, a core file, or what GDB debugs, as Go prints
 * tracebacks.
 */
#include <stdio.h>

#include "plugin/cli/command.h"
#include "plugin/gdb/goroutine_source.h"
#include "plugin/view/goroutines.h"
#include "plugin/view/print.h"

static bool print_listing(const struct gh_options *options, const struct gh_dump *dump,
			  struct gh_symbols *symbols)
{
	struct gh_goroutine_list listing = {
	    .out = stdout,
	    .dump = dump,
	    .symbols = symbols,
	    .status = options->status,
	    .pattern = options->has_pattern ? &options->pattern : NULL,
	    .all = options->all,
	    .group = options->group,
	    .json = options->json,
	};
	return gh_goroutines_print(&listing);
}

/* PROGRAM is what wrote the dump; NULL if it is not given. */
static bool print_snapshot(const struct gh_options *options, const struct gh_dump *dump,
			   const char *program)
{
	struct gh_symbols symbols;
	if (program == NULL)
		return print_listing(options, dump, NULL);
	if (!gh_symbols_open(&symbols, dump, program))
		return false;
	bool printed = print_listing(options, dump, &symbols);
	gh_symbols_close(&symbols);
	return printed;
}

int gh_cmd_goroutines(const struct gh_options *options)
{
	struct gh_snapshot snapshot;
	char running[32];
	const char *program = gh_options_program(options, running);
	gh_print_in_blocks();
	if (options->process != NULL
		? !gh_snapshot_open_process(&snapshot, options->process, program)
		: !gh_snapshot_open(&snapshot, options->file, program))
		return GH_EXIT_INPUT;
	bool printed = print_snapshot(options, &snapshot.dump, program);
	gh_snapshot_close(&snapshot);
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}
