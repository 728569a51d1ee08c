#include "lib/write/dwarf_type.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/elf/buildinfo.h"
#include "lib/rtype/name.h"
#include "lib/rtype/nesting.h"
#include "lib/util/escape.h"
#include "lib/write/dwarf.h"
#include "lib/write/runtimetype.h"

/* Codes of the unit's abbreviations. */
enum {
	UNIT = 1,
	BASE,
	STRUCT,
	EMPTY_STRUCT,
	DECLARED,
	MEMBER,
	TYPEDEF,
	POINTER,
	BARE_POINTER,
	ARRAY,
	RANGE,
	FUNC,
	EMPTY_FUNC,
	PARAMETER,
	RESULT,
	VARIADIC,
	CHAN,
	MAP,
	INTERFACE,
	SLICE,
	UNSPECIFIED,
};

/* The abbreviations in order: tag, whether it has children, pairs of attribute and form. */
static const uint16_t abbrevs[][18] = {
    {DW_TAG_compile_unit, 1, DW_AT_producer, DW_FORM_strp, DW_AT_language, DW_FORM_data1,
     DW_AT_name, DW_FORM_string, DW_AT_comp_dir, DW_FORM_string},
    {DW_TAG_base_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_encoding, DW_FORM_data1, DW_AT_byte_size,
     DW_FORM_data1},
    {DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size, DW_FORM_udata},
    {DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size, DW_FORM_udata},
    {DW_TAG_structure_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_declaration, DW_FORM_flag_present},
    {DW_TAG_member, 0, DW_AT_name, DW_FORM_string, DW_AT_data_member_location, DW_FORM_udata,
     DW_AT_type, DW_FORM_ref4, DW_AT_go_embedded_field, DW_FORM_data1},
    {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_type, DW_FORM_ref4},
    {DW_TAG_pointer_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type, DW_FORM_ref4},
    {DW_TAG_pointer_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr},
    {DW_TAG_array_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size, DW_FORM_udata, DW_AT_type, DW_FORM_ref4},
    {DW_TAG_subrange_type, 0, DW_AT_type, DW_FORM_ref4, DW_AT_count, DW_FORM_udata},
    {DW_TAG_subroutine_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr},
    {DW_TAG_subroutine_type, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr},
    {DW_TAG_formal_parameter, 0, DW_AT_type, DW_FORM_ref4},
    {DW_TAG_formal_parameter, 0, DW_AT_variable_parameter, DW_FORM_flag_present, DW_AT_type,
     DW_FORM_ref4},
    {DW_TAG_unspecified_parameters, 0},
    {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type, DW_FORM_ref4, DW_AT_go_elem, DW_FORM_ref4},
    {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type, DW_FORM_ref4, DW_AT_go_key, DW_FORM_ref4,
     DW_AT_go_elem, DW_FORM_ref4},
    {DW_TAG_typedef, 0, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_type, DW_FORM_ref4},
    {DW_TAG_structure_type, 1, DW_AT_name, DW_FORM_strp, DW_AT_go_kind, DW_FORM_data1,
     DW_AT_go_runtime_type, DW_FORM_addr, DW_AT_byte_size, DW_FORM_udata, DW_AT_go_elem,
     DW_FORM_ref4},
    {DW_TAG_unspecified_type, 0, DW_AT_name, DW_FORM_strp},
};

/* Numbers of entries: those of the types, and then those of entries without a descriptor. */
typedef uint32_t id;

#define NONE UINT32_MAX

/* More named runtime types than there are. */
#define MAX_RUNTIME 32

/* A reference to an entry, to be filled in when the entry's offset is known. */
struct reference {
	size_t place; /* in .debug_info */
	id to;
};

/* A pointer or an array that is to be written when the entry that needs it is complete. */
struct late {
	id number;
	id target;
	uint32_t name;
	bool array;
	uint64_t count; /* elements of an array */
	uint64_t size;  /* of an array, in bytes */
};

/* What a field is of. */
struct value {
	id type;
	uint64_t size; /* in bytes */
	unsigned align;
};

