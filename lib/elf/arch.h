/* The machines that Go runs on, and the constants that differ between them: a machine is a row of
 * the table in arch.c. Code that decodes instructions, or follows what the code of one machine
 * does, goes by gh_arch.isa (lib/code, probes, Plan 9's frames, goheap returned): a machine of new
 * instructions needs a case there, too. */
#ifndef GH_ELF_ARCH_H
#define GH_ELF_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* Which instructions a machine has. */
enum gh_isa {
	GH_ISA_386,
	GH_ISA_AMD64,
	GH_ISA_ARM,
	GH_ISA_ARM64,
	GH_ISA_LOONG64,
	GH_ISA_MIPS, /* all four */
	GH_ISA_PPC64,
	GH_ISA_RISCV64,
	GH_ISA_S390X,
};

/* Registers that follow each other as DWARF numbers them. */
struct gh_register_run {
	uint8_t first; /* DWARF number */
	uint8_t count; /* of registers */
};

#define GH_MAX_REGISTER_RUNS 4

/* The registers that pass arguments and results, in the order of the calling convention
 * (src/cmd/compile/abi-internal.md), where goheap follows it. */
struct gh_passing {
	uint8_t since;        /* Go 1.N has it; 0 if it is not followed */
	uint8_t integers;     /* registers for integers and pointers */
	uint8_t floats;       /* for floating-point numbers */
	uint8_t first_float;  /* DWARF number of the first of those */
	const uint8_t *dwarf; /* DWARF numbers of those for integers */
	const char *first;    /* GDB's names of the first three */
};

/* More than any machine has in its elf_gregset_t. */
#define GH_MAX_REGISTERS 64

/* Arguments that a system call has at most. */
#define GH_CALL_ARGUMENTS 6

/* The registers of a thread in a core file (elf_gregset_t), each of the size of a pointer. */
struct gh_gregset {
	uint8_t count;  /* of registers */
	uint8_t pc;     /* which of them is the pc */
	uint8_t sp;     /* the stack pointer */
	uint8_t fp;     /* the frame pointer, if gh_arch.dwarf_fp says that Go keeps one */
	uint8_t lr;     /* the link register, if gh_arch.link_register says that there is one */
	uint8_t call;   /* the number of the system call that the thread is in, */
	uint8_t result; /* the result of one that has ended, */
	uint8_t arguments[GH_CALL_ARGUMENTS]; /* and the arguments */
	uint16_t futex;  /* the number of futex(2); 0 where these four are not known */
	uint32_t enters; /* the instruction that enters the kernel, where CALL is as the program
			    left it, and RESULT does not tell; else 0 */
	const uint8_t *dwarf; /* their DWARF numbers, GH_NO_REGISTER for those without; NULL where C
				 code is not unwound */
	const char *names;    /* GDB's names of them, each with a space behind it; NULL where C code
				 is not unwound */
};

/* No register has this number. */
#define GH_NO_REGISTER 0xff

/* Where a core file's struct elf_prstatus, with words of WORD bytes, has the thread's id, pr_pid,
 * and those registers, pr_reg, in bytes (include/linux/elfcore.h of the kernel), on every machine:
 * before the id are pr_info and pr_cursig, of 16 bytes with padding, and two words of signals;
 * after it three more ids, and four times of two words. */
#define GH_PRSTATUS_PID(word) (16U + 2 * (word))
#define GH_PRSTATUS_REG(word) (GH_PRSTATUS_PID(word) + 16U + 8 * (word))

/* What the kernel leaves on the stack when it calls a signal handler, struct rt_sigframe: where
 * things are in it, in bytes above what SP is when the handler has returned
 * (arch/.../kernel/signal.c and include/uapi/asm/sigcontext.h of the kernel). Zeros if it is not
 * known. */
struct gh_signal_frame {
	uint16_t info;        /* the siginfo_t */
	uint16_t pc;          /* of what was interrupted */
	uint16_t sp;          /* the same */
	uint16_t lr;          /* the same; 0 if there is no link register */
	uint16_t registers;   /* the others, one after the other, each of the size of a pointer */
	uint8_t count;        /* of those */
	uint8_t context_at;   /* where a pointer to the ucontext_t is, by which debuggers find it;
				 0: they need none */
	uint16_t context;     /* the ucontext_t */
	const uint8_t *dwarf; /* DWARF numbers of those registers; NULL where debuggers know the
				 frame by the code that the handler returns to */
};

