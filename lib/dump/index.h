/* The one pass over a dump's records that makes its index. */
#ifndef GH_DUMP_INDEX_H
#define GH_DUMP_INDEX_H

#include "lib/dump/dump.h"

/* Fills the index of DUMP, whose format and params are known, from the records at the offset FIRST
 * on. False if memory ran out. */
bool gh_dump_index(struct gh_dump *dump, uint64_t first);

#endif
