/* What the goroutines of a dump wait for, gh_waits_find, which of them can never go on,
 * gh_leaked_find, and which wait for each other's mutexes, gh_deadlocks_find.
 *
 * - waits.c: what each goroutine waits for; channels, the cases of a select, and sleep;
 * - wait_layout.c: where the runtime's structs have their fields, by release; wait_memory.c: words
 *   of the dump, and frames by their functions' names;
 * - sync_waits.c: mutexes, wait groups, conditions and semaphores;
 * - descriptor_waits.c: file descriptors;
 * - channels.c: the code that makes channels;
 * - object_holders.c: who else has channels, wait groups and conditions;
 * - leaked.c: goroutines that can never go on;
 * - lock_calls.c: the methods that take mutexes or let go of them, and the calls of these in a
 *   function; lock_flow.c: the ways of control between them; locks.c: which are open at a place in
 *   it; lock_effects.c: functions that return with their argument's lock taken, or let go of;
 *   unlockers.c: functions that let go of mutexes that others have taken;
 * - lock_frames.c: the locks that goroutines' frames have open, and their addresses;
 * - left_locked.c: locks that nobody holds;
 * - mutex_holders.c: who may have the mutexes that are waited for, by the code that took them;
 * - deadlocks.c: the cycles of those who wait for each other;
 * - world.c: who stops all other goroutines, and those that have not stopped.
 *
 * Another kind of lock is one more enum gh_wait_kind, a row of acquirers[] in sync_waits.c, by
 * which its waiters are known, rows of methods[] in lock_calls.c, by which its holders are, and a
 * case wherever `git grep -e GH_WAIT_RWMUTEX -e GH_LOCK_` tells kinds apart: most places take what
 * is not a Mutex for an RWMutex. */
#ifndef GH_WAIT_WAIT_H
#define GH_WAIT_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/dump/dump.h"
#include "lib/heap/heap.h"
#include "lib/pclntab/pclntab.h"
#include "lib/rtype/rtype.h"
#include "lib/util/error.h"
#include "lib/util/numbermap.h"
#include "lib/util/vector.h"

enum gh_wait_kind {
	GH_WAIT_OTHER, /* for what its wait reason says, or what is not known */
	GH_WAIT_SEND,
	GH_WAIT_RECEIVE,
	GH_WAIT_SELECT,
	GH_WAIT_MUTEX,
	GH_WAIT_RWMUTEX_READ,
	GH_WAIT_RWMUTEX_WRITE,
	GH_WAIT_WAITGROUP,
	GH_WAIT_COND,
	GH_WAIT_SEMAPHORE, /* any other: the runtime's own, and those of file descriptors */
	GH_WAIT_SLEEP,
	GH_WAIT_DESCRIPTOR, /* until it can be read or written, as the network poller tells */
	GH_WAIT_SYSCALL,    /* in a system call, or in C */
};

/* What a kind of wait is called: "send", "rwmutex read". */
const char *gh_wait_kind_name(enum gh_wait_kind kind);

/* The same of what is waited for in the C library: "mutex", "rwlock read". */
const char *gh_c_wait_kind_name(enum gh_dump_c_wait_kind kind);

/* No number of a descriptor. */
#define GH_NO_DESCRIPTOR (-1)

/* What a goroutine waits for. */
struct gh_wait {
	size_t goroutine; /* its number in the dump */
	enum gh_wait_kind kind;
	uint64_t object; /* address of the mutex, wait group, condition or semaphore; 0 if it is not
			    known, or there is none */
	uint64_t sudog;  /* the record by which it waits for that object; 0 if it is not known, or
			    there is none */
	size_t first;    /* of its cases, if it waits for channels */
	size_t ncases;
	bool never;    /* the channel is nil or, of a select, there are none: nothing ends it */
	bool only_nil; /* the select has cases, all of them with nil channels */
	uint64_t
	    when; /* it sleeps until then: ns of the process's monotonic clock; 0 if not known */
	int64_t descriptor; /* GH_NO_DESCRIPTOR if it is not known, or there is none */
	const struct gh_dump_c_wait *in_c; /* for what of the C library's; NULL for nothing */
};

/* A channel that goroutines wait for. */
struct gh_channel {
	uint64_t address;
	uint64_t elem_type; /* address of the type's descriptor */
	uint64_t elem_size; /* in bytes */
	uint64_t length;    /* elements in its buffer */
	uint64_t capacity;
	uint64_t senders; /* goroutines that wait to send on it, those of a select, too */
	uint64_t receivers;
	bool closed;
	bool timer;    /* a time.Timer or time.Ticker fills it; not known before Go 1.23 */
	uint64_t when; /* that fires: ns of the process's monotonic clock; 0 if not known */
};

/* A channel operation that a goroutine waits for; of a select one of several. */
struct gh_wait_case {
	size_t channel; /* place of its channel */
	uint64_t sudog; /* address of the runtime's record of the wait */
	bool send;
};

