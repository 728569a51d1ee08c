#include "lib/code/code.h"

/* Registers that pass arguments on amd64: for integers, for floating-point numbers. */
#define INTEGERS 9
#define FLOATS   15

static void align(uint64_t *offset, uint64_t to)
{
	if (to > 1)
		*offset = (*offset + to - 1) / to * to;
}

/* The next register holds SIZE bytes at OFFSET of the value. False if there is none left. */
static bool take(struct gh_results *walk, struct gh_result *result, uint64_t offset, uint64_t size,
		 bool is_float)
{
	unsigned *next = is_float ? &walk->floats : &walk->integers;
	if (*next == (is_float ? FLOATS : INTEGERS))
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
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (!gh_rtype_part(walk->types, type, i, &part) || part.type == GH_NO_RTYPE) {
			walk->failed = true;
			return false;
		}
		if (!assign(walk, result, part.type, offset + part.offset))
			return false;
	}
	return true;
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
	*walk = (struct gh_results){.types = types, .in_registers = minor >= 17};
	if (types->tab->image->arch->isa != GH_ISA_AMD64 || signature->receiver == GH_NO_RTYPE ||
	    signature->function == GH_NO_RTYPE)
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
