/* Fuzz target: what reads the heap of a process. The input's first byte says of what release and
 * byte order it is, the others are its memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/process/process.h"
#include "tests/fuzz/process_input.h"
#include "tests/fuzz/target.h"
#include "tests/unit/dumpwalk.h"

/* Where things are in the memory of the seeds, from PROCESS_ADDRESS; some of it is elsewhere in the
 * process, as an arena is larger than any seed. */
enum {
	ALLSPANS = 0x60, /* after the heap's sweepgen, 4 bytes */
	VARIABLES = 0x80,
	LIST = 0x1000,
	SPANS = 0x1100,
	SPAN_STEP = 0x100,
	BITS = 0x1600,
	SPECIALS = 0x1700,
	CLOSURE = 0x17c0,
	TYPE = 0x1800,
	MASK = 0x1840,
	DEFER = 0x1880,
	MODULE = 0x1900,
	QUEUE = 0x1a00,
	ARENAS = 0x1c00,
	BUCKETS = 0x1e00,
	BUCKET_STEP = 0x100,
	PAGES = 0x2000, /* of the spans, a page each */
	NSPANS = 4,
	ARENA = 0xa000,
	CHUNKS = 0xb000, /* of C's malloc */
	CACHE = CHUNKS + 16 + 64 * 2,
	SIZE = 0xc000,
};

/* Chunks, each after the one before: a thread's cache, which has the third; two blocks; one that is
 * free; two blocks of which the second has one in a short list; and the top chunk. */
static const unsigned chunks[] = {0x290, 0x40, 0x40, 0x60, 0x40, 0x20, 0x20};

/* Where the arena is, and what is there: its bitmap, noMorePtrs, and the spans of its pages in two
 * releases. */
#define ARENA_ADDRESS 0x20000000
#define WINDOW        0x400
static const uint32_t windows[] = {0, 1048576, 1064960, 2097152};

static const int minors[] = {15, 19, 21, 22, 24, 27};

enum { NMINORS = sizeof(minors) / sizeof(minors[0]) };

static struct processmaker describe(uint8_t variant)
{
	int minor = minors[(variant >> 1) % NMINORS];
	return (struct processmaker){
	    .what = {.format = SYNTHETIC_1_20, .word = 8, .big_endian = variant & 1},
	    .minor = minor < 23 ? 22 : 25,
	    .link_register = variant & 1,
	};
}

static void put(struct processmaker *maker, unsigned place, uint64_t value, unsigned size)
{
	process_put(maker, PROCESS_ADDRESS + place, value, size);
}

/* Where mspan has its fields, and how large its counts are. */
struct layout {
	unsigned free_index, nelems, alloc_bits, sweepgen, class, elemsize, specials, count;
};

static struct layout layout_of(int minor)
{
	if (minor >= 22)
		return (struct layout){52, 50, 64, 88, 98, 104, 128, 2};
	if (minor == 21)
		return (struct layout){160, 56, 72, 96, 106, 112, 136, 8};
	return (struct layout){minor == 19 ? 136 : 48, 56, 72, 88, 98, 104, 128, 8};
}

/* Small elements with and without pointers, some with a header, and one that fills its span. */
static void put_span(struct processmaker *maker, int minor, unsigned number)
{
	static const unsigned sizes[NSPANS] = {64, 48, 1024, 8192};
	static const uint8_t classes[NSPANS] = {10, 9, 64, 0};
	struct layout layout = layout_of(minor);
	unsigned at = SPANS + number * SPAN_STEP;
	uint64_t nelems = number < 2 ? 100 : 8192 / sizes[number];
	put(maker, LIST + number * 8, PROCESS_ADDRESS + at, 8);
	put(maker, at + 24, PROCESS_ADDRESS + PAGES + number * 0x2000, 8);
	put(maker, at + 32, 1, 8);
	put(maker, at + layout.nelems, nelems, layout.count);
	put(maker, at + layout.free_index, nelems / 2, layout.count);
	put(maker, at + layout.alloc_bits, PROCESS_ADDRESS + BITS, 8);
	put(maker, at + layout.alloc_bits + 8, PROCESS_ADDRESS + BITS + 16, 8);
	put(maker, at + layout.sweepgen, number == 1 ? 6 : 8, 4);
	put(maker, at + layout.class, classes[number], 1);
	put(maker, at + layout.class + 1, 1, 1);
	put(maker, at + layout.elemsize, sizes[number], 8);
	put(maker, at + layout.specials, number == 0 ? PROCESS_ADDRESS + SPECIALS : 0, 8);
	put(maker, at + 152, minor >= 22 && number == 3 ? PROCESS_ADDRESS + TYPE : 0,
	    minor >= 22 ? 8 : 1);
	put(maker, ARENA + WINDOW * (minor < 20 ? 3U : 2U) + (number + 1) * 8, PROCESS_ADDRESS + at,
	    8);
}

