/* The types of a heap's objects, gh_typing_build, and what they are known by: the layouts of
 * the program's types, its variables, and the values in its data segments.
 *
 * - object_types.c: infers the types of a heap's objects;
 * - infer.c, infer_propagate.c: claims of a type, and what follows along pointers; infer_seeds*.c,
 *   infer_closure.c, infer_interface.c: what claims come from: records, DWARF, code, closures,
 *   interfaces;
 * - guess.c: what an object of unknown type perhaps is; gcshape.c: types by their GC shape;
 * - layout.c: where a type has pointers; layout_runtime.c: maps and channels; layout_library.c:
 *   what pointers of the standard library's lead to; layout_parts.c: which field an offset is in;
 *   prefix_types.c: types that begin with others;
 * - sizeclass.c: the allocator's size classes, and so how much memory a value takes;
 * - dwarf_layout.c, dwarf_variables.c, dwarf_reader.c: types, and variables, by the unstripped
 *   program's DWARF;
 * - statics.c, shape.c: values in data segments, and names for what has no type. */
#ifndef GH_TYPING_TYPING_H
#define GH_TYPING_TYPING_H

#include "lib/heap/heap.h"
#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"

/* What values in memory are made of, as far as pointers go: the types that a program's descriptors
 * describe, and those that only the runtime, a dump or DWARF knows. */

/* No layout. */
#define GH_NO_LAYOUT UINT32_MAX

enum gh_layout_kind {
	GH_LAYOUT_DATA,      /* bytes without pointers */
	GH_LAYOUT_STRUCT,    /* fields */
	GH_LAYOUT_ARRAY,     /* elements, one after the other */
	GH_LAYOUT_POINTER,   /* to a value of the element's type, wherever it is */
	GH_LAYOUT_SLICE,     /* a pointer to such values; length, capacity */
	GH_LAYOUT_STRING,    /* a pointer to bytes; length */
	GH_LAYOUT_INTERFACE, /* a type descriptor or an itab; data */
	GH_LAYOUT_FUNC,      /* a pointer to a closure */
	GH_LAYOUT_OBJECT,    /* a pointer to an object that was allocated as the element's type */
	GH_LAYOUT_ELEMENTS,  /* a pointer to one that was allocated as elements, as many as fit */
	GH_LAYOUT_DIRECTORY, /* of a Swiss map: a pointer to pointers to tables or, if the next word
				is 0, to a group */
	GH_LAYOUT_TRIE_NODE, /* of a HashTrieMap: a pointer to an element or, if its first byte is
				0, to a group */
	GH_LAYOUT_UNKNOWN,   /* a pointer to anything */
	GH_LAYOUT_DATA_WORD, /* a pointer that is an interface's second word, after the first */
	GH_LAYOUT_REFLECTED, /* a pointer that is a reflect.Value's second word, of three */
	GH_LAYOUT_NESTED,    /* of a link: an array with pointers */
};

struct gh_layout_field {
	uint64_t offset;           /* in its struct, in bytes */
	uint32_t layout;           /* its type's number */
	struct gh_rtype_text name; /* not owned */
};

/* A pointer in a value, and what its type tells of what it points to. */
struct gh_link {
	uint64_t offset; /* of the pointer, in bytes: of an interface, of its data word */
	uint64_t count;  /* of a NESTED array's elements */
	uint32_t elem;   /* the type that it points to, or of that array's elements */
	uint32_t group;  /* of a DIRECTORY: the group's type; that of its tables is ELEM; of a
			    TRIE_NODE: the type that leads to others, ELEM is an entry's */
	enum gh_layout_kind kind;
};

struct gh_layout {
	uint64_t size;      /* of a value, in bytes */
	uint64_t npointers; /* in a value, nil ones too; once the links were made */
	uint64_t count;     /* of an array's elements */
	uint32_t elem;    /* as in struct gh_link; of a struct: the pointer that a field stands for
			     whose type says nothing */
	uint32_t group;   /* as in struct gh_link */
	uint32_t refines; /* the descriptor's type that this one tells more of; or GH_NO_LAYOUT */
	uint32_t name;    /* offset in the names; 0 for a descriptor's type */
	uint32_t first;   /* place of its first field, or, of a descriptor's type, 0 */
	uint32_t nfields; /* of a struct */
	uint32_t links;   /* place of its first link */
	uint32_t nlinks;
	uint8_t kind;       /* enum gh_layout_kind */
	bool has_pointers;  /* the collector looks into it */
	bool linked;        /* its links were made */
	bool opaque;        /* where its pointers are is not known */
	bool direct;        /* an interface's data word is the value */
	bool in_struct;     /* it is the element of an array that is a struct's field */
	bool only_in_group; /* no object is one: an entry of a Swiss map */
	bool of_runtime;    /* the runtime keeps a map or channel in it: no names of its fields are
			       told */
	bool gc_shape;      /* of package go.shape: it stands for the types that refine it */
	bool open; /* a channel: elements may follow, and the collector may not look into it */
};

struct gh_layouts {
	const struct gh_rtypes *types;            /* not owned; NULL if there are none */
	struct GH_VECTOR(struct gh_layout) items; /* first the descriptors' types, by number */
	struct GH_VECTOR(struct gh_layout_field) fields;
	struct GH_VECTOR(struct gh_link) links;
	struct gh_buffer names; /* ended by a NUL each */
	uint32_t count;
	uint64_t budget; /* steps that making links may still take */
	uint8_t word;    /* pointer size, in bytes */
};

/* Layout NUMBER, which there is; good until one is added. */
struct gh_layout *gh_layout(const struct gh_layouts *layouts, uint32_t number);

