/* What the roots of a made heap are called, for a person and in JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/view/internal.h"
#include "plugin/view/paths.h"
#include "tests/unit/heapfixture.h"
#include "tests/unit/suites.h"

#define OBJECT UINT64_C(0x10000) /* that all roots lead to */
#define HOLDER UINT64_C(0x10100) /* that has a finalizer, and points to it at its second word */

static struct maker maker;
static struct gh_dump dump;
static struct gh_heap heap;
static struct gh_names names;

static void put_segment(unsigned tag, uint64_t address)
{
	maker_numbers(&maker, 2, (const uint64_t[]){tag, address});
	maker_words(&maker, 2, (const uint64_t[]){0, OBJECT});
	maker_numbers(&maker, 3, (const uint64_t[]){1, maker.word, 0});
}

/* Every kind of root, each once. Goroutine 12 has its own. */
static void put_roots(void)
{
	maker_root(&maker, OBJECT);
	put_segment(12, 0x60000);
	put_segment(13, 0x61000);
	maker_numbers(&maker, 9, (const uint64_t[]){4, 0x9000, 0x30000, 12, 0, 4, 0, 0, 0});
	maker_text(&maker, "select");
	maker_numbers(&maker, 4, (const uint64_t[]){OBJECT, 0, OBJECT, OBJECT});
	for (unsigned depth = 0; depth < 2; depth++) {
		uint64_t sp = 0x30000 + 2 * (uint64_t)maker.word * depth;
		maker_numbers(&maker, 4, (const uint64_t[]){5, sp, depth, depth > 0 ? 0x30000 : 0});
		maker_words(&maker, 2, (const uint64_t[]){0, depth > 0 ? OBJECT : 0});
		maker_numbers(&maker, 3, (const uint64_t[]){0x401000, 0x401010, 0x401018});
		maker_text(&maker, depth > 0 ? "main.f" : "runtime.gopark");
		maker_numbers(&maker, 3, (const uint64_t[]){1, maker.word, 0});
	}
	maker_numbers(&maker, 8,
		      (const uint64_t[]){14, 0x7000, 0x9000, 0x30000, 0, OBJECT, 0x403000, 0});
	maker_numbers(&maker, 7, (const uint64_t[]){15, 0x7100, 0x9000, 0x5000, OBJECT, 0, 0});
	maker_numbers(&maker, 6, (const uint64_t[]){7, HOLDER, OBJECT, 0x404000, 0, 0});
	maker_numbers(&maker, 6, (const uint64_t[]){11, OBJECT, OBJECT, 0x404100, 0, 0});
}

static void start(int variant)
{
	struct gh_error err;
	maker_start(&maker, MAKER_1_7, variant & 1 ? 4 : 8, variant & 2);
	maker_params(&maker);
	maker_object(&maker, OBJECT, 32);
	maker_numbers(&maker, 2, (const uint64_t[]){1, HOLDER});
	maker_words(&maker, 4, (const uint64_t[]){0, OBJECT, 0, 0});
	maker_numbers(&maker, 3, (const uint64_t[]){1, maker.word, 0});
	put_roots();
	maker_end(&maker);
	heap_open(&maker, &dump, &heap);
	names = (struct gh_names){0};
	ck_assert(gh_names_make(&names, &heap, NULL, &err));
}

static void clean_up(void)
{
	gh_names_free(&names);
	heap_close(&maker, &dump, &heap);
}

/* The roots, and what they are called. Of those that differ by the size of a word the name has %u
 * for it. */
