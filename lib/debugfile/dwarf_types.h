/* The program's types as DWARF: an entry for each descriptor, in a unit of their own. */
#ifndef GH_DEBUGFILE_DWARF_TYPES_H
#define GH_DEBUGFILE_DWARF_TYPES_H

#include "lib/debugfile/dwarf_type_entries.h"

/* Adds a unit with TYPES to INFO, and the variables of dwarf_goroutine.h, for which RUNTIME is what
 * is known of the runtime. Their names are NAMES, in STRINGS; names that only DWARF has are
 * added to it. With no types nothing is added. False (ERR filled) if memory ran out or the section
 * would not fit the 32-bit DWARF format. */
bool gh_dwarf_types_add(struct gh_info *info, const struct gh_rtypes *types,
			const struct gh_typenames *names, struct gh_strings *strings,
			const struct gh_runtime *runtime, struct gh_error *err);

/* N of Go 1.N, the release that built the program of TYPES. */
int gh_rtypes_release(const struct gh_rtypes *types);

/* The names of the types and of the itabs, in the string table that the symbols and the DWARF
 * share. */

/* Something in the program's data that has a name. */
struct gh_data_symbol {
	uint64_t address;
	uint64_t size; /* in bytes */
	uint32_t name; /* offset in the string table */
};

/* Bytes of a type's symbol's name before the type's: "type:", in Go before 1.20 "type.". */
#define GH_TYPE_PREFIX 5

struct gh_typenames {
	uint32_t *offsets;        /* of each type's symbol's name in the string table, by number; 0
				     if it has none; owned */
	struct gh_buffer symbols; /* struct gh_data_symbol of the types and the itabs; owned */
};

/* Names TYPES and the itabs of their program in STRINGS. An itab's symbol is "go:itab.*T,I"
 * ("go.itab.*T,I" before 1.20), T and I being the types. False (ERR filled) if memory ran out. To
 * be freed with gh_typenames_free in any case. */
bool gh_typenames_make(struct gh_typenames *names, const struct gh_rtypes *types,
		       struct gh_strings *strings, struct gh_error *err);

/* Appends to SYMBOLS, struct gh_data_symbol, one for each itab in the dump of SLOTS, which may be
 * NULL, that lies outside of IMAGE, with a section of its own in ELF: "itab:*main.Node". Those that
 * are too many are left out. False (ERR filled) if memory ran out. */
bool gh_dump_itabs_add(struct gh_buffer *symbols, struct gh_elf *elf, struct gh_strings *strings,
		       const struct gh_image *image, const struct gh_slots *slots,
		       struct gh_error *err);

void gh_typenames_free(struct gh_typenames *names);

/* Types of the runtime's own that other types are made with, and that no descriptor describes: the
 * header of a map or a channel, the two words of an interface. */

/* A field. */
struct gh_runtime_member {
	const char *name; /* NULL ends a list */
	const char *type; /* a basic type, a struct of the list below, "*" and such a struct, or
			     "$N" for argument N; before it "[N]" if it is an array */
	uint8_t since;    /* the first minor release of Go 1 that has it; 0 for any */
	uint8_t before;   /* the first that does not; 0 if the newest has */
};

struct gh_runtime_type {
	const char *name; /* with its package; where it has arguments, less them */
	struct gh_runtime_member members[20]; /* in order; none: only declared */
};

/* The structs, by number; the last has no name. */
extern const struct gh_runtime_type gh_runtime_types[];

/* Numbers of those that are asked for by it. */
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
	GH_RUNTIME_NAMED, /* the first that has no arguments and is asked for by name */
};

/* The entries of the runtime's own types, which have no descriptors, by what gh_runtime_types says.
 */

/* The entry of the runtime's type called NAME, whose number in gh_runtime_types goes to *INDEX;
 * GH_NO_ENTRY if it is not listed. */
gh_entry gh_type_runtime(struct gh_type_unit *unit, const char *name, unsigned *index);

/* A field that is the pointer TYPE. */
struct gh_type_value gh_type_pointer_value(const struct gh_type_unit *unit, gh_entry type);

/* Writes runtime type INDEX as entry NUMBER called NAME, with ARGUMENTS for the types "$N". Gives a
 * field of it. */
struct gh_type_value gh_type_add_runtime(struct gh_type_unit *unit, gh_entry number, unsigned index,
					 uint32_t name, const struct gh_type_value *arguments);

/* Writes the runtime's types that were asked for by name, and by them. */
void gh_type_add_runtimes(struct gh_type_unit *unit);

/* Writes the predeclared types that were asked for and have no descriptor. */
void gh_type_add_basics(struct gh_type_unit *unit);

/* The structs behind channels and maps, one for each that is made of other types. */

/* The pointer to hchan<ELEM>, written if it is not yet; no entry may be begun. Types are given by
 * number. */
gh_entry gh_type_hchan(struct gh_type_unit *unit, uint32_t elem);

/* The same of the pointer to hash<KEY,ELEM>, or, where GROUP is that of a Swiss map, to
 * map<KEY,ELEM>. GROUP is the struct that has the entries. */
gh_entry gh_type_map(struct gh_type_unit *unit, uint32_t key, uint32_t elem, uint32_t group);

#endif
