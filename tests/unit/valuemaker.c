#include "tests/unit/valuemaker.h"

#include <check.h>
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"

/* What the program has more room for, in bytes. */
enum { ROOM = 0x4000 };

/* Of the file, what is in memory from there on; and the words of the moduledata before the end of
 * the types. */
enum { DATA_OFFSET = 0x1800, END_OF_TYPES = 38 };

/* Of a descriptor: before its hash come the size and the pointers; then tflag, align, fieldAlign
 * and kind. */
enum { HASH_SIZE = 4, NAMED = 4, UNCOMMON = 1, DIRECT = 32 };

static void write_at(const struct valuemaker *maker, uint8_t *to, uint64_t value, unsigned size)
{
	bytes_store(to, value, size, maker->what.big_endian);
}

static const uint8_t *descriptor(const struct valuemaker *maker, uint64_t type)
{
	return maker->data + (type - TYPES_ADDRESS + TYPES_OFFSET);
}

static uint64_t size_of(const struct valuemaker *maker, uint64_t type)
{
	return bytes_load(descriptor(maker, type), maker->what.word, maker->what.big_endian);
}

static unsigned align_of(const struct valuemaker *maker, uint64_t type)
{
	return descriptor(maker, type)[2 * maker->what.word + HASH_SIZE + 1];
}

static size_t round_up(size_t size, size_t align)
{
	return (size + align - 1) / align * align;
}

static uint64_t here(const struct valuemaker *maker)
{
	return TYPES_ADDRESS + maker->end - TYPES_OFFSET;
}

/* Writes the next field of the file. */
static void field(struct valuemaker *maker, uint64_t value, unsigned size)
{
	ck_assert_uint_le(maker->end + size, maker->size);
	write_at(maker, maker->data + maker->end, value, size);
	maker->end += size;
}

static void word(struct valuemaker *maker, uint64_t value)
{
	field(maker, value, maker->what.word);
}

/* Writes a name, returns its address. */
static uint64_t name(struct valuemaker *maker, const char *text, uint8_t flags)
{
	uint64_t start = here(maker);
	size_t length = strlen(text);
	ck_assert_uint_lt(length, 128);
	field(maker, flags, 1);
	field(maker, length, 1);
	for (size_t i = 0; i < length; i++)
		field(maker, (uint8_t)text[i], 1);
	return start;
}

/* Begins a descriptor; what is of its kind follows. */
static uint64_t begin(struct valuemaker *maker, enum gh_kind kind, uint64_t size, unsigned align,
		      const char *text, bool is_named, const char *package)
{
	uint64_t text_at = name(maker, text, 0);
	bool direct = kind == GH_KIND_POINTER || kind == GH_KIND_MAP || kind == GH_KIND_CHAN ||
		      kind == GH_KIND_FUNC || kind == GH_KIND_UNSAFE_POINTER;
	maker->end = round_up(maker->end, 8);
	uint64_t start = here(maker);
	word(maker, size);
	word(maker, direct ? maker->what.word : 0);
	field(maker, 0x1234, HASH_SIZE);
	field(maker, (is_named ? NAMED : 0) | (package != NULL ? UNCOMMON : 0), 1);
	field(maker, align, 1);
	field(maker, align, 1);
	field(maker, kind | (direct ? DIRECT : 0), 1);
	word(maker, 0);
	word(maker, 0);
	field(maker, text_at - TYPES_ADDRESS, 4);
	field(maker, 0, 4);
	return start;
}

/* Writes the record of the package, of which only the name is to be put. */
static void uncommon(struct valuemaker *maker, const char *package)
{
	if (package == NULL)
		return;
	size_t record = maker->end;
	field(maker, 0, 4);
	field(maker, 0, 4);
	field(maker, 0, 4);
	field(maker, 0, 4);
	uint64_t path = name(maker, package, 0);
	write_at(maker, maker->data + record, path - TYPES_ADDRESS, 4);
}

