#include "lib/typing/internal.h"

#include <stdlib.h>
#include <string.h>

/* How often an object's type may be found anew: claims that contradict each other could go on. */
#define MAX_CHANGES 15

static uint32_t add_bytes(struct gh_layouts *layouts, const char *name)
{
	struct gh_layout bytes = {.size = 1,
				  .kind = GH_LAYOUT_DATA,
				  .elem = GH_NO_LAYOUT,
				  .group = GH_NO_LAYOUT,
				  .refines = GH_NO_LAYOUT};
	return gh_layouts_add_named(layouts, bytes, name, NULL, 0);
}

bool gh_infer_make(struct gh_infer *infer, const struct gh_heap *heap, struct gh_layouts *layouts,
		   const struct gh_pclntab *program, uint64_t bias)
{
	*infer = (struct gh_infer){
	    .heap = heap,
	    .layouts = layouts,
	    .program = program,
	    .bias = bias,
	    .followed_to = GH_HEAP_NONE,
	    .allocator = gh_allocator_of(heap->dump, program != NULL ? program->image : NULL),
	    .budget = heap->dump->objects.bytes};
	infer->allocator.redzones = program != NULL && gh_allocator_adds_redzones(program);
	infer->string_data = add_bytes(layouts, "string data");
	infer->small_values = add_bytes(layouts, "small values");
	infer->list = gh_layouts_find(layouts, "container/list", "list.List");
	infer->list_element = gh_layouts_find(layouts, "container/list", "list.Element");
	infer->findings = malloc(((size_t)heap->count + 1) * sizeof(*infer->findings));
	infer->evidence = calloc((size_t)heap->count + 1, sizeof(*infer->evidence));
	if (infer->findings == NULL || infer->evidence == NULL ||
	    infer->small_values == GH_NO_LAYOUT)
		return false;
	for (uint32_t i = 0; i < heap->count; i++)
		infer->findings[i] = (struct gh_finding){.layout = GH_INFER_NONE};
	return gh_prefix_types_find(&infer->containers, layouts);
}

void gh_infer_free(struct gh_infer *infer)
{
	free(infer->findings);
	free(infer->evidence);
	free(infer->elements);
	gh_vector_free(&infer->containers);
	gh_vector_free(&infer->objects);
	gh_vector_free(&infer->stretches);
	gh_vector_free(&infer->statics);
	gh_vector_free(&infer->closure_types);
	gh_code_types_free(&infer->code);
	gh_numbermap_free(&infer->seen);
	gh_numbermap_free(&infer->closures);
	gh_numbermap_free(&infer->dumped);
}

uint32_t gh_infer_find(const struct gh_infer *infer, uint64_t address)
{
	return address == infer->followed ? infer->followed_to : gh_heap_find(infer->heap, address);
}

void gh_infer_view(const struct gh_infer *infer, uint32_t object, struct gh_view *view)
{
	const struct gh_dump *dump = infer->heap->dump;
	struct gh_heap_object place = gh_heap_object(infer->heap, object);
	/* The record is filled below: to clear it first would take as long as all the rest. */
	view->object = object;
	view->address = place.address;
	view->size = place.size;
	view->header = 0;
	view->no_pointers = false;
	view->in_c = gh_dump_is_c(dump, place.address);
	struct gh_cursor cur = dump->file;
	gh_cursor_seek(&cur, place.offset);
	gh_dump_record_read_again(&cur, dump->format, &view->record);
	/* Go 1.3 gives the types of all but what the collector looks through conservatively, or
	 * not. */
	if (dump->format == GH_DUMP_1_3)
		view->no_pointers = view->record.object.type == 0 &&
				    view->record.object.type_kind != GH_DUMP_CONSERVATIVE;
	if (dump->format < GH_DUMP_1_4)
		return;
	gh_cursor_seek(&cur, view->record.object.fields.offset);
	view->no_pointers = gh_cursor_u8(&cur) == 0;
	if (!view->no_pointers && !view->in_c &&
	    gh_allocator_has_header(&infer->allocator, place.size))
		view->header = GH_OBJECT_HEADER;
	view->address += view->header;
}

/* The same without the record of an object without pointers: most of the time would go by in coming
 * to these. */
