/* The types of the debug file, as libdwarf reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/debugfile/debugfile.h"
#include "lib/rtype/rtype.h"
#include "tests/oracle/libdwarf.h"
#include "tests/unit/suites.h"
#include "tests/unit/typeprogram.h"

/* Attributes of Go's own: DW_AT_go_* in src/cmd/internal/dwarf/dwarf.go. */
enum {
	GO_KIND = 0x2900,
	GO_KEY = 0x2901,
	GO_ELEM = 0x2902,
	GO_EMBEDDED = 0x2903,
	GO_RUNTIME_TYPE = 0x2904
};

/* What libdwarf says of failures: without one it ends the program. */
static Dwarf_Error error;

/* Text that grows. */
struct text {
	char bytes[2048];
	size_t length;
};

#define ADD(text, ...)                                                                             \
	((text)->length += (size_t)snprintf((text)->bytes + (text)->length,                        \
					    sizeof((text)->bytes) - (text)->length, __VA_ARGS__))

static const char *name_of(Dwarf_Die die)
{
	char *name;
	return dwarf_diename(die, &name, &error) == DW_DLV_OK ? name : "?";
}

/* Adds LABEL and the name of the entry that attribute NUMBER of DIE refers to, if it has that. */
static void add_reference(struct text *text, Dwarf_Debug dwarf, Dwarf_Die die, Dwarf_Half number,
			  const char *label)
{
	Dwarf_Attribute attribute;
	Dwarf_Off offset;
	Dwarf_Die other;
	if (dwarf_attr(die, number, &attribute, &error) != DW_DLV_OK)
		return;
	ck_assert_int_eq(dwarf_global_formref(attribute, &offset, &error), DW_DLV_OK);
	ck_assert_int_eq(dwarf_offdie_b(dwarf, offset, 1, &other, &error), DW_DLV_OK);
	ADD(text, " %s%s", label, name_of(other));
}

/* The same of a number, but for 0 unless it is a size. */
static void add_number(struct text *text, Dwarf_Die die, Dwarf_Half number, const char *label)
{
	Dwarf_Attribute attribute;
	Dwarf_Unsigned value;
	Dwarf_Signed negative;
	Dwarf_Addr address;
	if (dwarf_attr(die, number, &attribute, &error) != DW_DLV_OK)
		return;
	if (dwarf_formudata(attribute, &value, &error) != DW_DLV_OK) {
		if (dwarf_formsdata(attribute, &negative, &error) == DW_DLV_OK)
			value = (Dwarf_Unsigned)negative;
		else if (dwarf_formaddr(attribute, &address, &error) == DW_DLV_OK)
			value = address;
		else
			ck_abort_msg("attribute %#x", number);
	}
	if (value != 0 || number == DW_AT_byte_size || number == DW_AT_data_member_location ||
	    number == DW_AT_count)
		ADD(text, " %s%llu", label, (unsigned long long)value);
}

static const char *tag_of(Dwarf_Die die)
{
	static const struct {
		Dwarf_Half tag;
		const char *name;
	} tags[] = {{DW_TAG_base_type, "base"},
		    {DW_TAG_structure_type, "struct"},
		    {DW_TAG_typedef, "typedef"},
		    {DW_TAG_pointer_type, "pointer"},
		    {DW_TAG_array_type, "array"},
		    {DW_TAG_subroutine_type, "func"},
		    {DW_TAG_member, "member"},
		    {DW_TAG_subrange_type, "range"},
		    {DW_TAG_formal_parameter, "takes"},
		    {DW_TAG_unspecified_parameters, "..."},
		    {DW_TAG_unspecified_type, "unspecified"},
		    {DW_TAG_variable, "variable"}};
	Dwarf_Half tag;
	ck_assert_int_eq(dwarf_tag(die, &tag, &error), DW_DLV_OK);
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (tags[i].tag == tag)
			return tags[i].name;
	return "other";
}

