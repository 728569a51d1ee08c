/* A heap dump's allocation profile as pprof's: a gzip-ed message Profile.
 *
 * Format: https://github.com/google/pprof/blob/main/proto/profile.proto; what a heap profile has in
 * it: src/runtime/pprof/protomem.go. */
#ifndef GH_PROFILE_PPROF_H
#define GH_PROFILE_PPROF_H

#include "lib/profile/alloc_sites.h"
#include "lib/profile/live_profile.h"

/* runtime.MemProfileRate, unless the program sets it. */
#define GH_PPROF_RATE (512 * 1024)

struct gh_pprof {
	const struct gh_allocations *allocations; /* the profile */
	uint64_t rate; /* bytes allocated for each sample, on average; to 1: all are sampled */
	bool raw;      /* what was sampled, not scaled to what there was */
	const struct gh_live_stacks *live; /* write what is live, and what it retains; NULL: what
					      was allocated, and what is in use */
	const struct gh_image *program;    /* that wrote the dump; NULL if it is not at hand */
	const char *program_path;          /* its name in the profile; "" if it is not at hand */
	uint64_t bias;                     /* of the dump's addresses over the program's */
};

/* Writes the profile to PATH, which is there whole or not at all. Returns false and fills ERR if it
 * cannot be written. */
bool gh_pprof_write(const struct gh_pprof *pprof, const char *path, struct gh_error *err);

/* Scales COUNT sampled objects of SIZE bytes to how many there are likely to be, as the runtime
 * does: 1 in 1 - exp(-size / rate) is sampled. BYTES is their size together. Both are at most
 * INT64_MAX. */
void gh_pprof_scale(uint64_t rate, uint64_t size, uint64_t *count, uint64_t *bytes);

#endif
