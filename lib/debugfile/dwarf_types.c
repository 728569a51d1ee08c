#include "lib/debugfile/dwarf_entries.h"

#include <string.h>

#include "lib/elf/elf.h"
#include "lib/rtype/rtype.h"

static uint32_t type_name(const struct gh_type_unit *unit, uint32_t number)
{
	uint32_t symbol = unit->names->offsets[number];
	return symbol == 0 ? 0 : symbol + GH_TYPE_PREFIX;
}

static void add_array_type(struct gh_type_unit *unit, gh_entry number, uint32_t name,
			   const struct gh_rtype *type)
{
	uint32_t elem = gh_rtype_shorter(unit->types, type, gh_rtype_elem(unit->types, type));
	struct gh_type_late array = {.target = gh_type_of(unit, elem), .size = type->size};
	if (elem != GH_NO_RTYPE)
		array.count = gh_rtype_length(unit->types, type);
	gh_type_add_array(unit, number, name, type, &array);
}

/* Names of a type that begins with a pointer and a length, and of these two. */
struct header_names {
	const char *type; /* NULL: the type's own */
	const char *pointer;
	const char *length;
};

/* Those for any debugger, and for LLDB: it shows these types of libc++ with the text and the
 * elements that they hold, and without Python has no other way to show text by its length. Release
 * 14 and later know them by these names: LibCxx.cpp and LibCxxInitializerList.cpp in
 * lldb/source/Plugins/Language/CPlusPlus. */
static const struct header_names string_names[] = {{NULL, "str", "len"},
						   {"std::__1::string_view", "__data", "__size"}};
static const struct header_names slice_names[] = {{NULL, "array", "len"},
						  {"std::initializer_list", "__begin_", "__size_"}};

static void add_pointer_and_length(struct gh_type_unit *unit, const struct header_names *names,
				   gh_entry pointer)
{
	gh_type_add_member(unit, names->pointer, strlen(names->pointer), 0, pointer, false);
	gh_type_add_member(unit, names->length, strlen(names->length), unit->word,
			   gh_type_basic(unit, GH_KIND_INT), false);
}

static void add_func(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		     const struct gh_rtype *type)
{
	bool variadic;
	uint32_t in = gh_rtype_parameters(unit->types, type, &variadic);
	if (unit->debugger == GH_FOR_LLDB) {
		/* C's functions are no values: the pointer to the code's address. */
		gh_type_add_pointer(unit, number, name, type, gh_type_basic(unit, GH_KIND_UINTPTR));
		return;
	}
	gh_type_begin(unit, type->nparts > 0 ? GH_ENTRY_FUNC : GH_ENTRY_EMPTY_FUNC, number, name,
		      type);
	gh_buffer_u8(unit->out, unit->word);
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		gh_rtype_part(unit->types, type, i, &part);
		uint32_t of = gh_rtype_shorter(unit->types, type, part.type);
		if (variadic && i == in)
			gh_type_begin_entry(unit, GH_ENTRY_VARIADIC, GH_NO_ENTRY);
		gh_type_begin_entry(
		    unit, i >= in && unit->release >= 24 ? GH_ENTRY_RESULT : GH_ENTRY_PARAMETER,
		    GH_NO_ENTRY);
		gh_type_refer(unit, i >= in && unit->release < 24 ? gh_type_pointer_to(unit, of)
								  : gh_type_of(unit, of));
	}
	if (variadic && in > 0 && in == type->nparts)
		gh_type_begin_entry(unit, GH_ENTRY_VARIADIC, GH_NO_ENTRY);
	if (type->nparts > 0)
		gh_type_end_children(unit);
}

static void add_struct(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		       const struct gh_rtype *type)
{
	gh_type_begin(unit, type->nparts > 0 ? GH_ENTRY_STRUCT : GH_ENTRY_EMPTY_STRUCT, number,
		      name, type);
	gh_buffer_uleb128(unit->out, type->size);
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (gh_rtype_part(unit->types, type, i, &part))
			gh_type_add_member(unit, part.name.start, part.name.length, part.offset,
					   part.type, part.embedded);
	}
	if (type->nparts > 0)
		gh_type_end_children(unit);
}

