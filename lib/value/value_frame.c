#include "lib/value/internal.h"

#include <inttypes.h>
#include <string.h>

#include "lib/code/code.h"

/* Words beyond are left out: no sane frame is that large. In bytes from SP. */
#define MOST_STACK (1U << 16)

/* A frame whose values are printed. */
struct reader {
	struct gh_values *values;
	const struct gh_value_frame *frame;
	struct gh_func func;
	uint64_t pc;                 /* in the program's file: of what the frame is in */
	int32_t delta;               /* of the stack there: from SP to the frame's end */
	uint64_t arguments;          /* address of the first one's place in memory */
	struct gh_arg_places places; /* of the words of arguments */
	uint32_t types[GH_MAX_ARGS]; /* of each argument, by its first word, or GH_NO_RTYPE */
	bool in_prologue;            /* the places hold */
	bool has_saved[GH_MAX_ARGS]; /* the function has written the word to memory */
	uint64_t words[GH_MAX_ARGS]; /* what they are */
	bool is_known[GH_MAX_ARGS];  /* that is known, or else may be */
};

static uint8_t word_size(const struct reader *reader)
{
	return reader->values->process->tab->pointer_size;
}

static bool read_word(struct reader *reader, uint64_t address, unsigned size, uint64_t *word)
{
	return gh_process_uint(&reader->values->process->memory, address, size, word);
}

/* Finds the function, and where in the stack it has what. */
static bool find_function(struct reader *reader)
{
	const struct gh_process *process = reader->values->process;
	const struct gh_pclntab *tab = process->tab;
	const struct gh_value_frame *frame = reader->frame;
	/* What a call returns to need not be in the function that called. */
	reader->pc = frame->pc - process->bias - (frame->is_innermost ? 0 : 1);
	size_t index = gh_pclntab_find(tab, reader->pc);
	if (index == SIZE_MAX || !gh_pclntab_func(tab, index, &reader->func, NULL))
		return false;
	reader->delta = gh_pcvalue_at(tab, &reader->func, reader->func.pcsp, reader->pc);
	if (reader->delta < 0)
		return false;
	reader->arguments =
	    frame->sp + (uint64_t)reader->delta + gh_arch_below_args(tab->image->arch);
	return true;
}

/* Finds which words the function has written to the memory that is theirs: the rules are those of
 * Go's tracebacks. */
static void find_saved(struct reader *reader)
{
	const struct gh_pclntab *tab = reader->values->process->tab;
	struct gh_arg_liveness liveness;
	bool all_told = !reader->frame->is_innermost ||
			reader->pc >= gh_arg_liveness_begins(tab, &reader->func);
	gh_arg_liveness_start(&liveness, tab, &reader->func, reader->pc);
	for (size_t i = 0; i < reader->places.count; i++) {
		const struct gh_arg_place *place = &reader->places.items[i];
		bool is_live = gh_arg_is_live(&liveness, place->arg.offset);
		reader->has_saved[i] = is_live && (all_told || place->where == GH_ARG_IN_MEMORY);
	}
}

/* The function's signature, or NULL. Of a generic one Go leaves out the first argument. */
static const struct gh_signature *find_signature(const struct reader *reader,
						 const struct gh_signatures *signatures)
{
	const char *name = gh_pclntab_name(reader->values->process->tab, reader->func.name);
	return strchr(name, '[') == NULL ? gh_signature_at(signatures, reader->func.entry) : NULL;
}

static void find_types(struct reader *reader, const struct gh_signature *signature)
{
	for (size_t i = 0; i < reader->places.count; i++)
		reader->types[i] = GH_NO_RTYPE;
	if (signature != NULL)
		gh_arg_rtypes(reader->types, &reader->places, reader->values->types, signature);
}

/* Reads word NUMBER of the arguments. False if it is nowhere. */
static bool read_argument(struct reader *reader, size_t number)
{
	const struct gh_arg_place *place = &reader->places.items[number];
	const uint64_t *registers = reader->frame->registers;
	uint64_t *word = &reader->words[number];
	if (reader->in_prologue && place->where == GH_ARG_IN_REGISTER) {
		if (registers == NULL || place->number >= GH_VALUE_REGISTERS)
			return false;
		*word = registers[place->number];
		if (place->arg.size < 8)
			*word &= ((uint64_t)1 << 8 * place->arg.size) - 1;
		return true;
	}
	return (reader->in_prologue ? place->where == GH_ARG_IN_MEMORY
				    : reader->has_saved[number]) &&
	       read_word(reader, reader->arguments + place->arg.offset, place->arg.size, word);
}

