/* The frames of a heap dump as GDB is told of them. */
#include <stdlib.h>
#include <unistd.h>

#include "plugin/gdb/gdb.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/suites.h"

static struct maker maker;
static struct gh_dump dump;
static struct gh_frames frames;
static char path[] = "/tmp/goheap-test-XXXXXX";

/* A frame at SP whose function is at ENTRY. */
static void put_frame(uint64_t sp, uint64_t depth, uint64_t child_sp, uint64_t entry, uint64_t pc,
		      uint64_t continuation)
{
	maker_numbers(&maker, 4, (const uint64_t[]){5, sp, depth, child_sp});
	maker_words(&maker, 2, (const uint64_t[]){0, 0});
	maker_numbers(&maker, 3, (const uint64_t[]){entry, pc, continuation});
	maker_text(&maker, "main.f");
	maker_number(&maker, 0);
}

/* Three goroutines: one whose second frame was interrupted; one whose stack does not ascend; and
 * one that has not begun. */
static void open_dump(void)
{
	struct gh_error err;
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_goroutine(&maker, 0x9000, 1, 4, "select", 0);
	put_frame(0x30000, 0, 0, 0x401000, 0x401010, 0x401010);
	put_frame(0x30010, 1, 0x30000, 0x402000, 0x402010, GH_DUMP_INTERRUPTED);
	put_frame(0x30020, 2, 0x30010, 0x403000, 0x403010, 0x403010);
	maker_goroutine(&maker, 0x9001, 2, 4, "select", 0);
	put_frame(0x50020, 0, 0, 0x401000, 0x401010, 0x401010);
	put_frame(0x50000, 1, 0x50020, 0x402000, 0x402010, 0x402010);
	maker_goroutine(&maker, 0x9002, 3, 1, "", 0);
	put_frame(0x60000, 0, 0, 0x404000, 0x404000, 0x404000);
	maker_end(&maker);
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	close(mkstemp(path));
}

static void close_dump(void)
{
	gh_frames_free(&frames);
	gh_dump_close(&dump);
	free(maker.data);
	unlink(path);
}

static void check_row(uint64_t sp, uint64_t pc, uint64_t caller_sp, uint64_t caller_pc)
{
	const struct gh_frames_row *row = gh_frames_find(&frames, sp, pc);
	ck_assert_ptr_nonnull(row);
	ck_assert_uint_eq(row->caller_sp, caller_sp);
	ck_assert_uint_eq(row->caller_pc, caller_pc);
}

START_TEST(callers)
{
	struct gh_error err;
	open_dump();
	ck_assert(gh_frames_write(&dump, path, &err));
	gh_frames_refresh(&frames, path);
	ck_assert_ptr_nonnull(frames.header);
	ck_assert_uint_eq(frames.header->pointer_size, 8);
	ck_assert_uint_eq(frames.header->dwarf_sp, 7);
	ck_assert_uint_eq(frames.header->dwarf_pc, 16);
	/* GDB takes one off the pc of a caller, to look up the call: not of one that was
	 * interrupted. */
	check_row(0x30000, 0x40100f, 0x30010, 0x402011);
	check_row(0x30010, 0x402011, 0x30020, 0x403010);
	const struct gh_frames_row *row = gh_frames_find(&frames, 0x30000, 0x40100f);
	ck_assert_uint_eq(row->return_address, 0x402010);
	ck_assert_uint_eq(row->entry, 0x401000);
	/* GDB checks that stack pointers ascend. */
	ck_assert(!gh_frames_has_sp(&frames, 0x50020));
	close_dump();
}
END_TEST

START_TEST(callers_below_another_frame)
{
	struct gh_error err;
	open_dump();
	ck_assert(gh_frames_write_below(&dump, 2, 0x70000, 0x405000, path, &err));
	gh_frames_refresh(&frames, path);
	ck_assert_uint_eq(frames.header->marker_sp, 0x70000);
	/* A goroutine that has not begun is at its entry, which one less would be before. */
	check_row(0x70000, 0x405000, 0x60000, 0x404001);
	ck_assert(gh_frames_write_below(&dump, 0, 0x70000, 0x405000, path, &err));
	gh_frames_refresh(&frames, path);
	check_row(0x70000, 0x405000, 0x30000, 0x401010);
	check_row(0x30000, 0x401010, 0x30010, 0x402011);
	close_dump();
}
END_TEST

void frames_tests(TCase *tcase)
{
	tcase_add_test(tcase, callers);
	tcase_add_test(tcase, callers_below_another_frame);
}
