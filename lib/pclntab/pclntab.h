/* What a Go program's pclntab (runtime.pclntab) and moduledata tell of its functions: names, files
 * and lines, pc-value tables, inlined calls, stack maps and arguments. gh_pclntab_open reads the
 * table of any release; everything else asks it.
 *
 * - pclntab.c: functions, their names and files, and the numbers of PCDATA and FUNCDATA tables,
 *   which change from release to release; funcdata.c: where a function has the table of a number;
 * - moduledata.c: where else the linker put what the runtime needs;
 * - pcvalue.c, sourcemap.c: pc-value tables; the lines and inlined calls that they tell;
 * - stackmap.c: pointers in frames; arginfo.c: arguments, as tracebacks print them;
 * - func_name.c: what a function's name is made of;
 * - same_build.c: whether a table is that of a process, or of an unstripped twin;
 * - plan9*.c: the tables of Go 1.0 and 1.1, turned into those of Go 1.2. */
#ifndef GH_PCLNTAB_PCLNTAB_H
#define GH_PCLNTAB_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/elf.h"
#include "lib/util/buffer.h"
#include "lib/util/vector.h"

/* runtime.firstmoduledata: where the linker put what the runtime needs, found in a stripped
 * program. */

struct gh_pclntab;

/* The fields of runtime.moduledata that goheap uses; all addresses. The layout is in
 * src/runtime/symtab.go of each release. */
struct gh_moduledata {
	uint64_t address; /* of the moduledata itself; 0 if it was not found */
	uint64_t text, etext;
	uint64_t noptrdata, enoptrdata;
	uint64_t data, edata;
	uint64_t bss, ebss;
	uint64_t noptrbss, enoptrbss;
	uint64_t types, etypes;
	uint64_t rodata;       /* what masks of stack objects are told from (Go 1.18 and later) */
	uint64_t gofunc;       /* what FUNCDATA offsets count from (Go 1.18 and later) */
	uint64_t textsectmap;  /* address of the text sections' records */
	uint64_t ntextsectmap; /* number of them */
	uint64_t itablinks;    /* address of pointers to the itabs (to Go 1.26) */
	uint64_t nitablinks;   /* number of them */
	uint64_t itabs;        /* address of the itabs, one after the other (Go 1.27) */
	uint64_t itabs_size;   /* their size together, in bytes */
	/* Where it has some of its fields, in words from its start. */
	uint8_t text_word, types_word, etypes_word;
	uint8_t ptab_word; /* 0 where it is not known */
};

/* The Go pclntab (runtime.pclntab): which function, file and line each program counter belongs to.
 *
 * Formats: Go's src/runtime/symtab.go and src/cmd/link/internal/ld/pcln.go of each release, and
 * "Go 1.2 Runtime Symbol Information" (golang.org/s/go12symtab). */

/* The formats, each named after the first Go release that wrote it. Later ones compare greater. */
enum gh_pclntab_format {
	GH_PCLNTAB_1_0,
	GH_PCLNTAB_1_1,
	GH_PCLNTAB_1_2,
	GH_PCLNTAB_1_16,
	GH_PCLNTAB_1_18,
	GH_PCLNTAB_1_20,
};

/* No file: a file number that names none. */
#define GH_NO_FILE UINT32_MAX

/* A function, as its _func record says. */
struct gh_func {
	uint64_t entry; /* address of the first instruction */
	uint64_t end;   /* one past its last instruction, by its own tables; padding left out */
	uint32_t name;  /* for gh_pclntab_name */
	uint32_t cu;    /* first cutab entry of its compilation unit (0 before Go 1.16) */
	uint32_t pcsp;  /* offsets of the pc-value tables in pctab, 0 if there is none */
	uint32_t pcfile;
	uint32_t pcln;
	uint32_t npcdata;   /* number of PCDATA tables */
	uint32_t nfuncdata; /* number of FUNCDATA pointers */
	uint64_t record;    /* offset of the arrays that follow the record, in functab */
	int32_t args;       /* size of arguments and results in bytes; INT32_MIN if unknown */
	int32_t start_line; /* line of the func keyword, from Go 1.20; 0 before */
	uint8_t
	    func_id;  /* runtime.funcID, numbered differently in each release; 0 before Go 1.12 */
	uint8_t flag; /* runtime.funcFlag, 0 before Go 1.17 */
};

