/* Heap dumps of every format, pointer size and byte order: each record, field and stretch of memory
 * of what dumpmaker.c wrote. */
#include <stdlib.h>
#include <string.h>

#include "lib/dump/dump.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/dumpwalk.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_dump dump;
static struct gh_dump_record record;

static void open_variant(int number)
{
	struct gh_error err;
	maker_everything(&maker, number);
	if (!gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err))
		ck_abort_msg("variant %d: %s", number, err.text);
	ck_assert_str_eq(dump.warning.text, "");
}

static void close_variant(void)
{
	gh_dump_close(&dump);
	free(maker.data);
}

static bool is_prototype(void)
{
	return dump.format == GH_DUMP_PROTOTYPE;
}

static void check_text(struct gh_dump_slice slice, const char *text)
{
	struct gh_cursor cur = gh_dump_bytes(&dump, slice);
	ck_assert(!cur.failed);
	ck_assert_uint_eq(gh_cursor_size(&cur), strlen(text));
	ck_assert_mem_eq(cur.start, text, strlen(text));
}

/* Reads record NUMBER of KIND, of which there are COUNT. */
static void get(enum gh_dump_kind kind, size_t number, size_t count)
{
	ck_assert_uint_eq(gh_dump_count(&dump, kind), count);
	gh_dump_get(&dump, kind, number, &record);
	ck_assert_int_eq(record.kind, kind);
}

START_TEST(params)
{
	open_variant(_i);
	ck_assert_int_eq(dump.format, _i / 4);
	ck_assert_uint_eq(dump.word, _i & 1 ? 4 : 8);
	ck_assert_int_eq(dump.file.big_endian, (_i & 2) != 0);
	get(GH_DUMP_PARAMS, 0, 1);
	ck_assert_uint_eq(record.params.heap_start, 0x10000);
	ck_assert_uint_eq(record.params.heap_end, 0x20000);
	ck_assert_uint_eq(record.params.channel_header,
			  dump.format <= GH_DUMP_1_3 ? 2 * dump.word : 0);
	ck_assert_uint_eq(record.params.ncpu, is_prototype() ? 0 : 4);
	static const char *const arch[] = {"amd64", "arm", "s390x", ""};
	if (dump.format == GH_DUMP_1_7)
		ck_assert_str_eq(dump.goarch, (_i & 3) == 3 ? "mips" : arch[_i & 3]);
	else
		ck_assert_str_eq(dump.goarch, is_prototype() ? "" : arch[_i & 3]);
	if (dump.format == GH_DUMP_1_7)
		check_text(gh_dump_go_version(&dump), "go1.99.1");
	else
		ck_assert_uint_eq(gh_dump_go_version(&dump).size, 0);
	static const int minor[] = {3, 3, 4, 5, 6, 99};
	ck_assert_int_eq(gh_dump_minor(&dump), minor[dump.format]);
	if (!is_prototype() && dump.format < GH_DUMP_1_7)
		check_text(record.params.experiment, "fieldtrack");
	close_variant();
}
END_TEST

START_TEST(types_and_itabs)
{
	open_variant(_i);
	get(GH_DUMP_ITAB, 0, 1);
	ck_assert_uint_eq(record.itab.address, 0x7000);
	ck_assert_uint_eq(record.itab.type, dump.format <= GH_DUMP_1_3 ? 0 : 0x5000);
	ck_assert_int_eq(record.itab.indirect, dump.format <= GH_DUMP_1_3);
	ck_assert_uint_eq(gh_dump_find(&dump, GH_DUMP_ITAB, 0x7000), 0);
	get(GH_DUMP_TYPE, 0, 4);
	ck_assert_uint_eq(record.type.address, 0x5000);
	ck_assert_uint_eq(record.type.size, 8 * dump.word);
	ck_assert(record.type.indirect);
	check_text(record.type.name, "main.T");
	get(GH_DUMP_TYPE, 1, 4);
	ck_assert(!record.type.indirect);
	check_text(record.type.name, "main.E");
	ck_assert_uint_eq(gh_dump_find(&dump, GH_DUMP_TYPE, 0x5100), 1);
	ck_assert_uint_eq(gh_dump_find(&dump, GH_DUMP_TYPE, 0x5001), GH_DUMP_NONE);
	ck_assert_uint_eq(gh_dump_find(&dump, GH_DUMP_TYPE, UINT64_MAX), GH_DUMP_NONE);
	close_variant();
}
END_TEST

