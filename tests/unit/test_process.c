/* Goroutines in the memory of a process, whole and hostile. */
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>

#include "lib/dump/dump.h"
#include "lib/process/as_dump.h"
#include "tests/unit/fixture.h"
#include "tests/unit/processmaker.h"
#include "tests/unit/suites.h"

/* A process, and what is read of it. */
struct snapshot {
	struct fixture program;
	struct processmaker maker;
	struct gh_memory memory;
	struct gh_registers thread;
	struct gh_process process;
	struct gh_buffer bytes;
	struct gh_buffer ties;
	struct gh_dump dump;
	uint64_t lost; /* goroutines left out */
};

static void make_of(struct snapshot *snapshot, const struct synthetic *what, int minor)
{
	*snapshot = (struct snapshot){0};
	fixture_open_as(&snapshot->program, what);
	snapshot->maker = (struct processmaker){
	    .what = *what,
	    .minor = minor,
	    .link_register = snapshot->program.image.arch->link_register,
	};
	process_make(&snapshot->maker);
	struct gh_moduledata *module = &snapshot->program.tab.module;
	module->bss = PROCESS_ADDRESS;
	module->ebss = PROCESS_ADDRESS + PROCESS_BSS;
	snapshot->process = (struct gh_process){
	    .memory = {.source = &snapshot->memory, .big_endian = snapshot->maker.what.big_endian},
	    .tab = &snapshot->program.tab,
	    .minor = snapshot->maker.minor,
	    .threads = &snapshot->thread,
	    .nthreads = 1,
	};
}

static void make(struct snapshot *snapshot, int number)
{
	struct synthetic what = fixture_variant(number);
	make_of(snapshot, &what, number & 4 ? 22 : 25);
}

/* Takes the snapshot; false if there is none. */
static bool take(struct snapshot *snapshot)
{
	struct gh_error err;
	snapshot->memory = process_memory(&snapshot->maker);
	if (!gh_snapshot_make(&snapshot->bytes, &snapshot->ties, &snapshot->process, "go1.0",
			      &snapshot->lost, &err))
		return false;
	ck_assert_msg(gh_dump_open_memory(&snapshot->dump, snapshot->bytes.data,
					  snapshot->bytes.size, "snapshot", &err),
		      "%s", err.text);
	return true;
}

static void release(struct snapshot *snapshot)
{
	gh_dump_close(&snapshot->dump);
	gh_buffer_free(&snapshot->bytes);
	gh_buffer_free(&snapshot->ties);
	gh_process_memory_free(&snapshot->process.memory);
	free(snapshot->maker.bytes);
	fixture_close(&snapshot->program);
}

/* Writes the word at OFFSET words of goroutine NUMBER. */
static void set(struct snapshot *snapshot, int number, unsigned offset, uint64_t value)
{
	process_put_word(&snapshot->maker,
			 process_goroutine(number) + offset * snapshot->maker.what.word, value);
}

/* Writes runtime.allgs. */
static void set_list(struct snapshot *snapshot, uint64_t list, uint64_t count)
{
	unsigned word = snapshot->maker.what.word;
	process_put_word(&snapshot->maker, PROCESS_ADDRESS + 2 * word, list);
	process_put_word(&snapshot->maker, PROCESS_ADDRESS + 3 * word, count);
	process_put_word(&snapshot->maker, PROCESS_ADDRESS + 4 * word, count);
}

static size_t count(const struct snapshot *snapshot, enum gh_dump_kind kind)
{
	return gh_dump_count(&snapshot->dump, kind);
}

static struct gh_dump_goroutine goroutine(const struct snapshot *snapshot, size_t number)
{
	struct gh_dump_record record;
	gh_dump_get(&snapshot->dump, GH_DUMP_GOROUTINE, number, &record);
	return record.goroutine;
}

