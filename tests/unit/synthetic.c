#include "tests/unit/synthetic.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/bytes.h"
#include "tests/unit/synthetic_plan9.h"

enum {
	TEXT_OFFSET = 0x1000,
	TEXT_SIZE = 0x80,
	RODATA_OFFSET = 0x1100,
	RODATA_ADDRESS = 0x402100,
	SYMTAB_OFFSET = 0x1200, /* before Go 1.2 */
	DATA_OFFSET = 0x1800,
	DATA_ADDRESS = SYNTHETIC_DATA,
	DATA_SIZE = 0x300,
	NAMES_OFFSET = 0x1b00,
	SECTIONS_OFFSET = 0x1c00,
	FILE_SIZE = 0x2000,
	TREE_ADDRESS = 0x402700, /* the inline tree, past the pclntab */
	FUNCTIONS = 3,
	MAPS_ADDRESS =
	    0x402740, /* the pointer maps of locals, and 16 bytes on those of arguments */
	TABLES = 5,   /* pc-value tables of a function: pcsp, pcfile, pcln, inlined, pointer maps */
};

/* A run of a pc-value table: VALUE up to END, relative to the function. */
struct run {
	uint32_t end;
	int32_t value;
};

struct function {
	const char *name;
	uint32_t entry; /* relative to the text */
	struct run tables[TABLES][5];
};

/* File values are numbers in cutab, plus one in the format of Go 1.2. */
static const struct function functions[FUNCTIONS] = {
    {"main.main",
     0,
     {{{0x08, 0}, {0x3c, 24}, {0x40, 0}},
      {{0x14, 0}, {0x24, 1}, {0x40, 0}},
      {{0x0c, 10}, {0x14, 11}, {0x24, 3}, {0x40, 12}},
      {{0x14, -1}, {0x24, 0}, {0x40, -1}},
      {{0x10, -1}, {0x24, 1}, {0x40, 0}}}},
    {"main.leaf",
     0x50,
     {{{0x08, 0}, {0x18, 16}}, {{0x18, 1}}, {{0x08, 20}, {0x18, 21}}, {{0}}, {{0}}}},
    {"runtime.goexit", 0x70, {{{0x08, 0}}, {{0x08, 2}}, {{0x08, 5}}, {{0}}, {{0}}}},
};

static const char *const files[] = {"/src/main.go", "/src/leaf.go", "/go/asm.s"};

