#include "lib/write/dumptext.h"

#include "lib/util/escape.h"

void gh_dumptext_put(struct gh_buffer *out, const struct gh_dump *dump, struct gh_dump_slice text)
{
	struct gh_cursor cur = gh_dump_bytes(dump, text);
	size_t size = gh_cursor_left(&cur);
	size_t start = out->size;
	gh_buffer_bytes(out, cur.pos, size);
	if (!out->failed)
		gh_escape_overwrite((char *)out->data + start, size);
	gh_buffer_u8(out, 0);
}
