/* The tails of spans, which a dump lists as objects.
 *
 * From Go 1.22 on, spans of small objects end in a bitmap of their pointers, and from 1.26 on in
 * their mark bits (initSpan in src/runtime/mheap.go). The dumper (dumpobjs in heapdump.go) takes
 * the span to be full of objects up to its end, and never takes these last ones to be free: of a
 * heap of small objects that is more than 1 percent. */
#ifndef GH_HEAP_SPAN_TAIL_H
#define GH_HEAP_SPAN_TAIL_H

#include "lib/dump/dump.h"

/* A walk over the objects of a dump by address. */
struct gh_span_tails {
	const struct gh_dump *dump;
	uint64_t max_size; /* of objects in such spans, in bytes; 0 if the dump has none */
	uint64_t bitmap;   /* size of the bitmap in spans of objects with pointers, in bytes */
	uint64_t marks;    /* size of the mark bits, in bytes; 0 for none */
	uint64_t span;     /* number of the span that the object before is in */
	bool pointerful;   /* an object before, in that span, has pointers */
};

/* Starts a walk over the objects of DUMP. */
struct gh_span_tails gh_span_tails_start(const struct gh_dump *dump);

/* OBJECT, which is the next by address, is none. */
bool gh_span_tails_is(struct gh_span_tails *span_tails, const struct gh_extent *object);

#endif
