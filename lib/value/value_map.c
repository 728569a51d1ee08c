#include "lib/value/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is compared of strings at a time, in bytes. */
#define PIECE 256

/* An entry, and what orders most of them: entries of different ranks need no other look. */
struct ranked {
	struct gh_map_entry entry;
	uint64_t rank;
};

/* What the keys are compared by: their type, in the memory of VALUES. */
struct order {
	struct gh_values *values;
	uint32_t type;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* A number that is larger for a larger integer or float of TYPE, NaN being the least. */
static uint64_t rank_of_bits(const struct gh_rtype *type, uint64_t bits)
{
	uint64_t sign = UINT64_C(1) << (8 * type->size - 1);
	if (type->kind == GH_KIND_FLOAT32 || type->kind == GH_KIND_FLOAT64) {
		double number = gh_process_float(bits, (unsigned)type->size);
		if (number != number)
			return 0;
		memcpy(&bits, &number, sizeof(bits));
		sign = UINT64_C(1) << 63;
		if (number == 0)
			return sign;
		return (bits & sign) != 0 ? ~bits : bits | sign;
	}
	return type->kind >= GH_KIND_INT && type->kind <= GH_KIND_INT64 ? bits ^ sign : bits;
}

/* The first bytes of the string at ADDRESS, as a number. */
static uint64_t rank_of_string(struct gh_values *values, uint64_t address)
{
	uint8_t bytes[8] = {0};
	uint64_t start;
	uint64_t size;
	if (!gh_value_slice(values, address, &start, &size))
		return 0;
	gh_process_read_constant(values->process, start, bytes, size < 8 ? (size_t)size : 8);
	struct gh_cursor cur = gh_cursor_make(bytes, sizeof(bytes), "memory", start, true);
	return gh_cursor_u64(&cur);
}

/* What comes first of values of type NUMBER; of those that are not ordered by a number, 0. */
static uint64_t rank(struct gh_values *values, uint32_t number, uint64_t address)
{
	const struct gh_rtype *type = &values->types->items[number];
	uint64_t bits = 0;
	if (type->kind == GH_KIND_STRING)
		return rank_of_string(values, address);
	if (type->kind == GH_KIND_POINTER || type->kind == GH_KIND_CHAN ||
	    type->kind == GH_KIND_UNSAFE_POINTER)
		gh_value_word(values, address, &bits);
	else if (type->kind <= GH_KIND_FLOAT64 &&
		 gh_process_constant_uint(values->process, address, (unsigned)type->size, &bits))
		return rank_of_bits(type, bits);
	return bits;
}

static int compare_strings(struct gh_values *values, uint64_t a, uint64_t b)
{
	uint64_t starts[2];
	uint64_t sizes[2];
	uint8_t pieces[2][PIECE];
	if (!gh_value_slice(values, a, &starts[0], &sizes[0]) ||
	    !gh_value_slice(values, b, &starts[1], &sizes[1]))
		return 0;
	uint64_t common = sizes[0] < sizes[1] ? sizes[0] : sizes[1];
	for (uint64_t at = 0; at < common; at += PIECE) {
		size_t size = common - at < PIECE ? (size_t)(common - at) : PIECE;
		if (!gh_process_read_constant(values->process, starts[0] + at, pieces[0], size) ||
		    !gh_process_read_constant(values->process, starts[1] + at, pieces[1], size))
			return 0;
		int order = memcmp(pieces[0], pieces[1], size);
		if (order != 0)
			return order;
	}
	return compare_numbers(sizes[0], sizes[1]);
}

static int compare(struct gh_values *values, uint32_t number, uint64_t a, uint64_t b);

static int compare_structs(struct gh_values *values, const struct gh_rtype *type, uint64_t a,
			   uint64_t b)
{
	int order = 0;
	struct gh_rtype_part part;
	for (uint32_t i = 0; order == 0 && i < type->nparts; i++)
		if (gh_rtype_part(values->types, type, i, &part))
			order = compare(values, part.type, a + part.offset, b + part.offset);
	return order;
}

static int compare_arrays(struct gh_values *values, const struct gh_rtype *type, uint64_t a,
			  uint64_t b)
{
	int order = 0;
	uint32_t elem = gh_rtype_elem(values->types, type);
	uint64_t count = elem != GH_NO_RTYPE ? gh_rtype_length(values->types, type) : 0;
	uint64_t size = count > 0 ? values->types->items[elem].size : 0;
	for (uint64_t i = 0; order == 0 && size > 0 && i < count; i++)
		order = compare(values, elem, a + i * size, b + i * size);
	return order;
}

/* By type first; nil before all. */
static int compare_interfaces(struct gh_values *values, const struct gh_rtype *type, uint64_t a,
			      uint64_t b)
{
	uint32_t numbers[2];
	uint64_t descriptors[2];
	uint64_t data[2];
	if (!gh_value_dynamic(values, type, a, &numbers[0], &descriptors[0], &data[0]) ||
	    !gh_value_dynamic(values, type, b, &numbers[1], &descriptors[1], &data[1]))
		return 0;
	int order = compare_numbers(descriptors[0], descriptors[1]);
	if (order != 0 || numbers[0] == GH_NO_RTYPE || !gh_value_enter(values, data[0]))
		return order;
	order = compare(values, numbers[0], data[0], data[1]);
	gh_value_leave(values);
	return order;
}

/* As package internal/fmtsort does. */
static int compare(struct gh_values *values, uint32_t number, uint64_t a, uint64_t b)
{
	const struct gh_rtype *type = &values->types->items[number];
	struct gh_rtype part = *type;
	switch (type->kind) {
	case GH_KIND_STRING:
		return compare_strings(values, a, b);
	case GH_KIND_STRUCT:
		return compare_structs(values, type, a, b);
	case GH_KIND_ARRAY:
		return compare_arrays(values, type, a, b);
	case GH_KIND_INTERFACE:
		return compare_interfaces(values, type, a, b);
	case GH_KIND_COMPLEX64:
	case GH_KIND_COMPLEX128: {
		uint64_t bits[4] = {0};
		unsigned size = (unsigned)type->size / 2;
		part.size = size;
		part.kind = size == 4 ? GH_KIND_FLOAT32 : GH_KIND_FLOAT64;
		for (unsigned i = 0; i < 4; i++)
			gh_process_constant_uint(
			    values->process, (i % 2 == 0 ? a : b) + i / 2 * size, size, &bits[i]);
		int order =
		    compare_numbers(rank_of_bits(&part, bits[0]), rank_of_bits(&part, bits[1]));
		return order != 0 ? order
				  : compare_numbers(rank_of_bits(&part, bits[2]),
						    rank_of_bits(&part, bits[3]));
	}
	default:
		return compare_numbers(rank(values, number, a), rank(values, number, b));
	}
}

static int compare_entries(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const struct ranked *first = a;
	const struct ranked *second = b;
	if (first->rank != second->rank)
		return first->rank < second->rank ? -1 : 1;
	return compare(order->values, order->type, first->entry.key, second->entry.key);
}

/* Sorts ENTRIES by key. */
static void sort(struct gh_values *values, uint32_t key, struct gh_map_entries *entries)
{
	struct order order = {values, key};
	struct ranked *ranked = calloc(entries->count + 1, sizeof(*ranked));
	unsigned depth = values->depth;
	if (ranked == NULL) {
		values->out.failed = true;
		return;
	}
	for (size_t i = 0; i < entries->count; i++)
		ranked[i] =
		    (struct ranked){entries->items[i], rank(values, key, entries->items[i].key)};
	/* Interfaces in keys are followed however deep the text goes. */
	values->depth = GH_VALUE_DEPTH_MAX;
	qsort_r(ranked, entries->count, sizeof(*ranked), compare_entries, &order);
	values->depth = depth;
	for (size_t i = 0; i < entries->count; i++)
		entries->items[i] = ranked[i].entry;
	free(ranked);
}

/* The array of places that field NAME, or OTHER, of a bucket or group is. */
static bool find_array(const struct gh_rtypes *types, const struct gh_rtype *group,
		       const char *name, const char *other, struct gh_rtype_part *part)
{
	return gh_value_field(types, group, name, part) ||
	       gh_value_field(types, group, other, part);
}

/* Fills where the keys or values of type NUMBER are, by PART: an array of them, or, in a SLOT of a
 * group, one. */
static bool find_places(const struct gh_rtypes *types, uint32_t number,
			const struct gh_rtype_part *part, const struct gh_rtype *slot,
			uint64_t *step, bool *is_pointer)
{
	uint32_t found = part->type;
	if (slot == NULL)
		found = gh_rtype_elem(types, &types->items[part->type]);
	if (found == GH_NO_RTYPE || number == GH_NO_RTYPE)
		return false;
	const struct gh_rtype *type = &types->items[found];
	*step = slot != NULL ? slot->size : type->size;
	*is_pointer = found != number && type->kind == GH_KIND_POINTER;
	return true;
}

static bool find_shape(struct gh_map_shape *shape, const struct gh_rtypes *types,
		       const struct gh_rtype *type)
{
	struct gh_rtype_part key;
	struct gh_rtype_part value;
	struct gh_rtype_part part;
	const struct gh_rtype *slot = NULL;
	uint32_t group = gh_rtype_group(types, type);
	if (group == GH_NO_RTYPE)
		return false;
	const struct gh_rtype *entries = &types->items[group];
	*shape = (struct gh_map_shape){.swiss = types->swiss_maps, .size = entries->size};
	if (!shape->swiss) {
		if (!gh_value_field(types, entries, "overflow", &part))
			return false;
		shape->overflow = part.offset;
	} else if (gh_value_field(types, entries, "slots", &part)) {
		uint32_t number = gh_rtype_elem(types, &types->items[part.type]);
		if (number == GH_NO_RTYPE)
			return false;
		slot = entries = &types->items[number];
		shape->keys = shape->values = part.offset;
	}
	if (!find_array(types, entries, slot != NULL ? "key" : "keys", "keys", &key) ||
	    !find_array(types, entries, slot != NULL ? "elem" : "elems", "values", &value))
		return false;
	shape->keys += key.offset;
	shape->values += value.offset;
	return find_places(types, gh_rtype_key(types, type), &key, slot, &shape->key_step,
			   &shape->key_is_pointer) &&
	       find_places(types, gh_rtype_elem(types, type), &value, slot, &shape->value_step,
			   &shape->value_is_pointer);
}

static void add_entries(struct gh_values *values, const struct gh_rtype *type,
			const struct gh_map_entries *entries, bool whole)
{
	uint32_t key = gh_rtype_key(values->types, type);
	uint32_t elem = gh_rtype_elem(values->types, type);
	size_t shown = entries->count < values->limit ? entries->count : values->limit;
	gh_value_add(values, "[");
	for (size_t i = 0; i < shown; i++) {
		gh_value_add(values, "%s", i > 0 ? ", " : "");
		gh_value_json(values, "{", "key");
		gh_value_add_any(values, key, entries->items[i].key, false);
		gh_value_add_either(values, ": ", "");
		gh_value_json(values, ",", "value");
		gh_value_add_any(values, elem, entries->items[i].value, false);
		gh_value_add_either(values, "", "}");
	}
	gh_value_add_more(values, entries->count - shown, shown == 0);
	if (!whole)
		gh_value_add_rest(values,
				  entries->count > 0 ? " (and some that cannot be read)"
						     : "(entries that cannot be read)",
				  entries->count > 0 ? "," : "");
	gh_value_add(values, "]");
}

bool gh_value_is_map(const struct gh_values *values, const struct gh_rtype *type, uint64_t header)
{
	struct gh_map_shape shape;
	return find_shape(&shape, values->types, type) &&
	       gh_map_is_header(values->process, &shape, header);
}

bool gh_value_map_entries(struct gh_values *values, const struct gh_rtype *type, uint64_t header,
			  struct gh_map_entries *entries, bool *whole)
{
	struct gh_map_shape shape;
	if (!find_shape(&shape, values->types, type))
		return false;
	*whole = gh_map_read(entries, values->process, &shape, header,
			     values->process->memory.source->size);
	values->out.failed |= entries->failed;
	return true;
}

void gh_value_add_map(struct gh_values *values, const struct gh_rtype *type, uint64_t header,
		      bool shown)
{
	bool whole = true;
	struct gh_map_shape shape;
	struct gh_map_entries entries = {0};
	uint64_t count = 0;
	bool known = find_shape(&shape, values->types, type);
	if (shown)
		gh_value_add_type(values, type);
	if (header == 0) {
		gh_value_add_either(values, "nil", "null");
	} else if (!known && values->json) {
		gh_value_add_pointer(values, type->text.start, type->text.length, header, false);
	} else if (!known) {
		gh_value_add(values, "[...] (0x%" PRIx64 ")", header);
	} else if (!gh_map_count(values->process, &shape, header, &count)) {
		gh_value_add_unreadable(values, header);
	} else if (count > 0 && !gh_value_enter(values, header)) {
		gh_value_add(values, "[");
		gh_value_add_more(values, count, true);
		gh_value_add(values, "]");
	} else if (count == 0) {
		gh_value_add(values, "[]");
	} else {
		gh_value_map_entries(values, type, header, &entries, &whole);
		sort(values, gh_rtype_key(values->types, type), &entries);
		add_entries(values, type, &entries, whole);
		gh_value_leave(values);
	}
	gh_vector_free(&entries);
}
