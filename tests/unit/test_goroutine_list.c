/* Goroutines of a made dump as `goheap goroutines' lists them: as Go's tracebacks, in groups, as
 * lines and as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/pattern.h"
#include "plugin/view/internal.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/suites.h"

/* A minute, in ns. */
#define MINUTE UINT64_C(60000000000)

/* The dump's clock stands at so many minutes. */
enum { NOW = 100 };

static struct maker maker;
static struct gh_dump dump;
static unsigned frames; /* of the goroutine that is made */
static uint64_t goroutine;

static void start(void)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	goroutine = 0;
}

static void put_goroutine(uint64_t status, const char *reason, uint64_t minutes, bool system)
{
	uint64_t waiting = minutes > 0 ? (NOW - minutes) * MINUTE : 0;
	frames = 0;
	goroutine++;
	maker_numbers(&maker, 9,
		      (const uint64_t[]){4, 0x9000 + goroutine, 0x30000 + 0x1000 * goroutine,
					 goroutine, 0x400123, status, system, 0, waiting});
	maker_text(&maker, reason);
	maker_numbers(&maker, 4, (const uint64_t[]){0x9100, 0xa000, 0, 0});
}

static void put_frame(const char *function)
{
	uint64_t sp = 0x30000 + 0x1000 * goroutine + 16 * frames;
	maker_frame(&maker, sp, frames, frames > 0 ? sp - 16 : 0, function);
	frames++;
}

/* ROWS, SIZE bytes, are what goheap's own section has of goroutines. */
static void open_dump_with(const char *rows, size_t size)
{
	static const char labels[] = "\0\2\3key\5value\3a b\0";
	struct gh_error err;
	maker_end(&maker);
	maker_section(&maker);
	maker_number(&maker, 1);
	maker_bytes(&maker, rows, size);
	maker_number(&maker, 2);
	maker_bytes(&maker, labels, sizeof(labels) - 1);
	maker_number(&maker, 0);
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	dump.latest = NOW * MINUTE;
}

static void open_dump(void)
{
	open_dump_with("", 0);
}

static void close_dump(void)
{
	gh_dump_close(&dump);
	free(maker.data);
}

static void check_list(const struct gh_goroutine_list *how, const char *expected)
{
	struct gh_goroutine_list listing = *how;
	char *text;
	size_t length;
	listing.dump = &dump;
	listing.out = open_memstream(&text, &length);
	ck_assert(gh_goroutines_print(&listing));
	fclose(listing.out);
	ck_assert_str_eq(text, expected);
	free(text);
}

START_TEST(states_are_as_in_tracebacks)
{
	static const struct {
		uint64_t status;
		const char *reason;
		uint64_t minutes;
		const char *text;
	} cases[] = {
	    {0, "", 0, "idle"},
	    {1, "", 0, "runnable"},
	    {1, "select", 5, "runnable"},
	    {2, "", 0, "running"},
	    {3, "", 7, "syscall, 7 minutes"},
	    {4, "", 0, "waiting"},
	    {4, "select", 0, "select"},
	    {4, "chan receive", 1, "chan receive, 1 minutes"},
	    {4, "a\x1b", 2, "a\\x1b, 2 minutes"},
	    {5, "", 0, "???"},
	    {6, "", 0, "dead"},
	    {7, "", 0, "???"},
	    {8, "", 0, "copystack"},
	    {9, "", 0, "preempted"},
	    {10, "", 0, "???"},
	    {UINT64_MAX, "", 0, "???"},
	};
	enum { CASES = sizeof(cases) / sizeof(cases[0]) };
	char expected[64 * CASES] = "";
	start();
	for (size_t i = 0; i < CASES; i++) {
		char line[64];
		put_goroutine(cases[i].status, cases[i].reason, cases[i].minutes, false);
		snprintf(line, sizeof(line), "%sgoroutine %zu [%s]:\n", i > 0 ? "\n" : "", i + 1,
			 cases[i].text);
		strcat(expected, line);
	}
	open_dump();
	check_list(&(const struct gh_goroutine_list){0}, expected);
	close_dump();
}
END_TEST

