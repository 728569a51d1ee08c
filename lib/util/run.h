/* Other programs, run to their end without a shell. */
#ifndef GH_UTIL_RUN_H
#define GH_UTIL_RUN_H

#include <stdbool.h>

struct gh_run {
	const char *path;             /* of the program */
	const char *const *arguments; /* from its name on; NULL ends them */
	char *const *environment;     /* the same of NAME=VALUE; NULL: this program's own */
	const char *directory;        /* to run it in; NULL: this one */
	int output;                   /* descriptor of its standard output */
	bool takes_errors;            /* and of its standard error; else that is this program's */
};

/* Runs it, with nothing on its standard input, and waits for it. Its exit status; -1 if it could
 * not be run, or a signal ended it. */
int gh_run(const struct gh_run *run);

#endif
