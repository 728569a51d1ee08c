#include "lib/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "lib/profile/internal.h"
#include "lib/util/numbermap.h"

/* A frame as a dump has it; equal ones are one. */
struct frame {
	struct gh_allocation_line line;
	uint64_t hash;  /* of file and line */
	uint32_t place; /* that it alone is, plus 1; 0 if it is none */
};

/* What is needed while stacks become places. */
struct making {
	struct gh_allocations *to;
	struct gh_intern raw;                  /* frames as bytes of the dump, by number */
	struct GH_VECTOR(struct frame) frames; /* by number */
	struct gh_linestacks code;             /* empty without a program */
	struct GH_VECTOR(struct found) found;
	const struct gh_pclntab *tab; /* NULL without a program */
};

/* A place that is in the program's code. */
struct found {
	uint64_t start; /* of its range */
	uint32_t place; /* its number */
	bool wrappers;  /* wrappers are among its lines */
};

uint64_t gh_profile_inuse(const struct gh_dump_profile *record)
{
	return record->frees < record->allocations ? record->allocations - record->frees : 0;
}

uint64_t gh_profile_bytes(uint64_t count, uint64_t size)
{
	uint64_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > INT64_MAX)
		return INT64_MAX;
	return bytes;
}

/* The places, or before those are made the frames, of STACK; NULL if it has none. */
static uint32_t *places_of(const struct gh_allocations *allocations,
			   const struct gh_allocation_stack *stack)
{
	return stack->nplaces > 0 ? &allocations->stack_places.items[stack->first] : NULL;
}

const uint32_t *gh_allocations_stack(const struct gh_allocations *allocations, size_t number,
				     size_t *count)
{
	const struct gh_allocation_stack *stack = &allocations->stacks.items[number];
	*count = stack->nplaces - stack->hidden;
	return *count > 0 ? places_of(allocations, stack) + stack->hidden : NULL;
}

static const char *text_at(const struct making *making, struct gh_dump_slice slice)
{
	struct gh_cursor cur = gh_dump_bytes(making->to->dump, slice);
	return (const char *)cur.pos;
}

/* Notes FRAME, which has not been seen before. */
static bool add_frame(struct making *making, const struct gh_profile_frame *frame)
{
	const char *function = text_at(making, frame->function);
	const char *file = text_at(making, frame->file);
	struct gh_intern *texts = &making->to->texts;
	struct frame added = {
	    .line =
		{
		    .function = gh_intern_add(texts, function, frame->function.size),
		    .file = gh_intern_add(texts, file, frame->file.size),
		    .line = frame->line,
		},
	    .hash = gh_linestack_line(file, frame->file.size, frame->line),
	};
	return added.line.function != GH_INTERN_NONE && added.line.file != GH_INTERN_NONE &&
	       gh_vector_push(&making->frames, added);
}

/* Reads the stack of RECORD: the numbers of its frames, for now where those of its places go. */
static bool read_stack(struct making *making, const struct gh_dump_profile *record)
{
	struct gh_cursor cur = making->to->dump->file;
	gh_cursor_seek(&cur, record->frames);
	for (uint64_t i = 0; i < record->nframes; i++) {
		struct gh_profile_frame frame;
		const char *start = (const char *)cur.pos;
		if (!gh_profile_next(&cur, &frame))
			break;
		uint32_t count = making->raw.count;
		uint32_t number =
		    gh_intern_add(&making->raw, start, (size_t)((const char *)cur.pos - start));
		if (number == GH_INTERN_NONE || (number == count && !add_frame(making, &frame)))
			return false;
		gh_vector_push(&making->to->stack_places, number);
	}
	return !making->to->stack_places.failed;
}

static bool read_stacks(struct making *making)
{
	struct gh_allocations *to = making->to;
	struct gh_dump_record record;
	for (size_t i = 0; i < gh_dump_count(to->dump, GH_DUMP_PROFILE); i++) {
		struct gh_allocation_stack stack = {.first = to->stack_places.count};
		gh_dump_get(to->dump, GH_DUMP_PROFILE, i, &record);
		if (!read_stack(making, &record.profile))
			return false;
		stack.nplaces = to->stack_places.count - stack.first;
		gh_vector_push(&to->stacks, stack);
	}
	return !to->stacks.failed;
}

