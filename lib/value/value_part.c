#include "lib/value/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Structs that are embedded one in the other are looked into so deep, and so many in all. */
#define MAX_EMBEDDED 4
#define MAX_LOOKED   10000

/* The longest name or index of a part, in bytes. */
#define MAX_NAME 256

/* A value on the way to a part of it. */
struct walk {
	struct gh_values *values;
	const char *left;     /* of the part's text */
	const char *step;     /* what it is at in that */
	uint32_t type;        /* of the value */
	uint64_t where;       /* the value's address */
	bool is_word;         /* that is the value, a pointer, map, channel or function, itself */
	unsigned looked;      /* embedded structs that were looked into */
	struct gh_error *err; /* NULL: what fails is not told */
};

static const struct gh_rtype *type_of(const struct walk *walk)
{
	return &walk->values->types->items[walk->type];
}

/* Fills the walk's ERR. */
#define fail(walk, expected, ...)                                                                  \
	gh_fail((walk)->err, (walk)->step, GH_NO_OFFSET, (expected), __VA_ARGS__)

static bool fail_of_type(const struct walk *walk, const char *expected)
{
	struct gh_rtype_text text = type_of(walk)->text;
	return fail(walk, expected, "%.*s", (int)text.length, text.start);
}

/* Goes to the value of type number TYPE at ADDRESS. */
static bool go(struct walk *walk, uint32_t type, uint64_t address)
{
	walk->type = type;
	walk->where = address;
	walk->is_word = false;
	return type != GH_NO_RTYPE ||
	       fail(walk, "a type that the program describes", "another one");
}

/* Reads the pointer that the value is. */
static bool read_word(const struct walk *walk, uint64_t *word)
{
	*word = walk->where;
	if (!walk->is_word && !gh_value_word(walk->values, walk->where, word))
		return fail(walk, "memory", "none at 0x%" PRIx64, walk->where);
	return *word != 0 || fail(walk, "a value that is not nil", "nil");
}

static bool follow_pointer(struct walk *walk)
{
	uint64_t word;
	return read_word(walk, &word) &&
	       go(walk, gh_rtype_elem(walk->values->types, type_of(walk)), word);
}

static bool follow_interface(struct walk *walk)
{
	uint32_t number;
	uint64_t descriptor;
	uint64_t data;
	if (!gh_value_dynamic(walk->values, type_of(walk), walk->where, &number, &descriptor,
			      &data))
		return fail(walk, "memory", "none at 0x%" PRIx64, walk->where);
	if (descriptor == 0)
		return fail(walk, "a value that is not nil", "nil");
	return go(walk, number, data);
}

/* Follows pointers and interfaces to what they lead to. */
static bool follow(struct walk *walk)
{
	for (unsigned i = 0; i < GH_VALUE_DEPTH_MAX; i++) {
		unsigned kind = type_of(walk)->kind;
		if (kind != GH_KIND_POINTER && kind != GH_KIND_INTERFACE)
			return true;
		if (kind == GH_KIND_POINTER ? !follow_pointer(walk) : !follow_interface(walk))
			return false;
	}
	return fail(walk, "pointers that end", "more than %d", GH_VALUE_DEPTH_MAX);
}

/* Goes to the field NAME of the struct that the value is, or that one embedded in it has. */
static bool find_field(struct walk *walk, const char *name, unsigned depth)
{
	const struct gh_rtypes *types = walk->values->types;
	const struct gh_rtype *type = type_of(walk);
	struct gh_rtype_part part;
	if (gh_value_field(types, type, name, &part))
		return go(walk, part.type, walk->where + part.offset);
	for (uint32_t i = 0; type->kind == GH_KIND_STRUCT && depth > 0 && i < type->nparts; i++) {
		struct walk inner = *walk;
		if (!gh_rtype_part(types, type, i, &part) || !part.embedded ||
		    walk->looked++ > MAX_LOOKED)
			continue;
		inner.err = NULL;
		bool found = go(&inner, part.type, walk->where + part.offset) && follow(&inner) &&
			     find_field(&inner, name, depth - 1);
		walk->looked = inner.looked > walk->looked ? inner.looked : walk->looked;
		if (found)
			return go(walk, inner.type, inner.where);
	}
	return false;
}

static bool fail_of_field(const struct walk *walk)
{
	char expected[512];
	const struct gh_rtype *type = type_of(walk);
	struct gh_rtype_part part;
	if (type->kind != GH_KIND_STRUCT)
		return fail_of_type(walk, "a struct");
	snprintf(expected, sizeof(expected), "a field of %.*s", (int)type->text.length,
		 type->text.start);
	for (uint32_t i = 0; i < type->nparts; i++) {
		size_t length = strlen(expected);
		if (gh_rtype_part(walk->values->types, type, i, &part))
			snprintf(expected + length, sizeof(expected) - length, "%s%.*s",
				 i > 0 ? ", " : ": ", (int)part.name.length, part.name.start);
	}
	return fail(walk, expected, "none of that name");
}

