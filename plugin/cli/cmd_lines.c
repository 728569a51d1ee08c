/* goheap lines: the source line of every address of a Go program. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/buffer.h"
#include "plugin/cli/command.h"
#include "plugin/view/open_program.h"

/* A program has millions of rows. */
#define OUTPUT_BUFFER (1 << 18)

/* A run of addresses with the same source line. */
struct row {
	uint64_t start, end; /* addresses; one past the run */
	uint32_t file;       /* of the innermost frame, for gh_pclntab_file */
	int32_t line;        /* of the innermost frame; 0 if unknown */
};

static struct row make_row(const struct gh_range *range)
{
	return (struct row){
	    .start = range->start,
	    .end = range->end,
	    .file = range->frames[0].file,
	    .line = range->frames[0].line,
	};
}

static bool same_place(const struct row *a, const struct row *b)
{
	return a->line == b->line && a->file == b->file;
}

struct text {
	char *bytes; /* owned; NULL if there is none */
	size_t size; /* in bytes */
};

/* The longest address, with 0x, and the longest line. */
#define MAX_ADDRESS 18
#define MAX_LINE    10

/* Rows are put together here, as there are millions of them: with printf and escaping each name
 * anew, printing takes five times as long as decoding. */
struct printer {
	const struct gh_pclntab *tab;
	struct gh_buffer rows; /* to be written */
	struct text function;  /* the name of the current function, escaped */
	struct name {
		uint32_t number;  /* of the file */
		struct text text; /* its name, escaped */
	} files[512];             /* the last file seen for each number modulo the array's size */
};

/* TEXT as it is printed, to be freed; nothing if memory ran out. */
static struct text escaped(const char *text)
{
	struct text copy = {0};
	FILE *out = open_memstream(&copy.bytes, &copy.size);
	if (out == NULL)
		return copy;
	gh_print_name(out, text, false);
	fclose(out);
	return copy;
}

static const struct text *file_name(struct printer *printer, const struct row *row)
{
	struct name *name = &printer->files[row->file % 512];
	if (name->text.bytes == NULL || name->number != row->file) {
		const char *file = gh_pclntab_file(printer->tab, row->file);
		free(name->text.bytes);
		*name = (struct name){row->file, escaped(*file != '\0' ? file : "?")};
	}
	return &name->text;
}

static char *put_text(char *out, const struct text *text, char end)
{
	if (text->size > 0)
		memcpy(out, text->bytes, text->size);
	out[text->size] = end;
	return out + text->size + 1;
}

static char *put_address(char *out, uint64_t value)
{
	unsigned digits = 1;
	while (digits < 16 && value >> 4 * digits != 0)
		digits++;
	*out++ = '0';
	*out++ = 'x';
	while (digits-- > 0)
		*out++ = "0123456789abcdef"[value >> 4 * digits & 15];
	*out++ = '\t';
	return out;
}

static char *put_line(char *out, int32_t line)
{
	char digits[MAX_LINE];
	char *digit = digits + sizeof(digits);
	uint32_t value = (uint32_t)line;
	do {
		*--digit = (char)('0' + value % 10);
		value /= 10;
	} while (value != 0);
	size_t size = (size_t)(digits + sizeof(digits) - digit);
	memcpy(out, digit, size);
	out[size] = '\t';
	return out + size + 1;
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
	if (printer->function.bytes == NULL)
		printer->function = escaped(function);
	const struct text *file = file_name(printer, row);
	size_t most = 2 * MAX_ADDRESS + MAX_LINE + file->size + printer->function.size + 5;
	char *out = gh_buffer_extend(&printer->rows, most);
	if (out == NULL)
		return;
	out = put_address(out, row->start);
	out = put_address(out, row->end);
	out = put_text(out, file, '\t');
	out = put_line(out, row->line);
	out = put_text(out, &printer->function, '\n');
	printer->rows.size = (size_t)((uint8_t *)out - printer->rows.data);
	if (printer->rows.size >= OUTPUT_BUFFER)
		flush_rows(printer);
}

