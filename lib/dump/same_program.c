/* Whether two dumps are of one program. */
#include "lib/dump/dump.h"
#include "lib/util/hash.h"
#include "lib/util/numbermap.h"

/* Frames of each that are looked at: the functions of a few goroutines tell. */
#define MOST_FRAMES 4096

/* Where functions begin, by a hash of their names. */
struct entries {
	struct gh_numbermap places;
	struct GH_VECTOR(uint64_t) items;
};

static size_t count_frames(const struct gh_dump *dump)
{
	size_t count = gh_dump_count(dump, GH_DUMP_FRAME);
	return count < MOST_FRAMES ? count : MOST_FRAMES;
}

/* Reads frame NUMBER of DUMP. Gives the hash of its function's name. */
static uint64_t read_frame(const struct gh_dump *dump, size_t number, struct gh_dump_record *record)
{
	gh_dump_get(dump, GH_DUMP_FRAME, number, record);
	struct gh_cursor name = gh_dump_bytes(dump, record->frame.function);
	return gh_hash_bytes(GH_HASH_START, name.start, gh_cursor_size(&name));
}

static void find_entries(struct entries *entries, const struct gh_dump *dump)
{
	struct gh_dump_record record;
	for (size_t i = 0; i < count_frames(dump); i++) {
		uint64_t name = read_frame(dump, i, &record);
		if (gh_numbermap_get(&entries->places, name) != GH_NOT_MAPPED)
			continue;
		gh_numbermap_put(&entries->places, name, (uint32_t)entries->items.count);
		gh_vector_push(&entries->items, record.frame.entry);
	}
}

bool gh_dump_is_same_program(const struct gh_dump *a, const struct gh_dump *b)
{
	struct entries entries = {0};
	struct gh_dump_record record;
	bool same = true, found = false;
	uint64_t distance = 0;
	find_entries(&entries, a);
	for (size_t i = 0; i < count_frames(b) && same && !entries.items.failed; i++) {
		uint32_t place = gh_numbermap_get(&entries.places, read_frame(b, i, &record));
		if (place >= entries.items.count)
			continue;
		uint64_t moved = record.frame.entry - entries.items.items[place];
		same = !found || moved == distance;
		distance = moved;
		found = true;
	}
	gh_numbermap_free(&entries.places);
	gh_vector_free(&entries.items);
	return same;
}