/* gh_func.flag: the outermost frame of a stack, a function that moves SP freely, and one in
 * assembly (Go 1.18 and later). */
#define GH_FUNC_TOP_FRAME 1
#define GH_FUNC_SP_WRITE  2
#define GH_FUNC_ASM       4

/* The numbers of PCDATA and FUNCDATA that differ between releases; numbers_of in pclntab.c. */
struct gh_pclntab_numbers {
	uint8_t stack_map_index; /* PCDATA_StackMapIndex */
	uint8_t inl_tree_index;  /* PCDATA_InlTreeIndex */
	uint8_t inl_tree;        /* FUNCDATA_InlTree */
	uint8_t stack_objects;   /* FUNCDATA_StackObjects */
};

struct gh_pclntab {
	const struct gh_image *image; /* not owned; outlives the table */
	enum gh_pclntab_format format;
	uint64_t address;       /* of the table */
	uint64_t header_offset; /* of the table, in the file */
	uint8_t quantum;        /* pc quantum, in bytes */
	uint8_t pointer_size;   /* in bytes */
	size_t nfunc;           /* functions */
	uint32_t nfiles;        /* files */
	uint64_t text;          /* address that entries are relative to (Go 1.18 and later) */
	uint64_t end;           /* one past the last function */
	uint64_t pairs;         /* offset in functab of the first (pc, record offset) pair */
	uint8_t pair_half;      /* size of a pc or an offset in a pair, in bytes */
	struct gh_cursor
	    functab; /* (pc, offset) pairs; and records, whose offsets count from its start */
	struct gh_cursor names;      /* function names */
	struct gh_cursor cutab;      /* Go 1.16 and later: file offsets per compilation unit */
	struct gh_cursor files;      /* file names (to 1.2: their offsets, 4 bytes each) */
	struct gh_cursor pctab;      /* pc-value tables */
	struct gh_moduledata module; /* zeros where it was not found */
	struct gh_buffer converted;  /* Go 1.0 and 1.1: the table in the format of 1.2; owned */
	bool has_func_id; /* records have funcID, and inline trees parentPc: Go 1.12 and later */
	struct gh_pclntab_numbers numbers; /* good if has_func_id */
	bool no_text_start; /* the header does not say where the text is: Go 1.26 and later */
};

/* A module of a Go process: its program, a plugin, or a library that was linked with the option
 * -linkshared. */
struct gh_module {
	const struct gh_pclntab *tab; /* not owned */
	uint64_t bias;                /* of the process's addresses over the file's */
	bool
	    linked; /* it has the program's runtime, not one of its own: known of those beside it */
};

/* Finds and checks the pclntab of IMAGE: in its section, whatever that is called, or, with the
 * section headers gone, by its header in the loadable segments. Every header field and the functab
 * are checked; functions that are out of order or out of the text are an error. Returns false and
 * fills ERR if there is none (the image is no Go program) or it is malformed. The table is good for
 * as long as IMAGE, and to be closed with gh_pclntab_close, which may be done also where it failed.
 */
bool gh_pclntab_open(struct gh_pclntab *tab, const struct gh_image *image, struct gh_error *err);

/* Frees what the table owns. A zeroed table may be closed too. */
void gh_pclntab_close(struct gh_pclntab *tab);

/* Reads function number INDEX, in address order. False (ERR filled) if its record lies outside the
 * table or INDEX is not less than nfunc. */
bool gh_pclntab_func(const struct gh_pclntab *tab, size_t index, struct gh_func *func,
		     struct gh_error *err);

