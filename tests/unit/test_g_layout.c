/* Where runtime.g has its fields: against its declaration in each release, of
 * src/runtime/runtime2.go since Go 1.5, of src/pkg/runtime/runtime.h or src/runtime/runtime.h
 * before, laid out as compilers do. */
#include <string.h>

#include "lib/process/internal.h"
#include "tests/unit/suites.h"

/* Sizes in words; what is less than a word has bytes. */
enum { WORD = 1, BYTES = 100 };

/* The fields in their order, those of sched in its place. Fields of bytes that follow each other
 * are as in the release with most of them: what is between waitreason and lockedm makes no
 * difference. */
static const struct declared {
	const char *name;
	unsigned size; /* words, or BYTES and how many bytes */
	int first, last;
} fields[] = {
    {"stack.lo", WORD, 5, 99},
    {"stack.hi", WORD, 5, 99},
    {"stackguard0", WORD, 5, 99},
    {"stackguard1", WORD, 5, 99},
    {"_panic", WORD, 5, 99},
    {"_defer", WORD, 5, 99},
    {"m", WORD, 5, 99},
    {"stackAlloc", WORD, 5, 8},
    {"sched.sp", WORD, 5, 99},
    {"sched.pc", WORD, 5, 99},
    {"sched.g", WORD, 5, 99},
    {"sched.ctxt", WORD, 5, 99},
    {"sched.ret", WORD, 5, 24},
    {"sched.lr", WORD, 5, 99},
    {"sched.bp", WORD, 5, 99},
    {"syscallsp", WORD, 5, 99},
    {"syscallpc", WORD, 5, 99},
    {"syscallbp", WORD, 23, 99},
    {"stkbar", 3 * WORD, 5, 8},
    {"stkbarPos", WORD, 5, 8},
    {"stktopsp", WORD, 6, 99},
    {"param", WORD, 5, 99},
    {"atomicstatus", BYTES + 4, 5, 99},
    {"stackLock", BYTES + 4, 5, 99},
    {"goid", BYTES + 8, 5, 99},
    {"schedlink", WORD, 11, 99},
    {"waitsince", BYTES + 8, 5, 99},
    {"waitreason", 2 * WORD, 5, 10},
    {"waitreason", BYTES + 1, 11, 99},
    {"schedlink", WORD, 5, 10},
    {"preempt", BYTES + 1, 5, 99},
    {"lockedm", WORD, 5, 99},
    {"fipsIndicator", BYTES + 1, 24, 99},
    {"fipsOnlyBypass", BYTES + 1, 26, 99},
    {"ditWanted", BYTES + 1, 26, 99},
    {"syncSafePoint", BYTES + 1, 25, 99},
    {"runningCleanups", BYTES + 1, 25, 99},
    {"sig", BYTES + 4, 5, 99},
    {"secret", BYTES + 4, 26, 99},
    {"writebuf", 3 * WORD, 5, 99},
    {"sigcode0", WORD, 5, 99},
    {"sigcode1", WORD, 5, 99},
    {"sigpc", WORD, 5, 99},
    {"parentGoid", BYTES + 8, 21, 99},
    {"gopc", WORD, 5, 99},
    {"ancestors", WORD, 11, 99},
    {"startpc", WORD, 5, 99},
    {"racectx", WORD, 5, 99},
    {"waiting", WORD, 5, 99},
    {"cgoCtxt", 3 * WORD, 8, 99},
    {"labels", WORD, 9, 99},
    {"timer", WORD, 9, 99},
    {"sleepWhen", BYTES + 8, 23, 99},
    {"selectDone", BYTES + 4, 9, 99},
    {"goroutineProfiled", BYTES + 4, 19, 99},
    {"coroarg", WORD, 22, 99},
    {"bubble", WORD, 24, 99},
    {"xRegs", WORD, 26, 99},
};

