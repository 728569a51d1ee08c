/* The session's dump.frames: for each stack frame of the heap dump that GDB has open, its caller.
 * `goheap load' writes it, and goheap.so unwinds by it. */
#ifndef GH_PLUGIN_GDB_FRAMES_H
#define GH_PLUGIN_GDB_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "lib/dump/dump.h"

/* How the file begins; the rows follow. Numbers are in this machine's order: a file is for one
 * session. */
struct gh_frames_header {
	uint64_t count;       /* of rows */
	uint64_t marker_sp;   /* of the frame that a goroutine's stack is shown below; 0 if none */
	uint8_t pointer_size; /* in bytes */
	uint8_t dwarf_sp;     /* DWARF number of the stack pointer */
	uint8_t dwarf_pc;     /* DWARF number that GDB has for the pc */
	bool big_endian;
	uint8_t dwarf_lr; /* DWARF number of the link register, by which the return address is a
			     frame's lowest word; 0 if there is none: then it is the highest */
	uint8_t zero[3];
};

/* A frame, in the addresses of the dumped process. */
struct gh_frames_row {
	uint64_t sp;
	uint64_t pc; /* as GDB has it: of a top frame, at the call */
	uint64_t caller_sp;
	uint64_t caller_pc; /* likewise: a return address, or past an interrupted instruction or a
			       function's entry */
	uint64_t return_address; /* as memory has it */
	uint64_t entry;          /* of its function; 0 if unknown */
};

/* Writes the callers of DUMP's frames to PATH: whole or not at all. A stack's last frame has none.
 * False, and ERR filled, if it cannot be written. Where GDB knows no DWARF number for the machine's
 * pc there can be no such file: then none is written, and that is no error. */
bool gh_frames_write(const struct gh_dump *dump, const char *path, struct gh_error *err);

/* The same for goroutine NUMBER alone, which has a stack, below the frame at SP and PC: a thread's
 * top frame that has nothing to do with it. False where there can be no such file, too. */
bool gh_frames_write_below(const struct gh_dump *dump, size_t number, uint64_t sp, uint64_t pc,
			   const char *path, struct gh_error *err);

/* The file, mapped. Zero it before the first use. */
struct gh_frames {
	const struct gh_frames_header *header; /* NULL if there is none */
	const struct gh_frames_row *rows;      /* by sp, then pc */
	size_t size;                           /* of the mapping, in bytes */
	struct stat file;                      /* what was mapped */
};

/* Has FRAMES be what is at PATH now. */
void gh_frames_refresh(struct gh_frames *frames, const char *path);

/* A frame at SP is there. */
bool gh_frames_has_sp(const struct gh_frames *frames, uint64_t sp);

/* The frame at SP and PC; NULL if it is not there. */
const struct gh_frames_row *gh_frames_find(const struct gh_frames *frames, uint64_t sp,
					   uint64_t pc);

void gh_frames_free(struct gh_frames *frames);

#endif
