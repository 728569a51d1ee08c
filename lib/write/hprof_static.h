/* The roots of an hprof file that are on no stack, as static fields of classes, which have names,
 * and show in readers' lists of what retains most. A variable is a class; where its name is not
 * known, a word is, as long as that makes not too many; else neighbours share one. */
#ifndef GH_WRITE_HPROF_STATIC_H
#define GH_WRITE_HPROF_STATIC_H

#include "lib/heap/typing.h"
#include "lib/write/hprof_class.h"

struct gh_hprof_statics {
	struct gh_hprof_classes *classes; /* of the file; not owned */
	const struct gh_typing *typing;   /* of the heap; not owned */
	struct gh_buffer fields;          /* struct gh_hprof_static */
	struct gh_buffer parts;           /* struct gh_hprof_part: the classes that they are of */
};

/* A class, and which of the fields it has. */
struct gh_hprof_part {
	uint64_t id;    /* of the class */
	size_t first;   /* place of its first field in fields; the others follow */
	uint16_t count; /* of its fields */
};

/* ROOT is a static field. */
bool gh_hprof_is_static(const struct gh_root *root);

/* Writes what loads the classes, and the names of the fields. False if memory ran out. */
bool gh_hprof_statics_start(struct gh_hprof_statics *statics);

/* Writes, in the heap dump, what the classes are, and that they are roots. */
void gh_hprof_dump_static_roots(struct gh_hprof_statics *statics);

void gh_hprof_statics_free(struct gh_hprof_statics *statics);

#endif
