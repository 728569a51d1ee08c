#include "lib/value/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Text is not added to past so many bytes: a crafted program's values could lead to any number of
 * others. */
#define MAX_TEXT ((size_t)1 << 28)

/* Interfaces are in others no deeper: what a crafted program's hold may be themselves. */
#define MOST_NESTED 256

void gh_value_add(struct gh_values *values, const char *format, ...)
{
	char text[128];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	gh_buffer_bytes(&values->out, text,
			(size_t)length < sizeof(text) ? (size_t)length : sizeof(text) - 1);
}

bool gh_value_word(struct gh_values *values, uint64_t address, uint64_t *value)
{
	uint8_t byte;
	*value = 0;
	if (!gh_process_read_constant(values->process, address, &byte, 1))
		return false;
	*value = gh_process_constant_pointer(values->process, address);
	return true;
}

bool gh_value_field(const struct gh_rtypes *types, const struct gh_rtype *type, const char *name,
		    struct gh_rtype_part *part)
{
	for (uint32_t i = 0; type->kind == GH_KIND_STRUCT && i < type->nparts; i++)
		if (gh_rtype_part(types, type, i, part) && gh_rtype_text_is(part->name, name))
			return true;
	return false;
}

bool gh_value_field_uint(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
			 const char *name, unsigned size, uint64_t *value)
{
	struct gh_rtype_part part;
	*value = 0;
	return gh_value_field(values->types, type, name, &part) &&
	       gh_process_constant_uint(values->process, address + part.offset, size, value);
}

bool gh_value_slice(struct gh_values *values, uint64_t address, uint64_t *start, uint64_t *length)
{
	unsigned word = values->process->tab->pointer_size;
	return gh_value_word(values, address, start) &&
	       gh_process_constant_uint(values->process, address + word, word, length);
}

bool gh_value_is_pointer(const struct gh_rtype *type)
{
	return type->kind == GH_KIND_POINTER || type->kind == GH_KIND_MAP ||
	       type->kind == GH_KIND_CHAN || type->kind == GH_KIND_FUNC;
}

bool gh_value_enter(struct gh_values *values, uint64_t address)
{
	if (values->followed >= values->depth || values->followed >= GH_VALUE_DEPTH_MAX)
		return false;
	values->path[values->followed++] = address;
	return true;
}

void gh_value_leave(struct gh_values *values)
{
	values->followed--;
}

/* ADDRESS is of what is being printed: to follow it would not end. */
static bool is_cycle(const struct gh_values *values, uint64_t address)
{
	for (unsigned i = 0; i < values->followed; i++)
		if (values->path[i] == address)
			return true;
	return false;
}

static void add_pointer(struct gh_values *values, const struct gh_rtype *type, uint64_t word,
			bool shown)
{
	uint32_t elem = gh_rtype_elem(values->types, type);
	bool cycle = is_cycle(values, word);
	if (word == 0) {
		gh_value_add_either(values, "nil", "null");
	} else if (elem == GH_NO_RTYPE || cycle || !gh_value_enter(values, word)) {
		gh_value_add_pointer(values, type->text.start, type->text.length, word, cycle);
	} else {
		gh_value_add_either(values, "*", "");
		gh_value_add_any(values, elem, word, shown);
		gh_value_leave(values);
	}
}

static void add_by_pointer(struct gh_values *values, const struct gh_rtype *type, uint64_t word,
			   bool shown)
{
	if (type->kind == GH_KIND_MAP)
		gh_value_add_map(values, type, word, shown);
	else if (type->kind == GH_KIND_CHAN)
		gh_value_add_channel(values, type, word, shown);
	else if (type->kind == GH_KIND_FUNC)
		gh_value_add_function(values, word);
	else
		add_pointer(values, type, word, shown);
}

/* The elements of TYPE, an array, channel or slice. */
static struct gh_value_elem elem_of(const struct gh_values *values, const struct gh_rtype *type)
{
	uint32_t number = gh_rtype_elem(values->types, type);
	return (struct gh_value_elem){
	    .number = number,
	    .size = number != GH_NO_RTYPE ? values->types->items[number].size : 0,
	};
}

