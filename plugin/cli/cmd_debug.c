/* goheap debug, goheap unstrip: the debug file of a stripped Go program, and the program with what
 * is in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/debugfile/debugfile.h"
#include "lib/elf/elf_writer.h"
#include "plugin/command/command.h"
#include "plugin/gdb/gdb.h"
#include "plugin/view/view.h"

/* What is written: a debug file, or the program with its symbols. */
enum form {
	DEBUG_FILE,
	PROGRAM,
};

/* The path by which FILE's debug file is found in the directory of the user's choice. */
static char *find_place(const struct gh_program *program, const struct gh_options *options)
{
	struct gh_error err;
	struct gh_buildinfo info;
	char path[PATH_MAX];
	gh_buildinfo_read_ids(&info, &program->image);
	bool found = info.gnu_build_id != NULL
			 ? gh_build_id_path(path, options->install, info.gnu_build_id) ||
			       gh_fail_errno(&err, options->install, "make its directories")
			 : gh_fail(&err, options->file, GH_NO_OFFSET, "a GNU build id", "none");
	gh_buildinfo_free(&info);
	if (!found)
		gh_print_error(&err);
	return found ? strdup(path) : NULL;
}

/* Writes the program's twin, the file TWIN, or its debug file. */
static bool write_twin(const char *twin, const char *output, enum form form, struct gh_error *err)
{
	struct gh_image image;
	struct gh_pclntab tab = {0};
	if (!gh_image_open(&image, twin, err))
		return false;
	bool written = form == PROGRAM ? gh_image_copy(&image, output, err)
				       : gh_pclntab_open(&tab, &image, err) &&
					     gh_supplement_write(&tab, output, err);
	gh_pclntab_close(&tab);
	gh_image_close(&image);
	return written;
}

/* Without an output it is the program's name with ".debug" or ".unstripped" added. */
static bool write_file(const struct gh_program *program, const struct gh_options *options,
		       enum form form)
{
	const char *output = options->output;
	char *path = NULL;
	if (options->install != NULL) {
		path = find_place(program, options);
		if (path == NULL)
			return false;
	} else if (output == NULL && asprintf(&path, "%s%s", program->image.path,
					      form == DEBUG_FILE ? ".debug" : ".unstripped") < 0) {
		gh_say(GH_OUT_OF_MEMORY);
		return false;
	}
	if (output == NULL)
		output = path;
	struct gh_error err;
	enum gh_debugger debugger = options->debugger != NULL ? GH_FOR_LLDB
				    : options->short_names    ? GH_FOR_GDB
							      : GH_FOR_ANY;
	/* The twin's DWARF is Go's, which LLDB does not take. */
	char *twin = debugger != GH_FOR_LLDB ? gh_kept_twin_find(&program->image) : NULL;
	bool written = false;
	if (twin != NULL)
		written = write_twin(twin, output, form, &err);
	else if (form == DEBUG_FILE)
		written = gh_debugfile_write(&program->tab, NULL, debugger, output, &err);
	else
		written = gh_debugfile_unstrip(&program->tab, debugger, output, &err);
	free(twin);
	if (!written)
		gh_print_error(&err);
	free(path);
	return written;
}

static int run(const struct gh_options *options, enum form form)
{
	struct gh_program program;
	struct gh_error err;
	if (options->install != NULL && options->output != NULL) {
		fputs("goheap debug: --install and -o name two places: leave one out\n", stderr);
		return GH_EXIT_USAGE;
	}
	if (options->debugger != NULL && options->short_names) {
		fputs("goheap debug: --short-names is for GDB, and --for lldb is not: leave one "
		      "out\n",
		      stderr);
		return GH_EXIT_USAGE;
	}
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