struct gh_waits {
	const struct gh_dump *dump;            /* the caller's */
	struct GH_VECTOR(struct gh_wait) list; /* by goroutine, those alone that wait */
	struct GH_VECTOR(struct gh_wait_case) cases;
	struct GH_VECTOR(struct gh_channel) channels;
	struct gh_numbermap writers; /* by address of an RWMutex: the place of the wait of its next
					writer, behind whom readers wait */
};

/* Finds what the goroutines of DUMP wait for, by the runtime's structs in its heap, from Go 1.11
 * on; of older ones each wait is GH_WAIT_OTHER. What does not fit together is not known. False (ERR
 * filled) if memory ran out. To be freed either way.
 *
 * Sources: type sudog and type g in src/runtime/runtime2.go, type hchan in src/runtime/chan.go,
 * src/runtime/sema.go, package sync, type FD in src/internal/poll/fd_unix.go. */
bool gh_waits_find(struct gh_waits *waits, const struct gh_dump *dump, struct gh_error *err);

/* The same of goroutine NUMBER alone; the dump may be without its heap, if it has its memory. */
bool gh_waits_find_one(struct gh_waits *waits, const struct gh_dump *dump, size_t number,
		       struct gh_error *err);

void gh_waits_free(struct gh_waits *waits);

/* The code that makes channels with elements of one type. */
struct gh_channel_maker {
	uint64_t elem_type; /* address of the type's descriptor */
	uint64_t pc;        /* of the call that makes them, an address in the program's file; 0 if
			       there are calls at several places, or some cannot be told */
};

struct gh_channel_makers GH_VECTOR(struct gh_channel_maker); /* by type */

/* Finds those of the channels of WAITS. TAB and TYPES are of the program, which ran BIAS above the
 * addresses in its file. On machines other than amd64 and arm64, and of programs that make channels
 * by reflection, none can be told. False (ERR filled) if memory ran out. To be freed either way. */
bool gh_channel_makers_find(struct gh_channel_makers *makers, const struct gh_waits *waits,
			    const struct gh_pclntab *tab, const struct gh_rtypes *types,
			    uint64_t bias, struct gh_error *err);

/* The call that makes channels like CHANNEL; 0 if it is not known. */
uint64_t gh_channel_maker(const struct gh_channel_makers *makers, const struct gh_channel *channel);

void gh_channel_makers_free(struct gh_channel_makers *makers);

/* Who has a channel, wait group or condition, but for those who wait for it. */
struct gh_object_holder {
	uint64_t count; /* of goroutines whose frames have pointers to it */
	size_t first;   /* the number of the first */
};

struct gh_object_holders {
	struct gh_numbermap places; /* by address: those of the objects in the list */
	struct GH_VECTOR(struct gh_object_holder) list;
};

/* Finds those of what the goroutines of WAITS wait for. False if memory ran out. To be freed either
 * way. */
bool gh_object_holders_find(struct gh_object_holders *holders, const struct gh_waits *waits);

/* Those of the object at ADDRESS. */
struct gh_object_holder gh_object_holders_at(const struct gh_object_holders *holders,
					     uint64_t address);

void gh_object_holders_free(struct gh_object_holders *holders);

/* The state of a mutex, as far as the dump has its memory. */
struct gh_mutex_state {
	bool known;
	bool locked;      /* an RWMutex: by a writer */
	uint64_t readers; /* that have an RWMutex */
};

struct gh_mutex_state gh_mutex_state(const struct gh_waits *waits, const struct gh_wait *wait);

/* The wait of the writer for whom readers, of whom WAIT is one's, wait as long as it waits for
 * others that have read-locked the RWMutex. NULL if there is none. */
const struct gh_wait *gh_wait_writer(const struct gh_waits *waits, const struct gh_wait *wait);

/* The counter of the wait group of WAIT. False if it is not known. */
bool gh_waitgroup_counter(const struct gh_waits *waits, const struct gh_wait *wait,
			  int32_t *counter);

/* Goroutines that can never go on: what they wait for is reached from nothing but themselves and
 * others like them, or held by such, or was left locked. */
struct gh_leaked {
	bool *of;         /* by goroutine: it is one; owned */
	uint32_t *knots;  /* by goroutine: the first of its knot, those that share something with it
			     which only leaked ones reach, or wait for what it reaches; owned */
	size_t count;     /* of them */
	bool perhaps;     /* frames are missing that may lead to what they wait for */
	uint64_t objects; /* that only they, and others that can never go on, lead to */
	uint64_t bytes;   /* in those */
};

struct gh_deadlocks;

/* Finds those of WAITS, whose dump HEAP was made of, as Go's collector does for its profile of
 * leaked goroutines: who waits for a channel, a mutex, a wait group or a condition can go on if
 * that is no object of the heap, or is reached from a root other than the stacks of those who
 * cannot. One that waits for a lock of DEADLOCKS whose holder is certain can go on if that can;
 * NULL: no holders are known. The first goroutine is none of them if it waits in a select without
 * cases. What perhaps points to an object counts as if it did. False (ERR filled) if memory ran
 * out. To be freed either way.
 *
 * Source: isMaybeRunnable, findGoroutineLeaks in src/runtime/mgc.go (Go 1.26). */
