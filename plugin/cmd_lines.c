/* goheap lines: the source line of every address of a Go program. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/escape.h"
#include "plugin/command.h"
#include "plugin/options.h"
#include "plugin/program.h"

/* A program has millions of rows. */
#define OUTPUT_BUFFER (1 << 18)

/* A run of addresses with the same source line. */
struct row {
	uint64_t start, end;  /* addresses; one past the run */
	uint32_t file_number; /* for gh_pclntab_file */
	const char *file;     /* of the innermost frame; in the image, "" if unknown */
	int32_t line;         /* of the innermost frame; 0 if unknown */
};

static struct row make_row(const struct gh_pclntab *tab, const struct gh_range *range)
{
	return (struct row){
	    .start = range->start,
	    .end = range->end,
	    .file_number = range->frames[0].file,
	    .file = gh_pclntab_file(tab, range->frames[0].file),
	    .line = range->frames[0].line,
	};
}

static bool same_place(const struct row *a, const struct row *b)
{
	return a->line == b->line &&
	       (a->file_number == b->file_number || strcmp(a->file, b->file) == 0);
}

static void print_row(const struct row *row, const char *function)
{
	printf("0x%" PRIx64 "\t0x%" PRIx64 "\t", row->start, row->end);
	gh_print_file(row->file, false);
	printf("\t%" PRId32 "\t", row->line);
	gh_escape_print(stdout, function);
	putchar('\n');
}

static void print_json(const struct row *row, const char *function)
{
	printf("{\"start\":\"0x%" PRIx64 "\",\"end\":\"0x%" PRIx64 "\",\"file\":", row->start,
	       row->end);
	gh_print_file(row->file, true);
	printf(",\"line\":%" PRId32 ",\"function\":", row->line);
	gh_escape_json(stdout, function);
	fputs("}\n", stdout);
}

/* MAP is at the start of FUNC. */
static void print_function(const struct gh_pclntab *tab, const struct gh_func *func,
			   struct gh_sourcemap *map,
			   void (*print)(const struct row *, const char *))
{
	const char *name = gh_pclntab_name(tab, func->name);
	struct gh_range range;
	if (!gh_sourcemap_next(map, &range))
		return;
	struct row row = make_row(tab, &range);
	while (gh_sourcemap_next(map, &range)) {
		struct row next = make_row(tab, &range);
		if (same_place(&row, &next)) {
			row.end = next.end;
		} else {
			print(&row, name);
			row = next;
		}
	}
	print(&row, name);
}

static bool print_lines(const struct gh_program *program, bool json)
{
	struct gh_sourcemap map = {0};
	struct gh_func func;
	size_t i = 0;
	for (; i < program->tab.nfunc && gh_program_walk(program, i, &func, &map); i++)
		print_function(&program->tab, &func, &map, json ? print_json : print_row);
	gh_sourcemap_free(&map);
	return i == program->tab.nfunc;
}

int gh_cmd_lines(int argc, char **argv)
{
	struct gh_options options = gh_options_parse(
	    argc, argv,
	    "List the source lines of the Go program FILE, one run of addresses a line: start, "
	    "end, file, line, and function.");
	struct gh_program program;
	if (!gh_program_open(&program, options.file))
		return GH_EXIT_INPUT;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	bool whole = print_lines(&program, options.json);
	gh_program_close(&program);
	return whole ? GH_EXIT_OK : GH_EXIT_INPUT;
}
