#include "lib/code/internal.h"

static void align(uint64_t *offset, uint64_t to)
{
	if (to > 1)
		*offset = (*offset + to - 1) / to * to;
}

/* The next register holds SIZE bytes at OFFSET of the value. False if there is none left. */
static bool take(struct gh_results *walk, struct gh_result *result, uint64_t offset, uint64_t size,
		 bool is_float)
{
	const struct gh_passing *passing = &walk->types->tab->image->arch->passing;
	unsigned *next = is_float ? &walk->floats : &walk->integers;
	if (*next == (is_float ? passing->floats : passing->integers))
		return false;
	result->parts[result->nparts++] =
	    (struct gh_result_part){offset, (uint8_t)size, is_float, (uint8_t)*next};
	(*next)++;
	return true;
}

static bool take_words(struct gh_results *walk, struct gh_result *result, uint64_t offset,
		       unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (!take(walk, result, offset + 8 * i, 8, false))
			return false;
	return true;
}

static bool assign(struct gh_results *walk, struct gh_result *result, uint32_t number,
		   uint64_t offset);

static bool assign_struct(struct gh_results *walk, struct gh_result *result,
			  const struct gh_rtype *type, uint64_t offset)
{
	size_t before = result->nparts;
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (!gh_rtype_part(walk->types, type, i, &part) || part.type == GH_NO_RTYPE) {
			walk->failed = true;
			return false;
		}
		if (!assign(walk, result, part.type, offset + part.offset))
			return false;
	}
	/* Of a crafted program structs of any size could have nothing in them but each other. */
	return result->nparts > before;
}

/* Puts the value into registers: "Register-assignment" of src/cmd/compile/abi-internal.md. False if
 * it does not fit. */
static bool assign(struct gh_results *walk, struct gh_result *result, uint32_t number,
		   uint64_t offset)
{
	const struct gh_rtype *type = &walk->types->items[number];
	if (type->size == 0)
		return true;
	switch (type->kind) {
	case GH_KIND_STRUCT:
		return assign_struct(walk, result, type, offset);
	case GH_KIND_ARRAY:
		if (gh_rtype_length(walk->types, type) != 1)
			return false;
		number = gh_rtype_elem(walk->types, type);
		walk->failed |= number == GH_NO_RTYPE;
		return number != GH_NO_RTYPE && assign(walk, result, number, offset);
	case GH_KIND_STRING:
	case GH_KIND_INTERFACE:
		return take_words(walk, result, offset, 2);
	case GH_KIND_SLICE:
		return take_words(walk, result, offset, 3);
	case GH_KIND_COMPLEX64:
	case GH_KIND_COMPLEX128:
		return take(walk, result, offset, type->size / 2, true) &&
		       take(walk, result, offset + type->size / 2, type->size / 2, true);
	default:
		return take(walk, result, offset, type->size,
			    type->kind == GH_KIND_FLOAT32 || type->kind == GH_KIND_FLOAT64);
	}
}

/* Finds where a receiver, parameter or result of type NUMBER is. */
static void place(struct gh_results *walk, struct gh_result *result, uint32_t number)
{
	const struct gh_rtype *type = &walk->types->items[number];
	unsigned integers = walk->integers;
	unsigned floats = walk->floats;
	*result = (struct gh_result){.type = number};
	if (walk->in_registers && type->size > 0 && assign(walk, result, number, 0))
		return;
	walk->integers = integers;
	walk->floats = floats;
	align(&walk->stack, type->align);
	result->nparts = 0;
	result->in_memory = true;
	result->offset = walk->stack;
	walk->stack += type->size;
}

bool gh_parameters_begin(struct gh_results *walk, const struct gh_rtypes *types,
			 const struct gh_signature *signature, int minor)
{
	bool variadic;
	const struct gh_arch *arch = types->tab->image->arch;
	*walk = (struct gh_results){.types = types,
				    .in_registers = gh_arch_passes_in_registers(arch, minor)};
	if (minor == GH_GO_UNKNOWN || arch->passing.since == 0 ||
	    signature->receiver == GH_NO_RTYPE || signature->function == GH_NO_RTYPE)
		return false;
	walk->function = &types->items[signature->function];
	if (walk->function->kind != GH_KIND_FUNC)
		return false;
	walk->receiver = signature->receiver;
	walk->parameters = gh_rtype_parameters(types, walk->function, &variadic);
	return true;
}

