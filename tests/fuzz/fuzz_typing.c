/* Fuzz target: the types of a heap's objects, with a program that has descriptors. */
#include <stdlib.h>

#include "lib/typing/typing.h"
#include "tests/fuzz/target.h"
#include "tests/unit/typemaker.h"

static struct gh_image image;
static struct gh_pclntab tab;

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void close_program(void)
{
	uint8_t *data = image.data;
	gh_image_close(&image);
	free(data);
}

static void open_program(void)
{
	const struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8};
	size_t size;
	struct gh_error err;
	uint8_t *data = typemaker_make(&what, &size, NULL);
	require(gh_image_open_memory(&image, data, size, "program", &err) &&
		gh_pclntab_open(&tab, &image, &err));
	atexit(close_program);
}

/* Asks for all names of the fields that are pointers in OBJECT. */
static void name_fields(const struct gh_typing *typing, uint32_t object)
{
	struct gh_buffer name = {0};
	struct gh_pointers walk;
	struct gh_pointer pointer;
	gh_pointers_start(typing->heap, object, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		name.size = 0;
		require(gh_typing_field(typing, object, pointer.offset, &name) == (name.size > 0));
	}
	gh_buffer_free(&name);
}

/* Asks for what has the words of the segments that are roots. */
static void name_globals(const struct gh_typing *typing)
{
	struct gh_buffer name = {0};
	struct gh_global global;
	for (size_t i = 0; i < typing->statics.pointers.count; i++) {
		uint64_t value = typing->statics.pointers.items[i].value;
		name.size = 0;
		require(gh_typing_global(typing, value, &global, &name));
		require(global.start <= value && (!global.has_holder || global.holder != 0));
	}
	gh_buffer_free(&name);
}

static void look_at_types(const struct gh_dump *dump)
{
	struct gh_heap heap;
	struct gh_typing typing;
	struct gh_error err;
	struct gh_typing_program program = {.tab = dump->word == 8 ? &tab : NULL};
	uint64_t typed = 0;
	require(gh_heap_build(&heap, dump, &err));
	require(gh_typing_build(&typing, &heap, &program, &err));
	for (uint32_t i = 0; i < heap.count; i++) {
		uint32_t number = gh_typing_of(&typing, i);
		require(number < typing.nclasses);
		typed += gh_typing_class(&typing, number)->typed;
		name_fields(&typing, i);
	}
	name_globals(&typing);
	require(typed == typing.typed_objects && typing.typed_bytes <= typing.bytes);
	gh_typing_free(&typing);
	gh_heap_free(&heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gh_dump dump;
	struct gh_error err;
	if (image.data == NULL)
		open_program();
	if (gh_dump_open_memory(&dump, data, size, "input", &err)) {
		look_at_types(&dump);
		gh_dump_close(&dump);
	}
	return 0;
}
