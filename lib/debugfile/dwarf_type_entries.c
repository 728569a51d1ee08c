#include "lib/debugfile/dwarf_entries.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/debugfile/internal.h"
#include "lib/rtype/rtype.h"
#include "lib/util/escape.h"

#define MAX_ATTRIBUTES 8

/* The abbreviations by their codes, GH_ENTRY_UNIT first: tag, whether it has children, pairs of
 * attribute and form, and 0. */
static const uint16_t abbrevs[][2 + 2 * MAX_ATTRIBUTES + 1] = {
    [GH_ENTRY_UNIT - 1] = {DW_TAG_compile_unit, 1, DW_AT_producer, DW_FORM_strp, DW_AT_language,
			   DW_FORM_data1, DW_AT_name, DW_FORM_string, DW_AT_comp_dir,
			   DW_FORM_string},
    [GH_ENTRY_BASE - 1] = {DW_TAG_base_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
			   DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_encoding,
			   DW_FORM_data1, DW_AT_byte_size, DW_FORM_data1},
    [GH_ENTRY_STRUCT - 1] = {DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
			     DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size,
			     DW_FORM_udata},
    [GH_ENTRY_EMPTY_STRUCT - 1] = {DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_strp,
				   DW_AT_go_kind, DW_FORM_data1, DW_AT_go_runtime_type,
				   DW_FORM_addr, DW_AT_byte_size, DW_FORM_udata},
    [GH_ENTRY_DECLARED - 1] = {DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_strp,
			       DW_AT_declaration, DW_FORM_flag_present},
    [GH_ENTRY_MEMBER - 1] = {DW_TAG_member, 0, DW_AT_name, DW_FORM_string,
			     DW_AT_data_member_location, DW_FORM_udata, DW_AT_type, DW_FORM_ref4,
			     DW_AT_go_embedded_field, DW_FORM_data1},
    [GH_ENTRY_TYPEDEF - 1] = {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_type,
			      DW_FORM_ref4},
    [GH_ENTRY_POINTER - 1] = {DW_TAG_pointer_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
			      DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type,
			      DW_FORM_ref4},
    [GH_ENTRY_BARE_POINTER - 1] = {DW_TAG_pointer_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
				   DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr},
    [GH_ENTRY_ARRAY - 1] = {DW_TAG_array_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
			    DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size,
			    DW_FORM_udata, DW_AT_type, DW_FORM_ref4},
    [GH_ENTRY_RANGE - 1] = {DW_TAG_subrange_type, 0, DW_AT_type, DW_FORM_ref4, DW_AT_count,
			    DW_FORM_udata},
    [GH_ENTRY_FUNC - 1] = {DW_TAG_subroutine_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
			   DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size,
			   DW_FORM_data1},
    [GH_ENTRY_EMPTY_FUNC - 1] = {DW_TAG_subroutine_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
				 DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr,
				 DW_AT_byte_size, DW_FORM_data1},
    [GH_ENTRY_PARAMETER - 1] = {DW_TAG_formal_parameter, 0, DW_AT_type, DW_FORM_ref4},
    [GH_ENTRY_RESULT - 1] = {DW_TAG_formal_parameter, 0, DW_AT_variable_parameter,
			     DW_FORM_flag_present, DW_AT_type, DW_FORM_ref4},
    [GH_ENTRY_VARIADIC - 1] = {DW_TAG_unspecified_parameters, 0},
    [GH_ENTRY_CHAN - 1] = {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
			   DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type,
			   DW_FORM_ref4, DW_AT_go_elem, DW_FORM_ref4},
    [GH_ENTRY_MAP - 1] = {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
			  DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type, DW_FORM_ref4,
			  DW_AT_go_key, DW_FORM_ref4, DW_AT_go_elem, DW_FORM_ref4},
    [GH_ENTRY_INTERFACE - 1] = {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
				DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type,
				DW_FORM_ref4},
    [GH_ENTRY_SLICE - 1] = {DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind,
			    DW_FORM_data1, DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size,
			    DW_FORM_udata, DW_AT_go_elem, DW_FORM_ref4},
    [GH_ENTRY_UNSPECIFIED - 1] = {DW_TAG_unspecified_type, 0, DW_AT_name, DW_FORM_strp},
    [GH_ENTRY_VARIABLE - 1] = {DW_TAG_variable, 0, DW_AT_name, DW_FORM_strp, DW_AT_external,
			       DW_FORM_flag_present, DW_AT_type, DW_FORM_ref4, DW_AT_location,
			       DW_FORM_exprloc},
    [GH_ENTRY_TEMPLATE - 1] = {DW_TAG_template_type_parameter, 0, DW_AT_type, DW_FORM_ref4},
};

