#include "lib/trace/trace.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Pages whose state is asked for at once. */
#define PAGES 4096

/* A request for ranges of pages by their state, as the linux/fs.h of older systems lacks it (struct
 * pm_scan_arg), and a range (struct page_region). */
struct scan {
	uint64_t size; /* of this struct */
	uint64_t flags;
	uint64_t start;
	uint64_t end;
	uint64_t walk_end;
	uint64_t ranges; /* address of the first */
	uint64_t nranges;
	uint64_t most_pages;
	uint64_t inverted;
	uint64_t all_of;
	uint64_t any_of;
	uint64_t told; /* states that ranges tell */
};

struct range {
	uint64_t start;
	uint64_t end;
	uint64_t state;
};

#define SCAN    _IOWR('f', 16, struct scan) /* PAGEMAP_SCAN, from Linux 6.7 on */
#define PRESENT (1U << 3)                   /* PAGE_IS_PRESENT */
#define SWAPPED (1U << 4)                   /* PAGE_IS_SWAPPED */

/* The same by the entries of PAGEMAP, one for each page. */
static uint64_t read_next(int pagemap, uint64_t address, uint64_t end)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t entries[PAGES];
	while (address < end) {
		uint64_t count = (end - address + page - 1) / page;
		size_t size = (size_t)(count < PAGES ? count : PAGES) * sizeof(*entries);
		off_t at = (off_t)(address / page * sizeof(*entries));
		if (pread(pagemap, entries, size, at) != (ssize_t)size)
			return address;
		for (size_t i = 0; i < size / sizeof(*entries); i++, address += page)
			if ((entries[i] & (GH_PAGE_PRESENT | GH_PAGE_SWAPPED)) != 0)
				return address;
	}
	return end;
}

uint64_t gh_next_page(int pagemap, uint64_t address, uint64_t end)
{
	struct range range = {0}; /* valgrind does not know this ioctl */
	struct scan scan = {
	    .size = sizeof(scan),
	    .start = address,
	    .end = end,
	    .ranges = (uintptr_t)&range,
	    .nranges = 1,
	    .most_pages = 1,
	    .any_of = PRESENT | SWAPPED,
	    .told = PRESENT | SWAPPED,
	};
	int found = ioctl(pagemap, SCAN, &scan);
	if (found < 0)
		return read_next(pagemap, address, end);
	return found > 0 ? range.start : end;
}
