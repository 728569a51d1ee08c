#include "plugin/gdb/gdb.h"

/* In ms: how long nobody minds, and how long all of it may take where nobody has asked for it. */
#define GRACE 5000
#define MOST  120000

void gh_fetch_begin(struct gh_fetch_limit *limit, bool asked)
{
	clock_gettime(CLOCK_MONOTONIC, &limit->start);
	limit->asked = asked;
}

long gh_fetch_milliseconds(const struct timespec *start)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - start->tv_sec) * 1000 + (now.tv_nsec - start->tv_nsec) / 1000000;
}

bool gh_fetch_goes_on(const struct gh_fetch_limit *limit, uint64_t done, uint64_t total)
{
	if (limit->asked)
		return true;
	long passed = gh_fetch_milliseconds(&limit->start);
	if (passed <= GRACE)
		return true;
	return passed <= MOST && (double)passed * (double)total <= (double)MOST * (double)done;
}
