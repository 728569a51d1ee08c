#include "lib/rtype/internal.h"

/* Reads the itab that MODULE has at its ADDRESS. False if there is none. */
static bool read_itab(const struct gh_rtypes *types, unsigned module, uint64_t address,
		      struct gh_itab *itab)
{
	uint8_t word = types->tab->pointer_size;
	struct gh_cursor cur;
	itab->module = (uint16_t)module;
	itab->address = gh_rtypes_address(types, module, address);
	if (!gh_rtypes_bytes(types, itab->address, &cur))
		return false;
	uint64_t interface = gh_cursor_uint(&cur, word);
	uint64_t type = gh_cursor_uint(&cur, word);
	itab->interface = gh_rtypes_at(types, gh_rtypes_address(types, module, interface));
	itab->type = gh_rtypes_at(types, gh_rtypes_address(types, module, type));
	if (itab->interface == GH_NO_RTYPE || itab->type == GH_NO_RTYPE ||
	    types->items[itab->interface].kind != GH_KIND_INTERFACE)
		return false;
	/* After the hash there is padding, on 32-bit machines before Go 1.23 only; Go 1.7 and 1.8
	 * had a third pointer. */
	unsigned pointers = gh_rtypes_before_1_9(types) ? 3 : 2;
	itab->size = pointers * word + 8 + (uint64_t)types->items[itab->interface].nparts * word;
	return true;
}

/* The next one of walk->module. */
static bool next_of_module(struct gh_itab_walk *walk, const struct gh_rtypes *types,
			   struct gh_itab *itab)
{
	unsigned number = (unsigned)walk->module;
	const struct gh_moduledata *module = &types->modules[number].tab->module;
	const struct gh_image *image = types->modules[number].tab->image;
	uint8_t word = types->tab->pointer_size;
	struct gh_cursor cur;
	while (walk->link < module->nitablinks) {
		if (!gh_image_at(image, module->itablinks, &cur) ||
		    gh_cursor_left(&cur) / word <= walk->link) {
			walk->link = module->nitablinks;
			break;
		}
		gh_cursor_bytes(&cur, walk->link++ * word);
		if (read_itab(types, number, gh_cursor_uint(&cur, word), itab))
			return true;
	}
	while (walk->done < module->itabs_size) {
		bool read = read_itab(types, number, module->itabs + walk->done, itab);
		walk->done += read && word == 8 ? itab->size : word;
		if (read)
			return true;
	}
	return false;
}

bool gh_itabs_next(struct gh_itab_walk *walk, const struct gh_rtypes *types, struct gh_itab *itab)
{
	while (walk->module < types->nmodules) {
		if (next_of_module(walk, types, itab))
			return true;
		*walk = (struct gh_itab_walk){.module = walk->module + 1};
	}
	return false;
}

uint64_t gh_itab_function(const struct gh_rtypes *types, const struct gh_itab *itab, uint32_t index)
{
	uint8_t word = types->tab->pointer_size;
	struct gh_cursor cur;
	uint64_t first = itab->size - (uint64_t)types->items[itab->interface].nparts * word;
	if (word != 8 ||
	    !gh_rtypes_bytes(types, itab->address + first + (uint64_t)index * word, &cur))
		return 0;
	return gh_rtypes_address(types, itab->module, gh_cursor_uint(&cur, word));
}