/* Takes LENGTH bytes of the part's text into NAME. */
static bool take(struct walk *walk, size_t length, char name[MAX_NAME])
{
	if (length == 0 || length >= MAX_NAME)
		return fail(walk, "a field, [index] or .(type)", "%s",
			    length == 0 ? "none" : "a longer one");
	memcpy(name, walk->left, length);
	name[length] = '\0';
	walk->left += length;
	return true;
}

static bool enter_field(struct walk *walk)
{
	char name[MAX_NAME];
	if (!take(walk, strcspn(walk->left, ".[( "), name) || !follow(walk))
		return false;
	return find_field(walk, name, MAX_EMBEDDED) || fail_of_field(walk);
}

/* An assertion of the dynamic type; Delve's (data) is any. */
static bool enter_dynamic(struct walk *walk)
{
	char name[MAX_NAME];
	const char *end = strchr(walk->left, ')');
	walk->left++;
	if (end == NULL || !take(walk, (size_t)(end - walk->left), name))
		return end == NULL ? fail(walk, "a )", "the end") : false;
	walk->left++;
	if (type_of(walk)->kind != GH_KIND_INTERFACE)
		return fail_of_type(walk, "an interface");
	if (!follow_interface(walk))
		return false;
	if (strcmp(name, "data") == 0 ||
	    gh_rtypes_named(walk->values->types, name, NULL) == walk->type)
		return true;
	return fail_of_type(walk, "a value of that type");
}

/* The elements of an array, slice or string: their type, where they are, and how many. */
struct elements {
	uint32_t type;
	uint64_t address;
	uint64_t count;
	uint64_t capacity;
};

static bool find_elements(const struct walk *walk, struct elements *found)
{
	struct gh_values *values = walk->values;
	const struct gh_rtype *type = type_of(walk);
	unsigned word = values->process->tab->pointer_size;
	bool is_string = type->kind == GH_KIND_STRING;
	found->type = is_string ? gh_rtypes_named(values->types, "uint8", NULL)
				: gh_rtype_elem(values->types, type);
	if (type->kind == GH_KIND_ARRAY) {
		found->address = walk->where;
		found->count = found->capacity = gh_rtype_length(values->types, type);
	} else if (!gh_value_slice(values, walk->where, &found->address, &found->count) ||
		   !gh_process_constant_uint(values->process,
					     walk->where + (is_string ? 1 : 2) * word, word,
					     &found->capacity)) {
		return fail(walk, "memory", "none at 0x%" PRIx64, walk->where);
	}
	return found->type != GH_NO_RTYPE ||
	       fail(walk, "a type that the program describes", "another one");
}

static bool is_list(const struct gh_rtype *type)
{
	return type->kind == GH_KIND_ARRAY || type->kind == GH_KIND_SLICE ||
	       type->kind == GH_KIND_STRING;
}

static bool read_index(const struct walk *walk, const char *text, uint64_t most, uint64_t *index)
{
	char *end;
	*index = strtoull(text, &end, 0);
	if (*text < '0' || *text > '9' || *end != '\0')
		return fail(walk, "a number as index", "%s", text);
	return *index <= most || fail(walk, "an index that is in it", "%" PRIu64, *index);
}

static bool enter_element(struct walk *walk, const char *text)
{
	struct elements all;
	uint64_t index;
	if (!find_elements(walk, &all) || !read_index(walk, text, UINT64_MAX, &index))
		return false;
	if (index >= all.count)
		return fail(walk, "an index that is in it", "%" PRIu64 ", its length is %" PRIu64,
			    index, all.count);
	return go(walk, all.type, all.address + index * walk->values->types->items[all.type].size);
}

/* The text of the key is TEXT; OUT of the values is used meanwhile. */
static bool is_key(struct walk *walk, uint32_t type, uint64_t address, const char *text)
{
	struct gh_buffer *out = &walk->values->out;
	size_t before = out->size;
	bool json = walk->values->json;
	walk->values->json = false;
	gh_value_add_any(walk->values, type, address, false);
	walk->values->json = json;
	bool same = !out->failed && out->size - before == strlen(text) &&
		    memcmp(out->data + before, text, strlen(text)) == 0;
	if (!out->failed)
		out->size = before;
	return same;
}

static bool enter_entry(struct walk *walk, const char *text)
{
	struct gh_values *values = walk->values;
	const struct gh_rtype *type = type_of(walk);
	struct gh_map_entries entries = {0};
	uint64_t header;
	bool whole = true;
	bool found = false;
	uint32_t key = gh_rtype_key(values->types, type);
	if (!read_word(walk, &header))
		return false;
	if (!gh_value_map_entries(values, type, header, &entries, &whole))
		return fail(walk, "a map whose entries can be read", "another one");
	for (size_t i = 0; !found && i < entries.count; i++) {
		found = is_key(walk, key, entries.items[i].key, text);
		if (found)
			go(walk, gh_rtype_elem(values->types, type), entries.items[i].value);
	}
	size_t count = entries.count;
	gh_vector_free(&entries);
	return found || fail(walk, "a key that is in the map, as goheap print writes it",
			     "%s, which none of the %zu entries%s has", text, count,
			     whole ? "" : " that can be read");
}

