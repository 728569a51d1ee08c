/* How the objects of a heap are held: what a root is of, gh_names_root_place; by which bytes of one
 * a pointer is to, gh_slice_range_find; and all of them as one tree, gh_merged_paths_make. */
#ifndef GH_PLUGIN_VIEW_PATHS_H
#define GH_PLUGIN_VIEW_PATHS_H

#include <stdint.h>

#include "lib/profile/profile.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"
#include "plugin/view/view.h"

/* What a root is of. */
struct gh_root_place {
	const char *kind; /* its name in JSON, and for a person the segment's */
	uint64_t address; /* of the slot that points; 0 if there is none */
	size_t goroutine; /* its number, or GH_DUMP_NONE */
	const char *what; /* that it has, for a person; NULL for a slot */
	bool has_call;    /* it is in a frame: */
	struct gh_call call;
	uint64_t depth; /* of the frame, 0 for the top */
	uint64_t slot;  /* the offset from the frame's sp, in bytes */
};

/* Fills PLACE with what ROOT is of, and RECORD with the record that it is in. */
void gh_names_root_place(struct gh_root_place *place, struct gh_names *names,
			 const struct gh_root *root, struct gh_dump_record *record);

/* What a slice or string is of the object that it points into, in bytes from its value on. */
struct gh_slice_range {
	uint64_t start;
	uint64_t end;  /* one past the last, by its length */
	uint64_t size; /* of the value */
};

/* Finds the range of the slice or string whose pointer is at OFFSET of OBJECT. False if it is none,
 * or begins where the value does and has half of it or more. */
bool gh_slice_range_find(const struct gh_names *names, uint32_t object, uint64_t offset,
			 struct gh_slice_range *range);

/* Prints what is at OFFSET in OBJECT, a pointer, for a person: ".next", ".header [4096:4112] of
 * 1,048,576 bytes". */
void gh_names_print_pointer(FILE *out, const struct gh_names *names, uint32_t object,
			    uint64_t offset);

/* The column that says, in JSON, what range the pointer is to that MEMBER of the struct ROW, a
 * struct gh_object, is about. */
#define GH_OBJECT_RANGE(row, member)                                                               \
	{                                                                                          \
		"range", GH_COL_PRINTED_MEMBER(row, member, gh_object_print_range),                \
		    .only = GH_IN_JSON                                                             \
	}
void gh_object_print_range(struct gh_emit *emit, const void *member);

/* How the objects of a heap are held, each one way, as a tree of frames: a root, as the variable
 * "main.srv"; and then fields, "tenants (map[string]*main.Session)", elements, "[val]
 * (*main.Session)", and types where a field's says nothing. Ways by equal frames are one, and what
 * is below a frame of one name is in that, as the nodes of a list. */
struct gh_merged_paths {
	struct GH_VECTOR(struct gh_pprof_node) nodes; /* each after the one that it is in */
	struct GH_VECTOR(char *) frames;              /* their names, by number; owned */
	uint32_t *of;                                 /* by object: its node; owned */
};

/* Finds them for the objects of the heap of NAMES: from globals, where there are such ways, or else
 * from stacks, from other certain roots, and from conservative ones. What no root leads to is in a
 * frame that says so. False (ERR filled) if memory ran out. To be freed either way. */
bool gh_merged_paths_make(struct gh_merged_paths *paths, struct gh_names *names,
			  struct gh_error *err);

/* What the way to node NUMBER is called: "main.srv -> tenants (map[string]*main.Session)"; to be
 * freed. NULL if memory ran out. */
char *gh_merged_paths_name(const struct gh_merged_paths *paths, uint32_t number);

void gh_merged_paths_free(struct gh_merged_paths *paths);

/* The id of goroutine NUMBER. */
uint64_t gh_where_goroutine_id(const struct gh_dump *dump, size_t number);

#endif
