#include "lib/rtype/rtype.h"

#include <stdlib.h>
#include <string.h>

#include "lib/rtype/nesting.h"
#include "lib/util/buffer.h"
#include "lib/util/escape.h"

/* Bits of a descriptor's tflag, and of the first byte of a name. */
enum {
	TFLAG_UNCOMMON = 1,
	TFLAG_EXTRA_STAR = 2,
	TFLAG_NAMED = 4,
	TFLAG_GC_MASK_ON_DEMAND = 16,
	TFLAG_KNOWN = 63,
	NAME_EXPORTED = 1,
	NAME_TAG = 2,
	NAME_EMBEDDED = 8,
	NAME_KNOWN = 15,
};

#define KIND_MASK 31

/* The longest string of a type that is believed. */
#define MAX_TEXT 32768

/* A descriptor, as it is read. */
struct descriptor {
	uint64_t size;
	uint64_t pointers; /* bytes of a value up to its last pointer */
	uint8_t tflag;
	uint8_t align;
	uint8_t field_align;
	uint8_t kind;
	uint64_t equal; /* address of the closure that compares values, or 0 */
	uint64_t gcdata;
	uint32_t text; /* offset of its name */
};

/* What is left to be spent on a hostile file. */
struct budget {
	uint64_t text;  /* bytes of strings */
	uint64_t parts; /* fields, methods, parameters */
};

/* Size of the fields that all descriptors have. */
static unsigned base_size(const struct gh_rtypes *types)
{
	return 4U * types->tab->pointer_size + 16;
}

static uint64_t word(const struct gh_rtypes *types, struct gh_cursor *cur)
{
	return gh_cursor_uint(cur, types->tab->pointer_size);
}

/* A cursor at OFFSET in the descriptor of TYPE; one that has failed if it ends before. */
static struct gh_cursor inside(const struct gh_rtypes *types, const struct gh_rtype *type,
			       unsigned offset)
{
	struct gh_cursor cur = {0};
	if (!gh_image_at(types->tab->image, type->address, &cur))
		cur.failed = true;
	gh_cursor_seek(&cur, offset);
	return cur;
}

/* Word INDEX of those that follow the fields that all descriptors have. */
static uint64_t extra_word(const struct gh_rtypes *types, const struct gh_rtype *type,
			   unsigned index)
{
	struct gh_cursor cur =
	    inside(types, type, base_size(types) + index * types->tab->pointer_size);
	return word(types, &cur);
}

/* Reads a length and as many bytes. */
static bool read_text(const struct gh_rtypes *types, struct gh_cursor *cur,
		      struct gh_rtype_text *text)
{
	uint64_t length;
	if (types->varint_names) {
		length = gh_cursor_uvarint(cur);
	} else {
		length = (uint64_t)gh_cursor_u8(cur) << 8;
		length |= gh_cursor_u8(cur);
	}
	if (length > MAX_TEXT)
		return false;
	text->start = (const char *)gh_cursor_bytes(cur, length);
	text->length = (uint32_t)length;
	return !cur->failed;
}

/* A name, as the runtime's type name reads it. */
struct name {
	uint8_t flags;
	struct gh_rtype_text text;
	struct gh_rtype_text tag;
};

/* Reads the name at ADDRESS. */
static bool read_name(const struct gh_rtypes *types, uint64_t address, struct name *name)
{
	struct gh_cursor cur;
	*name = (struct name){.text.start = "", .tag.start = ""};
	if (!gh_image_at(types->tab->image, address, &cur))
		return false;
	name->flags = gh_cursor_u8(&cur);
	if ((name->flags & ~NAME_KNOWN) != 0 || !read_text(types, &cur, &name->text))
		return false;
	return (name->flags & NAME_TAG) == 0 || read_text(types, &cur, &name->tag);
}

static struct gh_rtype_text name_text(const struct gh_rtypes *types, uint64_t address)
{
	struct name name;
	if (address == 0 || !read_name(types, address, &name))
		return (struct gh_rtype_text){.start = ""};
	return name.text;
}

/* Whether OFFSET is of something in the range of types. */
static bool in_types(const struct gh_rtypes *types, uint64_t offset)
{
	const struct gh_moduledata *module = &types->tab->module;
	return offset < module->etypes - module->types;
}

