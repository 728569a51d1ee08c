#include "lib/debugfile/dwarf_entries.h"

#include <string.h>

/* src/runtime/runtime2.go, map.go, chan.go, type.go and src/internal/runtime/maps of each release.
 */
const struct gh_runtime_type gh_runtime_types[] = {
    [GH_RUNTIME_EFACE] = {"runtime.eface",
			  {{"_type", "*runtime._type", 0, 21},
			   {"_type", "*internal/abi.Type", 21, 0},
			   {"data", "unsafe.Pointer", 0, 0}}},
    [GH_RUNTIME_IFACE] = {"runtime.iface",
			  {{"tab", "*runtime.itab", 0, 23},
			   {"tab", "*internal/abi.ITab", 23, 0},
			   {"data", "unsafe.Pointer", 0, 0}}},
    [GH_RUNTIME_HASH] = {"hash",
			 {{"count", "int", 0, 0},
			  {"flags", "uint32", 0, 5},
			  {"flags", "uint8", 5, 0},
			  {"hash0", "uint32", 0, 5},
			  {"B", "uint8", 0, 0},
			  {"keysize", "uint8", 0, 4},
			  {"valuesize", "uint8", 0, 4},
			  {"bucketsize", "uint16", 0, 4},
			  {"noverflow", "uint16", 8, 0},
			  {"hash0", "uint32", 5, 0},
			  {"buckets", "$0", 0, 0},
			  {"oldbuckets", "$0", 0, 0},
			  {"nevacuate", "uintptr", 0, 0},
			  {"clearSeq", "uint64", 24, 0},
			  {"overflow", "unsafe.Pointer", 5, 9},
			  {"extra", "*runtime.mapextra", 9, 0}}},
    [GH_RUNTIME_MAP] = {"map",
			{{"used", "uint64", 0, 0},
			 {"seed", "uintptr", 0, 0},
			 {"dirPtr", "$0", 0, 0},
			 {"dirLen", "int", 0, 0},
			 {"globalDepth", "uint8", 0, 0},
			 {"globalShift", "uint8", 0, 0},
			 {"writing", "uint8", 0, 0},
			 {"tombstonePossible", "bool", 25, 0},
			 {"clearSeq", "uint64", 0, 0}}},
    [GH_RUNTIME_TABLE] = {"table",
			  {{"used", "uint16", 0, 0},
			   {"capacity", "uint16", 0, 0},
			   {"growthLeft", "uint16", 0, 0},
			   {"localDepth", "uint8", 0, 0},
			   {"index", "int", 0, 0},
			   {"groups", "$0", 0, 0}}},
    [GH_RUNTIME_GROUPS] = {"groupReference",
			   {{"data", "$0", 0, 0}, {"lengthMask", "uint64", 0, 0}}},
    [GH_RUNTIME_HCHAN] = {"hchan",
			  {{"qcount", "uint", 0, 0},
			   {"dataqsiz", "uint", 0, 0},
			   {"buf", "unsafe.Pointer", 4, 0},
			   {"elemsize", "uint16", 0, 0},
			   {"pad", "uint16", 0, 4},
			   {"synctest", "bool", 24, 25},
			   {"closed", "bool", 0, 4},
			   {"closed", "uint32", 4, 0},
			   {"timer", "*runtime.timer", 23, 0},
			   {"elemtype", "*runtime._type", 0, 21},
			   {"elemtype", "*internal/abi.Type", 21, 0},
			   {"sendx", "uint", 0, 0},
			   {"recvx", "uint", 0, 0},
			   {"recvq", "$0", 0, 0},
			   {"sendq", "$0", 0, 0},
			   {"bubble", "*runtime.synctestBubble", 25, 0},
			   {"lock", "runtime.mutex", 0, 0}}},
    [GH_RUNTIME_WAITQ] = {"waitq", {{"first", "$0", 0, 0}, {"last", "$0", 0, 0}}},
    /* Only what leads through a queue: the rest differs from release to release. */
    [GH_RUNTIME_SUDOG] = {"sudog",
			  {{"g", "*runtime.g", 0, 0},
			   {"selectdone", "unsafe.Pointer", 0, 10},
			   {"isSelect", "bool", 10, 11},
			   {"next", "*runtime.sudog", 0, 0},
			   {"prev", "*runtime.sudog", 4, 0},
			   {"releasetime", "uint64", 0, 4},
			   {"elem", "$0", 0, 0}}},
    [GH_RUNTIME_NAMED] = {"runtime._type",
			  {{"size", "uintptr", 0, 0},
			   {"ptrdata", "uintptr", 5, 0},
			   {"hash", "uint32", 0, 0},
			   {"_unused", "uint8", 0, 7},
			   {"tflag", "uint8", 7, 0},
			   {"align", "uint8", 0, 0},
			   {"fieldAlign", "uint8", 0, 0},
			   {"kind", "uint8", 0, 0},
			   {"alg", "unsafe.Pointer", 0, 14},
			   {"equal", "unsafe.Pointer", 14, 0},
			   {"gc", "unsafe.Pointer", 0, 4},
			   {"gc", "[2]uintptr", 4, 5},
			   {"gcdata", "unsafe.Pointer", 5, 0},
			   {"_string", "unsafe.Pointer", 0, 7},
			   {"x", "unsafe.Pointer", 0, 7},
			   {"ptrto", "*runtime._type", 0, 7},
			   {"zero", "unsafe.Pointer", 3, 6},
			   {"str", "int32", 7, 0},
			   {"ptrToThis", "int32", 7, 0}}},
    {"internal/abi.Type",
     {{"Size_", "uintptr", 0, 0},
      {"PtrBytes", "uintptr", 0, 0},
      {"Hash", "uint32", 0, 0},
      {"TFlag", "uint8", 0, 0},
      {"Align_", "uint8", 0, 0},
      {"FieldAlign_", "uint8", 0, 0},
      {"Kind_", "uint8", 0, 0},
      {"Equal", "unsafe.Pointer", 0, 0},
      {"GCData", "unsafe.Pointer", 0, 0},
      {"Str", "int32", 0, 0},
      {"PtrToThis", "int32", 0, 0}}},
    {"runtime.itab",
     {{"inter", "*runtime.interfacetype", 0, 21},
      {"inter", "*internal/abi.InterfaceType", 21, 0},
      {"_type", "*runtime._type", 0, 21},
      {"_type", "*internal/abi.Type", 21, 0},
      {"link", "*runtime.itab", 0, 10},
      {"bad", "int32", 0, 9},
      {"inhash", "int32", 0, 9},
      {"hash", "uint32", 9, 0},
      {"_", "[4]uint8", 9, 0},
      {"fun", "[1]uintptr", 0, 0}}},
    {"internal/abi.ITab",
     {{"Inter", "*internal/abi.InterfaceType", 0, 0},
      {"Type", "*internal/abi.Type", 0, 0},
      {"Hash", "uint32", 0, 0},
      {"Fun", "[1]uintptr", 0, 0}}},
    {"runtime.mutex", {{"key", "uintptr", 0, 0}}},
    {"runtime.interfacetype", {{0}}},
    {"internal/abi.InterfaceType", {{0}}},
    {"runtime.mapextra", {{0}}},
    {"runtime.timer", {{0}}},
    {"runtime.synctestBubble", {{0}}},
    {"runtime.g", {{0}}},
    {"runtime.sudog", {{0}}},
    {0},
};

