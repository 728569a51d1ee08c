/* A program's own symbols, which its debug file takes over. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/debugfile/debugfile.h"
#include "lib/elf/elf_writer.h"
#include "tests/unit/bytes.h"
#include "tests/unit/fixture.h"
#include "tests/unit/suites.h"

/* Where the program's sections are, and room for a table of symbols, and their names. */
enum {
	SECTIONS = 0x1c00,
	NSECTIONS = 5,
	TEXT = 1,
	DATA = 3,
	SYMBOLS = 0x1e00,
	NAMES = 0x1f20,
	LEAF = 0x50
};

static const struct own {
	const char *name;
	uint64_t value, size;
	uint8_t bind, type;
	uint16_t section;
	bool kept; /* there is one */
} own[] = {
    {"", 0, 0, 0, 0, SHN_UNDEF, false},
    {"own.local", SYNTHETIC_DATA + 8, 24, STB_LOCAL, STT_OBJECT, DATA, true},
    {"own.file", 0, 0, STB_LOCAL, STT_FILE, SHN_ABS, true},
    {"own.data", SYNTHETIC_DATA + 0x20, 0x123, STB_GLOBAL, STT_OBJECT, DATA, true},
    {"own.code", SYNTHETIC_TEXT + 0x60, 5, STB_GLOBAL, STT_FUNC, TEXT, true},
    {"own.weak", SYNTHETIC_TEXT + 0x61, 6, STB_WEAK, STT_FUNC, TEXT, true},
    {"main.leaf", SYNTHETIC_TEXT + LEAF, 0x18, STB_GLOBAL, STT_FUNC, TEXT, true}, /* Go's */
    {"main.lea", SYNTHETIC_TEXT + LEAF, 0x18, STB_GLOBAL, STT_FUNC, TEXT, true},
    {"own.undefined", 0, 0, STB_GLOBAL, STT_FUNC, SHN_UNDEF, false},
    {"own.common", 8, 8, STB_GLOBAL, STT_OBJECT, SHN_COMMON, false},
    {"own.nowhere", 8, 8, STB_GLOBAL, STT_OBJECT, NSECTIONS + 2, false},
};
#define NOWN (sizeof(own) / sizeof(own[0]))

static void put(struct fixture *fixture, size_t *at, uint64_t value, unsigned size, bool big_endian)
{
	bytes_store(fixture->data + *at, value, size, big_endian);
	*at += size;
}

static void put_section(struct fixture *fixture, const struct synthetic *what, unsigned number,
			uint32_t type, uint64_t offset, uint64_t size, uint32_t link)
{
	unsigned word = what->word;
	size_t at = SECTIONS + number * (word == 8 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr));
	const uint64_t fields[] = {
	    0,    type, 0, 0, offset,
	    size, link, 1, 1, word == 8 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym)};
	for (unsigned i = 0; i < 10; i++)
		put(fixture, &at, fields[i], i < 2 || i == 6 || i == 7 ? 4 : word,
		    what->big_endian);
}

/* Adds the symbols to the program, in a table of the type TYPE. */
static void put_symbols(struct fixture *fixture, const struct synthetic *what, uint32_t type)
{
	bool big = what->big_endian;
	size_t at = SYMBOLS, names = NAMES;
	for (size_t i = 0; i < NOWN; i++) {
		put(fixture, &at, names - NAMES, 4, big);
		if (what->word == 4) {
			put(fixture, &at, own[i].value, 4, big);
			put(fixture, &at, own[i].size, 4, big);
		}
		put(fixture, &at, (uint64_t)ELF64_ST_INFO(own[i].bind, own[i].type), 1, big);
		put(fixture, &at, 0, 1, big);
		put(fixture, &at, own[i].section, 2, big);
		if (what->word == 8) {
			put(fixture, &at, own[i].value, 8, big);
			put(fixture, &at, own[i].size, 8, big);
		}
		memcpy(fixture->data + names, own[i].name, strlen(own[i].name) + 1);
		names += strlen(own[i].name) + 1;
	}
	ck_assert_uint_le(at, NAMES);
	put_section(fixture, what, NSECTIONS, type, SYMBOLS, at - SYMBOLS, NSECTIONS + 1);
	put_section(fixture, what, NSECTIONS + 1, SHT_STRTAB, NAMES, names - NAMES, 0);
	at = what->word == 8 ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum);
	put(fixture, &at, NSECTIONS + 2, 2, big);
}

/* Opens variant NUMBER with them. */
static void open_with_symbols(struct fixture *fixture, int number, uint32_t type)
{
	const struct synthetic what = fixture_variant(number);
	struct gh_error err;
	fixture->data = synthetic_make(&what, &fixture->size, &fixture->places);
	put_symbols(fixture, &what, type);
	ck_assert(gh_image_open_memory(&fixture->image, fixture->data, fixture->size, "own", &err));
	ck_assert(gh_pclntab_open(&fixture->tab, &fixture->image, &err));
}

/* How many symbols of ELF are called NAME; the last of them in SYMBOL. */
static int find_symbols(Elf *elf, const char *name, GElf_Sym *symbol)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym next;
	int count = 0;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		gelf_getshdr(section, &header);
		if (header.sh_type != SHT_SYMTAB)
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		for (int i = 1; gelf_getsym(data, i, &next) != NULL; i++) {
			if (strcmp(elf_strptr(elf, header.sh_link, next.st_name), name) != 0)
				continue;
			/* The local ones come first. */
			bool local = GELF_ST_BIND(next.st_info) == STB_LOCAL;
			ck_assert_int_eq(local, (uint32_t)i < header.sh_info);
			*symbol = next;
			count++;
		}
	}
	return count;
}

static void check_symbol(Elf *elf, const struct own *expected)
{
	GElf_Shdr header;
	GElf_Sym symbol = {0};
	int count = find_symbols(elf, expected->name, &symbol);
	ck_assert_msg(count == expected->kept, "%s: %d", expected->name, count);
	if (!expected->kept)
		return;
	ck_assert_msg(symbol.st_value == expected->value, "%s", expected->name);
	ck_assert_msg(symbol.st_size == expected->size, "%s", expected->name);
	ck_assert_int_eq(symbol.st_info, GELF_ST_INFO(expected->bind, expected->type));
	if (expected->section == SHN_ABS) {
		ck_assert_uint_eq(symbol.st_shndx, SHN_ABS);
		return;
	}
	gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &header);
	ck_assert_uint_eq(header.sh_addr,
			  expected->section == TEXT ? SYNTHETIC_TEXT : SYNTHETIC_DATA);
}

START_TEST(symbols_are_kept_and_those_of_go_functions_are_there_once)
{
	static const uint32_t types[] = {SHT_SYMTAB, SHT_DYNSYM};
	for (size_t t = 0; t < 2; t++) {
		struct fixture fixture;
		struct gh_error err;
		uint8_t *data;
		size_t size;
		open_with_symbols(&fixture, _i, types[t]);
		ck_assert_msg(gh_debugfile_make(&fixture.tab, NULL, &data, &size, &err), "%s",
			      err.text);
		Elf *elf = elf_memory((char *)data, size);
		for (size_t i = 1; i < NOWN; i++)
			check_symbol(elf, &own[i]);
		elf_end(elf);
		free(data);
		fixture_close(&fixture);
	}
}
END_TEST

void own_symbols_tests(TCase *tests)
{
	/* With section headers. */
	tcase_add_loop_test(tests, symbols_are_kept_and_those_of_go_functions_are_there_once,
			    SYNTHETIC_1_20 * 8 + 4, SYNTHETIC_1_20 * 8 + 8);
}
