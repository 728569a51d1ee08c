/* Reads the object records of a dump, which are most of it, for the pass that makes its index. */
#ifndef GH_DUMP_OBJECTS_H
#define GH_DUMP_OBJECTS_H

#include "lib/dump/dump.h"

/* Adds the objects from CUR on, up to another record, to DUMP's index. Leaves CUR before that, or
 * before an object that it did not read: gh_dump_record_read goes on with either. False if memory
 * ran out. */
bool gh_objects_read(struct gh_dump *dump, struct gh_cursor *cur);

#endif
