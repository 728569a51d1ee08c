/* The inlined calls of a function, as DWARF nests them. DWARF 4, section 3.3.8. */
#ifndef GH_WRITE_DWARF_INLINE_H
#define GH_WRITE_DWARF_INLINE_H

#include "lib/util/numbermap.h"
#include "lib/write/dwarf_line.h"
#include "lib/write/dwarf_live.h"
#include "lib/write/strings.h"

/* No call, or no span. */
#define GH_INLINE_NONE UINT32_MAX

/* An inlined call: a record of the inline tree that code is left of. */
struct gh_inline_call {
	uint32_t origin;     /* the abstract subprogram, offset in the unit */
	struct gh_decl site; /* of the call */
	int32_t tree_index;  /* the record's number */
	uint32_t parent; /* the call that this one was inlined into; GH_INLINE_NONE: the function */
	uint32_t first_child; /* the calls that were inlined into this one, by first address */
	uint32_t last_child;
	uint32_t next;       /* the parent's next child */
	uint32_t first_span; /* its code, by address */
	uint32_t last_span;
};

/* A run of addresses. */
struct gh_inline_span {
	uint64_t start; /* an address */
	uint64_t end;   /* one past the run */
	uint32_t next;  /* the same call's */
};

/* The inlined calls of one function after the other. The fields are private. */
struct gh_inlines {
	const struct gh_pclntab *tab;
	struct gh_strings *strings;  /* .debug_str */
	struct gh_line_table *lines; /* the unit's */
	struct gh_buffer *info;      /* .debug_info */
	size_t unit;                 /* where the unit starts in it */
	struct gh_numbermap
	    origins;              /* the unit's abstract subprograms: offset in the unit, by name */
	struct gh_buffer calls;   /* of the function: struct gh_inline_call */
	struct gh_buffer spans;   /* of its calls: struct gh_inline_span */
	struct gh_buffer numbers; /* by tree_index, one more than the call's number; 0: none */
	uint32_t first_call;      /* of the function, by address; with next, the others */
	uint32_t last_call;
	size_t left; /* bytes of DWARF that may still be written */
	bool failed; /* memory ran out */
};

/* Everything given outlives INLINES. */
void gh_inlines_init(struct gh_inlines *inlines, const struct gh_pclntab *tab,
		     struct gh_strings *strings, struct gh_line_table *lines,
		     struct gh_buffer *info);

/* Starts a unit, at offset UNIT of .debug_info. */
void gh_inlines_begin_unit(struct gh_inlines *inlines, size_t unit);

/* Starts a function. */
void gh_inlines_begin(struct gh_inlines *inlines);

/* Adds the next range of the function to the calls that are on its stack, and to .debug_info the
 * abstract subprograms that the unit has not yet: no other entry may be in the making there.
 * Returns the number of the innermost call, GH_INLINE_NONE for the function's own code. A frame is
 * left out, and those inlined into it, where its name or place is unknown, where it is on the stack
 * twice, and once the calls have taken as many bytes as the image has. */
uint32_t gh_inlines_range(struct gh_inlines *inlines, const struct gh_range *range);

/* Whether the function has inlined calls. */
bool gh_inlines_any(const struct gh_inlines *inlines);

/* Writes the function's calls to .debug_info, with the blocks that LIVE has within them, as
 * children of the entry written last, the end of children left to the caller; and to RANGES,
 * .debug_ranges, the spans of those that have several. The unit's low_pc must be 0. */
void gh_inlines_write(const struct gh_inlines *inlines, const struct gh_live *live,
		      struct gh_buffer *ranges);

/* Writes the calls that are on the stack of RANGE, which was added, once more: as having the code
 * from START to before END, each in the other, as the last children of the entry that is in the
 * making. */
void gh_inlines_write_at(struct gh_inlines *inlines, const struct gh_range *range, uint64_t start,
			 uint64_t end);

/* Frees everything. Returns whether memory sufficed all along. */
bool gh_inlines_free(struct gh_inlines *inlines);

#endif
