#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/code.h"
#include "lib/util/bsearch.h"
#include "lib/util/escape.h"

/* A special opcode is a row in one byte: it adds LINE_BASE to LINE_BASE + LINE_RANGE - 1 to the
 * line and up to MAX_SPECIAL instructions to the address. These make the smallest tables of Go
 * code. */
#define OPCODE_BASE 11
#define LINE_BASE   (-4)
#define LINE_RANGE  10
#define MAX_SPECIAL ((255 - OPCODE_BASE) / LINE_RANGE)

/* The file table's first number. */
#define FIRST_FILE 1

/* The unit's state, before its first function. */
static void reset(struct gh_line_table *lines)
{
	gh_numbermap_free(&lines->numbers);
	gh_intern_free(&lines->dirs);
	lines->program.size = 0;
	lines->files.size = 0;
	lines->nfiles = 0;
	for (size_t i = 0; i < GH_RECENT_FILES; i++)
		lines->recent[i].file = GH_NO_FILE;
	lines->in_sequence = false;
}

void gh_line_init(struct gh_line_table *lines, const struct gh_pclntab *tab, size_t limit)
{
	bool big_endian = tab->image->arch->big_endian;
	*lines = (struct gh_line_table){
	    .tab = tab,
	    .program = {.big_endian = big_endian},
	    .files = {.big_endian = big_endian},
	    /* In a real program a file is in one unit, or in few. Where names overlap, a crafted
	       table could have them written as often as it has functions. */
	    .name_bytes = limit,
	};
	reset(lines);
}

/* Adds a part of a file's name without control characters: GDB would send them to the terminal. */
static void add_text(struct gh_buffer *out, const char *text, size_t length)
{
	char *copy = gh_buffer_extend(out, length);
	if (copy == NULL)
		return;
	memcpy(copy, text, length);
	gh_escape_overwrite(copy, length);
}

/* Adds the file NAME to the unit's file table, and its directory to the directories. */
static uint32_t add_file(struct gh_line_table *lines, const char *name)
{
	size_t size = strlen(name) + 1;
	if (size == 1 || size > lines->name_bytes)
		return 0;
	lines->name_bytes -= size;
	uint32_t dir = 0;
	const char *base = name;
	const char *slash = strrchr(name, '/');
	if (slash != NULL && slash[1] != '\0') {
		base = slash + 1;
		size_t length = slash == name ? 1 : (size_t)(slash - name);
		/* Directory 0 is the unit's own. */
		dir = gh_intern_add(&lines->dirs, name, length) + 1;
		lines->failed |= dir == GH_INTERN_NONE + 1;
	}
	add_text(&lines->files, base, strlen(base));
	gh_buffer_u8(&lines->files, 0);
	gh_buffer_uleb128(&lines->files, dir);
	gh_buffer_uleb128(&lines->files, 0); /* time of modification: unknown */
	gh_buffer_uleb128(&lines->files, 0); /* size: unknown */
	return FIRST_FILE + lines->nfiles++;
}

static uint32_t find_file(struct gh_line_table *lines, uint32_t file)
{
	uint32_t known = gh_numbermap_get(&lines->numbers, file);
	if (known != GH_NOT_MAPPED)
		return known;
	uint32_t number = add_file(lines, gh_pclntab_file(lines->tab, file));
	lines->failed |= !gh_numbermap_put(&lines->numbers, file, number);
	return number;
}

uint32_t gh_line_file(struct gh_line_table *lines, uint32_t file)
{
	if (file == GH_NO_FILE)
		return 0;
	struct gh_line_file *recent = &lines->recent[file % GH_RECENT_FILES];
	if (file != recent->file)
		*recent = (struct gh_line_file){file, find_file(lines, file)};
	return recent->number;
}

static void extended(struct gh_buffer *program, uint8_t opcode, size_t size)
{
	gh_buffer_u8(program, 0);
	gh_buffer_uleb128(program, 1 + size);
	gh_buffer_u8(program, opcode);
}

static void set_address(struct gh_line_table *lines, uint64_t address)
{
	uint8_t size = lines->tab->pointer_size;
	extended(&lines->program, DW_LNE_set_address, size);
	gh_buffer_uint(&lines->program, address, size);
	lines->address = address;
}

static void end_sequence(struct gh_line_table *lines)
{
	extended(&lines->program, DW_LNE_end_sequence, 0);
	lines->in_sequence = false;
}

static void begin_sequence(struct gh_line_table *lines, uint64_t address)
{
	lines->file = FIRST_FILE;
	lines->line = 1;
	lines->in_statement = true;
	lines->in_sequence = true;
	set_address(lines, address);
}

/* Ends the sequence after the function that ends at ADDRESS. */
static void close_sequence(struct gh_line_table *lines, uint64_t address)
{
	uint64_t distance = address - lines->address;
	if (distance % lines->tab->quantum != 0) {
		set_address(lines, address);
	} else {
		gh_buffer_u8(&lines->program, DW_LNS_advance_pc);
		gh_buffer_uleb128(&lines->program, distance / lines->tab->quantum);
	}
	end_sequence(lines);
}