/* The same without a walk over a table: the function's end is where the next one starts. */
bool gh_pclntab_record(const struct gh_pclntab *tab, size_t index, struct gh_func *func,
		       struct gh_error *err);

/* TAB is that of the program in MEMORY, BIAS above the file's addresses, as far as that has its
 * tables and its moduledata: true also where it has neither. */
bool gh_pclntab_fits_memory(const struct gh_pclntab *tab, const struct gh_memory *memory,
			    uint64_t bias);

/* Checks that TWIN, of the program before it was stripped, has the functions of PROGRAM: as many,
 * with the same names, as far apart; and its variables. False (ERR filled) if not. */
bool gh_pclntab_check_twin(const struct gh_pclntab *twin, const struct gh_pclntab *program,
			   struct gh_error *err);

/* The number of the function that PC is in, padding after a function counted as its own;
 * SIZE_MAX if it is before the first or past the last. */
size_t gh_pclntab_find(const struct gh_pclntab *tab, uint64_t pc);

/* Fills FUNC with the function that begins at ENTRY, as gh_pclntab_record does. False if none does.
 */
bool gh_pclntab_at(const struct gh_pclntab *tab, uint64_t entry, struct gh_func *func);

/* The name at NAME; "" if it lies outside the table or never ends. It lives in the image. */
const char *gh_pclntab_name(const struct gh_pclntab *tab, uint32_t name);

/* The name of file FILE (as the source map numbers them: equal numbers are equal files, not the
 * other way round), or
 * "" for GH_NO_FILE or one outside the table. It lives in the image. */
const char *gh_pclntab_file(const struct gh_pclntab *tab, uint32_t file);

/* The file number of entry N of FUNC's compilation unit, as its pcfile table counts; GH_NO_FILE
 * if there is none. */
uint32_t gh_pclntab_cu_file(const struct gh_pclntab *tab, const struct gh_func *func, int32_t n);

/* Numbers of FUNCDATA and PCDATA that no release changes, of src/runtime/funcdata.h; those that
 * differ are in struct gh_pclntab_numbers. That of PCDATA_UnsafePoint, 0, and those not named here
 * are not used. */
enum {
	GH_FUNCDATA_ARGS_POINTER_MAPS = 0,
	GH_FUNCDATA_LOCALS_POINTER_MAPS = 1,
	GH_FUNCDATA_ARG_INFO = 5,      /* Go 1.17 and later */
	GH_FUNCDATA_ARG_LIVE_INFO = 6, /* Go 1.18 and later, as the next */
	GH_PCDATA_ARG_LIVE_INDEX = 3,
};

/* Address of FUNC's FUNCDATA number N; 0 if it has none. */
uint64_t gh_pclntab_funcdata(const struct gh_pclntab *tab, const struct gh_func *func, unsigned n);

/* pc-value tables: a value for each pc of a function, run-length encoded. Format: pcvalue in
 * src/runtime/symtab.go. */

/* A walk over one table. */
struct gh_pcvalue {
	struct gh_cursor cur; /* at the next pair */
	uint64_t start;       /* of the current run, an address */
	uint64_t end;         /* one past the current run */
	int32_t value;        /* of the current run */
	uint8_t quantum;      /* of pc deltas, in bytes */
	bool first;           /* no pair has been read yet */
};

/* Starts a walk over the table at OFFSET in pctab for FUNC, before its first run. OFFSET 0 means
 * there is no table. */
void gh_pcvalue_start(struct gh_pcvalue *walk, const struct gh_pclntab *tab,
		      const struct gh_func *func, uint32_t offset);

/* Goes to the next run. False at the end of the table, or where it leaves the table or the address
 * space. Runs of no length are passed over, a few at one pc: so a walk is never much longer than
 * the function's code. */
bool gh_pcvalue_next(struct gh_pcvalue *walk);

/* The value for PC in the table at OFFSET; -1, as the runtime says, if the table has none. */
int32_t gh_pcvalue_at(const struct gh_pclntab *tab, const struct gh_func *func, uint32_t offset,
		      uint64_t pc);

