#include "tests/unit/typescene.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"

void typescene_start(struct typescene *scene, int variant)
{
	size_t size;
	struct gh_error err;
	*scene = (struct typescene){.what = fixture_variant(variant)};
	scene->data = typemaker_make(&scene->what, &size, &scene->places);
	if (!gh_image_open_memory(&scene->image, scene->data, size, "types", &err) ||
	    !gh_pclntab_open(&scene->tab, &scene->image, &err))
		ck_abort_msg("%s", err.text);
	maker_start(&scene->maker, MAKER_1_7, scene->what.word, scene->what.big_endian);
	maker_params(&scene->maker);
}

uint64_t typescene_descriptor(const struct typescene *scene, int type)
{
	return TYPES_ADDRESS + scene->places.types[type] - TYPES_OFFSET;
}

void typescene_fields(struct maker *maker, unsigned count, const unsigned *words)
{
	for (unsigned i = 0; i < count; i++)
		maker_numbers(maker, 2, (const uint64_t[]){1, words[i] * maker->word});
	maker_number(maker, 0);
}

void typescene_object(struct typescene *scene, uint64_t address, unsigned size,
		      const uint64_t *words, unsigned count, const unsigned *pointers)
{
	maker_numbers(&scene->maker, 2, (const uint64_t[]){1, address});
	maker_words(&scene->maker, size, words);
	typescene_fields(&scene->maker, count, pointers);
}

void typescene_node(struct typescene *scene, uint64_t address, uint64_t next, uint64_t count)
{
	typescene_object(scene, address, 6,
			 (const uint64_t[6]){1, next, count > 0 ? SCENE_ARRAY : 0, count, count}, 2,
			 (const unsigned[]){1, 2});
}

void typescene_data(struct typescene *scene, unsigned count, const uint64_t *words)
{
	static const unsigned pointers[] = {1, 3, 5};
	maker_numbers(&scene->maker, 2, (const uint64_t[]){12, SCENE_DATA});
	maker_words(&scene->maker, count, words);
	typescene_fields(&scene->maker, count / 2, pointers);
}

void typescene_nodes(struct typescene *scene)
{
	typescene_node(scene, SCENE_A, SCENE_B, 2);
	typescene_node(scene, SCENE_B, SCENE_A, 0);
	typescene_object(scene, SCENE_ARRAY, 4,
			 (const uint64_t[]){SCENE_TEXT, 5, SCENE_TEXT + 10, 6}, 2,
			 (const unsigned[]){0, 2});
	maker_object(&scene->maker, SCENE_TEXT, 32);
}

void typescene_type(struct typescene *scene, uint64_t address, uint64_t size, const char *name)
{
	maker_numbers(&scene->maker, 3, (const uint64_t[]){3, address, size});
	maker_text(&scene->maker, name);
	maker_number(&scene->maker, 1);
}

void typescene_finish(struct typescene *scene, bool known)
{
	struct gh_error err;
	struct gh_typing_program program = {.own.tab = known ? &scene->tab : NULL};
	maker_end(&scene->maker);
	if (!gh_dump_open_memory(&scene->dump, scene->maker.data, scene->maker.size, "made",
				 &err) ||
	    !gh_heap_build(&scene->heap, &scene->dump, &err) ||
	    !gh_typing_build(&scene->typing, &scene->heap, &program, &err))
		ck_abort_msg("%s", err.text);
}

void typescene_free(struct typescene *scene)
{
	gh_typing_free(&scene->typing);
	gh_heap_free(&scene->heap);
	gh_dump_close(&scene->dump);
	free(scene->maker.data);
	gh_image_close(&scene->image);
	free(scene->data);
}

const struct gh_class *typescene_class(const struct typescene *scene, uint64_t address)
{
	uint32_t object = gh_heap_find(&scene->heap, address);
	ck_assert_uint_ne(object, GH_HEAP_NONE);
	return gh_typing_class(&scene->typing, gh_typing_of(&scene->typing, object));
}

void typescene_check(const struct typescene *scene, uint64_t address, const char *expected)
{
	ck_assert_str_eq(typescene_class(scene, address)->name, expected);
}

void typescene_check_field(const struct typescene *scene, uint64_t address, unsigned word,
			   const char *expected)
{
	struct gh_buffer name = {0};
	bool found = gh_typing_field(&scene->typing, gh_heap_find(&scene->heap, address),
				     (uint64_t)word * scene->what.word, &name);
	gh_buffer_u8(&name, 0);
	ck_assert(found == (*expected != '\0'));
	ck_assert_str_eq((const char *)name.data, expected);
	gh_buffer_free(&name);
}

void typescene_set_type(struct typescene *scene, size_t offset, int number)
{
	bytes_store(scene->data + offset, typescene_descriptor(scene, number), scene->what.word,
		    scene->what.big_endian);
}
