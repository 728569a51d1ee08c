/* What the program's code says of the words in frames: a function keeps there what it was called
 * with, or by, or what it made. Whose caller passes it a value that has a type was called with a
 * value of that type, by whomever: Go's types are static. */
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
	struct GH_VECTOR(struct function) functions;
};

/* What a word of type NUMBER leads to, where it is the pointer at OFFSET in it. False if nothing
 * follows from one word alone. */
static bool link_at(struct finder *finder, uint32_t number, uint64_t offset, struct gh_link *link)
{
	return gh_layouts_link_at(finder->infer->layouts, number, offset, link) &&
	       (link->kind == GH_LAYOUT_POINTER || link->kind == GH_LAYOUT_OBJECT ||
		link->kind == GH_LAYOUT_FUNC);
}

/* What WORD, in FUNCTION, begins with before anything is loaded. */
static bool find_base(struct finder *finder, const struct function *function,
		      const struct gh_word_origin *word, struct gh_link *link)
{
	uint32_t closure;
	switch ((enum gh_origin_from)word->from) {
	case GH_ORIGIN_ARGUMENT:
		*link = function->arguments[word->number];
		return (function->known >> word->number & 1) != 0;
	case GH_ORIGIN_CLOSURE:
		closure = gh_code_types_closure(&finder->infer->code, function->entry);
		*link = (struct gh_link){.kind = GH_LAYOUT_POINTER, .elem = closure};
		return closure != GH_NO_RTYPE;
	case GH_ORIGIN_MADE:
		*link = (struct gh_link){.kind = GH_LAYOUT_POINTER, .elem = word->number};
		return word->kind == GH_CODE_POINTER ||
		       (word->kind == GH_CODE_VALUE && link_at(finder, word->number, 0, link));
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
		if (link->kind != GH_LAYOUT_POINTER ||
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

/* The place of the function that begins at ENTRY, an address in the dump; GH_NOT_MAPPED if there is
 * none. */
static uint32_t find_function(struct finder *finder, uint64_t entry)
{
	const struct gh_infer *infer = finder->infer;
	const struct gh_pclntab *tab = infer->program;
	struct function function = {.entry = entry - infer->bias};
	struct gh_func func;
	uint32_t known = gh_numbermap_get(&finder->by_entry, function.entry);
	if (known != GH_NOT_MAPPED)
		return known;
	size_t index = gh_pclntab_find(tab, function.entry);
	if (index == SIZE_MAX || !gh_pclntab_record(tab, index, &func, NULL) ||
	    func.entry != function.entry)
		return GH_NOT_MAPPED;
	bool ok = gh_word_origins_find(&function.words, infer->layouts->types, &func);
	const struct gh_signature *signature =
	    gh_signature_at(&infer->code.signatures, function.entry);
	if (signature != NULL)
		take_signature(finder, &function, signature);
	uint32_t place = (uint32_t)finder->functions.count;
	gh_vector_push(&finder->functions, function);
	ok = ok && !finder->functions.failed &&
	     gh_numbermap_put(&finder->by_entry, function.entry, place);
	finder->infer->failed |= !ok;
	return ok ? place : GH_NOT_MAPPED;
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
	uint32_t caller = find_function(finder, frame->entry);
	if (number == 0 || frame->child_sp == 0 || caller == GH_NOT_MAPPED)
		return;
	gh_dump_get(finder->infer->heap->dump, GH_DUMP_FRAME, number - 1, &callee);
	uint32_t called = find_function(finder, callee.frame.entry);
	if (callee.frame.sp != frame->child_sp || called == GH_NOT_MAPPED)
		return;
	struct function *functions = finder->functions.items;
	uint64_t key = (frame->pc * GH_ORIGIN_REGISTERS + called) << GH_ORIGIN_REGISTERS |
		       functions[caller].known;
	if (gh_numbermap_get(&finder->seen, key) != GH_NOT_MAPPED)
		return;
	finder->infer->failed |= !gh_numbermap_put(&finder->seen, key, 1);
	take_call(finder, &functions[caller], &functions[called], frame->pc - finder->infer->bias);
}

/* The pointer VALUE is OFFSET bytes above SP of the function that begins at ENTRY. */
static void take_slot(struct finder *finder, uint64_t entry, uint64_t offset, uint64_t value)
{
	struct gh_cursor none = {0};
	struct gh_link link;
	uint32_t place = find_function(finder, entry);
	if (place == GH_NOT_MAPPED)
		return;
	const struct function *function = &finder->functions.items[place];
	const struct gh_word_origin *word = gh_word_origins_kept(&function->words, (int64_t)offset);
	if (word != NULL && find_link(finder, function, word, &link))
		gh_infer_follow(finder->infer, &link, &none, 0, value);
}

/* Takes the slot OFFSET bytes into the frame of record NUMBER: what it called may have saved there
 * what it was called with. */
static void take_root(struct finder *finder, uint32_t number, const struct gh_dump_frame *frame,
		      uint64_t offset)
{
	const struct gh_dump *dump = finder->infer->heap->dump;
	struct gh_dump_record callee;
	struct gh_cursor slot = gh_dump_bytes(dump, frame->contents);
	gh_cursor_seek(&slot, offset);
	uint64_t value = gh_cursor_uint(&slot, dump->word);
	take_slot(finder, frame->entry, offset, value);
	if (number == 0 || frame->child_sp == 0)
		return;
	gh_dump_get(dump, GH_DUMP_FRAME, number - 1, &callee);
	if (callee.frame.sp == frame->child_sp)
		take_slot(finder, callee.frame.entry, callee.frame.size + offset, value);
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
	for (size_t i = 0; i < finder.functions.count; i++)
		gh_word_origins_free(&finder.functions.items[i].words);
	gh_vector_free(&finder.functions);
	gh_numbermap_free(&finder.by_entry);
	gh_numbermap_free(&finder.seen);
}
