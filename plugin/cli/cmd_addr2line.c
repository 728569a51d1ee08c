/* goheap addr2line: the source lines of addresses, as binutils' addr2line prints them. */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/cli/command.h"
#include "plugin/cli/options.h"
#include "plugin/view/open_program.h"

struct arguments {
	const char *file; /* the program; in argv */
	char **addresses; /* the arguments after the options; in argv */
	int naddresses;   /* 0: they come on standard input, one a line */
	bool show_address;
	bool show_function;
	bool show_inlined; /* the callers of inlined code, too */
	bool base_names;   /* files without their directories */
	bool pretty;       /* all of an address on one line */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	switch (key) {
	case 'e':
		arguments->file = arg;
		return 0;
	case 'a':
		arguments->show_address = true;
		return 0;
	case 'f':
		arguments->show_function = true;
		return 0;
	case 'i':
		arguments->show_inlined = true;
		return 0;
	case 's':
		arguments->base_names = true;
		return 0;
	case 'p':
		arguments->pretty = true;
		return 0;
	case 'C':
		return 0;
	case ARGP_KEY_ARGS:
		arguments->addresses = state->argv + state->next;
		arguments->naddresses = state->argc - state->next;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void print_or_unknown(const char *text)
{
	gh_print_name(stdout, *text != '\0' ? text : "??", false);
}

static void print_frame(const struct arguments *how, const struct gh_pclntab *tab,
			const struct gh_frame *frame)
{
	if (how->show_function) {
		print_or_unknown(gh_pclntab_name(tab, frame->name));
		fputs(how->pretty ? " at " : "\n", stdout);
	}
	const char *file = gh_pclntab_file(tab, frame->file);
	print_or_unknown(how->base_names ? basename(file) : file);
	if (frame->line > 0)
		printf(":%" PRId32 "\n", frame->line);
	else
		puts(":?");
}

static void print_unknown(const struct arguments *how)
{
	if (how->show_function)
		fputs(how->pretty ? "?? " : "??\n", stdout);
	puts("??:0");
}

static void print_address(const struct arguments *how, const struct gh_program *program,
			  uint64_t pc)
{
	if (!how->show_address)
		return;
	int digits = 2 * program->image.arch->pointer_size;
	printf("0x%0*" PRIx64 "%s", digits, pc, how->pretty ? ": " : "\n");
}

/* The source lines at PC. False if they are not known. */
static bool find_lines(const struct gh_program *program, uint64_t pc, struct gh_range *range)
{
	struct gh_func func;
	size_t index = gh_pclntab_find(&program->tab, pc);
	if (index == SIZE_MAX || !gh_pclntab_func(&program->tab, index, &func, NULL))
		return false;
	struct gh_sourcemap map = {0};
	bool found =
	    gh_sourcemap_start(&map, &program->tab, &func) && gh_sourcemap_seek(&map, pc, range);
	gh_sourcemap_free(&map);
	return found;
}

/* As in binutils, what is not a number is address 0: a line out for each line in. */
static void translate(const struct arguments *how, const struct gh_program *program,
		      const char *address)
{
	uint64_t pc = strtoull(address, NULL, 16);
	print_address(how, program, pc);

	struct gh_range range;
	if (!find_lines(program, pc, &range)) {
		print_unknown(how);
		return;
	}
	print_frame(how, &program->tab, &range.frames[0]);
	for (unsigned i = 1; how->show_inlined && i < range.nframes; i++) {
		if (how->pretty)
			fputs(" (inlined by) ", stdout);
		print_frame(how, &program->tab, &range.frames[i]);
	}
}

/* Each answer is flushed: whoever writes the addresses may wait for it before the next. */
static void translate_input(const struct arguments *how, const struct gh_program *program)
{
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, stdin) >= 0) {
		translate(how, program, line);
		fflush(stdout);
	}
	free(line);
}

int gh_cmd_addr2line(int argc, char **argv)
{
	static const struct argp_option options[] = {
	    {.name = "exe", .key = 'e', .arg = "FILE", .doc = "The Go program (default: a.out)"},
	    {.name = "addresses", .key = 'a', .doc = "Print each address"},
	    {.name = "functions", .key = 'f', .doc = "Print function names"},
	    {.name = "inlines", .key = 'i', .doc = "Print the callers of inlined code"},
	    {.name = "basenames", .key = 's', .doc = "Print files without their directories"},
	    {.name = "pretty-print", .key = 'p', .doc = "Print each address on one line"},
	    {.name = "demangle",
	     .key = 'C',
	     .arg = "STYLE",
	     .flags = OPTION_ARG_OPTIONAL,
	     .doc = "Ignored: Go does not mangle names"},
	    {0},
	};
	static const struct argp argp = {
	    .options = options,
	    .parser = parse_option,
	    .args_doc = "[ADDR...]",
	    .doc = "Print the source file and line of each hexadecimal address, as addr2line of "
		   "GNU binutils does. Without ADDR, addresses are read from standard input.",
	};
	struct arguments arguments = {.file = "a.out"};
	gh_arguments_parse(&argp, argc, argv, 0, &arguments);

	struct gh_program program;
	if (!gh_program_open(&program, arguments.file))
		return GH_EXIT_INPUT;
	for (int i = 0; i < arguments.naddresses; i++)
		translate(&arguments, &program, arguments.addresses[i]);
	if (arguments.naddresses == 0)
		translate_input(&arguments, &program);
	gh_program_close(&program);
	return GH_EXIT_OK;
}
