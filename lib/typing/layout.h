/* What values in memory are made of, as far as pointers go: the types that a program's descriptors
 * describe, and those that only the runtime, a dump or DWARF knows. */
#ifndef GH_TYPING_LAYOUT_H
#define GH_TYPING_LAYOUT_H

#include "lib/rtype/rtype.h"
#include "lib/util/buffer.h"
#include "lib/util/vector.h"

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
	GH_LAYOUT_UNKNOWN,   /* a pointer to anything */
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
	uint32_t group;  /* of a DIRECTORY: the group's type; that of its tables is ELEM */
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
	uint8_t kind;      /* enum gh_layout_kind */
	bool has_pointers; /* the collector looks into it */
	bool linked;       /* its links were made */
	bool opaque;       /* where its pointers are is not known */
	bool direct;       /* an interface's data word is the value */
	bool in_struct;    /* it is the element of an array that is a struct's field */
	bool inside;       /* it is only in others: an entry of a Swiss map */
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

/* Makes a layout of each of TYPES, which outlive them and may be NULL, with the same number, and of
 * what the runtime keeps maps and channels in. WORD is the pointer size. False if memory ran out.
 * To be freed either way. */
bool gh_layouts_make(struct gh_layouts *layouts, const struct gh_rtypes *types, uint8_t word);

void gh_layouts_free(struct gh_layouts *layouts);

/* Layout NUMBER, which there is; good until one is added. */
struct gh_layout *gh_layout(const struct gh_layouts *layouts, uint32_t number);

/* Adds one that is called PREFIX and the SIZE bytes at TEXT. */
uint32_t gh_layouts_add_named(struct gh_layouts *layouts, struct gh_layout layout,
			      const char *prefix, const void *text, size_t size);

/* Adds a field for the struct that is added next. */
void gh_layouts_add_field(struct gh_layouts *layouts, const struct gh_layout_field *field);

/* Reads field INDEX of STRUCT number NUMBER. False if it cannot be. */
bool gh_layouts_field(const struct gh_layouts *layouts, uint32_t number, uint32_t index,
		      struct gh_layout_field *field);

/* The number of fields of struct NUMBER. */
uint32_t gh_layouts_nfields(const struct gh_layouts *layouts, uint32_t number);

/* Finds the links of layout NUMBER, by offset, which are made when they are first asked for. An
 * array of more than a few elements is one link. Gives how many; good until others are made. */
uint32_t gh_layouts_links(struct gh_layouts *layouts, uint32_t number,
			  const struct gh_link **links);

/* Finds the pointer at OFFSET in a value of layout NUMBER. False if there is none. */
bool gh_layouts_link_at(struct gh_layouts *layouts, uint32_t number, uint64_t offset,
			struct gh_link *link);

/* A value of layout OUTER begins with COUNT values of layout INNER, one after the other. */
bool gh_layouts_begins_with(const struct gh_layouts *layouts, uint32_t outer, uint32_t inner,
			    uint64_t count);

/* The first part of a value of layout NUMBER that has a size; an array's is its element. Its COUNT
 * is set to how many of them follow each other. GH_NO_LAYOUT if it has no parts. */
uint32_t gh_layouts_first_part(const struct gh_layouts *layouts, uint32_t number, uint64_t *count);

/* Appends the name of layout NUMBER to OUT, with no NUL. */
void gh_layouts_name(const struct gh_layouts *layouts, uint32_t number, struct gh_buffer *out);

/* Appends the name of the part of a value of layout NUMBER that the byte at OFFSET is in to OUT:
 * ".left.key", "[3].name". */
void gh_layouts_part_name(const struct gh_layouts *layouts, uint32_t number, uint64_t offset,
			  struct gh_buffer *out);

#endif