/* The fields of RECORD are the COUNT ones, given as kind and word. */
static void check_fields(unsigned count, const unsigned (*fields)[2])
{
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(&dump, &record, &walk);
	for (unsigned i = 0; i < count; i++) {
		ck_assert(gh_fields_next(&walk, &field));
		ck_assert_uint_eq(field.kind, fields[i][0]);
		ck_assert_uint_eq(field.offset, fields[i][1] * dump.word);
	}
	ck_assert(!gh_fields_next(&walk, &field));
	ck_assert(!gh_fields_next(&walk, &field));
}

#define FIELDS(...)                                                                                \
	check_fields(sizeof((const unsigned[][2]){__VA_ARGS__}) / (2 * sizeof(unsigned)),          \
		     (const unsigned[][2]){__VA_ARGS__})

/* 1.3 has an object's fields in its type, once for each element of an array or channel. */
START_TEST(typed_fields)
{
	open_variant(_i);
	get(GH_DUMP_OBJECT, 0, 5);
	ck_assert_uint_eq(record.object.type, 0x5000);
	FIELDS({GH_FIELD_POINTER, 0}, {GH_FIELD_STRING, 1}, {GH_FIELD_SLICE, 3},
	       {GH_FIELD_IFACE, 6});
	get(GH_DUMP_OBJECT, 1, 5);
	ck_assert_uint_eq(record.object.type_kind, GH_DUMP_ARRAY);
	FIELDS({GH_FIELD_EFACE, 0}, {GH_FIELD_EFACE, 2}, {GH_FIELD_EFACE, 4});
	get(GH_DUMP_OBJECT, 2, 5);
	ck_assert_uint_eq(record.object.type_kind, GH_DUMP_CHANNEL);
	FIELDS({GH_FIELD_EFACE, 2}, {GH_FIELD_EFACE, 4});
	get(GH_DUMP_OBJECT, 3, 5);
	ck_assert_uint_eq(record.object.type_kind, GH_DUMP_CONSERVATIVE);
	FIELDS({GH_FIELD_POINTER, 0}, {GH_FIELD_POINTER, 1}, {GH_FIELD_POINTER, 2});
	get(GH_DUMP_OBJECT, 4, 5);
	check_fields(0, NULL);
	get(GH_DUMP_TYPE, 1, 4);
	FIELDS({GH_FIELD_EFACE, 0});
	close_variant();
}
END_TEST

START_TEST(fields)
{
	open_variant(_i);
	get(GH_DUMP_OBJECT, 0, 5);
	ck_assert_uint_eq(record.object.type, 0);
	FIELDS({GH_FIELD_POINTER, 0}, {GH_FIELD_IFACE, 6}, {GH_FIELD_EFACE, 3});
	get(GH_DUMP_OBJECT, 1, 5);
	FIELDS({GH_FIELD_POINTER, 0}, {GH_FIELD_POINTER, 1});
	get(GH_DUMP_OBJECT, 2, 5);
	check_fields(0, NULL);
	get(GH_DUMP_TYPE, 0, 4);
	check_fields(0, NULL);
	close_variant();
}
END_TEST

START_TEST(objects)
{
	open_variant(_i);
	uint64_t word = dump.word;
	get(GH_DUMP_OBJECT, 0, 5);
	ck_assert_uint_eq(record.object.address, 0x10000);
	ck_assert_uint_eq(record.object.contents.size, 8 * word);
	get(GH_DUMP_OBJECT, 4, 5);
	ck_assert_uint_eq(record.object.address, 0xff00);
	ck_assert_uint_eq(record.object.contents.size, 64);
	ck_assert_uint_eq(dump.objects.bytes, 24 * word + 64);
	/* By address, wherever within; the last in the file is the first. */
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0xff00), 4);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0xff00 + 63), 4);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0xff00 + 64), GH_DUMP_NONE);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0xfeff), GH_DUMP_NONE);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0x10000), 0);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0x10000 + 8 * word - 1), 0);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0x10000 + 8 * word), GH_DUMP_NONE);
	ck_assert_uint_eq(gh_dump_find_object(&dump, 0x10301), 3);
	ck_assert_uint_eq(gh_dump_find_object(&dump, UINT64_MAX), GH_DUMP_NONE);
	close_variant();
}
END_TEST

