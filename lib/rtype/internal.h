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

/* Size of the fields that all descriptors have, in bytes. */
unsigned gh_rtype_base_size(const struct gh_rtypes *types);

/* Reads a word. */
uint64_t gh_rtype_word(const struct gh_rtypes *types, struct gh_cursor *cur);

/* Reads the name at ADDRESS. False if there is none. */
bool gh_rtype_read_name(const struct gh_rtypes *types, uint64_t address,
			struct gh_rtype_encoded_name *name);

/* Whether OFFSET is of something in the range of types. */
bool gh_rtype_is_offset(const struct gh_rtypes *types, uint64_t offset);

/* Reads every type in the range of types, that is whatever there has the form of a descriptor, with
 * names as types->varint_names says, into types->items, but for their parts. There are no more
 * bytes of text than the image has. False, and none, if memory ran out. */
bool gh_rtypes_scan(struct gh_rtypes *types);

/* Takes the parts away from each struct that contains itself, and from those that nest deeper than
 * any compiler's output: who follows what a value contains then comes to an end. The same with the
 * elements of arrays: such an array becomes a struct with no parts. False if memory ran out. */
bool gh_rtypes_break_cycles(struct gh_rtypes *types);

#endif
