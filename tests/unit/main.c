#include <stdlib.h>

#include "tests/unit/suites.h"

int main(void)
{
	SRunner *runner = srunner_create(NULL);
#define ADD(name) srunner_add_suite(runner, name##_suite());
	SUITES(ADD)
#undef ADD
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
