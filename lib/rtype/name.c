#include "lib/rtype/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A name may have these many bytes for each byte of the type's string, and so many more. */
#define MAX_GROWTH 16
#define MAX_EXTRA  1024

/* A name as it is written. */
struct writer {
	const struct gh_rtypes *types;
	struct gh_buffer *out;
	size_t limit; /* the size that OUT is not to pass */
};

static void add_name(struct writer *writer, uint32_t number);

static void add(struct writer *writer, const char *text)
{
	gh_buffer_bytes(writer->out, text, strlen(text));
}

static void add_text(struct writer *writer, struct gh_rtype_text text)
{
	gh_buffer_bytes(writer->out, text.start, text.length);
}

/* Adds the name of the part of TYPE that is of type number PART. */
static void add_part(struct writer *writer, const struct gh_rtype *type, uint32_t part)
{
	part = gh_rtype_shorter(writer->types, type, part);
	if (part == GH_NO_RTYPE || writer->out->size > writer->limit)
		add(writer, "?");
	else
		add_name(writer, part);
}

/* The string has the package's name in the place of its path: up to the first dot, which is
 * before the arguments of a generic type. */
static void add_named(struct writer *writer, const struct gh_rtype *type)
{
	struct gh_rtype_text text = type->text;
	struct gh_rtype_text path = gh_rtype_package(writer->types, type);
	const char *dot = memchr(text.start, '.', text.length);
	const char *bracket = memchr(text.start, '[', text.length);
	/* "go.shape" is a package's name and its path. */
	bool is_path = path.length < text.length && text.start[path.length] == '.' &&
		       memcmp(text.start, path.start, path.length) == 0;
	if (path.length > 0 && !is_path && dot != NULL && (bracket == NULL || dot < bracket)) {
		add_text(writer, path);
		text.length -= (uint32_t)(dot - text.start);
		text.start = dot;
	}
	add_text(writer, text);
}

static void add_array(struct writer *writer, const struct gh_rtype *type)
{
	char length[32];
	snprintf(length, sizeof(length), "[%" PRIu64 "]", gh_rtype_length(writer->types, type));
	add(writer, length);
	add_part(writer, type, gh_rtype_elem(writer->types, type));
}

static void add_chan(struct writer *writer, const struct gh_rtype *type)
{
	unsigned direction = gh_rtype_direction(writer->types, type);
	uint32_t elem = gh_rtype_elem(writer->types, type);
	const struct gh_rtype *item = elem != GH_NO_RTYPE ? &writer->types->items[elem] : NULL;
	bool ambiguous = direction == (GH_CHAN_RECV | GH_CHAN_SEND) && item != NULL &&
			 item->kind == GH_KIND_CHAN && !item->named &&
			 gh_rtype_direction(writer->types, item) == GH_CHAN_RECV;
	add(writer, direction == GH_CHAN_RECV   ? "<-chan "
		    : direction == GH_CHAN_SEND ? "chan<- "
						: "chan ");
	add(writer, ambiguous ? "(" : "");
	add_part(writer, type, elem);
	add(writer, ambiguous ? ")" : "");
}

/* Adds the name of the slice's elements that a "..." parameter of type number PART stands for. */
static void add_variadic(struct writer *writer, const struct gh_rtype *type, uint32_t part)
{
	add(writer, "...");
	uint32_t slice = gh_rtype_shorter(writer->types, type, part);
	if (slice == GH_NO_RTYPE)
		add(writer, "?");
	else
		add_part(writer, &writer->types->items[slice],
			 gh_rtype_elem(writer->types, &writer->types->items[slice]));
}

/* Adds the parameters and results of the function TYPE. */
static void add_signature(struct writer *writer, const struct gh_rtype *type)
{
	bool variadic;
	uint32_t in = gh_rtype_parameters(writer->types, type, &variadic);
	uint32_t out = type->nparts - in;
	add(writer, "(");
	for (uint32_t i = 0; i < type->nparts && writer->out->size <= writer->limit; i++) {
		struct gh_rtype_part part;
		gh_rtype_part(writer->types, type, i, &part);
		if (i == in)
			add(writer, out == 1 ? ") " : ") (");
		else if (i > 0)
			add(writer, ", ");
		if (variadic && i + 1 == in)
			add_variadic(writer, type, part.type);
		else
			add_part(writer, type, part.type);
	}
	add(writer, out == 1 ? "" : ")");
}

/* Adds the name of a field or a method, with the package it is of. Before Go 1.9 that was left out,
 * and the dot that a closure's first field begins with. */
