/* What the instructions of a function tell, and the names of functions that are special:
 *
 * - prologue.c: where the prologue ends, where debuggers stop for a breakpoint on the function, and
 *   from where on the frame pointer is saved;
 * - arg_location.c, by arg_spill*.c and arg_entry*.c: where arguments are until then; arg_rtypes.c:
 *   of which types those of methods are;
 * - results.c: where parameters and results are by their types;
 * - call_site.c, safepoint.c: calls, and which of them have stack maps;
 * - control_flow.c: how control goes on after an instruction; probe_places.c: where probes on a
 *   function go;
 * - only_moves.c: whether instructions do no more than move data, as those that start no statement;
 * - unwind_class.c: which functions switch stacks, end one, or are a signal's frame;
 *   injected_call.c: those that debuggers call;
 * - stack_switch*.c: by machine, where the caller is in code that has switched stacks: calls of C,
 *   the vDSO and systemstack;
 * - global_refs.c: which functions refer to a global;
 * - same_code.c: whether code of two builds of one source does the same (same_code.h);
 * - survey.c, reading_passes.c, known_values.c: what registers hold at each instruction, for
 *   receiver.c: where the receivers of methods that a function calls are; for closure.c: what
 *   closures have captured; and for what is declared in code_types.h;
 * - x86_decode.c, x86_effects.c: the instructions of x86, for all of these. */
#ifndef GH_CODE_CODE_H
#define GH_CODE_CODE_H

#include "lib/pclntab/pclntab.h"
#include "lib/rtype/rtype.h"
#include "lib/util/vector.h"

/* Prologues */

/* The address of the first instruction after the stack check and the frame's set-up, which shows in
 * the table of stack deltas (pcsp); FUNC's entry if it sets up no frame. */
uint64_t gh_prologue_end(const struct gh_pclntab *tab, const struct gh_func *func);

/* The address in the prologue where Go's compiler has debuggers stop at FUNC: of the instruction
 * that makes room for the frame, the last that belongs to no statement (PosPrologueEnd in
 * preprocess, src/cmd/internal/obj/<arch>/obj*.go); on machines for which that is not told,
 * gh_prologue_end. FUNC's entry if it sets up no frame. Not after the instruction at
 * gh_arg_places.end: the arguments would not be known there. */
uint64_t gh_prologue_stop(const struct gh_pclntab *tab, const struct gh_func *func);

/* The address from which on FUNC has saved the frame pointer, by the instructions at START, where
 * its stack delta grows from 0 to DELTA; 0 if it does not save it there. The forms are those of the
 * prologues that Go's assembler makes (preprocess in src/cmd/internal/obj/<arch>/obj*.go). */
uint64_t gh_frame_pointer_saved(const struct gh_pclntab *tab, const struct gh_func *func,
				uint64_t start, int32_t delta);

/* Arguments */

enum gh_arg_where {
	GH_ARG_UNKNOWN,
	GH_ARG_IN_REGISTER,
	GH_ARG_IN_MEMORY,
};

/* A word of an argument and where it is. */
struct gh_arg_place {
	struct gh_arg arg;
	enum gh_arg_where where;
	bool is_float;   /* it is in a register for floating-point numbers */
	uint8_t number;  /* of the register, as DWARF numbers them */
	uint16_t offset; /* in memory, from the CFA, in bytes */
};

struct gh_arg_places {
	struct gh_arg_place items[GH_MAX_ARGS];
	size_t count;
	bool any;     /* some are known */
	uint64_t end; /* they hold from the function's entry to the instruction there, the first
			 after the prologue */
};

/* Whether the functions of TAB have arguments: from Go 1.18 on. */
bool gh_arg_places_told(const struct gh_pclntab *tab);

/* Finds those of FUNC. Where arguments are passed in registers, its code that saves them, for when
 * the stack grows, tells which. Of a function without such code few are known on amd64, and none on
 * other machines; none of one in assembly. */
void gh_arg_places_find(struct gh_arg_places *places, const struct gh_pclntab *tab,
			const struct gh_func *func);

/* Sets the NUMBERS, for the first word of each argument at PLACES, to that of its type, as
 * SIGNATURE has it, or to GH_NO_RTYPE: that is what all are if the words are not those of such
 * types. */
void gh_arg_rtypes(uint32_t *numbers, const struct gh_arg_places *places,
		   const struct gh_rtypes *types, const struct gh_signature *signature);

/* Parameters and results, of methods whose types are known, on machines with gh_arch.passing.
 *
 * Source: src/cmd/compile/abi-internal.md; before the release that has it all are on the stack,
 * after the arguments. */

