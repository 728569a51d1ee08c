/* The slots of a heap dump's frames that hold variables, which are the same in all frames at one
 * pc: function, size, and the slots that their fieldlists tell of. */
#ifndef GH_DUMP_FRAME_SLOTS_H
#define GH_DUMP_FRAME_SLOTS_H

#include "lib/dump/dump.h"

/* A variable of a frame. */
struct gh_slot {
	uint64_t offset; /* from the frame's sp, in bytes */
	enum gh_field_kind kind;
	size_t type; /* number of the type of what its pointer points to (a slice's array, an
			interface's data); GH_DUMP_NONE if that is unknown, or is not always the
			same */
};

/* Where in the code frames are. */
struct gh_site {
	uint64_t address;              /* of the bytes that debuggers look such frames up by */
	uint64_t end;                  /* one past them */
	uint64_t entry;                /* address of the function */
	uint64_t size;                 /* of the frame, from sp to its caller's, in bytes */
	struct gh_dump_slice function; /* its name */
	bool last;                     /* these frames have no caller */
	size_t first;                  /* place of its first slot */
	size_t count;                  /* slots */
};

struct gh_slots {
	const struct gh_dump *dump; /* not owned */
	const struct gh_arch *arch; /* the dump's */
	uint64_t bias;              /* how far above their addresses in the program's file the
				       dumped process had things; 0 until set */
	struct gh_site *sites;      /* by address, each address once; owned */
	size_t nsites;
	struct gh_slot *slots; /* site by site, by offset; no two at one offset; owned */
	size_t nslots;
};

/* The pc at which debuggers look up TOP, a stack's first frame. A goroutine that does not run has
 * saved the address that a call returns to, which may be another line's; or, where nothing was
 * called, its function's entry, before it starts, or the end of the prologue, in
 * runtime.systemstack_switch. */
uint64_t gh_top_frame_pc(const struct gh_arch *arch, const struct gh_dump_frame *top);

/* Collects the sites of DUMP with their slots, which are what fieldlists of frames say or, in the
 * prototype, stack roots. A site that frames with several fieldlists share has the slots of all.
 * False (ERR filled) if the dump is of no machine that is known, or memory ran out. In any case
 * SLOTS is to be freed with gh_slots_free, before the dump is closed. */
bool gh_slots_find(struct gh_slots *slots, const struct gh_dump *dump, struct gh_error *err);

void gh_slots_free(struct gh_slots *slots);

#endif
