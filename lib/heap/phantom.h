/* What a dump lists as objects and are none.
 *
 * From Go 1.22 on, spans of small objects end in a bitmap of their pointers, and from 1.26 on in
 * their mark bits (initSpan in src/runtime/mheap.go); the dumper (dumpobjs in heapdump.go) takes
 * the span to be full of objects up to its end, and these last ones never to be free. */
#ifndef GH_HEAP_PHANTOM_H
#define GH_HEAP_PHANTOM_H

#include "lib/heap/heap.h"

/* OBJECT is none: it lies where a span ends in what the runtime notes of the others, and nothing
 * refers to it. */
bool gh_heap_is_phantom(const struct gh_heap *heap, uint32_t object);

#endif