struct writer {
	struct gh_buffer *out; /* .debug_info */
	const struct gh_rtypes *types;
	const struct gh_typenames *names;
	struct gh_strings *strings;
	uint8_t word;                /* pointer size, in bytes */
	int release;                 /* N of Go 1.N */
	size_t start;                /* of the unit */
	id count;                    /* entries that have a number */
	size_t text_left;            /* bytes of fields' names that may still be written */
	struct gh_buffer offsets;    /* of the entries from the unit's start: uint32_t; owned */
	struct gh_buffer references; /* struct reference; owned */
	struct gh_buffer lates;      /* struct late; owned */
	struct gh_buffer text;       /* a name that is being made; owned */
	id *pointers;                /* to each type, or NONE; owned */
	id *queues;                  /* pointer to hchan<T> by T, or NONE; owned */
	id *tables;                  /* pointer to the map's header by its group, or NONE; owned */
	id basics[GH_KINDS];         /* the predeclared types, or NONE */
	id runtime[MAX_RUNTIME];     /* the runtime's types, or NONE */
	id runtime_pointers[MAX_RUNTIME]; /* pointers to them, or NONE */
	id unspecified;                   /* what a missing type is, or NONE */
};

static void add_abbrevs(struct gh_buffer *out)
{
	for (unsigned i = 0; i < sizeof(abbrevs) / sizeof(abbrevs[0]); i++) {
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

static id new_id(struct writer *writer)
{
	uint32_t unknown = 0;
	gh_buffer_bytes(&writer->offsets, &unknown, sizeof(unknown));
	return writer->count++;
}

/* Begins the entry NUMBER. */
static void begin(struct writer *writer, unsigned code, id number)
{
	if (number != NONE && !writer->offsets.failed) {
		uint32_t offset = (uint32_t)(writer->out->size - writer->start);
		memcpy(writer->offsets.data + number * sizeof(offset), &offset, sizeof(offset));
	}
	gh_buffer_uleb128(writer->out, code);
}

static void end_children(struct writer *writer)
{
	gh_buffer_u8(writer->out, 0);
}

static void refer(struct writer *writer, id to)
{
	struct reference reference = {.place = writer->out->size, .to = to};
	gh_buffer_bytes(&writer->references, &reference, sizeof(reference));
	gh_buffer_u32(writer->out, 0);
}

/* Begins an entry with its name, kind and descriptor. */
static void begin_type(struct writer *writer, unsigned code, id number, uint32_t name,
		       const struct gh_rtype *type)
{
	begin(writer, code, number);
	gh_buffer_u32(writer->out, name);
	gh_buffer_u8(writer->out, type != NULL ? type->kind : 0);
	gh_buffer_uint(writer->out,
		       type != NULL ? type->address - writer->types->tab->module.types : 0,
		       writer->word);
}

static id late_id(struct writer *writer, const struct late *late)
{
	struct late copy = *late;
	copy.number = new_id(writer);
	gh_buffer_bytes(&writer->lates, &copy, sizeof(copy));
	return copy.number;
}

static uint32_t add_string(struct writer *writer, const char *text)
{
	return gh_strings_append(writer->strings, text, strlen(text));
}

/* The entry of the predeclared type of KIND. */
static id basic(struct writer *writer, enum gh_kind kind)
{
	if (writer->basics[kind] == NONE)
		writer->basics[kind] = new_id(writer);
	return writer->basics[kind];
}

/* The entry of type NUMBER, or of an unspecified one for GH_NO_RTYPE. */
static id type_id(struct writer *writer, uint32_t number)
{
	if (number != GH_NO_RTYPE)
		return number;
	if (writer->unspecified == NONE)
		writer->unspecified = new_id(writer);
	return writer->unspecified;
}

static uint32_t type_name(const struct writer *writer, uint32_t number)
{
	uint32_t symbol = writer->names->offsets[number];
	return symbol == 0 ? 0 : symbol + GH_TYPE_PREFIX;
}

/* Appends the name of type NUMBER to the name that is being made. */
static void append_name(struct writer *writer, uint32_t number)
{
	if (number == GH_NO_RTYPE)
		gh_buffer_u8(&writer->text, '?');
	else
		gh_rtype_name(&writer->text, writer->types, number);
}

static void append(struct writer *writer, const char *text)
{
	gh_buffer_bytes(&writer->text, text, strlen(text));
}

static uint32_t finish_name(struct writer *writer)
{
	uint32_t name = 0;
	if (!writer->text.failed)
		name = gh_strings_append(writer->strings, writer->text.data, writer->text.size);
	writer->text.size = 0;
	return name;
}

/* Makes the name "BASE<A,B>", or "BASE<A>" if B is NONE. */
static uint32_t generic_name(struct writer *writer, const char *base, uint32_t a, uint32_t b)
{
	append(writer, base);
	append(writer, "<");
	append_name(writer, a);
	if (b != NONE) {
		append(writer, ",");
		append_name(writer, b);
	}
	append(writer, ">");
	return finish_name(writer);
}

/* The pointer to the entry TARGET, which has no descriptor. NAME is that of TARGET. */
static id pointer_to(struct writer *writer, id target, uint32_t name)
{
	return late_id(writer, &(struct late){.target = target, .name = name});
}

/* The pointer to type NUMBER. */
static id pointer_to_type(struct writer *writer, uint32_t number)
{
	if (number == GH_NO_RTYPE)
		return basic(writer, GH_KIND_UNSAFE_POINTER);
	if (writer->pointers[number] == NONE) {
		append(writer, "*");
		append_name(writer, number);
		writer->pointers[number] = pointer_to(writer, number, finish_name(writer));
	}
	return writer->pointers[number];
}

/* The runtime's type called NAME; NONE if it is not listed. */
static id runtime_type(struct writer *writer, const char *name, unsigned *index)
{
	for (unsigned i = 0; gh_runtime_types[i].name != NULL; i++) {
		if (strcmp(gh_runtime_types[i].name, name) != 0)
			continue;
		*index = i;
		if (writer->runtime[i] == NONE)
			writer->runtime[i] = new_id(writer);
		return writer->runtime[i];
	}
	return NONE;
}

static struct value pointer_value(struct writer *writer, id type)
{
	return (struct value){.type = type, .size = writer->word, .align = writer->word};
}

static bool basic_value(struct writer *writer, const char *name, struct value *value)
{
	static const struct {
		uint8_t kind;
		uint8_t size; /* 0 for a word */
	} basics[] = {{GH_KIND_BOOL, 1},          {GH_KIND_INT, 0},    {GH_KIND_INT32, 4},
		      {GH_KIND_UINT, 0},          {GH_KIND_UINT8, 1},  {GH_KIND_UINT16, 2},
		      {GH_KIND_UINT32, 4},        {GH_KIND_UINT64, 8}, {GH_KIND_UINTPTR, 0},
		      {GH_KIND_UNSAFE_POINTER, 0}};
	for (size_t i = 0; i < sizeof(basics) / sizeof(basics[0]); i++) {
		if (strcmp(gh_kind_name(basics[i].kind), name) != 0)
			continue;
		unsigned size = basics[i].size != 0 ? basics[i].size : writer->word;
		*value = (struct value){.type = basic(writer, basics[i].kind),
					.size = size,
					.align = size < writer->word ? size : writer->word};
		return true;
	}
	return false;
}

static struct value member_value(struct writer *writer, const char *type,
				 const struct value *arguments);

static bool is_in_release(const struct writer *writer, const struct gh_runtime_member *member)
{
	return writer->release >= member->since &&
	       (member->before == 0 || writer->release < member->before);
}

/* The extent of a struct of the runtime whose fields' types are basic or pointers. */
static struct value runtime_value(struct writer *writer, id type,
				  const struct gh_runtime_member *member)
{
	struct value whole = {.type = type, .align = 1};
	for (; member->name != NULL; member++) {
		if (!is_in_release(writer, member))
			continue;
		struct value value = member_value(writer, member->type, NULL);
		whole.size = (whole.size + value.align - 1) / value.align * value.align;
		whole.size += value.size;
		if (value.align > whole.align)
			whole.align = value.align;
	}
	return whole;
}

static struct value runtime_pointer(struct writer *writer, const char *name)
{
	unsigned index = 0;
	id target = runtime_type(writer, name + 1, &index);
	if (target == NONE)
		return pointer_value(writer, basic(writer, GH_KIND_UNSAFE_POINTER));
	id *pointer = &writer->runtime_pointers[index];
	if (*pointer == NONE)
		*pointer = pointer_to(writer, target, add_string(writer, name));
	return pointer_value(writer, *pointer);
}

/* What TYPE, as runtimetype.h spells it, stands for. */
static struct value member_value(struct writer *writer, const char *type,
				 const struct value *arguments)
{
	struct value value;
	unsigned index = 0;
	if (*type == '$')
		return arguments[type[1] - '0'];
	if (*type == '*')
		return runtime_pointer(writer, type);
	if (*type == '[') {
		unsigned count = (unsigned)(type[1] - '0');
		value = member_value(writer, type + 3, NULL);
		struct late array = {.target = value.type,
				     .name = add_string(writer, type),
				     .array = true,
				     .count = count,
				     .size = count * value.size};
		value.type = late_id(writer, &array);
		value.size *= count;
		return value;
	}
	if (basic_value(writer, type, &value))
		return value;
	id number = runtime_type(writer, type, &index);
	return runtime_value(writer, number, gh_runtime_types[index].members);
}

static void add_member(struct writer *writer, const char *name, size_t length, uint64_t offset,
		       id type, bool embedded)
{
	begin(writer, MEMBER, NONE);
	if (length > writer->text_left)
		length = 0;
	writer->text_left -= length;
	size_t start = writer->out->size;
	gh_buffer_bytes(writer->out, name, length);
	if (!writer->out->failed)
		gh_escape_overwrite((char *)writer->out->data + start, length);
	gh_buffer_u8(writer->out, 0);
	gh_buffer_uleb128(writer->out, offset);
	refer(writer, type);
	gh_buffer_u8(writer->out, embedded);
}

/* Writes runtime type INDEX as entry NUMBER called NAME, with ARGUMENTS for the types "$N". */
static struct value add_runtime(struct writer *writer, id number, unsigned index, uint32_t name,
				const struct value *arguments)
{
	const struct gh_runtime_member *members = gh_runtime_types[index].members;
	begin_type(writer, STRUCT, number, name, NULL);
	size_t place = writer->out->size;
	gh_buffer_u8(writer->out, 0); /* its size, which is less than 128 */
	struct value whole = {.type = number, .align = 1};
	for (const struct gh_runtime_member *member = members; member->name != NULL; member++) {
		if (!is_in_release(writer, member))
			continue;
		struct value value = member_value(writer, member->type, arguments);
		whole.size = (whole.size + value.align - 1) / value.align * value.align;
		add_member(writer, member->name, strlen(member->name), whole.size, value.type,
			   false);
		whole.size += value.size;
		if (value.align > whole.align)
			whole.align = value.align;
	}
	end_children(writer);
	whole.size = (whole.size + whole.align - 1) / whole.align * whole.align;
	if (!writer->out->failed)
		gh_buffer_patch(writer->out, place, whole.size, 1);
	return whole;
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

static void add_base(struct writer *writer, id number, uint32_t name, const struct gh_rtype *type)
{
	begin_type(writer, BASE, number, name, type);
	gh_buffer_u8(writer->out, encoding(type->kind));
	gh_buffer_u8(writer->out, (uint8_t)type->size);
}

static void add_pointer(struct writer *writer, id number, uint32_t name,
			const struct gh_rtype *type, id target)
{
	begin_type(writer, POINTER, number, name, type);
	refer(writer, target);
}

static void add_array(struct writer *writer, id number, uint32_t name, const struct gh_rtype *type,
		      const struct late *array)
{
	begin_type(writer, ARRAY, number, name, type);
	gh_buffer_uleb128(writer->out, array->size);
	refer(writer, array->target);
	begin(writer, RANGE, NONE);
	refer(writer, basic(writer, GH_KIND_UINTPTR));
	gh_buffer_uleb128(writer->out, array->count);
	end_children(writer);
}

static void add_array_type(struct writer *writer, id number, uint32_t name,
			   const struct gh_rtype *type)
{
	uint32_t elem = gh_rtype_shorter(writer->types, type, gh_rtype_elem(writer->types, type));
	struct late array = {.target = type_id(writer, elem), .size = type->size};
	if (elem != GH_NO_RTYPE)
		array.count = gh_rtype_length(writer->types, type);
	add_array(writer, number, name, type, &array);
}

static void add_func(struct writer *writer, id number, uint32_t name, const struct gh_rtype *type)
{
	bool variadic;
	uint32_t in = gh_rtype_parameters(writer->types, type, &variadic);
	begin_type(writer, type->nparts > 0 ? FUNC : EMPTY_FUNC, number, name, type);
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		gh_rtype_part(writer->types, type, i, &part);
		uint32_t of = gh_rtype_shorter(writer->types, type, part.type);
		if (variadic && i == in)
			begin(writer, VARIADIC, NONE);
		begin(writer, i >= in && writer->release >= 24 ? RESULT : PARAMETER, NONE);
		refer(writer, i >= in && writer->release < 24 ? pointer_to_type(writer, of)
							      : type_id(writer, of));
	}
	if (variadic && in > 0 && in == type->nparts)
		begin(writer, VARIADIC, NONE);
	if (type->nparts > 0)
		end_children(writer);
}

static void add_struct(struct writer *writer, id number, uint32_t name, const struct gh_rtype *type)
{
	begin_type(writer, type->nparts > 0 ? STRUCT : EMPTY_STRUCT, number, name, type);
	gh_buffer_uleb128(writer->out, type->size);
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (gh_rtype_part(writer->types, type, i, &part))
			add_member(writer, part.name.start, part.name.length, part.offset,
				   part.type, part.embedded);
	}
	if (type->nparts > 0)
		end_children(writer);
}

static void add_string_type(struct writer *writer, id number, uint32_t name,
			    const struct gh_rtype *type)
{
	begin_type(writer, STRUCT, number, name, type);
	gh_buffer_uleb128(writer->out, type->size);
	uint32_t byte = basic(writer, GH_KIND_UINT8);
	id bytes = byte < writer->types->count ? pointer_to_type(writer, byte)
					       : basic(writer, GH_KIND_UNSAFE_POINTER);
	add_member(writer, "str", 3, 0, bytes, false);
	add_member(writer, "len", 3, writer->word, basic(writer, GH_KIND_INT), false);
	end_children(writer);
}

static void add_slice(struct writer *writer, id number, uint32_t name, const struct gh_rtype *type)
{
	uint32_t elem = gh_rtype_elem(writer->types, type);
	begin_type(writer, SLICE, number, name, type);
	gh_buffer_uleb128(writer->out, type->size);
	refer(writer, type_id(writer, elem));
	add_member(writer, "array", 5, 0, pointer_to_type(writer, elem), false);
	add_member(writer, "len", 3, writer->word, basic(writer, GH_KIND_INT), false);
	add_member(writer, "cap", 3, 2U * writer->word, basic(writer, GH_KIND_INT), false);
	end_children(writer);
}

static void add_interface(struct writer *writer, id number, uint32_t name,
			  const struct gh_rtype *type)
{
	unsigned index;
	begin_type(writer, INTERFACE, number, name, type);
	refer(writer,
	      runtime_type(writer, type->nparts == 0 ? "runtime.eface" : "runtime.iface", &index));
}

/* The pointer to hchan<ELEM>, written before the channel that needs it. */
static id add_hchan(struct writer *writer, uint32_t elem)
{
	if (elem != GH_NO_RTYPE && writer->queues[elem] != NONE)
		return writer->queues[elem];
	struct value argument = pointer_value(writer, pointer_to_type(writer, elem));
	uint32_t name = generic_name(writer, "sudog", elem, NONE);
	struct value value = add_runtime(writer, new_id(writer), GH_RUNTIME_SUDOG, name, &argument);
	name = generic_name(writer, "*sudog", elem, NONE);
	argument = pointer_value(writer, pointer_to(writer, value.type, name));
	name = generic_name(writer, "waitq", elem, NONE);
	argument = add_runtime(writer, new_id(writer), GH_RUNTIME_WAITQ, name, &argument);
	name = generic_name(writer, "hchan", elem, NONE);
	value = add_runtime(writer, new_id(writer), GH_RUNTIME_HCHAN, name, &argument);
	id queue = pointer_to(writer, value.type, generic_name(writer, "*hchan", elem, NONE));
	if (elem != GH_NO_RTYPE)
		writer->queues[elem] = queue;
	return queue;
}

static void add_chan(struct writer *writer, id number, uint32_t name, const struct gh_rtype *type)
{
	uint32_t elem = gh_rtype_elem(writer->types, type);
	id queue = add_hchan(writer, elem);
	begin_type(writer, CHAN, number, name, type);
	refer(writer, queue);
	refer(writer, type_id(writer, elem));
}

static bool is_called(const struct gh_rtype_part *part, const char *name)
{
	return part->name.length == strlen(name) &&
	       memcmp(part->name.start, name, part->name.length) == 0;
}

/* An array of a bucket, called BASE<ITEM>. */
static id bucket_array(struct writer *writer, uint32_t array, const char *base, uint32_t item)
{
	if (array == GH_NO_RTYPE || writer->types->items[array].kind != GH_KIND_ARRAY)
		return type_id(writer, array);
	const struct gh_rtype *type = &writer->types->items[array];
	uint32_t elem = gh_rtype_shorter(writer->types, type, gh_rtype_elem(writer->types, type));
	struct late late = {.target = type_id(writer, elem),
			    .name = generic_name(writer, base, item, NONE),
			    .array = true,
			    .count = elem != GH_NO_RTYPE ? gh_rtype_length(writer->types, type) : 0,
			    .size = type->size};
	return late_id(writer, &late);
}

/* Writes bucket<KEY,ELEM>, whose fields are those of the struct GROUP under other names. Returns
 * the pointer to it. */
static id add_bucket(struct writer *writer, uint32_t key, uint32_t elem, uint32_t group)
{
	const struct gh_rtype *type = &writer->types->items[group];
	id number = new_id(writer);
	id pointer = pointer_to(writer, number, generic_name(writer, "*bucket", key, elem));
	begin_type(writer, STRUCT, number, generic_name(writer, "bucket", key, elem), NULL);
	gh_buffer_uleb128(writer->out, type->size);
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (!gh_rtype_part(writer->types, type, i, &part))
			continue;
		if (is_called(&part, "topbits"))
			add_member(writer, "tophash", 7, part.offset, part.type, false);
		else if (is_called(&part, "keys"))
			add_member(writer, "keys", 4, part.offset,
				   bucket_array(writer, part.type, "[]key", key), false);
		else if (is_called(&part, "elems"))
			add_member(writer, "values", 6, part.offset,
				   bucket_array(writer, part.type, "[]val", elem), false);
		else if (is_called(&part, "overflow"))
			add_member(writer, "overflow", 8, part.offset, pointer, false);
	}
	end_children(writer);
	return pointer;
}

