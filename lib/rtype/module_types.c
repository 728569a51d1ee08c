#include "lib/rtype/internal.h"

#include <stdlib.h>

#include "lib/util/hash.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

uint64_t gh_rtypes_address(const struct gh_rtypes *types, unsigned module, uint64_t address)
{
	return address != 0 ? address + types->modules[module].bias : 0;
}

bool gh_rtypes_bytes(const struct gh_rtypes *types, uint64_t address, struct gh_cursor *cur)
{
	for (size_t i = 0; i < types->nmodules; i++)
		if (gh_image_at(types->modules[i].tab->image, address - types->modules[i].bias,
				cur))
			return true;
	return false;
}

bool gh_rtypes_open_modules(struct gh_rtypes *types, const struct gh_module *program,
			    const struct gh_module *others, size_t nothers)
{
	struct GH_VECTOR(struct gh_module) modules = {0};
	gh_vector_push(&modules, (struct gh_module){.tab = program->tab});
	for (size_t i = 0; i < nothers; i++) {
		struct gh_module other = others[i];
		other.bias -= program->bias;
		if (other.linked && other.tab->format == program->tab->format &&
		    other.tab->pointer_size == program->tab->pointer_size)
			gh_vector_push(&modules, other);
	}
	types->modules = modules.items;
	types->nmodules = modules.count;
	return !modules.failed;
}

static int compare_addresses(const void *a, const void *b)
{
	const struct gh_rtype *first = a;
	const struct gh_rtype *second = b;
	return (first->address > second->address) - (first->address < second->address);
}

void gh_rtypes_sort(struct gh_rtypes *types)
{
	if (types->nmodules > 1 && types->count > 0)
		qsort(types->items, types->count, sizeof(*types->items), compare_addresses);
}

/* What tells type NUMBER from others: a hash of its name, with import paths, and its size. */
static uint64_t key_of(const struct gh_rtypes *types, uint32_t number, struct gh_buffer *name)
{
	const struct gh_rtype *type = &types->items[number];
	name->size = 0;
	gh_rtype_name(name, types, number);
	gh_buffer_uint(name, type->size, 8);
	gh_buffer_u8(name, type->kind);
	return gh_hash_bytes(GH_HASH_START, name->data, name->size);
}

/* Puts into FIRST, by number, that of the first descriptor of the same type: the program's, if it
 * has one. False if memory ran out. */
static bool find_first(const struct gh_rtypes *types, uint32_t *first)
{
	struct gh_numbermap known = {0};
	struct gh_buffer name = {0};
	bool whole = true;
	for (int own = 1; own >= 0; own--) {
		for (uint32_t i = 0; i < types->count && whole; i++) {
			if ((types->items[i].module == 0) != own)
				continue;
			uint64_t key = key_of(types, i, &name);
			uint32_t other = own ? GH_NOT_MAPPED : gh_numbermap_get(&known, key);
			first[i] = other != GH_NOT_MAPPED ? other : i;
			whole = other != GH_NOT_MAPPED ||
				gh_numbermap_get(&known, key) != GH_NOT_MAPPED ||
				gh_numbermap_put(&known, key, i);
		}
	}
	whole = whole && !name.failed;
	gh_buffer_free(&name);
	gh_numbermap_free(&known);
	return whole;
}

/* Takes out of the types those that are not the FIRST, which becomes the numbers that they have
 * then. False if memory ran out. */
static bool take_copies(struct gh_rtypes *types, uint32_t *first)
{
	struct GH_VECTOR(struct gh_rtype_copy) copies = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < types->count; i++)
		if (first[i] != i)
			gh_vector_push(&copies,
				       (struct gh_rtype_copy){types->items[i].address, first[i]});
	for (uint32_t i = 0; i < types->count; i++) {
		if (first[i] != i)
			continue;
		types->items[count] = types->items[i];
		first[i] = count++;
	}
	for (size_t i = 0; i < copies.count; i++)
		copies.items[i].type = first[copies.items[i].type];
	types->count = count;
	types->copies = copies.items;
	types->ncopies = copies.count;
	return !copies.failed;
}

bool gh_rtypes_merge(struct gh_rtypes *types)
{
	if (types->nmodules < 2 || types->count == 0)
		return true;
	uint32_t *first = malloc(types->count * sizeof(*first));
	bool merged = first != NULL && find_first(types, first) && take_copies(types, first);
	free(first);
	return merged;
}