/* Adds what an entry says but for its name, and those below it. */
static void add_entry(struct text *text, Dwarf_Debug dwarf, Dwarf_Die die)
{
	Dwarf_Die child;
	Dwarf_Bool declared = 0;
	ADD(text, "%s", tag_of(die));
	dwarf_hasattr(die, DW_AT_declaration, &declared, &error);
	if (declared)
		ADD(text, " declared");
	add_number(text, die, DW_AT_data_member_location, "at ");
	add_number(text, die, DW_AT_byte_size, "size ");
	add_number(text, die, DW_AT_encoding, "encoding ");
	add_number(text, die, DW_AT_count, "count ");
	add_reference(text, dwarf, die, DW_AT_type, "");
	add_number(text, die, GO_KIND, "kind ");
	add_reference(text, dwarf, die, GO_KEY, "key ");
	add_reference(text, dwarf, die, GO_ELEM, "elem ");
	add_number(text, die, GO_EMBEDDED, "embedded ");
	add_number(text, die, GO_RUNTIME_TYPE, "runtime ");
	if (dwarf_child(die, &child, &error) != DW_DLV_OK)
		return;
	do {
		ADD(text, "; ");
		if (strcmp(tag_of(child), "member") == 0)
			ADD(text, "%s: ", name_of(child));
		add_entry(text, dwarf, child);
	} while (dwarf_siblingof_b(dwarf, child, 1, &child, &error) == DW_DLV_OK);
}

/* What the unit of types has under a name. */
struct entry {
	const char *name;
	const char *text;
};

/* What it has under each name, of Go 1.22 for amd64, by what Go's linker writes
 * (src/cmd/link/internal/ld/dwarf.go) and the layouts of the runtime's structs: of the typedef and
 * the struct of a name, the struct first. */
