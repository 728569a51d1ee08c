#include "lib/trace/trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

/* The kernel keeps which pages were written: it does of one that was just written. */
static bool keeps_written(void)
{
	uint64_t entry = 0;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint8_t *bytes =
	    mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes != MAP_FAILED) {
		off_t at = (off_t)((uintptr_t)bytes / page * sizeof(entry));
		*(volatile uint8_t *)bytes = 1;
		if (pread(pagemap, &entry, sizeof(entry), at) != (ssize_t)sizeof(entry))
			entry = 0;
		munmap(bytes, page);
	}
	if (pagemap >= 0)
		close(pagemap);
	return (entry & GH_PAGE_WRITTEN) != 0;
}

bool gh_track_written(int pid)
{
	char path[64];
	if (!keeps_written())
		return false;
	snprintf(path, sizeof(path), "/proc/%d/clear_refs", pid);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool cleared = fd >= 0 && write(fd, "4", 1) == 1;
	if (fd >= 0)
		close(fd);
	return cleared;
}
