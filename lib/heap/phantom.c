#include "lib/heap/phantom.h"

#include <string.h>

/* Objects this small are in spans of one page. */
#define SPAN GH_EXTENT_PAGE

/* sizeof(spanInlineMarkBits), and the smallest objects that have them. */
#define MARKS     128
#define MARKS_MIN 16

/* TEXT is in the version of Go that wrote the dump. Gives what follows it, and how long that is. */
static const char *after(const struct gh_dump *dump, const char *text, size_t *left)
{
	struct gh_cursor version = gh_dump_bytes(dump, gh_dump_go_version(dump));
	size_t length = strlen(text);
	const char *start = (const char *)version.start;
	const char *found = memmem(start, gh_cursor_size(&version), text, length);
	if (found == NULL)
		return NULL;
	*left = gh_cursor_size(&version) - (size_t)(found - start) - length;
	return found + length;
}

/* N of Go 1.N; 0 if the dump does not say. */
static unsigned minor_release(const struct gh_dump *dump)
{
	size_t left;
	const char *digit = after(dump, "go1.", &left);
	unsigned release = 0;
	for (; digit != NULL && left > 0 && *digit >= '0' && *digit <= '9' && release < 1000;
	     left--)
		release = 10 * release + (unsigned)(*digit++ - '0');
	return release;
}

/* Spans have their mark bits in them: by default from 1.26 on, and for who asked for it in 1.25. */
static bool has_marks(const struct gh_dump *dump, unsigned release)
{
	size_t left;
	if (after(dump, "nogreenteagc", &left) != NULL)
		return false;
	return release >= 26 || (release == 25 && after(dump, "greenteagc", &left) != NULL);
}

struct gh_phantoms gh_phantoms_start(const struct gh_dump *dump)
{
	struct gh_phantoms phantoms = {.dump = dump, .span = UINT64_MAX};
	uint64_t word = dump->word;
	unsigned release = minor_release(dump);
	if (release < 22)
		return phantoms;
	/* Larger ones have their types in themselves: minSizeForMallocHeader. */
	phantoms.max_size = word * word * 8;
	phantoms.bitmap = SPAN / word / 8;
	phantoms.marks = has_marks(dump, release) ? MARKS : 0;
	return phantoms;
}

/* OBJECT has a fieldlist that is not empty. */
static bool has_pointers(const struct gh_dump *dump, const struct gh_extent *object)
{
	struct gh_dump_record record;
	struct gh_cursor cur = dump->file;
	gh_cursor_seek(&cur, object->offset);
	gh_dump_record_read(&cur, dump->format, &record);
	gh_cursor_seek(&cur, record.object.fields.offset);
	return gh_cursor_u8(&cur) != 0;
}

bool gh_phantoms_is(struct gh_phantoms *phantoms, const struct gh_extent *object)
{
	if (object->size > phantoms->max_size || object->size == 0)
		return false;
	uint64_t end = object->address % SPAN + object->size;
	uint64_t marks = object->size >= MARKS_MIN ? phantoms->marks : 0;
	if (object->address / SPAN != phantoms->span) {
		phantoms->span = object->address / SPAN;
		phantoms->pointerful = false;
	}
	if (end > SPAN - marks)
		return end <= SPAN;
	if (end > SPAN - marks - phantoms->bitmap)
		return phantoms->pointerful;
	phantoms->pointerful = phantoms->pointerful || has_pointers(phantoms->dump, object);
	return false;
}
