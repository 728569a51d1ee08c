/* What type each object of a heap has.
 *
 * Known are: what the dump says (1.3); from Go 1.22, the headers of larger objects; an interface's
 * dynamic type; a finalizer's object; goroutines, threads and defers; and, with the unstripped
 * program, its variables. From there types spread along the pointers, which say by their type what
 * they point to.
 *
 * A pointer to where an object begins need not be to all of it: that is believed if the allocator
 * has as much memory for such a value as the object takes, if the pointers that the collector sees
 * in the object are where the type's are, and if no struct of the program's that could be there
 * begins with such a value. Of two types that can both be, the one that contains the other is the
 * object's. If neither does, they are in conflict: the better known is taken, or the larger, or the
 * one whose descriptor comes first. */
#ifndef GH_TYPING_OBJECT_TYPES_H
#define GH_TYPING_OBJECT_TYPES_H

#include "lib/heap/heap.h"
#include "lib/typing/dwarf_variables.h"
#include "lib/typing/layout.h"
#include "lib/typing/statics.h"

/* Objects that are called the same. */
struct gh_class {
	const char *name; /* "main.Node"; "[]main.Node", for as many as there is room for; "string
			     data"; "closure main.f.func1"; of an unknown type, its size and
			     pointers: "48 bytes, pointers at 0 16". To be escaped. */
	uint64_t size;   /* of a value or an element, in bytes; of an unknown type, of the object */
	uint32_t layout; /* the type's number, or GH_NO_LAYOUT */
	bool typed;      /* the type is known */
	bool array;      /* as many elements as fit */
};

/* The program that wrote a dump. */
struct gh_typing_program {
	const struct gh_pclntab *tab; /* NULL if it is not known; outlives the typing */
	uint64_t bias;                /* of the dump's addresses over the program's */
	const char *twin; /* path of the same program with DWARF; NULL if there is none */
};

struct gh_typing {
	const struct gh_heap *heap; /* not owned */
	struct gh_rtypes types;
	struct gh_layouts layouts;
	struct gh_variables variables; /* none without the unstripped program */
	struct gh_statics statics;     /* in the segments */
	uint64_t bias;                 /* of the dump's addresses over the program's */
	uint32_t *numbers;             /* by object: its class; owned */
	struct gh_class *classes;      /* owned */
	uint32_t nclasses;
	struct gh_buffer names; /* of classes */
	uint64_t typed_objects; /* objects whose type is known */
	uint64_t typed_bytes;   /* bytes in them */
	uint64_t bytes;         /* bytes in all objects */
	uint64_t conflicts;     /* objects that two types were found for */
};

/* Finds the types of HEAP's objects; it outlives them. False (ERR filled) if PROGRAM's DWARF cannot
 * be read or memory ran out. On success to be freed with gh_typing_free. */
bool gh_typing_build(struct gh_typing *typing, const struct gh_heap *heap,
		     const struct gh_typing_program *program, struct gh_error *err);

/* Frees everything. A zeroed one may be freed too. */
void gh_typing_free(struct gh_typing *typing);

/* The number of OBJECT's class: each object has one. */
uint32_t gh_typing_of(const struct gh_typing *typing, uint32_t object);

/* Class NUMBER, which there is. */
const struct gh_class *gh_typing_class(const struct gh_typing *typing, uint32_t number);

/* The address of the value in OBJECT, which begins past its header. */
uint64_t gh_typing_value(const struct gh_typing *typing, uint32_t object);

/* Appends the name of the field that the byte at OFFSET of OBJECT is in to OUT: "next", "left.key",
 * "[3].name". To be escaped. False, and nothing, if it is not known. */
bool gh_typing_field(const struct gh_typing *typing, uint32_t object, uint64_t offset,
		     struct gh_buffer *out);

/* Appends the name of the variable that ROOT is in, and of its field, to OUT: "main.cache",
 * "node.next". To be escaped. False, and nothing, if it is not known. */
bool gh_typing_root(const struct gh_typing *typing, const struct gh_root *root,
		    struct gh_buffer *out);

/* What a word of a segment is in. */
struct gh_global {
	bool is_variable; /* it is a variable, by name */
	uint64_t start;   /* where that begins, or else the value that the linker put there: */
	bool typed;       /* its type is known, and told of by name */
	bool has_holder;  /* a word of a segment points to its start: */
	uint64_t holder;  /* where that is */
};

/* Tells what the word at ADDRESS, which is in a segment of the dump's, is in, and appends its name
 * and field's to OUT: "main.cache.first", "main.Server (static).tenants"; to be escaped. False, and
 * nothing, if neither a variable nor a value is there that something points to. */
bool gh_typing_global(const struct gh_typing *typing, uint64_t address, struct gh_global *global,
		      struct gh_buffer *out);

#endif
