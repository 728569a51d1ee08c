#include "lib/rtype/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/bsearch.h"
#include "lib/util/error.h"
#include "lib/util/hash.h"
#include "lib/util/vector.h"

/* Types that do not agree, in the place of one. */
#define CONFLICT (GH_NO_RTYPE - 1)

/* A method by its function's name. */
struct named {
	uint64_t hash;     /* of the name */
	uint32_t receiver; /* its type's number */
};

struct finder {
	const struct gh_rtypes *types;
	struct GH_VECTOR(struct named) names;
	struct GH_VECTOR(struct gh_signature) found;
	uint64_t left; /* methods that may still be read: those of a crafted file's types could be
			  the same */
};

static void add(struct finder *finder, uint64_t entry, uint32_t receiver, uint32_t function)
{
	if (entry != 0 && (receiver != GH_NO_RTYPE || function != GH_NO_RTYPE))
		gh_vector_push(&finder->found, (struct gh_signature){entry, receiver, function});
}

/* Adds the import path PATH to HASH, as objabi.PathToPrefix (src/cmd/internal/objabi/path.go) has
 * it in symbols. */
static uint64_t hash_path(uint64_t hash, struct gh_rtype_text path)
{
	static const char digits[] = "0123456789abcdef";
	const char *slash = memrchr(path.start, '/', path.length);
	for (uint32_t i = 0; i < path.length; i++) {
		uint8_t c = (uint8_t)path.start[i];
		bool in_last = slash == NULL || path.start + i > slash;
		if (c <= ' ' || (c == '.' && in_last) || c == '%' || c == '"' || c >= 0x7f) {
			char escape[3] = {'%', digits[c >> 4], digits[c & 15]};
			hash = gh_hash_bytes(hash, escape, sizeof(escape));
		} else {
			hash = gh_hash_bytes(hash, &c, 1);
		}
	}
	return hash;
}

/* Sets HASH to that of what the names of TYPE's methods begin with: "net/http.(*Server)." False if
 * it has no such names: it is not declared, or generic, so that its functions are called as those
 * of other types. */
static bool hash_receiver(const struct gh_rtypes *types, const struct gh_rtype *type,
			  uint64_t *hash)
{
	bool pointer = type->kind == GH_KIND_POINTER && !type->named;
	if (pointer) {
		uint32_t elem = gh_rtype_elem(types, type);
		if (elem == GH_NO_RTYPE)
			return false;
		type = &types->items[elem];
	}
	struct gh_rtype_text path = gh_rtype_package(types, type);
	struct gh_rtype_text text = type->text;
	const char *dot = memchr(text.start, '.', text.length);
	if (path.length == 0 || dot == NULL || memchr(text.start, '[', text.length) != NULL)
		return false;
	*hash = hash_path(GH_HASH_START, path);
	*hash = gh_hash_bytes(*hash, pointer ? ".(*" : ".", pointer ? 3 : 1);
	*hash = gh_hash_bytes(*hash, dot + 1, (size_t)(text.start + text.length - dot - 1));
	*hash = gh_hash_bytes(*hash, ").", pointer ? 2 : 0);
	*hash = gh_hash_bytes(*hash, ".", pointer ? 0 : 1);
	return true;
}

static void read_methods(struct finder *finder, uint32_t number)
{
	const struct gh_rtypes *types = finder->types;
	const struct gh_rtype *type = &types->items[number];
	uint32_t count = gh_rtype_methods(types, type);
	uint64_t start = 0;
	if (count == 0 || count > finder->left)
		return;
	finder->left -= count;
	bool has_names = hash_receiver(types, type, &start);
	for (uint32_t i = 0; i < count; i++) {
		struct gh_rtype_method method;
		if (!gh_rtype_method(types, type, i, &method))
			continue;
		add(finder, method.of_value, number, method.type);
		add(finder, method.of_word, GH_NO_RTYPE, method.type);
		uint64_t hash = gh_hash_bytes(start, method.name.start, method.name.length);
		if (has_names)
			gh_vector_push(&finder->names, (struct named){hash, number});
	}
}

