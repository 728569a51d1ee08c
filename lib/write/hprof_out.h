/* An hprof file while it is written: its records, its strings, the segments of its heap dump.
 *
 * Format: "HPROF binary format", in the JDK's hprof agent (manual.html and hprof_b_spec.h, up to
 * JDK 8). All numbers are big-endian. */
#ifndef GH_WRITE_HPROF_OUT_H
#define GH_WRITE_HPROF_OUT_H

#include "lib/util/buffer.h"
#include "lib/util/output.h"

/* Records. */
enum {
	GH_HPROF_STRING = 0x01,
	GH_HPROF_LOAD_CLASS = 0x02,
	GH_HPROF_STACK_FRAME = 0x04,
	GH_HPROF_STACK_TRACE = 0x05,
	GH_HPROF_START_THREAD = 0x0a,
	GH_HPROF_HEAP_DUMP_SEGMENT = 0x1c,
	GH_HPROF_HEAP_DUMP_END = 0x2c,
};

/* What a heap dump segment is made of. */
enum {
	GH_HPROF_ROOT_JNI_LOCAL = 0x02,
	GH_HPROF_ROOT_JAVA_FRAME = 0x03,
	GH_HPROF_ROOT_NATIVE_STACK = 0x04,
	GH_HPROF_ROOT_STICKY_CLASS = 0x05,
	GH_HPROF_ROOT_THREAD_OBJECT = 0x08,
	GH_HPROF_CLASS_DUMP = 0x20,
	GH_HPROF_INSTANCE_DUMP = 0x21,
	GH_HPROF_OBJECT_ARRAY_DUMP = 0x22,
	GH_HPROF_PRIMITIVE_ARRAY_DUMP = 0x23,
	GH_HPROF_ROOT_UNKNOWN = 0xff,
};

/* Types of fields and of the elements of primitive arrays. */
enum {
	GH_HPROF_OBJECT = 2,
	GH_HPROF_BOOLEAN = 4,
	GH_HPROF_CHAR = 5,
	GH_HPROF_FLOAT = 6,
	GH_HPROF_DOUBLE = 7,
	GH_HPROF_BYTE = 8,
	GH_HPROF_SHORT = 9,
	GH_HPROF_INT = 10,
	GH_HPROF_LONG = 11,
};

/* The stack trace, without frames, of what has none. */
#define GH_HPROF_NO_TRACE 1

struct gh_hprof_out {
	struct gh_output file;    /* to write into; owned by whoever opened it */
	const char *path;         /* its name, for errors; not owned */
	struct gh_buffer pending; /* what is yet to be written, after what is */
	uint64_t written;         /* bytes of the file */
	uint64_t segment;         /* offset in the file of the open segment; 0 if none is */
	uint64_t strings;         /* the id of the last string */
	unsigned id_size;         /* of ids, in bytes: 4 or 8 */
	bool failed;              /* a write has, and error says why */
	struct gh_error error;    /* filled if it has */
};

/* Opens PATH and writes the file's header. TIME is when what it describes was so, in ms since 1970.
 * False (ERR filled) if it cannot be opened. To be ended with gh_hprof_out_close. What fails
 * later is kept until then: nothing more is written after it. */
bool gh_hprof_out_open(struct gh_hprof_out *out, const char *path, unsigned id_size, uint64_t time,
		       struct gh_error *err);

/* Ends the heap dump and gives the file its name. False (ERR filled), and no file, if that or a
 * write before failed. */
bool gh_hprof_out_close(struct gh_hprof_out *out, struct gh_error *err);

/* Closes the file and leaves nothing of it. */
void gh_hprof_out_discard(struct gh_hprof_out *out);

/* Numbers. An id is 0 for none. */
void gh_hprof_u1(struct gh_hprof_out *out, uint8_t value);
void gh_hprof_u2(struct gh_hprof_out *out, uint16_t value);
void gh_hprof_u4(struct gh_hprof_out *out, uint32_t value);
void gh_hprof_u8(struct gh_hprof_out *out, uint64_t value);
void gh_hprof_id(struct gh_hprof_out *out, uint64_t id);

/* The SIZE bytes at DATA as they are. */
void gh_hprof_bytes(struct gh_hprof_out *out, const void *data, size_t size);

/* Writes what is gathered, if it is much: in the midst of what is long. */
void gh_hprof_drain(struct gh_hprof_out *out);

/* Starts a record whose body is SIZE bytes. No segment is begun yet. */
void gh_hprof_record(struct gh_hprof_out *out, uint8_t tag, uint32_t size);

/* Starts what is TAG in a heap dump segment, with SIZE bytes after the tag: in a new segment where
 * the last one would get too long. */
void gh_hprof_subrecord(struct gh_hprof_out *out, uint8_t tag, uint64_t size);

/* Writes a string of the LENGTH bytes at TEXT, in which control characters and what is not UTF-8
 * are escaped. Returns its id. */
uint64_t gh_hprof_string(struct gh_hprof_out *out, const char *text, size_t length);

#endif
