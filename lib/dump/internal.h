/* What the files that index a heap dump share. */
#ifndef GH_DUMP_INTERNAL_H
#define GH_DUMP_INTERNAL_H

#include "lib/dump/dump.h"

/* The one pass over a dump's records that makes its index. */

/* Fills the index of DUMP, whose format and params are known, from the records at the offset FIRST
 * on. False if memory ran out. */
bool gh_dump_index(struct gh_dump *dump, uint64_t first);

/* Reads the object records of a dump, which are most of it, for the pass that makes its index. */

/* Adds the objects from CUR on, up to another record, to DUMP's index. Leaves CUR before that, or
 * before an object that it did not read: gh_dump_record_read goes on with either. False if memory
 * ran out. */
bool gh_objects_read(struct gh_dump *dump, struct gh_cursor *cur);

#endif