/* A finalizer, a cleanup, a weak pointer and a sample, each after the one before. */
static void put_specials(struct processmaker *maker, int minor)
{
	const uint8_t kinds[] = {1, 2, 6, minor < 23 ? 2 : 3};
	for (unsigned i = 0; i < 4; i++) {
		unsigned at = SPECIALS + i * 48;
		unsigned fields = at + (minor < 24 ? 16 : 24);
		put(maker, at, i < 3 ? PROCESS_ADDRESS + at + 48 : 0, 8);
		put(maker, at + 8, i * 64, minor < 24 ? 2 : 8);
		put(maker, at + (minor < 24 ? 10 : 16), kinds[i] + (minor == 27 ? 1U : 0U), 1);
		put(maker, fields, PROCESS_ADDRESS + (i < 3 ? CLOSURE : BUCKETS), 8);
	}
	put(maker, CLOSURE, SYNTHETIC_TEXT + 0x50, 8);
	put(maker, QUEUE + 16, 1, 4);
	put(maker, QUEUE + 24, PROCESS_ADDRESS + CLOSURE, 8);
	put(maker, QUEUE + 32, PROCESS_ADDRESS + PAGES, 8);
	put(maker, 0x48, PROCESS_ADDRESS + QUEUE, 8);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash += value;
	hash += hash << 10;
	return hash ^ hash >> 6;
}

/* Two stacks that allocate, of two frames each, one of which is in no function. */
static void put_buckets(struct processmaker *maker)
{
	for (unsigned i = 0; i < 2; i++) {
		unsigned at = BUCKETS + i * BUCKET_STEP;
		const uint64_t stack[] = {SYNTHETIC_TEXT + 0x50 + i, 0x10 + i * 0x1000};
		uint64_t hash = mix(mix(mix(0, stack[0]), stack[1]), 64);
		hash += hash << 3;
		put(maker, at + 8, i == 0 ? PROCESS_ADDRESS + at + BUCKET_STEP : 0, 8);
		put(maker, at + 16, 1, 8);
		put(maker, at + 24, hash ^ hash >> 11, 8);
		put(maker, at + 32, 64, 8);
		put(maker, at + 40, 2, 8);
		put(maker, at + 48, stack[0], 8);
		put(maker, at + 56, stack[1], 8);
		put(maker, at + 64, 3, 8);
		put(maker, at + 72, 1, 8);
	}
	put(maker, 0x50, PROCESS_ADDRESS + BUCKETS, 8);
}

/* C's memory, in which the first block leads to the second, and an object of Go's to the first. */
static void put_chunks(struct processmaker *maker)
{
	unsigned at = CHUNKS;
	for (unsigned i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		put(maker, at + 8, chunks[i] | (i == 4 ? 0 : 1), 8);
		at += chunks[i];
	}
	put(maker, at + 8, (SIZE - at) | 1, 8);
	put(maker, 0x58, PROCESS_ADDRESS + at, 8); /* an arena's pointer to the top chunk */
	put(maker, CACHE + 2 * 8, PROCESS_ADDRESS + CHUNKS + 0x290 + 0x40 + 16, 8);
	put(maker, CHUNKS + 0x290 + 16, PROCESS_ADDRESS + CHUNKS + 0x290 + 2 * 0x40 + 0x60 + 16, 8);
	put(maker, PAGES + 0x2000, PROCESS_ADDRESS + CHUNKS + 0x290 + 16, 8);
}

