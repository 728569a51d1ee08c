/* What goroutines wait for: mutexes, wait groups, conditions and semaphores. */
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"
#include "tests/unit/waitmaker.h"

/* Functions that wait for semaphores, which are at an offset in what they are of. */
static const struct {
	const char *acquirer;
	const char *caller;
	enum gh_wait_kind kind;
	unsigned sema;
} semaphores[] = {
    {"sync.runtime_SemacquireMutex", "sync.(*Mutex).lockSlow", GH_WAIT_MUTEX, 4},
    {"internal/sync.runtime_SemacquireMutex", "internal/sync.(*Mutex).lockSlow", GH_WAIT_MUTEX, 4},
    {"sync.runtime_SemacquireMutex", "sync.(*RWMutex).Lock", GH_WAIT_RWMUTEX_WRITE, 8},
    {"sync.runtime_SemacquireMutex", "main.f", GH_WAIT_RWMUTEX_READ, 12},
    {"sync.runtime_SemacquireRWMutexR", "main.f", GH_WAIT_RWMUTEX_READ, 12},
    {"sync.runtime_SemacquireRWMutex", "main.f", GH_WAIT_RWMUTEX_WRITE, 8},
    {"sync.runtime_SemacquireWaitGroup", "main.f", GH_WAIT_WAITGROUP, 8},
    {"sync.runtime_Semacquire", "sync.(*WaitGroup).Wait", GH_WAIT_WAITGROUP, 8},
    {"sync.runtime_Semacquire", "sync.(*RWMutex).Lock", GH_WAIT_RWMUTEX_WRITE, 8},
    {"sync.runtime_Semacquire", "sync.(*RWMutex).RLock", GH_WAIT_RWMUTEX_READ, 12},
    {"internal/poll.runtime_Semacquire", "main.f", GH_WAIT_SEMAPHORE, 0},
    /* No such call waits for one. */
    {"sync.runtime_Semacquire", "main.f", GH_WAIT_OTHER, 0},
    {"sync.runtime_Semacquire2", "sync.(*WaitGroup).Wait", GH_WAIT_OTHER, 0},
};
enum { SEMAPHORES = sizeof(semaphores) / sizeof(semaphores[0]) };

/* The frames of a goroutine that waits by ACQUIRER, at DEPTH, called by CALLER. */
static void put_frames(unsigned depth, const char *acquirer, const char *caller, uint64_t sudog)
{
	for (unsigned i = 0; i < depth; i++)
		wait_frame(i, "runtime.gopark", 0, i == 0 ? sudog : 0);
	wait_frame(depth, acquirer, 0, depth == 0 ? sudog : 0);
	wait_frame(depth + 1, caller, 0, 0);
	wait_frame(depth + 2, "main.main", 0, 0);
}

/* The sudog is in runtime.g from Go 1.26 on, before only on the stack. */
START_TEST(semaphores_are_told_by_functions)
{
	uint64_t objects[SEMAPHORES], sudogs[SEMAPHORES];
	wait_start(_i);
	for (unsigned i = 0; i < SEMAPHORES; i++) {
		uint64_t sudog = sudogs[i] = wait_object();
		uint64_t g = wait_g(wait_scene.minor >= 26 ? sudog : 0);
		objects[i] = 0x7000 + 0x100 * i;
		wait_put_word(sudog, g);
		wait_put_word(sudog + wait_scene.at.elem, objects[i] + semaphores[i].sema);
		wait_goroutine(g, 4, "semacquire");
		put_frames(2, semaphores[i].acquirer, semaphores[i].caller,
			   wait_scene.minor >= 26 ? 0 : sudogs[i]);
	}
	wait_find();
	ck_assert_uint_eq(wait_scene.waits.list.count, SEMAPHORES);
	for (unsigned i = 0; i < SEMAPHORES; i++) {
		const struct gh_wait *wait = &wait_scene.waits.list.items[i];
		bool is_one = semaphores[i].kind != GH_WAIT_OTHER;
		ck_assert_msg(wait->kind == semaphores[i].kind, "%s, %s", semaphores[i].acquirer,
			      semaphores[i].caller);
		ck_assert_uint_eq(wait->sudog, is_one ? sudogs[i] : 0);
		ck_assert_uint_eq(wait->object, is_one ? objects[i] : 0);
	}
	wait_clean_up();
}
END_TEST

/* Of the first eight frames one is the function. Who waits for a writer's mutex in RWMutex.Lock
 * waits to write, if that is near. */
