/* A Go process, live or in a core file, with the program that it runs. */
#ifndef GH_PROCESS_PROCESS_H
#define GH_PROCESS_PROCESS_H

#include "lib/pclntab/pclntab.h"
#include "lib/process/memory.h"

/* More than any machine has in its elf_gregset_t. */
#define GH_MAX_REGISTERS 64

/* The registers of a thread of the system's. */
struct gh_registers {
	uint64_t pc;
	uint64_t sp;
	uint64_t lr; /* the link register; 0 if it is not known, or the machine has none */
	uint64_t values[GH_MAX_REGISTERS]; /* of all of them, in any order */
	unsigned count;                    /* 0 if they are not known */
};

struct gh_process {
	struct gh_process_memory memory;
	const struct gh_pclntab *tab;       /* of the program; not owned */
	int minor;                          /* of the Go release that built it: 22 for Go 1.22 */
	uint64_t bias;                      /* of the process's addresses over the program file's */
	const struct gh_registers *threads; /* not owned */
	size_t nthreads;
	bool selected; /* the first thread is the one that the debugger's user looks at */
};

/* The word at ADDRESS of PROCESS; 0 if it cannot be read. */
uint64_t gh_process_word(struct gh_process *process, uint64_t address);

/* Reads the SIZE bytes at ADDRESS of PROCESS; what its memory lacks is read from the program's
 * file, as core files leave out what is in files. False if they are in neither. */
bool gh_process_read_constant(struct gh_process *process, uint64_t address, void *to, size_t size);

/* The pointer at ADDRESS, likewise; 0 if it is in neither. */
uint64_t gh_process_constant_pointer(struct gh_process *process, uint64_t address);

#endif
