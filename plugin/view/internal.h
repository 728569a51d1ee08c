/* What the files beside this one share. */
#ifndef GH_PLUGIN_VIEW_INTERNAL_H
#define GH_PLUGIN_VIEW_INTERNAL_H

#include "lib/util/vector.h"
#include "plugin/view/view.h"

/* What is at an address. */

/* What executes at a pc. */
struct gh_place {
	struct gh_func func;
	struct gh_range range;   /* in the file's addresses */
	struct gh_module module; /* that has the function */
};

/* What executes at PC, an address of the dump; good until the next call. NULL if it is in no
 * function. */
const struct gh_place *gh_symbols_find(struct gh_symbols *symbols, uint64_t pc);

/* The number of the goroutine that frame NUMBER is of; GH_DUMP_NONE if it is of none. */
size_t gh_where_goroutine_of_frame(const struct gh_dump *dump, size_t number);

/* The same for a defer or panic. */
size_t gh_where_goroutine_of_defer(const struct gh_dump *dump, size_t number);
size_t gh_where_goroutine_of_panic(const struct gh_dump *dump, size_t number);

/* Calls on a goroutine's stack. */

/* Where GOROUTINE was created. False if that is not known, or it is the first. */
bool gh_traceback_creator(const struct gh_dump_goroutine *goroutine, struct gh_symbols *symbols,
			  struct gh_call *call);

/* Prints a function's name, LENGTH bytes at NAME, as Go does: type arguments as [...]. */
void gh_traceback_print_function(FILE *out, const char *name, size_t length);

/* Prints what CALL was made with, in parentheses, as Go's tracebacks do: what is in the memory of
 * each word. (...) if that is not known. */
void gh_traceback_print_arguments(FILE *out, const struct gh_dump *dump, struct gh_symbols *symbols,
				  const struct gh_call *call);

/* What the words of the data segments are called. */

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

/* Prints the same of the global that has the first word alone, and not where in that it is. */
bool gh_globals_print_first(FILE *out, const struct gh_globals *globals,
			    const struct gh_global_way *way);

/* The same as members of a JSON object. */
void gh_globals_emit(struct gh_emit *emit, const struct gh_globals *globals,
		     const struct gh_global_way *way);

void gh_globals_free(struct gh_globals *globals);

/* Roots. */

/* Prints ROOT as gh_names_print_root does, which is no stack, without the place of a variable, or
 * the object of a queued finalizer: "main.srv -> main.Server (static).tenants". */
void gh_names_print_slot(FILE *out, struct gh_names *names, const struct gh_root *root);

/* Where the function begins that the cleanup of ROOT calls; 0 if that is not known. */
uint64_t gh_names_cleanup(const struct gh_names *names, const struct gh_root *root);

/* One goroutine as Go's tracebacks show it. */

/* A goroutine, printed. */
struct gh_goroutine_text {
	size_t number; /* of the goroutine */
	uint64_t id;
	uint64_t minutes; /* that it has waited */
	bool locked;      /* to its thread */
	bool selected;    /* it runs on the thread selected in GDB */
	bool one_line;    /* the body is one call, on the same line */
	char *status;     /* escaped; owned */
	char *labels;     /* " {KEY: VALUE}" or ""; owned */
	char *body;       /* its calls; owned */
	char *extra;      /* its defers and panics; owned */
};

/* Fills TEXT with goroutine NUMBER, whose RECORD was read; its calls are in LISTING's traceback
 * then. False if memory ran out. */
bool gh_goroutine_text_make(struct gh_goroutine_text *text, struct gh_goroutine_list *listing,
			    size_t number, const struct gh_dump_record *record);

void gh_goroutine_text_free(struct gh_goroutine_text *text);

void gh_goroutine_text_print(FILE *out, const struct gh_goroutine_text *text);

/* The same into memory, to be freed; NULL if that ran out. */
char *gh_goroutine_text_whole(const struct gh_goroutine_text *text);

/* Prints the state in the first line of TEXT, or of a group like it; it has waited for MINUTES. */
void gh_goroutine_print_state(FILE *out, const struct gh_goroutine_text *text, uint64_t minutes);

/* CALL is in package main. */
bool gh_call_is_main(const struct gh_call *call);

/* CALL is in the standard library: of its packages no path begins with a name with a dot in it. */
bool gh_call_is_standard(const struct gh_call *call);

/* CALL, of LISTING's traceback, is printed. */
bool gh_goroutine_has_call(const struct gh_goroutine_list *listing, const struct gh_call *call);

/* Fills CALL with where the goroutine was created. False if that is not to be printed. */
bool gh_goroutine_find_creator(const struct gh_goroutine_list *listing,
			       const struct gh_dump_goroutine *goroutine, struct gh_call *call);

/* The name of the function at PC; NULL if it is not known. */
const char *gh_goroutine_function(const struct gh_goroutine_list *listing, uint64_t pc);

/* Goroutines as JSON. */

/* Prints goroutine NUMBER, whose record is GOROUTINE and whose calls are in LISTING's traceback. */
void gh_goroutine_json_print(struct gh_goroutine_list *listing, size_t number,
			     const struct gh_dump_goroutine *goroutine);

/* Goroutines with the same state and stack. */
struct gh_goroutine_group {
	const struct gh_goroutine_text *first; /* of an array */
	size_t count;
	bool leads; /* it comes first */
	char *key;  /* what groups are sorted by, as text; owned */
};

/* What the group of goroutine NUMBER is sorted by, by strcmp, to be freed: how many of its calls
 * are in package main, and in the user's code, modules and the standard library, the most first;
 * then the calls. NULL if memory ran out. */
char *gh_goroutine_order(struct gh_goroutine_list *listing, size_t number);

/* The longest wait in GROUP, in minutes. */
uint64_t gh_goroutine_group_wait(const struct gh_goroutine_group *group);

/* Prints GROUP. False if memory ran out. */
bool gh_goroutine_json_print_group(struct gh_goroutine_list *listing,
				   const struct gh_goroutine_group *group);

/* Frames of paths (paths.h): what a root, or a part of a value, is called where all like it are
 * one.
 */

/* Pointers so far into what is of an unknown type, in bytes, are taken for an array's. */
#define GH_FRAME_OFFSETS 256

/* "tenants (map[string]*main.Session)"; and "+16", of what is of an unknown type. To be freed; NULL
 * if memory ran out. */
char *gh_frame_of_part(const struct gh_layouts *layouts, const struct gh_part *part);
char *gh_frame_of_offset(uint64_t offset);

/* What a root is. */
struct gh_root_frames {
	struct GH_VECTOR(char *) texts; /* each to be freed */
	uint32_t layout;                /* of its pointer; GH_NO_LAYOUT if that is not known */
};

/* Tells what ROOT is: "main.srv", "tenants (map[string]*main.Session)". The texts failed if memory
 * ran out. */
void gh_root_frames_find(struct gh_root_frames *frames, struct gh_names *names,
			 const struct gh_root *root);

/* A key of ROOT, if it is a frame's slot: the frames are those of all roots with that key. 0 if it
 * is none. */
uint64_t gh_root_frames_key(const struct gh_names *names, const struct gh_root *root);

/* Prints the name of the function that begins at ENTRY, or else that address. */
void gh_names_print_function(FILE *out, const struct gh_names *names, uint64_t entry);

#endif
