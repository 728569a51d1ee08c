/* What the files that read and write profiles share. */
#ifndef GH_PROFILE_INTERNAL_H
#define GH_PROFILE_INTERNAL_H

#include <zlib.h>

#include "lib/pclntab/pclntab.h"
#include "lib/profile/profile.h"
#include "lib/util/buffer.h"
#include "lib/util/intern.h"
#include "lib/util/vector.h"

/* Looks up where in a program's code given source lines are executing: a call's, and those of the
 * calls that it is inlined into. What the dumper writes of a frame names the function that the code
 * is in, never the inlined call; the lines tell which it was. */

/* How lines belong to a range of code. A call's last byte may be the last of a range: then what it
 * returns to is the code of other lines. */
enum gh_linestack_kind {
	GH_LINESTACK_ALL,        /* they are all of its stack */
	GH_LINESTACK_ALLOCATES,  /* the same, and a call in it allocates and returns to it */
	GH_LINESTACK_RETURNS,    /* the innermost is that of the code after it, which a call that
				    allocates returns to; the others are its own */
	GH_LINESTACK_MAY_RETURN, /* the same, but no such call is seen */
	GH_LINESTACK_PART,       /* they are the innermost of its stack */
};

/* A range of code, found by its lines. */
struct gh_linestack {
	uint64_t hash;               /* of the function's name and the lines */
	uint64_t start;              /* of the range, an address in the program's file */
	uint32_t number;             /* the user's; 0 at first */
	enum gh_linestack_kind kind; /* how the lines belong to it */
	bool wrappers;               /* frames of wrappers are among the lines */
};

/* By hash, kind, start. */
struct gh_linestacks GH_VECTOR(struct gh_linestack);

/* Takes in the code of those functions of TAB whose names are in NAMES. False if memory ran out. Of
 * a program that has more of it than a small multiple of its size the rest is left out. The
 * vector is to be freed in any case. */
bool gh_linestacks_build(struct gh_linestacks *stacks, const struct gh_pclntab *tab,
			 const struct gh_intern *names);

/* A hash to look up: of the function that the code is in, and of each line added, innermost first.
 * It is not proof against lines made to have the hash of others: those would be shown for them, as
 * they could be had by naming them. */
uint64_t gh_linestack_start(const char *function, size_t length);
uint64_t gh_linestack_add(uint64_t hash, uint64_t line_hash);

/* The hash of a line, for gh_linestack_add. */
uint64_t gh_linestack_line(const char *file, size_t length, uint64_t line);

/* The first range by address whose lines have the hash HASH in the way of KIND; NULL if there is
 * none. */
struct gh_linestack *gh_linestacks_find(const struct gh_linestacks *stacks, uint64_t hash,
					enum gh_linestack_kind kind);

/* Writes pprof's messages: a Profile is written field by field, so that it is never all in memory.
 */

/* The fields of profile.proto's messages. */
enum {
	GH_PPROF_PROFILE_SAMPLE_TYPE = 1,
	GH_PPROF_PROFILE_SAMPLE = 2,
	GH_PPROF_PROFILE_MAPPING = 3,
	GH_PPROF_PROFILE_LOCATION = 4,
	GH_PPROF_PROFILE_FUNCTION = 5,
	GH_PPROF_PROFILE_STRING_TABLE = 6,
	GH_PPROF_PROFILE_TIME_NANOS = 9,
	GH_PPROF_PROFILE_PERIOD_TYPE = 11,
	GH_PPROF_PROFILE_PERIOD = 12,
	GH_PPROF_PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	GH_PPROF_VALUE_TYPE_TYPE = 1,
	GH_PPROF_VALUE_TYPE_UNIT = 2,

	GH_PPROF_SAMPLE_LOCATION_ID = 1,
	GH_PPROF_SAMPLE_VALUE = 2,
	GH_PPROF_SAMPLE_LABEL = 3,

	GH_PPROF_LABEL_KEY = 1,
	GH_PPROF_LABEL_NUM = 3,

	GH_PPROF_MAPPING_ID = 1,
	GH_PPROF_MAPPING_MEMORY_START = 2,
	GH_PPROF_MAPPING_MEMORY_LIMIT = 3,
	GH_PPROF_MAPPING_FILE_OFFSET = 4,
	GH_PPROF_MAPPING_FILENAME = 5,
	GH_PPROF_MAPPING_BUILD_ID = 6,
	GH_PPROF_MAPPING_HAS_FUNCTIONS = 7,
	GH_PPROF_MAPPING_HAS_FILENAMES = 8,
	GH_PPROF_MAPPING_HAS_LINE_NUMBERS = 9,
	GH_PPROF_MAPPING_HAS_INLINE_FRAMES = 10,

	GH_PPROF_LOCATION_ID = 1,
	GH_PPROF_LOCATION_MAPPING_ID = 2,
	GH_PPROF_LOCATION_ADDRESS = 3,
	GH_PPROF_LOCATION_LINE = 4,

	GH_PPROF_LINE_FUNCTION_ID = 1,
	GH_PPROF_LINE_LINE = 2,

	GH_PPROF_FUNCTION_ID = 1,
	GH_PPROF_FUNCTION_NAME = 2,
	GH_PPROF_FUNCTION_SYSTEM_NAME = 3,
	GH_PPROF_FUNCTION_FILENAME = 4,
	GH_PPROF_FUNCTION_START_LINE = 5,
};
/* The id of the one mapping that a profile has. */
#define GH_PPROF_MAPPING 1

/* A profile that is being written. */
struct gh_pprof_out {
	gzFile stream;
	struct gh_buffer field;   /* of the Profile, to be written next */
	struct gh_buffer message; /* in the field */
	struct gh_buffer nested;  /* in the message */
	bool failed;              /* it cannot be written: errno says why */
};

/* Appends field FIELD to a message: an integer (a negative one as its two's complement). 0 is what
 * a field that is left out means: it is left out. */
void gh_pprof_put_int(struct gh_buffer *message, unsigned field, uint64_t value);

/* Appends COUNT integers, packed. */
void gh_pprof_put_ints(struct gh_buffer *message, unsigned field, const uint64_t *values,
		       size_t count);

/* Writes an integer field of the Profile. */
void gh_pprof_write_int(struct gh_pprof_out *out, unsigned field, uint64_t value);

/* Writes the message as a field of the Profile; the next starts empty. */
void gh_pprof_end_message(struct gh_pprof_out *out, unsigned field);

/* Ends the nested message, a field of the message; the next starts empty. */
void gh_pprof_end_nested(struct gh_pprof_out *out, unsigned field);

/* Writes a ValueType, of strings by number, as a field of the Profile. */
void gh_pprof_write_type(struct gh_pprof_out *out, unsigned field, unsigned type, unsigned unit);

/* Writes SIZE bytes at TEXT as the next of the string table. */
void gh_pprof_write_string(struct gh_pprof_out *out, const char *text, size_t size);

typedef void gh_pprof_writer(struct gh_pprof_out *out, const void *context);

/* Has WRITE write a profile of CONTEXT to PATH, which is there whole or not at all. Returns false
 * and fills ERR if it cannot be written. */
bool gh_pprof_write_file(const char *path, gh_pprof_writer *write, const void *context,
			 struct gh_error *err);

/* A stack, as it is shown. */
struct gh_live_stack {
	size_t record;     /* a profile record with this stack */
	uint64_t objects;  /* live, as many as there are likely to be */
	uint64_t bytes;    /* in them */
	uint64_t retained; /* bytes that would go with those of them that were sampled */
};

#endif