static const struct {
	enum gh_root_kind kind;
	int offset; /* in words, if it is a slot's; else as it is */
	bool slot;
	bool is_closure;
	const char *text;
	const char *json; /* without the braces */
	const char *brief;
} roots[] = {
    {GH_ROOT_OTHER, 0, false, false, "root: root", "\"kind\":\"other\",\"description\":\"root\"",
     "root: root"},
    {GH_ROOT_DATA, 1, true, false, "data 0x6000%u", "\"kind\":\"data\",\"address\":\"0x6000%u\"",
     "data 0x6000%u"},
    {GH_ROOT_BSS, 1, true, false, "bss 0x6100%u", "\"kind\":\"bss\",\"address\":\"0x6100%u\"",
     "bss 0x6100%u"},
    {GH_ROOT_GOROUTINE, GH_ROOT_CONTEXT, false, false, "goroutine 12, its context",
     "\"kind\":\"goroutine\",\"goroutine\":12,\"what\":\"its context\"",
     "goroutine 12, its context"},
    {GH_ROOT_GOROUTINE, GH_ROOT_TOP_DEFER, false, false,
     "goroutine 12, its innermost deferred call",
     "\"kind\":\"goroutine\",\"goroutine\":12,\"what\":\"its innermost deferred call\"",
     "goroutine 12, its innermost deferred call"},
    {GH_ROOT_GOROUTINE, GH_ROOT_TOP_PANIC, false, false, "goroutine 12, its innermost panic",
     "\"kind\":\"goroutine\",\"goroutine\":12,\"what\":\"its innermost panic\"",
     "goroutine 12, its innermost panic"},
    {GH_ROOT_DEFER, 0, false, false, "goroutine 12, a deferred call's closure",
     "\"kind\":\"defer\",\"goroutine\":12,\"what\":\"a deferred call's closure\"",
     "goroutine 12, a deferred call's closure"},
    {GH_ROOT_PANIC, 0, false, false, "goroutine 12, a panic's argument",
     "\"kind\":\"panic\",\"goroutine\":12,\"what\":\"a panic's argument\"",
     "goroutine 12, a panic's argument"},
    {GH_ROOT_FINALIZER, 1, true, false, "finalizer 0x404000 of 0x10100, +%u",
     "\"kind\":\"finalizer\",\"object\":\"0x10100\",\"function\":null,\"closure\":false",
     "finalizer 0x404000 of 0x10100, +%u"},
    {GH_ROOT_FINALIZER, 0, false, true, "finalizer 0x404000 of 0x10100, its closure",
     "\"kind\":\"finalizer\",\"object\":\"0x10100\",\"function\":null,\"closure\":true",
     "finalizer 0x404000 of 0x10100, its closure"},
    {GH_ROOT_QUEUED_FINALIZER, 0, false, false, "queued finalizer 0x404100 of 0x10000",
     "\"kind\":\"queued finalizer\",\"object\":\"0x10000\",\"function\":null,\"closure\":false",
     "queued finalizer 0x404100"},
    {GH_ROOT_QUEUED_FINALIZER, 0, false, true, "queued finalizer 0x404100 of 0x10000, its closure",
     "\"kind\":\"queued finalizer\",\"object\":\"0x10000\",\"function\":null,\"closure\":true",
     "queued finalizer 0x404100"},
};
enum { ROOTS = sizeof(roots) / sizeof(roots[0]) };

/* The root that is of row I. */
static struct gh_root *find_root(size_t i)
{
	struct gh_root *found = NULL;
	uint64_t offset = roots[i].is_closure ? GH_ROOT_CLOSURE : (uint64_t)roots[i].offset;
	if (roots[i].slot)
		offset *= maker.word;
	for (size_t j = 0; j < heap.nroots; j++)
		if (heap.roots[j].kind == roots[i].kind && heap.roots[j].offset == offset) {
			ck_assert_ptr_null(found);
			found = &heap.roots[j];
		}
	ck_assert_msg(found != NULL, "%s", roots[i].text);
	return found;
}

/* Checks what CALL prints to `out' of ROOT. */
#define CHECK(expected, call)                                                                      \
	do {                                                                                       \
		char *text;                                                                        \
		size_t length;                                                                     \
		FILE *out = open_memstream(&text, &length);                                        \
		call;                                                                              \
		fclose(out);                                                                       \
		ck_assert_str_eq(text, expected);                                                  \
		free(text);                                                                        \
	} while (0)