static void check_goroutine(void)
{
	const struct gh_dump_goroutine *goroutine = &record.goroutine;
	get(GH_DUMP_GOROUTINE, 0, 2);
	ck_assert_uint_eq(goroutine->g, 0x9000);
	ck_assert_uint_eq(goroutine->sp, 0x30000);
	ck_assert_uint_eq(goroutine->id, 1);
	ck_assert_uint_eq(goroutine->creator_pc, 0x400123);
	ck_assert_uint_eq(goroutine->status, GH_DUMP_WAITING);
	ck_assert(!goroutine->system && !goroutine->background);
	check_text(goroutine->wait_reason, "chan receive");
	ck_assert_uint_eq(goroutine->context, is_prototype() ? 0 : 0x9100);
	ck_assert_uint_eq(goroutine->thread, is_prototype() ? 0 : 0xa000);
	ck_assert_uint_eq(goroutine->top_defer, is_prototype() ? 0 : 0xb000);
	ck_assert_uint_eq(goroutine->top_panic, is_prototype() ? 0 : 0xc000);
	ck_assert_uint_eq(gh_dump_waited(&dump, goroutine), 120000000000);
	get(GH_DUMP_GOROUTINE, 1, 2);
	ck_assert_uint_eq(goroutine->id, 2);
	ck_assert(goroutine->system);
	ck_assert_uint_eq(gh_dump_waited(&dump, goroutine), 0);
}

START_TEST(goroutines)
{
	open_variant(_i);
	check_goroutine();
	const struct gh_dump_stack *stack = gh_dump_stack(&dump, 0);
	ck_assert_uint_eq(stack->first_frame, 0);
	ck_assert_uint_eq(stack->nframes, 3);
	ck_assert_uint_eq(stack->ndefers, !is_prototype());
	ck_assert_uint_eq(stack->npanics, !is_prototype());
	stack = gh_dump_stack(&dump, 1);
	ck_assert_uint_eq(stack->first_frame, 3);
	ck_assert_uint_eq(stack->nframes, 1);
	ck_assert_uint_eq(stack->ndefers, 0);
	get(GH_DUMP_FRAME, 1, 4);
	ck_assert_uint_eq(record.frame.sp, 0x30000 + 2U * dump.word);
	ck_assert_uint_eq(record.frame.entry, 0x401000);
	ck_assert_uint_eq(record.frame.pc, 0x401010);
	check_text(record.frame.function, "main.main");
	if (is_prototype()) {
		ck_assert_uint_eq(record.frame.parent_sp, 0x30000 + 4U * dump.word);
	} else {
		ck_assert_uint_eq(record.frame.depth, 1);
		ck_assert_uint_eq(record.frame.child_sp, 0x30000);
		ck_assert_uint_eq(record.frame.continuation, 0x401018);
		ck_assert_uint_eq(record.frame.contents.size, 2 * dump.word);
		FIELDS({GH_FIELD_POINTER, 0});
		/* The fields that goexit has beyond its word are not there. */
		get(GH_DUMP_FRAME, 2, 4);
		ck_assert_uint_eq(record.frame.contents.size, dump.word);
		FIELDS({GH_FIELD_POINTER, 0});
	}
	static const struct gh_dump_damage none;
	ck_assert_mem_eq(&dump.damage, &none, sizeof(none));
	close_variant();
}
END_TEST

START_TEST(roots)
{
	open_variant(_i);
	get(GH_DUMP_OTHER_ROOT, 0, 1);
	check_text(record.other_root.description, "runtime type info");
	ck_assert_uint_eq(record.other_root.pointer, 0x10300);
	get(GH_DUMP_FINALIZER, 0, 1);
	ck_assert_uint_eq(record.finalizer.object, 0x10000);
	ck_assert_uint_eq(record.finalizer.func_value, 0x10100);
	ck_assert_uint_eq(record.finalizer.entry, 0x404000);
	ck_assert_uint_eq(record.finalizer.argument_type, 0x5000);
	ck_assert_uint_eq(record.finalizer.object_type, 0x5100);
	close_variant();
}
END_TEST