static void read_arguments(struct reader *reader, const struct gh_signature *signature)
{
	const struct gh_pclntab *tab = reader->values->process->tab;
	gh_arg_places_find(&reader->places, tab, &reader->func);
	reader->in_prologue =
	    reader->frame->is_innermost && reader->places.any && reader->pc <= reader->places.end;
	find_types(reader, signature);
	find_saved(reader);
	for (size_t i = 0; i < reader->places.count; i++)
		reader->is_known[i] = read_argument(reader, i);
}

/* Appends to BYTES the value of SIZE bytes that the COUNT words from number FIRST on are. These
 * have been seen to be no more bytes. */
static void put_words(const struct reader *reader, uint64_t size, size_t first, size_t count,
		      struct gh_buffer *bytes)
{
	const struct gh_arg_place *places = &reader->places.items[first];
	void *start = gh_buffer_extend(bytes, size);
	if (start == NULL)
		return;
	memset(start, 0, size);
	for (size_t i = 0; i < count; i++)
		gh_buffer_patch(bytes, (size_t)(places[i].arg.offset - places->arg.offset),
				reader->words[first + i], places[i].arg.size);
}

/* Appends it as text. */
static void add_typed(struct reader *reader, uint32_t type, size_t first, size_t count)
{
	struct gh_buffer bytes = {.big_endian = reader->values->process->memory.big_endian};
	put_words(reader, reader->values->types->items[type].size, first, count, &bytes);
	if (!bytes.failed)
		gh_value_print_own(reader->values, type, bytes.data);
	reader->values->out.failed |= bytes.failed;
	gh_buffer_free(&bytes);
}

/* Appends POINTER, to what has no type that is known here. */
static void add_pointer(struct reader *reader, uint64_t pointer)
{
	const struct gh_process *process = reader->values->process;
	struct gh_cursor bytes;
	bool is_of_frames = pointer - reader->frame->sp < MOST_STACK;
	gh_value_add(reader->values, "0x%" PRIx64, pointer);
	if (reader->values->untyped == 0 && !is_of_frames &&
	    !gh_image_at(process->tab->image, pointer - process->bias, &bytes))
		reader->values->untyped = pointer;
}

/* Appends word NUMBER of the arguments, which has no type that is known. */
static void add_word(struct reader *reader, size_t number)
{
	const struct gh_arg_place *place = &reader->places.items[number];
	uint64_t word = reader->words[number];
	unsigned unused = 64 - 8U * place->arg.size;
	if (!reader->is_known[number])
		gh_value_add(reader->values, "_");
	else if (place->is_float)
		gh_value_add(reader->values, "%g", gh_process_float(word, place->arg.size));
	else if (place->arg.is_pointer && word != 0)
		add_pointer(reader, word);
	else if (place->arg.size < 4)
		gh_value_add(reader->values, "%" PRIu64, word);
	else
		gh_value_add(reader->values, "%" PRId64, (int64_t)(word << unused) >> unused);
}

/* Appends the argument that is COUNT words from number FIRST on, and more if it HAS_MORE, as these.
 */
static void add_words(struct reader *reader, size_t first, size_t count, bool has_more)
{
	bool is_whole = reader->places.items[first].arg.part == GH_ARG_WHOLE && !has_more;
	for (size_t i = 0; i < count; i++) {
		gh_value_add(reader->values, "%s", i > 0 ? ", " : is_whole ? "" : "{");
		add_word(reader, first + i);
	}
	gh_value_add(reader->values, "%s%s%s", has_more ? ", ..." : "", is_whole ? "" : "}",
		     reader->in_prologue ? "" : "?");
}

/* How many of the COUNT words from number FIRST on are known. */
static size_t count_known(const struct reader *reader, size_t first, size_t count)
{
	size_t known = 0;
	for (size_t i = first; i < first + count; i++)
		known += reader->is_known[i];
	return known;
}

