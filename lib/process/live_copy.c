#include "lib/process/live_copy.h"

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

#include "lib/process/stopped.h"
#include "lib/util/bsearch.h"

/* Of a page, in bytes; the kernel's may be larger. */
#define PAGE 4096

/* Pages whose state is asked for at once. */
#define PAGES 4096

/* Bits of an entry of /proc/PID/pagemap: the page is in memory, or in swap. */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)

/* Bytes that are copied by one call. */
#define MOST_AT_ONCE (UINT64_C(64) << 20)

struct tracer {
	struct gh_live_copy *live;
	const struct gh_arch *arch;
	struct gh_error *err;
	int memory;  /* of /proc/PID/mem; -1 while process_vm_readv does */
	int pagemap; /* -1 if it cannot be read: then each page may be in use */
	bool again;  /* the memory was copied before */
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

/* Reads SIZE bytes at ADDRESS, as many as can be. */
static void copy(struct tracer *tracer, uint64_t address, uint8_t *to, uint64_t size)
{
	while (size > 0) {
		uint64_t part = size < MOST_AT_ONCE ? size : MOST_AT_ONCE;
		struct iovec local = {to, (size_t)part};
		struct iovec remote = {(void *)(uintptr_t)address, (size_t)part};
		ssize_t count = -1;
		if (tracer->memory < 0) {
			count = process_vm_readv(tracer->live->pid, &local, 1, &remote, 1, 0);
			/* A system may not have that call, or forbid it. */
			if (count < 0 && errno != EFAULT)
				tracer->memory = open_of(tracer, "mem");
		}
		if (count < 0 && tracer->memory >= 0)
			count = pread(tracer->memory, to, (size_t)part, (off_t)address);
		/* A page that cannot be read (a file's that was cut short) is left out. */
		if (count <= 0)
			count = size < PAGE ? (ssize_t)size : PAGE;
		address += (uint64_t)count;
		to += count;
		size -= (uint64_t)count;
	}
}

/* Copies what is there of COUNT pages from ADDRESS on, by their entries in the pagemap. */
static void copy_pages(struct tracer *tracer, uint64_t address, uint8_t *to,
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

static void copy_range(struct tracer *tracer, const struct gh_live_range *range)
{
	uint64_t entries[PAGES];
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (range->from_file) {
		copy(tracer, range->start, range->bytes, range->size);
		return;
	}
	for (uint64_t done = 0; done < range->size; done += PAGES * page) {
		uint64_t left = (range->size - done) / page;
		size_t count = left < PAGES ? (size_t)left : PAGES;
		off_t at = (off_t)((range->start + done) / page * sizeof(entries[0]));
		ssize_t size = tracer->pagemap < 0 ? -1
						   : pread(tracer->pagemap, entries,
							   count * sizeof(entries[0]), at);
		if (size == (ssize_t)(count * sizeof(entries[0])))
			copy_pages(tracer, range->start + done, range->bytes + done, entries,
				   count);
		else
			copy(tracer, range->start + done, range->bytes + done, count * page);
	}
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

static void copy_all(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->live->ranges.count; i++)
		copy_range(tracer, &tracer->live->ranges.items[i]);
}

/* Copies the memory while the process runs. That is not what is wanted; but the copy that is made
 * of the stopped process takes a fraction of the time where it need not be given memory. If it
 * fails, that one does, too, and says why. */
static void copy_running(struct tracer *tracer)
{
	const struct gh_live_copy *live = tracer->live;
	struct gh_error err;
	struct gh_error *given = tracer->err;
	uint8_t byte;
	tracer->err = &err;
	if (list_ranges(tracer) && live->ranges.count > 0) {
		const struct gh_live_range *first = &live->ranges.items[0];
		struct iovec local = {&byte, 1};
		struct iovec remote = {(void *)(uintptr_t)first->start, 1};
		if (process_vm_readv(live->pid, &local, 1, &remote, 1, 0) == 1 && make_room(tracer))
			copy_all(tracer);
	}
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
	copy_all(tracer);
	return true;
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
	bool copied = read_entry(&tracer) && list_ranges(&tracer) && make_room(&tracer);
	if (copied)
		copy_all(&tracer);
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