/* Appends the name of layout NUMBER to OUT, with no NUL. */
void gh_layouts_name(const struct gh_layouts *layouts, uint32_t number, struct gh_buffer *out);

/* A part of a value: a field, or an element of an array, which are all alike, or of a map. */
struct gh_part {
	struct gh_rtype_text name; /* "tenants", "[]", "[key]", "[val]"; not owned */
	uint32_t layout;           /* the part's type's number */
};

struct gh_parts GH_VECTOR(struct gh_part);

/* Adds the parts of a value of layout NUMBER that the byte at OFFSET is in to PARTS, each in the
 * one before; what the runtime keeps maps and channels in has no more than their entries. Gives the
 * layout of the last one, or NUMBER if there are none; GH_NO_LAYOUT if the byte is in no part. */
uint32_t gh_layouts_parts(const struct gh_layouts *layouts, uint32_t number, uint64_t offset,
			  struct gh_parts *parts);

/* The variables of a program, by its DWARF: globals, and where functions have theirs in their
 * frames. */

/* A variable, or a piece of one, where it is in memory. */
struct gh_variable {
	uint64_t pc;      /* of a local: where in the code it is there; else 0 */
	uint64_t start;   /* its address, or, of a local, how far above its frame's end: below 0 */
	uint64_t size;    /* in bytes */
	uint64_t offset;  /* of the piece in the variable, in bytes */
	uint32_t layout;  /* the variable's; of one that was moved to the heap, a pointer's to it */
	const char *name; /* lives as long as this */
};

struct gh_variable_list GH_VECTOR(struct gh_variable);

struct gh_variables {
	void *dwarf;                     /* libdwarf's; owned */
	struct gh_variable_list globals; /* by start */
	struct gh_variable_list locals;  /* by pc and start */
	struct gh_variable_list first;   /* of functions, by pc: their first parameters */
};

/* The global at ADDRESS; NULL if there is none. */
const struct gh_variable *gh_variables_global(const struct gh_variables *variables,
					      uint64_t address);

/* Values in the data segments that are no variables: the linker put them there for a variable, or
 * another such value, to point to. */

/* Values of a type, one after the other. */
struct gh_static {
	uint64_t address;
	uint64_t size; /* of all of them, in bytes */
	uint32_t layout;
};

struct gh_static_list GH_VECTOR(struct gh_static);

/* A pointer of a segment's into a segment. */
struct gh_static_pointer {
	uint64_t value; /* where it points to */
	uint64_t slot;  /* where it is */
};

struct gh_statics {
	struct gh_static_list values;                        /* by address, the largest first */
	struct GH_VECTOR(struct gh_static_pointer) pointers; /* by value and slot */
};

/* The value that ADDRESS is in; NULL if none is known. */
const struct gh_static *gh_statics_find(const struct gh_statics *statics, uint64_t address);

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

/* Objects that are called the same. */
struct gh_class {
	const char *name; /* "main.Node"; "[]main.Node", for as many as there is room for;
			     "[]main.Node header", for a slice in an object of its own; "string
			     data"; "closure main.f.func1"; of an unknown type, its size and
			     pointers: "48 bytes, pointers at 0 16", and what it perhaps is:
			     "48 bytes, pointers at 0 16, perhaps main.Node". To be escaped. */
	uint64_t size;   /* of a value or an element, in bytes; of an unknown type, of the object */
	uint32_t layout; /* the number of the type that it has or perhaps has, or GH_NO_LAYOUT */
	bool typed;      /* the type is known */
	bool perhaps;    /* it is not, but one type alone has that size and these pointers */
	bool array;      /* as many elements as fit */
};

/* The program that wrote a dump. */
struct gh_typing_program {
	struct gh_module own; /* its tab is NULL if it is not known; outlives the typing */
	const struct gh_module *others; /* of the process, beside it; not owned */
	size_t nothers;
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
	struct gh_buffer names;   /* of classes */
	uint64_t typed_objects;   /* objects whose type is known */
	uint64_t typed_bytes;     /* bytes in them */
	uint64_t perhaps_objects; /* objects that perhaps have a type, none of them among these */
	uint64_t perhaps_bytes;   /* bytes in them */
	uint64_t bytes;           /* bytes in all objects */
	uint64_t conflicts;       /* objects that two types were found for */
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

/* The program's type that class NUMBER is of, or perhaps is: in place of a GC shape, the one type
 * that has it, as in the class's name. NULL if the program describes none. */
const struct gh_rtype *gh_typing_described(const struct gh_typing *typing, uint32_t number);

/* The address of the value in OBJECT, which begins past its header. */
uint64_t gh_typing_value(const struct gh_typing *typing, uint32_t object);

/* Appends the name of the field that the byte at OFFSET of OBJECT is in to OUT: "next", "left.key",
 * "[3].name". To be escaped. False, and nothing, if it is not known. */
bool gh_typing_field(const struct gh_typing *typing, uint32_t object, uint64_t offset,
		     struct gh_buffer *out);

/* The same as gh_layouts_parts gives, for the byte at OFFSET of what objects of class NUMBER have
 * past their headers. GH_NO_LAYOUT if it is not known. */
uint32_t gh_typing_parts(const struct gh_typing *typing, uint32_t number, uint64_t offset,
			 struct gh_parts *parts);

/* The variable that ROOT is in, and how far its pointer is from the variable's start; NULL if it is
 * not known. */
const struct gh_variable *gh_typing_variable(const struct gh_typing *typing,
					     const struct gh_root *root, uint64_t *offset);

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