/* The file being made. */
struct maker {
	const struct synthetic *what;
	uint8_t *data;
	size_t pos;       /* where the next byte goes */
	size_t table;     /* offset of the pclntab */
	unsigned quantum; /* pc quantum */
	uint32_t small;   /* name offset of main.small */
	uint32_t names[FUNCTIONS];
	uint32_t pctab[FUNCTIONS][TABLES];
	uint32_t records[FUNCTIONS];
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

static uint32_t put_string(struct maker *m, const char *text)
{
	size_t pos = m->pos;
	memcpy(m->data + pos, text, strlen(text) + 1);
	m->pos += strlen(text) + 1;
	return (uint32_t)pos;
}

static void put_uvarint(struct maker *m, uint32_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(m, value | 0x80, 1);
	put(m, value, 1);
}

/* Writes a pc-value table; 0 stands for none. */
static uint32_t put_runs(struct maker *m, const struct run *runs, int32_t add)
{
	if (runs[0].end == 0)
		return 0;
	uint32_t start = (uint32_t)m->pos;
	uint32_t pc = 0;
	int32_t value = -1;
	for (; runs->end != 0; runs++) {
		int32_t delta = runs->value + add - value;
		put_uvarint(m, delta < 0 ? (uint32_t)-delta * 2 - 1 : (uint32_t)delta * 2);
		put_uvarint(m, (runs->end - pc) / m->quantum);
		pc = runs->end;
		value = runs->value + add;
	}
	put(m, 0, 1);
	return start;
}

static void align(struct maker *m, size_t to)
{
	m->pos = (m->pos + to - 1) / to * to;
}

/* Writes a _func record whose offsets are relative to their tables. */
static void put_record(struct maker *m, unsigned f, size_t names, size_t pctab)
{
	enum synthetic_format format = m->what->format;
	align(m, m->what->word);
	m->records[f] = (uint32_t)m->pos;
	if (format >= SYNTHETIC_1_18)
		put(m, functions[f].entry, 4);
	else
		put(m, SYNTHETIC_TEXT + functions[f].entry, m->what->word);
	put(m, m->names[f] - names, 4);
	put(m, 8, 4); /* args */
	put(m, 0, 4); /* deferreturn */
	for (unsigned t = 0; t < 3; t++)
		put(m, m->pctab[f][t] - pctab, 4);
	put(m, 3, 4); /* npcdata */
	if (format >= SYNTHETIC_1_16)
		put(m, 0, 4); /* cuOffset */
	if (format >= SYNTHETIC_1_20)
		put(m, 9, 4); /* startLine */
	unsigned nfuncdata = format == SYNTHETIC_1_2 ? 5 : 4;
	/* Of the inline tree; those of Go 1.13, as the file does not say that it is earlier. */
	unsigned number = format == SYNTHETIC_1_2 ? 4 : 3;
	if (m->what->no_func_id) {
		put(m, nfuncdata, 4);
	} else {
		put(m, f == 2, 1); /* runtime.goexit has a funcID */
		put(m, f == 2, 1); /* and is a top frame */
		put(m, 0, 1);
		put(m, nfuncdata, 1);
	}
	put(m, 0, 4);
	put(m, m->pctab[f][4] != 0 ? m->pctab[f][4] - pctab : 0, 4);
	put(m, m->pctab[f][3] != 0 ? m->pctab[f][3] - pctab : 0, 4);
	if (format < SYNTHETIC_1_18)
		align(m, m->what->word);
	for (unsigned n = 0; n < nfuncdata; n++) {
		uint64_t address = f != 0        ? 0
				   : n == 0      ? MAPS_ADDRESS + 16
				   : n == 1      ? MAPS_ADDRESS
				   : n == number ? TREE_ADDRESS
						 : 0;
		if (format >= SYNTHETIC_1_18)
			put(m, address != 0 ? address - RODATA_ADDRESS : 0xffffffff, 4);
		else
			put(m, address, m->what->word);
	}
}

static void put_names(struct maker *m)
{
	for (unsigned f = 0; f < FUNCTIONS; f++)
		m->names[f] =
		    put_string(m, f == FUNCTIONS - 1 && m->what->last != NULL ? m->what->last
									      : functions[f].name);
	m->small = put_string(m, "main.small");
}

static void put_tables(struct maker *m, int32_t add)
{
	put(m, 0, 1); /* offset 0 means that there is no table */
	for (unsigned f = 0; f < FUNCTIONS; f++)
		for (unsigned t = 0; t < TABLES; t++)
			m->pctab[f][t] = put_runs(m, functions[f].tables[t], t == 1 ? add : 0);
}

static void put_start(struct maker *m)
{
	static const uint32_t magics[] = {0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1,
					  0xfffffff1};
	put(m, magics[m->what->format], 4);
	put(m, 0, 2);
	put(m, m->quantum, 1);
	put(m, m->what->word, 1);
	put(m, FUNCTIONS, m->what->word);
}

static void put_pclntab_1_2(struct maker *m, struct synthetic_places *places)
{
	unsigned word = m->what->word;
	put_start(m);
	size_t pairs = m->pos;
	m->pos += (2 * FUNCTIONS + 1) * word + 4;
	places->names = m->pos;
	put_names(m);
	places->pctab = m->pos + 1;
	put_tables(m, 1);
	for (unsigned f = 0; f < FUNCTIONS; f++)
		put_record(m, f, m->table, m->table);
	places->records = m->records[0];
	align(m, 4);
	size_t filetab = m->pos;
	m->pos += 4 * 4;
	put_at(m, filetab, 4, 4);
	for (unsigned i = 0; i < 3; i++)
		put_at(m, filetab + 4 * (i + 1), put_string(m, files[i]) - m->table, 4);
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		put_at(m, pairs + 2 * f * word, SYNTHETIC_TEXT + functions[f].entry, word);
		put_at(m, pairs + (2 * f + 1) * word, m->records[f] - m->table, word);
	}
	put_at(m, pairs + 2 * FUNCTIONS * word, SYNTHETIC_TEXT + 0x78, word);
	put_at(m, pairs + (2 * FUNCTIONS + 1) * word, filetab - m->table, 4);
	places->functab = pairs;
}