/* Writes table<KEY,ELEM> of groups of the struct GROUP. Returns the pointer to the pointer to it.
 */
static id add_table(struct writer *writer, uint32_t key, uint32_t elem, uint32_t group)
{
	struct value argument = pointer_value(writer, pointer_to_type(writer, group));
	uint32_t name = generic_name(writer, "groupReference", key, elem);
	argument = add_runtime(writer, new_id(writer), GH_RUNTIME_GROUPS, name, &argument);
	name = generic_name(writer, "table", key, elem);
	struct value table = add_runtime(writer, new_id(writer), GH_RUNTIME_TABLE, name, &argument);
	id pointer = pointer_to(writer, table.type, generic_name(writer, "*table", key, elem));
	return pointer_to(writer, pointer, generic_name(writer, "**table", key, elem));
}

/* The pointer to hash<KEY,ELEM> or map<KEY,ELEM>, written before the map that needs it. */
static id add_header(struct writer *writer, uint32_t key, uint32_t elem, uint32_t group)
{
	if (group != GH_NO_RTYPE && writer->tables[group] != NONE)
		return writer->tables[group];
	bool swiss = writer->types->swiss_maps;
	struct value argument =
	    pointer_value(writer, group == GH_NO_RTYPE ? basic(writer, GH_KIND_UNSAFE_POINTER)
				  : swiss              ? add_table(writer, key, elem, group)
						       : add_bucket(writer, key, elem, group));
	uint32_t name = generic_name(writer, swiss ? "map" : "hash", key, elem);
	struct value header = add_runtime(
	    writer, new_id(writer), swiss ? GH_RUNTIME_MAP : GH_RUNTIME_HASH, name, &argument);
	name = generic_name(writer, swiss ? "*map" : "*hash", key, elem);
	id pointer = pointer_to(writer, header.type, name);
	if (group != GH_NO_RTYPE)
		writer->tables[group] = pointer;
	return pointer;
}

