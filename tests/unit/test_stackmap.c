/* Which words of frames hold pointers. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "lib/pclntab/pclntab.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* The offsets of the words, in hexadecimal. */
static const char *words(const struct gh_stackmaps *maps, int32_t index, int32_t delta)
{
	static char text[128];
	struct gh_live_words walk;
	uint32_t offset;
	text[0] = '\0';
	gh_live_words_start(&walk, maps, index, delta);
	while (gh_live_words_next(&walk, &offset))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%x ", offset);
	return text;
}

START_TEST(every_variant)
{
	struct fixture fixture;
	struct gh_func func;
	struct gh_error err;
	struct gh_stackmaps maps;
	fixture_open(&fixture, _i);
	const struct gh_pclntab *tab = &fixture.tab;
	ck_assert(gh_stackmaps_told(tab));
	ck_assert(gh_pclntab_func(tab, 1, &func, &err));
	ck_assert(!gh_stackmaps_find(&maps, tab, &func));
	ck_assert(gh_pclntab_func(tab, 0, &func, &err));
	ck_assert(gh_stackmaps_find(&maps, tab, &func));
	uint32_t table = gh_stackmaps_table(tab, &func);
	ck_assert_int_eq(gh_pcvalue_at(tab, &func, table, func.entry + 0x0f), -1);
	ck_assert_int_eq(gh_pcvalue_at(tab, &func, table, func.entry + 0x10), 1);
	ck_assert_int_eq(gh_pcvalue_at(tab, &func, table, func.entry + 0x3c), 0);

	bool frame_pointer = maps.above_locals != 0;
	ck_assert_int_eq(frame_pointer, tab->image->arch->machine == EM_X86_64);
	/* At a call whose number is -1 map 0 holds, as in getStackMap of src/runtime/stkframe.go.
	 */
	if (tab->pointer_size == 8) {
		ck_assert_str_eq(words(&maps, 0, 24), frame_pointer ? "0 20 " : "8 20 ");
		ck_assert_str_eq(words(&maps, -1, 24), frame_pointer ? "0 20 " : "8 20 ");
		ck_assert_str_eq(words(&maps, 1, 24), frame_pointer ? "8 " : "10 ");
		/* There is no frame yet, or none that the locals fit in. */
		ck_assert_str_eq(words(&maps, 0, 0), "8 ");
		ck_assert_str_eq(words(&maps, 1, 8), "");
	} else {
		ck_assert_str_eq(words(&maps, 0, 24), "10 1c ");
		ck_assert_str_eq(words(&maps, -1, 24), "10 1c ");
		ck_assert_str_eq(words(&maps, 1, 24), "14 ");
		ck_assert_str_eq(words(&maps, 0, 4), "8 ");
	}
	ck_assert_str_eq(words(&maps, 2, 24), "");
	ck_assert_str_eq(words(&maps, -2, 24), "");
	ck_assert_str_eq(words(&maps, INT32_MIN, 24), "");
	ck_assert_str_eq(words(&maps, 0, -8), "");

	/* The bits of more maps than there are bytes for. */
	func.args = 0;
	ck_assert(gh_stackmaps_find(&maps, tab, &func));
	ck_assert_uint_eq(maps.args.nbits, 0);
	memset(fixture.data + (maps.locals.bytes.start - (const uint8_t *)fixture.data), 0x7f, 4);
	ck_assert(!gh_stackmaps_find(&maps, tab, &func));
	fixture_close(&fixture);
}
END_TEST

void stackmap_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, every_variant, 0, FIXTURE_VARIANTS);
}
