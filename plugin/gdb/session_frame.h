/* What goheap.gdb writes of frames and registers, for `goheap frame' and `goheap returned'. */
#ifndef GH_PLUGIN_GDB_SESSION_FRAME_H
#define GH_PLUGIN_GDB_SESSION_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/value/value.h"

/* What finish has ended: the pc in the function and, where that returned, SP and the registers that
 * pass results: those for integers, and of 16 bytes those for floating-point numbers, in the order
 * of gh_arch.passing. */
#define GH_SESSION_RETURNED "returned"

/* The same of a frame: its pc and SP; and of the innermost the registers. And what `info frame'
 * says of it. */
#define GH_SESSION_FRAME_REGISTERS "frame.registers"
#define GH_SESSION_FRAME           "frame"

/* Words of 8 bytes of registers. */
#define GH_SESSION_REGISTERS 64

struct gh_session_registers {
	uint64_t pc;
	uint64_t sp;
	size_t count; /* of words of the others that are known */
	uint64_t words[GH_SESSION_REGISTERS];
};

/* Reads the file NAME of the session's DIRECTORY; pc and SP have WORD bytes. False if these are not
 * there. */
bool gh_session_registers_read(struct gh_session_registers *registers, const char *directory,
			       const char *name, unsigned word);

/* Puts those of ARCH that pass arguments and results into DWARF's order; the others are 0. False if
 * they are not known. */
bool gh_session_registers_order(const struct gh_session_registers *registers,
				const struct gh_arch *arch, uint64_t to[GH_VALUE_REGISTERS]);

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
			    const char *directory, unsigned level, const struct gh_arch *arch);

/* Reads what GDB has told of a frame. False if it has not; in any case FRAME is to be freed. */
bool gh_session_frame_read(struct gh_session_frame *frame, const char *directory);
void gh_session_frame_free(struct gh_session_frame *frame);

#endif
