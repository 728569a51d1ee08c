#include "plugin/shapes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/numbering.h"

/* So many pointers are named one by one. */
#define NAMED_POINTERS 6

/* By the finalizer of MurmurHash3. */
static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0xff51afd7ed558ccd);
	hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return hash ^ hash >> 33;
}

static uint64_t hash_object(const struct gh_heap *heap, uint32_t object)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	uint64_t hash = mix(1, gh_heap_object(heap, object).size);
	gh_pointers_start(heap, object, &walk);
	while (gh_pointers_next(&walk, &pointer))
		hash = mix(hash, pointer.offset);
	return hash;
}

/* The name of OBJECT's shape, to be freed; NULL if memory ran out. */
static char *make_name(const struct gh_heap *heap, uint32_t object)
{
	char *text = NULL;
	size_t length = 0;
	struct gh_pointers walk;
	struct gh_pointer pointer;
	uint64_t count = 0;
	FILE *out = open_memstream(&text, &length);
	if (out == NULL)
		return NULL;
	fprintf(out, "%" PRIu64 " bytes, ", gh_heap_object(heap, object).size);
	gh_pointers_start(heap, object, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		if (count == 0)
			fputs("pointers at", out);
		if (count++ < NAMED_POINTERS)
			fprintf(out, " %" PRIu64, pointer.offset);
	}
	if (count == 0)
		fputs("no pointers", out);
	if (count > NAMED_POINTERS)
		fprintf(out, " and %" PRIu64 " more", count - NAMED_POINTERS);
	return fclose(out) == 0 ? text : NULL;
}

/* Names the shape of OBJECT, the last in number. False if memory ran out. */
static bool add_name(struct gh_shapes *shapes, const struct gh_heap *heap, uint32_t object)
{
	char *name = make_name(heap, object);
	gh_buffer_bytes(&shapes->names, &name, sizeof(name));
	if (name != NULL && !shapes->names.failed)
		return true;
	free(name);
	return false;
}

bool gh_shapes_make(struct gh_shapes *shapes, const struct gh_heap *heap, struct gh_error *err)
{
	*shapes = (struct gh_shapes){.of = calloc((size_t)heap->count + 1, sizeof(*shapes->of))};
	struct gh_numbering hashes = {0};
	bool made = shapes->of != NULL;
	for (uint32_t i = 0; made && i < heap->count; i++) {
		shapes->of[i] = gh_numbering_add(&hashes, hash_object(heap, i));
		made = shapes->of[i] != GH_NUMBERING_NONE &&
		       (shapes->of[i] < shapes->count || add_name(shapes, heap, i));
		shapes->count = made ? hashes.count : shapes->count;
	}
	gh_numbering_free(&hashes);
	if (made)
		return true;
	errno = ENOMEM;
	return gh_fail_errno(err, heap->dump->path, "name its objects");
}

const char *gh_shapes_name(const struct gh_shapes *shapes, uint32_t number)
{
	return ((char *const *)(const void *)shapes->names.data)[number];
}

void gh_shapes_free(struct gh_shapes *shapes)
{
	for (size_t i = 0; i < shapes->count; i++)
		free((char *)gh_shapes_name(shapes, (uint32_t)i));
	gh_buffer_free(&shapes->names);
	free(shapes->of);
	*shapes = (struct gh_shapes){0};
}