struct gh_arch {
	const char *goarch;   /* as GOARCH spells it */
	char letter;          /* of its compiler, 6g, by which Go up to 1.6 names it in heap
				 dumps (thechar of src/runtime/arch1_*.go); 0 if it had none */
	enum gh_isa isa;      /* its instructions */
	uint16_t machine;     /* ELF e_machine */
	uint8_t pointer_size; /* in bytes */
	uint8_t quantum; /* what pcs are multiples of in Go's tables, in bytes: goarch.PCQuantum */
	bool big_endian; /* its byte order */
	bool link_register;     /* a call leaves the return address in a register, not on the
				   stack */
	uint16_t relative_type; /* R_*_RELATIVE; 0 (R_*_NONE) if its relocations have no addends */
	uint16_t symbol_type;   /* of those that add a symbol's address, R_*_64; 0 as above */
	uint8_t min_frame;      /* what a frame leaves free at SP for its callees, in bytes:
				   goarch.MinFrameSize */
	uint8_t injected_gap;   /* how far a signal handler lowers SP to call a function: min_frame,
				   aligned to goarch.StackAlign, in bytes; 0 without link register */
	uint8_t pc_unit;        /* to how many bytes GDB rounds addresses of code down */
	uint8_t uid_size;       /* of user and group in core files (__kernel_uid_t), in bytes */
	uint64_t signature; /* the bits of a user's return addresses in which the processor may keep
			       one (pointer authentication, in the 48 bit address spaces of Linux);
			       0 if it has none */
	uint8_t dwarf_sp;   /* DWARF number of the stack pointer */
	uint8_t dwarf_ra;   /* of the return address column: the link register, if any */
	uint8_t dwarf_fp;   /* of the frame pointer; 0 if Go keeps none */
	uint8_t dwarf_pc; /* of the pc; where the ABI numbers none, of a column that is not the link
			     register's, for where to return to code that was interrupted */
	uint8_t dwarf_g;  /* of the register that holds g, the goroutine, in Go code; 0 if none
			     does. On amd64 that is so from Go 1.17 on */
	const char *gdb_closure; /* GDB's name of the register that has a closure's address where
				    the function begins: REGCTXT in src/cmd/internal/obj/<arch> */
	bool gdb_has_dwarf_pc;   /* dwarf_pc is the pc to GDB (<arch>_dwarf_reg_to_regnum) */
	struct gh_gregset gregs; /* of a core file's threads */
	uint16_t vectors_note;   /* that has their vector registers, in a core file and for ptrace
				    (NT_*); 0 if it is not known */
	struct gh_signal_frame signal_frame;
	uint16_t vectors_size; /* of the vector registers of a goroutine that was preempted
				  anywhere, from Go 1.27 on: xRegs in src/runtime/preempt_GOARCH.go,
				  in bytes; 0 where they are on its stack */
	/* Those that arguments are passed in (src/cmd/compile/abi-internal.md), in as many runs as
	   have a count: none where arguments are in memory in all releases. Calls leave nothing of
	   the caller's in them, in any release. */
	struct gh_register_run arg_registers[GH_MAX_REGISTER_RUNS];
	struct gh_passing passing;
	/* The registers by DWARF number, each with a space behind it, as the kernel names them
	   where uprobes are defined, and as bpftrace does; NULL where goheap makes no probes. */
	const char *uprobe_registers;
	const char *bpftrace_registers;
};

/* The architecture of an ELF file of this e_machine, class (4 or 8 byte pointers) and byte
 * order; NULL if it is not one that Go is ported to. */
const struct gh_arch *gh_arch_find(uint16_t machine, uint8_t pointer_size, bool big_endian);

/* ARCH is the machine that goheap runs on, with pointers as goheap's; false on machines whose
 * system calls are not known by registers. */
bool gh_arch_is_own(const struct gh_arch *arch);

/* The architecture that GOARCH calls NAME; NULL if there is none. */
const struct gh_arch *gh_arch_by_name(const char *name);

/* The architecture whose compiler had this LETTER: of two that share it the one of this byte order.
 * NULL if there is none. */
const struct gh_arch *gh_arch_by_letter(uint64_t letter, bool big_endian);

static inline bool gh_arch_is_x86(const struct gh_arch *arch)
{
	return arch->isa == GH_ISA_386 || arch->isa == GH_ISA_AMD64;
}

/* Whether its functions may be passed arguments in registers: those of Go 1.17 and later. */
static inline bool gh_arch_has_arg_registers(const struct gh_arch *arch)
{
	return arch->arg_registers[0].count > 0;
}

/* Functions of Go 1.MINOR are passed arguments in registers, by the convention that PASSING has. */
static inline bool gh_arch_passes_in_registers(const struct gh_arch *arch, int minor)
{
	return arch->passing.since != 0 && minor >= arch->passing.since;
}

/* How far the arguments that a function was called with are above SP at its entry, in bytes: above
 * the return address, or what the caller leaves free for callees. */
static inline uint8_t gh_arch_below_args(const struct gh_arch *arch)
{
	return arch->link_register ? arch->min_frame : arch->pointer_size;
}

/* How far below the CFA a function saves its caller's frame pointer, where its stack delta is
 * DELTA, in bytes: below the return address, or else below the frame, where callees leave a word
 * free. */
static inline uint64_t gh_arch_frame_pointer_place(const struct gh_arch *arch, uint64_t delta)
{
	return arch->link_register ? delta + arch->pointer_size : 2 * arch->pointer_size;
}

/* Go's frames save the caller's frame pointer. */
static inline bool gh_arch_has_frame_pointer(const struct gh_arch *arch)
{
	return arch->dwarf_fp != 0;
}

/* How many words at the end of a frame, the return address included, are no variables: so has
 * src/runtime/traceback.go it (varp). */
static inline unsigned gh_arch_words_saved(const struct gh_arch *arch)
{
	return (arch->link_register ? 0U : 1U) + gh_arch_has_frame_pointer(arch);
}

/* An address within the call that returns to RETURN_ADDRESS, as the Go runtime looks calls up: in
 * the instruction's last bytes, or, on mips, its delay slot. 0 stays 0. */
static inline uint64_t gh_arch_call_pc(const struct gh_arch *arch, uint64_t return_address)
{
	return return_address == 0 ? 0 : return_address - arch->quantum;
}

#endif
