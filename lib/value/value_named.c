#include "lib/value/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/escape.h"

/* Types that the program does not describe have no more parts, one in the other. */
#define MAX_NESTING 16

/* What a name begins with that the program need not describe. */
struct outer {
	char kind;        /* '*', 's' for a slice, 'a' for an array; 0: nothing */
	uint64_t count;   /* of an array's elements */
	const char *rest; /* of the name */
};

static struct outer read_outer(const char *name)
{
	struct outer outer = {.rest = name};
	char *end;
	if (*name == '*')
		return (struct outer){.kind = '*', .rest = name + 1};
	if (strncmp(name, "[]", 2) == 0)
		return (struct outer){.kind = 's', .rest = name + 2};
	if (*name != '[' || name[1] < '0' || name[1] > '9')
		return outer;
	uint64_t count = strtoull(name + 1, &end, 10);
	if (*end == ']')
		outer = (struct outer){.kind = 'a', .count = count, .rest = end + 1};
	return outer;
}

/* The size of a value of type NAME, in bytes. False (ERR filled) if there is no such type. */
static bool find_size(const struct gh_values *values, const char *name, unsigned nesting,
		      uint64_t *size, struct gh_error *err)
{
	struct outer outer = read_outer(name);
	uint64_t word = values->process->tab->pointer_size;
	bool inner = outer.kind != 0 && nesting < MAX_NESTING;
	uint32_t number = gh_rtypes_named(values->types, name, inner ? NULL : err);
	if (number != GH_NO_RTYPE) {
		*size = values->types->items[number].size;
		return true;
	}
	if (!inner || !find_size(values, outer.rest, nesting + 1, size, err))
		return false;
	if (outer.kind == 'a' && __builtin_mul_overflow(*size, outer.count, size))
		return gh_fail(err, name, GH_NO_OFFSET, "an array that memory can hold",
			       "a larger one");
	if (outer.kind != 'a')
		*size = outer.kind == '*' ? word : 3 * word;
	return true;
}

static void add_pointer(struct gh_values *values, const struct outer *outer, uint64_t where,
			bool is_value)
{
	uint64_t word = where;
	if (!is_value && !gh_value_word(values, where, &word)) {
		gh_value_add_unreadable(values, where);
	} else if (word == 0) {
		gh_value_add_either(values, "nil", "null");
	} else if (!gh_value_enter(values, word)) {
		gh_value_add_pointer(values, "...", 3, word, false);
	} else {
		gh_value_add_either(values, "*", "");
		gh_value_add_named(values, outer->rest, word, false);
		gh_value_leave(values);
	}
}

/* A slice or an array. */
static void add_list(struct gh_values *values, const char *name, const struct outer *outer,
		     uint64_t address)
{
	struct gh_value_elem elem = {.number = gh_rtypes_named(values->types, outer->rest, NULL)};
	if (!find_size(values, outer->rest, 0, &elem.size, NULL))
		return;
	elem.name = elem.number == GH_NO_RTYPE ? outer->rest : NULL;
	if (!values->json) {
		gh_escape_utf8(&values->out, name, strlen(name));
		gh_value_add(values, " ");
	}
	if (outer->kind == 's')
		gh_value_add_slice(values, &elem, address, true);
	else
		gh_value_add_elements(values, &elem, address, outer->count, 0, outer->count);
}

void gh_value_add_named(struct gh_values *values, const char *name, uint64_t where, bool is_value)
{
	struct outer outer = read_outer(name);
	uint32_t number = gh_rtypes_named(values->types, name, NULL);
	if (number != GH_NO_RTYPE && is_value && gh_value_is_pointer(&values->types->items[number]))
		gh_value_print_pointer(values, number, where);
	else if (number != GH_NO_RTYPE)
		gh_value_add_any(values, number, where, true);
	else if (outer.kind == '*')
		add_pointer(values, &outer, where, is_value);
	else
		add_list(values, name, &outer, where);
}

bool gh_value_named_size(const struct gh_values *values, const char *name, uint64_t *size,
			 struct gh_error *err)
{
	return find_size(values, name, 0, size, err);
}

/* A closure, which begins with the address of its function, is at WHERE. */
static bool is_closure(struct gh_values *values, uint64_t where)
{
	uint64_t pc;
	size_t index = SIZE_MAX;
	if (gh_value_word(values, where, &pc))
		gh_process_module_at(values->process, pc, &index);
	return index != SIZE_MAX;
}

/* A map, channel or function of TYPE is at WHERE itself, and no variable that points to it. */
static bool is_at(struct gh_values *values, const struct gh_rtype *type, uint64_t where)
{
	switch (type->kind) {
	case GH_KIND_MAP:
		return gh_value_is_map(values, type, where);
	case GH_KIND_CHAN:
		return gh_value_is_channel(values, type, where);
	case GH_KIND_FUNC:
		return is_closure(values, where);
	default:
		return true;
	}
}

/* The value, at WHERE or in the variable that is there, of the type called NAME. */
static uint64_t find_value(struct gh_values *values, const char *name, uint64_t where)
{
	uint32_t number = gh_rtypes_named(values->types, name, NULL);
	uint64_t value;
	if (number == GH_NO_RTYPE || is_at(values, &values->types->items[number], where) ||
	    !gh_value_word(values, where, &value) ||
	    (value != 0 && !is_at(values, &values->types->items[number], value)))
		return where;
	return value;
}

bool gh_value_print_named(struct gh_values *values, const char *name, uint64_t where,
			  struct gh_error *err)
{
	uint64_t size;
	where = find_value(values, name, where);
	values->followed = 0;
	if (values->part != NULL)
		return gh_value_add_part(values, name, where, true, err);
	if (!find_size(values, name, 0, &size, err))
		return false;
	gh_value_add_named(values, name, where, true);
	return true;
}
