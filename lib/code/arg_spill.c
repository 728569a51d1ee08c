#include "lib/code/internal.h"

void gh_spill_add(struct gh_spills *spills, struct gh_spill spill)
{
	if (spills->count < GH_MAX_SPILLS)
		spills->items[spills->count++] = spill;
}

bool gh_spill_is_morestack(const struct gh_pclntab *tab, uint64_t address)
{
	size_t number = gh_pclntab_find(tab, address);
	struct gh_func callee;
	struct gh_error err;
	if (number == SIZE_MAX || !gh_pclntab_record(tab, number, &callee, &err))
		return false;
	const char *name = gh_pclntab_name(tab, callee.name);
	return gh_stack_is_named(name, "runtime.morestack_noctxt") ||
	       gh_stack_is_named(name, "runtime.morestack");
}

void gh_spills_find(struct gh_spills *spills, const struct gh_pclntab *tab,
		    const struct gh_func *func)
{
	struct gh_cursor code;
	spills->count = 0;
	if (!gh_image_at(tab->image, func->entry, &code))
		return;
	code = gh_cursor_slice(&code, 0, func->end - func->entry);
	if (code.failed)
		return;
	bool found = tab->image->arch->isa == GH_ISA_AMD64
			 ? gh_spill_amd64(spills, &code, tab, func->entry)
			 : gh_spill_others(spills, &code, tab, func->entry);
	if (!found)
		spills->count = 0;
}
