/* Makedump writes a heap dump whose values tests know: of one format (0 is the prototype, 1 is 1.3,
 *5 is 1.7), pointer size in bytes and byte order. It shares no code with the reader.
 *
 *	makedump values|hostile|linked|leak|before|crowd FORMAT WORD little|big >DUMP
 *
 * linked, from 1.4 on, has objects that point to each other, garbage and strings: see put_linked;
 * leak is a leak, before the same heap before it grew, and crowd has goroutines in all states. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/makedump.h"

struct maker maker;

void numbers(unsigned count, const uint64_t *values)
{
	maker_numbers(&maker, count, values);
}

/* From 1.4 on strings and slices are pointers. */
static unsigned kind_number(unsigned kind)
{
	if (maker.format == MAKER_PROTOTYPE)
		return kind - 1;
	if (maker.format == MAKER_1_3)
		return kind;
	return kind == IFACE ? 2 : kind == EFACE ? 3 : 1;
}

static void put_fields(const struct field *fields)
{
	if (maker.format == MAKER_PROTOTYPE) {
		unsigned count = 0;
		while (fields[count].kind != 0)
			count++;
		maker_length(&maker, count);
	}
	for (; fields->kind != 0; fields++)
		NUMBERS(kind_number(fields->kind), fields->word * maker.word);
	if (maker.format != MAKER_PROTOTYPE)
		maker_number(&maker, 0);
}

void put_type(uint64_t address, unsigned words, const char *name, const struct field *fields)
{
	NUMBERS(maker.format == MAKER_PROTOTYPE ? 7 : 3, address, words * maker.word);
	maker_text(&maker, name);
	maker_number(&maker, 1);
	if (maker.format <= MAKER_1_3)
		put_fields(fields);
}

void begin_object(uint64_t address, uint64_t type, unsigned kind)
{
	NUMBERS(1, address);
	if (maker.format <= MAKER_1_3)
		NUMBERS(type, kind);
}

void end_object(void)
{
	if (maker.format >= MAKER_1_4)
		maker_number(&maker, 0);
}

/* Addresses. */
enum {
	NODE_TYPE = 0x5000,
	PAIR_TYPE = 0x5100,
	ITAB = 0x7000,
	NODE = 0x10000,
	OTHER_NODE = 0x10100,
	PAIRS = 0x10200,
	TEXT = 0x10400,
	UNKNOWN = 0x10600,
	CHANNEL = 0x10800,
	CONSERVATIVE = 0x10a00,
	DEFER = 0xb000,
	PANIC = 0xc000,
	PROFILE = 0xd000,
};

static void put_types(const char *node)
{
	NUMBERS(maker.format == MAKER_PROTOTYPE ? 12 : 8, ITAB,
		maker.format <= MAKER_1_3 ? 1 : NODE_TYPE);
	put_type(NODE_TYPE, 8, node,
		 (struct field[]){{POINTER, 0}, {STRING, 1}, {SLICE, 3}, {IFACE, 6}, {0, 0}});
	put_type(PAIR_TYPE, 2, "main.Pair", (struct field[]){{EFACE, 0}, {0, 0}});
}

static void put_objects(void)
{
	begin_object(NODE, NODE_TYPE, REGULAR);
	WORDS(OTHER_NODE, TEXT, 5, PAIRS, 2, 3, ITAB, OTHER_NODE);
	end_object();
	begin_object(OTHER_NODE, NODE_TYPE, REGULAR);
	WORDS(0, TEXT + 7, 5, 0, 0, 0, 0, 0);
	end_object();
	begin_object(PAIRS, PAIR_TYPE, ARRAY);
	WORDS(NODE_TYPE, NODE, PAIR_TYPE, PAIRS, 0, 0);
	end_object();
	begin_object(TEXT, 0, REGULAR);
	maker_bytes(&maker, "hello, world\0\0\0", 16);
	end_object();
	begin_object(UNKNOWN, 0, REGULAR);
	WORDS(11, 22, 33, 44);
	end_object();
	begin_object(CHANNEL, PAIR_TYPE, CHAN);
	WORDS(1, 2, NODE_TYPE, OTHER_NODE);
	end_object();
	begin_object(CONSERVATIVE, 0, ANYTHING);
	WORDS(NODE, 55);
	end_object();
}

