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

/* Goroutines, or frames of theirs, are missing from DUMP, or may be. */
bool gh_wait_lacks_frames(const struct gh_dump *dump);

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
	GH_LOCK_KINDS = GH_LOCK_ALL + 1,
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
	bool is_skipped;                            /* it is too large, or has too many */
	bool is_inside;                             /* pc is within a call of one */
	struct GH_VECTOR(struct gh_lock_call) list; /* but for those that the instruction is in */
	struct GH_VECTOR(struct gh_lock_piece) pieces;
};

/* An indirect call in a function, and the function that it calls. */
struct gh_lock_target {
	size_t at;      /* of the instruction in the function, in bytes */
	uint64_t entry; /* address in the program's file */
};

struct gh_lock_targets GH_VECTOR(struct gh_lock_target);

/* What a function that is called has done when it returns. */
struct gh_lock_effect {
	const struct gh_lock_method *method; /* the one that does the same */
	struct gh_receiver receiver;         /* by the function's arguments, or a global */
};

struct gh_lock_effects GH_VECTOR(struct gh_lock_effect);

/* What is known of the functions of a program: which take locks or let go of them. The fields are
 * private. */
struct gh_lock_code {
	struct gh_numbermap own;     /* by entry: the kinds of locks that the function lets go of
					itself and has not taken */
	struct gh_numbermap all;     /* the same, with what it calls */
	struct gh_numbermap touches; /* by entry: it calls methods of locks itself */
	struct gh_numbermap methods; /* entries of those */
	struct gh_numbermap effects; /* by entry: the place of the function's effects in: */
	struct GH_VECTOR(struct gh_lock_effects) list;
	struct gh_numbermap unseen; /* see gh_unlocked_unseen */
	unsigned depth;             /* of functions that are being looked at */
	bool has_methods;
};

/* The effects of the function at ENTRY, of TAB's program: certain ones alone. None if memory ran
 * out. */
const struct gh_lock_effects *gh_lock_effects_of(struct gh_lock_code *code,
						 const struct gh_pclntab *tab, uint64_t entry);

/* Finds those of FUNC by its code. False if memory ran out. */
bool gh_lock_effects_find(struct gh_lock_effects *out, struct gh_lock_code *code,
			  const struct gh_pclntab *tab, const struct gh_func *func);

/* The kinds of locks that the function at ENTRY, or what it calls by name, lets go of and has not
 * taken; all of them if it calls very many functions. All if memory ran out. */
unsigned gh_unlocked_by(struct gh_lock_code *code, const struct gh_pclntab *tab, uint64_t entry);

/* The same but for what is among the function's effects. */
unsigned gh_unlocked_unseen(struct gh_lock_code *code, const struct gh_pclntab *tab,
			    uint64_t entry);

void gh_lock_code_free(struct gh_lock_code *code);

/* A function of package sync that is a lock's own: its waiting for locks tells nothing. */
bool gh_is_lock_own(const char *name);

/* The method called NAME that takes a lock or lets go of one; NULL if it is another function. */
const struct gh_lock_method *gh_lock_method_named(const char *name);

/* The method that takes a lock of this KIND or, with UNLOCKS, lets go of it. */
const struct gh_lock_method *gh_lock_method_of(unsigned kind, bool unlocks);

/* Finds those in the function at PC, an address in TAB's program; none if it is not known, or a
 * lock's own. TARGETS has those of its indirect calls that are known. What is called is looked up
 * in CODE, unless that is NULL. False if memory ran out. To be freed either way. */
bool gh_lock_calls_find(struct gh_lock_calls *calls, const struct gh_pclntab *tab,
			struct gh_lock_code *code, uint64_t pc,
			const struct gh_lock_targets *targets);

void gh_lock_calls_free(struct gh_lock_calls *calls);

/* FUNC has such a call. */
bool gh_lock_calls_any(const struct gh_pclntab *tab, const struct gh_func *func);

/* The line of RANGE in its function itself. */
int32_t gh_own_line(const struct gh_range *range);

/* A lock that a function may have open: taken, and not let go of. */
struct gh_open_lock {
	unsigned lock;               /* its kind */
	bool lets_go;                /* the function will let go of it, whoever has taken it */
	bool sure;                   /* it has taken it, on whatever way control came */
	bool lasts;                  /* what led to the mutex then does so still: */
	uint64_t pc;                 /* of the call that takes it, in the program's file */
	struct gh_receiver receiver; /* that, if it is known */
};

struct gh_open_locks GH_VECTOR(struct gh_open_lock);

/* The ways of control through a function: what the files that look at locks in code share. */
struct gh_lock_flow {
	struct gh_lock_calls calls;
	struct gh_lock_code *lock_code; /* to look up what is called; may be NULL */
	const struct gh_lock_targets *targets;
	struct gh_cursor code;
	uint8_t *marks;                  /* by byte of the code; owned */
	struct GH_VECTOR(uint64_t) left; /* instructions that control may come to, by offset */
	bool skips_indirect;             /* what is not known to be called lets go of nothing */
};

