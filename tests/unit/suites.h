/* The suites of the unit tests; each file makes one. */
#ifndef TESTS_UNIT_SUITES_H
#define TESTS_UNIT_SUITES_H

#include <check.h>

Suite *cursor_suite(void);
Suite *pcvalue_suite(void);
Suite *pclntab_suite(void);
Suite *plan9_suite(void);
Suite *damage_suite(void);
Suite *escape_suite(void);
Suite *image_suite(void);
Suite *loaded_suite(void);
Suite *debugfile_suite(void);
Suite *rtype_suite(void);
Suite *inline_suite(void);
Suite *dump_suite(void);
Suite *dump_damage_suite(void);
Suite *heap_suite(void);
Suite *heapscan_suite(void);
Suite *pprof_suite(void);
Suite *slots_suite(void);
Suite *stackmap_suite(void);
Suite *typing_suite(void);
Suite *process_suite(void);

#endif
