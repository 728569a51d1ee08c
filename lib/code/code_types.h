/* What a program's code says of types:
 *
 * - code_types.c: those of what globals lead to, and of closures; runtime_calls.c: those that calls
 *   tell; dictionary.c: those that are in the dictionaries of generic functions;
 * - word_origins.c: what the words in frames are made from. */
#ifndef GH_CODE_CODE_TYPES_H
#define GH_CODE_CODE_TYPES_H

#include "lib/code/code.h"

enum gh_code_type_kind {
	GH_CODE_VALUE,   /* the word is one: a map or a channel */
	GH_CODE_POINTER, /* the word points to one */
	GH_CODE_SLICE,   /* the word is the first of a slice of such */
};

/* What a word that a global leads to is, by what functions do with it. Where it is the second word
 * of an interface, it need not be that. */
struct gh_code_type {
	int64_t offsets[GH_RECEIVER_LOADS + 1]; /* from address 0 of the program's file; to add
						   before each load, and at the end */
	uint32_t type;                          /* its number */
	uint8_t nloads; /* words to load; 0: it is no word, but the address of one */
	uint8_t kind;   /* enum gh_code_type_kind */
	bool is_stored; /* a function stores the result of a call in the word */
};

struct gh_entry_types GH_VECTOR(struct gh_entry_type); /* by entry */

struct gh_code_types {
	struct gh_signatures signatures; /* of the program's methods */
	struct GH_VECTOR(struct gh_code_type) globals;
	struct gh_entry_types closures;  /* of functions: the structs that these are */
	struct gh_entry_types functions; /* that cleanups call: their own types */
};

/* Finds what the code of TYPES' program says of globals from START to before END, of closures and
 * of cleanups: on amd64, from Go 1.18 on. False (ERR filled) if memory ran out. To be freed either
 * way. */
bool gh_code_types_find(struct gh_code_types *found, const struct gh_rtypes *types, uint64_t start,
			uint64_t end, struct gh_error *err);

/* The struct's number; GH_NO_RTYPE if it is not known. */
uint32_t gh_code_types_closure(const struct gh_code_types *found, uint64_t entry);

/* The type of the first parameter of the function that begins at ENTRY, if a cleanup calls it;
 * GH_NO_RTYPE if it is not known. */
uint32_t gh_code_types_parameter(const struct gh_code_types *found, const struct gh_rtypes *types,
				 uint64_t entry);

void gh_code_types_free(struct gh_code_types *found);

/* Registers for arguments that are no floating-point numbers, on amd64. */
#define GH_ORIGIN_REGISTERS 9

enum gh_origin_from {
	GH_ORIGIN_ARGUMENT, /* what the function was called with in register NUMBER */
	GH_ORIGIN_CLOSURE,  /* the closure that it was called by */
	GH_ORIGIN_MADE,     /* what a call of the runtime's made: of type NUMBER, as KIND says */
	GH_ORIGIN_USED,     /* what is of that type by what the function does with it */
	GH_ORIGIN_CALLED,   /* the first result of the function that begins at CALLEE */
};

/* What a word is made from, which a function keeps or calls another with. */
struct gh_word_origin {
	uint64_t callee;
	int64_t offsets[GH_RECEIVER_LOADS + 1]; /* to add before each load, and at the end */
	uint32_t number; /* of a register, in the order in which arguments get them, or a type */
	uint8_t from;    /* enum gh_origin_from */
	uint8_t kind;    /* enum gh_code_type_kind */
	uint8_t nloads;  /* words to load */
};

/* One that it keeps in its frame, or beyond it, where it may save what registers passed to it: all
 * else that it writes there is 0, or no address in the heap. */
struct gh_kept_word {
	int64_t offset; /* from SP after the prologue, in bytes */
	struct gh_word_origin word;
};

/* One that is in a register for arguments when it calls. */
struct gh_passed_word {
	uint64_t pc; /* that the call returns to */
	struct gh_word_origin word;
	uint8_t argument; /* the register, in the order in which arguments get them */
};

/* A variable in its frame. */
struct gh_placed_value {
	int64_t offset; /* from SP after the prologue, in bytes */
	uint32_t type;  /* its number: a map's is that of a pointer to what is there */
	uint32_t at;    /* where an instruction takes its address, in bytes from the entry */
};

struct gh_word_origins {
	struct GH_VECTOR(struct gh_kept_word) kept;     /* by offset */
	struct GH_VECTOR(struct gh_passed_word) passed; /* by place */
	struct GH_VECTOR(struct gh_placed_value) placed;
	struct gh_word_origin argument; /* the first, if it is GH_ORIGIN_USED */
	struct gh_word_origin returned; /* the first result */
	bool returns;                   /* it is known */
};

/* Finds those of FUNC, of TYPES' program, whose methods have SIGNATURES: on amd64, from Go 1.18 on.
 * False if memory ran out. To be freed either way. */
bool gh_word_origins_find(struct gh_word_origins *found, const struct gh_rtypes *types,
			  const struct gh_signatures *signatures, const struct gh_func *func);

/* The one that is kept at OFFSET; NULL if none is known. */
const struct gh_word_origin *gh_word_origins_kept(const struct gh_word_origins *words,
						  int64_t offset);

/* Those that are passed by the call that returns to PC. Gives how many. */
size_t gh_word_origins_passed(const struct gh_word_origins *words, uint64_t pc,
			      const struct gh_passed_word **passed);

void gh_word_origins_free(struct gh_word_origins *words);

#endif
