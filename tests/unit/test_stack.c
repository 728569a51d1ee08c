/* The stacks of goroutines in the memory of a process, whole and hostile. */
#include <elf.h>
#include <stddef.h>

#include "lib/process/internal.h"
#include "tests/unit/snapshot.h"
#include "tests/unit/suites.h"

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
	struct synthetic what = {.format = SYNTHETIC_1_20, .word = 8, .last = "runtime.sigtramp"};
	what.machine = arm ? EM_AARCH64 : EM_X86_64;
	struct snapshot snapshot;
	snapshot_make_of(&snapshot, &what, 25);
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
	ck_assert(snapshot_take(&snapshot));

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
	snapshot_release(&snapshot);
}
END_TEST

START_TEST(a_stack_ends_where_it_says)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	snapshot.memory = process_memory(&snapshot.maker);
	struct gh_stack stack;
	struct gh_stack_frame frame;
	unsigned word = snapshot.maker.what.word;
	struct gh_goroutine g = {.stack_low = process_stack(0), .sp = process_stack(0)};
	g.pc = SYNTHETIC_TEXT + 0x60;
	/* The frame that main.leaf has there, with its return address on other machines. */
	g.stack_high = g.sp + 16 + (snapshot.maker.link_register ? 0 : word);
	ck_assert(gh_stack_open(&stack, &snapshot.process));
	gh_stack_start(&stack, &g);
	ck_assert(gh_stack_next(&stack, &frame));
	ck_assert_uint_eq(frame.sp, g.sp);
	ck_assert_uint_eq(frame.end, g.stack_high);
	/* Its caller's would begin past it. */
	ck_assert(!gh_stack_next(&stack, &frame));
	/* One that would end past it is not believed; one that begins there is none. */
	g.stack_high--;
	gh_stack_start(&stack, &g);
	ck_assert(gh_stack_next(&stack, &frame));
	ck_assert_uint_eq(frame.end, frame.sp);
	g.stack_high = g.sp;
	gh_stack_start(&stack, &g);
	ck_assert(!gh_stack_next(&stack, &frame));
	gh_stack_free(&stack);
	snapshot_release(&snapshot);
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
		snapshot_make(&snapshot, _i);
		snapshot_set(&snapshot, 1, 0, stacks[i].low);
		snapshot_set(&snapshot, 1, 1, stacks[i].high);
		snapshot_set(&snapshot, 1, 7, stacks[i].sp);
		ck_assert(snapshot_take(&snapshot));
		if (stacks[i].low <= stacks[i].high) {
			ck_assert_uint_le(gh_dump_stack(&snapshot.dump, 1)->nframes, 1);
			snapshot_check_stack(&snapshot, 2);
		} else {
			ck_assert_uint_eq(snapshot.lost, 1);
			ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), 2);
		}
		snapshot_release(&snapshot);
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
	snapshot_set(snapshot, 0, 0, PROCESS_ADDRESS + PROCESS_SIZE);
	snapshot_set(snapshot, 0, 1, 0x7fffffff);
	snapshot_set(snapshot, 0, 7, PROCESS_ADDRESS + PROCESS_SIZE);
	snapshot_set(snapshot, 0, 8, SYNTHETIC_TEXT + 0x54);
}

START_TEST(a_stack_ends_with_the_memory)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	fill_with_calls(&snapshot, 1 << 18);
	ck_assert(snapshot_take(&snapshot));
	size_t words = ((1 << 18) - PROCESS_SIZE) / snapshot.maker.what.word;
	ck_assert_uint_eq(gh_dump_stack(&snapshot.dump, 0)->nframes,
			  snapshot.maker.link_register ? 2 : words + 1);
	snapshot_release(&snapshot);
}
END_TEST

START_TEST(frames_are_no_more_than_the_words_of_memory)
{
	struct snapshot snapshot;
	snapshot_make(&snapshot, _i);
	fill_with_calls(&snapshot, 1 << 20);
	for (int i = 1; i < PROCESS_GOROUTINES; i++) {
		snapshot_set(&snapshot, i, 0, PROCESS_ADDRESS + PROCESS_SIZE);
		snapshot_set(&snapshot, i, 1, 0x7fffffff);
		snapshot_set(&snapshot, i, 7, PROCESS_ADDRESS + PROCESS_SIZE);
		snapshot_set(&snapshot, i, 8, SYNTHETIC_TEXT + 0x54);
	}
	ck_assert(snapshot_take(&snapshot));
	ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_GOROUTINE), PROCESS_GOROUTINES);
	size_t words = (1 << 20) / snapshot.maker.what.word;
	ck_assert_uint_le(snapshot_count(&snapshot, GH_DUMP_FRAME), words);
	if (!snapshot.maker.link_register)
		ck_assert_uint_eq(snapshot_count(&snapshot, GH_DUMP_FRAME), words);
	snapshot_release(&snapshot);
}
END_TEST

void stack_tests(TCase *tcase)
{
	enum { FIRST = SYNTHETIC_1_20 * 8, LAST = FIRST + 8 };
	tcase_add_loop_test(tcase, a_signal_handler_is_left, 0, 2);
	tcase_add_loop_test(tcase, a_stack_ends_where_it_says, FIRST, LAST);
	tcase_add_loop_test(tcase, stacks_anywhere_have_no_frames, FIRST, LAST);
	tcase_add_loop_test(tcase, a_stack_ends_with_the_memory, FIRST, LAST);
	tcase_add_loop_test(tcase, frames_are_no_more_than_the_words_of_memory, FIRST, LAST);
}
