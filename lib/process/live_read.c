#include "lib/process/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/util/bsearch.h"
#include "lib/util/parallel.h"

/* Pages whose state is asked for at once. */
#define PAGES 4096

/* Runs of memory that one call of process_vm_readv reads; the kernel takes 1024. */
#define RUNS 512

/* Parts that one thread compares at a time. */
#define PARTS 1024

/* Runs of memory that are read at once. */
struct runs {
	const struct gh_live_reader *reader;
	struct gh_live_range *range; /* where they are */
	struct iovec local[RUNS];
	struct iovec remote[RUNS];
	unsigned count;
	uint64_t size; /* of all, in bytes */
};

int gh_live_reader_open(const struct gh_live_reader *reader, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", reader->live->pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads up to SIZE bytes at ADDRESS. Gives how many; 0 or less if there are none. */
static ssize_t read_some(const struct gh_live_reader *reader, uint64_t address, uint8_t *to,
			 uint64_t size)
{
	struct iovec local = {to, (size_t)size};
	struct iovec remote = {(void *)(uintptr_t)address, (size_t)size};
	if (reader->memory >= 0)
		return pread(reader->memory, to, (size_t)size, (off_t)address);
	return process_vm_readv(reader->live->pid, &local, 1, &remote, 1, 0);
}

bool gh_live_reader_works(struct gh_live_reader *reader)
{
	uint8_t byte;
	if (reader->live->ranges.count == 0)
		return false;
	uint64_t start = reader->live->ranges.items[0].start;
	if (reader->memory < 0 && read_some(reader, start, &byte, 1) < 0 && errno != EFAULT)
		reader->memory = gh_live_reader_open(reader, "mem");
	return read_some(reader, start, &byte, 1) > 0;
}

void gh_live_reader_read(const struct gh_live_reader *reader, uint64_t address, uint8_t *to,
			 uint64_t size)
{
	while (size > 0) {
		ssize_t count = read_some(reader, address, to, size);
		/* A page that cannot be read (a file's that was cut short) is left out. */
		if (count <= 0)
			count = size < GH_LEAST_PAGE ? (ssize_t)size : GH_LEAST_PAGE;
		address += (uint64_t)count;
		to += count;
		size -= (uint64_t)count;
	}
}

/* Reads the RUNS that there are: in one call, or, where that cannot read all, one by one. */
static void copy_runs(struct runs *runs)
{
	const struct gh_live_reader *reader = runs->reader;
	if (runs->count > 0 &&
	    (reader->memory >= 0 ||
	     process_vm_readv(reader->live->pid, runs->local, runs->count, runs->remote,
			      runs->count, 0) != (ssize_t)runs->size))
		for (unsigned i = 0; i < runs->count; i++)
			gh_live_reader_read(reader, (uintptr_t)runs->remote[i].iov_base,
					    runs->local[i].iov_base, runs->local[i].iov_len);
	runs->count = 0;
	runs->size = 0;
}

static void add_run(struct runs *runs, uint64_t address, uint8_t *to, uint64_t size)
{
	if (size == 0)
		return;
	if (runs->range->spilled != NULL) {
		gh_live_spill_read(runs->reader, runs->range, address - runs->range->start, size);
		return;
	}
	if (runs->count == RUNS)
		copy_runs(runs);
	runs->local[runs->count] = (struct iovec){to, (size_t)size};
	runs->remote[runs->count++] = (struct iovec){(void *)(uintptr_t)address, (size_t)size};
	runs->size += size;
}

/* Adds what is to be copied of SIZE bytes at ADDRESS, a place in a range that was copied before if
 * KEPT says so. */
static void add_extent(struct runs *runs, uint64_t address, uint8_t *to, uint64_t size, bool kept)
{
	const struct gh_live_reader *reader = runs->reader;
	bool with_parts = reader->extent == GH_LIVE_BUT_PARTS && !kept && !reader->live->bare;
	if (reader->extent == GH_LIVE_ALL || with_parts) {
		add_run(runs, address, to, size);
		return;
	}
	const struct gh_live_part *parts = reader->live->parts.list.items;
	size_t count = reader->live->parts.list.count;
	uint64_t end = address + size;
	size_t i = gh_lower_bound(count, k, parts[k].start + parts[k].size <= address);
	for (uint64_t at = address, next; at < end; at = next) {
		bool in = i < count && parts[i].start <= at;
		next = end;
		if (in && parts[i].start + parts[i].size < end)
			next = parts[i].start + parts[i].size;
		else if (!in && i < count && parts[i].start < end)
			next = parts[i].start;
		if (in == (reader->extent == GH_LIVE_PARTS))
			add_run(runs, at, to + (at - address), next - at);
		i += in;
	}
}

/* Has SIZE bytes at OFFSET of the copy of RANGE be zeros: they are none that the process has, and
 * may have been before. */
static void forget(const struct gh_live_reader *reader, struct gh_live_range *range,
		   uint64_t offset, uint64_t size)
{
	if (range->spilled != NULL)
		gh_live_spill_clear(reader->live, range, offset, size);
	else
		madvise(range->bytes + offset, (size_t)size, MADV_DONTNEED);
}

/* Copies what is there of COUNT pages from PIECE's start on, by their entries in the pagemap. */
static void copy_pages(struct runs *runs, const struct gh_live_piece *piece,
		       const uint64_t *entries, size_t count)
{
	struct gh_live_range *range = piece->range;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	size_t end;
	for (size_t start = 0; start < count; start = end) {
		end = start + 1;
		bool there = (entries[start] & (GH_PAGE_PRESENT | GH_PAGE_SWAPPED)) != 0;
		while (end < count &&
		       ((entries[end] & (GH_PAGE_PRESENT | GH_PAGE_SWAPPED)) != 0) == there)
			end++;
		uint64_t offset = piece->offset + start * page;
		if (there)
			add_extent(runs, range->start + offset, range->bytes + offset,
				   (end - start) * page, range->kept);
		else if (runs->reader->again)
			forget(runs->reader, range, offset, (end - start) * page);
	}
}

/* Copies piece NUMBER. */
static void copy_piece(void *context, uint32_t number)
{
	const struct gh_live_reader *reader = context;
	const struct gh_live_piece *piece = &reader->pieces.items[number];
	struct gh_live_range *range = piece->range;
	struct runs runs;
	uint64_t entries[PAGES];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t address = range->start + piece->offset;
	size_t size = (size_t)(piece->size / page * sizeof(entries[0]));
	off_t at = (off_t)(address / page * sizeof(entries[0]));
	runs.reader = reader;
	runs.range = range;
	runs.count = 0;
	runs.size = 0;
	if (!range->from_file && reader->pagemap >= 0 &&
	    pread(reader->pagemap, entries, size, at) == (ssize_t)size)
		copy_pages(&runs, piece, entries, size / sizeof(entries[0]));
	else
		add_extent(&runs, address, range->bytes + piece->offset, piece->size, range->kept);
	copy_runs(&runs);
}

/* Passes over what only is reserved of RANGE from DONE on. */
static uint64_t skip_reserved(const struct gh_live_reader *reader, struct gh_live_range *range,
			      uint64_t done)
{
	uint64_t at = range->start + done;
	if (range->from_file || reader->pagemap < 0)
		return done;
	uint64_t next = gh_next_page(reader->pagemap, at, range->start + range->size);
	if (reader->again && next > at)
		forget(reader, range, done, next - at);
	return next - range->start;
}

/* Adds the pieces of RANGE. */
static void add_pieces(struct gh_live_reader *reader, struct gh_live_range *range)
{
	uint64_t most = PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t done = 0;
	while ((done = skip_reserved(reader, range, done)) < range->size) {
		uint64_t left = range->size - done;
		struct gh_live_piece piece = {range, done, left < most ? left : most};
		gh_vector_push(&reader->pieces, piece);
		done += piece.size;
	}
}

bool gh_live_reader_copy(struct gh_live_reader *reader, enum gh_live_extent extent)
{
	reader->pieces.count = 0;
	reader->extent = extent;
	for (size_t i = 0; i < reader->live->ranges.count; i++)
		add_pieces(reader, &reader->live->ranges.items[i]);
	if (reader->pieces.failed || reader->pieces.count > UINT32_MAX)
		return gh_fail_memory(reader->err, reader->name);
	gh_parallel((uint32_t)reader->pieces.count, copy_piece, reader);
	return gh_live_spill_check(reader);
}

/* Copies PART, which has other objects now. */
static void copy_part(const struct gh_live_reader *reader, struct gh_live_part *part)
{
	struct gh_live_range *range = gh_live_range_find(reader->live, part->start);
	part->whole = true;
	if (range == NULL)
		return;
	uint64_t offset = part->start - range->start;
	uint64_t left = range->size - offset;
	uint64_t size = left < part->size ? left : part->size;
	if (range->spilled != NULL)
		gh_live_spill_read(reader, range, offset, size);
	else
		gh_live_reader_read(reader, part->start, range->bytes + offset, size);
}

/* Copies PART if what describes it is not as it was. */
static void copy_if_changed(const struct gh_live_reader *reader, struct gh_live_part *part)
{
	struct gh_live_copy *live = reader->live;
	const struct gh_memory memory = gh_live_copy_memory(live);
	const struct gh_live_range *range = gh_live_range_find(live, part->start);
	size_t size = live->parts.description_size;
	uint8_t now[GH_LIVE_DESCRIPTION_MAX];
	/* Ranges that are new have been copied with their parts. */
	if (!live->bare && (range == NULL || !range->kept))
		return;
	bool read = memory.read(&memory, part->description, now, size);
	if (read && memcmp(now, part->before, size) == 0)
		return;
	if (!live->bare || !read || !gh_first_words_read_part(reader, part, now))
		copy_part(reader, part);
}

/* Copies what has changed of the parts from NUMBER * PARTS on. */
static void copy_changed(void *context, uint32_t number)
{
	const struct gh_live_reader *reader = context;
	struct gh_live_parts *parts = &reader->live->parts;
	size_t start = (size_t)number * PARTS;
	for (size_t i = start; i < start + PARTS && i < parts->list.count; i++)
		copy_if_changed(reader, &parts->list.items[i]);
}

bool gh_live_reader_copy_changed(struct gh_live_reader *reader)
{
	size_t count = reader->live->parts.list.count;
	gh_parallel((uint32_t)((count + PARTS - 1) / PARTS), copy_changed, reader);
	return gh_live_spill_check(reader);
}
