#include "lib/process/dump_parts.h"
#include "lib/process/internal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/bsearch.h"
#include "lib/util/free_memory.h"
#include "lib/util/number_file.h"

static bool fail(const struct gh_live_reader *reader, const char *expected, const char *found)
{
	return gh_fail(reader->err, reader->name, GH_NO_OFFSET, expected, "%s", found);
}

/* Adds RANGE, which comes after the others. Advice that a process gives of huge pages splits its
 * memory, and may change from one look to the next. */
static void add_range(struct gh_live_ranges *ranges, const struct gh_live_range *range)
{
	struct gh_live_range *last = ranges->count > 0 ? &ranges->items[ranges->count - 1] : NULL;
	if (last != NULL && !last->from_file && !range->from_file &&
	    last->start + last->size == range->start)
		last->size += range->size;
	else
		gh_vector_push(ranges, *range);
}

/* Only what the process may write, and is its own, changes, and is to be copied. What it may not is
 * as the dynamic linker has relocated it. */
static void take_mapping(void *context, int pid, struct gh_mapping *mapping)
{
	struct gh_live_copy *live = context;
	const char *access = mapping->access;
	const struct gh_live_range range = {
	    .start = mapping->start,
	    .size = mapping->end - mapping->start,
	    .from_file = mapping->inode != 0,
	};
	(void)pid;
	if (gh_writable_add(&live->writable, mapping))
		add_range(&live->ranges, &range);
	else if (access[0] == 'r' && access[1] != 'w' && access[2] != 'x' && access[3] == 'p' &&
		 range.from_file && range.size <= GH_MOST_MAPPED)
		gh_vector_push(&live->constants, range);
}

/* Lists the memory, with no room for the copies yet. */
static bool list_ranges(struct gh_live_reader *reader)
{
	struct gh_live_copy *live = reader->live;
	live->constants.count = 0;
	live->writable.anonymous.count = live->writable.of_files.count = 0;
	if (!gh_mappings_live(live->pid, "maps", take_mapping, live))
		return gh_stopped_fail(live->pid, reader->err);
	return !live->ranges.failed || gh_fail_memory(reader->err, reader->name);
}

/* Makes room for the copies of ranges that have none. Pages that are not copied take none. */
static bool make_room(struct gh_live_reader *reader)
{
	struct gh_live_copy *live = reader->live;
	live->size = 0;
	for (size_t i = 0; i < live->ranges.count; i++) {
		struct gh_live_range *range = &live->ranges.items[i];
		live->size += range->size;
		if (range->bytes != NULL)
			continue;
		if (live->file != NULL) {
			if (!gh_live_spill_room(live, range))
				return gh_fail_errno(reader->err, reader->name, "copy to a file");
			continue;
		}
		void *bytes = mmap(NULL, (size_t)range->size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (bytes == MAP_FAILED)
			return gh_fail_memory(reader->err, reader->name);
		range->bytes = bytes;
	}
	return true;
}

static void free_ranges(struct gh_live_ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++) {
		if (ranges->items[i].bytes != NULL)
			munmap(ranges->items[i].bytes, (size_t)ranges->items[i].size);
		gh_live_spill_free_range(&ranges->items[i]);
	}
	gh_vector_free(ranges);
}

/* Gives RANGE the room of OLD, which starts where it does. If that fails, it gets its own. */
static void take_over(struct gh_live_range *range, struct gh_live_range *old)
{
	void *bytes = old->bytes;
	if (old->spilled != NULL && range->size > old->spilled->room)
		return;
	if (old->size != range->size)
		bytes = mremap(bytes, (size_t)old->size, (size_t)range->size, MREMAP_MAYMOVE);
	if (bytes == MAP_FAILED)
		return;
	range->bytes = bytes;
	range->spilled = old->spilled;
	range->kept = true;
	old->bytes = NULL;
	old->spilled = NULL;
}

/* Lists the memory again, and takes over the room of what starts where it did: heaps grow at their
 * ends. */
static bool list_again(struct gh_live_reader *reader)
{
	struct gh_live_ranges before = reader->live->ranges;
	reader->live->ranges = (struct gh_live_ranges){0};
	bool listed = list_ranges(reader);
	struct gh_live_range *old = before.items;
	for (size_t i = 0, k = 0; i < reader->live->ranges.count; i++) {
		struct gh_live_range *range = &reader->live->ranges.items[i];
		while (k < before.count && old[k].start < range->start)
			k++;
		if (k < before.count && old[k].start == range->start &&
		    old[k].from_file == range->from_file && old[k].bytes != NULL)
			take_over(range, &old[k]);
	}
	free_ranges(&before);
	return listed;
}

