/* Type inference: what is claimed of an object's type, whether that can be, and what follows from
 * it for the objects that it points to. Private to the files that infer; object_types.h is what
 * others need. */
#ifndef GH_TYPING_INFER_H
#define GH_TYPING_INFER_H

#include "lib/heap/heap.h"
#include "lib/typing/dwarf_variables.h"
#include "lib/typing/layout.h"
#include "lib/typing/sizeclass.h"
#include "lib/typing/statics.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* Which structs begin with a value of a type: a pointer to the one is a pointer to the other. */

struct gh_prefix_type {
	uint32_t part;  /* a type's number */
	uint32_t whole; /* that of a struct that begins with values of it */
	uint64_t count; /* how many of them, one after the other */
};

/* By part. */
struct gh_prefix_types GH_VECTOR(struct gh_prefix_type);

/* Finds the structs that have descriptors, and what they begin with. False if memory ran out. The
 * vector is to be freed either way. */
bool gh_prefix_types_find(struct gh_prefix_types *containers, const struct gh_layouts *layouts);

/* Those of type PART. Gives how many. */
size_t gh_prefix_types_of(const struct gh_prefix_types *containers, uint32_t part,
			  const struct gh_prefix_type **items);

/* How well an object's type is known; a better one outdoes a worse. */
enum gh_trust {
	GH_TRUST_NONE,      /* nothing is known */
	GH_TRUST_STRING,    /* a string points into it: it is bytes */
	GH_TRUST_POINTED,   /* a pointer of a type, or a slice, points to its start and fits */
	GH_TRUST_ALLOCATED, /* what points to it only points to objects that were made as that */
	GH_TRUST_EXACT,     /* the dump, or the object's header, says so */
};

/* What is known of an object. */
struct gh_finding {
	uint32_t layout : 31; /* its type's number, or GH_INFER_NONE */
	uint32_t many : 1;    /* it holds as many as fit */
};

/* How it is known. */
struct gh_evidence {
	uint8_t trust : 3;    /* enum gh_trust */
	uint8_t disputed : 1; /* two types were claimed that do not contain each other */
	uint8_t changes : 4;  /* how often the type was found anew */
};

/* A part of memory that holds values of a type, though its object may have another. */
struct gh_stretch {
	uint64_t address;
	uint64_t count; /* of values */
	uint32_t layout;
};

struct gh_infer {
	const struct gh_heap *heap;
	struct gh_layouts *layouts;
	const struct gh_pclntab *program; /* NULL if it is not known */
	uint64_t bias;                    /* of the dump's addresses over the program's */
	struct gh_allocator allocator;
	struct gh_prefix_types containers;
	struct gh_finding *findings;                   /* by object; owned */
	struct gh_evidence *evidence;                  /* by object; owned */
	struct GH_VECTOR(uint32_t) objects;            /* those whose pointers are to be followed */
	struct GH_VECTOR(struct gh_stretch) stretches; /* likewise */
	struct gh_static_list statics;                 /* those of them that are in the segments */
	struct gh_numbermap seen;     /* stretches that were taken up, by address and type */
	struct gh_numbermap closures; /* layouts of closures, by entry */
	struct gh_numbermap dumped;   /* layouts of the dump's types, by address */
	struct GH_VECTOR(uint32_t) closure_types; /* the layouts that closures' structs may have */
	struct gh_cursor segment;                 /* over the segment that was looked into last */
	size_t segment_number;                    /* its number, if there was one */
	uint64_t budget;       /* pointers that may still be followed in stretches */
	uint64_t conflicts;    /* objects that two types were claimed of */
	uint32_t string_data;  /* the layout of bytes that strings point to */
	uint32_t small_values; /* that of memory that small objects share */
	bool failed;           /* memory ran out */
};

#define GH_INFER_NONE 0x7fffffff

/* Starts with no object typed. LAYOUTS is added to. False if memory ran out. To be freed either
 * way. */
bool gh_infer_make(struct gh_infer *infer, const struct gh_heap *heap, struct gh_layouts *layouts,
		   const struct gh_pclntab *program, uint64_t bias);