static void read_descriptor(const struct gh_rtypes *types, struct gh_cursor *cur,
			    struct descriptor *found)
{
	found->size = word(types, cur);
	found->pointers = word(types, cur);
	gh_cursor_u32(cur); /* hash */
	found->tflag = gh_cursor_u8(cur);
	found->align = gh_cursor_u8(cur);
	found->field_align = gh_cursor_u8(cur);
	found->kind = gh_cursor_u8(cur) & KIND_MASK;
	found->equal = word(types, cur);
	found->gcdata = word(types, cur);
	found->text = gh_cursor_u32(cur);
	gh_cursor_u32(cur); /* ptrToThis: its type is found by itself */
}

/* The size in bytes of every type of KIND; 0 if they differ. */
static uint64_t size_of_kind(unsigned kind, unsigned pointer_size)
{
	static const uint8_t bytes[GH_KINDS] = {
	    [GH_KIND_BOOL] = 1,       [GH_KIND_INT8] = 1,    [GH_KIND_INT16] = 2,
	    [GH_KIND_INT32] = 4,      [GH_KIND_INT64] = 8,   [GH_KIND_UINT8] = 1,
	    [GH_KIND_UINT16] = 2,     [GH_KIND_UINT32] = 4,  [GH_KIND_UINT64] = 8,
	    [GH_KIND_FLOAT32] = 4,    [GH_KIND_FLOAT64] = 8, [GH_KIND_COMPLEX64] = 8,
	    [GH_KIND_COMPLEX128] = 16};
	static const uint8_t words[GH_KINDS] = {
	    [GH_KIND_INT] = 1,    [GH_KIND_UINT] = 1,          [GH_KIND_UINTPTR] = 1,
	    [GH_KIND_CHAN] = 1,   [GH_KIND_FUNC] = 1,          [GH_KIND_INTERFACE] = 2,
	    [GH_KIND_MAP] = 1,    [GH_KIND_POINTER] = 1,       [GH_KIND_SLICE] = 3,
	    [GH_KIND_STRING] = 2, [GH_KIND_UNSAFE_POINTER] = 1};
	return bytes[kind] != 0 ? bytes[kind] : (uint64_t)words[kind] * pointer_size;
}

static bool is_align(uint8_t align)
{
	return align != 0 && align <= 64 && (align & (align - 1)) == 0;
}

/* Zero, or the address of something in the program. */
static bool is_pointer(const struct gh_rtypes *types, uint64_t address)
{
	struct gh_cursor cur;
	return address == 0 || gh_image_at(types->tab->image, address, &cur);
}

/* The numbers in FOUND are those of a type. */
static bool plausible(const struct gh_rtypes *types, const struct descriptor *found)
{
	if (found->kind == 0 || found->kind >= GH_KINDS || (found->tflag & ~TFLAG_KNOWN) != 0 ||
	    !is_align(found->align) || !is_align(found->field_align) ||
	    found->size % found->align != 0 || found->size > INT64_MAX ||
	    found->pointers > found->size || found->pointers % types->tab->pointer_size != 0 ||
	    found->text == 0 || !in_types(types, found->text))
		return false;
	uint64_t size = size_of_kind(found->kind, types->tab->pointer_size);
	if (size != 0 && found->size != size)
		return false;
	return is_pointer(types, found->equal) &&
	       ((found->tflag & TFLAG_GC_MASK_ON_DEMAND) != 0 || is_pointer(types, found->gcdata));
}

bool gh_rtype_text_is(struct gh_rtype_text text, const char *expected)
{
	return text.length == strlen(expected) && memcmp(text.start, expected, text.length) == 0;
}

static bool starts(const struct gh_rtype_text *text, const char *prefix)
{
	size_t length = strlen(prefix);
	return text->length >= length && memcmp(text->start, prefix, length) == 0;
}

/* The string of an unnamed type says of which kind it is. */
static bool text_fits(const struct gh_rtype *type)
{
	const struct gh_rtype_text *text = &type->text;
	if (text->length == 0 || gh_escape_find_control(text->start, text->length) != text->length)
		return false;
	if (type->named)
		return true;
	switch (type->kind) {
	case GH_KIND_ARRAY:
		return starts(text, "[") && !starts(text, "[]");
	case GH_KIND_CHAN:
		return starts(text, "chan") || starts(text, "<-chan ");
	case GH_KIND_FUNC:
		return starts(text, "func(");
	case GH_KIND_INTERFACE:
		return starts(text, "interface {");
	case GH_KIND_MAP:
		return starts(text, "map[");
	case GH_KIND_POINTER:
		return starts(text, "*");
	case GH_KIND_SLICE:
		return starts(text, "[]");
	case GH_KIND_STRUCT:
		return starts(text, "struct {") || starts(text, "map.");
	default:
		return false;
	}
}

