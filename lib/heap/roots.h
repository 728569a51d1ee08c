/* The roots of the heap: the pointers to its objects that are not in it. */
#ifndef GH_HEAP_ROOTS_H
#define GH_HEAP_ROOTS_H

#include "lib/heap/pointers.h"

enum gh_root_kind {
	GH_ROOT_DATA, /* a slot of a data segment, or one of the prototype's data roots */
	GH_ROOT_BSS,
	GH_ROOT_FRAME,            /* a slot of a frame, or one of the prototype's stack roots */
	GH_ROOT_GOROUTINE,        /* see enum gh_root_slot */
	GH_ROOT_DEFER,            /* its closure */
	GH_ROOT_PANIC,            /* its argument */
	GH_ROOT_FINALIZER,        /* what its object points to, or its closure */
	GH_ROOT_QUEUED_FINALIZER, /* its object, or its closure */
	GH_ROOT_CLEANUP, /* the closure that Go 1.24 and 1.25 make for one: see cleanups.h */
	GH_ROOT_OTHER,
	GH_ROOT_KINDS,
};

/* What the offset of a root is if it is not that of a slot. */
enum gh_root_slot {
	GH_ROOT_CONTEXT = 0,   /* of a goroutine */
	GH_ROOT_TOP_DEFER = 1, /* of a goroutine: its record */
	GH_ROOT_TOP_PANIC = 2, /* of a goroutine: its record */
};
/* The closure of a finalizer. */
#define GH_ROOT_CLOSURE UINT64_MAX

struct gh_root {
	uint32_t object; /* that it points to */
	uint32_t number; /* of its record in the dump, of the kind that gh_root_record gives */
	uint64_t offset; /* of the slot in the frame's or segment's contents, or in the object with
			    a finalizer, in bytes; of a goroutine, enum gh_root_slot; else 0 */
	enum gh_root_kind kind;
	bool conservative; /* of a word of a frame, which may be no pointer: see gh_roots_find */
};

/* The kind of the record that a root of KIND is in. */
enum gh_dump_kind gh_root_record(const struct gh_dump *dump, enum gh_root_kind kind);

/* What is wrong with the roots. */
struct gh_roots_damage {
	uint64_t lost_finalizers; /* for addresses that are in no object */
};

struct gh_roots GH_VECTOR(struct gh_root);

/* Adds the roots of DUMP, whose objects are numbered by TABLE, to ROOTS: sorted by object, the
 * conservative after the others, by kind, number and offset. False if memory ran out.
 *
 * From Go 1.12 on a frame's fieldlist leaves out the variables whose address is taken: the
 * collector looks at them if it meets a pointer to them, and knows their pointers from the program
 * (scanstack in src/runtime/mgcmark.go, FUNCDATA_StackObjects). A dump does not have those: so,
 * where a pointer on a stack leads to a frame, every word of that frame's variables may be a
 * pointer. One that was made of a process has them in the fieldlists; there frames that were
 * interrupted, and some other roots, are conservative. */
bool gh_roots_find(const struct gh_dump *dump, const struct gh_object_table *table,
		   struct gh_roots *roots, struct gh_roots_damage *damage);

/* Sorts ROOTS as gh_roots_find does, and leaves out the conservative ones of objects that have
 * others. */
void gh_roots_sort(struct gh_roots *roots);

#endif
