#include "lib/process/internal.h"

#include <string.h>

#include "lib/dump/dump.h"

/* A bucket of a map has so many places. */
#define PLACES 8

/* A place whose hash begins with less is empty, or has moved to another bucket (minTopHash). */
#define MIN_TOP_HASH 5

/* In flags of a map: it is growing to one of the same size (sameSizeGrow). */
#define SAME_SIZE_GROW 8

/* So few labels are in no more buckets: 2 to this power, with these many more behind one. */
#define MAX_POWER    6
#define MAX_OVERFLOW 8

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

/* The bucket at ADDRESS: the first bytes of the hashes, the keys, the values, and the address of
 * the bucket that goes on. */
static void read_bucket(struct reader *reader, uint64_t address)
{
	unsigned word = reader->word;
	for (unsigned i = 0; i < MAX_OVERFLOW && address != 0; i++) {
		uint8_t hashes[PLACES];
		if (!gh_process_read(&reader->process->memory, address, hashes, sizeof(hashes)))
			return;
		uint64_t keys = address + PLACES;
		uint64_t values = keys + PLACES * 2 * (uint64_t)word;
		for (unsigned place = 0; place < PLACES; place++)
			if (hashes[place] >= MIN_TOP_HASH)
				add_label(reader, keys + 2 * (uint64_t)place * word,
					  values + 2 * (uint64_t)place * word);
		if (!read_word(reader, values + PLACES * 2 * (uint64_t)word, &address))
			return;
	}
}

/* The 2^POWER buckets at ADDRESS. */
static void read_buckets(struct reader *reader, uint64_t address, uint64_t power)
{
	uint64_t size = PLACES + (4 * PLACES + 1) * (uint64_t)reader->word;
	if (address == 0 || power > MAX_POWER)
		return;
	for (uint64_t i = 0; i < UINT64_C(1) << power && reader->count < GH_DUMP_LABELS_MAX; i++)
		read_bucket(reader, address + i * size);
}

/* The hmap that the pointer at ADDRESS leads to: count, flags, B, noverflow, hash0, buckets,
 * oldbuckets. What has not been moved out of the old buckets yet is still there. */
static void read_map(struct reader *reader, uint64_t address)
{
	struct gh_process_memory *memory = &reader->process->memory;
	uint64_t map, flags, power, buckets, old;
	unsigned word = reader->word;
	if (!read_word(reader, address, &map) || map == 0 ||
	    !gh_process_uint(memory, map + word, 1, &flags) ||
	    !gh_process_uint(memory, map + word + 1, 1, &power) ||
	    !read_word(reader, map + word + 8, &buckets) ||
	    !read_word(reader, map + 2 * (uint64_t)word + 8, &old))
		return;
	read_buckets(reader, buckets, power);
	read_buckets(reader, old, power > 0 && (flags & SAME_SIZE_GROW) == 0 ? power - 1 : power);
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
	uint32_t size = (uint32_t)text->size;
	if (!read_bytes(reader, text, bytes))
		return false;
	gh_buffer_bytes(out, &size, sizeof(size));
	gh_buffer_bytes(out, bytes, size);
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
	size_t start = out->size;
	uint32_t count = 0;
	gh_buffer_bytes(out, &count, sizeof(count));
	for (size_t i = 0; i < reader.count; i++)
		count += write_label(out, &reader, &reader.labels[i]);
	if (!out->failed)
		memcpy(out->data + start, &count, sizeof(count));
}
