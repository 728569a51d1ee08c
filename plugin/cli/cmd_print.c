/* goheap value: has GDB print what is at an address of the loaded heap dump, whose type is found.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/cli/command.h"
#include "plugin/cli/heap_query.h"
#include "plugin/gdb/gdb.h"

static int print_value(struct gh_heap_query *query, uint32_t object, uint64_t address)
{
	const char *directory = getenv(GH_SESSION_VARIABLE);
	FILE *script = directory != NULL ? gh_script_open(directory) : NULL;
	if (script == NULL) {
		fputs("goheap: value is for GDB's command goheap print\n", stderr);
		return GH_EXIT_USAGE;
	}
	bool known = gh_names_print_command(script, &query->names, object);
	/* The command has printed: _goheap_finish, which runs the script, is not to print again. */
	fputs("with confirm off -- define _goheap_then\nend\n", script);
	if (!gh_script_commit(script, directory))
		return GH_EXIT_INPUT;
	if (known)
		return GH_EXIT_OK;
	fprintf(stderr, "goheap: 0x%" PRIx64 ": not of a type that GDB can name: ", address);
	gh_names_print(stderr, &query->names, object);
	fputs("\n", stderr);
	return GH_EXIT_INPUT;
}

int gh_cmd_print(const struct gh_options *options)
{
	return gh_heap_query_run_each(options, false, print_value);
}