static void add_member(struct writer *writer, const struct gh_rtype *type, uint32_t index,
		       const struct gh_rtype_part *part)
{
	const struct gh_rtypes *types = writer->types;
	struct gh_rtype_text name = part->name;
	bool bare = gh_rtypes_before_1_9(types);
	bool blank = name.length == 1 && *name.start == '_' && types->tab->format < GH_PCLNTAB_1_18;
	struct gh_rtype_text package = gh_rtype_part_package(types, type, index);
	if (!bare && !part->exported && !blank && package.length > 0) {
		add_text(writer, package);
		add(writer, ".");
	}
	if (bare && name.length > 0 && *name.start == '.') {
		name.start++;
		name.length--;
	}
	add_text(writer, name);
}

/* Adds a tag as strconv.Quote does. Control characters were not believed. */
static void add_tag(struct writer *writer, struct gh_rtype_text tag)
{
	add(writer, " \"");
	for (uint32_t i = 0; i < tag.length; i++) {
		if (tag.start[i] == '"' || tag.start[i] == '\\')
			gh_buffer_u8(writer->out, '\\');
		gh_buffer_u8(writer->out, (uint8_t)tag.start[i]);
	}
	add(writer, "\"");
}

static void add_field(struct writer *writer, const struct gh_rtype *type, uint32_t index,
		      const struct gh_rtype_part *part)
{
	if (!part->embedded) {
		add_member(writer, type, index, part);
		add(writer, " ");
	}
	add_part(writer, type, part->type);
	if (part->tag.length > 0)
		add_tag(writer, part->tag);
}

static void add_method(struct writer *writer, const struct gh_rtype *type, uint32_t index,
		       const struct gh_rtype_part *part)
{
	add_member(writer, type, index, part);
	uint32_t number = gh_rtype_shorter(writer->types, type, part->type);
	if (number != GH_NO_RTYPE && writer->types->items[number].kind == GH_KIND_FUNC)
		add_signature(writer, &writer->types->items[number]);
}

/* Adds a struct or an interface, whose parts ADD_PART_OF adds. */
static void add_members(struct writer *writer, const struct gh_rtype *type, const char *keyword,
			void (*add_part_of)(struct writer *writer, const struct gh_rtype *type,
					    uint32_t index, const struct gh_rtype_part *part))
{
	add(writer, keyword);
	const char *separator = " ";
	for (uint32_t i = 0; i < type->nparts && writer->out->size <= writer->limit; i++) {
		struct gh_rtype_part part;
		gh_rtype_part(writer->types, type, i, &part);
		add(writer, separator);
		add_part_of(writer, type, i, &part);
		separator = "; ";
	}
	add(writer, type->nparts > 0 ? " }" : "}");
}

static void add_map(struct writer *writer, const struct gh_rtype *type)
{
	add(writer, "map[");
	add_part(writer, type, gh_rtype_key(writer->types, type));
	add(writer, "]");
	add_part(writer, type, gh_rtype_elem(writer->types, type));
}

/* The struct of a map's entries is called by its map's name. */
static bool is_group(const struct gh_rtype *type)
{
	return gh_rtype_text_starts(type->text, "map.");
}

static void add_name(struct writer *writer, uint32_t number)
{
	const struct gh_rtype *type = &writer->types->items[number];
	if (type->named) {
		add_named(writer, type);
		return;
	}
	switch (type->kind) {
	case GH_KIND_ARRAY:
		add_array(writer, type);
		break;
	case GH_KIND_CHAN:
		add_chan(writer, type);
		break;
	case GH_KIND_FUNC:
		add(writer, "func");
		add_signature(writer, type);
		break;
	case GH_KIND_INTERFACE:
		add_members(writer, type, "interface {", add_method);
		break;
	case GH_KIND_MAP:
		add_map(writer, type);
		break;
	case GH_KIND_POINTER:
		add(writer, "*");
		add_part(writer, type, gh_rtype_elem(writer->types, type));
		break;
	case GH_KIND_SLICE:
		add(writer, "[]");
		add_part(writer, type, gh_rtype_elem(writer->types, type));
		break;
	case GH_KIND_STRUCT:
		if (!is_group(type)) {
			add_members(writer, type, "struct {", add_field);
			break;
		}
		/* fall through */
	default:
		add_text(writer, type->text);
	}
}

void gh_rtype_name(struct gh_buffer *out, const struct gh_rtypes *types, uint32_t number)
{
	const struct gh_rtype_text *text = &types->items[number].text;
	size_t start = out->size;
	struct writer writer = {.types = types,
				.out = out,
				.limit = start + MAX_GROWTH * (size_t)text->length + MAX_EXTRA};
	add_name(&writer, number);
	if (out->size <= writer.limit || out->failed)
		return;
	out->size = start;
	gh_buffer_bytes(out, text->start, text->length);
}
