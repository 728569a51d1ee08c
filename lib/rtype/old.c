/* Descriptors of Go 1.2 to 1.6: names are the addresses of strings, and what is stored out of line,
 * a type's name and methods too, is pointed to.
 *
 * Formats: src/pkg/runtime/type.h (Go 1.2 and 1.3), src/runtime/type.h (1.4) and
 * src/runtime/type.go (1.5 and 1.6), and reflect/type.go of the same releases. */
#include <stdlib.h>
#include <string.h>

#include "lib/rtype/internal.h"
#include "lib/util/vector.h"

/* Bits of a descriptor's kind. */
enum {
	KIND_MASK = 31,
	KIND_DIRECT = 32, /* from Go 1.4 */
	KIND_GC_PROGRAM = 64,
	KIND_NO_POINTERS = 128,
};

/* How a release lays out the fields that all descriptors have. */
struct gh_old_rtype_form {
	uint8_t gc_words; /* what the collector needs, in words */
	bool pointers;    /* the size of the part with pointers follows the size */
	bool zero;        /* the last word points to a zero value */
	bool direct_bit;  /* the kind says whether an interface holds the value itself */
};

static const struct gh_old_rtype_form forms[] = {
    {.gc_words = 1},                                                     /* Go 1.2 */
    {.gc_words = 1, .zero = true},                                       /* Go 1.3 */
    {.gc_words = 2, .zero = true, .direct_bit = true},                   /* Go 1.4 */
    {.gc_words = 1, .pointers = true, .zero = true, .direct_bit = true}, /* Go 1.5 */
    {.gc_words = 1, .pointers = true, .direct_bit = true},               /* Go 1.6 */
};

int gh_old_rtypes_release(const struct gh_rtypes *types)
{
	return (int)(types->old - forms) + 2;
}

unsigned gh_old_rtype_base_size(const struct gh_rtypes *types)
{
	/* The size, the algorithms, the string, the uncommon record, and the pointer's type. */
	unsigned words = 5U + types->old->gc_words + types->old->pointers + types->old->zero;
	return words * types->tab->pointer_size + 8;
}

/* Reads the string whose header is at ADDRESS. False if there is none. */
static bool read_string(const struct gh_rtypes *types, uint64_t address, struct gh_rtype_text *text)
{
	struct gh_cursor cur;
	struct gh_cursor bytes = {0};
	*text = (struct gh_rtype_text){.start = ""};
	if (address == 0 || !gh_image_at(types->tab->image, address, &cur))
		return false;
	uint64_t start = gh_rtype_word(types, &cur);
	uint64_t length = gh_rtype_word(types, &cur);
	if (cur.failed || length > GH_RTYPE_MAX_TEXT)
		return false;
	if (length == 0)
		return true;
	if (!gh_image_at(types->tab->image, start, &bytes) || gh_cursor_left(&bytes) < length)
		return false;
	text->start = (const char *)gh_cursor_bytes(&bytes, length);
	text->length = (uint32_t)length;
	return true;
}

/* Reads the name and the import path that an uncommon record begins with. False if it is none; the
 * type may have no name, only methods. */
static bool read_uncommon(const struct gh_rtypes *types, uint64_t address,
			  struct gh_rtype_text *name, struct gh_rtype_text *package)
{
	struct gh_cursor cur;
	*name = *package = (struct gh_rtype_text){.start = ""};
	if (!gh_image_at(types->tab->image, address, &cur))
		return false;
	uint64_t name_address = gh_rtype_word(types, &cur);
	uint64_t package_address = gh_rtype_word(types, &cur);
	gh_rtype_word(types, &cur); /* the methods */
	uint64_t count = gh_rtype_word(types, &cur);
	uint64_t room = gh_rtype_word(types, &cur);
	if (cur.failed || count > room)
		return false;
	return (name_address == 0 || read_string(types, name_address, name)) &&
	       (package_address == 0 || read_string(types, package_address, package));
}

/* The kinds of which every value has a pointer, and those of which none has. */
static bool kind_fits_pointers(unsigned kind, bool pointers)
{
	switch (kind) {
	case GH_KIND_CHAN:
	case GH_KIND_FUNC:
	case GH_KIND_INTERFACE:
	case GH_KIND_MAP:
	case GH_KIND_POINTER:
	case GH_KIND_SLICE:
	case GH_KIND_STRING:
	case GH_KIND_UNSAFE_POINTER:
		return pointers;
	case GH_KIND_ARRAY:
	case GH_KIND_STRUCT:
		return true;
	default:
		return !pointers;
	}
}

