/* Contexts of package context: as their String tells them, from the first on, with keys, values and
 * what they were canceled for.
 *
 * Source: src/context/context.go. */
#include "lib/value/internal.h"

/* Of so many, one made of the other, the last are told. */
#define MOST_CONTEXTS 64

struct context {
	uint32_t type;    /* of the value, not of a pointer to it */
	uint64_t address; /* of the value */
	uint32_t dynamic; /* of what an interface holds: its type, which may be a pointer */
};

static bool is_called(const struct gh_values *values, const struct context *context,
		      const char *name)
{
	const struct gh_rtype *type = &values->types->items[context->type];
	return gh_rtype_text_is(type->text, name) &&
	       gh_rtype_text_is(gh_rtype_package(values->types, type), "context");
}

/* Finds the field NAME of CONTEXT, behind a pointer if it is one. */
static bool find_field(struct gh_values *values, const struct context *context, const char *name,
		       struct context *field)
{
	struct gh_rtype_part part;
	if (!gh_value_field(values->types, &values->types->items[context->type], name, &part))
		return false;
	*field = (struct context){part.type, context->address + part.offset, part.type};
	if (values->types->items[part.type].kind != GH_KIND_POINTER)
		return true;
	field->type = gh_rtype_elem(values->types, &values->types->items[part.type]);
	return field->type != GH_NO_RTYPE && gh_value_word(values, field->address, &field->address);
}

/* Finds what the interface at FIELD holds, behind a pointer if it is one. */
static bool find_held(struct gh_values *values, const struct context *field, struct context *held)
{
	const struct gh_rtype *type = &values->types->items[field->type];
	uint64_t descriptor;
	if (type->kind != GH_KIND_INTERFACE ||
	    !gh_value_dynamic(values, type, field->address, &held->type, &descriptor,
			      &held->address) ||
	    held->type == GH_NO_RTYPE)
		return false;
	held->dynamic = held->type;
	type = &values->types->items[held->type];
	if (type->kind != GH_KIND_POINTER)
		return true;
	held->type = gh_rtype_elem(values->types, type);
	return held->type != GH_NO_RTYPE && gh_value_word(values, held->address, &held->address);
}

/* Finds the interface that CONTEXT was made of: of those that are made of a cancelCtx, of that. */
static bool find_parent(struct gh_values *values, struct context context, struct context *parent)
{
	struct context inner;
	if (find_field(values, &context, "cancelCtx", &inner))
		context = inner;
	return find_field(values, &context, "Context", parent) ||
	       find_field(values, &context, "c", parent);
}

/* Appends the type and the value of the interface that is the field NAME. */
static void add_held(struct gh_values *values, const struct context *context, const char *name)
{
	struct context field;
	uint32_t number;
	uint64_t descriptor;
	uint64_t data;
	if (!find_field(values, context, name, &field) ||
	    values->types->items[field.type].kind != GH_KIND_INTERFACE)
		return;
	if (!gh_value_dynamic(values, &values->types->items[field.type], field.address, &number,
			      &descriptor, &data) ||
	    number == GH_NO_RTYPE) {
		gh_value_add_any(values, field.type, field.address, false);
		return;
	}
	gh_value_add_type(values, &values->types->items[number]);
	gh_value_add_any(values, number, data, false);
}

/* Appends why CONTEXT was canceled, if it was: err, which is an atomic.Value from Go 1.25 on, and
 * the cause if that is another. */
static void add_error(struct gh_values *values, const struct context *context)
{
	unsigned word = values->process->tab->pointer_size;
	struct context err;
	struct context held;
	struct context cause;
	uint64_t set;
	uint64_t first;
	uint64_t second;
	if (!find_field(values, context, "err", &err) ||
	    !gh_value_word(values, err.address, &set) || set == 0)
		return;
	if (find_field(values, &err, "v", &held))
		err = held;
	gh_value_add(values, "{err: ");
	gh_value_add_any(values, err.type, err.address, true);
	if (find_field(values, context, "cause", &cause) &&
	    gh_value_word(values, cause.address, &set) && set != 0 &&
	    gh_value_word(values, err.address + word, &first) &&
	    gh_value_word(values, cause.address + word, &second) && first != second) {
		gh_value_add(values, ", cause: ");
		gh_value_add_any(values, cause.type, cause.address, true);
	}
	gh_value_add(values, "}");
}

