#include "lib/rtype/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"

struct gh_cursor gh_rtype_inside(const struct gh_rtypes *types, const struct gh_rtype *type,
				 unsigned offset)
{
	struct gh_cursor cur = {0};
	if (!gh_rtypes_bytes(types, type->address, &cur))
		cur.failed = true;
	gh_cursor_seek(&cur, offset);
	return cur;
}

uint64_t gh_rtype_extra_word(const struct gh_rtypes *types, const struct gh_rtype *type,
			     unsigned index)
{
	struct gh_cursor cur = gh_rtype_inside(
	    types, type, gh_rtype_base_size(types) + index * types->tab->pointer_size);
	return gh_rtype_word(types, &cur);
}

/* The same that is an address: as one of the program's. */
static uint64_t extra_address(const struct gh_rtypes *types, const struct gh_rtype *type,
			      unsigned index)
{
	return gh_rtypes_address(types, type->module, gh_rtype_extra_word(types, type, index));
}

static struct gh_rtype_text name_text(const struct gh_rtypes *types, uint64_t address)
{
	struct gh_rtype_encoded_name name;
	if (address == 0 || !gh_rtype_read_name(types, address, &name))
		return (struct gh_rtype_text){.start = ""};
	return name.text;
}

bool gh_rtype_text_is(struct gh_rtype_text text, const char *expected)
{
	return text.length == strlen(expected) && memcmp(text.start, expected, text.length) == 0;
}

bool gh_rtype_text_starts(struct gh_rtype_text text, const char *prefix)
{
	size_t length = strlen(prefix);
	return text.length >= length && memcmp(text.start, prefix, length) == 0;
}

/* The array of a struct's fields or an interface's methods: a slice after the package's name. */
static uint64_t part_array(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return extra_address(types, type, 1);
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
	return gh_rtype_base_size(types) + types->tab->pointer_size + (type->uncommon ? 16 : 0);
}

/* Numbers of parameters and results; the top bit of the second says "...". */
static void read_counts(const struct gh_rtypes *types, const struct gh_rtype *type, uint16_t *in,
			uint16_t *out)
{
	struct gh_cursor cur = gh_rtype_inside(types, type, gh_rtype_base_size(types));
	*in = gh_cursor_u16(&cur);
	*out = gh_cursor_u16(&cur);
}

/* Sets the number of TYPE's parts, if the file has so many, and *LEFT are, which it takes them off.
 */
static void count_parts(const struct gh_rtypes *types, struct gh_rtype *type, uint64_t *left)
{
	struct gh_cursor parts;
	uint64_t count;
	if (types->old != NULL) {
		count = gh_old_rtype_count_parts(types, type);
		if (count <= *left) {
			*left -= count;
			type->nparts = (uint32_t)count;
		}
		return;
	}
	if (type->kind == GH_KIND_FUNC) {
		uint16_t in;
		uint16_t out;
		read_counts(types, type, &in, &out);
		count = (uint64_t)in + (out & 0x7fff);
		parts = gh_rtype_inside(types, type, parameters_offset(types, type));
	} else if (type->kind == GH_KIND_STRUCT || type->kind == GH_KIND_INTERFACE) {
		count = gh_rtype_extra_word(types, type, 2);
		if (count == 0 || !gh_rtypes_bytes(types, part_array(types, type), &parts))
			return;
	} else {
		return;
	}
	if (count > gh_cursor_left(&parts) / part_size(types, type) || count > *left)
		return;
	*left -= count;
	type->nparts = (uint32_t)count;
}

/* The images have a byte for each part, and more. */
static void count_all_parts(struct gh_rtypes *types)
{
	uint64_t left = 0;
	for (size_t i = 0; i < types->nmodules; i++)
		left += types->modules[i].tab->image->size;
	for (uint32_t i = 0; i < types->count; i++)
		count_parts(types, &types->items[i], &left);
}

/* From Go 1.9 to 1.18 a field's offset was shifted, to make room for whether it is embedded: then
 * fields, taken as they stand, do not fit their struct. Before, and from Go 1.19 on, all do. */
