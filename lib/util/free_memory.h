/* Memory that can be taken before there is none left.
 *
 * Interfaces: /proc/meminfo, proc(5); admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of the
 * kernel. */
#ifndef GH_UTIL_FREE_MEMORY_H
#define GH_UTIL_FREE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct gh_free_memory {
	uint64_t bytes;    /* UINT64_MAX: it is not known */
	bool in_container; /* a control group's limit is what makes it so little */
};

/* Finds it, for the calling process, below the directory ROOT: "" for the system's own. */
struct gh_free_memory gh_free_memory_find(const char *root);

#endif
