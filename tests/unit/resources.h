/* What the tests and the library have of memory and files, so that a test can tell what is not
 * given back, and can have no memory be left. */
#ifndef TESTS_UNIT_RESOURCES_H
#define TESTS_UNIT_RESOURCES_H

#include <stddef.h>

/* Notes what there is when a test begins, and fails the test if there is more when it ends: memory
 * that is not freed or unmapped, files that are not closed. */
void resources_begin(void);
void resources_check(void);

/* Allocation NUMBER from now on, from 1, finds no memory. */
void resources_fail_at(unsigned long number);

/* From now on all allocations find memory. Gives how many there were meanwhile. */
unsigned long resources_fail_no_more(void);

#endif
