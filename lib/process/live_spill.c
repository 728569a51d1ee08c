#include "lib/process/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/util/open_file.h"

/* Memory that is read at once, in bytes: whole pages. */
#define AT_ONCE (1 << 16)

/* Heaps grow at their ends: what a range of LARGE bytes or more may grow by until it is copied for
 * the second time. It takes no room on a disk before it is used. */
#define LARGE  (4 << 20)
#define GROWTH (UINT64_C(1) << 30)

bool gh_live_spill(struct gh_live_copy *live, uint64_t size)
{
	struct gh_spill_file *file = calloc(1, sizeof(*file));
	int fd = file != NULL ? gh_open_temporary_on_disk(size) : -1;
	if (fd < 0) {
		free(file);
		return false;
	}
	file->fd = fd;
	live->file = file;
	return true;
}

/* The bytes of what tells which pages of a copy that has ROOM were copied. */
static size_t pages_size(uint64_t room)
{
	return (size_t)(room / GH_LEAST_PAGE + 1) * sizeof(uint64_t);
}

/* What tells that, nothing yet. It takes memory as it is used. */
static uint64_t *make_pages(uint64_t room)
{
	void *pages = mmap(NULL, pages_size(room), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return pages != MAP_FAILED ? pages : NULL;
}

static void free_spilled(struct gh_spilled_range *spilled)
{
	if (spilled != NULL && spilled->pages != NULL)
		munmap(spilled->pages, pages_size(spilled->room));
	free(spilled);
}

bool gh_live_spill_room(struct gh_live_copy *live, struct gh_live_range *range)
{
	struct gh_spill_file *file = live->file;
	struct gh_spilled_range *spilled = calloc(1, sizeof(*spilled));
	if (spilled == NULL)
		return false;
	*spilled = (struct gh_spilled_range){
	    .place = file->size,
	    .room = range->size + (range->size >= LARGE ? GROWTH : 0),
	};
	spilled->pages = make_pages(spilled->room);
	bool made =
	    spilled->pages != NULL && ftruncate(file->fd, (off_t)(file->size + spilled->room)) == 0;
	void *bytes = made ? mmap(NULL, (size_t)range->size, PROT_READ, MAP_SHARED, file->fd,
				  (off_t)spilled->place)
			   : MAP_FAILED;
	if (bytes == MAP_FAILED) {
		free_spilled(spilled);
		return false;
	}
	file->size += spilled->room;
	range->spilled = spilled;
	range->bytes = bytes;
	return true;
}

/* A number that other contents of the page at BYTES hardly have: never 0. */
static uint64_t number_of(const uint8_t *bytes)
{
	uint64_t sums[4] = {1, 2, 3, 4};
	for (size_t i = 0; i < GH_LEAST_PAGE; i += sizeof(sums)) {
		for (size_t k = 0; k < 4; k++) {
			uint64_t word;
			memcpy(&word, bytes + i + k * sizeof(word), sizeof(word));
			sums[k] = (sums[k] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
			sums[k] ^= sums[k] >> 29;
		}
	}
	uint64_t sum = 0;
	for (size_t k = 0; k < 4; k++) {
		sum = (sum ^ sums[k]) * UINT64_C(0xff51afd7ed558ccd);
		sum ^= sum >> 32;
	}
	return sum | 1;
}

static void write_pages(struct gh_spill_file *file, const uint8_t *bytes, size_t size, uint64_t at)
{
	if (!gh_write_at(file->fd, bytes, size, at))
		__atomic_store_n(&file->error, errno, __ATOMIC_RELAXED);
}

/* Writes those of the pages in the SIZE BYTES at OFFSET of RANGE that are not in FILE. */
static void keep_pages(struct gh_spill_file *file, const struct gh_live_range *range,
		       uint64_t offset, const uint8_t *bytes, size_t size)
{
	uint64_t *pages = range->spilled->pages + offset / GH_LEAST_PAGE;
	uint64_t place = range->spilled->place + offset;
	size_t start = 0;
	size_t end = 0;
	for (; end < size; end += GH_LEAST_PAGE) {
		uint64_t number = number_of(bytes + end);
		if (pages[end / GH_LEAST_PAGE] != number) {
			pages[end / GH_LEAST_PAGE] = number;
			continue;
		}
		write_pages(file, bytes + start, end - start, place + start);
		start = end + GH_LEAST_PAGE;
	}
	if (start < end)
		write_pages(file, bytes + start, end - start, place + start);
}

void gh_live_spill_read(const struct gh_live_reader *reader, struct gh_live_range *range,
			uint64_t offset, uint64_t size)
{
	uint8_t bytes[AT_ONCE];
	while (size > 0) {
		size_t some = size < AT_ONCE ? (size_t)size : AT_ONCE;
		memset(bytes, 0, some);
		gh_live_reader_read(reader, range->start + offset, bytes, some);
		keep_pages(reader->live->file, range, offset, bytes, some);
		offset += some;
		size -= some;
	}
}

/* The page, of those that the copy of RANGE may have, from number PAGE on that FILE has something
 * of; the number of all if there is none. Takes no time for what only is reserved. */
static uint64_t next_written(const struct gh_spill_file *file, const struct gh_live_range *range,
			     uint64_t page)
{
	uint64_t place = range->spilled->place;
	uint64_t count = range->size / GH_LEAST_PAGE;
	off_t data = lseek(file->fd, (off_t)(place + page * GH_LEAST_PAGE), SEEK_DATA);
	uint64_t next = data < 0 ? count : ((uint64_t)data - place) / GH_LEAST_PAGE;
	return next < count ? next : count;
}

uint64_t gh_live_spill_next(const struct gh_live_copy *live, const struct gh_live_range *range,
			    uint64_t offset)
{
	const uint64_t *pages = range->spilled->pages;
	uint64_t count = range->size / GH_LEAST_PAGE;
	uint64_t page = offset / GH_LEAST_PAGE;
	while (page < count && pages[page] == 0) {
		uint64_t next = next_written(live->file, range, page);
		page = next > page ? next : page + 1;
	}
	return page < count ? page * GH_LEAST_PAGE : range->size;
}

void gh_live_spill_clear(struct gh_live_copy *live, struct gh_live_range *range, uint64_t offset,
			 uint64_t size)
{
	uint64_t *pages = range->spilled->pages;
	uint64_t end = offset + size;
	uint64_t next;
	for (; (next = gh_live_spill_next(live, range, offset)) < end; offset = next) {
		uint64_t start = next;
		for (; next < end && pages[next / GH_LEAST_PAGE] != 0; next += GH_LEAST_PAGE)
			pages[next / GH_LEAST_PAGE] = 0;
		if (fallocate(live->file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)(range->spilled->place + start), (off_t)(next - start)) != 0)
			__atomic_store_n(&live->file->error, errno, __ATOMIC_RELAXED);
	}
}

bool gh_live_spill_check(const struct gh_live_reader *reader)
{
	const struct gh_spill_file *file = reader->live->file;
	if (file == NULL || file->error == 0)
		return true;
	errno = file->error;
	return gh_fail_errno(reader->err, "the temporary file for a copy of its memory", "write");
}

void gh_live_spill_settle(const struct gh_live_copy *live)
{
	if (live->file != NULL)
		fdatasync(live->file->fd);
}

void gh_live_spill_free_range(struct gh_live_range *range)
{
	free_spilled(range->spilled);
	range->spilled = NULL;
}

void gh_live_spill_free(struct gh_live_copy *live)
{
	if (live->file != NULL)
		close(live->file->fd);
	free(live->file);
	live->file = NULL;
}
