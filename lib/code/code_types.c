/* What the code of a program says of the types of its globals, and of closures: the compiler passes
 * descriptors of types to the functions of the runtime that make maps and the like and work on
 * them, and methods have receivers of their type. On amd64, where arguments are in registers.
 *
 * Sources: src/cmd/compile/internal/walk, src/cmd/compile/abi-internal.md, src/runtime/malloc.go,
 * slice.go, chan.go, map*.go. */
#include <stdlib.h>
#include <string.h>

#include "lib/code/code_types.h"
#include "lib/code/internal.h"
#include "lib/util/bsearch.h"
#include "lib/util/parallel.h"

/* How many pieces the functions are read in. */
#define PIECES 32

/* Registers, as instructions number them. */
enum { RAX = 0, RCX = 1, RBX = 3, RSI = 6, NONE = GH_X86_REGISTERS };

/* What a function of the runtime does with a type. */
struct operation {
	const char *name;    /* the function's, or what it begins with, as IS_PREFIX says */
	bool is_prefix;      /* of several functions */
	uint8_t type;        /* the register that has the address of the type's descriptor */
	uint8_t value;       /* the one that has a value of it, or NONE */
	uint8_t result_kind; /* what the result is; if HAS_RESULT */
	uint8_t value_kind;  /* what the value is */
	bool has_result;
	const char *in_dictionary; /* the register has a dictionary's address instead: what the
				      type's text begins with; or NULL */
};

static const struct operation operations[] = {
    {"runtime.newobject", false, RAX, NONE, GH_CODE_POINTER, 0, true, NULL},
    /* newobject for a size that is known, from Go 1.26 on */
    {"runtime.mallocgcSmallScanNoHeaderSC", true, RBX, NONE, GH_CODE_POINTER, 0, true, NULL},
    {"runtime.mallocgcSmallNoScanSC", true, RBX, NONE, GH_CODE_POINTER, 0, true, NULL},
    {"runtime.mallocgcTinySC", true, RBX, NONE, GH_CODE_POINTER, 0, true, NULL},
    {"runtime.mallocgc", false, RBX, NONE, GH_CODE_POINTER, 0, true, NULL},
    /* interfaces' data */
    {"runtime.convT", false, RAX, NONE, GH_CODE_POINTER, 0, true, NULL},
    {"runtime.convTnoptr", false, RAX, NONE, GH_CODE_POINTER, 0, true, NULL},
    {"runtime.makemap", false, RAX, RCX, GH_CODE_VALUE, GH_CODE_VALUE, true, NULL},
    {"runtime.makemap64", false, RAX, RCX, GH_CODE_VALUE, GH_CODE_VALUE, true, NULL},
    {"runtime.makechan", false, RAX, NONE, GH_CODE_VALUE, 0, true, NULL},
    {"runtime.makechan64", false, RAX, NONE, GH_CODE_VALUE, 0, true, NULL},
    {"runtime.makeslice", false, RAX, NONE, GH_CODE_SLICE, 0, true, NULL},
    {"runtime.makeslice64", false, RAX, NONE, GH_CODE_SLICE, 0, true, NULL},
    {"runtime.makeslicecopy", false, RAX, NONE, GH_CODE_SLICE, 0, true, NULL},
    {"runtime.growslice", true, RSI, RAX, GH_CODE_SLICE, GH_CODE_SLICE, true, NULL},
    {"runtime.mapaccess", true, RAX, RBX, 0, GH_CODE_VALUE, false, NULL},
    {"runtime.mapassign", true, RAX, RBX, 0, GH_CODE_VALUE, false, NULL},
    {"runtime.mapdelete", true, RAX, RBX, 0, GH_CODE_VALUE, false, NULL},
    {"runtime.mapiterinit", false, RAX, RBX, 0, GH_CODE_VALUE, false, NULL},
    {"runtime.mapIterStart", false, RAX, RBX, 0, GH_CODE_VALUE, false, NULL},
    {"runtime.mapclear", false, RAX, RBX, 0, GH_CODE_VALUE, false, NULL},
    {"runtime.AddCleanup[", true, RAX, RCX, 0, GH_CODE_POINTER, false, "func("},
    /* its methods, from Go 1.24 on */
    {"internal/sync.(*HashTrieMap[", true, RBX, RAX, 0, GH_CODE_POINTER, false,
     "*sync.HashTrieMap["},
};

