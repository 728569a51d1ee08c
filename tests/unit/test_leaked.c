/* Goroutines that can never go on: made dumps, and what their goroutines wait for. */
#include <stdlib.h>

#include "lib/wait/wait.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/suites.h"

/* Objects, of four words each: what the goroutines of these numbers wait for, and others. */
#define AWAITED(number) (UINT64_C(0x10000) + 0x100 * (number))
#define OTHER           UINT64_C(0x11000)
#define SUDOG           UINT64_C(0x11100)

/* How the first of the goroutines, or another, or what is of none, leads to an object. */
enum way {
	NOWHERE,
	BY_CONTEXT,
	BY_TOP_DEFER,
	BY_TOP_PANIC,
	BY_FRAME,
	BY_DEFER,
	BY_PANIC,
	BY_STACK_ROOT, /* "stack of goroutine 1, perhaps" */
	OF_GOROUTINES = BY_STACK_ROOT,
	BY_ROOT,
	BY_DATA,
	BY_BSS,
	BY_FINALIZER,
	WAYS
};

/* Goroutines 1, 2 and so on, as many as are blocked and one before them that is or is not. */
enum { MOST = 4 };

struct scene {
	struct maker maker;
	struct gh_dump dump;
	struct gh_heap heap;
	struct gh_waits waits;
	struct gh_leaked leaked;
	bool of[MOST + 1]; /* by number of a goroutine: it is leaked */
};

static void put_object(struct scene *scene, uint64_t address, uint64_t value);

static void start(struct scene *scene, int variant, bool has_stack_objects)
{
	*scene = (struct scene){0};
	maker_start(&scene->maker, MAKER_1_7, variant & 1 ? 4 : 8, variant & 2);
	maker_params(&scene->maker);
	if (has_stack_objects) {
		maker_number(&scene->maker, 2);
		maker_text(&scene->maker, GH_DUMP_HAS_STACK_OBJECTS);
		maker_number(&scene->maker, 0);
	}
	/* Others come before those of the tests. */
	for (unsigned i = 0; i < 40; i++)
		put_object(scene, 0xe000 + 0x40 * i, 0);
}

/* An object whose second word points to VALUE. */
static void put_object(struct scene *scene, uint64_t address, uint64_t value)
{
	struct maker *maker = &scene->maker;
	maker_numbers(maker, 2, (const uint64_t[]){1, address});
	maker_words(maker, 4, (const uint64_t[4]){0, value});
	maker_numbers(maker, 3, (const uint64_t[]){1, maker->word, 0});
}

/* Of two frames, defers, panics or roots, the second leads to VALUE by WAY. */
static void put_second(struct scene *scene, unsigned number, enum way way, uint64_t value)
{
	struct maker *maker = &scene->maker;
	uint64_t g = 0x9000 + 0x100 * number, sp = 0x30000 + 0x1000 * number;
	for (uint64_t second = 0; second < 2; second++) {
		uint64_t word = second ? value : 0;
		if (way == BY_DEFER)
			maker_numbers(
			    maker, 8,
			    (const uint64_t[]){14, 0x7000 + second, g, sp, 0, word, 0, 0});
		if (way == BY_PANIC)
			maker_numbers(maker, 7,
				      (const uint64_t[]){15, 0x7100 + second, g, 0, word, 0, 0});
		if (way == BY_STACK_ROOT) {
			maker_number(maker, 2);
			maker_text(maker, number == 1 ? "stack of goroutine 1, perhaps"
						      : "stack of goroutine 2, perhaps");
			maker_number(maker, second ? value : OTHER);
		}
	}
}

/* Goroutine NUMBER, that leads to VALUE by WAY. Of its frames' words the second is a field; the
 * first of its top frame is FIRST_WORD. */
static void put_goroutine(struct scene *scene, unsigned number, enum way way, uint64_t value,
			  uint64_t first_word)
{
	struct maker *maker = &scene->maker;
	uint64_t g = 0x9000 + 0x100 * number, sp = 0x30000 + 0x1000 * number;
	maker_numbers(maker, 9, (const uint64_t[]){4, g, sp, number, 0, 4, 0, 0, 0});
	maker_text(maker, "");
	maker_numbers(maker, 4,
		      (const uint64_t[]){way == BY_CONTEXT ? value : 0, 0,
					 way == BY_TOP_DEFER ? value : 0,
					 way == BY_TOP_PANIC ? value : 0});
	for (uint64_t depth = 0; depth < 2; depth++) {
		bool leads = depth == 1 && way == BY_FRAME;
		maker_numbers(
		    maker, 4,
		    (const uint64_t[]){5, sp + 2 * maker->word * depth, depth, depth > 0 ? sp : 0});
		maker_words(maker, 2,
			    (const uint64_t[]){depth == 0 ? first_word : 0, leads ? value : 0});
		maker_numbers(maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401018});
		maker_text(maker, "main.wait");
		maker_numbers(maker, 3, (const uint64_t[]){1, maker->word, 0});
	}
	put_second(scene, number, way, value);
}