static void free_printer(struct printer *printer)
{
	flush_rows(printer);
	gh_buffer_free(&printer->rows);
	free(printer->function.bytes);
	for (size_t i = 0; i < sizeof(printer->files) / sizeof(printer->files[0]); i++)
		free(printer->files[i].text.bytes);
}

static void print_json(struct printer *printer, const struct row *row, const char *function)
{
	printf("{\"start\":\"0x%" PRIx64 "\",\"end\":\"0x%" PRIx64 "\",\"file\":", row->start,
	       row->end);
	gh_print_file(gh_pclntab_file(printer->tab, row->file), true);
	printf(",\"line\":%" PRId32 ",\"function\":", row->line);
	gh_print_name(stdout, function, true);
	fputs("}\n", stdout);
}

/* MAP is at the start of FUNC. */
static void print_function(struct printer *printer, const struct gh_func *func,
			   struct gh_sourcemap *map,
			   void (*print)(struct printer *, const struct row *, const char *))
{
	free(printer->function.bytes);
	printer->function.bytes = NULL;
	const char *name = gh_pclntab_name(printer->tab, func->name);
	struct gh_range range;
	if (!gh_sourcemap_next(map, &range))
		return;
	struct row row = make_row(&range);
	while (gh_sourcemap_next(map, &range)) {
		struct row next = make_row(&range);
		if (same_place(&row, &next)) {
			row.end = next.end;
		} else {
			print(printer, &row, name);
			row = next;
		}
	}
	print(printer, &row, name);
}

static void print_frame(const struct gh_pclntab *tab, const struct gh_frame *frame)
{
	putchar('\t');
	gh_print_file(gh_pclntab_file(tab, frame->file), false);
	printf("\t%" PRId32 "\t", frame->line);
	gh_print_name(stdout, gh_pclntab_name(tab, frame->name), false);
}

static void print_frame_json(const struct gh_pclntab *tab, const struct gh_frame *frame)
{
	fputs("{\"file\":", stdout);
	gh_print_file(gh_pclntab_file(tab, frame->file), true);
	printf(",\"line\":%" PRId32 ",\"function\":", frame->line);
	gh_print_name(stdout, gh_pclntab_name(tab, frame->name), true);
	putchar('}');
}

/* Prints each range that is left of MAP with all of its frames. */
static void print_stacks(const struct gh_pclntab *tab, struct gh_sourcemap *map, bool json)
{
	struct gh_range range;
	while (gh_sourcemap_next(map, &range)) {
		printf(json ? "{\"start\":\"0x%" PRIx64 "\",\"end\":\"0x%" PRIx64 "\",\"frames\":["
			    : "0x%" PRIx64 "\t0x%" PRIx64,
		       range.start, range.end);
		for (unsigned i = 0; i < range.nframes; i++) {
			if (json && i > 0)
				putchar(',');
			(json ? print_frame_json : print_frame)(tab, &range.frames[i]);
		}
		puts(json ? "]}" : "");
	}
}

static bool print_lines(const struct gh_program *program, const struct gh_options *options)
{
	struct gh_sourcemap map = {0};
	struct printer printer = {.tab = &program->tab};
	struct gh_func func;
	size_t i = 0;
	for (; i < program->tab.nfunc && gh_program_walk(program, i, &func, &map); i++) {
		if (options->inlines)
			print_stacks(&program->tab, &map, options->json);
		else
			print_function(&printer, &func, &map,
				       options->json ? print_json : print_row);
	}
	bool lost = printer.rows.failed;
	if (lost)
		fputs("goheap: " GH_OUT_OF_MEMORY "\n", stderr);
	free_printer(&printer);
	gh_sourcemap_free(&map);
	return i == program->tab.nfunc && !lost;
}

int gh_cmd_lines(const struct gh_options *options)
{
	struct gh_program program;
	if (!gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
	bool whole = print_lines(&program, options);
	gh_program_close(&program);
	return whole ? GH_EXIT_OK : GH_EXIT_INPUT;
}
