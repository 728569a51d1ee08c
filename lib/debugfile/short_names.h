/* The short names by which people call functions, as Delve takes them: handle, Server.handle and
 * main.Server.handle for main.(*Server).handle, http.Get for net/http.Get. GDB finds a function by
 * its whole name only; but it takes each symbol's for a place to stop at. */
#ifndef GH_DEBUGFILE_SHORT_NAMES_H
#define GH_DEBUGFILE_SHORT_NAMES_H

#include "lib/pclntab/pclntab.h"
#include "lib/util/cursor.h"
#include "lib/util/vector.h"

/* A place where GDB has a breakpoint on a function stop: after its prologue, or where a call of it
 * was inlined. */
struct gh_entry_point {
	uint64_t address; /* of the function's entry or of the call's first instruction */
	uint32_t name;    /* of the function, for gh_pclntab_name */
	bool is_own;      /* what GDB shows a stop there to be in is the function itself, and not a
			     call inlined into it, as it takes the innermost for a mere symbol */
};

struct gh_entry_points GH_VECTOR(struct gh_entry_point);

/* A symbol for a short name, local and of no size: that is no name for the code that follows. */
struct gh_short_name {
	uint64_t address;
	size_t text; /* its name, an offset */
};

struct gh_short_names {
	struct GH_VECTOR(struct gh_short_name) list;
	struct gh_buffer texts; /* each ended by a NUL */
};

/* Fills OUT with the short names that stand for one function of POINTS, and for all of its places.
 * None is a name of a function of TAB, or one of TAKEN, a string table of the program's own
 * symbols, or one by which GDB looks for functions of C. The order of POINTS changes. False (ERR
 * filled) if a function cannot be read or memory ran out. In any case OUT is to be freed. */
bool gh_short_names_find(struct gh_short_names *out, const struct gh_pclntab *tab,
			 struct gh_entry_points *points, struct gh_cursor taken,
			 struct gh_error *err);

void gh_short_names_free(struct gh_short_names *names);

#endif
