#include <string.h>

#include "plugin/cli/cli.h"

/* Words that are shown of a value in memory. */
#define MOST_WORDS 16

/* Registers that are shown where results are not known: more are rarely returned. */
#define FIRST_WORDS 3

const char *gh_probe_register(const char *names, unsigned number, int *length)
{
	for (; number > 0 && *names != '\0'; number--)
		names += strcspn(names, " ") + 1;
	*length = (int)strcspn(names, " ");
	return names;
}

/* Begins a value; its words follow. */
static void add_item(struct gh_probe_values *values, uint32_t type, unsigned number)
{
	gh_vector_push(
	    &values->items,
	    (struct gh_probe_value){.type = type, .number = number, .first = values->words.count});
}

static void add_word(struct gh_probe_values *values, struct gh_probe_word word)
{
	if (values->items.failed)
		return;
	gh_vector_push(&values->words, word);
	values->items.items[values->items.count - 1].count++;
}

/* Adds the words of a value in memory of SIZE bytes at PLACE. */
static void add_memory(struct gh_probe_values *values, uint64_t place, uint64_t size)
{
	uint64_t offset = 0;
	for (unsigned i = 0; offset < size && i < MOST_WORDS; i++) {
		uint8_t word = 8;
		while (word > size - offset)
			word /= 2;
		add_word(values, (struct gh_probe_word){.where = GH_ARG_IN_MEMORY,
							.offset = offset,
							.place = place + offset,
							.size = word});
		offset += word;
	}
	values->is_cut |= offset < size;
}

/* Adds each parameter or result that NEXT gives of WALK. */
static void add_all(struct gh_probe_values *values, const struct gh_probes *probes,
		    struct gh_results *walk,
		    bool (*next)(struct gh_results *walk, struct gh_result *result))
{
	const struct gh_arch *arch = probes->program.image.arch;
	struct gh_result passed;
	for (unsigned number = 0; next(walk, &passed); number++) {
		add_item(values, passed.type, number);
		if (passed.in_memory)
			add_memory(values, arch->min_frame + passed.offset,
				   probes->types.items[passed.type].size);
		for (size_t i = 0; i < passed.nparts; i++) {
			const struct gh_result_part *part = &passed.parts[i];
			add_word(values,
				 (struct gh_probe_word){.where = GH_ARG_IN_REGISTER,
							.offset = part->offset,
							.number = gh_result_register(arch, part),
							.size = part->size,
							.is_float = part->is_float});
		}
	}
}

/* FUNC's list of arguments ends before all of them. */
static bool is_cut(const struct gh_pclntab *tab, const struct gh_func *func)
{
	struct gh_arg_walk walk;
	enum gh_arg_token token = GH_ARG_BEGIN;
	unsigned depth = 0;
	if (!gh_arg_walk_start(&walk, tab, func))
		return false;
	while (token != GH_ARG_LIST_END && !(token == GH_ARG_DOTS && depth == 0)) {
		token = gh_arg_walk_next(&walk);
		depth += token == GH_ARG_BEGIN;
		depth -= token == GH_ARG_END;
	}
	return token == GH_ARG_DOTS;
}

/* Adds the arguments by the table of tracebacks, of the types that SIGNATURE has, if it is not
 * NULL. */
static void add_listed(struct gh_probe_values *values, const struct gh_probes *probes,
		       const struct gh_func *func, const struct gh_signature *signature,
		       const struct gh_arg_places *places)
{
	uint32_t types[GH_MAX_ARGS];
	uint16_t start = 0;
	for (size_t i = 0; i < places->count; i++)
		types[i] = GH_NO_RTYPE;
	if (signature != NULL)
		gh_arg_rtypes(types, places, &probes->types, signature);
	for (size_t i = 0; i < places->count; i++) {
		const struct gh_arg_place *place = &places->items[i];
		const struct gh_arg *arg = &place->arg;
		if (i == 0 || arg->number != places->items[i - 1].arg.number) {
			add_item(values, types[i], arg->number);
			start = arg->offset;
		}
		add_word(values, (struct gh_probe_word){.where = place->where,
							.offset = (uint64_t)(arg->offset - start),
							.place = place->offset,
							.number = place->number,
							.size = arg->size,
							.is_pointer = arg->is_pointer,
							.is_float = place->is_float});
	}
	values->is_cut = is_cut(&probes->program.tab, func);
}