static void add_map(struct writer *writer, id number, uint32_t name, const struct gh_rtype *type)
{
	uint32_t key = gh_rtype_key(writer->types, type);
	uint32_t elem = gh_rtype_elem(writer->types, type);
	id header = add_header(writer, key, elem, gh_rtype_group(writer->types, type));
	begin_type(writer, MAP, number, name, type);
	refer(writer, header);
	refer(writer, type_id(writer, key));
	refer(writer, type_id(writer, elem));
}

/* Go's linker puts a typedef before each struct, array, function, interface, pointer and slice
 * whose name is not the type itself spelled out. */
static bool has_typedef(const struct gh_rtype *type)
{
	switch (type->kind) {
	case GH_KIND_FUNC:
	case GH_KIND_INTERFACE:
		return true;
	case GH_KIND_ARRAY:
	case GH_KIND_POINTER:
	case GH_KIND_SLICE:
	case GH_KIND_STRUCT:
		return type->named;
	default:
		return false;
	}
}

static void add_type(struct writer *writer, uint32_t index)
{
	const struct gh_rtype *type = &writer->types->items[index];
	uint32_t name = type_name(writer, index);
	id number = has_typedef(type) ? new_id(writer) : index;
	switch (type->kind) {
	case GH_KIND_ARRAY:
		add_array_type(writer, number, name, type);
		break;
	case GH_KIND_CHAN:
		add_chan(writer, number, name, type);
		break;
	case GH_KIND_FUNC:
		add_func(writer, number, name, type);
		break;
	case GH_KIND_INTERFACE:
		add_interface(writer, number, name, type);
		break;
	case GH_KIND_MAP:
		add_map(writer, number, name, type);
		break;
	case GH_KIND_POINTER:
		add_pointer(writer, number, name, type,
			    type_id(writer, gh_rtype_shorter(writer->types, type,
							     gh_rtype_elem(writer->types, type))));
		break;
	case GH_KIND_SLICE:
		add_slice(writer, number, name, type);
		break;
	case GH_KIND_STRING:
		add_string_type(writer, number, name, type);
		break;
	case GH_KIND_STRUCT:
		add_struct(writer, number, name, type);
		break;
	case GH_KIND_UNSAFE_POINTER:
		begin_type(writer, BARE_POINTER, number, name, type);
		break;
	default:
		add_base(writer, number, name, type);
	}
	if (number == index)
		return;
	begin(writer, TYPEDEF, index);
	gh_buffer_u32(writer->out, name);
	refer(writer, number);
}