/* What is of no goroutine leads to VALUE by WAY. */
static void put_global(struct scene *scene, enum way way, uint64_t value)
{
	struct maker *maker = &scene->maker;
	if (way == BY_ROOT)
		maker_root(maker, value);
	if (way == BY_FINALIZER)
		maker_numbers(maker, 6, (const uint64_t[]){11, 0, value, 0, 0, 0});
	if (way != BY_DATA && way != BY_BSS)
		return;
	maker_numbers(maker, 2, (const uint64_t[]){way == BY_DATA ? 12 : 13, 0x8000});
	maker_words(maker, 2, (const uint64_t[]){0, value});
	maker_numbers(maker, 3, (const uint64_t[]){1, maker->word, 0});
}

/* Goroutine NUMBER receives from a channel. */
static void add_wait(struct scene *scene, unsigned number, uint64_t channel, uint64_t sudog)
{
	struct gh_wait wait = {.goroutine = number - 1,
			       .kind = GH_WAIT_RECEIVE,
			       .first = scene->waits.cases.count,
			       .ncases = 1};
	struct gh_wait_case item = {.channel = scene->waits.channels.count, .sudog = sudog};
	gh_vector_push(&scene->waits.list, wait);
	gh_vector_push(&scene->waits.cases, item);
	gh_vector_push(&scene->waits.channels, (struct gh_channel){.address = channel});
}

static void finish(struct scene *scene)
{
	struct gh_error err;
	maker_end(&scene->maker);
	heap_open(&scene->maker, &scene->dump, &scene->heap);
	scene->waits.dump = &scene->dump;
	ck_assert(gh_leaked_find(&scene->leaked, &scene->waits, &scene->heap, NULL, &err));
	for (size_t i = 0; i < scene->dump.stacks.count; i++)
		scene->of[i + 1] = scene->leaked.of[i];
}

static void clean_up(struct scene *scene)
{
	gh_leaked_free(&scene->leaked);
	gh_waits_free(&scene->waits);
	heap_close(&scene->maker, &scene->dump, &scene->heap);
}

/* Goroutines 2 and 3 wait for what another, which can go on, leads to, or nothing does. */
START_TEST(what_is_reached_may_be_woken)
{
	for (enum way way = NOWHERE; way < WAYS; way++) {
		struct scene scene;
		start(&scene, _i, true);
		put_object(&scene, AWAITED(2), 0);
		put_goroutine(&scene, 1, way, AWAITED(2), 0);
		put_goroutine(&scene, 2, NOWHERE, 0, AWAITED(2));
		put_goroutine(&scene, 3, NOWHERE, 0, AWAITED(2));
		put_global(&scene, way, AWAITED(2));
		add_wait(&scene, 2, AWAITED(2), SUDOG);
		add_wait(&scene, 3, AWAITED(2), OTHER);
		finish(&scene);
		ck_assert(!scene.of[1]);
		ck_assert_msg(scene.of[2] == (way == NOWHERE), "way %d", way);
		ck_assert(scene.of[3] == scene.of[2]);
		ck_assert_uint_eq(scene.leaked.count, way == NOWHERE ? 2 : 0);
		clean_up(&scene);
	}
}
END_TEST

/* Goroutine 2 leads to what it waits for itself. */
START_TEST(who_waits_does_not_wake_itself)
{
	for (enum way way = BY_CONTEXT; way <= OF_GOROUTINES; way++) {
		struct scene scene;
		start(&scene, _i, true);
		put_object(&scene, AWAITED(2), OTHER);
		put_object(&scene, OTHER, 0);
		put_goroutine(&scene, 1, NOWHERE, 0, AWAITED(2));
		put_goroutine(&scene, 2, way, AWAITED(2), 0);
		add_wait(&scene, 2, AWAITED(2), SUDOG);
		finish(&scene);
		ck_assert(!scene.of[1]);
		ck_assert_msg(scene.of[2], "way %d", way);
		ck_assert_uint_eq(scene.leaked.objects, 2);
		ck_assert_uint_eq(scene.leaked.bytes, 2 * 4 * scene.maker.word);
		clean_up(&scene);
	}
}
END_TEST