/* The array of a struct's fields or an interface's methods: a slice after the package's name. */
static uint64_t part_array(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return extra_word(types, type, 1);
}

static unsigned part_size(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	switch (type->kind) {
	case GH_KIND_STRUCT:
		return 3U * types->tab->pointer_size;
	case GH_KIND_INTERFACE:
		return 8;
	default:
		return types->tab->pointer_size;
	}
}

/* Offset of the parameters of a function from its descriptor: the uncommon record comes first. */
static unsigned parameters_offset(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return base_size(types) + types->tab->pointer_size + (type->uncommon ? 16 : 0);
}

/* Numbers of parameters and results; the top bit of the second says "...". */
static void read_counts(const struct gh_rtypes *types, const struct gh_rtype *type, uint16_t *in,
			uint16_t *out)
{
	struct gh_cursor cur = inside(types, type, base_size(types));
	*in = gh_cursor_u16(&cur);
	*out = gh_cursor_u16(&cur);
}

/* Sets the number of TYPE's parts, if the file has so many. */
static void count_parts(const struct gh_rtypes *types, struct gh_rtype *type, struct budget *budget)
{
	struct gh_cursor parts;
	uint64_t count;
	if (type->kind == GH_KIND_FUNC) {
		uint16_t in;
		uint16_t out;
		read_counts(types, type, &in, &out);
		count = (uint64_t)in + (out & 0x7fff);
		parts = inside(types, type, parameters_offset(types, type));
	} else if (type->kind == GH_KIND_STRUCT || type->kind == GH_KIND_INTERFACE) {
		count = extra_word(types, type, 2);
		if (count == 0 || !gh_image_at(types->tab->image, part_array(types, type), &parts))
			return;
	} else {
		return;
	}
	if (count > gh_cursor_left(&parts) / part_size(types, type) || count > budget->parts)
		return;
	budget->parts -= count;
	type->nparts = (uint32_t)count;
}

/* Reads the descriptor that CUR starts at, which lies at ADDRESS. False if it is none. */
static bool read_type(const struct gh_rtypes *types, struct gh_cursor cur, uint64_t address,
		      struct gh_rtype *type, struct budget *budget)
{
	struct descriptor found;
	struct name name;
	read_descriptor(types, &cur, &found);
	if (cur.failed || !plausible(types, &found) ||
	    !read_name(types, types->tab->module.types + found.text, &name) ||
	    name.text.length > budget->text)
		return false;
	budget->text -= name.text.length;
	*type = (struct gh_rtype){.address = address,
				  .size = found.size,
				  .text = name.text,
				  .kind = found.kind,
				  .align = found.align,
				  .named = (found.tflag & TFLAG_NAMED) != 0,
				  .uncommon = (found.tflag & TFLAG_UNCOMMON) != 0};
	if ((found.tflag & TFLAG_EXTRA_STAR) != 0) {
		if (!starts(&name.text, "*"))
			return false;
		type->text.start++;
		type->text.length--;
	}
	return text_fits(type);
}

/* Reads every type in the range, with names as varint_names says. */
static bool scan(struct gh_rtypes *types)
{
	const struct gh_pclntab *tab = types->tab;
	const struct gh_moduledata *module = &tab->module;
	struct budget budget = {.text = tab->image->size, .parts = tab->image->size};
	struct gh_buffer found = {0};
	struct gh_cursor cur;
	types->count = 0;
	types->items = NULL;
	if (module->types >= module->etypes || !gh_image_at(tab->image, module->types, &cur))
		return true;
	uint64_t size = module->etypes - module->types;
	if (size < gh_cursor_left(&cur))
		cur.end = cur.start + size;
	uint64_t skew = module->types % tab->pointer_size;
	gh_cursor_bytes(&cur, skew == 0 ? 0 : tab->pointer_size - skew);
	while (gh_cursor_left(&cur) >= base_size(types) && types->count < GH_NO_RTYPE) {
		uint64_t address = module->types + (uint64_t)(cur.pos - cur.start);
		struct gh_rtype type;
		if (!read_type(types, cur, address, &type, &budget)) {
			gh_cursor_bytes(&cur, tab->pointer_size);
			continue;
		}
		count_parts(types, &type, &budget);
		gh_buffer_bytes(&found, &type, sizeof(type));
		types->count++;
		gh_cursor_bytes(&cur, base_size(types));
	}
	types->items = (struct gh_rtype *)(void *)found.data;
	if (found.failed)
		gh_rtypes_free(types);
	return !found.failed;
}

