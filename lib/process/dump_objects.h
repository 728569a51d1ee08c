/* The objects of a process's heap as records of a heap dump. */
#ifndef GH_PROCESS_DUMP_OBJECTS_H
#define GH_PROCESS_DUMP_OBJECTS_H

#include "lib/process/dump_stream.h"
#include "lib/process/span_pointers.h"

struct gh_dump_totals {
	uint64_t objects;
	uint64_t bytes;   /* of their elements */
	uint64_t in_use;  /* bytes of the spans */
	uint64_t skipped; /* objects that were left out: there would be more than memory */
};

/* Adds a record for each object, span by span: address, contents, and fields of the words that
 * POINTERS tells. */
void gh_dump_add_objects(struct gh_dump_stream *stream, struct gh_span_pointers *pointers,
			 struct gh_dump_totals *totals);

#endif
