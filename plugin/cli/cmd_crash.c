/* goheap crash: what a process crashes of, and the goroutine that does, as Go prints it. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "plugin/cli/command.h"
#include "plugin/cli/options.h"
#include "plugin/gdb/goroutine_source.h"
#include "plugin/view/goroutines.h"
#include "plugin/view/open_dump.h"

struct arguments {
	const char *core;    /* path of a core file, or the session's socket; in argv */
	const char *program; /* in argv */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	if (key == 'e') {
		arguments->program = arg;
		return 0;
	}
	if (key == ARGP_KEY_END && arguments->program == NULL)
		argp_usage(state);
	return gh_options_one(key, arg, state, &arguments->core);
}

/* Prints TEXT, SIZE bytes, line by line: what indents them is kept. */
static void print_text(const char *text, size_t size)
{
	const char *end = text + size;
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		if (line_end == NULL)
			line_end = end;
		for (; text < line_end && *text == '\t'; text++)
			putchar('\t');
		gh_print_bytes(stdout, text, (size_t)(line_end - text), false);
		putchar('\n');
		text = line_end + 1;
	}
}

static int show(const struct gh_snapshot *snapshot, const struct arguments *arguments)
{
	const struct gh_crash *crash = &snapshot->crash;
	struct gh_symbols symbols;
	if (crash->text.size == 0) {
		fputs("goheap: there is no panic, no fatal error and no signal's handler in the "
		      "process: see goheap goroutines\n",
		      stderr);
		return GH_EXIT_INPUT;
	}
	print_text((const char *)crash->text.data, crash->text.size);
	if (!crash->has_goroutine)
		return GH_EXIT_OK;
	if (!gh_symbols_open(&symbols, &snapshot->dump, arguments->program))
		return GH_EXIT_INPUT;
	putchar('\n');
	bool printed = gh_goroutines_print_one(stdout, &snapshot->dump, &symbols, crash->goroutine);
	gh_symbols_close(&symbols);
	if (crash->deferred.size > 0) {
		putchar('\n');
		print_text((const char *)crash->deferred.data, crash->deferred.size);
	}
	return printed ? GH_EXIT_OK : GH_EXIT_INPUT;
}

int gh_cmd_crash(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {.name = "exe",
	     .key = 'e',
	     .arg = "PROGRAM",
	     .doc = "The program that the core file is of (required)"},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "CORE",
	    .doc = "Tell what the process of a core file crashed of: the panic, fatal error or "
		   "signal, and the goroutine's stack, as Go prints them.",
	};
	struct arguments arguments = {0};
	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	struct gh_snapshot snapshot;
	if (!gh_snapshot_open_crash(&snapshot, arguments.core, arguments.program))
		return GH_EXIT_INPUT;
	int status = show(&snapshot, &arguments);
	gh_snapshot_close(&snapshot);
	return status;
}