/* Appends the elements LOW to HIGH, which is all that there is to be of the part. */
static bool add_range(struct walk *walk, const char *low, const char *high)
{
	struct gh_values *values = walk->values;
	struct elements all;
	uint64_t first = 0;
	uint64_t end;
	if (type_of(walk)->kind == GH_KIND_STRING)
		return fail_of_type(walk, "an array or slice");
	if (!find_elements(walk, &all))
		return false;
	end = all.count;
	if ((*high != '\0' && !read_index(walk, high, all.count, &end)) ||
	    (*low != '\0' && !read_index(walk, low, end, &first)))
		return false;
	if (*walk->left != '\0')
		return fail(walk, "the end", "%s", walk->left);
	const struct gh_rtype *type = &values->types->items[all.type];
	struct gh_value_elem elem = {.number = all.type, .size = type->size};
	if (!values->json) {
		gh_value_add(values, "[]");
		gh_value_add_type(values, type);
		gh_value_add(values, "len: %" PRIu64 ", cap: %" PRIu64 ", ", end - first,
			     all.capacity - first);
	}
	gh_value_add_elements(values, &elem, all.address + first * type->size, end - first, 0,
			      end - first);
	return true;
}

const char *gh_value_index_end(const char *text)
{
	char quote = '\0';
	unsigned depth = 0;
	for (; *text != '\0'; text++) {
		if (quote != '\0') {
			if (*text == '\\' && text[1] != '\0')
				text++;
			else if (*text == quote)
				quote = '\0';
		} else if (*text == '"' || *text == '\'') {
			quote = *text;
		} else if (strchr("([{", *text) != NULL) {
			depth++;
		} else if (strchr(")]}", *text) != NULL && --depth == 0) {
			return text + 1;
		}
	}
	return NULL;
}

/* An index. *IS_RANGE: it is of several elements, which are appended. */
static bool enter_index(struct walk *walk, bool *is_range)
{
	char text[MAX_NAME];
	const char *end = gh_value_index_end(walk->left);
	walk->left++;
	if (end == NULL || !take(walk, (size_t)(end - 1 - walk->left), text))
		return end == NULL ? fail(walk, "a ]", "the end") : false;
	walk->left++;
	if (!follow(walk))
		return false;
	if (type_of(walk)->kind == GH_KIND_MAP)
		return enter_entry(walk, text);
	if (!is_list(type_of(walk)))
		return fail_of_type(walk, "an array, slice, string or map");
	char *colon = strchr(text, ':');
	if (colon == NULL)
		return enter_element(walk, text);
	*colon = '\0';
	*is_range = true;
	return add_range(walk, text, colon + 1);
}

static bool go_on(struct walk *walk, bool *is_range)
{
	walk->step = walk->left;
	if (*walk->left == '[')
		return enter_index(walk, is_range);
	if (strcmp(walk->left, ".*") == 0) {
		walk->left += 2;
		return type_of(walk)->kind == GH_KIND_POINTER ? follow_pointer(walk)
							      : fail_of_type(walk, "a pointer");
	}
	if (*walk->left != '.')
		return fail(walk, "a field, [index] or .(type)", "%s", walk->left);
	walk->left++;
	return *walk->left == '(' ? enter_dynamic(walk) : enter_field(walk);
}

/* Goes to the value of the type called NAME that is at WHERE or, if IS_VALUE, that is WHERE. The
 * program need not describe a pointer's type. */
static bool begin(struct walk *walk, const char *name, uint64_t where, bool is_value)
{
	struct gh_values *values = walk->values;
	uint32_t number = gh_rtypes_named(values->types, name, NULL);
	for (; number == GH_NO_RTYPE && *name == '*'; is_value = false) {
		uint64_t pointer = where;
		if (!is_value && !gh_value_word(values, pointer, &where))
			return fail(walk, "memory", "none at 0x%" PRIx64, pointer);
		number = gh_rtypes_named(values->types, ++name, NULL);
	}
	if (number == GH_NO_RTYPE)
		return gh_rtypes_named(values->types, name, walk->err) != GH_NO_RTYPE;
	walk->type = number;
	walk->where = where;
	walk->is_word = is_value && gh_value_is_pointer(type_of(walk));
	return true;
}

bool gh_value_add_part(struct gh_values *values, const char *name, uint64_t where, bool is_value,
		       struct gh_error *err)
{
	struct walk walk = {
	    .values = values, .left = values->part, .step = values->part, .err = err};
	bool is_range = false;
	bool found = begin(&walk, name, where, is_value);
	while (found && *walk.left != '\0')
		found = go_on(&walk, &is_range);
	if (!found || is_range)
		return found;
	if (walk.is_word)
		gh_value_print_pointer(values, walk.type, walk.where);
	else
		gh_value_add_any(values, walk.type, walk.where, true);
	return true;
}
