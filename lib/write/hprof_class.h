/* The classes of an hprof file.
 *
 * An instance's class says all of it: its size, and where it has references. So objects are of one
 * class if they are of one shape. What is without pointers is an array of bytes, and what is large
 * an array of words, as long as it is, with references where it has pointers and null elsewhere:
 * readers want field counts that fit 15 bits, and no class for each large object. */
#ifndef GH_WRITE_HPROF_CLASS_H
#define GH_WRITE_HPROF_CLASS_H

#include "lib/heap/heap.h"
#include "lib/write/hprof_ids.h"
#include "lib/write/hprof_out.h"

/* Words of an instance, at most. */
#define GH_HPROF_WORDS 64

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
	GH_HPROF_WORD_ARRAY, /* large objects */
	GH_HPROF_BUILTINS,
};

#define GH_HPROF_BUILTIN_FIELDS 5

/* Objects that have one class. */
struct gh_hprof_shape {
	uint64_t size;     /* in bytes */
	uint64_t pointers; /* a bit for each word that is one, the first the lowest */
};

struct gh_hprof_class {
	struct gh_hprof_shape shape;
	uint64_t id;
};

struct gh_hprof_classes {
	struct gh_hprof_out *out;
	struct gh_hprof_ids *ids;
	unsigned word;                        /* the dump's pointer size, in bytes */
	uint32_t serial;                      /* of the class that was loaded last */
	uint64_t builtins[GH_HPROF_BUILTINS]; /* ids */
	struct gh_buffer plain;               /* uint64_t: ids of classes that are but a name */
	struct gh_hprof_class **items;        /* of shapes, in the order they came; owned */
	size_t count;
	size_t capacity;
	void *tree;                                                 /* the same, for tsearch */
	const struct gh_hprof_class *last;                          /* that was asked for */
	uint64_t names[GH_HPROF_BUILTINS][GH_HPROF_BUILTIN_FIELDS]; /* ids of those of fields */
	uint64_t words[GH_HPROF_WORDS]; /* the same of shapes, by word; 0 if none yet */
	uint64_t tail;                  /* and of the bytes after the last whole word */
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

/* The same for one that is but a name. Gives its serial number. */
uint32_t gh_hprof_load_name(struct gh_hprof_classes *classes, const char *name, size_t length);

/* The class of SHAPE, of at most GH_HPROF_WORDS words; NULL if memory ran out. What loads it is
 * written where it is new: that is before the heap dump. */
const struct gh_hprof_class *gh_hprof_class_of(struct gh_hprof_classes *classes,
					       const struct gh_hprof_shape *shape);

/* Writes, in the heap dump, what the classes are: all but those with statics. */
void gh_hprof_dump_classes(struct gh_hprof_classes *classes);

/* The same for the class ID, without instances but with the COUNT statics at STATICS. */
void gh_hprof_dump_statics(struct gh_hprof_classes *classes, uint64_t id,
			   const struct gh_hprof_static *statics, uint16_t count);

void gh_hprof_classes_free(struct gh_hprof_classes *classes);

#endif
