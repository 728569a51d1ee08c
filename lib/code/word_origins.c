/* What the words that a function keeps in its frame, and those that it calls others with, are made
 * from. */
#include "lib/code/code_types.h"
#include "lib/code/internal.h"
#include "lib/util/bsearch.h"

/* The register that has the closure of a function that is one, as instructions number it. */
#define RDX 2

struct finder {
	struct gh_word_origins *found;
	const struct gh_rtypes *types;
	struct gh_made_list results; /* of its calls */
};

/* The registers for arguments, as instructions number them. */
static const uint8_t registers[GH_ORIGIN_REGISTERS] = {0, 3, 1, 7, 6, 8, 9, 10, 11};

/* Says in WORD what VALUE is made from. False if that is nothing that has a type. */
static bool find_origin(const struct finder *finder, const struct gh_value *value,
			struct gh_word_origin *word)
{
	*word = (struct gh_word_origin){.nloads = value->nloads};
	for (unsigned i = 0; i <= value->nloads; i++)
		word->offsets[i] = value->offsets[i];
	if (value->from == GH_VALUE_RESULT && value->number < finder->results.count) {
		struct gh_made made = finder->results.items[value->number];
		word->from = GH_ORIGIN_MADE;
		word->number = made.type;
		word->kind = made.kind;
		return made.type != GH_NO_RTYPE;
	}
	if (value->from != GH_VALUE_ARGUMENT)
		return false;
	word->from = value->number == RDX ? GH_ORIGIN_CLOSURE : GH_ORIGIN_ARGUMENT;
	for (word->number = 0; word->number < GH_ORIGIN_REGISTERS; word->number++)
		if (registers[word->number] == value->number)
			break;
	return word->from == GH_ORIGIN_CLOSURE || word->number < GH_ORIGIN_REGISTERS;
}

/* Where the call at AT returns to. */
static uint64_t returns_to(const struct gh_reading *reading, size_t at)
{
	struct gh_x86 ins;
	size_t size = gh_cursor_size(&reading->code);
	bool is = gh_x86_decode(&ins, reading->code.start + at, size - at, reading->is_64_bit);
	return reading->entry + at + (is ? ins.length : 0);
}

static bool take_call(struct gh_reading *reading, size_t at, uint64_t callee)
{
	struct finder *finder = reading->context;
	struct gh_made made;
	if (gh_code_call(finder->types, callee, &reading->known, &made))
		return true;
	for (uint8_t i = 0; i < GH_ORIGIN_REGISTERS; i++) {
		struct gh_passed_word passed = {.pc = returns_to(reading, at), .argument = i};
		if (find_origin(finder, &reading->known.registers[registers[i]], &passed.word))
			gh_vector_push(&finder->found->passed, passed);
	}
	gh_vector_push(&finder->results, made);
	return false;
}

bool gh_word_origins_find(struct gh_word_origins *found, const struct gh_rtypes *types,
			  const struct gh_func *func)
{
	struct finder finder = {.found = found, .types = types};
	struct gh_reading reading = {.follows = true, .context = &finder, .on_call = take_call};
	*found = (struct gh_word_origins){0};
	if (gh_reading_start(&reading, types->tab, func) && reading.in_registers)
		gh_reading_run(&reading);
	for (size_t i = 0; i < reading.slots.count; i++) {
		struct gh_kept_word kept = {.offset = reading.slots.items[i].offset};
		if (find_origin(&finder, &reading.slots.items[i].value, &kept.word))
			gh_vector_push(&found->kept, kept);
	}
	bool ok = !gh_reading_failed(&reading) && !finder.results.failed && !found->kept.failed &&
		  !found->passed.failed;
	gh_reading_free(&reading);
	gh_vector_free(&finder.results);
	return ok;
}

const struct gh_word_origin *gh_word_origins_kept(const struct gh_word_origins *words,
						  int64_t offset)
{
	for (size_t i = 0; i < words->kept.count; i++)
		if (words->kept.items[i].offset == offset)
			return &words->kept.items[i].word;
	return NULL;
}

size_t gh_word_origins_passed(const struct gh_word_origins *words, uint64_t pc,
			      const struct gh_passed_word **passed)
{
	const struct gh_passed_word *items = words->passed.items;
	size_t first = gh_lower_bound(words->passed.count, i, items[i].pc < pc);
	size_t end = first;
	while (end < words->passed.count && items[end].pc == pc)
		end++;
	*passed = items + first;
	return end - first;
}

void gh_word_origins_free(struct gh_word_origins *words)
{
	gh_vector_free(&words->kept);
	gh_vector_free(&words->passed);
}
