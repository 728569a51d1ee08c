/* What the words that a function keeps in its frame, and those that it calls others with, are made
 * from. */
#include <string.h>

#include "lib/code/code_types.h"
#include "lib/code/internal.h"
#include "lib/util/bsearch.h"
#include "lib/util/numbermap.h"

/* The register that has the closure of a function that is one, as instructions number it. */
#define RDX 2

/* Bytes of what a map is, of all releases (hmap in src/runtime/map.go, Map in
 * src/internal/runtime/maps/map.go). */
#define MAP_SIZE 48

/* Variables of a function that are told of, and uses of such that are looked at. */
#define MAX_PLACED 32
#define MAX_USES   256

/* What calls give: those of one function, or that make the same. */
struct result {
	struct gh_made made;
	uint64_t callee;     /* entry of the function; 0 if it is not told */
	struct gh_made used; /* what it is by what is done with it */
	bool differs;        /* several things are */
};

/* A value that is passed by the call that returns to PC. */
struct passed {
	uint64_t pc;
	struct gh_value value;
	uint8_t argument;
};

struct finder {
	struct gh_word_origins *found;
	const struct gh_rtypes *types;
	const struct gh_signatures *signatures;
	struct GH_VECTOR(struct result) results;
	struct gh_numbermap numbers; /* of results, by what they have in common */
	struct GH_VECTOR(struct passed) passed;
	struct result argument; /* the first */
	bool failed;            /* memory ran out */
};

/* The registers for arguments, as instructions number them. */
static const uint8_t registers[GH_ORIGIN_REGISTERS] = {0, 3, 1, 7, 6, 8, 9, 10, 11};

/* Says in WORD what RESULT is. False if that is nothing that has a type. */
static bool find_result(const struct result *result, struct gh_word_origin *word)
{
	bool is_made = result->made.type != GH_NO_RTYPE;
	bool is_used = !result->differs && result->used.type != GH_NO_RTYPE;
	struct gh_made made = is_made ? result->made : result->used;
	word->from = is_made ? GH_ORIGIN_MADE : is_used ? GH_ORIGIN_USED : GH_ORIGIN_CALLED;
	word->number = is_made || is_used ? made.type : 0;
	word->kind = made.kind;
	word->callee = result->callee;
	return is_made || is_used || result->callee != 0;
}

