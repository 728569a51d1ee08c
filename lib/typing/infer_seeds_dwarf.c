/* What the program's variables say of what they point to. */
#include <stdlib.h>

#include "lib/code/code_types.h"
#include "lib/typing/internal.h"

/* A place within the call that FRAME, if it is not the top one, waits to return from. */
static uint64_t pc_of(const struct gh_dump_frame *frame, uint64_t bias)
{
	return frame->pc - bias - (frame->pc != frame->entry);
}

static int ascending(const void *left, const void *right)
{
	const uint64_t *a = left;
	const uint64_t *b = right;
	return (*a > *b) - (*a < *b);
}

void gh_infer_seed_pcs(const struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
		       struct gh_pcs *pcs)
{
	const struct gh_dump *dump = heap->dump;
	struct gh_dump_record record;
	struct gh_cleanup cleanup;
	size_t count = gh_dump_count(dump, GH_DUMP_FRAME);
	for (size_t i = 0; i < count; i++) {
		gh_dump_get(dump, GH_DUMP_FRAME, i, &record);
		gh_vector_push(pcs, pc_of(&record.frame, bias));
	}
	for (size_t i = 0; i < heap->nroots; i++)
		if (gh_cleanup_of(&cleanup, heap, tab, bias, &heap->roots[i]))
			gh_vector_push(pcs, cleanup.entry - bias);
	uint64_t *items = pcs->items;
	size_t nitems = pcs->count;
	size_t kept = 0;
	if (nitems > 0)
		qsort(items, nitems, sizeof(*items), ascending);
	for (size_t i = 0; i < nitems; i++)
		if (kept == 0 || items[i] != items[kept - 1])
			items[kept++] = items[i];
	pcs->count = kept;
}

/* The record of a root that was read last, for each kind: that of a segment is long. */
struct last {
	struct gh_dump_record record;
	uint32_t number; /* of it */
	bool is_read;
};

struct records {
	struct last kinds[GH_ROOT_KINDS];
};

/* Reads the record that ROOT is in. */
static const struct gh_dump_record *read_record(struct records *records, const struct gh_dump *dump,
						const struct gh_root *root)
{
	struct last *last = &records->kinds[root->kind];
	if (!last->is_read || last->number != root->number)
		gh_dump_get(dump, gh_root_record(dump, root->kind), root->number, &last->record);
	last->number = root->number;
	last->is_read = true;
	return &last->record;
}

/* The argument that is OFFSET bytes into FRAME, of number NUMBER: those of the function that it
 * called are at its beginning. */
static const struct gh_variable *find_argument(const struct gh_variables *variables,
					       const struct gh_dump *dump, uint64_t bias,
					       uint32_t number, const struct gh_dump_frame *frame,
					       uint64_t offset)
{
	struct gh_dump_record callee;
	if (number == 0 || frame->child_sp == 0)
		return NULL;
	gh_dump_get(dump, GH_DUMP_FRAME, number - 1, &callee);
	if (callee.frame.sp != frame->child_sp)
		return NULL;
	return gh_variables_local(variables, pc_of(&callee.frame, bias), (int64_t)offset);
}

/* The variable that ROOT's slot, which is in RECORD, is of. */
static const struct gh_variable *find(const struct gh_variables *variables,
				      const struct gh_dump *dump, uint64_t bias,
				      const struct gh_root *root,
				      const struct gh_dump_record *record, uint64_t *offset)
{
	const struct gh_variable *variable = NULL;
	uint64_t start = 0;
	if (record->kind == GH_DUMP_FRAME) {
		start = root->offset - record->frame.size;
		variable =
		    gh_variables_local(variables, pc_of(&record->frame, bias), (int64_t)start);
		if (variable == NULL) {
			start = root->offset;
			variable = find_argument(variables, dump, bias, root->number,
						 &record->frame, start);
		}
	} else if (record->kind == GH_DUMP_DATA || record->kind == GH_DUMP_BSS) {
		start = record->segment.address + root->offset - bias;
		variable = gh_variables_global(variables, start);
	}
	if (variable != NULL)
		*offset = start - variable->start + variable->offset;
	return variable;
}

const struct gh_variable *gh_infer_seed_variable_of(const struct gh_variables *variables,
						    const struct gh_dump *dump, uint64_t bias,
						    const struct gh_root *root, uint64_t *offset)
{
	struct gh_dump_record record;
	gh_dump_get(dump, gh_root_record(dump, root->kind), root->number, &record);
	return find(variables, dump, bias, root, &record, offset);
}

