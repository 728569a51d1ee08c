/* The objects of a heap in groups: by type, by size, or by the place that allocated them. */
#ifndef GH_PLUGIN_CLI_GROUPS_H
#define GH_PLUGIN_CLI_GROUPS_H

#include "plugin/cli/heap_query.h"
#include "plugin/view/emit.h"

struct gh_groups {
	const struct gh_names *names; /* the query's */
	enum gh_grouping by;          /* what they have in common */
	const uint32_t *of;           /* by object: its group's number */
	uint32_t *numbers;            /* the same, if it is not the names'; owned */
	struct GH_VECTOR(
	    char *) texts; /* by number: what they are called, unless that is by type */
	size_t count;      /* of groups */
};

/* Groups the objects of QUERY by what its options say. False, and the error printed, if memory
 * ran out. To be freed either way. */
bool gh_groups_make(struct gh_groups *groups, const struct gh_heap_query *query);

/* What objects of group NUMBER are called; to be escaped. */
const char *gh_groups_name(const struct gh_groups *groups, uint32_t number);

/* The last column of a table of groups: their names, which are the members at OFFSET in its rows;
 * in JSON a size is a number. */
struct gh_column gh_groups_column(const struct gh_groups *groups, size_t offset);

void gh_groups_free(struct gh_groups *groups);

#endif
