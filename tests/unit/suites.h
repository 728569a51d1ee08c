/* The suites of the unit tests; each file makes one. */
#ifndef TESTS_UNIT_SUITES_H
#define TESTS_UNIT_SUITES_H

#include <check.h>

Suite *blake2b_suite(void);
Suite *core_notes_suite(void);
Suite *cursor_suite(void);
Suite *bsearch_suite(void);
Suite *buffer_suite(void);
Suite *error_suite(void);
Suite *frames_suite(void);
Suite *func_name_suite(void);
Suite *graph_suite(void);
Suite *hash_suite(void);
Suite *intern_suite(void);
Suite *numbermap_suite(void);
Suite *output_suite(void);
Suite *parallel_suite(void);
Suite *traceback_suite(void);
Suite *vector_suite(void);
Suite *pcvalue_suite(void);
Suite *pclntab_suite(void);
Suite *plan9_suite(void);
Suite *damage_suite(void);
Suite *escape_suite(void);
Suite *image_suite(void);
Suite *loaded_suite(void);
Suite *debugfile_suite(void);
Suite *own_types_suite(void);
Suite *rtype_suite(void);
Suite *inline_suite(void);
Suite *dump_suite(void);
Suite *dump_damage_suite(void);
Suite *dump_gzip_suite(void);
Suite *heap_suite(void);
Suite *heapscan_suite(void);
Suite *piped_text_suite(void);
Suite *pprof_suite(void);
Suite *slots_suite(void);
Suite *spills_suite(void);
Suite *stack_suite(void);
Suite *stackmap_suite(void);
Suite *typing_suite(void);
Suite *view_suite(void);
Suite *process_suite(void);

#endif
