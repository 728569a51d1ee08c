#include "lib/code/code.h"

/* The words of an argument, while they are held against those of a type. */
struct reader {
	const struct gh_rtypes *types;
	const struct gh_arg_place *words;
	size_t count;
	size_t next;  /* word */
	bool partial; /* Go may have left out some at the end */
};

/* The next word can be SIZE bytes at OFFSET in a value. */
static bool take_word(struct reader *reader, uint64_t offset, uint64_t size, bool is_pointer,
		      bool is_float)
{
	if (reader->next == reader->count)
		return reader->partial;
	const struct gh_arg_place *word = &reader->words[reader->next++];
	return (uint64_t)(word->arg.offset - reader->words[0].arg.offset) == offset &&
	       word->arg.size == size && (is_pointer || !word->arg.is_pointer) &&
	       (word->where != GH_ARG_IN_REGISTER || word->is_float == is_float);
}

/* The same of COUNT machine words, of which the first is a pointer. */
static bool take_words(struct reader *reader, uint64_t offset, unsigned count)
{
	uint8_t word = reader->types->tab->pointer_size;
	for (unsigned i = 0; i < count; i++)
		if (!take_word(reader, offset + (uint64_t)i * word, word, i == 0, false))
			return false;
	return true;
}

static bool take_value(struct reader *reader, uint32_t number, uint64_t offset);

static bool take_array(struct reader *reader, const struct gh_rtype *type, uint64_t offset)
{
	uint32_t elem = gh_rtype_elem(reader->types, type);
	uint64_t length = gh_rtype_length(reader->types, type);
	if (elem == GH_NO_RTYPE || type->size == 0)
		return type->size == 0;
	uint64_t size = reader->types->items[elem].size;
	for (uint64_t i = 0; i < length && reader->next < reader->count; i++)
		if (!take_value(reader, elem, offset + i * size))
			return false;
	return length > 0;
}

static bool take_struct(struct reader *reader, const struct gh_rtype *type, uint64_t offset)
{
	size_t first = reader->next;
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (!gh_rtype_part(reader->types, type, i, &part) ||
		    (reader->types->items[part.type].size > 0 &&
		     !take_value(reader, part.type, offset + part.offset)))
			return false;
	}
	return reader->next > first || type->size == 0;
}

/* The next words can be those of a value of type NUMBER, as the compiler takes it apart: visitType
 * of EmitArgInfo in src/cmd/compile/internal/ssagen/pgen.go. */
static bool take_value(struct reader *reader, uint32_t number, uint64_t offset)
{
	const struct gh_rtype *type = &reader->types->items[number];
	if (reader->next == reader->count)
		return reader->partial;
	switch (type->kind) {
	case GH_KIND_STRUCT:
		return take_struct(reader, type, offset);
	case GH_KIND_ARRAY:
		return take_array(reader, type, offset);
	case GH_KIND_STRING:
		return take_words(reader, offset, 2);
	case GH_KIND_SLICE:
		return take_words(reader, offset, 3);
	case GH_KIND_INTERFACE:
		return take_words(reader, offset, 1) &&
		       take_word(reader, offset + type->size / 2, type->size / 2, true, false);
	case GH_KIND_COMPLEX64:
	case GH_KIND_COMPLEX128:
		return take_word(reader, offset, type->size / 2, false, true) &&
		       take_word(reader, offset + type->size / 2, type->size / 2, false, true);
	case GH_KIND_CHAN:
	case GH_KIND_FUNC:
	case GH_KIND_MAP:
	case GH_KIND_POINTER:
	case GH_KIND_UNSAFE_POINTER:
		return take_words(reader, offset, 1);
	default:
		return take_word(reader, offset, type->size, false,
				 type->kind == GH_KIND_FLOAT32 || type->kind == GH_KIND_FLOAT64);
	}
}

/* The type of argument NUMBER, the receiver's being 0. False if there is no such argument. */
static bool arg_rtype(const struct gh_rtypes *types, const struct gh_signature *signature,
		      unsigned number, uint32_t *type)
{
	*type = number == 0 ? signature->receiver : GH_NO_RTYPE;
	if (number == 0 || signature->function == GH_NO_RTYPE)
		return true;
	const struct gh_rtype *function = &types->items[signature->function];
	struct gh_rtype_part part;
	bool variadic;
	if (function->kind != GH_KIND_FUNC ||
	    number > gh_rtype_parameters(types, function, &variadic) ||
	    !gh_rtype_part(types, function, number - 1, &part))
		return false;
	*type = part.type;
	return true;
}

/* Sets the NUMBERS. False if the words are not those of such types. */
static bool find_rtypes(uint32_t *numbers, const struct gh_arg_places *places,
			const struct gh_rtypes *types, const struct gh_signature *signature)
{
	size_t end;
	for (size_t first = 0; first < places->count; first = end) {
		unsigned number = places->items[first].arg.number;
		for (end = first; end < places->count; end++)
			if (places->items[end].arg.number != number)
				break;
		if (!arg_rtype(types, signature, number, &numbers[first]))
			return false;
		struct reader reader = {.types = types,
					.words = &places->items[first],
					.count = end - first,
					.partial = end == places->count};
		if (numbers[first] != GH_NO_RTYPE &&
		    (!take_value(&reader, numbers[first], 0) || reader.next != reader.count))
			return false;
	}
	return true;
}

void gh_arg_rtypes(uint32_t *numbers, const struct gh_arg_places *places,
		   const struct gh_rtypes *types, const struct gh_signature *signature)
{
	if (!find_rtypes(numbers, places, types, signature))
		for (size_t i = 0; i < places->count; i++)
			numbers[i] = GH_NO_RTYPE;
}