static void add_string_type(struct gh_type_unit *unit, gh_entry number, uint32_t name,
			    const struct gh_rtype *type)
{
	const struct header_names *names = &string_names[unit->debugger == GH_FOR_LLDB];
	if (names->type != NULL)
		name = gh_type_string(unit, names->type);
	gh_type_begin(unit, GH_ENTRY_STRUCT, number, name, type);
	gh_buffer_uleb128(unit->out, type->size);
	uint32_t byte = gh_type_basic(unit, GH_KIND_UINT8);
	gh_entry bytes = byte < unit->types->count ? gh_type_pointer_to(unit, byte)
			 : unit->debugger == GH_FOR_LLDB
			     ? gh_type_pointer(unit, byte, gh_type_string(unit, "*uint8"))
			     : gh_type_basic(unit, GH_KIND_UNSAFE_POINTER);
	add_pointer_and_length(unit, names, bytes);
	gh_type_end_children(unit);
}

static void add_slice(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		      const struct gh_rtype *type)
{
	uint32_t elem = gh_rtype_elem(unit->types, type);
	bool for_lldb = unit->debugger == GH_FOR_LLDB && !gh_type_is_endless(unit, type);
	const struct header_names *names = &slice_names[for_lldb];
	if (for_lldb)
		name = gh_type_generic_name(unit, names->type, elem, GH_NO_ENTRY);
	gh_type_begin(unit, GH_ENTRY_SLICE, number, name, type);
	gh_buffer_uleb128(unit->out, type->size);
	gh_type_refer(unit, gh_type_of(unit, elem));
	if (for_lldb) {
		gh_type_begin_entry(unit, GH_ENTRY_TEMPLATE, GH_NO_ENTRY);
		gh_type_refer(unit, gh_type_of(unit, elem));
	}
	add_pointer_and_length(unit, names, gh_type_pointer_to(unit, elem));
	gh_type_add_member(unit, "cap", 3, 2U * unit->word, gh_type_basic(unit, GH_KIND_INT),
			   false);
	gh_type_end_children(unit);
}

static void add_interface(struct gh_type_unit *unit, gh_entry number, uint32_t name,
			  const struct gh_rtype *type)
{
	gh_type_begin(unit, GH_ENTRY_INTERFACE, number, name, type);
	gh_type_refer(
	    unit, gh_type_runtime(unit, type->nparts == 0 ? GH_RUNTIME_EFACE : GH_RUNTIME_IFACE));
}

/* Writes runtime struct NUMBER, called NAME<A,B> or NAME<A>, with ARGUMENT for "$". */
static gh_entry add_generic(struct gh_type_unit *unit, uint32_t number, uint32_t a, uint32_t b,
			    gh_entry argument)
{
	uint32_t name = gh_type_generic_name(unit, gh_runtime_structs[number].name, a, b);
	return gh_type_add_runtime(unit, gh_type_new(unit), number, name, argument);
}

/* The pointer to hchan<ELEM>, written if it is not yet; no entry may be begun. Types are given by
 * number. */
static gh_entry add_hchan(struct gh_type_unit *unit, uint32_t elem)
{
	if (elem != GH_NO_RTYPE && unit->queues[elem] != GH_NO_ENTRY)
		return unit->queues[elem];
	gh_entry sudog =
	    add_generic(unit, GH_RUNTIME_SUDOG, elem, GH_NO_ENTRY, gh_type_pointer_to(unit, elem));
	uint32_t name = gh_type_generic_name(unit, "*sudog", elem, GH_NO_ENTRY);
	gh_entry waitq = add_generic(unit, GH_RUNTIME_WAITQ, elem, GH_NO_ENTRY,
				     gh_type_pointer(unit, sudog, name));
	gh_entry hchan = add_generic(unit, GH_RUNTIME_HCHAN, elem, GH_NO_ENTRY, waitq);
	gh_entry queue =
	    gh_type_pointer(unit, hchan, gh_type_generic_name(unit, "*hchan", elem, GH_NO_ENTRY));
	if (elem != GH_NO_RTYPE)
		unit->queues[elem] = queue;
	return queue;
}

/* An array of a bucket, called BASE<ITEM>. */
static gh_entry bucket_array(struct gh_type_unit *unit, uint32_t array, const char *base,
			     uint32_t item)
{
	if (array == GH_NO_RTYPE || unit->types->items[array].kind != GH_KIND_ARRAY)
		return gh_type_of(unit, array);
	const struct gh_rtype *type = &unit->types->items[array];
	uint32_t elem = gh_rtype_shorter(unit->types, type, gh_rtype_elem(unit->types, type));
	struct gh_type_late late = {
	    .target = gh_type_of(unit, elem),
	    .name = gh_type_generic_name(unit, base, item, GH_NO_ENTRY),
	    .array = true,
	    .count = elem != GH_NO_RTYPE ? gh_rtype_length(unit->types, type) : 0,
	    .size = type->size};
	return gh_type_later(unit, &late);
}