/* The words beside LINK's pointer that say more of what it points to are in the same piece of
 * VARIABLE. */
static bool is_whole(const struct gh_variable *variable, const struct gh_link *link,
		     uint64_t offset, uint64_t word)
{
	uint64_t before = link->kind == GH_LAYOUT_INTERFACE ? word : 0;
	uint64_t after = link->kind == GH_LAYOUT_SLICE                                         ? 3
			 : link->kind == GH_LAYOUT_STRING || link->kind == GH_LAYOUT_DIRECTORY ? 2
											       : 1;
	offset -= variable->offset;
	return offset >= before && offset + after * word <= variable->size;
}

static void take_root(struct gh_infer *infer, const struct gh_variables *variables,
		      const struct gh_root *root, const struct gh_dump_record *record)
{
	struct gh_link link;
	uint64_t offset;
	const struct gh_dump *dump = infer->heap->dump;
	const struct gh_variable *variable =
	    find(variables, dump, infer->bias, root, record, &offset);
	if (variable == NULL ||
	    !gh_layouts_link_at(infer->layouts, variable->layout, offset, &link) ||
	    !is_whole(variable, &link, offset, dump->word))
		return;
	struct gh_cursor contents =
	    gh_dump_bytes(dump, record->kind == GH_DUMP_FRAME ? record->frame.contents
							      : record->segment.contents);
	struct gh_cursor slot = contents;
	gh_cursor_seek(&slot, root->offset);
	gh_infer_follow(infer, &link, &contents, root->offset, gh_cursor_uint(&slot, dump->word));
}

/* Pointers of segments to segments are no roots, but there may be some where they lead to. */
static void take_segments(struct gh_infer *infer, const struct gh_variables *variables,
			  enum gh_root_kind kind)
{
	const struct gh_dump *dump = infer->heap->dump;
	enum gh_dump_kind record_kind = gh_root_record(dump, kind);
	struct gh_dump_record record;
	struct gh_pointers walk;
	struct gh_pointer pointer;
	for (size_t i = 0; i < gh_dump_count(dump, record_kind) && i < UINT32_MAX; i++) {
		gh_dump_get(dump, record_kind, i, &record);
		if (record.kind != GH_DUMP_DATA && record.kind != GH_DUMP_BSS)
			continue;
		gh_pointers_of(dump, &infer->heap->table, &record, &walk);
		while (gh_pointers_next(&walk, &pointer))
			if (gh_extents_find(&dump->segments, pointer.value) != GH_NO_EXTENT)
				take_root(infer, variables,
					  &(struct gh_root){.number = (uint32_t)i,
							    .offset = pointer.offset,
							    .kind = kind},
					  &record);
	}
}

/* The argument of a cleanup is what its function takes. From Go 1.26 on its closures are roots like
 * the argument. */
static void take_cleanup(struct gh_infer *infer, const struct gh_variables *variables,
			 const struct gh_root *root)
{
	struct gh_cleanup cleanup;
	if (infer->program == NULL ||
	    !gh_cleanup_of(&cleanup, infer->heap, infer->program, infer->bias, root))
		return;
	uint64_t entry = cleanup.entry - infer->bias;
	uint32_t layout = gh_variables_parameter(variables, entry);
	uint32_t object = gh_infer_find(infer, cleanup.argument);
	if (layout == GH_NO_LAYOUT && infer->layouts->types != NULL)
		layout = gh_code_types_parameter(&infer->code, infer->layouts->types, entry);
	gh_infer_claim_closure(infer, cleanup.argument);
	if (layout != GH_NO_LAYOUT && object != GH_HEAP_NONE &&
	    infer->evidence[object].trust == GH_TRUST_NONE)
		gh_infer_claim(infer, cleanup.argument, layout, 1, GH_TRUST_ALLOCATED);
}

void gh_infer_seed_variables(struct gh_infer *infer, const struct gh_variables *variables)
{
	struct records records = {0};
	for (size_t i = 0; i < infer->heap->nroots; i++) {
		const struct gh_root *root = &infer->heap->roots[i];
		take_root(infer, variables, root, read_record(&records, infer->heap->dump, root));
		take_cleanup(infer, variables, root);
	}
	take_segments(infer, variables, GH_ROOT_DATA);
	take_segments(infer, variables, GH_ROOT_BSS);
}
