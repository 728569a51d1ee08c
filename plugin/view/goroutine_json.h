/* Goroutines as JSON. */
#ifndef GH_PLUGIN_VIEW_GOROUTINE_JSON_H
#define GH_PLUGIN_VIEW_GOROUTINE_JSON_H

#include "plugin/view/goroutine_text.h"

/* Prints goroutine NUMBER, whose record is GOROUTINE and whose calls are in LISTING's traceback. */
void gh_goroutine_json_print(struct gh_goroutine_list *listing, size_t number,
			     const struct gh_dump_goroutine *goroutine);

/* Goroutines with the same state and stack. */
struct gh_goroutine_group {
	const struct gh_goroutine_text *first; /* of an array */
	size_t count;
};

/* The longest wait in GROUP, in minutes. */
uint64_t gh_goroutine_group_wait(const struct gh_goroutine_group *group);

/* Prints GROUP. False if memory ran out. */
bool gh_goroutine_json_print_group(struct gh_goroutine_list *listing,
				   const struct gh_goroutine_group *group);

#endif