/* A reference to an entry, to be filled in when the entry's offset is known. */
struct gh_type_reference {
	size_t place; /* in .debug_info */
	gh_entry to;
};

static void add_abbrevs(struct gh_buffer *out, enum gh_debugger debugger)
{
	unsigned count = debugger == GH_FOR_LLDB ? GH_ENTRY_TEMPLATE : GH_ENTRY_VARIABLE;
	for (unsigned i = 0; i < count; i++) {
		gh_buffer_uleb128(out, i + 1);
		gh_buffer_uleb128(out, abbrevs[i][0]);
		gh_buffer_u8(out, (uint8_t)abbrevs[i][1]);
		for (const uint16_t *pair = &abbrevs[i][2]; *pair != 0; pair += 2) {
			gh_buffer_uleb128(out, pair[0]);
			gh_buffer_uleb128(out, pair[1]);
		}
		gh_buffer_u16(out, 0);
	}
	gh_buffer_u8(out, 0);
}

gh_entry gh_type_new(struct gh_type_unit *unit)
{
	gh_vector_push(&unit->offsets, 0);
	return unit->count++;
}

void gh_type_begin_entry(struct gh_type_unit *unit, unsigned code, gh_entry number)
{
	if (number != GH_NO_ENTRY && !unit->offsets.failed)
		unit->offsets.items[number] = (uint32_t)(unit->out->size - unit->start);
	gh_buffer_uleb128(unit->out, code);
}

void gh_type_end_children(struct gh_type_unit *unit)
{
	gh_buffer_u8(unit->out, 0);
}

void gh_type_refer(struct gh_type_unit *unit, gh_entry to)
{
	struct gh_type_reference reference = {.place = unit->out->size, .to = to};
	gh_vector_push(&unit->references, reference);
	gh_buffer_u32(unit->out, 0);
}

void gh_type_begin(struct gh_type_unit *unit, unsigned code, gh_entry number, uint32_t name,
		   const struct gh_rtype *type)
{
	gh_type_begin_entry(unit, code, number);
	gh_buffer_u32(unit->out, name);
	gh_buffer_u8(unit->out, type != NULL ? type->kind : 0);
	gh_buffer_uint(unit->out, type != NULL ? type->address - unit->types->start : 0,
		       unit->word);
}

gh_entry gh_type_later(struct gh_type_unit *unit, const struct gh_type_late *late)
{
	struct gh_type_late copy = *late;
	copy.number = gh_type_new(unit);
	gh_vector_push(&unit->lates, copy);
	return copy.number;
}

uint32_t gh_type_string(struct gh_type_unit *unit, const char *text)
{
	return gh_strings_append(unit->strings, text, strlen(text));
}

gh_entry gh_type_basic(struct gh_type_unit *unit, enum gh_kind kind)
{
	if (unit->basics[kind] == GH_NO_ENTRY)
		unit->basics[kind] = gh_type_new(unit);
	return unit->basics[kind];
}

gh_entry gh_type_of(struct gh_type_unit *unit, uint32_t number)
{
	if (number != GH_NO_RTYPE)
		return number;
	if (unit->unspecified == GH_NO_ENTRY)
		unit->unspecified = gh_type_new(unit);
	return unit->unspecified;
}

/* Appends the name of type NUMBER to the name that is being made. */
static void append_name(struct gh_type_unit *unit, uint32_t number)
{
	if (number == GH_NO_RTYPE)
		gh_buffer_u8(&unit->text, '?');
	else
		gh_rtype_name(&unit->text, unit->types, number);
}

