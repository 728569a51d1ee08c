#include "lib/debugfile/internal.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/util/bsearch.h"

/* The type of the slots of a kind that point to values of a type. */
struct gh_typed_slot {
	size_t type; /* its number */
	enum gh_field_kind kind;
	uint32_t offset; /* in .debug_info */
};

static int compare_typed(const void *a, const void *b)
{
	const struct gh_typed_slot *first = a;
	const struct gh_typed_slot *second = b;
	if (first->type != second->type)
		return first->type > second->type ? 1 : -1;
	return (first->kind > second->kind) - (first->kind < second->kind);
}

/* A struct of words. */
static uint32_t begin_words(struct gh_buffer *info, enum gh_field_kind kind, uint8_t word)
{
	static const char *const names[] = {"", "string", "slice", "iface", "eface"};
	uint32_t offset = gh_variable_struct_begin(info, gh_field_words(kind) * word);
	gh_buffer_string(info, names[kind]);
	return offset;
}

static uint32_t add_slice(struct gh_buffer *info, uint8_t word, uint32_t pointer, uint32_t length)
{
	uint32_t offset = begin_words(info, GH_FIELD_SLICE, word);
	gh_variable_member(info, "array", 0, pointer);
	gh_variable_member(info, "len", word, length);
	gh_variable_member(info, "cap", 2 * word, length);
	gh_buffer_u8(info, 0);
	return offset;
}

static uint32_t add_interface(struct gh_buffer *info, enum gh_field_kind kind, uint8_t word,
			      uint32_t type, uint32_t data)
{
	uint32_t offset = begin_words(info, kind, word);
	gh_variable_member(info, kind == GH_FIELD_IFACE ? "tab" : "_type", 0, type);
	gh_variable_member(info, "data", word, data);
	gh_buffer_u8(info, 0);
	return offset;
}

/* Types by which GDB knows Go's strings (sixg_string_p in its go-lang.c), and others that the Go
 * runtime has for such words. What a pointer points to is a word at least. */
static uint32_t add_plain(struct gh_slot_types *types, struct gh_buffer *info, uint8_t word)
{
	uint32_t byte = gh_variable_base(info, "uint8", DW_ATE_unsigned, 1);
	uint32_t length = gh_variable_base(info, "int", DW_ATE_signed, word);
	uint32_t any = gh_variable_base(info, "uintptr", DW_ATE_unsigned, word);
	uint32_t text = gh_variable_pointer_begin(info, word, byte);
	gh_buffer_string(info, "*uint8");
	uint32_t pointer = gh_variable_pointer_begin(info, word, any);
	gh_buffer_string(info, "*uintptr");
	types->plain[GH_FIELD_POINTER] = pointer;
	types->plain[GH_FIELD_STRING] = begin_words(info, GH_FIELD_STRING, word);
	gh_variable_member(info, "str", 0, text);
	gh_variable_member(info, "len", word, length);
	gh_buffer_u8(info, 0);
	types->plain[GH_FIELD_SLICE] = add_slice(info, word, pointer, length);
	types->plain[GH_FIELD_IFACE] = add_interface(info, GH_FIELD_IFACE, word, pointer, pointer);
	types->plain[GH_FIELD_EFACE] = add_interface(info, GH_FIELD_EFACE, word, pointer, pointer);
	return length;
}

/* Adds the struct of type NUMBER, and the pointer to it, which it returns. As in what Go's linker
 * writes a typedef is of the same name: in Go a struct's own name is not that of a type to GDB. */
