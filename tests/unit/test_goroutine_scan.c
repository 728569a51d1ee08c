/* The goroutines of a core file that lacks the list of them. */
#include <string.h>

#include "lib/process/goroutine.h"
#include "tests/unit/snapshot.h"
#include "tests/unit/suites.h"

enum { PART = 256 };

/* The part that is not there; -1 for none. */
static int missing;

/* The memory in parts of PART bytes. */
static bool next_part(const struct gh_memory *memory, uint64_t *address, uint64_t *size)
{
	const struct processmaker *maker = memory->from;
	uint64_t offset = *address > PROCESS_ADDRESS ? *address - PROCESS_ADDRESS : 0;
	if (offset / PART == (uint64_t)missing)
		offset = (offset / PART + 1) * PART;
	if (offset >= maker->size)
		return false;
	*address = PROCESS_ADDRESS + offset;
	*size = PART - offset % PART;
	return true;
}

/* A process whose variables say nothing, and in which the first goroutine has the highest id. */
static void start(struct snapshot *snapshot, int number)
{
	snapshot_make(snapshot, number);
	memset(snapshot->maker.bytes, 0, PROCESS_BSS);
	process_put(&snapshot->maker,
		    process_goroutine(0) + process_status_at(&snapshot->maker) + 8, 9, 8);
	snapshot->memory = process_memory(&snapshot->maker);
	snapshot->memory.next = next_part;
	missing = -1;
}

static void check_ids(struct snapshot *snapshot, size_t count, const uint64_t *ids)
{
	struct gh_goroutines all;
	struct gh_goroutine g;
	struct gh_error err;
	ck_assert_msg(gh_goroutines_find(&all, &snapshot->process, &err), "%s", err.text);
	ck_assert_uint_eq(all.count, count);
	for (size_t i = 0; i < count; i++) {
		ck_assert(gh_goroutines_next(&all, &snapshot->process, &g));
		ck_assert_uint_eq(g.id, ids[i]);
		ck_assert_uint_eq(g.address, process_goroutine(ids[i] == 9 ? 0 : (int)ids[i] - 1));
	}
	ck_assert(!gh_goroutines_next(&all, &snapshot->process, &g));
	ck_assert_uint_eq(all.lost, 0);
	gh_goroutines_free(&all);
}

START_TEST(goroutines_are_found_in_all_memory_by_their_ids)
{
	struct snapshot snapshot;
	start(&snapshot, _i);
	check_ids(&snapshot, 3, (const uint64_t[]){2, 3, 9});
	snapshot_release(&snapshot);
}
END_TEST

/* sched.g, by which one is found, is the word 9 of it. */
START_TEST(one_whose_memory_is_not_there_is_not_found)
{
	struct snapshot snapshot;
	start(&snapshot, _i);
	uint64_t at = process_goroutine(1) + 9 * (uint64_t)snapshot.maker.what.word;
	missing = (int)((at - PROCESS_ADDRESS) / PART);
	check_ids(&snapshot, 2, (const uint64_t[]){3, 9});
	snapshot_release(&snapshot);
}
END_TEST

/* One that has ended, and a thread's own, which has no id. */
START_TEST(what_runs_no_code_of_the_program_is_not_found)
{
	struct snapshot snapshot;
	start(&snapshot, _i);
	uint64_t status = process_status_at(&snapshot.maker);
	process_put(&snapshot.maker, process_goroutine(0) + status, 6, 4);
	process_put(&snapshot.maker, process_goroutine(2) + status + 8, 0, 8);
	check_ids(&snapshot, 1, (const uint64_t[]){2});
	snapshot_release(&snapshot);
}
END_TEST

START_TEST(memory_without_goroutines_is_told)
{
	struct snapshot snapshot;
	struct gh_goroutines all;
	struct gh_error err;
	start(&snapshot, _i);
	memset(snapshot.maker.bytes, 0, snapshot.maker.size);
	ck_assert(!gh_goroutines_find(&all, &snapshot.process, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "expected a process with goroutines, found none"));
	/* Nothing is looked through where it cannot be told what there is. */
	snapshot.memory.next = NULL;
	ck_assert(!gh_goroutines_find(&all, &snapshot.process, &err));
	snapshot_release(&snapshot);
}
END_TEST

void goroutine_scan_tests(TCase *tests)
{
	enum { FIRST = SYNTHETIC_1_20 * 8, LAST = FIRST + 8 };
	tcase_add_loop_test(tests, goroutines_are_found_in_all_memory_by_their_ids, FIRST, LAST);
	tcase_add_loop_test(tests, one_whose_memory_is_not_there_is_not_found, FIRST, LAST);
	tcase_add_loop_test(tests, what_runs_no_code_of_the_program_is_not_found, FIRST, LAST);
	tcase_add_loop_test(tests, memory_without_goroutines_is_told, FIRST, LAST);
}
