/* Errors: one line that says which file, at which offset, what was expected, what was found. */
#ifndef GH_UTIL_ERROR_H
#define GH_UTIL_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/* An error, filled by the function that failed. The text is complete and escaped: it can be
 * printed as it is. */
struct gh_error {
	char text[640]; /* the line, without a newline */
};

/* Offset to give when an error has no place in the file. */
#define GH_NO_OFFSET UINT64_MAX

/* Fills ERR (which may be NULL) with "FILE: offset 0xOFFSET: expected EXPECTED, found ...", where
 * what was found is FORMAT, as for printf. The offset is left out if it is GH_NO_OFFSET. Text that
 * the arguments bring in is escaped. Returns false, so that a caller can return the failure. */
bool gh_fail(struct gh_error *err, const char *file, uint64_t offset, const char *expected,
	     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The same with one sentence, FORMAT as for printf, that names what it is about. */
bool gh_fail_plainly(struct gh_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for a system call that failed: "FILE: cannot DO: STRERROR(errno)". Returns false. */
bool gh_fail_errno(struct gh_error *err, const char *file, const char *doing);

/* What is said where memory runs out, here and by who prints without a struct gh_error. */
#define GH_OUT_OF_MEMORY "out of memory: free some or raise the limit (ulimit -v), then try again"

/* The same for memory that ran out while FILE was worked on: "FILE: " GH_OUT_OF_MEMORY. Returns
 * false. */
bool gh_fail_memory(struct gh_error *err, const char *file);

#endif