/* Says in WORD what VALUE is made from. False if that is nothing that has a type. */
static bool find_origin(const struct finder *finder, const struct gh_value *value,
			struct gh_word_origin *word)
{
	*word = (struct gh_word_origin){.nloads = value->nloads};
	for (unsigned i = 0; i <= value->nloads; i++)
		word->offsets[i] = value->offsets[i];
	if (value->from == GH_VALUE_RESULT && value->number < finder->results.count)
		return find_result(&finder->results.items[value->number], word);
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

/* The number of what the call at AT of CALLEE gives, which makes MADE. */
static uint32_t number_result(struct finder *finder, size_t at, uint64_t callee,
			      struct gh_made made)
{
	uint64_t key = made.type != GH_NO_RTYPE
			   ? (uint64_t)made.type << 3 | (uint64_t)made.kind << 1 | 1
		       : callee != 0 ? callee << 2
				     : (uint64_t)at << 2 | 2;
	struct result result = {.made = made, .callee = callee, .used = {.type = GH_NO_RTYPE}};
	uint32_t number = gh_numbermap_get(&finder->numbers, key);
	if (number != GH_NOT_MAPPED)
		return number;
	number = (uint32_t)finder->results.count;
	gh_vector_push(&finder->results, result);
	finder->failed |= !gh_numbermap_put(&finder->numbers, key, number);
	return number;
}

static void note_use(struct result *result, const struct gh_used *used)
{
	struct gh_made made = {used->type, used->kind};
	bool is_first = result->used.type == GH_NO_RTYPE;
	result->differs |=
	    !is_first && (result->used.type != made.type || result->used.kind != made.kind);
	result->used = made;
}

/* The function does what USED says. What is neither the first result of a call nor the first
 * argument may be the second word of an interface, whose type the function asked for. */
static void take_use(struct finder *finder, const struct gh_used *used)
{
	const struct gh_value *value = &used->value;
	struct gh_placed_value placed = {value->offsets[0], used->type, value->number};
	if (used->type == GH_NO_RTYPE || value->nloads > 0)
		return;
	if (value->from == GH_VALUE_FRAME && used->kind != GH_CODE_SLICE &&
	    finder->found->placed.count < MAX_USES)
		gh_vector_push(&finder->found->placed, placed);
	if (used->kind == GH_CODE_SLICE || value->offsets[0] != 0)
		return;
	if (value->from == GH_VALUE_RESULT && value->number < finder->results.count)
		note_use(&finder->results.items[value->number], used);
	else if (value->from == GH_VALUE_ARGUMENT && value->number == registers[0])
		note_use(&finder->argument, used);
}

static bool take_call(struct gh_reading *reading, size_t at, uint64_t callee)
{
	struct finder *finder = reading->context;
	struct gh_known *known = &reading->known;
	struct gh_made made;
	struct gh_used used;
	if (gh_code_call(finder->types, callee, known, &made, &used))
		return true;
	for (uint8_t i = 0; i < GH_ORIGIN_REGISTERS && reading->is_last; i++) {
		struct passed passed = {returns_to(reading, at), known->registers[registers[i]], i};
		if (passed.value.from != GH_VALUE_UNKNOWN)
			gh_vector_push(&finder->passed, passed);
	}
	if (used.type == GH_NO_RTYPE)
		used = gh_code_receiver(finder->types, finder->signatures, callee, known);
	if (reading->is_last)
		take_use(finder, &used);
	uint32_t number = number_result(finder, at, callee, made);
	*known = (struct gh_known){0};
	known->registers[registers[0]] =
	    (struct gh_value){.from = GH_VALUE_RESULT, .number = number};
	return true;
}

/* The instruction at AT takes an address in the frame. */
static bool takes_address(const struct gh_reading *reading, size_t at)
{
	struct gh_x86 ins;
	size_t size = gh_cursor_size(&reading->code);
	return at < size &&
	       gh_x86_decode(&ins, reading->code.start + at, size - at, reading->is_64_bit) &&
	       ins.opcode == GH_X86_LEA && gh_x86_is_at_sp(&ins);
}

/* All addresses that are taken of PLACED, or of a part of it, are of that: the compiler has
 * variables in one place that live one after the other. */
static bool is_alone(const struct finder *finder, const struct gh_reading *reading,
		     const struct gh_placed_value *placed)
{
	const struct gh_placed_value *all = finder->found->placed.items;
	const struct gh_rtype *type = &finder->types->items[placed->type];
	uint64_t size = type->kind == GH_KIND_MAP ? MAP_SIZE : type->size;
	for (size_t i = 0; i < reading->stores.count; i++) {
		const struct gh_store *store = &reading->stores.items[i];
		size_t k = 0;
		if (!store->in_frame || (uint64_t)(store->offset - placed->offset) >= size ||
		    !takes_address(reading, store->at))
			continue;
		while (k < finder->found->placed.count &&
		       (all[k].at != store->at || all[k].type != placed->type ||
			all[k].offset != placed->offset))
			k++;
		if (k == finder->found->placed.count)
			return false;
	}
	return takes_address(reading, placed->at);
}

/* Leaves the variables of which it is certain what they are, each once. */
static void find_placed(struct finder *finder, const struct gh_reading *reading)
{
	struct gh_placed_value alone[MAX_PLACED];
	struct gh_placed_value *placed = finder->found->placed.items;
	size_t count = 0;
	bool is_known = reading->is_whole && reading->stores.count <= GH_READING_STORES;
	for (size_t i = 0; is_known && i < finder->found->placed.count && count < MAX_PLACED; i++) {
		bool is_first = true;
		for (size_t k = 0; k < count; k++)
			is_first &= alone[k].offset != placed[i].offset;
		if (is_first && is_alone(finder, reading, &placed[i]))
			alone[count++] = placed[i];
	}
	if (count > 0)
		memcpy(placed, alone, count * sizeof(*placed));
	finder->found->placed.count = count;
}

/* READING's function ends by a jump to another, as some wrappers do. */
static bool jumps_out(const struct gh_reading *reading)
{
	size_t size = gh_cursor_size(&reading->code);
	for (size_t i = 0; i < reading->branches.count; i++)
		if (reading->branches.items[i].to != SIZE_MAX &&
		    reading->branches.items[i].to >= size)
			return true;
	return false;
}

/* Says what the values are that READING has found. */
static void find_all(struct finder *finder, const struct gh_reading *reading)
{
	struct gh_word_origins *found = finder->found;
	for (size_t i = 0; i < reading->slots.count && reading->is_whole; i++) {
		struct gh_kept_word kept = {.offset = reading->slots.items[i].offset};
		if (find_origin(finder, &reading->slots.items[i].value, &kept.word))
			gh_vector_push(&found->kept, kept);
	}
	for (size_t i = 0; i < finder->passed.count; i++) {
		const struct passed *item = &finder->passed.items[i];
		struct gh_passed_word passed = {.pc = item->pc, .argument = item->argument};
		if (find_origin(finder, &item->value, &passed.word))
			gh_vector_push(&found->passed, passed);
	}
	found->returns = reading->is_last && reading->is_whole && !jumps_out(reading) &&
			 find_origin(finder, &reading->returned, &found->returned);
	find_result(&finder->argument, &found->argument);
	find_placed(finder, reading);
}

bool gh_word_origins_find(struct gh_word_origins *found, const struct gh_rtypes *types,
			  const struct gh_signatures *signatures, const struct gh_func *func)
{
	struct finder finder = {.found = found, .types = types, .signatures = signatures};
	struct gh_reading reading = {
	    .follows = true, .settles = true, .context = &finder, .on_call = take_call};
	*found = (struct gh_word_origins){0};
	finder.argument.made.type = finder.argument.used.type = GH_NO_RTYPE;
	if (gh_reading_start(&reading, types->tab, func) && reading.in_registers)
		gh_reading_run(&reading);
	find_all(&finder, &reading);
	bool ok = !gh_reading_failed(&reading) && !finder.results.failed && !finder.passed.failed &&
		  !finder.failed && !found->kept.failed && !found->passed.failed &&
		  !found->placed.failed;
	gh_reading_free(&reading);
	gh_vector_free(&finder.results);
	gh_vector_free(&finder.passed);
	gh_numbermap_free(&finder.numbers);
	return ok;
}

const struct gh_word_origin *gh_word_origins_kept(const struct gh_word_origins *words,
						  int64_t offset)
{
	const struct gh_kept_word *kept = words->kept.items;
	size_t at = gh_lower_bound(words->kept.count, i, kept[i].offset < offset);
	return at < words->kept.count && kept[at].offset == offset ? &kept[at].word : NULL;
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
	gh_vector_free(&words->placed);
}