/* Goroutine 1 leads to what goroutine 3 waits for, and waits itself for what nothing leads to;
 * goroutine 2 has nothing to do with them. */
START_TEST(who_waits_for_whom_is_a_knot)
{
	for (enum way way = NOWHERE; way <= OF_GOROUTINES; way++) {
		struct scene scene;
		start(&scene, _i, true);
		for (unsigned i = 1; i <= 3; i++)
			put_object(&scene, AWAITED(i), 0);
		put_goroutine(&scene, 1, way, AWAITED(3), 0);
		put_goroutine(&scene, 2, BY_FRAME, AWAITED(2), 0);
		put_goroutine(&scene, 3, NOWHERE, 0, 0);
		for (unsigned i = 1; i <= 3; i++)
			add_wait(&scene, i, AWAITED(i), SUDOG);
		finish(&scene);
		ck_assert_uint_eq(scene.leaked.count, 3);
		ck_assert_uint_eq(scene.leaked.knots[0], 0);
		ck_assert_uint_eq(scene.leaked.knots[1], 1);
		ck_assert_msg(scene.leaked.knots[2] == (way == NOWHERE ? 2 : 0), "way %d", way);
		ck_assert_uint_eq(scene.leaked.objects, way == NOWHERE ? 1 : 2);
		clean_up(&scene);
	}
}
END_TEST

/* Two goroutines have an object that neither waits for. */
START_TEST(who_shares_an_object_is_a_knot)
{
	struct scene scene;
	start(&scene, _i, true);
	put_object(&scene, OTHER, 0);
	for (unsigned i = 1; i <= 3; i++) {
		put_object(&scene, AWAITED(i), 0);
		put_goroutine(&scene, i, i == 2 ? NOWHERE : BY_FRAME, OTHER, 0);
		add_wait(&scene, i, AWAITED(i), SUDOG);
	}
	finish(&scene);
	ck_assert_uint_eq(scene.leaked.count, 3);
	ck_assert_uint_eq(scene.leaked.knots[0], 0);
	ck_assert_uint_eq(scene.leaked.knots[1], 1);
	ck_assert_uint_eq(scene.leaked.knots[2], 0);
	clean_up(&scene);
}
END_TEST

/* Goroutines 1 and 4 share an object, 2 and 3, and 3 and 4: in either order. */
START_TEST(knots_are_joined)
{
	for (unsigned order = 0; order < 2; order++) {
		enum { SHARED = 3 };
		static const unsigned has[MOST][2] = {{0, 0}, {1, 1}, {1, 2}, {0, 2}};
		struct scene scene;
		start(&scene, _i, true);
		for (unsigned i = 0; i < SHARED; i++)
			put_object(&scene, OTHER + 0x200 * i, 0);
		for (unsigned i = 1; i <= MOST; i++) {
			const unsigned *own = has[i - 1];
			put_object(&scene, AWAITED(i), 0);
			put_goroutine(&scene, i, BY_FRAME, OTHER + 0x200 * own[order], 0);
			put_second(&scene, i, BY_DEFER, OTHER + 0x200 * own[1 - order]);
			add_wait(&scene, i, AWAITED(i), SUDOG);
		}
		finish(&scene);
		ck_assert_uint_eq(scene.leaked.count, MOST);
		for (unsigned i = 0; i < MOST; i++)
			ck_assert_uint_eq(scene.leaked.knots[i], 0);
		ck_assert_uint_eq(scene.leaked.objects, SHARED);
		clean_up(&scene);
	}
}
END_TEST

/* Goroutine 1 waits in a select for what goroutine 2, which is leaked, leads to, too; what both
 * lead to is reached by others as well. */
