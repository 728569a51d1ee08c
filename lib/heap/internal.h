/* What the files that build the graph of a heap share. */
#ifndef GH_HEAP_INTERNAL_H
#define GH_HEAP_INTERNAL_H

#include "lib/dump/dump.h"
#include "lib/heap/heap.h"
#include "lib/util/vector.h"

/* The frames that pointers on stacks lead to, each once: they hold variables whose pointers a dump
 * does not list. */

struct gh_reached_frames {
	const struct gh_dump *dump;
	uint8_t *met;    /* a bit for each frame, by its place in the dump's frames; owned */
	size_t *numbers; /* by place: the frame's number; NULL if that is the same; owned */
	struct GH_VECTOR(size_t) queue; /* places of those that were met */
	size_t next;                    /* to be taken from the queue */
};

/* Starts with no frame of DUMP met. False if memory ran out. To be freed either way. */
bool gh_reached_frames_start(struct gh_reached_frames *frames, const struct gh_dump *dump);

void gh_reached_frames_free(struct gh_reached_frames *frames);

/* A pointer on a stack leads to ADDRESS. */
void gh_reached_frames_add(struct gh_reached_frames *frames, uint64_t address);

/* The words of a frame where variables are that its fieldlist does not have. */
struct gh_frame_words {
	size_t number;             /* of the frame */
	struct gh_cursor contents; /* private */
	uint8_t *listed;           /* private: a bit for each word in the fieldlist; owned */
	size_t at;                 /* private: the next word */
	size_t end;                /* private: past the last */
	uint8_t word;              /* private: size, in bytes */
};

enum gh_reached_next {
	GH_REACHED_FRAME, /* there is one more: WORDS is to be freed with gh_frame_words_free */
	GH_REACHED_END,
	GH_REACHED_FAILED, /* memory ran out, now or when a frame was met */
};

/* Starts a walk over the words of the next frame met. More may be met on the way. */
enum gh_reached_next gh_reached_frames_next(struct gh_reached_frames *frames,
					    struct gh_frame_words *words);

/* Gives the next word, and its offset in the frame's contents, in bytes. False at the end. */
bool gh_frame_words_next(struct gh_frame_words *words, uint64_t *offset, uint64_t *value);

void gh_frame_words_free(struct gh_frame_words *words);

/* The tails of spans, which a dump lists as objects.
 *
 * From Go 1.22 on, spans of small objects end in a bitmap of their pointers, and from 1.26 on in
 * their mark bits (initSpan in src/runtime/mheap.go). The dumper (dumpobjs in heapdump.go) takes
 * the span to be full of objects up to its end, and never takes these last ones to be free: of a
 * heap of small objects that is more than 1 percent. */

/* A walk over the objects of a dump by address. */
struct gh_span_tails {
	const struct gh_dump *dump;
	uint64_t max_size; /* of objects in such spans, in bytes; 0 if the dump has none */
	uint64_t bitmap;   /* size of the bitmap in spans of objects with pointers, in bytes */
	uint64_t marks;    /* size of the mark bits, in bytes; 0 for none */
	uint64_t span;     /* number of the span that the object before is in */
	uint64_t looked;   /* objects whose records were read */
	bool pointerful;   /* an object before, in that span, has pointers */
};

/* Starts a walk over the objects of DUMP. */
struct gh_span_tails gh_span_tails_start(const struct gh_dump *dump);

/* OBJECT, which is the next by address, is none. */
bool gh_span_tails_is(struct gh_span_tails *span_tails, const struct gh_extent *object);

/* Adjacency lists. */

/* The lists of so many objects, one after the other, are one piece of memory. */
#define GH_ADJACENCY_BLOCK 65536

/* Makes COUNT lists without blocks. False if memory ran out. To be freed either way. */
bool gh_adjacency_make(struct gh_adjacency *lists, uint32_t count);

void gh_adjacency_free(struct gh_adjacency *lists);

/* The number of blocks. */
static inline uint32_t gh_adjacency_nblocks(const struct gh_adjacency *lists)
{
	return lists->count / GH_ADJACENCY_BLOCK + (lists->count % GH_ADJACENCY_BLOCK != 0);
}

/* Where OBJECT's list begins in its block. */
static inline uint32_t gh_adjacency_start(const struct gh_adjacency *lists, uint32_t object)
{
	return object % GH_ADJACENCY_BLOCK != 0 ? lists->ends[object - 1] : 0;
}

/* The list of OBJECT. Gives how many there are in it. */
static inline size_t gh_adjacency_get(const struct gh_adjacency *lists, uint32_t object,
				      const uint32_t **list)
{
	uint32_t start = gh_adjacency_start(lists, object);
	*list = lists->blocks[object / GH_ADJACENCY_BLOCK] + start;
	return lists->ends[object] - start;
}

/* Makes, of lists which say to what objects each one points, those which say what points to each:
 * ascending, each once. False if memory ran out, or one block would hold 2^32 entries. To be freed
 * either way. */
bool gh_adjacency_reverse(struct gh_adjacency *reverse, const struct gh_adjacency *lists);

/* The objects of a dump, numbered by ascending address. */

/* In bytes: see struct gh_object_block. */
#define GH_OBJECT_TABLE_BLOCK (64 * GH_EXTENT_UNIT)

/* See the hints of struct gh_object_table. */
#define GH_OBJECT_TABLE_HINT 64

/* Numbers the objects of DUMP, which stays the caller's and outlives them. False (ERR filled) if
 * they are more than GH_HEAP_NONE or memory ran out. To be freed either way. */
bool gh_object_table_make(struct gh_object_table *table, const struct gh_dump *dump,
			  struct gh_error *err);

void gh_object_table_free(struct gh_object_table *table);

/* Object NUMBER, which there is. */
struct gh_heap_object gh_object_table_get(const struct gh_object_table *table, uint32_t number);

/* The object that holds ADDRESS, not only where it begins; or GH_HEAP_NONE. Where objects overlap,
 * the one that begins last is asked alone. */
uint32_t gh_object_table_find(const struct gh_object_table *table, uint64_t address);

/* Adds the roots of DUMP, whose objects are numbered by TABLE, to ROOTS: sorted by object,
 * rank, kind, number and offset. False if memory ran out.
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
