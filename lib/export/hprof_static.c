#include "lib/export/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"

/* Fields of a class. Readers take their count for a signed number of 16 bits. */
#define MAX_FIELDS 0x7000

/* Classes, more or less: readers keep them in memory, and list them. */
#define MAX_CLASSES 10000

/* Of a field's or a class's name, in bytes. */
#define MAX_NAME 256

/* What the roots' classes are called, before the name of the first of their fields. */
static const char *const class_names[GH_ROOT_KINDS] = {
    [GH_ROOT_DATA] = "data",
    [GH_ROOT_BSS] = "bss",
    [GH_ROOT_FINALIZER] = "finalizer",
    [GH_ROOT_QUEUED_FINALIZER] = "queued finalizer",
    [GH_ROOT_CLEANUP_CLOSURE] = "cleanup",
    [GH_ROOT_OTHER] = "other root",
};

bool gh_hprof_is_static(const struct gh_root *root)
{
	return class_names[root->kind] != NULL;
}

/* A root, and where it is. */
struct place {
	struct gh_root root;
	uint64_t address; /* of a global; else something that grows with the record's number */
	size_t name;      /* place in the names of the one of a global, ended by a NUL */
	size_t variable;  /* how much of that is the variable's, in bytes; 0 if it is not known */
};

/* The roots that are static fields. */
struct places {
	struct GH_VECTOR(struct place) items;
	struct gh_buffer names;
};

static uint64_t address_of(const struct gh_dump *dump, const struct gh_root *root)
{
	struct gh_dump_record record;
	switch (root->kind) {
	case GH_ROOT_DATA:
	case GH_ROOT_BSS:
		gh_dump_get(dump, gh_root_record(dump, root->kind), root->number, &record);
		return record.kind == GH_DUMP_DATA_ROOT ? record.data_root.address
							: record.segment.address + root->offset;
	default:
		return (uint64_t)root->number * dump->word;
	}
}

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->root.kind != y->root.kind)
		return x->root.kind < y->root.kind ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->root.offset > y->root.offset) - (x->root.offset < y->root.offset);
}

/* How much of NAME, "main.cache.items[3]", is the variable's. */
static size_t variable_length(const char *name)
{
	size_t package = gh_package_length(name);
	size_t start = package > 0 ? package + 1 : 0;
	return start + strcspn(name + start, ".[");
}

static void add_place(const struct gh_hprof_statics *statics, struct places *places,
		      const struct gh_root *root)
{
	struct place place = {
	    .root = *root,
	    .address = address_of(statics->typing->heap->dump, root),
	    .name = places->names.size,
	};
	bool is_global = root->kind == GH_ROOT_DATA || root->kind == GH_ROOT_BSS;
	bool known = is_global && gh_typing_root(statics->typing, root, &places->names);
	gh_buffer_u8(&places->names, '\0');
	if (known && !places->names.failed)
		place.variable = variable_length((const char *)places->names.data + place.name);
	gh_vector_push(&places->items, place);
}

/* Finds the roots that are static fields, in the order of the memory they are in. */
static bool find_places(const struct gh_hprof_statics *statics, struct places *places)
{
	const struct gh_heap *heap = statics->typing->heap;
	for (size_t i = 0; i < heap->nroots; i++)
		if (gh_hprof_is_static(&heap->roots[i]))
			add_place(statics, places, &heap->roots[i]);
	if (places->items.failed || places->names.failed)
		return false;
	if (places->items.count > 0)
		qsort(places->items.items, places->items.count, sizeof(struct place), compare);
	return true;
}

static const char *name_of(const struct places *places, const struct place *place)
{
	return (const char *)places->names.data + place->name;
}

/* A and B are of one class, if classes without a name are of BLOCK bytes. */
static bool are_together(const struct places *places, const struct place *a, const struct place *b,
			 uint64_t block)
{
	if (a->root.kind != b->root.kind || a->variable != b->variable)
		return false;
	if (a->variable > 0)
		return strncmp(name_of(places, a), name_of(places, b), a->variable) == 0;
	return a->address / block == b->address / block;
}

/* How many bytes a class is of: one word, unless there would be too many. */
static uint64_t choose_block(const struct places *places, unsigned word)
{
	const struct place *all = places->items.items;
	size_t count = places->items.count;
	uint64_t block = word;
	for (size_t classes = SIZE_MAX; classes > MAX_CLASSES && block < UINT64_MAX / 2;) {
		classes = 1;
		for (size_t i = 1; i < count && classes <= MAX_CLASSES; i++)
			classes += !are_together(places, &all[i - 1], &all[i], block);
		if (classes > MAX_CLASSES)
			block *= 2;
	}
	return block;
}

