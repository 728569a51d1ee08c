/* goheap debug, goheap unstrip: the debug file of a stripped Go program, and the program with what
 * is in it. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/debugfile/debugfile.h"
#include "plugin/cli/command.h"
#include "plugin/view/view.h"

/* What is written: a debug file, or the program with its symbols. */
enum form {
	DEBUG_FILE,
	PROGRAM,
};

/* Without an output it is the program's name with ".debug" or ".unstripped" added. */
static bool write_file(const struct gh_program *program, const struct gh_options *options,
		       enum form form)
{
	const char *output = options->output;
	char *path = NULL;
	if (output == NULL && asprintf(&path, "%s%s", program->image.path,
				       form == DEBUG_FILE ? ".debug" : ".unstripped") < 0) {
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
		return false;
	}
	if (output == NULL)
		output = path;
	struct gh_error err;
	bool written = form == DEBUG_FILE ? gh_debugfile_write(&program->tab, NULL,
							       options->short_names, output, &err)
					  : gh_debugfile_unstrip(&program->tab, output, &err);
	if (!written)
		gh_print_error(&err);
	free(path);
	return written;
}

static int run(const struct gh_options *options, enum form form)
{
	struct gh_program program;
	struct gh_error err;
	if (!gh_check_output(options->output, options->file) ||
	    !gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	bool written = false;
	if (form == PROGRAM && gh_image_has_dwarf(&program.image)) {
		gh_fail(&err, options->file, GH_NO_OFFSET, "a stripped program",
			"one with its DWARF: it needs no other");
		gh_print_error(&err);
	} else {
		written = write_file(&program, options, form);
	}
	gh_program_close(&program);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_debug(const struct gh_options *options)
{
	return run(options, DEBUG_FILE);
}

int gh_cmd_unstrip(const struct gh_options *options)
{
	return run(options, PROGRAM);
}
