/* The calls of a dump's stack, at the source lines of a program, and where an address is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plugin/view/view.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/suites.h"
#include "tests/unit/synthetic.h"

static struct maker maker;

static void put_frame(uint64_t sp, uint64_t depth, uint64_t child_sp, uint64_t entry, uint64_t pc,
		      uint64_t continuation, const char *name)
{
	maker_numbers(&maker, 4, (const uint64_t[]){5, sp, depth, child_sp});
	maker_words(&maker, 2, (const uint64_t[]){0, 0});
	maker_numbers(&maker, 3, (const uint64_t[]){entry, pc, continuation});
	maker_text(&maker, name);
	maker_number(&maker, 0);
}

/* main.leaf, where its line 21 begins, has called NAME; or was stopped there, if CONTINUATION says
 * so. */
static void make_dump(const char *name, uint64_t continuation)
{
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_goroutine(&maker, 0x9000, 1, 4, "select", 0);
	put_frame(0x30000, 0, 0, SYNTHETIC_TEXT + 0x70, SYNTHETIC_TEXT + 0x74, 0, name);
	put_frame(0x30010, 1, 0x30000, SYNTHETIC_TEXT + 0x50, SYNTHETIC_TEXT + 0x58, continuation,
		  "main.leaf");
	maker_end(&maker);
}

/* Writes the program whose last function is LAST; its name goes to PATH. */
static void write_program(char *path, const char *last)
{
	const struct synthetic what = {
	    .format = SYNTHETIC_1_20, .word = 8, .sections = true, .last = last};
	size_t size;
	uint8_t *data = synthetic_make(&what, &size, NULL);
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
	close(fd);
	free(data);
}

/* The line of main.leaf in the traceback. */
static int line_of(const char *name, uint64_t continuation)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	write_program(path, name);
	struct gh_dump dump;
	struct gh_error err;
	struct gh_symbols symbols;
	struct gh_traceback traceback = {0};
	make_dump(name, continuation);
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	ck_assert(gh_symbols_open(&symbols, &dump, path));
	ck_assert(gh_traceback_make(&traceback, &dump, &symbols, 0));
	ck_assert_uint_eq(traceback.calls.count, 2);
	ck_assert_int_eq(traceback.calls.items[0].line, 5);
	ck_assert_str_eq(traceback.calls.items[1].file, "/src/leaf.go");
	int line = traceback.calls.items[1].line;
	gh_traceback_free(&traceback);
	gh_symbols_close(&symbols);
	gh_dump_close(&dump);
	free(maker.data);
	unlink(path);
	return line;
}

/* A call is before where it returns to; what signals have a function call is called where it was
 * stopped. */
START_TEST(lines_of_callers)
{
	ck_assert_int_eq(line_of("main.called", 0), 20);
	ck_assert_int_eq(line_of("main.called", GH_DUMP_INTERRUPTED), 21);
	ck_assert_int_eq(line_of("runtime.sigpanic", 0), 21);
	ck_assert_int_eq(line_of("runtime.asyncPreempt", 0), 21);
	ck_assert_int_eq(line_of("runtime.debugCallV2", 0), 21);
}
END_TEST

/* Opens the program for the dump that was made, and is told TEXT. */
static void check_refused(const char *text)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	char expected[160];
	struct gh_dump dump;
	struct gh_error err;
	struct gh_symbols symbols;
	char *told;
	size_t length;
	FILE *terminal = stderr;
	write_program(path, NULL);
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	stderr = open_memstream(&told, &length);
	ck_assert(!gh_symbols_open(&symbols, &dump, path));
	fclose(stderr);
	stderr = terminal;
	snprintf(expected, sizeof(expected),
		 "goheap: %s: expected the program that wrote the dump, found %s\n", path, text);
	ck_assert_str_eq(told, expected);
	free(told);
	gh_dump_close(&dump);
	free(maker.data);
	unlink(path);
}

/* A goroutine in function NAME, of a program that is 0x1000 bytes further on than its file says. */
static void make_other_dump(const char *name, bool has_goexit)
{
	enum { TEXT = SYNTHETIC_TEXT + 0x1000 };
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	maker_goroutine(&maker, 0x9000, 1, 4, "select", 0);
	put_frame(0x30000, 0, 0, TEXT + 0x50, TEXT + 0x58, 0, name);
	if (has_goexit)
		put_frame(0x30010, 1, 0x30000, TEXT + 0x70, TEXT + 0x74, 0, "runtime.goexit");
	maker_end(&maker);
}