/* Before Go 1.19 a field's offset was shifted, to make room for whether it is embedded: then
 * fields, taken as they stand, do not fit their struct. */
static bool find_shift(const struct gh_rtypes *types)
{
	if (types->tab->format != GH_PCLNTAB_1_18)
		return types->tab->format < GH_PCLNTAB_1_18;
	struct gh_rtype_part part;
	for (uint32_t i = 0; i < types->count; i++) {
		const struct gh_rtype *type = &types->items[i];
		for (uint32_t f = 0; type->kind == GH_KIND_STRUCT && f < type->nparts; f++)
			if (!gh_rtype_part(types, type, f, &part) && part.offset > type->size)
				return true;
	}
	return false;
}

/* A Swiss map's entries are in groups that start with a word of control bytes; another map's are in
 * buckets. */
static bool find_swiss_maps(const struct gh_rtypes *types)
{
	for (uint32_t i = 0; i < types->count; i++) {
		if (types->items[i].kind != GH_KIND_MAP)
			continue;
		uint32_t group = gh_rtype_group(types, &types->items[i]);
		if (group == GH_NO_RTYPE)
			continue;
		struct gh_rtype_part part;
		const struct gh_rtype *type = &types->items[group];
		return type->nparts > 0 && gh_rtype_part(types, type, 0, &part) &&
		       gh_rtype_text_is(part.name, "ctrl");
	}
	return false;
}

bool gh_rtypes_find(struct gh_rtypes *types, const struct gh_pclntab *tab, struct gh_error *err)
{
	*types = (struct gh_rtypes){.tab = tab, .varint_names = tab->format > GH_PCLNTAB_1_16};
	bool whole = scan(types);
	/* The pclntab does not tell Go 1.16 from 1.17. */
	if (whole && tab->format == GH_PCLNTAB_1_16) {
		struct gh_rtypes other = {.tab = tab, .varint_names = true};
		whole = scan(&other);
		struct gh_rtypes fewer = other;
		if (other.count > types->count) {
			fewer = *types;
			*types = other;
		}
		gh_rtypes_free(&fewer);
	}
	types->shifted = find_shift(types);
	types->swiss_maps = find_swiss_maps(types);
	if (whole && gh_rtypes_break_cycles(types))
		return true;
	return gh_fail_errno(err, tab->image->path, "read its types");
}

void gh_rtypes_free(struct gh_rtypes *types)
{
	free(types->items);
	types->items = NULL;
	types->count = 0;
}

uint32_t gh_rtypes_at(const struct gh_rtypes *types, uint64_t address)
{
	uint32_t low = 0;
	uint32_t high = types->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (types->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || types->items[low - 1].address != address)
		return GH_NO_RTYPE;
	return low - 1;
}

const char *gh_kind_name(enum gh_kind kind)
{
	static const char *const names[GH_KINDS] = {
	    "invalid", "bool",      "int",        "int8",   "int16",  "int32",         "int64",
	    "uint",    "uint8",     "uint16",     "uint32", "uint64", "uintptr",       "float32",
	    "float64", "complex64", "complex128", "array",  "chan",   "func",          "interface",
	    "map",     "ptr",       "slice",      "string", "struct", "unsafe.Pointer"};
	return names[kind];
}

/* Offset of the uncommon record from the descriptor of TYPE. */
static unsigned uncommon_offset(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	static const uint8_t words[GH_KINDS] = {
	    [GH_KIND_ARRAY] = 3,     [GH_KIND_CHAN] = 2,    [GH_KIND_FUNC] = 1,
	    [GH_KIND_INTERFACE] = 4, [GH_KIND_POINTER] = 1, [GH_KIND_SLICE] = 1,
	    [GH_KIND_STRUCT] = 4};
	unsigned pointer_size = types->tab->pointer_size;
	if (type->kind != GH_KIND_MAP)
		return base_size(types) + words[type->kind] * pointer_size;
	if (!types->swiss_maps)
		return base_size(types) + 4 * pointer_size + 8;
	/* Its last field, the flags, is padded to a word. */
	return base_size(types) + (types->tab->module.itabs != 0 ? 11 : 8) * pointer_size;
}

