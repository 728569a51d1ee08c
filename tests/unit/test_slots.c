/* What the frames of a heap dump at one pc have in common. */
#include <stdlib.h>

#include "lib/dump/dump.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_dump dump;
static struct gh_slots slots;

/* Finds the slots of what was made. False if the dump's machine is not known. */
static bool find(void)
{
	struct gh_error err;
	ck_assert_msg(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err), "%s",
		      err.text);
	return gh_slots_find(&slots, &dump, &err);
}

static void done(void)
{
	gh_slots_free(&slots);
	gh_dump_close(&dump);
	free(maker.data);
}

START_TEST(every_variant)
{
	maker_everything(&maker, _i);
	bool known = find();
	/* The prototype does not say, and then no machine is big-endian; 1.4 has no letter for the
	 * last of these. */
	if (!known) {
		ck_assert(maker.big_endian);
		ck_assert(maker.format == MAKER_PROTOTYPE || maker.word == 4);
		done();
		return;
	}
	/* All the prototype's frames are of one function. */
	bool released = maker.format != MAKER_PROTOTYPE;
	ck_assert_uint_eq(slots.nsites, released ? 2 : 1);
	const struct gh_site *site = &slots.sites[0];
	ck_assert_uint_eq(site->entry, 0x401000);
	ck_assert_uint_eq(site->end, 0x401010);
	ck_assert_uint_eq(site->address, 0x401010 - slots.arch->quantum);
	ck_assert_uint_eq(site->size, 2 * maker.word);
	/* Two of the frames there have callers. */
	ck_assert(!site->last);
	ck_assert_uint_eq(site->count, 1);
	ck_assert_uint_eq(slots.slots[site->first].offset, 0);
	ck_assert_int_eq(slots.slots[site->first].kind, GH_FIELD_POINTER);
	/* A frame's does not point to the start of an object, the prototype's root does. */
	ck_assert_uint_eq(slots.slots[site->first].type, released ? GH_DUMP_NONE : 0);
	if (released) {
		site = &slots.sites[1];
		ck_assert_uint_eq(site->entry, 0x402000);
		ck_assert(site->last);
		ck_assert_uint_eq(site->size, maker.word);
		/* The other fields are beyond it. */
		ck_assert_uint_eq(site->count, 1);
	}
	done();
}
END_TEST

/* A frame of four words at SP, alone on its stack. */
static void frame(uint64_t sp, const uint64_t *words, unsigned nfields, const uint64_t *fields)
{
	maker_goroutine(&maker, sp, sp, 1, "", 0);
	maker_numbers(&maker, 4, (const uint64_t[]){5, sp, 0, 0});
	maker_words(&maker, 4, words);
	maker_numbers(&maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401010});
	maker_text(&maker, "main.f");
	maker_numbers(&maker, nfields, fields);
	maker_number(&maker, 0);
}

static void typed_object(uint64_t address, uint64_t type, unsigned kind, unsigned words)
{
	static const uint64_t zeros[8];
	maker_numbers(&maker, 4, (const uint64_t[]){1, address, type, kind});
	maker_words(&maker, words, zeros);
}

static void type(uint64_t address, uint64_t size)
{
	maker_numbers(&maker, 3, (const uint64_t[]){3, address, size});
	maker_text(&maker, "main.T");
	maker_numbers(&maker, 2, (const uint64_t[]){1, 0});
}

static void begin_1_3(void)
{
	maker_start(&maker, MAKER_1_3, 8, false);
	maker_params(&maker);
	type(0x5000, 16);
	type(0x5100, 8);
	typed_object(0x10000, 0x5000, 0, 2);
	typed_object(0x10100, 0x5000, 1, 4);
	typed_object(0x10200, 0x5100, 0, 1);
	typed_object(0x10300, 0x5000, 2, 4); /* a channel */
	typed_object(0x10400, 0x5000, 0, 1); /* less than its type */
	typed_object(0x10500, 0x6000, 0, 2); /* of a type that is not there */
}

