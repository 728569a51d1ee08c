#include "tests/unit/fixture.h"

#include <check.h>
#include <stdlib.h>
#include <unistd.h>

struct synthetic fixture_variant(int number)
{
	return (struct synthetic){
	    .format = (enum synthetic_format)(number / 8),
	    .word = number & 1 ? 4 : 8,
	    .big_endian = number & 2,
	    .sections = number & 4,
	};
}

bool fixture_is_plan9(int number)
{
	struct synthetic what = fixture_variant(number);
	return what.sections && !(what.format == SYNTHETIC_INTERIM && what.big_endian);
}

void fixture_open_as(struct fixture *fixture, const struct synthetic *what)
{
	struct gh_error err;
	fixture->data = synthetic_make(what, &fixture->size, &fixture->places);
	if (!gh_image_open_memory(&fixture->image, fixture->data, fixture->size, "synthetic",
				  &err) ||
	    !gh_pclntab_open(&fixture->tab, &fixture->image, &err))
		ck_abort_msg("format %d, word %u, big endian %d, sections %d: %s", what->format,
			     what->word, what->big_endian, what->sections, err.text);
}

void fixture_open(struct fixture *fixture, int number)
{
	struct synthetic what = fixture_variant(number);
	fixture_open_as(fixture, &what);
}

void fixture_write(const struct fixture *fixture, char *path)
{
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, fixture->data, fixture->size), (ssize_t)fixture->size);
	close(fd);
}

void fixture_close(struct fixture *fixture)
{
	gh_pclntab_close(&fixture->tab);
	gh_image_close(&fixture->image);
	free(fixture->data);
}
