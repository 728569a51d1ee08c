/* What the files of lib/rtype share: what descriptors are made of, and the steps of reading them.
 */
#ifndef GH_RTYPE_INTERNAL_H
#define GH_RTYPE_INTERNAL_H

#include "lib/rtype/rtype.h"

/* Bits of the first byte of a name. */
enum { GH_RTYPE_NAME_EXPORTED = 1, GH_RTYPE_NAME_EMBEDDED = 8 };

/* A name, as the runtime's type name reads it. */
struct gh_rtype_encoded_name {
	uint8_t flags; /* those bits, and others */
	struct gh_rtype_text text;
	struct gh_rtype_text tag; /* of a field; empty if it has none */
};

/* The longest string of a type that is believed. */
#define GH_RTYPE_MAX_TEXT 32768

/* Size of the fields that all descriptors have, in bytes. */
unsigned gh_rtype_base_size(const struct gh_rtypes *types);

/* The minor release whose descriptors TYPES are: 2 to 6. They are of those, TYPES->old is set. */
int gh_old_rtypes_release(const struct gh_rtypes *types);

/* A cursor at OFFSET in the descriptor of TYPE; one that has failed if it ends before. */
struct gh_cursor gh_rtype_inside(const struct gh_rtypes *types, const struct gh_rtype *type,
				 unsigned offset);

/* Word INDEX of those that follow the fields that all descriptors have. */
uint64_t gh_rtype_extra_word(const struct gh_rtypes *types, const struct gh_rtype *type,
			     unsigned index);

/* ADDRESS, which module MODULE has as its own, as one of the program's; 0 stays that. */
uint64_t gh_rtypes_address(const struct gh_rtypes *types, unsigned module, uint64_t address);

/* A cursor over what is at ADDRESS, one of the program's. False if no module has it. */
bool gh_rtypes_bytes(const struct gh_rtypes *types, uint64_t address, struct gh_cursor *cur);

/* Notes the modules that TYPES are to be of, as gh_rtypes_find_all says. False if memory ran out.
 */
bool gh_rtypes_open_modules(struct gh_rtypes *types, const struct gh_module *program,
			    const struct gh_module *others, size_t nothers);

/* Sorts the types of several modules. */
void gh_rtypes_sort(struct gh_rtypes *types);

/* Frees the types, but not what is noted of modules. */
void gh_rtypes_free_items(struct gh_rtypes *types);

/* Makes one of all descriptors of a type, once their parts are known. False if memory ran out. */
bool gh_rtypes_merge(struct gh_rtypes *types);

/* Reads a word. */
uint64_t gh_rtype_word(const struct gh_rtypes *types, struct gh_cursor *cur);

/* Reads the name at ADDRESS. False if there is none. */
bool gh_rtype_read_name(const struct gh_rtypes *types, uint64_t address,
			struct gh_rtype_encoded_name *name);

/* Offset of the record of a type's package and methods from the descriptor of TYPE. */
unsigned gh_rtype_uncommon_offset(const struct gh_rtypes *types, const struct gh_rtype *type);

/* Reads the name and the type of a method of TYPE's, two offsets. False if it has no name. */
bool gh_rtype_read_method(const struct gh_rtypes *types, const struct gh_rtype *type,
			  struct gh_cursor *cur, struct gh_rtype_part *part);

/* A method of a type. Format: type Method in src/internal/abi/type.go. */
struct gh_rtype_method {
	struct gh_rtype_text name;
	uint32_t type;     /* the number of its type, without the receiver; GH_NO_RTYPE: not told */
	uint64_t of_value; /* address of the function that takes a value; 0: there is none */
	uint64_t of_word;  /* the same of the one that takes an interface's data word */
};

/* How many methods TYPE has, exported or not; 0 before Go 1.7. */
uint32_t gh_rtype_methods(const struct gh_rtypes *types, const struct gh_rtype *type);

/* Reads method INDEX, which is less than that. The linker leaves out types and functions of those
 * that no interface can call. False if it cannot be read. */
bool gh_rtype_method(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		     struct gh_rtype_method *method);

/* The import path that part INDEX of an unnamed struct or interface is of, if it is not exported;
 * "" if it has none. */
struct gh_rtype_text gh_rtype_part_package(const struct gh_rtypes *types,
					   const struct gh_rtype *type, uint32_t index);

/* The address of the function for part INDEX of the interface of ITAB; 0 if it cannot be told. It
 * takes a data word. */
uint64_t gh_itab_function(const struct gh_rtypes *types, const struct gh_itab *itab,
			  uint32_t index);

/* The address, one of the program's, of what is at OFFSET in the range of types of module MODULE; 0
 * if nothing of it is. */
uint64_t gh_rtypes_at_offset(const struct gh_rtypes *types, unsigned module, uint64_t offset);

/* Types of KIND can be of these sizes and alignments, in bytes. */
bool gh_rtype_numbers_fit(const struct gh_rtypes *types, unsigned kind, uint64_t size,
			  uint8_t align, uint8_t field_align);

/* TYPE's string has no control characters, and is one of its kind if it has no name. */
bool gh_rtype_text_fits(const struct gh_rtype *type);

/* Reads every type in the range of types of module MODULE, that is whatever there has the form of a
 * descriptor, with names as types->varint_names says, and adds it to types->items, but for its
 * parts. There are no more bytes of text than the image has. False, and none, if memory ran out. */
bool gh_rtypes_scan(struct gh_rtypes *types, unsigned module);

/* The same of Go 1.2 to 1.6: reads every type in the segment of the pclntab, in the form that finds
 * the most, and notes the form. */
bool gh_old_rtypes_scan(struct gh_rtypes *types);

/* What the functions of the same names without "old" give, of those releases. */
unsigned gh_old_rtype_base_size(const struct gh_rtypes *types);
struct gh_rtype_text gh_old_rtype_package(const struct gh_rtypes *types,
					  const struct gh_rtype *type);
uint64_t gh_old_rtype_descriptor_size(const struct gh_rtypes *types, const struct gh_rtype *type);
bool gh_old_rtype_part(const struct gh_rtypes *types, const struct gh_rtype *type, uint32_t index,
		       struct gh_rtype_part *part);
struct gh_rtype_text gh_old_rtype_part_package(const struct gh_rtypes *types,
					       const struct gh_rtype *type, uint32_t index);
uint32_t gh_old_rtype_parameters(const struct gh_rtypes *types, const struct gh_rtype *type,
				 bool *variadic);

/* The number of TYPE's parts, by its descriptor; 0 if the file has not so many. */
uint64_t gh_old_rtype_count_parts(const struct gh_rtypes *types, const struct gh_rtype *type);

/* Takes the parts away from each struct that contains itself, and from those that nest deeper than
 * any compiler's output: who follows what a value contains then comes to an end. The same with the
 * elements of arrays: such an array becomes a struct with no parts. False if memory ran out. */
bool gh_rtypes_break_cycles(struct gh_rtypes *types);

#endif
