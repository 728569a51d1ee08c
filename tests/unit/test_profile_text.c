/* Allocation profiles as text, as package runtime/pprof writes them, and as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/view/view.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/suites.h"

static struct maker maker;

/* A record of objects of SIZE bytes, of which so many were allocated and freed, by two functions.
 */
static void put_record(uint64_t number, uint64_t size, uint64_t allocations, uint64_t frees)
{
	maker_numbers(&maker, 4, (const uint64_t[]){16, 0x1000 + number, size, 2});
	maker_text(&maker, number == 1 ? "main.f[go.shape.int].func1" : "main.\x1b");
	maker_text(&maker, "/src/a\tb.go");
	maker_number(&maker, 10 + number);
	maker_text(&maker, "main.main");
	maker_text(&maker, "/src/main.go");
	maker_number(&maker, UINT64_MAX);
	maker_numbers(&maker, 2, (const uint64_t[]){allocations, frees});
}

/* Counters are 1, 1001, 2001 and so on; pauses 0, 3, 6. */
static void put_memstats(void)
{
	maker_number(&maker, 10);
	for (unsigned i = 0; i < 24; i++)
		maker_number(&maker, 1000 * i + 1);
	for (unsigned i = 0; i < 256; i++)
		maker_number(&maker, 3 * i);
	maker_number(&maker, 77);
}

static void start(void)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
}

/* What is printed of the dump, as JSON or as text, is EXPECTED. */
static void check_printed(bool json, uint64_t rate, const char *expected)
{
	struct gh_dump dump;
	struct gh_error err;
	struct gh_allocations allocations;
	char *text;
	size_t length;
	FILE *terminal = stdout;
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	ck_assert(gh_allocations_make(&allocations, &dump, NULL, &err));
	stdout = open_memstream(&text, &length);
	ck_assert_ptr_nonnull(stdout);
	if (json)
		gh_profiletext_print_json(&allocations);
	else
		ck_assert(gh_profiletext_print(&allocations, rate));
	fclose(stdout);
	stdout = terminal;
	ck_assert_str_eq(text, expected);
	free(text);
	gh_allocations_free(&allocations);
	gh_dump_close(&dump);
}

#define MAIN "#\tmain.main\t/src/main.go:18446744073709551615\n\n"

/* Those with most bytes in use first, and of equals the first of the dump. */
START_TEST(records_are_sorted_by_what_is_in_use)
{
	start();
	put_record(1, 8, 5, 4);
	put_record(2, 16, 9, 2);
	put_record(3, 4, 100, 98);
	maker_end(&maker);
	check_printed(false, 512,
		      "heap profile: 10: 128 [114: 584] @ heap/1024\n"
		      "7: 112 [9: 144] @\n#\tmain.\\x1b\t/src/a\\tb.go:12\n" MAIN
		      "1: 8 [5: 40] @\n#\tmain.f[...].func1\t/src/a\\tb.go:11\n" MAIN
		      "2: 8 [100: 400] @\n#\tmain.\\x1b\t/src/a\\tb.go:13\n" MAIN);
	check_printed(
	    true, 512,
	    "{\"size\":8,\"inuse_objects\":1,\"inuse_bytes\":8,\"alloc_objects\":5,"
	    "\"alloc_bytes\":40,\"stack\":[{\"function\":\"main.f[go.shape.int].func1\","
	    "\"file\":\"/src/a\\tb.go\",\"line\":11,\"inlined\":false},"
	    "{\"function\":\"main.main\",\"file\":\"/src/main.go\",\"line\":18446744073709551615,"
	    "\"inlined\":false}]}\n"
	    "{\"size\":16,\"inuse_objects\":7,\"inuse_bytes\":112,\"alloc_objects\":9,"
	    "\"alloc_bytes\":144,\"stack\":[{\"function\":\"main.\\u001b\","
	    "\"file\":\"/src/a\\tb.go\",\"line\":12,\"inlined\":false},"
	    "{\"function\":\"main.main\",\"file\":\"/src/main.go\",\"line\":18446744073709551615,"
	    "\"inlined\":false}]}\n"
	    "{\"size\":4,\"inuse_objects\":2,\"inuse_bytes\":8,\"alloc_objects\":100,"
	    "\"alloc_bytes\":400,\"stack\":[{\"function\":\"main.\\u001b\","
	    "\"file\":\"/src/a\\tb.go\",\"line\":13,\"inlined\":false},"
	    "{\"function\":\"main.main\",\"file\":\"/src/main.go\",\"line\":18446744073709551615,"
	    "\"inlined\":false}]}\n");
	free(maker.data);
}
END_TEST

#define MOST      "18446744073709551615"
#define MOST_ONCE MOST ": 9223372036854775807 [" MOST ": 9223372036854775807] @\n\n"

/* Of a record bytes are no more than an int64 has, which Go prints them as; of all they stay at the
 * most that there is. */
START_TEST(sums_do_not_overflow)
{
	start();
	for (unsigned i = 0; i < 3; i++)
		maker_numbers(&maker, 6, (const uint64_t[]){16, i, UINT64_MAX, 0, UINT64_MAX, 0});
	maker_end(&maker);
	check_printed(false, UINT64_MAX,
		      "heap profile: " MOST ": " MOST " [" MOST ": " MOST "] @ heap/" MOST
		      "\n" MOST_ONCE MOST_ONCE MOST_ONCE);
	free(maker.data);
}
END_TEST

/* Source: writeHeapInternal in src/runtime/pprof/pprof.go; the order of the counters is that of
 * dumpmemstats in src/runtime/heapdump.go. */
START_TEST(statistics_follow)
{
	static char expected[4096];
	size_t size;
	start();
	put_memstats();
	maker_end(&maker);
	strcpy(expected, "heap profile: 0: 0 [0: 0] @ heap/2\n\n# runtime.MemStats\n"
			 "# Alloc = 1\n# TotalAlloc = 1001\n# Sys = 2001\n# Lookups = 3001\n"
			 "# Mallocs = 4001\n# Frees = 5001\n# HeapAlloc = 6001\n# HeapSys = 7001\n"
			 "# HeapIdle = 8001\n# HeapInuse = 9001\n# HeapReleased = 10001\n"
			 "# HeapObjects = 11001\n# Stack = 12001 / 13001\n# MSpan = 14001 / 15001\n"
			 "# MCache = 16001 / 17001\n# BuckHashSys = 18001\n# GCSys = 19001\n"
			 "# OtherSys = 20001\n# NextGC = 21001\n# LastGC = 22001\n# PauseNs = [");
	for (unsigned i = 0; i < 256; i++) {
		size = strlen(expected);
		snprintf(expected + size, sizeof(expected) - size, "%s%u", i > 0 ? " " : "", 3 * i);
	}
	strcat(expected, "]\n# NumGC = 77\n");
	check_printed(false, 1, expected);
	check_printed(true, 1, "");
	free(maker.data);
}
END_TEST

void profile_text_tests(TCase *tests)
{
	tcase_add_test(tests, records_are_sorted_by_what_is_in_use);
	tcase_add_test(tests, sums_do_not_overflow);
	tcase_add_test(tests, statistics_follow);
}
