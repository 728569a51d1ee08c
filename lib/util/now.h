/* The time, by CLOCK_MONOTONIC and by the calendar. */
#ifndef GH_UTIL_NOW_H
#define GH_UTIL_NOW_H

#include <stdint.h>
#include <time.h>

/* In ns. */
static inline uint64_t gh_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* In ns since 1970. */
static inline uint64_t gh_date(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Milliseconds since START. */
static inline long gh_milliseconds_since(uint64_t start)
{
	return (long)((gh_now() - start) / 1000000);
}

#endif
