#include "lib/code/internal.h"

/* Adds what the instruction at ADDRESS, which is in FUNC, tells. */
static void add(struct gh_probe_places *places, const struct gh_pclntab *tab,
		const struct gh_func *func, const struct gh_flow *flow, uint64_t address)
{
	struct gh_func other;
	/* Data between the instructions of arm64 may look like one. The frame is gone at each. */
	if (flow->returns && gh_pcvalue_at(tab, func, func->pcsp, address) == 0)
		gh_vector_push(&places->returns, address);
	places->loops |= flow->target == places->entry;
	places->leaves |= flow->target != 0 &&
			  (flow->target < func->entry || flow->target >= func->end) &&
			  gh_pclntab_at(tab, flow->target, &other);
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