static void check_stack(const struct snapshot *snapshot, size_t number)
{
	static const uint32_t entries[PROCESS_FRAMES] = {0x50, 0, 0x70};
	static const uint32_t pcs[PROCESS_FRAMES] = {0x60, 0x20, 0x74};
	static const uint32_t sizes[PROCESS_FRAMES] = {16, 24, 0};
	const struct gh_dump_stack *stack = gh_dump_stack(&snapshot->dump, number);
	unsigned pushed = snapshot->maker.link_register ? 0 : snapshot->maker.what.word;
	uint64_t sp = process_stack((int)number);
	ck_assert_uint_eq(stack->nframes, PROCESS_FRAMES);
	for (unsigned i = 0; i < PROCESS_FRAMES; i++) {
		struct gh_dump_record record;
		gh_dump_get(&snapshot->dump, GH_DUMP_FRAME, stack->first_frame + i, &record);
		ck_assert_uint_eq(record.frame.entry, SYNTHETIC_TEXT + entries[i]);
		ck_assert_uint_eq(record.frame.pc, SYNTHETIC_TEXT + pcs[i]);
		ck_assert_uint_eq(record.frame.sp, sp);
		sp += sizes[i] + pushed;
	}
}

START_TEST(goroutines_and_frames_are_read)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	ck_assert(take(&snapshot));
	ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	for (unsigned i = 0; i < PROCESS_GOROUTINES; i++) {
		struct gh_dump_goroutine g = goroutine(&snapshot, i);
		ck_assert_uint_eq(g.descriptor, process_goroutine((int)i));
		ck_assert_uint_eq(g.id, i + 1);
		ck_assert_uint_eq(g.status, GH_DUMP_WAITING);
		ck_assert_uint_eq(g.creator_pc, SYNTHETIC_TEXT + 0x20);
		check_stack(&snapshot, i);
	}
	release(&snapshot);
}
END_TEST

START_TEST(a_running_one_is_where_its_thread_is)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	process_put(&snapshot.maker, process_goroutine(1) + process_status_at(&snapshot.maker),
		    GH_DUMP_RUNNING, 4);
	set(&snapshot, 1, 7, 1);
	struct gh_registers threads[] = {
	    {.pc = SYNTHETIC_TEXT, .sp = 0},
	    {.pc = SYNTHETIC_TEXT, .sp = process_stack(2) + PROCESS_STACK},
	    {.pc = SYNTHETIC_TEXT + 0x60, .sp = process_stack(1)},
	    {.pc = SYNTHETIC_TEXT, .sp = UINT64_MAX},
	};
	snapshot.process.threads = threads;
	snapshot.process.nthreads = 4;
	ck_assert(take(&snapshot));
	const struct gh_dump_stack *stack = gh_dump_stack(&snapshot.dump, 1);
	struct gh_dump_record record;
	ck_assert_uint_eq(stack->nframes, PROCESS_FRAMES);
	gh_dump_get(&snapshot.dump, GH_DUMP_FRAME, stack->first_frame, &record);
	ck_assert_uint_eq(record.frame.sp, process_stack(1));
	release(&snapshot);
}
END_TEST

START_TEST(one_in_a_system_call_is_where_it_entered)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	uint64_t entered = process_goroutine(0) + process_syscall_sp_at(&snapshot.maker);
	set(&snapshot, 0, 7, 1);
	process_put_word(&snapshot.maker, entered, process_stack(0));
	process_put_word(&snapshot.maker, entered + snapshot.maker.what.word,
			 SYNTHETIC_TEXT + 0x60);
	ck_assert(take(&snapshot));
	check_stack(&snapshot, 0);
	release(&snapshot);
}
END_TEST

/* What the kernel puts on the stack of a signal handler, and the address of which it has: struct
 * rt_sigframe in arch/x86/include/asm/sigframe.h and arch/arm64/kernel/signal.c, with what is in it
 * of uapi/asm/sigcontext.h and ucontext.h. */
struct amd64_frame {
	uint64_t return_address, flags, link, stack[3];
	uint64_t r8_to_r15[8], di, si, bp, bx, dx, ax, cx, sp, ip;
};

struct arm64_frame {
	uint8_t info[128];
	uint64_t flags, link, stack[3];
	uint8_t mask[128];
	_Alignas(16) uint64_t fault_address;
	uint64_t registers[31], sp, pc;
};

