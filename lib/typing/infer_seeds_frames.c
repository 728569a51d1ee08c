/* What the program's code says of the words in frames: a function keeps there what it was called
 * with, or by, or what it or what it calls made. Whose caller passes it a value that has a type was
 * called with a value of that type, by whomever: Go's types are static. */
#include <stdlib.h>

#include "lib/code/code_types.h"
#include "lib/typing/internal.h"

/* A function that frames are of. */
struct function {
	uint64_t entry; /* in the program's file */
	struct gh_word_origins words;
	struct gh_link arguments[GH_ORIGIN_REGISTERS]; /* what it is called with */
	unsigned known;                                /* of those: a bit for each */
};

struct finder {
	struct gh_infer *infer;
	struct gh_numbermap by_entry; /* places of functions */
	struct gh_numbermap seen;     /* calls, by their place and what was known then */
	struct GH_VECTOR(struct function *) functions; /* owned */
	unsigned depth;                                /* of calls whose results are looked for */
};

/* How far the result of a function is followed to what it calls. */
#define MAX_DEPTH 8

static bool find_link(struct finder *finder, const struct function *function,
		      const struct gh_word_origin *word, struct gh_link *link);
static struct function *find_function(struct finder *finder, uint64_t entry);

/* What a word of type NUMBER leads to, where it is the pointer at OFFSET in it. False if nothing
 * follows from one word alone. */
static bool link_at(struct finder *finder, uint32_t number, uint64_t offset, struct gh_link *link)
{
	return gh_layouts_link_at(finder->infer->layouts, number, offset, link) &&
	       (link->kind == GH_LAYOUT_POINTER || link->kind == GH_LAYOUT_OBJECT ||
		link->kind == GH_LAYOUT_FUNC);
}

/* What a word leads to that is of WORD's type, as its kind says; if it was made, to all of it. */
static bool link_of(struct finder *finder, const struct gh_word_origin *word, struct gh_link *link)
{
	bool is_made = word->from == GH_ORIGIN_MADE && word->nloads == 0;
	*link = (struct gh_link){.kind = GH_LAYOUT_POINTER, .elem = word->number};
	switch ((enum gh_code_type_kind)word->kind) {
	case GH_CODE_VALUE:
		return link_at(finder, word->number, 0, link);
	case GH_CODE_POINTER:
		link->kind = is_made && !gh_infer_is_closure_struct(finder->infer, word->number)
				 ? GH_LAYOUT_OBJECT
				 : GH_LAYOUT_POINTER;
		return true;
	case GH_CODE_SLICE:
		link->kind = is_made ? GH_LAYOUT_ELEMENTS : GH_LAYOUT_POINTER;
		return true;
	}
	return false;
}

/* What WORD, in FUNCTION, begins with before anything is loaded. */
static bool find_base(struct finder *finder, const struct function *function,
		      const struct gh_word_origin *word, struct gh_link *link)
{
	uint32_t closure;
	const struct function *callee;
	bool found = false;
	switch ((enum gh_origin_from)word->from) {
	case GH_ORIGIN_ARGUMENT:
		*link = function->arguments[word->number];
		return (function->known >> word->number & 1) != 0;
	case GH_ORIGIN_CLOSURE:
		closure = gh_code_types_closure(&finder->infer->code, function->entry);
		*link = (struct gh_link){.kind = GH_LAYOUT_POINTER, .elem = closure};
		return closure != GH_NO_RTYPE;
	case GH_ORIGIN_MADE:
	case GH_ORIGIN_USED:
		return link_of(finder, word, link);
	case GH_ORIGIN_CALLED:
		if (finder->depth == MAX_DEPTH)
			return false;
		finder->depth++;
		callee = find_function(finder, word->callee + finder->infer->bias);
		if (callee != NULL && callee->words.returns)
			found = find_link(finder, callee, &callee->words.returned, link);
		finder->depth--;
		return found;
	}
	return false;
}

/* What WORD leads to. False if that is not known. */
static bool find_link(struct finder *finder, const struct function *function,
		      const struct gh_word_origin *word, struct gh_link *link)
{
	if (!find_base(finder, function, word, link))
		return false;
	for (unsigned i = 0; i < word->nloads; i++)
		if ((link->kind != GH_LAYOUT_POINTER && link->kind != GH_LAYOUT_OBJECT) ||
		    !link_at(finder, link->elem, (uint64_t)word->offsets[i], link))
			return false;
	/* The closure itself says what it is. */
	if (word->from == GH_ORIGIN_CLOSURE && word->nloads == 0)
		link->kind = GH_LAYOUT_FUNC;
	return word->offsets[word->nloads] == 0;
}

