/* The search for type descriptors: what in the range of types has the form of one. */
#ifndef GH_RTYPE_SCAN_H
#define GH_RTYPE_SCAN_H

#include "lib/rtype/rtype.h"

/* Reads every type in the range, with names as types->varint_names says, into types->items, but for
 * their parts. There are no more bytes of text than the image has. False, and none, if memory ran
 * out. */
bool gh_rtypes_scan(struct gh_rtypes *types);

#endif