/* Appends what the two words of an argument, of which ARG is the first, look like. The compiler
 * counts no pointer to a type among those that it tells of. */
static bool add_pair(struct reader *reader, const struct gh_arg *arg, const uint64_t words[2])
{
	return gh_value_add_likely_text(reader->values, words) ||
	       (!arg->is_pointer && gh_value_add_likely_interface(reader->values, words));
}

/* Bytes of the argument that the COUNT words from number FIRST on are, as far as they tell. */
static uint64_t extent_of(const struct reader *reader, size_t first, size_t count)
{
	const struct gh_arg *arg = &reader->places.items[first].arg;
	const struct gh_arg *last = &reader->places.items[first + count - 1].arg;
	return (uint64_t)(last->offset - arg->offset) + last->size;
}

/* What of it is beyond the last word that Go tells of is not known; padding is no part. */
static bool goes_on(const struct reader *reader, size_t first, size_t count)
{
	uint64_t extent = extent_of(reader, first, count);
	uint32_t type = reader->types[first];
	if (type == GH_NO_RTYPE)
		return reader->places.items[first].arg.part != GH_ARG_WHOLE &&
		       first + count == GH_MAX_ARGS;
	return reader->values->types->items[type].size >= extent + word_size(reader);
}

/* All of it is known, with its type. */
static bool is_whole(const struct reader *reader, size_t first, size_t count)
{
	uint32_t type = reader->types[first];
	return type != GH_NO_RTYPE && count_known(reader, first, count) == count &&
	       !goes_on(reader, first, count) &&
	       reader->values->types->items[type].size >= extent_of(reader, first, count);
}

/* Appends the value of the argument that the COUNT words from number FIRST on are. */
static void add_argument(struct reader *reader, size_t first, size_t count)
{
	const struct gh_arg *arg = &reader->places.items[first].arg;
	const struct gh_arg *last = &reader->places.items[first + count - 1].arg;
	const uint64_t *words = &reader->words[first];
	uint32_t type = reader->types[first];
	unsigned word = word_size(reader);
	size_t known = count_known(reader, first, count);
	bool has_more = goes_on(reader, first, count);
	bool is_pair = count == 2 && arg->size == word && last->size == word;
	if (known == 0) {
		gh_value_add(reader->values, "<optimized out>");
	} else if (is_whole(reader, first, count)) {
		add_typed(reader, type, first, count);
		gh_value_add(reader->values, "%s", reader->in_prologue ? "" : "?");
	} else if (known < count || has_more || type != GH_NO_RTYPE) {
		add_words(reader, first, count, has_more);
	} else if (!is_pair || !add_pair(reader, arg, words)) {
		add_words(reader, first, count, false);
	}
}

/* The function has not gone on from its prologue. */
static bool has_begun(const struct reader *reader)
{
	return reader->frame->is_innermost &&
	       reader->pc <= gh_prologue_end(reader->values->process->tab, &reader->func);
}

/* Begins a walk over the arguments of a method, which by its SIGNATURE are where the calling
 * convention has them: where it has just begun, and, before registers had any, always. False if
 * they cannot be told so. */
static bool begin_passed(struct reader *reader, const struct gh_signature *signature,
			 struct gh_results *walk)
{
	const struct gh_rtypes *types = reader->values->types;
	const struct gh_process *process = reader->values->process;
	if (signature == NULL || (reader->func.flag & GH_FUNC_ASM) != 0)
		return false;
	if (gh_arch_passes_in_registers(process->tab->image->arch, process->minor) &&
	    !(has_begun(reader) && reader->frame->registers != NULL &&
	      gh_args_in_registers(process->tab) &&
	      gh_parameters_agree(types, signature, process->minor, &reader->places)))
		return false;
	return gh_parameters_begin(walk, types, signature, process->minor);
}

/* Appends those. False if they cannot be told. */
static bool add_passed(struct reader *reader, const struct gh_signature *signature)
{
	struct gh_values *values = reader->values;
	struct gh_results walk;
	struct gh_result passed;
	if (!begin_passed(reader, signature, &walk))
		return false;
	for (unsigned i = 0; gh_parameters_next(&walk, &passed); i++) {
		if (values->types->items[passed.type].size == 0)
			continue;
		gh_value_add(values, "arg%u = ", i);
		gh_value_print_passed(values, &passed, reader->frame->registers, reader->arguments);
		gh_value_add(values, "%s\n", has_begun(reader) ? "" : "?");
	}
	return true;
}

