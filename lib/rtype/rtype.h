/* The Go runtime's own type descriptors, as the linker laid them out in the program. They are there
 * whether the program is stripped or not: reflection, type switches and the garbage collector read
 * them.
 *
 * Formats: src/internal/abi/type.go (before Go 1.21 src/runtime/type.go and src/reflect/type.go)
 * and src/runtime/symtab.go of each release from 1.7, whose names and types are offsets into one
 * range; and src/runtime/type.h and its kind of those from 1.2, whose names and types are
 * addresses.
 *
 * - scan.c, rtype.c: finds the program's type descriptors, and reads them; module_types.c: those
 *   of plugins, and of libraries that a program shares with others;
 * - encoding.c, old.c: how the releases lay them out; old.c those of Go 1.2 to 1.6;
 * - runtime_structs.c: the fields of the runtime's structs that programs have no descriptors of;
 * - name.c, lookup.c, cycles.c: names of types, types by name, and types that are made of
 *   themselves;
 * - method.c, itab.c, signature.c: methods of types, and what those take. */
#ifndef GH_RTYPE_RTYPE_H
#define GH_RTYPE_RTYPE_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"

/* reflect.Kind. */
enum gh_kind {
	GH_KIND_BOOL = 1,
	GH_KIND_INT,
	GH_KIND_INT8,
	GH_KIND_INT16,
	GH_KIND_INT32,
	GH_KIND_INT64,
	GH_KIND_UINT,
	GH_KIND_UINT8,
	GH_KIND_UINT16,
	GH_KIND_UINT32,
	GH_KIND_UINT64,
	GH_KIND_UINTPTR,
	GH_KIND_FLOAT32,
	GH_KIND_FLOAT64,
	GH_KIND_COMPLEX64,
	GH_KIND_COMPLEX128,
	GH_KIND_ARRAY,
	GH_KIND_CHAN,
	GH_KIND_FUNC,
	GH_KIND_INTERFACE,
	GH_KIND_MAP,
	GH_KIND_POINTER,
	GH_KIND_SLICE,
	GH_KIND_STRING,
	GH_KIND_STRUCT,
	GH_KIND_UNSAFE_POINTER,
	GH_KINDS
};

/* No type: the number of none. */
#define GH_NO_RTYPE UINT32_MAX

/* Text in the image, without control characters and not ended by a NUL. */
struct gh_rtype_text {
	const char *start; /* not owned */
	uint32_t length;   /* in bytes */
};

/* TEXT is EXPECTED, all of it. */
bool gh_rtype_text_is(struct gh_rtype_text text, const char *expected);

/* TEXT begins with PREFIX. */
bool gh_rtype_text_starts(struct gh_rtype_text text, const char *prefix);

/* A type. */
struct gh_rtype {
	uint64_t
	    address;   /* of its descriptor; of another module's: as if it was in the program's */
	uint64_t size; /* of a value, in bytes */
	uint64_t pointers; /* of a value, bytes up to its last pointer (to Go 1.4: all of it); 0: it
			      has none */
	struct gh_rtype_text text; /* as reflect.Type.String gives it */
	uint32_t nparts;           /* fields of a struct, methods of an interface, parameters and
				      results of a function that can be read; else 0 */
	uint16_t module;           /* that describes it: place in gh_rtypes.modules */
	uint8_t kind;              /* enum gh_kind */
	uint8_t align;             /* of a value, in bytes */
	bool named;                /* declared with a name, or predeclared */
	bool uncommon;             /* has a record of its package and methods */
	bool direct;               /* an interface's data word is the value, not a pointer to it */
};

/* Another descriptor of a type. */
struct gh_rtype_copy {
	uint64_t address; /* as in struct gh_rtype */
	uint32_t type;    /* the type's number */
};

struct gh_rtypes {
	const struct gh_pclntab *tab; /* of the program; not owned; outlives the types */
	struct gh_module *modules;    /* the program's, and those with its runtime; their biases are
					 of the program's addresses over theirs; owned */
	size_t nmodules;              /* of them, at least one */
	struct gh_rtype_copy *copies; /* by address; owned */
	size_t ncopies;               /* of them; 0 if there is one module */
	struct gh_rtype *items;       /* by address; owned */
	uint32_t count;               /* types */
	uint64_t start;               /* address that none of them is before */
	const struct gh_old_rtype_form *old; /* of the descriptors of Go 1.2 to 1.6; else NULL */
	bool varint_names; /* lengths of names are varints (Go 1.17), not two bytes */
	bool shifted;      /* offsets of fields are doubled (Go 1.9 to 1.18) */
	bool swiss_maps;   /* maps are Swiss tables (Go 1.24) */
	int minor;         /* of the Go release, as the program says: see gh_go_minor */
};

/* Finds every type descriptor of TAB's program: what in the moduledata's range of types has the
 * form of one; before Go 1.7, what in the segment of the pclntab has. So those are found, too, that
 * only code refers to. There are none if the moduledata of Go 1.7 or later was not found, or before
 * Go 1.2. Time and memory are bounded by the file's size; no struct
 * or array contains itself. False (ERR filled) if memory ran out. To be freed with gh_rtypes_free.
 */
