#include "lib/typing/typing.h"

#include <stdlib.h>

#include "lib/typing/internal.h"
#include "lib/util/bsearch.h"

/* The deepest nesting of blocks in a function that is followed. */
#define MAX_DEPTH 64

/* Since its header says which release it is, libdwarf has fewer arguments and another name. */
#ifdef DW_LIBDWARF_VERSION_MAJOR
#define open_dwarf(path, handler, dwarf, error)                                                    \
	dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, handler, NULL, dwarf, error)
#define close_dwarf(dwarf) dwarf_finish(dwarf)
#else
#define open_dwarf(path, handler, dwarf, error)                                                    \
	dwarf_init_path(path, NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, handler, NULL, dwarf,      \
			NULL, 0, NULL, error)
#define close_dwarf(dwarf)       dwarf_finish(dwarf, NULL)
#define dwarf_dealloc_loc_head_c dwarf_loc_head_c_dealloc
#endif

struct reader {
	struct gh_variables *variables;
	struct gh_dwarf_layouts layouts;
	Dwarf_Debug dwarf;
	const uint64_t *pcs;
	size_t npcs;
	uint64_t type; /* offset of the entry of the type of the variable that is read */
};

/* A function, or a block in one. */
struct scope {
	Dwarf_Die next; /* of its children, to be freed; NULL if none is left */
	uint64_t low;   /* its code */
	uint64_t high;  /* one past it */
	bool whole;     /* that is all of it, and all of that is its */
	bool inlined;   /* it is an inlined call, or in one */
};

/* libdwarf ends the process on an error that it cannot tell of. */
static void pass_over(Dwarf_Error error, Dwarf_Ptr argument)
{
	(void)error;
	(void)argument;
}

/* The places in the code from LOW on. */
static size_t first_pc(const struct reader *reader, uint64_t low)
{
	return gh_lower_bound(reader->npcs, i, reader->pcs[i] < low);
}

/* The code of DIE. False if it does not say, or it is in several pieces. */
static bool read_range(Dwarf_Die die, uint64_t *low, uint64_t *high)
{
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Half form;
	enum Dwarf_Form_Class form_class;
	if (dwarf_lowpc(die, &start, NULL) != DW_DLV_OK ||
	    dwarf_highpc_b(die, &end, &form, &form_class, NULL) != DW_DLV_OK)
		return false;
	*low = start;
	*high = form_class == DW_FORM_CLASS_ADDRESS ? end : start + end;
	return true;
}

static void add(struct reader *reader, const struct gh_variable *variable)
{
	if (variable->size == 0 || variable->layout == GH_NO_LAYOUT)
		return;
	struct gh_variables *all = reader->variables;
	gh_vector_push(variable->pc == 0 ? &all->globals : &all->locals, *variable);
}

/* Adds VARIABLE at all that LOCATION says, as pieces if it is in several. In Go's DWARF a frame's
 * base is its end, and a variable that was moved to the heap has its pointer followed. To Go 1.7
 * the place in the frame is added to that. */
static void add_pieces(struct reader *reader, Dwarf_Locdesc_c location, Dwarf_Unsigned count,
		       const struct gh_variable *variable)
{
	struct gh_variable piece = *variable;
	uint64_t size = variable->size;
	uint64_t addend = 0;
	bool in_memory = false;
	Dwarf_Small op;
	Dwarf_Unsigned operand;
	Dwarf_Unsigned unused;
	for (Dwarf_Unsigned i = 0; i < count; i++) {
		if (dwarf_get_location_op_value_c(location, i, &op, &operand, &unused, &unused,
						  &unused, NULL) != DW_DLV_OK)
			return;
		switch (op) {
		case DW_OP_fbreg:
		case DW_OP_call_frame_cfa:
		case DW_OP_addr:
			piece.start = op == DW_OP_call_frame_cfa ? 0 : operand;
			in_memory = (op == DW_OP_addr) == (variable->pc == 0);
			break;
		case DW_OP_consts:
			addend = operand;
			break;
		case DW_OP_plus:
			piece.start += addend;
			break;
		case DW_OP_deref:
			piece.layout = gh_dwarf_layout_pointer(&reader->layouts, reader->type);
			piece.size = size = reader->layouts.layouts->word;
			break;
		case DW_OP_piece:
			piece.size = operand;
			if (in_memory && operand <= size)
				add(reader, &piece);
			piece.offset += operand;
			size -= operand <= size ? operand : size;
			in_memory = false;
			break;
		default:
			in_memory = false;
		}
	}
	if (in_memory && piece.offset == 0)
		add(reader, &piece);
}

/* Adds VARIABLE where ATTRIBUTE says that it is: a global, if SCOPE is NULL, or a local, which is
 * in one place in all of SCOPE, if its code is known, or in some in ranges. */
