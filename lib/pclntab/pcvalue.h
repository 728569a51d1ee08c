/* pc-value tables: a value for each pc of a function, run-length encoded. Format: pcvalue in
 * src/runtime/symtab.go. */
#ifndef GH_PCLNTAB_PCVALUE_H
#define GH_PCLNTAB_PCVALUE_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/buffer.h"

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

/* A table that is being written. The fields are private. */
struct gh_pcvalue_writer {
	struct gh_buffer *out; /* not owned */
	uint64_t pc;           /* where the first run starts, an address */
	uint8_t quantum;       /* of pc deltas, in bytes */
	uint64_t end;          /* of the run that was added last, which is not written yet */
	int32_t value;         /* of it */
	int32_t written;       /* value of the run before */
	bool pending;          /* there is such a run */
};

/* Starts the table of a function that begins at ENTRY, at the end of OUT. */
void gh_pcvalue_write_start(struct gh_pcvalue_writer *writer, struct gh_buffer *out, uint64_t entry,
			    uint8_t quantum);

/* Adds the run that goes from where the last one ended to END, an address. One of no length is
 * left out; neighbours of one value become one run, as a table must have it. */
void gh_pcvalue_write_run(struct gh_pcvalue_writer *writer, uint64_t end, int32_t value);

/* Ends the table. */
void gh_pcvalue_write_end(struct gh_pcvalue_writer *writer);

#endif