START_TEST(frames_are_looked_at_to_a_depth)
{
	wait_start(_i);
	for (unsigned depth = 6; depth < 9; depth++) {
		wait_goroutine(wait_g(0), 4, "semacquire");
		put_frames(depth, "sync.runtime_SemacquireWaitGroup", "main.f", 0);
	}
	for (unsigned between = 0; between < 3; between++) {
		wait_goroutine(wait_g(0), 4, "semacquire");
		wait_frame(0, "sync.runtime_SemacquireMutex", 0, 0);
		wait_frame(1, "sync.(*Mutex).lockSlow", 0, 0);
		for (unsigned i = 0; i < between; i++)
			wait_frame(2 + i, "sync.(*Mutex).Lock", 0, 0);
		wait_frame(2 + between, "sync.(*RWMutex).Lock", 0, 0);
	}
	wait_find();
	static const enum gh_wait_kind kinds[] = {GH_WAIT_WAITGROUP,     GH_WAIT_WAITGROUP,
						  GH_WAIT_OTHER,         GH_WAIT_RWMUTEX_WRITE,
						  GH_WAIT_RWMUTEX_WRITE, GH_WAIT_MUTEX};
	for (size_t i = 0; i < 6; i++)
		ck_assert_int_eq(wait_scene.waits.list.items[i].kind, kinds[i]);
	wait_clean_up();
}
END_TEST

/* A condition's list: two wait, of which the first's frame has the condition. */
START_TEST(conditions_are_found_by_their_lists)
{
	wait_start(_i);
	unsigned word = wait_scene.word;
	uint64_t cond = wait_object(), other = wait_object();
	uint64_t first = wait_object(), second = wait_object();
	uint64_t g1 = wait_g(0), g2 = wait_g(0);
	wait_put_word(first, g1);
	wait_put_word(second, g2);
	wait_put_word(first + wait_scene.at.next, second);
	/* noCopy and L, an interface; then wait and notify of 4 bytes, a lock, head and tail. */
	wait_put_word(cond + 2 * word + 8 + word, first);
	wait_put_word(cond + 2 * word + 8 + 2 * word, second);
	if (wait_scene.minor >= 26) {
		wait_put_word(first + wait_scene.at.elem, cond + 2 * word);
		wait_put_word(second + wait_scene.at.elem, cond + 2 * word);
	}
	for (unsigned i = 0; i < 2; i++) {
		wait_goroutine(i == 0 ? g1 : g2, 4, "sync.Cond.Wait");
		wait_frame(0, "runtime.goparkunlock", 0, i == 0 ? first : second);
		wait_frame(1, "sync.runtime_notifyListWait", 0, 0);
		wait_frame(2, "sync.(*Cond).Wait", other, cond);
		wait_frame(3, "main.main", 0, 0);
	}
	wait_find();
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(wait_scene.waits.list.items[i].kind, GH_WAIT_COND);
		ck_assert_uint_eq(wait_scene.waits.list.items[i].object, cond);
		ck_assert_uint_eq(wait_scene.waits.list.items[i].sudog, i == 0 ? first : second);
	}
	wait_clean_up();
}
END_TEST

/* Bit 0 of a Mutex; of an RWMutex readers are counted, from which a writer takes 2^30. */
START_TEST(locks_have_states)
{
	static const struct {
		uint32_t state;
		int32_t readers;
		uint32_t departing;
		bool locked;     /* a mutex */
		bool write;      /* an RWMutex, by a writer */
		uint64_t has_it; /* readers that have the RWMutex */
	} cases[] = {
	    {0, 0, 0, false, false, 0},
	    {1, 0, 0, true, false, 0},
	    {2, 3, 0, false, false, 3},
	    {9, -(1 << 30), 0, true, true, 0},
	    {8, 2 - (1 << 30), 2, false, false, 2},
	};
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };
	uint64_t all[CASES];
	int32_t counter;
	wait_start(_i);
	for (size_t i = 0; i < CASES; i++) {
		all[i] = wait_object();
		wait_put(all[i], cases[i].state, 4);
		wait_put(all[i] + 16, (uint32_t)cases[i].readers, 4);
		wait_put(all[i] + 20, cases[i].departing, 4);
	}
	uint64_t group = wait_object();
	wait_put(group, UINT64_C(5) << 32 | 1, 8);
	wait_put(group + 16, UINT64_C(0xfffffffe) << 32 | 1, 8);
	wait_find();
	for (size_t i = 0; i < CASES; i++) {
		struct gh_wait wait = {.kind = GH_WAIT_MUTEX, .object = all[i]};
		struct gh_mutex_state state = gh_mutex_state(&wait_scene.waits, &wait);
		ck_assert(state.known);
		ck_assert_int_eq(state.locked, cases[i].locked);
		ck_assert_uint_eq(state.readers, 0);
		for (unsigned kind = GH_WAIT_RWMUTEX_READ; kind <= GH_WAIT_RWMUTEX_WRITE; kind++) {
			wait.kind = kind;
			state = gh_mutex_state(&wait_scene.waits, &wait);
			ck_assert(state.known);
			ck_assert_int_eq(state.locked, cases[i].write);
			ck_assert_uint_eq(state.readers, cases[i].has_it);
		}
	}
	struct gh_wait wait = {.kind = GH_WAIT_WAITGROUP, .object = group};
	ck_assert(gh_waitgroup_counter(&wait_scene.waits, &wait, &counter));
	ck_assert_int_eq(counter, 5);
	/* Before Go 1.20 it may be four bytes on. */
	wait.object = group + 12;
	ck_assert(gh_waitgroup_counter(&wait_scene.waits, &wait, &counter));
	ck_assert_int_eq(counter, -2);
	static const uint64_t unknown[] = {0, WAIT_NOWHERE};
	for (size_t i = 0; i < 2; i++) {
		wait.object = unknown[i];
		ck_assert(!gh_waitgroup_counter(&wait_scene.waits, &wait, &counter));
		ck_assert(!gh_mutex_state(&wait_scene.waits, &wait).known);
	}
	wait_clean_up();
}
END_TEST