static void add_places(struct reader *reader, Dwarf_Attribute attribute,
		       struct gh_variable *variable, const struct scope *scope)
{
	Dwarf_Loc_Head_c head;
	Dwarf_Unsigned count;
	if (dwarf_get_loclist_c(attribute, &head, &count, NULL) != DW_DLV_OK)
		return;
	for (Dwarf_Unsigned i = 0; i < count; i++) {
		Dwarf_Small kind;
		Dwarf_Small source;
		Dwarf_Unsigned raw;
		Dwarf_Unsigned nops;
		Dwarf_Unsigned unused;
		Dwarf_Bool missing;
		Dwarf_Addr low;
		Dwarf_Addr high;
		Dwarf_Locdesc_c location;
		if (dwarf_get_locdesc_entry_d(head, i, &kind, &raw, &unused, &missing, &low, &high,
					      &nops, &location, &source, &unused, &unused,
					      NULL) != DW_DLV_OK)
			break;
		if (source == DW_LKIND_expression) {
			if (scope == NULL)
				add_pieces(reader, location, nops, variable);
			if (scope == NULL || !scope->whole)
				continue;
			low = scope->low;
			high = scope->high;
		} else if (scope == NULL || missing || nops == 0 ||
			   (scope->inlined && !scope->whole)) {
			continue;
		} else if (scope->inlined) {
			/* The list goes on where the value stays there after the call. */
			low = low > scope->low ? low : scope->low;
			high = high < scope->high ? high : scope->high;
		}
		for (size_t j = first_pc(reader, low); j < reader->npcs && reader->pcs[j] < high;
		     j++) {
			variable->pc = reader->pcs[j];
			add_pieces(reader, location, nops, variable);
		}
	}
	dwarf_dealloc_loc_head_c(head);
}

/* Names VARIABLE and finds its type, in DIE or in what that is a copy of. */
static bool describe(struct reader *reader, Dwarf_Die die, struct gh_variable *variable)
{
	uint64_t origin;
	uint64_t *type = &reader->type;
	variable->name = gh_dwarf_name(die);
	bool typed = gh_dwarf_reference(die, DW_AT_type, type);
	if (!typed && gh_dwarf_reference(die, DW_AT_abstract_origin, &origin)) {
		Dwarf_Die original = gh_dwarf_at(reader->dwarf, origin);
		if (original == NULL)
			return false;
		variable->name = gh_dwarf_name(original);
		typed = gh_dwarf_reference(original, DW_AT_type, type);
		gh_dwarf_free(reader->dwarf, original);
	}
	variable->layout = typed ? gh_dwarf_layout(&reader->layouts, *type) : GH_NO_LAYOUT;
	if (variable->layout == GH_NO_LAYOUT)
		return false;
	variable->size = gh_layout(reader->layouts.layouts, variable->layout)->size;
	return true;
}

/* Notes the type of DIE, the first parameter of a function whose code begins at PC. */
static void add_parameter(struct reader *reader, Dwarf_Die die, uint64_t pc)
{
	struct gh_variable parameter = {.pc = pc};
	if (describe(reader, die, &parameter))
		gh_vector_push(&reader->variables->first, parameter);
}

/* Adds the variable DIE: a local in SCOPE, or a global if that is NULL. */
static void add_variable(struct reader *reader, Dwarf_Die die, const struct scope *scope)
{
	struct gh_variable variable = {0};
	Dwarf_Attribute attribute;
	if (dwarf_attr(die, DW_AT_location, &attribute, NULL) != DW_DLV_OK)
		return;
	if (describe(reader, die, &variable))
		add_places(reader, attribute, &variable, scope);
	dwarf_dealloc_attribute(attribute);
}

/* The scope of the children of DIE, which is in OUTER, or a function if that is NULL. */
static struct scope open_scope(Dwarf_Die die, const struct scope *outer)
{
	struct scope scope = {.whole = false};
	if (read_range(die, &scope.low, &scope.high))
		scope.whole = outer == NULL || outer->whole;
	else if (outer != NULL)
		scope = *outer, scope.whole = false;
	scope.inlined =
	    (outer != NULL && outer->inlined) || gh_dwarf_tag(die) == DW_TAG_inlined_subroutine;
	scope.next = gh_dwarf_child(die);
	return scope;
}

static bool is_scope(Dwarf_Half tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine;
}

/* Adds the variables of the function DIE, and of the blocks and inlined calls in it. */
static void read_function(struct reader *reader, Dwarf_Die die)
{
	struct scope scopes[MAX_DEPTH];
	size_t depth = 1;
	bool has_parameter = false;
	scopes[0] = open_scope(die, NULL);
	size_t first = first_pc(reader, scopes[0].low);
	if (!scopes[0].whole || first == reader->npcs || reader->pcs[first] >= scopes[0].high)
		depth = 0;
	if (depth == 0 && scopes[0].next != NULL)
		gh_dwarf_free(reader->dwarf, scopes[0].next);
	while (depth > 0) {
		struct scope *scope = &scopes[depth - 1];
		Dwarf_Die child = scope->next;
		if (child == NULL) {
			depth--;
			continue;
		}
		Dwarf_Half tag = gh_dwarf_tag(child);
		if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
			add_variable(reader, child, scope);
		if (tag == DW_TAG_formal_parameter && depth == 1 && !has_parameter) {
			has_parameter = true;
			if (reader->pcs[first] == scope->low)
				add_parameter(reader, child, scope->low);
		}
		if (is_scope(tag) && depth < MAX_DEPTH)
			scopes[depth++] = open_scope(child, scope);
		scope->next = gh_dwarf_sibling(reader->dwarf, child);
	}
}