static const struct entry entries[] = {
    {"int", "base size 8 encoding 5 kind 2 runtime 8"},
    {"string",
     "struct size 16 kind 24 runtime 136; str: member at 0 unsafe.Pointer; len: member at 8 int"},
    {"example.org/x/main.Node", "struct size 40 kind 25 runtime 264; value: member at 0 int; Node: "
				"member at 8 *example.org/x/main.Node embedded 1; words: member at "
				"16 []string | typedef example.org/x/main.Node"},
    {"*example.org/x/main.Node", "pointer example.org/x/main.Node kind 22 runtime 392"},
    {"**example.org/x/main.Node", "pointer *example.org/x/main.Node"},
    {"[]string", "struct size 24 kind 23 elem string runtime 520; array: member at 0 *string; len: "
		 "member at 8 int; cap: member at 16 int"},
    {"*string", "pointer string"},
    {"[3]int", "array size 24 int kind 17 runtime 648; range count 3 uintptr"},
    {"func(int, ...string) *example.org/x/main.Node",
     "func size 8 kind 19 runtime 776; takes int; takes []string; ...; takes "
     "**example.org/x/main.Node | "
     "typedef func(int, ...string) *example.org/x/main.Node"},
    {"interface { Do(int, ...string) *example.org/x/main.Node }",
     "typedef runtime.iface kind 20 runtime 904 | typedef interface { Do(int, ...string) "
     "*example.org/x/main.Node }"},
    {"map[string]int", "typedef *hash<string,int> kind 21 key string elem int runtime 1032"},
    {"*hash<string,int>", "pointer hash<string,int>"},
    {"hash<string,int>",
     "struct size 48; count: member at 0 int; flags: member at 8 uint8; B: member at 9 uint8; "
     "noverflow: member at 10 uint16; hash0: member at 12 uint32; buckets: member at 16 "
     "*bucket<string,int>; oldbuckets: member at 24 *bucket<string,int>; nevacuate: member at 32 "
     "uintptr; extra: member at 40 *runtime.mapextra"},
    {"*bucket<string,int>", "pointer bucket<string,int>"},
    {"bucket<string,int>", "struct size 40"},
    {"*runtime.mapextra", "pointer runtime.mapextra"},
    {"runtime.mapextra", "struct declared"},
    {"chan int", "typedef *hchan<int> kind 18 elem int runtime 1160"},
    {"*hchan<int>", "pointer hchan<int>"},
    {"hchan<int>",
     "struct size 96; qcount: member at 0 uint; dataqsiz: member at 8 uint; buf: member at 16 "
     "unsafe.Pointer; elemsize: member at 24 uint16; closed: member at 28 uint32; elemtype: member "
     "at 32 *internal/abi.Type; sendx: member at 40 uint; recvx: member at 48 uint; recvq: member "
     "at 56 waitq<int>; sendq: member at 72 waitq<int>; lock: member at 88 runtime.mutex"},
    {"waitq<int>", "struct size 16; first: member at 0 *sudog<int>; last: member at 8 *sudog<int>"},
    {"*sudog<int>", "pointer sudog<int>"},
    {"sudog<int>",
     "struct size 88; g: member at 0 *runtime.g; next: member at 8 *runtime.sudog; prev: member at "
     "16 *runtime.sudog; elem: member at 24 *int; acquiretime: member at 32 int64; releasetime: "
     "member at 40 int64; ticket: member at 48 uint32; isSelect: member at 52 bool; success: "
     "member at 53 bool; waiters: member at 54 uint16; parent: member at 56 *runtime.sudog; "
     "waitlink: member at 64 *runtime.sudog; waittail: member at 72 *runtime.sudog; c: member at "
     "80 *runtime.hchan"},
    {"*int", "pointer int"},
    {"*runtime.g", "pointer runtime.g"},
    {"runtime.g", "struct declared"},
    {"*runtime.sudog", "pointer runtime.sudog"},
    {"runtime.sudog", "struct declared"},
    {"*runtime.hchan", "pointer runtime.hchan"},
    {"runtime.hchan", "struct declared"},
    {"runtime.mutex", "struct size 8; key: member at 0 uintptr"},
    {"unsafe.Pointer", "pointer kind 26 runtime 1288"},
    {"[0]*example.org/x/main.Node",
     "array size 0 *example.org/x/main.Node kind 17 runtime 1416; range count 0 uintptr"},
    {"sync/atomic.Pointer[example.org/x/main.Node]",
     "struct size 8 kind 25 runtime 1544; _: member at 0 [0]*example.org/x/main.Node; v: member at "
     "0 unsafe.Pointer | typedef sync/atomic.Pointer[example.org/x/main.Node]"},
    {"runtime.iface",
     "struct size 16; tab: member at 0 *runtime.itab; data: member at 8 unsafe.Pointer"},
    {"*runtime.itab", "pointer runtime.itab"},
    {"runtime.itab", "struct size 32; inter: member at 0 *internal/abi.InterfaceType; _type: "
		     "member at 8 *internal/abi.Type; hash: member at 16 uint32; _: member at 20 "
		     "[4]uint8; fun: member at 24 [1]uintptr"},
    {"*internal/abi.InterfaceType", "pointer internal/abi.InterfaceType"},
    {"internal/abi.InterfaceType", "struct declared"},
    {"[4]uint8", "array size 4 uint8; range count 4 uintptr"},
    {"[1]uintptr", "array size 8 uintptr; range count 1 uintptr"},
    {"*internal/abi.Type", "pointer internal/abi.Type"},
    {"internal/abi.Type",
     "struct size 48; Size_: member at 0 uintptr; PtrBytes: member at 8 uintptr; Hash: member at "
     "16 uint32; TFlag: member at 20 uint8; Align_: member at 21 uint8; FieldAlign_: member at 22 "
     "uint8; Kind_: member at 23 uint8; Equal: member at 24 unsafe.Pointer; GCData: member at 32 "
     "unsafe.Pointer; Str: member at 40 int32; PtrToThis: member at 44 int32"},
    {"runtime.moduledata",
     "struct size 592; text: member at 176 uintptr; etext: member at 184 uintptr; types: member at "
     "296 uintptr; etypes: member at 304 uintptr; typemap: member at 568 unsafe.Pointer; next: "
     "member at 584 *runtime.moduledata"},
    {"*runtime.moduledata", "pointer runtime.moduledata"},
    {"runtime.firstmoduledata", "variable runtime.moduledata"},
    {"bool", "base size 1 encoding 2 kind 1"},
    {"int32", "base size 4 encoding 5 kind 5"},
    {"int64", "base size 8 encoding 5 kind 6"},
    {"uint", "base size 8 encoding 7 kind 7"},
    {"uint8", "base size 1 encoding 7 kind 8"},
    {"uint16", "base size 2 encoding 7 kind 9"},
    {"uint32", "base size 4 encoding 7 kind 10"},
    {"uintptr", "base size 8 encoding 7 kind 12"},
};

