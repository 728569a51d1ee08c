#include "lib/heap/phantom.h"

#include <string.h>

#include "lib/elf/buildinfo.h"

/* Objects this small are in spans of one page. */
#define SPAN GH_EXTENT_PAGE

/* sizeof(spanInlineMarkBits), and the smallest objects that have them. */
#define MARKS     128
#define MARKS_MIN 16

/* Where TEXT is in the version of Go that wrote DUMP, up to the version's end; empty if it is not.
 */
static struct gh_cursor find(const struct gh_dump *dump, const char *text)
{
	struct gh_cursor version = gh_dump_bytes(dump, gh_dump_go_version(dump));
	const uint8_t *found = memmem(version.start, gh_cursor_size(&version), text, strlen(text));
	uint64_t offset =
	    found != NULL ? (uint64_t)(found - version.start) : gh_cursor_size(&version);
	return gh_cursor_slice(&version, offset, gh_cursor_size(&version) - offset);
}

/* N of Go 1.N, of a development version too; -1 if the dump does not say. */
static int minor_release(const struct gh_dump *dump)
{
	char version[16] = "";
	struct gh_cursor text = find(dump, "go1.");
	size_t size = gh_cursor_size(&text);
	if (size > 0)
		memcpy(version, text.start, size < sizeof(version) ? size : sizeof(version) - 1);
	return gh_go_minor(version);
}

static bool says(const struct gh_dump *dump, const char *text)
{
	struct gh_cursor found = find(dump, text);
	return gh_cursor_size(&found) > 0;
}

/* Spans have their mark bits in them: by default from 1.26 on, and for who asked for it in 1.25. */
static bool has_marks(const struct gh_dump *dump, int release)
{
	if (says(dump, "nogreenteagc"))
		return false;
	return release >= 26 || (release == 25 && says(dump, "greenteagc"));
}

struct gh_phantoms gh_phantoms_start(const struct gh_dump *dump)
{
	struct gh_phantoms phantoms = {.dump = dump, .span = UINT64_MAX};
	uint64_t word = dump->word;
	int release = minor_release(dump);
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
	gh_dump_record_read_again(&cur, dump->format, &record);
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