#define GH_RESULT_PARTS 32

/* Bytes of a result that are in a register. */
struct gh_result_part {
	uint64_t offset; /* in the value */
	uint8_t size;
	bool is_float;  /* the register is one for floating-point numbers */
	uint8_t number; /* of the register, among those of its kind that pass arguments
			   (gh_arch.passing) */
};

struct gh_result {
	uint32_t type;
	bool in_memory;
	uint64_t offset; /* there, from where arguments begin, in bytes */
	struct gh_result_part parts[GH_RESULT_PARTS];
	size_t nparts;
};

/* A walk over the parameters or the results of a function. */
struct gh_results {
	bool failed; /* a type cannot be read */
	/* Private: */
	const struct gh_rtypes *types;
	const struct gh_rtype *function;
	uint32_t receiver;   /* its type, while it is to come; or GH_NO_RTYPE */
	uint32_t parameters; /* parts of the function's type that are no results */
	uint32_t next;       /* part of the function's type */
	bool in_registers;
	unsigned integers; /* registers that are taken */
	unsigned floats;
	uint64_t stack; /* bytes that are */
};

/* Begins a walk over the receiver and the parameters of the method of SIGNATURE, of a program of Go
 * 1.MINOR: where each is when the method begins, what is in memory from the end of the return
 * address on. False if they are not known. */
bool gh_parameters_begin(struct gh_results *walk, const struct gh_rtypes *types,
			 const struct gh_signature *signature, int minor);

/* Gives the next one. False if there is none. */
bool gh_parameters_next(struct gh_results *walk, struct gh_result *result);

/* Whether that is where PLACES, those of the method, have all of their words that they know. */
bool gh_parameters_agree(const struct gh_rtypes *types, const struct gh_signature *signature,
			 int minor, const struct gh_arg_places *places);

/* Whether a program passes arguments in registers, as one of its functions shows by
 * saving them there: the compiler could be told otherwise. */
bool gh_args_in_registers(const struct gh_pclntab *tab);

/* Whether signatures tell where the parameters of methods are: before arguments were in registers,
 * or if they are. On machines with gh_arch.passing. */
bool gh_parameters_told(const struct gh_rtypes *types);

/* DWARF's number of the register that PART is in. */
uint8_t gh_result_register(const struct gh_arch *arch, const struct gh_result_part *part);

/* Begins the walk over the results of the method of SIGNATURE, of a program of Go 1.MINOR. False if
 * they are not known. */
bool gh_results_begin(struct gh_results *walk, const struct gh_rtypes *types,
		      const struct gh_signature *signature, int minor);

/* Gives the next one. False if there is none. */
bool gh_results_next(struct gh_results *walk, struct gh_result *result);

/* Calls */

/* A call. */
struct gh_callsite {
	size_t start; /* of the instruction in the code, in bytes; on x86, of its opcode */
	size_t end;   /* where it returns to: past the instruction, and the one in its delay slot */
	bool direct;  /* the instruction has the address that it calls */
	uint64_t target; /* that address, or 0 */
};

/* A walk over the calls of some code. The fields are private. */
struct gh_callsites {
	const struct gh_arch *arch;
	const uint8_t *code;
	size_t size;      /* of the code, in bytes */
	uint64_t address; /* of the code */
	size_t direct;    /* where the next call can be, of either kind */
	size_t indirect;
	size_t known; /* an instruction that was found there, or is unknown */
};

/* The same over the code of IMAGE from START to before END, as far as the image has it. */
void gh_callsites_in(struct gh_callsites *walk, const struct gh_image *image, uint64_t start,
		     uint64_t end);

/* Gives what may be the next call. False if there are no more. On x86, where it takes much longer
 * to read all instructions, it may be the middle of others: a direct call is one if there is a
 * function at its target, an indirect one if gh_callsites_check says so. */
bool gh_callsites_next(struct gh_callsites *walk, struct gh_callsite *site);

/* Whether SITE, which was given last, is an instruction, given that one starts at START, no later.
 */
bool gh_callsites_check(struct gh_callsites *walk, const struct gh_callsite *site, size_t start);

/* How control goes on after an instruction. */
struct gh_flow {
	uint64_t after;  /* address of the one that follows it; 0 if it never goes on there */
	uint64_t target; /* that it may jump to; 0 if there is none */
	uint64_t callee; /* that it calls; 0 if it calls none, or one that it does not name: */
	bool indirect;   /* it calls what a register or a word of memory says */
	bool returns;    /* it is a function's return */
	size_t size;     /* of the instruction, in bytes; 0 if it is not known */
};

