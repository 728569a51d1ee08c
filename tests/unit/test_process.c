/* Goroutines in the memory of a process, whole and hostile. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/process/internal.h"
#include "lib/process/process.h"
#include "lib/trace/trace.h"
#include "tests/unit/bytes.h"
#include "tests/unit/snapshot.h"
#include "tests/unit/suites.h"

/* Writes runtime.allgs. */
static void set_list(struct snapshot *snapshot, uint64_t list, uint64_t count)
{
	unsigned word = snapshot->maker.what.word;
	process_put_word(&snapshot->maker, PROCESS_ADDRESS + 2 * word, list);
	process_put_word(&snapshot->maker, PROCESS_ADDRESS + 3 * word, count);
	process_put_word(&snapshot->maker, PROCESS_ADDRESS + 4 * word, count);
}

START_TEST(goroutines_and_frames_are_read)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	ck_assert(snapshot_take(&snapshot));
	ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	for (unsigned i = 0; i < PROCESS_GOROUTINES; i++) {
		struct gh_dump_goroutine g = snapshot_goroutine(&snapshot, i);
		ck_assert_uint_eq(g.g, process_goroutine((int)i));
		ck_assert_uint_eq(g.id, i + 1);
		ck_assert_uint_eq(g.status, GH_DUMP_WAITING);
		ck_assert_uint_eq(g.creator_pc, SYNTHETIC_TEXT + 0x20);
		snapshot_check_stack(&snapshot, i);
	}
	snapshot_release(&snapshot);
}
END_TEST

START_TEST(a_running_one_is_where_its_thread_is)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	process_put(&snapshot.maker, process_goroutine(1) + process_status_at(&snapshot.maker),
		    GH_DUMP_RUNNING, 4);
	snapshot_set(&snapshot, 1, 7, 1);
	struct gh_registers threads[] = {
	    {.pc = SYNTHETIC_TEXT, .sp = 0},
	    {.pc = SYNTHETIC_TEXT, .sp = process_stack(2) + PROCESS_STACK},
	    {.pc = SYNTHETIC_TEXT + 0x60, .sp = process_stack(1)},
	    {.pc = SYNTHETIC_TEXT, .sp = UINT64_MAX},
	};
	snapshot.process.threads = threads;
	snapshot.process.nthreads = 4;
	ck_assert(snapshot_take(&snapshot));
	const struct gh_dump_stack *stack = gh_dump_stack(&snapshot.dump, 1);
	struct gh_dump_record record;
	ck_assert_uint_eq(stack->nframes, PROCESS_FRAMES);
	gh_dump_get(&snapshot.dump, GH_DUMP_FRAME, stack->first_frame, &record);
	ck_assert_uint_eq(record.frame.sp, process_stack(1));
	snapshot_release(&snapshot);
}
END_TEST

START_TEST(one_in_a_system_call_is_where_it_entered)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	uint64_t entered = process_goroutine(0) + process_syscall_sp_at(&snapshot.maker);
	snapshot_set(&snapshot, 0, 7, 1);
	process_put_word(&snapshot.maker, entered, process_stack(0));
	process_put_word(&snapshot.maker, entered + snapshot.maker.what.word,
			 SYNTHETIC_TEXT + 0x60);
	ck_assert(snapshot_take(&snapshot));
	snapshot_check_stack(&snapshot, 0);
	snapshot_release(&snapshot);
}
END_TEST

/* The program's table of why goroutines wait, as Go's waitReasonStrings begins, and what the tests
 * need. */
static const char *const reasons[] = {"", "GC assist marking", "IO wait", "finalizer wait"};

enum { IO_WAIT = 2, FINALIZER_WAIT = 3 };

/* Puts the table where the program has data that are not used. */
static void put_reasons(struct fixture *program)
{
	enum { TABLE = 0x240, TEXTS = 0x2a0 };
	unsigned word = program->image.arch->pointer_size;
	uint8_t *table = program->data + program->places.moduledata + TABLE;
	uint8_t *text = program->data + program->places.moduledata + TEXTS;
	for (unsigned i = 1; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		uint64_t address =
		    SYNTHETIC_DATA + (uint64_t)(text - program->data) - program->places.moduledata;
		size_t length = strlen(reasons[i]);
		bool big_endian = program->image.arch->big_endian;
		bytes_store(table + 2 * i * word, address, word, big_endian);
		bytes_store(table + (2 * i + 1) * word, length, word, big_endian);
		memcpy(text, reasons[i], length);
		text += length;
	}
}

