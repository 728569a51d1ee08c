/* Registers and memory as a JIT reader is given them. */
#ifndef GH_PLUGIN_GDB_REGISTERS_H
#define GH_PLUGIN_GDB_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

struct gdb_unwind_callbacks;

/* The size and order of the target's words. */
struct gh_word_format {
	uint8_t size; /* in bytes: 4 or 8 */
	bool big_endian;
};

/* Number of WORDS.size bytes at BYTES. */
uint64_t gh_word(const unsigned char *bytes, struct gh_word_format words);

/* The register with this DWARF number. False if it is unknown, or of another size than WORDS': GDB
 * has another machine's program. GDB aborts where it is asked for a register that the machine does
 * not have. */
bool gh_register_get(struct gdb_unwind_callbacks *callbacks, int dwarf_number,
		     struct gh_word_format words, uint64_t *value);

/* Tells GDB that the register has VALUE in the caller. */
void gh_register_set(struct gdb_unwind_callbacks *callbacks, int dwarf_number,
		     struct gh_word_format words, uint64_t value);

/* Reads the word at ADDRESS. False if that cannot be read. */
bool gh_word_read(struct gdb_unwind_callbacks *callbacks, uint64_t address, struct gh_word_format words,
		  uint64_t *value);

#endif
