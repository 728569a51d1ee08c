/* The runtime's structs that programs have no descriptors of. */
#include <stdio.h>
#include <string.h>

#include "lib/rtype/rtype.h"
#include "tests/unit/suites.h"

/* A struct in the releases from Go 1.FIRST to 1.LAST, with pointers of 8 and of 4 bytes: the name,
 * offset and size of each field, and the size of the whole. By the sources of each release:
 * runtime2.go, map.go, chan.go and type.go of src/runtime, before Go 1.5 headers of C that are
 * called so; src/internal/runtime/maps and src/internal/abi. */
static const struct {
	const char *name;
	int first;
	int last;
	const char *fields[2];
} layouts[] = {
    {"runtime.eface", 2, 27, {"_type@0:8 data@8:8 =16", "_type@0:4 data@4:4 =8"}},
    {"runtime.iface", 2, 27, {"tab@0:8 data@8:8 =16", "tab@0:4 data@4:4 =8"}},
    {"hash",
     2,
     3,
     {"count@0:8 flags@8:4 hash0@12:4 B@16:1 keysize@17:1 valuesize@18:1 bucketsize@20:2 "
      "buckets@24:8 oldbuckets@32:8 nevacuate@40:8 =48",
      "count@0:4 flags@4:4 hash0@8:4 B@12:1 keysize@13:1 valuesize@14:1 bucketsize@16:2 "
      "buckets@20:4 oldbuckets@24:4 nevacuate@28:4 =32"}},
    {"hash",
     4,
     4,
     {"count@0:8 flags@8:4 hash0@12:4 B@16:1 buckets@24:8 oldbuckets@32:8 nevacuate@40:8 =48",
      "count@0:4 flags@4:4 hash0@8:4 B@12:1 buckets@16:4 oldbuckets@20:4 nevacuate@24:4 =28"}},
    {"hash",
     5,
     7,
     {"count@0:8 flags@8:1 B@9:1 hash0@12:4 buckets@16:8 oldbuckets@24:8 nevacuate@32:8 "
      "overflow@40:8 =48",
      "count@0:4 flags@4:1 B@5:1 hash0@8:4 buckets@12:4 oldbuckets@16:4 nevacuate@20:4 "
      "overflow@24:4 =28"}},
    {"hash",
     8,
     8,
     {"count@0:8 flags@8:1 B@9:1 noverflow@10:2 hash0@12:4 buckets@16:8 oldbuckets@24:8 "
      "nevacuate@32:8 overflow@40:8 =48",
      "count@0:4 flags@4:1 B@5:1 noverflow@6:2 hash0@8:4 buckets@12:4 oldbuckets@16:4 "
      "nevacuate@20:4 overflow@24:4 =28"}},
    {"hash",
     9,
     23,
     {"count@0:8 flags@8:1 B@9:1 noverflow@10:2 hash0@12:4 buckets@16:8 oldbuckets@24:8 "
      "nevacuate@32:8 extra@40:8 =48",
      "count@0:4 flags@4:1 B@5:1 noverflow@6:2 hash0@8:4 buckets@12:4 oldbuckets@16:4 "
      "nevacuate@20:4 extra@24:4 =28"}},
    {"hash",
     24,
     27,
     {"count@0:8 flags@8:1 B@9:1 noverflow@10:2 hash0@12:4 buckets@16:8 oldbuckets@24:8 "
      "nevacuate@32:8 clearSeq@40:8 extra@48:8 =56",
      "count@0:4 flags@4:1 B@5:1 noverflow@6:2 hash0@8:4 buckets@12:4 oldbuckets@16:4 "
      "nevacuate@20:4 clearSeq@24:8 extra@32:4 =36"}},
    {"map",
     24,
     24,
     {"used@0:8 seed@8:8 dirPtr@16:8 dirLen@24:8 globalDepth@32:1 globalShift@33:1 writing@34:1 "
      "clearSeq@40:8 =48",
      "used@0:8 seed@8:4 dirPtr@12:4 dirLen@16:4 globalDepth@20:1 globalShift@21:1 writing@22:1 "
      "clearSeq@24:8 =32"}},
    {"map",
     25,
     27,
     {"used@0:8 seed@8:8 dirPtr@16:8 dirLen@24:8 globalDepth@32:1 globalShift@33:1 writing@34:1 "
      "tombstonePossible@35:1 clearSeq@40:8 =48",
      "used@0:8 seed@8:4 dirPtr@12:4 dirLen@16:4 globalDepth@20:1 globalShift@21:1 writing@22:1 "
      "tombstonePossible@23:1 clearSeq@24:8 =32"}},
    {"table",
     24,
     27,
     {"used@0:2 capacity@2:2 growthLeft@4:2 localDepth@6:1 index@8:8 groups@16:16 =32",
      "used@0:2 capacity@2:2 growthLeft@4:2 localDepth@6:1 index@8:4 groups@12:12 =24"}},
    {"groupReference", 24, 27, {"data@0:8 lengthMask@8:8 =16", "data@0:4 lengthMask@4:8 =12"}},
    {"hchan",
     2,
     3,
     {"qcount@0:8 dataqsiz@8:8 elemsize@16:2 pad@18:2 closed@20:1 elemtype@24:8 sendx@32:8 "
      "recvx@40:8 recvq@48:16 sendq@64:16 lock@80:8 =88",
      "qcount@0:4 dataqsiz@4:4 elemsize@8:2 pad@10:2 closed@12:1 elemtype@16:4 sendx@20:4 "
      "recvx@24:4 recvq@28:8 sendq@36:8 lock@44:4 =48"}},
    {"hchan",
     4,
     22,
     {"qcount@0:8 dataqsiz@8:8 buf@16:8 elemsize@24:2 closed@28:4 elemtype@32:8 sendx@40:8 "
      "recvx@48:8 recvq@56:16 sendq@72:16 lock@88:8 =96",
      "qcount@0:4 dataqsiz@4:4 buf@8:4 elemsize@12:2 closed@16:4 elemtype@20:4 sendx@24:4 "
      "recvx@28:4 recvq@32:8 sendq@40:8 lock@48:4 =52"}},
    {"hchan",
     23,
     23,
     {"qcount@0:8 dataqsiz@8:8 buf@16:8 elemsize@24:2 closed@28:4 timer@32:8 elemtype@40:8 "
      "sendx@48:8 recvx@56:8 recvq@64:16 sendq@80:16 lock@96:8 =104",
      "qcount@0:4 dataqsiz@4:4 buf@8:4 elemsize@12:2 closed@16:4 timer@20:4 elemtype@24:4 "
      "sendx@28:4 recvx@32:4 recvq@36:8 sendq@44:8 lock@52:4 =56"}},
    {"hchan",
     24,
     24,
     {"qcount@0:8 dataqsiz@8:8 buf@16:8 elemsize@24:2 synctest@26:1 closed@28:4 timer@32:8 "
      "elemtype@40:8 sendx@48:8 recvx@56:8 recvq@64:16 sendq@80:16 lock@96:8 =104",
      "qcount@0:4 dataqsiz@4:4 buf@8:4 elemsize@12:2 synctest@14:1 closed@16:4 timer@20:4 "
      "elemtype@24:4 sendx@28:4 recvx@32:4 recvq@36:8 sendq@44:8 lock@52:4 =56"}},
    {"hchan",
     25,
     27,
     {"qcount@0:8 dataqsiz@8:8 buf@16:8 elemsize@24:2 closed@28:4 timer@32:8 elemtype@40:8 "
      "sendx@48:8 recvx@56:8 recvq@64:16 sendq@80:16 bubble@96:8 lock@104:8 =112",
      "qcount@0:4 dataqsiz@4:4 buf@8:4 elemsize@12:2 closed@16:4 timer@20:4 elemtype@24:4 "
      "sendx@28:4 recvx@32:4 recvq@36:8 sendq@44:8 bubble@52:4 lock@56:4 =60"}},
    {"waitq", 2, 27, {"first@0:8 last@8:8 =16", "first@0:4 last@4:4 =8"}},
    {"sudog",
     2,
     3,
     {"g@0:8 selectdone@8:8 next@16:8 releasetime@24:8 elem@32:8 =40",
      "g@0:4 selectdone@4:4 next@8:4 releasetime@12:8 elem@20:4 =24"}},
    {"sudog",
     4,
     9,
     {"g@0:8 selectdone@8:8 next@16:8 prev@24:8 elem@32:8 =40",
      "g@0:4 selectdone@4:4 next@8:4 prev@12:4 elem@16:4 =20"}},
    {"sudog",
     10,
     10,
     {"g@0:8 isSelect@8:1 next@16:8 prev@24:8 elem@32:8 =40",
      "g@0:4 isSelect@4:1 next@8:4 prev@12:4 elem@16:4 =20"}},
    {"sudog",
     11,
     14,
     {"g@0:8 isSelect@8:1 next@16:8 prev@24:8 elem@32:8 acquiretime@40:8 releasetime@48:8 "
      "ticket@56:4 parent@64:8 waitlink@72:8 waittail@80:8 c@88:8 =96",
      "g@0:4 isSelect@4:1 next@8:4 prev@12:4 elem@16:4 acquiretime@20:8 releasetime@28:8 "
      "ticket@36:4 parent@40:4 waitlink@44:4 waittail@48:4 c@52:4 =56"}},
    {"sudog",
     15,
     15,
     {"g@0:8 next@8:8 prev@16:8 elem@24:8 acquiretime@32:8 releasetime@40:8 ticket@48:4 "
      "isSelect@52:1 parent@56:8 waitlink@64:8 waittail@72:8 c@80:8 =88",
      "g@0:4 next@4:4 prev@8:4 elem@12:4 acquiretime@16:8 releasetime@24:8 ticket@32:4 "
      "isSelect@36:1 parent@40:4 waitlink@44:4 waittail@48:4 c@52:4 =56"}},
    {"sudog",
     16,
     21,
     {"g@0:8 next@8:8 prev@16:8 elem@24:8 acquiretime@32:8 releasetime@40:8 ticket@48:4 "
      "isSelect@52:1 success@53:1 parent@56:8 waitlink@64:8 waittail@72:8 c@80:8 =88",
      "g@0:4 next@4:4 prev@8:4 elem@12:4 acquiretime@16:8 releasetime@24:8 ticket@32:4 "
      "isSelect@36:1 success@37:1 parent@40:4 waitlink@44:4 waittail@48:4 c@52:4 =56"}},
    {"sudog",
     22,
     25,
     {"g@0:8 next@8:8 prev@16:8 elem@24:8 acquiretime@32:8 releasetime@40:8 ticket@48:4 "
      "isSelect@52:1 success@53:1 waiters@54:2 parent@56:8 waitlink@64:8 waittail@72:8 c@80:8 =88",
      "g@0:4 next@4:4 prev@8:4 elem@12:4 acquiretime@16:8 releasetime@24:8 ticket@32:4 "
      "isSelect@36:1 success@37:1 waiters@38:2 parent@40:4 waitlink@44:4 waittail@48:4 c@52:4 "
      "=56"}},
    {"sudog",
     26,
     27,
     {"g@0:8 next@8:8 prev@16:8 elem@24:16 acquiretime@40:8 releasetime@48:8 ticket@56:4 "
      "isSelect@60:1 success@61:1 waiters@62:2 parent@64:8 waitlink@72:8 waittail@80:8 c@88:16 "
      "=104",
      "g@0:4 next@4:4 prev@8:4 elem@12:8 acquiretime@20:8 releasetime@28:8 ticket@36:4 "
      "isSelect@40:1 success@41:1 waiters@42:2 parent@44:4 waitlink@48:4 waittail@52:4 c@56:8 "
      "=64"}},
    {"runtime._type",
     2,
     2,
     {"size@0:8 hash@8:4 _unused@12:1 align@13:1 fieldAlign@14:1 kind@15:1 alg@16:8 gc@24:8 "
      "_string@32:8 x@40:8 ptrto@48:8 =56",
      "size@0:4 hash@4:4 _unused@8:1 align@9:1 fieldAlign@10:1 kind@11:1 alg@12:4 gc@16:4 "
      "_string@20:4 x@24:4 ptrto@28:4 =32"}},
    {"runtime._type",
     3,
     3,
     {"size@0:8 hash@8:4 _unused@12:1 align@13:1 fieldAlign@14:1 kind@15:1 alg@16:8 gc@24:8 "
      "_string@32:8 x@40:8 ptrto@48:8 zero@56:8 =64",
      "size@0:4 hash@4:4 _unused@8:1 align@9:1 fieldAlign@10:1 kind@11:1 alg@12:4 gc@16:4 "
      "_string@20:4 x@24:4 ptrto@28:4 zero@32:4 =36"}},
    {"runtime._type",
     4,
     4,
     {"size@0:8 hash@8:4 _unused@12:1 align@13:1 fieldAlign@14:1 kind@15:1 alg@16:8 gc@24:16 "
      "_string@40:8 x@48:8 ptrto@56:8 zero@64:8 =72",
      "size@0:4 hash@4:4 _unused@8:1 align@9:1 fieldAlign@10:1 kind@11:1 alg@12:4 gc@16:8 "
      "_string@24:4 x@28:4 ptrto@32:4 zero@36:4 =40"}},
    {"runtime._type",
     5,
     5,
     {"size@0:8 ptrdata@8:8 hash@16:4 _unused@20:1 align@21:1 fieldAlign@22:1 kind@23:1 alg@24:8 "
      "gcdata@32:8 _string@40:8 x@48:8 ptrto@56:8 zero@64:8 =72",
      "size@0:4 ptrdata@4:4 hash@8:4 _unused@12:1 align@13:1 fieldAlign@14:1 kind@15:1 alg@16:4 "
      "gcdata@20:4 _string@24:4 x@28:4 ptrto@32:4 zero@36:4 =40"}},
    {"runtime._type",
     6,
     6,
     {"size@0:8 ptrdata@8:8 hash@16:4 _unused@20:1 align@21:1 fieldAlign@22:1 kind@23:1 alg@24:8 "
      "gcdata@32:8 _string@40:8 x@48:8 ptrto@56:8 =64",
      "size@0:4 ptrdata@4:4 hash@8:4 _unused@12:1 align@13:1 fieldAlign@14:1 kind@15:1 alg@16:4 "
      "gcdata@20:4 _string@24:4 x@28:4 ptrto@32:4 =36"}},
    {"runtime._type",
     7,
     13,
     {"size@0:8 ptrdata@8:8 hash@16:4 tflag@20:1 align@21:1 fieldAlign@22:1 kind@23:1 alg@24:8 "
      "gcdata@32:8 str@40:4 ptrToThis@44:4 =48",
      "size@0:4 ptrdata@4:4 hash@8:4 tflag@12:1 align@13:1 fieldAlign@14:1 kind@15:1 alg@16:4 "
      "gcdata@20:4 str@24:4 ptrToThis@28:4 =32"}},
    {"runtime._type",
     14,
     20,
     {"size@0:8 ptrdata@8:8 hash@16:4 tflag@20:1 align@21:1 fieldAlign@22:1 kind@23:1 equal@24:8 "
      "gcdata@32:8 str@40:4 ptrToThis@44:4 =48",
      "size@0:4 ptrdata@4:4 hash@8:4 tflag@12:1 align@13:1 fieldAlign@14:1 kind@15:1 equal@16:4 "
      "gcdata@20:4 str@24:4 ptrToThis@28:4 =32"}},
    {"internal/abi.Type",
     21,
     27,
     {"Size_@0:8 PtrBytes@8:8 Hash@16:4 TFlag@20:1 Align_@21:1 FieldAlign_@22:1 Kind_@23:1 "
      "Equal@24:8 GCData@32:8 Str@40:4 PtrToThis@44:4 =48",
      "Size_@0:4 PtrBytes@4:4 Hash@8:4 TFlag@12:1 Align_@13:1 FieldAlign_@14:1 Kind_@15:1 "
      "Equal@16:4 GCData@20:4 Str@24:4 PtrToThis@28:4 =32"}},
    {"runtime.itab",
     2,
     8,
     {"inter@0:8 _type@8:8 link@16:8 bad@24:4 inhash@28:4 fun@32:8 =40",
      "inter@0:4 _type@4:4 link@8:4 bad@12:4 inhash@16:4 fun@20:4 =24"}},
    {"runtime.itab",
     9,
     9,
     {"inter@0:8 _type@8:8 link@16:8 hash@24:4 _@28:4 fun@32:8 =40",
      "inter@0:4 _type@4:4 link@8:4 hash@12:4 _@16:4 fun@20:4 =24"}},
    {"runtime.itab",
     10,
     22,
     {"inter@0:8 _type@8:8 hash@16:4 _@20:4 fun@24:8 =32",
      "inter@0:4 _type@4:4 hash@8:4 _@12:4 fun@16:4 =20"}},
    {"internal/abi.ITab",
     23,
     27,
     {"Inter@0:8 Type@8:8 Hash@16:4 Fun@24:8 =32", "Inter@0:4 Type@4:4 Hash@8:4 Fun@12:4 =16"}},
    {"runtime.mutex", 2, 27, {"key@0:8 =8", "key@0:4 =4"}},
    {"runtime.maybeTraceablePtr", 26, 27, {"vp@0:8 vu@8:8 =16", "vp@0:4 vu@4:4 =8"}},
    {"runtime.maybeTraceableChan",
     26,
     27,
     {"maybeTraceablePtr@0:16 =16", "maybeTraceablePtr@0:8 =8"}},
};