START_TEST(wait_reasons_are_the_programs)
{
	struct fixture program;
	size_t length;
	fixture_open(&program, _i);
	struct gh_wait_reasons found = gh_wait_reasons_find(&program.image);
	ck_assert_uint_eq(found.address, 0);
	gh_wait_reason(&found, 1, &length);
	ck_assert_uint_eq(length, 0);
	put_reasons(&program);
	found = gh_wait_reasons_find(&program.image);
	for (uint8_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const char *text = gh_wait_reason(&found, i, &length);
		ck_assert_uint_eq(length, strlen(reasons[i]));
		ck_assert_mem_eq(text, reasons[i], length);
	}
	gh_wait_reason(&found, UINT8_MAX, &length);
	ck_assert_uint_eq(length, 0);
	fixture_close(&program);
}
END_TEST

/* The goroutine that runs finalizers is the runtime's own while it waits for some, and the user's
 * while one runs, or waits for something else; what it waited for last it says still. */
START_TEST(finalizers_are_the_users)
{
	static const struct {
		unsigned status;
		uint8_t reason;
		bool system;
	} cases[] = {
	    {GH_DUMP_WAITING, FINALIZER_WAIT, true},
	    {GH_DUMP_WAITING, IO_WAIT, false},
	    {GH_DUMP_RUNNING, FINALIZER_WAIT, false},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct synthetic what = fixture_variant(_i);
		struct snapshot snapshot;
		what.last = "runtime.runfinq";
		snapshot_make_of(&snapshot, &what, 25);
		put_reasons(&snapshot.program);
		uint64_t status = process_goroutine(1) + process_status_at(&snapshot.maker);
		/* goid and waitsince, of 8 bytes, and schedlink are between the two. */
		uint64_t reason = status + 8 + 8 + snapshot.maker.what.word + 8;
		process_put(&snapshot.maker, status, cases[i].status, 4);
		process_put(&snapshot.maker, reason, cases[i].reason, 1);
		snapshot_set(&snapshot, 1, 42, SYNTHETIC_TEXT + 0x70); /* startpc */
		ck_assert(snapshot_take(&snapshot));
		ck_assert(!snapshot_goroutine(&snapshot, 0).system);
		ck_assert_int_eq(snapshot_goroutine(&snapshot, 1).system, cases[i].system);
		snapshot_release(&snapshot);
	}
}
END_TEST

/* Writes entry NUMBER of the list. */
static void set_entry(struct snapshot *snapshot, unsigned number, uint64_t address)
{
	process_put_word(&snapshot->maker, process_list() + number * snapshot->maker.what.word,
			 address);
}

/* No goroutine, not a pointer, not all in memory, not in memory, memory of something else. */
START_TEST(a_bad_entry_loses_none_of_the_others)
{
	static const uint64_t bad[] = {0, 1, PROCESS_ADDRESS + PROCESS_SIZE - 8, 0x7ffffff8,
				       PROCESS_ADDRESS};
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		for (unsigned place = 0; place < PROCESS_GOROUTINES; place++) {
			struct snapshot snapshot;
			snapshot_make(&snapshot, _i);
			set_entry(&snapshot, place, bad[i]);
			ck_assert(snapshot_take(&snapshot));
			ck_assert_uint_eq(snapshot.lost, 1);
			ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), 2);
			ck_assert_uint_eq(snapshot_goroutine(&snapshot, 0).id, place == 0 ? 2 : 1);
			ck_assert_uint_eq(snapshot_goroutine(&snapshot, 1).id, place == 2 ? 2 : 3);
			snapshot_release(&snapshot);
		}
	}
}
END_TEST

START_TEST(a_list_that_goes_on_past_the_memory_is_read_so_far)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	unsigned word = snapshot.maker.what.word;
	uint64_t list = PROCESS_ADDRESS + PROCESS_SIZE - PROCESS_GOROUTINES * word;
	for (int i = 0; i < PROCESS_GOROUTINES; i++)
		process_put_word(&snapshot.maker, list + (unsigned)i * word, process_goroutine(i));
	set_list(&snapshot, list, 100);
	ck_assert(snapshot_take(&snapshot));
	ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	ck_assert_uint_eq(snapshot.lost, 100 - PROCESS_GOROUTINES);
	snapshot_release(&snapshot);
}
END_TEST

/* _Gdead, and _Gdeadextra of Go 1.26 on, in src/runtime/runtime2.go. */
START_TEST(one_that_ended_is_not_missing)
{
	static const uint64_t ended[] = {6, 11};
	for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++) {
		struct snapshot snapshot;
		snapshot_make(&snapshot, _i);
		process_put(&snapshot.maker,
			    process_goroutine(1) + process_status_at(&snapshot.maker), ended[i], 4);
		ck_assert(snapshot_take(&snapshot));
		ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), 2);
		ck_assert_uint_eq(snapshot.lost, 0);
		snapshot_release(&snapshot);
	}
}
END_TEST