static void put_pclntab_1_16(struct maker *m, struct synthetic_places *places)
{
	unsigned word = m->what->word;
	unsigned half = m->what->format >= SYNTHETIC_1_18 ? 4 : word;
	put_start(m);
	put(m, 3, word); /* nfiles */
	if (m->what->format >= SYNTHETIC_1_18)
		put(m, m->what->format == SYNTHETIC_1_26 ? 0 : SYNTHETIC_TEXT, word);
	size_t offsets = m->pos;
	m->pos += 5 * word;
	size_t names = m->pos;
	put_names(m);
	align(m, 4);
	size_t cutab = m->pos;
	m->pos += 3 * 4;
	size_t filetab = m->pos;
	for (unsigned i = 0; i < 3; i++)
		put_at(m, cutab + 4 * i, put_string(m, files[i]) - filetab, 4);
	size_t pctab = m->pos;
	put_tables(m, 0);
	align(m, word);
	size_t functab = m->pos;
	m->pos += (2 * FUNCTIONS + 1) * half;
	for (unsigned f = 0; f < FUNCTIONS; f++)
		put_record(m, f, names, pctab);
	uint64_t base = half == 4 && m->what->format >= SYNTHETIC_1_18 ? 0 : SYNTHETIC_TEXT;
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		put_at(m, functab + 2 * f * half, base + functions[f].entry, half);
		put_at(m, functab + (2 * f + 1) * half, m->records[f] - functab, half);
	}
	put_at(m, functab + 2 * FUNCTIONS * half, base + 0x78, half);
	const size_t tables[] = {names, cutab, filetab, pctab, functab};
	for (unsigned i = 0; i < 5; i++)
		put_at(m, offsets + i * word, tables[i] - m->table, word);
	*places = (struct synthetic_places){
	    .functab = functab, .records = m->records[0], .pctab = pctab + 1, .names = names};
}

static void put_tree(struct maker *m, size_t names)
{
	m->pos = RODATA_OFFSET + TREE_ADDRESS - RODATA_ADDRESS;
	if (m->what->format >= SYNTHETIC_1_20) {
		put(m, 0, 4);
		put(m, m->small - names, 4);
		put(m, 0x10, 4);
		put(m, 2, 4); /* startLine */
	} else {
		put(m, 0xffff, 2);
		put(m, 0, 2);
		put(m, 0, 4);
		put(m, 11, 4);
		put(m, m->small - names, 4);
		put(m, 0x10, 4);
	}
}

static void put_maps(struct maker *m)
{
	static const uint8_t maps[2][4] = {{2, 2, 1, 2}, {2, 1, 1, 0}}; /* locals', arguments' */
	for (unsigned i = 0; i < 2; i++) {
		m->pos = RODATA_OFFSET + MAPS_ADDRESS + i * 16 - RODATA_ADDRESS;
		put(m, maps[i][0], 4); /* maps */
		put(m, maps[i][1], 4); /* bits */
		put(m, maps[i][2], 1);
		put(m, maps[i][3], 1);
	}
}

