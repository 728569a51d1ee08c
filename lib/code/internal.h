/* What the files of lib/code share. */
#ifndef GH_CODE_INTERNAL_H
#define GH_CODE_INTERNAL_H

#include "lib/code/code.h"

/* The number that the lowest BITS bits of VALUE are, with a sign. */
static inline uint64_t gh_sign_extend(uint64_t value, unsigned bits)
{
	uint64_t sign = (uint64_t)1 << (bits - 1);
	return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/* The instructions of x86 */

/* Opcodes. */
enum {
	GH_X86_CMP = 0x3b,       /* a register with an operand */
	GH_X86_JBE_8 = 0x76,     /* a distance of one byte */
	GH_X86_MOV_FIRST = 0x88, /* from a register of one byte; then the other three */
	GH_X86_MOV_FROM_REGISTER = 0x89,
	GH_X86_MOV_LAST = 0x8b,
	GH_X86_LEA = 0x8d,
	GH_X86_NOP = 0x90,
	GH_X86_CALL = 0xe8, /* relative to the next instruction, as the jumps */
	GH_X86_JMP = 0xe9,
	GH_X86_JMP_8 = 0xeb,
	GH_X86_GROUP_5 = 0xff,    /* which ones, is in ModRM */
	GH_X86_TWO_BYTE = 0x0f00, /* after 0F */
	GH_X86_MOV_FROM_XMM = 0x0f11,
	GH_X86_LONG_NOP = 0x0f1f,
	GH_X86_JBE = 0x0f86,
};

/* The field of ModRM that is a register, or part of the opcode. */
enum {
	GH_X86_REG = 0x38,
	GH_X86_GROUP_5_CALL = 0x10, /* through an operand */
};

/* An instruction. */
struct gh_x86 {
	size_t length;          /* in bytes */
	size_t opcode_at;       /* where its opcode is, past the prefixes, in bytes */
	uint16_t opcode;        /* one byte, or two of which the first is 0F */
	uint8_t rex;            /* prefix with bits of operands; 0 if it has none */
	uint8_t repeat;         /* F2 or F3, which are part of some opcodes; 0 if it has neither */
	bool short_operands;    /* it has the prefix for operands of 2 bytes */
	bool other_prefix;      /* it has one that is none of these */
	uint8_t modrm;          /* its operands; 0 if it has none of this kind */
	uint8_t sib;            /* base and index of the one in memory; 0 if there is none */
	int32_t displacement;   /* of the one in memory from those, in bytes */
	size_t displacement_at; /* where that is, if it has 4 bytes; 0 if it has not */
	int32_t immediate; /* the distance of a jump or call; of others, a number of 1 or 4 bytes
			      that follows the operand in memory */
};

/* Decodes the instruction at CODE, which has SIZE bytes, in 64-bit or 32-bit mode. False if it goes
 * on after them or is none that is known. Source: the opcode maps in appendix A of volume 2 of
 * Intel's Software Developer's Manual. */
bool gh_x86_decode(struct gh_x86 *ins, const uint8_t *code, size_t size, bool is_64_bit);

/* Whether its operand in memory is on the stack frame: at SP, without an index. */
bool gh_x86_is_at_sp(const struct gh_x86 *ins);

/* The registers of its operands: ModRM's field reg, and rm, which is one only if
 * gh_x86_in_register. */
unsigned gh_x86_reg(const struct gh_x86 *ins);
unsigned gh_x86_rm(const struct gh_x86 *ins);
bool gh_x86_in_register(const struct gh_x86 *ins);

/* *TARGET is what NEXT, the instruction of arm64 after ADRP, which is at ADDRESS, adds up to, loads
 * from or stores to. False if ADRP is another, or NEXT does none of these. Source: Arm's
 * Architecture Reference Manual, C4.1. */
bool gh_arm64_target(uint32_t adrp, uint32_t next, uint64_t address, uint64_t *target);

#define GH_X86_NO_REGISTER UINT32_MAX
#define GH_X86_SP          4

/* What the address of an operand in memory is made of, beside its displacement. */
struct gh_x86_memory {
	unsigned base;    /* a register, or GH_X86_NO_REGISTER */
	unsigned index;   /* the same */
	bool is_relative; /* it is relative to the next instruction */
};

/* That of INS, which has one. */
struct gh_x86_memory gh_x86_memory(const struct gh_x86 *ins);

/* What an instruction does with its two operands. */
enum {
	GH_X86_READS_REG = 1,
	GH_X86_READS_RM = 2,
	GH_X86_WRITES_REG = 4,
	GH_X86_WRITES_RM = 8,
	GH_X86_WRITES_OPCODE = 64,
	GH_X86_HAS_ADDRESS = 16, /* only what the address of its operand is made of matters */
	GH_X86_PASSES = 32,      /* it has no operands that matter */
};

/* What INS does, of 64-bit mode; 0 if that is not known. */
unsigned gh_x86_effects(const struct gh_x86 *ins);

/* What registers hold, as far as the instructions of a function of amd64 or 386 tell */

#define GH_X86_REGISTERS 16

enum gh_value_from {
	GH_VALUE_UNKNOWN,
	GH_VALUE_FRAME,    /* SP; in a reading that settles, NUMBER is where the instruction is
			      that takes the address, in bytes */
	GH_VALUE_GLOBAL,   /* address 0 of the program's file */
	GH_VALUE_RESULT,   /* the first result of call NUMBER */
	GH_VALUE_ARGUMENT, /* what register NUMBER held when the function was called */
	GH_VALUE_ZERO,     /* 0, in a reading that settles; or nothing was written yet */
};

/* A value: what it is made from, after NLOADS loads from memory. */
struct gh_value {
	int64_t offsets[GH_RECEIVER_LOADS + 1]; /* to add before each load, and at the end */
	uint32_t number;
	uint8_t from; /* enum gh_value_from */
	uint8_t nloads;
};

struct gh_known {
	struct gh_value registers[GH_X86_REGISTERS];
	struct gh_value
	    argument; /* the word at SP, the first argument where none is in a register */
};

/* An instruction after which another may come than the next. */
struct gh_branch {
	size_t at;    /* in the function, in bytes */
	size_t to;    /* where it jumps; SIZE_MAX: nowhere in the function */
	bool goes_on; /* or to the next */
};

/* A place that is jumped to, and what is known there by the jumps before it. */
struct gh_jump_target {
	size_t at;
	bool reached;
	bool is_loop; /* it is jumped to from there or after it */
	bool is_next; /* control comes to it from before it, too, by a jump or without one */
	struct gh_known known;
};

/* A word of the frame that the function writes once, and what it writes. */
struct gh_slot {
	size_t at;      /* of the instruction that does, in bytes */
	int64_t offset; /* from SP */
	struct gh_value value;
};

/* How often code is read until nothing changes that is known at jumps. */
#define GH_READING_PASSES 64

/* Words of the frame that are known, at most; and stores of a function in which such are looked
 * for. */
#define GH_READING_SLOTS  64
#define GH_READING_STORES 4096

/* What is known while a function is read. */
struct gh_reading {
	struct gh_cursor code;
	uint64_t entry; /* address of the code */
	struct GH_VECTOR(struct gh_jump_target) targets;
	struct GH_VECTOR(struct gh_branch) branches;
	struct gh_store_list stores;
	struct GH_VECTOR(struct gh_slot) slots; /* if it settles, of all that are written, and what
						   all that write them agree on; by offset */
	struct gh_known known;
	struct gh_value returned; /* in the first register, if it settles */
	int64_t frame;            /* bytes from SP to the frame's end; 0 before the prologue ends */
	int64_t pushed;           /* bytes that were, before that */
	int64_t below;      /* bytes from the frame's end down to its first local that may be a
			       pointer: below is what calls are given, and give, which changes */
	size_t spills;      /* where the code begins that saves arguments for a larger stack, in
			       bytes; SIZE_MAX if there is none */
	size_t spills_end;  /* its last instruction, which goes to the function's first */
	uint32_t ncalls;    /* that were read */
	bool is_64_bit;     /* mode */
	bool in_registers;  /* arguments are passed in them */
	bool goes_on;       /* the next instruction is come to from the last one */
	bool follows;       /* what results, arguments and words written once hold is known, too */
	bool prefers_frame; /* what is kept in such a word is known as that, not as what was
			       written */
	bool settles;       /* loops are followed, and words that are written several times: the
			       code is read over and over until nothing changes. Of two ways that
			       meet, one with 0 does not matter, nor with an address in the frame or
			       of a global if the other has a result: what is on the heap is that */
	bool is_whole;      /* all of its instructions are known */
	bool has_table;     /* it jumps to where a register or memory says */
	bool changed;       /* something did in this pass */
	bool is_last;       /* nothing did in the one before: what is known now, holds */
	void *context;
	/* The call at AT, which is number ncalls. True if it keeps all registers. CALLEE is 0 if
	 * it is not told. */
	bool (*on_call)(struct gh_reading *reading, size_t at, uint64_t callee);
	/* A jump goes back to where control comes only by such, and all jumps are known:
	 * gh_reading_run_again may tell more. NULL if nobody asks. */
	void (*on_jump_back)(struct gh_reading *reading);
	/* A locked instruction at AT works on ADDRESS. NULL if nobody asks. */
	void (*on_locked)(struct gh_reading *reading, size_t at, const struct gh_value *address);
	/* VALUE is stored at ADDRESS, which is not in the frame. NULL if nobody asks. */
	void (*on_store)(struct gh_reading *reading, const struct gh_value *address,
			 const struct gh_value *value);
};

/* The function NAME keeps all registers but R11, which holds no value at a call: the write barrier.
 */
bool gh_keeps_registers(const char *name);

/* INS is a conditional jump; any jump; one after which the next instruction is come to only by
 * jumps. */
bool gh_x86_is_jcc(const struct gh_x86 *ins);
bool gh_x86_is_jump(const struct gh_x86 *ins);
bool gh_x86_ends(const struct gh_x86 *ins);

/* INS writes memory, and how far the last word that it writes there is from the first. */
bool gh_x86_writes_memory(const struct gh_x86 *ins);
int64_t gh_x86_second_word(const struct gh_x86 *ins);

/* Finds where the code of READING, of TAB's program, branches, which words it writes, and the
 * places that are jumped to. */
void gh_reading_survey(struct gh_reading *reading, const struct gh_pclntab *tab);

/* The instruction at AT is of the code that saves arguments for a larger stack. */
bool gh_reading_is_in_spills(const struct gh_reading *reading, size_t at);

/* Finds where FUNC branches, and the words that it writes. False if there is nothing to read: it is
 * for another machine, or its code is not there. READING, in which only the last six are set, is
 * to be freed either way. */
bool gh_reading_start(struct gh_reading *reading, const struct gh_pclntab *tab,
		      const struct gh_func *func);

/* Leaves in VALUE what OTHER says as well. */
void gh_reading_meet(struct gh_reading *reading, struct gh_value *value,
		     const struct gh_value *other);

/* Reads the instruction INS, which is at AT. */
void gh_reading_step(struct gh_reading *reading, const struct gh_x86 *ins, size_t at);

/* Reads it. */
void gh_reading_run(struct gh_reading *reading);

/* Reads it again, if on_jump_back was called and it does not settle. Where control comes only by
 * jumps back, nothing was known; now what all of them agreed on is. Go puts the bodies of loops
 * there, and what follows a write barrier. Calls keep their numbers. */
void gh_reading_run_again(struct gh_reading *reading);

/* Memory ran out. */
bool gh_reading_failed(const struct gh_reading *reading);

void gh_reading_free(struct gh_reading *reading);

/* The place, and 1, of what the runtime's function NAME does with a type; 0 if it does nothing with
 * one. */
uint8_t gh_operation_find(const char *name);

/* What a call of the runtime's made. */
struct gh_made {
	uint32_t type; /* its number; GH_NO_RTYPE if it is not known */
	uint8_t kind;  /* enum gh_code_type_kind: what the result is of the type */
};

struct gh_made_list GH_VECTOR(struct gh_made); /* by a function's calls, in order */

/* What call VALUE->number gave, itself; NULL if nothing is known of it. */
const struct gh_made *gh_made_by_call(const struct gh_made_list *results,
				      const struct gh_value *value);

/* A store of VALUE at ADDRESS, by a function whose calls have made RESULTS, makes a closure: fills
 * CLOSURE with its code and its struct. False if it makes none. */
bool gh_closure_stored(const struct gh_rtypes *types, const struct gh_made_list *results,
		       const struct gh_value *address, const struct gh_value *value,
		       struct gh_entry_type *closure);

/* A value that a call is given. */
struct gh_used {
	uint32_t type; /* its number; GH_NO_RTYPE if it is not known */
	uint8_t kind;  /* enum gh_code_type_kind: what the value is of the type */
	struct gh_value value;
};

/* What the function that gh_operation_find has given PLACE makes where KNOWN is known, and what it
 * uses, in TYPES' program: a function too, which it has the address of. */
void gh_operation_apply(const struct gh_rtypes *types, uint8_t place, const struct gh_known *known,
			struct gh_made *made, struct gh_used *used);

/* What a call of the function at CALLEE, of TYPES' program, makes where KNOWN is known, and what it
 * uses. True if it keeps all registers, and gives no result. */
bool gh_code_call(const struct gh_rtypes *types, uint64_t callee, const struct gh_known *known,
		  struct gh_made *made, struct gh_used *used);

/* The receiver of the method at CALLEE, which one of SIGNATURES may be of. */
struct gh_used gh_code_receiver(const struct gh_rtypes *types,
				const struct gh_signatures *signatures, uint64_t callee,
				const struct gh_known *known);

/* The first type whose descriptor is among the words of the dictionary at ADDRESS and whose text
 * begins with START; GH_NO_RTYPE if there is none. */
uint32_t gh_dictionary_type(const struct gh_rtypes *types, uint64_t address, const char *start);

/* Whether it is a jump, padding, or a move between registers or between one and the stack frame. A
 * NOP of one byte is neither: Go puts one where a call was inlined, to hold the call's line. */
bool gh_x86_is_move(const struct gh_x86 *ins);

/* The registers that a function's arguments are passed in, by the code that saves them all where
 * the function asks for a larger stack (SpillRegisterArgs in src/cmd/internal/obj/link.go) */

/* The most registers that arguments are passed in: 16 for integers, 16 for floating-point numbers.
 * src/cmd/compile/abi-internal.md. */
#define GH_MAX_SPILLS 32

/* A register's place on the stack. */
struct gh_spill {
	uint32_t offset; /* from SP at the function's entry, in bytes */
	uint8_t size;    /* in bytes */
	uint8_t number;  /* of the register, as DWARF numbers them */
	bool is_float;   /* it is one for floating-point numbers */
};

struct gh_spills {
	struct gh_spill items[GH_MAX_SPILLS];
	size_t count;
};

/* Finds those of FUNC: none if it has no such code, or is for a machine that arg_spill*.c has no
 * cases for. */
void gh_spills_find(struct gh_spills *spills, const struct gh_pclntab *tab,
		    const struct gh_func *func);

/* Adds one, if there is room. */
void gh_spill_add(struct gh_spills *spills, struct gh_spill spill);

/* Whether ADDRESS is where code goes for a larger stack. */
bool gh_spill_is_morestack(const struct gh_pclntab *tab, uint64_t address);

/* The same of one kind of machine (src/cmd/internal/obj/<arch>/obj*.go): adds what the function
 * with CODE, which is at ENTRY, saves. False if it has no such code. */
bool gh_spill_amd64(struct gh_spills *spills, struct gh_cursor *code, const struct gh_pclntab *tab,
		    uint64_t entry);
bool gh_spill_others(struct gh_spills *spills, struct gh_cursor *code, const struct gh_pclntab *tab,
		     uint64_t entry);

/* The same of a function that has no such code, by the calling convention: those of ARGS, FUNC's,
 * that are surely in registers, with the places that would be theirs on the stack. False if there
 * are none, or the machine is not amd64. */
bool gh_entry_args_find(struct gh_spills *spills, const struct gh_args *args,
			const struct gh_pclntab *tab, const struct gh_func *func);

/* The registers for integers, in the order in which arguments get them, as DWARF numbers them. */
#define GH_ENTRY_AMD64_REGISTERS 9
extern const uint8_t gh_entry_amd64_registers[GH_ENTRY_AMD64_REGISTERS];

/* Which of them CODE, a function's, reads before it writes them, as far as it can be followed: a
 * bit for each. */
unsigned gh_entry_amd64_reads(struct gh_cursor *code);

/* How the assembly functions of the runtime change stacks, by their instructions */

/* Finds runtime.allm, and m.alllink, in FUNC, runtime.mcommoninit, which puts its m first in that
 * list. Does nothing where the code is not like that, or not amd64. */
void gh_switch_amd64_allm(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			  const struct gh_func *func);

/* Finds runtime.allgs and runtime.allglen in FUNC, runtime.allgadd, which appends a goroutine to
 * the one and stores its length in the other. Does nothing where the code is not like that, or not
 * amd64. */
void gh_switch_amd64_allgs(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			   const struct gh_func *func);

/* Finds the offsets m.curg and g.sched.sp in FUNC, runtime.systemstack, which compares the one with
 * the g that runs, and returns by the other. */
void gh_switch_amd64_offsets(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			     const struct gh_func *func);

/* Adds the code of FUNC, which moves SP freely, that runs on another stack: from its first move of
 * SP on. */
void gh_switch_amd64_add(struct gh_switches *switches, const struct gh_pclntab *tab,
			 const struct gh_func *func);

/* Adds the code of FUNC, runtime.cgocallback, that calls Go on a goroutine's stack, where C called
 * it on the thread's own. Does nothing where the code is not amd64. */
void gh_switch_amd64_callback(struct gh_switches *switches, const struct gh_pclntab *tab,
			      const struct gh_func *func);

/* The same of arm64. */
void gh_switch_arm64_callback(struct gh_switches *switches, const struct gh_pclntab *tab,
			      const struct gh_func *func);

/* Find which registers FUNC, runtime/cgo's crosscall2, saves, if the code is of that machine. */
void gh_saved_registers_amd64(struct gh_saved_registers *saved, const struct gh_pclntab *tab,
			      const struct gh_func *func);
void gh_saved_registers_arm64(struct gh_saved_registers *saved, const struct gh_pclntab *tab,
			      const struct gh_func *func);

/* Finds the offsets g.m, m.curg and g.sched.sp in FUNC, runtime.systemstack, which returns by them
 * to the goroutine. Does nothing where the code is not like that, or not arm64. */
void gh_switch_arm64_offsets(struct gh_runtime *runtime, const struct gh_pclntab *tab,
			     const struct gh_func *func);

/* Adds the code of FUNC, which moves SP freely, that runs on another stack: from its first move of
 * SP on. */
void gh_switch_arm64_add(struct gh_switches *switches, const struct gh_pclntab *tab,
			 const struct gh_func *func);

/* Starts a walk over the SIZE bytes of CODE for ARCH, which are at ADDRESS, an instruction's. */
void gh_callsites_start(struct gh_callsites *walk, const struct gh_arch *arch, const uint8_t *code,
			size_t size, uint64_t address);

/* Adds one, unless it is empty. gh_switches_find fails if memory ran out. */
void gh_switches_add(struct gh_switches *switches, const struct gh_switch *code);

#endif
