#include "lib/heap/phantom.h"

#include <stdlib.h>
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

static bool is_pointerful(const struct gh_heap *heap, uint32_t object)
{
	return (heap->pointerful[object / 8] >> object % 8 & 1) != 0;
}

/* The objects from FIRST to LAST, all that begin in a span before what may be its end, have
 * pointers; or there are none, and nobody knows. */
static bool may_have_pointers(const struct gh_heap *heap, uint32_t first, uint32_t last)
{
	for (uint32_t object = first; object < last; object++)
		if (is_pointerful(heap, object))
			return true;
	return first == last;
}

bool gh_heap_is_phantom(const struct gh_heap *heap, uint32_t object)
{
	struct gh_heap_object it = gh_heap_object(heap, object);
	uint64_t word = heap->dump->word, start = it.address % SPAN, end = start + it.size;
	uint64_t bitmap = SPAN / word / 8;
	/* Larger ones have their types in themselves: minSizeForMallocHeader. */
	if (it.size > word * word * 8 || end > SPAN || end <= SPAN - bitmap - MARKS)
		return false;
	unsigned release = minor_release(heap->dump);
	const uint32_t *referrers;
	const struct gh_root *roots;
	if (release < 22 || gh_heap_referrers(heap, object, &referrers) > 0 ||
	    gh_heap_roots(heap, object, &roots) > 0)
		return false;
	uint64_t marks = it.size >= MARKS_MIN && has_marks(heap->dump, release) ? MARKS : 0;
	if (end > SPAN - marks)
		return true;
	if (end <= SPAN - marks - bitmap)
		return false;
	uint64_t span = it.address - start;
	uint32_t first = span > 0 ? gh_places_upto(&heap->places, span - 1) : 0;
	uint32_t last = gh_places_upto(&heap->places, span + SPAN - marks - bitmap - it.size);
	return may_have_pointers(heap, first, last);
}
