#include <string.h>

#include "tests/unit/heapmaker.h"
#include "tests/unit/suites.h"

enum { FRAMES = 4, FRAME_SIZE = MADE_STACKS_SIZE / FRAMES };

#define SEGMENTS UINT64_C(0x60000)

/* A frame or segment. */
struct region {
	uint64_t address;
	unsigned words;
	uint64_t contents[MADE_WORDS];
	bool listed[MADE_WORDS]; /* by word: it is a pointer of the record's */
};

static struct region frames[FRAMES], data, bss;

static void fill_region(struct region *region, uint64_t address)
{
	*region = (struct region){.address = address, .words = 1 + made_random(MADE_WORDS)};
	for (unsigned i = 0; i < region->words; i++) {
		region->contents[i] = made_word();
		region->listed[i] = made_random(2);
	}
}

void made_fill_regions(void)
{
	for (unsigned i = 0; i < FRAMES; i++)
		fill_region(&frames[i], MADE_STACKS + FRAME_SIZE * i);
	fill_region(&data, SEGMENTS);
	fill_region(&bss, SEGMENTS + 0x1000);
}

static void put_region_fields(const struct region *region)
{
	for (unsigned i = 0; i < region->words; i++)
		if (region->listed[i])
			made_put_field(NULL, i, 0);
	maker_number(&made.maker, 0);
}

static void put_segment(unsigned tag, const struct region *region)
{
	maker_numbers(&made.maker, 2, (const uint64_t[]){tag, region->address});
	made_put_contents(region->contents, region->words, 0);
	put_region_fields(region);
}

static void put_frame(unsigned depth, uint64_t child_sp, const struct region *frame)
{
	maker_numbers(&made.maker, 4, (const uint64_t[]){5, frame->address, depth, child_sp});
	made_put_contents(frame->contents, frame->words, 0);
	maker_numbers(&made.maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401018});
	maker_text(&made.maker, "main.f");
	put_region_fields(frame);
}

/* Expects a root, if ADDRESS is in an object. */
static void expect(enum gh_root_kind kind, unsigned number, uint64_t offset, uint64_t address,
		   bool conservative)
{
	uint32_t object = address != 0 ? made_find(address) : GH_HEAP_NONE;
	ck_assert_uint_lt(made.nroots, MADE_ROOTS);
	if (object != GH_HEAP_NONE)
		made.roots[made.nroots++] =
		    (struct made_root){object, conservative, kind, number, offset};
}

/* Frames that a pointer on a stack leads to, as far as they were met yet. */
static bool met[FRAMES];

static bool meet(uint64_t address)
{
	for (unsigned i = 0; i < FRAMES; i++)
		if (!met[i] && address >= frames[i].address &&
		    address < frames[i].address + frames[i].words * made.maker.word &&
		    made_find(address) == GH_HEAP_NONE)
			return met[i] = true;
	return false;
}

static void put_goroutine(unsigned number)
{
	uint64_t words[4] = {made_word(), made_word(), made_word(), made_word()};
	maker_numbers(&made.maker, 6, (const uint64_t[]){4, 0x9000 + number, 0, number + 1, 0, 4});
	maker_numbers(&made.maker, 3, (const uint64_t[]){0, 0, 0});
	maker_text(&made.maker, "select");
	maker_numbers(&made.maker, 4, words);
	expect(GH_ROOT_GOROUTINE, number, GH_ROOT_CONTEXT, words[0], false);
	expect(GH_ROOT_GOROUTINE, number, GH_ROOT_TOP_DEFER, words[2], false);
	expect(GH_ROOT_GOROUTINE, number, GH_ROOT_TOP_PANIC, words[3], false);
	meet(words[0]);
	meet(words[2]);
	meet(words[3]);
}

/* The words at the end of a frame that may be a variable's no more: on amd64, which has the return
 * address and the frame pointer there. */
static unsigned saved_words(void)
{
	return made.maker.word == 8 && !made.maker.big_endian ? 2 : 0;
}

static void expect_region(enum gh_root_kind kind, unsigned number, const struct region *region,
			  bool listed)
{
	for (unsigned i = 0; i < region->words; i++)
		if (region->listed[i] == listed && (listed || i + saved_words() < region->words))
			expect(kind, number, i * made.maker.word, region->contents[i], !listed);
}

