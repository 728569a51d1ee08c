#include "lib/elf/arch.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

/* glibc has them since 2.36. */
#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif
#ifndef R_LARCH_RELATIVE
#define R_LARCH_RELATIVE 3
#define R_LARCH_64       2
#endif

/* What machines have that differ in the order of bytes alone. */
#define MIPS                                                                                       \
	.isa = GH_ISA_MIPS, .machine = EM_MIPS, .quantum = 4, .link_register = true, .pc_unit = 2, \
	.uid_size = 4, .dwarf_sp = 29, .dwarf_ra = 31, .dwarf_pc = 66, .dwarf_g = 30,              \
	.gdb_closure = "$s6"
#define MIPS_32                                                                                    \
	MIPS, .pointer_size = 4, .min_frame = 4, .injected_gap = 4,                                \
	      .gregs = {.count = 45, .pc = 40, .sp = 35, .lr = 37}
#define MIPS_64                                                                                    \
	MIPS, .letter = '0', .pointer_size = 8, .min_frame = 8, .injected_gap = 8,                 \
	      .gregs = {.count = 45, .pc = 34, .sp = 29, .lr = 31}
#define PPC64                                                                                      \
	.letter = '9', .isa = GH_ISA_PPC64, .machine = EM_PPC64, .pointer_size = 8, .quantum = 4,  \
	.link_register = true, .relative_type = R_PPC64_RELATIVE, .symbol_type = R_PPC64_ADDR64,   \
	.min_frame = 32, .injected_gap = 32, .pc_unit = 1, .uid_size = 4, .dwarf_sp = 1,           \
	.dwarf_ra = 65, .dwarf_pc = 67, .dwarf_g = 30, .gdb_closure = "$r11",                      \
	.gregs = {.count = 48, .pc = 32, .sp = 1, .lr = 36},                                       \
	.arg_registers = {{3, 8}, {14, 4}, {33, 12}}

#define NONE GH_NO_REGISTER

/* A row for each machine. Where the numbers are from:
 *
 * - pc quantum, minimal frame, alignment of the stack: src/internal/goarch/goarch_*.go;
 * - DWARF numbers, those of each machine's ABI: Dwarfregsp and Dwarfreglr in
 *   src/cmd/link/internal/<arch>/l.go, and what GDB and GCC use where Go's linker needs none;
 * - g: REGG in src/cmd/internal/obj/<arch>;
 * - how a signal handler calls a function: preparePanic and pushCall in src/runtime/signal_*.go;
 * - registers of threads: elf_gregset_t in the kernel's arch/.../include/uapi/asm/ptrace.h or
 *   asm/elf.h. */