/* A name is the end of its type's string. */
static bool ends_with(const struct gh_rtype_text *text, const struct gh_rtype_text *end)
{
	return end->length <= text->length &&
	       memcmp(text->start + text->length - end->length, end->start, end->length) == 0;
}

/* A descriptor, as it is read. */
struct descriptor {
	uint64_t size;
	uint64_t pointers; /* of the part with pointers; 0 where that is not said */
	uint8_t align;
	uint8_t field_align;
	uint8_t kind; /* with its flags */
	uint64_t algorithms;
	uint64_t text;
	uint64_t uncommon;
	uint64_t pointer; /* the type that points to it */
};

static void read_descriptor(const struct gh_rtypes *types, struct gh_cursor *cur,
			    struct descriptor *found)
{
	const struct gh_old_rtype_form *form = types->old;
	*found = (struct descriptor){.size = gh_rtype_word(types, cur)};
	if (form->pointers)
		found->pointers = gh_rtype_word(types, cur);
	gh_cursor_u32(cur); /* hash */
	gh_cursor_u8(cur);  /* unused */
	found->align = gh_cursor_u8(cur);
	found->field_align = gh_cursor_u8(cur);
	found->kind = gh_cursor_u8(cur);
	/* To Go 1.4 the compiler did not align the structs that maps are kept in, nor their arrays.
	 */
	unsigned kind = found->kind & KIND_MASK;
	if (found->align == 0 && found->field_align == 0 &&
	    (kind == GH_KIND_STRUCT || kind == GH_KIND_ARRAY))
		found->align = found->field_align = 1;
	found->algorithms = gh_rtype_word(types, cur);
	gh_cursor_bytes(cur, form->gc_words * types->tab->pointer_size);
	found->text = gh_rtype_word(types, cur);
	found->uncommon = gh_rtype_word(types, cur);
	found->pointer = gh_rtype_word(types, cur);
}

/* ADDRESS is that of something in the program, which need not be in its file: Go 1.4 makes the
 * algorithms as it starts. */
static bool is_address(const struct gh_rtypes *types, uint64_t address)
{
	const struct gh_image *image = types->tab->image;
	for (size_t i = 0; i < image->nloads; i++)
		if (address - image->loads[i]->p_vaddr < image->loads[i]->p_memsz)
			return true;
	return false;
}

/* The numbers in FOUND are those of a type. */
static bool plausible(const struct gh_rtypes *types, const struct descriptor *found)
{
	const struct gh_old_rtype_form *form = types->old;
	unsigned kind = found->kind & KIND_MASK;
	bool pointers = (found->kind & KIND_NO_POINTERS) == 0;
	if (!gh_rtype_numbers_fit(types, kind, found->size, found->align, found->field_align) ||
	    !kind_fits_pointers(kind, pointers) ||
	    (!form->direct_bit && (found->kind & (KIND_DIRECT | KIND_GC_PROGRAM)) != 0))
		return false;
	if (form->pointers &&
	    (found->pointers > found->size || found->pointers % types->tab->pointer_size != 0 ||
	     (found->pointers > 0) != pointers))
		return false;
	return is_address(types, found->algorithms) &&
	       (found->pointer == 0 || is_address(types, found->pointer));
}

static bool read_type(const struct gh_rtypes *types, struct gh_cursor cur, uint64_t address,
		      struct gh_rtype *type, uint64_t *text_left)
{
	struct descriptor found;
	struct gh_rtype_text text;
	struct gh_rtype_text name = {.start = ""};
	struct gh_rtype_text package;
	read_descriptor(types, &cur, &found);
	if (cur.failed || !plausible(types, &found) || !read_string(types, found.text, &text) ||
	    text.length > *text_left)
		return false;
	if (found.uncommon != 0 &&
	    (!read_uncommon(types, found.uncommon, &name, &package) || !ends_with(&text, &name)))
		return false;
	*text_left -= text.length;
	bool pointers = (found.kind & KIND_NO_POINTERS) == 0;
	*type = (struct gh_rtype){.address = address,
				  .size = found.size,
				  .pointers = types->old->pointers ? found.pointers
					      : pointers           ? found.size
								   : 0,
				  .text = text,
				  .kind = found.kind & KIND_MASK,
				  .align = found.align,
				  .named = name.length > 0,
				  .uncommon = found.uncommon != 0,
				  .direct = types->old->direct_bit
						? (found.kind & KIND_DIRECT) != 0
						: found.size <= types->tab->pointer_size};
	return gh_rtype_text_fits(type);
}

