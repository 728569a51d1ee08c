/* goheap debug: the debug file of a stripped Go program. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/debugfile/debugfile.h"
#include "plugin/cli/command.h"
#include "plugin/cli/options.h"
#include "plugin/view/open_program.h"

struct arguments {
	const char *file;   /* the program; in argv */
	const char *output; /* the file to write; in argv, NULL if not given */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case 'o':
		arguments->output = arg;
		return 0;
	default:
		return gh_options_one(key, arg, state, &arguments->file);
	}
}

/* OUTPUT is NULL for the program's name with ".debug" added. */
static bool write_debug_file(const struct gh_program *program, const char *output)
{
	char *path = NULL;
	if (output == NULL && asprintf(&path, "%s.debug", program->image.path) < 0) {
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
		return false;
	}
	struct gh_error err;
	bool written =
	    gh_debugfile_write(&program->tab, NULL, output != NULL ? output : path, &err);
	if (!written)
		gh_print_error(&err);
	free(path);
	return written;
}

int gh_cmd_debug(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {.name = "output", .key = 'o', .arg = "OUT", .doc = "Write OUT, not FILE.debug"},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "FILE",
	    .doc = "Write the debug file of the stripped Go program FILE: its symbols, source "
		   "lines, types and unwind information as ELF and DWARF.",
	};
	struct arguments arguments = {0};
	gh_arguments_parse(&argp, argc, argv, 0, &arguments);

	struct gh_program program;
	if (!gh_check_output(arguments.output, arguments.file) ||
	    !gh_program_open(&program, arguments.file))
		return GH_EXIT_INPUT;
	bool written = write_debug_file(&program, arguments.output);
	gh_program_close(&program);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}