/* The fields of struct NUMBER as a text. */
static void describe(char *text, size_t size, uint32_t number, unsigned word, int release)
{
	struct gh_runtime_walk walk = gh_runtime_walk(number, word, release);
	struct gh_runtime_field field;
	text[0] = '\0';
	while (gh_runtime_next(&walk, &field)) {
		size_t length = strlen(text);
		snprintf(text + length, size - length, "%s@%u:%u ", field.name, field.offset,
			 field.size);
		if (field.offset != 0)
			ck_assert_uint_eq(gh_runtime_offset(number, field.name, word, release),
					  field.offset);
	}
	size_t length = strlen(text);
	snprintf(text + length, size - length, "=%u", walk.size);
	ck_assert_uint_eq(gh_runtime_size(number, word, release), walk.size);
}

START_TEST(fields_are_where_each_release_has_them)
{
	char text[512];
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		uint32_t number = gh_runtime_struct(layouts[i].name);
		ck_assert_str_eq(gh_runtime_structs[number].name, layouts[i].name);
		for (int release = layouts[i].first; release <= layouts[i].last; release++) {
			describe(text, sizeof(text), number, 8, release);
			ck_assert_msg(strcmp(text, layouts[i].fields[0]) == 0, "%s 1.%d: %s",
				      layouts[i].name, release, text);
			describe(text, sizeof(text), number, 4, release);
			ck_assert_msg(strcmp(text, layouts[i].fields[1]) == 0, "%s 1.%d: %s",
				      layouts[i].name, release, text);
		}
	}
}
END_TEST