/* Adds a place whose NLINES lines are the next to be added. Returns its number plus 1; 0 if memory
 * ran out. */
static uint32_t add_place(struct gh_allocations *to, uint64_t address, uint32_t nlines)
{
	struct gh_allocation_place place = {
	    .address = address,
	    .first_line = (uint32_t)to->lines.count,
	    .nlines = nlines,
	};
	return gh_vector_push(&to->places, place) ? (uint32_t)to->places.count : 0;
}

/* The place, plus 1, that frame NUMBER is by itself. */
static uint32_t place_of_frame(struct making *making, uint32_t number)
{
	struct frame *frame = &making->frames.items[number];
	if (frame->place == 0) {
		frame->place = add_place(making->to, 0, 1);
		gh_vector_push(&making->to->lines, frame->line);
	}
	return frame->place;
}

/* The same for the place in the code that ITEM is; its lines are added later. */
static uint32_t place_of_code(struct making *making, struct gh_linestack *item)
{
	if (item->number == 0) {
		item->number = add_place(making->to, item->start, 0);
		struct found found = {item->start, item->number - 1, item->wrappers};
		gh_vector_push(&making->found, found);
	}
	return item->number;
}

/* The code whose lines have the hash HASH. FIRST: they are a stack's innermost, and the first of
 * them may be that of where its call returns to. CUT: there may be more. */
static struct gh_linestack *look_up(const struct gh_linestacks *code, uint64_t hash, bool first,
				    bool cut)
{
	static const struct {
		enum gh_linestack_kind kind;
		bool first; /* is for a stack's innermost lines */
		bool cut;   /* is for lines that there may be more of */
	} ways[] = {
	    {GH_LINESTACK_ALLOCATES, true, false}, {GH_LINESTACK_RETURNS, true, false},
	    {GH_LINESTACK_ALL, false, false},      {GH_LINESTACK_MAY_RETURN, true, false},
	    {GH_LINESTACK_PART, false, true},
	};
	struct gh_linestack *item = NULL;
	for (size_t i = 0; item == NULL && i < sizeof(ways) / sizeof(ways[0]); i++)
		if ((first || !ways[i].first) && (cut || !ways[i].cut))
			item = gh_linestacks_find(code, hash, ways[i].kind);
	return item;
}

/* The code whose lines are those of the COUNT first of NFRAMES frames, the rest of a stack; as many
 * as there are of one function, but it may have called itself. FIRST: they are the stack's
 * innermost. NULL if there is none; else COUNT is how many frames it is. */
static struct gh_linestack *find_code(const struct making *making, const uint32_t *frames,
				      size_t nframes, size_t *count, bool first)
{
	uint64_t hashes[GH_MAX_INLINE_DEPTH];
	uint32_t function = making->frames.items[frames[0]].line.function;
	const struct gh_interned *name = making->to->texts.items[function];
	uint64_t hash = gh_linestack_start(name->text, name->length);
	size_t n = 0;
	for (; n < nframes && n < GH_MAX_INLINE_DEPTH; n++) {
		const struct frame *frame = &making->frames.items[frames[n]];
		if (frame->line.function != function)
			break;
		hash = gh_linestack_add(hash, frame->hash);
		hashes[n] = hash;
	}
	for (; n > 0; n--) {
		/* The runtime keeps so many frames only; Go before 1.12, of inlined calls one. */
		bool cut = n == nframes || n == 1;
		struct gh_linestack *item = look_up(&making->code, hashes[n - 1], first, cut);
		*count = n;
		if (item != NULL)
			return item;
	}
	return NULL;
}

/* The innermost line of a stack is that of where its call returns to. */
static bool has_returns(const struct gh_dump *dump)
{
	return dump->format == GH_DUMP_PROTOTYPE || dump->params.ncpu != GH_DUMP_FROM_OUTSIDE;
}

/* Makes STACK's frames places: as many or fewer, in the same place. */
static bool make_places(struct making *making, struct gh_allocation_stack *stack)
{
	uint32_t *to = places_of(making->to, stack);
	const uint32_t *from = to;
	size_t nplaces = 0;
	bool returns = has_returns(making->to->dump);
	for (size_t i = 0, count; i < stack->nplaces; i += count) {
		struct gh_linestack *item =
		    find_code(making, from + i, stack->nplaces - i, &count, returns && i == 0);
		if (item == NULL)
			count = 1;
		uint32_t place =
		    item != NULL ? place_of_code(making, item) : place_of_frame(making, from[i]);
		if (place == 0)
			return false;
		to[nplaces++] = place - 1;
	}
	stack->nplaces = nplaces;
	return !making->to->lines.failed && !making->found.failed;
}

