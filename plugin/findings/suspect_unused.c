/* Slices that keep an array of which they have but a sliver, and maps that have but few entries in
 * the room they keep. */
#include <stdlib.h>
#include <string.h>

#include "plugin/findings/suspects.h"
#include "plugin/view/paths.h"

/* Findings use at most one in so many of their bytes, or entries; and no array is told of that has
 * fewer bytes than that. */
#define SLIVER_ONE_IN 8
#define LEAST_ARRAY   256

/* Entries in a bucket, or a group, of a map. */
#define MAP_SLOTS 8

/* Arrays that are looked at. */
#define MAX_ARRAYS 200000

/* It says what keeps much alive. */
static bool is_of_holders(const struct gh_suspect *suspect)
{
	return (suspect->kind == GH_SUSPECT_HOLDER || suspect->kind == GH_SUSPECT_SHARED) &&
	       suspect->nparts > 0;
}

/* What SUSPECT keeps alive: by object, not 0 if it does; to be freed. NULL if memory ran out. */
static uint8_t *find_kept(const struct gh_suspects *suspects, const struct gh_suspect *suspect)
{
	const struct gh_heap *heap = &suspects->query->heap;
	const struct gh_dominators *dominators = &suspects->held.dominators;
	uint32_t nodes = heap->count + 1 + dominators->nholders;
	bool is_shared = suspect->kind == GH_SUSPECT_SHARED;
	uint8_t *under = calloc((size_t)heap->count + 1 + dominators->nholders, 1);
	if (under == NULL)
		return NULL;
	if (!is_shared)
		under[gh_dominators_holder(heap, suspect->number)] = 1;
	for (uint32_t i = 0; i < dominators->nreachable; i++) {
		uint32_t node = dominators->order[i];
		uint32_t above = node < nodes ? dominators->idom[node] : GH_HEAP_NONE;
		bool is_top = is_shared && node < heap->count && above == heap->count &&
			      gh_names_classes(&suspects->query->names)[node] == suspect->number;
		if (is_top || (above < nodes && under[above] != 0))
			under[node] = 1;
	}
	return under;
}

/* Adds the array that the pointer at OFFSET of HOLDER leads to, if that is a slice's of a sliver.
 */
static void add_sliver(struct gh_suspect_slices *slices, const struct gh_names *names,
		       uint32_t holder, uint64_t offset)
{
	struct gh_slice_range range;
	if (!gh_slice_range_find(names, holder, offset, &range) ||
	    range.end - range.start > range.size / SLIVER_ONE_IN)
		return;
	if (slices->count++ == 0) {
		slices->object = holder;
		slices->offset = offset;
	}
	slices->used += range.end - range.start;
	slices->bytes += range.size;
}

/* Marks: the object is kept alive; it is an array, and not looked at yet. */
enum { KEPT = 1, ARRAY = 2 };

/* OBJECT is such an array, of which one object alone has a slice. */
static bool is_array(const struct gh_names *names, const uint8_t *marks, uint32_t object)
{
	const uint32_t *referrers;
	return marks[object] == ARRAY && gh_heap_referrers(names->heap, object, &referrers) == 1;
}

/* Looks at the arrays that HOLDER leads to. Its pointers are gone through once: it may have many.
 */
static void look_at(struct gh_suspect_slices *slices, const struct gh_names *names, uint8_t *marks,
		    uint32_t holder)
{
	struct gh_pointers walk;
	struct gh_pointer pointer;
	const uint32_t *targets;
	size_t count = gh_heap_targets(names->heap, holder, &targets);
	size_t i = 0;
	while (i < count && !is_array(names, marks, targets[i]))
		i++;
	if (i == count)
		return;
	gh_pointers_start(names->heap, holder, &walk);
	while (gh_pointers_next(&walk, &pointer)) {
		if (pointer.target == GH_HEAP_NONE || !is_array(names, marks, pointer.target))
			continue;
		marks[pointer.target] = KEPT;
		add_sliver(slices, names, holder, pointer.offset);
	}
}

bool gh_suspect_slices_find(struct gh_suspect_slices *slices, const struct gh_suspects *suspects,
			    const struct gh_suspect *suspect)
{
	const struct gh_heap *heap = &suspects->query->heap;
	const struct gh_names *names = &suspects->query->names;
	const struct gh_suspect_part *arrays = &suspect->parts[0];
	*slices = (struct gh_suspect_slices){0};
	if (!is_of_holders(suspect) || arrays->bytes < suspect->bytes / 2 ||
	    arrays->bytes / arrays->objects < LEAST_ARRAY || arrays->objects > MAX_ARRAYS)
		return false;
	uint8_t *under = find_kept(suspects, suspect);
	if (under == NULL)
		return false;
	for (uint32_t i = 0; i < heap->count; i++)
		if (under[i] != 0 && gh_names_classes(names)[i] == arrays->class)
			under[i] = ARRAY;
	for (uint32_t i = 0; i < heap->count; i++) {
		gh_heap_passed(heap, i);
		look_at(slices, names, under, i);
	}
	free(under);
	return slices->count >= arrays->objects / 2 + 1;
}

bool gh_suspect_is_of_map(const char *name)
{
	static const char *const starts[] = {"[]map.", "map.", "[]*table of ", "*table of ",
					     "table of "};
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return false;
}

/* The entries that the object NUMBER has room for, of those that maps keep them in. */
static uint64_t room_of(const struct gh_names *names, uint32_t number)
{
	const struct gh_class *class =
	    gh_typing_class(&names->typing, gh_names_classes(names)[number]);
	uint64_t size = gh_heap_object(names->heap, number).size;
	return class->size > 0 ? size / class->size * MAP_SLOTS : 0;
}

/* The entries of the map whose header is the object NUMBER: its first word, in every release. */
static uint64_t entries_of(const struct gh_names *names, uint32_t number)
{
	struct gh_cursor cur;
	const struct gh_dump *dump = names->heap->dump;
	if (!gh_dump_memory(dump, gh_heap_object(names->heap, number).address, &cur))
		return 0;
	return gh_cursor_uint(&cur, dump->word);
}

/* Adds the object NUMBER, which SUSPECT keeps alive. */
static void add_map(struct gh_suspect_maps *maps, const struct gh_names *names, uint32_t number)
{
	const char *name = gh_names_class(names, gh_names_classes(names)[number]);
	if (strncmp(name, "map[", 4) == 0) {
		maps->count++;
		maps->entries += entries_of(names, number);
	} else if (gh_suspect_is_of_map(name)) {
		maps->bytes += gh_heap_object(names->heap, number).size;
		maps->room += room_of(names, number);
	}
}

bool gh_suspect_maps_find(struct gh_suspect_maps *maps, const struct gh_suspects *suspects,
			  const struct gh_suspect *suspect)
{
	const struct gh_heap *heap = &suspects->query->heap;
	const struct gh_names *names = &suspects->query->names;
	*maps = (struct gh_suspect_maps){0};
	if (!is_of_holders(suspect) ||
	    !gh_suspect_is_of_map(gh_names_class(names, suspect->parts[0].class)))
		return false;
	uint8_t *under = find_kept(suspects, suspect);
	if (under == NULL)
		return false;
	for (uint32_t i = 0; i < heap->count; i++)
		if (under[i] != 0)
			add_map(maps, names, i);
	free(under);
	/* A map of few entries has room for MAP_SLOTS from its first on. */
	return maps->bytes >= suspect->bytes / 2 && maps->count > 0 &&
	       maps->room / maps->count > 2 * MAP_SLOTS &&
	       maps->entries <= maps->room / SLIVER_ONE_IN;
}
