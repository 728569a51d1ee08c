/* The symbols that go with a dump's core file: in which sections those of types are. */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/export/export.h"
#include "tests/unit/dumpmaker.h"
#include "tests/unit/suites.h"

/* Of the only function. */
#define ENTRY UINT64_C(0x401000)

struct symbols {
	int order; /* of its bytes: ELFDATA... */
	GElf_Shdr text;
	uint64_t values[8]; /* of types, in the order of the file */
	size_t count;
	size_t nsections; /* of data */
};

/* Takes the symbols of ELF's types, each of which is in its section, which is beside the code. */
static void read_symbols(struct symbols *symbols, Elf *elf)
{
	Elf_Scn *table = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;
	size_t names;
	GElf_Ehdr file;
	ck_assert_ptr_nonnull(gelf_getehdr(elf, &file));
	*symbols = (struct symbols){.order = file.e_ident[EI_DATA]};
	ck_assert_int_eq(elf_getshdrstrndx(elf, &names), 0);
	ck_assert_ptr_nonnull(gelf_getshdr(elf_getscn(elf, 1), &symbols->text));
	ck_assert_str_eq(elf_strptr(elf, names, symbols->text.sh_name), ".text");
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section)) != NULL;) {
		gelf_getshdr(section, &header);
		symbols->nsections += strcmp(elf_strptr(elf, names, header.sh_name), ".data") == 0;
		if (header.sh_type == SHT_SYMTAB)
			table = section;
	}
	ck_assert_ptr_nonnull(table);
	Elf_Data *data = elf_getdata(table, NULL);
	for (int i = 1; gelf_getsym(data, i, &symbol) != NULL; i++) {
		if (GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		ck_assert_ptr_nonnull(gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &header));
		ck_assert_str_eq(elf_strptr(elf, names, header.sh_name), ".data");
		ck_assert_uint_lt(symbol.st_value - header.sh_addr, header.sh_size);
		ck_assert(symbols->text.sh_addr - header.sh_addr >= header.sh_size);
		ck_assert_uint_lt(symbols->count, 8);
		symbols->values[symbols->count++] = symbol.st_value;
	}
}

/* Writes the symbols of a dump with COUNT types at these ADDRESSES, and reads them. */
static void make_symbols(struct symbols *symbols, bool big_endian, unsigned count,
			 const uint64_t *addresses)
{
	char path[] = "/tmp/goheap-symbols-XXXXXX";
	struct maker maker;
	struct gh_dump dump;
	struct gh_error err;
	maker_start(&maker, MAKER_1_7, 8, big_endian);
	maker_params(&maker);
	for (unsigned i = 0; i < count; i++) {
		maker_numbers(&maker, 3, (const uint64_t[]){3, addresses[i], 8});
		maker_text(&maker, "main.T");
		maker_number(&maker, 1);
	}
	maker_goroutine(&maker, 0x9000, 1, 4, "", 0);
	maker_frame(&maker, 0x30000, 0, 0, "main.main");
	maker_end(&maker);
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	if (!gh_dump_open_memory(&dump, maker.data, maker.size, "made", &err) ||
	    !gh_dumpsymbols_write(&dump, path, &err))
		ck_abort_msg("%s", err.text);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	read_symbols(symbols, elf);
	elf_end(elf);
	close(fd);
	gh_dump_close(&dump);
	free(maker.data);
}

/* Nor is what has no end. */
START_TEST(types_are_not_in_the_code)
{
	struct symbols symbols;
	make_symbols(&symbols, false, 0, NULL);
	ck_assert_uint_eq(symbols.count, 0);
	ck_assert_uint_eq(symbols.text.sh_addr, ENTRY);
	ck_assert_uint_ge(symbols.text.sh_size, 0x10);
	uint64_t end = ENTRY + symbols.text.sh_size;
	const uint64_t addresses[] = {1,       ENTRY - 1, ENTRY,          ENTRY + 1,
				      end - 1, end,       UINT64_MAX - 1, UINT64_MAX};
	const uint64_t expected[] = {1, ENTRY - 1, end, UINT64_MAX - 1};
	make_symbols(&symbols, false, 8, addresses);
	ck_assert_uint_eq(symbols.count, 4);
	ck_assert_mem_eq(symbols.values, expected, sizeof(expected));
	/* One of each: they are far from each other, or the code is in between. */
	ck_assert_uint_eq(symbols.nsections, 4);
}
END_TEST

START_TEST(types_that_are_close_share_a_section)
{
	enum { GAP = 65536 };
	struct symbols symbols;
	uint64_t first = 0x500000;
	make_symbols(&symbols, false, 3,
		     (const uint64_t[]){first, first + GAP, first + 2 * GAP + 1});
	ck_assert_uint_eq(symbols.count, 3);
	ck_assert_uint_eq(symbols.nsections, 2);
	make_symbols(&symbols, false, 3, (const uint64_t[]){first, first + 1, first + 2});
	ck_assert_uint_eq(symbols.nsections, 1);
}
END_TEST

START_TEST(bytes_are_in_the_order_of_the_dump)
{
	struct symbols symbols;
	make_symbols(&symbols, false, 0, NULL);
	ck_assert_int_eq(symbols.order, ELFDATA2LSB);
	make_symbols(&symbols, true, 0, NULL);
	ck_assert_int_eq(symbols.order, ELFDATA2MSB);
}
END_TEST

void core_symbols_tests(TCase *tests)
{
	tcase_add_test(tests, types_are_not_in_the_code);
	tcase_add_test(tests, types_that_are_close_share_a_section);
	tcase_add_test(tests, bytes_are_in_the_order_of_the_dump);
}
