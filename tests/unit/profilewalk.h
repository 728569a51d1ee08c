/* Reads a profile that was written for pprof, as strictly as can be. It shares no code with the
 * writer. */
#ifndef TESTS_UNIT_PROFILEWALK_H
#define TESTS_UNIT_PROFILEWALK_H

#include <stddef.h>
#include <stdint.h>

#include "lib/dump/dump.h"
#include "lib/pclntab/pclntab.h"

/* Samples of a profile, at most. */
#define PROFILE_MAX_SAMPLES 64

/* What tests look at. */
struct walked_profile {
	size_t nsamples;
	uint64_t values[PROFILE_MAX_SAMPLES][4]; /* of the first samples */
	uint64_t label[PROFILE_MAX_SAMPLES];     /* their size in bytes */
	char stacks[PROFILE_MAX_SAMPLES][512];   /* their calls, "function:line", "<" after one that
						    is   inlined, " " after others */
	uint64_t period, time;
	uint64_t mapping[3]; /* of the program: start, limit, offset in the file */
};

/* Writes what is live in DUMP, and then its profile, to PATH, of RATE, with the program of TAB
 * unless that is NULL, and aborts if it is not what pprof takes: fields of other types, strings
 * that are not UTF-8, ids of nothing, numbers that are negative. Fills PROFILE with the latter
 * unless it is NULL. */
void profile_walk(const struct gh_dump *dump, const struct gh_pclntab *tab, uint64_t rate,
		  const char *path, struct walked_profile *profile);

#endif
