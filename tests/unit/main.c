#include <stdlib.h>

#include "tests/unit/resources.h"
#include "tests/unit/suites.h"

/* Seconds for a test: those that try all damage take some when nothing else runs. */
#define TIMEOUT 300

static void add(SRunner *runner, const char *name, void (*add_tests)(TCase *tests))
{
	Suite *suite = suite_create(name);
	TCase *tests = tcase_create(name);
	tcase_set_timeout(tests, TIMEOUT);
	tcase_add_checked_fixture(tests, resources_begin, resources_check);
	add_tests(tests);
	suite_add_tcase(suite, tests);
	srunner_add_suite(runner, suite);
}

int main(void)
{
	SRunner *runner = srunner_create(NULL);
#define ADD(name) add(runner, #name, name##_tests);
	SUITES(ADD)
#undef ADD
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
