/* What the files that infer types share. */
#ifndef GH_TYPING_INTERNAL_H
#define GH_TYPING_INTERNAL_H

#include <dwarf.h>
#include <libdwarf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/code/code_types.h"
#include "lib/dump/dump.h"
#include "lib/elf/elf.h"
#include "lib/heap/heap.h"
#include "lib/typing/typing.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

/* How many bytes Go's allocator takes for an object.
 *
 * Source: src/runtime/malloc.go, mbitmap.go and sizeclasses.go (from Go 1.26
 * src/internal/runtime/gc/sizeclasses.go; to Go 1.7 msize.go, and msize.c before that). */

/* Objects without pointers that are smaller than this share memory with others of their kind. */
#define GH_TINY_BLOCK 16

/* Bytes before an object that has a header: the address of its type's descriptor. */
#define GH_OBJECT_HEADER 8

struct gh_allocator {
	bool old;      /* the classes of Go 1.2 to 1.7 */
	bool has_24;   /* there is a class of 24 bytes: Go 1.16 and later */
	bool headers;  /* objects with pointers and of some size have a header: Go 1.22 and later */
	bool redzones; /* memory after each value is left unused: the program was built by -asan */
	bool interface_types; /* the collector follows the first word of an interface: Go 1.5
				 to 1.10 */
	uint8_t word;         /* pointer size, in bytes */
};

/* The allocator of the process that wrote DUMP: as its Go version says or, without one, that of
 * PROGRAM, which may be NULL, or its objects' sizes. */
struct gh_allocator gh_allocator_of(const struct gh_dump *dump, const struct gh_image *program);

/* TAB is of a program that was built by -asan, for which objects have redzones. */
bool gh_allocator_adds_redzones(const struct gh_pclntab *tab);

/* The size in bytes of the memory that a value of SIZE bytes gets, its header included;
 * HAS_POINTERS says whether it has any. UINT64_MAX if there is no such object. */
uint64_t gh_allocator_size(const struct gh_allocator *allocator, uint64_t size, bool has_pointers);

/* Memory of SIZE bytes, as gh_allocator_size gives, for a value that has pointers has a header. */
bool gh_allocator_has_header(const struct gh_allocator *allocator, uint64_t size);

/* The collector finds the pointers in such memory by the type, over and over up to its end. */
bool gh_allocator_repeats(const struct gh_allocator *allocator, uint64_t size);

/* Names for objects of unknown types: their size and the offsets of their pointers. */

/* A size and a fieldlist; of C's memory the size alone. */
struct gh_shape {
	uint64_t size;        /* of objects, in bytes */
	uint64_t list;        /* of a fieldlist like theirs: its offset in the file */
	uint64_t list_length; /* in bytes */
	uint32_t next;        /* of those with the same key; GH_NOT_MAPPED if it is the last */
	bool in_c;
};

struct gh_shapes {
	struct GH_VECTOR(struct gh_shape) items; /* by number */
	struct gh_numbermap keys;                /* the first of each key */
};

/* The number of the shape of OBJECT, a record of DUMP's; GH_NOT_MAPPED if memory ran out. */
uint32_t gh_shapes_of(struct gh_shapes *shapes, const struct gh_dump *dump,
		      const struct gh_dump_object *object);

/* Appends what objects of shape NUMBER are called to OUT: "48 bytes, pointers at 0 16". */
void gh_shapes_name(const struct gh_shapes *shapes, const struct gh_dump *dump, uint32_t number,
		    struct gh_buffer *out);

void gh_shapes_free(struct gh_shapes *shapes);

/* DWARF of Go programs, as libdwarf reads it: what the files beside this one share. */

/* The number in attribute NAME of DIE. False if there is none. */
bool gh_dwarf_number(Dwarf_Die die, Dwarf_Half name, uint64_t *number);

/* The offset in .debug_info of what attribute NAME of DIE refers to. False if there is none. */
bool gh_dwarf_reference(Dwarf_Die die, Dwarf_Half name, uint64_t *offset);

/* The name of DIE; "" if it has none. It lives as long as the DWARF is open. */
const char *gh_dwarf_name(Dwarf_Die die);

/* The tag of DIE; 0 if it cannot be read. */
Dwarf_Half gh_dwarf_tag(Dwarf_Die die);

