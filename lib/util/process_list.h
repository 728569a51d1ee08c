/* The processes of this machine, as proc(5) has them. */
#ifndef GH_UTIL_PROCESS_LIST_H
#define GH_UTIL_PROCESS_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* A process, as /proc has it. */
struct gh_process_summary {
	int pid;
	unsigned user;          /* the number of the user that owns it */
	uint64_t started;       /* seconds since the epoch; 0 if that is not known */
	uint64_t resident;      /* bytes of it in memory; 0 for threads of the kernel */
	char program[PATH_MAX]; /* the path of what it runs; "" if that is not known */
	bool readable;          /* this user may know that */
};

/* Reads the process PID. False if there is none. */
bool gh_process_summary_read(struct gh_process_summary *summary, int pid);

/* The characters of a container's id that people are shown, and a NUL. */
#define GH_CONTAINER_TEXT 13

/* Puts the start of the id of the container that the process PID is in, as its control groups are
 * named for it, into TEXT; "" if it is in none that is known. */
void gh_process_container_read(char text[GH_CONTAINER_TEXT], int pid);

typedef void gh_process_take(void *context, const struct gh_process_summary *summary);

/* Hands each process of this machine to TAKE, in no order. False if /proc cannot be read. */
bool gh_process_list(gh_process_take *take, void *context);

#endif
