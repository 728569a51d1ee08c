/* What pointers of the standard library's lead to that their types do not tell. */
#include <string.h>

#include "lib/rtype/rtype.h"
#include "lib/typing/internal.h"

/* The number of the type of PACKAGE that is called FIRST and LAST, one after the other;
 * GH_NO_LAYOUT if there is none. */
static uint32_t find_instance(const struct gh_layouts *layouts, struct gh_rtype_text package,
			      const char *first, struct gh_rtype_text last)
{
	const struct gh_rtypes *types = layouts->types;
	size_t length = strlen(first);
	for (uint32_t i = 0; i < types->count; i++) {
		struct gh_rtype_text text = types->items[i].text;
		struct gh_rtype_text path = gh_rtype_package(types, &types->items[i]);
		if (types->items[i].kind == GH_KIND_STRUCT && text.length == length + last.length &&
		    memcmp(text.start, first, length) == 0 &&
		    memcmp(text.start + length, last.start, last.length) == 0 &&
		    path.length == package.length &&
		    memcmp(path.start, package.start, path.length) == 0)
			return i;
	}
	return GH_NO_LAYOUT;
}

/* A node of a HashTrieMap is an entry, or a node that leads to others, as its one field says
 * (src/internal/sync/hashtriemap.go). Pointer NUMBER to one is told what these are. */
static void find_trie_node(struct gh_layouts *layouts, uint32_t number)
{
	static const char name[] = "sync.node[";
	static const char package[] = "internal/sync";
	struct gh_layout *pointer = gh_layout(layouts, number);
	if (pointer->elem == GH_NO_LAYOUT || pointer->elem >= layouts->types->count)
		return;
	const struct gh_rtype *node = &layouts->types->items[pointer->elem];
	struct gh_rtype_text path = gh_rtype_package(layouts->types, node);
	if (!gh_rtype_text_starts(node->text, name) || !gh_rtype_text_is(path, package))
		return;
	struct gh_rtype_text arguments = {node->text.start + sizeof(name) - 2,
					  node->text.length + 2 - (uint32_t)sizeof(name)};
	uint32_t entry = find_instance(layouts, path, "sync.entry", arguments);
	uint32_t indirect = find_instance(layouts, path, "sync.indirect", arguments);
	if (entry == GH_NO_LAYOUT || indirect == GH_NO_LAYOUT)
		return;
	pointer->kind = GH_LAYOUT_TRIE_NODE;
	pointer->elem = entry;
	pointer->group = indirect;
}

/* A timer, or a ticker, is the beginning of what package runtime makes for it, from Go 1.23 on
 * (newTimer in src/runtime/time.go). Pointers to PUBLIC are told so. */
static void find_timer(struct gh_layouts *layouts, const char *public)
{
	static const char *const none[2] = {"", ""};
	uint32_t whole = gh_layouts_find(layouts, "runtime", "runtime.timeTimer");
	uint32_t part = gh_layouts_find(layouts, "time", public);
	if (whole == GH_NO_LAYOUT || part == GH_NO_LAYOUT)
		return;
	uint32_t made = gh_layouts_copy_struct(layouts, whole, "", part, none, GH_NO_LAYOUT);
	for (uint32_t i = 0; made != GH_NO_LAYOUT && i < layouts->types->count; i++) {
		struct gh_layout *layout = gh_layout(layouts, i);
		if (layout->kind == GH_LAYOUT_POINTER && layout->elem == part)
			layout->elem = made;
	}
}

/* The fields of struct NUMBER whose type says nothing are pointers of KIND. */
static void set_word(struct gh_layouts *layouts, uint32_t number, enum gh_layout_kind kind)
{
	struct gh_layout word = {.size = layouts->word,
				 .kind = (uint8_t)kind,
				 .elem = GH_NO_LAYOUT,
				 .group = GH_NO_LAYOUT,
				 .refines = GH_NO_LAYOUT,
				 .has_pointers = true};
	if (number == GH_NO_LAYOUT)
		return;
	uint32_t added = gh_layouts_add_named(layouts, word, "unsafe.Pointer", NULL, 0);
	gh_layout(layouts, number)->elem = added;
}

/* What a sync.Pool has is behind pointers that do not say so: an array, with one for each
 * processor, and words that are interfaces' (src/sync/pool.go, poolqueue.go). */
static void find_pool(struct gh_layouts *layouts)
{
	uint32_t pool = gh_layouts_find(layouts, "sync", "sync.Pool");
	uint32_t local = gh_layouts_find(layouts, "sync", "sync.poolLocal");
	set_word(layouts, gh_layouts_find(layouts, "sync", "sync.eface"), GH_LAYOUT_DATA_WORD);
	if (pool == GH_NO_LAYOUT || local == GH_NO_LAYOUT)
		return;
	uint32_t added = gh_layouts_add_pointer(layouts, GH_LAYOUT_ELEMENTS, local, GH_NO_LAYOUT);
	gh_layout(layouts, pool)->elem = added;
}

void gh_layouts_add_library(struct gh_layouts *layouts)
{
	find_pool(layouts);
	/* Before, the flag of a reflect.Value was another. */
	if (gh_rtypes_release(layouts->types) >= 6)
		set_word(layouts, gh_layouts_find(layouts, "reflect", "reflect.Value"),
			 GH_LAYOUT_REFLECTED);
	for (uint32_t i = 0; i < layouts->types->count; i++)
		if (gh_layout(layouts, i)->kind == GH_LAYOUT_POINTER)
			find_trie_node(layouts, i);
	find_timer(layouts, "time.Timer");
	find_timer(layouts, "time.Ticker");
}
