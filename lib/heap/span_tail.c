#include "lib/heap/internal.h"

#include <string.h>

/* Objects this small are in spans of one page. */
#define SPAN GH_EXTENT_PAGE

/* sizeof(spanInlineMarkBits), and the smallest objects that have them. */
#define MARKS     128
#define MARKS_MIN 16

/* Objects that are looked at before the memory that the file was mapped to is let go of. */
#define RELEASE 2048

/* The version of Go that wrote DUMP has TEXT in it. */
static bool says(const struct gh_dump *dump, const char *text)
{
	struct gh_cursor version = gh_dump_bytes(dump, gh_dump_go_version(dump));
	size_t size = gh_cursor_size(&version);
	return size > 0 && memmem(version.start, size, text, strlen(text)) != NULL;
}

/* Spans have their mark bits in them: by default from 1.26 on, and for who asked for it in 1.25. */
static bool has_marks(const struct gh_dump *dump, int release)
{
	if (says(dump, "nogreenteagc"))
		return false;
	return release >= 26 || (release == 25 && says(dump, "greenteagc"));
}

struct gh_span_tails gh_span_tails_start(const struct gh_dump *dump)
{
	struct gh_span_tails span_tails = {.dump = dump, .span = UINT64_MAX};
	uint64_t word = dump->word;
	int release = gh_dump_minor(dump);
	/* goheap's own dumps of processes list none. */
	if (release < 22 || dump->params.ncpu == GH_DUMP_FROM_OUTSIDE)
		return span_tails;
	/* Larger ones have their types in themselves: minSizeForMallocHeader. */
	span_tails.max_size = word * word * 8;
	span_tails.bitmap = SPAN / word / 8;
	span_tails.marks = has_marks(dump, release) ? MARKS : 0;
	return span_tails;
}

/* OBJECT has a fieldlist that is not empty. */
static bool has_pointers(struct gh_span_tails *span_tails, const struct gh_extent *object)
{
	const struct gh_dump *dump = span_tails->dump;
	struct gh_dump_record record;
	struct gh_cursor cur = dump->file;
	gh_cursor_seek(&cur, object->offset);
	gh_dump_record_read_again(&cur, dump->format, &record);
	gh_cursor_seek(&cur, record.object.fields.offset);
	bool has = gh_cursor_u8(&cur) != 0;
	/* The walk is over all of the file, and would have all of it in memory. */
	if (++span_tails->looked % RELEASE == 0)
		gh_dump_input_release(&dump->input, 0, UINT64_MAX);
	return has;
}

bool gh_span_tails_is(struct gh_span_tails *span_tails, const struct gh_extent *object)
{
	if (object->size > span_tails->max_size || object->size == 0)
		return false;
	uint64_t end = object->address % SPAN + object->size;
	uint64_t marks = object->size >= MARKS_MIN ? span_tails->marks : 0;
	if (object->address / SPAN != span_tails->span) {
		span_tails->span = object->address / SPAN;
		span_tails->pointerful = false;
	}
	if (end > SPAN - marks)
		return end <= SPAN;
	if (end > SPAN - marks - span_tails->bitmap)
		return span_tails->pointerful;
	span_tails->pointerful = span_tails->pointerful || has_pointers(span_tails, object);
	return false;
}
