/* Types of a program's globals, and of closures, by the calls that its code makes with them, and by
 * the results of calls that it stores. On amd64, where arguments are in registers. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/code_types.h"
#include "lib/code/internal.h"
#include "lib/util/bsearch.h"
#include "lib/util/parallel.h"

/* How many pieces the functions are read in. */
#define PIECES 32

enum { RAX = 0 };

/* What a function does with what its first argument leads to. */
struct use {
	uint64_t function; /* its entry */
	struct gh_code_type type;
};

/* A function is called with what a global leads to, first. */
struct pass {
	uint64_t function; /* its entry */
	struct gh_code_type from;
};

struct finder {
	struct gh_code_types found;
	const struct gh_rtypes *types;
	struct gh_signatures signatures;
	uint8_t *does;                     /* by function: the operation's place, and 1; owned */
	uint8_t *keeps;                    /* by function: it keeps all registers; owned */
	uint64_t start, end;               /* of the globals */
	uint64_t function;                 /* entry of the one that is read */
	struct gh_made_list results;       /* of its calls */
	struct GH_VECTOR(struct use) uses; /* by function, once all are read */
	struct GH_VECTOR(struct pass) passes;
	bool carries; /* a jump goes back with what a call has made */
	bool failed;  /* memory ran out */
};

static bool find_functions(struct finder *finder)
{
	const struct gh_pclntab *tab = finder->types->tab;
	finder->does = calloc(tab->nfunc + 1, 1);
	finder->keeps = calloc(tab->nfunc + 1, 1);
	if (finder->does == NULL || finder->keeps == NULL)
		return false;
	for (size_t i = 0; i < tab->nfunc; i++) {
		struct gh_func func;
		if (!gh_pclntab_record(tab, i, &func, NULL))
			continue;
		const char *name = gh_pclntab_name(tab, func.name);
		if (strncmp(name, "runtime.", strlen("runtime.")) != 0 &&
		    strncmp(name, "internal/sync.", strlen("internal/sync.")) != 0)
			continue;
		finder->does[i] = gh_operation_find(name);
		finder->keeps[i] = gh_keeps_registers(name);
	}
	return true;
}

/* VALUE is made of a global, or of a word that a global leads to. */
static bool is_of_global(const struct finder *finder, const struct gh_value *value)
{
	return value->from == GH_VALUE_GLOBAL &&
	       (uint64_t)value->offsets[0] - finder->start < finder->end - finder->start;
}

/* VALUE is made of the first argument: no other can be the second word of an interface, whose type
 * the function asked for. */
static bool is_of_argument(const struct gh_value *value)
{
	return value->from == GH_VALUE_ARGUMENT && value->number == RAX;
}

static struct gh_code_type make_type(const struct gh_value *value, uint32_t type, uint8_t kind)
{
	struct gh_code_type made = {.type = type, .kind = kind, .nloads = value->nloads};
	memcpy(made.offsets, value->offsets, sizeof(made.offsets));
	return made;
}

/* VALUE is of TYPE, if it is made of a global or the first argument. */
static void take_type(struct finder *finder, const struct gh_value *value,
		      const struct gh_code_type *type)
{
	if (type->kind != GH_CODE_POINTER && value->nloads == 0)
		return;
	if (is_of_global(finder, value))
		gh_vector_push(&finder->found.globals, *type);
	else if (is_of_argument(value))
		gh_vector_push(&finder->uses, (struct use){finder->function, *type});
}

/* VALUE is of TYPE, as KIND says. */
static void take(struct finder *finder, const struct gh_value *value, uint32_t type, uint8_t kind)
{
	struct gh_code_type made = make_type(value, type, kind);
	take_type(finder, value, &made);
}

/* The closure at the address VALUE, which the linker made, is a function of TYPE. */
static void take_function(struct finder *finder, const struct gh_value *value, uint32_t type)
{
	const struct gh_pclntab *tab = finder->types->tab;
	struct gh_cursor closure;
	if (value->from != GH_VALUE_GLOBAL || value->nloads > 0 ||
	    !gh_image_at(tab->image, (uint64_t)value->offsets[0], &closure))
		return;
	uint64_t entry = gh_cursor_uint(&closure, tab->pointer_size);
	if (!closure.failed && gh_pclntab_find(tab, entry) != SIZE_MAX)
		gh_vector_push(&finder->found.functions, (struct gh_entry_type){entry, type});
}

