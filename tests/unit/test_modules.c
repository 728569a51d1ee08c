/* The Go libraries among the files that a process has mapped. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/view/view.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* Writes a program with the section that tells a Go program to a file of its own, whose name is
 * PATH. */
static void write_program(char *path)
{
	static const char section[] = ".go.buildinfo";
	struct fixture fixture;
	fixture_open_as(&fixture,
			&(struct synthetic){.format = SYNTHETIC_1_20, .word = 8, .sections = true});
	/* The names behind it need not stay. */
	uint8_t *name = memmem(fixture.data, fixture.size, ".gopclntab", 10);
	ck_assert_ptr_nonnull(name);
	memcpy(name, section, sizeof(section));
	fixture_write(&fixture, path);
	fixture_close(&fixture);
}

START_TEST(each_go_library_is_there_once)
{
	char library[] = "/tmp/goheap-test-XXXXXX";
	char other[] = "/tmp/goheap-test-XXXXXX";
	char self[] = "/proc/self/exe";
	write_program(library);
	write_program(other);
	struct gh_mapped_file files[] = {
	    {library, 0x1000, 0}, {self, 0x2000, 0}, {library, 0x3000, 0}, {other, 0x4000, 0}};
	const struct gh_mapped_files mapped = {.items = files, .count = 4};
	const struct {
		const char *program;
		bool any;
		size_t count;
	} cases[] = {
	    {self, false, 2},    /* another language's program */
	    {library, false, 0}, /* a Go program has its libraries' runtime */
	    {library, true, 1},  /* the program itself is none */
	    {"/nowhere", true, 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct gh_modules modules = {.any = cases[i].any};
		gh_modules_add(&modules, &mapped, cases[i].program);
		ck_assert(!modules.failed);
		ck_assert_uint_eq(modules.count, cases[i].count);
		if (modules.count == 2)
			ck_assert_str_eq(modules.items[0], library);
		if (modules.count > 0)
			ck_assert_str_eq(modules.items[modules.count - 1], other);
		gh_modules_free(&modules);
	}
	unlink(library);
	unlink(other);
}
END_TEST

void modules_tests(TCase *tcase)
{
	tcase_add_test(tcase, each_go_library_is_there_once);
}