/* Writes bucket<KEY,ELEM>, whose fields are those of the struct GROUP under other names. Returns
 * the pointer to it. */
static gh_entry add_bucket(struct gh_type_unit *unit, uint32_t key, uint32_t elem, uint32_t group)
{
	const struct gh_rtype *type = &unit->types->items[group];
	gh_entry number = gh_type_new(unit);
	gh_entry pointer =
	    gh_type_pointer(unit, number, gh_type_generic_name(unit, "*bucket", key, elem));
	gh_type_begin(unit, GH_ENTRY_STRUCT, number,
		      gh_type_generic_name(unit, "bucket", key, elem), NULL);
	gh_buffer_uleb128(unit->out, type->size);
	for (uint32_t i = 0; i < type->nparts; i++) {
		struct gh_rtype_part part;
		if (!gh_rtype_part(unit->types, type, i, &part))
			continue;
		if (gh_rtype_text_is(part.name, "topbits"))
			gh_type_add_member(unit, "tophash", 7, part.offset, part.type, false);
		else if (gh_rtype_text_is(part.name, "keys"))
			gh_type_add_member(unit, "keys", 4, part.offset,
					   bucket_array(unit, part.type, "[]key", key), false);
		else if (gh_rtype_text_is(part.name, "elems") ||
			 gh_rtype_text_is(part.name, "values"))
			gh_type_add_member(unit, "values", 6, part.offset,
					   bucket_array(unit, part.type, "[]val", elem), false);
		else if (gh_rtype_text_is(part.name, "overflow"))
			gh_type_add_member(unit, "overflow", 8, part.offset, pointer, false);
	}
	gh_type_end_children(unit);
	return pointer;
}

/* Writes table<KEY,ELEM> of groups of the struct GROUP. Returns the pointer to the pointer to it.
 */
static gh_entry add_table(struct gh_type_unit *unit, uint32_t key, uint32_t elem, uint32_t group)
{
	gh_entry groups =
	    add_generic(unit, GH_RUNTIME_GROUPS, key, elem, gh_type_pointer_to(unit, group));
	gh_entry table = add_generic(unit, GH_RUNTIME_TABLE, key, elem, groups);
	gh_entry pointer =
	    gh_type_pointer(unit, table, gh_type_generic_name(unit, "*table", key, elem));
	return gh_type_pointer(unit, pointer, gh_type_generic_name(unit, "**table", key, elem));
}

/* The same of the pointer to hash<KEY,ELEM>, or, where GROUP is that of a Swiss map, to
 * map<KEY,ELEM>. GROUP is the struct that has the entries. */
static gh_entry add_map_header(struct gh_type_unit *unit, uint32_t key, uint32_t elem,
			       uint32_t group)
{
	if (group != GH_NO_RTYPE && unit->tables[group] != GH_NO_ENTRY)
		return unit->tables[group];
	bool swiss = unit->types->swiss_maps;
	gh_entry argument = group == GH_NO_RTYPE ? gh_type_basic(unit, GH_KIND_UNSAFE_POINTER)
			    : swiss              ? add_table(unit, key, elem, group)
						 : add_bucket(unit, key, elem, group);
	gh_entry header =
	    add_generic(unit, swiss ? GH_RUNTIME_MAP : GH_RUNTIME_HASH, key, elem, argument);
	uint32_t name = gh_type_generic_name(unit, swiss ? "*map" : "*hash", key, elem);
	gh_entry pointer = gh_type_pointer(unit, header, name);
	if (group != GH_NO_RTYPE)
		unit->tables[group] = pointer;
	return pointer;
}

static void add_chan(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		     const struct gh_rtype *type)
{
	uint32_t elem = gh_rtype_elem(unit->types, type);
	gh_entry queue = add_hchan(unit, elem);
	gh_type_begin(unit, GH_ENTRY_CHAN, number, name, type);
	gh_type_refer(unit, queue);
	gh_type_refer(unit, gh_type_of(unit, elem));
}

static void add_map(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		    const struct gh_rtype *type)
{
	uint32_t key = gh_rtype_key(unit->types, type);
	uint32_t elem = gh_rtype_elem(unit->types, type);
	gh_entry header = add_map_header(unit, key, elem, gh_rtype_group(unit->types, type));
	gh_type_begin(unit, GH_ENTRY_MAP, number, name, type);
	gh_type_refer(unit, header);
	gh_type_refer(unit, gh_type_of(unit, key));
	gh_type_refer(unit, gh_type_of(unit, elem));
}

