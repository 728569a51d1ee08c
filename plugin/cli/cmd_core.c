/* goheap core: a heap dump as a core file. */
#include <stdio.h>
#include <string.h>

#include "lib/export/export.h"
#include "plugin/cli/command.h"
#include "plugin/view/view.h"

/* PROGRAM is NULL if it was not given. */
static bool write_core(const struct gh_dump *dump, const char *path, const char *output)
{
	struct gh_core_program program = {.name = ""};
	if (path != NULL && !gh_symbols_program(&program, dump, path))
		return false;
	return gh_dumpfile_write_core(dump, &program, output);
}

int gh_cmd_core(const struct gh_options *options)
{
	struct gh_dump dump;
	if (!gh_check_output(options->output, options->file) ||
	    !gh_check_output(options->output, options->program) ||
	    !gh_dumpfile_open(&dump, options->file))
		return GH_EXIT_INPUT;
	bool written = write_core(&dump, options->program, options->output);
	gh_dump_close(&dump);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}