uint64_t gh_live_entry(int pid, const struct gh_arch *arch)
{
	uint8_t bytes[1024];
	char path[64];
	uint64_t entry = 0;
	unsigned word = arch->pointer_size;
	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, bytes, sizeof(bytes)) : -1;
	if (fd >= 0)
		close(fd);
	struct gh_cursor cur =
	    gh_cursor_make(bytes, size > 0 ? (size_t)size : 0, path, 0, arch->big_endian);
	while (gh_cursor_left(&cur) >= 2 * word) {
		uint64_t type = gh_cursor_uint(&cur, word);
		uint64_t value = gh_cursor_uint(&cur, word);
		if (type == AT_ENTRY)
			entry = value;
	}
	/* Whoever says why there is none asks errno. */
	if (size >= 0)
		errno = 0;
	return entry;
}

struct gh_process gh_live_process(const struct gh_memory *memory, const struct gh_pclntab *tab,
				  int minor, uint64_t entry)
{
	const struct gh_image *image = tab->image;
	return (struct gh_process){
	    .memory = {.source = memory, .big_endian = image->arch->big_endian},
	    .tab = tab,
	    .minor = minor,
	    .bias = gh_image_is_pie(image) ? entry - image->header.e_entry : 0,
	};
}

static bool read_entry(struct gh_live_reader *reader, const struct gh_arch *arch)
{
	reader->live->entry = gh_live_entry(reader->live->pid, arch);
	if (reader->live->entry != 0)
		return true;
	return errno != 0 ? gh_stopped_fail(reader->live->pid, reader->err)
			  : fail(reader, "a process with an entry point", "none: it has ended");
}

/* A library of the process's has its entry point elsewhere than the program, even if it has none.
 */
static bool find_library(struct gh_live_reader *reader, const struct gh_image *image)
{
	struct gh_mapped_files files = {0};
	struct gh_memory memory = gh_live_memory(&reader->live->pid);
	uint64_t bias;
	if (!gh_image_is_library(image))
		return true;
	bool listed = gh_mapped_files_live(&files, reader->live->pid) ||
		      gh_stopped_fail(reader->live->pid, reader->err);
	bool found = listed && gh_mapped_files_find(&files, &memory, image, &bias, reader->err);
	if (found)
		reader->live->entry = bias + image->header.e_entry;
	gh_mapped_files_free(&files);
	return found;
}

static struct gh_live_reader open_reader(struct gh_live_copy *live, struct gh_error *err)
{
	struct gh_live_reader reader = {.live = live, .err = err, .memory = -1};
	snprintf(reader.name, sizeof(reader.name), "process %d", live->pid);
	reader.pagemap = gh_live_reader_open(&reader, "pagemap");
	return reader;
}

static void close_reader(struct gh_live_reader *reader)
{
	if (reader->pagemap >= 0)
		close(reader->pagemap);
	if (reader->memory >= 0)
		close(reader->memory);
	gh_vector_free(&reader->pieces);
}

/* What is done while the process runs. */
struct running {
	struct gh_live_reader reader;
	enum gh_live_bare bare; /* is asked for */
	bool copied;
};

/* Finds the parts of the process by MEMORY, its own or the copy. */
static void find_parts(struct gh_live_copy *live, struct gh_memory memory)
{
	/* What counts and lists can be is bounded by it. */
	memory.size = live->size;
	struct gh_process process = gh_live_process(&memory, live->tab, live->minor, live->entry);
	gh_live_parts_find(&live->parts, &process);
	gh_process_memory_free(&process.memory);
}

/* Has the parts left out of the copy. Gives how many bytes these have: 0, and nothing is left out,
 * where they are not found. */
static uint64_t leave_out(struct gh_live_copy *live)
{
	find_parts(live, gh_live_memory(&live->pid));
	live->bare = live->parts.list.count > 0;
	return gh_live_parts_size(&live->parts);
}

/* C's memory seems to be large: there are enough bytes in what begins as malloc's does. */
static bool has_large_c(const struct gh_live_copy *live)
{
	struct gh_memory memory = gh_live_memory(&live->pid);
	struct gh_process process = gh_live_process(&memory, live->tab, live->minor, live->entry);
	bool is_large = gh_malloc_estimate(&process, &live->writable.anonymous) >= GH_LARGE_C;
	gh_process_memory_free(&process.memory);
	return is_large;
}