gh_entry gh_type_runtime(struct gh_type_unit *unit, const char *name, unsigned *index)
{
	for (unsigned i = 0; gh_runtime_types[i].name != NULL; i++) {
		if (strcmp(gh_runtime_types[i].name, name) != 0)
			continue;
		*index = i;
		if (unit->runtime[i] == GH_NO_ENTRY)
			unit->runtime[i] = gh_type_new(unit);
		return unit->runtime[i];
	}
	return GH_NO_ENTRY;
}

struct gh_type_value gh_type_pointer_value(const struct gh_type_unit *unit, gh_entry type)
{
	return (struct gh_type_value){.type = type, .size = unit->word, .align = unit->word};
}

static bool basic_value(struct gh_type_unit *unit, const char *name, struct gh_type_value *value)
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
		unsigned size = basics[i].size != 0 ? basics[i].size : unit->word;
		*value = (struct gh_type_value){.type = gh_type_basic(unit, basics[i].kind),
						.size = size,
						.align = size < unit->word ? size : unit->word};
		return true;
	}
	return false;
}

static struct gh_type_value member_value(struct gh_type_unit *unit, const char *type,
					 const struct gh_type_value *arguments);

static bool is_in_release(const struct gh_type_unit *unit, const struct gh_runtime_member *member)
{
	return unit->release >= member->since &&
	       (member->before == 0 || unit->release < member->before);
}

/* The extent of a struct of the runtime whose fields' types are basic or pointers. */
static struct gh_type_value runtime_value(struct gh_type_unit *unit, gh_entry type,
					  const struct gh_runtime_member *member)
{
	struct gh_type_value whole = {.type = type, .align = 1};
	for (; member->name != NULL; member++) {
		if (!is_in_release(unit, member))
			continue;
		struct gh_type_value value = member_value(unit, member->type, NULL);
		whole.size = (whole.size + value.align - 1) / value.align * value.align;
		whole.size += value.size;
		if (value.align > whole.align)
			whole.align = value.align;
	}
	return whole;
}