/* What the names of functions are made of, and the shorter ones that people type for them. */

/* Length in bytes of the package path that the function name NAME starts with, as the linker spells
 * it (a dot in its last element is "%2e"); 0 if it has none. What the compiler makes (equality
 * functions "type..eq.T", "go:buildid" and their kind) and the local labels of assembly files are
 * in no package. */
size_t gh_package_length(const char *name);

/* A part of a name, in it. */
struct gh_name_part {
	const char *text; /* not ended by a NUL */
	size_t size;      /* in bytes */
};

/* The name of a function or method that the source declares: net/http.(*Server).Serve. Type
 * parameters, "[...]" after the type or the function, are left out. */
struct gh_func_name {
	struct gh_name_part package; /* net/http */
	struct gh_name_part
	    element; /* http: what the package is called in the source, most often */
	struct gh_name_part receiver; /* Server; of no bytes if it is no method */
	bool pointer;                 /* the receiver is one */
	struct gh_name_part base;     /* Serve */
};

/* Takes NAME apart, as the linker spells it, which outlives OUT. False if it is that of a closure
 * or of something else that no source declares by a name. */
bool gh_func_name_parse(struct gh_func_name *out, const char *name);

/* The ways to write it. The first is the linker's but for type parameters. */
enum gh_name_form {
	GH_NAME_WHOLE,            /* net/http.(*Server).Serve */
	GH_NAME_BASE,             /* Serve */
	GH_NAME_RECEIVER,         /* Server.Serve */
	GH_NAME_ELEMENT,          /* http.Server.Serve, http.Get, main.Server.handle */
	GH_NAME_ELEMENT_POINTER,  /* http.(*Server).Serve */
	GH_NAME_PACKAGE_RECEIVER, /* net/http.Server.Serve */
	GH_NAME_FORMS,            /* how many there are */
};

/* The longest that is written, in bytes with its NUL. */
#define GH_NAME_FORM_SIZE 512

/* Writes NAME to TEXT, of GH_NAME_FORM_SIZE bytes, in the form FORM. Returns its length; 0 if it
 * has none, if that is another form's, or if it is longer than that. */
size_t gh_func_name_write(const struct gh_func_name *name, enum gh_name_form form, char *text);

/* Writes NAME to TEXT, of GH_NAME_FORM_SIZE bytes, with ARGUMENTS in the place of each list of type
 * arguments: "[...]" is what tracebacks have there. Returns its length; 0, and an empty TEXT, if it
 * is longer than that. */
size_t gh_func_name_replace(const char *name, const char *arguments, char *text);

/* The source map: for each function a sorted run of pc ranges, each with the stack of (function,
 * file, line) that is executing there. Every consumer of lines reads this; nothing else decodes the
 * tables behind it. */

/* The deepest nesting of inlined calls that is followed; a chain that is longer is cut. */
#define GH_MAX_INLINE_DEPTH 64

/* One entry of a range's stack. */
struct gh_frame {
	uint32_t name;      /* of the function, for gh_pclntab_name */
	uint32_t file;      /* for gh_pclntab_file, or GH_NO_FILE */
	int32_t line;       /* 0 if unknown */
	int32_t start_line; /* of the function's func keyword; 0 if unknown */
	int32_t tree_index; /* record of the inline tree that this frame is; -1 for the function
			       itself */
};

/* FRAME is of a function that the compiler made, to lead to another: it is in no source file. */
bool gh_frame_is_wrapper(const struct gh_pclntab *tab, const struct gh_frame *frame);

/* A range of pcs that execute the same source lines. */
struct gh_range {
	uint64_t start;                              /* an address */
	uint64_t end;                                /* one past the range */
	unsigned nframes;                            /* at least 1 */
	struct gh_frame frames[GH_MAX_INLINE_DEPTH]; /* innermost first; the last is the function */
};