/* The entry at OFFSET in .debug_info, to be freed; NULL if there is none. */
Dwarf_Die gh_dwarf_at(Dwarf_Debug dwarf, uint64_t offset);

/* The next sibling of DIE, which is freed, or with FIRST_CHILD its first child, and it is not; NULL
 * if there is none. */
Dwarf_Die gh_dwarf_sibling(Dwarf_Debug dwarf, Dwarf_Die die);
Dwarf_Die gh_dwarf_child(Dwarf_Die die);

void gh_dwarf_free(Dwarf_Debug dwarf, Dwarf_Die die);

/* Layouts of the types that DWARF tells of: a descriptor's, where there is one; of other types,
 * what they are made of. */

/* A layout whose parts are not known yet. */
struct gh_dwarf_pending {
	uint64_t offset; /* of the type's entry */
	uint32_t layout; /* its number */
};

struct gh_dwarf_layouts {
	Dwarf_Debug dwarf;          /* not owned */
	struct gh_layouts *layouts; /* that are added to; not owned */
	struct gh_numbermap known;  /* layouts by the offset of their entry */
	struct gh_numbermap names;  /* before Go 1.9: types by a hash of their names */
	struct GH_VECTOR(struct gh_dwarf_pending) queue;
	bool failed; /* memory ran out */
};

/* The number of the layout of the type whose entry is at OFFSET; GH_NO_LAYOUT if it cannot be read.
 * Those of the types that it is made of are made by gh_dwarf_layouts_finish. */
uint32_t gh_dwarf_layout(struct gh_dwarf_layouts *layouts, uint64_t offset);

/* The number of that of a pointer to the type at OFFSET, of which there need be no entry. */
uint32_t gh_dwarf_layout_pointer(struct gh_dwarf_layouts *layouts, uint64_t offset);

/* Makes the layouts that others need. */
void gh_dwarf_layouts_finish(struct gh_dwarf_layouts *layouts);

void gh_dwarf_layouts_free(struct gh_dwarf_layouts *layouts);

/* What the runtime keeps maps and channels in. */

/* Has each map and channel of LAYOUTS' descriptors point to a struct of the runtime's whose
 * pointers say what they point to. The structs' own descriptors, which programs that make maps and
 * channels have, tell where their fields are. False if memory ran out. Sources: src/runtime/map.go
 * and chan.go, src/internal/runtime/maps. */
bool gh_layouts_add_runtime(struct gh_layouts *layouts);

/* The same for pointers of the standard library's whose types do not tell what they lead to. */
void gh_layouts_add_library(struct gh_layouts *layouts);

/* Adds a pointer of its own kind, which stands for a field of the runtime's. GH_NO_LAYOUT if memory
 * ran out. */
uint32_t gh_layouts_add_pointer(struct gh_layouts *layouts, enum gh_layout_kind kind, uint32_t elem,
				uint32_t group);

/* Adds a copy of the struct PROTOTYPE, called PREFIX and the name of type NAMED, whose FIELDS are
 * of layout TYPE. GH_NO_LAYOUT if memory ran out. */
uint32_t gh_layouts_copy_struct(struct gh_layouts *layouts, uint32_t prototype, const char *prefix,
				uint32_t named, const char *const fields[2], uint32_t type);

/* The number of the type that the runtime calls NAME in PACKAGE, in which it is called as in
 * "runtime.g"; GH_NO_LAYOUT if there is no descriptor of it. */
uint32_t gh_layouts_find(const struct gh_layouts *layouts, const char *package, const char *name);

/* Type inference: what is claimed of an object's type, whether that can be, and what follows from
 * it for the objects that it points to. */

/* Which structs begin with a value of a type: a pointer to the one is a pointer to the other. */