static struct gh_type_value runtime_pointer(struct gh_type_unit *unit, const char *name)
{
	unsigned index = 0;
	gh_entry target = gh_type_runtime(unit, name + 1, &index);
	if (target == GH_NO_ENTRY)
		return gh_type_pointer_value(unit, gh_type_basic(unit, GH_KIND_UNSAFE_POINTER));
	gh_entry *pointer = &unit->runtime_pointers[index];
	if (*pointer == GH_NO_ENTRY)
		*pointer = gh_type_pointer(unit, target, gh_type_string(unit, name));
	return gh_type_pointer_value(unit, *pointer);
}

/* What TYPE, as gh_runtime_types spells it, stands for. */
static struct gh_type_value member_value(struct gh_type_unit *unit, const char *type,
					 const struct gh_type_value *arguments)
{
	struct gh_type_value value;
	unsigned index = 0;
	if (*type == '$')
		return arguments[type[1] - '0'];
	if (*type == '*')
		return runtime_pointer(unit, type);
	if (*type == '[') {
		unsigned count = (unsigned)(type[1] - '0');
		value = member_value(unit, type + 3, NULL);
		struct gh_type_late array = {.target = value.type,
					     .name = gh_type_string(unit, type),
					     .array = true,
					     .count = count,
					     .size = count * value.size};
		value.type = gh_type_later(unit, &array);
		value.size *= count;
		return value;
	}
	if (basic_value(unit, type, &value))
		return value;
	gh_entry number = gh_type_runtime(unit, type, &index);
	return runtime_value(unit, number, gh_runtime_types[index].members);
}

struct gh_type_value gh_type_add_runtime(struct gh_type_unit *unit, gh_entry number, unsigned index,
					 uint32_t name, const struct gh_type_value *arguments)
{
	const struct gh_runtime_member *members = gh_runtime_types[index].members;
	gh_type_begin(unit, GH_ENTRY_STRUCT, number, name, NULL);
	size_t place = unit->out->size;
	gh_buffer_u8(unit->out, 0); /* its size, which is less than 128 */
	struct gh_type_value whole = {.type = number, .align = 1};
	for (const struct gh_runtime_member *member = members; member->name != NULL; member++) {
		if (!is_in_release(unit, member))
			continue;
		struct gh_type_value value = member_value(unit, member->type, arguments);
		whole.size = (whole.size + value.align - 1) / value.align * value.align;
		gh_type_add_member(unit, member->name, strlen(member->name), whole.size, value.type,
				   false);
		whole.size += value.size;
		if (value.align > whole.align)
			whole.align = value.align;
	}
	gh_type_end_children(unit);
	whole.size = (whole.size + whole.align - 1) / whole.align * whole.align;
	if (!unit->out->failed)
		gh_buffer_patch(unit->out, place, whole.size, 1);
	return whole;
}

void gh_type_add_runtimes(struct gh_type_unit *unit)
{
	bool written[GH_MAX_RUNTIME_TYPES] = {false};
	bool more = true;
	while (more) {
		more = false;
		for (unsigned i = 0; gh_runtime_types[i].name != NULL; i++) {
			const struct gh_runtime_type *type = &gh_runtime_types[i];
			if (written[i] || unit->runtime[i] == GH_NO_ENTRY ||
			    unit->runtime[i] < unit->types->count)
				continue;
			more = written[i] = true;
			uint32_t name = gh_type_string(unit, type->name);
			if (type->members[0].name != NULL) {
				gh_type_add_runtime(unit, unit->runtime[i], i, name, NULL);
				continue;
			}
			gh_type_begin_entry(unit, GH_ENTRY_DECLARED, unit->runtime[i]);
			gh_buffer_u32(unit->out, name);
		}
	}
}

void gh_type_add_basics(struct gh_type_unit *unit)
{
	for (unsigned kind = 1; kind < GH_KINDS; kind++) {
		struct gh_type_value value;
		if (unit->basics[kind] == GH_NO_ENTRY || unit->basics[kind] < unit->types->count ||
		    !basic_value(unit, gh_kind_name(kind), &value))
			continue;
		struct gh_rtype type = {
		    .address = unit->types->start, .size = value.size, .kind = (uint8_t)kind};
		uint32_t name = gh_type_string(unit, gh_kind_name(kind));
		if (kind == GH_KIND_UNSAFE_POINTER)
			gh_type_begin(unit, GH_ENTRY_BARE_POINTER, value.type, name, &type);
		else
			gh_type_add_base(unit, value.type, name, &type);
	}
}