/* Reads every type in the segment that CUR starts at, which lies at ADDRESS, in the form of
 * TYPES->old. False if memory ran out. */
static bool scan(struct gh_rtypes *types, struct gh_cursor cur, uint64_t address)
{
	struct GH_VECTOR(struct gh_rtype) found = {0};
	uint64_t text_left = types->tab->image->size;
	unsigned word = types->tab->pointer_size;
	unsigned base = gh_old_rtype_base_size(types);
	uint64_t skew = address % word;
	gh_cursor_bytes(&cur, skew == 0 ? 0 : word - skew);
	while (gh_cursor_left(&cur) >= base && types->count < GH_NO_RTYPE) {
		struct gh_rtype type;
		bool is_type = read_type(types, cur, address + (uint64_t)(cur.pos - cur.start),
					 &type, &text_left);
		if (is_type) {
			gh_vector_push(&found, type);
			types->count++;
		}
		gh_cursor_bytes(&cur, is_type ? base : word);
	}
	types->items = found.items;
	if (found.failed)
		gh_rtypes_free_items(types);
	return !found.failed;
}

/* The segment of TAB, which is that of the types, too, and its bytes. NULL if there is none. */
static const GElf_Phdr *find_segment(const struct gh_pclntab *tab, struct gh_cursor *cur)
{
	for (size_t i = 0; i < tab->image->nloads; i++) {
		const GElf_Phdr *segment = tab->image->loads[i];
		if (tab->address - segment->p_vaddr < segment->p_filesz &&
		    gh_image_at(tab->image, segment->p_vaddr, cur))
			return segment;
	}
	return NULL;
}

/* How many types lead to another: none in the wrong form, where that word is another's. */
static uint32_t count_linked(const struct gh_rtypes *types)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < types->count; i++)
		count += gh_rtype_elem(types, &types->items[i]) != GH_NO_RTYPE;
	return count;
}

bool gh_old_rtypes_scan(struct gh_rtypes *types)
{
	struct gh_cursor cur;
	const GElf_Phdr *segment = find_segment(types->tab, &cur);
	uint32_t most = 0;
	bool whole = true;
	if (segment == NULL)
		return true;
	types->start = segment->p_vaddr;
	for (size_t i = 0; whole && i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct gh_rtypes other = *types;
		other.old = &forms[i];
		other.count = 0;
		other.items = NULL;
		whole = scan(&other, cur, segment->p_vaddr);
		uint32_t linked = count_linked(&other);
		struct gh_rtypes worse = other;
		if (linked > most) {
			worse = *types;
			*types = other;
			most = linked;
		}
		gh_rtypes_free_items(&worse);
	}
	return whole;
}

struct gh_rtype_text gh_old_rtype_package(const struct gh_rtypes *types,
					  const struct gh_rtype *type)
{
	struct gh_rtype_text name;
	struct gh_rtype_text package;
	/* The uncommon record is pointed to by the last word but one, or before the zero value. */
	unsigned words_after = types->old->zero ? 3 : 2;
	unsigned offset = gh_old_rtype_base_size(types) - words_after * types->tab->pointer_size;
	struct gh_cursor cur = gh_rtype_inside(types, type, offset);
	if (!type->uncommon || !read_uncommon(types, gh_rtype_word(types, &cur), &name, &package))
		return (struct gh_rtype_text){.start = ""};
	return package;
}

uint64_t gh_old_rtype_descriptor_size(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	static const uint8_t words[GH_KINDS] = {
	    [GH_KIND_ARRAY] = 3,     [GH_KIND_CHAN] = 2,  [GH_KIND_FUNC] = 7,
	    [GH_KIND_INTERFACE] = 3, [GH_KIND_MAP] = 4,   [GH_KIND_POINTER] = 1,
	    [GH_KIND_SLICE] = 1,     [GH_KIND_STRUCT] = 3};
	/* From Go 1.4 a map's ends with the sizes of what it holds. */
	unsigned sizes = type->kind == GH_KIND_MAP && types->old->direct_bit ? 8 : 0;
	return gh_old_rtype_base_size(types) + words[type->kind] * types->tab->pointer_size + sizes;
}

