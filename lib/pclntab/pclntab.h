/* The Go pclntab (runtime.pclntab): which function, file and line each program counter belongs to.
 *
 * Formats: Go's src/runtime/symtab.go and src/cmd/link/internal/ld/pcln.go of each release, and
 * "Go 1.2 Runtime Symbol Information" (golang.org/s/go12symtab). */
#ifndef GH_PCLNTAB_PCLNTAB_H
#define GH_PCLNTAB_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/elf/image.h"
#include "lib/pclntab/moduledata.h"
#include "lib/util/buffer.h"

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

/* What the release numbers otherwise than others. */
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

/* The number of the function that PC is in, padding after a function counted as its own;
 * SIZE_MAX if it is before the first or past the last. */
size_t gh_pclntab_find(const struct gh_pclntab *tab, uint64_t pc);

/* The name at NAME; "" if it lies outside the table or never ends. It lives in the image. */
const char *gh_pclntab_name(const struct gh_pclntab *tab, uint32_t name);

/* The name of file FILE (as the source map numbers them: equal numbers are equal files, not the
 * other way round), or
 * "" for GH_NO_FILE or one outside the table. It lives in the image. */
const char *gh_pclntab_file(const struct gh_pclntab *tab, uint32_t file);

/* The file number of entry N of FUNC's compilation unit, as its pcfile table counts; GH_NO_FILE
 * if there is none. */
uint32_t gh_pclntab_cu_file(const struct gh_pclntab *tab, const struct gh_func *func, int32_t n);

/* Offset of FUNC's PCDATA table number N in pctab; 0 if it has none. */
uint32_t gh_pclntab_pcdata(const struct gh_pclntab *tab, const struct gh_func *func, unsigned n);

/* Address of FUNC's FUNCDATA number N; 0 if it has none. */
uint64_t gh_pclntab_funcdata(const struct gh_pclntab *tab, const struct gh_func *func, unsigned n);

#endif
