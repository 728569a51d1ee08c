/* What the commands that tell what goroutines wait for share. */
#ifndef GH_PLUGIN_COMMAND_WAIT_QUERY_H
#define GH_PLUGIN_COMMAND_WAIT_QUERY_H

#include "lib/rtype/rtype.h"
#include "lib/trace/trace.h"
#include "lib/wait/wait.h"
#include "plugin/command/heap_query.h"

/* A query about the goroutines of a dump. */
struct gh_wait_query {
	const struct gh_options *options; /* the caller's */
	FILE *out;                        /* to print the answer to */
	struct gh_dump dump;
	struct gh_symbols program;  /* if it is given */
	struct gh_symbols *symbols; /* the same; NULL if it is not */
	struct gh_rtypes types;     /* the program's */
	struct gh_waits waits;
	struct gh_channel_makers makers;
	struct gh_allocations allocations; /* once they have been asked for: */
	struct gh_numbermap sampled;       /* addresses of objects to their profile records */
	bool has_allocations;
	struct gh_heap heap; /* once it has been followed */
	bool has_heap;
	struct gh_names names; /* of what is in the heap, once they have been asked for */
	bool has_names;
	struct gh_deadlocks
	    deadlocks; /* once they have been asked for; none if they cannot be found */
	bool has_deadlocks;
	struct gh_object_holders holders; /* the same */
	bool has_holders;
	struct gh_traceback traceback; /* of the goroutine that was last asked about */
	int pid;                       /* of a process that runs; 0 of others */
	uint64_t now;                  /* ns of its monotonic clock */
	struct gh_sockets sockets;     /* its own, and those of others in its network */
};

/* Runs ANSWER on the dump that OPTIONS name; if they name a core file that was cut short, and so
 * lacks the heap, on its goroutines alone. The exit status is the answer's, unless there is nothing
 * to answer on. */
int gh_wait_query_run(const struct gh_options *options, int (*answer)(struct gh_wait_query *query));

/* Begins a query about the goroutines of the dump of HEAP, whose graph and program it shares; the
 * process has the number PID, or 0 if it does not run. On failure prints the error and returns
 * false. To be freed with gh_wait_query_free_found either way. */
bool gh_wait_query_begin(struct gh_wait_query *query, struct gh_heap_query *heap, int pid);

/* The same of DUMP, which stays the caller's, and the program that OPTIONS name; the heap is
 * followed when that is asked for. To be ended with gh_wait_query_end either way. */
bool gh_wait_query_begin_alone(struct gh_wait_query *query, const struct gh_options *options,
			       const struct gh_dump *dump);
void gh_wait_query_end(struct gh_wait_query *query);

/* Frees what QUERY has found of the goroutines. */
void gh_wait_query_free_found(struct gh_wait_query *query);

/* The name of the type of the elements of CHANNEL; size 0 if it is not known. */
struct gh_bytes gh_wait_elem_type(const struct gh_wait_query *query,
				  const struct gh_channel *channel);

/* Fills CALL with that which made CHANNEL: the only one that makes channels of its type or, if it
 * was sampled, that of the allocation profile. False if it is not known. */
bool gh_wait_channel_maker(struct gh_wait_query *query, const struct gh_channel *channel,
			   struct gh_call *call);

/* Where goroutine NUMBER is in the program's own code; good until the next call. NULL if that is
 * not known. */
const struct gh_call *gh_wait_place(struct gh_wait_query *query, size_t number);

/* The deadlocks of mutexes, and who has these. None without the program, or if memory ran out. */
const struct gh_deadlocks *gh_wait_deadlocks(struct gh_wait_query *query);

/* The wait of goroutine NUMBER; NULL if it does not wait. */
const struct gh_wait *gh_wait_of(const struct gh_wait_query *query, size_t number);

/* Finds the goroutines that can never go on, by the graph of the heap. False, after saying why, if
 * that cannot be. LEAKED is to be freed either way. */
bool gh_wait_find_leaked(struct gh_leaked *leaked, struct gh_wait_query *query);

/* What has the mutex at ADDRESS, or the like. */
struct gh_wait_container {
	uint64_t address;
	const char *type; /* its name, to be escaped; NULL if it is not known */
	bool perhaps;     /* it may be of another type, that has pointers at the same places */
};

/* Finds that of an object of the heap, if the heap has been followed. */
struct gh_wait_container gh_wait_container(struct gh_wait_query *query, uint64_t address);

/* Prints how many there are, and what only they keep. */
void gh_wait_print_kept(FILE *out, const struct gh_leaked *leaked);

#endif
