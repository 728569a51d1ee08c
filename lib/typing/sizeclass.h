/* How many bytes Go's allocator takes for an object.
 *
 * Source: src/runtime/malloc.go, mbitmap.go and sizeclasses.go (from Go 1.26
 * src/internal/runtime/gc/sizeclasses.go; to Go 1.7 msize.go, and msize.c before that). */
#ifndef GH_TYPING_SIZECLASS_H
#define GH_TYPING_SIZECLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/dump/dump.h"
#include "lib/elf/image.h"

/* Objects without pointers that are smaller than this share memory with others of their kind. */
#define GH_TINY_BLOCK 16

/* Bytes before an object that has a header: the address of its type's descriptor. */
#define GH_OBJECT_HEADER 8

struct gh_allocator {
	bool old;     /* the classes of Go 1.2 to 1.7 */
	bool has_24;  /* there is a class of 24 bytes: Go 1.16 and later */
	bool headers; /* objects with pointers and of some size have a header: Go 1.22 and later */
	bool interface_types; /* the collector follows the first word of an interface: Go 1.5
				 to 1.10 */
	uint8_t word;         /* pointer size, in bytes */
};

/* The allocator of the process that wrote DUMP: as its Go version says or, without one, that of
 * PROGRAM, which may be NULL, or its objects' sizes. */
struct gh_allocator gh_allocator_of(const struct gh_dump *dump, const struct gh_image *program);

/* The size in bytes of the memory that a value of SIZE bytes gets, its header included;
 * HAS_POINTERS says whether it has any. UINT64_MAX if there is no such object. */
uint64_t gh_allocator_size(const struct gh_allocator *allocator, uint64_t size, bool has_pointers);

/* Memory of SIZE bytes, as gh_allocator_size gives, for a value that has pointers has a header. */
bool gh_allocator_has_header(const struct gh_allocator *allocator, uint64_t size);

/* The collector finds the pointers in such memory by the type, over and over up to its end. */
bool gh_allocator_repeats(const struct gh_allocator *allocator, uint64_t size);

#endif
