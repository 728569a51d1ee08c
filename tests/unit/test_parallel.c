#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "lib/util/parallel.h"
#include "tests/unit/suites.h"

#define COUNT 10000

struct work {
	atomic_uint done[COUNT];       /* how often each number was worked on */
	atomic_uint running, together; /* threads at work, and the most there ever were */
	pthread_t caller;
	atomic_bool was_caller;      /* a number was worked on by the caller's thread */
	atomic_bool others_take_one; /* a thread that is not the caller's would take a signal */
};

static void do_one(void *context, uint32_t number)
{
	struct work *work = context;
	unsigned running = ++work->running;
	unsigned most = work->together;
	while (running > most && !atomic_compare_exchange_weak(&work->together, &most, running))
		;
	work->done[number]++;
	if (pthread_equal(pthread_self(), work->caller)) {
		work->was_caller = true;
	} else {
		sigset_t blocked;
		pthread_sigmask(SIG_SETMASK, NULL, &blocked);
		if (!sigismember(&blocked, SIGINT))
			work->others_take_one = true;
	}
	work->running--;
}

START_TEST(each_number_is_worked_on_once)
{
	static struct work work;
	static const uint32_t counts[] = {0, 1, 2, 7, 8, 9, COUNT};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		work = (struct work){.caller = pthread_self()};
		gh_parallel(counts[i], do_one, &work);
		for (uint32_t number = 0; number < COUNT; number++)
			ck_assert_uint_eq(work.done[number], number < counts[i]);
		ck_assert_uint_eq(work.running, 0);
		ck_assert_uint_le(work.together, gh_parallel_width());
		ck_assert(!work.others_take_one);
		if (counts[i] == 1)
			ck_assert(work.was_caller);
	}
}
END_TEST

static void note_order(void *context, uint32_t number)
{
	/* A number is taken when all lower ones have been; one thread's ascend. */
	static _Thread_local uint32_t next;
	atomic_bool *wrong = context;
	if (number < next)
		*wrong = true;
	next = number + 1;
}

START_TEST(numbers_ascend)
{
	atomic_bool wrong = false;
	gh_parallel(COUNT, note_order, &wrong);
	ck_assert(!wrong);
}
END_TEST

struct ordered {
	struct work work;
	uint32_t taken;     /* numbers */
	bool wrong;         /* one was taken out of order, or before it was worked on */
	atomic_uint taking; /* threads */
};

/* Some take much longer than others. */
static void work_unevenly(void *context, uint32_t number)
{
	struct ordered *ordered = context;
	for (volatile uint32_t i = 0; i < number % 7 * 1000; i++)
		;
	do_one(&ordered->work, number);
}

static void take_one(void *context, uint32_t number)
{
	struct ordered *ordered = context;
	ordered->wrong |=
	    ++ordered->taking > 1 || number != ordered->taken++ || ordered->work.done[number] != 1;
	ordered->taking--;
}

START_TEST(what_is_done_is_taken_in_order)
{
	static struct ordered ordered;
	static const uint32_t counts[] = {0, 1, 2, 9, COUNT};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		ordered = (struct ordered){.work.caller = pthread_self()};
		ck_assert(gh_parallel_ordered(counts[i], work_unevenly, take_one, &ordered));
		ck_assert_uint_eq(ordered.taken, counts[i]);
		ck_assert(!ordered.wrong);
	}
}
END_TEST

START_TEST(signals_are_as_before)
{
	static struct work work;
	sigset_t before, after;
	sigemptyset(&before);
	sigaddset(&before, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	work.caller = pthread_self();
	gh_parallel(100, do_one, &work);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	ck_assert(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGINT));
}
END_TEST

START_TEST(width_is_bounded)
{
	ck_assert_uint_ge(gh_parallel_width(), 1);
	ck_assert_uint_le(gh_parallel_width(), GH_PARALLEL_MAX);
}
END_TEST

void parallel_tests(TCase *tests)
{
	tcase_add_test(tests, each_number_is_worked_on_once);
	tcase_add_test(tests, numbers_ascend);
	tcase_add_test(tests, what_is_done_is_taken_in_order);
	tcase_add_test(tests, signals_are_as_before);
	tcase_add_test(tests, width_is_bounded);
}