/* Three, of which the last is the system's, and what a process tells of them. */
static void make_three(void)
{
	static const char rows[] = {7, 1, 1, 0, 2, 0, 0, 0, 0};
	start();
	put_goroutine(4, "select (no cases)", 12, false);
	put_frame("main.f");
	put_frame("main.g[go.shape.int]");
	put_goroutine(2, "", 0, false);
	put_frame("net/http.serve");
	put_frame("main.h");
	put_goroutine(4, "sleep", 0, true);
	put_frame("runtime.gopark");
	open_dump_with(rows, sizeof(rows));
}

#define FIRST                                                                                      \
	"goroutine 1 [select (no cases), 12 minutes, locked to thread] {\"a b\": , key: value}:\n" \
	"main.f(...)\nmain.g[...](...)\n"
#define SECOND "goroutine 2 [running, on selected thread]:\nnet/http.serve(...)\nmain.h(...)\n"

START_TEST(lists_have_who_is_asked_for)
{
	static const bool leaked[] = {false, true, true};
	uint64_t id = 3;
	make_three();
	const struct {
		struct gh_goroutine_list how;
		const char *text;
	} cases[] = {
	    {{0}, FIRST "\n" SECOND},
	    {{.all = true}, FIRST "\n" SECOND "\ngoroutine 3 [sleep]:\nruntime.gopark(...)\n"},
	    {{.only = &id}, "goroutine 3 [sleep]:\nruntime.gopark(...)\n"},
	    {{.leaked = leaked}, SECOND},
	    {{.status = "select"}, FIRST},
	    {{.status = "select (no cases)"}, FIRST},
	    {{.status = "selec"}, ""},
	    {{.status = "select (no"}, ""},
	    {{.status = "waiting"}, FIRST},
	    {{.status = "running"}, SECOND},
	    {{.label = "key"}, FIRST},
	    {{.label = "key=value"}, FIRST},
	    {{.label = "a b="}, FIRST},
	    {{.label = "key="}, ""},
	    {{.label = "ke"}, ""},
	    {{.label = "key=valu"}, ""},
	    {{.label = "keys"}, ""},
	    {{.one_line = true},
	     "goroutine 1 [select (no cases), 12 minutes, locked to thread] {\"a b\": , key: "
	     "value}: main.f(...)\ngoroutine 2 [running, on selected thread]: main.h(...)\n"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_list(&cases[i].how, cases[i].text);
	close_dump();
}
END_TEST

START_TEST(lists_have_who_matches)
{
	static const char *const texts[] = {"main\\.h", "locked", "nobody", "goroutine 1 "};
	static const char *const expected[] = {SECOND, FIRST, "", FIRST};
	make_three();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct gh_pattern pattern;
		ck_assert(gh_pattern_compile(&pattern, texts[i]));
		check_list(&(const struct gh_goroutine_list){.pattern = &pattern}, expected[i]);
		gh_pattern_free(&pattern);
	}
	close_dump();
}
END_TEST

/* The first call that is not of the standard library, or the first. */
START_TEST(a_line_has_the_users_call)
{
	start();
	put_goroutine(4, "select", 0, false);
	put_frame("sync.(*Mutex).Lock");
	put_frame("net/http.(*conn).serve");
	put_goroutine(4, "select", 0, false);
	put_frame("io.ReadAll");
	put_frame("example.org/x.Read");
	put_frame("main.main");
	put_goroutine(4, "select", 0, false);
	open_dump();
	check_list(&(const struct gh_goroutine_list){.one_line = true},
		   "goroutine 1 [select]: sync.(*Mutex).Lock(...)\n"
		   "goroutine 2 [select]: example.org/x.Read(...)\n"
		   "goroutine 3 [select]:\n");
	close_dump();
}
END_TEST

/* Of more than a hundred calls the first and the last fifty are printed. */
START_TEST(long_stacks_are_cut)
{
	static char expected[10000];
	for (unsigned calls = 100; calls <= 103; calls++) {
		start();
		put_goroutine(4, "select", 0, false);
		strcpy(expected, "goroutine 1 [select]:\n");
		for (unsigned i = 0; i < calls; i++) {
			char name[32], line[40];
			snprintf(name, sizeof(name), "main.f%u", i);
			put_frame(name);
			snprintf(line, sizeof(line), "...%u frames elided...\n", calls - 100);
			if (i == 50 && calls > 100)
				strcat(expected, line);
			snprintf(line, sizeof(line), "%s(...)\n", name);
			if (i < 50 || i >= calls - 50)
				strcat(expected, line);
		}
		open_dump();
		check_list(&(const struct gh_goroutine_list){0}, expected);
		close_dump();
	}
}
END_TEST

/* Goroutines have panics, then deferred calls. */
START_TEST(panics_and_deferred_calls_follow)
{
	static const char text[] = "goroutine 1 [running]:\nmain.f(...)\n\n"
				   "panicking in goroutine 1: type 0x5000, data 0x10000\n"
				   "deferred in goroutine 1: 0x403000 by 0x401005\n"
				   "deferred in goroutine 1: open-coded\n";
	start();
	put_goroutine(2, "", 0, false);
	put_frame("main.f");
	maker_numbers(
	    &maker, 8,
	    (const uint64_t[]){14, 0xb000, 0x9001, 0x30010, 0x401005, 0xb100, 0x403000, 0});
	maker_numbers(&maker, 8,
		      (const uint64_t[]){14, 0xb001, 0x9001, UINT64_MAX, 0x401005, 0, 0, 0});
	maker_numbers(&maker, 7, (const uint64_t[]){15, 0xc000, 0x9001, 0x5000, 0x10000, 0, 0});
	open_dump();
	check_list(&(const struct gh_goroutine_list){0}, text);
	close_dump();
}
END_TEST

/* In a group are those with the same state and calls, whatever else they have. */
START_TEST(groups_have_the_same_stack)
{
	static const struct gh_goroutine_list grouped = {.group = true};
	start();
	for (unsigned i = 0; i < 12; i++) {
		put_goroutine(4, "select", i, false);
		put_frame("io.wait");
	}
	put_goroutine(4, "select", 0, false);
	put_frame("main.f");
	put_goroutine(4, "chan send", 1, false);
	put_frame("main.f");
	put_goroutine(4, "select", 0, false);
	put_frame("main.f");
	put_goroutine(4, "select", 0, false);
	put_frame("main.e");
	put_frame("main.f");
	open_dump();
	/* With more calls of the program's first, then by name and by state. */
	check_list(&grouped, "1 goroutine [select]:\nmain.e(...)\nmain.f(...)\n\ngoroutines 16\n\n"
			     "1 goroutine [chan send, 1 minutes]:\nmain.f(...)\n\ngoroutines 14\n\n"
			     "2 goroutines [select]:\nmain.f(...)\n\ngoroutines 13 15\n\n"
			     "12 goroutines [select, 11 minutes]:\nio.wait(...)\n\n"
			     "goroutines 1 2 3 4 5 6 7 8 9 10 and 2 more\n");
	/* The one that crashed comes first. */
	check_list(&(const struct gh_goroutine_list){.group = true, .crashed = 15},
		   "2 goroutines [select]:\nmain.f(...)\n\ngoroutines 13 15\n\n"
		   "1 goroutine [select]:\nmain.e(...)\nmain.f(...)\n\ngoroutines 16\n\n"
		   "1 goroutine [chan send, 1 minutes]:\nmain.f(...)\n\ngoroutines 14\n\n"
		   "12 goroutines [select, 11 minutes]:\nio.wait(...)\n\n"
		   "goroutines 1 2 3 4 5 6 7 8 9 10 and 2 more\n");
	close_dump();
}
END_TEST

/* Who is locked to a thread is in another; the one that is looked at leads. */
START_TEST(groups_differ_in_locks)
{
	static const char rows[] = {0, 0, 0, 0, 1, 0, 0, 2, 0};
	start();
	for (unsigned i = 0; i < 3; i++) {
		put_goroutine(4, "select", 0, false);
		put_frame(i < 2 ? "main.f" : "main.g");
	}
	open_dump_with(rows, sizeof(rows));
	check_list(&(const struct gh_goroutine_list){.group = true},
		   "1 goroutine [select]:\nmain.g(...)\n\ngoroutines 3\n\n"
		   "1 goroutine [select, locked to thread]:\nmain.f(...)\n\ngoroutines 2\n\n"
		   "1 goroutine [select]:\nmain.f(...)\n\ngoroutines 1\n");
	check_list(
	    &(const struct gh_goroutine_list){.group = true, .json = true},
	    "{\"count\":1,\"status\":\"select\",\"minutes\":0,\"goroutines\":[3],\"frames\":["
	    "{\"function\":\"main.g\",\"file\":null,\"line\":0,\"pc\":\"0x401010\","
	    "\"offset\":16,\"inlined\":false}]}\n"
	    "{\"count\":1,\"status\":\"select\",\"minutes\":0,\"locked_to_thread\":true,"
	    "\"goroutines\":[2],\"frames\":["
	    "{\"function\":\"main.f\",\"file\":null,\"line\":0,\"pc\":\"0x401010\","
	    "\"offset\":16,\"inlined\":false}]}\n"
	    "{\"count\":1,\"status\":\"select\",\"minutes\":0,\"goroutines\":[1],\"frames\":["
	    "{\"function\":\"main.f\",\"file\":null,\"line\":0,\"pc\":\"0x401010\","
	    "\"offset\":16,\"inlined\":false}]}\n");
	close_dump();
}
END_TEST

START_TEST(json_has_all_fields)
{
	make_three();
	check_list(
	    &(const struct gh_goroutine_list){.json = true, .label = "key"},
	    "{\"id\":1,\"status\":\"waiting\",\"wait_reason\":\"select (no cases)\","
	    "\"wait_start\":5280000000000,\"waited_ns\":720000000000,\"system\":false,"
	    "\"background\":false,\"descriptor\":\"0x9001\",\"sp\":\"0x31000\","
	    "\"context\":\"0x9100\",\"thread\":\"0xa000\",\"creator_pc\":\"0x400123\","
	    "\"created_by\":null,\"created_in\":7,\"locked_to_thread\":true,"
	    "\"labels\":[{\"key\":\"a b\",\"value\":\"\"},{\"key\":\"key\",\"value\":\"value\"}],"
	    "\"frames\":[{\"function\":\"main.f\",\"file\":null,\"line\":0,\"pc\":\"0x401010\","
	    "\"offset\":16,\"inlined\":false},{\"function\":\"main.g[go.shape.int]\","
	    "\"file\":null,\"line\":0,\"pc\":\"0x401010\",\"offset\":16,\"inlined\":false}],"
	    "\"defers\":[],\"panics\":[]}\n");
	close_dump();
}
END_TEST

START_TEST(one_goroutine_is_found_by_its_id)
{
	struct gh_dump_record record;
	char *text;
	size_t length;
	make_three();
	ck_assert_uint_eq(gh_goroutine_find(&dump, 2, &record), 1);
	ck_assert_uint_eq(record.goroutine.id, 2);
	ck_assert_uint_eq(gh_goroutine_find(&dump, 4, &record), GH_DUMP_NONE);
	FILE *out = open_memstream(&text, &length);
	ck_assert(gh_goroutines_print_one(out, &dump, NULL, 2));
	fclose(out);
	ck_assert_str_eq(text, SECOND);
	free(text);
	close_dump();
}
END_TEST

void goroutine_list_tests(TCase *tests)
{
	tcase_add_test(tests, states_are_as_in_tracebacks);
	tcase_add_test(tests, lists_have_who_is_asked_for);
	tcase_add_test(tests, lists_have_who_matches);
	tcase_add_test(tests, a_line_has_the_users_call);
	tcase_add_test(tests, long_stacks_are_cut);
	tcase_add_test(tests, panics_and_deferred_calls_follow);
	tcase_add_test(tests, groups_have_the_same_stack);
	tcase_add_test(tests, groups_differ_in_locks);
	tcase_add_test(tests, json_has_all_fields);
	tcase_add_test(tests, one_goroutine_is_found_by_its_id);
}