static void emit(FILE *out, const struct gh_root *root)
{
	struct gh_emit emitting = gh_emit_start(out, GH_EMIT_ROWS, &dump, true);
	gh_names_emit_root(&emitting, &names, root);
}

/* Writes FORMAT, which has a word's size in it or not. */
static const char *with_word(char text[256], const char *format, const char *after)
{
	const char *found = strstr(format, "%u");
	if (found == NULL)
		snprintf(text, 256, "%s%s", format, after);
	else
		snprintf(text, 256, "%.*s%u%s%s", (int)(found - format), format, maker.word,
			 found + 2, after);
	return text;
}

START_TEST(roots_are_told_by_their_kinds)
{
	char expected[256], json[300];
	start(_i);
	/* And one in a frame. */
	ck_assert_uint_eq(heap.nroots, ROOTS + 1);
	for (size_t i = 0; i < ROOTS; i++) {
		struct gh_root *root = find_root(i);
		ck_assert_uint_eq(root->object, gh_heap_find(&heap, OBJECT));
		root->conservative = false;
		CHECK(with_word(expected, roots[i].text, ""),
		      gh_names_print_root(out, &names, root));
		CHECK(with_word(expected, roots[i].brief, ""),
		      gh_names_print_slot(out, &names, root));
		snprintf(json, sizeof(json), "{%s}", with_word(expected, roots[i].json, ""));
		CHECK(json, emit(out, root));
	}
	clean_up();
}
END_TEST

/* What is no pointer for sure is one perhaps, but for what says so itself. */
START_TEST(roots_may_be_conservative)
{
	char expected[256], json[300];
	start(_i);
	for (size_t i = 0; i < ROOTS; i++) {
		struct gh_root *root = find_root(i);
		root->conservative = true;
		CHECK(with_word(expected, roots[i].text,
				roots[i].kind == GH_ROOT_OTHER ? "" : ", perhaps"),
		      gh_names_print_root(out, &names, root));
		snprintf(json, sizeof(json), "{%s}",
			 with_word(expected, roots[i].json, ",\"conservative\":true"));
		CHECK(json, emit(out, root));
	}
	clean_up();
}
END_TEST

START_TEST(roots_in_frames_have_calls)
{
	char expected[256];
	struct gh_root *root = NULL;
	start(_i);
	for (size_t i = 0; i < heap.nroots; i++)
		if (heap.roots[i].kind == GH_ROOT_FRAME)
			root = &heap.roots[i];
	ck_assert_ptr_nonnull(root);
	unsigned word = maker.word;
	root->conservative = false;
	snprintf(expected, sizeof(expected), "goroutine 12, main.f, sp_0x%x", word);
	CHECK(expected, gh_names_print_root(out, &names, root));
	CHECK(expected, gh_names_print_slot(out, &names, root));
	CHECK("goroutine 12 in main.f", gh_names_print_stack(out, &names, root, 1));
	CHECK("1,000 goroutines in main.f", gh_names_print_stack(out, &names, root, 1000));
	snprintf(expected, sizeof(expected),
		 "{\"kind\":\"stack\",\"address\":\"0x%x\",\"goroutine\":12,\"depth\":1,"
		 "\"slot\":%u,\"function\":\"main.f\",\"file\":null,\"line\":null}",
		 0x30000 + 3 * word, word);
	CHECK(expected, emit(out, root));
	root->conservative = true;
	CHECK("goroutine 12 in main.f, perhaps", gh_names_print_stack(out, &names, root, 1));
	clean_up();
}
END_TEST

void root_names_tests(TCase *tests)
{
	tcase_add_loop_test(tests, roots_are_told_by_their_kinds, 0, 4);
	tcase_add_loop_test(tests, roots_may_be_conservative, 0, 4);
	tcase_add_loop_test(tests, roots_in_frames_have_calls, 0, 4);
}