static void read_itabs(struct finder *finder)
{
	const struct gh_rtypes *types = finder->types;
	struct gh_itab_walk walk = {0};
	struct gh_itab itab;
	while (gh_itabs_next(&walk, types, &itab)) {
		const struct gh_rtype *interface = &types->items[itab.interface];
		if (interface->nparts > finder->left)
			return;
		finder->left -= interface->nparts;
		for (uint32_t i = 0; i < interface->nparts; i++) {
			struct gh_rtype_part part;
			if (gh_rtype_part(types, interface, i, &part))
				add(finder, gh_itab_function(types, &itab, i), GH_NO_RTYPE,
				    part.type);
		}
	}
}

static int compare_names(const void *a, const void *b)
{
	const struct named *first = a;
	const struct named *second = b;
	return (first->hash > second->hash) - (first->hash < second->hash);
}

static int compare_entries(const void *a, const void *b)
{
	const struct gh_signature *first = a;
	const struct gh_signature *second = b;
	return (first->entry > second->entry) - (first->entry < second->entry);
}

/* Of the functions that have a method's name, adds the receivers. */
static void read_functions(struct finder *finder)
{
	const struct gh_pclntab *tab = finder->types->tab;
	const struct named *names = finder->names.items;
	size_t count = finder->names.count;
	if (count == 0)
		return;
	qsort(finder->names.items, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		const char *name = gh_pclntab_name(tab, func.name);
		uint64_t hash = gh_hash_bytes(GH_HASH_START, name, strlen(name));
		size_t at = gh_lower_bound(count, n, names[n].hash < hash);
		for (; at < count && names[at].hash == hash; at++)
			add(finder, func.entry, names[at].receiver, GH_NO_RTYPE);
	}
}

static void agree(uint32_t *type, uint32_t other)
{
	if (*type == GH_NO_RTYPE)
		*type = other;
	else if (other != GH_NO_RTYPE && other != *type)
		*type = CONFLICT;
}

/* Makes one of all that are of one method. */
static void merge(struct gh_signatures *signatures)
{
	size_t count = 0;
	for (size_t i = 0; i < signatures->count; i++) {
		struct gh_signature next = signatures->items[i];
		if (count == 0 || signatures->items[count - 1].entry != next.entry) {
			signatures->items[count++] = next;
			continue;
		}
		agree(&signatures->items[count - 1].receiver, next.receiver);
		agree(&signatures->items[count - 1].function, next.function);
	}
	signatures->count = count;
	for (size_t i = 0; i < count; i++) {
		struct gh_signature *signature = &signatures->items[i];
		if (signature->receiver == CONFLICT)
			signature->receiver = GH_NO_RTYPE;
		if (signature->function == CONFLICT)
			signature->function = GH_NO_RTYPE;
	}
}

bool gh_signatures_find(struct gh_signatures *signatures, const struct gh_rtypes *types,
			struct gh_error *err)
{
	struct finder finder = {.types = types, .left = types->tab->image->size / 16};
	for (uint32_t i = 0; i < types->count; i++)
		read_methods(&finder, i);
	read_itabs(&finder);
	read_functions(&finder);
	bool whole = !finder.names.failed && !finder.found.failed;
	gh_vector_free(&finder.names);
	*signatures = (struct gh_signatures){finder.found.items, finder.found.count};
	if (signatures->count > 0)
		qsort(signatures->items, signatures->count, sizeof(*signatures->items),
		      compare_entries);
	merge(signatures);
	return whole || gh_fail_memory(err, types->tab->image->path);
}

const struct gh_signature *gh_signature_at(const struct gh_signatures *signatures, uint64_t entry)
{
	const struct gh_signature *items = signatures->items;
	size_t at = gh_lower_bound(signatures->count, i, items[i].entry < entry);
	return at < signatures->count && items[at].entry == entry ? &items[at] : NULL;
}

void gh_signatures_free(struct gh_signatures *signatures)
{
	free(signatures->items);
	*signatures = (struct gh_signatures){0};
}
