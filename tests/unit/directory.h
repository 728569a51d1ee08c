/* A directory of a test's own. */
#ifndef TESTS_UNIT_DIRECTORY_H
#define TESTS_UNIT_DIRECTORY_H

#include <stddef.h>

/* Makes it, empty; gives its canonical path, which is static. One at a time. */
const char *directory_make(void);

/* The path of the file NAME in it, which is static. */
const char *directory_path(const char *name);

/* Writes the file NAME there. */
void directory_write(const char *name, const void *bytes, size_t size);

/* Removes it with all that is in it. */
void directory_remove(void);

#endif