/* What the operation that has PLACE makes, where KNOWN is known. */
static struct gh_made take_operation(struct finder *finder, const struct gh_known *known,
				     uint8_t place)
{
	struct gh_made made;
	struct gh_used used;
	gh_operation_apply(finder->types, place, known, &made, &used);
	if (used.type != GH_NO_RTYPE && finder->types->items[used.type].kind == GH_KIND_FUNC)
		take_function(finder, &used.value, used.type);
	else if (used.type != GH_NO_RTYPE)
		take(finder, &used.value, used.type, used.kind);
	return made;
}

static bool take_call(struct gh_reading *reading, size_t at, uint64_t callee)
{
	struct finder *finder = reading->context;
	const struct gh_pclntab *tab = finder->types->tab;
	const struct gh_value *first = &reading->known.registers[RAX];
	struct gh_made result = {.type = GH_NO_RTYPE};
	size_t index = callee != 0 ? gh_pclntab_find(tab, callee) : SIZE_MAX;
	(void)at;
	if (index != SIZE_MAX && finder->keeps[index])
		return true;
	if (index != SIZE_MAX && finder->does[index] != 0) {
		result = take_operation(finder, &reading->known, finder->does[index]);
	} else if (index != SIZE_MAX && first->from != GH_VALUE_UNKNOWN) {
		struct gh_used used =
		    gh_code_receiver(finder->types, &finder->signatures, callee, &reading->known);
		if (used.type != GH_NO_RTYPE)
			take(finder, &used.value, used.type, used.kind);
		if (is_of_global(finder, first))
			gh_vector_push(&finder->passes,
				       (struct pass){callee, make_type(first, 0, 0)});
	}
	if (reading->ncalls < finder->results.count)
		finder->results.items[reading->ncalls] = result;
	else
		gh_vector_push(&finder->results, result);
	return false;
}

static void take_store(struct gh_reading *reading, const struct gh_value *address,
		       const struct gh_value *value)
{
	struct finder *finder = reading->context;
	struct gh_entry_type closure;
	if (gh_closure_stored(finder->types, &finder->results, address, value, &closure))
		gh_vector_push(&finder->found.closures, closure);
	const struct gh_made *result = gh_made_by_call(&finder->results, value);
	if (result == NULL || address->nloads == GH_RECEIVER_LOADS)
		return;
	struct gh_value word = *address;
	word.offsets[++word.nloads] = 0;
	struct gh_code_type made = make_type(&word, result->type, result->kind);
	made.is_stored = true;
	take_type(finder, &word, &made);
}

/* The next reading has more to say if a call's result is in a register. */
static void take_jump_back(struct gh_reading *reading)
{
	struct finder *finder = reading->context;
	for (size_t i = 0; i < GH_X86_REGISTERS && !finder->carries; i++)
		finder->carries =
		    gh_made_by_call(&finder->results, &reading->known.registers[i]) != NULL;
}

static int compare_uses(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	return (x->function > y->function) - (x->function < y->function);
}

/* Adds what USE says of what its function is called with. */
static void combine(struct finder *finder, const struct gh_code_type *from,
		    const struct gh_code_type *use)
{
	struct gh_code_type type = *from;
	if (from->nloads + use->nloads > GH_RECEIVER_LOADS)
		return;
	type.type = use->type;
	type.kind = use->kind;
	type.is_stored = use->is_stored;
	type.offsets[type.nloads] += use->offsets[0];
	for (unsigned i = 1; i <= use->nloads; i++)
		type.offsets[++type.nloads] = use->offsets[i];
	gh_vector_push(&finder->found.globals, type);
}

static void combine_all(struct finder *finder)
{
	const struct use *uses = finder->uses.items;
	size_t count = finder->uses.count;
	if (count > 0)
		qsort(finder->uses.items, count, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < finder->passes.count; i++) {
		const struct pass *pass = &finder->passes.items[i];
		size_t at = gh_lower_bound(count, k, uses[k].function < pass->function);
		for (; at < count && uses[at].function == pass->function; at++)
			combine(finder, &pass->from, &uses[at].type);
	}
}

