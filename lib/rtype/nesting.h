/* Types that contain others by value, or are made of them. */
#ifndef GH_RTYPE_NESTING_H
#define GH_RTYPE_NESTING_H

#include "lib/rtype/rtype.h"

/* Takes the parts away from each struct that contains itself, and from those that nest deeper than
 * any compiler's output: who follows what a value contains then comes to an end. The same with the
 * elements of arrays: such an array becomes a struct with no parts. False if memory ran out. */
bool gh_rtypes_break_cycles(struct gh_rtypes *types);

/* The type of a part of TYPE, number PART, if whoever follows those comes to an end; else
 * GH_NO_RTYPE. An unnamed type's string has the strings of its parts in it: it is longer, and not
 * longer than can be followed. */
uint32_t gh_rtype_shorter(const struct gh_rtypes *types, const struct gh_rtype *type,
			  uint32_t part);

#endif