/* Go's linker puts a typedef before each struct, array, function, interface, pointer and slice
 * whose name is not the type itself spelled out. For LLDB it is before what has another name. */
static bool has_typedef(const struct gh_type_unit *unit, const struct gh_rtype *type)
{
	switch (type->kind) {
	case GH_KIND_STRING:
		return unit->debugger == GH_FOR_LLDB;
	case GH_KIND_FUNC:
	case GH_KIND_INTERFACE:
		return true;
	case GH_KIND_ARRAY:
	case GH_KIND_POINTER:
	case GH_KIND_STRUCT:
		return type->named;
	case GH_KIND_SLICE:
		return type->named || unit->debugger == GH_FOR_LLDB;
	default:
		return false;
	}
}

static void add_type(struct gh_type_unit *unit, uint32_t index)
{
	const struct gh_rtype *type = &unit->types->items[index];
	uint32_t name = type_name(unit, index);
	gh_entry number = has_typedef(unit, type) ? gh_type_new(unit) : index;
	switch (type->kind) {
	case GH_KIND_ARRAY:
		add_array_type(unit, number, name, type);
		break;
	case GH_KIND_CHAN:
		add_chan(unit, number, name, type);
		break;
	case GH_KIND_FUNC:
		add_func(unit, number, name, type);
		break;
	case GH_KIND_INTERFACE:
		add_interface(unit, number, name, type);
		break;
	case GH_KIND_MAP:
		add_map(unit, number, name, type);
		break;
	case GH_KIND_POINTER:
		if (gh_type_is_endless(unit, type))
			gh_type_begin(unit, GH_ENTRY_BARE_POINTER, number, name, type);
		else
			gh_type_add_pointer(
			    unit, number, name, type,
			    gh_type_of(unit, gh_rtype_shorter(unit->types, type,
							      gh_rtype_elem(unit->types, type))));
		break;
	case GH_KIND_SLICE:
		add_slice(unit, number, name, type);
		break;
	case GH_KIND_STRING:
		add_string_type(unit, number, name, type);
		break;
	case GH_KIND_STRUCT:
		add_struct(unit, number, name, type);
		break;
	case GH_KIND_UNSAFE_POINTER:
		gh_type_begin(unit, GH_ENTRY_BARE_POINTER, number, name, type);
		break;
	default:
		/* LLDB shows predeclared types and all that are made of them alike. */
		if (unit->debugger == GH_FOR_LLDB && unit->basics[type->kind] != index)
			gh_type_add_typedef(unit, index, name, gh_type_basic(unit, type->kind));
		else
			gh_type_add_base(unit, number, name, type);
	}
	if (number != index)
		gh_type_add_typedef(unit, index, name, number);
}

/* Writes what was asked for and has no descriptor. */
static void add_others(struct gh_type_unit *unit)
{
	if (unit->unspecified != GH_NO_ENTRY) {
		gh_type_begin_entry(unit, GH_ENTRY_UNSPECIFIED, unit->unspecified);
		gh_buffer_u32(unit->out, gh_type_string(unit, "<unspecified>"));
	}
	gh_type_add_runtimes(unit);
	gh_type_add_lates(unit);
	gh_type_add_basics(unit);
}

/* Finds the types that others are made with: pointers by what they point to, the predeclared ones,
 * and the runtime's. */
static void find_types(struct gh_type_unit *unit)
{
	const struct gh_rtypes *types = unit->types;
	for (uint32_t i = 0; i < types->count; i++) {
		const struct gh_rtype *type = &types->items[i];
		if (type->kind == GH_KIND_POINTER && !type->named) {
			uint32_t elem = gh_rtype_elem(types, type);
			if (elem != GH_NO_RTYPE && unit->pointers[elem] == GH_NO_ENTRY)
				unit->pointers[elem] = i;
		} else if (type->named && gh_rtype_text_is(type->text, gh_kind_name(type->kind))) {
			unit->basics[type->kind] = i;
		} else if (type->named && gh_rtype_text_is(type->text, "abi.Type") &&
			   type->kind == GH_KIND_STRUCT) {
			unit->runtime[gh_runtime_struct("internal/abi.Type")] = i;
		}
	}
}

