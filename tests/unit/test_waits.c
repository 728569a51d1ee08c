/* What goroutines wait for: channels, sleep, and who has it. */
#include "tests/unit/suites.h"
#include "tests/unit/waitmaker.h"

static void check_case(size_t wait, size_t number, uint64_t channel, uint64_t sudog, bool send)
{
	const struct gh_wait *found = &wait_scene.waits.list.items[wait];
	ck_assert_uint_lt(number, found->ncases);
	const struct gh_wait_case *item = &wait_scene.waits.cases.items[found->first + number];
	ck_assert_uint_eq(wait_scene.waits.channels.items[item->channel].address, channel);
	ck_assert_uint_eq(item->sudog, sudog);
	ck_assert_int_eq(item->send, send);
}

/* Two receive from one channel, which a select sends on and receives from another. */
START_TEST(channels_have_queues)
{
	wait_start(_i);
	struct wait_offsets at = wait_scene.at;
	uint64_t a = wait_channel(0, 0), b = wait_channel(0, 0);
	uint64_t receiver = wait_sudog(a, 0), other = wait_sudog(a, 0);
	uint64_t of_b = wait_sudog(b, 0), of_a = wait_sudog(a, of_b);
	uint64_t g1 = wait_g(receiver), g2 = wait_g(other), g3 = wait_g(of_a);
	wait_put_word(receiver, g1);
	wait_put_word(other, g2);
	wait_put_word(of_a, g3);
	wait_put_word(of_b, g3);
	wait_put_word(a + at.recvq, receiver);
	wait_put_word(receiver + at.next, other);
	wait_put_word(a + at.sendq, of_a);
	wait_put_word(b + at.recvq, of_b);
	wait_put_word(a, 3);
	wait_put_word(a + wait_scene.word, 7);
	wait_put(a + at.elemsize, 24, 2);
	wait_put(a + at.closed, 1, 4);
	wait_put_word(a + at.elemtype, 0x5678);
	wait_goroutine(g1, 4, "chan receive");
	wait_goroutine(g2, 4, "chan receive (synctest)");
	wait_goroutine(g3, 4, "select");
	wait_find();
	ck_assert_uint_eq(wait_scene.waits.list.count, 3);
	static const enum gh_wait_kind kinds[] = {GH_WAIT_RECEIVE, GH_WAIT_RECEIVE, GH_WAIT_SELECT};
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(wait_scene.waits.list.items[i].goroutine, i);
		ck_assert_int_eq(wait_scene.waits.list.items[i].kind, kinds[i]);
		ck_assert_uint_eq(wait_scene.waits.list.items[i].ncases, i == 2 ? 2 : 1);
		ck_assert(!wait_scene.waits.list.items[i].never);
	}
	check_case(0, 0, a, receiver, false);
	check_case(1, 0, a, other, false);
	check_case(2, 0, a, of_a, true);
	check_case(2, 1, b, of_b, false);
	ck_assert_uint_eq(wait_scene.waits.channels.count, 2);
	const struct gh_channel *channel = &wait_scene.waits.channels.items[0];
	ck_assert_uint_eq(channel->length, 3);
	ck_assert_uint_eq(channel->capacity, 7);
	ck_assert_uint_eq(channel->elem_size, 24);
	ck_assert_uint_eq(channel->elem_type, 0x5678);
	ck_assert_uint_eq(channel->receivers, 2);
	ck_assert_uint_eq(channel->senders, 1);
	ck_assert(channel->closed && !channel->timer);
	ck_assert(!wait_scene.waits.channels.items[1].closed);
	ck_assert_uint_eq(wait_scene.waits.channels.items[1].receivers, 1);
	ck_assert_uint_eq(wait_scene.waits.channels.items[1].senders, 0);
	wait_clean_up();
}
END_TEST

/* Before Go 1.23 nothing says that a channel is a timer's. */
START_TEST(channels_of_timers_fire)
{
	wait_start(_i);
	uint64_t timer = wait_object();
	uint64_t channel = wait_channel(0, 0);
	uint64_t sudog = wait_sudog(channel, 0);
	uint64_t g = wait_g(sudog);
	wait_put_word(sudog, g);
	wait_put_word(channel + wait_scene.at.recvq, sudog);
	if (wait_scene.minor >= 23)
		wait_put_word(channel + wait_scene.at.timer, timer);
	wait_put(timer + wait_scene.at.when, UINT64_C(123456789012), 8);
	wait_goroutine(g, 4, "chan receive");
	wait_find();
	ck_assert_uint_eq(wait_scene.waits.channels.count, 1);
	ck_assert_int_eq(wait_scene.waits.channels.items[0].timer, wait_scene.minor >= 23);
	ck_assert_uint_eq(wait_scene.waits.channels.items[0].when,
			  wait_scene.minor >= 23 ? UINT64_C(123456789012) : 0);
	wait_clean_up();
}
END_TEST

