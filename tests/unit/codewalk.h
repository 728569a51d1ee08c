/* Code of amd64 and 386 that is read for what its registers hold. */
#ifndef TESTS_UNIT_CODEWALK_H
#define TESTS_UNIT_CODEWALK_H

#include "lib/code/internal.h"

/* Code as LLVM's assembler has it, which the comments give in Intel's syntax; one of its registers,
 * by number, and what that holds after it. */
struct code_value {
	const char *code;
	size_t size;
	unsigned number;
	struct gh_value value;
};
#define CODE(text) text, sizeof(text) - 1

/* Values after NLOADS loads, with what is added before each, and at the end. */
#define UNKNOWN                                                                                    \
	{                                                                                          \
		.from = GH_VALUE_UNKNOWN                                                           \
	}
#define ZERO                                                                                       \
	{                                                                                          \
		.from = GH_VALUE_ZERO                                                              \
	}
#define ARG(which, loads, ...)                                                                     \
	{                                                                                          \
		{__VA_ARGS__}, which, GH_VALUE_ARGUMENT, loads                                     \
	}
#define FRAME(loads, ...)                                                                          \
	{                                                                                          \
		{__VA_ARGS__}, 0, GH_VALUE_FRAME, loads                                            \
	}
#define GLOBAL(loads, ...)                                                                         \
	{                                                                                          \
		{__VA_ARGS__}, 0, GH_VALUE_GLOBAL, loads                                           \
	}

/* Where the code is, and the address after its first SIZE bytes. */
enum { ENTRY = 0x10000 };
#define AT(size) ENTRY + (size)

/* The last call that was read, and the number of those. */
struct last_call {
	struct gh_known known;
	size_t count;
	size_t at;
	uint64_t callee;
	bool keeps;     /* what calls answer: they keep all registers */
	bool goes_back; /* a jump did, to where no other way leads */
};

/* A reading of amd64's code, with what results, arguments and words written once hold, of a
 * function whose locals take 32 bytes; calls are noted in LAST. */
struct gh_reading codewalk_reading(struct last_call *last);

/* Reads the SIZE bytes at CODE and a call behind them, of the next instruction; again where READING
 * notes that a jump went back. */
void codewalk_read(struct gh_reading *reading, const char *code, size_t size);

/* VALUE is what is EXPECTED. */
bool codewalk_holds(const struct gh_value *value, const struct gh_value *expected);

/* Checks the registers after each of the COUNT rows at ROWS, of readings that MAKE makes. */
void codewalk_check(struct gh_reading (*make)(struct last_call *last),
		    const struct code_value *rows, size_t count);
#define CHECK(make, rows) codewalk_check(make, rows, sizeof(rows) / sizeof((rows)[0]))

#endif
