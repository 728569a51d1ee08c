#include "plugin/web/web.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/prefix.h"
#include "plugin/web/internal.h"

/* gzip, with the largest window of zlib. */
#define GZIP_WINDOW (MAX_WBITS + 16)

/* Bytes that zlib may hold back: the symbols that it gathers before it writes a block, of which
 * there are 16383 at its usual use of memory, with 31 bits for each at the most, and the block's
 * head. */
#define HELD_BACK (1 << 16)

/* Bytes that zlib is given room for at once. */
#define STEP (1 << 14)

/* The bytes of the page without a recording; some of its lines are left out. */
static size_t page_size(void)
{
	size_t size = 4096;
	for (const struct gh_web_file *file = gh_web_files; file->name != NULL; file++)
		size += file->size;
	return size;
}

bool gh_web_recording_begin(struct gh_web_recording *recording, size_t size)
{
	size_t page = page_size() + HELD_BACK / 3 * 4;
	*recording = (struct gh_web_recording){.room = size > page ? (size - page) / 4 * 3 : 0};
	return deflateInit2(&recording->streams[0], Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
			    MAX_MEM_LEVEL - 1, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* Has STREAM take SIZE bytes of DATA, and all that it holds back if they are to FINISH it. */
static bool pack(struct gh_web_recording *recording, z_stream *stream, const void *data,
		 size_t size, int finish)
{
	struct gh_buffer *packed = &recording->packed;
	stream->next_in = (void *)data;
	stream->avail_in = (unsigned)size;
	do {
		if (!gh_buffer_grow(packed, STEP))
			return false;
		stream->next_out = packed->data + packed->size;
		stream->avail_out = STEP;
		deflate(stream, finish);
		packed->size += STEP - stream->avail_out;
	} while (stream->avail_out == 0);
	return true;
}

bool gh_web_recording_add(struct gh_web_recording *recording, const void *data, size_t size)
{
	z_stream *now = &recording->streams[recording->current];
	z_stream *next = &recording->streams[!recording->current];
	size_t before = recording->packed.size;
	/* What does not fit is taken back. */
	if (deflateCopy(next, now) != Z_OK)
		return false;
	if (pack(recording, next, data, size, Z_NO_FLUSH) &&
	    recording->packed.size <= recording->room) {
		deflateEnd(now);
		recording->current = !recording->current;
		return true;
	}
	deflateEnd(next);
	recording->packed.size = before;
	return false;
}

static void print_base64(FILE *out, const uint8_t *data, size_t size)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (size_t i = 0; i < size; i += 3) {
		size_t left = size - i;
		uint32_t bits = (uint32_t)data[i] << 16 |
				(uint32_t)(left > 1 ? data[i + 1] : 0) << 8 |
				(left > 2 ? data[i + 2] : 0);
		putc(digits[bits >> 18], out);
		putc(digits[bits >> 12 & 63], out);
		putc(left > 1 ? digits[bits >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[bits & 63] : '=', out);
	}
}

/* The line after the one that TEXT begins with. */
static const char *next_line(const char *text)
{
	return strchr(text, '\n') + 1;
}

/* Prints the files of TYPE one after the other: what modules import from each other is all in one
 * then. */
static void print_files(FILE *out, const char *type)
{
	static const char export[] = "export ";
	for (const struct gh_web_file *file = gh_web_files; file->name != NULL; file++) {
		if (!gh_starts_with(file->type, type))
			continue;
		for (const char *line = file->text; *line != '\0'; line = next_line(line)) {
			const char *text =
			    gh_starts_with(line, export) ? line + strlen(export) : line;
			if (!gh_starts_with(line, "import "))
				fwrite(text, 1, (size_t)(next_line(line) - text), out);
		}
	}
}

/* What the page may do: what is in it. */
#define POLICY                                                                                     \
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "    \
	"'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"

/* Prints in place of LINE of the page what it refers to. */
static void print_line(FILE *out, const char *line, const struct gh_buffer *packed)
{
	if (gh_starts_with(line, "<link rel=\"icon\"")) {
		fputs(POLICY, out);
	} else if (gh_starts_with(line, "<link rel=\"stylesheet\"")) {
		fputs("<style>\n", out);
		print_files(out, "text/css");
		fputs("</style>\n", out);
	} else if (gh_starts_with(line, "<script ")) {
		fputs("<script type=\"module\">\n", out);
		print_files(out, "text/javascript");
		fputs("</script>\n", out);
	} else if (gh_starts_with(line, "</body>")) {
		fputs("<script type=\"application/gzip\" id=\"recording\">", out);
		print_base64(out, packed->data, packed->size);
		fputs("</script>\n</body>\n", out);
	} else {
		fwrite(line, 1, (size_t)(next_line(line) - line), out);
	}
}

bool gh_web_recording_print(struct gh_web_recording *recording, FILE *out)
{
	const struct gh_web_file *page = gh_web_files;
	z_stream *stream = &recording->streams[recording->current];
	if (!pack(recording, stream, "", 0, Z_FINISH))
		return false;
	while (*page->name != '\0')
		page++;
	for (const char *line = page->text; *line != '\0'; line = next_line(line))
		print_line(out, line, &recording->packed);
	return true;
}

void gh_web_recording_free(struct gh_web_recording *recording)
{
	deflateEnd(&recording->streams[recording->current]);
	gh_buffer_free(&recording->packed);
}