/* The same of C's struct G. */
static const struct declared c_fields[] = {
    {"stack.lo", WORD, 4, 4},
    {"stack.hi", WORD, 4, 4},
    {"stackguard0", WORD, 2, 4},
    {"stackguard1", WORD, 4, 4},
    {"stackbase", WORD, 2, 3},
    {"panicwrap", BYTES + 4, 2, 2},
    {"selgen", BYTES + 4, 2, 3},
    {"defer", WORD, 2, 3},
    {"panic", WORD, 2, 4},
    {"defer", WORD, 4, 4},
    {"sched.sp", WORD, 2, 4},
    {"sched.pc", WORD, 2, 4},
    {"sched.g", WORD, 2, 4},
    {"sched.ret", WORD, 2, 2},
    {"sched.ctxt", WORD, 2, 4},
    {"sched.ret", WORD, 3, 4},
    {"sched.lr", WORD, 2, 4},
    {"syscallstack", WORD, 2, 3},
    {"syscallsp", WORD, 2, 4},
    {"syscallpc", WORD, 2, 4},
    {"syscallguard", WORD, 2, 3},
    {"stackguard", WORD, 2, 3},
    {"stack0", WORD, 2, 3},
    {"stacksize", WORD, 2, 3},
    {"alllink", WORD, 2, 2},
    {"param", WORD, 2, 4},
    {"status", BYTES + 4, 2, 4},
    {"goid", BYTES + 8, 2, 4},
    {"waitsince", BYTES + 8, 3, 4},
    {"waitreason", WORD, 2, 3},
    {"waitreason", 2 * WORD, 4, 4},
    {"schedlink", WORD, 2, 4},
    {"ispanic", BYTES + 1, 2, 3},
    {"issystem", BYTES + 1, 2, 4},
    {"isbackground", BYTES + 1, 2, 4},
    {"preempt", BYTES + 1, 2, 4},
    {"throwsplit", BYTES + 1, 4, 4},
    {"raceignore", BYTES + 1, 2, 4},
    {"m", WORD, 2, 4},
    {"lockedm", WORD, 2, 4},
    {"sig", BYTES + 4, 2, 4},
    {"writenbuf", BYTES + 4, 2, 3},
    {"writebuf", WORD, 2, 3},
    {"writebuf", 3 * WORD, 4, 4},
    {"dchunk", WORD, 2, 2},
    {"dchunknext", WORD, 2, 2},
    {"sigcode0", WORD, 2, 4},
    {"sigcode1", WORD, 2, 4},
    {"sigpc", WORD, 2, 4},
    {"gopc", WORD, 2, 4},
};

/* The offset of field NAME in Go 1.MINOR. What has 8 bytes is aligned to 4 where words have 4. */
static uint32_t offset_of(const char *name, uint32_t word, int minor)
{
	uint32_t offset = 0;
	const struct declared *all = minor < 5 ? c_fields : fields;
	size_t count =
	    minor < 5 ? sizeof(c_fields) / sizeof(c_fields[0]) : sizeof(fields) / sizeof(fields[0]);
	for (size_t i = 0; i < count; i++) {
		const struct declared *field = &all[i];
		if (minor < field->first || minor > field->last)
			continue;
		uint32_t size = field->size > BYTES ? field->size - BYTES : field->size * word;
		uint32_t align = field->size > BYTES && size < word ? size : word;
		offset = (offset + align - 1) / align * align;
		if (strcmp(field->name, name) == 0)
			return offset;
		offset += size;
	}
	ck_abort_msg("%s in Go 1.%d", name, minor);
	return 0;
}

#define FIRST 5
#define LAST  27

START_TEST(the_fields_are_where_the_declaration_has_them)
{
	for (uint32_t word = 4; word <= 8; word += 4) {
		struct gh_g_layout layout = gh_g_layout_of(word, _i);
		ck_assert_uint_eq(layout.stack_low, offset_of("stack.lo", word, _i));
		ck_assert_uint_eq(layout.stack_high, offset_of("stack.hi", word, _i));
		ck_assert_uint_eq(layout.top_panic, offset_of("_panic", word, _i));
		ck_assert_uint_eq(layout.top_defer, offset_of("_defer", word, _i));
		ck_assert_uint_eq(layout.thread, offset_of("m", word, _i));
		ck_assert_uint_eq(layout.sched, offset_of("sched.sp", word, _i));
		ck_assert_uint_eq(layout.context, offset_of("sched.ctxt", word, _i));
		ck_assert_uint_eq(layout.lr, offset_of("sched.lr", word, _i));
		ck_assert_uint_eq(layout.syscall_sp, offset_of("syscallsp", word, _i));
		ck_assert_uint_eq(layout.status, offset_of("atomicstatus", word, _i));
		ck_assert_uint_eq(layout.id, offset_of("goid", word, _i));
		ck_assert_uint_eq(layout.wait_since, offset_of("waitsince", word, _i));
		ck_assert_uint_eq(layout.wait_reason, offset_of("waitreason", word, _i));
		ck_assert_int_eq(layout.form, _i < 11 ? GH_G_REASON_STRING : GH_G_REASON_NUMBER);
		ck_assert_uint_eq(layout.creator, 0);
		ck_assert_uint_eq(layout.system, 0);
		ck_assert_uint_eq(layout.next, 0);
		ck_assert(!layout.segmented && !layout.no_capacity);
	}
}
END_TEST

