/* What the files that find what goroutines wait for share. */
#ifndef GH_WAIT_INTERNAL_H
#define GH_WAIT_INTERNAL_H

#include "lib/code/code.h"
#include "lib/pclntab/pclntab.h"
#include "lib/util/numbermap.h"
#include "lib/wait/wait.h"

/* Where the runtime's structs have their fields: offsets in bytes. */
struct gh_wait_layout {
	uint32_t g_waiting; /* runtime.g: the first sudog; 0 if it was not found */
	uint32_t g_sleep;   /* until when it sleeps, from Go 1.23 on; before, the timer */
	bool sleeps_by_timer;

	uint32_t sudog_next; /* runtime.sudog; g is its first field */
	uint32_t sudog_elem;
	uint32_t sudog_waitlink;
	uint32_t sudog_c;

	uint32_t hchan_dataqsiz; /* runtime.hchan; qcount is its first field */
	uint32_t hchan_elemsize;
	uint32_t hchan_closed;
	uint32_t hchan_timer; /* 0 where there is none */
	uint32_t hchan_elemtype;
	uint32_t hchan_recvq; /* begins with the first that waits */
	uint32_t hchan_sendq;
	uint32_t timer_when; /* runtime.timer: when it fires */
};

/* The layout in the release that DUMP is of. What is not the same in all programs of a release is
 * found in the dump: all is 0 if it is not there, and before Go 1.11. */
struct gh_wait_layout gh_wait_layout_find(const struct gh_dump *dump);

/* Reads an integer of SIZE bytes at ADDRESS. 0 if the dump does not have it. */
uint64_t gh_wait_uint(const struct gh_dump *dump, uint64_t address, unsigned size);

/* Reads a pointer. */
uint64_t gh_wait_word(const struct gh_dump *dump, uint64_t address);

/* There may be an object at ADDRESS: where a dump without its heap has a memory, that is not known.
 */
bool gh_wait_may_be_object(const struct gh_dump *dump, uint64_t address);

/* What is found with. */
struct gh_wait_finder {
	struct gh_waits *waits;
	const struct gh_dump *dump;
	struct gh_wait_layout layout;
	struct gh_numbermap channels; /* address of each to its place */
	struct gh_numbermap queued; /* address of each sudog in their queues to whether it sends */
	struct gh_numbermap conds;  /* of each in a condition's list to the place of that: */
	struct GH_VECTOR(uint64_t) cond_addresses;
	bool failed; /* memory ran out */
};

/* The words of a stack's frames, callees first. The fields are private but the frame. */
struct gh_stack_scan {
	const struct gh_dump *dump;
	size_t next; /* frame */
	size_t end;
	struct gh_dump_record frame; /* that the last word was in */
	struct gh_cursor contents;
	uint64_t size; /* of that frame, in bytes, if it is read from the dump's memory */
	uint64_t left; /* of these */
};

/* Starts a walk over the words of at most COUNT frames of the stack of goroutine NUMBER, from frame
 * FROM on. */
struct gh_stack_scan gh_stack_scan_start(const struct gh_dump *dump, size_t number, size_t from,
					 size_t count);

/* Gives the next word. False at the end. */
bool gh_stack_scan_next(struct gh_stack_scan *scan, uint64_t *word);

/* The words of a frame that are pointers. The fields are private. */
struct gh_frame_pointers {
	const struct gh_dump *dump;
	struct gh_dump_record frame;
	struct gh_fields fields;
	struct gh_field field;
	unsigned left; /* words of the field that are still to be given */
};

/* Starts a walk over those of frame NUMBER of DUMP. */
void gh_frame_pointers_start(struct gh_frame_pointers *walk, const struct gh_dump *dump,
			     size_t number);

/* Gives the next word. False at the end. */
bool gh_frame_pointers_next(struct gh_frame_pointers *walk, uint64_t *word);

/* The name of the function of frame DEPTH of goroutine NUMBER is NAME, or, if NAME ends in a '*',
 * begins so. */
bool gh_wait_frame_is(const struct gh_dump *dump, size_t number, size_t depth, const char *name);

/* Fills WAIT, of goroutine RECORD, if it waits for a mutex, a wait group, a condition or a
 * semaphore. False if it does not. */
bool gh_sync_wait_find(struct gh_wait_finder *finder, struct gh_wait *wait,
		       const struct gh_dump_goroutine *record);

/* Fills in the descriptor that WAIT is for, if it can be found. */
void gh_descriptor_wait_find(const struct gh_wait_finder *finder, struct gh_wait *wait);