/* The types of pointers that differ between releases. */
START_TEST(descriptors_are_of_the_types_of_each_release)
{
	static const struct {
		const char *name;
		const char *field;
		int release;
		const char *type;
	} types[] = {
	    {"runtime.eface", "_type", 20, "*runtime._type"},
	    {"runtime.eface", "_type", 21, "*internal/abi.Type"},
	    {"runtime.iface", "tab", 22, "*runtime.itab"},
	    {"runtime.iface", "tab", 23, "*internal/abi.ITab"},
	    {"hchan", "elemtype", 20, "*runtime._type"},
	    {"hchan", "elemtype", 21, "*internal/abi.Type"},
	    {"sudog", "c", 25, "*runtime.hchan"},
	    {"sudog", "c", 26, "runtime.maybeTraceableChan"},
	    {"runtime.itab", "inter", 20, "*runtime.interfacetype"},
	    {"runtime.itab", "inter", 21, "*internal/abi.InterfaceType"},
	    {"runtime.itab", "_type", 20, "*runtime._type"},
	    {"runtime.itab", "_type", 21, "*internal/abi.Type"},
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct gh_runtime_field field = {.name = ""};
		struct gh_runtime_walk walk =
		    gh_runtime_walk(gh_runtime_struct(types[i].name), 8, types[i].release);
		while (strcmp(field.name, types[i].field) != 0)
			ck_assert(gh_runtime_next(&walk, &field));
		ck_assert_str_eq(field.type, types[i].type);
	}
}
END_TEST

