/* Types of the runtime's own that other types are made with, and that no descriptor describes: the
 * header of a map or a channel, the two words of an interface. */
#ifndef GH_WRITE_RUNTIMETYPE_H
#define GH_WRITE_RUNTIMETYPE_H

#include <stdint.h>

/* A field. */
struct gh_runtime_member {
	const char *name; /* NULL ends a list */
	const char *type; /* a basic type, a struct of the list below, "*" and such a struct, or
			     "$N" for argument N; before it "[N]" if it is an array */
	uint8_t since;    /* the first minor release of Go 1 that has it; 0 for any */
	uint8_t before;   /* the first that does not; 0 if the newest has */
};

struct gh_runtime_type {
	const char *name; /* with its package; where it has arguments, less them */
	struct gh_runtime_member members[16]; /* in order; none: only declared */
};

/* The structs, by number; the last has no name. */
extern const struct gh_runtime_type gh_runtime_types[];

/* Numbers of those that are asked for by it. */
enum {
	GH_RUNTIME_EFACE,
	GH_RUNTIME_IFACE,
	GH_RUNTIME_HASH,
	GH_RUNTIME_MAP,
	GH_RUNTIME_TABLE,
	GH_RUNTIME_GROUPS,
	GH_RUNTIME_HCHAN,
	GH_RUNTIME_WAITQ,
	GH_RUNTIME_SUDOG,
	GH_RUNTIME_NAMED, /* the first that has no arguments and is asked for by name */
};

#endif