/* Marks: control is not followed further; it has come there; it goes on from there to pc. */
enum { GH_LOCK_STOP = 1, GH_LOCK_SEEN = 2, GH_LOCK_LEADS = 4 };

enum gh_flow_reached { GH_FLOW_NOT_REACHED, GH_FLOW_REACHED, GH_FLOW_NOT_KNOWN };

/* Starts on the function that is at PC, as gh_lock_calls_find. False if its code is not there, or,
 * and then OK is false, memory ran out. To be freed either way. */
bool gh_lock_flow_start(struct gh_lock_flow *flow, const struct gh_pclntab *tab,
			struct gh_lock_code *code, uint64_t pc,
			const struct gh_lock_targets *targets, bool *ok);

void gh_lock_flow_clear(struct gh_lock_flow *flow);
void gh_lock_flow_free(struct gh_lock_flow *flow);

/* CALL lets go of what LOCKED may have taken; it takes what LOCKED takes. */
bool gh_lock_flow_may_unlock(const struct gh_lock_call *call, const struct gh_lock_call *locked);
bool gh_lock_flow_locks_same(const struct gh_lock_call *call, const struct gh_lock_call *locked);

/* Control may come to ADDRESS; it is not to be followed past PIECE. */
void gh_lock_flow_go_to(struct gh_lock_flow *flow, uint64_t address);
void gh_lock_flow_stop_at(struct gh_lock_flow *flow, const struct gh_lock_piece *piece);

/* Whether control comes from where it may be to the instruction that is executing without one that
 * is marked GH_LOCK_STOP. Marks all those that it comes to. */
enum gh_flow_reached gh_lock_flow_follow(struct gh_lock_flow *flow);

/* Whether control comes to the instruction from LOCKED without a call that may let go; whether it
 * comes there with what LOCKED takes not taken, or let go of. */
enum gh_flow_reached gh_lock_flow_comes_open(struct gh_lock_flow *flow,
					     const struct gh_lock_call *locked);
enum gh_flow_reached gh_lock_flow_comes_without(struct gh_lock_flow *flow,
						const struct gh_lock_call *locked);

/* The kinds of locks that functions may have let go of that were called on the ways that control
 * has been followed on to the instruction. */
unsigned gh_lock_flow_released(struct gh_lock_flow *flow);

/* Whether none of the words that lead to RECEIVER is written where control has come. */
bool gh_lock_flow_lasts(const struct gh_lock_flow *flow, const struct gh_receiver *receiver);

/* CALL, of FLOW, lets go of what it has not taken, on a way from the instruction at ADDRESS. Marks
 * where control comes from there without a call that may take the same. */
bool gh_lock_flow_lets_go(struct gh_lock_flow *flow, const struct gh_lock_call *call,
			  uint64_t address);

/* What is known where a function is at an instruction. */
struct gh_lock_place {
	uint64_t entry; /* of the function, in the program's file */
	struct gh_open_locks locks;
	struct GH_VECTOR(struct gh_kept) kept;       /* words of the frame that have arguments */
	struct GH_VECTOR(struct gh_passed) passed;   /* by the call that it is at */
	struct GH_VECTOR(struct gh_passed) indirect; /* the functions that other calls call */
	unsigned unclear;  /* kinds of locks that it may have open unseen */
	bool is_locking;   /* it is within a call that takes a lock */
	bool has_released; /* see gh_lock_place_find_released: */
	unsigned released; /* kinds of locks that functions that it called let go of */
	unsigned unseen;   /* the same where it is not known what was called; 0 in Go's packages */
	struct gh_open_locks releases; /* that it let go of itself; sure: on every way */
};

/* Fills PLACE for the function that is executing the instruction at PC, an address in TAB's
 * program. A lock is open from a call that takes it if control comes there by a way without one
 * that lets go of a mutex that may be the same. Where control cannot be followed it is so, but not
 * sure, by the order of the calls in the source. A deferred call lets go at the function's end.
 * There are those, too, that the function lets go of before it takes them. What functions that were
 * called since may have let go of is not sure: these are looked up in CODE, unless it is NULL.
 * TARGETS are those of indirect calls. False if memory ran out. To be freed either way. */
bool gh_lock_place_find(struct gh_lock_place *place, const struct gh_pclntab *tab,
			struct gh_lock_code *code, uint64_t pc,
			const struct gh_lock_targets *targets);

/* Finds what PLACE's function may have let go of, and had not taken, on the way from its beginning
 * to PC, where that is. False if memory ran out. */
bool gh_lock_place_find_released(struct gh_lock_place *place, const struct gh_pclntab *tab,
				 struct gh_lock_code *code, uint64_t pc);

/* The function at PC has taken a lock of this KIND wherever control came to DEFERRED, an address in
 * it, and has let go of none of that kind since. */