/* Has the data segment, the third, and the types reach to the end of the file. */
static void extend(struct valuemaker *maker, size_t moduledata)
{
	unsigned w = maker->what.word;
	size_t header = w == 8 ? sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr)
			       : sizeof(Elf32_Ehdr) + 2 * sizeof(Elf32_Phdr);
	size_t size = w == 8 ? offsetof(Elf64_Phdr, p_filesz) : offsetof(Elf32_Phdr, p_filesz);
	write_at(maker, maker->data + header + size, maker->size - DATA_OFFSET, w);
	write_at(maker, maker->data + header + size + w, maker->size - DATA_OFFSET, w);
	write_at(maker, maker->data + moduledata + (size_t)END_OF_TYPES * w,
		 TYPES_ADDRESS + maker->size - TYPES_OFFSET, w);
}

void valuemaker_start(struct valuemaker *maker, int variant, const char *last)
{
	struct synthetic_places places;
	size_t size;
	*maker = (struct valuemaker){.what = fixture_variant(SYNTHETIC_1_20 * 8 + variant)};
	maker->what.last = last;
	free(synthetic_make(&maker->what, &size, &places));
	maker->data = typemaker_make(&maker->what, &maker->size, &maker->places);
	maker->end = maker->size;
	maker->size += ROOM;
	maker->data = realloc(maker->data, maker->size);
	memset(maker->data + maker->end, 0, ROOM);
	extend(maker, places.moduledata);
}

uint64_t valuemaker_made(const struct valuemaker *maker, int number)
{
	return TYPES_ADDRESS + maker->places.types[number] - TYPES_OFFSET;
}

uint64_t valuemaker_basic(struct valuemaker *maker, enum gh_kind kind, const char *text,
			  const char *package)
{
	static const uint8_t bytes[GH_KINDS] = {
	    [GH_KIND_BOOL] = 1,       [GH_KIND_INT8] = 1,    [GH_KIND_INT16] = 2,
	    [GH_KIND_INT32] = 4,      [GH_KIND_INT64] = 8,   [GH_KIND_UINT8] = 1,
	    [GH_KIND_UINT16] = 2,     [GH_KIND_UINT32] = 4,  [GH_KIND_UINT64] = 8,
	    [GH_KIND_FLOAT32] = 4,    [GH_KIND_FLOAT64] = 8, [GH_KIND_COMPLEX64] = 8,
	    [GH_KIND_COMPLEX128] = 16};
	unsigned size = bytes[kind] != 0 ? bytes[kind] : maker->what.word;
	unsigned align = kind == GH_KIND_COMPLEX64 ? 4 : size;
	if (kind == GH_KIND_STRING)
		size = 2 * maker->what.word;
	align = align < maker->what.word ? align : maker->what.word;
	uint64_t type = begin(maker, kind, size, align, text, true, package);
	uncommon(maker, package);
	return type;
}

/* A type of WORDS words that has the element ELEM. */
static uint64_t with_elem(struct valuemaker *maker, enum gh_kind kind, unsigned words,
			  uint64_t elem, const char *text, const char *package)
{
	uint64_t type = begin(maker, kind, words * maker->what.word, maker->what.word, text,
			      package != NULL, package);
	word(maker, elem);
	if (kind == GH_KIND_CHAN)
		word(maker, 3);
	uncommon(maker, package);
	return type;
}

uint64_t valuemaker_pointer(struct valuemaker *maker, uint64_t elem, const char *text)
{
	return with_elem(maker, GH_KIND_POINTER, 1, elem, text, NULL);
}

uint64_t valuemaker_slice(struct valuemaker *maker, uint64_t elem, const char *text,
			  const char *package)
{
	return with_elem(maker, GH_KIND_SLICE, 3, elem, text, package);
}

uint64_t valuemaker_channel(struct valuemaker *maker, uint64_t elem, const char *text)
{
	return with_elem(maker, GH_KIND_CHAN, 1, elem, text, NULL);
}

uint64_t valuemaker_array(struct valuemaker *maker, uint64_t elem, uint64_t count, const char *text)
{
	uint64_t type = begin(maker, GH_KIND_ARRAY, count * size_of(maker, elem),
			      align_of(maker, elem), text, false, NULL);
	word(maker, elem);
	word(maker, 0);
	word(maker, count);
	return type;
}

