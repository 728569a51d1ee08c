/* A position-independent ELF file of 64 bits, made byte by byte for any machine and byte order: one
 * segment, with relocations, dynamic entries, and symbols that it shares. */
#ifndef TESTS_UNIT_ELFMAKER_H
#define TESTS_UNIT_ELFMAKER_H

#include "lib/elf/elf.h"

#define ELFMAKER_START 0x10000 /* address of the segment, which is the whole file */

/* Where things are in the file, as offsets in bytes. */
enum {
	ELFMAKER_SEGMENTS = 0x40, /* the segment, the dynamic entries, and room: 56 bytes each */
	ELFMAKER_DYNAMIC = 0x100, /* DT_RELA, DT_RELASZ, DT_SYMTAB, DT_NULL: 16 bytes each */
	ELFMAKER_RELA = 0x180,    /* 24 bytes each */
	ELFMAKER_SYMBOLS = 0x280, /* the null symbol and others, 24 bytes each */
	ELFMAKER_NAMES = 0x500,
	ELFMAKER_SECTIONS = 0xa00, /* the null section, the symbols and the names, 64 bytes each */
	ELFMAKER_WORDS = 0xb00,    /* what is relocated, each ELFMAKER_UNTOUCHED at first */
	ELFMAKER_FILE_SIZE = 0xc00,
};

#define ELFMAKER_UNTOUCHED UINT64_C(0x1122334455667788)

/* The machines of 64 bits whose relocations have addends, and their types as each one's psABI
 * numbers them. */
struct elfmaker_machine {
	const char *goarch;
	uint16_t machine;
	bool big_endian;
	uint32_t relative; /* R_*_RELATIVE */
	uint32_t symbolic; /* R_*_64 */
};

#define ELFMAKER_MACHINES 7
#define ELFMAKER_S390X    6

extern const struct elfmaker_machine elfmaker_machines[ELFMAKER_MACHINES];

struct elfmaker {
	uint8_t bytes[ELFMAKER_FILE_SIZE];
	const struct elfmaker_machine *machine;
	unsigned nrelocations;
	unsigned nsymbols;
	unsigned names_size;
	struct gh_image image;
};

/* Makes a file with a null symbol, and no relocations. */
void elfmaker_make(struct elfmaker *file, const struct elfmaker_machine *machine);

/* Writes the SIZE bytes of VALUE at offset AT. */
void elfmaker_store(struct elfmaker *file, size_t at, unsigned size, uint64_t value);

/* The address of word NUMBER, and what is in it. */
uint64_t elfmaker_at(unsigned number);
uint64_t elfmaker_word(const struct elfmaker *file, unsigned number);

/* Writes dynamic entry, or section, NUMBER. */
void elfmaker_put_entry(struct elfmaker *file, unsigned number, uint64_t tag, uint64_t value);
void elfmaker_put_section(struct elfmaker *file, unsigned number, uint32_t type, uint64_t offset,
			  uint64_t size, uint32_t link);

/* Adds a relocation, which counts in DT_RELASZ. */
void elfmaker_put_relocation(struct elfmaker *file, uint64_t where, uint64_t symbol, uint32_t type,
			     uint64_t addend);

/* Adds a name, and gives its place in the names. */
unsigned elfmaker_put_name(struct elfmaker *file, const char *name);

/* Adds a symbol, with a name of its own, or whose name is at NAME in the names. Its size is 0x41
 * and more for each. */
void elfmaker_put_symbol(struct elfmaker *file, const char *name, uint16_t section, uint64_t value);
void elfmaker_put_named(struct elfmaker *file, unsigned name, uint16_t section, uint64_t value);

/* Opens the file as gh_image_open_memory does; fails the test if it cannot be. */
void elfmaker_open(struct elfmaker *file);

#endif