void gh_value_add_elements(struct gh_values *values, const struct gh_value_elem *elem,
			   uint64_t address, uint64_t count, uint64_t first, uint64_t places)
{
	bool known = elem->number != GH_NO_RTYPE || elem->name != NULL;
	uint64_t shown = count < values->limit ? count : values->limit;
	uint8_t byte;
	if (!known || places == 0)
		shown = 0;
	gh_value_add(values, "[");
	for (uint64_t i = 0; i < shown && values->out.size < MAX_TEXT; i++) {
		uint64_t at = address + (first % places + i) % places * elem->size;
		gh_value_add(values, "%s", i > 0 ? "," : "");
		if (elem->name != NULL)
			gh_value_add_named(values, elem->name, at, false);
		else
			gh_value_add_any(values, elem->number, at, false);
		/* One that is not there is told of once, whatever the length. */
		if (elem->size > 0 && !gh_process_read_constant(values->process, at, &byte, 1))
			shown = i + 1;
	}
	gh_value_add_more(values, count - shown, shown == 0);
	gh_value_add(values, "]");
}

static void add_array(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_value_elem elem = elem_of(values, type);
	uint64_t length = gh_rtype_length(values->types, type);
	gh_value_add_elements(values, &elem, address, length, 0, length);
}

/* Elements of ELEM are bytes, which text may be made of: JSON has numbers. */
static bool is_bytes(const struct gh_values *values, const struct gh_value_elem *elem)
{
	return !values->json && elem->number != GH_NO_RTYPE &&
	       values->types->items[elem->number].kind == GH_KIND_UINT8;
}

void gh_value_add_slice(struct gh_values *values, const struct gh_value_elem *elem,
			uint64_t address, bool shown)
{
	unsigned word = values->process->tab->pointer_size;
	uint64_t data;
	uint64_t length;
	uint64_t capacity;
	if (!gh_value_slice(values, address, &data, &length) ||
	    !gh_process_constant_uint(values->process, address + 2 * (uint64_t)word, word,
				      &capacity)) {
		gh_value_add_unreadable(values, address);
		return;
	}
	if (shown && !values->json)
		gh_value_add(values, "len: %" PRIu64 ", cap: %" PRIu64 ", ", length, capacity);
	if (data == 0 && length == 0) {
		gh_value_add_either(values, "nil", "null");
	} else if (length > 0 && !gh_value_enter(values, data)) {
		gh_value_add(values, "[");
		gh_value_add_more(values, length, true);
		gh_value_add(values, "]");
	} else {
		if (!is_bytes(values, elem) || !gh_value_add_text(values, data, length))
			gh_value_add_elements(values, elem, data, length, 0, length);
		if (length > 0)
			gh_value_leave(values);
	}
}

static void add_struct(struct gh_values *values, const struct gh_rtype *type, uint64_t address)
{
	struct gh_rtype_part part;
	gh_value_add(values, "{");
	for (uint32_t i = 0; i < type->nparts; i++) {
		bool read = gh_rtype_part(values->types, type, i, &part);
		gh_value_add(values, "%s", i > 0 ? ", " : "");
		gh_value_add_key(values, part.name.start, part.name.length);
		if (read)
			gh_value_add_any(values, part.type, address + part.offset, true);
		else
			gh_value_add_either(values, "?", "null");
	}
	gh_value_add(values, "}");
}

/* Appends a value of TYPE, an array, slice or struct. */
static void add_composite(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
			  bool shown)
{
	struct gh_value_elem elem;
	if (gh_value_add_known(values, type, address))
		return;
	if (shown)
		gh_value_add_type(values, type);
	if (type->kind == GH_KIND_ARRAY) {
		add_array(values, type, address);
	} else if (type->kind == GH_KIND_SLICE) {
		elem = elem_of(values, type);
		gh_value_add_slice(values, &elem, address, shown);
	} else {
		add_struct(values, type, address);
	}
}