uint64_t valuemaker_interface(struct valuemaker *maker, bool has_method, const char *text)
{
	uint64_t method = has_method ? name(maker, "Do", 1) - TYPES_ADDRESS : 0;
	maker->end = round_up(maker->end, 8);
	uint64_t methods = here(maker);
	field(maker, method, 4);
	field(maker, maker->places.types[TYPE_FUNC] - TYPES_OFFSET, 4);
	uint64_t type = begin(maker, GH_KIND_INTERFACE, 2 * maker->what.word, maker->what.word,
			      text, text[0] != 'i' || text[9] != ' ', NULL);
	word(maker, 0);
	word(maker, methods);
	word(maker, has_method);
	word(maker, has_method);
	return type;
}

uint64_t valuemaker_struct(struct valuemaker *maker, const char *text, const char *package,
			   const struct valuemaker_field *fields)
{
	uint64_t names[16];
	size_t count = 0;
	size_t size = 0;
	unsigned align = 1;
	for (; fields[count].name != NULL; count++)
		names[count] = name(maker, fields[count].name, fields[count].embedded ? 8 : 0);
	maker->end = round_up(maker->end, 8);
	uint64_t records = here(maker);
	for (size_t i = 0; i < count; i++) {
		unsigned own = align_of(maker, fields[i].type);
		size = round_up(size, own);
		align = own > align ? own : align;
		word(maker, names[i]);
		word(maker, fields[i].type);
		word(maker, size);
		size += size_of(maker, fields[i].type);
	}
	uint64_t type = begin(maker, GH_KIND_STRUCT, round_up(size, align), align, text,
			      package != NULL, package);
	word(maker, 0);
	word(maker, records);
	word(maker, count);
	word(maker, count);
	uncommon(maker, package);
	return type;
}

uint64_t valuemaker_map(struct valuemaker *maker, uint64_t key, uint64_t elem, const char *text)
{
	uint64_t byte = valuemaker_basic(maker, GH_KIND_UINT8, "uint8", NULL);
	uint64_t top = valuemaker_array(maker, byte, 8, "[8]uint8");
	uint64_t keys = valuemaker_array(maker, key, 8, "[8]key");
	uint64_t elems = valuemaker_array(maker, elem, 8, "[8]elem");
	uint64_t next = valuemaker_basic(maker, GH_KIND_UINTPTR, "uintptr", NULL);
	const struct valuemaker_field fields[] = {{"topbits", top, false},
						  {"keys", keys, false},
						  {"elems", elems, false},
						  {"overflow", next, false},
						  {0}};
	uint64_t bucket = valuemaker_struct(maker, "map.bucket[key]elem", NULL, fields);
	uint64_t type =
	    begin(maker, GH_KIND_MAP, maker->what.word, maker->what.word, text, false, NULL);
	word(maker, key);
	word(maker, elem);
	word(maker, bucket);
	word(maker, 0);
	word(maker, 0);
	return type;
}

static bool read_made(const struct gh_memory *memory, uint64_t address, void *to, size_t size)
{
	const struct valuemaker *maker = memory->from;
	uint64_t offset = address - VALUEMAKER_ADDRESS;
	if (offset > VALUEMAKER_SIZE || size > VALUEMAKER_SIZE - offset)
		return false;
	memcpy(to, maker->memory + offset, size);
	return true;
}

void valuemaker_open(struct valuemaker *maker)
{
	struct gh_error err;
	if (!gh_image_open_memory(&maker->image, maker->data, maker->size, "types", &err) ||
	    !gh_pclntab_open(&maker->tab, &maker->image, &err) ||
	    !gh_rtypes_find(&maker->types, &maker->tab, &err))
		ck_abort_msg("%s", err.text);
	maker->source =
	    (struct gh_memory){.read = read_made, .from = maker, .size = VALUEMAKER_SIZE};
	maker->process = (struct gh_process){
	    .memory = {.source = &maker->source, .big_endian = maker->what.big_endian},
	    .tab = &maker->tab,
	    .minor = 20};
	maker->values = (struct gh_values){.process = &maker->process,
					   .types = &maker->types,
					   .limit = SIZE_MAX,
					   .depth = GH_VALUE_DEPTH_MAX};
}

