/* The records of heap dumps that makedump writes. */
#ifndef TESTS_ORACLE_MAKEDUMP_H
#define TESTS_ORACLE_MAKEDUMP_H

#include "tests/unit/dumpmaker.h"

/* The one that is written. */
extern struct maker maker;

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

/* Kinds of objects. */
enum {
	REGULAR = 0,
	ARRAY = 1,
	CHAN = 2,
	ANYTHING = 127,
};

/* Addresses. */
enum {
	STACK = 0x30000,
	OTHER_STACK = 0x31000,
	WORKER = 0x401000,
	MAIN = 0x402000,
	GOEXIT = 0x403000,
	FINALIZE = 0x404000,
	DATA = 0x60000,
	BSS = 0x61000,
	M = 0xa000,
};

/* COUNT numbers. */
void numbers(unsigned count, const uint64_t *values);

/* A type of WORDS words. */
void put_type(uint64_t address, unsigned words, const char *name, const struct field *fields);

/* The start of an object, to which its contents and then end_object belong. */
void begin_object(uint64_t address, uint64_t type, unsigned kind);
void end_object(void);
void begin_goroutine(uint64_t id, uint64_t sp);

/* A frame of WORDS words; its contents, in the formats that have them, come between this and
 * end_frame. */
void begin_frame(uint64_t sp, unsigned words, uint64_t depth, uint64_t child);
void end_frame(uint64_t entry, uint64_t pc, const char *function, const struct field *fields);

/* The data segment, by its record's TAG, or the other. */
void put_segment(unsigned tag, uint64_t address, const uint64_t words[5],
		 const struct field *fields);

/* Whole heaps: see makedump_heaps.c. */
void put_linked(void);
void put_leak(unsigned count); /* of so many sessions */
void put_crowd(void);

#endif
