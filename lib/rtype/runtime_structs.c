#include <string.h>

#include "lib/rtype/rtype.h"

/* src/runtime/runtime2.go, map.go, chan.go, type.go and src/internal/runtime/maps of each release.
 */
const struct gh_runtime_struct gh_runtime_structs[GH_MAX_RUNTIME_STRUCTS] = {
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
			  {"buckets", "$", 0, 0},
			  {"oldbuckets", "$", 0, 0},
			  {"nevacuate", "uintptr", 0, 0},
			  {"clearSeq", "uint64", 24, 0},
			  {"overflow", "unsafe.Pointer", 5, 9},
			  {"extra", "*runtime.mapextra", 9, 0}}},
    [GH_RUNTIME_MAP] = {"map",
			{{"used", "uint64", 0, 0},
			 {"seed", "uintptr", 0, 0},
			 {"dirPtr", "$", 0, 0},
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
			   {"groups", "$groupReference", 0, 0}}},
    [GH_RUNTIME_GROUPS] = {"groupReference", {{"data", "$", 0, 0}, {"lengthMask", "uint64", 0, 0}}},
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
			   {"recvq", "$waitq", 0, 0},
			   {"sendq", "$waitq", 0, 0},
			   {"bubble", "*runtime.synctestBubble", 25, 0},
			   {"lock", "runtime.mutex", 0, 0}}},
    [GH_RUNTIME_WAITQ] = {"waitq", {{"first", "$", 0, 0}, {"last", "$", 0, 0}}},
    /* Of the releases before Go 1.11 only what leads through a queue. */
    [GH_RUNTIME_SUDOG] = {"sudog",
			  {{"g", "*runtime.g", 0, 0},
			   {"selectdone", "unsafe.Pointer", 0, 10},
			   {"isSelect", "bool", 10, 15},
			   {"next", "*runtime.sudog", 0, 0},
			   {"prev", "*runtime.sudog", 4, 0},
			   {"releasetime", "uint64", 0, 4},
			   {"elem", "$", 0, 26},
			   {"elem", "$runtime.maybeTraceablePtr", 26, 0},
			   {"acquiretime", "int64", 11, 0},
			   {"releasetime", "int64", 11, 0},
			   {"ticket", "uint32", 11, 0},
			   {"isSelect", "bool", 15, 0},
			   {"success", "bool", 16, 0},
			   {"waiters", "uint16", 22, 0},
			   {"parent", "*runtime.sudog", 11, 0},
			   {"waitlink", "*runtime.sudog", 11, 0},
			   {"waittail", "*runtime.sudog", 11, 0},
			   {"c", "*runtime.hchan", 11, 26},
			   {"c", "runtime.maybeTraceableChan", 26, 0}}},
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
    {"runtime.hchan", {{0}}},
    {"runtime.maybeTraceableChan", {{"maybeTraceablePtr", "runtime.maybeTraceablePtr", 0, 0}}},
    {"runtime.maybeTraceablePtr", {{"vp", "unsafe.Pointer", 0, 0}, {"vu", "uintptr", 0, 0}}},
    {0},
};

uint32_t gh_runtime_struct(const char *name)
{
	uint32_t number = 0;
	while (gh_runtime_structs[number].name != NULL &&
	       strcmp(gh_runtime_structs[number].name, name) != 0)
		number++;
	return number;
}

struct gh_runtime_walk gh_runtime_walk(uint32_t number, unsigned word, int release)
{
	const struct gh_runtime_member *members = gh_runtime_structs[number].members;
	return (struct gh_runtime_walk){.next = members,
					.end = members + GH_MAX_RUNTIME_MEMBERS,
					.word = word,
					.release = release,
					.align = 1};
}

static uint32_t align_up(uint32_t size, uint32_t align)
{
	return (size + align - 1) / align * align;
}

/* The size of a field of TYPE, as gh_runtime_structs spells it; in *ALIGN what it is aligned to. */
static uint32_t measure(const struct gh_runtime_walk *outer, const char *type, uint32_t *align)
{
	if (*type == '[')
		return (uint32_t)(type[1] - '0') * measure(outer, type + 3, align);
	uint32_t number = gh_runtime_struct(*type == '$' ? type + 1 : type);
	if (gh_runtime_structs[number].name == NULL) {
		enum gh_kind kind = gh_kind_named(type);
		uint32_t size = kind != 0 ? (uint32_t)gh_kind_size(kind, outer->word) : outer->word;
		*align = size < outer->word ? size : outer->word;
		return size;
	}
	struct gh_runtime_walk walk = gh_runtime_walk(number, outer->word, outer->release);
	struct gh_runtime_field field;
	while (gh_runtime_next(&walk, &field))
		continue;
	*align = walk.align;
	return walk.size;
}

bool gh_runtime_next(struct gh_runtime_walk *walk, struct gh_runtime_field *field)
{
	const struct gh_runtime_member *member = walk->next;
	while (member < walk->end && member->name != NULL &&
	       (walk->release < member->since ||
		(member->before != 0 && walk->release >= member->before)))
		member++;
	walk->next = member;
	if (member == walk->end || member->name == NULL) {
		walk->size = align_up(walk->size, walk->align);
		return false;
	}
	uint32_t align;
	uint32_t size = measure(walk, member->type, &align);
	*field = (struct gh_runtime_field){.name = member->name,
					   .type = member->type,
					   .offset = align_up(walk->size, align),
					   .size = size};
	walk->next++;
	walk->size = field->offset + size;
	walk->align = align > walk->align ? align : walk->align;
	return true;
}

uint32_t gh_runtime_size(uint32_t number, unsigned word, int release)
{
	struct gh_runtime_walk walk = gh_runtime_walk(number, word, release);
	struct gh_runtime_field field;
	while (gh_runtime_next(&walk, &field))
		continue;
	return walk.size;
}

uint32_t gh_runtime_offset(uint32_t number, const char *name, unsigned word, int release)
{
	struct gh_runtime_walk walk = gh_runtime_walk(number, word, release);
	struct gh_runtime_field field;
	while (gh_runtime_next(&walk, &field))
		if (strcmp(field.name, name) == 0)
			return field.offset;
	return 0;
}