/* Writes the pointers and arrays that were asked for. */
static void add_lates(struct writer *writer)
{
	for (size_t i = 0; i < writer->lates.size / sizeof(struct late); i++) {
		struct late late;
		memcpy(&late, writer->lates.data + i * sizeof(late), sizeof(late));
		if (!late.array)
			add_pointer(writer, late.number, late.name, NULL, late.target);
		else
			add_array(writer, late.number, late.name, NULL, &late);
	}
	writer->lates.size = 0;
}

/* Writes the runtime's types that were asked for, and by them. */
static void add_runtime_types(struct writer *writer)
{
	bool written[MAX_RUNTIME] = {false};
	bool more = true;
	while (more) {
		more = false;
		for (unsigned i = 0; gh_runtime_types[i].name != NULL; i++) {
			const struct gh_runtime_type *type = &gh_runtime_types[i];
			if (written[i] || writer->runtime[i] == NONE ||
			    writer->runtime[i] < writer->types->count)
				continue;
			more = written[i] = true;
			uint32_t name = add_string(writer, type->name);
			if (type->members[0].name != NULL) {
				add_runtime(writer, writer->runtime[i], i, name, NULL);
				continue;
			}
			begin(writer, DECLARED, writer->runtime[i]);
			gh_buffer_u32(writer->out, name);
		}
	}
}

