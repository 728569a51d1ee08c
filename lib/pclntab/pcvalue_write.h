/* The other way round: pc-value tables as they are written. */
#ifndef GH_PCLNTAB_PCVALUE_WRITE_H
#define GH_PCLNTAB_PCVALUE_WRITE_H

#include "lib/util/buffer.h"

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
