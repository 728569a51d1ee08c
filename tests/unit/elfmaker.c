#include "tests/unit/elfmaker.h"

#include <check.h>
#include <string.h>

#include "tests/unit/bytes.h"

const struct elfmaker_machine elfmaker_machines[ELFMAKER_MACHINES] = {
    {"amd64", 62, false, 8, 1},  {"arm64", 183, false, 1027, 257}, {"loong64", 258, false, 3, 2},
    {"ppc64", 21, true, 22, 38}, {"ppc64le", 21, false, 22, 38},   {"riscv64", 243, false, 3, 2},
    {"s390x", 22, true, 12, 22},
};

void elfmaker_store(struct elfmaker *file, size_t at, unsigned size, uint64_t value)
{
	bytes_store(file->bytes + at, value, size, file->machine->big_endian);
}

uint64_t elfmaker_word(const struct elfmaker *file, unsigned number)
{
	return bytes_load(file->bytes + ELFMAKER_WORDS + 8 * number, 8, file->machine->big_endian);
}

void elfmaker_put_entry(struct elfmaker *file, unsigned number, uint64_t tag, uint64_t value)
{
	elfmaker_store(file, ELFMAKER_DYNAMIC + 16 * number, 8, tag);
	elfmaker_store(file, ELFMAKER_DYNAMIC + 16 * number + 8, 8, value);
}

void elfmaker_put_relocation(struct elfmaker *file, uint64_t where, uint64_t symbol, uint32_t type,
			     uint64_t addend)
{
	size_t at = ELFMAKER_RELA + 24 * file->nrelocations++;
	elfmaker_store(file, at, 8, where);
	elfmaker_store(file, at + 8, 8, symbol << 32 | type);
	elfmaker_store(file, at + 16, 8, addend);
	elfmaker_put_entry(file, 1, DT_RELASZ, UINT64_C(24) * file->nrelocations);
}

void elfmaker_put_section(struct elfmaker *file, unsigned number, uint32_t type, uint64_t offset,
			  uint64_t size, uint32_t link)
{
	size_t at = ELFMAKER_SECTIONS + 64 * number;
	elfmaker_store(file, at + 4, 4, type);
	elfmaker_store(file, at + 24, 8, offset);
	elfmaker_store(file, at + 32, 8, size);
	elfmaker_store(file, at + 40, 4, link);
}

/* A symbol whose name is at NAME in the names. */
void elfmaker_put_named(struct elfmaker *file, unsigned name, uint16_t section, uint64_t value)
{
	size_t at = ELFMAKER_SYMBOLS + 24 * file->nsymbols++;
	elfmaker_store(file, at, 4, name);
	file->bytes[at + 4] = 0x11; /* STB_GLOBAL, STT_OBJECT */
	file->bytes[at + 5] = 2;    /* STV_HIDDEN */
	elfmaker_store(file, at + 6, 2, section);
	elfmaker_store(file, at + 8, 8, value);
	elfmaker_store(file, at + 16, 8, 0x40 + file->nsymbols);
	elfmaker_put_section(file, 1, SHT_DYNSYM, ELFMAKER_SYMBOLS, UINT64_C(24) * file->nsymbols,
			     2);
}

unsigned elfmaker_put_name(struct elfmaker *file, const char *name)
{
	unsigned place = file->names_size;
	strcpy((char *)file->bytes + ELFMAKER_NAMES + place, name);
	file->names_size += (unsigned)strlen(name) + 1;
	elfmaker_put_section(file, 2, SHT_STRTAB, ELFMAKER_NAMES, file->names_size, 0);
	return place;
}

void elfmaker_put_symbol(struct elfmaker *file, const char *name, uint16_t section, uint64_t value)
{
	elfmaker_put_named(file, elfmaker_put_name(file, name), section, value);
}

void elfmaker_make(struct elfmaker *file, const struct elfmaker_machine *machine)
{
	*file = (struct elfmaker){.machine = machine};
	memcpy(file->bytes, machine->big_endian ? "\177ELF\2\2\1" : "\177ELF\2\1\1", 7);
	elfmaker_store(file, 16, 2, ET_DYN);
	elfmaker_store(file, 18, 2, machine->machine);
	elfmaker_store(file, 20, 4, EV_CURRENT);
	elfmaker_store(file, 32, 8, 64); /* the program headers, two of 56 bytes */
	elfmaker_store(file, 40, 8, ELFMAKER_SECTIONS);
	elfmaker_store(file, 52, 2, 64);
	elfmaker_store(file, 54, 2, 56);
	elfmaker_store(file, 56, 2, 2);
	elfmaker_store(file, 58, 2, 64); /* a section header's size, and how many there are */
	elfmaker_store(file, 60, 2, 3);
	elfmaker_store(file, 64, 4, PT_LOAD);
	elfmaker_store(file, 64 + 4, 4, PF_R | PF_W);
	elfmaker_store(file, 64 + 16, 8, ELFMAKER_START);
	elfmaker_store(file, 64 + 32, 8, ELFMAKER_FILE_SIZE);
	elfmaker_store(file, 64 + 40, 8, ELFMAKER_FILE_SIZE);
	elfmaker_store(file, 120, 4, PT_DYNAMIC);
	elfmaker_store(file, 120 + 8, 8, ELFMAKER_DYNAMIC);
	elfmaker_store(file, 120 + 16, 8, ELFMAKER_START + ELFMAKER_DYNAMIC);
	elfmaker_store(file, 120 + 32, 8, 64);
	elfmaker_put_entry(file, 0, DT_RELA, ELFMAKER_START + ELFMAKER_RELA);
	elfmaker_put_entry(file, 1, DT_RELASZ, 0);
	elfmaker_put_entry(file, 2, DT_SYMTAB, ELFMAKER_START + ELFMAKER_SYMBOLS);
	for (unsigned i = 0; i < 0x100 / 8; i++)
		elfmaker_store(file, ELFMAKER_WORDS + 8 * i, 8, ELFMAKER_UNTOUCHED);
	elfmaker_put_symbol(file, "", SHN_UNDEF, 0);
}

void elfmaker_open(struct elfmaker *file)
{
	struct gh_error err;
	if (!gh_image_open_memory(&file->image, file->bytes, ELFMAKER_FILE_SIZE, "made", &err))
		ck_abort_msg("%s: %s", file->machine->goarch, err.text);
	ck_assert_str_eq(file->image.arch->goarch, file->machine->goarch);
}

/* The address of word NUMBER. */
uint64_t elfmaker_at(unsigned number)
{
	return ELFMAKER_START + ELFMAKER_WORDS + UINT64_C(8) * number;
}
