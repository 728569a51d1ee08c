/* C code of a process: the frames of its stacks, by its own call frame information, and the
 * functions, files and lines of addresses in it.
 *
 * - libdw.c: loads elfutils' libdw;
 * - c_code.c: the files that have the code, and walks over stacks;
 * - c_names.c: functions and lines; c_variables.c: variables.
 *
 * It is libdwfl, the part of libdw that unwinds whole stacks, and not the call frame information
 * alone: that would leave DWARF's expressions, compressed symbol tables and debug files to be done
 * here. It asks for memory and registers by callbacks, so that copies and core files of any machine
 * are unwound. */
#ifndef GH_UNWIND_UNWIND_H
#define GH_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/arch.h"
#include "lib/elf/elf.h"

/* The code of one process. */
struct gh_c_code;

/* Prepares for the code of a process on ARCH whose memory is MEMORY, both the caller's, which
 * outlive it. NULL if libdw cannot be loaded, does not know the machine, or memory ran out. To be
 * freed with gh_c_code_free. */
struct gh_c_code *gh_c_code_new(const struct gh_memory *memory, const struct gh_arch *arch);

/* The library was asked for, and cannot be loaded. */
bool gh_c_code_lacks_library(void);

/* Adds the ELF file FD, which is the callee's from now on, loaded BIAS above its own addresses.
 * NAME is what its code is said to be in, without directories. Files come before the first walk.
 * One that cannot be read, or overlaps another, is left out. */
void gh_c_code_add(struct gh_c_code *code, int fd, const char *name, uint64_t bias);

/* DWARF numbers of registers are below this. */
#define GH_C_REGISTERS 33

/* Registers, by their DWARF numbers. */
struct gh_c_registers {
	uint64_t pc;
	uint64_t values[GH_C_REGISTERS];
	uint64_t known;   /* a bit for each that is known */
	bool interrupted; /* the pc is no return address */
};

/* A frame of a stack, in C code or not. */
struct gh_c_frame {
	uint64_t pc;
	uint64_t sp;      /* 0 if it is not known */
	bool interrupted; /* the pc is no return address */
};

/* Gets each frame, callees first. False ends the walk. */
typedef bool gh_c_frame_take(void *context, const struct gh_c_frame *frame);

/* Walks over the frames of a thread that has the registers FROM, as far as the code has call frame
 * information: the last frame may be of code that has none. A stack that does not get nearer to its
 * end, or has more than a few hundred frames, ends there. */
void gh_c_code_walk(struct gh_c_code *code, const struct gh_c_registers *from,
		    gh_c_frame_take *take, void *context);

/* A function at an address, or one that was inlined there. Texts last as long as the code. */
struct gh_c_place {
	const char *function; /* NULL if it is not known */
	const char *object;   /* the file's name; NULL if the address is in none that was added */
	uint64_t offset;      /* of the address: in the function; without one in the file's own
				 addresses */
	const char *file;     /* of the source; NULL if it is not known */
	int line;
	bool inlined; /* into the next */
};

/* The most at one address. */
#define GH_C_PLACES 16

/* Finds the functions at FRAME, innermost first, and gives how many these are: at least one. */
size_t gh_c_code_places(struct gh_c_code *code, const struct gh_c_frame *frame,
			struct gh_c_place places[GH_C_PLACES]);

/* A variable of C's, by the symbols of its file, or of a debug file. */
struct gh_c_variable {
	uint64_t address;
	uint64_t size; /* in bytes */
	const char *name;
};

/* The one at ADDRESS, which is good until the next is looked for, and the name of the file that has
 * it. NULL if it is not known. */
const struct gh_c_variable *gh_c_code_variable(struct gh_c_code *code, uint64_t address,
					       const char **object);

void gh_c_code_free(struct gh_c_code *code);

#endif