START_TEST(who_can_go_on_is_in_no_knot)
{
	struct scene scene;
	start(&scene, _i, true);
	for (unsigned i = 1; i <= 3; i++)
		put_object(&scene, AWAITED(i), 0);
	put_goroutine(&scene, 1, NOWHERE, 0, 0);
	put_goroutine(&scene, 2, BY_FRAME, AWAITED(3), 0);
	maker_numbers(&scene.maker, 8,
		      (const uint64_t[]){14, 0x7000, 0x9200, 0x32000, 0, AWAITED(1), 0, 0});
	put_global(&scene, BY_DATA, AWAITED(1));
	put_global(&scene, BY_ROOT, AWAITED(1));
	add_wait(&scene, 1, AWAITED(1), SUDOG);
	add_wait(&scene, 1, AWAITED(3), SUDOG);
	scene.waits.list.count = 1;
	scene.waits.list.items[0].ncases = 2;
	add_wait(&scene, 2, AWAITED(2), SUDOG);
	finish(&scene);
	ck_assert(!scene.of[1] && scene.of[2]);
	ck_assert_uint_eq(scene.leaked.knots[1], 1);
	ck_assert_uint_eq(scene.leaked.objects, 1);
	clean_up(&scene);
}
END_TEST

/* Each is woken by the one before, but the last; the first can go on. */
START_TEST(who_is_woken_wakes_others)
{
	struct scene scene;
	start(&scene, _i, true);
	for (unsigned i = 1; i <= MOST; i++) {
		put_object(&scene, AWAITED(i), 0);
		put_goroutine(&scene, i, i < MOST - 1 ? BY_DEFER : NOWHERE, AWAITED(i + 1), 0);
	}
	for (unsigned i = 2; i <= MOST; i++)
		add_wait(&scene, i, AWAITED(i), SUDOG);
	finish(&scene);
	for (unsigned i = 1; i <= MOST; i++)
		ck_assert(scene.of[i] == (i == MOST));
	clean_up(&scene);
}
END_TEST

/* Without stack objects each word of a frame counts: the first, which is no field, and the last. */
START_TEST(words_of_frames_count_where_fields_are_missing)
{
	for (int which = 0; which < 4; which++) {
		struct scene scene;
		bool first = which % 2 == 0, has_stack_objects = which / 2 == 1;
		start(&scene, _i, has_stack_objects);
		put_object(&scene, AWAITED(2), 0);
		put_goroutine(&scene, 1, first ? NOWHERE : BY_FRAME, AWAITED(2),
			      first ? AWAITED(2) + 1 : 0);
		put_goroutine(&scene, 2, NOWHERE, 0, 0);
		add_wait(&scene, 2, AWAITED(2), SUDOG);
		finish(&scene);
		ck_assert(scene.of[2] == (first && has_stack_objects));
		clean_up(&scene);
	}
}
END_TEST

/* The runtime's own lists lead to the record of a wait, which leads to what is waited for. */
START_TEST(records_of_waits_lead_nowhere)
{
	for (int known = 0; known < 2; known++) {
		struct scene scene;
		start(&scene, _i, true);
		put_object(&scene, AWAITED(1), 0);
		put_object(&scene, SUDOG, AWAITED(1));
		put_goroutine(&scene, 1, NOWHERE, 0, 0);
		put_global(&scene, BY_DATA, SUDOG);
		add_wait(&scene, 1, AWAITED(1), known ? SUDOG : OTHER);
		finish(&scene);
		ck_assert(scene.of[1] == known);
		clean_up(&scene);
	}
}
END_TEST

/* Gives what goroutine 1, which waits as WAIT says for an object that nothing leads to, is. */
static bool is_leaked(int variant, struct gh_wait wait, bool system)
{
	struct scene scene;
	start(&scene, variant, true);
	put_object(&scene, AWAITED(1), 0);
	struct maker *maker = &scene.maker;
	maker_numbers(maker, 9, (const uint64_t[]){4, 0x9100, 0, 7, 0, 4, system, 0, 0});
	maker_text(maker, "");
	maker_numbers(maker, 4, (const uint64_t[4]){0});
	gh_vector_push(&scene.waits.list, wait);
	finish(&scene);
	bool leaked = scene.of[1];
	clean_up(&scene);
	return leaked;
}

