/* Looks up where in a program's code given source lines are executing: a call's, and those of the
 * calls that it is inlined into. What the dumper writes of a frame names the function that the code
 * is in, never the inlined call; the lines tell which it was. */
#ifndef GH_PROFILE_INTERNAL_H
#define GH_PROFILE_INTERNAL_H

#include "lib/pclntab/pclntab.h"
#include "lib/profile/profile.h"
#include "lib/util/intern.h"
#include "lib/util/vector.h"

/* How lines belong to a range of code. A call's last byte may be the last of a range: then what it
 * returns to is the code of other lines. */
enum gh_linestack_kind {
	GH_LINESTACK_ALL,        /* they are all of its stack */
	GH_LINESTACK_ALLOCATES,  /* the same, and a call in it allocates and returns to it */
	GH_LINESTACK_RETURNS,    /* the innermost is that of the code after it, which a call that
				    allocates returns to; the others are its own */
	GH_LINESTACK_MAY_RETURN, /* the same, but no such call is seen */
	GH_LINESTACK_PART,       /* they are the innermost of its stack */
};

/* A range of code, found by its lines. */
struct gh_linestack {
	uint64_t hash;               /* of the function's name and the lines */
	uint64_t start;              /* of the range, an address in the program's file */
	uint32_t number;             /* the user's; 0 at first */
	enum gh_linestack_kind kind; /* how the lines belong to it */
	bool wrappers;               /* frames of wrappers are among the lines */
};

/* By hash, kind, start. */
struct gh_linestacks GH_VECTOR(struct gh_linestack);

/* Takes in the code of those functions of TAB whose names are in NAMES. False if memory ran out. Of
 * a program that has more of it than a small multiple of its size the rest is left out. The
 * vector is to be freed in any case. */
bool gh_linestacks_build(struct gh_linestacks *stacks, const struct gh_pclntab *tab,
			 const struct gh_intern *names);

/* A hash to look up: of the function that the code is in, and of each line added, innermost first.
 * It is not proof against lines made to have the hash of others: those would be shown for them, as
 * they could be had by naming them. */
uint64_t gh_linestack_start(const char *function, size_t length);
uint64_t gh_linestack_add(uint64_t hash, uint64_t line_hash);

/* The hash of a line, for gh_linestack_add. */
uint64_t gh_linestack_line(const char *file, size_t length, uint64_t line);

/* The first range by address whose lines have the hash HASH in the way of KIND; NULL if there is
 * none. */
struct gh_linestack *gh_linestacks_find(const struct gh_linestacks *stacks, uint64_t hash,
					enum gh_linestack_kind kind);

/* FRAME, of a program with TAB, is one of a function that the compiler made to call another. */
bool gh_linestack_is_wrapper(const struct gh_pclntab *tab, const struct gh_frame *frame);

#endif
