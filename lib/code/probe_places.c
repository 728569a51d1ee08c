#include "lib/code/internal.h"

/* A function of TAB's program begins at ADDRESS. */
static bool is_entry(const struct gh_pclntab *tab, uint64_t address)
{
	struct gh_func func;
	size_t index = gh_pclntab_find(tab, address);
	return index != SIZE_MAX && gh_pclntab_record(tab, index, &func, NULL) &&
	       func.entry == address;
}

/* Adds what the instruction at ADDRESS, which is in FUNC, tells. */
static void add(struct gh_probe_places *places, const struct gh_pclntab *tab,
		const struct gh_func *func, const struct gh_flow *flow, uint64_t address)
{
	/* Data between the instructions of arm64 may look like one. The frame is gone at each. */
	if (flow->returns && gh_pcvalue_at(tab, func, func->pcsp, address) == 0)
		gh_vector_push(&places->returns, address);
	places->loops |= flow->target == places->entry;
	places->leaves |= flow->target != 0 &&
			  (flow->target < func->entry || flow->target >= func->end) &&
			  is_entry(tab, flow->target);
}

bool gh_probe_places_find(struct gh_probe_places *places, const struct gh_pclntab *tab,
			  const struct gh_func *func)
{
	const struct gh_arch *arch = tab->image->arch;
	struct gh_cursor code;
	*places = (struct gh_probe_places){.entry = gh_prologue_stop(tab, func)};
	places->depth = gh_pcvalue_at(tab, func, func->pcsp, places->entry) +
			(arch->link_register ? 0 : arch->pointer_size);
	if (!gh_image_at(tab->image, func->entry, &code))
		return true;
	uint64_t address = func->entry;
	while (address < func->end && gh_cursor_left(&code) > 0) {
		struct gh_flow flow;
		gh_flow_read(&flow, arch, code.pos, gh_cursor_left(&code), address);
		if (flow.size == 0)
			break;
		add(places, tab, func, &flow, address);
		gh_cursor_bytes(&code, flow.size);
		address += flow.size;
	}
	places->is_whole = address >= func->end;
	return !places->returns.failed;
}