/* Notes what FUNCTION, a method of SIGNATURE, is called with. */
static void take_signature(struct finder *finder, struct function *function,
			   const struct gh_signature *signature)
{
	struct gh_results walk;
	struct gh_result passed;
	const struct gh_rtypes *types = finder->infer->layouts->types;
	if (!gh_parameters_begin(&walk, types, signature, gh_image_go_minor(types->tab->image)))
		return;
	while (gh_parameters_next(&walk, &passed))
		for (size_t i = 0; i < passed.nparts; i++) {
			const struct gh_result_part *part = &passed.parts[i];
			if (part->is_float || part->number >= GH_ORIGIN_REGISTERS ||
			    !link_at(finder, passed.type, part->offset,
				     &function->arguments[part->number]))
				continue;
			function->known |= 1U << part->number;
		}
}

/* Reads FUNC. NULL if memory ran out. */
static struct function *add_function(struct finder *finder, const struct gh_func *func)
{
	struct gh_infer *infer = finder->infer;
	struct function *function = calloc(1, sizeof(*function));
	const struct gh_signature *signature =
	    gh_signature_at(&infer->code.signatures, func->entry);
	if (function != NULL)
		gh_vector_push(&finder->functions, function);
	if (function == NULL || finder->functions.failed) {
		infer->failed = true;
		free(function);
		return NULL;
	}
	function->entry = func->entry;
	infer->failed |= !gh_word_origins_find(&function->words, infer->layouts->types,
					       &infer->code.signatures, func);
	if (signature != NULL)
		take_signature(finder, function, signature);
	if ((function->known & 1) == 0 && function->words.argument.from == GH_ORIGIN_USED &&
	    link_of(finder, &function->words.argument, &function->arguments[0]))
		function->known |= 1;
	return function;
}

/* The function that begins at ENTRY, an address in the dump; NULL if there is none. */
static struct function *find_function(struct finder *finder, uint64_t entry)
{
	const struct gh_pclntab *tab = finder->infer->program;
	struct gh_func func;
	uint64_t address = entry - finder->infer->bias;
	uint32_t known = gh_numbermap_get(&finder->by_entry, address);
	if (known != GH_NOT_MAPPED)
		return finder->functions.items[known];
	size_t index = gh_pclntab_find(tab, address);
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, &func, NULL) ||
	    func.entry != address)
		return NULL;
	uint32_t place = (uint32_t)finder->functions.count;
	struct function *function = add_function(finder, &func);
	if (function != NULL)
		finder->infer->failed |= !gh_numbermap_put(&finder->by_entry, address, place);
	return function;
}

/* CALLER calls CALLEE, which returns to PC: notes what it is called with. */
static void take_call(struct finder *finder, const struct function *caller, struct function *callee,
		      uint64_t pc)
{
	const struct gh_passed_word *passed;
	size_t count = gh_word_origins_passed(&caller->words, pc, &passed);
	for (size_t i = 0; i < count; i++) {
		struct gh_link link;
		unsigned bit = 1U << passed[i].argument;
		if ((callee->known & bit) != 0 ||
		    !find_link(finder, caller, &passed[i].word, &link))
			continue;
		callee->arguments[passed[i].argument] = link;
		callee->known |= bit;
	}
}

/* Takes the frame that is called by FRAME, which record NUMBER is of. */
static void take_frame(struct finder *finder, uint32_t number, const struct gh_dump_frame *frame)
{
	struct gh_dump_record callee;
	const struct function *caller = find_function(finder, frame->entry);
	if (number == 0 || frame->child_sp == 0 || caller == NULL)
		return;
	gh_dump_get(finder->infer->heap->dump, GH_DUMP_FRAME, number - 1, &callee);
	struct function *called = find_function(finder, callee.frame.entry);
	if (callee.frame.sp != frame->child_sp || called == NULL)
		return;
	uint64_t key =
	    frame->pc * 0x9e3779b97f4a7c15 ^ (called->entry << GH_ORIGIN_REGISTERS | caller->known);
	if (gh_numbermap_get(&finder->seen, key) != GH_NOT_MAPPED)
		return;
	finder->infer->failed |= !gh_numbermap_put(&finder->seen, key, 1);
	take_call(finder, caller, called, frame->pc - finder->infer->bias);
}