bool gh_value_dynamic(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
		      uint32_t *number, uint64_t *descriptor, uint64_t *data)
{
	unsigned word = values->process->tab->pointer_size;
	*number = GH_NO_RTYPE;
	*data = address + word;
	if (!gh_value_word(values, address, descriptor))
		return false;
	/* With methods it has an itab, whose second word is the type. */
	if (type->nparts > 0 && *descriptor != 0 &&
	    !gh_value_word(values, *descriptor + word, descriptor))
		return false;
	*number = gh_rtypes_at(values->types, *descriptor - values->process->bias);
	return *number == GH_NO_RTYPE || values->types->items[*number].direct ||
	       gh_value_word(values, address + word, data);
}

void gh_value_add_dynamic(struct gh_values *values, const struct gh_rtype *type, uint32_t number,
			  uint64_t data)
{
	const struct gh_rtype *dynamic = &values->types->items[number];
	if (values->nested == MOST_NESTED) {
		gh_value_add_rest(values, "...", "");
		return;
	}
	values->nested++;
	if (values->json) {
		gh_value_open(values, "", dynamic->text, false);
		gh_value_add_any(values, number, data, false);
		gh_value_close(values);
	} else {
		gh_buffer_bytes(&values->out, type->text.start, type->text.length);
		gh_value_add(values, "(");
		gh_buffer_bytes(&values->out, dynamic->text.start, dynamic->text.length);
		gh_value_add(values, ") ");
		gh_value_add_any(values, number, data, false);
	}
	values->nested--;
}

static void add_interface(struct gh_values *values, const struct gh_rtype *type, uint64_t address,
			  bool shown)
{
	uint32_t number;
	uint64_t descriptor;
	uint64_t data;
	if (!gh_value_dynamic(values, type, address, &number, &descriptor, &data)) {
		gh_value_add_unreadable(values, address);
		return;
	}
	if (number != GH_NO_RTYPE) {
		gh_value_add_dynamic(values, type, number, data);
		return;
	}
	if (shown)
		gh_value_add_type(values, type);
	if (descriptor == 0) {
		gh_value_add_either(values, "nil", "null");
	} else {
		gh_value_json(values, "{", "type");
		gh_value_add(values,
			     values->json ? "\"0x%" PRIx64 "\"}" : "(type 0x%" PRIx64 ") ...",
			     descriptor);
	}
}

void gh_value_add_any(struct gh_values *values, uint32_t number, uint64_t address, bool shown)
{
	const struct gh_rtype *type = &values->types->items[number];
	uint64_t word;
	if (values->out.size >= MAX_TEXT) {
		gh_value_add_rest(values, "...", "");
		return;
	}
	switch (type->kind) {
	case GH_KIND_POINTER:
	case GH_KIND_MAP:
	case GH_KIND_CHAN:
	case GH_KIND_FUNC:
		if (gh_value_word(values, address, &word))
			add_by_pointer(values, type, word, shown);
		else
			gh_value_add_unreadable(values, address);
		break;
	case GH_KIND_ARRAY:
	case GH_KIND_SLICE:
	case GH_KIND_STRUCT:
		add_composite(values, type, address, shown);
		break;
	case GH_KIND_INTERFACE:
		add_interface(values, type, address, shown);
		break;
	default:
		gh_value_add_basic(values, type, address);
	}
}

void gh_value_print_elements(struct gh_values *values, uint32_t number, uint64_t address,
			     uint64_t count)
{
	const struct gh_rtype *type = &values->types->items[number];
	struct gh_value_elem elem = {.number = number, .size = type->size};
	values->followed = 0;
	if (!values->json)
		gh_value_add(values, "[%" PRIu64 "]", count);
	gh_value_add_type(values, type);
	gh_value_add_elements(values, &elem, address, count, 0, count);
}

void gh_value_print(struct gh_values *values, uint32_t type, uint64_t address)
{
	values->followed = 0;
	gh_value_add_any(values, type, address, true);
}

void gh_value_print_pointer(struct gh_values *values, uint32_t type, uint64_t word)
{
	values->followed = 0;
	add_by_pointer(values, &values->types->items[type], word, true);
}

void gh_values_free(struct gh_values *values)
{
	gh_buffer_free(&values->out);
}
