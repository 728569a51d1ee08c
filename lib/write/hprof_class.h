/* The classes of an hprof file: those of Java that readers expect, and what each class needs. */
#ifndef GH_WRITE_HPROF_CLASS_H
#define GH_WRITE_HPROF_CLASS_H

#include "lib/heap/heap.h"
#include "lib/write/hprof_ids.h"
#include "lib/write/hprof_out.h"

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
	struct gh_buffer plain;               /* uint64_t: ids of classes that are but a name */
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

/* The same for one that is but a name. Gives its serial number. */
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

#endif
