/* Where it is known what is in memory, before anything follows from it. */
#ifndef GH_HEAP_SEEDS_H
#define GH_HEAP_SEEDS_H

#include "lib/heap/typer.h"
#include "lib/heap/variables.h"

/* Objects of which the dump says what they are, or their headers do. */
void gh_seeds_exact(struct gh_typer *typer);

/* What records of finalizers, goroutines, threads, defers and panics say. */
void gh_seeds_records(struct gh_typer *typer);

/* Interfaces in the data segments, by their words. */
void gh_seeds_segments(struct gh_typer *typer);

/* Roots in variables of the program's. */
void gh_seeds_variables(struct gh_typer *typer, const struct gh_variables *variables);

/* The variable that ROOT is in, and how far its slot is from the variable's start; NULL if there is
 * none. BIAS is that of the dump's addresses over the program's. */
const struct gh_variable *gh_seeds_variable_of(const struct gh_variables *variables,
					       const struct gh_dump *dump, uint64_t bias,
					       const struct gh_root *root, uint64_t *offset);

/* The places in the code of the frames of DUMP, less BIAS: ascending, each once. They go into PCS
 * as uint64_t. */
void gh_seeds_pcs(const struct gh_dump *dump, uint64_t bias, struct gh_buffer *pcs);

/* Interfaces in the objects whose type is not known. */
void gh_seeds_objects(struct gh_typer *typer);

#endif
