/* goheap debug: the debug file of a stripped Go program. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/debugfile/debugfile.h"
#include "plugin/cli/command.h"
#include "plugin/view/view.h"

/* Without an output it is the program's name with ".debug" added. */
static bool write_debug_file(const struct gh_program *program, const struct gh_options *options)
{
	const char *output = options->output;
	char *path = NULL;
	if (output == NULL && asprintf(&path, "%s.debug", program->image.path) < 0) {
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
		return false;
	}
	struct gh_error err;
	bool written = gh_debugfile_write(&program->tab, NULL, options->short_names,
					  output != NULL ? output : path, &err);
	if (!written)
		gh_print_error(&err);
	free(path);
	return written;
}

int gh_cmd_debug(const struct gh_options *options)
{
	struct gh_program program;
	if (!gh_check_output(options->output, options->file) ||
	    !gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	bool written = write_debug_file(&program, options);
	gh_program_close(&program);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}