bool gh_lock_is_deferred(const struct gh_pclntab *tab, struct gh_lock_code *code, uint64_t pc,
			 uint64_t deferred, unsigned kind);

void gh_lock_place_free(struct gh_lock_place *place);

/* The places that the frames of a dump's goroutines are at. The fields are private but the places
 * and FAILED. */
struct gh_lock_frames {
	const struct gh_dump *dump;
	const struct gh_waits *waits;
	const size_t *wait_of; /* by goroutine: the place of its wait */
	const struct gh_module *modules;
	size_t nmodules;
	struct gh_lock_code *codes; /* by module; owned */
	struct GH_VECTOR(struct gh_lock_place) places;
	struct gh_numbermap numbers;  /* by pc: of the place */
	struct gh_numbermap resolved; /* by pc and what its indirect calls call */
	bool has_unproved;            /* see gh_left_unproved: */
	unsigned unproved;            /* of all kinds */
	bool failed;                  /* memory ran out */
};

/* Starts on those of WAITS's goroutines; WAIT_OF as below. False if memory ran out. */
bool gh_lock_frames_start(struct gh_lock_frames *frames, const struct gh_waits *waits,
			  const size_t *wait_of, const struct gh_module *modules, size_t nmodules);
void gh_lock_frames_free(struct gh_lock_frames *frames);

/* The number of the module that has the function at ENTRY; of the program if none has. */
size_t gh_lock_frames_module(const struct gh_lock_frames *frames, uint64_t entry);

/* The number of the place of the frame at DEPTH of GOROUTINE's stack; SIZE_MAX if there is none, or
 * memory ran out. */
size_t gh_lock_frames_place(struct gh_lock_frames *frames, size_t goroutine, size_t depth);

/* Finds in *ADDRESS what VALUE, of the function at DEPTH, leads to now; its place is number PLACE;
 * CALLERS is 0. False if it is not known. */
bool gh_lock_frames_value(struct gh_lock_frames *frames, size_t goroutine, size_t depth,
			  size_t place, const struct gh_receiver *value, unsigned callers,
			  uint64_t *address);

/* The same, whatever VALUE is from is AT. */
bool gh_lock_frames_follow(const struct gh_lock_frames *frames, uint64_t at,
			   const struct gh_receiver *value, uint64_t *address);

/* A lock that a frame may have open. */
struct gh_frame_lock {
	unsigned lock;    /* its kind */
	bool lets_go;     /* see gh_open_lock */
	bool certain;     /* sure, and what led to the mutex does so still */
	bool lasts;       /* that alone */
	uint64_t address; /* of the mutex; 0 if it is not known */
	uint64_t pc;      /* of the call that takes it, where the program ran */
};

struct gh_frame_locks GH_VECTOR(struct gh_frame_lock);

/* Fills OUT with those of the frame at DEPTH of GOROUTINE's stack, what it has deferred included.
 * The kinds of locks that it may hold, or let go of, it is not known which, are added to UNCLEAR.
 */
void gh_lock_frames_open(struct gh_lock_frames *frames, size_t goroutine, size_t depth,
			 struct gh_frame_locks *out, unsigned *unclear);

/* How far it is known that a lock was let go of. */
enum gh_released { GH_RELEASED_NOT, GH_RELEASED_PERHAPS, GH_RELEASED };

/* Whether functions that the one at DEPTH has called, and that have not returned, have let go of a
 * lock that it may have taken, of one of the kinds KIND, at ADDRESS; 0: that is not known. */
enum gh_released gh_lock_frames_released(struct gh_lock_frames *frames, size_t goroutine,
					 size_t depth, unsigned kind, uint64_t address);

/* The number of the first mutex of DEADLOCKS at ADDRESS or past it. */
size_t gh_deadlocks_from(const struct gh_deadlocks *deadlocks, uint64_t address);

/* The number of the mutex at ADDRESS; GH_DUMP_NONE if there is none. */
size_t gh_deadlocks_at(const struct gh_deadlocks *deadlocks, uint64_t address);

/* The function at ENTRY calls methods of locks by name. */
bool gh_lock_touches(struct gh_lock_code *code, const struct gh_pclntab *tab, uint64_t entry);

/* The function called NAME is of a package of Go's own: it knows no lock of a program's but by an
 * interface or a value of a method. */
bool gh_is_go_own(const char *name);

/* The kinds of locks among KINDS of which it is not known that the program's functions let go of
 * those alone that they have taken. All if memory ran out. */
unsigned gh_left_unproved(struct gh_lock_frames *frames, unsigned kinds);

/* Finds the holders of the mutexes of DEADLOCKS. WAIT_OF has for each goroutine the place of its
 * wait, or GH_DUMP_NONE. False if memory ran out. */
bool gh_mutex_holders_find(struct gh_deadlocks *deadlocks, const struct gh_waits *waits,
			   const size_t *wait_of, const struct gh_module *modules, size_t nmodules);

#endif