bool gh_parameters_next(struct gh_results *walk, struct gh_result *result)
{
	struct gh_rtype_part part = {.type = walk->receiver};
	if (walk->receiver != GH_NO_RTYPE) {
		walk->receiver = GH_NO_RTYPE;
	} else if (walk->next >= walk->parameters) {
		return false;
	} else if (!gh_rtype_part(walk->types, walk->function, walk->next++, &part) ||
		   part.type == GH_NO_RTYPE) {
		walk->failed = true;
		return false;
	}
	place(walk, result, part.type);
	return !walk->failed;
}

uint8_t gh_result_register(const struct gh_arch *arch, const struct gh_result_part *part)
{
	const struct gh_passing *passing = &arch->passing;
	return part->is_float ? (uint8_t)(passing->first_float + part->number)
			      : passing->dwarf[part->number];
}

/* The word of an argument at PLACE, that is OFFSET into the value, is where PASSED has it. */
static bool agrees(const struct gh_arch *arch, const struct gh_arg_place *place, uint64_t offset,
		   const struct gh_result *passed)
{
	if (place->where == GH_ARG_UNKNOWN)
		return true;
	if (passed->in_memory)
		return place->where == GH_ARG_IN_MEMORY &&
		       place->offset == arch->min_frame + passed->offset + offset;
	for (size_t i = 0; i < passed->nparts; i++) {
		const struct gh_result_part *part = &passed->parts[i];
		if (part->offset == offset)
			return place->where == GH_ARG_IN_REGISTER &&
			       place->arg.size == part->size &&
			       place->number == gh_result_register(arch, part);
	}
	return false;
}

/* The same of all words of argument NUMBER, of which *NEXT is the first; and of the others. */
static bool agree(const struct gh_arch *arch, const struct gh_arg_places *places, unsigned number,
		  size_t *next, const struct gh_result *passed)
{
	size_t first = *next;
	for (; *next < places->count && places->items[*next].arg.number == number; (*next)++) {
		const struct gh_arg_place *place = &places->items[*next];
		if (!agrees(arch, place,
			    (uint64_t)(place->arg.offset - places->items[first].arg.offset),
			    passed))
			return false;
	}
	return true;
}

bool gh_parameters_agree(const struct gh_rtypes *types, const struct gh_signature *signature,
			 int minor, const struct gh_arg_places *places)
{
	struct gh_results walk;
	struct gh_result passed;
	size_t next = 0;
	if (!gh_parameters_begin(&walk, types, signature, minor))
		return false;
	for (unsigned i = 0; gh_parameters_next(&walk, &passed); i++)
		if (!agree(types->tab->image->arch, places, i, &next, &passed))
			return false;
	return !walk.failed && next == places->count;
}

bool gh_args_in_registers(const struct gh_pclntab *tab)
{
	struct gh_func func;
	struct gh_spills spills;
	if (tab->image->arch->passing.since == 0 || !gh_arg_places_told(tab))
		return false;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_args args;
		if (!gh_pclntab_func(tab, i, &func, NULL) || (func.flag & GH_FUNC_ASM) != 0)
			continue;
		gh_args_read(&args, tab, &func);
		if (args.count == 0)
			continue;
		gh_spills_find(&spills, tab, &func);
		if (spills.count > 0)
			return true;
	}
	return false;
}

bool gh_parameters_told(const struct gh_rtypes *types)
{
	const struct gh_arch *arch = types->tab->image->arch;
	return arch->passing.since != 0 &&
	       (!gh_arch_passes_in_registers(arch, gh_rtypes_release(types)) ||
		gh_args_in_registers(types->tab));
}

bool gh_results_begin(struct gh_results *walk, const struct gh_rtypes *types,
		      const struct gh_signature *signature, int minor)
{
	struct gh_result passed;
	if (!gh_parameters_begin(walk, types, signature, minor))
		return false;
	while (gh_parameters_next(walk, &passed))
		continue;
	align(&walk->stack, 8);
	walk->integers = 0;
	walk->floats = 0;
	return !walk->failed;
}

bool gh_results_next(struct gh_results *walk, struct gh_result *result)
{
	struct gh_rtype_part part;
	if (walk->next >= walk->function->nparts)
		return false;
	if (!gh_rtype_part(walk->types, walk->function, walk->next, &part) ||
	    part.type == GH_NO_RTYPE) {
		walk->failed = true;
		return false;
	}
	walk->next++;
	place(walk, result, part.type);
	return !walk->failed;
}