/* The signal came in main.leaf before that had a frame: by the registers that the kernel kept. */
START_TEST(a_signal_handler_is_left)
{
	bool arm = _i == 1;
	struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .handler = true};
	what.machine = arm ? EM_AARCH64 : EM_X86_64;
	struct snapshot snapshot;
	make_of(&snapshot, &what, 25);
	process_put(&snapshot.maker, process_goroutine(1) + process_status_at(&snapshot.maker),
		    GH_DUMP_RUNNING, 4);
	uint64_t frame = PROCESS_ADDRESS + PROCESS_SIZE;
	uint64_t pc =
	    frame + (arm ? offsetof(struct arm64_frame, pc) : offsetof(struct amd64_frame, ip));
	uint64_t sp =
	    frame + (arm ? offsetof(struct arm64_frame, sp) : offsetof(struct amd64_frame, sp));
	uint64_t lr = frame + offsetof(struct arm64_frame, registers[30]);
	process_resize(&snapshot.maker, PROCESS_SIZE + 0x400);
	process_put_word(&snapshot.maker, pc, SYNTHETIC_TEXT + 0x54);
	process_put_word(&snapshot.maker, sp, process_stack(1));
	/* Where main.leaf returns to. */
	process_put_word(&snapshot.maker, arm ? lr : process_stack(1), SYNTHETIC_TEXT + 0x20);
	if (arm)
		process_put_word(&snapshot.maker, process_stack(1), 0);
	snapshot.thread = (struct gh_registers){.pc = SYNTHETIC_TEXT + 0x74, .sp = frame};
	ck_assert(take(&snapshot));

	const struct gh_dump_stack *stack = gh_dump_stack(&snapshot.dump, 1);
	struct gh_dump_record record;
	ck_assert_uint_eq(stack->nframes, 2);
	gh_dump_get(&snapshot.dump, GH_DUMP_FRAME, stack->first_frame, &record);
	ck_assert_uint_eq(record.frame.pc, SYNTHETIC_TEXT + 0x54);
	ck_assert_uint_eq(record.frame.sp, process_stack(1));
	ck_assert_uint_eq(record.frame.continuation, GH_DUMP_INTERRUPTED);
	gh_dump_get(&snapshot.dump, GH_DUMP_FRAME, stack->first_frame + 1, &record);
	ck_assert_uint_eq(record.frame.pc, SYNTHETIC_TEXT + 0x20);
	ck_assert_uint_eq(record.frame.sp, process_stack(1) + (arm ? 0 : 8));
	release(&snapshot);
}
END_TEST

START_TEST(stacks_anywhere_have_no_frames)
{
	static const struct {
		uint64_t low, high, sp;
	} stacks[] = {
	    {0, 0x7fffffff, 0},
	    {0, 0x7fffffff, 0x7ffffffe},
	    {PROCESS_ADDRESS, PROCESS_ADDRESS, PROCESS_ADDRESS},
	    {PROCESS_ADDRESS + PROCESS_STACK, PROCESS_ADDRESS, PROCESS_ADDRESS + 8},
	    {PROCESS_ADDRESS, PROCESS_ADDRESS + PROCESS_SIZE, PROCESS_ADDRESS - 1},
	};
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		struct snapshot snapshot;
		make(&snapshot, _i);
		set(&snapshot, 1, 0, stacks[i].low);
		set(&snapshot, 1, 1, stacks[i].high);
		set(&snapshot, 1, 7, stacks[i].sp);
		ck_assert(take(&snapshot));
		if (stacks[i].low <= stacks[i].high) {
			ck_assert_uint_le(gh_dump_stack(&snapshot.dump, 1)->nframes, 1);
			check_stack(&snapshot, 2);
		} else {
			ck_assert_uint_eq(snapshot.lost, 1);
			ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), 2);
		}
		release(&snapshot);
	}
}
END_TEST

/* Fills the memory past the first bytes with return addresses into main.leaf, where its frame has
 * no size: on a stack there no frame but the top one is the last, and none takes more than a word.
 */
