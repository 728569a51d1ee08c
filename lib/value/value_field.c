#include "lib/value/internal.h"

#include <string.h>

/* The longest text that is read of a string, in bytes. */
#define MAX_STRING (1 << 20)

/* A value, and what a path goes on from. */
struct place {
	uint32_t type;
	uint64_t address;
};

/* Follows pointers and interfaces to what they lead to. False if that is not known, or nil. */
static bool follow(struct gh_values *values, struct place *at)
{
	for (unsigned i = 0; i < GH_VALUE_DEPTH_MAX && at->type != GH_NO_RTYPE; i++) {
		const struct gh_rtype *type = &values->types->items[at->type];
		uint64_t descriptor;
		if (type->kind == GH_KIND_POINTER) {
			if (!gh_value_word(values, at->address, &at->address) || at->address == 0)
				return false;
			at->type = gh_rtype_elem(values->types, type);
		} else if (type->kind == GH_KIND_INTERFACE) {
			if (!gh_value_dynamic(values, type, at->address, &at->type, &descriptor,
					      &at->address))
				return false;
		} else {
			return true;
		}
	}
	return false;
}

/* Goes on to the field NAME. False if there is none. */
static bool enter_field(struct gh_values *values, struct place *at, const char *name)
{
	struct gh_rtype_part part;
	if (!follow(values, at) ||
	    !gh_value_field(values->types, &values->types->items[at->type], name, &part))
		return false;
	*at = (struct place){part.type, at->address + part.offset};
	return at->type != GH_NO_RTYPE;
}

/* The first name of *PATH, which goes on after it; in NAME. False if it is empty, or too long. */
static bool next_name(const char **path, char name[256])
{
	size_t length = strcspn(*path, ".");
	if (length == 0 || length >= 256)
		return false;
	memcpy(name, *path, length);
	name[length] = '\0';
	*path += length + ((*path)[length] == '.');
	return true;
}

static void read_string(struct gh_values *values, uint64_t address, struct gh_scalar *scalar)
{
	uint64_t start;
	uint64_t size;
	if (!gh_value_slice(values, address, &start, &size))
		return;
	size = size < MAX_STRING ? size : MAX_STRING;
	void *text = gh_buffer_extend(&values->out, (size_t)size);
	if (size == 0 ||
	    (text != NULL && gh_process_read_constant(values->process, start, text, (size_t)size)))
		scalar->kind = GH_SCALAR_TEXT;
}

static void read_time(struct gh_values *values, const struct place *at, struct gh_scalar *scalar)
{
	int64_t seconds;
	unsigned nanoseconds;
	if (!gh_value_time(values, &values->types->items[at->type], at->address, &seconds,
			   &nanoseconds))
		return;
	scalar->kind = GH_SCALAR_REAL;
	scalar->real = (double)seconds + nanoseconds / 1e9;
}

static void read_number(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
			struct gh_scalar *scalar)
{
	uint64_t bits;
	if (type->size > sizeof(bits) ||
	    !gh_process_constant_uint(values->process, address, (unsigned)type->size, &bits))
		return;
	bool is_float = type->kind == GH_KIND_FLOAT32 || type->kind == GH_KIND_FLOAT64;
	bool is_signed = type->kind >= GH_KIND_INT && type->kind <= GH_KIND_INT64;
	unsigned unused = 64 - 8 * (unsigned)type->size;
	scalar->kind = is_float ? GH_SCALAR_REAL : GH_SCALAR_INTEGER;
	if (is_float)
		scalar->real = gh_process_float(bits, (unsigned)type->size);
	else
		scalar->integer =
		    is_signed && unused < 64 ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

static void read_pointer(struct gh_values *values, uint64_t address, struct gh_scalar *scalar)
{
	uint64_t word;
	if (!gh_value_word(values, address, &word) || word == 0)
		return;
	scalar->kind = GH_SCALAR_INTEGER;
	scalar->integer = (int64_t)word;
}

/* Reads the value at AT. */
static void read_value(struct gh_values *values, struct place *at, struct gh_scalar *scalar)
{
	const struct gh_rtype *type = &values->types->items[at->type];
	if (type->kind == GH_KIND_INTERFACE) {
		uint64_t descriptor;
		if (!gh_value_dynamic(values, type, at->address, &at->type, &descriptor,
				      &at->address) ||
		    at->type == GH_NO_RTYPE)
			return;
		type = &values->types->items[at->type];
	}
	if (gh_value_is_pointer(type) || type->kind == GH_KIND_UNSAFE_POINTER ||
	    type->kind == GH_KIND_SLICE)
		read_pointer(values, at->address, scalar);
	else if (type->kind >= GH_KIND_BOOL && type->kind <= GH_KIND_FLOAT64)
		read_number(values, type, at->address, scalar);
	else if (type->kind == GH_KIND_STRING)
		read_string(values, at->address, scalar);
	else if (gh_rtype_text_is(type->text, "time.Time"))
		read_time(values, at, scalar);
	if (scalar->kind != GH_SCALAR_NONE || gh_value_is_pointer(type) ||
	    (type->kind != GH_KIND_STRUCT && type->kind != GH_KIND_ARRAY))
		return;
	gh_value_print(values, at->type, at->address);
	scalar->kind = GH_SCALAR_TEXT;
}

/* Reads the length or capacity of the slice or string at AT. False if that is what NAME is not. */
static bool read_length(struct gh_values *values, const struct place *at, const char *name,
			struct gh_scalar *scalar)
{
	unsigned word = values->process->tab->pointer_size;
	unsigned kind = values->types->items[at->type].kind;
	bool is_length = strcmp(name, "len") == 0;
	uint64_t value;
	if ((kind != GH_KIND_SLICE && (kind != GH_KIND_STRING || !is_length)) ||
	    (!is_length && strcmp(name, "cap") != 0))
		return false;
	if (gh_process_constant_uint(values->process, at->address + (is_length ? 1 : 2) * word,
				     word, &value)) {
		scalar->kind = GH_SCALAR_INTEGER;
		scalar->integer = (int64_t)value;
	}
	return true;
}

void gh_value_read_field(struct gh_values *values, uint32_t type, uint64_t address,
			 const char *path, struct gh_scalar *scalar)
{
	struct place at = {type, address};
	char name[256];
	*scalar = (struct gh_scalar){.kind = GH_SCALAR_NONE};
	while (*path != '\0') {
		if (!next_name(&path, name) ||
		    (*path == '\0' && read_length(values, &at, name, scalar)) ||
		    !enter_field(values, &at, name))
			return;
	}
	read_value(values, &at, scalar);
}