struct gh_prefix_type {
	uint32_t part;  /* a type's number */
	uint32_t whole; /* that of a struct that begins with values of it */
	uint64_t count; /* how many of them, one after the other */
	bool is_array;  /* they are an array's elements */
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
	GH_TRUST_POINTED,   /* a pointer of a type points to its start and fits */
	GH_TRUST_SLICED,    /* a slice does: it is of an array's elements */
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

/* The fieldlist of an object whose pointers are those of a layout. */
struct gh_match {
	uint64_t list;   /* its offset in the file */
	uint64_t length; /* in bytes, with its end; 0: there is none */
	uint64_t size;   /* of the object, in bytes */
	uint64_t header; /* before its value, in bytes */
	uint32_t layout;
	bool many; /* values of the layout */
};

/* How many of these are noted. */
#define GH_INFER_MATCHES 256

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
	struct gh_match matches[GH_INFER_MATCHES];     /* by layout */
	struct GH_VECTOR(uint32_t) objects;            /* those whose pointers are to be followed */
	struct GH_VECTOR(struct gh_stretch) stretches; /* likewise */
	struct gh_static_list statics;                 /* those of them that are in the segments */
	struct gh_code_types code;                     /* what the program's code says of types */
	struct gh_numbermap seen;     /* stretches that were taken up, by address and type */
	struct gh_numbermap closures; /* layouts of closures, by entry */
	struct gh_numbermap dumped;   /* layouts of the dump's types, by address */
	struct GH_VECTOR(uint32_t) closure_types; /* the layouts that closures' structs may have */
	struct gh_cursor segment;                 /* over the segment that was looked into last */
	size_t segment_number;                    /* its number, if there was one */
	uint64_t followed; /* the pointer that is followed, and the object that it leads to */
	uint32_t followed_to;
	uint64_t nfollowed;    /* objects whose pointers were followed */
	uint64_t budget;       /* pointers that may still be followed in stretches */
	uint64_t conflicts;    /* objects that two types were claimed of */
	uint8_t *elements;     /* by layout: there are arrays of these; owned */
	uint32_t steps_left;   /* that gh_infer_guess may still take */
	uint32_t string_data;  /* the layout of bytes that strings point to */
	uint32_t small_values; /* that of memory that small objects share */
	uint32_t list;         /* that of list.List, and of list.Element: see is_ambiguous */
	uint32_t list_element;
	bool failed; /* memory ran out */
};

#define GH_INFER_NONE 0x7fffffff

/* Starts with no object typed. LAYOUTS is added to. False if memory ran out. To be freed either
 * way. */
bool gh_infer_make(struct gh_infer *infer, const struct gh_heap *heap, struct gh_layouts *layouts,
		   const struct gh_pclntab *program, uint64_t bias);

void gh_infer_free(struct gh_infer *infer);

/* The object that holds ADDRESS, GH_HEAP_NONE if none does: gh_heap_find, which takes long, but for
 * the pointer that is followed. */
uint32_t gh_infer_find(const struct gh_infer *infer, uint64_t address);