static bool find_shift(const struct gh_rtypes *types)
{
	if (types->old != NULL || types->tab->format > GH_PCLNTAB_1_18)
		return false;
	if (types->tab->format == GH_PCLNTAB_1_16)
		return true;
	bool old = types->tab->format == GH_PCLNTAB_1_2;
	struct gh_rtype_part part;
	for (uint32_t i = 0; i < types->count; i++) {
		const struct gh_rtype *type = &types->items[i];
		for (uint32_t f = 0; type->kind == GH_KIND_STRUCT && f < type->nparts; f++)
			if (!gh_rtype_part(types, type, f, &part) &&
			    (part.offset > type->size ||
			     (old && part.type != GH_NO_RTYPE && part.name.length > 0)))
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

/* Reads the program's descriptors. False if memory ran out. */
static bool scan_program(struct gh_rtypes *types)
{
	bool whole = gh_rtypes_scan(types, 0);
	if (whole && types->count == 0 && types->tab->format == GH_PCLNTAB_1_2)
		whole = gh_old_rtypes_scan(types);
	/* The pclntab does not tell Go 1.16 from 1.17. */
	if (whole && types->tab->format == GH_PCLNTAB_1_16) {
		struct gh_rtypes other = *types;
		other.items = NULL;
		other.count = 0;
		other.varint_names = true;
		whole = gh_rtypes_scan(&other, 0);
		struct gh_rtypes fewer = other;
		if (other.count > types->count) {
			fewer = *types;
			*types = other;
		}
		gh_rtypes_free_items(&fewer);
	}
	return whole;
}

bool gh_rtypes_find_all(struct gh_rtypes *types, const struct gh_module *program,
			const struct gh_module *others, size_t nothers, struct gh_error *err)
{
	const struct gh_pclntab *tab = program->tab;
	*types = (struct gh_rtypes){.tab = tab,
				    .start = tab->module.types,
				    .varint_names = tab->format > GH_PCLNTAB_1_16,
				    .minor = gh_image_go_minor(tab->image)};
	bool whole = gh_rtypes_open_modules(types, program, others, nothers) && scan_program(types);
	for (unsigned i = 1; i < types->nmodules && whole && types->old == NULL; i++)
		whole = gh_rtypes_scan(types, i);
	if (whole) {
		gh_rtypes_sort(types);
		count_all_parts(types);
		types->shifted = find_shift(types);
		whole = gh_rtypes_merge(types);
		types->swiss_maps = find_swiss_maps(types);
	}
	return (whole && gh_rtypes_break_cycles(types)) || gh_fail_memory(err, tab->image->path);
}

bool gh_rtypes_find(struct gh_rtypes *types, const struct gh_pclntab *tab, struct gh_error *err)
{
	const struct gh_module program = {.tab = tab};
	return gh_rtypes_find_all(types, &program, NULL, 0, err);
}

bool gh_rtypes_before_1_9(const struct gh_rtypes *types)
{
	return types->tab->format <= GH_PCLNTAB_1_2 && !types->shifted;
}

void gh_rtypes_free_items(struct gh_rtypes *types)
{
	free(types->items);
	types->items = NULL;
	types->count = 0;
}

void gh_rtypes_free(struct gh_rtypes *types)
{
	gh_rtypes_free_items(types);
	free(types->copies);
	free(types->modules);
	types->copies = NULL;
	types->ncopies = 0;
	types->modules = NULL;
	types->nmodules = 0;
}

uint32_t gh_rtypes_at(const struct gh_rtypes *types, uint64_t address)
{
	const struct gh_rtype *items = types->items;
	uint32_t found = gh_lower_bound(types->count, i, items[i].address < address);
	if (found < types->count && items[found].address == address)
		return found;
	const struct gh_rtype_copy *copies = types->copies;
	size_t copy = gh_lower_bound(types->ncopies, i, copies[i].address < address);
	return copy < types->ncopies && copies[copy].address == address ? copies[copy].type
									: GH_NO_RTYPE;
}

/* If the program does not say, by what has changed in its tables. */
int gh_rtypes_release(const struct gh_rtypes *types)
{
	static const uint8_t oldest[] = {[GH_PCLNTAB_1_2] = 15,
					 [GH_PCLNTAB_1_16] = 17,
					 [GH_PCLNTAB_1_18] = 19,
					 [GH_PCLNTAB_1_20] = 22};
	if (types->minor != GH_GO_UNKNOWN)
		return types->minor;
	if (types->old != NULL)
		return gh_old_rtypes_release(types);
	if (gh_rtypes_before_1_9(types))
		return 8;
	if (types->swiss_maps)
		return types->tab->no_text_start ? 26 : 24;
	return oldest[types->tab->format];
}

uint32_t gh_rtypes_struct(const struct gh_rtypes *types, const char *name, uint32_t from)
{
	for (uint32_t i = from; i < types->count; i++)
		if (types->items[i].kind == GH_KIND_STRUCT && types->items[i].named &&
		    gh_rtype_text_is(types->items[i].text, name))
			return i;
	return GH_NO_RTYPE;
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

enum gh_kind gh_kind_named(const char *name)
{
	unsigned kind = GH_KINDS - 1;
	while (kind > 0 && strcmp(gh_kind_name(kind), name) != 0)
		kind--;
	return kind;
}

unsigned gh_rtype_uncommon_offset(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	static const uint8_t words[GH_KINDS] = {
	    [GH_KIND_ARRAY] = 3,     [GH_KIND_CHAN] = 2,    [GH_KIND_FUNC] = 1,
	    [GH_KIND_INTERFACE] = 4, [GH_KIND_POINTER] = 1, [GH_KIND_SLICE] = 1,
	    [GH_KIND_STRUCT] = 4};
	unsigned pointer_size = types->tab->pointer_size;
	if (type->kind != GH_KIND_MAP)
		return gh_rtype_base_size(types) + words[type->kind] * pointer_size;
	if (!types->swiss_maps)
		return gh_rtype_base_size(types) + 4 * pointer_size + 8;
	/* Its last field, the flags, is padded to a word. */
	return gh_rtype_base_size(types) + (types->tab->module.itabs != 0 ? 11 : 8) * pointer_size;
}

uint64_t gh_rtype_descriptor_size(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	if (types->old != NULL)
		return gh_old_rtype_descriptor_size(types, type);
	return gh_rtype_uncommon_offset(types, type) + (type->uncommon ? 16 : 0);
}

struct gh_rtype_text gh_rtype_package(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	struct gh_rtype_text none = {.start = ""};
	if (!type->named || !type->uncommon)
		return none;
	if (types->old != NULL)
		return gh_old_rtype_package(types, type);
	struct gh_cursor cur = gh_rtype_inside(types, type, gh_rtype_uncommon_offset(types, type));
	uint32_t offset = gh_cursor_u32(&cur);
	return offset != 0 ? name_text(types, gh_rtypes_at_offset(types, type->module, offset))
			   : none;
}

uint32_t gh_rtype_elem(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	switch (type->kind) {
	case GH_KIND_ARRAY:
	case GH_KIND_CHAN:
	case GH_KIND_POINTER:
	case GH_KIND_SLICE:
		return gh_rtypes_at(types, extra_address(types, type, 0));
	case GH_KIND_MAP:
		return gh_rtypes_at(types, extra_address(types, type, 1));
	default:
		return GH_NO_RTYPE;
	}
}

uint32_t gh_rtype_key(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return gh_rtypes_at(types, extra_address(types, type, 0));
}

uint32_t gh_rtype_group(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	return gh_rtypes_at(types, extra_address(types, type, 2));
}

uint32_t gh_rtype_map_header(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	if (!gh_rtypes_before_1_9(types))
		return GH_NO_RTYPE;
	return gh_rtypes_at(types, extra_address(types, type, 3));
}

uint64_t gh_rtype_length(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	uint64_t length = gh_rtype_extra_word(types, type, 2);
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
	return (unsigned)gh_rtype_extra_word(types, type, 1) & (GH_CHAN_RECV | GH_CHAN_SEND);
}

/* Before Go 1.9 an embedded field has no name but its type's, and is exported if that is. */
static void name_embedded(const struct gh_rtypes *types, struct gh_rtype_part *part)
{
	struct gh_rtype_text name = types->items[part->type].text;
	const char *dot = memrchr(name.start, '.', name.length);
	const char *start = dot != NULL ? dot + 1 : name.start + (*name.start == '*');
	name.length -= (uint32_t)(start - name.start);
	name.start = start;
	part->name = name;
	part->embedded = true;
	if (types->old == NULL)
		part->exported = name.length > 0 && *name.start >= 'A' && *name.start <= 'Z';
}

/* Checks the field that PART was read as. False if it lies outside its struct. */
static bool finish_field(const struct gh_rtypes *types, const struct gh_rtype *type,
			 struct gh_rtype_part *part)
{
	if (part->type == GH_NO_RTYPE || part->offset > type->size)
		return false;
	if (part->name.length == 0)
		name_embedded(types, part);
	return types->items[part->type].size <= type->size - part->offset;
}

static bool read_field(const struct gh_rtypes *types, const struct gh_rtype *type,
		       struct gh_cursor *cur, struct gh_rtype_part *part)
{
	struct gh_rtype_encoded_name name;
	unsigned module = type->module;
	bool read = gh_rtype_read_name(
	    types, gh_rtypes_address(types, module, gh_rtype_word(types, cur)), &name);
	part->name = name.text;
	part->tag = name.tag;
	part->exported = (name.flags & GH_RTYPE_NAME_EXPORTED) != 0;
	part->embedded = (name.flags & GH_RTYPE_NAME_EMBEDDED) != 0;
	part->type =
	    gh_rtypes_at(types, gh_rtypes_address(types, module, gh_rtype_word(types, cur)));
	part->offset = gh_rtype_word(types, cur);
	if (types->shifted) {
		part->embedded = (part->offset & 1) != 0;
		part->offset >>= 1;
	}
	return finish_field(types, type, part) && read;
}

bool gh_rtype_read_method(const struct gh_rtypes *types, const struct gh_rtype *type,
			  struct gh_cursor *cur, struct gh_rtype_part *part)
{
	unsigned module = type->module;
	uint64_t address = gh_rtypes_at_offset(types, module, gh_cursor_u32(cur));
	struct gh_rtype_encoded_name name;
	if (address == 0 || !gh_rtype_read_name(types, address, &name))
		return false;
	part->name = name.text;
	part->exported = (name.flags & GH_RTYPE_NAME_EXPORTED) != 0;
	part->type = gh_rtypes_at(types, gh_rtypes_at_offset(types, module, gh_cursor_u32(cur)));
	return true;
}

bool gh_rtype_part(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		   struct gh_rtype_part *part)
{
	*part = (struct gh_rtype_part){
	    .name.start = "", .tag.start = "", .type = GH_NO_RTYPE, .exported = true};
	struct gh_cursor cur;
	if (types->old != NULL)
		return gh_old_rtype_part(types, type, index, part) &&
		       (type->kind != GH_KIND_STRUCT || finish_field(types, type, part));
	if (type->kind == GH_KIND_FUNC)
		cur = gh_rtype_inside(types, type, parameters_offset(types, type));
	else if (!gh_rtypes_bytes(types, part_array(types, type), &cur))
		return false;
	gh_cursor_bytes(&cur, (uint64_t)index * part_size(types, type));
	if (type->kind == GH_KIND_STRUCT)
		return read_field(types, type, &cur, part);
	if (type->kind == GH_KIND_INTERFACE)
		return gh_rtype_read_method(types, type, &cur, part);
	part->type =
	    gh_rtypes_at(types, gh_rtypes_address(types, type->module, gh_rtype_word(types, &cur)));
	return true;
}

struct gh_rtype_text gh_rtype_part_package(const struct gh_rtypes *types,
					   const struct gh_rtype *type, uint32_t index)
{
	if (types->old != NULL)
		return gh_old_rtype_part_package(types, type, index);
	return name_text(types, extra_address(types, type, 0));
}

uint32_t gh_rtype_parameters(const struct gh_rtypes *types, const struct gh_rtype *type,
			     bool *variadic)
{
	uint16_t in;
	uint16_t out;
	if (types->old != NULL)
		return gh_old_rtype_parameters(types, type, variadic);
	read_counts(types, type, &in, &out);
	*variadic = (out & 0x8000) != 0;
	return in < type->nparts ? in : type->nparts;
}