/* A run of pcs for which all tables of a function hold one value each. */
struct gh_piece {
	uint64_t start;  /* an address; the next piece's start, or the function's end, is its end */
	int32_t file;    /* of the pcfile table; -1 if unknown */
	int32_t line;    /* of the pcln table; -1 if unknown */
	int32_t inlined; /* record of the inline tree, -1 for none */
};

/* A walk over the ranges of one function after the other. Zero it before the first function. The
 * fields are private. */
struct gh_sourcemap {
	const struct gh_pclntab *tab;
	const struct gh_func *func;
	struct gh_cursor tree; /* the inline tree and what follows it; empty if there is none */
	struct GH_VECTOR(struct gh_piece) pieces; /* of the function, by start */
	size_t next;                              /* the piece that the next range is made of */
};

/* Starts a walk over FUNC, which must stay put until the walk ends. False if memory ran out. */
bool gh_sourcemap_start(struct gh_sourcemap *map, const struct gh_pclntab *tab,
			const struct gh_func *func);

/* Gives the next range. Ranges are ascending, do not overlap, and together cover the function from
 * entry to end; neighbours differ in their stacks. False at the end of the function. */
bool gh_sourcemap_next(struct gh_sourcemap *map, struct gh_range *range);

/* The same, but of an inlined call only the place that is executing there: RANGE has one frame,
 * whose function is not told. The callers need several times as long. */
bool gh_sourcemap_next_place(struct gh_sourcemap *map, struct gh_range *range);

/* Gives the range that holds PC, an address in the function, wherever the walk is; the walk goes on
 * after it. False if PC is outside the function. */
bool gh_sourcemap_seek(struct gh_sourcemap *map, uint64_t pc, struct gh_range *range);

/* Frees what the walk owns. */
void gh_sourcemap_free(struct gh_sourcemap *map);

/* Which words of a function's frame hold pointers while it calls: FUNCDATA_LocalsPointerMaps and
 * FUNCDATA_ArgsPointerMaps, of which PCDATA_StackMapIndex tells one for each pc (Go 1.13 and
 * later). Format: struct stackmap in src/runtime/symtab.go; where the words are: getStackMap in
 * src/runtime/stkframe.go (stack.go up to Go 1.19), and the frame's layout in traceback.go. */

/* The maps of a function's locals, or of its arguments. */
struct gh_bitmaps {
	struct gh_cursor bytes; /* of the maps, one after the other */
	uint32_t count;         /* maps */
	uint32_t nbits;         /* words that each map tells of; 0: there are none */
};

/* The pointer maps of a function. The fields are private. */
struct gh_stackmaps {
	uint8_t word;             /* bytes of one */
	uint8_t above_locals;     /* bytes above the locals, of the frame pointer */
	uint8_t below_args;       /* bytes between the frame's end and the arguments */
	struct gh_bitmaps locals; /* up to the end of the frame but for above_locals */
	struct gh_bitmaps args;
};

/* A walk over the words of one place in the code. The fields are private. */
struct gh_live_words {
	const struct gh_stackmaps *maps;
	uint32_t index; /* of the maps */
	int32_t delta;  /* from sp to the frame's end, in bytes */
	bool in_args;
	uint32_t bit; /* the next to be looked at */
};

/* Whether the functions of TAB say where their pointers are in a way that is known. */
bool gh_stackmaps_told(const struct gh_pclntab *tab);

/* Reads where the maps of FUNC are; those that cannot be read are left out. Returns whether
 * there are any with words in them. */
bool gh_stackmaps_find(struct gh_stackmaps *maps, const struct gh_pclntab *tab,
		       const struct gh_func *func);

/* The offset in pctab of the table that gives for each pc the index of the maps that hold there; -1
 * stands for 0. A frame that is calling has the index of the call's last byte. 0 if FUNC has no
 * such table. */
uint32_t gh_stackmaps_table(const struct gh_pclntab *tab, const struct gh_func *func);

/* The bytes that the maps of one index take. */
size_t gh_stackmaps_size(const struct gh_stackmaps *maps);

/* Starts a walk over the words that hold pointers where the table says INDEX, and the stack delta
 * is DELTA. */
