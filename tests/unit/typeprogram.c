#include "tests/unit/typeprogram.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"

void typeprogram_make(struct typeprogram *program, int number, const char *last)
{
	*program = (struct typeprogram){.what = fixture_variant(number)};
	program->what.last = last;
	program->data = typemaker_make(&program->what, &program->size, &program->places);
}

void typeprogram_set(struct typeprogram *program, size_t offset, uint64_t value, unsigned size)
{
	bytes_store(program->data + offset, value, size, program->what.big_endian);
}

void typeprogram_open_tab(struct typeprogram *program)
{
	struct gh_error err;
	if (!gh_image_open_memory(&program->image, program->data, program->size, "types", &err) ||
	    !gh_pclntab_open(&program->tab, &program->image, &err))
		ck_abort_msg("%s", err.text);
}

void typeprogram_open(struct typeprogram *program)
{
	struct gh_error err;
	typeprogram_open_tab(program);
	ck_assert(gh_rtypes_find(&program->types, &program->tab, &err));
}

void typeprogram_close(struct typeprogram *program)
{
	gh_rtypes_free(&program->types);
	gh_pclntab_close(&program->tab);
	gh_image_close(&program->image);
	free(program->data);
}

uint64_t typeprogram_address(size_t offset)
{
	return TYPES_ADDRESS + offset - TYPES_OFFSET;
}

uint64_t typeprogram_type(const struct typeprogram *program, int number)
{
	return typeprogram_address(program->places.types[number]);
}