/* Ways to have a mutex; in sets. */
enum {
	GH_LOCK_MUTEX = 1,
	GH_LOCK_WRITE = 2, /* an RWMutex, alone */
	GH_LOCK_READ = 4,
	GH_LOCK_ALL = 7,
};

/* A method of package sync that takes a mutex or lets go of it. */
struct gh_lock_method {
	const char *name;
	unsigned lock; /* its kind */
	bool unlocks;
	bool may_fail; /* it may not take it */
};

/* A call of one, inlined or not. */
struct gh_lock_call {
	const struct gh_lock_method *method;
	int32_t line; /* in the function itself */
	int32_t tree; /* the inlined call's record; -1 if it is none */
	bool placed;  /* the instruction is known that takes the mutex or lets go of it: */
	struct gh_receiver receiver;
};

/* The code of a call: an instruction, or a range of an inlined one's. */
struct gh_lock_piece {
	size_t call;    /* its number */
	uint64_t start; /* addresses */
	uint64_t end;
};

/* Those in a function. */
struct gh_lock_calls {
	const struct gh_pclntab *tab;
	struct gh_func func;
	uint64_t pc;          /* in the instruction that is executing */
	struct gh_range here; /* what that is in */
	struct gh_receivers receivers;
	struct GH_VECTOR(struct gh_lock_call) list; /* but for those that the instruction is in */
	struct GH_VECTOR(struct gh_lock_piece) pieces;
};

/* Finds those in the function at PC, an address in TAB's program; none if it is not known, or of
 * package sync. False if memory ran out. To be freed either way. */
bool gh_lock_calls_find(struct gh_lock_calls *calls, const struct gh_pclntab *tab, uint64_t pc);

void gh_lock_calls_free(struct gh_lock_calls *calls);

/* FUNC has such a call. */
bool gh_lock_calls_any(const struct gh_pclntab *tab, const struct gh_func *func);

/* What functions let go of and have not taken. The fields are private. */
struct gh_unlockers {
	struct gh_numbermap own; /* by entry: the kinds of locks that the function does itself */
	struct gh_numbermap all; /* with what it calls */
};

/* The kinds of locks that the function at ENTRY, or what it calls by name, lets go of and has not
 * taken; all of them if it calls very many functions. All if memory ran out. */
unsigned gh_unlocked_by(struct gh_unlockers *unlockers, const struct gh_pclntab *tab,
			uint64_t entry);

void gh_unlockers_free(struct gh_unlockers *unlockers);

/* The line of RANGE in its function itself. */
int32_t gh_own_line(const struct gh_range *range);

/* A lock that a function may have open: taken, and not let go of. */
struct gh_open_lock {
	unsigned lock;               /* its kind */
	bool lets_go;                /* the function will let go of it, whoever has taken it */
	bool sure;                   /* it has taken it, on whatever way control came */
	bool lasts;                  /* what led to the mutex then does so still: */
	struct gh_receiver receiver; /* that, if it is known */
};

struct gh_open_locks GH_VECTOR(struct gh_open_lock);

/* Adds to OUT those of the function that is executing the instruction at PC, an address in TAB's
 * program: from a call that takes one control comes there by a way without one that lets go of a
 * mutex that may be the same. Where control cannot be followed it is so, but not sure, by the order
 * of the calls in the source. A deferred call lets go at the function's end. Adds those, too, that
 * the function lets go of before it takes them. What functions that were called since may
 * have let go of is not sure: these are looked up in UNLOCKERS, unless it is NULL. False if memory
 * ran out. */
bool gh_locks_open(struct gh_open_locks *out, const struct gh_pclntab *tab,
		   struct gh_unlockers *unlockers, uint64_t pc);

/* The number of the first mutex of DEADLOCKS at ADDRESS or past it. */
size_t gh_deadlocks_from(const struct gh_deadlocks *deadlocks, uint64_t address);

/* The number of the mutex at ADDRESS; GH_DUMP_NONE if there is none. */
size_t gh_deadlocks_at(const struct gh_deadlocks *deadlocks, uint64_t address);

/* Finds the holders of the mutexes of DEADLOCKS. WAIT_OF has for each goroutine the place of its
 * wait, or GH_DUMP_NONE. False if memory ran out. */
bool gh_mutex_holders_find(struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
			   const size_t *wait_of, const struct gh_module *modules, size_t nmodules);

#endif