/* Whether TYPE is one that DWARF can be given: see gh_runtime_member. */
static bool is_type(const char *type)
{
	if (type[0] == '[')
		type += strcspn(type, "]") + 1;
	if (type[0] == '*' || type[0] == '$')
		type++;
	return *type == '\0' || gh_kind_named(type) != 0 || strcmp(type, "unsafe.Pointer") == 0 ||
	       gh_runtime_structs[gh_runtime_struct(type)].name != NULL;
}

START_TEST(fields_have_types_that_are_known)
{
	for (uint32_t i = 0; gh_runtime_structs[i].name != NULL; i++)
		for (size_t k = 0; k < GH_MAX_RUNTIME_MEMBERS; k++) {
			const struct gh_runtime_member *member = &gh_runtime_structs[i].members[k];
			if (member->name != NULL)
				ck_assert_msg(is_type(member->type), "%s", member->type);
		}
	uint32_t none = gh_runtime_struct("runtime.none");
	ck_assert_ptr_null(gh_runtime_structs[none].name);
	ck_assert_uint_eq(gh_runtime_size(gh_runtime_struct("runtime.timer"), 8, 22), 0);
	ck_assert_uint_eq(gh_runtime_offset(gh_runtime_struct("waitq"), "none", 8, 22), 0);
}
END_TEST

void runtime_structs_tests(TCase *tests)
{
	tcase_add_test(tests, fields_are_where_each_release_has_them);
	tcase_add_test(tests, descriptors_are_of_the_types_of_each_release);
	tcase_add_test(tests, fields_have_types_that_are_known);
}