/* What does not fit together is no case. */
START_TEST(cases_that_do_not_fit_are_none)
{
	wait_start(_i);
	uint64_t channel = wait_channel(0, 0);
	uint64_t unqueued = wait_sudog(channel, 0);
	uint64_t of_other = wait_sudog(channel, 0);
	uint64_t nowhere = wait_sudog(WAIT_NOWHERE, 0);
	uint64_t none = wait_sudog(0, 0);
	uint64_t all[] = {unqueued, of_other, nowhere, none, 0};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		uint64_t g = wait_g(all[i]);
		if (all[i] != 0 && all[i] != of_other)
			wait_put_word(all[i], g);
		wait_goroutine(g, 4, "chan send");
	}
	wait_find();
	ck_assert_uint_eq(wait_scene.waits.list.count, 5);
	for (size_t i = 0; i < 5; i++) {
		ck_assert_uint_eq(wait_scene.waits.list.items[i].ncases, 0);
		ck_assert_int_eq(wait_scene.waits.list.items[i].kind, GH_WAIT_SEND);
	}
	wait_clean_up();
}
END_TEST

/* A select that waits and has no record of that has nil channels alone; unless the goroutine's own
 * memory is not there. */
START_TEST(select_of_nil_channels_never_ends)
{
	wait_start(_i);
	uint64_t sudog = wait_sudog(0, 0);
	uint64_t all[] = {wait_g(0), wait_g(sudog), wait_g(0)};
	wait_put_word(all[0], 0x1000);
	wait_put_word(all[1], 0x1000);
	for (size_t i = 0; i < 3; i++)
		wait_goroutine(all[i], 4, "select");
	wait_find();
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(wait_scene.waits.list.items[i].kind, GH_WAIT_SELECT);
		ck_assert_int_eq(wait_scene.waits.list.items[i].never, i == 0);
		ck_assert_int_eq(wait_scene.waits.list.items[i].only_nil, i == 0);
	}
	wait_clean_up();
}
END_TEST

/* The word of runtime.g that has the time, from Go 1.23 on, or the timer. */
START_TEST(sleepers_have_times)
{
	wait_start(_i);
	uint64_t g = wait_g(0);
	uint64_t timer = wait_object();
	unsigned word = wait_scene.word;
	if (wait_scene.minor < 23) {
		wait_put_word(g + 49 * (uint64_t)word, timer);
		wait_put(timer + word, UINT64_C(99000000001), 8);
	} else {
		wait_put(g + 50 * (uint64_t)word, UINT64_C(99000000001), 8);
	}
	uint64_t other = wait_g(0);
	wait_goroutine(g, 4, "sleep");
	wait_goroutine(other, 4, "sleep");
	wait_find();
	ck_assert_int_eq(wait_scene.waits.list.items[0].kind, GH_WAIT_SLEEP);
	ck_assert_uint_eq(wait_scene.waits.list.items[0].when, UINT64_C(99000000001));
	ck_assert_uint_eq(wait_scene.waits.list.items[1].when, 0);
	wait_clean_up();
}
END_TEST

