#include <string.h>

#include "lib/elf/elf.h"

/* Text that a compiler's runtime brings into each program. It is in two parts, so that goheap's own
 * file does not have it. */
struct mark {
	const char *compiler;
	const char *start;
	const char *rest;
};

/* Sources: libgo/runtime/go-assert.c of GCC; src/runtime/panic.go of TinyGo. */
static const struct mark marks[] = {
    {"gccgo", "libgo assertion", " failure"},
    {"TinyGo", "panic: runtime error", " at "},
};

static bool has_mark(const struct gh_image *image, const struct mark *mark)
{
	size_t start = strlen(mark->start);
	size_t rest = strlen(mark->rest);
	const uint8_t *end = image->data + image->size;
	const uint8_t *at = image->data;
	while ((at = memmem(at, (size_t)(end - at), mark->start, start)) != NULL) {
		at += start;
		if ((size_t)(end - at) >= rest && memcmp(at, mark->rest, rest) == 0)
			return true;
	}
	return false;
}

/* The program needs gccgo's library at run time. */
static bool needs_libgo(const struct gh_image *image)
{
	static const char name[] = "libgo.so.";
	struct gh_dynamic dynamic;
	uint64_t strings;
	if (!gh_dynamic_find(image, DT_STRTAB, &strings) || !gh_dynamic_open(&dynamic, image))
		return false;
	while (gh_dynamic_next(&dynamic)) {
		struct gh_cursor cur;
		uint64_t address;
		if (dynamic.tag == DT_NEEDED &&
		    !__builtin_add_overflow(strings, dynamic.value, &address) &&
		    gh_image_at(image, address, &cur) && gh_cursor_left(&cur) >= sizeof(name) &&
		    memcmp(cur.pos, name, strlen(name)) == 0)
			return true;
	}
	return false;
}

const char *gh_image_other_compiler(const struct gh_image *image)
{
	if (gh_image_section(image, ".go_export") != NULL || needs_libgo(image))
		return "gccgo";
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (has_mark(image, &marks[i]))
			return marks[i].compiler;
	return NULL;
}