bool gh_leaked_find(struct gh_leaked *leaked, const struct gh_waits *waits,
		    const struct gh_heap *heap, const struct gh_deadlocks *deadlocks,
		    struct gh_error *err);

void gh_leaked_free(struct gh_leaked *leaked);

/* How far it is known that a lock is held by nobody: it was left locked. */
enum gh_left {
	GH_LEFT_UNKNOWN,
	GH_LEFT_PERHAPS, /* no goroutine is known that may hold it, or let go of it */
	GH_LEFT,         /* no code lets go of such a lock but what has taken it, and that waits */
};

/* A mutex or RWMutex that goroutines wait for, and who may have it. */
struct gh_held_mutex {
	uint64_t address;
	size_t wait;    /* place of one of its waits */
	unsigned locks; /* private: how it is held */
	size_t first;   /* place of its first holder */
	size_t nholders;
	bool sure;      /* these have it; or else each has it perhaps */
	size_t readers; /* that have an RWMutex; 0 if a writer has it, or it is not known */
	bool dead;      /* it is held by goroutines that wait for each other's mutexes */
	bool forever;   /* for certain: it was left locked, or is held by goroutines that wait for
			   each other's mutexes, or for such a one */
	enum gh_left left;
};

/* A goroutine that has a mutex, or may. */
struct gh_lock_holder {
	size_t goroutine; /* its number */
	size_t depth;     /* of the frame whose function has taken it */
	uint64_t pc;      /* there: of the call that did; 0 if it is not known */
};

/* Goroutines that wait for each other's mutexes. */
struct gh_deadlock {
	size_t first; /* place of the first member */
	size_t count;
};

struct gh_deadlocks {
	struct GH_VECTOR(struct gh_held_mutex) mutexes;
	struct GH_VECTOR(struct gh_lock_holder) holders;
	struct GH_VECTOR(struct gh_deadlock) list;
	struct GH_VECTOR(size_t) members; /* places of waits: each is for a mutex that the next
					     member's goroutine has, and the last for the first's */
	size_t behind;                    /* goroutines that wait for those mutexes, too */
	size_t nleft;                     /* mutexes that were left locked for certain, */
	size_t behind_left;               /* and the goroutines that wait for them */
	size_t nknown;                    /* mutexes whose holders are known, or that have none */
};

/* Finds the cycles among those of WAITS that are for mutexes, by the code of the program's module,
 * OWN, and of its NOTHERS others. A mutex does not tell who has it: that is a goroutine with a
 * frame whose function has locked one of its kind and not unlocked it, if what its code loaded for
 * that (gh_receivers_find) is the mutex. Where that is not known, it may be one whose pointers, or,
 * of a global, its code, have the address; so may one that will unlock what others have locked.
 * Whoever waits for it is none of these if there are others, nor if others' frames have the
 * address, but where an RWMutex has exactly as many readers. False (ERR filled) if memory ran out.
 * To be freed either way.
 */
bool gh_deadlocks_find(struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
		       const struct gh_module *own, const struct gh_module *others, size_t nothers,
		       struct gh_error *err);

/* The place of the mutex that the wait at place WAIT is for; GH_DUMP_NONE if it is for none. */
size_t gh_deadlocks_mutex(const struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
			  size_t wait);

void gh_deadlocks_free(struct gh_deadlocks *deadlocks);

/* A goroutine's part in stopping the world, that is all others, or in starting a collection. */
enum gh_stop {
	GH_STOPS_NOTHING,
	GH_STOPS,            /* it stops the world, or has done so */
	GH_WAITS_TO_STOP,    /* until another lets it */
	GH_WAITS_TO_COLLECT, /* the same, to start a collection */
};

/* That of goroutine NUMBER, which runs or waits; *REASON is the depth of the frame whose function
 * wants the world stopped, or GH_DUMP_NONE: a collection does. */
enum gh_stop gh_stop_of(const struct gh_dump *dump, size_t number, size_t *reason);

/* The world while it is being stopped. */
struct gh_world {
	uint32_t left;  /* processors of Go's (GOMAXPROCS) that have not stopped; 0 if nobody waits
			   for them, or it is not known */
	size_t stopper; /* the number of the goroutine that waits for them; GH_DUMP_NONE if that is
			   not known */
	size_t reason;  /* see gh_stop_of */
	struct GH_VECTOR(size_t) running; /* those that run there; none if it is not known */
};

/* Finds it in DUMP, by the code of the program, MODULE: on amd64 and arm64. False (ERR filled) if
 * memory ran out. To be freed either way.
 *
 * Source: type schedt in src/runtime/runtime2.go; stopTheWorldWithSema in src/runtime/proc.go. */
bool gh_world_find(struct gh_world *world, const struct gh_dump *dump,
		   const struct gh_module *module, struct gh_error *err);

void gh_world_free(struct gh_world *world);

/* The depth of the first of at most COUNT frames of goroutine NUMBER whose function is NAME, or, if
 * NAME ends in a '*', begins so; GH_DUMP_NONE if none is. */
size_t gh_wait_frame_find(const struct gh_dump *dump, size_t number, size_t count,
			  const char *name);

#endif
