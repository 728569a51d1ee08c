/* What descriptors are made of: words, offsets and names. */
#ifndef GH_RTYPE_ENCODING_H
#define GH_RTYPE_ENCODING_H

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

#endif
