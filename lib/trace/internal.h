/* What files of lib/trace share. */
#ifndef GH_TRACE_INTERNAL_H
#define GH_TRACE_INTERNAL_H

#include "lib/trace/trace.h"

/* Writes the ARGUMENTS of a system call of OF as text, without the parentheses: "7, pipe:[4711]".
 * FORM has a letter for each of the first:
 *
 * - d: a descriptor, with what it is of; n: a path; s: a socket's address, of the size that
 * follows;
 * - k: the operation of flock; l: the command of fcntl, with what follows; p: what poll waits for;
 * - m: a time in ms; t: one as struct timespec; T: that of clock_nanosleep, by the clock and the
 *   flags before it; u: that of futex, by the operation before it;
 * - a: an address or another number; i: a number with a sign; _: what is not told.
 *
 * NULL if nothing is known of them. To be freed. */
char *gh_call_arguments_write(const struct gh_calling *of, const char *form,
			      const uint64_t arguments[GH_CALL_ARGUMENTS]);

/* Finds for how long the threads that are in CALLS of process PID have been asleep. */
void gh_sleeps_read(struct gh_system_calls *calls, int pid);

#endif
