/* Heaps that answers are asked about. */
#include <stdbool.h>
#include <string.h>

#include "tests/oracle/makedump.h"

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
void put_linked(void)
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

void put_leak(unsigned count)
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
void put_crowd(void)
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