/* What goheap itself takes, in bytes, where a file has the copy. With less the system
 * ends it. */
#define OWN UINT64_C(48000000)

/* There is too little MEMORY for a copy of NEEDED bytes, and no disk for it, or too little even for
 * that. */
static bool fail_short(const struct gh_live_reader *reader, uint64_t needed,
		       const struct gh_free_memory *memory)
{
	char expected[160];
	snprintf(expected, sizeof(expected),
		 "%" PRIu64 " MB of free memory, or %" PRIu64
		 " and a disk at $TMPDIR, /tmp or /var/tmp, for a copy of what it has",
		 needed / 1000000, OWN / 1000000);
	return gh_fail(reader->err, reader->name, GH_NO_OFFSET, expected, "%" PRIu64 " MB%s",
		       memory->bytes / 1000000,
		       memory->in_container
			   ? " in this container: set TMPDIR, ask from outside of it, or in GDB"
			   : ": set TMPDIR, or write its core file with gcore, and ask that "
			     "elsewhere");
}

/* Has the copy, less LEFT_OUT bytes, be in a file if memory is short. False (ERR filled) if there
 * is no room for it. */
static bool find_place(struct gh_live_reader *reader, uint64_t left_out)
{
	char path[64];
	uint64_t kib;
	const struct gh_free_memory memory = gh_free_memory_find("");
	snprintf(path, sizeof(path), "/proc/%d/status", reader->live->pid);
	if (!gh_number_file_read(path, "RssAnon:", &kib))
		return true;
	uint64_t needed = kib * 1024 > left_out ? kib * 1024 - left_out : 0;
	/* A quarter is for what is made of it. */
	return needed + needed / 4 <= memory.bytes ||
	       (memory.bytes >= OWN && gh_live_spill(reader->live, needed)) ||
	       needed <= memory.bytes || fail_short(reader, needed, &memory);
}

static void copy_running(void *context)
{
	struct running *running = context;
	struct gh_live_reader *reader = &running->reader;
	int pid = reader->live->pid;
	const struct gh_image *image = reader->live->tab->image;
	running->copied = read_entry(reader, image->arch) && list_ranges(reader) &&
			  (gh_live_reader_works(reader) || gh_stopped_fail(pid, reader->err)) &&
			  find_library(reader, image);
	if (!running->copied)
		return;
	bool bare = running->bare == GH_LIVE_BARE ||
		    (running->bare == GH_LIVE_BARE_UNLESS_C && !has_large_c(reader->live));
	uint64_t left_out = bare ? leave_out(reader->live) : 0;
	running->copied =
	    find_place(reader, left_out) && make_room(reader) &&
	    gh_live_reader_copy(reader, reader->live->bare ? GH_LIVE_BUT_PARTS : GH_LIVE_ALL);
	if (running->copied)
		gh_live_spill_settle(reader->live);
}

bool gh_live_copy_running(struct gh_live_copy *live, int pid, const struct gh_pclntab *tab,
			  int minor, enum gh_live_bare bare, struct gh_error *err)
{
	*live = (struct gh_live_copy){.pid = pid, .tab = tab, .minor = minor};
	live->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct running running = {.reader = open_reader(live, err), .bare = bare};
	gh_work_last_in_turn(copy_running, &running);
	close_reader(&running.reader);
	return running.copied;
}

/* The one of LIST that has ADDRESS; NULL for none. */
static struct gh_live_range *find_range(const struct gh_live_ranges *list, uint64_t address)
{
	struct gh_live_range *ranges = list->items;
	size_t after = gh_lower_bound(list->count, i, ranges[i].start <= address);
	struct gh_live_range *range = after > 0 ? &ranges[after - 1] : NULL;
	return range != NULL && address - range->start < range->size ? range : NULL;
}

struct gh_live_range *gh_live_range_find(const struct gh_live_copy *live, uint64_t address)
{
	return find_range(&live->ranges, address);
}

/* What does not change need not be copied while the process stands. Once that has ended it cannot
 * be read. */
static bool read_constant(const struct gh_live_copy *live, uint64_t address, void *to, size_t size)
{
	struct gh_memory memory = gh_live_memory(&live->pid);
	const struct gh_live_range *range = find_range(&live->constants, address);
	return range != NULL && range->size - (address - range->start) >= size &&
	       memory.read(&memory, address, to, size);
}

