/* goheap addr2line: the source lines of addresses, as binutils' addr2line prints them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/command/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

static void print_or_unknown(const char *text)
{
	gh_print_name(stdout, *text != '\0' ? text : "??", false);
}

static void print_frame(const struct gh_options *how, const struct gh_pclntab *tab,
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

static void print_unknown(const struct gh_options *how)
{
	if (how->show_function)
		fputs(how->pretty ? "?? " : "??\n", stdout);
	puts("??:0");
}

static void print_address(const struct gh_options *how, const struct gh_program *program,
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
	struct gh_sourcemap map = {0};
	bool found = gh_find_lines(&map, &program->tab, pc, &func, range);
	gh_sourcemap_free(&map);
	return found;
}

/* As in binutils, what is not a number is address 0: a line out for each line in. */
static void translate(const struct gh_options *how, const struct gh_program *program,
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
	for (unsigned i = 1; how->inlines && i < range.nframes; i++) {
		if (how->pretty)
			fputs(" (inlined by) ", stdout);
		print_frame(how, &program->tab, &range.frames[i]);
	}
}

/* Each answer is flushed: whoever writes the addresses may wait for it before the next. */
static void translate_input(const struct gh_options *how, const struct gh_program *program)
{
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, stdin) >= 0) {
		translate(how, program, line);
		fflush(stdout);
	}
	free(line);
}

int gh_cmd_addr2line(const struct gh_options *options)
{
	struct gh_program program;
	if (!gh_program_open(&program, options->program != NULL ? options->program : "a.out"))
		return GH_EXIT_INPUT;
	for (int i = 0; i < options->nwords; i++)
		translate(options, &program, options->words[i]);
	if (options->nwords == 0)
		translate_input(options, &program);
	gh_program_close(&program);
	return GH_EXIT_OK;
}
