#include "lib/process/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/util/parallel.h"

/* What is kept of each object, in bytes: less than any that is in a part has. */
#define WORD sizeof(uint64_t)

/* Of larger objects only the first words are read. */
#define READ_WHOLE 4096

/* Memory that is read at once, in bytes. */
#define AT_ONCE (1 << 16)

/* Parts that one thread reads at a time. */
#define PARTS 256

static uint64_t count_of(const struct gh_live_part *part)
{
	return part->size / part->elemsize;
}

static void read_part(const struct gh_live_reader *reader, const struct gh_live_part *part)
{
	uint64_t *words = reader->live->parts.words + part->words;
	uint64_t count = count_of(part);
	uint64_t size = part->elemsize;
	uint8_t bytes[AT_ONCE];
	if (size > READ_WHOLE) {
		for (uint64_t i = 0; i < count; i++)
			gh_live_reader_read(reader, part->start + i * size, (uint8_t *)&words[i],
					    WORD);
		return;
	}
	uint64_t most = AT_ONCE / size;
	for (uint64_t i = 0; i < count; i += most) {
		uint64_t some = count - i < most ? count - i : most;
		memset(bytes, 0, sizeof(bytes));
		gh_live_reader_read(reader, part->start + i * size, bytes, some * size);
		for (uint64_t k = 0; k < some; k++)
			memcpy(&words[i + k], bytes + k * size, WORD);
	}
}

static void read_parts(void *context, uint32_t number)
{
	const struct gh_live_reader *reader = context;
	const struct gh_live_parts *parts = &reader->live->parts;
	size_t start = (size_t)number * PARTS;
	for (size_t i = start; i < start + PARTS && i < parts->list.count; i++)
		read_part(reader, &parts->list.items[i]);
}

bool gh_first_words_read(struct gh_live_reader *reader)
{
	struct gh_live_parts *parts = &reader->live->parts;
	size_t count = 0;
	for (size_t i = 0; i < parts->list.count; i++) {
		parts->list.items[i].words = count;
		count += (size_t)count_of(&parts->list.items[i]);
	}
	parts->words = calloc(count > 0 ? count : 1, WORD);
	if (parts->words == NULL)
		return gh_fail_memory(reader->err, reader->name);
	gh_parallel((uint32_t)((parts->list.count + PARTS - 1) / PARTS), read_parts, reader);
	return true;
}

bool gh_first_words_read_part(const struct gh_live_reader *reader, const struct gh_live_part *part,
			      const uint8_t *now)
{
	const struct gh_live_parts *parts = &reader->live->parts;
	for (size_t i = 0; i < parts->description_size; i++)
		if (parts->shape[i] != 0 && now[i] != part->before[i])
			return false;
	read_part(reader, part);
	return true;
}

/* Copies the first words that PART has within the SIZE bytes at ADDRESS. */
static void add_words(const struct gh_live_parts *parts, const struct gh_live_part *part,
		      uint64_t address, uint8_t *to, size_t size)
{
	const uint64_t *words = parts->words + part->words;
	uint64_t count = count_of(part);
	for (uint64_t i = (address - part->start) / part->elemsize; i < count; i++) {
		uint64_t at = part->start + i * part->elemsize;
		uint64_t skipped = at < address ? address - at : 0;
		uint64_t offset = at < address ? 0 : at - address;
		if (offset >= size)
			break;
		if (skipped >= WORD)
			continue;
		size_t length = WORD - (size_t)skipped;
		length = size - offset < length ? (size_t)(size - offset) : length;
		memcpy(to + offset, (const uint8_t *)&words[i] + skipped, length);
	}
}

size_t gh_first_words_fill(const struct gh_live_copy *live, uint64_t address, uint8_t *to,
			   size_t size, size_t *left)
{
	const struct gh_live_part *parts = live->parts.list.items;
	size_t count = live->parts.list.count;
	size_t i = gh_lower_bound(count, k, parts[k].start + parts[k].size <= address);
	while (i < count && parts[i].whole && parts[i].start < address + size)
		i++;
	*left = size;
	if (i == count || parts[i].start >= address + size)
		return 0;
	if (parts[i].start > address) {
		*left = (size_t)(parts[i].start - address);
		return 0;
	}
	uint64_t end = parts[i].start + parts[i].size;
	size = end - address < size ? (size_t)(end - address) : size;
	memset(to, 0, size);
	add_words(&live->parts, &parts[i], address, to, size);
	return size;
}
