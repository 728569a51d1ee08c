/* Where runtime.mspan and the specials that hang on it have their fields, by release.
 *
 * Sources: type mspan, type special and those that start with one in src/runtime/mheap.go. */
#ifndef GH_PROCESS_SPAN_LAYOUT_H
#define GH_PROCESS_SPAN_LAYOUT_H

#include "lib/rtype/rtype.h"

/* A field of runtime.mspan, in bytes. */
struct gh_span_field {
	uint16_t offset;
	uint8_t size; /* 0 if the release has no such field */
};

/* The kinds of specials; 0 for those that the release does not have. */
struct gh_special_kinds {
	uint8_t finalizer;
	uint8_t weak_handle;
	uint8_t profile;
	uint8_t cleanup;
};

struct gh_span_layout {
	struct gh_span_field start; /* startAddr */
	struct gh_span_field npages;
	struct gh_span_field free_index; /* freeIndexForScan, or before Go 1.19 freeindex */
	struct gh_span_field nelems;
	struct gh_span_field alloc_bits;
	struct gh_span_field mark_bits; /* gcmarkBits */
	struct gh_span_field sweepgen;
	struct gh_span_field class; /* spanclass */
	struct gh_span_field state;
	struct gh_span_field elemsize;
	struct gh_span_field specials;
	struct gh_span_field large_type; /* from Go 1.22 on */
	struct gh_special_kinds kinds;
	uint8_t special_size;        /* of struct special, in bytes; what it is of follows it */
	uint8_t special_offset_size; /* of special.offset, which follows special.next, in bytes */
};

/* More than any release's runtime.mspan has up to the last field that is read. */
#define GH_SPAN_SIZE 256

/* The layout in Go 1.MINOR, the newest if MINOR is negative: what TYPES, the program's own, say of
 * runtime.mspan; else what is known of that release where pointers have 8 bytes. False if neither
 * tells. */
bool gh_span_layout_find(struct gh_span_layout *layout, const struct gh_rtypes *types, int minor);

#endif
