/* What the objects of a heap, the pointers in them, and the roots are called. */
#ifndef GH_PLUGIN_VIEW_OBJECT_NAMES_H
#define GH_PLUGIN_VIEW_OBJECT_NAMES_H

#include "lib/typing/object_types.h"
#include "plugin/view/emit.h"
#include "plugin/view/globals.h"
#include "plugin/view/traceback.h"

struct gh_names {
	const struct gh_heap *heap; /* the caller's */
	struct gh_symbols *symbols; /* of the program, the caller's; NULL if none is given */
	struct gh_typing typing;
	struct gh_globals globals;     /* what is in the segments */
	struct gh_traceback traceback; /* of the goroutine that was last asked about: */
	size_t goroutine;              /* its number, if there are calls */
};

/* Names what is in HEAP, which is the caller's and outlives it; names->symbols stay as they are.
 * TWIN is the path of the program that has names->symbols before it was stripped; NULL if there is
 * none. False (ERR filled) if that cannot be read or memory ran out. To be freed either way. */
bool gh_names_make(struct gh_names *names, const struct gh_heap *heap, const char *twin,
		   struct gh_error *err);

void gh_names_free(struct gh_names *names);

/* Objects that are called the same are a class: its number, by object; how many classes there are;
 * and what objects of class NUMBER are called, to be escaped. */
const uint32_t *gh_names_classes(const struct gh_names *names);
size_t gh_names_count(const struct gh_names *names);
const char *gh_names_class(const struct gh_names *names, uint32_t number);

/* Prints the class's name of OBJECT, escaped. */
void gh_names_print(FILE *out, const struct gh_names *names, uint32_t object);

/* Prints OBJECT for a person: its address, its class, and its size where that does not say it. */
void gh_names_print_object(FILE *out, const struct gh_names *names, uint32_t object);

/* An object as a member of a row, and a byte of it: for the columns below. */
struct gh_object {
	const struct gh_names *names;
	uint32_t number;
	uint64_t address;
	const char *type; /* what its class is called */
	uint64_t offset;  /* of the byte, from the object's address */
};

/* A row of one. */
struct gh_object_row {
	struct gh_object object;
};

/* OBJECT as a member of a row; OFFSET is that of a pointer in it, or 0. */
struct gh_object gh_names_object(const struct gh_names *names, uint32_t object, uint64_t offset);

/* The columns that say which object it is: MEMBER of the struct ROW, a struct gh_object. For a
 * person they are one, gh_names_print_object's. */
#define GH_OBJECT(row, member)                                                                     \
	{"object", GH_COL_PRINTED_MEMBER(row, member, gh_object_print), .only = GH_IN_TEXT},       \
	    {"object", GH_COL_ADDRESS(row, member.address), .only = GH_IN_JSON},                   \
	{                                                                                          \
		"type", GH_COL_TEXT(row, member.type), .only = GH_IN_JSON                          \
	}

/* The columns that say where in it the pointer is. */
#define GH_OBJECT_FIELD(row, member)                                                               \
	{"offset", GH_COL_NUMBER(row, member.offset), .only = GH_IN_JSON},                         \
	{                                                                                          \
		"field", GH_COL_PRINTED_MEMBER(row, member, gh_object_print_field)                 \
	}

/* Print the struct gh_object that MEMBER is, and the field of it that the byte is in. */
void gh_object_print(struct gh_emit *emit, const void *member);
void gh_object_print_field(struct gh_emit *emit, const void *member);

/* Prints the command by which GDB prints the value in OBJECT. False, and nothing is printed, if GDB
 * cannot name its type. */
bool gh_names_print_command(FILE *out, const struct gh_names *names, uint32_t object);

/* Prints what is at OFFSET in OBJECT for a person, ".next"; if that is not known, "+16". */
void gh_names_print_field(FILE *out, const struct gh_names *names, uint32_t object,
			  uint64_t offset);

/* Prints ROOT for a person: "main.cache (bss, 0x53a8e0)", "main.srv -> main.Server (static).tenants
 * (data, 0x53a8e8)", "goroutine 7, main.f at x.go:12, sp_0x18". */
void gh_names_print_root(FILE *out, struct gh_names *names, const struct gh_root *root);

/* The same of what is no stack, without the place of a variable: "main.srv -> main.Server
 * (static).tenants". */
void gh_names_print_slot(FILE *out, struct gh_names *names, const struct gh_root *root);

/* The same of COUNT goroutines that have one stack, with the innermost call that is the program's
 * own: "5,000 goroutines in main.handle at main.go:51, r". */
void gh_names_print_stack(FILE *out, struct gh_names *names, const struct gh_root *root,
			  uint64_t count);

/* Where the function begins that the cleanup of ROOT calls; 0 if that is not known. */
uint64_t gh_names_cleanup(const struct gh_names *names, const struct gh_root *root);

/* gh_names_print_root's as a JSON object. */
void gh_names_emit_root(struct gh_emit *emit, struct gh_names *names, const struct gh_root *root);

#endif
