#include "lib/process/internal.h"

#include <string.h>

/* How the table begins, src/runtime/runtime2.go; number 0 is "". */
static const char *const first[] = {"GC assist marking", "IO wait"};

/* No reason is longer. */
#define MAX_LENGTH 64

/* The string whose header (address, length) CUR is at; *LENGTH is 0 if it is none. */
static const char *read_string(const struct gh_image *image, struct gh_cursor *cur, size_t *length)
{
	unsigned word = image->arch->pointer_size;
	uint64_t address = gh_cursor_uint(cur, word);
	uint64_t size = gh_cursor_uint(cur, word);
	struct gh_cursor text;
	*length = 0;
	if (cur->failed || size == 0 || size > MAX_LENGTH || !gh_image_at(image, address, &text) ||
	    gh_cursor_left(&text) < size)
		return "";
	*length = (size_t)size;
	return (const char *)text.pos;
}

static bool is_table(const struct gh_image *image, struct gh_cursor cur)
{
	unsigned word = image->arch->pointer_size;
	if (gh_cursor_uint(&cur, word) != 0 || gh_cursor_uint(&cur, word) != 0)
		return false;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		size_t length;
		const char *text = read_string(image, &cur, &length);
		if (length != strlen(first[i]) || memcmp(text, first[i], length) != 0)
			return false;
	}
	return true;
}

static bool search_segment(struct gh_wait_reasons *reasons, const GElf_Phdr *segment)
{
	unsigned word = reasons->image->arch->pointer_size;
	struct gh_cursor cur;
	if (!gh_image_at(reasons->image, segment->p_vaddr, &cur))
		return false;
	gh_cursor_bytes(&cur, -segment->p_vaddr % word);
	for (; gh_cursor_left(&cur) >= 6 * word; gh_cursor_bytes(&cur, word)) {
		if (!is_table(reasons->image, cur))
			continue;
		reasons->address = segment->p_vaddr + (uint64_t)(cur.pos - cur.start);
		return true;
	}
	return false;
}

struct gh_wait_reasons gh_wait_reasons_find(const struct gh_image *image)
{
	struct gh_wait_reasons reasons = {.image = image};
	for (size_t i = 0; i < image->nloads; i++)
		if ((image->loads[i]->p_flags & PF_X) == 0 &&
		    search_segment(&reasons, image->loads[i]))
			break;
	return reasons;
}

const char *gh_wait_reason(const struct gh_wait_reasons *reasons, uint8_t number, size_t *length)
{
	struct gh_cursor cur;
	unsigned word = reasons->image->arch->pointer_size;
	*length = 0;
	if (reasons->address == 0 ||
	    !gh_image_at(reasons->image, reasons->address + 2 * word * number, &cur))
		return "";
	return read_string(reasons->image, &cur, length);
}