static void add_arguments(struct reader *reader)
{
	const struct gh_arg_places *places = &reader->places;
	for (size_t first = 0; first < places->count;) {
		unsigned number = places->items[first].arg.number;
		size_t end = first + 1;
		while (end < places->count && places->items[end].arg.number == number)
			end++;
		gh_value_add(reader->values, "arg%u = ", number);
		add_argument(reader, first, end - first);
		gh_value_add(reader->values, "\n");
		first = end;
	}
}

/* The frame has made a call at which the compiler tells of its pointers, and that returns to where
 * the frame is. */
static bool has_called(struct reader *reader)
{
	const struct gh_pclntab *tab = reader->values->process->tab;
	struct gh_callsites walk;
	struct gh_callsite site;
	struct gh_callees callees;
	bool found = false;
	uint64_t end = reader->pc + 1 - reader->func.entry;
	if (reader->frame->is_innermost)
		return false;
	if (gh_callees_find(&callees, tab)) {
		gh_callsites_in(&walk, tab->image, reader->func.entry, reader->pc + 1);
		while (!found && gh_callsites_next(&walk, &site))
			found =
			    site.end == end && (site.direct ? gh_callees_have(&callees, site.target)
							    : gh_callsites_check(&walk, &site, 0));
	}
	reader->values->out.failed |= callees.entries.failed;
	gh_callees_free(&callees);
	return found;
}

/* Appends the word OFFSET above SP, a pointer. With the word before it it may be an interface, with
 * the one after it a string, where these are no pointers themselves: not at offsets LAST or NEXT.
 */
static void add_slot(struct reader *reader, uint32_t last, uint32_t offset, uint32_t next)
{
	struct gh_values *values = reader->values;
	uint8_t size = word_size(reader);
	uint64_t address = reader->frame->sp + offset;
	uint64_t words[3] = {0};
	if (!read_word(reader, address, size, &words[1]) || words[1] == 0)
		return;
	read_word(reader, address - size, size, &words[0]);
	read_word(reader, address + size, size, &words[2]);
	size_t before = values->out.size;
	gh_value_add(values, "sp_0x%" PRIx32 " = ", offset - size);
	if (offset < size || last == offset - size ||
	    !gh_value_add_likely_interface(values, words)) {
		values->out.size = before;
		gh_value_add(values, "sp_0x%" PRIx32 " = ", offset);
		if (next == offset + size || !gh_value_add_likely_text(values, &words[1]))
			add_pointer(reader, words[1]);
	}
	gh_value_add(values, "\n");
}

/* The offset of the next word of the frame that holds a pointer; UINT32_MAX if there is none. */
static uint32_t next_slot(const struct reader *reader, struct gh_live_words *walk)
{
	uint32_t offset;
	bool found = gh_live_words_next(walk, &offset) && offset < (uint32_t)reader->delta &&
		     offset < MOST_STACK;
	return found ? offset : UINT32_MAX;
}

/* Appends the words of the frame that hold pointers while it calls, but for its arguments. */
static void add_slots(struct reader *reader)
{
	const struct gh_pclntab *tab = reader->values->process->tab;
	const struct gh_func *func = &reader->func;
	struct gh_stackmaps maps;
	struct gh_live_words walk;
	if (!gh_stackmaps_told(tab) || !gh_stackmaps_find(&maps, tab, func) || !has_called(reader))
		return;
	int32_t index = gh_pcvalue_at(tab, func, gh_stackmaps_table(tab, func), reader->pc);
	gh_live_words_start(&walk, &maps, index, reader->delta);
	uint32_t last = UINT32_MAX;
	uint32_t offset = next_slot(reader, &walk);
	while (offset != UINT32_MAX) {
		uint32_t next = next_slot(reader, &walk);
		add_slot(reader, last, offset, next);
		last = offset;
		offset = next;
	}
}