static bool make_all_places(struct making *making)
{
	for (size_t i = 0; i < making->to->stacks.count; i++)
		if (!make_places(making, &making->to->stacks.items[i]))
			return false;
	return true;
}

/* Adds the lines of the place FOUND, which is in RANGE. */
static bool add_lines(struct making *making, const struct found *found,
		      const struct gh_range *range)
{
	struct gh_allocations *to = making->to;
	struct gh_allocation_place *place = &to->places.items[found->place];
	place->first_line = (uint32_t)to->lines.count;
	for (unsigned i = 0; i < range->nframes; i++) {
		const struct gh_frame *frame = &range->frames[i];
		if (!found->wrappers && gh_frame_is_wrapper(making->tab, frame))
			continue;
		const char *name = gh_pclntab_name(making->tab, frame->name);
		const char *file = gh_pclntab_file(making->tab, frame->file);
		struct gh_allocation_line line = {
		    .function = gh_intern_add(&to->texts, name, strlen(name)),
		    .file = gh_intern_add(&to->texts, file, strlen(file)),
		    .line = frame->line > 0 ? (uint64_t)frame->line : 0,
		    .start_line = frame->start_line,
		    .inlined = i + 1 < range->nframes,
		};
		if (line.function == GH_INTERN_NONE || line.file == GH_INTERN_NONE)
			return false;
		gh_vector_push(&to->lines, line);
		place->nlines++;
	}
	return !to->lines.failed;
}

static int compare_found(const void *a, const void *b)
{
	uint64_t first = ((const struct found *)a)->start;
	uint64_t second = ((const struct found *)b)->start;
	return (first > second) - (first < second);
}

/* Adds the lines of all places in the code, in one walk over the functions that they are in. */
static bool add_code_lines(struct making *making)
{
	struct found *found = making->found.items;
	size_t nfound = making->found.count;
	struct gh_sourcemap map = {0};
	struct gh_func func = {0};
	struct gh_range range = {0};
	bool added = true;
	if (nfound > 0)
		qsort(found, nfound, sizeof(*found), compare_found);
	for (size_t i = 0; added && i < nfound; i++) {
		if (found[i].start >= func.end) {
			size_t index = gh_pclntab_find(making->tab, found[i].start);
			added = gh_pclntab_func(making->tab, index, &func, NULL) &&
				gh_sourcemap_start(&map, making->tab, &func) &&
				gh_sourcemap_next(&map, &range);
		}
		while (added && range.start < found[i].start)
			added = gh_sourcemap_next(&map, &range);
		added = added && add_lines(making, &found[i], &range);
	}
	gh_sourcemap_free(&map);
	return added;
}

static bool starts_with(const struct gh_interned *text, const char *prefix)
{
	size_t length = strlen(prefix);
	return text->length >= length && memcmp(text->text, prefix, length) == 0;
}

/* LINE is the runtime's, as runtime/pprof sees it. */
static bool is_runtime(const struct gh_allocations *allocations,
		       const struct gh_allocation_line *line)
{
	const struct gh_interned *name = allocations->texts.items[line->function];
	return starts_with(name, "runtime.") || starts_with(name, "internal/runtime/");
}

/* How many of the innermost lines of PLACE are the runtime's. */
static uint32_t count_runtime(const struct gh_allocations *allocations, uint32_t place)
{
	const struct gh_allocation_line *line = gh_allocations_line(allocations, place, 0);
	uint32_t nlines = gh_allocations_place(allocations, place)->nlines;
	uint32_t n = 0;
	while (n < nlines && is_runtime(allocations, &line[n]))
		n++;
	return n;
}

static bool is_all_runtime(const struct gh_allocations *allocations, uint32_t place)
{
	return count_runtime(allocations, place) ==
	       gh_allocations_place(allocations, place)->nlines;
}

/* The place that PLACE is without the runtime's calls that are inlined into it, of which TRIMMED
 * has those that were asked for. GH_NOT_MAPPED if memory ran out. */
