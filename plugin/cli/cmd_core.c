/* goheap core: a heap dump as a core file. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "lib/export/core_file.h"
#include "plugin/cli/command.h"
#include "plugin/cli/options.h"
#include "plugin/view/open_dump.h"
#include "plugin/view/symbols.h"

struct arguments {
	const char *dump;    /* the dump; in argv */
	const char *program; /* the program that wrote it; in argv, NULL if not given */
	const char *output;  /* the file to write; in argv */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case 'e':
		arguments->program = arg;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case ARGP_KEY_END:
		if (arguments->output == NULL)
			argp_usage(state);
		return 0;
	default:
		return gh_options_one(key, arg, state, &arguments->dump);
	}
}

/* PROGRAM is NULL if it was not given. */
static bool write_core(const struct gh_dump *dump, const char *path, const char *output)
{
	struct gh_core_program program = {.name = ""};
	if (path != NULL && !gh_symbols_program(&program, dump, path))
		return false;
	return gh_dumpfile_write_core(dump, &program, output);
}

int gh_cmd_core(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {.name = "output", .key = 'o', .arg = "CORE", .doc = "Write CORE (required)"},
	    {.name = "exe", .key = 'e', .arg = "PROGRAM", .doc = "PROGRAM wrote the dump"},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "DUMP -o CORE",
	    .doc = "Write the heap dump DUMP as a core file: its goroutines are threads, and its "
		   "objects, stacks, data and bss are memory.",
	};
	struct arguments arguments = {0};
	gh_arguments_parse(&argp, argc, argv, 0, &arguments);

	struct gh_dump dump;
	if (!gh_check_output(arguments.output, arguments.dump) ||
	    !gh_check_output(arguments.output, arguments.program) ||
	    !gh_dumpfile_open(&dump, arguments.dump))
		return GH_EXIT_INPUT;
	bool written = write_core(&dump, arguments.program, arguments.output);
	gh_dump_close(&dump);
	return written ? GH_EXIT_OK : GH_EXIT_INPUT;
}
