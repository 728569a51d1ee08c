#include "tests/unit/typemaker.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/bytes.h"

enum {
	FILE_SIZE = TYPES_OFFSET + TYPES_SIZE,
	DATA_OFFSET = 0x1800,
	NAMES = TYPES_SIZE / 2, /* where the names begin, in the range of types */
};

struct maker {
	const struct synthetic *what;
	uint8_t *data;
	size_t pos;   /* where the next field goes */
	size_t names; /* where the next name goes */
	struct typemaker_places *places;
};

static void put_at(struct maker *m, size_t pos, uint64_t value, unsigned size)
{
	bytes_store(m->data + pos, value, size, m->what->big_endian);
}

static void put(struct maker *m, uint64_t value, unsigned size)
{
	put_at(m, m->pos, value, size);
	m->pos += size;
}

static uint64_t address(size_t pos)
{
	return TYPES_ADDRESS + pos - TYPES_OFFSET;
}

/* Writes a name and returns its offset from the start of the types. */
static uint32_t put_name(struct maker *m, const char *text, uint8_t flags)
{
	size_t start = m->names;
	size_t length = strlen(text);
	m->data[m->names++] = flags;
	if (m->what->format < SYNTHETIC_1_18)
		m->data[m->names++] = 0;
	m->data[m->names++] = (uint8_t)length;
	memcpy(m->data + m->names, text, length);
	m->names += length;
	return (uint32_t)(start - TYPES_OFFSET);
}

/* Where type NUMBER's descriptor is: each has as much room as the largest takes. */
static size_t place(const struct maker *m, int number)
{
	return TYPES_OFFSET + m->what->word + (size_t)number * 16 * m->what->word;
}

static void put_type(struct maker *m, int number)
{
	put(m, address(place(m, number)), m->what->word);
}

/* In the byte of the kind: an interface's data word is the value. */
#define DIRECT 32

/* Writes the fields that all descriptors have, of a type that has pointers in its first words;
 * what follows them is put next. */
static void begin(struct maker *m, int number, uint8_t kind, uint64_t size, unsigned pointers,
		  uint8_t flags, const char *text)
{
	unsigned word = m->what->word;
	m->pos = m->places->types[number] = place(m, number);
	put(m, size, word);
	put(m, pointers * word, word);
	put(m, 0x1234, 4);
	put(m, flags, 1);
	put(m, word, 1);
	put(m, word, 1);
	put(m, kind, 1);
	put(m, 0, word);
	put(m, 0, word);
	put(m, put_name(m, text, 0), 4);
	put(m, 0, 4);
}

static void put_field(struct maker *m, const char *name, int type, unsigned words, bool embedded)
{
	bool shifted = m->what->format < SYNTHETIC_1_18;
	uint64_t offset = (uint64_t)words * m->what->word;
	put(m, TYPES_ADDRESS + put_name(m, name, embedded && !shifted ? 8 : 0), m->what->word);
	put_type(m, type);
	put(m, shifted ? offset << 1 | embedded : offset, m->what->word);
}

/* Writes struct NUMBER, of a package, of COUNT fields whose records are at FIELDS. Returns where
 * the package's name is in the range of types. */
static uint32_t put_struct(struct maker *m, int number, unsigned words, unsigned pointers,
			   const char *name, const char *path, size_t fields, unsigned count)
{
	unsigned word = m->what->word;
	/* tflag: has an uncommon record, and a name */
	begin(m, number, 25, words * word, pointers, 1 | 4, name);
	uint32_t package = put_name(m, path, 0);
	put(m, TYPES_ADDRESS + package, word);
	put(m, address(fields), word);
	put(m, count, word);
	put(m, count, word);
	put(m, package, 4);
	m->pos = fields;
	return package;
}

static void put_node(struct maker *m)
{
	size_t fields = m->places->fields = place(m, TYPES);
	put_struct(m, TYPE_NODE, 5, 3, "main.Node", "example.org/x/main", fields, 3);
	m->places->field_count = m->places->types[TYPE_NODE] + 6 * m->what->word + 16;
	put_field(m, "value", TYPE_INT, 0, false);
	put_field(m, "Node", TYPE_POINTER, 1, true);
	put_field(m, "words", TYPE_SLICE, 2, false);
}

