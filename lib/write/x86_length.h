/* The length of x86 instructions. */
#ifndef GH_WRITE_X86_LENGTH_H
#define GH_WRITE_X86_LENGTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the instruction at CODE, which has SIZE bytes, in 64-bit or 32-bit mode; 0 if it
 * goes on after them or is none that is known. Source: the opcode maps in appendix A of volume 2 of
 * Intel's Software Developer's Manual. *OPCODE is where in CODE its opcode is, past the prefixes.
 */
size_t gh_x86_length(const uint8_t *code, size_t size, bool is_64_bit, size_t *opcode);

#endif