/* Reads that of the instruction at ADDRESS, whose SIZE bytes, and those after it, are at CODE.
 * False if it is not known, or jumps to where a register says: on machines other than amd64, 386
 * and arm64 it never is. */
bool gh_flow_read(struct gh_flow *flow, const struct gh_arch *arch, const uint8_t *code,
		  size_t size, uint64_t address);

/* Places for probes on a function. */
struct gh_probe_places {
	uint64_t entry; /* address that each call passes once, where arguments are still where they
			   were at the function's entry: behind the stack check, after which that
			   is begun again on a larger stack */
	int32_t depth;  /* of SP there below the CFA, in bytes */
	bool is_whole;  /* all instructions are known: else there may be more of the following */
	bool loops;     /* a loop comes by ENTRY, too */
	bool leaves;    /* it ends by a jump to another function, too */
	struct GH_VECTOR(uint64_t) returns; /* addresses of its return instructions, ascending */
};

/* Finds those of FUNC, where gh_flow_read knows the machine. False if memory ran out; in any case
 * the returns are to be freed. */
bool gh_probe_places_find(struct gh_probe_places *places, const struct gh_pclntab *tab,
			  const struct gh_func *func);

/* Functions whose calls are safepoints: the compiler tells which words of the caller's frame hold
 * pointers. The fields are private. */
struct gh_callees {
	struct GH_VECTOR(uint64_t) entries; /* addresses, ascending */
};

/* Finds the functions of TAB, all but those that the compiler calls where the garbage collector
 * never looks at the stack, and writes no pointer maps: they are known by their names. See
 * hasStackMap in src/cmd/compile/internal/liveness/plive.go, and the operations without call: true
 * in src/cmd/compile/internal/ssa/_gen. False if memory ran out; in any case CALLEES is to be
 * freed.
 */
bool gh_callees_find(struct gh_callees *callees, const struct gh_pclntab *tab);
void gh_callees_free(struct gh_callees *callees);

/* Whether one of them begins at ADDRESS. */
bool gh_callees_have(const struct gh_callees *callees, uint64_t address);

/* Receivers */

/* The most loads from memory that lead to a receiver. */
#define GH_RECEIVER_LOADS 3

/* The origin of an address. */
enum gh_receiver_from {
	GH_RECEIVER_FRAME,    /* SP */
	GH_RECEIVER_GLOBAL,   /* address 0 of the program's file */
	GH_RECEIVER_ARGUMENT, /* what a register held when the function was called */
};

/* The register of amd64 that has the closure that a function is called by, as instructions number
 * it, and how many may pass something to a function. */
#define GH_RECEIVER_CLOSURE   2
#define GH_RECEIVER_REGISTERS 16

/* Where the receiver of a method that was called is: what a word of the frame, or of a global, or
 * an argument, leads to. */
struct gh_receiver {
	size_t at;       /* of the call or the locked instruction in the function, in bytes */
	bool is_call;    /* it is the first argument of a call, or else the operand of an
			    instruction with the prefix LOCK */
	bool known;      /* the rest is: */
	uint8_t from;    /* enum gh_receiver_from */
	uint8_t reg;     /* an argument's register, as instructions number it */
	unsigned nloads; /* words to load; 0: the address itself is meant */
	int64_t offsets[GH_RECEIVER_LOADS + 1]; /* to add before each load, and at the end */
	bool is_lasting; /* the word is written in one place and nothing is done twice: later on it
			    still leads there */
};

/* An instruction that writes a word, or takes its address. */
struct gh_store {
	size_t at;      /* in the function, in bytes */
	bool in_frame;  /* the word is */
	bool is_zero;   /* what is written is 0 */
	int64_t offset; /* of the word: from SP; else that in the instruction, of a global its
			   address */
};

struct gh_store_list GH_VECTOR(struct gh_store); /* by place */

/* Stands in gh_passed.reg for the function that is called. */
#define GH_PASSED_CALLEE 0xff

/* A known value at a call: in a register, or the address of the function that a register has. */
struct gh_passed {
	uint8_t reg;
	struct gh_receiver value; /* at: of the call */
};

/* A word of the frame that is written in one place, by an instruction that stores there what an
 * argument leads to. */
struct gh_kept {
	size_t at;      /* of the instruction in the function, in bytes */
	int64_t offset; /* of the word, from SP */
	struct gh_receiver value;
};

struct gh_receivers {
	struct GH_VECTOR(struct gh_receiver) list; /* by place */
	struct GH_VECTOR(struct gh_passed) passed; /* by place, where arguments are in registers */
	struct GH_VECTOR(struct gh_kept) kept;     /* likewise, by when they are written */
	struct gh_store_list stores;               /* of the function */
};