/* The first arguments of growslice to Go 1.19: the type came first. */
static const struct operation old_growslice = {"runtime.growslice", true,          RAX,  RBX,
					       GH_CODE_SLICE,       GH_CODE_SLICE, true, NULL};

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
	bool failed; /* memory ran out */
};

/* The operation of TYPES' program that find_operation has given PLACE. */
static const struct operation *operation_at(const struct gh_rtypes *types, uint8_t place)
{
	const struct operation *operation = &operations[place - 1];
	bool is_old = types->tab->format < GH_PCLNTAB_1_20 &&
		      strcmp(operation->name, old_growslice.name) == 0;
	return is_old ? &old_growslice : operation;
}

/* Function NAME is a closure in a method. */
static bool is_in_method(const char *name)
{
	const char *receiver = strrchr(name, ')');
	return receiver != NULL && receiver[1] == '.' && strchr(receiver + 2, '.') != NULL;
}

/* The place, and 1, of what function NAME does; 0 if it is none of those. */
static uint8_t find_operation(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		size_t length = strlen(operations[i].name);
		if (operations[i].is_prefix ? strncmp(name, operations[i].name, length) == 0
					    : strcmp(name, operations[i].name) == 0)
			return is_in_method(name) ? 0 : (uint8_t)(i + 1);
	}
	return 0;
}

bool gh_keeps_registers(const char *name)
{
	static const char barrier[] = "runtime.gcWriteBarrier";
	return strncmp(name, barrier, strlen(barrier)) == 0;
}

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
		finder->does[i] = find_operation(name);
		finder->keeps[i] = gh_keeps_registers(name);
	}
	return true;
}