/* The mutexes that somebody has are listed once, by address. In a program that locks none nobody is
 * known to have them. */
START_TEST(mutexes_that_are_had_are_listed)
{
	static const struct {
		enum gh_wait_kind kind;
		unsigned object; /* of those below, from 1 on; 0: it is not known */
	} waits[] = {
	    {GH_WAIT_MUTEX, 3},        {GH_WAIT_MUTEX, 1},         {GH_WAIT_RWMUTEX_READ, 4},
	    {GH_WAIT_MUTEX, 3},        {GH_WAIT_RWMUTEX_WRITE, 5}, {GH_WAIT_MUTEX, 2},
	    {GH_WAIT_WAITGROUP, 6},    {GH_WAIT_MUTEX, 0},         {GH_WAIT_MUTEX, 7},
	    {GH_WAIT_RWMUTEX_READ, 8}, {GH_WAIT_SEND, 1}};
	enum { WAITS = sizeof(waits) / sizeof(waits[0]), OBJECTS = 9 };
	static const struct {
		unsigned object;
		size_t wait;
		size_t readers;
	} expected[] = {{7, 8, 0}, {1, 1, 0}, {3, 0, 0}, {4, 2, 0}, {5, 4, 2}};
	uint64_t objects[OBJECTS] = {0};
	struct gh_deadlocks deadlocks;
	struct gh_error err;
	struct fixture program;
	wait_start(_i);
	for (unsigned i = 1; i < OBJECTS; i++)
		objects[i] = wait_object();
	/* What the dump does not have may be had by anybody. */
	objects[7] = WAIT_NOWHERE;
	wait_put(objects[1], 1, 4);
	wait_put(objects[3], 1 | 8, 4);
	wait_put(objects[4] + 16, (uint32_t) - (1 << 30), 4);
	wait_put(objects[5] + 16, 2, 4);
	wait_put(objects[6], 1, 4);
	for (unsigned i = 0; i < WAITS; i++) {
		wait_goroutine(wait_g(0), 1, "");
		wait_frame(0, "main.main", 0, 0);
	}
	wait_find();
	for (unsigned i = 0; i < WAITS; i++) {
		struct gh_wait wait = {
		    .goroutine = i, .kind = waits[i].kind, .object = objects[waits[i].object]};
		gh_vector_push(&wait_scene.waits.list, wait);
	}
	fixture_open(&program, SYNTHETIC_1_20 * 8 + _i % 4);
	const struct gh_module module = {.tab = &program.tab};
	ck_assert(gh_deadlocks_find(&deadlocks, &wait_scene.waits, &module, NULL, 0, &err));
	ck_assert_uint_eq(deadlocks.mutexes.count, sizeof(expected) / sizeof(expected[0]));
	for (size_t i = 0; i < deadlocks.mutexes.count; i++) {
		const struct gh_held_mutex *mutex = &deadlocks.mutexes.items[i];
		ck_assert_uint_eq(mutex->address, objects[expected[i].object]);
		ck_assert_uint_eq(mutex->wait, expected[i].wait);
		ck_assert_uint_eq(mutex->readers, expected[i].readers);
		ck_assert_uint_eq(mutex->nholders, 0);
		ck_assert(!mutex->dead);
	}
	for (size_t i = 0; i < WAITS; i++) {
		size_t found = gh_deadlocks_mutex(&deadlocks, &wait_scene.waits, i);
		bool is_listed = false;
		for (size_t j = 0; j < deadlocks.mutexes.count; j++) {
			bool is_it = expected[j].object == waits[i].object;
			is_listed |= is_it;
			ck_assert_int_eq(found == j, is_it);
		}
		ck_assert_int_eq(found == GH_DUMP_NONE, !is_listed);
	}
	ck_assert_uint_eq(deadlocks.list.count, 0);
	ck_assert_uint_eq(deadlocks.behind, 0);
	gh_deadlocks_free(&deadlocks);
	fixture_close(&program);
	wait_clean_up();
}
END_TEST

void sync_waits_tests(TCase *tests)
{
	tcase_add_loop_test(tests, semaphores_are_told_by_functions, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, frames_are_looked_at_to_a_depth, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, conditions_are_found_by_their_lists, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, locks_have_states, 0, WAIT_VARIANTS);
	tcase_add_loop_test(tests, mutexes_that_are_had_are_listed, 0, WAIT_VARIANTS);
}
