/* goheap library: what goheap.gdb runs where GDB can tell that it is loading a library. Prints a
 * line that names the debug file that it is to have, which is empty if it is to have none, and then
 * GDB's commands that say what library it is. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/cache_directory.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"

int gh_cmd_library(const struct gh_options *options)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	if (directory == NULL || options->nwords < 3 || options->nwords > 4) {
		fputs("goheap library: only for goheap.so to run\n", stderr);
		return GH_EXIT_USAGE;
	}
	const struct gh_library_loading loading = {
	    .path = options->words[1],
	    .build_id = options->words[2],
	    .debug = options->nwords == 4 ? options->words[3] : NULL,
	};
	struct gh_told told = {.files.pid = atoi(options->words[0])};
	char *cache = gh_cache_directory(true);
	char *said = NULL;
	size_t size = 0;
	struct gh_library_look look = {
	    .script = open_memstream(&said, &size),
	    .session = directory,
	    .cache = cache != NULL ? cache : directory,
	    .told = &told,
	};
	if (look.script == NULL)
		return GH_EXIT_INPUT;
	char *debug = gh_library_load(&look, &loading);
	if (fclose(look.script) == 0)
		printf("%s\n%s", debug != NULL ? debug : "", said);
	free(debug);
	free(said);
	free(cache);
	return GH_EXIT_OK;
}
