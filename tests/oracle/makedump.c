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

#include "tests/unit/dumpmaker.h"

static struct maker maker;

static void numbers(unsigned count, const uint64_t *values)
{
	maker_numbers(&maker, count, values);
}

#define NUMBERS(...)                                                                               \
	numbers(sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), (uint64_t[]){__VA_ARGS__})
#define WORDS(...)                                                                                 \
	maker_words(&maker, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                  \
		    (uint64_t[]){__VA_ARGS__})

/* Kinds of fields, by the numbers of 1.3. */
enum {
	POINTER = 1,
	STRING,
	SLICE,
	IFACE,
	EFACE,
};

struct field {
	unsigned kind; /* 0 ends a list */
	unsigned word; /* where it is, in words */
};

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

static void put_type(uint64_t address, unsigned words, const char *name, const struct field *fields)
{
	NUMBERS(maker.format == MAKER_PROTOTYPE ? 7 : 3, address, words * maker.word);
	maker_text(&maker, name);
	maker_number(&maker, 1);
	if (maker.format <= MAKER_1_3)
		put_fields(fields);
}

/* The start of an object, to which its contents and then end_object belong. */
static void begin_object(uint64_t address, uint64_t type, unsigned kind)
{
	NUMBERS(1, address);
	if (maker.format <= MAKER_1_3)
		NUMBERS(type, kind);
}

static void end_object(void)
{
	if (maker.format >= MAKER_1_4)
		maker_number(&maker, 0);
}

/* Kinds of objects. */
enum {
	REGULAR = 0,
	ARRAY = 1,
	CHAN = 2,
	ANYTHING = 127,
};

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
	STACK = 0x30000,
	OTHER_STACK = 0x31000,
	WORKER = 0x401000,
	MAIN = 0x402000,
	GOEXIT = 0x403000,
	FINALIZE = 0x404000,
	DATA = 0x60000,
	BSS = 0x61000,
	M = 0xa000,
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

static void begin_goroutine(uint64_t id, uint64_t sp)
{
	NUMBERS(maker.format == MAKER_PROTOTYPE ? 8 : 4, 0x9000 + 0x100 * id, sp, id, MAIN, 4, 0, 0,
		0);
	maker_text(&maker, "chan receive");
	if (maker.format != MAKER_PROTOTYPE)
		NUMBERS(0, 0, 0, 0);
}

/* A frame of WORDS words; its contents, in the formats that have them, come between this and
 * end_frame. */
static void begin_frame(uint64_t sp, unsigned words, uint64_t depth, uint64_t child)
{
	if (maker.format == MAKER_PROTOTYPE)
		NUMBERS(9, sp, sp + words * maker.word);
	else
		NUMBERS(5, sp, depth, child);
}

static void end_frame(uint64_t entry, uint64_t pc, const char *function, const struct field *fields)
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

