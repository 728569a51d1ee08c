/* A Go heap dump: what runtime/debug.WriteHeapDump wrote, and an index of it.
 *
 * The file is mapped, and stays as it is: the index says where each record is, and a record is read
 * again when it is asked for. Contents, texts and fieldlists are never copied. */
#ifndef GH_DUMP_DUMP_H
#define GH_DUMP_DUMP_H

#include "lib/dump/extents.h"
#include "lib/dump/input.h"
#include "lib/dump/record.h"
#include "lib/elf/arch.h"
#include "lib/util/buffer.h"
#include "lib/util/error.h"

/* No record of this number, or none that was looked for. */
#define GH_DUMP_NONE SIZE_MAX

/* A goroutine and what follows it in the file. */
struct gh_dump_stack {
	uint64_t offset;    /* of the goroutine's record, in the file */
	size_t first_frame; /* the number of its top frame; the others follow, callees first */
	size_t nframes;
	size_t first_defer; /* the number of its innermost defer */
	size_t ndefers;
	size_t first_panic; /* the number of its innermost panic */
	size_t npanics;
};

/* A record's number by its address (a profile's: by its id). */
struct gh_dump_key {
	uint64_t key;
	size_t number;
};

/* What is wrong with a dump that is read nonetheless. */
struct gh_dump_damage {
	size_t orphan_frames; /* before any goroutine */
	size_t
	    misplaced_frames; /* their depth is not the next, or their child not the frame before */
	size_t duplicate_ids; /* goroutines whose id another had */
	size_t strays; /* defers and panics that name another goroutine than the one before */
	size_t overlapping_objects; /* that begin within another */
	size_t overlapping_frames;  /* that begin within another */
	size_t repeated_params;     /* params after the first */
	uint64_t trailing;          /* bytes after the last record */
};

/* What a process tells of a goroutine, and no record has. */
struct gh_dump_ties {
	uint64_t creator; /* id of the goroutine that made it; 0 if none did or it is not known */
	bool locked;      /* to its thread; false also where that is not known */
	bool selected;    /* it runs on the thread that the debugger's user looks at */
	uint32_t labels;  /* where its labels for profiles are among the dump's */
};

/* A goroutine has no more labels than these. */
#define GH_DUMP_LABELS_MAX 64

/* A label that runtime/pprof gave a goroutine. */
struct gh_dump_label {
	const char *key; /* not ended by a NUL */
	size_t key_size; /* in bytes */
	const char *value;
	size_t value_size;
};

struct gh_dump {
	char *path;                 /* as given; owned */
	struct gh_dump_input input; /* owned; empty if the dump was opened in memory */
	struct gh_cursor file;      /* over the whole dump, in its byte order */
	enum gh_dump_format format;
	uint8_t word;                 /* pointer size, in bytes: 4 or 8 */
	char goarch[16];              /* as GOARCH spells it; "" if unknown. To be escaped. */
	struct gh_dump_params params; /* as read */
	struct gh_extents objects;
	struct gh_extents frames;      /* in the file's order */
	struct gh_extents segments;    /* data and bss */
	struct gh_extents stack_words; /* the prototype's: of stack roots, and return addresses */
	struct gh_extents data_words;  /* the prototype's: of data roots */
	struct gh_buffer words;  /* theirs, in the dump's byte order; their offsets are here */
	size_t *frame_order;     /* frame numbers to places in frames, where they differ; owned */
	struct gh_buffer stacks; /* struct gh_dump_stack, by goroutine number */
	size_t nstacks;
	struct gh_buffer offsets[GH_DUMP_KINDS]; /* uint64_t, of the records of the other kinds */
	struct gh_dump_key *keys[GH_DUMP_KINDS]; /* of types, itabs and profiles, sorted; owned */
	uint64_t
	    latest; /* the latest time that the dump knows on the clock of its wait starts; ns */
	const struct gh_dump_ties
	    *ties;    /* by goroutine number, of a dump that was made of a process; whoever opened
			 it may set them, owns them, and keeps them while it is open */
	size_t nties; /* 0 if there are none */
	const uint8_t *labels; /* what the ties name, likewise: at each place a number of labels,
				  and of each label the size of its key, the key, the size of its
				  value, the value; sizes and numbers are uint32_t. NULL if none */
	struct gh_dump_damage damage;
	struct gh_error warning; /* why records are missing at the end; "" if none are */
};