START_TEST(repeated_entries_are_listed_once)
{
	static const uint64_t anywhere[] = {0, 1, PROCESS_ADDRESS + PROCESS_SIZE - 8, 0x7fffffff};
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	unsigned word = snapshot.maker.what.word;
	/* More than are looked at to tell what the list is. */
	uint64_t list = PROCESS_ADDRESS + PROCESS_SIZE;
	process_resize(&snapshot.maker, PROCESS_SIZE + 1024 * word);
	for (unsigned i = 0; i < 1024; i++)
		process_put_word(&snapshot.maker, list + i * word,
				 i % 16 == 0 ? process_goroutine(i % 32 / 16) : anywhere[i % 4]);
	set_list(&snapshot, list, 1024);
	ck_assert(snapshot_take(&snapshot));
	ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), 2);
	ck_assert_uint_eq(snapshot_goroutine(&snapshot, 0).id, 1);
	ck_assert_uint_eq(snapshot_goroutine(&snapshot, 1).id, 2);
	ck_assert_uint_eq(snapshot.dump.damage.duplicate_ids, 0);
	ck_assert_uint_le(snapshot.lost, sizeof(anywhere) / sizeof(anywhere[0]));
	snapshot_release(&snapshot);
}
END_TEST

#define NO_GOROUTINES                                                                              \
	"synthetic: expected a process with goroutines, found none in its variables: it may have " \
	"just started, or the core file lacks them: it was cut short, or see coredump_filter in "  \
	"core(5)"

START_TEST(a_list_is_no_longer_than_the_memory)
{
	static const uint64_t counts[] = {0, PROCESS_SIZE / 4 + 1, 0x7fffffff, 0xffffffff};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct snapshot snapshot;
		snapshot_make(&snapshot, _i);
		set_list(&snapshot, process_list(), counts[i]);
		ck_assert(!snapshot_take(&snapshot));
		ck_assert_str_eq(snapshot.err.text, NO_GOROUTINES);
		snapshot_release(&snapshot);
	}
}
END_TEST

START_TEST(variables_without_end_are_looked_through)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	struct gh_moduledata *module = &snapshot.program.tab.module;
	module->ebss = UINT64_MAX;
	ck_assert(snapshot_take(&snapshot));
	ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	snapshot_release(&snapshot);
}
END_TEST

/* But for how far lockedm is from what it is found by. */
START_TEST(an_unknown_release_is_taken_for_the_newest)
{
	for (uint32_t word = 4; word <= 8; word += 4) {
		struct gh_g_layout unknown = gh_g_layout_of(word, GH_GO_UNKNOWN);
		struct gh_g_layout newest = gh_g_layout_of(word, 27);
		newest.locked_before = 0;
		ck_assert_mem_eq(&unknown, &newest,
				 offsetof(struct gh_g_layout, no_capacity) + sizeof(bool));
	}
}
END_TEST

START_TEST(variables_elsewhere_hold_nothing)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	struct gh_moduledata *module = &snapshot.program.tab.module;
	module->bss = 0;
	module->ebss = UINT64_MAX;
	ck_assert(!snapshot_take(&snapshot));
	snapshot.process.bias = UINT64_MAX;
	ck_assert(!snapshot_take(&snapshot));
	snapshot_release(&snapshot);
}
END_TEST

/* How far lockedm is before gopc in runtime.g, by the DWARF of programs for amd64 and 386. */
START_TEST(where_a_goroutine_is_locked)
{
	ck_assert_uint_eq(gh_g_layout_of(8, 21).locked_before, 280 - 208);
	ck_assert_uint_eq(gh_g_layout_of(8, 24).locked_before, 288 - 216);
	ck_assert_uint_eq(gh_g_layout_of(8, 26).locked_before, 288 - 208);
	ck_assert_uint_eq(gh_g_layout_of(8, 27).locked_before, 288 - 208);
	ck_assert_uint_eq(gh_g_layout_of(4, 26).locked_before, 184 - 132);
	ck_assert_uint_eq(gh_g_layout_of(4, 27).locked_before, 184 - 132);
}
END_TEST

START_TEST(a_release_without_a_known_list_is_told)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	snapshot.process.minor = 1;
	ck_assert(!snapshot_take(&snapshot));
	ck_assert_str_eq(snapshot.err.text,
			 "synthetic: expected a program of Go 1.2 or later, found one of Go 1.1, "
			 "whose goroutines cannot be listed");
	snapshot_release(&snapshot);
}
END_TEST

/* A program that describes no types. Where mspan has its fields is known from Go 1.12 on, for words
 * of 8 bytes. */
