/* The memory of a tiny Go process made byte by byte, which runs the synthetic program. It shares no
 * code with the reader. */
#ifndef TESTS_UNIT_PROCESSMAKER_H
#define TESTS_UNIT_PROCESSMAKER_H

#include "lib/process/process.h"
#include "tests/unit/synthetic.h"

enum { PROCESS_GOROUTINES = 3, PROCESS_FRAMES = 3 };

#define PROCESS_ADDRESS 0x10000000 /* of the memory */
#define PROCESS_SIZE    0x1000     /* of it, in bytes */
#define PROCESS_BSS     0x40       /* of the variables, at its start; runtime.allgs is in there */
#define PROCESS_STACK   0x100      /* of a goroutine's stack, in bytes */

struct processmaker {
	struct synthetic what; /* the program */
	int minor;             /* 22 or 25, after which runtime.g is laid out */
	bool link_register;    /* of the machine */
	uint8_t *bytes;        /* the memory; owned */
	size_t size;           /* in bytes */
};

/* Where things are in the process. */
uint64_t process_list(void); /* the array that runtime.allgs points to; it may grow to 32 words */
uint64_t process_goroutine(int number);
uint64_t process_stack(int number); /* the lowest address of it */

/* Offsets in runtime.g, in bytes. */
uint64_t process_status_at(const struct processmaker *maker);
uint64_t process_syscall_sp_at(const struct processmaker *maker); /* syscallpc follows */

/* Makes the memory of maker->what, minor and link_register: goroutines of the ids 1, 2 and 3 that
 * wait, each in main.leaf, called by main.main, called by runtime.goexit, main.main having made it
 * to run main.leaf. The caller frees maker->bytes. */
void process_make(struct processmaker *maker);

/* Gives the memory SIZE bytes, those that are added being 0. */
void process_resize(struct processmaker *maker, size_t size);

/* Writes an integer of SIZE bytes at ADDRESS in the process. */
void process_put(struct processmaker *maker, uint64_t address, uint64_t value, unsigned size);

/* The same of a word. */
void process_put_word(struct processmaker *maker, uint64_t address, uint64_t value);

/* The memory, to be read; MAKER must outlive it. */
struct gh_memory process_memory(const struct processmaker *maker);

#endif