static int compare_words(const void *a, const void *b)
{
	const struct gh_code_type *const *x = a, *const *y = b;
	if ((*x)->nloads != (*y)->nloads)
		return (*x)->nloads < (*y)->nloads ? -1 : 1;
	return memcmp((*x)->offsets, (*y)->offsets, ((*x)->nloads + 1U) * sizeof(*(*x)->offsets));
}

/* The word of WORD may be an unsafe.Pointer if a pointer to another type is stored in it. Arrays
 * apart: slices have those of any length. */
static bool is_of_one_type(const struct finder *finder, const struct gh_code_type *word)
{
	return word->is_stored && word->kind == GH_CODE_POINTER &&
	       finder->types->items[word->type].kind != GH_KIND_ARRAY;
}

/* Leaves out those words that pointers to several types are stored in. False if memory ran out. */
static bool drop_disputed(struct finder *finder)
{
	struct gh_code_type *all = finder->found.globals.items;
	size_t count = finder->found.globals.count, nwords = 0, kept = 0;
	struct gh_code_type **words = malloc((count + 1) * sizeof(struct gh_code_type *));
	if (words == NULL)
		return false;
	for (size_t i = 0; i < count; i++)
		if (is_of_one_type(finder, &all[i]))
			words[nwords++] = &all[i];
	qsort(words, nwords, sizeof(struct gh_code_type *), compare_words);
	for (size_t i = 0, end; i < nwords; i = end) {
		bool agree = true;
		for (end = i + 1; end < nwords && compare_words(&words[i], &words[end]) == 0; end++)
			agree = agree && words[end]->type == words[i]->type;
		for (size_t k = i; k < end && !agree; k++)
			words[k]->type = GH_NO_RTYPE;
	}
	for (size_t i = 0; i < count; i++)
		if (all[i].type != GH_NO_RTYPE)
			all[kept++] = all[i];
	finder->found.globals.count = kept;
	free(words);
	return true;
}