void gh_live_words_start(struct gh_live_words *walk, const struct gh_stackmaps *maps, int32_t index,
			 int32_t delta);

/* Gives the offset of the next word from sp, in bytes: first the locals', then those of the
 * arguments, which are beyond the frame. Ascending. False if there are no more. */
bool gh_live_words_next(struct gh_live_words *walk, uint32_t *offset);

/* Which words a function's arguments are made of, for tracebacks (Go 1.17 and later):
 * FUNCDATA_ArgInfo. Format: printArgs in src/runtime/traceback.go, and EmitArgInfo in
 * src/cmd/compile/internal/ssagen/ssa.go. Which of them are pointers: FUNCDATA_ArgsPointerMaps,
 * stackmap in src/runtime/symtab.go. */

/* What is next in the list. */
enum gh_arg_token {
	GH_ARG_LIST_END,
	GH_ARG_BEGIN, /* of an aggregate */
	GH_ARG_END,
	GH_ARG_WORD,
	GH_ARG_FAR_WORD, /* one whose place is too far away to be told */
	GH_ARG_DOTS,     /* parts that are left out, and, outside aggregates, all that follows */
};

/* A walk over a function's list. */
struct gh_arg_walk {
	struct gh_cursor cur;
	unsigned left; /* bytes that may still be read */
	uint8_t
	    offset;   /* of the word's place in memory from that of the first argument, in bytes */
	uint8_t size; /* of the word, in bytes */
};

/* Starts a walk. False if FUNC has no list. */
bool gh_arg_walk_start(struct gh_arg_walk *walk, const struct gh_pclntab *tab,
		       const struct gh_func *func);

enum gh_arg_token gh_arg_walk_next(struct gh_arg_walk *walk);

/* How many bytes the words of FUNC's arguments take in memory, from the first one's place on. */
uint64_t gh_args_extent(const struct gh_pclntab *tab, const struct gh_func *func);

/* Which words' memory has been written at a pc: that of arguments in registers need not be. Go 1.18
 * and later: FUNCDATA_ArgLiveInfo and PCDATA_ArgLiveIndex. */
struct gh_arg_liveness {
	struct gh_cursor bits; /* a bit for each word that may not be */
	uint8_t start;         /* offset of the first word that may not be */
	uint8_t slot;          /* number of the next such word */
	bool is_told;          /* BITS are there: else all has been */
};

/* Starts to tell of FUNC's words at PC. */
void gh_arg_liveness_start(struct gh_arg_liveness *liveness, const struct gh_pclntab *tab,
			   const struct gh_func *func, uint64_t pc);

/* The address in FUNC from which on it is told which words have been written: until then those in
 * registers need not be. FUNC's entry if nothing is ever told. */
uint64_t gh_arg_liveness_begins(const struct gh_pclntab *tab, const struct gh_func *func);

/* Whether the next word, which is at OFFSET, has been written. */
bool gh_arg_is_live(struct gh_arg_liveness *liveness, uint8_t offset);

/* The compiler tells no more words than these. */
#define GH_MAX_ARGS 10

/* gh_arg.part: the argument is no aggregate. */
#define GH_ARG_WHOLE UINT8_MAX

/* A word that is an argument, or part of one. */
struct gh_arg {
	uint8_t number;  /* of the argument, from 0 */
	uint8_t part;    /* of the aggregate, from 0, nested ones laid flat; or GH_ARG_WHOLE */
	uint8_t offset;  /* of its place in memory from that of the first argument, in bytes */
	uint8_t size;    /* in bytes: 1, 2, 4 or 8 */
	bool is_pointer; /* known to be one; others may be */
};

struct gh_args {
	struct gh_arg items[GH_MAX_ARGS];
	size_t count;
};

/* Reads the words of FUNC's arguments; as many as can be read. The memory that is theirs may hold
 * something else. */
void gh_args_read(struct gh_args *args, const struct gh_pclntab *tab, const struct gh_func *func);

#endif