/* Until nothing is met any more: what a frame that was met holds is met as well. */
void made_expect_reached(void)
{
	for (bool more = true; more;) {
		more = false;
		for (unsigned i = 0; i < FRAMES; i++)
			for (unsigned j = 0; j < frames[i].words; j++)
				if (frames[i].listed[j] ||
				    (met[i] && j + saved_words() < frames[i].words))
					more = meet(frames[i].contents[j]) || more;
	}
	for (unsigned i = 0; i < FRAMES; i++)
		if (met[i])
			expect_region(GH_ROOT_FRAME, i, &frames[i], false);
}

/* Two goroutines with two frames each, a defer and a panic. */
static void put_stacks(void)
{
	memset(met, 0, sizeof(met));
	for (unsigned i = 0; i < FRAMES; i++) {
		uint64_t child = i % 2 == 1 ? frames[i - 1].address : 0;
		if (i % 2 == 0)
			put_goroutine(i / 2);
		put_frame(i % 2, child, &frames[i]);
		expect_region(GH_ROOT_FRAME, i, &frames[i], true);
		if (i % 2 == 0)
			continue;
		uint64_t closure = made_word(), argument = made_word();
		maker_numbers(&made.maker, 8,
			      (const uint64_t[]){14, 1, 0x9000 + i / 2, 0, 0, closure, 0, 0});
		maker_numbers(&made.maker, 7,
			      (const uint64_t[]){15, 1, 0x9000 + i / 2, 2, argument, 0, 0});
		expect(GH_ROOT_DEFER, i / 2, 0, closure, false);
		expect(GH_ROOT_PANIC, i / 2, 0, argument, false);
		meet(closure);
		meet(argument);
	}
}

static void put_prototype_roots(void)
{
	for (unsigned i = 0; i < 6; i++) {
		uint64_t word = made_word();
		maker_numbers(&made.maker, 4,
			      (const uint64_t[]){4, MADE_STACKS + 8 * i, word, MADE_STACKS});
		expect(GH_ROOT_FRAME, i, 0, word, false);
		word = made_word();
		maker_numbers(&made.maker, 3, (const uint64_t[]){5, SEGMENTS + 8 * i, word});
		expect(GH_ROOT_DATA, i, 0, word, false);
	}
}

static void expect_of_finalizer(void *context, unsigned word, uint64_t value)
{
	expect(GH_ROOT_FINALIZER, *(unsigned *)context, word * made.maker.word, value, false);
}

/* Two, of which the second may be for the same object. */
static void put_finalizers(void)
{
	uint32_t before = GH_HEAP_NONE;
	for (unsigned i = 0; i < 2; i++) {
		uint64_t object = made_word(), closure = made_word();
		uint32_t found = object != 0 ? made_find(object) : GH_HEAP_NONE;
		maker_tag(&made.maker, 7, 11);
		maker_numbers(&made.maker, 5, (const uint64_t[]){object, closure, 1, 2, 3});
		expect(GH_ROOT_FINALIZER, i, GH_ROOT_CLOSURE, closure, false);
		if (found != GH_HEAP_NONE && found != before)
			made_pointers(&made.objects[found], expect_of_finalizer, &i);
		before = found;
	}
	if (made.maker.format == MAKER_PROTOTYPE)
		return;
	uint64_t object = made_word(), closure = made_word();
	maker_numbers(&made.maker, 6, (const uint64_t[]){11, object, closure, 1, 2, 3});
	expect(GH_ROOT_QUEUED_FINALIZER, 0, 0, object, false);
	expect(GH_ROOT_QUEUED_FINALIZER, 0, GH_ROOT_CLOSURE, closure, false);
}

void made_put_roots(void)
{
	uint64_t other = made_word();
	maker_tag(&made.maker, 2, 6);
	maker_text(&made.maker, "root");
	maker_number(&made.maker, other);
	expect(GH_ROOT_OTHER, 0, 0, other, false);
	put_finalizers();
	if (made.maker.format == MAKER_PROTOTYPE) {
		put_prototype_roots();
		return;
	}
	put_segment(12, &data);
	put_segment(13, &bss);
	expect_region(GH_ROOT_DATA, 0, &data, true);
	expect_region(GH_ROOT_BSS, 0, &bss, true);
	put_stacks();
}
