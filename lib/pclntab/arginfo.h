/* Which words a function's arguments are made of, for tracebacks (Go 1.17 and later):
 * FUNCDATA_ArgInfo. Format: printArgs in src/runtime/traceback.go, and EmitArgInfo in
 * src/cmd/compile/internal/ssagen/ssa.go. Which of them are pointers: FUNCDATA_ArgsPointerMaps,
 * stackmap in src/runtime/symtab.go. */
#ifndef GH_PCLNTAB_ARGINFO_H
#define GH_PCLNTAB_ARGINFO_H

#include "lib/pclntab/pclntab.h"

/* What is next in the list. */
enum gh_arg_token {
	GH_ARG_LIST_END,
	GH_ARG_BEGIN, /* of an aggregate */
	GH_ARG_END,
	GH_ARG_WORD,
	GH_ARG_FAR_WORD, /* one whose place is too far away to be told */
	GH_ARG_DOTS,     /* parts that are left out, and, outside aggregates, all that follows */
};

/* A walk over a function's list. */
struct gh_arg_walk {
	struct gh_cursor cur;
	unsigned left; /* bytes that may still be read */
	uint8_t
	    offset;   /* of the word's place in memory from that of the first argument, in bytes */
	uint8_t size; /* of the word, in bytes */
};

/* Starts a walk. False if FUNC has no list. */
bool gh_arg_walk_start(struct gh_arg_walk *walk, const struct gh_pclntab *tab,
		       const struct gh_func *func);

enum gh_arg_token gh_arg_walk_next(struct gh_arg_walk *walk);

/* How many bytes the words of FUNC's arguments take in memory, from the first one's place on. */
uint64_t gh_args_extent(const struct gh_pclntab *tab, const struct gh_func *func);

/* Which words' memory has been written at a pc: that of arguments in registers need not be. Go 1.18
 * and later: FUNCDATA_ArgLiveInfo and PCDATA_ArgLiveIndex. */
struct gh_arg_liveness {
	struct gh_cursor bits; /* a bit for each word that may not be */
	uint8_t start;         /* offset of the first word that may not be */
	uint8_t slot;          /* number of the next such word */
	bool is_told;          /* BITS are there: else all has been */
};

/* Starts to tell of FUNC's words at PC. */
void gh_arg_liveness_start(struct gh_arg_liveness *liveness, const struct gh_pclntab *tab,
			   const struct gh_func *func, uint64_t pc);

/* The address in FUNC from which on it is told which words have been written: until then those in
 * registers need not be. FUNC's entry if nothing is ever told. */
uint64_t gh_arg_liveness_begins(const struct gh_pclntab *tab, const struct gh_func *func);

/* Whether the next word, which is at OFFSET, has been written. */
bool gh_arg_is_live(struct gh_arg_liveness *liveness, uint8_t offset);

/* The compiler tells no more words than these. */
#define GH_MAX_ARGS 10

/* gh_arg.part: the argument is no aggregate. */
#define GH_ARG_WHOLE UINT8_MAX

/* A word that is an argument, or part of one. */
struct gh_arg {
	uint8_t number;  /* of the argument, from 0 */
	uint8_t part;    /* of the aggregate, from 0, nested ones laid flat; or GH_ARG_WHOLE */
	uint8_t offset;  /* of its place in memory from that of the first argument, in bytes */
	uint8_t size;    /* in bytes: 1, 2, 4 or 8 */
	bool is_pointer; /* known to be one; others may be */
};

struct gh_args {
	struct gh_arg items[GH_MAX_ARGS];
	size_t count;
};

/* Reads the words of FUNC's arguments; as many as can be read. The memory that is theirs may hold
 * something else. */
void gh_args_read(struct gh_args *args, const struct gh_pclntab *tab, const struct gh_func *func);

#endif