void begin_goroutine(uint64_t id, uint64_t sp)
{
	NUMBERS(maker.format == MAKER_PROTOTYPE ? 8 : 4, 0x9000 + 0x100 * id, sp, id, MAIN, 4, 0, 0,
		0);
	maker_text(&maker, "chan receive");
	if (maker.format != MAKER_PROTOTYPE)
		NUMBERS(0, 0, 0, 0);
}

void begin_frame(uint64_t sp, unsigned words, uint64_t depth, uint64_t child)
{
	if (maker.format == MAKER_PROTOTYPE)
		NUMBERS(9, sp, sp + words * maker.word);
	else
		NUMBERS(5, sp, depth, child);
}

void end_frame(uint64_t entry, uint64_t pc, const char *function, const struct field *fields)
{
	NUMBERS(entry, pc);
	if (maker.format != MAKER_PROTOTYPE)
		maker_number(&maker, pc + 8);
	maker_text(&maker, function);
	if (maker.format != MAKER_PROTOTYPE)
		put_fields(fields);
}

static void put_stack_root(uint64_t sp, unsigned word, uint64_t pointer)
{
	NUMBERS(4, sp + word * maker.word, pointer, sp);
}

/* What the prototype knows of the stack at SP. */
static void put_stack_roots(uint64_t sp, uint64_t unlike)
{
	put_stack_root(sp, 1, NODE);
	put_stack_root(sp, 2, TEXT);
	put_stack_root(sp, 11, unlike);
	put_stack_root(sp, 13, UNKNOWN);
	put_stack_root(sp + 16 * maker.word, 1, NODE + 8);
	put_stack_root(sp + 16 * maker.word, 2, OTHER_NODE);
}

/* Frames have the return address at both ends: some machines look for it here, some there. */
static void put_stack(uint64_t id, uint64_t sp, uint64_t unlike, const struct field *fields,
		      const char *worker)
{
	uint64_t main_sp = sp + 16 * maker.word;
	begin_goroutine(id, sp);
	begin_frame(sp, 16, 0, 0);
	if (maker.format != MAKER_PROTOTYPE)
		WORDS(MAIN + 0x20, NODE, TEXT, 12, PAIRS, 2, 3, ITAB, NODE, NODE_TYPE, NODE, unlike,
		      0, UNKNOWN, 0x1234, MAIN + 0x20);
	end_frame(WORKER, WORKER + 0x40, worker, fields);
	begin_frame(main_sp, 4, 1, sp);
	if (maker.format != MAKER_PROTOTYPE)
		WORDS(GOEXIT + 4, NODE + 8, OTHER_NODE, GOEXIT + 4);
	end_frame(MAIN, MAIN + 0x20, "main.main",
		  (struct field[]){{POINTER, 1}, {POINTER, 2}, {0, 0}});
	begin_frame(main_sp + 4 * maker.word, 1, 2, main_sp);
	if (maker.format != MAKER_PROTOTYPE)
		WORDS(0);
	end_frame(GOEXIT, GOEXIT + 4, "runtime.goexit",
		  (struct field[]){{POINTER, 1}, {POINTER, 5}, {0, 0}});
	if (maker.format == MAKER_PROTOTYPE)
		put_stack_roots(sp, unlike);
}

static void put_goroutines(const char *worker)
{
	put_stack(1, STACK, NODE,
		  (struct field[]){{POINTER, 1},
				   {STRING, 2},
				   {SLICE, 4},
				   {IFACE, 7},
				   {EFACE, 9},
				   {POINTER, 11},
				   {POINTER, 12},
				   {0, 0}},
		  worker);
	put_stack(2, OTHER_STACK, PAIRS,
		  (struct field[]){{POINTER, 1}, {POINTER, 11}, {POINTER, 13}, {0, 0}}, worker);
}

