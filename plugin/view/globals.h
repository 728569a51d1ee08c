/* What the words of the data segments are called: variables, by the unstripped program; values that
 * the linker put there for a variable to point to, by way of that; and else by the functions whose
 * code refers to them. */
#ifndef GH_PLUGIN_VIEW_GLOBALS_H
#define GH_PLUGIN_VIEW_GLOBALS_H

#include "lib/code/code.h"
#include "lib/typing/object_types.h"
#include "plugin/view/emit.h"
#include "plugin/view/symbols.h"

/* The references of the program's code, once they have been asked for. */
struct gh_globals {
	const struct gh_typing *typing; /* the caller's */
	struct gh_symbols *symbols;     /* the caller's; NULL if no program is given */
	struct gh_global_refs refs;
	bool found; /* they have been looked for */
};

/* Statically allocated values that lead to a word, one by way of the other, at the most. */
#define GH_GLOBAL_STATICS 8

/* A value that leads on to the next, or has the word. */
struct gh_global_static {
	uint64_t address;      /* of the value */
	uint64_t offset;       /* of the word that leads on, in bytes */
	bool typed;            /* the text is known */
	struct gh_buffer text; /* "main.Server (static).tenants" */
};

/* How a word of a segment is reached. */
struct gh_global_way {
	struct gh_buffer variable; /* the name of the first word's, and of its field; may be none */
	uint64_t start;            /* of the global that has the first word */
	uint64_t offset;           /* of the first word in that, in bytes */
	const struct gh_global_ref
	    *refs; /* the functions that refer to it; NULL if none is known */
	size_t nrefs;
	struct gh_global_static statics[GH_GLOBAL_STATICS]; /* from the first word on */
	size_t nstatics;
};

/* Finds how the word at ADDRESS is reached. To be freed with gh_globals_free_way. */
void gh_globals_find(struct gh_globals *globals, uint64_t address, struct gh_global_way *way);

void gh_globals_free_way(struct gh_global_way *way);

/* Prints WAY for a person: "main.srv -> main.Server (static).tenants", "global 0x79fc20 of
 * main.(*Server).visit and 3 more". False, and nothing, if there is nothing to tell. */
bool gh_globals_print(FILE *out, const struct gh_globals *globals, const struct gh_global_way *way);

/* The same as members of a JSON object. */
void gh_globals_emit(struct gh_emit *emit, const struct gh_globals *globals,
		     const struct gh_global_way *way);

void gh_globals_free(struct gh_globals *globals);

#endif
