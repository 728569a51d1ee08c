/* Limits of bytes and of time for reading a program from a target, which may be slow or hostile. */
#ifndef GH_PLUGIN_GDB_FETCH_LIMIT_H
#define GH_PLUGIN_GDB_FETCH_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* The most that a program may be, in bytes. */
#define GH_FETCH_MOST (UINT64_C(1) << 30)

struct gh_fetch_limit {
	struct timespec start; /* monotonic */
	bool asked;            /* the user has asked for it, and waits as long as it takes */
};

/* It begins now. */
void gh_fetch_begin(struct gh_fetch_limit *limit, bool asked);

/* Whether to go on after DONE bytes of TOTAL: they will be there soon enough, if they go on coming
 * as they did. */
bool gh_fetch_goes_on(const struct gh_fetch_limit *limit, uint64_t done, uint64_t total);

/* Milliseconds since START, monotonic. */
long gh_fetch_milliseconds(const struct timespec *start);

#endif