static void glance(const struct gh_infer *infer, uint32_t object, struct gh_view *view)
{
	const struct gh_heap *heap = infer->heap;
	if (heap->dump->format < GH_DUMP_1_4 || gh_heap_has_fields(heap, object)) {
		gh_infer_view(infer, object, view);
		return;
	}
	struct gh_heap_object place = gh_heap_object(heap, object);
	view->object = object;
	view->address = place.address;
	view->size = place.size;
	view->header = 0;
	view->no_pointers = true;
	view->in_c = gh_dump_is_c(heap->dump, place.address);
}

/* VIEW is a block of C's malloc that has pages of its own: two words come before it. */
static bool is_paged(const struct gh_view *view)
{
	return view->address % 4096 == 16 && view->size % 4096 == 4096 - 16;
}

/* The allocator gives an object like VIEW's for a value of SIZE bytes: Go's, or C's malloc, whose
 * blocks are of 24 bytes and, from there on, multiples of 16 more, if what were left of a free one
 * is not too small; or of whole pages. */
static bool is_made_for(const struct gh_infer *infer, const struct gh_view *view, uint64_t size)
{
	if (view->in_c)
		return size > 0 && size <= view->size &&
		       view->size - size < (is_paged(view) ? 4096 : 32);
	return gh_allocator_size(&infer->allocator, size, !view->no_pointers) == view->size;
}

/* At OFFSET in a value of layout NUMBER is the first word of an interface, which the collector of
 * that release follows, and the value's links leave out. */
static bool is_interface_type(struct gh_infer *infer, uint32_t number, uint64_t offset)
{
	struct gh_link link;
	return infer->allocator.interface_types &&
	       gh_layouts_link_at(infer->layouts, number, offset + infer->allocator.word, &link) &&
	       link.kind == GH_LAYOUT_INTERFACE;
}

/* The place in VIEW's value that the collector follows by FIELD: of an interface that Go 1.4 tells
 * as such, its second word. */
static uint64_t followed(const struct gh_infer *infer, const struct gh_view *view,
			 const struct gh_field *field)
{
	bool interface = field->kind == GH_FIELD_IFACE || field->kind == GH_FIELD_EFACE;
	return field->offset + (interface ? infer->allocator.word : 0) - view->header;
}

/* The place where it is noted what matches layout NUMBER, or MANY values of it. */
static struct gh_match *match_of(struct gh_infer *infer, uint32_t number, bool many)
{
	return &infer->matches[(2 * number + many) % GH_INFER_MATCHES];
}

/* VIEW has the size and the fieldlist of what was found to match last. Objects of one type have. */
static bool is_like(const struct gh_infer *infer, const struct gh_view *view,
		    const struct gh_match *match)
{
	const struct gh_cursor *file = &infer->heap->dump->file;
	uint64_t list = view->record.object.fields.offset;
	return match->length > 0 && match->size == view->size && match->header == view->header &&
	       match->length <= gh_cursor_size(file) - list &&
	       memcmp(file->start + list, file->start + match->list, match->length) == 0;
}

/* VIEW's pointers, of which there are some, are where those of layout NUMBER are, or of MANY values
 * of it. */
static bool has_pointers_of(struct gh_infer *infer, const struct gh_view *view, uint32_t number,
			    bool many, struct gh_fields *walk)
{
	struct gh_field field;
	struct gh_link link;
	uint64_t found = 0;
	uint64_t size = gh_layout(infer->layouts, number)->size;
	/* From Go 1.22 on, what is larger is looked through as if its type went on to the end. */
	bool repeated = gh_allocator_repeats(&infer->allocator, view->size);
	while (gh_fields_next(walk, &field)) {
		uint64_t offset = followed(infer, view, &field);
		if (field.offset < view->header || (!many && !repeated && offset >= size))
			return false;
		if (gh_layouts_link_at(infer->layouts, number, offset % size, &link))
			found++;
		else if (!is_interface_type(infer, number, offset % size))
			return false;
	}
	uint64_t expected = gh_layout(infer->layouts, number)->npointers;
	if (repeated)
		return expected > 0 && found >= expected;
	return many ? expected > 0 && found % expected == 0 : found == expected;
}