/* The type of a slot that holds FIRST in one frame and SECOND in another. */
static size_t type_of(uint64_t first, uint64_t second)
{
	begin_1_3();
	frame(0x30000, (const uint64_t[]){first, 0, 0, 0}, 2, (const uint64_t[]){1, 0});
	frame(0x31000, (const uint64_t[]){second, 0, 0, 0}, 2, (const uint64_t[]){1, 0});
	maker_end(&maker);
	ck_assert(find());
	ck_assert_uint_eq(slots.nsites, 1);
	ck_assert_uint_eq(slots.nslots, 1);
	size_t number = slots.slots[0].type;
	done();
	return number;
}

START_TEST(types)
{
	ck_assert_uint_eq(type_of(0x10000, 0x10000), 0);
	ck_assert_uint_eq(type_of(0x10000, 0x10100), 0);
	ck_assert_uint_eq(type_of(0, 0x10200), 1);
	ck_assert_uint_eq(type_of(0x10200, 0), 1);
	ck_assert_uint_eq(type_of(0, 0), GH_DUMP_NONE);
	ck_assert_uint_eq(type_of(0x10000, 0x10200), GH_DUMP_NONE);
	ck_assert_uint_eq(type_of(0x10000, 0x10008), GH_DUMP_NONE);
	ck_assert_uint_eq(type_of(0x77777, 0x10000), GH_DUMP_NONE);
	ck_assert_uint_eq(type_of(0x10300, 0x10300), GH_DUMP_NONE);
	ck_assert_uint_eq(type_of(0x10400, 0x10400), GH_DUMP_NONE);
	ck_assert_uint_eq(type_of(0x10500, 0x10500), GH_DUMP_NONE);
}
END_TEST

START_TEST(unlike_fieldlists)
{
	begin_1_3();
	frame(0x30000, (const uint64_t[]){0x10000, 0, 0, 0}, 4, (const uint64_t[]){1, 0, 3, 8});
	/* At one offset two kinds, one of them twice; and a field that does not fit. */
	frame(0x31000, (const uint64_t[]){0x10000, 0x10000, 0, 0}, 8,
	      (const uint64_t[]){4, 16, 1, 8, 1, 0, 3, 24});
	frame(0x32000, (const uint64_t[]){0x10000, 0x10200, 0, 0x10200}, 4,
	      (const uint64_t[]){4, 16, 1, 8});
	maker_end(&maker);
	ck_assert(find());
	ck_assert_uint_eq(slots.nsites, 1);
	ck_assert(slots.sites[0].last);
	ck_assert_uint_eq(slots.nslots, 3);
	const struct gh_slot expected[] = {
	    {0, GH_FIELD_POINTER, 0}, {8, GH_FIELD_POINTER, GH_DUMP_NONE}, {16, GH_FIELD_IFACE, 1}};
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(slots.slots[i].offset, expected[i].offset);
		ck_assert_int_eq(slots.slots[i].kind, expected[i].kind);
		ck_assert_uint_eq(slots.slots[i].type, expected[i].type);
	}
	done();
}
END_TEST

static uint64_t top_frame_pc(const char *goarch, uint64_t pc)
{
	const struct gh_dump_frame top = {.entry = 0x401000, .pc = pc};
	return gh_top_frame_pc(gh_arch_by_name(goarch), &top);
}

/* What a goroutine has not begun, or is past the prologue of, as gosave_systemstack_switch of
 * src/runtime/asm_arm64.s and its like have it, was not called from there; what a call returns to
 * was, and the call ends before. */
START_TEST(top_frames)
{
	ck_assert_uint_eq(top_frame_pc("arm64", 0x401000), 0x401000);
	ck_assert_uint_eq(top_frame_pc("arm64", 0x401008), 0x401008);
	ck_assert_uint_eq(top_frame_pc("arm64", 0x40100c), 0x401008);
	ck_assert_uint_eq(top_frame_pc("riscv64", 0x401008), 0x401008);
	ck_assert_uint_eq(top_frame_pc("amd64", 0x401000), 0x401000);
	ck_assert_uint_eq(top_frame_pc("amd64", 0x401005), 0x401004);
	ck_assert_uint_eq(top_frame_pc("amd64", 0x400fff), 0x400fff);
}
END_TEST

void slots_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, every_variant, 0, MAKER_VARIANTS);
	tcase_add_test(tcase, types);
	tcase_add_test(tcase, unlike_fieldlists);
	tcase_add_test(tcase, top_frames);
}