/* Appends what CONTEXT adds to the one that it was made of. */
static void add_step(struct gh_values *values, const struct context *context)
{
	struct context inner = *context;
	struct context field;
	if (is_called(values, context, "context.valueCtx")) {
		gh_value_add(values, ".WithValue(");
		add_held(values, context, "key");
		gh_value_add(values, ", ");
		add_held(values, context, "val");
		gh_value_add(values, ")");
	} else if (is_called(values, context, "context.withoutCancelCtx")) {
		gh_value_add(values, ".WithoutCancel");
	} else if (is_called(values, context, "context.timerCtx")) {
		gh_value_add(values, ".WithDeadline(");
		if (find_field(values, context, "deadline", &field))
			gh_value_add_time(values, &values->types->items[field.type], field.address);
		gh_value_add(values, ")");
	} else if (is_called(values, context, "context.afterFuncCtx")) {
		gh_value_add(values, ".AfterFunc(");
		if (find_field(values, context, "f", &field))
			gh_value_add_any(values, field.type, field.address, false);
		gh_value_add(values, ")");
	} else if (is_called(values, context, "context.cancelCtx")) {
		gh_value_add(values, ".WithCancel");
	}
	if (is_called(values, context, "context.cancelCtx") ||
	    find_field(values, context, "cancelCtx", &inner))
		add_error(values, &inner);
}

/* TYPE is one of package context's, whose values are contexts or what pointers that are point to.
 */
static bool is_context(struct gh_values *values, const struct gh_rtype *type)
{
	static const char *const all[] = {
	    "context.backgroundCtx",    "context.todoCtx",   "context.emptyCtx",
	    "context.valueCtx",         "context.cancelCtx", "context.timerCtx",
	    "context.withoutCancelCtx", "context.stopCtx",   "context.afterFuncCtx"};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (gh_rtype_text_is(type->text, all[i]))
			return gh_rtype_text_is(gh_rtype_package(values->types, type), "context");
	return false;
}

/* Appends the CONTEXT that was made of none, or that is of another package. False, and nothing, if
 * it is made of another. */
static bool add_first(struct gh_values *values, const struct context *context)
{
	const struct gh_rtype *type = &values->types->items[context->dynamic];
	if (is_called(values, context, "context.backgroundCtx"))
		gh_value_add(values, "context.Background");
	else if (is_called(values, context, "context.todoCtx"))
		gh_value_add(values, "context.TODO");
	else if (is_called(values, context, "context.emptyCtx"))
		gh_value_add(values, GH_VALUE_EMPTY_CONTEXT);
	else if (!is_context(values, &values->types->items[context->type]))
		gh_value_add_pointer(values, type->text.start, type->text.length, context->address,
				     false);
	else
		return false;
	return true;
}

bool gh_value_add_context(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	uint32_t number = (uint32_t)(type - values->types->items);
	struct context all[MOST_CONTEXTS] = {{number, address, number}};
	struct context parent;
	size_t count = 1;
	/* JSON has the fields. */
	if (values->json || !is_context(values, type))
		return false;
	while (count < MOST_CONTEXTS &&
	       is_context(values, &values->types->items[all[count - 1].type]) &&
	       find_parent(values, all[count - 1], &parent) &&
	       find_held(values, &parent, &all[count]))
		count++;
	if (add_first(values, &all[count - 1]))
		count--;
	else
		gh_value_add(values, "...");
	while (count-- > 0)
		add_step(values, &all[count]);
	return true;
}
