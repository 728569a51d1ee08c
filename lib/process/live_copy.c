#include "lib/process/process.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/bsearch.h"
#include "lib/util/parallel.h"

/* Pages whose state is asked for at once. */
#define PAGES 4096

/* Bits of an entry of /proc/PID/pagemap: the page is in memory, or in swap. */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)

/* Memory that is copied by one thread at a time: so many pages at most, that lie together. */
struct piece {
	const struct gh_live_range *range;
	uint64_t offset; /* in the range, in bytes */
	uint64_t size;   /* in bytes */
};

struct tracer {
	struct gh_live_copy *live;
	const struct gh_arch *arch;
	struct gh_error *err;
	int memory;  /* of /proc/PID/mem; -1 while process_vm_readv does */
	int pagemap; /* -1 if it cannot be read: then each page may be in use */
	bool again;  /* the memory was copied before */
	struct GH_VECTOR(struct piece) pieces; /* of what is copied */
	char name[64];
};

static bool fail(const struct tracer *tracer, const char *expected, const char *found)
{
	return gh_fail(tracer->err, tracer->name, GH_NO_OFFSET, expected, "%s", found);
}

static int open_of(const struct tracer *tracer, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", tracer->live->pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static FILE *stream_of(const struct tracer *tracer, const char *name)
{
	int fd = open_of(tracer, name);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (file == NULL && fd >= 0)
		close(fd);
	return file;
}

/* Reads a line of /proc/PID/maps: START-END ACCESS OFFSET DEVICE INODE NAME. False if the memory is
 * not to be copied: only what the process may write, and is its own, changes. */
static bool read_map(const char *line, struct gh_live_range *range)
{
	uint64_t end, inode;
	char access[8];
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*x %*s %" SCNu64, &range->start, &end,
		   access, &inode) != 4)
		return false;
	range->size = end - range->start;
	range->from_file = inode != 0;
	return access[0] == 'r' && access[1] == 'w' && access[3] == 'p' && end > range->start;
}

/* Lists the memory, with no room for the copies yet. */
static bool list_ranges(struct tracer *tracer)
{
	char *line = NULL;
	size_t size = 0;
	FILE *maps = stream_of(tracer, "maps");
	if (maps == NULL)
		return gh_stopped_fail(tracer->live->pid, tracer->err);
	while (getline(&line, &size, maps) >= 0) {
		struct gh_live_range range = {0};
		if (read_map(line, &range))
			gh_vector_push(&tracer->live->ranges, range);
	}
	free(line);
	fclose(maps);
	return !tracer->live->ranges.failed || gh_fail_memory(tracer->err, tracer->name);
}

/* Reads up to SIZE bytes at ADDRESS. Gives how many; 0 or less if there are none. */
static ssize_t read_some(const struct tracer *tracer, uint64_t address, uint8_t *to, uint64_t size)
{
	struct iovec local = {to, (size_t)size};
	struct iovec remote = {(void *)(uintptr_t)address, (size_t)size};
	if (tracer->memory >= 0)
		return pread(tracer->memory, to, (size_t)size, (off_t)address);
	return process_vm_readv(tracer->live->pid, &local, 1, &remote, 1, 0);
}

/* Memory can be read: by process_vm_readv or, where a system does not have that call or forbids it,
 * by /proc/PID/mem. */
static bool is_readable(struct tracer *tracer)
{
	uint8_t byte;
	if (tracer->live->ranges.count == 0)
		return false;
	uint64_t start = tracer->live->ranges.items[0].start;
	if (tracer->memory < 0 && read_some(tracer, start, &byte, 1) < 0 && errno != EFAULT)
		tracer->memory = open_of(tracer, "mem");
	return read_some(tracer, start, &byte, 1) > 0;
}

/* Reads SIZE bytes at ADDRESS, as many as can be. */
static void copy(const struct tracer *tracer, uint64_t address, uint8_t *to, uint64_t size)
{
	while (size > 0) {
		ssize_t count = read_some(tracer, address, to, size);
		/* A page that cannot be read (a file's that was cut short) is left out. */
		if (count <= 0)
			count = size < GH_LEAST_PAGE ? (ssize_t)size : GH_LEAST_PAGE;
		address += (uint64_t)count;
		to += count;
		size -= (uint64_t)count;
	}
}