START_TEST(prototype_roots)
{
	open_variant(_i);
	get(GH_DUMP_STACK_ROOT, 0, 1);
	ck_assert_uint_eq(record.stack_root.address, 0x30000);
	ck_assert_uint_eq(record.stack_root.pointer, 0x10000);
	ck_assert_uint_eq(record.stack_root.sp, 0x30000);
	get(GH_DUMP_DATA_ROOT, 0, 1);
	ck_assert_uint_eq(record.data_root.address, 0x60000);
	ck_assert_uint_eq(record.data_root.pointer, 0x10100);
	close_variant();
}
END_TEST

static void check_segments(void)
{
	get(GH_DUMP_DATA, 0, 1);
	ck_assert_uint_eq(record.segment.address, 0x60000);
	ck_assert_uint_eq(record.segment.contents.size, 3 * dump.word);
	FIELDS({GH_FIELD_POINTER, 0});
	get(GH_DUMP_BSS, 0, 1);
	ck_assert_uint_eq(record.segment.address, 0x61000);
	FIELDS({GH_FIELD_POINTER, 1});
	get(GH_DUMP_QUEUED_FINALIZER, 0, 1);
	ck_assert_uint_eq(record.finalizer.object, 0xff00);
	ck_assert_uint_eq(record.finalizer.object_type, 0x5000);
}

static void check_defer_and_panic(void)
{
	get(GH_DUMP_DEFER, 0, 1);
	ck_assert_uint_eq(record.defer.record, 0xb000);
	ck_assert_uint_eq(record.defer.goroutine, 0x9000);
	ck_assert_uint_eq(record.defer.argp, 0x30010);
	ck_assert_uint_eq(record.defer.pc, 0x401005);
	ck_assert_uint_eq(record.defer.func_value, 0xb100);
	ck_assert_uint_eq(record.defer.entry, 0x403000);
	ck_assert_uint_eq(record.defer.next, 0);
	get(GH_DUMP_PANIC, 0, 1);
	ck_assert_uint_eq(record.panic.record, 0xc000);
	ck_assert_uint_eq(record.panic.goroutine, 0x9000);
	ck_assert_uint_eq(record.panic.argument_type, 0x5000);
	ck_assert_uint_eq(record.panic.argument_data, 0x10000);
	ck_assert_uint_eq(record.panic.defer, 0xb000);
	ck_assert_uint_eq(record.panic.next, 0);
}

static void check_statistics(void)
{
	get(GH_DUMP_THREAD, 0, 1);
	ck_assert_uint_eq(record.thread.m, 0xa000);
	ck_assert_uint_eq(record.thread.id, 3);
	ck_assert_uint_eq(record.thread.os_id, 4242);
	get(GH_DUMP_MEMSTATS, 0, 1);
	for (unsigned i = 0; i < GH_DUMP_COUNTERS; i++)
		ck_assert_uint_eq(record.memstats.counters[i], 1000 * i + 1);
	for (unsigned i = 0; i < GH_DUMP_PAUSES; i++)
		ck_assert_uint_eq(record.memstats.pauses[i], 3 * i);
	ck_assert_uint_eq(record.memstats.ngc, 77);
	get(GH_DUMP_SAMPLE, 0, 1);
	ck_assert_uint_eq(record.sample.object, 0x10000);
	ck_assert_uint_eq(gh_dump_find(&dump, GH_DUMP_PROFILE, record.sample.profile), 0);
}

static void check_profile(void)
{
	get(GH_DUMP_PROFILE, 0, 1);
	ck_assert_uint_eq(record.profile.size, 48);
	ck_assert_uint_eq(record.profile.nframes, 2);
	ck_assert_uint_eq(record.profile.allocations, 9);
	ck_assert_uint_eq(record.profile.frees, 4);
	struct gh_cursor cur = dump.file;
	struct gh_profile_frame frame;
	gh_cursor_seek(&cur, record.profile.frames);
	ck_assert(gh_profile_next(&cur, &frame));
	check_text(frame.function, "main.alloc");
	check_text(frame.file, "/src/main.go");
	ck_assert_uint_eq(frame.line, 10);
	ck_assert(gh_profile_next(&cur, &frame));
	check_text(frame.function, "main.main");
	ck_assert_uint_eq(frame.line, 20);
}