static void put_atomic(struct maker *m)
{
	unsigned word = m->what->word;
	begin(m, TYPE_UNSAFE, 26 | DIRECT, word, 1, 4, "unsafe.Pointer");
	begin(m, TYPE_NONE, 17, 0, 0, 0, "[0]*main.Node");
	put_type(m, TYPE_POINTER);
	put_type(m, TYPE_SLICE);
	put(m, 0, word);
	uint32_t package =
	    put_struct(m, TYPE_ATOMIC, 1, 1, "atomic.Pointer[example.org/x/main.Node]",
		       "sync/atomic", place(m, TYPES + 2), 2);
	m->places->atomic = TYPES_OFFSET + package + (m->what->format < SYNTHETIC_1_18 ? 3 : 2);
	put_field(m, "_", TYPE_NONE, 0, false);
	put_field(m, "v", TYPE_UNSAFE, 0, false);
}

static void put_func(struct maker *m)
{
	unsigned word = m->what->word;
	begin(m, TYPE_FUNC, 19 | DIRECT, word, 1, 0, "func(int, ...string) *main.Node");
	put(m, 2, 2);
	put(m, 0x8000 | 1, 2);
	put(m, 0, word - 4);
	put_type(m, TYPE_INT);
	put_type(m, TYPE_SLICE);
	put_type(m, TYPE_POINTER);
}

static void put_iface(struct maker *m)
{
	unsigned word = m->what->word;
	begin(m, TYPE_IFACE, 20, 2 * word, 2, 0, "interface { Do(int, ...string) *main.Node }");
	size_t methods = place(m, TYPES + 1);
	put(m, 0, word);
	put(m, address(methods), word);
	put(m, 1, word);
	put(m, 1, word);
	m->pos = methods;
	put(m, put_name(m, "Do", 1), 4);
	put(m, place(m, TYPE_FUNC) - TYPES_OFFSET, 4);
}

static void put_types(struct maker *m)
{
	unsigned word = m->what->word;
	begin(m, TYPE_INT, 2, word, 0, 4, "int");
	begin(m, TYPE_STRING, 24, 2 * word, 1, 4, "string");
	put_node(m);
	/* tflag: the name has a star too many */
	begin(m, TYPE_POINTER, 22 | DIRECT, word, 1, 2, "**main.Node");
	put_type(m, TYPE_NODE);
	begin(m, TYPE_SLICE, 23, 3 * word, 1, 0, "[]string");
	put_type(m, TYPE_STRING);
	begin(m, TYPE_ARRAY, 17, 3 * word, 0, 0, "[3]int");
	put_type(m, TYPE_INT);
	put_type(m, TYPE_SLICE);
	put(m, 3, word);
	put_func(m);
	put_iface(m);
	begin(m, TYPE_MAP, 21 | DIRECT, word, 1, 0, "map[string]int");
	put_type(m, TYPE_STRING);
	put_type(m, TYPE_INT);
	put_type(m, TYPE_NODE);
	begin(m, TYPE_CHAN, 18 | DIRECT, word, 1, 0, "chan int");
	put_type(m, TYPE_INT);
	put(m, 3, word);
	put_atomic(m);
}

/* Has the data segment, the third, reach to the end of the file. */
static void extend_segment(struct maker *m)
{
	unsigned word = m->what->word;
	size_t header = word == 8 ? sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr)
				  : sizeof(Elf32_Ehdr) + 2 * sizeof(Elf32_Phdr);
	size_t size = word == 8 ? offsetof(Elf64_Phdr, p_filesz) : offsetof(Elf32_Phdr, p_filesz);
	put_at(m, header + size, FILE_SIZE - DATA_OFFSET, word);
	put_at(m, header + size + word, FILE_SIZE - DATA_OFFSET, word);
}

uint8_t *typemaker_make(const struct synthetic *what, size_t *size, struct typemaker_places *places)
{
	struct typemaker_places ignored;
	struct synthetic_places program;
	uint8_t *made = synthetic_make(what, size, &program);
	struct maker m = {.what = what,
			  .data = calloc(1, FILE_SIZE),
			  .names = TYPES_OFFSET + NAMES,
			  .places = places != NULL ? places : &ignored};
	memcpy(m.data, made, *size);
	free(made);
	*size = FILE_SIZE;
	extend_segment(&m);
	unsigned types = what->format == SYNTHETIC_1_2    ? 25
			 : what->format >= SYNTHETIC_1_20 ? 37
							  : 35;
	put_at(&m, program.moduledata + types * what->word, TYPES_ADDRESS, what->word);
	put_at(&m, program.moduledata + (types + 1) * what->word, TYPES_ADDRESS + TYPES_SIZE,
	       what->word);
	put_types(&m);
	return m.data;
}
