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

/* Begins a query about the goroutines of the dump of HEAP, whose graph and program it shares; the
 * process has the number PID, or 0 if it does not run. On failure prints the error and returns
 * false. To be freed with gh_wait_query_free_found either way. */
bool gh_wait_query_begin(struct gh_wait_query *query, struct gh_heap_query *heap, int pid);

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

	/* Private: of each of them, and of the group what its first has. */
	char *text;      /* what for, and where, without addresses; owned */
	char *end;       /* what its descriptor is of; NULL if not known; owned */
	uint64_t object; /* its address; 0 if there is none */
	size_t ends;     /* of a group: of those with that END, the most */
};

struct gh_wait_group_list GH_VECTOR(struct gh_wait_group);

struct gh_wait_groups {
	struct gh_wait_group_list list;    /* the largest first */
	struct gh_wait_group_list members; /* private */
};

/* Finds the groups of the goroutines of QUERY; ONLY, by number, of those for which it is true, if
 * it is not NULL. False, after saying so, if memory ran out. To be freed either way. */
bool gh_wait_groups_find(struct gh_wait_groups *groups, struct gh_wait_query *query,
			 const bool *only);

void gh_wait_groups_free(struct gh_wait_groups *groups);

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

/* It is certain who has each of the mutexes of DEADLOCK, which is one of QUERY's. */
bool gh_deadlock_is_certain(const struct gh_wait_query *query, const struct gh_deadlock *deadlock);

/* Prints who of DEADLOCK waits for which mutex, held by whom; with PLAIN in one line without
 * addresses and states. */
void gh_deadlock_print(FILE *out, struct gh_wait_query *query, const struct gh_deadlock *deadlock,
		       bool plain);

/* Has the knots of those who are in QUERY's deadlocks, or wait for what nobody lets go of, not be
 * told again: LEAKED->of is false of them. */
void gh_leaked_leave_out(struct gh_leaked *leaked, const struct gh_wait_query *query);

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

/* THREAD of process PID is in the kernel, where no signal reaches it, and has been there since
 * *SWITCHES were counted: how often it has left a processor. They are counted again; UINT64_MAX the
 * first time, which tells nothing. */
bool gh_thread_is_stuck(int pid, int thread, uint64_t *switches);

/* Counts the file descriptors that process PID has open, and how many it may have. False if that
 * cannot be read. */
bool gh_descriptors_count(uint64_t *count, uint64_t *limit, int pid);

/* The collector runs again and again to stay below the limit of memory; IS_LIVE: now. */
bool gh_collections_are_limited(const struct gh_collections *collections, bool is_live);

/* The first answer about a process, core file or heap dump: what it is, and what is wrong with it.
 */

/* Kinds of findings, the gravest first. findings.c has their names. */
enum gh_finding_kind {
	GH_FINDING_CRASH,
	GH_FINDING_STOPPED,
	GH_FINDING_DEADLOCK,
	GH_FINDING_LEFT_LOCKED,
	GH_FINDING_LOCK,
	GH_FINDING_REQUESTS,
	GH_FINDING_KERNEL,
	GH_FINDING_DESCRIPTORS,
	GH_FINDING_FINALIZERS,
	GH_FINDING_LEAKED,
	GH_FINDING_CROWD,
	GH_FINDING_LIMIT,
	GH_FINDING_COLLECTOR,
	GH_FINDING_THREADS,
	GH_FINDING_MALLOC,
	GH_FINDING_STACKS,
	GH_FINDING_HOLDER,
	GH_FINDING_FREE,
	GH_FINDING_KINDS
};

/* What is wrong, and the command that shows more. */
struct gh_finding {
	enum gh_finding_kind kind;
	uint64_t weight; /* of those of one kind, the largest comes first */
	char *sentence;  /* owned */
	char *command;   /* owned; NULL if none shows more */
};

struct gh_findings GH_VECTOR(struct gh_finding);

/* The figures by which it is judged that nothing is wrong. */
struct gh_figures {
	uint64_t resident;   /* bytes in memory; 0 if they are not known */
	uint64_t goroutines; /* but for the runtime's own */
	uint64_t blocked;    /* that wait for locks */
	uint64_t lock_wait;  /* ns that one of them has waited at the most */
	uint64_t leaked;     /* that can never go on */
	uint64_t deadlocks;
	uint64_t descriptors; /* that are open; limit 0: not known */
	uint64_t descriptor_limit;
	uint64_t holder; /* bytes that what holds most of the heap keeps; 0 if it was not asked */
	uint64_t heap;   /* bytes of the heap's objects */
};

struct gh_diagnosis {
	const struct gh_options *options;
	int pid;                       /* of a process that runs; 0 of others */
	uint64_t now;                  /* when that was copied, in ns since 1970 */
	struct gh_footprint footprint; /* zeros unless: */
	bool has_footprint;
	struct gh_thread_states threads; /* count 0 if they are not known */
	struct gh_figures figures;
	struct gh_findings findings;
	struct gh_finding open; /* that is being written */
	FILE *out;              /* its sentence; NULL if memory ran out, or none is open */
	size_t size;            /* private: of that */
};

/* Begins a finding, whose sentence the caller writes to what this returns, fit for a person. NULL
 * if memory ran out: there is nothing to write, and nothing to end. */
FILE *gh_finding_begin(struct gh_diagnosis *diagnosis, enum gh_finding_kind kind, uint64_t weight);

/* Ends it. COMMAND is typed after goheap, with what is looked at, to see more; NULL for none. */
void gh_finding_end(struct gh_diagnosis *diagnosis, const char *command);

/* Sorts the findings, the gravest first. */
void gh_findings_sort(struct gh_findings *findings);

/* Prints them as text, in no more than LINES lines, or as JSON. */
void gh_findings_print(struct gh_diagnosis *diagnosis, unsigned lines);

void gh_findings_free(struct gh_findings *findings);

/* Adds what is wrong with the goroutines of QUERY. */
void gh_find_hangs(struct gh_diagnosis *diagnosis, struct gh_wait_query *query);

/* Adds what is wrong with the memory of HEAP, and the collector. */
void gh_find_memory(struct gh_diagnosis *diagnosis, struct gh_heap_query *heap);

/* Adds what is wrong with the threads and descriptors of a process that runs; the goroutines of
 * QUERY say what the threads do. */
void gh_find_threads(struct gh_diagnosis *diagnosis, struct gh_wait_query *query);

/* Describes the program that OPTIONS name, and who runs it. The exit status. */
int gh_program_describe(const struct gh_options *options);

/* Opens the running process PID, which a debugger may have stopped, or, if PID is 0, the core file
 * that OPTIONS name. On failure prints the error and returns false. */
bool gh_memory_target_open(struct gh_target *target, int pid, const struct gh_options *options);

#endif
