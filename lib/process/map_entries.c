#include "lib/process/internal.h"

/* A bucket or group has so many places for entries. */
#define PLACES 8

/* A bucket's place is empty, or its entry has moved to another bucket, if what it has of the hash
 * is less (minTopHash). */
enum { MIN_TOP_HASH = 5, MIN_TOP_HASH_TO_1_11 = 4 };

/* In flags of a map of buckets, from Go 1.8 on: it is growing to one of the same size
 * (sameSizeGrow). */
#define SAME_SIZE_GROW 8

/* More buckets, or tables, than any memory holds. */
#define MAX_POWER 48

/* In a control byte of a group: the place has no entry (ctrlEmpty, ctrlDeleted). */
#define NO_ENTRY 0x80

struct reader {
	struct gh_process *process;
	const struct gh_map_shape *shape;
	struct gh_map_entries *entries;
	uint64_t left; /* bytes that buckets or groups may still take */
	bool whole;    /* nothing was unreadable */
};

static uint64_t word_at(struct reader *reader, uint64_t address)
{
	uint64_t value;
	if (!gh_process_uint(&reader->process->memory, address, reader->process->tab->pointer_size,
			     &value))
		reader->whole = false;
	return value;
}

static uint64_t number_at(struct reader *reader, uint64_t address, unsigned size)
{
	uint64_t value;
	if (!gh_process_uint(&reader->process->memory, address, size, &value))
		reader->whole = false;
	return value;
}

/* A bucket or group more is read. False if there can be none. */
static bool take(struct reader *reader)
{
	if (reader->left < reader->shape->size)
		reader->whole = false;
	else
		reader->left -= reader->shape->size;
	return reader->whole;
}

static void add_entry(struct reader *reader, uint64_t start, unsigned place)
{
	const struct gh_map_shape *shape = reader->shape;
	struct gh_map_entry entry = {start + shape->keys + place * shape->key_step,
				     start + shape->values + place * shape->value_step};
	if (shape->key_is_pointer)
		entry.key = word_at(reader, entry.key);
	if (shape->value_is_pointer)
		entry.value = word_at(reader, entry.value);
	gh_vector_push(reader->entries, entry);
}

/* The bucket at ADDRESS, and those that go on from it. */
static void read_bucket(struct reader *reader, uint64_t address)
{
	int minor = reader->process->minor;
	unsigned least = minor >= 0 && minor < 12 ? MIN_TOP_HASH_TO_1_11 : MIN_TOP_HASH;
	while (address != 0 && take(reader)) {
		uint8_t hashes[PLACES];
		if (!gh_process_read(&reader->process->memory, address, hashes, sizeof(hashes))) {
			reader->whole = false;
			return;
		}
		for (unsigned place = 0; place < PLACES; place++)
			if (hashes[place] >= least)
				add_entry(reader, address, place);
		address = word_at(reader, address + reader->shape->overflow);
	}
}

/* The power of two that a map of buckets has, and where in its header it has their address. To
 * Go 1.4 that has the sizes of keys, values and buckets, too. */
static uint64_t power_of(struct reader *reader, uint64_t header, uint64_t *buckets)
{
	int minor = reader->process->minor;
	unsigned word = reader->process->tab->pointer_size;
	bool old = minor >= 0 && minor <= 4;
	*buckets = header + word + (old ? 16 : 8);
	return number_at(reader, header + word + (old ? 8 : 1), 1);
}

/* The 2^POWER buckets at ADDRESS. */
static void read_buckets(struct reader *reader, uint64_t address, uint64_t power)
{
	uint64_t count = address != 0 && power <= MAX_POWER ? UINT64_C(1) << power : 0;
	for (uint64_t i = 0; i < count && reader->whole; i++)
		read_bucket(reader, address + i * reader->shape->size);
}

/* A map of buckets. What has not been moved out of the old buckets yet is still there. */
static void read_hash(struct reader *reader, uint64_t header)
{
	int minor = reader->process->minor;
	unsigned word = reader->process->tab->pointer_size;
	uint64_t buckets;
	uint64_t flags = number_at(reader, header + word, 1);
	uint64_t power = power_of(reader, header, &buckets);
	bool same = minor >= 8 && (flags & SAME_SIZE_GROW) != 0;
	read_buckets(reader, word_at(reader, buckets), power);
	read_buckets(reader, word_at(reader, buckets + word),
		     power > 0 && !same ? power - 1 : power);
}

/* The COUNT groups at ADDRESS. */
static void read_groups(struct reader *reader, uint64_t address, uint64_t count)
{
	for (uint64_t i = 0; i < count && address != 0 && take(reader); i++) {
		uint64_t group = address + i * reader->shape->size;
		uint64_t control = number_at(reader, group, 8);
		for (unsigned place = 0; place < PLACES && reader->whole; place++)
			if ((control >> (8 * place) & NO_ENTRY) == 0)
				add_entry(reader, group, place);
	}
}

/* The table at ADDRESS, which entry INDEX of the directory points to: so do those that follow, if
 * it has fewer bits of the hash, and the first of them is the one that it tells of. Gives how many
 * groups it has, of the others 0, and where they are. */
static uint64_t groups_of_table(struct reader *reader, uint64_t address, uint64_t index,
				uint64_t *groups)
{
	unsigned word = reader->process->tab->pointer_size;
	uint64_t place = address + 8 + word;
	if (word_at(reader, address + 8) != index || !reader->whole)
		return 0;
	*groups = word_at(reader, place);
	return number_at(reader, place + word, 8) + 1;
}