/* The place of the register among those that pass integers; their count if it is none. */
static unsigned find_register(const struct gh_passing *passing, const struct gh_probe_word *word)
{
	unsigned i = 0;
	while (i < passing->integers && (word->is_float || passing->dwarf[i] != word->number))
		i++;
	return i;
}

/* Has the arguments whose place no code tells be where integers are: a function that needs no
 * larger stack does not save them. */
static void guess_arguments(struct gh_probe_values *values, const struct gh_probes *probes)
{
	const struct gh_arch *arch = probes->program.image.arch;
	unsigned next = 0;
	if (!gh_arch_passes_in_registers(arch, gh_rtypes_release(&probes->types)))
		return;
	for (size_t i = 0; i < values->items.count; i++) {
		struct gh_probe_value *value = &values->items.items[i];
		struct gh_probe_word *words = values->words.items + value->first;
		bool fits = next + value->count <= arch->passing.integers;
		for (size_t j = 0; j < value->count; j++) {
			if (words[j].where == GH_ARG_IN_REGISTER && !words[j].is_float)
				next = find_register(&arch->passing, &words[j]) + 1;
			if (words[j].where != GH_ARG_UNKNOWN || !fits)
				continue;
			value->guessed = true;
			words[j].where = GH_ARG_IN_REGISTER;
			words[j].number = arch->passing.dwarf[next++];
		}
	}
}

/* Adds the registers that the first results would be in. */
static void guess_results(struct gh_probe_values *values, const struct gh_probes *probes)
{
	const struct gh_arch *arch = probes->program.image.arch;
	values->guessed = true;
	if (!gh_arch_passes_in_registers(arch, gh_rtypes_release(&probes->types)))
		return;
	for (unsigned i = 0; i < FIRST_WORDS; i++) {
		add_item(values, GH_NO_RTYPE, i);
		add_word(values, (struct gh_probe_word){.where = GH_ARG_IN_REGISTER,
							.number = arch->passing.dwarf[i],
							.size = 8});
	}
}

void gh_probe_values_find(struct gh_probe *probe, const struct gh_probes *probes)
{
	const struct gh_pclntab *tab = &probes->program.tab;
	const struct gh_func *func = &probe->func;
	int release = gh_rtypes_release(&probes->types);
	struct gh_arg_places places;
	struct gh_results walk;
	/* Of a generic function Go leaves out the first argument. */
	const struct gh_signature *signature =
	    strchr(probe->name, '[') == NULL ? gh_signature_at(&probes->signatures, func->entry)
					     : NULL;
	bool told = signature != NULL && probes->methods_told;
	gh_arg_places_find(&places, tab, func);
	if (told && gh_parameters_agree(&probes->types, signature, release, &places) &&
	    gh_parameters_begin(&walk, &probes->types, signature, release))
		add_all(&probe->arguments, probes, &walk, gh_parameters_next);
	else
		add_listed(&probe->arguments, probes, func, signature, &places);
	guess_arguments(&probe->arguments, probes);
	if (told && gh_results_begin(&walk, &probes->types, signature, release))
		add_all(&probe->results, probes, &walk, gh_results_next);
	else
		guess_results(&probe->results, probes);
}

/* A return instruction, as a row. */
struct return_row {
	uint64_t address, offset;
};

void gh_returns_emit(struct gh_emit *emit, const struct gh_image *image,
		     const struct gh_probe_places *places)
{
	static const struct gh_column columns[] = {
	    {"address", GH_COL_ADDRESS(struct return_row, address)},
	    {"offset", GH_COL_ADDRESS(struct return_row, offset)},
	    {0},
	};
	for (size_t i = 0; i < places->returns.count; i++) {
		uint64_t address = places->returns.items[i];
		struct return_row row = {address, gh_image_offset(image, address)};
		gh_emit_item(emit, columns, &row);
	}
}