void gh_infer_free(struct gh_infer *infer);

/* An object, and what its record says. */
struct gh_view {
	uint32_t object;
	uint64_t address; /* of the value in it: past its header */
	uint64_t size;    /* of the object, in bytes */
	uint64_t header;  /* bytes before the value */
	bool no_pointers; /* the collector does not look into it */
	struct gh_dump_record record;
};

void gh_infer_view(const struct gh_infer *infer, uint32_t object, struct gh_view *view);

/* VIEW's pointers are where those of a value of LAYOUT are, or of MANY values; where a dump does
 * not say, they may be. */
bool gh_infer_matches(struct gh_infer *infer, const struct gh_view *view, uint32_t layout,
		      bool many);

/* The object at VIEW is of type LAYOUT, or MANY of those. */
void gh_infer_set(struct gh_infer *infer, const struct gh_view *view, uint32_t layout, bool many,
		  enum gh_trust trust);

/* COUNT values of type LAYOUT are at ADDRESS, one after the other. If TRUST is GH_TRUST_ALLOCATED,
 * an object was made for them, of as many as fit if COUNT is 0. */
void gh_infer_claim(struct gh_infer *infer, uint64_t address, uint32_t layout, uint64_t count,
		    enum gh_trust trust);

/* ADDRESS is that of a closure. */
void gh_infer_claim_closure(struct gh_infer *infer, uint64_t address);

/* A string of SIZE bytes begins at ADDRESS. */
void gh_infer_claim_string(struct gh_infer *infer, uint64_t address, uint64_t size);

/* An interface holds TYPE, the address of a descriptor or an itab, and DATA. False if TYPE is
 * neither that is known. */
bool gh_infer_claim_interface(struct gh_infer *infer, uint64_t type, uint64_t data);

/* The layout of the type that TYPE, a descriptor's or an itab's address, stands for; GH_NO_LAYOUT
 * if it is not known. */
uint32_t gh_infer_dynamic_type(struct gh_infer *infer, uint64_t type);

/* The layout of the type at ADDRESS, or of a CHANNEL of such values: as the program describes it,
 * or the dump, which only has a name and a size. GH_NO_LAYOUT if neither has it. */
uint32_t gh_infer_dumped_type(struct gh_infer *infer, uint64_t address, bool channel);

/* A pointer VALUE at OFFSET in CONTENTS is as LINK says. */
void gh_infer_follow(struct gh_infer *infer, const struct gh_link *link,
		     const struct gh_cursor *contents, uint64_t offset, uint64_t value);

/* Follows the pointers of all that was claimed, until nothing is left. */
void gh_infer_propagate(struct gh_infer *infer);

/* Where it is known what is in memory, before anything follows from it. */

/* Objects of which the dump says what they are, or their headers do. */
void gh_infer_seed_exact(struct gh_infer *infer);

/* What records of finalizers, goroutines, threads, defers and panics say. */
void gh_infer_seed_records(struct gh_infer *infer);

/* Interfaces in the data segments, by their words. */
void gh_infer_seed_segments(struct gh_infer *infer);

/* Roots in variables of the program's. */
void gh_infer_seed_variables(struct gh_infer *infer, const struct gh_variables *variables);

/* The variable that ROOT is in, and how far its slot is from the variable's start; NULL if there is
 * none. BIAS is that of the dump's addresses over the program's. */
const struct gh_variable *gh_infer_seed_variable_of(const struct gh_variables *variables,
						    const struct gh_dump *dump, uint64_t bias,
						    const struct gh_root *root, uint64_t *offset);

struct gh_pcs GH_VECTOR(uint64_t);

/* The places in the code of the frames of DUMP, less BIAS: ascending, each once. They go into PCS
 * as uint64_t. */
void gh_infer_seed_pcs(const struct gh_dump *dump, uint64_t bias, struct gh_pcs *pcs);

/* Interfaces in the objects whose type is not known. */
void gh_infer_seed_objects(struct gh_infer *infer);

#endif