static bool read_live(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const struct gh_live_copy *live = memory->from;
	uint8_t *bytes = to;
	while (size > 0) {
		size_t most = size;
		size_t part =
		    live->bare ? gh_first_words_fill(live, address, bytes, size, &most) : 0;
		if (part == 0) {
			const struct gh_live_range *range = gh_live_range_find(live, address);
			if (range == NULL)
				return read_constant(live, address, bytes, size);
			uint64_t offset = address - range->start;
			part = range->size - offset < most ? (size_t)(range->size - offset) : most;
			memcpy(bytes, range->bytes + offset, part);
		}
		bytes += part;
		address += part;
		size -= part;
	}
	return true;
}

/* The offset of the first page that was copied of RANGE, from that at OFFSET on; its size or more
 * if there is none. Of copies in memory goheap's own pagemap tells. */
static uint64_t next_copied(const struct gh_live_copy *live, const struct gh_live_range *range,
			    uint64_t offset)
{
	uint64_t bytes = (uintptr_t)range->bytes;
	return range->spilled != NULL
		   ? gh_live_spill_next(live, range, offset)
		   : gh_next_page(live->pagemap, bytes + offset, bytes + range->size) - bytes;
}

/* Gives the next page that was copied. */
static bool next_live(const struct gh_memory *memory, uint64_t *address, uint64_t *size)
{
	const struct gh_live_copy *live = memory->from;
	const struct gh_live_range *ranges = live->ranges.items;
	size_t count = live->ranges.count;
	size_t i = gh_lower_bound(count, k, ranges[k].start + ranges[k].size <= *address);
	for (; i < count; i++) {
		uint64_t at = *address > ranges[i].start ? *address - ranges[i].start : 0;
		uint64_t page = next_copied(live, &ranges[i], at - at % GH_LEAST_PAGE);
		if (page >= ranges[i].size)
			continue;
		*address = ranges[i].start + (page > at ? page : at);
		*size = ranges[i].start + page + GH_LEAST_PAGE - *address;
		return true;
	}
	return false;
}

struct gh_memory gh_live_copy_memory(const struct gh_live_copy *live)
{
	return (struct gh_memory){
	    .read = read_live, .next = next_live, .from = live, .size = live->size};
}

/* Copies the memory of the process, which is stopped: the parts later, when it is known which of
 * them have changed. */
static bool copy_stopped(struct gh_live_reader *reader)
{
	return list_again(reader) && make_room(reader) &&
	       gh_live_reader_copy(reader, GH_LIVE_BUT_PARTS) &&
	       gh_live_reader_copy_changed(reader);
}

static bool copy_traced(const struct gh_stopped *stopped, void *context, struct gh_error *err)
{
	struct gh_live_reader *reader = context;
	struct gh_live_copy *live = reader->live;
	return copy_stopped(reader) && gh_stopped_registers(stopped, live->tab->image->arch,
							    &live->threads, &live->vectors, err);
}

/* Has processes that are forked get the copies, or not: each page that is written while another
 * process has it, too, is copied for that first. */
static void advise_fork(const struct gh_live_copy *live, int advice)
{
	for (size_t i = 0; i < live->ranges.count; i++)
		madvise(live->ranges.items[i].bytes, (size_t)live->ranges.items[i].size, advice);
}

bool gh_live_copy_stop(struct gh_live_copy *live, struct gh_error *err)
{
	struct gh_live_reader reader = open_reader(live, err);
	reader.again = true;
	find_parts(live, live->bare ? gh_live_memory(&live->pid) : gh_live_copy_memory(live));
	gh_live_reader_works(&reader);
	/* A watchdog is forked. */
	advise_fork(live, MADV_DONTFORK);
	bool read =
	    live->bare ? gh_first_words_read(&reader) : gh_live_reader_copy(&reader, GH_LIVE_PARTS);
	bool copied = read && gh_stopped_run(live->pid, copy_traced, &reader, &live->paused, err);
	advise_fork(live, MADV_DOFORK);
	close_reader(&reader);
	return copied;
}

void gh_live_copy_free(struct gh_live_copy *live)
{
	free_ranges(&live->ranges);
	gh_live_spill_free(live);
	gh_vector_free(&live->parts.list);
	free(live->parts.words);
	gh_vector_free(&live->constants);
	gh_writable_free(&live->writable);
	gh_vector_free(&live->threads);
	if (live->pagemap > 0)
		close(live->pagemap);
	free(live->vectors);
}
