/* What goheap.gdb writes of frames and registers, for `goheap frame' and `goheap returned'. */
#ifndef GH_PLUGIN_GDB_SESSION_FRAME_H
#define GH_PLUGIN_GDB_SESSION_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/value/value.h"

/* What finish has ended: the pc in the function and, where that returned, SP and the registers that
 * pass results on amd64, RAX to R11 and XMM0 to XMM14. */
#define GH_SESSION_RETURNED "returned"

/* The same of a frame: its pc and SP; and of the innermost the registers. And what `info frame'
 * says of it. */
#define GH_SESSION_FRAME_REGISTERS "frame.registers"
#define GH_SESSION_FRAME           "frame"

#define GH_SESSION_INTEGERS 9
#define GH_SESSION_FLOATS   15

struct gh_session_registers {
	uint64_t pc;
	uint64_t sp;
	bool all; /* the others are known */
	uint64_t integers[GH_SESSION_INTEGERS];
	uint64_t floats[GH_SESSION_FLOATS];
};

/* Reads the file NAME of the session's DIRECTORY; pc and SP have WORD bytes. False if these are not
 * there. */
bool gh_session_registers_read(struct gh_session_registers *registers, const char *directory,
			       const char *name, unsigned word);

/* Puts those that pass arguments and results into DWARF's order; the others are 0. */
void gh_session_registers_order(const struct gh_session_registers *registers,
				uint64_t to[GH_VALUE_REGISTERS]);

struct gh_session_frame {
	unsigned level;       /* as GDB counts */
	unsigned caller;      /* of an inlined call, the frame that it is in; else 0 */
	const char *function; /* in TEXT, as the next; NULL if GDB does not know it */
	const char *place;    /* file and line; NULL if it does not know that */
	char *text;           /* owned */
};

/* Fills FRAME with what GDB has written of one, that is at LEVEL, and REGISTERS, which it points
 * to. False if that is not there. */
bool gh_session_value_frame(struct gh_value_frame *frame, uint64_t registers[GH_VALUE_REGISTERS],
			    const char *directory, unsigned level, unsigned word);

/* Reads what GDB has told of a frame. False if it has not; in any case FRAME is to be freed. */
bool gh_session_frame_read(struct gh_session_frame *frame, const char *directory);
void gh_session_frame_free(struct gh_session_frame *frame);

#endif
