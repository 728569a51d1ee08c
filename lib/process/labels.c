#include "lib/process/internal.h"

#include <string.h>

#include "lib/dump/dump.h"

/* So few labels are in no more bytes of buckets. */
#define MAX_BYTES (1 << 18)

/* A string in the process. */
struct text {
	uint64_t address;
	uint64_t size; /* in bytes */
};

struct label {
	struct text key;
	struct text value;
};

struct reader {
	struct gh_process *process;
	unsigned word;
	struct label labels[GH_DUMP_LABELS_MAX];
	size_t count;
};

static bool read_word(struct reader *reader, uint64_t address, uint64_t *value)
{
	return gh_process_uint(&reader->process->memory, address, reader->word, value);
}

static bool read_text(struct reader *reader, uint64_t address, struct text *text)
{
	return read_word(reader, address, &text->address) &&
	       read_word(reader, address + reader->word, &text->size) &&
	       text->size <= GH_LABEL_TEXT_MAX;
}

static void add_label(struct reader *reader, uint64_t key, uint64_t value)
{
	struct label label;
	if (reader->count < GH_DUMP_LABELS_MAX && read_text(reader, key, &label.key) &&
	    read_text(reader, value, &label.value))
		reader->labels[reader->count++] = label;
}

/* The map of strings to strings that the pointer at ADDRESS leads to. */
static void read_map(struct reader *reader, uint64_t address)
{
	struct gh_map_entries entries = {0};
	uint64_t map;
	if (!read_word(reader, address, &map) || map == 0)
		return;
	struct gh_map_shape shape = gh_map_shape_of_strings(reader->word);
	gh_map_read(&entries, reader->process, &shape, map, MAX_BYTES);
	for (size_t i = 0; i < entries.count; i++)
		add_label(reader, entries.items[i].key, entries.items[i].value);
	gh_vector_free(&entries);
}

/* The slice of labels at ADDRESS, each its key and its value. */
static void read_list(struct reader *reader, uint64_t address)
{
	uint64_t list, count;
	if (!read_word(reader, address, &list) ||
	    !read_word(reader, address + reader->word, &count))
		return;
	for (uint64_t i = 0; i < count && i < GH_DUMP_LABELS_MAX; i++) {
		uint64_t key = list + 4 * i * reader->word;
		add_label(reader, key, key + 2 * (uint64_t)reader->word);
	}
}

/* Reads TEXT, which may be in the program: a core file need not repeat that. */
static bool read_bytes(struct reader *reader, const struct text *text, uint8_t *bytes)
{
	struct gh_process *process = reader->process;
	struct gh_cursor cur;
	if (text->size == 0 ||
	    gh_process_read(&process->memory, text->address, bytes, (size_t)text->size))
		return true;
	if (!gh_image_at(process->tab->image, text->address - process->bias, &cur) ||
	    gh_cursor_left(&cur) < text->size)
		return false;
	memcpy(bytes, cur.pos, (size_t)text->size);
	return true;
}

static bool add_text(struct gh_buffer *out, struct reader *reader, const struct text *text)
{
	uint8_t bytes[GH_LABEL_TEXT_MAX];
	if (!read_bytes(reader, text, bytes))
		return false;
	gh_buffer_uleb128(out, text->size);
	gh_buffer_bytes(out, bytes, (size_t)text->size);
	return true;
}

/* Adds LABEL to OUT, or nothing. */
static bool write_label(struct gh_buffer *out, struct reader *reader, const struct label *label)
{
	size_t start = out->size;
	if (add_text(out, reader, &label->key) && add_text(out, reader, &label->value))
		return true;
	out->size = start;
	return false;
}

void gh_labels_read(struct gh_buffer *out, struct gh_process *process, uint64_t address)
{
	struct reader reader = {.process = process, .word = process->tab->pointer_size};
	/* To Go 1.23. */
	if (process->minor < 24)
		read_map(&reader, address);
	else
		read_list(&reader, address);
	/* A byte: there are fewer than 128. */
	size_t start = out->size;
	uint8_t count = 0;
	gh_buffer_u8(out, count);
	for (size_t i = 0; i < reader.count; i++)
		count += write_label(out, &reader, &reader.labels[i]);
	gh_buffer_patch(out, start, count, 1);
}