uint64_t gh_rtype_descriptor_size(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return uncommon_offset(types, type) + (type->uncommon ? 16 : 0);
}

struct gh_rtype_text gh_rtype_package(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	struct gh_rtype_text none = {.start = ""};
	if (!type->named || !type->uncommon)
		return none;
	struct gh_cursor cur = inside(types, type, uncommon_offset(types, type));
	uint32_t offset = gh_cursor_u32(&cur);
	if (offset == 0 || !in_types(types, offset))
		return none;
	return name_text(types, types->tab->module.types + offset);
}

uint32_t gh_rtype_elem(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	switch (type->kind) {
	case GH_KIND_ARRAY:
	case GH_KIND_CHAN:
	case GH_KIND_POINTER:
	case GH_KIND_SLICE:
		return gh_rtypes_at(types, extra_word(types, type, 0));
	case GH_KIND_MAP:
		return gh_rtypes_at(types, extra_word(types, type, 1));
	default:
		return GH_NO_RTYPE;
	}
}

uint32_t gh_rtype_key(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return gh_rtypes_at(types, extra_word(types, type, 0));
}

uint32_t gh_rtype_group(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return gh_rtypes_at(types, extra_word(types, type, 2));
}

uint64_t gh_rtype_length(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	uint64_t length = extra_word(types, type, 2);
	uint32_t elem = gh_rtype_elem(types, type);
	if (elem == GH_NO_RTYPE)
		return 0;
	uint64_t size = types->items[elem].size;
	if (size == 0 ? type->size != 0 : type->size % size != 0 || type->size / size != length)
		return 0;
	return length <= INT64_MAX ? length : 0;
}

unsigned gh_rtype_direction(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return (unsigned)extra_word(types, type, 1) & (GH_CHAN_RECV | GH_CHAN_SEND);
}

static bool read_field(const struct gh_rtypes *types, const struct gh_rtype *type,
		       struct gh_cursor *cur, struct gh_rtype_part *part)
{
	struct name name;
	bool read = read_name(types, word(types, cur), &name);
	part->name = name.text;
	part->tag = name.tag;
	part->exported = (name.flags & NAME_EXPORTED) != 0;
	part->embedded = (name.flags & NAME_EMBEDDED) != 0;
	part->type = gh_rtypes_at(types, word(types, cur));
	part->offset = word(types, cur);
	if (types->shifted) {
		part->embedded = (part->offset & 1) != 0;
		part->offset >>= 1;
	}
	if (!read || part->type == GH_NO_RTYPE || part->offset > type->size)
		return false;
	return types->items[part->type].size <= type->size - part->offset;
}

static bool read_method(const struct gh_rtypes *types, struct gh_cursor *cur,
			struct gh_rtype_part *part)
{
	uint32_t offset = gh_cursor_u32(cur);
	struct name name;
	if (!in_types(types, offset) || !read_name(types, types->tab->module.types + offset, &name))
		return false;
	part->name = name.text;
	part->exported = (name.flags & NAME_EXPORTED) != 0;
	part->type = gh_rtypes_at(types, types->tab->module.types + gh_cursor_u32(cur));
	return true;
}

bool gh_rtype_part(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		   struct gh_rtype_part *part)
{
	*part = (struct gh_rtype_part){
	    .name.start = "", .tag.start = "", .type = GH_NO_RTYPE, .exported = true};
	struct gh_cursor cur;
	if (type->kind == GH_KIND_FUNC)
		cur = inside(types, type, parameters_offset(types, type));
	else if (!gh_image_at(types->tab->image, part_array(types, type), &cur))
		return false;
	gh_cursor_bytes(&cur, (uint64_t)index * part_size(types, type));
	if (type->kind == GH_KIND_STRUCT)
		return read_field(types, type, &cur, part);
	if (type->kind == GH_KIND_INTERFACE)
		return read_method(types, &cur, part);
	part->type = gh_rtypes_at(types, word(types, &cur));
	return true;
}

struct gh_rtype_text gh_rtype_part_package(const struct gh_rtypes *types,
					   const struct gh_rtype *type)
{
	return name_text(types, extra_word(types, type, 0));
}

uint32_t gh_rtype_parameters(const struct gh_rtypes *types, const struct gh_rtype *type,
			     bool *variadic)
{
	uint16_t in;
	uint16_t out;
	read_counts(types, type, &in, &out);
	*variadic = (out & 0x8000) != 0;
	return in < type->nparts ? in : type->nparts;
}
