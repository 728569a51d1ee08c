/* goheap lines: the source line of every address of a Go program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/buffer.h"
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

/* Rows are put together here, as there are millions of them: with printf and escaping each name
 * anew, printing takes five times as long as decoding. */
struct printer {
	struct gh_buffer rows; /* to be written */
	char *function;        /* the name of the current function, escaped; owned */
	struct name {
		uint32_t number; /* of the file */
		char *text;      /* its name, escaped; owned, NULL if the place is free */
	} files[512];            /* the last file seen for each number modulo the array's size */
};

/* TEXT as it is printed; the caller frees it. */
static char *escaped(const char *text)
{
	char *copy = NULL;
	size_t size;
	FILE *out = open_memstream(&copy, &size);
	if (out == NULL)
		return NULL;
	gh_escape_print(out, text);
	fclose(out);
	return copy;
}

static const char *file_name(struct printer *printer, const struct row *row)
{
	struct name *name = &printer->files[row->file_number % 512];
	if (name->text == NULL || name->number != row->file_number) {
		free(name->text);
		*name =
		    (struct name){row->file_number, escaped(*row->file != '\0' ? row->file : "?")};
	}
	return name->text != NULL ? name->text : "?";
}

static void put_text(struct printer *printer, const char *text, char end)
{
	gh_buffer_bytes(&printer->rows, text, strlen(text));
	gh_buffer_u8(&printer->rows, (uint8_t)end);
}

/* Puts VALUE in BASE, at most 16. */
static void put_number(struct printer *printer, uint64_t value, unsigned base)
{
	char digits[24];
	char *digit = digits + sizeof(digits);
	*--digit = '\0';
	do {
		*--digit = "0123456789abcdef"[value % base];
		value /= base;
	} while (value != 0);
	if (base == 16) {
		*--digit = 'x';
		*--digit = '0';
	}
	put_text(printer, digit, '\t');
}

static void flush_rows(struct printer *printer)
{
	if (printer->rows.size == 0)
		return;
	fwrite(printer->rows.data, 1, printer->rows.size, stdout);
	printer->rows.size = 0;
}

static void print_row(struct printer *printer, const struct row *row, const char *function)
{
	if (printer->function == NULL)
		printer->function = escaped(function);
	put_number(printer, row->start, 16);
	put_number(printer, row->end, 16);
	put_text(printer, file_name(printer, row), '\t');
	put_number(printer, (uint64_t)row->line, 10);
	put_text(printer, printer->function != NULL ? printer->function : "?", '\n');
	if (printer->rows.size >= OUTPUT_BUFFER)
		flush_rows(printer);
}

static void free_printer(struct printer *printer)
{
	flush_rows(printer);
	gh_buffer_free(&printer->rows);
	free(printer->function);
	for (size_t i = 0; i < sizeof(printer->files) / sizeof(printer->files[0]); i++)
		free(printer->files[i].text);
}

static void print_json(struct printer *printer, const struct row *row, const char *function)
{
	(void)printer;
	printf("{\"start\":\"0x%" PRIx64 "\",\"end\":\"0x%" PRIx64 "\",\"file\":", row->start,
	       row->end);
	gh_print_file(row->file, true);
	printf(",\"line\":%" PRId32 ",\"function\":", row->line);
	gh_escape_json(stdout, function);
	fputs("}\n", stdout);
}

/* MAP is at the start of FUNC. */
static void print_function(const struct gh_pclntab *tab, const struct gh_func *func,
			   struct gh_sourcemap *map, struct printer *printer,
			   void (*print)(struct printer *, const struct row *, const char *))
{
	free(printer->function);
	printer->function = NULL;
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
			print(printer, &row, name);
			row = next;
		}
	}
	print(printer, &row, name);
}

static bool print_lines(const struct gh_program *program, bool json)
{
	struct gh_sourcemap map = {0};
	struct printer printer = {0};
	struct gh_func func;
	size_t i = 0;
	for (; i < program->tab.nfunc && gh_program_walk(program, i, &func, &map); i++)
		print_function(&program->tab, &func, &map, &printer, json ? print_json : print_row);
	bool lost = printer.rows.failed;
	if (lost)
		fputs("goheap: out of memory\n", stderr);
	free_printer(&printer);
	gh_sourcemap_free(&map);
	return i == program->tab.nfunc && !lost;
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