/* Adds ROW, whose address is a multiple of the quantum after the row before. */
static void add_row(struct gh_line_table *lines, const struct gh_line_row *row)
{
	struct gh_buffer *program = &lines->program;
	uint64_t address = row->address;
	uint32_t file = row->at.file;
	int64_t line = row->at.line;
	if (file == 0)
		line = 0;
	else if (file != lines->file) {
		gh_buffer_u8(program, DW_LNS_set_file);
		gh_buffer_uleb128(program, file);
		lines->file = file;
	}
	if (lines->in_statement != row->is_stmt) {
		gh_buffer_u8(program, DW_LNS_negate_stmt);
		lines->in_statement = row->is_stmt;
	}
	if (row->is_stop)
		gh_buffer_u8(program, DW_LNS_set_prologue_end);
	int64_t lines_on = line - lines->line;
	if (lines_on < LINE_BASE || lines_on >= LINE_BASE + LINE_RANGE) {
		gh_buffer_u8(program, DW_LNS_advance_line);
		gh_buffer_sleb128(program, lines_on);
		lines_on = 0;
	}
	uint64_t steps = (address - lines->address) / lines->tab->quantum;
	uint64_t special = (uint64_t)(lines_on - LINE_BASE + OPCODE_BASE);
	if (steps >= MAX_SPECIAL && special + (steps - MAX_SPECIAL) * LINE_RANGE <= 255 &&
	    special + steps * LINE_RANGE > 255) {
		gh_buffer_u8(program, DW_LNS_const_add_pc);
		steps -= MAX_SPECIAL;
	} else if (steps > MAX_SPECIAL || special + steps * LINE_RANGE > 255) {
		gh_buffer_u8(program, DW_LNS_advance_pc);
		gh_buffer_uleb128(program, steps);
		steps = 0;
	}
	gh_buffer_u8(program, (uint8_t)(special + steps * LINE_RANGE));
	lines->address = address;
	lines->line = line;
}

static struct gh_decl frame_place(struct gh_line_table *lines, const struct gh_frame *frame)
{
	struct gh_decl at = {.file = gh_line_file(lines, frame->file), .line = frame->line};
	if (at.file == 0 || at.line == 0)
		at = (struct gh_decl){0};
	return at;
}

void gh_line_begin(struct gh_line_table *lines, const struct gh_func *func, bool joined)
{
	bool aligned = (func->entry - lines->address) % lines->tab->quantum == 0;
	if (lines->in_sequence && !(joined && aligned))
		close_sequence(lines, lines->end);
	if (!lines->in_sequence)
		begin_sequence(lines, func->entry);
	lines->func = func;
	lines->stop = gh_prologue_stop(lines->tab, func);
	lines->body = gh_prologue_end(lines->tab, func);
	lines->decl = (struct gh_decl){0};
	lines->rows.count = 0;
	lines->end = func->end;
}

/* ROW says nothing that the row before does not. */
static bool is_redundant(const struct gh_line_table *lines, const struct gh_line_row *row)
{
	const struct gh_line_row *rows = lines->rows.items;
	size_t nrows = lines->rows.count;
	if (nrows == 0 || row->is_stop)
		return false;
	const struct gh_line_row *last = &rows[nrows - 1];
	return row->at.file == last->at.file && row->at.line == last->at.line &&
	       row->tree_index == last->tree_index;
}

void gh_line_range(struct gh_line_table *lines, const struct gh_range *range)
{
	if (range->start == lines->func->entry)
		lines->decl = frame_place(lines, &range->frames[range->nframes - 1]);
	struct gh_line_row row = {.address = range->start,
				  .at = frame_place(lines, &range->frames[0]),
				  .tree_index = range->frames[0].tree_index,
				  .is_stop = range->start == lines->stop,
				  .is_stmt = true};
	if (!is_redundant(lines, &row))
		gh_vector_push(&lines->rows, row);
	if (range->start < lines->stop && lines->stop < range->end) {
		row.address = lines->stop;
		row.is_stop = true;
		gh_vector_push(&lines->rows, row);
	}
}

static struct gh_line_move make_move(const struct gh_line_row *row)
{
	return (struct gh_line_move){.place = (uint64_t)row->at.file << 32 | (uint32_t)row->at.line,
				     .tree_index = row->tree_index};
}

/* By place, and by call: each copy of inlined code has statements of its own. */
static int compare_moves(const void *a, const void *b)
{
	const struct gh_line_move *first = a;
	const struct gh_line_move *second = b;
	if (first->place != second->place)
		return first->place < second->place ? -1 : 1;
	return (first->tree_index > second->tree_index) - (first->tree_index < second->tree_index);
}