static void put_moduledata(struct maker *m, size_t functab, size_t pairs)
{
	enum synthetic_format format = m->what->format;
	unsigned word = m->what->word;
	uint64_t table = RODATA_ADDRESS;
	uint64_t fields[64] = {table};
	unsigned ftab = format == SYNTHETIC_1_2 ? 3 : 16;
	unsigned minpc = format == SYNTHETIC_1_2 ? 10 : 20;
	fields[ftab] = RODATA_ADDRESS + functab - RODATA_OFFSET;
	fields[ftab + 1] = fields[ftab + 2] = pairs;
	fields[minpc] = fields[minpc + 2] = SYNTHETIC_TEXT;
	fields[minpc + 1] = fields[minpc + 3] = SYNTHETIC_TEXT + 0x78;
	unsigned types = format == SYNTHETIC_1_2 ? 25 : format >= SYNTHETIC_1_20 ? 37 : 35;
	fields[types] = RODATA_ADDRESS;
	fields[types + 1] = RODATA_ADDRESS + 0x10;
	if (format >= SYNTHETIC_1_18) {
		fields[types + 2] = RODATA_ADDRESS; /* rodata */
		fields[types + 3] = RODATA_ADDRESS; /* gofunc */
	}
	if (format >= SYNTHETIC_1_26)
		fields[types + 4] = RODATA_ADDRESS + 0x400; /* epclntab */
	for (unsigned i = 0; i < 64; i++)
		put_at(m, DATA_OFFSET + i * word, fields[i], word);
}

static void put_segment(struct maker *m, uint32_t flags, uint64_t offset, uint64_t address,
			uint64_t size)
{
	unsigned word = m->what->word;
	put(m, PT_LOAD, 4);
	if (word == 8)
		put(m, flags, 4);
	put(m, offset, word);
	put(m, address, word);
	put(m, address, word);
	put(m, size, word);
	put(m, size, word);
	if (word == 4)
		put(m, flags, 4);
	put(m, 0x1000, word);
}

static void put_section(struct maker *m, uint32_t name, uint32_t type, uint64_t flags,
			uint64_t address, uint64_t offset, uint64_t size)
{
	unsigned word = m->what->word;
	put(m, name, 4);
	put(m, type, 4);
	put(m, flags, word);
	put(m, address, word);
	put(m, offset, word);
	put(m, size, word);
	put(m, 0, 4);
	put(m, 0, 4);
	put(m, 1, word);
	put(m, 0, word);
}

static bool is_plan9(const struct synthetic *what)
{
	return what->format >= SYNTHETIC_1_0;
}

static void put_sections(struct maker *m, size_t pclntab_size, size_t symtab_size)
{
	m->pos = NAMES_OFFSET + 1;
	uint32_t text = put_string(m, ".text") - NAMES_OFFSET;
	uint32_t pclntab = put_string(m, ".gopclntab") - NAMES_OFFSET;
	uint32_t data = put_string(m, ".data") - NAMES_OFFSET;
	uint32_t shstrtab = put_string(m, ".shstrtab") - NAMES_OFFSET;
	uint32_t symtab = put_string(m, ".gosymtab") - NAMES_OFFSET;
	size_t names_size = m->pos - NAMES_OFFSET;
	m->pos = SECTIONS_OFFSET;
	put_section(m, 0, SHT_NULL, 0, 0, 0, 0);
	put_section(m, text, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, SYNTHETIC_TEXT, TEXT_OFFSET,
		    TEXT_SIZE);
	put_section(m, pclntab, SHT_PROGBITS, SHF_ALLOC, RODATA_ADDRESS, RODATA_OFFSET,
		    pclntab_size);
	put_section(m, data, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, DATA_ADDRESS, DATA_OFFSET,
		    DATA_SIZE);
	put_section(m, shstrtab, SHT_STRTAB, 0, 0, NAMES_OFFSET, names_size);
	if (is_plan9(m->what))
		put_section(m, symtab, SHT_PROGBITS, SHF_ALLOC,
			    RODATA_ADDRESS + SYMTAB_OFFSET - RODATA_OFFSET, SYMTAB_OFFSET,
			    symtab_size);
}

