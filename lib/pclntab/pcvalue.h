/* pc-value tables: a value for each pc of a function, run-length encoded. */
#ifndef GH_PCLNTAB_PCVALUE_H
#define GH_PCLNTAB_PCVALUE_H

#include "lib/pclntab/pclntab.h"

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

#endif
