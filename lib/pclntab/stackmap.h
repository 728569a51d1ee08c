/* Which words of a function's frame hold pointers while it calls: FUNCDATA_LocalsPointerMaps and
 * FUNCDATA_ArgsPointerMaps, of which PCDATA_StackMapIndex tells one for each pc (Go 1.13 and
 * later). Format: struct stackmap in src/runtime/symtab.go; where the words are: getStackMap in
 * src/runtime/stkframe.go (stack.go up to Go 1.19), and the frame's layout in traceback.go. */
#ifndef GH_PCLNTAB_STACKMAP_H
#define GH_PCLNTAB_STACKMAP_H

#include "lib/pclntab/pcvalue.h"

/* The maps of a function's locals, or of its arguments. */
struct gh_bitmaps {
	struct gh_cursor bytes; /* of the maps, one after the other */
	uint32_t count;         /* maps */
	uint32_t nbits;         /* words that each map tells of; 0: there are none */
};

/* The pointer maps of a function. The fields are private. */
struct gh_stackmaps {
	uint8_t word;             /* bytes of one */
	uint8_t above_locals;     /* bytes between the locals and the frame's end */
	uint8_t below_args;       /* bytes between the frame's end and the arguments */
	struct gh_bitmaps locals; /* up to the end of the frame, but for those bytes */
	struct gh_bitmaps args;
};

/* A walk over the words of one place in the code. The fields are private. */
struct gh_live_words {
	const struct gh_stackmaps *maps;
	uint32_t index; /* of the maps */
	int32_t delta;  /* from sp to the frame's end, in bytes */
	bool in_args;
	uint32_t bit; /* the next to be looked at */
};

/* Whether the functions of TAB say where their pointers are in a way that is known. */
bool gh_stackmaps_told(const struct gh_pclntab *tab);

/* Reads where the maps of FUNC are; those that cannot be read are left out. Returns whether
 * there are any with words in them. */
bool gh_stackmaps_find(struct gh_stackmaps *maps, const struct gh_pclntab *tab,
		       const struct gh_func *func);

/* Reads where the maps of FUNC's arguments are, however large it says that those are. None, if they
 * cannot be read. */
void gh_arg_maps_find(struct gh_bitmaps *maps, const struct gh_pclntab *tab,
		      const struct gh_func *func);

/* Whether map INDEX says that word number WORD holds a pointer. */
bool gh_bitmaps_have(const struct gh_bitmaps *maps, uint32_t index, uint32_t word);

/* The offset in pctab of the table that gives for each pc the index of the maps that hold there; -1
 * stands for 0. A frame that is calling has the index of the call's last byte. 0 if FUNC has no
 * such table. */
uint32_t gh_stackmaps_table(const struct gh_pclntab *tab, const struct gh_func *func);

/* The bytes that the maps of one index take. */
size_t gh_stackmaps_size(const struct gh_stackmaps *maps);

/* Starts a walk over the words that hold pointers where the table says INDEX, and the stack delta
 * is DELTA. */
void gh_live_words_start(struct gh_live_words *walk, const struct gh_stackmaps *maps, int32_t index,
			 int32_t delta);

/* Gives the offset of the next word from sp, in bytes: first the locals', then those of the
 * arguments, which are beyond the frame. Ascending. False if there are no more. */
bool gh_live_words_next(struct gh_live_words *walk, uint32_t *offset);

#endif
