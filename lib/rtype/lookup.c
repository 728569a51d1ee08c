#include "lib/rtype/rtype.h"

#include <ctype.h>
#include <string.h>

#include "lib/util/error.h"

/* The longest name that is looked up, in bytes. */
#define MAX_NAME 4096

/* A name without its spaces, and with what its words stand for. */
struct plain_name {
	char text[MAX_NAME];
	size_t length;
};

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void add(struct plain_name *plain, const char *text, size_t length)
{
	if (length > sizeof(plain->text) - plain->length)
		length = sizeof(plain->text) - plain->length;
	memcpy(plain->text + plain->length, text, length);
	plain->length += length;
}

/* Adds the word of LENGTH bytes at TEXT: what it is an alias of. */
static void add_word(struct plain_name *plain, const char *text, size_t length)
{
	static const char *const aliases[][2] = {
	    {"any", "interface{}"}, {"byte", "uint8"}, {"rune", "int32"}};
	bool qualified = plain->length > 0 && plain->text[plain->length - 1] == '.';
	for (size_t i = 0; !qualified && i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (strlen(aliases[i][0]) == length && memcmp(text, aliases[i][0], length) == 0) {
			add(plain, aliases[i][1], strlen(aliases[i][1]));
			return;
		}
	}
	add(plain, text, length);
}

static void make_plain(struct plain_name *plain, const char *text)
{
	plain->length = 0;
	while (*text != '\0') {
		size_t length = 0;
		while (is_letter(text[length]))
			length++;
		if (length > 0)
			add_word(plain, text, length);
		else if (text[length++] != ' ')
			add(plain, text, 1);
		text += length;
	}
}

/* The LENGTH bytes at TEXT are PLAIN but for spaces. */
static bool matches(const struct plain_name *plain, const char *text, size_t length)
{
	size_t found = 0;
	for (size_t i = 0; i < length; i++) {
		if (text[i] == ' ')
			continue;
		if (found == plain->length || plain->text[found++] != text[i])
			return false;
	}
	return found == plain->length;
}

/* The same of type NUMBER's name as the linker spells it, with import paths. */
static bool matches_link_name(const struct plain_name *plain, const struct gh_rtypes *types,
			      uint32_t number)
{
	struct gh_buffer name = {0};
	gh_rtype_name(&name, types, number);
	bool is = !name.failed && matches(plain, (const char *)name.data, name.size);
	gh_buffer_free(&name);
	return is;
}

/* Says of two types of one name which packages they are of. */
static uint32_t fail_ambiguous(const struct gh_rtypes *types, const char *text, uint32_t first,
			       uint32_t second, struct gh_error *err)
{
	struct gh_buffer names[2] = {{0}, {0}};
	gh_rtype_name(&names[0], types, first);
	gh_rtype_name(&names[1], types, second);
	gh_fail(err, text, GH_NO_OFFSET, "the name of one type",
		"that %.*s and %.*s are called so: give one of these", (int)names[0].size,
		(const char *)names[0].data, (int)names[1].size, (const char *)names[1].data);
	gh_buffer_free(&names[0]);
	gh_buffer_free(&names[1]);
	return GH_NO_RTYPE;
}

uint32_t gh_rtypes_named(const struct gh_rtypes *types, const char *name, struct gh_error *err)
{
	struct plain_name plain;
	uint32_t found = GH_NO_RTYPE;
	uint32_t other = GH_NO_RTYPE;
	bool has_path = strchr(name, '/') != NULL;
	make_plain(&plain, name);
	for (uint32_t i = 0; i < types->count; i++) {
		const struct gh_rtype_text *text = &types->items[i].text;
		if (has_path ? !matches_link_name(&plain, types, i)
			     : !matches(&plain, text->start, text->length))
			continue;
		/* A package whose path is its name: "sync", not "internal/sync". */
		if (found == GH_NO_RTYPE || matches_link_name(&plain, types, i)) {
			found = i;
			other = GH_NO_RTYPE;
		} else if (!matches_link_name(&plain, types, found)) {
			other = i;
		}
	}
	if (other != GH_NO_RTYPE)
		return fail_ambiguous(types, name, found, other, err);
	if (found == GH_NO_RTYPE)
		gh_fail(err, types->tab->image->path, GH_NO_OFFSET,
			"a type that the program describes", "none called %s", name);
	return found;
}