START_TEST(a_process_without_a_heap_is_told)
{
	static const char layout[] =
	    "synthetic: expected a program whose heap's layout is known, found one that does not "
	    "describe runtime.mspan: its goroutines can be listed nonetheless";
	static const char heap[] =
	    "synthetic: expected a process with a Go heap, found none in its variables: it may "
	    "have just started, or the core file lacks them";
	struct snapshot snapshot;
	struct gh_spans spans;
	snapshot_make(&snapshot, _i);
	snapshot.memory = process_memory(&snapshot.maker);
	const struct gh_rtypes types = {.tab = &snapshot.program.tab};
	for (int minor = 11; minor <= 12; minor++) {
		bool known = minor == 12 && snapshot.maker.what.word == 8;
		snapshot.process.minor = minor;
		ck_assert(!gh_spans_find(&spans, &snapshot.process, &types, &snapshot.err));
		ck_assert_str_eq(snapshot.err.text, known ? heap : layout);
	}
	snapshot_release(&snapshot);
}
END_TEST

static bool read_zeros(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	(void)memory;
	(void)address;
	memset(to, 0, size);
	return true;
}

/* Of this program, in the place of which there are zeros. */
START_TEST(a_file_that_is_not_what_is_mapped_is_told)
{
	char path[] = "/proc/self/exe";
	struct gh_mapped_file file = {.path = path, .start = 0x10000};
	struct gh_mapped_files files = {0};
	const struct gh_memory memory = {.read = read_zeros};
	struct gh_image image;
	struct gh_error err;
	uint64_t bias;
	ck_assert(gh_image_open(&image, path, &err));
	ck_assert(!gh_mapped_files_find(&files, &memory, &image, &bias, &err));
	ck_assert_str_eq(err.text, "/proc/self/exe: expected the file of a library that the "
				   "process has loaded, found none of those");
	files.items = &file;
	files.count = 1;
	ck_assert(!gh_mapped_files_find(&files, &memory, &image, &bias, &err));
	ck_assert_str_eq(err.text, "/proc/self/exe: expected the file of a library that the "
				   "process has loaded, found another: it was replaced since");
	gh_image_close(&image);
}
END_TEST

/* Larger than the kernel's highest (PID_MAX_LIMIT). */
START_TEST(a_process_that_is_not_there_is_told)
{
	struct gh_stopped stopped;
	struct gh_error err;
	ck_assert(!gh_stopped_make(&stopped, INT32_MAX, &err));
	ck_assert_str_eq(err.text, "there is no process 2147483647: it has ended, or the number "
				   "is wrong");
	pid_t ended = fork();
	if (ended == 0)
		_exit(0);
	siginfo_t info;
	waitid(P_PID, (id_t)ended, &info, WEXITED | WNOWAIT);
	char expected[128];
	snprintf(expected, sizeof(expected),
		 "process %d has ended, and its parent, process %d, has not noticed", ended,
		 getpid());
	errno = ESRCH;
	ck_assert(!gh_stopped_fail(ended, &err));
	ck_assert_str_eq(err.text, expected);
	waitpid(ended, NULL, 0);
}
END_TEST

void process_tests(TCase *tcase)
{
	/* Every word size, byte order and layout of runtime.g; one format of pclntab does. */
	enum { FIRST = SYNTHETIC_1_20 * 8, LAST = FIRST + 8 };
	tcase_add_loop_test(tcase, goroutines_and_frames_are_read, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_running_one_is_where_its_thread_is, FIRST, LAST);
	tcase_add_loop_test(tcase, one_in_a_system_call_is_where_it_entered, FIRST, LAST);
	tcase_add_loop_test(tcase, wait_reasons_are_the_programs, FIRST, LAST);
	tcase_add_loop_test(tcase, finalizers_are_the_users, FIRST, LAST);
	tcase_add_loop_test(tcase, a_bad_entry_loses_none_of_the_others, FIRST, LAST);
	tcase_add_loop_test(tcase, a_list_that_goes_on_past_the_memory_is_read_so_far, FIRST, LAST);
	tcase_add_loop_test(tcase, one_that_ended_is_not_missing, FIRST, LAST);
	tcase_add_loop_test(tcase, repeated_entries_are_listed_once, FIRST, LAST);
	tcase_add_loop_test(tcase, a_list_is_no_longer_than_the_memory, FIRST, LAST);
	tcase_add_loop_test(tcase, variables_without_end_are_looked_through, FIRST, LAST);
	tcase_add_loop_test(tcase, variables_elsewhere_hold_nothing, FIRST, LAST);
	tcase_add_test(tcase, an_unknown_release_is_taken_for_the_newest);
	tcase_add_test(tcase, where_a_goroutine_is_locked);
	tcase_add_loop_test(tcase, a_release_without_a_known_list_is_told, FIRST, LAST);
	tcase_add_loop_test(tcase, a_process_without_a_heap_is_told, FIRST, LAST);
	tcase_add_test(tcase, a_file_that_is_not_what_is_mapped_is_told);
	tcase_add_test(tcase, a_process_that_is_not_there_is_told);
}
