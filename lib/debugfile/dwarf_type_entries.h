/* The unit of .debug_info that types are written into: its abbreviations, and its entries, which
 * may be referred to before they are there. DWARF 4, chapter 5, as Go's linker writes it
 * (src/cmd/link/internal/ld/dwarf.go of each release), Go's own attributes included. */
#ifndef GH_DEBUGFILE_DWARF_TYPE_ENTRIES_H
#define GH_DEBUGFILE_DWARF_TYPE_ENTRIES_H

#include "lib/debugfile/internal.h"
#include "lib/rtype/rtype.h"

struct gh_typenames;

/* Codes of the abbreviations. */
enum {
	GH_ENTRY_UNIT = 1,
	GH_ENTRY_BASE,
	GH_ENTRY_STRUCT,
	GH_ENTRY_EMPTY_STRUCT,
	GH_ENTRY_DECLARED,
	GH_ENTRY_MEMBER,
	GH_ENTRY_TYPEDEF,
	GH_ENTRY_POINTER,
	GH_ENTRY_BARE_POINTER,
	GH_ENTRY_ARRAY,
	GH_ENTRY_RANGE,
	GH_ENTRY_FUNC,
	GH_ENTRY_EMPTY_FUNC,
	GH_ENTRY_PARAMETER,
	GH_ENTRY_RESULT,
	GH_ENTRY_VARIADIC,
	GH_ENTRY_CHAN,
	GH_ENTRY_MAP,
	GH_ENTRY_INTERFACE,
	GH_ENTRY_SLICE,
	GH_ENTRY_UNSPECIFIED,
	GH_ENTRY_VARIABLE,
};

/* Numbers of entries: those of the types, and then those of entries without a descriptor. */
typedef uint32_t gh_entry;

#define GH_NO_ENTRY UINT32_MAX

/* More named runtime types than there are. */
#define GH_MAX_RUNTIME_TYPES 32

/* A pointer or an array that is to be written when the entry that needs it is complete. */
struct gh_type_late {
	gh_entry number; /* gh_type_later gives it */
	gh_entry target; /* what it points to or has elements of */
	uint32_t name;   /* in the string table */
	bool array;      /* and no pointer */
	uint64_t count;  /* elements of an array */
	uint64_t size;   /* of an array, in bytes */
};

/* What a field is of. */
struct gh_type_value {
	gh_entry type;
	uint64_t size;  /* in bytes */
	unsigned align; /* in bytes */
};

/* The unit, while it is written; the caller gives what is not owned and comes before start. */
struct gh_type_unit {
	struct gh_buffer *out; /* .debug_info; not owned, as the next three */
	const struct gh_rtypes *types;
	const struct gh_typenames *names;
	struct gh_strings *strings;
	uint8_t word;                /* pointer size, in bytes */
	int release;                 /* N of Go 1.N */
	size_t start;                /* of the unit */
	gh_entry count;              /* entries that have a number */
	size_t text_left;            /* bytes of fields' names that may still be written */
	struct gh_buffer offsets;    /* of the entries from the unit's start: uint32_t; owned */
	struct gh_buffer references; /* struct reference; owned */
	struct gh_buffer lates;      /* struct gh_type_late; owned */
	struct gh_buffer text;       /* a name that is being made; owned */
	gh_entry *pointers;          /* to each type, or GH_NO_ENTRY; owned */
	gh_entry *queues;            /* pointer to hchan<T> by T, or GH_NO_ENTRY; owned */
	gh_entry *tables; /* pointer to the map's header by its group, or GH_NO_ENTRY; owned */
	gh_entry basics[GH_KINDS];                       /* the predeclared types, or GH_NO_ENTRY */
	gh_entry runtime[GH_MAX_RUNTIME_TYPES];          /* the runtime's types, or GH_NO_ENTRY */
	gh_entry runtime_pointers[GH_MAX_RUNTIME_TYPES]; /* pointers to them, or GH_NO_ENTRY */
	gh_entry unspecified; /* what a missing type is, or GH_NO_ENTRY */
};

/* Starts the unit in INFO, in whose .debug_info unit->out is. False if memory ran out. To be freed
 * with gh_type_unit_free in any case. */
bool gh_type_unit_begin(struct gh_type_unit *unit, struct gh_info *info);

/* Ends the unit, every entry that has a number being there. False if memory ran out. */
bool gh_type_unit_end(struct gh_type_unit *unit);

void gh_type_unit_free(struct gh_type_unit *unit);

/* A number for an entry that is yet to come. */
gh_entry gh_type_new(struct gh_type_unit *unit);

/* Begins the entry NUMBER, or one without a number for GH_NO_ENTRY, by an abbreviation. */
void gh_type_begin_entry(struct gh_type_unit *unit, unsigned code, gh_entry number);

/* The same, with its name, in the string table, and its kind and its descriptor's place, which are
 * 0 if TYPE is NULL. */
void gh_type_begin(struct gh_type_unit *unit, unsigned code, gh_entry number, uint32_t name,
		   const struct gh_rtype *type);

/* Ends a list of children. */
void gh_type_end_children(struct gh_type_unit *unit);

/* Adds a reference to the entry TO. */
void gh_type_refer(struct gh_type_unit *unit, gh_entry to);

/* Adds TEXT to the string table, and gives its offset. */
uint32_t gh_type_string(struct gh_type_unit *unit, const char *text);

/* The same of the name "BASE<A,B>", A and B being types by number; "BASE<A>" if B is GH_NO_ENTRY.
 */
uint32_t gh_type_generic_name(struct gh_type_unit *unit, const char *base, uint32_t a, uint32_t b);

/* The entry of the predeclared type of KIND. */
gh_entry gh_type_basic(struct gh_type_unit *unit, enum gh_kind kind);

/* The entry of type NUMBER, or of an unspecified one for GH_NO_RTYPE. */
gh_entry gh_type_of(struct gh_type_unit *unit, uint32_t number);

/* The pointer to type NUMBER; unsafe.Pointer for GH_NO_RTYPE. */
gh_entry gh_type_pointer_to(struct gh_type_unit *unit, uint32_t number);

/* The pointer to the entry TARGET, which has no descriptor. NAME is the pointer's. */
gh_entry gh_type_pointer(struct gh_type_unit *unit, gh_entry target, uint32_t name);

/* The number that LATE, which is copied, will have. */
gh_entry gh_type_later(struct gh_type_unit *unit, const struct gh_type_late *late);

/* Writes the pointers and arrays that were asked for. */
void gh_type_add_lates(struct gh_type_unit *unit);

/* Writes whole entries, or, of a struct, a member at OFFSET, in bytes, whose name has LENGTH bytes.
 */
void gh_type_add_base(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		      const struct gh_rtype *type);
void gh_type_add_pointer(struct gh_type_unit *unit, gh_entry number, uint32_t name,
			 const struct gh_rtype *type, gh_entry target);
void gh_type_add_array(struct gh_type_unit *unit, gh_entry number, uint32_t name,
		       const struct gh_rtype *type, const struct gh_type_late *array);
void gh_type_add_member(struct gh_type_unit *unit, const char *name, size_t length, uint64_t offset,
			gh_entry type, bool embedded);

#endif
