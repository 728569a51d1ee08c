/* What the commands that tell what goroutines wait for share. */
#ifndef GH_PLUGIN_CLI_WAIT_QUERY_H
#define GH_PLUGIN_CLI_WAIT_QUERY_H

#include "lib/rtype/rtype.h"
#include "lib/wait/wait.h"
#include "plugin/cli/heap_query.h"

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
	struct gh_system_calls calls;
};

/* Room for what a descriptor is of, in bytes. */
#define GH_DESCRIPTOR_TEXT 4096

/* Runs ANSWER on the dump that OPTIONS name; if they name a core file that was cut short, and so
 * lacks the heap, on its goroutines alone. The exit status is the answer's, unless there is nothing
 * to answer on. */
int gh_wait_query_run(const struct gh_options *options, int (*answer)(struct gh_wait_query *query));

/* The memory of PROCESS, for what waits is found in a list of its goroutines alone. */
struct gh_memory gh_wait_memory(const struct gh_process *process);

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

/* Prints what WAIT is for: "send on chan *main.job 0xc000012345 (len 2, cap 2)"; with PLAIN,
 * without the addresses and states: "send on chan *main.job". */
void gh_wait_print(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait, bool plain);

/* The same as what a goroutine does: "waits to send on chan ...". */
void gh_wait_print_clause(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait,
			  bool plain);

/* GOROUTINE, which is in a system call or in C, is in C. */
bool gh_wait_is_in_c(const struct gh_wait_query *query, size_t goroutine);

/* The deadlocks of mutexes, and who has these. None without the program, or if memory ran out. */
const struct gh_deadlocks *gh_wait_deadlocks(struct gh_wait_query *query);

/* Prints who could wake those that wait as WAIT does, if it is known: "; 0 receive from it;
 * goroutine 7 (main.serve at main.go:40) has it". */
void gh_wait_print_wakers(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait);

/* The wait of goroutine NUMBER; NULL if it does not wait. */
const struct gh_wait *gh_wait_of(const struct gh_wait_query *query, size_t number);

/* The same of one case. */
void gh_wait_print_case(FILE *out, const struct gh_wait_query *query,
			const struct gh_wait_case *wait, bool plain);

/* The descriptor that WAIT is for, that of a system call, too; GH_NO_DESCRIPTOR if it is not known,
 * or there is none. */
int64_t gh_wait_descriptor(struct gh_wait_query *query, const struct gh_wait *wait);

/* Writes what DESCRIPTOR is of to TEXT, as gh_descriptor_read does. False if it is not known. */
bool gh_wait_descriptor_of(struct gh_wait_query *query, int64_t descriptor, char *text, size_t size,
			   bool end);

/* Prints WAIT as JSON: an object on a line, or an item of a list. */
void gh_wait_emit(struct gh_emit *emit, struct gh_wait_query *query, const struct gh_wait *wait);
void gh_wait_emit_item(struct gh_emit *emit, struct gh_wait_query *query,
		       const struct gh_wait *wait);

/* Goroutines that wait alike at one place. */
struct gh_wait_group {
	const struct gh_wait *wait; /* of one of them */
	uint64_t waited;            /* ns: the longest */
	size_t count;
	size_t objects; /* that they wait for */
};

/* The same of GROUP; PART, which may be NULL, is what it is among other objects. */
void gh_wait_emit_group(struct gh_emit *emit, struct gh_wait_query *query,
			const struct gh_wait_group *group, const char *part);

/* Prints a line for each of the LIMIT largest groups of those that wait alike at one place, as the
 * options say; PART as above. Where there are more, those come first that wait for locks, wait
 * groups, conditions and semaphores, and at least one of the others is shown. How many groups there
 * are; SIZE_MAX, after saying so, if memory ran out. */
size_t gh_wait_groups_print(struct gh_wait_query *query, size_t limit, const char *part);

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

/* Prints "goroutine 7 (main.transfer at main.go:40)". */
void gh_wait_print_goroutine(FILE *out, struct gh_wait_query *query, size_t number);

/* Members of a deadlock or of a knot that a sentence tells one by one. */
#define GH_WAIT_TOLD 6

/* What those that WAITS has wait for, and where, without addresses, in an order of its own; at most
 * GH_WAIT_TOLD, of COUNT in all. To be freed. NULL if memory ran out. */
char *gh_wait_alike_text(struct gh_wait_query *query, const struct gh_wait *const *waits,
			 size_t count);

/* Prints " (and 3 like this)", or "these", after a sentence about one of ALIKE. */
void gh_wait_print_alike(FILE *out, size_t alike, bool several);

/* Prints a sentence for each deadlock of mutexes, and for each knot of LEAKED that has none of
 * these, but no more than LIMIT of each kind, and one for those that are alike; LEAKED is of no
 * more use then. The exit status. */
int gh_deadlocks_print(struct gh_wait_query *query, struct gh_leaked *leaked, size_t limit);

/* Prints the sentences for the knots of LEAKED. False, after saying so, if memory ran out. */
bool gh_knots_print(struct gh_wait_query *query, const struct gh_leaked *leaked, size_t limit);

/* Prints that there are more than SHOWN of COUNT sentences, if so. */
void gh_wait_print_left(struct gh_wait_query *query, size_t shown, size_t count);

/* Draws who waits for what, and who has it. The exit status. */
int gh_deadlocks_draw(struct gh_wait_query *query);

/* Prints who stops the world and waits for goroutines that have not stopped, and how many wait to
 * stop it or to start a collection. */
void gh_world_print(struct gh_wait_query *query);

/* What the threads of a process do, by the letters of the kernel's. */
struct gh_thread_states {
	size_t count;
	size_t running;  /* R: on a processor, or wait for one */
	size_t sleeping; /* S */
	size_t stuck;    /* D: in the kernel, where no signal reaches them */
	size_t stopped;  /* T: by a signal */
	size_t traced;   /* t: by a debugger */
	int first_stuck; /* the id of the first of those */
	char where[64];  /* the function of the kernel's that it is in; "" or "0" if not known */
};

/* Room for the name of a function of the kernel's, in bytes. */
#define GH_KERNEL_FUNCTION 64

/* The state of thread THREAD of process PID, a letter of the kernel's, and in WHERE the function of
 * the kernel's that it is in; "" if that is not known. '?' if it cannot be read. */
char gh_thread_state_read(char where[GH_KERNEL_FUNCTION], int pid, int thread);

/* Reads those of process PID. False if they cannot be read.
 *
 * Source: /proc/pid/stat in `man 5 proc'. */
bool gh_thread_states_read(struct gh_thread_states *states, int pid);

#endif