/* An object, and what its record says. */
struct gh_view {
	uint32_t object;
	uint64_t address; /* of the value in it: past its header */
	uint64_t size;    /* of the object, in bytes */
	uint64_t header;  /* bytes before the value */
	bool no_pointers; /* the collector does not look into it */
	bool in_c;        /* it is a block of C's malloc: each word of it may be a pointer */
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

/* Type NUMBER of the program's is a struct that closures may be: unnamed, with the code's address
 * first. */
bool gh_infer_is_closure_struct(const struct gh_infer *infer, uint32_t number);

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

/* Gives the bytes from ADDRESS in its object or segment. False if it is in neither. */
bool gh_infer_look_at(struct gh_infer *infer, uint64_t address, struct gh_cursor *contents);

/* Follows the pointers of all that was claimed, until nothing is left. */
void gh_infer_propagate(struct gh_infer *infer);

/* What objects of unknown types perhaps are. */

/* Starts to guess, once nothing more is found for certain. False if memory ran out. */
bool gh_infer_guess_start(struct gh_infer *infer);

/* The one type of the program's whose values, or arrays of which, have VIEW's size and pointers, if
 * it has pointers; of layout GH_INFER_NONE if there is none, or another one too. */
struct gh_finding gh_infer_guess(struct gh_infer *infer, const struct gh_view *view);

/* Where it is known what is in memory, before anything follows from it. */

/* Objects of which the dump says what they are, or their headers do. */
void gh_infer_seed_exact(struct gh_infer *infer);

/* What records of finalizers, goroutines, threads, defers and panics say. */
void gh_infer_seed_records(struct gh_infer *infer);

/* Interfaces in the data segments, by their words. */
void gh_infer_seed_segments(struct gh_infer *infer);

/* Roots in variables of the program's. */
void gh_infer_seed_variables(struct gh_infer *infer, const struct gh_variables *variables);

/* Finds what the program's code says of types. False (ERR filled) if memory ran out. */
bool gh_infer_read_code(struct gh_infer *infer, struct gh_error *err);

/* What it says of that which globals lead to. */
void gh_infer_seed_code(struct gh_infer *infer);

/* What it says of the words in frames. */
void gh_infer_seed_frames(struct gh_infer *infer);

/* The variable that ROOT is in, and how far its slot is from the variable's start; NULL if there is
 * none. BIAS is that of the dump's addresses over the program's. */
const struct gh_variable *gh_infer_seed_variable_of(const struct gh_variables *variables,
						    const struct gh_dump *dump, uint64_t bias,
						    const struct gh_root *root, uint64_t *offset);

struct gh_pcs GH_VECTOR(uint64_t);

/* The places in the code of the frames of HEAP's dump, and where the functions begin that its
 * cleanups call, less BIAS, in PCS: ascending, each once. TAB is the program's. */
void gh_infer_seed_pcs(const struct gh_heap *heap, const struct gh_pclntab *tab, uint64_t bias,
		       struct gh_pcs *pcs);

/* Interfaces in the objects whose type is not known. */
void gh_infer_seed_objects(struct gh_infer *infer);

/* Layouts: what the other rooms need no more of than typing.h has. */

/* Makes a layout of each of TYPES, which outlive them and may be NULL, with the same number, and of
 * what the runtime keeps maps and channels in. WORD is the pointer size. False if memory ran out.
 * To be freed either way. */
bool gh_layouts_make(struct gh_layouts *layouts, const struct gh_rtypes *types, uint8_t word);

void gh_layouts_free(struct gh_layouts *layouts);

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

/* Appends the name of the part of a value of layout NUMBER that the byte at OFFSET is in to OUT:
 * ".left.key", "[3].name". */
void gh_layouts_part_name(const struct gh_layouts *layouts, uint32_t number, uint64_t offset,
			  struct gh_buffer *out);

/* Has the struct types with a name refine the types of package go.shape that have the same fields.
 * LAYOUTS have types. False if memory ran out. */
bool gh_layouts_refine_shapes(struct gh_layouts *layouts);

/* Layout NUMBER is made with types of package go.shape: "map[go.shape.string]bool". What is claimed
 * to be that may be claimed to be of the type argument's types, too, and is. */
bool gh_layouts_is_shaped(const struct gh_layouts *layouts, uint32_t number);

/* The one type that refines SHAPE, a layout's number, if that is of package go.shape; GH_NO_LAYOUT
 * if it is not, or if no type or several do. Types that the program does not describe may have that
 * shape, too. */
uint32_t gh_layouts_shaped(const struct gh_layouts *layouts, uint32_t shape);

/* Variables, likewise. */

/* Reads the globals of the program PATH, and the locals that there are at the NPCS places in the
 * code PCS, which ascend; but not those of inlined calls whose code is in several pieces. LAYOUTS,
 * those of the program's descriptors, are added to. False (ERR filled) if it has no DWARF or memory
 * ran out. To be freed either way. */
bool gh_variables_find(struct gh_variables *variables, struct gh_layouts *layouts, const char *path,
		       const uint64_t *pcs, size_t npcs, struct gh_error *err);

/* The local that is at OFFSET from its frame's end, which is negative, where PC is executed; NULL
 * if there is none. */
const struct gh_variable *gh_variables_local(const struct gh_variables *variables, uint64_t pc,
					     int64_t offset);

/* The type's number of the first parameter of the function whose code begins at PC, if that was
 * asked for; GH_NO_LAYOUT if it is not known. */
uint32_t gh_variables_parameter(const struct gh_variables *variables, uint64_t pc);

void gh_variables_free(struct gh_variables *variables);

/* Values in the data segments, likewise. */

/* Takes over VALUES, and finds the pointers in the segments of HEAP's dump.
 * False if memory ran out. To be freed either way. */
bool gh_statics_make(struct gh_statics *statics, struct gh_static_list *values,
		     const struct gh_heap *heap);

/* The first of the pointers to the last place that is not past ADDRESS; NULL if there is none. */
const struct gh_static_pointer *gh_statics_pointer(const struct gh_statics *statics,
						   uint64_t address);

void gh_statics_free(struct gh_statics *statics);

#endif
