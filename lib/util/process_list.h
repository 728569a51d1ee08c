/* The processes of this machine, as proc(5) has them. */
#ifndef GH_UTIL_PROCESS_LIST_H
#define GH_UTIL_PROCESS_LIST_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
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

/* Reads the beginning of the file at PATH, in /proc, into TEXT of SIZE bytes, with a NUL behind it;
 * "" if it cannot be read. */
void gh_proc_read(char *text, size_t size, const char *path);

/* The field NUMBER, as proc_pid_stat(5) counts them, from the state, 3, on, in STAT, the text of
 * /proc/PID/stat or of a thread's, with what follows it. NULL if it is not there. */
const char *gh_proc_stat_field(const char *stat, unsigned number);

typedef void gh_process_take(void *context, const struct gh_process_summary *summary);

/* Hands each process of this machine to TAKE, in no order. False if /proc cannot be read. */
bool gh_process_list(gh_process_take *take, void *context);

#endif