static void put_heap(struct processmaker *maker, int minor)
{
	process_resize(maker, SIZE);
	put_chunks(maker);
	put(maker, ALLSPANS - 8, 8, 4);
	put(maker, ALLSPANS, PROCESS_ADDRESS + LIST, 8);
	put(maker, ALLSPANS + 8, NSPANS, 8);
	put(maker, ALLSPANS + 16, NSPANS, 8);
	/* mheap_.arenas[0], which the variables have no room for otherwise. */
	put(maker, ALLSPANS + 24, PROCESS_ADDRESS + ARENAS, 8);
	put(maker, ARENAS + (PROCESS_ADDRESS >> 26) * 8, ARENA_ADDRESS, 8);
	for (unsigned i = 0; i < NSPANS; i++)
		put_span(maker, minor, i);
	put_specials(maker, minor);
	put_buckets(maker);
	put(maker, BITS, UINT64_C(0x5555555555555555), 8);
	put(maker, BITS + 16, UINT64_C(0x3333333333333333), 8);
	put(maker, TYPE, 512, 8);
	put(maker, TYPE + 8, 256, 8);
	put(maker, TYPE + 32, PROCESS_ADDRESS + MASK, 8);
	put(maker, MASK, 0x11, 4);
	for (unsigned i = 0; i < 8; i++)
		put(maker, PAGES + 2 * 0x2000 + i * 1024, PROCESS_ADDRESS + TYPE, 8);
	for (unsigned i = 0; i < 128; i += 8)
		put(maker, PAGES + 0x2000 - 128 - (minor == 27 ? 128U : 0U) + i,
		    UINT64_C(0x0101010101010101), 8);
	memset(maker->bytes + ARENA, 0xff, 512);
	/* A deferred call, and a panic, that lead to themselves. */
	put(maker, DEFER + 24, PROCESS_ADDRESS + CLOSURE, 8);
	put(maker, DEFER + (minor < 22 ? 40 : 32), PROCESS_ADDRESS + DEFER, 8);
	process_put(maker, process_goroutine(1) + 40, PROCESS_ADDRESS + DEFER, 8);
	process_put(maker, process_goroutine(2) + 32, PROCESS_ADDRESS + DEFER, 8);
	/* data to ebss, gcdatamask and gcbssmask, and next, which leads to itself, too. */
	put(maker, MODULE + 16, PROCESS_ADDRESS + 0x800, 8);
	put(maker, MODULE + 24, PROCESS_ADDRESS + 0x1000, 8);
	put(maker, MODULE + 32, PROCESS_ADDRESS, 8);
	put(maker, MODULE + 40, PROCESS_ADDRESS + VARIABLES, 8);
	put(maker, MODULE + (minor < 23 ? 112 : 104), PROCESS_ADDRESS + MODULE, 8);
	put(maker, MODULE + 64, (0x1000 - 0x800) / 8, 4);
	put(maker, MODULE + 72, PROCESS_ADDRESS + MASK, 8);
	put(maker, MODULE + 80, VARIABLES / 8, 4);
	put(maker, MODULE + 88, PROCESS_ADDRESS + MASK, 8);
}

uint8_t *fuzz_seed(int number, size_t *size)
{
	if (number >= 2 * NMINORS)
		return NULL;
	struct processmaker maker = describe((uint8_t)number);
	process_make(&maker);
	put_heap(&maker, minors[number >> 1]);
	return process_seed(&maker, (uint8_t)number, size);
}

/* The arena's windows are in the memory, too. */
static bool read_memory(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const struct processmaker *maker = memory->from;
	uint64_t offset = address - PROCESS_ADDRESS;
	for (unsigned i = 0; i < sizeof(windows) / sizeof(windows[0]); i++)
		if (address - ARENA_ADDRESS - windows[i] < WINDOW)
			offset = ARENA + i * WINDOW + (address - ARENA_ADDRESS - windows[i]);
	if (offset > maker->size || size > maker->size - offset)
		return false;
	memcpy(to, maker->bytes + offset, size);
	return true;
}

/* Reads the dump of a process of so many bytes: objects do not overlap, and it is not much larger.
 */
static void check(int fd, uint64_t memory)
{
	struct gh_dump dump;
	struct gh_error err;
	off_t size = lseek(fd, 0, SEEK_END);
	require(size >= 0 && (uint64_t)size <= 200 * memory + 65536);
	require(gh_dump_open_fd(&dump, fd, "heap", &err));
	require(dump.warning.text[0] == '\0' && dump.damage.overlapping_objects == 0);
	dump_walk(&dump);
	gh_dump_close(&dump);
}

static void read_process(const struct processmaker *maker, struct gh_pclntab *tab, uint8_t variant)
{
	const struct gh_memory memory = {.read = read_memory, .from = maker, .size = maker->size};
	struct gh_memory_part malloc = {PROCESS_ADDRESS + CHUNKS, PROCESS_ADDRESS + maker->size};
	struct gh_memory_part variables = {PROCESS_ADDRESS, PROCESS_ADDRESS + 0x1000};
	const struct gh_writable writable = {.anonymous = {.items = &malloc, .count = 1},
					     .of_files = {.items = &variables, .count = 1}};
	const struct gh_registers threads[] = {
	    {.pc = SYNTHETIC_TEXT + 0x60, .sp = process_stack(1)},
	};
	struct gh_process process = {
	    .memory = {.source = &memory, .big_endian = maker->what.big_endian},
	    .tab = tab,
	    .minor = minors[(variant >> 1) % NMINORS],
	    .threads = threads,
	    .nthreads = 1,
	    .writable = maker->size > CHUNKS ? &writable : NULL,
	};
	struct gh_heap_losses losses;
	struct gh_error err;
	struct gh_moduledata *module = &tab->module;
	module->address = PROCESS_ADDRESS + MODULE;
	module->bss = module->noptrbss = PROCESS_ADDRESS;
	module->ebss = module->enoptrbss = PROCESS_ADDRESS + VARIABLES;
	module->data = PROCESS_ADDRESS + 0x800;
	module->edata = PROCESS_ADDRESS + 0x1000;
	int fd = memfd_create("heap", MFD_CLOEXEC);
	if (gh_heap_dump_write(fd, GH_HEAP_WHOLE, "heap", &process, "go1.0", &losses, &err))
		check(fd, memory.size);
	else
		close(fd);
	gh_process_memory_free(&process.memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	process_input(data, size, describe, read_process);
	return 0;
}
