/* What goroutines wait for, in words and as JSON.
 *
 * - wait_text.c: one wait; wait_groups.c: those that wait alike; wait_json.c: the same as JSON;
 * - wakers_text.c: who could wake them; deadlocks_text.c, knots_text.c: who waits for whom for
 * ever;
 * - world_text.c: who stops all others. */
#ifndef GH_PLUGIN_WAITS_WAITS_H
#define GH_PLUGIN_WAITS_WAITS_H

#include "plugin/command/wait_query.h"

/* Room for what a descriptor is of, in bytes. */
#define GH_DESCRIPTOR_TEXT 4096

/* Prints what WAIT is for: "send on chan *main.job 0xc000012345 (len 2, cap 2)"; with PLAIN,
 * without the addresses and states: "send on chan *main.job". */
void gh_wait_print(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait, bool plain);

/* The same as what a goroutine does: "waits to send on chan ...". */
void gh_wait_print_clause(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait,
			  bool plain);

/* Prints CALL, and for how long its thread has been asleep: "read(7, pipe:[4711]) for at least 12
 * s". */
void gh_wait_print_call(FILE *out, const struct gh_dump_call *call);

/* The system call that GOROUTINE is in; NULL if it is in none in which threads wait, or that is not
 * known. */
const struct gh_dump_call *gh_wait_call(const struct gh_wait_query *query, size_t goroutine);

/* GOROUTINE, which is in a system call or in C, is in C. */
bool gh_wait_is_in_c(const struct gh_wait_query *query, size_t goroutine);

/* Prints, before the goroutine that has what WAIT is for, that it has: "held by "; or the thread of
 * C's that stands between. It is certain if SURE. */
void gh_wait_print_held(FILE *out, const struct gh_wait *wait, bool sure);

/* Prints who could wake those that wait as WAIT does, if it is known: "; 0 receive from it;
 * goroutine 7 (main.serve at main.go:40) has it". */
void gh_wait_print_wakers(FILE *out, struct gh_wait_query *query, const struct gh_wait *wait);

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

/* Prints where goroutine NUMBER is in the program's own code: ", in main.serve at main.go:40";
 * nothing if that is not known. */
void gh_wait_print_place(FILE *out, struct gh_wait_query *query, size_t number);

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

#endif
