#include "lib/export/core_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/trace/trace.h"
#include "lib/util/bsearch.h"
#include "lib/util/free_memory.h"
#include "lib/util/open_file.h"
#include "lib/util/parallel.h"

/* What is copied at a time, in bytes: it stays in a processor's cache. A multiple of every
 * machine's page. */
#define CHUNK (UINT64_C(1) << 18)

/* What is compared at a time, a page of most machines, and how many of these a chunk has: one for
 * each bit of a word. */
#define UNIT  4096
#define UNITS 64

/* The file has no place for what is not in memory between chunks of a mapping that are farther
 * apart, in bytes. */
#define FARTHEST (UINT64_C(64) << 20)

struct gh_live_hash {
	uint64_t low;
	uint64_t high;
};

/* A run of units that changed, kept until it can be written. */
struct kept {
	const uint8_t *bytes;
	size_t size;     /* in bytes */
	uint64_t offset; /* in the file */
};

/* One of those that copy. */
struct worker {
	struct gh_live_pages *pages;
	uint8_t *bytes; /* of a chunk; owned */
	uint8_t *room;  /* for what is kept; owned */
	size_t used;    /* of the room, in bytes */
	size_t most;    /* the same */
	struct GH_VECTOR(struct kept) kept;
	uint64_t changed; /* units, in the last round */
	struct gh_error err;
	bool failed; /* ERR is filled */
};

struct gh_live_copiers {
	struct worker workers[GH_PARALLEL_MAX];
	atomic_uint_fast64_t next; /* chunk */
	uint64_t key[UNIT / sizeof(uint64_t)];
	struct gh_live_hash zeros; /* the hash of a unit of zeros */
	size_t page;               /* size, in bytes */
};

static void add_product(struct gh_live_hash *sum, uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;
	wide product = (wide)a * b + (((wide)sum->high << 64) | sum->low);
	*sum = (struct gh_live_hash){(uint64_t)product, (uint64_t)(product >> 64)};
#else
	uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
	uint64_t left = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
	uint64_t right = (a & UINT32_MAX) * (b >> 32) + (left & UINT32_MAX);
	low = (low & UINT32_MAX) | right << 32;
	sum->low += low;
	sum->high += (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32) + (sum->low < low);
#endif
}

/* The hash NH of VMAC (draft-krovetz-vmac), with a random key: that two units which differ have the
 * same has a chance of 2^-64, whatever is in them. */
static struct gh_live_hash hash_unit(const uint64_t *key, const uint8_t *unit)
{
	struct gh_live_hash sum = {0, 0};
	for (size_t i = 0; i < UNIT / sizeof(uint64_t); i += 2) {
		uint64_t words[2];
		memcpy(words, unit + i * sizeof(uint64_t), sizeof(words));
		add_product(&sum, words[0] + key[i], words[1] + key[i + 1]);
	}
	return sum;
}