void put_segment(unsigned tag, uint64_t address, const uint64_t words[5],
		 const struct field *fields)
{
	NUMBERS(tag, address);
	maker_words(&maker, 5, words);
	put_fields(fields);
}

/* The deferred call and the panic belong to the goroutine before them. */
static void put_defer_and_panic(void)
{
	if (maker.format == MAKER_PROTOTYPE)
		return;
	NUMBERS(14, DEFER, 0x9000 + 0x100 * 2, OTHER_STACK, MAIN + 0x30, DEFER + 0x80, FINALIZE,
		DEFER + 0x40);
	NUMBERS(15, PANIC, 0x9000 + 0x100 * 2, NODE_TYPE, NODE, DEFER, PANIC + 0x40);
}

static void put_roots(void)
{
	bool prototype = maker.format == MAKER_PROTOTYPE;
	maker_number(&maker, prototype ? 6 : 2);
	maker_text(&maker, "finalizer queue");
	maker_number(&maker, PAIRS);
	NUMBERS(prototype ? 11 : 7, NODE, FINALIZE + 0x800, FINALIZE, NODE_TYPE, PAIR_TYPE);
	if (prototype) {
		NUMBERS(5, DATA, NODE);
		NUMBERS(5, BSS + 2 * maker.word, OTHER_NODE);
		return;
	}
	NUMBERS(11, OTHER_NODE, FINALIZE + 0x900, FINALIZE + 0x100, PAIR_TYPE, NODE_TYPE);
	put_segment(12, DATA, (const uint64_t[]){NODE, TEXT, 5, NODE_TYPE, PAIRS},
		    (const struct field[]){{POINTER, 0}, {STRING, 1}, {EFACE, 3}, {0, 0}});
	put_segment(13, BSS, (const uint64_t[]){0, ITAB, OTHER_NODE, 66, 77},
		    (const struct field[]){{POINTER, 0}, {IFACE, 1}, {0, 0}});
}

/* What only the released formats have. */
static void put_statistics(void)
{
	if (maker.format == MAKER_PROTOTYPE)
		return;
	NUMBERS(9, M, 3, 4242);
	maker_number(&maker, 10);
	for (unsigned i = 0; i < 24; i++)
		maker_number(&maker, 1000 + i);
	for (unsigned i = 0; i < 256; i++)
		maker_number(&maker, i < 2 ? 500 + i : 0);
	maker_number(&maker, 2);
	NUMBERS(16, PROFILE, 48, 1);
	maker_text(&maker, "main.alloc");
	maker_text(&maker, "/src/main.go");
	NUMBERS(10, 9, 4);
	NUMBERS(17, NODE, PROFILE);
}

static void put_values(bool hostile)
{
	maker_params(&maker);
	put_types(hostile ? "main.\x1b]0;x\a\r\n\x9b\xe2\x80\xae$(touch gone)`touch gone`\"'{;"
			  : "main.Node");
	put_objects();
	put_goroutines(hostile ? "main.\n\x1b[31m\x9b\xe2\x80\xaeshell touch gone\r$(touch gone)"
			       : "main.worker");
	put_defer_and_panic();
	put_roots();
	put_statistics();
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	maker_start(&maker, (enum maker_format)atoi(argv[2]), (unsigned)atoi(argv[3]),
		    strcmp(argv[4], "big") == 0);
	if (strcmp(argv[1], "linked") == 0)
		put_linked();
	else if (strcmp(argv[1], "leak") == 0)
		put_leak(40);
	else if (strcmp(argv[1], "before") == 0)
		put_leak(5);
	else if (strcmp(argv[1], "crowd") == 0)
		put_crowd();
	else
		put_values(strcmp(argv[1], "hostile") == 0);
	maker_end(&maker);
	return fwrite(maker.data, 1, maker.size, stdout) == maker.size && fclose(stdout) == 0 ? 0
											      : 1;
}