/* Writes the predeclared types that were asked for and have no descriptor. */
static void add_basics(struct writer *writer)
{
	for (unsigned kind = 1; kind < GH_KINDS; kind++) {
		struct value value;
		if (writer->basics[kind] == NONE || writer->basics[kind] < writer->types->count ||
		    !basic_value(writer, gh_kind_name(kind), &value))
			continue;
		struct gh_rtype type = {.address = writer->types->tab->module.types,
					.size = value.size,
					.kind = (uint8_t)kind};
		uint32_t name = add_string(writer, gh_kind_name(kind));
		if (kind == GH_KIND_UNSAFE_POINTER)
			begin_type(writer, BARE_POINTER, value.type, name, &type);
		else
			add_base(writer, value.type, name, &type);
	}
}

static void begin_unit(struct writer *writer, uint32_t abbrev)
{
	struct gh_buffer *out = writer->out;
	writer->start = out->size;
	gh_buffer_u32(out, 0); /* length, from here */
	gh_buffer_u16(out, 4); /* version */
	gh_buffer_u32(out, abbrev);
	gh_buffer_u8(out, writer->word);
	begin(writer, UNIT, NONE);
	gh_buffer_u32(out, GH_STRINGS_PRODUCER);
	gh_buffer_u8(out, DW_LANG_Go);
	gh_buffer_string(out, "runtime"); /* the unit that Go's linker puts them into */
	gh_buffer_string(out, ".");
}