static uint32_t add_struct(const struct gh_slot_types *types, const struct gh_slots *slots,
			   struct gh_buffer *info, size_t number)
{
	const struct gh_dump *dump = slots->dump;
	struct gh_dump_record record;
	gh_dump_get(dump, GH_DUMP_TYPE, number, &record);
	uint32_t offset = gh_variable_struct_begin(info, record.type.size);
	gh_dumptext_put(info, dump, record.type.name);
	struct gh_fields walk;
	struct gh_field field;
	gh_dump_fields(dump, &record, &walk);
	while (gh_fields_next(&walk, &field)) {
		char name[32];
		snprintf(name, sizeof(name), "f_0x%" PRIx64, field.offset);
		gh_variable_member(info, name, field.offset, types->plain[field.kind]);
	}
	gh_buffer_u8(info, 0);
	gh_variable_typedef_begin(info, offset);
	gh_dumptext_put(info, dump, record.type.name);
	uint32_t pointer = gh_variable_pointer_begin(info, slots->arch->pointer_size, offset);
	gh_buffer_u8(info, '*');
	gh_dumptext_put(info, dump, record.type.name);
	return pointer;
}

/* Lists what typed slots there are, each once. Returns how many. */
static size_t list_typed(struct gh_slot_types *types, const struct gh_slots *slots)
{
	for (size_t i = 0; i < slots->nslots; i++) {
		struct gh_typed_slot typed = {.type = slots->slots[i].type,
					      .kind = slots->slots[i].kind};
		if (typed.type != GH_DUMP_NONE)
			gh_vector_push(&types->typed, typed);
	}
	struct gh_typed_slot *list = types->typed.items;
	size_t count = types->typed.count;
	if (count == 0)
		return 0;
	qsort(list, count, sizeof(*list), compare_typed);
	size_t kept = 1;
	for (size_t i = 1; i < count; i++)
		if (compare_typed(&list[i], &list[kept - 1]) != 0)
			list[kept++] = list[i];
	types->typed.count = kept;
	return kept;
}

static void add_typed(struct gh_slot_types *types, const struct gh_slots *slots,
		      struct gh_buffer *info, uint32_t length)
{
	uint8_t word = slots->arch->pointer_size;
	size_t count = list_typed(types, slots);
	struct gh_typed_slot *list = types->typed.items;
	uint32_t pointer = 0;
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || list[i].type != list[i - 1].type)
			pointer = add_struct(types, slots, info, list[i].type);
		if (list[i].kind == GH_FIELD_POINTER)
			list[i].offset = pointer;
		else if (list[i].kind == GH_FIELD_SLICE)
			list[i].offset = add_slice(info, word, pointer, length);
		else
			list[i].offset = add_interface(info, list[i].kind, word,
						       types->plain[GH_FIELD_POINTER], pointer);
	}
}

bool gh_slot_types_put(struct gh_slot_types *types, const struct gh_slots *slots,
		       const char *producer, struct gh_buffer *info)
{
	*types = (struct gh_slot_types){0};
	uint8_t word = slots->arch->pointer_size;
	size_t start =
	    gh_variable_unit_begin(info, GH_FOR_GDB, "types of the heap dump", producer, word);
	uint32_t length = add_plain(types, info, word);
	add_typed(types, slots, info, length);
	gh_unit_end(info, start);
	return !info->failed && !types->typed.failed;
}

void gh_slot_types_free(struct gh_slot_types *types)
{
	gh_vector_free(&types->typed);
}

/* The offset of the type of SLOT. */
static uint32_t type_of(const struct gh_slot_types *types, const struct gh_slot *slot)
{
	if (slot->type == GH_DUMP_NONE)
		return types->plain[slot->kind];
	struct gh_typed_slot key = {.type = slot->type, .kind = slot->kind};
	const struct gh_typed_slot *list = types->typed.items;
	size_t count = types->typed.count;
	size_t found = gh_lower_bound(count, i, compare_typed(&list[i], &key) < 0);
	/* It is missing only if memory ran out. */
	return found < count ? list[found].offset : 0;
}

void gh_slot_block_begin(struct gh_buffer *info, const struct gh_slot_types *types,
			 const struct gh_slots *slots, const struct gh_site *site)
{
	gh_variable_block_begin(info, site->address - slots->bias, site->end - site->address,
				slots->arch->pointer_size);
	for (size_t i = 0; i < site->count; i++) {
		const struct gh_slot *slot = &slots->slots[site->first + i];
		gh_variable_at_sp(info, slot->offset, type_of(types, slot), slots->arch->dwarf_sp);
	}
}
