/* What the files of the hprof writer share: the file while it is written, ids, classes, shapes,
 * static fields, threads. */
#ifndef GH_EXPORT_INTERNAL_H
#define GH_EXPORT_INTERNAL_H

#include "lib/export/export.h"
#include "lib/heap/heap.h"
#include "lib/typing/typing.h"
#include "lib/util/buffer.h"
#include "lib/util/intern.h"
#include "lib/util/output.h"
#include "lib/util/vector.h"

/* The ids of objects in an hprof file: an object's is its address; what is not of the dump gets one
 * that no object has. */

struct gh_hprof_ids {
	const struct gh_heap *heap; /* the caller's */
	uint64_t limit;             /* the highest id */
	uint64_t last;              /* given to what is not of the dump */
	uint32_t next;              /* the first object at a higher address */
};

/* The id of OBJECT, or 0: none for GH_HEAP_NONE, nor where its address cannot be one. */
uint64_t gh_hprof_id_of(const struct gh_hprof_ids *ids, uint32_t object);

/* An id for what is not of the dump, a multiple of 8 above those before; 0 if none is left. */
uint64_t gh_hprof_id_new(struct gh_hprof_ids *ids);

/* An hprof file while it is written: its records, its strings, the segments of its heap dump.
 *
 * Format: "HPROF binary format", in the JDK's hprof agent (manual.html and hprof_b_spec.h, up to
 * JDK 8). All numbers are big-endian. */

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
	bool is_part;             /* no file: what is pending is for gh_hprof_append */
	bool failed;              /* a write has, and error says why */
	struct gh_error error;    /* filled if it has */
};

/* Opens PATH and writes the file's header. TIME is when what it describes was so, in ms since 1970.
 * False (ERR filled) if it cannot be opened. To be ended with gh_hprof_out_commit. What fails
 * later is kept until then: nothing more is written after it. */
bool gh_hprof_out_open(struct gh_hprof_out *out, const char *path, unsigned id_size, uint64_t time,
		       struct gh_error *err);

/* Ends the heap dump and gives the file its name. False (ERR filled), and no file, if that or a
 * write before failed. */
bool gh_hprof_out_commit(struct gh_hprof_out *out, struct gh_error *err);

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

/* Adds SIZE bytes of whole SUBRECORDS, which a part has pending. */
void gh_hprof_append(struct gh_hprof_out *out, const void *subrecords, size_t size);

/* Writes a string of the LENGTH bytes at TEXT, in which control characters and what is not UTF-8
 * are escaped. Returns its id. */
uint64_t gh_hprof_string(struct gh_hprof_out *out, const char *text, size_t length);

/* The classes of an hprof file: those of Java that readers expect, and what each class needs. */

/* The classes that readers look for by name, with the fields that they expect: VisualVM finds no
 * nearest root, nor retained sizes, without those of references. */
enum gh_hprof_builtin {
	GH_HPROF_JAVA_OBJECT,
	GH_HPROF_JAVA_CLASS,
	GH_HPROF_JAVA_LOADER,
	GH_HPROF_JAVA_STRING,
	GH_HPROF_JAVA_THREAD,
	GH_HPROF_JAVA_REFERENCE,
	GH_HPROF_JAVA_SOFT,
	GH_HPROF_JAVA_WEAK,
	GH_HPROF_JAVA_FINAL,
	GH_HPROF_JAVA_PHANTOM,
	GH_HPROF_BOOLEANS,
	GH_HPROF_CHARS,
	GH_HPROF_FLOATS,
	GH_HPROF_DOUBLES,
	GH_HPROF_BYTES,
	GH_HPROF_SHORTS,
	GH_HPROF_INTS,
	GH_HPROF_LONGS,
	GH_HPROF_WORD_ARRAY, /* large objects of unknown type */
	GH_HPROF_BUILTINS,
};

#define GH_HPROF_BUILTIN_FIELDS 5

struct gh_hprof_field {
	uint64_t name; /* id of a string */
	uint8_t type;  /* GH_HPROF_OBJECT, or one of the others */
};

struct gh_hprof_classes {
	struct gh_hprof_out *out;             /* the file; not owned */
	struct gh_hprof_ids *ids;             /* those given so far; not owned */
	uint32_t serial;                      /* of the class that was loaded last */
	uint64_t builtins[GH_HPROF_BUILTINS]; /* ids */
	struct GH_VECTOR(uint64_t) plain;     /* ids of classes that are but a name */
	uint64_t names[GH_HPROF_BUILTINS][GH_HPROF_BUILTIN_FIELDS]; /* ids of those of fields */
};

/* What a class has for all its instances. */
struct gh_hprof_static {
	uint64_t name;   /* id of a string */
	uint64_t target; /* id of an object */
};

/* Writes what loads the built-in classes. */
void gh_hprof_classes_start(struct gh_hprof_classes *classes);

/* Writes what loads a class that is called so. Gives its id, 0 if none is left; its serial number
 * is classes->serial. */
uint64_t gh_hprof_load_class(struct gh_hprof_classes *classes, const char *name, size_t length);

/* The same for one that is but a name. Gives its serial number, 0 if memory ran out. */
uint32_t gh_hprof_load_name(struct gh_hprof_classes *classes, const char *name, size_t length);

/* The size of a field of TYPE, in bytes. */
unsigned gh_hprof_size(const struct gh_hprof_out *out, uint8_t type);

/* Writes, in the heap dump, what the built-in classes are, and those that are but a
 * name. */
void gh_hprof_dump_classes(struct gh_hprof_classes *classes);

/* The same for the class ID, whose instances have the COUNT fields at FIELDS. */
void gh_hprof_dump_class(struct gh_hprof_classes *classes, uint64_t id,
			 const struct gh_hprof_field *fields, uint16_t count);