START_TEST(released_records)
{
	open_variant(_i);
	check_segments();
	check_defer_and_panic();
	check_statistics();
	check_profile();
	close_variant();
}
END_TEST

/* The word at ADDRESS. */
static uint64_t word_at(uint64_t address)
{
	struct gh_cursor cur;
	ck_assert(gh_dump_memory(&dump, address, &cur));
	return gh_cursor_uint(&cur, dump.word);
}

START_TEST(memory)
{
	open_variant(_i);
	uint64_t word = dump.word;
	struct gh_cursor cur;
	ck_assert_uint_eq(word_at(0x10000), 0x10100);
	ck_assert_uint_eq(word_at(0x10000 + 6 * word), 0x7000);
	ck_assert_uint_eq(word_at(0xff00), 0);
	ck_assert(gh_dump_memory(&dump, 0x10000 + 8 * word - 3, &cur));
	ck_assert_uint_eq(gh_cursor_left(&cur), 3);
	ck_assert(!gh_dump_memory(&dump, 0x10000 + 8 * word, &cur));
	ck_assert(!gh_dump_memory(&dump, 0, &cur));
	if (!is_prototype()) {
		ck_assert_uint_eq(word_at(0x30000 + 3 * word), 0x401020);
		ck_assert_uint_eq(word_at(0x60000), 0x10000);
		ck_assert_uint_eq(word_at(0x61000 + word), 0x10200);
	} else {
		/* A root, the frame's caller's pc, its caller's; a root. */
		ck_assert_uint_eq(word_at(0x30000), 0x10000);
		ck_assert_uint_eq(word_at(0x30000 + word), 0x401010);
		ck_assert_uint_eq(word_at(0x30000 + 3 * word), 0x401010);
		ck_assert(!gh_dump_memory(&dump, 0x30000 + 5 * word, &cur));
		ck_assert_uint_eq(word_at(0x60000), 0x10100);
		ck_assert(!gh_dump_memory(&dump, 0x60000 + word, &cur));
	}
	close_variant();
}
END_TEST

START_TEST(regions)
{
	open_variant(_i);
	uint64_t word = dump.word;
	const uint64_t released[] = {0xff00,
				     0x10000,
				     0x10100,
				     0x10200,
				     0x10300,
				     0x30000,
				     0x30000 + 2 * word,
				     0x30000 + 4 * word,
				     0x31000,
				     0x60000,
				     0x61000};
	const uint64_t prototype[] = {0xff00,  0x10000, 0x10100,        0x10200,
				      0x10300, 0x30000, 0x30000 + word, 0x30000 + 3 * word,
				      0x60000};
	const uint64_t *starts = is_prototype() ? prototype : released;
	unsigned count = is_prototype() ? 9 : 11;
	struct gh_regions walk = {0};
	struct gh_region region;
	for (unsigned i = 0; i < count; i++) {
		ck_assert(gh_regions_next(&dump, &walk, &region));
		ck_assert_uint_eq(region.address, starts[i]);
		ck_assert_int_eq(region.kind, starts[i] < 0x30000   ? GH_DUMP_OBJECT
					      : starts[i] < 0x60000 ? GH_DUMP_FRAME
								    : GH_DUMP_DATA);
	}
	ck_assert(!gh_regions_next(&dump, &walk, &region));
	ck_assert(!gh_regions_next(&dump, &walk, &region));
	close_variant();
}
END_TEST

START_TEST(everything_is_readable)
{
	open_variant(_i);
	dump_walk(&dump);
	close_variant();
}
END_TEST

#define FIRST_1_4 (MAKER_1_4 * 4)

void dump_tests(TCase *tcase)
{
	tcase_add_loop_test(tcase, params, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, types_and_itabs, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, typed_fields, 0, FIRST_1_4);
	tcase_add_loop_test(tcase, fields, FIRST_1_4, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, objects, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, goroutines, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, roots, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, prototype_roots, 0, 4);
	tcase_add_loop_test(tcase, released_records, 4, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, memory, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, regions, 0, MAKER_VARIANTS);
	tcase_add_loop_test(tcase, everything_is_readable, 0, MAKER_VARIANTS);
}
