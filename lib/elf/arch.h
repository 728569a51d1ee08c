/* What differs between the machines that Go runs on. */
#ifndef GH_ELF_ARCH_H
#define GH_ELF_ARCH_H

#include <stdbool.h>
#include <stdint.h>

struct gh_arch {
	const char *goarch;   /* as GOARCH spells it */
	uint16_t machine;     /* ELF e_machine */
	uint8_t pointer_size; /* in bytes */
	uint8_t quantum;      /* pc quantum: the least length of an instruction, in bytes */
	uint8_t dwarf_sp;     /* DWARF number of the stack pointer */
	uint8_t
	    dwarf_ra; /* DWARF number of the return address column (the link register, if any) */
	bool big_endian;
	bool link_register; /* a call leaves the return address in a register, not on the stack */
};

/* The architecture of an ELF file of this e_machine, class (4 or 8 byte pointers) and byte
 * order; NULL if it is not one that Go is ported to. */
const struct gh_arch *gh_arch_find(uint16_t machine, uint8_t pointer_size, bool big_endian);

/* The architecture that GOARCH calls NAME; NULL if there is none. */
const struct gh_arch *gh_arch_by_name(const char *name);

/* How far above a frame are the arguments that its function was called with, in bytes: they are in
 * the caller's frame, above what is left free there for the return address (abi.FixedFrameSize). */
uint8_t gh_arch_above_frame(const struct gh_arch *arch);

/* An address within the call that returns to RETURN_ADDRESS, as the Go runtime looks calls up: in
 * the instruction's last bytes, or, on mips, its delay slot. 0 stays 0. */
uint64_t gh_arch_call_pc(const struct gh_arch *arch, uint64_t return_address);

#endif