static void put_segment(unsigned tag, uint64_t address, const uint64_t words[5],
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

/* An object of WORDS words, of which the first COUNT are the pointers POINTERS. */
static void put_pointing(uint64_t address, unsigned words, unsigned count, const uint64_t *pointers)
{
	uint64_t contents[16] = {0};
	memcpy(contents, pointers, count * sizeof(*pointers));
	NUMBERS(1, address);
	maker_words(&maker, words, contents);
	for (unsigned i = 0; i < count; i++)
		NUMBERS(POINTER, i * maker.word);
	end_object();
}

static void put_string(uint64_t address, const char *text)
{
	uint8_t bytes[16] = {0};
	memcpy(bytes, text, strlen(text));
	NUMBERS(1, address);
	maker_bytes(&maker, bytes, sizeof(bytes));
	end_object();
}

/* Strings with their lengths, as a slice of them has it. */
static void put_strings(uint64_t address)
{
	static const char *const texts[] = {"so it goes", "so it goes", "so it goes",
					    "a\"b\\c, d e f"};
	uint64_t words[8];
	for (unsigned i = 0; i < 4; i++) {
		words[2 * i] = address + 0x100 + 0x10 * i;
		words[2 * i + 1] = strlen(texts[i]);
	}
	NUMBERS(1, address);
	maker_words(&maker, 8, words);
	for (unsigned i = 0; i < 4; i++)
		NUMBERS(POINTER, 2 * i * maker.word);
	end_object();
	for (unsigned i = 0; i < 4; i++)
		put_string(words[2 * i], texts[i]);
}

/* Data -> HEAD -> MIDDLE, which has two pointers to TAIL and one to SIDE, which has one to TAIL; so
 * has a frame. LOST and LOSER have each other. bss has the strings. */
static void put_linked(void)
{
	enum {
		HEAD = 0x10000,
		MIDDLE = 0x10100,
		TAIL = 0x10200,
		SIDE = 0x10300,
		LOST = 0x10400,
		LOSER = 0x10500,
		STRINGS = 0x10600,
	};
	maker_params(&maker);
	put_pointing(HEAD, 4, 1, (const uint64_t[]){MIDDLE});
	put_pointing(MIDDLE, 8, 3, (const uint64_t[]){TAIL, TAIL, SIDE});
	put_pointing(TAIL, 4, 1, (const uint64_t[]){0});
	put_pointing(SIDE, 4, 1, (const uint64_t[]){TAIL});
	put_pointing(LOST, 6, 1, (const uint64_t[]){LOSER});
	put_pointing(LOSER, 6, 1, (const uint64_t[]){LOST});
	put_strings(STRINGS);
	begin_goroutine(1, STACK);
	begin_frame(STACK, 2, 0, 0);
	WORDS(0, TAIL);
	end_frame(MAIN, MAIN + 0x20, "main.main", (struct field[]){{POINTER, 1}, {0, 0}});
	put_segment(12, DATA, (const uint64_t[]){HEAD, 0, 0, 0, 0},
		    (struct field[]){{POINTER, 0}, {0, 0}});
	put_segment(13, BSS, (const uint64_t[]){0, STRINGS, 0, 0, 0},
		    (struct field[]){{POINTER, 1}, {0, 0}});
}

/* Of the leak: where a variable keeps sessions, and what else there is. */
enum {
	STORE_TYPE = 0x5000,
	SESSION_TYPE = 0x5100,
	BUFFER_TYPE = 0x5200,
	STORE = 0x100000,
	SESSIONS = 0x101000, /* what the store has pointers to */
	POINTERS = 0x110000, /* these */
	BODIES = 0x120000,   /* what each session has a text in */
	BODY_SIZE = 2048,    /* in bytes */
	BUFFER = 0x200000,   /* of a goroutine */
	BUFFER_SIZE = 512,   /* in bytes */
	GARBAGE = 0x300000,  /* three objects of 16 bytes */
	HEAP_END = 0x400000,
};

static void put_leak_params(void)
{
	NUMBERS(6, maker.big_endian, maker.word);
	if (maker.format == MAKER_1_3)
		maker_number(&maker, 16);
	NUMBERS(STORE, HEAP_END);
	if (maker.format == MAKER_1_7)
		maker_text(&maker, "amd64");
	else
		maker_number(&maker, '6');
	maker_text(&maker, "go1.99.1");
	maker_number(&maker, 4);
}

static void put_body(unsigned number)
{
	static const char text[] = "all of these have the same text";
	char bytes[BODY_SIZE] = "";
	strcpy(bytes, text);
	if (number == 0)
		strcpy(bytes, "the first one has another");
	begin_object(BODIES + number * BODY_SIZE, 0, REGULAR);
	maker_bytes(&maker, bytes, sizeof(bytes));
	end_object();
}

/* COUNT sessions in main.Store, which the data segment points to. */
static void put_sessions(unsigned count)
{
	uint64_t pointers[64] = {0};
	begin_object(STORE, STORE_TYPE, REGULAR);
	WORDS(POINTERS, count, count);
	end_object();
	for (unsigned i = 0; i < count; i++) {
		pointers[i] = SESSIONS + 32 * i;
		begin_object(pointers[i], SESSION_TYPE, REGULAR);
		WORDS(i, BODIES + i * BODY_SIZE, i == 0 ? 25 : 31, 0);
		end_object();
	}
	begin_object(POINTERS, SESSION_TYPE + 0x80, ARRAY);
	maker_words(&maker, count, pointers);
	end_object();
	for (unsigned i = 0; i < count; i++)
		put_body(i);
}

static void put_leak(unsigned count)
{
	char buffer[BUFFER_SIZE] = "";
	put_leak_params();
	put_type(STORE_TYPE, 3, "main.Store", (struct field[]){{SLICE, 0}, {0, 0}});
	put_type(SESSION_TYPE, 4, "main.Session", (struct field[]){{STRING, 1}, {0, 0}});
	put_type(SESSION_TYPE + 0x80, 1, "*main.Session", (struct field[]){{POINTER, 0}, {0, 0}});
	put_type(BUFFER_TYPE, BUFFER_SIZE / maker.word, "main.Buffer", (struct field[]){{0, 0}});
	put_sessions(count);
	begin_object(BUFFER, BUFFER_TYPE, REGULAR);
	maker_bytes(&maker, buffer, sizeof(buffer));
	end_object();
	for (unsigned i = 0; i < 3; i++) {
		begin_object(GARBAGE + 16 * i, 0, REGULAR);
		WORDS(i, i);
		end_object();
	}
	begin_goroutine(7, STACK);
	begin_frame(STACK, 4, 0, 0);
	WORDS(0, BUFFER, 0, MAIN + 0x20);
	end_frame(WORKER, WORKER + 0x40, "main.worker", (struct field[]){{POINTER, 1}, {0, 0}});
	put_segment(12, DATA, (const uint64_t[]){STORE, 1, 2, 3, 4},
		    (const struct field[]){{POINTER, 0}, {0, 0}});
}

/* When a goroutine has begun to wait, in ns. */
#define MINUTE UINT64_C(60000000000)

static void put_waiting(uint64_t id, uint64_t status, unsigned is_system, unsigned is_background,
			uint64_t minute, const char *reason, const char *function)
{
	uint64_t sp = STACK + 0x1000 * id;
	NUMBERS(4, 0x9000 + 0x100 * id, sp, id, MAIN, status, is_system, is_background,
		minute * MINUTE);
	maker_text(&maker, reason);
	NUMBERS(0, status == 2 ? M : 0, 0, 0);
	begin_frame(sp, 2, 0, 0);
	WORDS(0, MAIN + 0x20);
	end_frame(WORKER, WORKER + 0x40, function, (struct field[]){{0, 0}});
	begin_frame(sp + 2 * maker.word, 2, 1, sp);
	WORDS(0, GOEXIT + 4);
	end_frame(MAIN, MAIN + 0x20, id == 1 ? "main.main" : "main.start",
		  (struct field[]){{0, 0}});
}

/* The last began to wait in minute 9: that is when the dump was written. */
static void put_crowd(void)
{
	put_leak_params();
	put_waiting(1, 2, 0, 0, 0, "", "main.compute");
	put_waiting(2, 1, 0, 0, 8, "", "main.ready");
	put_waiting(3, 3, 0, 0, 7, "", "syscall.Syscall");
	put_waiting(4, 4, 0, 0, 1, "chan receive", "runtime.gopark");
	put_waiting(5, 4, 0, 0, 2, "chan receive", "runtime.gopark");
	put_waiting(6, 4, 0, 0, 0, "select (no cases)", "runtime.gopark");
	put_waiting(7, 4, 0, 0, 8, "semacquire", "sync.runtime_Semacquire");
	put_waiting(8, 4, 0, 0, 3, "chan send (nil chan)", "runtime.gopark");
	put_waiting(9, 4, 1, 0, 4, "GC worker (idle)", "runtime.gcBgMarkWorker");
	put_waiting(10, 4, 0, 1, 5, "finalizer wait", "runtime.runfinq");
	put_waiting(11, 4, 0, 0, 9, "sleep", "time.Sleep");
	NUMBERS(9, M, 3, 4242);
	NUMBERS(9, M + 0x100, 4, 4243);
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