bool gh_rtypes_find(struct gh_rtypes *types, const struct gh_pclntab *tab, struct gh_error *err);

/* The same of a program and of those of its other modules, NOTHERS OTHERS, that have its runtime:
 * an address of theirs counts as that which is as far from the program's in the process. A type
 * that several describe is one, that of the first. */
bool gh_rtypes_find_all(struct gh_rtypes *types, const struct gh_module *program,
			const struct gh_module *others, size_t nothers, struct gh_error *err);

void gh_rtypes_free(struct gh_rtypes *types);

/* The number of the type whose descriptor is at ADDRESS, or GH_NO_RTYPE. */
uint32_t gh_rtypes_at(const struct gh_rtypes *types, uint64_t address);

/* The number of the first struct type from number FROM on that is called NAME; GH_NO_RTYPE if there
 * is none. Packages of one name, such as runtime, have types of one name. */
uint32_t gh_rtypes_struct(const struct gh_rtypes *types, const char *name, uint32_t from);

/* The number of the type that Go code calls NAME, with packages' names, or with import paths for
 * all: "map[string]*main.User". GH_NO_RTYPE (ERR, which may be NULL, filled) if there is none, or
 * several. */
uint32_t gh_rtypes_named(const struct gh_rtypes *types, const char *name, struct gh_error *err);

/* TYPES are of a release before Go 1.9. */
bool gh_rtypes_before_1_9(const struct gh_rtypes *types);

/* N of Go 1.N, the release that built the program of TYPES. */
int gh_rtypes_release(const struct gh_rtypes *types);

/* What Go calls KIND: "struct", "ptr", ... */
const char *gh_kind_name(enum gh_kind kind);

/* The kind of which that is NAME; 0 if there is none. */
enum gh_kind gh_kind_named(const char *name);

/* The size in bytes of every type of KIND, with pointers of WORD bytes; 0 if they differ. */
unsigned gh_kind_size(enum gh_kind kind, unsigned word);

/* Structs of the Go runtime's, of which programs need not have descriptors (of some, those have:
 * lib/typing/layout_runtime.c): what its queues, maps and interfaces are made of. */

/* A field, in some releases. */
struct gh_runtime_member {
	const char *name; /* NULL where a list ends before it is full */
	const char *type; /* a basic type or a struct of gh_runtime_structs; "*" and a struct; "$",
			     a pointer that is for the DWARF to choose, or "$" and a struct of such;
			     before it "[N]" if it is an array */
	uint8_t since;    /* the first minor release of Go 1 that has it; 0 for any */
	uint8_t before;   /* the first that does not; 0 if the newest has */
};

/* The most fields in a list, and the most structs, with the last, which has no name. */
#define GH_MAX_RUNTIME_MEMBERS 20
#define GH_MAX_RUNTIME_STRUCTS 32

struct gh_runtime_struct {
	const char *name; /* with its package; where it is generic in DWARF, without arguments */
	/* In order; none: only its name is known. */
	struct gh_runtime_member members[GH_MAX_RUNTIME_MEMBERS];
};

/* The structs, by number. */
extern const struct gh_runtime_struct gh_runtime_structs[GH_MAX_RUNTIME_STRUCTS];

/* Numbers of some. */
enum {
	GH_RUNTIME_EFACE,
	GH_RUNTIME_IFACE,
	GH_RUNTIME_HASH,
	GH_RUNTIME_MAP,
	GH_RUNTIME_TABLE,
	GH_RUNTIME_GROUPS,
	GH_RUNTIME_HCHAN,
	GH_RUNTIME_WAITQ,
	GH_RUNTIME_SUDOG,
	GH_RUNTIME_NAMED, /* the first of those that are not generic */
};

/* The number of the struct called NAME; that of the last if there is none. */
uint32_t gh_runtime_struct(const char *name);

/* A field, in one release. */
struct gh_runtime_field {
	const char *name;
	const char *type; /* as gh_runtime_member has it */
	uint32_t offset;  /* in bytes, as size */
	uint32_t size;
};

/* A walk over the fields that a struct has in a release. The fields are private but the
 * size. */
struct gh_runtime_walk {
	const struct gh_runtime_member *next;
	const struct gh_runtime_member *end;
	unsigned word;
	int release;
	uint32_t size; /* up to where the walk is, in bytes; at its end, of the whole */
	uint32_t align;
};

/* Starts one, of Go 1.RELEASE with pointers of WORD bytes. */
struct gh_runtime_walk gh_runtime_walk(uint32_t number, unsigned word, int release);

/* Gives the next field. False at the end. */
bool gh_runtime_next(struct gh_runtime_walk *walk, struct gh_runtime_field *field);

/* The size in bytes of the struct. */
uint32_t gh_runtime_size(uint32_t number, unsigned word, int release);

