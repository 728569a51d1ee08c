/* Where it is known what is in memory, before anything follows from it. */
#ifndef GH_HEAP_SEEDS_H
#define GH_HEAP_SEEDS_H

#include "lib/heap/typer.h"

/* Objects of which the dump says what they are, or their headers do. */
void gh_seeds_exact(struct gh_typer *typer);

/* What records of finalizers, goroutines, threads, defers and panics say. */
void gh_seeds_records(struct gh_typer *typer);

/* Interfaces in the data segments, by their words. */
void gh_seeds_segments(struct gh_typer *typer);

/* Interfaces in the objects whose type is not known. */
void gh_seeds_objects(struct gh_typer *typer);

#endif
