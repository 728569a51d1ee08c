/* Reads all there is to read in a heap dump. */
#ifndef TESTS_UNIT_DUMPWALK_H
#define TESTS_UNIT_DUMPWALK_H

#include "lib/dump/dump.h"

/* Goes through every record, field, frame and region of DUMP, and aborts if what it finds is not as
 * the headers promise, or is more than the dump's size allows. */
void dump_walk(const struct gh_dump *dump);

#endif
