#include "lib/code/internal.h"

static const struct gh_spill *find_spill(const struct gh_spills *spills, const struct gh_arg *arg,
					 uint8_t base)
{
	for (size_t i = 0; i < spills->count; i++) {
		const struct gh_spill *spill = &spills->items[i];
		if (spill->offset == (uint32_t)arg->offset + base && spill->size == arg->size)
			return spill;
	}
	return NULL;
}

/* Where they are saved is after all that is passed in memory. */
static uint32_t first_spill(const struct gh_spills *spills)
{
	uint32_t first = UINT32_MAX;
	for (size_t i = 0; i < spills->count; i++)
		if (spills->items[i].offset < first)
			first = spills->items[i].offset;
	return first;
}

/* If ALL_TOLD, what is in no register is in memory. */
static struct gh_arg_place find_place(const struct gh_spills *spills, const struct gh_arg *arg,
				      const struct gh_arch *arch, bool all_told)
{
	struct gh_arg_place place = {.arg = *arg};
	uint8_t base = gh_arch_below_args(arch);
	const struct gh_spill *spill = find_spill(spills, arg, base);
	if (spill != NULL) {
		place.where = GH_ARG_IN_REGISTER;
		place.number = spill->number;
		place.is_float = spill->is_float;
	} else if (all_told && (uint32_t)arg->offset + base < first_spill(spills)) {
		place.where = GH_ARG_IN_MEMORY;
		place.offset = (uint16_t)(arg->offset + arch->min_frame);
	}
	return place;
}

bool gh_arg_places_told(const struct gh_pclntab *tab)
{
	return tab->format >= GH_PCLNTAB_1_18;
}

void gh_arg_places_find(struct gh_arg_places *places, const struct gh_pclntab *tab,
			const struct gh_func *func)
{
	const struct gh_arch *arch = tab->image->arch;
	struct gh_args args;
	struct gh_spills spills = {.count = 0};
	places->count = 0;
	places->any = false;
	if (!gh_arg_places_told(tab)) {
		places->end = gh_prologue_end(tab, func);
		return;
	}
	gh_args_read(&args, tab, func);
	if (args.count == 0)
		return;
	if (gh_arch_has_arg_registers(arch))
		gh_spills_find(&spills, tab, func);
	/* All that are passed in registers are saved, or, if the function uses none, none. */
	bool in_go = (func->flag & GH_FUNC_ASM) == 0;
	bool all_told = !gh_arch_has_arg_registers(arch) || spills.count > 0;
	places->any = in_go && (all_told || gh_entry_args_find(&spills, &args, tab, func));
	for (size_t i = 0; i < args.count; i++)
		places->items[places->count++] =
		    places->any ? find_place(&spills, &args.items[i], arch, all_told)
				: (struct gh_arg_place){.arg = args.items[i]};
	places->end = gh_prologue_end(tab, func);
}
