#include <stdlib.h>

#include "tests/unit/suites.h"

int main(void)
{
	SRunner *runner = srunner_create(cursor_suite());
	srunner_add_suite(runner, blake2b_suite());
	srunner_add_suite(runner, bsearch_suite());
	srunner_add_suite(runner, buffer_suite());
	srunner_add_suite(runner, error_suite());
	srunner_add_suite(runner, func_name_suite());
	srunner_add_suite(runner, hash_suite());
	srunner_add_suite(runner, intern_suite());
	srunner_add_suite(runner, numbermap_suite());
	srunner_add_suite(runner, output_suite());
	srunner_add_suite(runner, parallel_suite());
	srunner_add_suite(runner, vector_suite());
	srunner_add_suite(runner, escape_suite());
	srunner_add_suite(runner, image_suite());
	srunner_add_suite(runner, loaded_suite());
	srunner_add_suite(runner, pcvalue_suite());
	srunner_add_suite(runner, pclntab_suite());
	srunner_add_suite(runner, plan9_suite());
	srunner_add_suite(runner, damage_suite());
	srunner_add_suite(runner, debugfile_suite());
	srunner_add_suite(runner, own_types_suite());
	srunner_add_suite(runner, rtype_suite());
	srunner_add_suite(runner, inline_suite());
	srunner_add_suite(runner, core_notes_suite());
	srunner_add_suite(runner, dump_suite());
	srunner_add_suite(runner, dump_damage_suite());
	srunner_add_suite(runner, graph_suite());
	srunner_add_suite(runner, dump_gzip_suite());
	srunner_add_suite(runner, heap_suite());
	srunner_add_suite(runner, heapscan_suite());
	srunner_add_suite(runner, piped_text_suite());
	srunner_add_suite(runner, pprof_suite());
	srunner_add_suite(runner, slots_suite());
	srunner_add_suite(runner, spills_suite());
	srunner_add_suite(runner, stack_suite());
	srunner_add_suite(runner, stackmap_suite());
	srunner_add_suite(runner, typing_suite());
	srunner_add_suite(runner, traceback_suite());
	srunner_add_suite(runner, frames_suite());
	srunner_add_suite(runner, view_suite());
	srunner_add_suite(runner, process_suite());
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
