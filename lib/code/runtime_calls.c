/* Calls that tell a type: the compiler passes descriptors of types to the functions of the runtime
 * that make maps and the like and work on them, and methods have receivers of their type. On amd64,
 * where arguments are in registers.
 *
 * Sources: src/cmd/compile/internal/walk, src/cmd/compile/abi-internal.md, src/runtime/malloc.go,
 * slice.go, chan.go, map*.go. */
#include <string.h>

#include "lib/code/code_types.h"
#include "lib/code/internal.h"

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

/* The operation of TYPES' program that gh_operation_find has given PLACE. */
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

uint8_t gh_operation_find(const char *name)
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

void gh_operation_apply(const struct gh_rtypes *types, uint8_t place, const struct gh_known *known,
			struct gh_made *made, struct gh_used *used)
{
	const struct operation *operation = operation_at(types, place);
	uint32_t type = type_of(types, operation, known);
	*made = made_by(types, operation, known);
	*used = (struct gh_used){.type = GH_NO_RTYPE};
	if (type != GH_NO_RTYPE && operation->value != NONE &&
	    (types->items[type].kind == GH_KIND_FUNC || agrees(types, type, operation->value_kind)))
		*used = (struct gh_used){type, operation->value_kind,
					 known->registers[operation->value]};
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
	uint8_t place = gh_operation_find(name);
	if (place == 0)
		return gh_keeps_registers(name);
	gh_operation_apply(types, place, known, made, used);
	if (used->type != GH_NO_RTYPE && types->items[used->type].kind == GH_KIND_FUNC)
		used->type = GH_NO_RTYPE;
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