static void append(struct gh_type_unit *unit, const char *text)
{
	gh_buffer_bytes(&unit->text, text, strlen(text));
}

static uint32_t finish_name(struct gh_type_unit *unit)
{
	uint32_t name = 0;
	if (!unit->text.failed)
		name = gh_strings_append(unit->strings, unit->text.data, unit->text.size);
	unit->text.size = 0;
	return name;
}

uint32_t gh_type_generic_name(struct gh_type_unit *unit, const char *base, uint32_t a, uint32_t b)
{
	/* A struct with "<" in its name is a template for LLDB, which shows the parameters that its
	   entry has: only slices have them. */
	bool is_template = unit->debugger != GH_FOR_LLDB || strncmp(base, "std::", 5) == 0;
	append(unit, base);
	append(unit, is_template ? "<" : "(");
	append_name(unit, a);
	if (b != GH_NO_ENTRY) {
		append(unit, ",");
		append_name(unit, b);
	}
	append(unit, is_template ? ">" : ")");
	return finish_name(unit);
}

gh_entry gh_type_pointer(struct gh_type_unit *unit, gh_entry target, uint32_t name)
{
	return gh_type_later(unit, &(struct gh_type_late){.target = target, .name = name});
}

gh_entry gh_type_pointer_to(struct gh_type_unit *unit, uint32_t number)
{
	if (number == GH_NO_RTYPE)
		return gh_type_basic(unit, GH_KIND_UNSAFE_POINTER);
	if (unit->pointers[number] == GH_NO_ENTRY) {
		append(unit, "*");
		append_name(unit, number);
		unit->pointers[number] = gh_type_pointer(unit, number, finish_name(unit));
	}
	return unit->pointers[number];
}

void gh_type_add_member(struct gh_type_unit *unit, const char *name, size_t length, uint64_t offset,
			gh_entry type, bool embedded)
{
	gh_type_begin_entry(unit, GH_ENTRY_MEMBER, GH_NO_ENTRY);
	if (length > unit->text_left)
		length = 0;
	unit->text_left -= length;
	size_t start = unit->out->size;
	gh_buffer_bytes(unit->out, name, length);
	if (!unit->out->failed)
		gh_escape_overwrite((char *)unit->out->data + start, length);
	gh_buffer_u8(unit->out, 0);
	gh_buffer_uleb128(unit->out, offset);
	gh_type_refer(unit, type);
	gh_buffer_u8(unit->out, embedded);
}

static uint8_t encoding(uint8_t kind)
{
	switch (kind) {
	case GH_KIND_BOOL:
		return DW_ATE_boolean;
	case GH_KIND_FLOAT32:
	case GH_KIND_FLOAT64:
		return DW_ATE_float;
	case GH_KIND_COMPLEX64:
	case GH_KIND_COMPLEX128:
		return DW_ATE_complex_float;
	default:
		return kind >= GH_KIND_UINT ? DW_ATE_unsigned : DW_ATE_signed;
	}
}

void gh_type_add_typedef(struct gh_type_unit *unit, gh_entry number, uint32_t name, gh_entry of)
{
	gh_type_begin_entry(unit, GH_ENTRY_TYPEDEF, number);
	gh_buffer_u32(unit->out, name);
	gh_type_refer(unit, of);
}

void gh_type_add_base(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		      const struct gh_rtype *type)
{
	/* LLDB calls C's base types as C does. */
	gh_entry base = unit->debugger == GH_FOR_LLDB ? gh_type_new(unit) : number;
	gh_type_begin(unit, GH_ENTRY_BASE, base, name, type);
	gh_buffer_u8(unit->out, encoding(type->kind));
	gh_buffer_u8(unit->out, (uint8_t)type->size);
	if (base != number)
		gh_type_add_typedef(unit, number, name, base);
}

void gh_type_add_pointer(struct gh_type_unit *unit, gh_entry number, uint32_t name,
			 const struct gh_rtype *type, gh_entry target)
{
	gh_type_begin(unit, GH_ENTRY_POINTER, number, name, type);
	gh_type_refer(unit, target);
}