static const struct gh_arch arches[] = {
    {
	.goarch = "386",
	.gdb_closure = "$edx",
	.letter = '8',
	.isa = GH_ISA_386,
	.machine = EM_386,
	.pointer_size = 4,
	.quantum = 1,
	.pc_unit = 1,
	.uid_size = 2,
	.dwarf_sp = 4,
	.dwarf_ra = 8,
	.dwarf_pc = 8,
	.gdb_has_dwarf_pc = true,
	.gregs = {.count = 17, .pc = 12, .sp = 15},
	.vectors_note = NT_X86_XSTATE,
	.signal_frame = {.info = 12,
			 .pc = 216,
			 .sp = 188,
			 .registers = 176,
			 .count = 8,
			 .context_at = 8,
			 .context = 140,
			 .dwarf = (const uint8_t[]){7, 6, 5, 4, 3, 2, 1, 0}},
    },
    {
	.goarch = "amd64",
	.gdb_closure = "$rdx",
	.letter = '6',
	.isa = GH_ISA_AMD64,
	.machine = EM_X86_64,
	.pointer_size = 8,
	.quantum = 1,
	.relative_type = R_X86_64_RELATIVE,
	.symbol_type = R_X86_64_64,
	.pc_unit = 1,
	.uid_size = 4,
	.dwarf_sp = 7,
	.dwarf_ra = 16,
	.dwarf_fp = 6,
	.dwarf_pc = 16,
	.dwarf_g = 14,
	.gdb_has_dwarf_pc = true,
	.gregs = {.count = 27,
		  .pc = 16,
		  .sp = 19,
		  .fp = 4,
		  .call = 15,
		  .result = 10,
		  .arguments = {14, 13, 12, 7, 9, 8},
		  .futex = 202,
		  .dwarf = (const uint8_t[]){15,   14, 13,   12,   6,    3,    11,   10,   9,
					     8,    0,  2,    1,    4,    5,    NONE, 16,   NONE,
					     NONE, 7,  NONE, NONE, NONE, NONE, NONE, NONE, NONE},
		  .names = "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax "
			   "rip cs eflags rsp ss fs_base gs_base ds es fs gs "},
	.vectors_note = NT_X86_XSTATE,
	.signal_frame = {.info = 304,
			 .pc = 168,
			 .sp = 160,
			 .registers = 40,
			 .count = 16,
			 .dwarf = (const uint8_t[]){8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0,
						    2, 7}},
	.vectors_size = 2112,
	/* RAX; RCX, RBX, RSI and RDI; R8 to R11; X0 to X14 */
	.arg_registers = {{0, 1}, {2, 4}, {8, 4}, {17, 15}},
	/* RAX, RBX, RCX, RDI, RSI, R8 to R11; X0 to X14 */
	.passing = {.since = 17,
		    .integers = 9,
		    .floats = 15,
		    .first_float = 17,
		    .dwarf = (const uint8_t[]){0, 3, 2, 5, 4, 8, 9, 10, 11},
		    .first = "RAX, RBX and RCX"},
	.uprobe_registers = "ax dx cx bx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15 ip ",
	.bpftrace_registers = "ax dx cx bx si di bp sp r8 r9 r10 r11 r12 r13 r14 r15 ip ",
    },
    {
	.goarch = "arm",
	.gdb_closure = "$r7",
	.letter = '5',
	.isa = GH_ISA_ARM,
	.machine = EM_ARM,
	.pointer_size = 4,
	.quantum = 4,
	.link_register = true,
	.min_frame = 4,
	.injected_gap = 4,
	.pc_unit = 1,
	.uid_size = 2,
	.dwarf_sp = 13,
	.dwarf_ra = 14,
	.dwarf_pc = 15,
	.dwarf_g = 10,
	.gdb_has_dwarf_pc = true,
	.gregs = {.count = 18, .pc = 15, .sp = 13, .lr = 14},
	.signal_frame = {.pc = 220, .sp = 212, .lr = 216, .registers = 160, .count = 15},
    },
    {
	.goarch = "arm64",
	.gdb_closure = "$x26",
	.letter = '7',
	.isa = GH_ISA_ARM64,
	.machine = EM_AARCH64,
	.pointer_size = 8,
	.quantum = 4,
	.link_register = true,
	.relative_type = R_AARCH64_RELATIVE,
	.symbol_type = R_AARCH64_ABS64,
	.min_frame = 8,
	.injected_gap = 16,
	.pc_unit = 1,
	.uid_size = 4,
	.signature = UINT64_C(0x7f) << 48,
	.dwarf_sp = 31,
	.dwarf_ra = 30,
	.dwarf_fp = 29,
	.dwarf_pc = 32,
	.dwarf_g = 28,
	.gdb_has_dwarf_pc = true,
	.gregs = {.count = 34,
		  .pc = 32,
		  .sp = 31,
		  .fp = 29,
		  .lr = 30,
		  .call = 8,
		  .arguments = {0, 1, 2, 3, 4, 5},
		  .futex = 98,
		  .enters = 0xd4000001,
		  .dwarf = (const uint8_t[]){0,  1,  2,  3,  4,  5,  6,  7,  8,    9,   10, 11,
					     12, 13, 14, 15, 16, 17, 18, 19, 20,   21,  22, 23,
					     24, 25, 26, 27, 28, 29, 30, 31, NONE, NONE},
		  .names = "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 "
			   "x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp pc cpsr "},
	.vectors_note = NT_PRFPREG,
	.signal_frame = {.pc = 568, .sp = 560, .lr = 552, .registers = 312, .count = 31},
	.vectors_size = 512,
	.arg_registers = {{0, 16}, {64, 16}},
	.passing = {.since = 18,
		    .integers = 16,
		    .floats = 16,
		    .first_float = 64,
		    .dwarf =
			(const uint8_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		    .first = "X0, X1 and X2"},
	.uprobe_registers = "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 "
			    "x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp pc ",
	.bpftrace_registers = "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 "
			      "r18 r19 r20 r21 r22 r23 r24 r25 r26 r27 r28 r29 r30 sp pc ",
    },
    {
	.goarch = "loong64",
	.gdb_closure = "$r29",
	.isa = GH_ISA_LOONG64,
	.machine = EM_LOONGARCH,
	.pointer_size = 8,
	.quantum = 4,
	.link_register = true,
	.relative_type = R_LARCH_RELATIVE,
	.symbol_type = R_LARCH_64,
	.min_frame = 8,
	.injected_gap = 8,
	.pc_unit = 1,
	.uid_size = 4,
	.dwarf_sp = 3,
	.dwarf_ra = 1,
	.dwarf_pc = 64,
	.dwarf_g = 22,
	.gregs = {.count = 45, .pc = 33, .sp = 3, .lr = 1},
	.vectors_size = 1024,
	.arg_registers = {{4, 16}, {32, 16}},
    },
    {.goarch = "mips", .big_endian = true, MIPS_32},
    {.goarch = "mipsle", MIPS_32},
    {.goarch = "mips64", .big_endian = true, MIPS_64},
    {.goarch = "mips64le", MIPS_64},
    {.goarch = "ppc64", .big_endian = true, PPC64},
    {.goarch = "ppc64le", PPC64},
    {
	.goarch = "riscv64",
	.gdb_closure = "$x26",
	.isa = GH_ISA_RISCV64,
	.machine = EM_RISCV,
	.pointer_size = 8,
	.quantum = 4,
	.link_register = true,
	.relative_type = R_RISCV_RELATIVE,
	.symbol_type = R_RISCV_64,
	.min_frame = 8,
	.injected_gap = 8,
	.pc_unit = 1,
	.uid_size = 4,
	.dwarf_sp = 2,
	.dwarf_ra = 1,
	.dwarf_pc = 64,
	.dwarf_g = 27,
	.gregs = {.count = 32, .pc = 0, .sp = 2, .lr = 1},
	.arg_registers = {{8, 16}, {40, 16}},
    },
    {
	.goarch = "s390x",
	.gdb_closure = "$r12",
	.letter = 'z',
	.isa = GH_ISA_S390X,
	.machine = EM_S390,
	.pointer_size = 8,
	.quantum = 2,
	.big_endian = true,
	.link_register = true,
	.relative_type = R_390_RELATIVE,
	.symbol_type = R_390_64,
	.min_frame = 8,
	.injected_gap = 8,
	.pc_unit = 1,
	.uid_size = 4,
	.dwarf_sp = 15,
	.dwarf_ra = 14,
	.dwarf_pc = 65,
	.dwarf_g = 13,
	.gdb_has_dwarf_pc = true,
	.gregs = {.count = 27, .pc = 1, .sp = 17, .lr = 16},
	.arg_registers = {{2, 8}, {16, 16}},
    },
};

const struct gh_arch *gh_arch_find(uint16_t machine, uint8_t pointer_size, bool big_endian)
{
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		const struct gh_arch *arch = &arches[i];
		if (arch->machine == machine && arch->pointer_size == pointer_size &&
		    arch->big_endian == big_endian)
			return arch;
	}
	return NULL;
}

bool gh_arch_is_own(const struct gh_arch *arch)
{
#if defined(__x86_64__)
	const uint16_t own = EM_X86_64;
#elif defined(__aarch64__)
	const uint16_t own = EM_AARCH64;
#else
	const uint16_t own = EM_NONE;
#endif
	return arch->machine == own && arch->pointer_size == sizeof(void *);
}

const struct gh_arch *gh_arch_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++)
		if (strcmp(arches[i].goarch, name) == 0)
			return &arches[i];
	return NULL;
}

const struct gh_arch *gh_arch_by_letter(uint64_t letter, bool big_endian)
{
	const struct gh_arch *found = NULL;
	for (size_t i = 0; letter != 0 && i < sizeof(arches) / sizeof(arches[0]); i++)
		if ((uint64_t)arches[i].letter == letter &&
		    (found == NULL || arches[i].big_endian == big_endian))
			found = &arches[i];
	return found;
}