/* Opens the dump PATH, compressed by gzip or not, in one pass over its records. Where a record is
 * cut off or of an unknown kind, the dump ends before it, and dump->warning says so.
 * Returns false and fills ERR if it cannot be read, is no heap dump, or has not even its first
 * record, the params. On success the dump is to be closed with gh_dump_close. */
bool gh_dump_open(struct gh_dump *dump, const char *path, struct gh_error *err);

/* The same on SIZE bytes already in memory, not compressed, which stay the caller's and outlive the
 * dump. NAME is for errors. */
bool gh_dump_open_memory(struct gh_dump *dump, const void *data, size_t size, const char *name,
			 struct gh_error *err);

/* The same on the file FD, not compressed, which is the dump's from now on, also on failure. */
bool gh_dump_open_fd(struct gh_dump *dump, int fd, const char *name, struct gh_error *err);

/* Frees everything. A zeroed dump may be closed too. */
void gh_dump_close(struct gh_dump *dump);

/* The SIZE first bytes of a file, at least 16, are those of a heap dump. */
bool gh_dump_recognise(const void *data, size_t size);

/* The format's name, "go1.7"; the prototype's is "go1.3 prototype". */
const char *gh_dump_format_name(enum gh_dump_format format);

/* The machine that the dumped process ran on. The prototype does not name it: then it is the one of
 * Go's at the time that has such pointers, and of 386 and arm the first. NULL, and ERR filled, if
 * the dump names none that is known, or it does not fit its pointers. */
const struct gh_arch *gh_dump_arch(const struct gh_dump *dump, struct gh_error *err);

/* How many records of KIND there are. They are numbered from 0 in the file's order; a goroutine's
 * frames by depth. */
size_t gh_dump_count(const struct gh_dump *dump, enum gh_dump_kind kind);

/* Reads record NUMBER of KIND, which there is. */
void gh_dump_get(const struct gh_dump *dump, enum gh_dump_kind kind, size_t number,
		 struct gh_dump_record *record);

/* The ties of goroutine NUMBER; zeros where they are not known. */
struct gh_dump_ties gh_dump_ties(const struct gh_dump *dump, size_t number);

/* Fills LABELS with those of goroutine NUMBER, sorted by key, and returns how many there are. */
size_t gh_dump_labels(const struct gh_dump *dump, size_t number,
		      struct gh_dump_label labels[GH_DUMP_LABELS_MAX]);

/* Where goroutine NUMBER's frames, defers and panics are. */
const struct gh_dump_stack *gh_dump_stack(const struct gh_dump *dump, size_t number);

/* The number of the object that holds ADDRESS, not only where it begins; or GH_DUMP_NONE. */
size_t gh_dump_find_object(const struct gh_dump *dump, uint64_t address);

/* The number of the first type or itab at the address KEY, or profile with this id; or
 * GH_DUMP_NONE. */
size_t gh_dump_find(const struct gh_dump *dump, enum gh_dump_kind kind, uint64_t key);

/* A cursor over a text or contents, in the dump's byte order. */
struct gh_cursor gh_dump_bytes(const struct gh_dump *dump, struct gh_dump_slice slice);

/* Starts a walk over the fields of an object, frame, data or bss segment, or type. */
void gh_dump_fields(const struct gh_dump *dump, const struct gh_dump_record *record,
		    struct gh_fields *walk);

/* How long a goroutine has waited, in ns, or 0 if the dump does not say. A wait starts, for Go, at
 * the first garbage collection that sees it; and a dump does not say when it was written: it is
 * counted up to the latest such start of any goroutine. So this is a lower bound. */
uint64_t gh_dump_waited(const struct gh_dump *dump, const struct gh_dump_goroutine *goroutine);

/* The Go version that wrote the dump, where it says ("go1.22.5", Go 1.17 and later); else size 0.
 */
struct gh_dump_slice gh_dump_go_version(const struct gh_dump *dump);

/* N of the release Go 1.N that wrote DUMP, of a development version too; -1 if the dump does not
 * say: then it is 7 or higher. */
int gh_dump_minor(const struct gh_dump *dump);

#endif
