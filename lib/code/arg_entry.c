#include "lib/code/internal.h"

#include "lib/pclntab/pclntab.h"

/* A function that never asks for a larger stack has no code that tells which registers its
 * arguments are in. The calling convention does (src/cmd/compile/abi-internal.md): each word that
 * is no floating-point number is in the next register for integers, unless it is of an array, which
 * is in memory. Which words are what is known in part only. */

/* As many bytes of a function's code are looked at: a crafted table could have it in many. */
#define MAX_CODE 256

/* Whether the list of FUNC has all words. */
static bool is_whole(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_arg_walk walk;
	if (!gh_arg_walk_start(&walk, tab, func))
		return false;
	for (;;) {
		switch (gh_arg_walk_next(&walk)) {
		case GH_ARG_LIST_END:
			return true;
		case GH_ARG_FAR_WORD:
		case GH_ARG_DOTS:
			return false;
		default:
			break;
		}
	}
}

/* How many of the COUNT words of ARGS are surely in the first registers. */
static size_t count_sure(const struct gh_args *args, unsigned reads)
{
	/* Where the last of as many registers as there are words is read all are. */
	if (args->count > 0 && reads >> (args->count - 1) & 1)
		return args->count;
	size_t sure = 0;
	/* What assembly calls has a wrapper with all of them in memory, under the same name. */
	if (reads == 0)
		return 0;
	while (sure < args->count && args->items[sure].part == GH_ARG_WHOLE &&
	       (args->items[sure].is_pointer || args->items[sure].size < 4))
		sure++;
	return sure;
}

bool gh_entry_args_find(struct gh_spills *spills, const struct gh_args *args,
			const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_cursor code;
	spills->count = 0;
	if (tab->image->arch->isa != GH_ISA_AMD64 || args->count > GH_ENTRY_AMD64_REGISTERS ||
	    !is_whole(tab, func) || !gh_image_at(tab->image, func->entry, &code))
		return false;
	uint64_t size = func->end - func->entry;
	code = gh_cursor_slice(&code, 0, size < MAX_CODE ? size : MAX_CODE);
	if (code.failed)
		return false;
	uint8_t below = gh_arch_below_args(tab->image->arch);
	size_t sure = count_sure(args, gh_entry_amd64_reads(&code));
	for (size_t i = 0; i < sure; i++)
		gh_spill_add(spills, (struct gh_spill){
					 .offset = (uint32_t)args->items[i].offset + below,
					 .size = args->items[i].size,
					 .number = gh_entry_amd64_registers[i],
				     });
	return sure > 0;
}
