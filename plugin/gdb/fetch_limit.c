#include "plugin/gdb/gdb.h"

#include "lib/util/now.h"

/* In ms: how long nobody minds, and how long all of it may take where nobody has asked for it. */
#define GRACE 5000
#define MOST  120000

void gh_fetch_begin(struct gh_fetch_limit *limit, bool asked)
{
	limit->start = gh_now();
	limit->asked = asked;
}

bool gh_fetch_goes_on(const struct gh_fetch_limit *limit, uint64_t done, uint64_t total)
{
	if (limit->asked)
		return true;
	long passed = gh_milliseconds_since(limit->start);
	if (passed <= GRACE)
		return true;
	return passed <= MOST && (double)passed * (double)total <= (double)MOST * (double)done;
}
