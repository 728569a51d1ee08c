#include "lib/typing/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Sets OBJECT's type to the one that its record names (1.3). */
static void set_by_record(struct gh_infer *infer, uint32_t object)
{
	struct gh_view view;
	gh_infer_view(infer, object, &view);
	const struct gh_dump_object *record = &view.record.object;
	if (record->type == 0 || record->type_kind == GH_DUMP_CONSERVATIVE)
		return;
	uint32_t number =
	    gh_infer_dumped_type(infer, record->type, record->type_kind == GH_DUMP_CHANNEL);
	if (number != GH_NO_LAYOUT)
		gh_infer_set(infer, &view, number, record->type_kind == GH_DUMP_ARRAY,
			     GH_TRUST_EXACT);
}

/* The object at VIEW was made for values of the type that has its descriptor at TYPE. */
static void set_by_descriptor(struct gh_infer *infer, const struct gh_view *view, uint64_t type)
{
	uint32_t number = gh_rtypes_at(infer->layouts->types, type - infer->bias);
	if (number == GH_NO_RTYPE || gh_layout(infer->layouts, number)->size == 0)
		return;
	uint64_t size = gh_layout(infer->layouts, number)->size;
	bool many = size <= (view->size - view->header) / 2;
	if (gh_infer_matches(infer, view, number, many))
		gh_infer_set(infer, view, number, many, GH_TRUST_EXACT);
}

/* Sets OBJECT's type to the one that its header names. */
static void set_by_header(struct gh_infer *infer, uint32_t object)
{
	struct gh_view view;
	gh_infer_view(infer, object, &view);
	if (view.header == 0)
		return;
	struct gh_cursor contents = gh_dump_bytes(infer->heap->dump, view.record.object.contents);
	set_by_descriptor(infer, &view, gh_cursor_uint(&contents, infer->heap->dump->word));
}

/* Sets the type of the object that ROOT is a note of, if it is one (GH_DUMP_OBJECT_TYPE). */
static void set_by_note(struct gh_infer *infer, const struct gh_dump_other_root *root)
{
	char text[sizeof(GH_DUMP_OBJECT_TYPE) + 2 * 16], again[sizeof(text)];
	struct gh_cursor note = gh_dump_bytes(infer->heap->dump, root->description);
	uint64_t address, type;
	struct gh_view view;
	if (root->pointer != 0 || gh_cursor_size(&note) >= sizeof(text))
		return;
	memcpy(text, note.start, gh_cursor_size(&note));
	text[gh_cursor_size(&note)] = '\0';
	if (sscanf(text, "object at 0x%" SCNx64 " of the type at 0x%" SCNx64, &address, &type) != 2)
		return;
	snprintf(again, sizeof(again), GH_DUMP_OBJECT_TYPE, address, type);
	uint32_t object = gh_heap_find(infer->heap, address);
	if (strcmp(text, again) != 0 || object == GH_HEAP_NONE)
		return;
	gh_infer_view(infer, object, &view);
	if (view.address == address && !view.no_pointers)
		set_by_descriptor(infer, &view, type);
}

void gh_infer_seed_exact(struct gh_infer *infer)
{
	const struct gh_heap *heap = infer->heap;
	bool named = heap->dump->format < GH_DUMP_1_4;
	if (!named && (!infer->allocator.headers || infer->layouts->types == NULL))
		return;
	for (uint32_t i = 0; i < heap->count; i++) {
		if (named)
			set_by_record(infer, i);
		else if (gh_allocator_has_header(&infer->allocator, gh_heap_object(heap, i).size) &&
			 !gh_dump_is_c(heap->dump, gh_heap_object(heap, i).address))
			set_by_header(infer, i);
	}
	for (size_t i = 0; !named && i < gh_dump_count(heap->dump, GH_DUMP_OTHER_ROOT); i++) {
		struct gh_dump_record record;
		gh_dump_get(heap->dump, GH_DUMP_OTHER_ROOT, i, &record);
		set_by_note(infer, &record.other_root);
	}
}

/* A finalizer's object was made as what its type, a pointer's, points to. */
static void take_finalizer(struct gh_infer *infer, const struct gh_dump_finalizer *finalizer)
{
	struct gh_link link;
	uint32_t number = gh_infer_dynamic_type(infer, finalizer->object_type);
	gh_infer_claim_closure(infer, finalizer->func_value);
	if (number != GH_NO_LAYOUT && gh_layouts_link_at(infer->layouts, number, 0, &link) &&
	    link.kind == GH_LAYOUT_POINTER)
		gh_infer_claim(infer, finalizer->object, link.elem, 1, GH_TRUST_ALLOCATED);
}

/* Has FUNCTION take each record of KIND. */
static void for_each(struct gh_infer *infer, enum gh_dump_kind kind,
		     void (*function)(struct gh_infer *, const struct gh_dump_record *))
{
	struct gh_dump_record record;
	size_t count = gh_dump_count(infer->heap->dump, kind);
	for (size_t i = 0; i < count; i++) {
		gh_dump_get(infer->heap->dump, kind, i, &record);
		function(infer, &record);
	}
}