static uint16_t machine(const struct synthetic *what)
{
	if (what->machine != 0)
		return what->machine;
	if (what->word == 8)
		return what->big_endian ? EM_S390 : EM_X86_64;
	return what->big_endian ? EM_MIPS : EM_386;
}

static void put_elf_header(struct maker *m)
{
	unsigned word = m->what->word;
	memcpy(m->data, ELFMAG, SELFMAG);
	m->data[EI_CLASS] = word == 8 ? ELFCLASS64 : ELFCLASS32;
	m->data[EI_DATA] = m->what->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	m->data[EI_VERSION] = EV_CURRENT;
	m->pos = EI_NIDENT;
	put(m, ET_EXEC, 2);
	put(m, machine(m->what), 2);
	put(m, EV_CURRENT, 4);
	put(m, SYNTHETIC_TEXT, word);
	put(m, word == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), word);
	put(m, m->what->sections ? SECTIONS_OFFSET : 0, word);
	put(m, 0, 4);
	put(m, word == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
	put(m, word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
	put(m, 3, 2);
	put(m, word == 8 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	put(m, m->what->sections ? 5 + is_plan9(m->what) : 0, 2);
	put(m, m->what->sections ? 4 : 0, 2);
	put_segment(m, PF_R | PF_X, TEXT_OFFSET, SYNTHETIC_TEXT, TEXT_SIZE);
	put_segment(m, PF_R, RODATA_OFFSET, RODATA_ADDRESS, DATA_OFFSET - RODATA_OFFSET);
	put_segment(m, PF_R | PF_W, DATA_OFFSET, DATA_ADDRESS, DATA_SIZE);
}

/* Puts the tables where the pclntab of later formats is, and after it; returns the symbols' size.
 */
static size_t put_plan9(struct maker *m, struct synthetic_places *places)
{
	struct synthetic_plan9 tables;
	synthetic_plan9_make(&tables, m->what, m->quantum);
	memcpy(m->data + TEXT_OFFSET, tables.text, sizeof(tables.text));
	memcpy(m->data + RODATA_OFFSET, tables.lines, tables.lines_size);
	memcpy(m->data + SYMTAB_OFFSET, tables.symtab, tables.symtab_size);
	m->pos = RODATA_OFFSET + tables.lines_size;
	*places = (struct synthetic_places){.records = SYMTAB_OFFSET};
	return tables.symtab_size;
}

static void put_pclntab(struct maker *m, struct synthetic_places *places)
{
	if (m->what->format == SYNTHETIC_1_2)
		put_pclntab_1_2(m, places);
	else
		put_pclntab_1_16(m, places);
}

uint8_t *synthetic_make(const struct synthetic *what, size_t *size, struct synthetic_places *places)
{
	struct synthetic_places ignored;
	if (places == NULL)
		places = &ignored;
	uint16_t number = machine(what);
	struct maker m = {
	    .what = what,
	    .data = calloc(1, FILE_SIZE),
	    .table = RODATA_OFFSET,
	    .quantum = number == EM_S390                                                 ? 2
		       : number == EM_MIPS || number == EM_AARCH64 || number == EM_RISCV ? 4
											 : 1};
	put_elf_header(&m);
	m.pos = RODATA_OFFSET;
	size_t symtab_size = 0;
	if (is_plan9(what))
		symtab_size = put_plan9(&m, places);
	else
		put_pclntab(&m, places);
	size_t pclntab_size = m.pos - RODATA_OFFSET;
	if (!is_plan9(what)) {
		put_tree(&m, what->format == SYNTHETIC_1_2 ? m.table : places->names);
		put_maps(&m);
		put_moduledata(&m, places->functab, FUNCTIONS + 1);
	}
	if (what->sections)
		put_sections(&m, pclntab_size, symtab_size);
	places->pclntab = RODATA_OFFSET;
	places->moduledata = DATA_OFFSET;
	places->tree = RODATA_OFFSET + TREE_ADDRESS - RODATA_ADDRESS;
	places->size = *size = FILE_SIZE;
	return m.data;
}
