/* Crafted writes a heap dump as no Go program would, for sessions to be tried on. It shares no code
 *with the reader.
 *
 *	crafted names|ids|nothing|deep|overlap|high|roots|chain >DUMP
 *	crafted everything NUMBER >DUMP    every kind of record, in each format and for each
 *machine; no output past the last
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/dumpmaker.h"

#define HOSTILE                                                                                    \
	"a'b\"\n$(touch gone)`touch gone`\nend\nshell touch gone\n!touch gone\n\033]0;x\a\033[31m" \
	"$arg0 %s%n"

static struct maker maker;

static void goroutine(uint64_t id, const char *reason)
{
	maker_goroutine(&maker, 0x9000, id, 4, reason, 0);
	maker.nlengths = 0;
}

static void frame(uint64_t sp, uint64_t depth, uint64_t child_sp, const char *function)
{
	maker_frame(&maker, sp, depth, child_sp, function);
	maker.nlengths = 0;
}

/* In a GDB script a line that ends in a backslash goes on in the next. */
static void names(void)
{
	static const char *const texts[] = {
	    HOSTILE, "a\\", "a\\\\", "\\n\\", "\nend\nshell touch gone\n", "\377\300\200", ""};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		goroutine(i + 1, texts[i]);
		frame(0x30000 + 0x100 * i, 0, 0, texts[i]);
	}
}

static void ids(void)
{
	static const uint64_t values[] = {
	    5, 5, 0, 0, 1, INT32_MAX, (uint64_t)INT32_MAX + 1, (uint64_t)1 << 32, UINT64_MAX};
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		goroutine(values[i], "select");
		frame(0x30000 + 0x100 * i, 0, 0, "main.f");
	}
}

static void deep(void)
{
	goroutine(1, "select");
	for (uint64_t i = 0; i < 1000000; i++)
		frame(0x30000 + 16 * i, i, i > 0 ? 0x30000 + 16 * (i - 1) : 0, "main.f");
}

static void overlap(void)
{
	goroutine(1, "select");
	for (uint64_t i = 0; i < 100; i++)
		frame(0x30000 + 8 * (i / 2), i, 0x30000, "main.f");
	goroutine(2, "select");
	frame(0x30000, 0, 0x30000, "main.g");
	maker_object(&maker, 0x30004, 64);
}

static void high(void)
{
	goroutine(1, "select");
	frame(UINT64_MAX - 15, 0, 0, "main.f");
	frame(UINT64_MAX - 7, 1, 0, "main.g");
	maker_object(&maker, UINT64_MAX - 3, 64);
	maker_object(&maker, 0, 64);
}

static void nothing(void)
{
	maker_object(&maker, 0x10000, 64);
}

/* An object with a pointer. */
static void link(uint64_t address, uint64_t to)
{
	maker_numbers(&maker, 2, (const uint64_t[]){1, address});
	maker_words(&maker, 2, (const uint64_t[]){0, to});
	maker_numbers(&maker, 3, (const uint64_t[]){1, 8, 0});
	maker.nlengths = 0;
}

static void root(const char *description, uint64_t to)
{
	maker_number(&maker, 2);
	maker_text(&maker, description);
	maker_number(&maker, to);
	maker.nlengths = 0;
}

static void roots(void)
{
	static const char *const texts[] = {HOSTILE, "\\", "\"]}; \\\" &quot; &#10; <b>\\N\\G",
					    "\377\300\200", ""};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		maker_object(&maker, 0x10000 + 64 * i, 64);
		root(texts[i], 0x10000 + 64 * i);
	}
}

/* Object NUMBER of the chain is not at the end of a page, where Go has none. */
static uint64_t link_at(uint64_t number)
{
	return 0x10000 + 8192 * (number / 448) + 16 * (number % 448);
}

static void chain(void)
{
	for (uint64_t i = 0; i < 200000; i++)
		link(link_at(i), link_at(i + 1));
	root("the first", 0x10000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(void);
	} cases[] = {{"names", names},     {"ids", ids},   {"nothing", nothing}, {"deep", deep},
		     {"overlap", overlap}, {"high", high}, {"roots", roots},     {"chain", chain}};
	if (argc == 3 && strcmp(argv[1], "everything") == 0) {
		int number = atoi(argv[2]);
		if (number < MAKER_VARIANTS)
			maker_everything(&maker, number);
		return fwrite(maker.data, 1, maker.size, stdout) == maker.size ? EXIT_SUCCESS
									       : EXIT_FAILURE;
	}
	maker_start(&maker, MAKER_1_7, 8, false);
	maker_params(&maker);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (argc != 2 || strcmp(argv[1], cases[i].name) != 0)
			continue;
		cases[i].make();
		maker_end(&maker);
		return fwrite(maker.data, 1, maker.size, stdout) == maker.size ? EXIT_SUCCESS
									       : EXIT_FAILURE;
	}
	fputs("usage: crafted names|ids|nothing|deep|overlap|high|roots|chain|everything NUMBER "
	      ">DUMP\n",
	      stderr);
	return 2;
}