static void fill_references(struct writer *writer)
{
	for (size_t i = 0; i < writer->references.size / sizeof(struct reference); i++) {
		struct reference reference;
		uint32_t offset;
		memcpy(&reference, writer->references.data + i * sizeof(reference),
		       sizeof(reference));
		memcpy(&offset, writer->offsets.data + reference.to * sizeof(offset),
		       sizeof(offset));
		gh_buffer_patch(writer->out, reference.place, offset, 4);
	}
}

static void end_unit(struct writer *writer)
{
	if (writer->unspecified != NONE) {
		begin(writer, UNSPECIFIED, writer->unspecified);
		gh_buffer_u32(writer->out, add_string(writer, "<unspecified>"));
	}
	add_runtime_types(writer);
	add_lates(writer);
	add_basics(writer);
	end_children(writer);
	if (writer->out->failed || writer->references.failed || writer->offsets.failed)
		return;
	fill_references(writer);
	gh_buffer_patch(writer->out, writer->start, writer->out->size - writer->start - 4, 4);
}

static bool is_text(const struct gh_rtype_text *text, const char *expected)
{
	return text->length == strlen(expected) && memcmp(text->start, expected, text->length) == 0;
}

/* Finds the types that others are made with: pointers by what they point to, the predeclared ones,
 * and the runtime's. */
