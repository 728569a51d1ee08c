/* The heap of a process: the spans that mheap_.allspans lists, and which of their elements are
 * objects.
 *
 * Sources: type mheap and type mspan in src/runtime/mheap.go, isFree in src/runtime/mbitmap.go, and
 * sweepgen's values beside type mspan. */
#ifndef GH_PROCESS_SPANS_H
#define GH_PROCESS_SPANS_H

#include "lib/process/process.h"
#include "lib/process/span_layout.h"
#include "lib/util/vector.h"

/* Of a page of the Go heap, in bytes. */
#define GH_HEAP_PAGE 8192

/* A span in use. Addresses are the process's. */
struct gh_span {
	uint64_t descriptor; /* address of its runtime.mspan */
	uint64_t start;
	uint64_t size;     /* in bytes */
	uint64_t elemsize; /* of an element, in bytes; not 0 */
	uint64_t nelems;   /* elements, which fit SIZE */
	uint64_t free_index;
	uint64_t alloc_bits; /* address of a bit for each element */
	uint64_t mark_bits;  /* the same */
	uint64_t specials;   /* address of the first special; 0 for none */
	uint64_t large_type; /* of the only element, from Go 1.22 on; else 0 */
	uint32_t sweepgen;
	uint8_t class; /* runtime.spanClass */
};

/* The lowest bit of a class: elements have no pointers. The others are the size class, 0 for spans
 * of one element. */
#define GH_SPAN_NOSCAN 1

struct gh_spans {
	struct gh_span_layout layout;
	struct GH_VECTOR(struct gh_span) list; /* by start, none overlaps another */
	uint64_t allspans;                     /* address of the variable */
	uint64_t stack_bytes;                  /* of spans that hold stacks and the like */
	uint64_t lost;     /* entries of allspans that could not be read or are no spans */
	uint32_t sweepgen; /* the heap's */
	bool inline_marks; /* small elements' mark bits are in the span: Go 1.25's Green Tea */
};

/* Finds and reads the spans of PROCESS, whose program has the TYPES. False (ERR filled) if there
 * are none, the release's are not known, or memory ran out. In any case to be freed. */
bool gh_spans_find(struct gh_spans *spans, struct gh_process *process,
		   const struct gh_rtypes *types, struct gh_error *err);

void gh_spans_free(struct gh_spans *spans);

/* Whether ADDRESS is in one of them. */
bool gh_spans_have(const struct gh_spans *spans, uint64_t address);

/* Whether elements of so many bytes have their pointers' bits at the end of the span, from Go 1.22
 * on (heapBitsInSpan). */
bool gh_span_has_heap_bits(const struct gh_process *process, uint64_t elemsize);

/* How many bytes at the end of SPAN come after those bits. */
uint64_t gh_span_after_heap_bits(const struct gh_spans *spans, const struct gh_process *process,
				 const struct gh_span *span);

/* Sets a bit in BITS, of (nelems + 7) / 8 bytes, for each element of SPAN that is an object: by
 * what is allocated, or by what was marked where the span waits to be swept. False if that is not
 * in memory: then every element is taken for an object. */
bool gh_span_objects(const struct gh_spans *spans, struct gh_process *process,
		     const struct gh_span *span, uint8_t *bits);

/* A special: something that the runtime keeps of an object. */
struct gh_special {
	uint64_t next;   /* address of the next; 0 for none */
	uint64_t offset; /* of the object, or a place in it, in its span, in bytes */
	uint8_t kind;    /* one of struct gh_special_kinds, or another */
};

/* As many specials as a span has at most, for who follows their list: an object has one of each
 * kind, but any number of cleanups. */
#define GH_SPECIALS_OF(span) (((span)->nelems + 1024) * 16)

/* Reads the special at ADDRESS. False if it is not in memory. */
bool gh_special_read(const struct gh_spans *spans, struct gh_process *process, uint64_t address,
		     struct gh_special *special);

#endif
