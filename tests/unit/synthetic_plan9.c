#include "tests/unit/synthetic_plan9.h"

#include <string.h>

#include "tests/unit/bytes.h"

/* A symbol. VALUE is an address relative to the text for a function; a size of a frame on a machine
 * whose calls push nothing. */
struct symbol {
	char type;
	uint32_t value;
	const char *name; /* of a path, the numbers of its components as characters */
};

static const struct symbol symbols[] = {
    {'T', 0, "text"},
    {'T', 0x80, "etext"},
    {'D', 0x2000, "main.data"},
    {'f', 1, "/src"},
    {'f', 2, "main.go"},
    {'f', 0x103, "leaf.go"},
    {'f', 4, "asm.s"},
    {'f', 5, "/go/"},
    /* The package: two files, one after the other. */
    {'z', 1, "\1\2"},
    {'z', 101, ""},
    {'z', 101, "\1\3"},
    {'z', 201, ""},
    {'T', 0, "main.main"},
    {'m', 24, ".frame"},
    {'m', 16, ".locals"},
    {'m', 8, ".args"},
    {'p', 0, "n"},
    {'t', 0x50, "main.leaf"},
    {'m', 16, ".frame"},
    /* An object with a file that is included, and with line directives. */
    {'z', 1, "\5\4"},
    {'z', 3, "\1\2"},
    {'z', 53, ""},
    {'z', 60, "\1\3"},
    {'Z', 400, "\1\3"},
    {'z', 70, ""},
    {'T', 0x70, "runtime.goexit"},
    {'m', 0, ".frame"},
    {'T', 0x78, "main\xc2\xb7made"},
    {'m', 0, ".frame"},
};

/* From which pc on, relative to the text, an object's line is executing. */
static const struct {
	uint32_t pc;
	int32_t line;
} lines[] = {{0, 10},     {0x0c, 11},  {0x14, 103}, {0x24, 12},
	     {0x50, 120}, {0x58, 121}, {0x70, 55},  {0x78, 61}};

static void put(uint8_t **at, uint64_t value, unsigned size, bool big_endian)
{
	bytes_store(*at, value, size, big_endian);
	*at += size;
}

static void put_name(uint8_t **at, const struct symbol *symbol)
{
	size_t length = strlen(symbol->name);
	if (symbol->type != 'z' && symbol->type != 'Z') {
		memcpy(*at, symbol->name, length + 1);
		*at += length + 1;
		return;
	}
	put(at, 0, 1, true);
	for (size_t i = 0; i < length; i++) /* leaf.go has a number of two bytes */
		put(at, (uint64_t)symbol->name[i] | (symbol->name[i] == 3 ? 0x100 : 0), 2, true);
	put(at, 0, 2, true);
}

static void put_symbol_1_0(uint8_t **at, const struct symbol *symbol, uint64_t value,
			   bool big_endian)
{
	put(at, value, 4, big_endian);
	put(at, (uint8_t)symbol->type | 0x80, 1, big_endian);
	put_name(at, symbol);
	put(at, 0, 4, big_endian); /* the Go type */
}

/* Those that are addresses are words, and one has a Go type. */
static void put_symbol_1_1(uint8_t **at, const struct symbol *symbol, uint64_t value,
			   const struct synthetic *what)
{
	char type = symbol->type;
	bool address = strchr("TtD", type) != NULL;
	bool go_type = type == 'D' || type == 'p';
	int code = type >= 'a' ? type - 'a' + 26 : type - 'A';
	put(at, (uint64_t)code | (address ? 0x40 : 0) | (go_type ? 0x80 : 0), 1, false);
	if (address) {
		put(at, value, what->word, what->big_endian);
	} else {
		for (; value >= 0x80; value >>= 7)
			put(at, value | 0x80, 1, false);
		put(at, value, 1, false);
	}
	if (go_type)
		put(at, SYNTHETIC_TEXT, what->word, what->big_endian);
	put_name(at, symbol);
}