static void read_unit(struct reader *reader, Dwarf_Die unit)
{
	Dwarf_Die child = gh_dwarf_child(unit);
	for (; child != NULL; child = gh_dwarf_sibling(reader->dwarf, child)) {
		Dwarf_Half tag = gh_dwarf_tag(child);
		if (tag == DW_TAG_variable)
			add_variable(reader, child, NULL);
		else if (tag == DW_TAG_subprogram)
			read_function(reader, child);
	}
	gh_dwarf_free(reader->dwarf, unit);
}

static void read_units(struct reader *reader)
{
	for (;;) {
		Dwarf_Unsigned length;
		Dwarf_Unsigned type_offset;
		Dwarf_Unsigned next;
		Dwarf_Off abbreviations;
		Dwarf_Half version;
		Dwarf_Half address_size;
		Dwarf_Half length_size;
		Dwarf_Half extension;
		Dwarf_Half type;
		Dwarf_Sig8 signature;
		Dwarf_Die unit;
		if (dwarf_next_cu_header_d(reader->dwarf, 1, &length, &version, &abbreviations,
					   &address_size, &length_size, &extension, &signature,
					   &type_offset, &next, &type, NULL) != DW_DLV_OK ||
		    dwarf_siblingof_b(reader->dwarf, NULL, 1, &unit, NULL) != DW_DLV_OK)
			return;
		read_unit(reader, unit);
	}
}

static int by_place(const void *left, const void *right)
{
	const struct gh_variable *a = left;
	const struct gh_variable *b = right;
	if (a->pc != b->pc)
		return a->pc < b->pc ? -1 : 1;
	if (a->start != b->start)
		return (int64_t)a->start < (int64_t)b->start ? -1 : 1;
	return (a->size < b->size) - (a->size > b->size);
}

static void sort(struct gh_variable_list *list)
{
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), by_place);
}

bool gh_variables_find(struct gh_variables *variables, struct gh_layouts *layouts, const char *path,
		       const uint64_t *pcs, size_t npcs, struct gh_error *err)
{
	Dwarf_Debug dwarf = NULL;
	*variables = (struct gh_variables){0};
	if (open_dwarf(path, pass_over, &dwarf, NULL) != DW_DLV_OK)
		return gh_fail(err, path, GH_NO_OFFSET, "DWARF", "none that can be read");
	variables->dwarf = dwarf;
	struct reader reader = {.variables = variables,
				.layouts = {.dwarf = dwarf, .layouts = layouts},
				.dwarf = dwarf,
				.pcs = pcs,
				.npcs = npcs};
	read_units(&reader);
	gh_dwarf_layouts_finish(&reader.layouts);
	gh_dwarf_layouts_free(&reader.layouts);
	sort(&variables->globals);
	sort(&variables->locals);
	sort(&variables->first);
	if (!reader.layouts.failed && !variables->globals.failed && !variables->locals.failed &&
	    !variables->first.failed)
		return true;
	return gh_fail_memory(err, path);
}

/* The last of LIST that begins at START or before, at PC, if it holds START. */
static const struct gh_variable *find(const struct gh_variable_list *list, uint64_t pc,
				      uint64_t start)
{
	struct gh_variable key = {.pc = pc, .start = start};
	size_t after = gh_lower_bound(list->count, i, by_place(&list->items[i], &key) < 0);
	/* Equal places sort the larger first: the key, of no size, is after all of them. */
	const struct gh_variable *found = after > 0 ? &list->items[after - 1] : NULL;
	if (found == NULL || found->pc != pc || start - found->start >= found->size)
		return NULL;
	return found;
}

const struct gh_variable *gh_variables_global(const struct gh_variables *variables,
					      uint64_t address)
{
	return find(&variables->globals, 0, address);
}

const struct gh_variable *gh_variables_local(const struct gh_variables *variables, uint64_t pc,
					     int64_t offset)
{
	return find(&variables->locals, pc, (uint64_t)offset);
}

uint32_t gh_variables_parameter(const struct gh_variables *variables, uint64_t pc)
{
	const struct gh_variable *found = find(&variables->first, pc, 0);
	return found != NULL ? found->layout : GH_NO_LAYOUT;
}

void gh_variables_free(struct gh_variables *variables)
{
	gh_vector_free(&variables->first);
	gh_vector_free(&variables->globals);
	gh_vector_free(&variables->locals);
	if (variables->dwarf != NULL)
		close_dwarf(variables->dwarf);
	*variables = (struct gh_variables){0};
}