/* Finds those in FUNC, by what its instructions load before: on amd64 and 386; there are none for
 * other machines, nor amd64's calls in Go 1.16 and 1.17, whose calling conventions the tables do
 * not tell apart. False if memory ran out. To be freed either way. */
bool gh_receivers_find(struct gh_receivers *receivers, const struct gh_pclntab *tab,
		       const struct gh_func *func);

void gh_receivers_free(struct gh_receivers *receivers);

/* Statements */

/* True if the SIZE bytes of CODE for ARCH do nothing but move data between registers and the stack
 * frame, and jump: what the register allocator put there, not the statement whose line the
 * pclntab has for it. A breakpoint that is set there may never be reached, or not first. Always
 * false on machines other than amd64, 386 and arm64, whose instructions it does not know. */
bool gh_code_only_moves(const struct gh_arch *arch, const uint8_t *code, size_t size);

/* Closures */

/* What type something of the function at ENTRY has. */
struct gh_entry_type {
	uint64_t entry;
	uint32_t type;
};

/* The number of the struct that the closures of FUNC are: the code's address, and what they have
 * captured. By what the code does that makes them: on amd64, from Go 1.18 on. GH_NO_RTYPE if it is
 * not known, or memory ran out. */
uint32_t gh_closure_struct(const struct gh_rtypes *types, const struct gh_func *func);

/* The type of the receiver that closures of the function NAME have captured, after the code's
 * address: of one that calls a method, "main.(*Server).Handle-fm". GH_NO_RTYPE if it is not known,
 * or NAME is that of another function. */
uint32_t gh_method_value_receiver(const struct gh_rtypes *types, const char *name);

/* Functions whose caller cannot be found on the stack */

enum gh_stack_end {
	GH_STACK_GOES_ON,  /* the return address is where the frame says */
	GH_STACK_ENDS,     /* nothing called it: a goroutine, a thread or the program starts here */
	GH_STACK_SWITCHES, /* it moves SP to another stack: its caller is known at its entry only */
	GH_STACK_SIGNAL_FRAME /* the kernel's frame of a signal: debuggers know it by its code */
};

/* Whether the functions of TAB have flags (Go 1.17 and later): some assembly function has one. */
bool gh_stack_has_flags(const struct gh_pclntab *tab);

/* NAME is that of the assembly function FUNCTION, which some linkers add the ABI to. */
bool gh_stack_is_named(const char *name, const char *function);

/* What kind of function FUNC, called NAME, is. If its table HAS_FLAGS they say so for most: a name
 * is then also that of the wrapper through which other Go code calls the assembly function. Without
 * them it is told by the name. */
enum gh_stack_end gh_stack_end(const struct gh_func *func, const char *name, bool has_flags);

/* The entry of runtime.goexit if that comes after function INDEX and goroutines' first functions
 * return there, in programs before Go 1.4; else 0. Debuggers look for the call before a return
 * address, which then is in function INDEX, or between the two. */
uint64_t gh_goexit_after(const struct gh_pclntab *tab, size_t index);

/* Calls that the runtime, or a debugger, puts into a goroutine that a signal stopped (preparePanic
 * and pushCall of src/runtime/signal_*.go). Where calls leave the return address in the link
 * register SP is lowered by gh_arch.injected_gap for them, the link register saved there, and then
 * set to where the goroutine stopped; else they are like any other. */

/* NAME is that of a function that is called like that, at any instruction: by signal handlers or,
 * debugCallV1 and its successors, by debuggers. */
bool gh_is_injected(const char *name);

/* Code that runs on another stack than its function was called on */

/* Where the value that SP had on the stack of the caller is, while another stack is in use. */
enum gh_switch_kind {
	GH_SWITCH_LOST,     /* not known */
	GH_SWITCH_REGISTER, /* in a register that calls preserve */
	GH_SWITCH_SAVED,    /* saved on the other stack */
	GH_SWITCH_DEPTH,    /* saved there, as its distance from the top of a goroutine's stack */
	GH_SWITCH_CALLBACK, /* in sched.sp of the thread's own g: below it is C code that called Go
			     */
	GH_SWITCH_RUNNING,  /* in sched.sp of the goroutine that the thread runs (m.curg) */
	GH_SWITCH_CALLED,   /* the same, and on amd64 if it is the goroutine that is at SP; with a
			       link register, in sched.pc is where it goes on */
};