/* Under some names where words have four bytes, and the first is the highest. */
static const struct entry of_32_bits[] = {
    {"int", "base size 4 encoding 5 kind 2 runtime 4"},
    {"string",
     "struct size 8 kind 24 runtime 68; str: member at 0 unsafe.Pointer; len: member at 4 int"},
    {"example.org/x/main.Node", "struct size 20 kind 25 runtime 132; value: member at 0 int; Node: "
				"member at 4 *example.org/x/main.Node embedded 1; words: member at "
				"8 []string | typedef example.org/x/main.Node"},
    {"[]string", "struct size 12 kind 23 elem string runtime 260; array: member at 0 *string; len: "
		 "member at 4 int; cap: member at 8 int"},
    {"[3]int", "array size 12 int kind 17 runtime 324; range count 3 uintptr"},
    {"hash<string,int>",
     "struct size 28; count: member at 0 int; flags: member at 4 uint8; B: member at 5 uint8; "
     "noverflow: member at 6 uint16; hash0: member at 8 uint32; buckets: member at 12 "
     "*bucket<string,int>; oldbuckets: member at 16 *bucket<string,int>; nevacuate: member at 20 "
     "uintptr; extra: member at 24 *runtime.mapextra"},
    {"uintptr", "base size 4 encoding 7 kind 12"},
    {"unsafe.Pointer", "pointer kind 26 runtime 644"},
    {"runtime.moduledata",
     "struct size 296; text: member at 88 uintptr; etext: member at 92 uintptr; types: member at "
     "148 uintptr; etypes: member at 152 uintptr; typemap: member at 284 unsafe.Pointer; next: "
     "member at 292 *runtime.moduledata"},
};