/* Symbols that Go 1.0 did not have. */
static bool is_new(const char *name)
{
	return strcmp(name, "text") == 0 || strcmp(name, ".locals") == 0 ||
	       strcmp(name, ".args") == 0;
}

static bool is_left_out(const struct symbol *symbol, const struct synthetic *what)
{
	return (what->format != SYNTHETIC_1_1 && is_new(symbol->name)) ||
	       (what->no_files && strchr("fzZ", symbol->type) != NULL);
}

static void make_symtab(struct synthetic_plan9 *tables, const struct synthetic *what)
{
	uint8_t *at = tables->symtab;
	if (what->format == SYNTHETIC_1_1) {
		put(&at, 0xfffffffd, 4, what->big_endian);
		put(&at, 0, 3, false);
		put(&at, what->word, 1, false);
	} else if (what->format == SYNTHETIC_INTERIM) {
		put(&at, 0xfffffffe, 4, false);
		put(&at, 0, 2, false);
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		const struct symbol *symbol = &symbols[i];
		uint64_t value = symbol->value;
		if (strchr("TtD", symbol->type) != NULL)
			value += SYNTHETIC_TEXT;
		else if (strcmp(symbol->name, ".frame") == 0 && !what->big_endian)
			value += what->word;
		if (is_left_out(symbol, what))
			continue;
		if (what->format == SYNTHETIC_1_1)
			put_symbol_1_1(&at, symbol, value, what);
		else
			put_symbol_1_0(&at, symbol, value, what->format == SYNTHETIC_1_0);
	}
	tables->symtab_size = (size_t)(at - tables->symtab);
}

static void make_lines(struct synthetic_plan9 *tables, unsigned quantum)
{
	uint8_t *at = tables->lines;
	uint32_t pc = 0;
	int32_t line = 0;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		for (uint32_t steps = (lines[i].pc - pc) / quantum; steps > 0;) {
			uint32_t step = steps < 8 ? steps : 8;
			put(&at, 128 + step, 1, false);
			steps -= step;
		}
		int32_t delta = lines[i].line - line;
		if (delta > 64 || delta < -64) {
			put(&at, 0, 1, false);
			put(&at, (uint32_t)delta, 4, true);
		} else {
			put(&at, (uint64_t)(delta > 0 ? delta : 64 - delta), 1, false);
		}
		pc = lines[i].pc + quantum;
		line = lines[i].line;
	}
	put(&at, 129, 1, false);
	tables->lines_size = (size_t)(at - tables->lines);
}

static void put_code(struct synthetic_plan9 *tables, size_t at, const char *bytes, size_t size)
{
	memcpy(tables->text + at, bytes, size);
}

void synthetic_plan9_make(struct synthetic_plan9 *tables, const struct synthetic *what,
			  unsigned quantum)
{
	*tables = (struct synthetic_plan9){0};
	make_symtab(tables, what);
	make_lines(tables, quantum);
	if (what->big_endian)
		return;
	if (what->word == 8) {
		put_code(tables, 0x04, "\x48\x83\xec\x18", 4); /* SUBQ $24, SP */
		put_code(tables, 0x38, "\x48\x83\xc4\x18", 4); /* ADDQ $24, SP */
	} else {
		put_code(tables, 0x05, "\x83\xec\x18", 3);
		put_code(tables, 0x39, "\x83\xc4\x18", 3);
	}
	put_code(tables, 0x3c, "\xc3", 1);                 /* RET */
	put_code(tables, 0x24, "\x53\x6a\x08", 3);         /* PUSHQ BX; PUSHQ $8 */
	put_code(tables, 0x27, "\xe8\0\0\0\0", 5);         /* CALL */
	put_code(tables, 0x2c, "\x48\x8b\x7c\x24\x50", 5); /* MOVQ 80(SP), DI */
	put_code(tables, 0x31, "\x59\x59", 2);             /* POPQ CX; POPQ CX */
}