static void fill_with_calls(struct snapshot *snapshot, size_t size)
{
	unsigned word = snapshot->maker.what.word;
	process_resize(&snapshot->maker, size);
	for (size_t at = PROCESS_SIZE; at < size; at += word)
		process_put_word(&snapshot->maker, PROCESS_ADDRESS + at, SYNTHETIC_TEXT + 0x54);
	set(snapshot, 0, 0, PROCESS_ADDRESS + PROCESS_SIZE);
	set(snapshot, 0, 1, 0x7fffffff);
	set(snapshot, 0, 7, PROCESS_ADDRESS + PROCESS_SIZE);
	set(snapshot, 0, 8, SYNTHETIC_TEXT + 0x54);
}

START_TEST(a_stack_ends_with_the_memory)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	fill_with_calls(&snapshot, 1 << 18);
	ck_assert(take(&snapshot));
	size_t words = ((1 << 18) - PROCESS_SIZE) / snapshot.maker.what.word;
	ck_assert_uint_eq(gh_dump_stack(&snapshot.dump, 0)->nframes,
			  snapshot.maker.link_register ? 2 : words + 1);
	release(&snapshot);
}
END_TEST

START_TEST(frames_are_no_more_than_the_words_of_memory)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	fill_with_calls(&snapshot, 1 << 20);
	for (int i = 1; i < PROCESS_GOROUTINES; i++) {
		set(&snapshot, i, 0, PROCESS_ADDRESS + PROCESS_SIZE);
		set(&snapshot, i, 1, 0x7fffffff);
		set(&snapshot, i, 7, PROCESS_ADDRESS + PROCESS_SIZE);
		set(&snapshot, i, 8, SYNTHETIC_TEXT + 0x54);
	}
	ck_assert(take(&snapshot));
	ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	size_t words = (1 << 20) / snapshot.maker.what.word;
	ck_assert_uint_le(count(&snapshot, GH_DUMP_FRAME), words);
	if (!snapshot.maker.link_register)
		ck_assert_uint_eq(count(&snapshot, GH_DUMP_FRAME), words);
	release(&snapshot);
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
			make(&snapshot, _i);
			set_entry(&snapshot, place, bad[i]);
			ck_assert(take(&snapshot));
			ck_assert_uint_eq(snapshot.lost, 1);
			ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), 2);
			ck_assert_uint_eq(goroutine(&snapshot, 0).id, place == 0 ? 2 : 1);
			ck_assert_uint_eq(goroutine(&snapshot, 1).id, place == 2 ? 2 : 3);
			release(&snapshot);
		}
	}
}
END_TEST

START_TEST(a_list_that_goes_on_past_the_memory_is_read_so_far)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	unsigned word = snapshot.maker.what.word;
	uint64_t list = PROCESS_ADDRESS + PROCESS_SIZE - PROCESS_GOROUTINES * word;
	for (int i = 0; i < PROCESS_GOROUTINES; i++)
		process_put_word(&snapshot.maker, list + (unsigned)i * word, process_goroutine(i));
	set_list(&snapshot, list, 100);
	ck_assert(take(&snapshot));
	ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	ck_assert_uint_eq(snapshot.lost, 100 - PROCESS_GOROUTINES);
	release(&snapshot);
}
END_TEST

/* _Gdead, and _Gdeadextra of Go 1.26 on, in src/runtime/runtime2.go. */
START_TEST(one_that_ended_is_not_missing)
{
	static const uint64_t ended[] = {6, 11};
	for (size_t i = 0; i < sizeof(ended) / sizeof(ended[0]); i++) {
		struct snapshot snapshot;
		make(&snapshot, _i);
		process_put(&snapshot.maker,
			    process_goroutine(1) + process_status_at(&snapshot.maker), ended[i], 4);
		ck_assert(take(&snapshot));
		ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), 2);
		ck_assert_uint_eq(snapshot.lost, 0);
		release(&snapshot);
	}
}
END_TEST

