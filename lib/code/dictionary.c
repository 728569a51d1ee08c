/* The dictionaries that the compiler makes for generic functions: a call passes that of its type
 * arguments, with the descriptors of types that are made of them among its words. The first one of
 * a kind is the dictionary's own if each dictionary for that function has one: they lie one after
 * the other, and no word tells where one ends.
 *
 * Source: writer.objDict and reader.objDictIdx in src/cmd/compile/internal/noder. */
#include <string.h>

#include "lib/code/internal.h"

/* Words that are looked at; those of internal/sync.HashTrieMap take 144. */
#define MOST_WORDS 512

uint32_t gh_dictionary_type(const struct gh_rtypes *types, uint64_t address, const char *start)
{
	struct gh_cursor words;
	size_t length = strlen(start);
	if (!gh_image_at(types->tab->image, address, &words))
		return GH_NO_RTYPE;
	for (size_t i = 0; i < MOST_WORDS && !words.failed; i++) {
		uint64_t word = gh_cursor_uint(&words, types->tab->pointer_size);
		uint32_t type = word != 0 ? gh_rtypes_at(types, word) : GH_NO_RTYPE;
		if (type == GH_NO_RTYPE)
			continue;
		struct gh_rtype_text text = types->items[type].text;
		if (text.length >= length && memcmp(text.start, start, length) == 0)
			return type;
	}
	return GH_NO_RTYPE;
}