struct gh_switch {
	uint64_t start; /* address of the code's first instruction, or of the call that it returns
			   from */
	uint64_t end;   /* one past its last */
	enum gh_switch_kind kind;
	uint8_t reg;     /* DWARF number of the register */
	uint8_t sp_slot; /* where SP or the distance is saved, in bytes above SP; of a callback,
			    where what sched.sp was before is, above sched.sp */
	uint8_t g_slot;  /* where the goroutine (a *g) is saved */
	int32_t frame;   /* distance of the CFA above that value, in bytes */
};

/* What is known of the runtime's variables and structs: runtime.g and runtime.m of
 * src/runtime/runtime2.go. Zeros where it was not found. */
struct gh_runtime {
	bool is_library;  /* the program is not Go's: it calls a library, or what it was linked with
			   */
	uint64_t allm;    /* address of runtime.allm, the list of all threads */
	uint64_t allgs;   /* of runtime.allgs, the slice of all goroutines */
	uint64_t allglen; /* of runtime.allglen, how many they are */
	uint64_t mstart; /* address of runtime.mstart, the first function of a thread's own stack */
	uint64_t systemstack_switch; /* address of the function of that name, where it is but a
					return: before Go 1.21 */
	uint32_t m_alllink;          /* offset in m of the next one in the list, in bytes */
	uint32_t m_curg;             /* in m: of the goroutine that it runs */
	uint32_t g_m;                /* in g: of the m that runs it; where a register holds g */
	uint32_t
	    g_sched_sp; /* in g: of SP while other code than the goroutine's runs; pc is next */
};

/* The offsets that are the same in all releases that have g.stack (Go 1.4), on machines with
 * pointers of 8 bytes. */
#define GH_G_STACK_HI 8 /* in g: one past its stack, whose start comes first */
#define GH_M_G0       0 /* in m: the g of its own stack */

struct gh_switches {
	struct GH_VECTOR(struct gh_switch) list; /* by address, none overlapping another */
	struct gh_runtime runtime;
};

/* Finds all such code of the program: in functions that move SP freely, by what the machine's
 * instructions do (amd64, arm64), else from a function's second instruction on, as GH_SWITCH_LOST.
 * False (ERR filled) if a function cannot be read or memory ran out; in any case SWITCHES is to be
 * freed.
 */
bool gh_switches_find(struct gh_switches *switches, const struct gh_pclntab *tab,
		      struct gh_error *err);

void gh_switches_free(struct gh_switches *switches);

/* FUNC is what C code calls Go by: *SLOT is where it keeps what sched.sp of the thread's own g was
 * before, in bytes above what that is meanwhile. False if it is another function, or that is not
 * known. */
bool gh_callback_slot(const struct gh_pclntab *tab, const struct gh_func *func, uint8_t *slot);

/* The registers that C code has its callees preserve, as runtime/cgo's crosscall2 saves them. */
struct gh_saved_registers {
	uint64_t from; /* address from which on all are saved */
	uint8_t count; /* 0 if that is not known */
	struct {
		uint8_t reg;    /* DWARF number */
		uint64_t place; /* where, in bytes below the CFA */
	} items[16];
};

/* Those that FUNC saves, if it is that function and the machine is amd64 or arm64. */
void gh_saved_registers(struct gh_saved_registers *saved, const struct gh_pclntab *tab,
			const struct gh_func *func);

/* Globals */

/* A function's code refers to an address. */
struct gh_global_ref {
	uint64_t address;
	uint32_t function; /* its number */
};

struct gh_global_refs GH_VECTOR(struct gh_global_ref); /* by address and function, each once */

/* Finds the references of the functions of TAB to addresses from START to before END: on amd64 and
 * arm64; there are none for other machines. Of a function with instructions that are not known,
 * those before them are found. False if memory ran out. To be freed either way. */
bool gh_global_refs_find(struct gh_global_refs *refs, const struct gh_pclntab *tab, uint64_t start,
			 uint64_t end);

/* The same of FUNC alone, to any address. */
bool gh_global_refs_of(struct gh_global_refs *refs, const struct gh_pclntab *tab,
		       const struct gh_func *func);

/* The address from START to before END that the code of TAB's program from FROM, where an
 * instruction starts, to before TO refers to last; *AT is where the instruction ends that does. 0
 * if it refers to none. Which machines, and how far: as above. */
uint64_t gh_global_ref_last(const struct gh_pclntab *tab, uint64_t from, uint64_t to,
			    uint64_t start, uint64_t end, uint64_t *at);

/* Those to the last address that is not past ADDRESS, and how many they are. NULL if there are
 * none. */
const struct gh_global_ref *gh_global_refs_before(const struct gh_global_refs *refs,
						  uint64_t address, size_t *count);

void gh_global_refs_free(struct gh_global_refs *refs);

#endif