void valuemaker_free(struct valuemaker *maker)
{
	gh_values_free(&maker->values);
	gh_process_memory_free(&maker->process.memory);
	gh_rtypes_free(&maker->types);
	gh_pclntab_close(&maker->tab);
	gh_image_close(&maker->image);
	free(maker->data);
}

uint32_t valuemaker_number(const struct valuemaker *maker, uint64_t type)
{
	uint32_t number = gh_rtypes_at(&maker->types, type);
	ck_assert_uint_ne(number, GH_NO_RTYPE);
	return number;
}

static void align(struct valuemaker *maker, unsigned to)
{
	maker->used = round_up(maker->used, to);
}

uint64_t valuemaker_begin(struct valuemaker *maker)
{
	align(maker, 8);
	return VALUEMAKER_ADDRESS + maker->used;
}

void valuemaker_set(struct valuemaker *maker, uint64_t address, uint64_t value, unsigned size)
{
	ck_assert_uint_le(address - VALUEMAKER_ADDRESS + size, VALUEMAKER_SIZE);
	write_at(maker, maker->memory + (address - VALUEMAKER_ADDRESS), value, size);
}

void valuemaker_put(struct valuemaker *maker, uint64_t value, unsigned size)
{
	align(maker, size < maker->what.word ? size : maker->what.word);
	valuemaker_set(maker, VALUEMAKER_ADDRESS + maker->used, value, size);
	maker->used += size;
}

void valuemaker_words(struct valuemaker *maker, unsigned count, const uint64_t *words)
{
	for (unsigned i = 0; i < count; i++)
		valuemaker_put(maker, words[i], maker->what.word);
}

void valuemaker_slice_of(struct valuemaker *maker, uint64_t data, uint64_t count, uint64_t capacity)
{
	valuemaker_words(maker, 3, (const uint64_t[]){data, count, capacity});
}

uint64_t valuemaker_bytes(struct valuemaker *maker, const void *data, size_t size)
{
	uint64_t address = valuemaker_begin(maker);
	ck_assert_uint_le(maker->used + size, VALUEMAKER_SIZE);
	memcpy(maker->memory + maker->used, data, size);
	maker->used += size;
	return address;
}

uint64_t valuemaker_text(struct valuemaker *maker, const char *text)
{
	uint64_t bytes = valuemaker_bytes(maker, text, strlen(text));
	uint64_t address = valuemaker_begin(maker);
	valuemaker_words(maker, 2, (const uint64_t[]){bytes, strlen(text)});
	return address;
}

uint64_t valuemaker_integer(struct valuemaker *maker, uint64_t value, unsigned size)
{
	uint64_t address = valuemaker_begin(maker);
	valuemaker_put(maker, value, size);
	return address;
}

void valuemaker_check_out(struct valuemaker *maker, const char *expected)
{
	struct gh_buffer *out = &maker->values.out;
	gh_buffer_u8(out, 0);
	ck_assert(!out->failed);
	ck_assert_str_eq((const char *)out->data, expected);
	out->size = 0;
	/* What is written to the memory next is to be read. */
	gh_process_memory_free(&maker->process.memory);
}

void valuemaker_check(struct valuemaker *maker, uint64_t type, uint64_t address,
		      const char *expected)
{
	gh_value_print(&maker->values, valuemaker_number(maker, type), address);
	valuemaker_check_out(maker, expected);
}

void valuemaker_check_json(struct valuemaker *maker, uint64_t type, uint64_t address,
			   const char *expected)
{
	maker->values.json = true;
	valuemaker_check(maker, type, address, expected);
	maker->values.json = false;
}

void valuemaker_check_text(struct valuemaker *maker, uint64_t type, uint64_t address,
			   const char *name, const char *expected)
{
	char text[256];
	snprintf(text, sizeof(text), "%s(%s)", name, expected);
	valuemaker_check(maker, type, address, text);
	snprintf(text, sizeof(text), "\"%s\"", expected);
	valuemaker_check_json(maker, type, address, text);
}
