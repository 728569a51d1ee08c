/* goheap funcs: the functions of a Go program. */
#include <stdio.h>

#include "lib/util/escape.h"
#include "plugin/cli/cli.h"
#include "plugin/command/command.h"
#include "plugin/view/emit.h"
#include "plugin/view/view.h"

/* A function, as it is printed. */
struct row {
	uint64_t entry, end; /* addresses; one past the last instruction */
	const char *name;    /* in the image */
	const char *file;    /* in the image; "" if unknown */
	int32_t line;    /* of the func keyword or, before Go 1.20, of the entry; 0 if unknown */
	uint64_t offset; /* of the entry in the file, in bytes */
	const struct gh_image *image;
	const struct gh_probe_places *places; /* of its returns */
};

/* MAP is at the start of FUNC. */
static struct row make_row(const struct gh_pclntab *tab, const struct gh_func *func,
			   struct gh_sourcemap *map)
{
	struct row row = {
	    .entry = func->entry,
	    .end = func->end,
	    .name = gh_pclntab_name(tab, func->name),
	    .file = "",
	    .line = func->start_line,
	    .offset = gh_image_offset(tab->image, func->entry),
	    .image = tab->image,
	};
	struct gh_range range;
	if (gh_sourcemap_next(map, &range)) {
		const struct gh_frame *own = &range.frames[range.nframes - 1];
		row.file = gh_pclntab_file(tab, own->file);
		if (row.line == 0)
			row.line = own->line;
	}
	return row;
}

static const struct gh_column columns[] = {
    {"entry", GH_COL_ADDRESS(struct row, entry)},
    {"end", GH_COL_ADDRESS(struct row, end)},
    {"name", GH_COL_NAME(struct row, name)},
    {"file", GH_COL_FILE(struct row, file)},
    {"line", GH_COL_LINE(struct row, line)},
    {"offset", GH_COL_ADDRESS(struct row, offset), .only = GH_IN_JSON},
    {0},
};

static void print_return_list(struct gh_emit *emit, const void *member)
{
	const struct row *row = member;
	gh_returns_emit(emit, row->image, row->places);
}

/* Prints the return instructions of FUNC as a value of ROW, if its code is known. *LEFT is how many
 * bytes of code may still be read: functions of a crafted program may share theirs. */
static void print_returns(struct gh_emit *emit, struct row *row, const struct gh_pclntab *tab,
			  const struct gh_func *func, uint64_t *left)
{
	static const struct gh_column returns[] = {{"returns", GH_COL_LIST(print_return_list)},
						   {0}};
	struct gh_probe_places places;
	if (func->end - func->entry > *left)
		return;
	*left -= func->end - func->entry;
	row->places = &places;
	if (!gh_probe_places_find(&places, tab, func))
		gh_leave_out();
	else if (places.is_whole)
		gh_emit_values(emit, returns, row);
	gh_vector_free(&places.returns);
}

static bool print_functions(struct gh_program *program, bool json)
{
	struct gh_emit emit = gh_emit_start(stdout, GH_EMIT_ROWS, NULL, json);
	struct gh_sourcemap map = {0};
	struct gh_func func;
	uint64_t left = program->image.size;
	size_t i = 0;
	for (; i < program->tab.nfunc && gh_program_walk(program, i, &func, &map); i++) {
		struct row row = make_row(&program->tab, &func, &map);
		gh_program_take_names(program, gh_escape_name_length(row.name) +
						   gh_escape_name_length(row.file));
		gh_emit_values(&emit, columns, &row);
		if (json)
			print_returns(&emit, &row, &program->tab, &func, &left);
		gh_emit_end(&emit);
	}
	gh_sourcemap_free(&map);
	return i == program->tab.nfunc;
}

int gh_cmd_funcs(const struct gh_options *options)
{
	struct gh_program program;
	if (!gh_program_open(&program, options->file))
		return GH_EXIT_INPUT;
	bool whole = print_functions(&program, options->json);
	gh_program_close(&program);
	return whole ? GH_EXIT_OK : GH_EXIT_INPUT;
}