bool gh_value_print_frame(struct gh_values *values, const struct gh_value_frame *frame,
			  const struct gh_signatures *signatures)
{
	struct reader reader = {.values = values, .frame = frame};
	if (!find_function(&reader))
		return false;
	const struct gh_signature *signature = find_signature(&reader, signatures);
	read_arguments(&reader, signature);
	if (!add_passed(&reader, signature))
		add_arguments(&reader);
	add_slots(&reader);
	return true;
}

/* Appends the argument NUMBER of those of the method to BYTES. */
static uint32_t put_passed(struct reader *reader, struct gh_results *walk, unsigned number,
			   struct gh_buffer *bytes)
{
	struct gh_result passed;
	for (unsigned i = 0; gh_parameters_next(walk, &passed); i++) {
		uint64_t size = reader->values->types->items[passed.type].size;
		if (i != number)
			continue;
		uint8_t *to = size <= MOST_STACK ? gh_buffer_extend(bytes, size) : NULL;
		if (to != NULL && !passed.in_memory) {
			memset(to, 0, size);
			gh_value_take_passed(reader->values->process->tab->image->arch, &passed,
					     reader->frame->registers, to, size);
			return passed.type;
		}
		return to != NULL && gh_process_read(&reader->values->process->memory,
						     reader->arguments + passed.offset, to, size)
			   ? passed.type
			   : GH_NO_RTYPE;
	}
	return GH_NO_RTYPE;
}

/* Finds the words of argument NUMBER: from *FIRST on. Gives how many they are. */
static size_t find_argument(const struct reader *reader, unsigned number, size_t *first)
{
	const struct gh_arg_places *places = &reader->places;
	size_t count = 0;
	*first = 0;
	while (*first < places->count && places->items[*first].arg.number != number)
		++*first;
	while (*first + count < places->count && places->items[*first + count].arg.number == number)
		count++;
	return count;
}

uint32_t gh_value_frame_argument(struct gh_values *values, const struct gh_value_frame *frame,
				 const struct gh_signatures *signatures, unsigned number,
				 struct gh_buffer *bytes, bool *likely)
{
	struct reader reader = {.values = values, .frame = frame};
	struct gh_results walk;
	*likely = true;
	bytes->big_endian = values->process->memory.big_endian;
	if (!find_function(&reader))
		return GH_NO_RTYPE;
	const struct gh_signature *signature = find_signature(&reader, signatures);
	read_arguments(&reader, signature);
	*likely = !reader.in_prologue && !has_begun(&reader);
	if (begin_passed(&reader, signature, &walk))
		return put_passed(&reader, &walk, number, bytes);
	size_t first;
	size_t count = find_argument(&reader, number, &first);
	if (count == 0 || !is_whole(&reader, first, count))
		return GH_NO_RTYPE;
	put_words(&reader, values->types->items[reader.types[first]].size, first, count, bytes);
	return bytes->failed ? GH_NO_RTYPE : reader.types[first];
}

bool gh_value_frame_words(struct gh_values *values, const struct gh_value_frame *frame,
			  const struct gh_signatures *signatures, unsigned number,
			  struct gh_buffer *bytes, bool *likely)
{
	struct reader reader = {.values = values, .frame = frame};
	size_t first;
	bytes->big_endian = values->process->memory.big_endian;
	if (!find_function(&reader))
		return false;
	read_arguments(&reader, find_signature(&reader, signatures));
	*likely = !reader.in_prologue && !has_begun(&reader);
	size_t count = find_argument(&reader, number, &first);
	if (count == 0 || count_known(&reader, first, count) < count ||
	    goes_on(&reader, first, count))
		return false;
	put_words(&reader, extent_of(&reader, first, count), first, count, bytes);
	return !bytes->failed;
}

bool gh_value_print_argument(struct gh_values *values, const struct gh_value_frame *frame,
			     const struct gh_signatures *signatures, unsigned number)
{
	struct reader reader = {.values = values, .frame = frame};
	size_t first;
	if (!find_function(&reader))
		return false;
	read_arguments(&reader, find_signature(&reader, signatures));
	size_t count = find_argument(&reader, number, &first);
	if (count_known(&reader, first, count) == 0)
		return false;
	add_argument(&reader, first, count);
	return true;
}