START_TEST(repeated_entries_are_listed_once)
{
	static const uint64_t anywhere[] = {0, 1, PROCESS_ADDRESS + PROCESS_SIZE - 8, 0x7fffffff};
	struct snapshot snapshot;
	make(&snapshot, _i);
	unsigned word = snapshot.maker.what.word;
	/* More than are looked at to tell what the list is. */
	uint64_t list = PROCESS_ADDRESS + PROCESS_SIZE;
	process_resize(&snapshot.maker, PROCESS_SIZE + 1024 * word);
	for (unsigned i = 0; i < 1024; i++)
		process_put_word(&snapshot.maker, list + i * word,
				 i % 16 == 0 ? process_goroutine(i % 32 / 16) : anywhere[i % 4]);
	set_list(&snapshot, list, 1024);
	ck_assert(take(&snapshot));
	ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), 2);
	ck_assert_uint_eq(goroutine(&snapshot, 0).id, 1);
	ck_assert_uint_eq(goroutine(&snapshot, 1).id, 2);
	ck_assert_uint_eq(snapshot.dump.damage.duplicate_ids, 0);
	ck_assert_uint_le(snapshot.lost, sizeof(anywhere) / sizeof(anywhere[0]));
	release(&snapshot);
}
END_TEST

START_TEST(a_list_is_no_longer_than_the_memory)
{
	static const uint64_t counts[] = {0, PROCESS_SIZE / 4 + 1, 0x7fffffff, 0xffffffff};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct snapshot snapshot;
		make(&snapshot, _i);
		set_list(&snapshot, process_list(), counts[i]);
		ck_assert(!take(&snapshot));
		release(&snapshot);
	}
}
END_TEST

START_TEST(variables_without_end_are_looked_through)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	struct gh_moduledata *module = &snapshot.program.tab.module;
	module->ebss = UINT64_MAX;
	ck_assert(take(&snapshot));
	ck_assert_uint_eq(count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	release(&snapshot);
}
END_TEST

START_TEST(variables_elsewhere_hold_nothing)
{
	struct snapshot snapshot;
	make(&snapshot, _i);
	struct gh_moduledata *module = &snapshot.program.tab.module;
	module->bss = 0;
	module->ebss = UINT64_MAX;
	ck_assert(!take(&snapshot));
	snapshot.process.bias = UINT64_MAX;
	ck_assert(!take(&snapshot));
	release(&snapshot);
}
END_TEST

Suite *process_suite(void)
{
	/* Every word size, byte order and layout of runtime.g; one format of pclntab does. */
	enum { FIRST = SYNTHETIC_1_20 * 8, LAST = FIRST + 8 };
	Suite *suite = suite_create("process");
	TCase *tcase = tcase_create("process");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, goroutines_and_frames_are_read, 0, FIXTURE_VARIANTS);
	tcase_add_loop_test(tcase, a_running_one_is_where_its_thread_is, FIRST, LAST);
	tcase_add_loop_test(tcase, one_in_a_system_call_is_where_it_entered, FIRST, LAST);
	tcase_add_loop_test(tcase, a_signal_handler_is_left, 0, 2);
	tcase_add_loop_test(tcase, stacks_anywhere_have_no_frames, FIRST, LAST);
	tcase_add_loop_test(tcase, a_stack_ends_with_the_memory, FIRST, LAST);
	tcase_add_loop_test(tcase, frames_are_no_more_than_the_words_of_memory, FIRST, LAST);
	tcase_add_loop_test(tcase, a_bad_entry_loses_none_of_the_others, FIRST, LAST);
	tcase_add_loop_test(tcase, a_list_that_goes_on_past_the_memory_is_read_so_far, FIRST, LAST);
	tcase_add_loop_test(tcase, one_that_ended_is_not_missing, FIRST, LAST);
	tcase_add_loop_test(tcase, repeated_entries_are_listed_once, FIRST, LAST);
	tcase_add_loop_test(tcase, a_list_is_no_longer_than_the_memory, FIRST, LAST);
	tcase_add_loop_test(tcase, variables_without_end_are_looked_through, FIRST, LAST);
	tcase_add_loop_test(tcase, variables_elsewhere_hold_nothing, FIRST, LAST);
	suite_add_tcase(suite, tcase);
	return suite;
}