/* And of Go 1.15. */
static const struct entry of_1_15[] = {
    {"runtime.iface",
     "struct size 16; tab: member at 0 *runtime.itab; data: member at 8 unsafe.Pointer"},
    {"runtime.itab", "struct size 32; inter: member at 0 *runtime.interfacetype; _type: member at "
		     "8 *runtime._type; hash: member at 16 uint32; _: member at 20 [4]uint8; fun: "
		     "member at 24 [1]uintptr"},
    {"runtime._type",
     "struct size 48; size: member at 0 uintptr; ptrdata: member at 8 uintptr; hash: member at 16 "
     "uint32; tflag: member at 20 uint8; align: member at 21 uint8; fieldAlign: member at 22 "
     "uint8; kind: member at 23 uint8; equal: member at 24 unsafe.Pointer; gcdata: member at 32 "
     "unsafe.Pointer; str: member at 40 int32; ptrToThis: member at 44 int32"},
    {"waitq<int>", "struct size 16; first: member at 0 *sudog<int>; last: member at 8 *sudog<int>"},
    {"internal/abi.Type", ""},
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* The entry of the last unit, which is the one of types. */
static Dwarf_Die last_unit(Dwarf_Debug dwarf)
{
	Dwarf_Die last = NULL;
	Dwarf_Unsigned length, next, type_offset;
	Dwarf_Half version, address_size, offset_size, extension, kind;
	Dwarf_Off abbreviations;
	Dwarf_Sig8 signature;
	while (dwarf_next_cu_header_d(dwarf, 1, &length, &version, &abbreviations, &address_size,
				      &offset_size, &extension, &signature, &type_offset, &next,
				      &kind, &error) == DW_DLV_OK)
		ck_assert_int_eq(dwarf_siblingof_b(dwarf, NULL, 1, &last, &error), DW_DLV_OK);
	ck_assert_ptr_nonnull(last);
	return last;
}

/* What UNIT has under NAME; in *COUNT of how many entries. */
static void describe(struct text *text, Dwarf_Debug dwarf, Dwarf_Die unit, const char *name,
		     size_t *count)
{
	Dwarf_Die child;
	text->length = 0;
	text->bytes[0] = '\0';
	ck_assert_int_eq(dwarf_child(unit, &child, &error), DW_DLV_OK);
	do {
		if (strcmp(name_of(child), name) != 0)
			continue;
		if (text->length > 0)
			ADD(text, " | ");
		add_entry(text, dwarf, child);
		(*count)++;
	} while (dwarf_siblingof_b(dwarf, child, 1, &child, &error) == DW_DLV_OK);
}

static size_t count_children(Dwarf_Debug dwarf, Dwarf_Die unit)
{
	Dwarf_Die child;
	size_t count = 1;
	ck_assert_int_eq(dwarf_child(unit, &child, &error), DW_DLV_OK);
	while (dwarf_siblingof_b(dwarf, child, 1, &child, &error) == DW_DLV_OK)
		count++;
	return count;
}

/* Writes the debug file of PROGRAM to a file of its own, whose name is PATH. */
static void write_debug_file(struct typeprogram *program, char *path)
{
	struct gh_error err;
	size_t size;
	uint8_t *debug;
	typeprogram_open_tab(program);
	ck_assert(gh_debugfile_make(&program->tab, NULL, &debug, &size, &err));
	int fd = mkstemp(path);
	ck_assert_int_eq(write(fd, debug, size), (ssize_t)size);
	close(fd);
	free(debug);
	typeprogram_close(program);
}

/* Checks that PROGRAM, which is closed, has the COUNT entries at LIST. Returns how many it has
 * besides. */
static size_t check(struct typeprogram *program, const struct entry *list, size_t count)
{
	char path[] = "/tmp/goheap-test-XXXXXX";
	Dwarf_Debug dwarf;
	struct text text;
	size_t found = 0;
	write_debug_file(program, path);
	ck_assert_int_eq(open_dwarf(path, &dwarf, &error), DW_DLV_OK);
	unlink(path);
	Dwarf_Die unit = last_unit(dwarf);
	ck_assert_str_eq(name_of(unit), "runtime");
	for (size_t i = 0; i < count; i++) {
		describe(&text, dwarf, unit, list[i].name, &found);
		ck_assert_str_eq(text.bytes, list[i].text);
	}
	size_t all = count_children(dwarf, unit);
	close_dwarf(dwarf);
	return all - found;
}

/* Variants of Go 1.20's format: of 64 bits, the same with the highest byte first, and of 32. */
enum { LITTLE = SYNTHETIC_1_20 * 8, BIG = LITTLE + 2, BIG_32 = LITTLE + 3 };

START_TEST(types_are_those_of_the_descriptors_and_of_the_runtime)
{
	struct typeprogram program;
	typeprogram_make(&program, LITTLE, NULL);
	ck_assert_uint_eq(check(&program, entries, COUNT(entries)), 0);
	typeprogram_make(&program, BIG, NULL);
	ck_assert_uint_eq(check(&program, entries, COUNT(entries)), 0);
}
END_TEST

START_TEST(types_are_those_of_the_machine_and_the_release)
{
	struct typeprogram program;
	typeprogram_make(&program, BIG_32, NULL);
	check(&program, of_32_bits, COUNT(of_32_bits));
	typeprogram_make(&program, SYNTHETIC_1_2 * 8, NULL);
	check(&program, of_1_15, COUNT(of_1_15));
}
END_TEST

/* By the kinds of reflect: the size, and the encoding of DWARF. */
START_TEST(predeclared_types_are_base_types)
{
	static const struct {
		uint8_t size, encoding;
	} kinds[] = {[1] = {1, DW_ATE_boolean},        [2] = {8, DW_ATE_signed},
		     [3] = {1, DW_ATE_signed},         [4] = {2, DW_ATE_signed},
		     [5] = {4, DW_ATE_signed},         [6] = {8, DW_ATE_signed},
		     [7] = {8, DW_ATE_unsigned},       [8] = {1, DW_ATE_unsigned},
		     [9] = {2, DW_ATE_unsigned},       [10] = {4, DW_ATE_unsigned},
		     [11] = {8, DW_ATE_unsigned},      [12] = {8, DW_ATE_unsigned},
		     [13] = {4, DW_ATE_float},         [14] = {8, DW_ATE_float},
		     [15] = {8, DW_ATE_complex_float}, [16] = {16, DW_ATE_complex_float}};
	for (uint8_t kind = 1; kind < COUNT(kinds); kind++) {
		struct typeprogram program;
		char text[64];
		typeprogram_make(&program, LITTLE, NULL);
		/* The type that was int, which is 8 bytes large. */
		size_t at = program.places.types[TYPE_INT];
		uint8_t size = kinds[kind].size;
		uint8_t align = size > 8 ? 8 : kind == 15 ? 4 : size;
		memcpy(memmem(program.data, program.size, "\3int", 4), "\3Foo", 4);
		typeprogram_set(&program, at, size, 8);
		typeprogram_set(&program, at + 21, align, 1);
		typeprogram_set(&program, at + 22, align, 1);
		typeprogram_set(&program, at + 23, kind, 1);
		snprintf(text, sizeof(text), "base size %d encoding %d kind %d runtime 8", size,
			 kinds[kind].encoding, kind);
		const struct entry entry = {"Foo", text};
		check(&program, &entry, 1);
	}
}
END_TEST

/* Gives field INDEX of Node, which is the bucket of the map, a name and the type [3]int. */
static void set_field(struct typeprogram *program, unsigned index, const char *name)
{
	size_t at = TYPES_OFFSET + 0xe00 + index * 32, field = program->places.fields + index * 24;
	program->data[at] = 0;
	program->data[at + 1] = (uint8_t)strlen(name);
	memcpy(program->data + at + 2, name, strlen(name));
	typeprogram_set(program, field, typeprogram_address(at), 8);
	typeprogram_set(program, field + 8, typeprogram_type(program, TYPE_ARRAY), 8);
}

/* As Go's linker calls them. A bucket's arrays are not compared: their types are others. */
START_TEST(buckets_have_keys_and_values)
{
	static const struct entry of_elems[] = {
	    {"bucket<string,int>",
	     "struct size 40; tophash: member at 0 noalg.[3]int; keys: member at 8 "
	     "[]key<string>; values: member at 16 []val<int>"},
	    {"[]key<string>", "array size 24 int; range count 3 uintptr"},
	    {"[]val<int>", "array size 24 int; range count 3 uintptr"}};
	static const struct entry of_values[] = {
	    {"bucket<string,int>", "struct size 40; values: member at 0 []val<int>; overflow: "
				   "member at 16 *bucket<string,int>"}};
	struct typeprogram program;
	typeprogram_make(&program, LITTLE, NULL);
	set_field(&program, 0, "topbits");
	set_field(&program, 1, "keys");
	set_field(&program, 2, "elems");
	check(&program, of_elems, COUNT(of_elems));
	typeprogram_make(&program, LITTLE, NULL);
	set_field(&program, 0, "values");
	set_field(&program, 2, "overflow");
	check(&program, of_values, COUNT(of_values));
}
END_TEST

START_TEST(interfaces_without_methods_are_efaces)
{
	static const struct entry empty[] = {
	    {"interface {}", "typedef runtime.eface kind 20 runtime 904 | typedef interface {}"},
	    {"runtime.eface", "struct size 16; _type: member at 0 *internal/abi.Type; data: "
			      "member at 8 unsafe.Pointer"}};
	struct typeprogram program;
	typeprogram_make(&program, LITTLE, NULL);
	typeprogram_set(&program, program.places.types[TYPE_IFACE] + 64, 0, 8);
	check(&program, empty, COUNT(empty));
}
END_TEST

START_TEST(types_that_are_not_there_are_unspecified)
{
	static const struct entry none[] = {
	    {"*?", "pointer <unspecified> kind 22 runtime 392"},
	    {"chan ?", "typedef *hchan<?> kind 18 elem <unspecified> runtime 1160"},
	    {"<unspecified>", "unspecified"}};
	struct typeprogram program;
	typeprogram_make(&program, LITTLE, NULL);
	typeprogram_set(&program, program.places.types[TYPE_POINTER] + 48, 1, 8);
	typeprogram_set(&program, program.places.types[TYPE_CHAN] + 48, 1, 8);
	check(&program, none, COUNT(none));
}
END_TEST

void debug_types_tests(TCase *tests)
{
	tcase_add_test(tests, types_are_those_of_the_descriptors_and_of_the_runtime);
	tcase_add_test(tests, types_are_those_of_the_machine_and_the_release);
	tcase_add_test(tests, predeclared_types_are_base_types);
	tcase_add_test(tests, buckets_have_keys_and_values);
	tcase_add_test(tests, interfaces_without_methods_are_efaces);
	tcase_add_test(tests, types_that_are_not_there_are_unspecified);
}