/* Which word of those that follow the common fields starts the slice of TYPE's parts: a function's
 * parameters come after whether the last is a "...", and are followed by its results. */
static unsigned slice_word(const struct gh_rtype *type, bool results)
{
	return type->kind == GH_KIND_FUNC ? (results ? 4 : 1) : 0;
}

static unsigned part_size(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	unsigned words = type->kind == GH_KIND_STRUCT ? 5 : type->kind == GH_KIND_INTERFACE ? 3 : 1;
	return words * types->tab->pointer_size;
}

/* Sets PARTS to the bytes of TYPE's parts, or of its results. Gives how many there are, if the file
 * has so many. False if not. */
static bool find_slice(const struct gh_rtypes *types, const struct gh_rtype *type, bool results,
		       struct gh_cursor *parts, uint64_t *count)
{
	unsigned word = slice_word(type, results);
	*count = gh_rtype_extra_word(types, type, word + 1);
	if (*count == 0)
		return true;
	return gh_image_at(types->tab->image, gh_rtype_extra_word(types, type, word), parts) &&
	       *count <= gh_cursor_left(parts) / part_size(types, type);
}

uint64_t gh_old_rtype_count_parts(const struct gh_rtypes *types, const struct gh_rtype *type)
{
	struct gh_cursor parts;
	uint64_t count;
	uint64_t results = 0;
	if (type->kind != GH_KIND_STRUCT && type->kind != GH_KIND_INTERFACE &&
	    type->kind != GH_KIND_FUNC)
		return 0;
	if (!find_slice(types, type, false, &parts, &count) ||
	    (type->kind == GH_KIND_FUNC && !find_slice(types, type, true, &parts, &results)))
		return 0;
	return count + results;
}

uint32_t gh_old_rtype_parameters(const struct gh_rtypes *types, const struct gh_rtype *type,
				 bool *variadic)
{
	struct gh_cursor cur = gh_rtype_inside(types, type, gh_old_rtype_base_size(types));
	uint64_t count = gh_rtype_extra_word(types, type, slice_word(type, false) + 1);
	*variadic = gh_cursor_u8(&cur) != 0;
	return count < type->nparts ? (uint32_t)count : type->nparts;
}

/* Reads the import path at ADDRESS into PACKAGE: only what is not exported has one. */
static void read_part_package(const struct gh_rtypes *types, uint64_t address,
			      struct gh_rtype_part *part, struct gh_rtype_text *package)
{
	part->exported = address == 0;
	read_string(types, address, package);
}

/* Reads part INDEX, and the import path that it is of. */
static bool read_part(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		      struct gh_rtype_part *part, struct gh_rtype_text *package)
{
	struct gh_cursor cur = {0};
	uint64_t count;
	*part = (struct gh_rtype_part){
	    .name.start = "", .tag.start = "", .type = GH_NO_RTYPE, .exported = true};
	*package = (struct gh_rtype_text){.start = ""};
	if (!find_slice(types, type, false, &cur, &count))
		return false;
	if (index >= count) {
		index -= (uint32_t)count;
		if (type->kind != GH_KIND_FUNC || !find_slice(types, type, true, &cur, &count) ||
		    index >= count)
			return false;
	}
	gh_cursor_bytes(&cur, (uint64_t)index * part_size(types, type));
	if (type->kind == GH_KIND_FUNC) {
		part->type = gh_rtypes_at(types, gh_rtype_word(types, &cur));
		return true;
	}
	uint64_t name = gh_rtype_word(types, &cur);
	bool read = name == 0 || read_string(types, name, &part->name);
	read_part_package(types, gh_rtype_word(types, &cur), part, package);
	part->type = gh_rtypes_at(types, gh_rtype_word(types, &cur));
	if (type->kind == GH_KIND_INTERFACE)
		return read && name != 0;
	part->embedded = name == 0;
	read_string(types, gh_rtype_word(types, &cur), &part->tag);
	part->offset = gh_rtype_word(types, &cur);
	return read;
}

bool gh_old_rtype_part(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		       struct gh_rtype_part *part)
{
	struct gh_rtype_text package;
	return read_part(types, type, index, part, &package);
}

struct gh_rtype_text gh_old_rtype_part_package(const struct gh_rtypes *types,
					       const struct gh_rtype *type, uint32_t index)
{
	struct gh_rtype_part part;
	struct gh_rtype_text package;
	read_part(types, type, index, &part, &package);
	return package;
}