/* The same for the class ID, without instances but with the COUNT statics at STATICS. */
void gh_hprof_dump_statics(struct gh_hprof_classes *classes, uint64_t id,
			   const struct gh_hprof_static *statics, uint16_t count);

void gh_hprof_classes_free(struct gh_hprof_classes *classes);

/* The classes of the heap's objects in an hprof file.
 *
 * An instance's class says all of it: its name, its size, its fields. So objects are of one class
 * if they are of one type, of one size, and have references at the same offsets. What is large is
 * an array of words, with references where it has pointers and null elsewhere: readers want field
 * counts that fit 15 bits, and no class for each large object. */

/* Words of an instance, at most. */
#define GH_HPROF_WORDS 64

/* Objects that have one class. */
struct gh_hprof_shape {
	uint32_t type;     /* the number of their class in the typing */
	uint64_t size;     /* in bytes; 0 for an array of words, however long */
	uint64_t pointers; /* a bit for each word that is one, the first the lowest */
};

struct gh_hprof_kind {
	struct gh_hprof_shape shape; /* of its objects */
	uint64_t id;                 /* of the class */
	struct GH_VECTOR(struct gh_hprof_field) fields;
};

struct gh_hprof_shapes {
	struct gh_hprof_classes *classes;               /* of the file; not owned */
	const struct gh_typing *typing;                 /* of the heap; not owned */
	struct GH_VECTOR(struct gh_hprof_kind *) kinds; /* in the order they came; owned */
	void *tree;                                     /* the same, for tsearch */
	const struct gh_hprof_kind *last;               /* that was asked for */
	uint64_t offsets[8 * GH_HPROF_WORDS]; /* by offset: ids of the names of fields without one;
						 0 if there is none yet */
};

/* The class of SHAPE, of at most GH_HPROF_WORDS words, which OBJECT has; NULL if memory ran out.
 * What loads it is written where it is new: that is before the heap dump. */
const struct gh_hprof_kind *gh_hprof_kind_of(struct gh_hprof_shapes *shapes,
					     const struct gh_hprof_shape *shape, uint32_t object);

/* Writes, in the heap dump, what the classes are. */
void gh_hprof_dump_shapes(struct gh_hprof_shapes *shapes);

void gh_hprof_shapes_free(struct gh_hprof_shapes *shapes);

/* The roots of an hprof file that are on no stack, as static fields of classes, which have names,
 * and show in readers' lists of what retains most. A variable is a class; where its name is not
 * known, a word is, as long as that makes not too many; else neighbours share one. */

/* A class, and which of the fields it has. */
struct gh_hprof_part {
	uint64_t id;    /* of the class */
	size_t first;   /* place of its first field in fields; the others follow */
	uint16_t count; /* of its fields */
};

struct gh_hprof_statics {
	struct gh_hprof_classes *classes; /* of the file; not owned */
	const struct gh_typing *typing;   /* of the heap; not owned */
	struct GH_VECTOR(struct gh_hprof_static) fields;
	struct GH_VECTOR(struct gh_hprof_part) parts; /* the classes that they are of */
};

/* ROOT is a static field. */
bool gh_hprof_is_static(const struct gh_root *root);

/* Writes what loads the classes, and the names of the fields. False if memory ran out. */
bool gh_hprof_statics_start(struct gh_hprof_statics *statics);

/* Writes, in the heap dump, what the classes are, and that they are roots. */
void gh_hprof_dump_static_roots(struct gh_hprof_statics *statics);

void gh_hprof_statics_free(struct gh_hprof_statics *statics);

/* Goroutines as an hprof file's threads, and their stacks. */

/* Strings that are written once. */
struct gh_hprof_strings {
	struct gh_intern set;           /* of texts in the dump or the program */
	struct GH_VECTOR(uint64_t) ids; /* by number in the set: of a string, or a class's serial */
};

/* The objects that a goroutine is made of, by id. */
struct gh_hprof_thread {
	uint64_t thread; /* the java.lang.Thread */
	uint64_t name;   /* a string */
	uint64_t chars;  /* its characters */
};

struct gh_hprof_threads {
	struct gh_hprof_classes *classes;     /* of the file; not owned */
	const struct gh_dump *dump;           /* the caller's */
	const struct gh_hprof_stacks *stacks; /* of its goroutines; the caller's */
	struct gh_hprof_thread *objects;      /* by goroutine number; owned */
	uint32_t *frames;                     /* by frame number: a thread's serial, or 0; owned */
	uint32_t *depths;                     /* by frame number: place in the trace; owned */
	uint32_t *defers;                     /* by defer number: a thread's serial, or 0; owned */
	uint32_t *panics;                     /* the same by panic number; owned */
	struct gh_hprof_strings names;        /* of functions and files */
	struct gh_hprof_strings packages;     /* of functions, as classes */
	uint64_t frame;                       /* the id of the last stack frame */
};

/* Writes the stacks of all goroutines. False if memory ran out. */
bool gh_hprof_threads_start(struct gh_hprof_threads *threads);

/* Writes, in the heap dump, the threads as objects and roots. False if memory ran out. */
bool gh_hprof_dump_threads(struct gh_hprof_threads *threads);

/* Writes, in the heap dump, that ROOT, of a goroutine or its stack, is a root of the object ID. */
void gh_hprof_dump_stack_root(struct gh_hprof_threads *threads, const struct gh_root *root,
			      uint64_t id);

void gh_hprof_threads_free(struct gh_hprof_threads *threads);

/* Writes what gh_dumpsymbols_write does into FD, an empty file. PATH is its name, for errors. */
bool gh_dumpsymbols_write_to(const struct gh_dump *dump, int fd, const char *path,
			     struct gh_error *err);

#endif