static void find_types(struct writer *writer)
{
	const struct gh_rtypes *types = writer->types;
	for (uint32_t i = 0; i < types->count; i++) {
		const struct gh_rtype *type = &types->items[i];
		if (type->kind == GH_KIND_POINTER && !type->named) {
			uint32_t elem = gh_rtype_elem(types, type);
			if (elem != GH_NO_RTYPE && writer->pointers[elem] == NONE)
				writer->pointers[elem] = i;
		} else if (type->named && is_text(&type->text, gh_kind_name(type->kind))) {
			writer->basics[type->kind] = i;
		} else if (type->named && is_text(&type->text, "abi.Type") &&
			   type->kind == GH_KIND_STRUCT) {
			unsigned index = 0;
			runtime_type(writer, "internal/abi.Type", &index);
			writer->runtime[index] = i;
		}
	}
}

/* The release, if the program does not say, by what has changed in its tables. */
static int find_release(const struct gh_rtypes *types)
{
	static const uint8_t oldest[] = {[GH_PCLNTAB_1_2] = 15,
					 [GH_PCLNTAB_1_16] = 17,
					 [GH_PCLNTAB_1_18] = 19,
					 [GH_PCLNTAB_1_20] = 22};
	struct gh_buildinfo build;
	gh_buildinfo_read(&build, types->tab->image);
	int release = gh_go_minor(build.go_version);
	gh_buildinfo_free(&build);
	if (release >= 0)
		return release;
	if (types->swiss_maps)
		return types->tab->text == 0 ? 26 : 24;
	return oldest[types->tab->format];
}

static bool make_tables(struct writer *writer)
{
	size_t count = writer->types->count;
	id **tables[] = {&writer->pointers, &writer->queues, &writer->tables};
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		*tables[i] = malloc(count * sizeof(id));
		if (*tables[i] == NULL)
			return false;
		memset(*tables[i], 0xff, count * sizeof(id));
	}
	memset(writer->basics, 0xff, sizeof(writer->basics));
	memset(writer->runtime, 0xff, sizeof(writer->runtime));
	memset(writer->runtime_pointers, 0xff, sizeof(writer->runtime_pointers));
	if (gh_buffer_extend(&writer->offsets, count * sizeof(uint32_t)) == NULL)
		return false;
	memset(writer->offsets.data, 0, writer->offsets.size);
	writer->count = (id)count;
	return true;
}

static bool write_unit(struct writer *writer, uint32_t abbrev)
{
	if (!make_tables(writer))
		return false;
	find_types(writer);
	begin_unit(writer, abbrev);
	for (uint32_t i = 0; i < writer->types->count; i++) {
		add_type(writer, i);
		add_lates(writer);
	}
	end_unit(writer);
	return !writer->out->failed && !writer->references.failed && !writer->offsets.failed &&
	       !writer->lates.failed && !writer->text.failed;
}

bool gh_dwarf_types_add(struct gh_info *info, const struct gh_rtypes *types,
			const struct gh_typenames *names, struct gh_strings *strings,
			struct gh_error *err)
{
	if (types->count == 0)
		return true;
	const char *path = types->tab->image->path;
	struct writer writer = {.out = &info->info,
				.types = types,
				.names = names,
				.strings = strings,
				.word = types->tab->pointer_size,
				.release = find_release(types),
				.text_left = types->tab->image->size,
				.unspecified = NONE};
	uint32_t abbrev = (uint32_t)info->abbrev.size;
	add_abbrevs(&info->abbrev);
	bool made = write_unit(&writer, abbrev) && !strings->others.failed;
	gh_buffer_free(&writer.offsets);
	gh_buffer_free(&writer.references);
	gh_buffer_free(&writer.lates);
	gh_buffer_free(&writer.text);
	free(writer.pointers);
	free(writer.queues);
	free(writer.tables);
	if (!made)
		return gh_fail_errno(err, path, "make DWARF");
	return info->info.size <= UINT32_MAX ||
	       gh_fail(err, path, GH_NO_OFFSET, "less than 4 GiB of DWARF", "more");
}