static int compare_types(const void *a, const void *b)
{
	const struct gh_entry_type *x = a, *y = b;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Sorts LIST, and leaves those types on which all that say one of a function agree. */
static void sort_types(struct gh_entry_types *list)
{
	struct gh_entry_type *items = list->items;
	size_t count = list->count, kept = 0;
	if (count > 0)
		qsort(items, count, sizeof(*items), compare_types);
	for (size_t i = 0, end; i < count; i = end) {
		bool agree = true;
		for (end = i + 1; end < count && items[end].entry == items[i].entry; end++)
			agree = agree && items[end].type == items[i].type;
		if (agree)
			items[kept++] = items[i];
	}
	list->count = kept;
}

/* Forgets what was found since FINDER was as BEFORE. */
static void forget(struct finder *finder, const struct finder *before)
{
	finder->found.globals.count = before->found.globals.count;
	finder->found.closures.count = before->found.closures.count;
	finder->found.functions.count = before->found.functions.count;
	finder->uses.count = before->uses.count;
	finder->passes.count = before->passes.count;
}

static bool read_function(struct finder *finder, const struct gh_func *func)
{
	struct gh_reading reading = {.follows = true,
				     .context = finder,
				     .on_call = take_call,
				     .on_store = take_store,
				     .on_jump_back = take_jump_back};
	const struct finder before = *finder;
	finder->function = func->entry;
	finder->results.count = 0;
	finder->carries = false;
	if (gh_reading_start(&reading, finder->types->tab, func))
		gh_reading_run(&reading);
	if (finder->carries) {
		forget(finder, &before);
		gh_reading_run_again(&reading);
	}
	bool ok = !gh_reading_failed(&reading);
	gh_reading_free(&reading);
	return ok;
}

/* The functions are read in pieces, each by a finder of its own. */
static void read_piece(void *context, uint32_t number)
{
	struct finder *finder = (struct finder *)context + number;
	const struct gh_pclntab *tab = finder->types->tab;
	bool ok = true;
	for (size_t i = number; i < tab->nfunc && ok; i += PIECES) {
		struct gh_func func;
		/* The runtime's own globals lead to all its memory, and to nothing of the
		 * program's. */
		if (gh_pclntab_record(tab, i, &func, NULL) &&
		    strncmp(gh_pclntab_name(tab, func.name), "runtime.", 8) != 0)
			ok = read_function(finder, &func);
	}
	finder->failed = !ok || finder->results.failed;
	gh_vector_free(&finder->results);
}

/* Appends the items of vector FROM to those of TO, and frees it. */
#define MOVE_ALL(to, from)                                                                         \
	do {                                                                                       \
		for (size_t i_ = 0; i_ < (from)->count; i_++)                                      \
			gh_vector_push(to, (from)->items[i_]);                                     \
		(to)->failed |= (from)->failed;                                                    \
		gh_vector_free(from);                                                              \
	} while (0)

/* Reads all functions. False if memory ran out. */
static bool read_all(struct finder *finder)
{
	struct finder *pieces = malloc(PIECES * sizeof(*pieces));
	for (size_t i = 0; pieces != NULL && i < PIECES; i++)
		pieces[i] = *finder;
	if (pieces == NULL)
		return false;
	gh_parallel(PIECES, read_piece, pieces);
	for (size_t i = 0; i < PIECES; i++) {
		finder->failed |= pieces[i].failed;
		MOVE_ALL(&finder->uses, &pieces[i].uses);
		MOVE_ALL(&finder->passes, &pieces[i].passes);
		MOVE_ALL(&finder->found.globals, &pieces[i].found.globals);
		MOVE_ALL(&finder->found.closures, &pieces[i].found.closures);
		MOVE_ALL(&finder->found.functions, &pieces[i].found.functions);
	}
	free(pieces);
	return !finder->failed && !finder->uses.failed && !finder->passes.failed;
}

bool gh_code_types_find(struct gh_code_types *found, const struct gh_rtypes *types, uint64_t start,
			uint64_t end, struct gh_error *err)
{
	struct finder finder = {.types = types, .start = start, .end = end};
	*found = (struct gh_code_types){0};
	if (types->tab->image->arch->isa != GH_ISA_AMD64 || types->tab->format < GH_PCLNTAB_1_18)
		return true;
	if (!gh_signatures_find(&finder.signatures, types, err))
		return false;
	bool ok = find_functions(&finder) && read_all(&finder);
	combine_all(&finder);
	ok = ok && drop_disputed(&finder);
	sort_types(&finder.found.closures);
	sort_types(&finder.found.functions);
	*found = finder.found;
	found->signatures = finder.signatures;
	free(finder.does);
	free(finder.keeps);
	gh_vector_free(&finder.uses);
	gh_vector_free(&finder.passes);
	ok = ok && !found->globals.failed && !found->closures.failed && !found->functions.failed;
	return ok || gh_fail_memory(err, types->tab->image->path);
}

/* The type that LIST has for ENTRY. */
static uint32_t type_at(const struct gh_entry_types *list, uint64_t entry)
{
	const struct gh_entry_type *items = list->items;
	size_t at = gh_lower_bound(list->count, i, items[i].entry < entry);
	return at < list->count && items[at].entry == entry ? items[at].type : GH_NO_RTYPE;
}

uint32_t gh_code_types_closure(const struct gh_code_types *found, uint64_t entry)
{
	return type_at(&found->closures, entry);
}

uint32_t gh_code_types_parameter(const struct gh_code_types *found, const struct gh_rtypes *types,
				 uint64_t entry)
{
	struct gh_rtype_part part;
	bool variadic;
	uint32_t type = type_at(&found->functions, entry);
	return type != GH_NO_RTYPE &&
		       gh_rtype_parameters(types, &types->items[type], &variadic) > 0 &&
		       gh_rtype_part(types, &types->items[type], 0, &part)
		   ? part.type
		   : GH_NO_RTYPE;
}

void gh_code_types_free(struct gh_code_types *found)
{
	gh_signatures_free(&found->signatures);
	gh_vector_free(&found->globals);
	gh_vector_free(&found->closures);
	gh_vector_free(&found->functions);
}