/* The pointer VALUE is OFFSET bytes above SP of FUNCTION. */
static void take_slot(struct finder *finder, const struct function *function, uint64_t offset,
		      uint64_t value)
{
	struct gh_cursor none = {0};
	struct gh_link link;
	const struct gh_word_origin *word = gh_word_origins_kept(&function->words, (int64_t)offset);
	if (word != NULL && find_link(finder, function, word, &link))
		gh_infer_follow(finder->infer, &link, &none, 0, value);
}

/* The pointer VALUE is OFFSET bytes into CONTENTS, a frame of FUNCTION: in a variable. */
static void take_placed(struct finder *finder, const struct function *function,
			const struct gh_cursor *contents, uint64_t offset, uint64_t value)
{
	struct gh_layouts *layouts = finder->infer->layouts;
	for (size_t i = 0; i < function->words.placed.count; i++) {
		const struct gh_placed_value *placed = &function->words.placed.items[i];
		uint64_t inside = offset - (uint64_t)placed->offset;
		uint32_t type = placed->type;
		struct gh_link link;
		/* The frame has what a map points to. */
		if (layouts->types->items[type].kind == GH_KIND_MAP)
			type = gh_layouts_link_at(layouts, type, 0, &link) ? link.elem : type;
		if (inside < gh_layout(layouts, type)->size &&
		    gh_layouts_link_at(layouts, type, inside, &link)) {
			gh_infer_follow(finder->infer, &link, contents, offset, value);
			return;
		}
	}
}

/* Takes the slot OFFSET bytes into the frame of record NUMBER: what it called may have saved there
 * what it was called with. */
static void take_root(struct finder *finder, uint32_t number, const struct gh_dump_frame *frame,
		      uint64_t offset)
{
	const struct gh_dump *dump = finder->infer->heap->dump;
	struct gh_dump_record callee;
	struct gh_cursor contents = gh_dump_bytes(dump, frame->contents);
	struct gh_cursor slot = contents;
	gh_cursor_seek(&slot, offset);
	uint64_t value = gh_cursor_uint(&slot, dump->word);
	const struct function *function = find_function(finder, frame->entry);
	if (function != NULL) {
		take_slot(finder, function, offset, value);
		take_placed(finder, function, &contents, offset, value);
	}
	if (number == 0 || frame->child_sp == 0)
		return;
	gh_dump_get(dump, GH_DUMP_FRAME, number - 1, &callee);
	if (callee.frame.sp != frame->child_sp)
		return;
	function = find_function(finder, callee.frame.entry);
	if (function != NULL)
		take_slot(finder, function, callee.frame.size + offset, value);
}

static void take_roots(struct finder *finder)
{
	const struct gh_heap *heap = finder->infer->heap;
	struct gh_dump_record record = {.kind = GH_DUMP_EOF};
	uint32_t number = UINT32_MAX;
	for (size_t i = 0; i < heap->nroots; i++) {
		const struct gh_root *root = &heap->roots[i];
		if (root->kind != GH_ROOT_FRAME || root->conservative ||
		    gh_root_record(heap->dump, root->kind) != GH_DUMP_FRAME)
			continue;
		if (root->number != number)
			gh_dump_get(heap->dump, GH_DUMP_FRAME, root->number, &record);
		number = root->number;
		take_root(finder, number, &record.frame, root->offset);
	}
}

void gh_infer_seed_frames(struct gh_infer *infer)
{
	struct finder finder = {.infer = infer};
	struct gh_dump_record record;
	if (infer->program == NULL || infer->layouts->types == NULL)
		return;
	/* Callers come after what they call. */
	for (size_t i = gh_dump_count(infer->heap->dump, GH_DUMP_FRAME); i-- > 0;) {
		gh_dump_get(infer->heap->dump, GH_DUMP_FRAME, i, &record);
		if (i < UINT32_MAX)
			take_frame(&finder, (uint32_t)i, &record.frame);
	}
	take_roots(&finder);
	for (size_t i = 0; i < finder.functions.count; i++) {
		gh_word_origins_free(&finder.functions.items[i]->words);
		free(finder.functions.items[i]);
	}
	gh_vector_free(&finder.functions);
	gh_numbermap_free(&finder.by_entry);
	gh_numbermap_free(&finder.seen);
}