bool gh_infer_matches(struct gh_infer *infer, const struct gh_view *view, uint32_t number,
		      bool many)
{
	struct gh_fields walk;
	const struct gh_link *links;
	/* Go 1.3 tells no object's fields, but its type. */
	if (infer->heap->dump->format < GH_DUMP_1_4)
		return true;
	gh_layouts_links(infer->layouts, number, &links);
	const struct gh_layout *layout = gh_layout(infer->layouts, number);
	if (view->in_c || layout->opaque || (layout->open && view->no_pointers))
		return true;
	if (view->no_pointers)
		return layout->npointers == 0;
	struct gh_match *match = match_of(infer, number, many);
	bool is_known = match->layout == number && match->many == many;
	if (is_known && is_like(infer, view, match))
		return true;
	gh_dump_fields(infer->heap->dump, &view->record, &walk);
	if (!has_pointers_of(infer, view, number, many, &walk))
		return false;
	uint64_t list = view->record.object.fields.offset;
	uint64_t length = gh_cursor_offset(&walk.cur) - list;
	*match = (struct gh_match){list, length, view->size, view->header, number, many};
	return true;
}

static void assign(struct gh_infer *infer, uint32_t object, uint32_t number, bool many,
		   enum gh_trust trust)
{
	struct gh_evidence *evidence = &infer->evidence[object];
	if (evidence->changes == MAX_CHANGES)
		return;
	evidence->changes++;
	if (trust > evidence->trust)
		evidence->trust = trust & 7;
	infer->findings[object].layout = number & GH_INFER_NONE;
	infer->findings[object].many = many;
	if (gh_layout(infer->layouts, number)->has_pointers)
		gh_vector_push(&infer->objects, object);
}

/* Of two types that do not contain each other, that is kept which is trusted more; or else the
 * larger; or else the one that comes first. */
static void dispute(struct gh_infer *infer, uint32_t object, uint32_t number, bool many,
		    enum gh_trust trust)
{
	struct gh_evidence *evidence = &infer->evidence[object];
	uint32_t other = infer->findings[object].layout;
	uint64_t size = gh_layout(infer->layouts, number)->size;
	uint64_t other_size = gh_layout(infer->layouts, other)->size;
	infer->conflicts += !evidence->disputed;
	evidence->disputed = 1;
	if (trust > evidence->trust ||
	    (trust == evidence->trust &&
	     (size > other_size || (size == other_size && number < other))))
		assign(infer, object, number, many, trust);
}

/* SHAPED is by GC shapes what PLAIN is by type arguments. */
static bool stands_for(const struct gh_layouts *layouts, uint32_t shaped, uint32_t plain)
{
	return gh_layout(layouts, shaped)->size == gh_layout(layouts, plain)->size &&
	       gh_layouts_is_shaped(layouts, shaped) && !gh_layouts_is_shaped(layouts, plain);
}

void gh_infer_set(struct gh_infer *infer, const struct gh_view *view, uint32_t number, bool many,
		  enum gh_trust trust)
{
	uint32_t object = view->object;
	struct gh_evidence *evidence = &infer->evidence[object];
	struct gh_finding *finding = &infer->findings[object];
	if (finding->layout == number) {
		finding->many |= many;
		if (trust > evidence->trust)
			evidence->trust = trust & 7;
		return;
	}
	uint32_t known = finding->layout;
	if (evidence->trust <= GH_TRUST_STRING ||
	    gh_layout(infer->layouts, number)->refines == known)
		assign(infer, object, number, many, trust);
	else if (gh_layout(infer->layouts, known)->refines == number)
		return;
	else if (gh_layouts_begins_with(infer->layouts, known, number, 1))
		return;
	else if (evidence->trust < GH_TRUST_EXACT &&
		 gh_layouts_begins_with(infer->layouts, number, known, 1))
		assign(infer, object, number, many, trust);
	else if (stands_for(infer->layouts, known, number))
		assign(infer, object, number, many, trust);
	else if (!stands_for(infer->layouts, number, known))
		dispute(infer, object, number, many, trust);
}

/* Values of less than a tiny block's size lie in it side by side. */
static void set_small(struct gh_infer *infer, uint32_t object, uint32_t number)
{
	struct gh_finding *finding = &infer->findings[object];
	if (finding->layout == number)
		return;
	if (finding->layout == GH_INFER_NONE)
		assign(infer, object, number, false, GH_TRUST_ALLOCATED);
	else if (gh_layout(infer->layouts, finding->layout)->size < GH_TINY_BLOCK)
		finding->layout = infer->small_values & GH_INFER_NONE;
}

