#include <string.h>

#include "lib/elf/elf.h"
#include "tests/unit/suites.h"

#define ADDRESS 0x400000

/* A CIE of addresses relative to their place (zR, pcrel sdata4), an FDE of 0x20 bytes from 0x401000
 * on, one of 0x10 bytes before the section, a CIE of words, its FDE of 0x8 bytes, and the end. */
/* clang-format off */
static const uint8_t section[] = {
	/* 0x00 */ 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0, 0, 0,
	/* 0x14 */ 0x10, 0, 0, 0, 0x18, 0, 0, 0, 0xe4, 0x0f, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0,
	/* 0x28 */ 0x10, 0, 0, 0, 0x2c, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, 0x10, 0, 0, 0, 0, 0, 0, 0,
	/* 0x3c */ 0x0c, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0, 0, 0,
	/* 0x4c */ 0x14, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x50, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0,
	/* 0x64 */ 0, 0, 0, 0};
/* clang-format on */

static bool read_section(struct gh_eh_ranges *ranges, const uint8_t *bytes, size_t size)
{
	*ranges = (struct gh_eh_ranges){0};
	return gh_eh_frame_read(ranges, gh_cursor_make(bytes, size, "test", 0, false), ADDRESS, 8);
}

START_TEST(code_with_unwind_information_is_found)
{
	struct gh_eh_ranges ranges;
	ck_assert(read_section(&ranges, section, sizeof(section)));
	ck_assert_uint_eq(ranges.count, 3);
	ck_assert(!gh_eh_frame_has(&ranges, 0x400fff));
	ck_assert(gh_eh_frame_has(&ranges, 0x401000));
	ck_assert(gh_eh_frame_has(&ranges, 0x40101f));
	ck_assert(!gh_eh_frame_has(&ranges, 0x401020));
	ck_assert(gh_eh_frame_has(&ranges, 0x400000));
	ck_assert(gh_eh_frame_has(&ranges, 0x40000f));
	ck_assert(!gh_eh_frame_has(&ranges, 0x3fffff));
	ck_assert(gh_eh_frame_has(&ranges, 0x500007));
	ck_assert(!gh_eh_frame_has(&ranges, 0x500008));
	gh_vector_free(&ranges);
}
END_TEST

START_TEST(a_section_without_terminator_ends_where_it_does)
{
	struct gh_eh_ranges ranges;
	ck_assert(read_section(&ranges, section, 0x3c));
	ck_assert_uint_eq(ranges.count, 2);
	gh_vector_free(&ranges);
	ck_assert(read_section(&ranges, section, 0));
	ck_assert(!gh_eh_frame_has(&ranges, 0));
}
END_TEST

/* Sets the byte AT of the section to VALUE. Returns whether that is read. */
static bool changed(size_t at, uint8_t value)
{
	uint8_t bytes[sizeof(section)];
	struct gh_eh_ranges ranges;
	memcpy(bytes, section, sizeof(bytes));
	bytes[at] = value;
	bool done = read_section(&ranges, bytes, sizeof(bytes));
	gh_vector_free(&ranges);
	return done;
}

START_TEST(what_is_not_known_is_refused)
{
	ck_assert(!changed(0x08, 2));    /* a version */
	ck_assert(!changed(0x0a, 'x'));  /* an augmentation */
	ck_assert(!changed(0x10, 0x11)); /* an encoding: uleb128 */
	ck_assert(!changed(0x15, 0x10)); /* a length past the end */
	ck_assert(!changed(0x18, 0xff)); /* a CIE before the section */
	ck_assert(!changed(0x18, 0x04)); /* one that is an FDE */
}
END_TEST

void eh_frame_tests(TCase *tests)
{
	tcase_add_test(tests, code_with_unwind_information_is_found);
	tcase_add_test(tests, a_section_without_terminator_ends_where_it_does);
	tcase_add_test(tests, what_is_not_known_is_refused);
}