START_TEST(another_program_is_told)
{
	make_other_dump("main.other", true);
	check_refused("one with no function main.other at 0x401050");
	make_other_dump("main.other", false);
	check_refused("one without its functions");
	maker_start(&maker, MAKER_1_7, 4, false);
	maker_params(&maker);
	maker_end(&maker);
	check_refused("one for amd64");
	maker_start(&maker, MAKER_1_7, 8, true);
	maker_params(&maker);
	maker_end(&maker);
	check_refused("one for amd64");
}
END_TEST

static void check_where(const struct gh_dump *dump, uint64_t address, const char *expected)
{
	const struct gh_heap heap = {.dump = dump};
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	gh_where_print(out, &heap, address);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

/* Stacks, of two words a frame, the first of a goroutine that is not in the dump; segments of one
 * word; and the heap's bounds, 0x10000 and 0x20000. */
START_TEST(an_address_is_in_one_place)
{
	struct gh_dump dump;
	struct gh_error err;
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	put_frame(0x12000, 0, 0, SYNTHETIC_TEXT, SYNTHETIC_TEXT, 0, "main.lost");
	maker_goroutine(&maker, 0x9000, 7, 4, "select", 0);
	put_frame(0x30000, 0, 0, SYNTHETIC_TEXT, SYNTHETIC_TEXT, 0, "main.f");
	for (unsigned tag = 12; tag <= 13; tag++) {
		maker_numbers(&maker, 2, (const uint64_t[]){tag, 0x8000 + 8 * (tag - 12)});
		maker_words(&maker, 1, (const uint64_t[]){0});
		maker_number(&maker, 0);
	}
	maker_end(&maker);
	ck_assert(gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err));
	check_where(&dump, 0x1200f, "in a stack, main.lost");
	check_where(&dump, 0x3000f, "in the stack of goroutine 7, main.f");
	check_where(&dump, 0x30010, "outside of the dump");
	check_where(&dump, 0x8007, "in the data segment");
	check_where(&dump, 0x8008, "in the bss segment");
	check_where(&dump, 0x8010, "outside of the dump");
	check_where(&dump, 0xffff, "outside of the dump");
	check_where(&dump, 0x10000, "in the heap's free memory");
	check_where(&dump, 0x1ffff, "in the heap's free memory");
	check_where(&dump, 0x20000, "outside of the dump");
	gh_dump_close(&dump);
	free(maker.data);
}
END_TEST

#define CALL(function, is_hidden)                                                                  \
	{                                                                                          \
		.name = function, .length = sizeof(function) - 1, .hidden = is_hidden              \
	}

/* What an embedded interface is called by is a wrapper: no source has it. */
START_TEST(wrappers_are_nobodys_own)
{
	struct gh_call calls[] = {
	    CALL("net.(*TCPListener).Accept", false),
	    CALL("main.(*limited).Accept", true),
	    CALL("net/http.(*Server).Serve", false),
	    CALL("main.serve", false),
	};
	struct gh_traceback traceback = {.calls = {.items = calls, .count = 4}};
	ck_assert_ptr_eq(gh_traceback_own_call(&traceback), &calls[3]);
	traceback.calls.count = 2;
	ck_assert_ptr_eq(gh_traceback_own_call(&traceback), &calls[0]);
}
END_TEST

/* A goroutine that has not begun has no call of the program's, and neither have the runtime's. */
START_TEST(no_goroutine_is_in_goexit)
{
	struct gh_call calls[] = {
	    CALL("sync.(*WaitGroup).Go.func1", false),
	    CALL("runtime.goexit", true),
	};
	struct gh_call hidden[] = {
	    CALL("runtime.gopark", true),
	    CALL("runtime.bgsweep", true),
	    CALL("runtime.goexit", true),
	};
	struct gh_traceback begun = {.calls = {.items = calls, .count = 2}};
	struct gh_traceback runtime = {.calls = {.items = hidden, .count = 3}, .all = true};
	ck_assert_ptr_eq(gh_traceback_own_call(&begun), &calls[0]);
	ck_assert_ptr_eq(gh_traceback_own_call(&runtime), &hidden[1]);
}
END_TEST

void traceback_tests(TCase *tcase)
{
	tcase_add_test(tcase, lines_of_callers);
	tcase_add_test(tcase, another_program_is_told);
	tcase_add_test(tcase, an_address_is_in_one_place);
	tcase_add_test(tcase, wrappers_are_nobodys_own);
	tcase_add_test(tcase, no_goroutine_is_in_goexit);
}