static bool is_tiny_block(const struct gh_view *view)
{
	return view->no_pointers && view->size == GH_TINY_BLOCK;
}

void gh_infer_claim_string(struct gh_infer *infer, uint64_t address, uint64_t size)
{
	struct gh_view view;
	uint32_t object = gh_infer_find(infer, address);
	if (size == 0 || object == GH_HEAP_NONE)
		return;
	uint32_t known = infer->findings[object].layout;
	if (known == infer->string_data)
		return;
	glance(infer, object, &view);
	if (!view.no_pointers || size > view.size - (address - view.address))
		return;
	if (is_tiny_block(&view) && size < GH_TINY_BLOCK)
		set_small(infer, object, infer->string_data);
	else if (known == GH_INFER_NONE)
		assign(infer, object, infer->string_data, false, GH_TRUST_STRING);
}

/* VIEW, which a pointer to a list's element is to, is no list, which begins with one: only an
 * element that is in a list says in which, its third word (src/container/list/list.go). */
static bool is_list_element(const struct gh_infer *infer, const struct gh_view *view,
			    uint32_t number, uint32_t whole)
{
	uint8_t word = infer->heap->dump->word;
	if (whole != infer->list || number != infer->list_element || whole == GH_NO_LAYOUT ||
	    view->no_pointers)
		return false;
	struct gh_cursor cur = gh_dump_bytes(infer->heap->dump, view->record.object.contents);
	gh_cursor_seek(&cur, view->header + 2 * (uint64_t)word);
	return gh_cursor_uint(&cur, word) != 0;
}

/* VIEW may be a struct that begins with COUNT values of a type, and no more than those are known
 * of. A slice is never of one that is no array's element. */
static bool is_ambiguous(struct gh_infer *infer, const struct gh_view *view, uint32_t number,
			 uint64_t count, enum gh_trust trust)
{
	const struct gh_prefix_type *items;
	size_t nitems = gh_prefix_types_of(&infer->containers, number, &items);
	for (size_t i = 0; i < nitems; i++) {
		uint64_t size = gh_layout(infer->layouts, items[i].whole)->size;
		if (items[i].count >= count && (items[i].is_array || trust != GH_TRUST_SLICED) &&
		    !is_list_element(infer, view, number, items[i].whole) &&
		    is_made_for(infer, view, size) &&
		    gh_infer_matches(infer, view, items[i].whole, false))
			return true;
	}
	return false;
}

/* What is claimed of a stretch of memory in an object. */
struct claim {
	uint64_t offset; /* from the value in the object, in bytes */
	uint64_t size;   /* of all values, in bytes */
	uint64_t count;  /* of values */
	uint32_t layout;
	bool many; /* values of an array */
};

/* An object of VIEW's size was made for a value of a type. */
static bool fits_allocated(struct gh_infer *infer, const struct gh_view *view,
			   const struct claim *claim)
{
	const struct gh_layout *layout = gh_layout(infer->layouts, claim->layout);
	if (claim->offset != 0 || claim->size > view->size - view->header)
		return false;
	return claim->many || layout->open || is_made_for(infer, view, claim->size);
}

/* A pointer or slice covers an object of VIEW's size, or all of it after an array's first elements;
 * and it is nothing larger. */
static bool fits_pointed(struct gh_infer *infer, const struct gh_view *view,
			 const struct claim *claim, enum gh_trust trust)
{
	const struct gh_layout *layout = gh_layout(infer->layouts, claim->layout);
	uint64_t size;
	if (claim->offset != 0 &&
	    (claim->count < 2 || claim->offset % layout->size != 0 || layout->in_struct))
		return false;
	if (__builtin_add_overflow(claim->offset, claim->size, &size) ||
	    !is_made_for(infer, view, size))
		return false;
	return view->in_c || !is_ambiguous(infer, view, claim->layout, claim->count, trust);
}

/* Notes that values are in an object whose type is not known by that, for what they point to. False
 * if they point to nothing, or it would be too much. */
static bool take_stretch(struct gh_infer *infer, const struct gh_stretch *stretch, uint64_t key)
{
	const struct gh_link *links;
	uint32_t nlinks = gh_layouts_links(infer->layouts, stretch->layout, &links);
	uint64_t work;
	if (nlinks == 0 || __builtin_mul_overflow(stretch->count, nlinks, &work) ||
	    work > infer->budget)
		return false;
	infer->budget -= work;
	gh_vector_push(&infer->stretches, *stretch);
	infer->failed |= !gh_numbermap_put(&infer->seen, key, 1);
	return true;
}