/* The type that OPERATION is told of, as KNOWN has it; GH_NO_RTYPE if that is not known. */
static uint32_t type_of(const struct gh_rtypes *types, const struct operation *operation,
			const struct gh_known *known)
{
	const struct gh_value *value = &known->registers[operation->type];
	uint64_t address = (uint64_t)value->offsets[0];
	if (value->from != GH_VALUE_GLOBAL || value->nloads > 0)
		return GH_NO_RTYPE;
	if (operation->in_dictionary == NULL)
		return gh_rtypes_at(types, address);
	uint32_t type = gh_dictionary_type(types, address, operation->in_dictionary);
	bool is_pointer = type != GH_NO_RTYPE && types->items[type].kind == GH_KIND_POINTER;
	return is_pointer ? gh_rtype_elem(types, &types->items[type]) : type;
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

/* VALUE is of TYPE, as KIND says. */
static void take(struct finder *finder, const struct gh_value *value, uint32_t type, uint8_t kind)
{
	struct gh_code_type made = make_type(value, type, kind);
	if (kind != GH_CODE_POINTER && value->nloads == 0)
		return;
	if (is_of_global(finder, value))
		gh_vector_push(&finder->found.globals, made);
	else if (is_of_argument(value))
		gh_vector_push(&finder->uses, (struct use){finder->function, made});
}

/* A map, channel or slice is of a type that is one. */
static bool agrees(const struct gh_rtypes *types, uint32_t type, uint8_t kind)
{
	uint8_t is = types->items[type].kind;
	return kind != GH_CODE_VALUE || is == GH_KIND_MAP || is == GH_KIND_CHAN;
}

/* What OPERATION makes where KNOWN is known. */
static struct gh_made made_by(const struct gh_rtypes *types, const struct operation *operation,
			      const struct gh_known *known)
{
	struct gh_made made = {GH_NO_RTYPE, operation->result_kind};
	uint32_t type = type_of(types, operation, known);
	if (type != GH_NO_RTYPE && operation->has_result &&
	    agrees(types, type, operation->result_kind))
		made.type = type;
	return made;
}

bool gh_code_call(const struct gh_rtypes *types, uint64_t callee, const struct gh_known *known,
		  struct gh_made *made, struct gh_used *used)
{
	struct gh_func func;
	size_t index = callee != 0 ? gh_pclntab_find(types->tab, callee) : SIZE_MAX;
	*made = (struct gh_made){.type = GH_NO_RTYPE};
	*used = (struct gh_used){.type = GH_NO_RTYPE};
	if (index == SIZE_MAX || !gh_pclntab_record(types->tab, index, &func, NULL))
		return false;
	const char *name = gh_pclntab_name(types->tab, func.name);
	uint8_t place = find_operation(name);
	if (place == 0)
		return gh_keeps_registers(name);
	const struct operation *operation = operation_at(types, place);
	uint32_t type = type_of(types, operation, known);
	*made = made_by(types, operation, known);
	if (type != GH_NO_RTYPE && operation->value != NONE &&
	    types->items[type].kind != GH_KIND_FUNC && agrees(types, type, operation->value_kind))
		*used = (struct gh_used){type, operation->value_kind,
					 known->registers[operation->value]};
	return false;
}

struct gh_used gh_code_receiver(const struct gh_rtypes *types,
				const struct gh_signatures *signatures, uint64_t callee,
				const struct gh_known *known)
{
	struct gh_used used = {.type = GH_NO_RTYPE, .value = known->registers[RAX]};
	const struct gh_signature *signature = gh_signature_at(signatures, callee);
	if (signature == NULL || signature->receiver == GH_NO_RTYPE)
		return used;
	const struct gh_rtype *receiver = &types->items[signature->receiver];
	if (receiver->kind == GH_KIND_POINTER)
		used.type = gh_rtype_elem(types, receiver);
	else if (receiver->kind == GH_KIND_MAP || receiver->kind == GH_KIND_CHAN)
		used.type = signature->receiver;
	used.kind = receiver->kind == GH_KIND_POINTER ? GH_CODE_POINTER : GH_CODE_VALUE;
	return used;
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

static struct gh_made take_operation(struct finder *finder, const struct gh_known *known,
				     const struct operation *operation)
{
	uint32_t type = type_of(finder->types, operation, known);
	const struct gh_value *value = &known->registers[operation->value % GH_X86_REGISTERS];
	if (type == GH_NO_RTYPE || operation->value == NONE)
		return made_by(finder->types, operation, known);
	if (finder->types->items[type].kind == GH_KIND_FUNC)
		take_function(finder, value, type);
	else if (agrees(finder->types, type, operation->value_kind))
		take(finder, value, type, operation->value_kind);
	return made_by(finder->types, operation, known);
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
		result = take_operation(finder, &reading->known,
					operation_at(finder->types, finder->does[index]));
	} else if (index != SIZE_MAX && first->from != GH_VALUE_UNKNOWN) {
		struct gh_used used =
		    gh_code_receiver(finder->types, &finder->signatures, callee, &reading->known);
		if (used.type != GH_NO_RTYPE)
			take(finder, &used.value, used.type, used.kind);
		if (is_of_global(finder, first))
			gh_vector_push(&finder->passes,
				       (struct pass){callee, make_type(first, 0, 0)});
	}
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
	take(finder, &word, result->type, result->kind);
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

static bool read_function(struct finder *finder, const struct gh_func *func)
{
	struct gh_reading reading = {
	    .follows = true, .context = finder, .on_call = take_call, .on_store = take_store};
	finder->function = func->entry;
	finder->results.count = 0;
	if (gh_reading_start(&reading, finder->types->tab, func))
		gh_reading_run(&reading);
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