/* The place of gopc differs from release to release, and is found in the program. */
START_TEST(other_fields_are_so_far_from_that_of_the_creator)
{
	for (uint32_t word = 4; word <= 8; word += 4) {
		struct gh_g_layout layout = gh_g_layout_of(word, _i);
		uint32_t creator = offset_of("gopc", word, _i);
		ck_assert_uint_eq(creator + layout.start_after, offset_of("startpc", word, _i));
		ck_assert_uint_eq(creator - layout.locked_before, offset_of("lockedm", word, _i));
		ck_assert_uint_eq(creator - layout.signal_before, offset_of("sig", word, _i));
		uint32_t parent = _i >= 21 ? creator - offset_of("parentGoid", word, _i) : 0;
		uint32_t labels = _i >= 9 ? offset_of("labels", word, _i) - creator : 0;
		uint32_t vectors =
		    _i >= 27 && word == 8 ? offset_of("xRegs", word, _i) - creator : 0;
		ck_assert_uint_eq(layout.parent_before, parent);
		ck_assert_uint_eq(layout.labels_after, labels);
		ck_assert_uint_eq(layout.vectors_after, vectors);
	}
}
END_TEST

/* Go 1.2 to 1.4. */
START_TEST(the_fields_are_where_cs_declaration_has_them)
{
	for (uint32_t word = 4; word <= 8; word += 4) {
		struct gh_g_layout layout = gh_g_layout_of(word, _i);
		ck_assert_uint_eq(layout.stack_low,
				  offset_of(_i == 4 ? "stack.lo" : "stackguard", word, _i));
		ck_assert_uint_eq(layout.stack_high,
				  offset_of(_i == 4 ? "stack.hi" : "stackbase", word, _i));
		ck_assert_uint_eq(layout.top_panic, offset_of("panic", word, _i));
		ck_assert_uint_eq(layout.top_defer, offset_of("defer", word, _i));
		ck_assert_uint_eq(layout.thread, offset_of("m", word, _i));
		ck_assert_uint_eq(layout.sched, offset_of("sched.sp", word, _i));
		ck_assert_uint_eq(layout.context, offset_of("sched.ctxt", word, _i));
		ck_assert_uint_eq(layout.lr, offset_of("sched.lr", word, _i));
		ck_assert_uint_eq(layout.syscall_sp, offset_of("syscallsp", word, _i));
		ck_assert_uint_eq(layout.status, offset_of("status", word, _i));
		ck_assert_uint_eq(layout.id, offset_of("goid", word, _i));
		ck_assert_uint_eq(layout.wait_since, _i > 2 ? offset_of("waitsince", word, _i) : 0);
		ck_assert_uint_eq(layout.wait_reason, offset_of("waitreason", word, _i));
		ck_assert_uint_eq(layout.creator, offset_of("gopc", word, _i));
		ck_assert_uint_eq(layout.creator - layout.signal_before,
				  offset_of("sig", word, _i));
		ck_assert_uint_eq(layout.system, offset_of("issystem", word, _i));
		ck_assert_uint_eq(layout.next, _i == 2 ? offset_of("alllink", word, _i) : 0);
		ck_assert_int_eq(layout.form, _i == 4 ? GH_G_REASON_STRING : GH_G_REASON_C_STRING);
		ck_assert_int_eq(layout.segmented, _i < 4);
		ck_assert_int_eq(layout.no_capacity, _i == 3);
		ck_assert_uint_eq(layout.start_after + layout.parent_before + layout.locked_before +
				      layout.labels_after + layout.vectors_after,
				  0);
	}
}
END_TEST

void g_layout_tests(TCase *tests)
{
	tcase_add_loop_test(tests, the_fields_are_where_the_declaration_has_them, FIRST, LAST + 1);
	tcase_add_loop_test(tests, other_fields_are_so_far_from_that_of_the_creator, FIRST,
			    LAST + 1);
	tcase_add_loop_test(tests, the_fields_are_where_cs_declaration_has_them, 2, 5);
}
