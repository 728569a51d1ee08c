/* Why a goroutine waits, in words: runtime.waitReasonStrings. */
#ifndef GH_PROCESS_WAITREASON_H
#define GH_PROCESS_WAITREASON_H

#include "lib/pclntab/pclntab.h"

/* The table in the program's data, an array of strings by number. */
struct gh_wait_reasons {
	const struct gh_image *image; /* not owned */
	uint64_t address;             /* of the table in the file's address space; 0 if unknown */
};

/* Finds the table in IMAGE by how it begins, which is the same in all releases since Go 1.11 (the
 * numbers are not, and a stripped program does not say where it is). */
struct gh_wait_reasons gh_wait_reasons_find(const struct gh_image *image);

/* The text of reason NUMBER, of *LENGTH bytes, in the image; empty if it is not known. */
const char *gh_wait_reason(const struct gh_wait_reasons *reasons, uint8_t number, size_t *length);

#endif