/* The place of ROW among the function's rows that only move data; NULL if none is there. */
static struct gh_line_move *find_move(struct gh_line_table *lines, const struct gh_line_row *row)
{
	struct gh_line_move wanted = make_move(row);
	struct gh_line_move *moves = lines->moves.items;
	size_t count = lines->moves.count;
	size_t found = gh_lower_bound(count, i, compare_moves(&moves[i], &wanted) < 0);
	bool is_there = found < count && compare_moves(&moves[found], &wanted) == 0;
	return is_there ? &moves[found] : NULL;
}

/* Finds the function's rows that only move data. */
static void find_moves(struct gh_line_table *lines)
{
	const struct gh_func *func = lines->func;
	struct gh_line_row *rows = lines->rows.items;
	size_t nrows = lines->rows.count;
	struct gh_cursor code;
	lines->moves.count = 0;
	if (nrows == 0 || !gh_image_at(lines->tab->image, func->entry, &code))
		return;
	for (size_t i = 0; i < nrows; i++) {
		uint64_t end = i + 1 < nrows ? rows[i + 1].address : func->end;
		size_t size = (size_t)(end - rows[i].address);
		const uint8_t *bytes = gh_cursor_bytes(&code, size);
		/* What comes first in the function's body starts a statement. */
		bool is_first = rows[i].is_stop || rows[i].address == lines->body;
		rows[i].only_moves = i > 0 && !is_first && bytes != NULL &&
				     gh_code_only_moves(lines->tab->image->arch, bytes, size);
		if (rows[i].only_moves)
			gh_vector_push(&lines->moves, make_move(&rows[i]));
	}
}

/* Marks the function's rows that only move data, where the line has others that do its work. */
static void mark_statements(struct gh_line_table *lines)
{
	find_moves(lines);
	if (lines->moves.count == 0)
		return;
	qsort(lines->moves.items, lines->moves.count, sizeof(*lines->moves.items), compare_moves);
	struct gh_line_row *rows = lines->rows.items;
	size_t nrows = lines->rows.count;
	for (size_t i = 0; i < nrows; i++) {
		struct gh_line_move *move = rows[i].only_moves ? NULL : find_move(lines, &rows[i]);
		if (move != NULL)
			move->has_statement = true;
	}
	/* Of equal ones the first is found each time. */
	for (size_t i = 0; i < nrows; i++) {
		const struct gh_line_move *move =
		    rows[i].only_moves ? find_move(lines, &rows[i]) : NULL;
		rows[i].is_stmt = move == NULL || !move->has_statement;
	}
}

struct gh_decl gh_line_end(struct gh_line_table *lines)
{
	mark_statements(lines);
	const struct gh_line_row *rows = lines->rows.items;
	size_t nrows = lines->rows.count;
	for (size_t i = 0; i < nrows; i++)
		add_row(lines, &rows[i]);
	if (lines->func->start_line > 0)
		lines->decl.line = lines->func->start_line;
	return lines->decl;
}

/* The header up to its end, as its length counts. */
static void add_tables(const struct gh_line_table *lines, struct gh_buffer *out)
{
	/* Numbers of operands of the standard opcodes. */
	static const uint8_t operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0};
	gh_buffer_u8(out, lines->tab->quantum);
	gh_buffer_u8(out, 1); /* operations of an instruction: no VLIW machines */
	gh_buffer_u8(out, 1); /* rows are statements until told otherwise */
	gh_buffer_u8(out, (uint8_t)LINE_BASE);
	gh_buffer_u8(out, LINE_RANGE);
	gh_buffer_u8(out, OPCODE_BASE);
	gh_buffer_bytes(out, operands, sizeof(operands));
	for (uint32_t i = 0; i < lines->dirs.count; i++) {
		add_text(out, lines->dirs.items[i]->text, lines->dirs.items[i]->length);
		gh_buffer_u8(out, 0);
	}
	gh_buffer_u8(out, 0);
	gh_buffer_bytes(out, lines->files.data, lines->files.size);
	gh_buffer_u8(out, 0);
}

size_t gh_line_finish(struct gh_line_table *lines, struct gh_buffer *out)
{
	if (lines->in_sequence)
		close_sequence(lines, lines->end);
	size_t unit = out->size;
	gh_buffer_u32(out, 0); /* length of the unit, from here */
	gh_buffer_u16(out, 4); /* version */
	gh_buffer_u32(out, 0); /* length of the header, from here */
	size_t tables = out->size;
	add_tables(lines, out);
	gh_buffer_patch(out, tables - 4, out->size - tables, 4);
	gh_buffer_bytes(out, lines->program.data, lines->program.size);
	gh_buffer_patch(out, unit, out->size - unit - 4, 4);
	reset(lines);
	return unit;
}

bool gh_line_failed(const struct gh_line_table *lines)
{
	return lines->failed || lines->program.failed || lines->files.failed ||
	       lines->rows.failed || lines->moves.failed;
}

void gh_line_free(struct gh_line_table *lines)
{
	reset(lines);
	gh_buffer_free(&lines->program);
	gh_buffer_free(&lines->files);
	gh_vector_free(&lines->rows);
	gh_vector_free(&lines->moves);
}