/* COUNT values of LAYOUT in VIEW are less than a tiny block. */
static bool is_small(const struct gh_view *view, const struct gh_layout *layout, uint64_t count)
{
	return is_tiny_block(view) && count > 0 && count < GH_TINY_BLOCK &&
	       layout->size < GH_TINY_BLOCK && count * layout->size < GH_TINY_BLOCK;
}

/* Fills in what is claimed of VIEW: COUNT values of LAYOUT at ADDRESS, or as many as fit. False if
 * they do not lie in it. */
static bool make_claim(struct claim *claim, const struct gh_view *view,
		       const struct gh_layout *layout, uint64_t address, uint64_t count)
{
	uint64_t room = view->size - view->header;
	claim->offset = address - view->address;
	if (address < view->address || claim->offset >= room)
		return false;
	uint64_t most = (room - claim->offset) / layout->size;
	claim->count = count == 0 ? most : count;
	claim->many = claim->count > 1;
	claim->size = claim->count * layout->size;
	return claim->count > 0 && claim->count <= most;
}

/* Believes CLAIM, which has not been SEEN yet, or notes it for what follows from it. */
static void take_claim(struct gh_infer *infer, const struct gh_view *view,
		       const struct claim *claim, enum gh_trust trust, uint64_t seen)
{
	bool fits = trust == GH_TRUST_ALLOCATED ? fits_allocated(infer, view, claim)
						: fits_pointed(infer, view, claim, trust);
	if (fits && gh_infer_matches(infer, view, claim->layout, claim->many)) {
		gh_infer_set(infer, view, claim->layout, claim->many, trust);
		return;
	}
	struct gh_stretch stretch = {view->address + claim->offset, claim->count, claim->layout};
	take_stretch(infer, &stretch, seen);
}

/* In an object whose type is known, nothing more is learned from its midst. */
static bool is_known_inside(const struct gh_infer *infer, const struct gh_view *view,
			    uint64_t address)
{
	return address != view->address && infer->evidence[view->object].trust > GH_TRUST_STRING;
}

/* The values are in no object: those in a segment, that the linker put there for a variable to
 * point to, are of use for what they point to themselves. */
static void claim_static(struct gh_infer *infer, const struct gh_stretch *stretch, uint64_t key)
{
	uint64_t size;
	if (gh_extents_find(&infer->heap->dump->segments, stretch->address) == GH_NO_EXTENT ||
	    gh_numbermap_get(&infer->seen, key) != GH_NOT_MAPPED ||
	    !take_stretch(infer, stretch, key) ||
	    __builtin_mul_overflow(stretch->count, gh_layout(infer->layouts, stretch->layout)->size,
				   &size))
		return;
	struct gh_static value = {stretch->address, size, stretch->layout};
	gh_vector_push(&infer->statics, value);
}

void gh_infer_claim(struct gh_infer *infer, uint64_t address, uint32_t number, uint64_t count,
		    enum gh_trust trust)
{
	struct gh_view view;
	struct claim claim = {.layout = number};
	const struct gh_layout *layout = gh_layout(infer->layouts, number);
	uint32_t object = gh_infer_find(infer, address);
	uint64_t key =
	    (address * 0x9e3779b97f4a7c15 + number) * 31 + 2 * count + (trust == GH_TRUST_SLICED);
	if (layout->size == 0)
		return;
	if (object == GH_HEAP_NONE) {
		claim_static(infer, &(struct gh_stretch){address, count, number}, key);
		return;
	}
	const struct gh_finding *finding = &infer->findings[object];
	if (finding->layout == number && (finding->many || count == 1))
		return;
	if (layout->has_pointers && gh_numbermap_get(&infer->seen, key) != GH_NOT_MAPPED)
		return;
	glance(infer, object, &view);
	if (is_small(&view, layout, count)) {
		if (trust == GH_TRUST_ALLOCATED)
			set_small(infer, object, number);
	} else if (!is_known_inside(infer, &view, address) &&
		   make_claim(&claim, &view, layout, address, count)) {
		take_claim(infer, &view, &claim, trust, key);
	}
}
