#include "lib/pclntab/internal.h"

#include <string.h>

#include "lib/util/bsearch.h"

/* A record of the inline tree (runtime.inlinedCall). */
struct inlined_call {
	uint32_t name; /* of the function that was inlined */
	uint32_t
	    parent_pc; /* offset from the function's entry of a pc in the caller, at the call */
	int32_t start_line; /* of the function that was inlined; 0 before Go 1.20 */
};

/* Sizes of the records, and of what comes before their field for the name, in bytes: up to Go 1.19
 * parent, funcID, file and line of the call, since then funcID. Format: inlinedCall in
 * src/runtime/symtab.go, symtabinl.go since Go 1.20. */
enum {
	CALL_SIZE_1_19 = 20,
	BEFORE_NAME_1_19 = 12,
	CALL_SIZE = 16,
	BEFORE_NAME = 4,
};

/* Reads record INDEX of the inline tree. The tree's length is stored nowhere: it ends where no pc
 * refers to it. */
static bool read_call(const struct gh_sourcemap *map, int32_t index, struct inlined_call *call)
{
	if (index < 0)
		return false;
	bool old = map->tab->format < GH_PCLNTAB_1_20;
	struct gh_cursor cur = map->tree;
	gh_cursor_seek(&cur, (uint64_t)index * (old ? CALL_SIZE_1_19 : CALL_SIZE));
	gh_cursor_bytes(&cur, old ? BEFORE_NAME_1_19 : BEFORE_NAME);
	call->name = gh_cursor_u32(&cur);
	call->parent_pc = gh_cursor_u32(&cur);
	call->start_line = old ? 0 : (int32_t)gh_cursor_u32(&cur);
	return !cur.failed;
}

/* Sets TREE to the inline tree of the function, to an empty cursor if it has none. */
static void find_tree(struct gh_sourcemap *map)
{
	const struct gh_pclntab *tab = map->tab;
	uint64_t address = gh_pclntab_funcdata(tab, map->func, tab->numbers.inl_tree);
	if (!tab->has_func_id || address == 0 || !gh_image_at(tab->image, address, &map->tree))
		map->tree = gh_cursor_make("", 0, tab->image->path, 0, false);
}

static bool add_piece(struct gh_sourcemap *map, struct gh_piece piece)
{
	if (map->pieces.count > 0) {
		const struct gh_piece *last = &map->pieces.items[map->pieces.count - 1];
		if (last->file == piece.file && last->line == piece.line &&
		    last->inlined == piece.inlined)
			return true;
	}
	return gh_vector_push(&map->pieces, piece);
}

/* Moves WALK to the run that holds PC. Past the table's last run the value is -1 up to END. */
static void advance(struct gh_pcvalue *walk, uint64_t pc, uint64_t end)
{
	while (walk->end <= pc) {
		if (!gh_pcvalue_next(walk)) {
			walk->value = -1;
			walk->end = end;
		}
	}
}

bool gh_sourcemap_start(struct gh_sourcemap *map, const struct gh_pclntab *tab,
			const struct gh_func *func)
{
	map->tab = tab;
	map->func = func;
	map->pieces.count = 0;
	map->next = 0;
	find_tree(map);
	uint32_t inlined_table = 0;
	if (gh_cursor_size(&map->tree) > 0)
		inlined_table = gh_pclntab_pcdata(tab, func, tab->numbers.inl_tree_index);
	struct gh_pcvalue file;
	struct gh_pcvalue line;
	struct gh_pcvalue inlined;
	gh_pcvalue_start(&file, tab, func, func->pcfile);
	gh_pcvalue_start(&line, tab, func, func->pcln);
	gh_pcvalue_start(&inlined, tab, func, inlined_table);
	uint64_t pc = func->entry;
	while (pc < func->end) {
		advance(&file, pc, func->end);
		advance(&line, pc, func->end);
		advance(&inlined, pc, func->end);
		if (!add_piece(map, (struct gh_piece){pc, file.value, line.value, inlined.value}))
			return false;
		pc = file.end < line.end ? file.end : line.end;
		if (inlined.end < pc)
			pc = inlined.end;
	}
	return true;
}

/* The piece that holds PC, which must be in the function: the first begins at its entry. */
static size_t find_piece(const struct gh_sourcemap *map, uint64_t pc)
{
	const struct gh_piece *pieces = map->pieces.items;
	return gh_lower_bound(map->pieces.count, i, pieces[i].start <= pc) - 1;
}

static struct gh_frame make_frame(const struct gh_sourcemap *map, const struct gh_piece *piece)
{
	return (struct gh_frame){
	    .name = map->func->name,
	    .file = gh_pclntab_cu_file(map->tab, map->func, piece->file),
	    .line = piece->line > 0 ? piece->line : 0,
	    .start_line = map->func->start_line,
	    .tree_index = -1,
	};
}

static void fill_extent(const struct gh_sourcemap *map, size_t index, struct gh_range *range)
{
	bool last = index + 1 == map->pieces.count;
	range->start = map->pieces.items[index].start;
	range->end = last ? map->func->end : map->pieces.items[index + 1].start;
}

/* Fills RANGE with piece INDEX. Each inlined frame's caller is where the tree says its call is: the
 * piece at its parent pc has the caller's line, and the caller's own place in the tree. */
static void fill_range(const struct gh_sourcemap *map, size_t index, struct gh_range *range)
{
	const struct gh_func *func = map->func;
	const struct gh_piece *piece = &map->pieces.items[index];
	fill_extent(map, index, range);
	range->nframes = 0;
	struct inlined_call call;
	while (range->nframes < GH_MAX_INLINE_DEPTH - 1 && read_call(map, piece->inlined, &call)) {
		struct gh_frame *frame = &range->frames[range->nframes++];
		*frame = make_frame(map, piece);
		frame->name = call.name;
		frame->start_line = call.start_line;
		frame->tree_index = piece->inlined;
		if (call.parent_pc >= func->end - func->entry) {
			range->frames[range->nframes++] = make_frame(
			    map, &(struct gh_piece){.file = -1, .line = -1, .inlined = -1});
			return;
		}
		piece = &map->pieces.items[find_piece(map, func->entry + call.parent_pc)];
	}
	range->frames[range->nframes++] = make_frame(map, piece);
}

bool gh_sourcemap_next(struct gh_sourcemap *map, struct gh_range *range)
{
	if (map->next == map->pieces.count)
		return false;
	fill_range(map, map->next++, range);
	return true;
}

bool gh_sourcemap_next_place(struct gh_sourcemap *map, struct gh_range *range)
{
	if (map->next == map->pieces.count)
		return false;
	fill_extent(map, map->next, range);
	range->frames[0] = make_frame(map, &map->pieces.items[map->next]);
	range->nframes = 1;
	map->next++;
	return true;
}

bool gh_sourcemap_seek(struct gh_sourcemap *map, uint64_t pc, struct gh_range *range)
{
	if (pc < map->func->entry || pc >= map->func->end || map->pieces.count == 0)
		return false;
	map->next = find_piece(map, pc);
	return gh_sourcemap_next(map, range);
}

void gh_sourcemap_free(struct gh_sourcemap *map)
{
	gh_vector_free(&map->pieces);
	*map = (struct gh_sourcemap){0};
}