START_TEST(only_some_waits_may_never_end)
{
	for (enum gh_wait_kind kind = GH_WAIT_OTHER; kind <= GH_WAIT_SYSCALL; kind++) {
		bool channel = kind >= GH_WAIT_SEND && kind <= GH_WAIT_SELECT;
		bool object = kind >= GH_WAIT_MUTEX && kind <= GH_WAIT_COND;
		struct gh_wait wait = {.kind = kind, .object = AWAITED(1), .sudog = SUDOG};
		ck_assert_msg(is_leaked(_i, wait, false) == object, "kind %d", kind);
		ck_assert(!is_leaked(_i, wait, true));
		wait.sudog = 0;
		ck_assert_msg(!is_leaked(_i, wait, false), "kind %d, no sudog", kind);
		wait = (struct gh_wait){.kind = kind, .sudog = SUDOG};
		ck_assert_msg(!is_leaked(_i, wait, false), "kind %d, no object", kind);
		wait = (struct gh_wait){.kind = kind, .never = true};
		ck_assert_msg(is_leaked(_i, wait, false) == channel, "kind %d, never", kind);
		ck_assert(!is_leaked(_i, wait, true));
		/* What is no object of the heap may be reached by anything. */
		wait = (struct gh_wait){.kind = kind, .object = 0x8000, .sudog = SUDOG};
		ck_assert_msg(!is_leaked(_i, wait, false), "kind %d, no heap object", kind);
	}
}
END_TEST

/* A select of two channels, of which neither, one or the other is reached, or no object. */
START_TEST(one_case_of_a_select_suffices)
{
	for (int reached = 0; reached < 5; reached++) {
		static const uint64_t roots[] = {OTHER, AWAITED(1), AWAITED(2), OTHER, OTHER};
		struct scene scene;
		start(&scene, _i, true);
		put_object(&scene, OTHER, 0);
		put_object(&scene, AWAITED(1), 0);
		put_object(&scene, AWAITED(2), 0);
		put_goroutine(&scene, 1, NOWHERE, 0, 0);
		put_global(&scene, BY_BSS, roots[reached]);
		add_wait(&scene, 1, reached == 3 ? 0x8000 : AWAITED(1), SUDOG);
		add_wait(&scene, 1, reached == 4 ? 0x8000 : AWAITED(2), OTHER);
		scene.waits.list.count = 1;
		scene.waits.list.items[0].kind = GH_WAIT_SELECT;
		scene.waits.list.items[0].ncases = 2;
		finish(&scene);
		ck_assert_msg(scene.of[1] == (reached == 0), "%d", reached);
		clean_up(&scene);
	}
}
END_TEST

/* Goroutine 1 is in a `select {}', or is another, or receives from a channel that is nil. */
START_TEST(the_first_goroutine_may_wait_for_nothing)
{
	for (unsigned number = 1; number <= 2; number++) {
		for (int select = 0; select < 2; select++) {
			struct scene scene;
			start(&scene, _i, true);
			put_goroutine(&scene, number, NOWHERE, 0, 0);
			struct gh_wait wait = {.kind = select ? GH_WAIT_SELECT : GH_WAIT_RECEIVE,
					       .never = true};
			gh_vector_push(&scene.waits.list, wait);
			finish(&scene);
			ck_assert(scene.of[1] == !(number == 1 && select));
			ck_assert_uint_eq(scene.leaked.count, scene.of[1]);
			clean_up(&scene);
		}
	}
}
END_TEST

void leaked_tests(TCase *tests)
{
	enum { VARIANTS = 4 }; /* word sizes and byte orders */
	tcase_add_loop_test(tests, what_is_reached_may_be_woken, 0, VARIANTS);
	tcase_add_loop_test(tests, who_waits_does_not_wake_itself, 0, VARIANTS);
	tcase_add_loop_test(tests, who_waits_for_whom_is_a_knot, 0, VARIANTS);
	tcase_add_loop_test(tests, who_shares_an_object_is_a_knot, 0, VARIANTS);
	tcase_add_loop_test(tests, knots_are_joined, 0, VARIANTS);
	tcase_add_loop_test(tests, who_can_go_on_is_in_no_knot, 0, VARIANTS);
	tcase_add_loop_test(tests, who_is_woken_wakes_others, 0, VARIANTS);
	tcase_add_loop_test(tests, words_of_frames_count_where_fields_are_missing, 0, VARIANTS);
	tcase_add_loop_test(tests, records_of_waits_lead_nowhere, 0, VARIANTS);
	tcase_add_loop_test(tests, only_some_waits_may_never_end, 0, VARIANTS);
	tcase_add_loop_test(tests, one_case_of_a_select_suffices, 0, VARIANTS);
	tcase_add_loop_test(tests, the_first_goroutine_may_wait_for_nothing, 0, VARIANTS);
}
