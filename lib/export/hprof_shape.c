#include "lib/export/internal.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the name of a class, in bytes. */
#define MAX_NAME 1024

static int compare(const void *a, const void *b)
{
	const struct gh_hprof_shape *x = &((const struct gh_hprof_kind *)a)->shape;
	const struct gh_hprof_shape *y = &((const struct gh_hprof_kind *)b)->shape;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return (x->pointers > y->pointers) - (x->pointers < y->pointers);
}

/* What a class is called. To readers, a name that begins with a bracket is that of an array. */
static int name_class(const struct gh_hprof_shape *shape, const struct gh_class *class,
		      char name[MAX_NAME])
{
	const char *text = class->name;
	bool elements = class->array && strncmp(text, "[]", 2) == 0;
	if (shape->size == 0)
		return snprintf(name, MAX_NAME, "[L%.900s;", text + (elements ? 2 : 0));
	if (elements && class->size > 0)
		return snprintf(name, MAX_NAME, "array of %" PRIu64 " %.900s",
				shape->size / class->size, text + 2);
	return snprintf(name, MAX_NAME, "%s%.900s", *text == '[' ? "array " : "", text);
}

/* The id of the name of the field at OFFSET where the type has none, as GDB has it. */
static uint64_t offset_name(struct gh_hprof_shapes *shapes, unsigned offset)
{
	char name[32];
	int length = snprintf(name, sizeof(name), "f_0x%x", offset);
	if (shapes->offsets[offset] == 0)
		shapes->offsets[offset] =
		    gh_hprof_string(shapes->classes->out, name, (size_t)length);
	return shapes->offsets[offset];
}

/* A word of an object, or what is left after the last. */
struct word {
	uint32_t object;
	unsigned start;            /* its offset, in bytes */
	unsigned size;             /* in bytes */
	struct gh_buffer names[8]; /* of the fields that its bytes are in; empty if not known */
};

static void find_names(const struct gh_hprof_shapes *shapes, struct word *word)
{
	for (unsigned i = 0; i < word->size; i++) {
		word->names[i].size = 0;
		gh_typing_field(shapes->typing, word->object, word->start + i, &word->names[i]);
	}
}

static bool is_same_field(const struct word *word, unsigned a, unsigned b)
{
	const struct gh_buffer *x = &word->names[a], *y = &word->names[b];
	return x->size == y->size && (x->size == 0 || memcmp(x->data, y->data, x->size) == 0);
}

/* The type of a field of SIZE bytes, or of as many as there is a type of. */
static uint8_t type_of(unsigned size, unsigned offset)
{
	if (size >= 8 && offset % 8 == 0)
		return GH_HPROF_LONG;
	if (size >= 4 && offset % 4 == 0)
		return GH_HPROF_INT;
	if (size >= 2 && offset % 2 == 0)
		return GH_HPROF_SHORT;
	return GH_HPROF_BYTE;
}

/* Adds a field that is at OFFSET in WORD. Gives its size. */
static unsigned add_field(struct gh_hprof_shapes *shapes, struct gh_hprof_kind *kind,
			  const struct word *word, unsigned offset, uint8_t type)
{
	const struct gh_buffer *name = &word->names[offset];
	struct gh_hprof_field field = {
	    .name = name->size > 0 ? gh_hprof_string(shapes->classes->out, (const char *)name->data,
						     name->size)
				   : offset_name(shapes, word->start + offset),
	    .type = type,
	};
	gh_vector_push(&kind->fields, field);
	return gh_hprof_size(shapes->classes->out, type);
}

/* Adds the fields that WORD is made of. */
static void add_word(struct gh_hprof_shapes *shapes, struct gh_hprof_kind *kind,
		     const struct word *word, bool pointer)
{
	if (pointer) {
		add_field(shapes, kind, word, 0, GH_HPROF_OBJECT);
		return;
	}
	for (unsigned offset = 0; offset < word->size;) {
		unsigned size = 1;
		while (offset + size < word->size && is_same_field(word, offset, offset + size))
			size++;
		offset += add_field(shapes, kind, word, offset, type_of(size, offset));
	}
}

static void add_fields(struct gh_hprof_shapes *shapes, struct gh_hprof_kind *kind, uint32_t object)
{
	unsigned size = shapes->classes->out->id_size;
	struct word word = {.object = object};
	for (unsigned i = 0; word.start < kind->shape.size; i++) {
		uint64_t left = kind->shape.size - word.start;
		word.size = left < size ? (unsigned)left : size;
		find_names(shapes, &word);
		add_word(shapes, kind, &word, (kind->shape.pointers >> i & 1) != 0);
		word.start += word.size;
	}
	for (unsigned i = 0; i < 8; i++) {
		kind->fields.failed |= word.names[i].failed;
		gh_buffer_free(&word.names[i]);
	}
}

/* Adds the class of SHAPE, which is in none yet. */
static struct gh_hprof_kind *add(struct gh_hprof_shapes *shapes, const struct gh_hprof_shape *shape,
				 uint32_t object)
{
	char name[MAX_NAME];
	struct gh_hprof_kind *kind = calloc(1, sizeof(*kind));
	if (kind == NULL)
		return NULL;
	kind->shape = *shape;
	add_fields(shapes, kind, object);
	if (kind->fields.failed || !gh_vector_reserve(&shapes->kinds, 1) ||
	    tsearch(kind, &shapes->tree, compare) == NULL) {
		gh_vector_free(&kind->fields);
		free(kind);
		return NULL;
	}
	int length = name_class(shape, gh_typing_class(shapes->typing, shape->type), name);
	kind->id = gh_hprof_load_class(shapes->classes, name, (size_t)length);
	gh_vector_push(&shapes->kinds, kind);
	return kind;
}

const struct gh_hprof_kind *gh_hprof_kind_of(struct gh_hprof_shapes *shapes,
					     const struct gh_hprof_shape *shape, uint32_t object)
{
	const struct gh_hprof_kind key = {.shape = *shape};
	/* The heap has objects of one size side by side. */
	if (shapes->last != NULL && compare(shapes->last, &key) == 0)
		return shapes->last;
	struct gh_hprof_kind **found = tfind(&key, &shapes->tree, compare);
	shapes->last = found != NULL ? *found : add(shapes, shape, object);
	return shapes->last;
}

void gh_hprof_dump_shapes(struct gh_hprof_shapes *shapes)
{
	for (size_t i = 0; i < shapes->kinds.count; i++) {
		const struct gh_hprof_kind *kind = shapes->kinds.items[i];
		gh_hprof_dump_class(shapes->classes, kind->id, kind->fields.items,
				    (uint16_t)kind->fields.count);
	}
}

static void keep(void *item)
{
	(void)item;
}

void gh_hprof_shapes_free(struct gh_hprof_shapes *shapes)
{
	tdestroy(shapes->tree, keep);
	for (size_t i = 0; i < shapes->kinds.count; i++) {
		gh_vector_free(&shapes->kinds.items[i]->fields);
		free(shapes->kinds.items[i]);
	}
	gh_vector_free(&shapes->kinds);
}