static void take_record(struct gh_infer *infer, const struct gh_dump_record *record)
{
	switch (record->kind) {
	case GH_DUMP_FINALIZER:
	case GH_DUMP_QUEUED_FINALIZER:
		take_finalizer(infer, &record->finalizer);
		break;
	case GH_DUMP_GOROUTINE:
		gh_infer_claim_closure(infer, record->goroutine.context);
		break;
	case GH_DUMP_DEFER:
		gh_infer_claim_closure(infer, record->defer.func_value);
		break;
	case GH_DUMP_PANIC:
		gh_infer_claim_interface(infer, record->panic.argument_type,
					 record->panic.argument_data);
		break;
	default:
		break;
	}
}

/* The runtime's own objects, by the descriptors of their types. */
static void take_runtime(struct gh_infer *infer)
{
	struct gh_dump_record record;
	const struct gh_dump *dump = infer->heap->dump;
	uint32_t goroutine = gh_layouts_find(infer->layouts, "runtime", "runtime.g");
	uint32_t thread = gh_layouts_find(infer->layouts, "runtime", "runtime.m");
	uint32_t defer = gh_layouts_find(infer->layouts, "runtime", "runtime._defer");
	for (size_t i = 0; goroutine != GH_NO_LAYOUT && i < dump->stacks.count; i++) {
		gh_dump_get(dump, GH_DUMP_GOROUTINE, i, &record);
		gh_infer_claim(infer, record.goroutine.g, goroutine, 1, GH_TRUST_POINTED);
	}
	for (size_t i = 0; thread != GH_NO_LAYOUT && i < gh_dump_count(dump, GH_DUMP_THREAD); i++) {
		gh_dump_get(dump, GH_DUMP_THREAD, i, &record);
		gh_infer_claim(infer, record.thread.m, thread, 1, GH_TRUST_POINTED);
	}
	for (size_t i = 0; defer != GH_NO_LAYOUT && i < gh_dump_count(dump, GH_DUMP_DEFER); i++) {
		gh_dump_get(dump, GH_DUMP_DEFER, i, &record);
		gh_infer_claim(infer, record.defer.record, defer, 1, GH_TRUST_POINTED);
	}
}

/* The closures that are known by their code, which nothing points to. */
static void take_cleanups(struct gh_infer *infer)
{
	const struct gh_heap *heap = infer->heap;
	for (size_t i = 0; i < heap->nroots; i++)
		if (heap->roots[i].kind == GH_ROOT_CLEANUP_CLOSURE)
			gh_infer_claim_closure(infer,
					       gh_heap_object(heap, heap->roots[i].object).address);
}

void gh_infer_seed_records(struct gh_infer *infer)
{
	static const enum gh_dump_kind kinds[] = {GH_DUMP_FINALIZER, GH_DUMP_QUEUED_FINALIZER,
						  GH_DUMP_GOROUTINE, GH_DUMP_DEFER, GH_DUMP_PANIC};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for_each(infer, kinds[i], take_record);
	take_runtime(infer);
	take_cleanups(infer);
}

/* Looks at the pointers of RECORD, an object or a segment, for interfaces' data words. Before each
 * is a word that the collector of most releases does not look at: the address of a descriptor or an
 * itab. In the
 * stacks it may be there by chance: the compiler keeps the two words in different places. */
static void take_interfaces(struct gh_infer *infer, const struct gh_dump_record *record,
			    struct gh_dump_slice contents)
{
	struct gh_fields walk;
	struct gh_field field;
	struct gh_cursor bytes = gh_dump_bytes(infer->heap->dump, contents);
	uint64_t word = infer->heap->dump->word;
	uint64_t end = 0; /* of the pointer before */
	gh_dump_fields(infer->heap->dump, record, &walk);
	while (gh_fields_next(&walk, &field)) {
		bool interface = field.kind == GH_FIELD_IFACE || field.kind == GH_FIELD_EFACE;
		uint64_t offset = field.offset + (interface ? word : 0);
		bool follows = !interface && !infer->allocator.interface_types && end > 0 &&
			       offset - word < end;
		end = offset + word;
		if (offset < word || follows || (!interface && field.kind != GH_FIELD_POINTER))
			continue;
		struct gh_cursor cur = bytes;
		gh_cursor_seek(&cur, offset - word);
		uint64_t type = gh_cursor_uint(&cur, (unsigned)word);
		uint64_t data = gh_cursor_uint(&cur, (unsigned)word);
		if (type != 0 && data != 0)
			gh_infer_claim_interface(infer, type, data);
	}
}

void gh_infer_seed_segments(struct gh_infer *infer)
{
	static const enum gh_dump_kind kinds[] = {GH_DUMP_DATA, GH_DUMP_BSS};
	struct gh_dump_record record;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t j = 0; j < gh_dump_count(infer->heap->dump, kinds[i]); j++) {
			gh_dump_get(infer->heap->dump, kinds[i], j, &record);
			take_interfaces(infer, &record, record.segment.contents);
		}
}

void gh_infer_seed_objects(struct gh_infer *infer)
{
	struct gh_view view;
	for (uint32_t i = 0; i < infer->heap->count; i++) {
		gh_heap_passed(infer->heap, i);
		if (infer->findings[i].layout != GH_INFER_NONE)
			continue;
		gh_infer_view(infer, i, &view);
		if (!view.no_pointers)
			take_interfaces(infer, &view.record, view.record.object.contents);
	}
}
