/* How the objects of a heap are held, as one tree: gh_merged_paths_make. */
#ifndef GH_PLUGIN_VIEW_PATHS_H
#define GH_PLUGIN_VIEW_PATHS_H

#include <stdint.h>

#include "lib/profile/profile.h"
#include "lib/util/error.h"
#include "lib/util/vector.h"
#include "plugin/view/view.h"

/* How the objects of a heap are held, each one way, as a tree of frames: a root, as the variable
 * "main.srv"; and then fields, "tenants (map[string]*main.Session)", elements, "[val]
 * (*main.Session)", and types where a field's says nothing. Ways by equal frames are one, and what
 * is below a frame of one name is in that, as the nodes of a list. */
struct gh_merged_paths {
	struct GH_VECTOR(struct gh_pprof_node) nodes; /* each after the one that it is in */
	struct GH_VECTOR(char *) frames;              /* their names, by number; owned */
	uint32_t *of;                                 /* by object: its node; owned */
};

/* Finds them for the objects of the heap of NAMES: from globals, where there are such ways, or else
 * from stacks, from other certain roots, and from conservative ones. What no root leads to is in a
 * frame that says so. False (ERR filled) if memory ran out. To be freed either way. */
bool gh_merged_paths_make(struct gh_merged_paths *paths, struct gh_names *names,
			  struct gh_error *err);

void gh_merged_paths_free(struct gh_merged_paths *paths);

#endif
