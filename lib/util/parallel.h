/* Work on several processors. */
#ifndef GH_UTIL_PARALLEL_H
#define GH_UTIL_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* What goes through memory as a whole gains nothing from more threads. */
#define GH_PARALLEL_MAX 8

/* How many pieces are worked on at once, at most: as many as there are processors, and from 1 to
 * GH_PARALLEL_MAX. */
unsigned gh_parallel_width(void);

/* Calls WORK with CONTEXT and each number below COUNT, once, in ascending order but several at
 * once; the caller's thread is one of those that do. Returns when all are done. */
void gh_parallel(uint32_t count, void (*work)(void *context, uint32_t number), void *context);

/* The same, and once WORK has returned for a number calls TAKE with it: with one number at a time,
 * all of them in ascending order, and never far behind WORK. False, and nothing is called, if
 * memory ran out. */
bool gh_parallel_ordered(uint32_t count, void (*work)(void *context, uint32_t number),
			 void (*take)(void *context, uint32_t number), void *context);

#endif