static uint32_t trim(struct gh_allocations *allocations, struct gh_numbermap *trimmed,
		     uint32_t place)
{
	uint32_t count = count_runtime(allocations, place);
	struct gh_allocation_place rest = *gh_allocations_place(allocations, place);
	uint32_t number = gh_numbermap_get(trimmed, place);
	if (count == 0 || count == rest.nlines)
		return place;
	if (number != GH_NOT_MAPPED)
		return number;
	number = add_place(allocations, rest.address, rest.nlines - count);
	if (number == 0 || !gh_numbermap_put(trimmed, place, number - 1))
		return GH_NOT_MAPPED;
	allocations->places.items[number - 1].first_line = rest.first_line + count;
	return number - 1;
}

static bool is_goexit(const struct gh_allocations *allocations, uint32_t place)
{
	static const char goexit[] = "runtime.goexit";
	uint32_t function = gh_allocations_line(allocations, place, 0)->function;
	const struct gh_interned *name = allocations->texts.items[function];
	return name->length == strlen(goexit) && memcmp(name->text, goexit, name->length) == 0;
}

/* Does as writeHeapProto and appendLocsForStack in src/runtime/pprof: runtime.goexit is left out,
 * and the runtime's calls up to the first that is not, if there is one. False if memory ran out. */
static bool hide_runtime(struct gh_allocations *allocations, struct gh_numbermap *trimmed,
			 struct gh_allocation_stack *stack)
{
	uint32_t *places = places_of(allocations, stack);
	if (stack->nplaces > 0 && is_goexit(allocations, places[stack->nplaces - 1]))
		stack->nplaces--;
	while (stack->hidden < stack->nplaces && is_all_runtime(allocations, places[stack->hidden]))
		stack->hidden++;
	if (stack->hidden == stack->nplaces) {
		stack->hidden = 0;
		return true;
	}
	uint32_t *first = &places[stack->hidden];
	*first = trim(allocations, trimmed, *first);
	return *first != GH_NOT_MAPPED;
}

static bool hide_all_runtimes(struct gh_allocations *allocations)
{
	struct gh_numbermap trimmed = {0};
	bool hidden = true;
	for (size_t i = 0; hidden && i < allocations->stacks.count; i++)
		hidden = hide_runtime(allocations, &trimmed, &allocations->stacks.items[i]);
	gh_numbermap_free(&trimmed);
	return hidden;
}

static bool make(struct making *making)
{
	/* The names of the frames' functions and files, and so those of all functions to look in.
	 */
	return read_stacks(making) &&
	       (making->tab == NULL ||
		gh_linestacks_build(&making->code, making->tab, &making->to->texts)) &&
	       make_all_places(making) && add_code_lines(making);
}

bool gh_allocations_make(struct gh_allocations *allocations, const struct gh_dump *dump,
			 const struct gh_pclntab *tab, struct gh_error *err)
{
	*allocations = (struct gh_allocations){.dump = dump};
	struct making making = {.to = allocations, .tab = tab};
	bool made = make(&making) && hide_all_runtimes(allocations);
	if (!made)
		gh_fail_memory(err, dump->path);
	gh_vector_free(&making.code);
	gh_intern_free(&making.raw);
	gh_vector_free(&making.frames);
	gh_vector_free(&making.found);
	return made;
}

void gh_allocations_free(struct gh_allocations *allocations)
{
	gh_intern_free(&allocations->texts);
	gh_vector_free(&allocations->lines);
	gh_vector_free(&allocations->places);
	gh_vector_free(&allocations->stack_places);
	gh_vector_free(&allocations->stacks);
}

void gh_samples_find(uint32_t *records, const struct gh_heap *heap)
{
	const struct gh_dump *dump = heap->dump;
	for (uint32_t i = 0; i < heap->count; i++)
		records[i] = GH_NOT_SAMPLED;
	for (size_t i = 0; i < gh_dump_count(dump, GH_DUMP_SAMPLE); i++) {
		struct gh_dump_record record;
		gh_dump_get(dump, GH_DUMP_SAMPLE, i, &record);
		uint32_t object = gh_heap_find(heap, record.sample.object);
		size_t profile = gh_dump_find(dump, GH_DUMP_PROFILE, record.sample.profile);
		if (object != GH_HEAP_NONE && records[object] == GH_NOT_SAMPLED &&
		    profile < GH_NOT_SAMPLED)
			records[object] = (uint32_t)profile;
	}
}