static gh_entry goroutine_type(struct gh_type_unit *unit, enum gh_goroutine_type type)
{
	static const enum gh_kind kinds[] = {[GH_GOROUTINE_INT] = GH_KIND_INT,
					     [GH_GOROUTINE_UINT32] = GH_KIND_UINT32,
					     [GH_GOROUTINE_UINT64] = GH_KIND_UINT64,
					     [GH_GOROUTINE_UINTPTR] = GH_KIND_UINTPTR};
	return type == GH_GOROUTINE_G
		   ? gh_type_pointer_to(unit, gh_rtypes_struct(unit->types, "runtime.g", 0))
		   : gh_type_basic(unit, kinds[type]);
}

static void add_variable(struct gh_type_unit *unit, const char *name, enum gh_goroutine_type type,
			 const struct gh_buffer *location)
{
	gh_type_begin_entry(unit, GH_ENTRY_VARIABLE, GH_NO_ENTRY);
	gh_buffer_u32(unit->out, gh_type_string(unit, name));
	gh_type_refer(unit, goroutine_type(unit, type));
	gh_buffer_uleb128(unit->out, location->size);
	gh_buffer_bytes(unit->out, location->data, location->size);
	unit->out->failed |= location->failed;
}

static void add_typed(void *context, const char *name, enum gh_goroutine_type type,
		      const struct gh_buffer *location)
{
	if (type == GH_GOROUTINE_G)
		add_variable(context, name, type, location);
}

static void add_basic(void *context, const char *name, enum gh_goroutine_type type,
		      const struct gh_buffer *location)
{
	if (type != GH_GOROUTINE_G)
		add_variable(context, name, type, location);
}

/* Sets the types of arguments, in other units. */
static void fill_arguments(const struct gh_type_unit *unit, struct gh_info *info)
{
	for (size_t i = 0; i < info->refs.count; i++) {
		const struct gh_info_ref *ref = &info->refs.items[i];
		gh_buffer_patch(unit->out, ref->place,
				unit->start + unit->offsets.items[ref->offset], 4);
	}
}

/* The types, and the variable that is of one of them. */
static bool write_unit(struct gh_type_unit *unit, struct gh_info *info,
		       const struct gh_runtime *runtime)
{
	if (!gh_type_unit_begin(unit, info))
		return false;
	find_types(unit);
	for (uint32_t i = 0; i < unit->types->count; i++) {
		add_type(unit, i);
		gh_type_add_lates(unit);
	}
	struct gh_goroutine_writer writer = {.add = add_typed, .context = unit};
	gh_dwarf_goroutine_add(&writer, unit->types, unit->release, runtime);
	gh_dwarf_globals_add(unit, runtime);
	add_others(unit);
	if (!gh_type_unit_end(unit))
		return false;
	fill_arguments(unit, info);
	return true;
}

/* The variables of predeclared types, if there are any. GDB asks for some at every stop, and reads
 * the whole unit for that, which for the types of a large program takes tens of milliseconds: so
 * these are in a unit of their own. */
static bool write_variables(struct gh_type_unit *unit, struct gh_info *info,
			    const struct gh_runtime *runtime)
{
	size_t start = unit->out->size;
	if (!gh_type_unit_begin(unit, info))
		return false;
	size_t empty = unit->out->size;
	struct gh_goroutine_writer writer = {.add = add_basic, .context = unit};
	gh_dwarf_goroutine_add(&writer, unit->types, unit->release, runtime);
	if (unit->out->size == empty && !unit->out->failed) {
		unit->out->size = start;
		return true;
	}
	add_others(unit);
	return gh_type_unit_end(unit);
}

bool gh_dwarf_types_add(struct gh_info *info, const struct gh_rtypes *types,
			const struct gh_typenames *names, struct gh_strings *strings,
			const struct gh_runtime *runtime, struct gh_error *err)
{
	if (types->count == 0)
		return true;
	const char *path = types->tab->image->path;
	struct gh_type_unit unit = {.out = &info->info,
				    .debugger = info->debugger,
				    .types = types,
				    .names = names,
				    .strings = strings,
				    .word = types->tab->pointer_size,
				    .release = gh_rtypes_release(types),
				    .text_left = types->tab->image->size,
				    .unspecified = GH_NO_ENTRY};
	struct gh_type_unit variables = unit;
	bool made = write_unit(&unit, info, runtime) &&
		    write_variables(&variables, info, runtime) && !strings->others.failed;
	gh_type_unit_free(&unit);
	gh_type_unit_free(&variables);
	if (!made)
		return gh_fail_memory(err, path);
	return info->info.size <= UINT32_MAX ||
	       gh_fail(err, path, GH_NO_OFFSET, "less than 4 GiB of DWARF", "more");
}
