#include "lib/process/internal.h"

#include <stddef.h>
#include <string.h>

/* Where a field is in a release's mspan, if the program does not say. */
enum release {
	GO_1_12, /* to Go 1.18 */
	GO_1_19,
	GO_1_20,
	GO_1_21,
	GO_1_22, /* and later */
	RELEASES,
};

/* A field, and where it is with pointers of 8 bytes; offset 0 for none. */
static const struct field {
	const char *name;
	size_t place; /* in struct gh_span_layout */
	uint8_t size; /* in bytes; 0 for that of a word, or, of COUNT, of 2 bytes from 1.22 on */
	bool count;   /* a number of elements */
	uint16_t offsets[RELEASES];
} fields[] = {
#define AT(member) offsetof(struct gh_span_layout, member)
    {"startAddr", AT(start), 0, false, {24, 24, 24, 24, 24}},
    {"npages", AT(npages), 0, false, {32, 32, 32, 32, 32}},
    {"freeindex", AT(free_index), 0, true, {48, 0, 0, 0, 0}},
    {"freeIndexForScan", AT(free_index), 0, true, {0, 136, 152, 160, 52}},
    {"nelems", AT(nelems), 0, true, {56, 56, 56, 56, 50}},
    {"allocBits", AT(alloc_bits), 0, false, {72, 72, 72, 72, 64}},
    {"gcmarkBits", AT(mark_bits), 0, false, {80, 80, 80, 80, 72}},
    {"sweepgen", AT(sweepgen), 4, false, {88, 88, 88, 96, 88}},
    {"spanclass", AT(class), 1, false, {98, 98, 98, 106, 98}},
    {"state", AT(state), 1, false, {99, 99, 99, 107, 99}},
    {"elemsize", AT(elemsize), 0, false, {104, 104, 104, 112, 104}},
    {"specials", AT(specials), 0, false, {128, 128, 128, 136, 128}},
    {"largeType", AT(large_type), 0, false, {0, 0, 0, 0, 152}},
#undef AT
};

#define NFIELDS (sizeof(fields) / sizeof(fields[0]))

static struct gh_span_field *field_of(struct gh_span_layout *layout, const struct field *field)
{
	return (struct gh_span_field *)(void *)((char *)layout + field->place);
}

static uint8_t size_of(const struct field *field, unsigned word, int minor)
{
	if (field->count && minor >= 22)
		return 2;
	return field->size != 0 ? field->size : (uint8_t)word;
}

/* Fills LAYOUT with what the type MSPAN says. */
static bool read_type(struct gh_span_layout *layout, const struct gh_rtypes *types,
		      const struct gh_rtype *mspan, int minor)
{
	struct gh_rtype_part part;
	unsigned word = types->tab->pointer_size;
	for (uint32_t i = 0; i < mspan->nparts; i++) {
		if (!gh_rtype_part(types, mspan, i, &part))
			return false;
		for (size_t f = 0; f < NFIELDS; f++) {
			uint8_t size = size_of(&fields[f], word, minor);
			if (!gh_rtype_text_is(part.name, fields[f].name) ||
			    part.offset + size > GH_SPAN_SIZE)
				continue;
			if (part.type != GH_NO_RTYPE && types->items[part.type].size <= word)
				size = (uint8_t)types->items[part.type].size;
			*field_of(layout, &fields[f]) =
			    (struct gh_span_field){(uint16_t)part.offset, size};
		}
	}
	return true;
}

static bool is_whole(const struct gh_span_layout *layout)
{
	return layout->start.size > 0 && layout->npages.size > 0 && layout->free_index.size > 0 &&
	       layout->nelems.size > 0 && layout->alloc_bits.size > 0 &&
	       layout->mark_bits.size > 0 && layout->sweepgen.size > 0 && layout->class.size > 0 &&
	       layout->state.size > 0 && layout->elemsize.size > 0 && layout->specials.size > 0;
}

static bool find_type(struct gh_span_layout *layout, const struct gh_rtypes *types, int minor)
{
	uint32_t span = gh_rtypes_struct(types, "runtime.mspan", 0);
	for (; span != GH_NO_RTYPE; span = gh_rtypes_struct(types, "runtime.mspan", span + 1)) {
		if (read_type(layout, types, &types->items[span], minor) && is_whole(layout))
			return true;
		*layout = (struct gh_span_layout){0};
	}
	return false;
}

static enum release release_of(int minor)
{
	if (minor < 19)
		return GO_1_12;
	return minor < 22 ? GO_1_19 + (enum release)(minor - 19) : GO_1_22;
}

static bool read_table(struct gh_span_layout *layout, unsigned word, int minor)
{
	if (word != 8 || minor < 12)
		return false;
	for (size_t f = 0; f < NFIELDS; f++) {
		uint16_t offset = fields[f].offsets[release_of(minor)];
		if (offset != 0)
			*field_of(layout, &fields[f]) =
			    (struct gh_span_field){offset, size_of(&fields[f], word, minor)};
	}
	return true;
}

/* Kinds are numbered anew where one is put before others. */
static struct gh_special_kinds kinds_of(int minor)
{
	if (minor < 23)
		return (struct gh_special_kinds){.finalizer = 1, .profile = 2};
	if (minor == 23)
		return (struct gh_special_kinds){.finalizer = 1, .weak_handle = 2, .profile = 3};
	if (minor == 24)
		return (struct gh_special_kinds){
		    .finalizer = 1, .weak_handle = 2, .profile = 3, .cleanup = 6};
	return (struct gh_special_kinds){
	    .finalizer = 2, .weak_handle = 3, .profile = 4, .cleanup = 7};
}

bool gh_span_layout_find(struct gh_span_layout *layout, const struct gh_rtypes *types, int minor)
{
	unsigned word = types->tab->pointer_size;
	*layout = (struct gh_span_layout){0};
	if (!find_type(layout, types, minor) && !read_table(layout, word, minor))
		return false;
	layout->kinds = kinds_of(minor);
	layout->special_offset_size = minor < 24 ? 2 : (uint8_t)word;
	layout->special_size = (uint8_t)((minor < 24 ? 2 : 3) * word);
	return true;
}