/* Copies what is there of COUNT pages from ADDRESS on, by their entries in the pagemap. */
static void copy_pages(const struct tracer *tracer, uint64_t address, uint8_t *to,
		       const uint64_t *entries, size_t count)
{
	size_t end;
	for (size_t start = 0; start < count; start = end) {
		end = start + 1;
		bool there = (entries[start] & (PAGE_PRESENT | PAGE_SWAPPED)) != 0;
		while (end < count &&
		       ((entries[end] & (PAGE_PRESENT | PAGE_SWAPPED)) != 0) == there)
			end++;
		uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
		if (there)
			copy(tracer, address + start * page, to + start * page,
			     (end - start) * page);
		else if (tracer->again)
			/* They may have been there before. */
			madvise(to + start * page, (end - start) * page, MADV_DONTNEED);
	}
}

/* Copies piece NUMBER. */
static void copy_piece(void *context, uint32_t number)
{
	const struct tracer *tracer = context;
	const struct piece *piece = &tracer->pieces.items[number];
	uint64_t entries[PAGES];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t address = piece->range->start + piece->offset;
	uint8_t *to = piece->range->bytes + piece->offset;
	size_t size = (size_t)(piece->size / page * sizeof(entries[0]));
	off_t at = (off_t)(address / page * sizeof(entries[0]));
	if (!piece->range->from_file && tracer->pagemap >= 0 &&
	    pread(tracer->pagemap, entries, size, at) == (ssize_t)size)
		copy_pages(tracer, address, to, entries, size / sizeof(entries[0]));
	else
		copy(tracer, address, to, piece->size);
}

/* Makes room for the copies of ranges that have none. Pages that are not copied take none. */
static bool make_room(struct tracer *tracer)
{
	struct gh_live_copy *live = tracer->live;
	live->size = 0;
	for (size_t i = 0; i < live->ranges.count; i++) {
		struct gh_live_range *range = &live->ranges.items[i];
		live->size += range->size;
		if (range->bytes != NULL)
			continue;
		void *bytes = mmap(NULL, (size_t)range->size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (bytes == MAP_FAILED)
			return gh_fail_memory(tracer->err, tracer->name);
		range->bytes = bytes;
	}
	return true;
}

static void free_ranges(struct gh_live_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->items[i].bytes != NULL)
			munmap(ranges->items[i].bytes, (size_t)ranges->items[i].size);
	gh_vector_free(ranges);
}

/* Copies all ranges, on several processors. False (ERR filled) if memory ran out. */
static bool copy_all(struct tracer *tracer)
{
	uint64_t most = PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
	tracer->pieces.count = 0;
	for (size_t i = 0; i < tracer->live->ranges.count; i++) {
		const struct gh_live_range *range = &tracer->live->ranges.items[i];
		for (uint64_t done = 0; done < range->size; done += most) {
			uint64_t left = range->size - done;
			struct piece piece = {range, done, left < most ? left : most};
			gh_vector_push(&tracer->pieces, piece);
		}
	}
	if (tracer->pieces.failed || tracer->pieces.count > UINT32_MAX)
		return gh_fail_memory(tracer->err, tracer->name);
	gh_parallel((uint32_t)tracer->pieces.count, copy_piece, tracer);
	return true;
}

/* Copies the memory while the process runs. That is not what is wanted; but the copy that is made
 * of the stopped process takes a fraction of the time where it need not be given memory. If it
 * fails, that one does, too, and says why. */
static void copy_running(struct tracer *tracer)
{
	struct gh_error err;
	struct gh_error *given = tracer->err;
	tracer->err = &err;
	if (list_ranges(tracer) && is_readable(tracer) && make_room(tracer))
		copy_all(tracer);
	tracer->err = given;
	tracer->again = true;
}

/* Lists the memory again, and takes over the room of what is as it was. */
static bool list_again(struct tracer *tracer)
{
	struct gh_live_ranges before = tracer->live->ranges;
	tracer->live->ranges = (struct gh_live_ranges){0};
	bool listed = list_ranges(tracer);
	struct gh_live_range *old = before.items;
	for (size_t i = 0, k = 0; i < tracer->live->ranges.count; i++) {
		struct gh_live_range *range = &tracer->live->ranges.items[i];
		while (k < before.count && old[k].start < range->start)
			k++;
		if (k == before.count || old[k].start != range->start ||
		    old[k].size != range->size || old[k].from_file != range->from_file)
			continue;
		range->bytes = old[k].bytes;
		old[k].bytes = NULL;
	}
	free_ranges(&before);
	return listed;
}

