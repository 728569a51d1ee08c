/* goheap lines: the source line of every address of a Go program. */
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/escape.h"
#include "plugin/command/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A run of addresses with the same source line. */
struct run {
	uint64_t start, end; /* addresses; one past the run */
	uint32_t file;       /* of the innermost frame, for gh_pclntab_file */
	int32_t line;        /* of the innermost frame; 0 if unknown */
};

static struct run make_run(const struct gh_range *range)
{
	return (struct run){
	    .start = range->start,
	    .end = range->end,
	    .file = range->frames[0].file,
	    .line = range->frames[0].line,
	};
}

static bool same_place(const struct run *a, const struct run *b)
{
	return a->line == b->line && a->file == b->file;
}

/* The same, as it is printed. */
struct row {
	uint64_t start, end;
	struct gh_bytes file; /* its name and the function's */
	struct gh_bytes function;
	int32_t line;
};

/* Names are escaped once for the many rows that have them: escaping each anew takes several times
 * as long as decoding. */
struct printer {
	struct gh_program *program;
	const struct gh_pclntab *tab; /* the program's */
	struct gh_emit emit;
	struct gh_bytes function; /* the name of the current function, escaped; owned */
	struct name {
		uint32_t number;      /* of the file */
		bool kept;            /* there is one: */
		struct gh_bytes text; /* its name, escaped; not known if it has none; owned */
	} files[512]; /* the last file seen for each number modulo the array's size */
};

/* What is printed for TEXT, to be freed; not known if memory ran out. */
static struct gh_bytes escaped(const struct printer *printer, const char *text)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);
	if (out != NULL)
		gh_print_name(out, text, printer->emit.json);
	if (gh_text_end(out, &bytes) != NULL)
		return (struct gh_bytes){bytes, size};
	gh_leave_out();
	return (struct gh_bytes){0};
}

static void free_text(struct gh_bytes *text)
{
	free((char *)text->data);
	*text = (struct gh_bytes){0};
}

static struct gh_bytes file_name(struct printer *printer, uint32_t number)
{
	struct name *name = &printer->files[number % 512];
	if (!name->kept || name->number != number) {
		const char *file = gh_pclntab_file(printer->tab, number);
		free_text(&name->text);
		*name = (struct name){.number = number, .kept = true};
		if (*file != '\0')
			name->text = escaped(printer, file);
	}
	return name->text;
}

static void free_printer(struct printer *printer)
{
	free_text(&printer->function);
	for (size_t i = 0; i < sizeof(printer->files) / sizeof(printer->files[0]); i++)
		free_text(&printer->files[i].text);
}

static void print_run(struct printer *printer, const struct run *run, const char *function)
{
	static const struct gh_column columns[] = {
	    {"start", GH_COL_ADDRESS(struct row, start)},
	    {"end", GH_COL_ADDRESS(struct row, end)},
	    {"file", GH_COL_READY(struct row, file)},
	    {"line", GH_COL_LINE(struct row, line)},
	    {"function", GH_COL_READY(struct row, function)},
	    {0},
	};
	if (printer->function.data == NULL)
		printer->function = escaped(printer, function);
	struct row row = {
	    .start = run->start,
	    .end = run->end,
	    .file = file_name(printer, run->file),
	    .line = run->line,
	    .function = printer->function,
	};
	gh_program_take_names(printer->program, row.file.size + row.function.size);
	gh_emit_row(&printer->emit, columns, &row);
}

/* MAP is at the start of FUNC. */
static void print_function(struct printer *printer, const struct gh_func *func,
			   struct gh_sourcemap *map)
{
	const char *name = gh_pclntab_name(printer->tab, func->name);
	struct gh_range range;
	free_text(&printer->function);
	if (!gh_sourcemap_next_place(map, &range))
		return;
	struct run run = make_run(&range);
	while (printer->program->names_left > 0 && gh_sourcemap_next_place(map, &range)) {
		struct run next = make_run(&range);
		if (same_place(&run, &next)) {
			run.end = next.end;
		} else {
			print_run(printer, &run, name);
			run = next;
		}
	}
	print_run(printer, &run, name);
}

/* A run of addresses with all of its frames. */
struct stack_row {
	uint64_t start, end;
	struct gh_program *program;
	const struct gh_range *range;
};

/* A frame, as it is printed. */
struct frame_row {
	const char *file;
	const char *function;
	int32_t line;
};

static void print_frames(struct gh_emit *emit, const void *member)
{
	static const struct gh_column columns[] = {
	    {"file", GH_COL_FILE(struct frame_row, file)},
	    {"line", GH_COL_LINE(struct frame_row, line)},
	    {"function", GH_COL_NAME(struct frame_row, function)},
	    {0},
	};
	const struct stack_row *row = member;
	for (unsigned i = 0; i < row->range->nframes; i++) {
		const struct gh_frame *frame = &row->range->frames[i];
		struct frame_row frame_row = {
		    .file = gh_pclntab_file(&row->program->tab, frame->file),
		    .function = gh_pclntab_name(&row->program->tab, frame->name),
		    .line = frame->line,
		};
		gh_program_take_names(row->program, gh_escape_name_length(frame_row.file) +
							gh_escape_name_length(frame_row.function));
		gh_emit_item(emit, columns, &frame_row);
	}
}

/* Prints each range that is left of MAP. */
static void print_stacks(struct printer *printer, struct gh_sourcemap *map)
{
	static const struct gh_column columns[] = {
	    {"start", GH_COL_ADDRESS(struct stack_row, start)},
	    {"end", GH_COL_ADDRESS(struct stack_row, end)},
	    {"frames", GH_COL_LIST(print_frames)},
	    {0},
	};
	struct gh_range range;
	while (printer->program->names_left > 0 && gh_sourcemap_next(map, &range)) {
		struct stack_row row = {range.start, range.end, printer->program, &range};
		gh_emit_row(&printer->emit, columns, &row);
	}
}

static bool print_lines(struct gh_program *program, const struct gh_options *options)
{
	struct gh_sourcemap map = {0};
	struct printer printer = {
	    .program = program,
	    .tab = &program->tab,
	    .emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, options->json),
	};
	struct gh_func func;
	size_t i = 0;
	for (; i < program->tab.nfunc && gh_program_walk(program, i, &func, &map); i++) {
		if (options->inlines)
			print_stacks(&printer, &map);
		else
			print_function(&printer, &func, &map);
	}
	free_printer(&printer);
	gh_sourcemap_free(&map);
	return i == program->tab.nfunc && gh_program_goes_on(program);
}

int gh_cmd_lines(const struct gh_options *options)
{
	struct gh_program program;
	if (!gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	gh_print_in_blocks();
	bool whole = print_lines(&program, options);
	gh_program_close(&program);
	return whole ? GH_EXIT_OK : GH_EXIT_INPUT;
}