/* The offset of the field NAME in bytes; 0 if the release does not have it. */
uint32_t gh_runtime_offset(uint32_t number, const char *name, unsigned word, int release);

/* The size in bytes of the descriptor of TYPE, up to what is stored out of line. */
uint64_t gh_rtype_descriptor_size(const struct gh_rtypes *types, const struct gh_rtype *type);

/* The import path of a type with a name: "" if it is predeclared, or not known. */
struct gh_rtype_text gh_rtype_package(const struct gh_rtypes *types, const struct gh_rtype *type);

/* The number of the element's type of an array, channel, map, pointer or slice; else GH_NO_RTYPE,
 * which it also is where the descriptor points to none. */
uint32_t gh_rtype_elem(const struct gh_rtypes *types, const struct gh_rtype *type);

/* The same of a map's key, and of the struct that holds its entries: the bucket, or the group. */
uint32_t gh_rtype_key(const struct gh_rtypes *types, const struct gh_rtype *type);
uint32_t gh_rtype_group(const struct gh_rtypes *types, const struct gh_rtype *type);

/* And of the struct that is a map's header; only before Go 1.9. */
uint32_t gh_rtype_map_header(const struct gh_rtypes *types, const struct gh_rtype *type);

/* The number of elements of an array; 0 if the array's size is not that of so many. */
uint64_t gh_rtype_length(const struct gh_rtypes *types, const struct gh_rtype *type);

/* The directions of a channel. */
#define GH_CHAN_RECV 1
#define GH_CHAN_SEND 2
unsigned gh_rtype_direction(const struct gh_rtypes *types, const struct gh_rtype *type);

/* A part of a struct, an interface or a function. */
struct gh_rtype_part {
	struct gh_rtype_text name; /* of a field or a method */
	struct gh_rtype_text tag;  /* of a field; empty if it has none */
	uint32_t type;             /* its type's number, or GH_NO_RTYPE */
	uint64_t offset;           /* of a field, in bytes */
	bool exported;             /* the field or method is */
	bool embedded;             /* the field is */
};

/* Reads part INDEX, which is less than nparts. False if it cannot be, or is a field that lies
 * outside its struct. */
bool gh_rtype_part(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		   struct gh_rtype_part *part);

/* The number of parameters of a function: the parts after those are its results. VARIADIC is
 * set to whether the last parameter is a "...". */
uint32_t gh_rtype_parameters(const struct gh_rtypes *types, const struct gh_rtype *type,
			     bool *variadic);

/* The type of a part of TYPE, number PART, if whoever follows those comes to an end; else
 * GH_NO_RTYPE. An unnamed type's string has the strings of its parts in it: it is longer, and not
 * longer than can be followed. */
uint32_t gh_rtype_shorter(const struct gh_rtypes *types, const struct gh_rtype *type,
			  uint32_t part);

/* What an interface's first word points to: the table of a type's methods for an interface. */
struct gh_itab {
	uint64_t address;
	uint64_t size;      /* in bytes; up to 4 more than it has on 32-bit machines */
	uint32_t interface; /* types by number */
	uint32_t type;
	uint16_t module; /* that has it */
};

/* A walk over the itabs of all modules. Zero it before the first. The fields are private. */
struct gh_itab_walk {
	size_t module; /* whose they are */
	uint64_t link; /* the next of the pointers to them */
	uint64_t done; /* bytes of those without */
};

/* Gives the next one. False if there are no more. */
bool gh_itabs_next(struct gh_itab_walk *walk, const struct gh_rtypes *types, struct gh_itab *itab);

/* What a method takes, as far as the descriptors tell. */
struct gh_signature {
	uint64_t entry;    /* of the method */
	uint32_t receiver; /* its type's number; GH_NO_RTYPE: not told */
	uint32_t function; /* the same of the function's type, without the receiver */
};

struct gh_signatures {
	struct gh_signature *items; /* by entry; owned */
	size_t count;
};

/* Finds the signatures of the methods of TYPES' program: by the methods of its types, by its itabs,
 * and the receivers by the functions' names. What these do not agree on is not told. Memory is
 * bounded by the file's size. False (ERR filled) if memory ran out. To be freed with
 * gh_signatures_free. */
bool gh_signatures_find(struct gh_signatures *signatures, const struct gh_rtypes *types,
			struct gh_error *err);

/* That of the method at ENTRY; NULL if there is none. */
const struct gh_signature *gh_signature_at(const struct gh_signatures *signatures, uint64_t entry);

void gh_signatures_free(struct gh_signatures *signatures);

/* Appends the name of type NUMBER to OUT, as the linker spells it in symbols and in DWARF, with no
 * NUL: as its string, but with import paths in the
 * place of packages' names, also before the unexported fields of unnamed structs. So two types of
 * one name are told apart. It is no longer than a small multiple of the string; if it would be, it
 * is the string itself. Format: types.Type.LinkString in src/cmd/compile/internal/types/fmt.go. */
void gh_rtype_name(struct gh_buffer *out, const struct gh_rtypes *types, uint32_t number);

#endif