static bool read_entry(struct tracer *tracer)
{
	uint8_t bytes[1024];
	unsigned word = tracer->arch->pointer_size;
	int fd = open_of(tracer, "auxv");
	ssize_t size = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;
	if (fd >= 0)
		close(fd);
	if (size < 0)
		return gh_stopped_fail(tracer->live->pid, tracer->err);
	struct gh_cursor cur =
	    gh_cursor_make(bytes, (size_t)size, tracer->name, 0, tracer->arch->big_endian);
	while (gh_cursor_left(&cur) >= 2 * word) {
		uint64_t type = gh_cursor_uint(&cur, word);
		uint64_t value = gh_cursor_uint(&cur, word);
		if (type == AT_ENTRY)
			tracer->live->entry = value;
	}
	return tracer->live->entry != 0 ||
	       fail(tracer, "a process with an entry point", "none: it has ended");
}

static uint64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool copy_stopped(struct tracer *tracer)
{
	if (!list_again(tracer) || !make_room(tracer))
		return false;
	is_readable(tracer);
	return copy_all(tracer);
}

static struct tracer open_tracer(struct gh_live_copy *live, int pid, const struct gh_arch *arch,
				 struct gh_error *err)
{
	struct tracer tracer = {.live = live, .arch = arch, .err = err, .memory = -1};
	*live = (struct gh_live_copy){.pid = pid};
	snprintf(tracer.name, sizeof(tracer.name), "process %d", pid);
	tracer.pagemap = open_of(&tracer, "pagemap");
	return tracer;
}

static void close_tracer(struct tracer *tracer)
{
	if (tracer->pagemap >= 0)
		close(tracer->pagemap);
	if (tracer->memory >= 0)
		close(tracer->memory);
	gh_vector_free(&tracer->pieces);
}

bool gh_live_copy_make(struct gh_live_copy *live, int pid, const struct gh_arch *arch,
		       struct gh_error *err)
{
	struct tracer tracer = open_tracer(live, pid, arch, err);
	copy_running(&tracer);
	struct gh_stopped stopped;
	uint64_t start = now();
	bool copied = gh_stopped_make(&stopped, pid, err) && read_entry(&tracer) &&
		      copy_stopped(&tracer) &&
		      gh_stopped_registers(&stopped, arch, &live->threads, err);
	gh_stopped_release(&stopped);
	live->paused = now() - start;
	close_tracer(&tracer);
	return copied;
}

bool gh_live_copy_running(struct gh_live_copy *live, int pid, const struct gh_arch *arch,
			  struct gh_error *err)
{
	struct tracer tracer = open_tracer(live, pid, arch, err);
	bool copied = read_entry(&tracer) && list_ranges(&tracer) && make_room(&tracer) &&
		      (is_readable(&tracer) || gh_stopped_fail(pid, err)) && copy_all(&tracer);
	close_tracer(&tracer);
	return copied;
}

static bool read_live(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const struct gh_live_copy *live = memory->from;
	const struct gh_live_range *ranges = live->ranges.items;
	uint8_t *bytes = to;
	while (size > 0) {
		size_t after = gh_lower_bound(live->ranges.count, i, ranges[i].start <= address);
		const struct gh_live_range *range = after > 0 ? &ranges[after - 1] : NULL;
		if (range == NULL || address - range->start >= range->size)
			return false;
		uint64_t offset = address - range->start;
		size_t part = range->size - offset < size ? (size_t)(range->size - offset) : size;
		memcpy(bytes, range->bytes + offset, part);
		bytes += part;
		address += part;
		size -= part;
	}
	return true;
}

struct gh_memory gh_live_copy_memory(const struct gh_live_copy *live)
{
	return (struct gh_memory){.read = read_live, .from = live, .size = live->size};
}

void gh_live_copy_free(struct gh_live_copy *live)
{
	free_ranges(&live->ranges);
	gh_vector_free(&live->threads);
}