/* The name of the field for a root: its variable's, its address, or what it is for. */
static void name_field(const struct gh_dump *dump, const struct places *places,
		       const struct place *place, char name[MAX_NAME])
{
	const struct gh_root *root = &place->root;
	struct gh_dump_record record;
	gh_dump_get(dump, gh_root_record(dump, root->kind), root->number, &record);
	if (place->variable > 0) {
		snprintf(name, MAX_NAME, "%s", name_of(places, place));
	} else if (root->kind == GH_ROOT_OTHER) {
		struct gh_cursor text = gh_dump_bytes(dump, record.other_root.description);
		size_t size = gh_cursor_size(&text);
		snprintf(name, MAX_NAME, "%.*s", (int)(size < MAX_NAME ? size : MAX_NAME),
			 text.start);
	} else if (root->kind == GH_ROOT_DATA || root->kind == GH_ROOT_BSS) {
		snprintf(name, MAX_NAME, "0x%" PRIx64, place->address);
	} else if (root->kind == GH_ROOT_CLEANUP_CLOSURE) {
		snprintf(name, MAX_NAME, "0x%" PRIx64, record.object.address);
	} else if (root->offset == GH_ROOT_CLOSURE) {
		snprintf(name, MAX_NAME, "0x%" PRIx64 " closure", record.finalizer.object);
	} else {
		snprintf(name, MAX_NAME, "0x%" PRIx64 "+0x%" PRIx64, record.finalizer.object,
			 root->offset);
	}
}

static struct gh_hprof_part *last_part(struct gh_hprof_statics *statics)
{
	return &statics->parts.items[statics->parts.count - 1];
}

/* Adds the class whose first field is that of PLACE and called NAME. */
static bool add_part(struct gh_hprof_statics *statics, const struct place *place, const char *name)
{
	char text[2 * MAX_NAME];
	int length =
	    place->variable > 0
		? snprintf(text, sizeof(text), "%.*s", (int)place->variable, name)
		: snprintf(text, sizeof(text), "%s %s", class_names[place->root.kind], name);
	struct gh_hprof_part part = {
	    .id = gh_hprof_load_class(statics->classes, text, (size_t)length),
	    .first = statics->fields.count,
	};
	return gh_vector_push(&statics->parts, part);
}

static bool put_fields(struct gh_hprof_statics *statics, const struct places *places)
{
	const struct gh_dump *dump = statics->typing->heap->dump;
	const struct place *all = places->items.items;
	uint64_t block = choose_block(places, dump->word);
	for (size_t i = 0; i < places->items.count; i++) {
		char name[MAX_NAME];
		name_field(dump, places, &all[i], name);
		bool together = i > 0 && are_together(places, &all[i - 1], &all[i], block);
		if ((!together || last_part(statics)->count == MAX_FIELDS) &&
		    !add_part(statics, &all[i], name))
			return false;
		struct gh_hprof_static field = {
		    .name = gh_hprof_string(statics->classes->out, name, strlen(name)),
		    .target = gh_hprof_id_of(statics->classes->ids, all[i].root.object),
		};
		gh_vector_push(&statics->fields, field);
		last_part(statics)->count++;
	}
	return !statics->fields.failed;
}

bool gh_hprof_statics_start(struct gh_hprof_statics *statics)
{
	struct places places = {0};
	bool ok = find_places(statics, &places) && put_fields(statics, &places);
	gh_vector_free(&places.items);
	gh_buffer_free(&places.names);
	return ok;
}

void gh_hprof_dump_static_roots(struct gh_hprof_statics *statics)
{
	struct gh_hprof_out *out = statics->classes->out;
	const struct gh_hprof_static *fields = statics->fields.items;
	const struct gh_hprof_part *parts = statics->parts.items;
	size_t count = statics->parts.count;
	for (size_t i = 0; i < count; i++)
		gh_hprof_dump_statics(statics->classes, parts[i].id, &fields[parts[i].first],
				      parts[i].count);
	for (size_t i = 0; i < count; i++) {
		gh_hprof_subrecord(out, GH_HPROF_ROOT_STICKY_CLASS, out->id_size);
		gh_hprof_id(out, parts[i].id);
	}
}

void gh_hprof_statics_free(struct gh_hprof_statics *statics)
{
	gh_vector_free(&statics->fields);
	gh_vector_free(&statics->parts);
}