void gh_type_add_array(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		       const struct gh_rtype *type, const struct gh_type_late *array)
{
	gh_type_begin(unit, GH_ENTRY_ARRAY, number, name, type);
	gh_buffer_uleb128(unit->out, array->size);
	gh_type_refer(unit, array->target);
	gh_type_begin_entry(unit, GH_ENTRY_RANGE, GH_NO_ENTRY);
	gh_type_refer(unit, gh_type_basic(unit, GH_KIND_UINTPTR));
	gh_buffer_uleb128(unit->out, array->count);
	gh_type_end_children(unit);
}

bool gh_type_is_endless(const struct gh_type_unit *unit, const struct gh_rtype *type)
{
	enum { MOST = 32 }; /* that real types have of these, one in the other */
	if (unit->debugger != GH_FOR_LLDB)
		return false;
	for (unsigned i = 0; i < MOST; i++) {
		uint32_t elem = gh_rtype_elem(unit->types, type);
		if (elem == GH_NO_RTYPE ||
		    (type->kind != GH_KIND_ARRAY && type->kind != GH_KIND_POINTER &&
		     type->kind != GH_KIND_SLICE))
			return false;
		type = &unit->types->items[elem];
	}
	return true;
}

void gh_type_add_lates(struct gh_type_unit *unit)
{
	for (size_t i = 0; i < unit->lates.count; i++) {
		struct gh_type_late late = unit->lates.items[i];
		if (!late.array)
			gh_type_add_pointer(unit, late.number, late.name, NULL, late.target);
		else
			gh_type_add_array(unit, late.number, late.name, NULL, &late);
	}
	unit->lates.count = 0;
}

static bool make_tables(struct gh_type_unit *unit)
{
	size_t count = unit->types->count;
	gh_entry **tables[] = {&unit->pointers, &unit->queues, &unit->tables};
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		*tables[i] = malloc(count * sizeof(gh_entry));
		if (*tables[i] == NULL)
			return false;
		memset(*tables[i], 0xff, count * sizeof(gh_entry));
	}
	memset(unit->basics, 0xff, sizeof(unit->basics));
	memset(unit->runtime, 0xff, sizeof(unit->runtime));
	memset(unit->runtime_pointers, 0xff, sizeof(unit->runtime_pointers));
	for (size_t i = 0; i < count; i++)
		gh_vector_push(&unit->offsets, 0);
	unit->count = (gh_entry)count;
	return !unit->offsets.failed;
}

bool gh_type_unit_begin(struct gh_type_unit *unit, struct gh_info *info)
{
	struct gh_buffer *out = unit->out;
	uint32_t abbrev = (uint32_t)info->abbrev.size;
	if (!make_tables(unit))
		return false;
	add_abbrevs(&info->abbrev, unit->debugger);
	unit->start = gh_unit_begin(out, abbrev, unit->word);
	gh_type_begin_entry(unit, GH_ENTRY_UNIT, GH_NO_ENTRY);
	gh_buffer_u32(out, GH_STRINGS_PRODUCER);
	gh_buffer_u8(out, gh_unit_language(unit->debugger));
	gh_buffer_string(out, "runtime"); /* the unit that Go's linker puts them into */
	gh_buffer_string(out, ".");
	return true;
}

static void fill_references(struct gh_type_unit *unit)
{
	for (size_t i = 0; i < unit->references.count; i++) {
		const struct gh_type_reference *reference = &unit->references.items[i];
		gh_buffer_patch(unit->out, reference->place, unit->offsets.items[reference->to], 4);
	}
}

bool gh_type_unit_end(struct gh_type_unit *unit)
{
	gh_unit_end(unit->out, unit->start);
	if (unit->out->failed || unit->references.failed || unit->offsets.failed ||
	    unit->lates.failed || unit->text.failed)
		return false;
	fill_references(unit);
	return true;
}

void gh_type_unit_free(struct gh_type_unit *unit)
{
	gh_vector_free(&unit->offsets);
	gh_vector_free(&unit->references);
	gh_vector_free(&unit->lates);
	gh_buffer_free(&unit->text);
	free(unit->pointers);
	free(unit->queues);
	free(unit->tables);
}