/* A Swiss map: used, seed, dirPtr, dirLen. A small one has one group, and no directory. */
static void read_swiss(struct reader *reader, uint64_t header)
{
	unsigned word = reader->process->tab->pointer_size;
	uint64_t directory = word_at(reader, header + 8 + word);
	uint64_t length = word_at(reader, header + 8 + 2 * (uint64_t)word);
	if (length == 0)
		read_groups(reader, directory, 1);
	for (uint64_t i = 0; i < length && reader->whole; i++) {
		uint64_t groups = 0;
		uint64_t table = word_at(reader, directory + i * word);
		uint64_t count = reader->whole ? groups_of_table(reader, table, i, &groups) : 0;
		read_groups(reader, groups, count);
	}
}

static uint64_t count_groups(struct reader *reader, uint64_t header)
{
	unsigned word = reader->process->tab->pointer_size;
	uint64_t directory = word_at(reader, header + 8 + word);
	uint64_t length = word_at(reader, header + 8 + 2 * (uint64_t)word);
	uint64_t count = length == 0 && directory != 0;
	for (uint64_t i = 0; i < length && reader->whole; i++) {
		uint64_t groups;
		uint64_t table = word_at(reader, directory + i * word);
		if (reader->whole)
			count += groups_of_table(reader, table, i, &groups);
	}
	return count;
}

bool gh_map_buckets(struct gh_process *process, bool swiss, uint64_t header, uint64_t *count)
{
	struct reader reader = {.process = process, .whole = true};
	uint64_t buckets;
	if (swiss) {
		*count = count_groups(&reader, header);
		return reader.whole;
	}
	uint64_t power = power_of(&reader, header, &buckets);
	*count = word_at(&reader, buckets) != 0 && power <= MAX_POWER ? UINT64_C(1) << power : 0;
	return reader.whole;
}

bool gh_map_count(struct gh_process *process, const struct gh_map_shape *shape, uint64_t header,
		  uint64_t *count)
{
	return gh_process_uint(&process->memory, header,
			       shape->swiss ? 8 : process->tab->pointer_size, count);
}

static bool is_readable(struct reader *reader, uint64_t address)
{
	uint8_t byte;
	return address >= GH_LEAST_PAGE &&
	       gh_process_read(&reader->process->memory, address, &byte, 1);
}

/* A map's seed is random: memory behind a nil pointer has a small number there, or an address. */
static bool is_seed(struct reader *reader, uint64_t address, unsigned size)
{
	uint64_t seed = number_at(reader, address, size);
	return seed >> 4 * size != 0 && !is_readable(reader, seed);
}

static bool is_swiss_header(struct reader *reader, uint64_t header)
{
	unsigned word = reader->process->tab->pointer_size;
	uint64_t used = number_at(reader, header, 8);
	uint64_t directory = word_at(reader, header + 8 + word);
	uint64_t length = word_at(reader, header + 8 + 2 * (uint64_t)word);
	uint64_t depth = number_at(reader, header + 8 + 3 * (uint64_t)word, 1);
	if (!reader->whole || depth > MAX_POWER ||
	    length != (length > 0 ? UINT64_C(1) << depth : 0) ||
	    (used == 0 && !is_seed(reader, header + 8, word)))
		return false;
	if (directory == 0)
		return used == 0 && length == 0;
	return is_readable(reader, directory) && used / PLACES <= count_groups(reader, header) &&
	       reader->whole;
}

static bool is_hash_header(struct reader *reader, uint64_t header)
{
	unsigned word = reader->process->tab->pointer_size;
	uint64_t place;
	uint64_t count = word_at(reader, header);
	uint64_t power = power_of(reader, header, &place);
	uint64_t buckets = word_at(reader, place);
	if (!reader->whole || power > MAX_POWER || count >> power > PLACES)
		return false;
	if (count == 0 && (!is_seed(reader, header + word + 4, 4) ||
			   is_readable(reader, word_at(reader, header + word))))
		return false;
	if (buckets == 0)
		return count == 0 && power == 0;
	return is_readable(reader, buckets) &&
	       is_readable(reader, buckets + (reader->shape->size << power) - 1);
}

bool gh_map_is_header(struct gh_process *process, const struct gh_map_shape *shape, uint64_t header)
{
	struct reader reader = {.process = process, .shape = shape, .whole = true};
	return shape->swiss ? is_swiss_header(&reader, header) : is_hash_header(&reader, header);
}

bool gh_map_read(struct gh_map_entries *entries, struct gh_process *process,
		 const struct gh_map_shape *shape, uint64_t header, uint64_t bytes)
{
	struct reader reader = {.process = process,
				.shape = shape,
				.entries = entries,
				.left = bytes,
				.whole = shape->size > 0};
	if (shape->swiss)
		read_swiss(&reader, header);
	else
		read_hash(&reader, header);
	return reader.whole && !entries->failed;
}

struct gh_map_shape gh_map_shape_of_strings(unsigned word)
{
	uint64_t string = 2 * (uint64_t)word;
	return (struct gh_map_shape){
	    .size = PLACES + 2 * PLACES * string + word,
	    .keys = PLACES,
	    .values = PLACES + PLACES * string,
	    .key_step = string,
	    .value_step = string,
	    .overflow = PLACES + 2 * PLACES * string,
	};
}