static int open_of(int pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool write_at(const struct gh_live_pages *pages, const uint8_t *bytes, size_t size,
		     uint64_t offset, struct gh_error *err)
{
	return gh_write_at(pages->fd, bytes, size, offset) ||
	       gh_fail_errno(err, pages->path, "write");
}

/* Bits of the units from START to before END. */
static uint64_t units_between(uint64_t start, uint64_t end)
{
	uint64_t upper = end < UNITS ? (UINT64_C(1) << end) - 1 : UINT64_MAX;
	return upper & ~((UINT64_C(1) << start) - 1);
}

/* Finds the next run of BITS from *START on. False if there is none. */
static bool next_run(uint64_t bits, unsigned *start, unsigned *end)
{
	uint64_t left = *start < UNITS ? bits >> *start << *start : 0;
	if (left == 0)
		return false;
	*start = (unsigned)__builtin_ctzll(left);
	uint64_t gap = ~bits & ~(units_between(0, *start));
	*end = gap != 0 ? (unsigned)__builtin_ctzll(gap) : UNITS;
	return true;
}

/* The units of the chunk at CHUNK that MAPPING has and that are in memory, or in swap. Adds those
 * of them to SAME that were not written since the last copy. */
static uint64_t find_units(const struct gh_live_pages *pages, uint64_t chunk,
			   const struct gh_core_mapping *mapping, uint64_t *same)
{
	bool tracked = pages->stopped && pages->tracked && mapping->is_own;
	uint64_t entries[UNITS];
	uint64_t page = pages->copiers->page;
	uint64_t start = mapping->start > chunk ? mapping->start : chunk;
	uint64_t end = mapping->dumped < chunk + CHUNK ? mapping->dumped : chunk + CHUNK;
	size_t size = (size_t)((end - start) / page * sizeof(*entries));
	uint64_t first = (start - chunk) / UNIT;
	uint64_t units = page / UNIT;
	uint64_t found = 0;
	if (mapping->all_pages || pages->pagemap < 0 ||
	    pread(pages->pagemap, entries, size, (off_t)(start / page * sizeof(*entries))) !=
		(ssize_t)size)
		return units_between(first, (end - chunk) / UNIT);
	for (size_t i = 0; i < size / sizeof(*entries); i++) {
		uint64_t of_page = units_between(first + i * units, first + (i + 1) * units);
		if ((entries[i] & (GH_PAGE_PRESENT | GH_PAGE_SWAPPED)) == 0)
			continue;
		found |= of_page;
		if (tracked && (entries[i] & GH_PAGE_WRITTEN) == 0)
			*same |= of_page;
	}
	return found;
}

/* Reads the units from START to before END of the chunk at CHUNK into BYTES, as the file mem gives
 * them, which has those that the process itself may not read, too. Gives those that could be read.
 */
static uint64_t read_run(const struct gh_live_pages *pages, uint64_t chunk, unsigned start,
			 unsigned end, uint8_t *bytes)
{
	uint64_t units = 0;
	while (start < end) {
		uint64_t at = (uint64_t)start * UNIT;
		ssize_t size = pread(pages->memory, bytes + at, (size_t)(end - start) * UNIT,
				     (off_t)(chunk + at));
		unsigned count = size > 0 ? (unsigned)(size / UNIT) : 0;
		units |= units_between(start, start + count);
		start += count > 0 ? count : 1;
	}
	return units;
}

/* Reads those UNITS of the chunk at CHUNK into BYTES. Gives those that could be read. */
static uint64_t read_units(const struct gh_live_pages *pages, uint64_t chunk, uint64_t units,
			   uint8_t *bytes)
{
	struct iovec local[UNITS / 2];
	struct iovec remote[UNITS / 2];
	size_t count = 0;
	ssize_t size = 0;
	uint64_t found = 0;
	unsigned end;
	for (unsigned start = 0; next_run(units, &start, &end); start = end) {
		size_t length = (size_t)(end - start) * UNIT;
		local[count] = (struct iovec){bytes + (size_t)start * UNIT, length};
		remote[count++] =
		    (struct iovec){(void *)(uintptr_t)(chunk + (uint64_t)start * UNIT), length};
		size += (ssize_t)length;
	}
	if (count == 0 || process_vm_readv(pages->pid, local, count, remote, count, 0) == size)
		return units;
	for (unsigned start = 0; next_run(units, &start, &end); start = end)
		found |= read_run(pages, chunk, start, end, bytes);
	return found;
}

/* Finds which units differ from what the file has, which is what is read of THERE, and zeros; none
 * of SAME do. */
static uint64_t find_changed(const struct gh_live_pages *pages, struct gh_live_chunk *chunk,
			     uint64_t there, uint64_t same, const uint8_t *bytes)
{
	uint64_t changed = 0;
	for (size_t i = 0; i < UNITS; i++) {
		if ((same >> i & 1) != 0)
			continue;
		struct gh_live_hash *before = &chunk->hashes[i];
		struct gh_live_hash now = {0, 0};
		if ((there >> i & 1) != 0) {
			now = hash_unit(pages->copiers->key, bytes + i * UNIT);
			now.low ^= pages->copiers->zeros.low;
			now.high ^= pages->copiers->zeros.high;
		}
		if (now.low != before->low || now.high != before->high)
			changed |= UINT64_C(1) << i;
		*before = now;
	}
	return changed;
}

/* Writes SIZE bytes to the file or, while the process is stopped, keeps them as long as there is
 * room. */
static bool store(struct worker *worker, const uint8_t *bytes, size_t size, uint64_t offset)
{
	struct kept kept = {worker->room + worker->used, size, offset};
	if (!worker->pages->stopped || worker->room == NULL || size > worker->most - worker->used ||
	    !gh_vector_push(&worker->kept, kept))
		return write_at(worker->pages, bytes, size, offset, &worker->err);
	memcpy(worker->room + worker->used, bytes, size);
	worker->used += size;
	return true;
}

static bool copy_chunk(struct worker *worker, struct gh_live_chunk *chunk)
{
	const struct gh_live_pages *pages = worker->pages;
	const struct gh_core_mapping *mappings = pages->mappings->items;
	size_t count = pages->mappings->count;
	uint64_t there = 0;
	uint64_t same = 0;
	unsigned end;
	size_t i = gh_lower_bound(count, k, mappings[k].end <= chunk->start);
	for (; i < count && mappings[i].start < chunk->start + CHUNK; i++)
		if (mappings[i].dumped > chunk->start)
			there |= find_units(pages, chunk->start, &mappings[i], &same);
	/* What the last copy had no reason to read may be anything. */
	same &= chunk->read;
	there = read_units(pages, chunk->start, there & ~same, worker->bytes);
	uint64_t changed = find_changed(pages, chunk, there, same, worker->bytes);
	chunk->read = there;
	for (unsigned start = 0; next_run(changed & ~there, &start, &end); start = end)
		memset(worker->bytes + (size_t)start * UNIT, 0, (size_t)(end - start) * UNIT);
	for (unsigned start = 0; next_run(changed, &start, &end); start = end) {
		uint64_t at = (uint64_t)start * UNIT;
		if (!store(worker, worker->bytes + at, (size_t)(end - start) * UNIT,
			   chunk->offset + at))
			return false;
	}
	worker->changed += (uint64_t)__builtin_popcountll(changed);
	return true;
}

static void work(void *context, uint32_t number)
{
	struct gh_live_copiers *copiers = context;
	struct worker *worker = &copiers->workers[number];
	struct gh_live_pages *pages = worker->pages;
	uint64_t next;
	while (!worker->failed &&
	       (next = atomic_fetch_add(&copiers->next, 1)) < pages->chunks.count)
		worker->failed = !copy_chunk(worker, &pages->chunks.items[next]);
}

/* Where the chunk at START goes in the file: as far behind the one before it, in the same mapping,
 * as in memory, or at the end. */
static uint64_t choose_offset(struct gh_live_pages *pages, const struct gh_live_chunk *before,
			      const struct gh_live_chunk *after, uint64_t start, uint64_t lowest)
{
	uint64_t gap = before != NULL ? start - before->start : 0;
	bool near = before != NULL && gap <= FARTHEST && before->start + CHUNK >= lowest;
	bool at_end = near && before->offset + CHUNK == pages->end;
	bool between = before != NULL && after != NULL &&
		       after->start - before->start == after->offset - before->offset;
	if (between || at_end) {
		uint64_t offset = before->offset + gap;
		if (offset + CHUNK > pages->end)
			pages->end = offset + CHUNK;
		return offset;
	}
	pages->end += CHUNK;
	return pages->end - CHUNK;
}

/* Adds to ALL the chunk of the first page from *AT on that is in memory, before END. */
static void add_chunk(struct gh_live_pages *pages, struct gh_live_chunks *all,
		      const struct gh_live_chunk *after, const struct gh_core_mapping *mapping,
		      uint64_t *at, uint64_t end)
{
	const struct gh_live_chunk *before = all->count > 0 ? &all->items[all->count - 1] : NULL;
	if (!mapping->all_pages && pages->pagemap >= 0)
		*at = gh_next_page(pages->pagemap, *at, end);
	if (*at >= end)
		return;
	struct gh_live_chunk chunk = {.start = *at / CHUNK * CHUNK};
	chunk.offset = choose_offset(pages, before, after, chunk.start, mapping->start);
	chunk.hashes = calloc(UNITS, sizeof(*chunk.hashes));
	if (chunk.hashes == NULL)
		all->failed = true;
	else if (!gh_vector_push(all, chunk))
		free(chunk.hashes);
	*at = chunk.start + CHUNK;
}

/* Adds chunks for what of the mappings is in memory and in none yet. Those that there are stay. */
static bool add_chunks(struct gh_live_pages *pages, struct gh_error *err)
{
	struct gh_live_chunks all = {0};
	struct gh_live_chunk *old = pages->chunks.items;
	struct gh_live_chunk *old_end = old + pages->chunks.count;
	for (size_t k = 0; k < pages->mappings->count && !all.failed; k++) {
		const struct gh_core_mapping *mapping = &pages->mappings->items[k];
		uint64_t at = mapping->start;
		while (at < mapping->dumped && !all.failed) {
			uint64_t last = all.count > 0 ? all.items[all.count - 1].start + CHUNK : 0;
			uint64_t end = mapping->dumped;
			if (at < last)
				at = last;
			else if (old < old_end && old->start <= at)
				gh_vector_push(&all, *old++);
			else if (old < old_end && old->start < end)
				add_chunk(pages, &all, old, mapping, &at, old->start);
			else
				add_chunk(pages, &all, old < old_end ? old : NULL, mapping, &at,
					  end);
		}
	}
	while (old < old_end)
		gh_vector_push(&all, *old++);
	bool added = !all.failed || gh_fail_memory(err, pages->path);
	free(pages->chunks.items);
	pages->chunks = all;
	return added;
}

void gh_live_pages_expect_stop(struct gh_live_pages *pages)
{
	struct gh_live_copiers *copiers = pages->copiers;
	unsigned width = gh_parallel_width();
	uint64_t most = gh_free_memory_find("").bytes / 2 / width;
	uint64_t all = pages->chunks.count * CHUNK;
	size_t size = (size_t)(all < most ? all : most) / CHUNK * CHUNK;
	pages->stopped = true;
	for (unsigned i = 0; size > 0 && i < width; i++) {
		void *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (room == MAP_FAILED)
			return;
		/* In large pages it is there soonest. */
		madvise(room, size, MADV_HUGEPAGE);
		copiers->workers[i].room = room;
		copiers->workers[i].most = size;
	}
}

bool gh_live_pages_open(struct gh_live_pages *pages, int pid, int fd, const char *path,
			uint64_t start, struct gh_error *err)
{
	static const uint8_t zeros[UNIT];
	struct gh_live_copiers *copiers = calloc(1, sizeof(*copiers));
	*pages = (struct gh_live_pages){
	    .pid = pid, .fd = fd, .path = path, .end = start, .copiers = copiers};
	pages->pagemap = open_of(pid, "pagemap");
	pages->memory = open_of(pid, "mem");
	if (pages->memory < 0)
		return gh_stopped_fail(pid, err);
	if (copiers == NULL)
		return gh_fail_memory(err, path);
	if (getrandom(copiers->key, sizeof(copiers->key), 0) != (ssize_t)sizeof(copiers->key))
		return gh_fail_errno(err, path, "have random numbers");
	copiers->zeros = hash_unit(copiers->key, zeros);
	copiers->page = (size_t)sysconf(_SC_PAGESIZE);
	for (unsigned i = 0; i < gh_parallel_width(); i++) {
		struct worker *worker = &copiers->workers[i];
		worker->pages = pages;
		worker->bytes = malloc(CHUNK);
		if (worker->bytes == NULL)
			return gh_fail_memory(err, path);
	}
	return true;
}

bool gh_live_pages_copy(struct gh_live_pages *pages, const struct gh_core_mappings *mappings,
			struct gh_error *err)
{
	struct gh_live_copiers *copiers = pages->copiers;
	pages->mappings = mappings;
	pages->changed = 0;
	if (!add_chunks(pages, err))
		return false;
	copiers->next = 0;
	gh_parallel(gh_parallel_width(), work, copiers);
	for (unsigned i = 0; i < gh_parallel_width(); i++) {
		struct worker *worker = &copiers->workers[i];
		pages->changed += worker->changed * UNIT;
		worker->changed = 0;
		if (!worker->failed)
			continue;
		*err = worker->err;
		return false;
	}
	return true;
}

bool gh_live_pages_write_kept(struct gh_live_pages *pages, struct gh_error *err)
{
	for (unsigned i = 0; i < gh_parallel_width(); i++) {
		const struct worker *worker = &pages->copiers->workers[i];
		for (size_t k = 0; k < worker->kept.count; k++) {
			const struct kept *kept = &worker->kept.items[k];
			if (!write_at(pages, kept->bytes, kept->size, kept->offset, err))
				return false;
		}
	}
	return true;
}

uint64_t gh_live_pages_find(const struct gh_live_pages *pages, uint64_t address, uint64_t end,
			    uint64_t *offset)
{
	const struct gh_live_chunk *chunks = pages->chunks.items;
	size_t count = pages->chunks.count;
	size_t i = gh_lower_bound(count, k, chunks[k].start + CHUNK <= address);
	*offset = 0;
	if (i == count || chunks[i].start >= end)
		return end;
	if (chunks[i].start > address)
		return chunks[i].start;
	const struct gh_live_chunk *first = &chunks[i];
	*offset = first->offset + (address - first->start);
	while (i + 1 < count &&
	       chunks[i + 1].start - first->start == chunks[i + 1].offset - first->offset)
		i++;
	return chunks[i].start + CHUNK < end ? chunks[i].start + CHUNK : end;
}

void gh_live_pages_free(struct gh_live_pages *pages)
{
	for (size_t i = 0; i < pages->chunks.count; i++)
		free(pages->chunks.items[i].hashes);
	gh_vector_free(&pages->chunks);
	for (unsigned i = 0; pages->copiers != NULL && i < GH_PARALLEL_MAX; i++) {
		struct worker *worker = &pages->copiers->workers[i];
		free(worker->bytes);
		gh_vector_free(&worker->kept);
		if (worker->room != NULL)
			munmap(worker->room, worker->most);
	}
	free(pages->copiers);
	if (pages->pagemap >= 0)
		close(pages->pagemap);
	if (pages->memory >= 0)
		close(pages->memory);
}