START_TEST(reasons_and_states_have_kinds)
{
	static const struct {
		uint64_t status;
		const char *reason;
		enum gh_wait_kind kind;
		bool never;
	} cases[] = {
	    {4, "chan send", GH_WAIT_SEND, false},
	    {4, "chan send (nil chan)", GH_WAIT_SEND, true},
	    {4, "chan receive", GH_WAIT_RECEIVE, false},
	    {4, "chan receive (nil chan)", GH_WAIT_RECEIVE, true},
	    {4, "chan receive (other)", GH_WAIT_RECEIVE, false},
	    {4, "chan receiver", GH_WAIT_OTHER, false},
	    {4, "select", GH_WAIT_SELECT, false},
	    {4, "select (no cases)", GH_WAIT_SELECT, true},
	    {4, "sleep", GH_WAIT_SLEEP, false},
	    {4, "IO wait", GH_WAIT_DESCRIPTOR, false},
	    {4, "semacquire", GH_WAIT_OTHER, false},
	    {4, "", GH_WAIT_OTHER, false},
	    {3, "", GH_WAIT_SYSCALL, false},
	};
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };
	wait_start(_i);
	for (size_t i = 0; i < CASES; i++)
		wait_goroutine(wait_g(0), cases[i].status, cases[i].reason);
	/* One runs, one is ready. */
	wait_goroutine(wait_g(0), 1, "");
	wait_goroutine(wait_g(0), 2, "select");
	wait_find();
	ck_assert_uint_eq(wait_scene.waits.list.count, CASES);
	for (size_t i = 0; i < CASES; i++) {
		const struct gh_wait *wait = &wait_scene.waits.list.items[i];
		ck_assert_msg(wait->kind == cases[i].kind, "%s", cases[i].reason);
		ck_assert_msg(wait->never == cases[i].never, "%s", cases[i].reason);
		ck_assert_int_eq(wait->descriptor, GH_NO_DESCRIPTOR);
		ck_assert_uint_eq(wait->object, 0);
	}
	gh_waits_free(&wait_scene.waits);
	struct gh_error err;
	ck_assert(gh_waits_find_one(&wait_scene.waits, &wait_scene.dump, 2, &err));
	ck_assert_uint_eq(wait_scene.waits.list.count, 1);
	ck_assert_uint_eq(wait_scene.waits.list.items[0].goroutine, 2);
	wait_clean_up();
}
END_TEST

START_TEST(kinds_have_names)
{
	static const char *const names[] = {"other",  "send",         "receive",       "select",
					    "mutex",  "rwmutex read", "rwmutex write", "waitgroup",
					    "cond",   "semaphore",    "sleep",         "descriptor",
					    "syscall"};
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_str_eq(gh_wait_kind_name(i), names[i]);
}
END_TEST

/* Goroutines have what their frames point to, but not what they wait for themselves. */
START_TEST(objects_have_holders)
{
	struct gh_object_holders holders;
	wait_start(_i);
	uint64_t channel = wait_channel(0, 0), group = 0x7000, mutex = 0x7100;
	uint64_t sudog = wait_sudog(channel, 0);
	uint64_t g1 = wait_g(sudog), g2 = wait_g(0), g3 = wait_g(0), g4 = wait_g(0);
	wait_put_word(sudog, g1);
	wait_put_word(channel + wait_scene.at.recvq, sudog);
	wait_goroutine(g1, 4, "chan receive");
	wait_frame(0, "main.wait", channel, mutex);
	wait_goroutine(g2, 1, "");
	wait_frame(0, "main.run", 0, 0);
	wait_goroutine(g3, 4, "semacquire");
	wait_frame(0, "main.f", channel, group);
	wait_frame(1, "main.g", channel, 0);
	wait_goroutine(g4, 1, "");
	wait_frame(0, "main.h", mutex, 0);
	wait_frame(1, "main.i", 0, channel);
	wait_find();
	ck_assert_uint_eq(wait_scene.waits.list.count, 2);
	wait_scene.waits.list.items[1].kind = GH_WAIT_WAITGROUP;
	wait_scene.waits.list.items[1].object = group;
	ck_assert(gh_object_holders_find(&holders, &wait_scene.waits));
	struct gh_object_holder found = gh_object_holders_at(&holders, channel);
	ck_assert_uint_eq(found.count, 2);
	ck_assert_uint_eq(found.first, 2);
	ck_assert_uint_eq(gh_object_holders_at(&holders, group).count, 0);
	ck_assert_uint_eq(gh_object_holders_at(&holders, mutex).count, 0);
	ck_assert_uint_eq(holders.list.count, 2);
	gh_object_holders_free(&holders);
	/* What is a condition is looked for; what is a mutex is not. */
	wait_scene.waits.list.items[0].kind = GH_WAIT_COND;
	wait_scene.waits.list.items[0].object = mutex;
	wait_scene.waits.list.items[1].kind = GH_WAIT_MUTEX;
	ck_assert(gh_object_holders_find(&holders, &wait_scene.waits));
	ck_assert_uint_eq(gh_object_holders_at(&holders, mutex).count, 2);
	ck_assert_uint_eq(gh_object_holders_at(&holders, mutex).first, 0);
	ck_assert_uint_eq(holders.list.count, 2);
	gh_object_holders_free(&holders);
	wait_clean_up();
}
END_TEST

void waits_tests(TCase *tests)
{
	tcase_add_test(tests, kinds_have_names);
	tcase_add_loop_test(tests, channels_have_queues, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, channels_of_timers_fire, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, cases_that_do_not_fit_are_none, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, select_of_nil_channels_never_ends, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, sleepers_have_times, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, reasons_and_states_have_kinds, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, objects_have_holders, 0, WAIT_VARIANTS);
}
